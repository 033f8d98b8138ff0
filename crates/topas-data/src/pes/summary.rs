//! The statistical summary of a column: extremes, quartiles, mean and spread.

use super::column::Values;

/// What stands in the statistical summary, in the unit of the column.
///
/// An extreme is farther from the quartiles than 1.5 times the distance between them
/// (Tukey's fences). `min` and `max` are of the values that are no extremes; quartiles, mean
/// and standard deviation are of all.
///
/// The standard deviation is that of a sample, divided by n - 1. The listing of the 1999
/// paper cannot have been made otherwise: with its extremes, quartiles, mean and clusters the
/// squared deviations of 16 values sum up to 1.49 at most, and its 0.307 divided by n would
/// need 1.50.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Number of values
    pub count: usize,
    /// Extremes below the first quartile, ascending, each with the place of its row
    pub low: Vec<(f64, u32)>,
    /// Least value that is no extreme, with the place of its row
    pub min: (f64, u32),
    /// Quartiles, Hyndman and Fan's type 7
    pub quartiles: [f64; 3],
    /// Greatest value that is no extreme, with the place of its row
    pub max: (f64, u32),
    /// Extremes above the third quartile, ascending
    pub high: Vec<(f64, u32)>,
    /// Arithmetic mean
    pub mean: f64,
    /// Standard deviation of a sample; None of one value
    pub deviation: Option<f64>,
}

/// How many interquartile ranges from the quartiles a value is an extreme.
const FENCE: f64 = 1.5;

/// The summary of the values; None if there are none. Only extremes are sorted.
pub fn summary(values: &Values) -> Option<Summary> {
    let values = &values.values;
    let mut unsorted: Vec<f64> = values.iter().map(|value| value.0).collect();
    let quartiles = [0.25, 0.5, 0.75].map(|p| quantile_of_unsorted(&mut unsorted, p));
    let [q25, _, q75] = quartiles;
    let reach = FENCE * (q75 - q25);
    let (mut low, mut high) = (Vec::new(), Vec::new());
    let mut inner = Extent::default();
    for &value in values {
        if value.0 < q25 - reach {
            low.push(value);
        } else if value.0 > q75 + reach {
            high.push(value);
        } else {
            inner.add(value);
        }
    }
    let ascending = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    low.sort_unstable_by(ascending);
    high.sort_unstable_by(ascending);
    let mean = sum(values.iter().map(|value| value.0)) / values.len() as f64;
    let squares = || sum(values.iter().map(|value| (value.0 - mean) * (value.0 - mean)));
    Some(Summary {
        count: values.len(),
        low,
        min: inner.min?,
        quartiles,
        max: inner.max?,
        high,
        mean,
        deviation: (values.len() > 1).then(|| (squares() / (values.len() - 1) as f64).sqrt()),
    })
}

/// Least and greatest of values that come by place; of equal ones the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    pub(super) min: Option<(f64, u32)>,
    pub(super) max: Option<(f64, u32)>,
}

impl Extent {
    pub(super) fn add(&mut self, value: (f64, u32)) {
        if self.min.is_none_or(|min| value.0 < min.0) {
            self.min = Some(value);
        }
        if self.max.is_none_or(|max| value.0 > max.0) {
            self.max = Some(value);
        }
    }
}

/// The quantile `p` of ascending values: Hyndman and Fan's type 7, which numpy, R and SQL's
/// PERCENTILE_CONT have as default. NaN if there are none.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    quantile_by(sorted.len(), p, |at| sorted[at])
}

/// [`quantile`] of values in any order, which is changed: without sorting all of them.
pub(super) fn quantile_of_unsorted(values: &mut [f64], p: f64) -> f64 {
    let mut selected = None;
    quantile_by(values.len(), p, |at| match selected {
        // All values behind the one that was selected are as large or larger.
        Some(before) if before + 1 == at => {
            values[at..].iter().copied().fold(f64::INFINITY, f64::min)
        }
        _ => {
            selected = Some(at);
            *values.select_nth_unstable_by(at, f64::total_cmp).1
        }
    })
}

fn quantile_by(count: usize, p: f64, mut value: impl FnMut(usize) -> f64) -> f64 {
    if count == 0 {
        return f64::NAN;
    }
    let place = p * (count - 1) as f64;
    let below = place.floor();
    let at = (below as usize).min(count - 1);
    let (low, high) = (value(at), value((at + 1).min(count - 1)));
    low + (high - low) * (place - below)
}

/// A sum that carries what each addition rounds off (Neumaier).
pub(super) fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut rest) = (0.0f64, 0.0);
    for value in values {
        let next = sum + value;
        rest += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_unsorted_values_are_those_of_sorted_ones() {
        for count in 1..40u32 {
            let values: Vec<f64> = (0..count).map(|at| f64::from(at * 37 % 41)).collect();
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            for p in [0.0, 0.25, 0.5, 0.75, 0.9, 1.0] {
                let mut unsorted = values.clone();
                assert_eq!(
                    quantile_of_unsorted(&mut unsorted, p),
                    quantile(&sorted, p),
                    "{count} {p}"
                );
            }
        }
    }
}
