//! The numbers of a line: decimals of seconds, and counts that may be missing.

/// A span of time in microseconds, written as decimal seconds.
///
/// Three decimals, or six if the last three are not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Micros(pub u64);

impl Micros {
    /// Seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-6
    }
}

/// A count, or none. `-` is not 0: it was not counted, and `why=` tells the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// Not counted: `-`.
    #[default]
    Missing,
    /// Counted in full.
    Exact(u64),
    /// Scaled up from a part, or a formula that is known to be off: marked `~`.
    Estimate(u64),
}

impl Count {
    /// The number, exact or estimated.
    pub fn value(self) -> Option<u64> {
        match self {
            Count::Missing => None,
            Count::Exact(n) | Count::Estimate(n) => Some(n),
        }
    }
}

/// Most digits that never overflow a `u64`.
const SAFE_DIGITS: usize = 19;

/// Reads decimal digits from the front of `text`: the number and what follows it.
/// None without a digit or beyond `u64`.
///
/// Eight bytes at a time where there are so many: a loop over digits ends at another
/// place in each number, which no processor predicts. A number whose end is known is read by
/// [`Slot::number`](crate::slot::Slot::number).
#[inline(always)]
pub fn leading(text: &[u8]) -> Option<(u64, &[u8])> {
    let Some((&chunk, rest)) = text.split_first_chunk() else {
        return one_by_one(text);
    };
    let (n, digits) = up_to_eight(chunk);
    if digits < 8 {
        return (digits > 0).then_some((n, text.get(digits..)?));
    }
    let Some((&chunk, _)) = rest.split_first_chunk() else {
        return one_by_one(text);
    };
    let (low, digits) = up_to_eight(chunk);
    const UNITS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
    match UNITS.get(digits) {
        Some(unit) => Some((n * unit + low, rest.get(digits..)?)),
        None => one_by_one(text),
    }
}

/// The number that a text begins with, and how many digits it has here, at most eight.
#[inline(always)]
fn up_to_eight(chunk: [u8; 8]) -> (u64, usize) {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // The first byte of the text is the lowest. A digit is now 0 to 9, any other more.
    let word = u64::from_le_bytes(chunk) ^ (ONES * 0x30);
    // Marks bytes above 9; a carry can reach only beyond the first of them.
    let others = (word.wrapping_add(ONES * 0x76) | word) & (ONES * 0x80);
    let digits = (others.trailing_zeros() / 8) as usize;
    if digits == 0 {
        return (0, 0);
    }
    // Shifts zeros in before the digits and the rest out.
    (eight_digits(word << (64 - 8 * digits)), digits)
}

/// The number of eight digits, each a byte from 0 to 9, whose first is the lowest byte: joins
/// neighbours three times.
#[inline(always)]
pub(crate) fn eight_digits(word: u64) -> u64 {
    let pairs = (word.wrapping_mul((10 << 8) + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul((100 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul((10_000 << 32) + 1) >> 32
}

/// As [`leading`], for short ends of a text and for long numbers.
#[inline(never)]
fn one_by_one(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut n = 0u64;
    let mut digits = 0;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        // Beyond the safe digits this wraps and is done again with checks.
        n = n.wrapping_mul(10).wrapping_add(u64::from(digit));
        digits += 1;
    }
    let (number, rest) = text.split_at_checked(digits)?;
    match digits {
        0 => None,
        1..=SAFE_DIGITS => Some((n, rest)),
        _ => Some((checked(number)?, rest)),
    }
}

/// The number of many digits, None beyond `u64`.
#[cold]
fn checked(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |n, digit| {
        n.checked_mul(10)?.checked_add(u64::from(digit.wrapping_sub(b'0')))
    })
}

/// Reads a whole text as a decimal number. Small rather than fast: the module has this one.
pub fn whole(text: &[u8]) -> Option<u64> {
    match one_by_one(text) {
        Some((n, [])) => Some(n),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    #[test]
    fn whole_numbers_and_nothing_else() {
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(whole(b"9999999999999999999"), Some(9_999_999_999_999_999_999));
        assert_eq!(whole(b"000000000000000000000000000007"), Some(7));
        for bad in [&b"18446744073709551616"[..], b"", b"-1", b"+1", b"1 ", b" 1", b"0x1", b"1.0"] {
            assert_eq!(whole(bad), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn leading_reads_what_std_reads(
            digits in "[0-9]{0,25}",
            // Bytes next to digits, and such that carry.
            rest in proptest::collection::vec(
                proptest::sample::select(b"./: -9\x00\x7f\x80\xff".as_slice()), 0..12),
        ) {
            let mut text = Vec::from(digits.as_bytes());
            text.extend_from_slice(&rest);
            let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
            let (number, rest) = text.split_at(end);
            let number = String::from_utf8_lossy(number).parse::<u64>().ok();
            prop_assert_eq!(leading(&text), number.map(|n| (n, rest)));
        }
    }
}
