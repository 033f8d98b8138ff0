//! Classes of PEs: optimal clusters that lie apart.

use super::ExaminedValue;
use crate::pes::kmeans::{Moments, best, best_two};

/// PEs that it takes to tell classes.
const LEAST: usize = 8;

/// A class has one in so many PEs at least, and two.
const SHARE: usize = 16;

/// How far the means of two neighbouring classes must be apart, in standard deviations of the
/// wider one, to be more than a cut through one class of `count` PEs.
///
/// The two halves of evenly spread values are sqrt 12 = 3.46 apart, those of a normal
/// distribution 2.65; of few values, more by chance. The terms were fitted to the 99.95 %
/// quantile of 20,000 sets each of 8 to 1,024 evenly spread values.
fn apart(count: usize) -> f64 {
    let n = count as f64;
    3.5 + 9.0 / n.sqrt() + 25.0 / n + 400.0 / (n * n)
}

/// Ends of the classes of ascending items whose means differ by the share `least` at least; one
/// end if there are none to tell apart.
pub(super) fn ends(items: &[ExaminedValue], least: f64) -> Vec<usize> {
    let values: Vec<f64> = items.iter().map(|item| item.value).collect();
    let all = vec![values.len()];
    if values.len() < LEAST || !may_differ(&values, least) {
        return all;
    }
    let many = merged(&values, best(&values).0, least);
    if many.len() > 1 {
        return many;
    }
    // The criterion may cut one class in many pieces that melt together again.
    let two = best_two(&values).map_or(all, |end| vec![end, values.len()]);
    merged(&values, two, least)
}

/// How many values a class has at least.
fn least_count(values: &[f64]) -> usize {
    (values.len() / SHARE).max(2)
}

/// Whether the means of any two classes of these values can differ by this share: no class has a
/// mean below that of the least values, or above that of the largest. This saves the search for
/// clusters where the values are close to each other, as they mostly are.
fn may_differ(values: &[f64], difference: f64) -> bool {
    let count = least_count(values);
    let (low, high) = (&values[..count], &values[values.len() - count..]);
    let share = Moments::of(high).mean / Moments::of(low).mean - 1.0;
    // Where all of them are 0, there is no share.
    share.is_nan() || share >= difference
}

/// Joins neighbours that are no classes of their own, the nearest first.
fn merged(values: &[f64], mut ends: Vec<usize>, difference: f64) -> Vec<usize> {
    let of = |ends: &[usize], class: usize| {
        let begin = class.checked_sub(1).map_or(0, |before| ends[before]);
        ValueClass::of(values.get(begin..ends[class]).unwrap_or_default())
    };
    let mut classes: Vec<ValueClass> = (0..ends.len()).map(|class| of(&ends, class)).collect();
    while let Some(weak) = weakest(&classes, least_count(values), difference) {
        ends.remove(weak);
        classes.remove(weak);
        classes[weak] = of(&ends, weak);
    }
    ends
}

/// Values that may be a class.
struct ValueClass {
    count: usize,
    moments: Moments,
}

impl ValueClass {
    fn of(values: &[f64]) -> Self {
        ValueClass { count: values.len(), moments: Moments::of(values) }
    }
}

/// The border that least separates two classes, if there is one that does not; a class has so many
/// values at least.
fn weakest(classes: &[ValueClass], least: usize, difference: f64) -> Option<usize> {
    let separation = |low: &ValueClass, high: &ValueClass| {
        if low.count < least || high.count < least {
            return 0.0;
        }
        let (a, b) = (low.moments, high.moments);
        // The wider of the two: a long tail is no class.
        let within = a.sample_variance().max(b.sample_variance());
        if b.mean / a.mean - 1.0 < difference {
            return 0.0;
        }
        (b.mean - a.mean) / within.sqrt().max(1e-12) / apart(low.count + high.count)
    };
    let borders = classes.windows(2).enumerate();
    borders
        .map(|(border, pair)| (separation(&pair[0], &pair[1]), border))
        .filter(|(separation, _)| *separation < 1.0)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, border)| border)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(values: impl Iterator<Item = f64>) -> Vec<ExaminedValue> {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        let numbered = values.into_iter().zip(0..);
        numbered.map(|(value, row)| ExaminedValue { value, row }).collect()
    }

    #[test]
    fn values_that_cannot_differ_are_not_searched_and_have_one_class() {
        // Two classes that lie 1 to 12 % apart, each spread over half of a percent.
        for percent in 1..=12 {
            let step = f64::from(percent) / 100.0;
            let near = |at: u32| f64::from(at * 37 % 101) / 20_000.0;
            let items = items((0..400).map(|at| 1.0 + near(at) + f64::from(at % 2) * step));
            let values: Vec<f64> = items.iter().map(|item| item.value).collect();
            let searched = merged(&values, best(&values).0, 0.05);
            assert_eq!(searched.len(), if percent > 5 { 2 } else { 1 }, "{percent} %");
            assert_eq!(ends(&items, 0.05), searched, "{percent} %");
            assert_eq!(may_differ(&values, 0.05), percent >= 5, "{percent} %");
        }
    }

    #[test]
    fn values_of_which_the_least_are_nothing_may_differ() {
        let items = items((0..64).map(|at| f64::from(at / 32)));
        assert_eq!(ends(&items, 0.05), [32, 64]);
    }
}
