//! How far a mean or a sum over runs is off by chance, from the spread between runs.

use super::exact::ExactSum;
use super::{Measure, Of};
use crate::run::Run;
use crate::student::both_tails;

/// Of the normal distribution, 97.5 % are below.
const Z: f64 = 1.959_963_984_540_054;

/// Sums of the terms of runs, in the order-independent form that reports need.
#[derive(Clone, Debug, Default)]
pub struct RunNoise {
    runs: u64,
    lower: ExactSum,
    squares: [ExactSum; 2],
    products: ExactSum,
}

impl RunNoise {
    /// Adds a run, of which `of` is the value; one without a value adds nothing.
    pub(crate) fn add(&mut self, measure: &Measure, run: &Run<'_>, of: &Of) {
        let Of::Value { upper, lower } = *of else { return };
        // As for the mean, a run weighs as all its PEs do.
        let weight = if measure.is_extrapolated() {
            let pes = measure.pes(run);
            f64::from(run.npes.max(pes)) / f64::from(pes.max(1))
        } else {
            1.0
        };
        let (upper, lower) = (upper as f64 * weight, lower as f64 * weight);
        self.runs += 1;
        self.lower.add(lower);
        self.squares[0].add(upper * upper);
        self.squares[1].add(lower * lower);
        self.products.add(upper * lower);
    }

    /// Adds what another one has.
    pub(crate) fn merge(&mut self, other: &RunNoise) {
        self.runs += other.runs;
        self.lower.merge(&other.lower);
        self.products.merge(&other.products);
        for (own, other) in self.squares.iter_mut().zip(&other.squares) {
            own.merge(other);
        }
    }

    /// Standard error of a mean that is a ratio of two sums over runs; None of less than two runs.
    ///
    /// W. G. Cochran, Sampling Techniques, 3rd ed., 1977, section 2.11: with n runs of terms u
    /// and l and the ratio R, the variance of R is n / (n - 1) times the sum of (u - R l)^2 by
    /// the square of the sum of l. Where all l are equal, that is the standard error of a mean.
    pub fn mean_error(&self, mean: f64) -> Option<f64> {
        let lower = self.lower.value();
        if self.runs < 2 || lower <= 0.0 {
            return None;
        }
        let n = self.runs as f64;
        let [upper2, lower2] = [self.squares[0].value(), self.squares[1].value()];
        let squares = upper2 - 2.0 * mean * self.products.value() + mean * mean * lower2;
        // Of equal values only rounding is left, which is below a part in 10^14 of the terms.
        let squares = if squares > 1e-14 * upper2 { squares } else { 0.0 };
        Some((n / (n - 1.0) * squares).sqrt() / lower)
    }

    /// How many runs of equal weight have a mean as uncertain as that of these, of which those with a
    /// large lower term count more: the square of the sum of the weights by the sum of their squares
    /// (L. Kish). 0 without runs.
    pub fn effective_runs(&self) -> f64 {
        let (lower, lower2) = (self.lower.value(), self.squares[1].value());
        if lower2 > 0.0 { lower * lower / lower2 } else { 0.0 }
    }

    /// Standard error of the sum of the values of runs that come at random: the root of the sum
    /// of their squares, as of a compound Poisson process. The lower terms are all equal.
    pub fn sum_error(&self) -> Option<f64> {
        let lower2 = self.squares[1].value();
        (lower2 > 0.0).then(|| (self.squares[0].value() * self.runs as f64 / lower2).sqrt())
    }
}

/// The half of the interval around the difference of two means that holds it with a confidence
/// of 95 %, by Welch's approximation; each side is its standard error and its number of runs.
pub fn difference_error(sides: [(f64, u64); 2]) -> f64 {
    let [one, other] = sides.map(|(error, _)| error * error);
    let variance = one + other;
    if variance <= 0.0 {
        return 0.0;
    }
    let parts = sides.map(|(error, runs)| error.powi(4) / runs.saturating_sub(1).max(1) as f64);
    student(variance * variance / (parts[0] + parts[1])) * variance.sqrt()
}

/// The same of two sums, whose errors are those of many runs.
pub fn sum_difference_error([one, other]: [f64; 2]) -> f64 {
    Z * (one * one + other * other).sqrt()
}

/// The 97.5 % quantile of Student's distribution with so many degrees of freedom, four at least.
///
/// M. Abramowitz, I. A. Stegun: Handbook of Mathematical Functions, 1964, 26.7.5.
fn student(freedom: f64) -> f64 {
    let z2 = Z * Z;
    let terms = [
        Z * (z2 + 1.0) / 4.0,
        Z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0,
        Z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0,
        Z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + Z
}

/// The chance that noise alone makes the ratio of two means as far from 1, in either direction, as
/// theirs is; each side is its mean, its standard error and its effective number of runs
/// ([`RunNoise::effective_runs`]). None if a mean is not above 0.
///
/// The logarithms of the means are compared, by Welch's approximation: the rates and times of runs are
/// about log-normal, so a mean that is small by chance also has a small standard error, and the
/// difference of the means themselves would count as certain too often.
pub fn ratio_chance(sides: [(f64, f64, f64); 2]) -> Option<f64> {
    let [(one, ..), (other, ..)] = sides;
    if one <= 0.0 || other <= 0.0 {
        return None;
    }
    let distance = (one / other).ln().abs();
    let squares = sides.map(|(mean, error, _)| (error / mean) * (error / mean));
    let variance = squares[0] + squares[1];
    if variance <= 0.0 {
        return Some(if distance > 0.0 { 0.0 } else { 1.0 });
    }
    let parts = [0, 1].map(|at| squares[at] * squares[at] / (sides[at].2 - 1.0).max(1.0));
    let freedom = variance * variance / (parts[0] + parts[1]);
    Some(both_tails(distance / variance.sqrt(), freedom))
}

/// The same for medians of which each run counts once; each side is its quartiles and its number of runs.
/// None if a lower quartile is not above 0.
///
/// Of a normal distribution the quartiles are 1.349 standard deviations apart, and the median of n values
/// has a standard error of 1.2533 of them by the root of n. So a few runs of much weight or of extreme
/// values, which can bring a mean anywhere, make no difference.
pub fn median_ratio_chance(sides: [([f64; 3], u64); 2]) -> Option<f64> {
    if sides.iter().any(|(quartiles, runs)| quartiles[0] <= 0.0 || *runs < 2) {
        return None;
    }
    let logs = sides.map(|(quartiles, _)| quartiles.map(f64::ln));
    let squares = [0, 1].map(|at| {
        let deviation = (logs[at][2] - logs[at][0]) / 1.349;
        (1.2533 * deviation).powi(2) / sides[at].1 as f64
    });
    let distance = (logs[0][1] - logs[1][1]).abs();
    let variance = squares[0] + squares[1];
    if variance <= 0.0 {
        return Some(if distance > 0.0 { 0.0 } else { 1.0 });
    }
    let parts = [0, 1].map(|at| squares[at] * squares[at] / (sides[at].1 - 1) as f64);
    Some(both_tails(distance / variance.sqrt(), variance * variance / (parts[0] + parts[1])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student() {
        // R: qt(0.975, df)
        for (freedom, expected) in
            [(4.0, 2.776), (5.0, 2.571), (8.0, 2.306), (10.0, 2.228), (30.0, 2.042), (1e9, 1.960)]
        {
            let quantile = student(freedom);
            assert!((quantile - expected).abs() < 0.002, "{freedom} {quantile}");
        }
    }

    #[test]
    fn chances_of_ratios() {
        // Of equal means with equal errors, two errors of their difference apart: 8 degrees of
        // freedom, as Simpson's rule adds up its density.
        let apart = (0.01f64 * 8f64.sqrt()).exp();
        let chance = ratio_chance([(apart, 0.01 * apart, 5.0), (1.0, 0.01, 5.0)]).unwrap();
        assert!((chance - 0.080_516).abs() < 1e-6, "{chance}");
        assert_eq!(ratio_chance([(2.0, 0.1, 5.0), (2.0, 0.1, 5.0)]), Some(1.0));
        assert_eq!(ratio_chance([(2.0, 0.0, 5.0), (3.0, 0.0, 5.0)]), Some(0.0));
        assert_eq!(ratio_chance([(0.0, 0.0, 5.0), (3.0, 0.0, 5.0)]), None);
    }

    #[test]
    fn chances_of_medians() {
        // Deviations of 0.1 of the logarithms: their difference has an error of 0.1 * 1.2533 * sqrt(2 / 50).
        let half = 0.1349f64 / 2.0;
        let side = |median: f64| ([median - half, median, median + half].map(f64::exp), 50);
        let chance = median_ratio_chance([side(2.0 * 0.025_066), side(0.0)]).unwrap();
        // Of Student's t with 98 degrees of freedom, as Simpson's rule adds up its density.
        assert!((chance - 0.048_268).abs() < 1e-5, "{chance}");
        assert_eq!(median_ratio_chance([side(1.0), side(1.0)]), Some(1.0));
        assert_eq!(median_ratio_chance([([0.0, 1.0, 2.0], 9), side(1.0)]), None);
        let all = |value: f64| ([value; 3], 5);
        assert_eq!(median_ratio_chance([all(2.0), all(3.0)]), Some(0.0));
        assert_eq!(median_ratio_chance([all(2.0), all(2.0)]), Some(1.0));
    }

    #[test]
    fn errors_of_differences() {
        // R: t.test(c(1, 2, 3, 4, 5), c(2, 4, 6, 8, 10))$conf.int
        let errors = [(0.5f64.sqrt(), 5), (2f64.sqrt(), 5)];
        let half = difference_error(errors);
        assert!((half - 3.8877).abs() < 0.001, "{half}");
        assert_eq!(difference_error([(0.0, 5), (0.0, 7)]), 0.0);
        assert!((sum_difference_error([3.0, 4.0]) - 9.7998).abs() < 1e-4);
    }
}
