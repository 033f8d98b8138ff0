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
    logs: LogSums,
}

/// Added to each logarithm of a value, so that none is below 0: terms are whole numbers of 128 bits.
const LOG_SHIFT: f64 = 89.0;

/// Sums over runs, of which each counts once: of y, the logarithm of the value, and x, that of the number of
/// PEs.
#[derive(Clone, Debug, Default)]
struct LogSums {
    runs: u64,
    x: ExactSum,
    y: ExactSum,
    xx: ExactSum,
    xy: ExactSum,
    yy: ExactSum,
}

impl LogSums {
    fn sums(&mut self) -> [&mut ExactSum; 5] {
        [&mut self.x, &mut self.y, &mut self.xx, &mut self.xy, &mut self.yy]
    }

    fn add(&mut self, x: f64, y: f64) {
        self.runs += 1;
        for (sum, term) in self.sums().into_iter().zip([x, y, x * x, x * y, y * y]) {
            sum.add(term);
        }
    }

    fn merge(&mut self, other: &LogSums) {
        self.runs += other.runs;
        let others = [&other.x, &other.y, &other.xx, &other.xy, &other.yy];
        for (own, other) in self.sums().into_iter().zip(others) {
            own.merge(other);
        }
    }
}

/// The logarithms of the values of runs, and of their numbers of PEs. Only differences between those of one
/// measure have a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunLogs {
    /// Number of runs with a value above 0
    pub runs: u64,
    /// Mean of the logarithms of values
    pub mean: f64,
    /// Mean of those of the number of PEs
    pub pes: f64,
    /// Sums of the products of the distances from the means: of PEs with PEs, PEs with values, and values
    /// with values
    pub products: [f64; 3],
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
        if upper > 0.0 && lower > 0.0 {
            let pes = run.npes.max(measure.pes(run)).max(1);
            self.logs.add(f64::from(pes).ln(), (upper.ln() - lower.ln() + LOG_SHIFT).max(0.0));
        }
    }

    /// Adds what another one has.
    pub(crate) fn merge(&mut self, other: &RunNoise) {
        self.runs += other.runs;
        self.lower.merge(&other.lower);
        self.products.merge(&other.products);
        self.logs.merge(&other.logs);
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

    /// The logarithms of the values, of which each counts once.
    pub fn logs(&self) -> RunLogs {
        let LogSums { runs, x, y, xx, xy, yy } = &self.logs;
        if *runs == 0 {
            return RunLogs::default();
        }
        let n = *runs as f64;
        let (pes, mean) = (x.value() / n, y.value() / n);
        // Of equal terms only rounding is left.
        let kept = |sum: f64| if sum.abs() > 1e-11 * n { sum } else { 0.0 };
        let products = [
            kept(xx.value() - n * pes * pes),
            kept(xy.value() - n * pes * mean),
            kept(yy.value() - n * mean * mean),
        ];
        RunLogs { runs: *runs, mean, pes, products }
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

/// How the values of runs of two sides differ at the same number of PEs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDifference {
    /// Values of the first side by those of the second
    pub ratio: f64,
    /// The chance that noise alone makes the ratio as far from 1, in either direction
    pub chance: f64,
}

/// Compares the values of runs of two sides at the same number of PEs. None if a side has less than three
/// runs, or if nothing tells how values depend on the number of PEs and the sides differ in this number.
///
/// The rates and times of runs are about log-normal, so the test holds for few runs, too, and a run that is
/// a thousand times as long as the others counts once, as they do. Rates and times follow the number of PEs
/// by a power law, whose exponent is that of the runs within each side (analysis of covariance: W. G.
/// Cochran, Biometrics 13, 1957, 261); the error of the exponent is a part of that of the difference. Each
/// side has a variance of its own, by Welch's approximation.
pub fn log_difference(sides: [RunLogs; 2]) -> Option<LogDifference> {
    if sides.iter().any(|side| side.runs < 3) {
        return None;
    }
    let within: f64 = sides.iter().map(|side| side.products[0]).sum();
    let apart = sides[0].pes - sides[1].pes;
    let (exponent, spent) = match within > 0.0 {
        true => (sides.iter().map(|side| side.products[1]).sum::<f64>() / within, 1),
        false if apart.abs() < 1e-9 => (0.0, 0),
        false => return None,
    };
    // Variances of values around the power law, and of the means of both sides.
    let freedoms = sides.map(|side| (side.runs - 1 - spent) as f64);
    let residues = sides.map(|side| {
        let [xx, xy, yy] = side.products;
        (yy - 2.0 * exponent * xy + exponent * exponent * xx).max(0.0)
    });
    let parts = [0, 1].map(|at| residues[at] / freedoms[at] / sides[at].runs as f64);
    let mut terms = vec![(parts[0], freedoms[0]), (parts[1], freedoms[1])];
    if within > 0.0 {
        let freedom = freedoms[0] + freedoms[1];
        let pooled = (residues[0] + residues[1]) / freedom;
        terms.push((apart * apart / within * pooled, freedom));
    }
    let variance: f64 = terms.iter().map(|(part, _)| part).sum();
    let difference = sides[0].mean - sides[1].mean - exponent * apart;
    let chance = if variance <= 0.0 {
        if difference.abs() > 1e-6 { 0.0 } else { 1.0 }
    } else {
        let freedom: f64 = terms.iter().map(|(part, freedom)| part * part / freedom).sum();
        both_tails(difference.abs() / variance.sqrt(), variance * variance / freedom)
    };
    Some(LogDifference { ratio: difference.exp(), chance })
}

/// The chance that noise alone makes the ratio of two medians as far from 1, in either direction, as theirs
/// is; each side is its quartiles and its number of runs. None if a lower quartile is not above 0.
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
    fn differences_of_logarithms() {
        // Two errors of their difference apart: 8 degrees of freedom, as Simpson's rule adds up the density.
        let side = |mean: f64| RunLogs { runs: 5, mean, pes: 1.0, products: [0.0, 0.0, 0.002] };
        let of = |one, other| log_difference([one, other]).unwrap();
        let far = of(side(3.0 + 0.01 * 8f64.sqrt()), side(3.0));
        assert!((far.chance - 0.080_516).abs() < 1e-6, "{far:?}");
        assert!((far.ratio.ln() - 0.01 * 8f64.sqrt()).abs() < 1e-12, "{far:?}");
        assert!((of(side(3.0), side(3.0)).chance - 1.0).abs() < 1e-12);
        let sure = |mean| RunLogs { products: [0.0; 3], ..side(mean) };
        assert_eq!([of(sure(2.0), sure(2.1)).chance, of(sure(2.0), sure(2.0)).chance], [0.0, 1.0]);
        // Other numbers of PEs: nothing tells what they change, or the runs of a side do.
        let more = RunLogs { pes: 2.0, ..side(2.5) };
        assert_eq!(log_difference([more, side(3.0)]), None);
        let told = RunLogs { products: [4.0, -2.0, 1.001], ..side(3.0) };
        let found = of(more, told);
        assert!((found.ratio - 1.0).abs() < 1e-12 && found.chance > 0.99, "{found:?}");
        assert_eq!(log_difference([RunLogs { runs: 2, ..more }, told]), None);
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
