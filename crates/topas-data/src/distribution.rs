//! Runs by their rate, in buckets of equal size.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::run::FpRate;
use crate::statistics::Share;

/// Millionths of a MFlop/s in one.
const SCALE: u64 = 1_000_000;

/// Largest bucket size in MFlop/s.
const LARGEST: u64 = 1_000_000_000_000;

/// Size of a bucket: a positive decimal number of MFlop/s, at most six decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketSize {
    /// In op/s: millionths of a MFlop/s
    millionths: u64,
}

impl Default for BucketSize {
    /// 50 MFlop/s.
    fn default() -> Self {
        BucketSize { millionths: 50 * SCALE }
    }
}

/// Why a text is no bucket size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketSizeError {
    /// Not of the form 50 or 0.5, or more than six decimals
    Form,
    /// Not more than 0, or more than 10^12
    Range,
}

impl fmt::Display for BucketSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BucketSizeError::Form => "not a decimal number such as 50 or 0.5 (at most 6 decimals)",
            BucketSizeError::Range => "not more than 0 and at most 1000000000000 MFlop/s",
        })
    }
}

impl std::error::Error for BucketSizeError {}

impl FromStr for BucketSize {
    type Err = BucketSizeError;

    fn from_str(text: &str) -> Result<Self, BucketSizeError> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || decimals.len() > 6 {
            return Err(BucketSizeError::Form);
        }
        // Only digits are left, so what does not parse is too large.
        let whole: u64 = whole.parse().map_err(|_| BucketSizeError::Range)?;
        let millionths: u64 =
            format!("{decimals:0<6}").parse().map_err(|_| BucketSizeError::Form)?;
        if whole > LARGEST || whole == 0 && millionths == 0 || whole == LARGEST && millionths > 0 {
            return Err(BucketSizeError::Range);
        }
        Ok(BucketSize { millionths: whole * SCALE + millionths })
    }
}

impl BucketSize {
    /// The bucket of a rate: 0 is from 0 to below one size. Exact, without rounding.
    pub fn bucket(self, rate: &FpRate) -> u64 {
        // Mostly the numbers are small enough for the fast division.
        if self.millionths.is_multiple_of(SCALE)
            && let (Ok(operations), Ok(wall)) =
                (u64::try_from(rate.operations), u64::try_from(rate.wall))
            && let Some(divisor) = wall.checked_mul(self.millionths / SCALE)
        {
            return operations / divisor;
        }
        let scaled = rate.operations.saturating_mul(u128::from(SCALE));
        let divisor = rate.wall.saturating_mul(u128::from(self.millionths));
        u64::try_from(scaled / divisor).unwrap_or(u64::MAX)
    }

    /// Lower bound of a bucket in millionths of a MFlop/s.
    pub fn lower_millionths(self, bucket: u64) -> u128 {
        u128::from(bucket) * u128::from(self.millionths)
    }

    /// The size in millionths of a MFlop/s.
    pub fn millionths(self) -> u64 {
        self.millionths
    }
}

/// Buckets held in an array; rates beyond are few.
const DENSE: usize = 1024;

/// Number of runs and their time in each bucket.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    dense: Vec<Share>,
    sparse: BTreeMap<u64, Share>,
}

impl Distribution {
    pub(crate) fn add(&mut self, bucket: u64, pe_micros: u128) {
        let share = match usize::try_from(bucket).ok().filter(|&at| at < DENSE) {
            Some(at) => {
                if self.dense.len() <= at {
                    self.dense.resize(at + 1, Share::default());
                }
                &mut self.dense[at]
            }
            None => self.sparse.entry(bucket).or_default(),
        };
        share.add(pe_micros);
    }

    /// The buckets that have runs, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, Share)> + '_ {
        let dense = (0..).zip(&self.dense).filter(|(_, share)| share.runs > 0);
        dense.chain(self.sparse.iter().map(|(&at, share)| (at, share))).map(|(at, s)| (at, *s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(operations: u128, wall: u128) -> FpRate {
        FpRate { operations, wall, pes: 1, estimate: false }
    }

    #[test]
    fn sizes_are_positive_decimals() {
        let size = |text: &str| text.parse::<BucketSize>().map(BucketSize::millionths);
        assert_eq!(size("50"), Ok(50_000_000));
        assert_eq!(size("0.5"), Ok(500_000));
        assert_eq!(size("0.000001"), Ok(1));
        assert_eq!(size("1000000000000"), Ok(LARGEST * SCALE));
        for bad in ["", ".", "5.", ".5", "-1", "+1", "1e3", "NaN", "0.0000001", "1,5", " 1"] {
            assert_eq!(size(bad), Err(BucketSizeError::Form), "{bad}");
        }
        for bad in ["0", "0.0", "1000000000000.1", "99999999999999999999999"] {
            assert_eq!(size(bad), Err(BucketSizeError::Range), "{bad}");
        }
    }

    #[test]
    fn a_bound_belongs_to_the_upper_bucket() {
        let size = BucketSize::default();
        assert_eq!(size.bucket(&rate(0, 1)), 0);
        assert_eq!(size.bucket(&rate(49_999_999, 1_000_000)), 0);
        assert_eq!(size.bucket(&rate(50_000_000, 1_000_000)), 1);
    }

    #[test]
    fn both_divisions_agree_where_both_can_be_made() {
        for (operations, wall) in [(1, 1), (149, 1), (u128::from(u64::MAX), 3), (12_345_678_901, 7)]
        {
            let whole = BucketSize { millionths: 50 * SCALE };
            let slow = operations * u128::from(SCALE) / (wall * u128::from(whole.millionths));
            assert_eq!(u128::from(whole.bucket(&rate(operations, wall))), slow);
        }
        let half = BucketSize { millionths: SCALE / 2 };
        assert_eq!(half.bucket(&rate(7, 2)), 7);
        // Beyond u64: a number, not a wrap.
        assert_eq!(half.bucket(&rate(u128::MAX, 1)), u64::MAX);
        assert_eq!(half.bucket(&rate(1, u128::MAX)), 0);
    }

    #[test]
    fn sparse_buckets_come_after_dense_ones() {
        let mut distribution = Distribution::default();
        for bucket in [u64::MAX, 3, 1024, 3, 1023] {
            distribution.add(bucket, 1);
        }
        let got: Vec<_> = distribution.buckets().map(|(at, share)| (at, share.runs)).collect();
        assert_eq!(got, [(3, 2), (1023, 1), (1024, 1), (u64::MAX, 1)]);
    }
}
