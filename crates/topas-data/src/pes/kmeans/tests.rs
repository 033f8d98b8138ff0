//! Optimal clusters against every other cut, and against the crate `ckmeans`.

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

    /// The crate `ckmeans` does what the R package Ckmeans.1d.dp does.
    #[test]
    fn clusters_and_criteria_are_those_of_ckmeans(
        centers in proptest::collection::vec(1u32..50, 1..5),
        spread in 1u32..400,
        noise in proptest::collection::vec(0u32..1000, 12..60),
    ) {
        let mut sorted: Vec<f64> = noise
            .iter()
            .enumerate()
            .map(|(at, noise)| f64::from(centers[at % centers.len()]) + f64::from(noise * spread) / 1e5)
            .collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (ends, criteria) = best(&sorted);
        let config = ckmeans::CkmeansConfig { k_min: 1, k_max: MOST_CLASSES as u8 };
        let theirs = ckmeans::ckmeans_optimal(&sorted, config).unwrap();
        let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] != pair[1]).count();
        prop_assume!(distinct > 1);
        prop_assert_eq!(criteria.len(), theirs.bic.len());
        let bins = bins(&sorted);
        let mut same = true;
        for (k, own) in (1..).zip(partitions(&bins, criteria.len())) {
            let own: Vec<usize> = own.iter().map(|&end| bins[end - 1].end).collect();
            let clusters = ckmeans::ckmeans(&sorted, k).unwrap();
            let other = ends_of(&clusters);
            let (ours, best) = (cost(&sorted, &own), cost(&sorted, &other));
            prop_assert!((ours - best).abs() <= 1e-9 * best.max(1e-9), "k {k}: {ours} {best}");
            // Of several best ones each may take another.
            if own == other {
                let (ours, theirs) = (criteria[usize::from(k) - 1], theirs.bic[usize::from(k) - 1].1);
                let same = (ours - theirs).abs() < 1e-6 * ours.abs().max(1.0);
                prop_assert!(same, "k {k}: {ours} {theirs}");
            } else {
                same = false;
            }
        }
        prop_assert!(!same || ends == ends_of(&theirs.clusters));
    }
}

fn ends_of(clusters: &[Vec<f64>]) -> Vec<usize> {
    let lengths = clusters.iter().map(Vec::len);
    lengths
        .scan(0, |end, length| {
            *end += length;
            Some(*end)
        })
        .collect()
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
