//! Numbers of rows, of which there may be a million: appended as bytes, without the formatting
//! machinery.

/// Appends a number in decimal.
#[inline]
pub(crate) fn dec(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    // Divisions wait for each other: two digits by each are half as many.
    while n >= 100 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&two_digits((n % 100) as u8));
        n /= 100;
    }
    let [ten, one] = two_digits(n as u8);
    at -= 1;
    digits[at] = one;
    if n >= 10 {
        at -= 1;
        digits[at] = ten;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Both digits of a number below 100.
#[inline]
fn two_digits(n: u8) -> [u8; 2] {
    [b'0' + n / 10, b'0' + n % 10]
}

/// Appends thousandths as a decimal number with three places.
#[inline]
pub(crate) fn three_places(out: &mut Vec<u8>, thousandths: u64) {
    dec(out, thousandths / 1000);
    let rest = (thousandths % 1000) as u16;
    let digit = |unit: u16| b'0' + (rest / unit % 10) as u8;
    out.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
}

/// Appends millionths as a decimal number with six places.
#[inline]
pub(crate) fn six_places(out: &mut Vec<u8>, millionths: u64) {
    dec(out, millionths / 1_000_000);
    let rest = (millionths % 1_000_000) as u32;
    let digit = |unit: u32| b'0' + (rest / unit % 10) as u8;
    out.push(b'.');
    out.extend_from_slice(&[100_000, 10_000, 1000, 100, 10, 1].map(digit));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::number::fixed;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn rows_have_the_same_digits(n in prop_oneof![0..2_000_000u64, any::<u64>()]) {
            prop_assert_eq!(text(|out| dec(out, n)), n.to_string());
            prop_assert_eq!(text(|out| three_places(out, n)), fixed(n.into(), 3, 3));
            prop_assert_eq!(text(|out| six_places(out, n)), fixed(n.into(), 6, 6));
        }
    }
}
