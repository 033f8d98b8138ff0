//! Tests of whether two sets of values differ, by ranks: they hold for values of any
//! distribution.

use super::summary::quantile;

/// What a test found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// How likely a difference as large or larger is if there is none, both directions;
    /// by the normal distribution
    pub p: f64,
    /// Whether the first set is the larger one
    pub first_is_larger: bool,
}

/// Mann and Whitney's test of two independent sets, with the correction for ties and for
/// continuity. None if a set is empty or all values are equal.
pub fn mann_whitney(first: &[f64], second: &[f64]) -> Option<Test> {
    let mut all: Vec<(f64, bool)> = first.iter().map(|&value| (value, true)).collect();
    all.extend(second.iter().map(|&value| (value, false)));
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut ties) = (0.0, 0.0);
    each_tie(
        &all,
        |value| value.0,
        |group, rank, tie| {
            sum += rank * group.iter().filter(|value| value.1).count() as f64;
            ties += tie;
        },
    );
    rank_sum(sum, ties, first.len(), second.len())
}

/// The same from the sum of the ranks of the first set among both, and the sum of
/// t^3 - t over groups of t equal values.
pub(super) fn rank_sum(sum: f64, ties: f64, first: usize, second: usize) -> Option<Test> {
    let (m, n) = (first as f64, second as f64);
    let all = m + n;
    let excess = sum - m * (m + 1.0) / 2.0 - m * n / 2.0;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    (variance > 0.0).then(|| judged(excess, 0.5, variance))
}

/// Wilcoxon's signed rank test of differences between pairs; those of 0 are left out. None
/// if there is no other.
pub fn signed_rank(differences: &[f64]) -> Option<Test> {
    let mut sized: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0).collect();
    sized.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let (mut sum, mut ties) = (0.0, 0.0);
    each_tie(
        &sized,
        |value| value.abs(),
        |group, rank, tie| {
            sum += rank * group.iter().filter(|value| **value > 0.0).count() as f64;
            ties += tie;
        },
    );
    let n = sized.len() as f64;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    (variance > 0.0).then(|| judged(sum - n * (n + 1.0) / 4.0, 0.5, variance))
}

/// Gives each group of equal values with its mean rank, from 1, and its t^3 - t.
pub(super) fn each_tie<T>(
    sorted: &[T],
    key: impl Fn(&T) -> f64,
    mut group: impl FnMut(&[T], f64, f64),
) {
    let mut first = 0;
    for equal in sorted.chunk_by(|a, b| key(a) == key(b)) {
        let count = equal.len() as f64;
        group(equal, first as f64 + (count + 1.0) / 2.0, count * (count * count - 1.0));
        first += equal.len();
    }
}

fn judged(excess: f64, continuity: f64, variance: f64) -> Test {
    let z = (excess.abs() - continuity).max(0.0) / variance.sqrt();
    Test { p: both_tails(z), first_is_larger: excess > 0.0 }
}

/// How likely a normal value is `z` standard deviations or more from the mean: the
/// complementary error function of z / sqrt 2, by its continued fraction for large values
/// (Lentz) and its power series for small ones.
pub(super) fn both_tails(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    if x < 2.0 {
        // erf x = 2/sqrt(pi) sum (-1)^n x^(2n+1) / (n! (2n+1))
        let mut power = x;
        let mut series = x;
        for n in 1..60 {
            power *= -x * x / f64::from(n);
            series += power / f64::from(2 * n + 1);
        }
        return 1.0 - series * std::f64::consts::FRAC_2_SQRT_PI;
    }
    // erfc x = exp(-x^2)/sqrt(pi) / (x + (1/2)/(x + 1/(x + (3/2)/(x + ...))))
    let fraction = (1..=60).rev().fold(x, |rest, n| x + f64::from(n) / 2.0 / rest);
    (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI / 2.0 / fraction
}

/// Median of values in any order. NaN without any.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    quantile(&values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of the normal distribution.
    #[test]
    fn tails_of_the_normal_distribution() {
        for (z, p) in [
            (0.0, 1.0),
            (1.0, 0.317_310_507_862_914),
            (1.959_963_984_540_054, 0.05),
            (2.575_829_303_548_901, 0.01),
            (3.290_526_731_491_926, 0.001),
            (5.0, 5.733_031_437_583_866e-7),
            (10.0, 1.523_970_604_832_105e-23),
        ] {
            let got = both_tails(z);
            assert!((got / p - 1.0).abs() < 1e-9, "{z}: {got} {p}");
        }
    }

    #[test]
    fn sets_that_cannot_be_judged() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0, 1.0], &[1.0]), None);
        assert_eq!(signed_rank(&[0.0, 0.0]), None);
    }
}
