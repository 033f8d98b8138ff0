//! Optimal clusters against every other cut, and against recorded results of the crate `ckmeans`.

use super::*;
use proptest::prelude::*;

/// Sum of squared deviations of the clusters that end there.
fn cost(sorted: &[f64], ends: &[usize]) -> f64 {
    let mut first = 0;
    let mut total = 0.0;
    for &end in ends {
        let part = &sorted[first..end];
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        total += part.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        first = end;
    }
    total
}

/// Every way to cut `n` values into `k` runs.
fn cuts(n: usize, k: usize) -> Vec<Vec<usize>> {
    if k == 1 {
        return vec![vec![n]];
    }
    let mut all = Vec::new();
    for end in k - 1..n {
        for mut rest in cuts(end, k - 1) {
            rest.push(n);
            all.push(rest);
        }
    }
    all
}

proptest! {
    #[test]
    fn no_other_cut_is_better(
        mut values in proptest::collection::vec(0u32..200, 1..11),
        offset in proptest::sample::select([0.0, 1e6].as_slice()),
    ) {
        values.sort_unstable();
        let sorted: Vec<f64> = values.iter().map(|v| f64::from(*v) / 7.0 + offset).collect();
        let bins = bins(&sorted);
        for (k, ends) in (1..).zip(partitions(&bins, bins.len().min(4))) {
            let ends: Vec<usize> = ends.iter().map(|&end| bins[end - 1].end).collect();
            prop_assert_eq!(ends.len(), k);
            let least = cuts(sorted.len(), k).iter().map(|ends| cost(&sorted, ends)).fold(f64::INFINITY, f64::min);
            prop_assert!(cost(&sorted, &ends) <= least + 1e-6, "{:?} into {}", sorted, k);
        }
    }

}

/// What the crate `ckmeans` 2.2.0, which does what the R package Ckmeans.1d.dp does, made of samples.
const KNOWN: &str = include_str!("ckmeans.txt");

#[test]
fn clusters_and_criteria_are_those_of_ckmeans() {
    let numbers = |text: &str| -> Vec<f64> {
        text.split(',').map(|number| number.parse().unwrap()).collect()
    };
    let near = |a: f64, b: f64, of: f64| (a - b).abs() <= of * b.abs().max(1e-9);
    let mut lines = 0;
    for line in KNOWN.lines().filter(|line| !line.starts_with('#')) {
        let tokens: Vec<&str> = line.split(' ').collect();
        let whole = |at: usize| tokens[at].parse::<u64>().unwrap();
        let sorted = sample(&numbers(tokens[0]), whole(1), whole(2), whole(3));
        let (costs, known_criteria) = (numbers(tokens[4]), numbers(tokens[5]));
        let (ends, criteria) = best(&sorted);
        let bins = bins(&sorted);
        let cuts = partitions(&bins, costs.len());
        assert_eq!((criteria.len(), cuts.len()), (known_criteria.len(), costs.len()), "{line}");
        for (cut, known) in cuts.iter().zip(&costs) {
            let own: Vec<usize> = cut.iter().map(|&end| bins[end - 1].end).collect();
            let own = cost(&sorted, &own);
            assert!(near(own, *known, 1e-8), "{} clusters cost {own}: {line}", cut.len());
        }
        for (own, known) in criteria.iter().zip(&known_criteria) {
            assert!(near(*own, *known, 1e-6), "a criterion of {own}: {line}");
        }
        let known_ends: Vec<usize> = numbers(tokens[6]).iter().map(|end| *end as usize).collect();
        assert_eq!(ends, known_ends, "{line}");
        lines += 1;
    }
    assert_eq!(lines, 100);
}

/// A sample: values about `centers`, by a linear congruential generator.
fn sample(centers: &[f64], spread: u64, seed: u64, number: u64) -> Vec<f64> {
    let mut state = seed;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 1000
    };
    let value = |center: &f64| center + (noise() * spread) as f64 / 1e5;
    let mut values: Vec<f64> = centers.iter().cycle().take(number as usize).map(value).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Beyond 8,192 distinct values: the loss is what is promised, and far outliers stay apart.
#[test]
fn many_values_are_cut_near_the_optimum() {
    let mut sorted: Vec<f64> = (0..100_000u32)
        .map(|n| {
            let noise = f64::from(n.wrapping_mul(2_654_435_761) >> 8) / 16_777_216.0;
            if n % 3 == 0 { 70.0 + noise } else { 95.0 + noise }
        })
        .collect();
    sorted.push(1e6);
    sorted.sort_unstable_by(f64::total_cmp);
    let (ends, _) = best(&sorted);
    let middle = sorted.partition_point(|value| *value < 80.0);
    assert!(ends.contains(&middle), "{ends:?}");
    assert!(ends.contains(&100_000), "the far value is alone: {ends:?}");
}
