//! A sum of floating point numbers that does not depend on their order.

/// Words of the sum. The lowest bit is 2^-64; variances of what lines can say are below
/// 2^260, and 2^32 of them below 2^292.
const WORDS: usize = 6;

/// Bits below the point.
const FRACTION: i32 = 64;

/// The sum, as a fixed point number wide enough that no bit above 2^-64 is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ExactSum([u64; WORDS]);

impl ExactSum {
    /// Adds a number that is finite and not negative.
    pub(super) fn add(&mut self, number: f64) {
        let bits = number.to_bits();
        let exponent = (bits >> 52) as i32;
        if exponent == 0 {
            // 0, or below 2^-1022.
            return;
        }
        let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
        let shift = exponent - 1075 + FRACTION;
        if shift < 0 {
            self.add_at(0, mantissa.checked_shr(shift.unsigned_abs()).unwrap_or(0));
        } else {
            self.add_at(shift as usize / 64, mantissa << (shift % 64));
        }
    }

    /// Adds what another one has.
    pub(super) fn merge(&mut self, other: &ExactSum) {
        for (place, word) in other.0.iter().enumerate() {
            self.add_at(place, u128::from(*word));
        }
    }

    /// Adds a number whose lowest bit is that of a word.
    fn add_at(&mut self, place: usize, number: u128) {
        let mut carry = number;
        for word in self.0.iter_mut().skip(place) {
            let sum = u128::from(*word) + (carry & u128::from(u64::MAX));
            *word = sum as u64;
            carry = (carry >> 64) + (sum >> 64);
            if carry == 0 {
                return;
            }
        }
    }

    /// The sum, rounded.
    pub(super) fn value(&self) -> f64 {
        let words = self.0.iter().enumerate();
        words.map(|(at, word)| *word as f64 * 2f64.powi(64 * at as i32 - FRACTION)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_large_hides_what_is_small() {
        let mut sum = ExactSum::default();
        for number in [1e60, 0.5, 2f64.powi(-63), 1e60, 0.0, f64::MIN_POSITIVE] {
            sum.add(number);
        }
        let mut large = ExactSum::default();
        large.add(1e60);
        large.add(1e60);
        assert_eq!(large.value(), 2e60);
        let small: Vec<u64> = sum.0.iter().zip(large.0).map(|(a, b)| a - b).collect();
        assert_eq!(small, [(1 << 63) + 2, 0, 0, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn any_order_and_any_parts(numbers in proptest::collection::vec(0.0..1e30f64, 0..30), cut in 0..30usize) {
            let sum = |numbers: &[f64]| {
                let mut sum = ExactSum::default();
                numbers.iter().for_each(|&number| sum.add(number));
                sum
            };
            let all = sum(&numbers);
            let mut reversed = numbers.clone();
            reversed.reverse();
            prop_assert_eq!(sum(&reversed), all);
            let (one, other) = numbers.split_at(cut.min(numbers.len()));
            let mut parts = sum(one);
            parts.merge(&sum(other));
            prop_assert_eq!(parts, all);
            let about: f64 = numbers.iter().sum();
            prop_assert!((all.value() - about).abs() <= about * 1e-12 + 1e-15);
        }
    }
}
