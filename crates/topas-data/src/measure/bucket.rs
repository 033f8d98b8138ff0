//! Values in buckets: of equal size, or on a logarithmic scale, up to a limit or without.

use std::collections::BTreeSet;
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
    /// One of the two, which the data decides when all are read ([`Scale::settled`]). Until then
    /// buckets have the bounds of both: those below the size are logarithmic, the others linear.
    /// From the size on, each 1, 2 or 5 times a power of ten has to be a multiple of it
    FromData(BucketSize),
}

/// Most linear buckets that a scale from data shows.
pub const MOST_LINEAR: usize = 24;

/// Number of the first linear bucket behind the logarithmic ones in [`ScaleKind::FromData`]; a
/// value has at most 39 digits, and there are three logarithmic buckets for each.
const FIRST_LINEAR: u128 = 128;

/// What a scale became by the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledScale {
    /// The scale, which is linear or logarithmic
    pub scale: Scale,
    /// Size and number of the linear buckets with values, if the data decided
    pub linear: Option<(BucketSize, usize)>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
            ScaleKind::Linear(size) => MeasureBucket::At(linear(millionths, size)),
            ScaleKind::FromData(size) if millionths >= u128::from(size.millionths) => {
                MeasureBucket::At(FIRST_LINEAR + linear(millionths, size))
            }
            ScaleKind::Logarithmic | ScaleKind::FromData(_) => {
                MeasureBucket::At(logarithmic(millionths, upper > 0))
            }
        }
    }

    /// The scale for these buckets, in which there are values: as it is, unless the data is to
    /// decide. Then it is linear if 2 to [`MOST_LINEAR`] of its buckets have values, or if
    /// logarithmic ones would tell no more values apart.
    pub fn settled(&self, buckets: &[MeasureBucket]) -> SettledScale {
        let ScaleKind::FromData(size) = self.kind else {
            return SettledScale { scale: *self, linear: None };
        };
        let number = |kind| {
            let scale = Scale { kind, ..*self };
            let valued = buckets.iter().filter(|bucket| **bucket != MeasureBucket::Missing);
            let coarse: BTreeSet<_> = valued.map(|bucket| self.coarser(*bucket, &scale)).collect();
            coarse.len()
        };
        let linear = number(ScaleKind::Linear(size));
        let is_linear = match linear {
            0..=1 => number(ScaleKind::Logarithmic) <= 1,
            some => some <= MOST_LINEAR,
        };
        let kind = if is_linear { ScaleKind::Linear(size) } else { ScaleKind::Logarithmic };
        SettledScale { scale: Scale { kind, ..*self }, linear: Some((size, linear)) }
    }

    /// The bucket of a settled scale that a bucket of this one is part of.
    pub fn coarser(&self, bucket: MeasureBucket, settled: &Scale) -> MeasureBucket {
        let (ScaleKind::FromData(size), MeasureBucket::At(number)) = (self.kind, bucket) else {
            return bucket;
        };
        let linear = number.checked_sub(FIRST_LINEAR);
        MeasureBucket::At(match settled.kind {
            ScaleKind::Linear(_) => linear.unwrap_or(0),
            _ => linear.map_or(number, |n| logarithmic(n * u128::from(size.millionths), true)),
        })
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
            ScaleKind::FromData(size) if number >= FIRST_LINEAR => {
                let (number, size) = (number - FIRST_LINEAR, u128::from(size.millionths));
                (number * size, (number + 1) * size)
            }
            ScaleKind::FromData(_) | ScaleKind::Logarithmic => match number {
                0 => return Bounds::Zero,
                1 => (0, 1),
                _ => (bound(number - 2), bound(number - 1)),
            },
        };
        // The limit may lie within a bucket, which then ends there.
        let limit = self.upper.map_or(to, |limit| limit.millionths.into());
        Bounds::Between(from, to.min(limit))
    }
}

/// The number of a linear bucket.
#[inline]
fn linear(millionths: u128, size: BucketSize) -> u128 {
    // Nearly always the fast division does.
    match u64::try_from(millionths) {
        Ok(millionths) => u128::from(millionths / size.millionths),
        Err(_) => millionths / u128::from(size.millionths),
    }
}

/// The number of a logarithmic bucket; `more` tells 0 from what is less than a millionth.
fn logarithmic(millionths: u128, more: bool) -> u128 {
    if millionths == 0 {
        return u128::from(more);
    }
    let decade = millionths.ilog10();
    let part = match millionths / 10u128.pow(decade) {
        1 => 0,
        2..=4 => 1,
        _ => 2,
    };
    2 + 3 * u128::from(decade) + part
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

    /// Each bucket of both scales is made of whole buckets of the one from data.
    #[test]
    fn scales_from_data_settle_without_an_error() {
        let sizes = crate::measure::MEASURES.iter().filter_map(|measure| measure.bucket);
        for size in sizes {
            let size: BucketSize = size.parse().unwrap();
            for upper in [None, Some("180".parse().unwrap())] {
                let scale = |kind| Scale { kind, upper };
                let from_data = scale(ScaleKind::FromData(size));
                for value in (0..40_000_000u128).step_by(7919).map(|n| n * n / 77) {
                    let of = Of::Value { upper: value, lower: ONE };
                    for kind in [ScaleKind::Linear(size), ScaleKind::Logarithmic] {
                        let settled = scale(kind);
                        let coarse = from_data.coarser(from_data.bucket(&of), &settled);
                        assert_eq!(coarse, settled.bucket(&of), "{value} {kind:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_data_decides_the_scale() {
        let size: BucketSize = "50".parse().unwrap();
        let scale = Scale { kind: ScaleKind::FromData(size), upper: None };
        let settled = |values: &[u128]| {
            let of = |value: &u128| scale.bucket(&Of::Value { upper: *value, lower: 1 });
            let mut buckets: Vec<_> = values.iter().map(of).collect();
            buckets.push(MeasureBucket::Missing);
            let settled = scale.settled(&buckets);
            (settled.scale.kind == ScaleKind::Logarithmic, settled.linear.unwrap().1)
        };
        let steps = |n: u128| (0..n).map(|at| at * 50).collect::<Vec<_>>();
        assert_eq!(settled(&[]), (false, 0));
        assert_eq!(settled(&[30, 31]), (false, 1));
        assert_eq!(settled(&[3, 30]), (true, 1));
        assert_eq!(settled(&steps(24)), (false, 24));
        assert_eq!(settled(&steps(25)), (true, 25));
        let given = Scale::default().settled(&[MeasureBucket::At(7)]);
        assert_eq!(given, SettledScale { scale: Scale::default(), linear: None });
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
