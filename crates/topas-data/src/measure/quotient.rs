//! Division that rounds once.

/// Bits of a mantissa, one to round by, one that stands for the rest.
const BITS: u32 = 55;

/// The number nearest to `upper` / `lower`, which is not 0.
pub(super) fn quotient(upper: u128, lower: u128) -> f64 {
    const EXACT: u128 = 1 << 53;
    if upper <= EXACT && lower <= EXACT {
        return upper as f64 / lower as f64;
    }
    let (mut mantissa, mut rest) = (upper / lower, upper % lower);
    let mut shift = 0;
    // Long division by bits, until there are enough of them.
    while u128::BITS - mantissa.leading_zeros() < BITS && (rest > 0 || mantissa == 0) {
        if upper == 0 {
            return 0.0;
        }
        let missing = lower - rest;
        let bit = rest >= missing;
        rest = if bit { rest - missing } else { rest + rest };
        mantissa = mantissa << 1 | u128::from(bit);
        shift += 1;
    }
    (mantissa | u128::from(rest > 0)) as f64 * 2f64.powi(-shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_quotients() {
        assert_eq!(quotient(0, 7), 0.0);
        assert_eq!(quotient(0, u128::MAX), 0.0);
        assert_eq!(quotient(1, 3), 1.0 / 3.0);
        assert_eq!(quotient(u128::MAX, u128::MAX), 1.0);
        assert_eq!(quotient(u128::MAX, 1), u128::MAX as f64);
        assert_eq!(quotient(1, u128::MAX), 2f64.powi(-128));
        // Half way between two numbers but for one part in 2^120.
        assert_eq!(quotient((1 << 120) + (1 << 67) + 1, 1 << 67), (1u64 << 53) as f64 + 2.0);
        assert_eq!(quotient((1 << 120) + (1 << 67), 1 << 67), (1u64 << 53) as f64);
    }

    proptest! {
        /// A double is the nearest to a ratio if scaling both terms changes nothing.
        #[test]
        fn scaling_changes_nothing(upper in 0..1u64 << 53, lower in 1..1u64 << 53, by in 1..u64::MAX) {
            let scaled = quotient(u128::from(upper) * u128::from(by), u128::from(lower) * u128::from(by));
            prop_assert_eq!(scaled, upper as f64 / lower as f64);
        }
    }
}
