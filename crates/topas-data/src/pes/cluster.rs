//! Clusters of unit width, and PE numbers folded into ranges.

use std::collections::BTreeMap;

use super::column::Values;
use super::table::PeTable;

/// PEs `first..=last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeRange {
    /// First PE
    pub first: u32,
    /// Last PE
    pub last: u32,
}

impl PeRange {
    /// Number of PEs.
    pub fn count(self) -> u64 {
        u64::from(self.last - self.first) + 1
    }
}

/// Folds ascending PEs: 1, 2, 3, 5 are 1-3 and 5.
pub fn fold(pes: impl IntoIterator<Item = u32>) -> Vec<PeRange> {
    let mut ranges = Vec::new();
    pes.into_iter().for_each(|pe| push(&mut ranges, pe));
    ranges
}

/// Adds a PE behind the last one.
pub(super) fn push(ranges: &mut Vec<PeRange>, pe: u32) {
    match ranges.last_mut() {
        Some(range) if range.last.checked_add(1) == Some(pe) => range.last = pe,
        _ => ranges.push(PeRange { first: pe, last: pe }),
    }
}

/// PEs whose values are near each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Lower bound
    pub from: f64,
    /// Upper bound: of clusters of a width it belongs to the next
    pub to: f64,
    /// Number of PEs
    pub count: usize,
    /// The PEs, folded
    pub pes: Vec<PeRange>,
}

/// The clusters of the 1999 paper: values by multiples of `width`, ascending, without
/// empty ones.
pub fn unit_clusters(table: &PeTable, values: &Values, width: f64) -> Vec<Cluster> {
    let mut clusters: BTreeMap<i64, (usize, Vec<PeRange>)> = BTreeMap::new();
    for &(value, place) in &values.values {
        // Saturates far beyond what a rate can be.
        let number = (value / width).floor() as i64;
        let (count, ranges) = clusters.entry(number).or_default();
        *count += 1;
        push(ranges, table.rows[place as usize].pe);
    }
    let cluster = |(number, (count, pes))| {
        let from = number as f64 * width;
        Cluster { from, to: (number as f64 + 1.0) * width, count, pes }
    };
    clusters.into_iter().map(cluster).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_of_pes_fold() {
        let folded = fold([1, 2, 3, 4, 6, 7, 8, 10, 14, 15, u32::MAX]);
        let pairs: Vec<_> = folded.iter().map(|range| (range.first, range.last)).collect();
        assert_eq!(pairs, [(1, 4), (6, 8), (10, 10), (14, 15), (u32::MAX, u32::MAX)]);
        assert!(fold([]).is_empty());
    }

    proptest! {
        #[test]
        fn ranges_unfold_to_what_was_folded(pes in proptest::collection::btree_set(0u32..200, 0..80)) {
            let ranges = fold(pes.iter().copied());
            let back: Vec<u32> = ranges.iter().flat_map(|range| range.first..=range.last).collect();
            prop_assert_eq!(back, pes.into_iter().collect::<Vec<_>>());
            prop_assert!(ranges.windows(2).all(|pair| pair[0].last + 1 < pair[1].first));
        }
    }
}
