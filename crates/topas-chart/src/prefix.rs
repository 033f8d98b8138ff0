//! Prefixes of SI, and which of them a number takes.

/// Prefixes from 10^-30 to 10^30, each a thousand times the one before it.
const PREFIXES: [&str; 21] = [
    "q", "r", "y", "z", "a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y",
    "R", "Q",
];

/// Place of no prefix.
const NO_PREFIX: usize = 10;

/// A prefix of SI, such as `k` for 10^3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiPrefix {
    /// In [`PREFIXES`]
    place: usize,
}

impl SiPrefix {
    /// No prefix: 10^0.
    pub const NONE: SiPrefix = SiPrefix { place: NO_PREFIX };

    /// The least prefix that leaves less than `bound` of a value, whatever its sign; the greatest
    /// if none does. A bound of 1000 leaves one to three digits before the point; one of 999.95
    /// does so where numbers are rounded to four digits.
    pub fn leaving_less_than(bound: f64, value: f64) -> Self {
        let greatest = SiPrefix { place: PREFIXES.len() - 1 };
        (0..PREFIXES.len())
            .map(|place| SiPrefix { place })
            .find(|prefix| prefix.scaled(value).abs() < bound)
            .unwrap_or(greatest)
    }

    /// The power of ten, a multiple of 3.
    pub fn power(self) -> i32 {
        (self.place as i32 - NO_PREFIX as i32) * 3
    }

    /// How many of the prefixed unit a value is.
    pub fn scaled(self, value: f64) -> f64 {
        value / 10f64.powi(self.power())
    }

    /// The sign: `k`, `µ`; empty for no prefix.
    pub fn sign(self) -> &'static str {
        PREFIXES.get(self.place).copied().unwrap_or("")
    }

    /// The sign in ASCII, which has `u` for 10^-6.
    pub fn ascii_sign(self) -> &'static str {
        match self.sign() {
            "µ" => "u",
            sign => sign,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_leaves_up_to_three_digits() {
        for (value, sign) in [
            (1.0, ""),
            (999.0, ""),
            (1000.0, "k"),
            (999_999.0, "k"),
            (1e6, "M"),
            (-1e6, "M"),
            (0.001, "m"),
            (0.000_999, "µ"),
            (1e-30, "q"),
            (1e-40, "q"),
            (1e30, "Q"),
            (1e40, "Q"),
            (f64::INFINITY, "Q"),
            (f64::NAN, "Q"),
        ] {
            assert_eq!(SiPrefix::leaving_less_than(1000.0, value).sign(), sign, "{value}");
        }
        let rounded = SiPrefix::leaving_less_than(999.95, 999.96);
        assert_eq!((rounded.sign(), rounded.power()), ("k", 3));
        assert_eq!(SiPrefix::leaving_less_than(1000.0, 1500.0).scaled(1500.0), 1.5);
        assert_eq!(SiPrefix::leaving_less_than(1000.0, 1.5e-6).ascii_sign(), "u");
        assert_eq!(SiPrefix::NONE.power(), 0);
    }
}
