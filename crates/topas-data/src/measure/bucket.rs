//! Values in buckets: of equal size, or on a logarithmic scale, up to a limit or without.

use std::fmt;
use std::str::FromStr;

use super::Of;

/// Millionths in one.
const SCALE: u64 = 1_000_000;

/// Largest bucket size.
const LARGEST: u64 = 1_000_000_000_000;

/// Size of a bucket: a positive decimal number of the measure's unit, at most six decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketSize {
    millionths: u64,
}

impl Default for BucketSize {
    /// 50, as in the paper of 1999.
    fn default() -> Self {
        BucketSize { millionths: 50 * SCALE }
    }
}

/// Why a text is no bucket size, and no limit.
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
            BucketSizeError::Range => "not more than 0 and at most 1000000000000",
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
    /// The size in millionths.
    pub fn millionths(self) -> u64 {
        self.millionths
    }
}

/// How values are put into buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Where the bounds of buckets are
    pub kind: ScaleKind,
    /// All values from here on are in one bucket
    pub upper: Option<BucketSize>,
}

/// Where the bounds of buckets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleKind {
    /// At multiples of a size
    Linear(BucketSize),
    /// At 1, 2 and 5 times powers of ten, from a millionth on; 0 is a bucket of its own
    Logarithmic,
}

impl Default for Scale {
    fn default() -> Self {
        Scale { kind: ScaleKind::Linear(BucketSize::default()), upper: None }
    }
}

/// A bucket. They sort as their values do; what has no value comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MeasureBucket {
    /// From the lower bound, which belongs to it, to the upper; the number of the bucket
    At(u128),
    /// From the limit on
    Above,
    /// No value
    Missing,
}

/// Bounds of a bucket in millionths of the unit: from the first to below the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Of a bucket between two bounds
    Between(u128, u128),
    /// 0 and nothing else
    Zero,
    /// From here on
    From(u128),
    /// No value
    Missing,
}

impl Scale {
    /// The bucket of a value. Exact, without rounding.
    #[inline]
    pub fn bucket(&self, of: &Of) -> MeasureBucket {
        let Of::Value { upper, lower } = *of else { return MeasureBucket::Missing };
        let millionths = millionths(upper, lower);
        if self.upper.is_some_and(|limit| millionths >= u128::from(limit.millionths)) {
            return MeasureBucket::Above;
        }
        match self.kind {
            ScaleKind::Linear(size) => {
                let size = size.millionths;
                // Nearly always the fast division does.
                MeasureBucket::At(match u64::try_from(millionths) {
                    Ok(millionths) => u128::from(millionths / size),
                    Err(_) => millionths / u128::from(size),
                })
            }
            ScaleKind::Logarithmic => MeasureBucket::At(match millionths {
                0 => u128::from(upper > 0),
                _ => {
                    let decade = millionths.ilog10();
                    let part = match millionths / 10u128.pow(decade) {
                        1 => 0,
                        2..=4 => 1,
                        _ => 2,
                    };
                    2 + 3 * u128::from(decade) + part
                }
            }),
        }
    }

    /// The bounds of a bucket.
    pub fn bounds(&self, bucket: MeasureBucket) -> Bounds {
        let number = match bucket {
            MeasureBucket::Missing => return Bounds::Missing,
            MeasureBucket::Above => {
                return Bounds::From(self.upper.map_or(0, |limit| limit.millionths.into()));
            }
            MeasureBucket::At(number) => number,
        };
        let (from, to) = match self.kind {
            ScaleKind::Linear(size) => {
                let size = u128::from(size.millionths);
                (number * size, (number + 1) * size)
            }
            ScaleKind::Logarithmic if number == 0 => return Bounds::Zero,
            ScaleKind::Logarithmic if number == 1 => (0, 1),
            ScaleKind::Logarithmic => (bound(number - 2), bound(number - 1)),
        };
        // The limit may lie within a bucket, which then ends there.
        let limit = self.upper.map_or(to, |limit| limit.millionths.into());
        Bounds::Between(from, to.min(limit))
    }
}

/// 1, 2, 5, 10, 20, 50, 100, ...
fn bound(number: u128) -> u128 {
    // A value has at most 39 digits.
    [1, 2, 5][(number % 3) as usize] * 10u128.pow((number / 3) as u32)
}

/// A ratio in millionths, rounded down.
fn millionths(upper: u128, lower: u128) -> u128 {
    if let (Ok(upper), Ok(lower)) = (u64::try_from(upper), u64::try_from(lower))
        && let Some(upper) = upper.checked_mul(SCALE)
    {
        return u128::from(upper / lower);
    }
    match upper.checked_mul(u128::from(SCALE)) {
        Some(upper) => upper / lower,
        // In two steps: the rest of the first division is below `lower`.
        None => {
            let rest = (upper % lower).checked_mul(u128::from(SCALE)).map_or(0, |r| r / lower);
            (upper / lower).saturating_mul(u128::from(SCALE)).saturating_add(rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(size: &str, upper: Option<&str>) -> Scale {
        let kind = ScaleKind::Linear(size.parse().unwrap());
        Scale { kind, upper: upper.map(|upper| upper.parse().unwrap()) }
    }

    fn at(scale: Scale, upper: u128, lower: u128) -> Bounds {
        scale.bounds(scale.bucket(&Of::Value { upper, lower }))
    }

    const ONE: u128 = SCALE as u128;

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
        let scale = Scale::default();
        assert_eq!(at(scale, 0, 1), Bounds::Between(0, 50 * ONE));
        assert_eq!(at(scale, 49_999_999, 1_000_000), Bounds::Between(0, 50 * ONE));
        assert_eq!(at(scale, 50_000_000, 1_000_000), Bounds::Between(50 * ONE, 100 * ONE));
        let third = linear("0.333333", None);
        assert_eq!(at(third, 1, 3), Bounds::Between(333_333, 666_666));
    }

    #[test]
    fn a_limit_collects_what_is_above() {
        let scale = linear("50", Some("180"));
        assert_eq!(at(scale, 179, 1), Bounds::Between(150 * ONE, 180 * ONE));
        assert_eq!(at(scale, 180, 1), Bounds::From(180 * ONE));
        assert_eq!(scale.bounds(scale.bucket(&Of::Zero)), Bounds::Missing);
        let mut all = [
            MeasureBucket::Missing,
            MeasureBucket::Above,
            MeasureBucket::At(7),
            MeasureBucket::At(0),
        ];
        all.sort();
        assert_eq!(
            all,
            [
                MeasureBucket::At(0),
                MeasureBucket::At(7),
                MeasureBucket::Above,
                MeasureBucket::Missing
            ]
        );
    }

    #[test]
    fn logarithmic_buckets() {
        let scale = Scale { kind: ScaleKind::Logarithmic, upper: None };
        assert_eq!(at(scale, 0, 7), Bounds::Zero);
        assert_eq!(at(scale, 1, 1_000_001), Bounds::Between(0, 1));
        assert_eq!(at(scale, 1, 1_000_000), Bounds::Between(1, 2));
        assert_eq!(at(scale, 1, 1), Bounds::Between(ONE, 2 * ONE));
        assert_eq!(at(scale, 2, 1), Bounds::Between(2 * ONE, 5 * ONE));
        assert_eq!(at(scale, 4_999_999, 1_000_000), Bounds::Between(2 * ONE, 5 * ONE));
        assert_eq!(at(scale, 5, 1), Bounds::Between(5 * ONE, 10 * ONE));
        assert_eq!(at(scale, 10, 1), Bounds::Between(10 * ONE, 20 * ONE));
        let most = Bounds::Between(10u128.pow(38), 2 * 10u128.pow(38));
        assert_eq!(at(scale, 10u128.pow(32), 1), most);
    }

    #[test]
    fn large_numbers_are_not_clipped() {
        let finest = linear("0.000001", None);
        let large = u128::from(u64::MAX) << 32;
        assert_eq!(at(finest, large, 1), Bounds::Between(large * ONE, large * ONE + 1));
        assert_eq!(at(finest, 1, u128::MAX), Bounds::Between(0, 1));
        // Beyond u128 with millionths, in two steps.
        let wide = linear("1000000000000", None);
        assert_eq!(at(wide, u128::MAX / 5, u128::MAX / 7), Bounds::Between(0, 10u128.pow(18)));
    }
}
