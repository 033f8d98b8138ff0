//! A token of a line where it stands, read from its end.
//!
//! Where a token ends is known before it is read: the last eight bytes up to there are a word,
//! whose bytes before the token are masked out. So a number needs no loop, and no branch that
//! depends on its length.

use crate::number::{eight_digits, leading, whole};

/// A token, and the text before it.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'a> {
    /// Ends with the token
    head: &'a [u8],
    /// Where the token begins in it
    start: usize,
    /// Whether it is known that the token has no `%`
    plain: bool,
}

/// A byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

impl<'a> Slot<'a> {
    /// The token from `start` to `end` of a text; None if the text ends before.
    #[inline(always)]
    pub fn new(text: &'a [u8], start: usize, end: usize, plain: bool) -> Option<Self> {
        Some(Slot { head: text.get(..end)?, start, plain })
    }

    /// A text that is a token.
    pub fn whole(text: &'a [u8]) -> Self {
        Slot { head: text, start: 0, plain: false }
    }

    /// Whether it is known that the token has no `%`.
    #[inline(always)]
    pub(crate) fn is_plain(self) -> bool {
        self.plain
    }

    /// The token.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        self.head.get(self.start..).unwrap_or_default()
    }

    /// Its length in B, or more than any if it ends before it begins.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.head.len().wrapping_sub(self.start)
    }

    /// What stands behind these bytes; None if it does not begin with them.
    #[inline(always)]
    pub fn strip(self, bytes: &[u8]) -> Option<Self> {
        self.bytes().starts_with(bytes).then(|| self.without_first(bytes.len()))
    }

    /// What stands before its first `=`, and what stands behind; without one, the token and nothing.
    #[inline(always)]
    pub fn at_equals(self) -> (&'a [u8], Self) {
        let bytes = self.bytes();
        let place = place_of(b'=', bytes);
        (bytes.get(..place).unwrap_or_default(), self.without_first(place + 1))
    }

    /// Without its first bytes.
    #[inline(always)]
    pub(crate) fn without_first(self, bytes: usize) -> Self {
        Slot { start: self.start + bytes, ..self }
    }

    /// Without its last bytes; None if the text does not have so many.
    #[inline(always)]
    pub(crate) fn without_last(self, bytes: usize) -> Option<Self> {
        let (head, _) = self.head.split_at_checked(self.head.len().wrapping_sub(bytes))?;
        Some(Slot { head, ..self })
    }

    /// The last bytes up to its end, some of which may stand before the token; None if the text
    /// does not have so many.
    #[inline(always)]
    pub fn last_chunk<const N: usize>(self) -> Option<&'a [u8; N]> {
        self.head.last_chunk()
    }

    /// A token of at most three bytes, and its length, as a number; None of a longer one.
    #[inline(always)]
    pub(crate) fn short(self) -> Option<u32> {
        let len @ 1..=3 = self.len() else { return None };
        let word = match self.last_chunk::<4>() {
            Some(chunk) => u32::from_le_bytes(*chunk) >> (32 - 8 * len),
            None => self.bytes().iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)),
        };
        Some(word | (len as u32) << 24)
    }

    /// The token as a decimal number; None if it is none, or beyond `u64`. For numbers that mostly
    /// have up to eight digits.
    #[inline(always)]
    pub fn number(self) -> Option<u64> {
        match (LAST.get(self.len().wrapping_sub(1)), self.last_chunk::<8>()) {
            (Some(last), Some(chunk)) => last_digits(u64::from_le_bytes(*chunk), *last),
            _ => long_number(self.bytes()),
        }
    }

    /// As [`Slot::number`], in the same number of steps up to 16 digits.
    #[inline(always)]
    pub fn count(self) -> Option<u64> {
        let last = LAST_OF_TWO.get(self.len().wrapping_sub(1));
        let (Some(last), Some(chunk)) = (last, self.last_chunk::<16>()) else {
            return long_number(self.bytes());
        };
        let [high, low] = {
            let [high, low] = chunk.as_chunks().0 else { return None };
            [high, low].map(|word| u64::from_le_bytes(*word) ^ eight(b'0'))
        };
        let (high, low) = (high & last[0], low & last[1]);
        let others = above_nine(high) | above_nine(low);
        (others == 0).then(|| eight_digits(high) * 100_000_000 + eight_digits(low))
    }

    /// The token as seconds with decimals, in millionths; digits below these are dropped. None if it
    /// has another form, or is beyond `u64`.
    #[inline(always)]
    pub(crate) fn millionths(self) -> Option<u64> {
        let Some(chunk) = self.last_chunk::<8>() else { return any_millionths(self.bytes()) };
        let word = u64::from_le_bytes(*chunk);
        // Nearly all have six decimals, and three if the others would be 0.
        let (seconds, fraction) = match self.len() {
            8.. if (word >> 8) as u8 == b'.' => {
                (self.without_last(7)?, last_digits(word, LAST[5])?)
            }
            5.. if (word >> 32) as u8 == b'.' => {
                (self.without_last(4)?, 1000 * last_digits(word, LAST[2])?)
            }
            _ => return any_millionths(self.bytes()),
        };
        seconds.number()?.checked_mul(1_000_000)?.checked_add(fraction)
    }
}

// Slots that are given to these functions would have to be in memory; their bytes need not.

#[inline(never)]
fn long_number(token: &[u8]) -> Option<u64> {
    whole(token)
}

#[inline(never)]
fn any_millionths(token: &[u8]) -> Option<u64> {
    let (seconds, rest) = leading(token)?;
    let seconds = seconds.checked_mul(1_000_000)?;
    let decimals = match rest {
        [] => return Some(seconds),
        [b'.', decimals @ ..] if decimals.iter().all(u8::is_ascii_digit) => decimals,
        _ => return None,
    };
    let mut digits = decimals.iter().map(|byte| u64::from(byte.wrapping_sub(b'0')));
    seconds.checked_add((0..6).fold(0, |n, _| n * 10 + digits.next().unwrap_or(0)))
}

/// Marks bytes of a word that are more than 9, and perhaps bytes behind the first of them.
#[inline(always)]
fn above_nine(word: u64) -> u64 {
    (word.wrapping_add(eight(0x76)) | word) & eight(0x80)
}

/// The last bytes of a word whose first byte is the lowest, from one to all eight.
#[allow(clippy::indexing_slicing, reason = "done by the compiler")]
pub(crate) static LAST: [u64; 8] = {
    let mut last = [0; 8];
    let mut bytes = 0;
    while bytes < last.len() {
        last[bytes] = u64::MAX << (56 - 8 * bytes);
        bytes += 1;
    }
    last
};

/// The last bytes of two words, from one to all sixteen.
#[allow(clippy::indexing_slicing, reason = "done by the compiler")]
static LAST_OF_TWO: [[u64; 2]; 16] = {
    let mut last = [[0; 2]; 16];
    let mut bytes = 0;
    while bytes < 8 {
        last[bytes][1] = LAST[bytes];
        last[bytes + 8] = [LAST[bytes], u64::MAX];
        bytes += 1;
    }
    last
};

/// The number of some last bytes of a word; None if one of these bytes is no digit.
#[inline(always)]
pub(crate) fn last_digits(word: u64, last: u64) -> Option<u64> {
    let word = (word ^ eight(b'0')) & last;
    (above_nine(word) == 0).then(|| eight_digits(word))
}

/// The place of a byte in a text; without it, the end of the text.
///
/// Eight bytes at a time: a loop over bytes takes three times as long.
#[inline]
pub(crate) fn place_of(byte: u8, text: &[u8]) -> usize {
    let (words, tail) = text.as_chunks();
    for (number, word) in words.iter().enumerate() {
        let place = first_of(u64::from_le_bytes(*word), byte);
        if place < 8 {
            return 8 * number + place;
        }
    }
    let before = text.len() - tail.len();
    before + tail.iter().position(|b| *b == byte).unwrap_or(tail.len())
}

/// The place of the first such byte in a word whose first byte is the lowest; 8 without one.
#[inline]
fn first_of(word: u64, byte: u8) -> usize {
    let others = word ^ (eight(byte));
    // Marks bytes that are 0 now; a borrow can reach only beyond the first of them.
    let marks = others.wrapping_sub(eight(1)) & !others & eight(0x80);
    (marks.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::String;
    use std::vec::Vec;

    /// The number of a text, as std reads it.
    fn by_std(text: &[u8]) -> Option<u64> {
        let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        digits.then(|| String::from_utf8_lossy(text).parse().ok()).flatten()
    }

    fn any_text() -> impl Strategy<Value = Vec<u8>> {
        // Bytes next to digits, and such that carry.
        let others = proptest::sample::select(b"./: -09\x00\x7f\x80\xff".as_slice());
        prop_oneof![
            "[0-9]{0,25}".prop_map(String::into_bytes),
            "[0-9]{0,12}\\.[0-9]{0,9}".prop_map(String::into_bytes),
            ("[0-9]{0,18}", others, "[0-9]{0,8}").prop_map(|(one, other, two)| [
                one.as_bytes(),
                &[other],
                two.as_bytes()
            ]
            .concat()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn numbers_are_those_of_std(
            before in proptest::collection::vec(any::<u8>(), 0..20), token in any_text(),
            behind in proptest::collection::vec(any::<u8>(), 0..9),
        ) {
            let text = [before.as_slice(), &token, &behind].concat();
            let slot = Slot::new(&text, before.len(), before.len() + token.len(), false).unwrap();
            prop_assert_eq!(slot.bytes(), token.as_slice());
            prop_assert_eq!(slot.number(), by_std(&token));
            prop_assert_eq!(slot.count(), by_std(&token));
            let mut parts = token.splitn(2, |byte| *byte == b'.');
            let seconds = parts.next().and_then(by_std).and_then(|s| s.checked_mul(1_000_000));
            let fraction = parts.next().unwrap_or_default();
            let is_time = fraction.iter().all(u8::is_ascii_digit);
            let six: String = String::from_utf8_lossy(fraction).chars().chain("000000".chars()).take(6).collect();
            let expected = seconds.filter(|_| is_time).and_then(|s| s.checked_add(six.parse().unwrap()));
            prop_assert_eq!(slot.millionths(), expected);
        }
    }
}
