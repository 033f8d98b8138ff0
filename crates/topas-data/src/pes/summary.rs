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

/// The summary of the values; None if there are none.
pub fn summary(values: &Values) -> Option<Summary> {
    let mut sorted = values.values.clone();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    of_sorted(&sorted)
}

/// The same of values that ascend, those of the same size by place.
fn of_sorted(sorted: &[(f64, u32)]) -> Option<Summary> {
    let quartiles = [0.25, 0.5, 0.75].map(|p| quantile_by(sorted.len(), p, |at| sorted[at].0));
    let [q25, _, q75] = quartiles;
    let reach = FENCE * (q75 - q25);
    let first = sorted.partition_point(|value| value.0 < q25 - reach);
    let end = sorted.partition_point(|value| value.0 <= q75 + reach);
    let inner = sorted.get(first..end)?;
    let greatest = inner.last()?.0;
    // Of several greatest the first PE, as of several least.
    let max = *inner.get(inner.partition_point(|value| value.0 < greatest))?;
    let mean = sum(sorted.iter().map(|value| value.0)) / sorted.len() as f64;
    let squares = || sum(sorted.iter().map(|value| (value.0 - mean) * (value.0 - mean)));
    Some(Summary {
        count: sorted.len(),
        low: sorted.get(..first)?.to_vec(),
        min: *inner.first()?,
        quartiles,
        max,
        high: sorted.get(end..)?.to_vec(),
        mean,
        deviation: (sorted.len() > 1).then(|| (squares() / (sorted.len() - 1) as f64).sqrt()),
    })
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
