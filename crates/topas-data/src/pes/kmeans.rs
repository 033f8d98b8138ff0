//! Optimal clusters of one-dimensional values: k-means by dynamic programming.
//!
//! Of ascending values the optimal clusters are runs, so the best k of them come from the
//! best k - 1 of each beginning (H. Wang and M. Song, Ckmeans.1d.dp, The R Journal 3/2,
//! 2011). The place of the last border never moves back as the beginning grows, so halving
//! finds all borders of a k in O(n log n). The number of clusters is that with the least
//! Bayesian information criterion of a mixture of normal distributions, one for each
//! cluster with its own weight, mean and variance (M. Song and H. Zhong, Bioinformatics
//! 36/20, 2020).

use super::cluster::{Cluster, PeRange};
use super::column::Values;
use super::table::PeTable;

/// Most clusters that are tried.
pub const MOST_CLASSES: usize = 9;

/// Parts of the same number of values, and widest gaps, that clusters can begin at where there
/// are more distinct values than twice this.
const CUTS: usize = 4096;

/// The optimal clusters of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct KMeans {
    /// Clusters, ascending; their bounds are values of their own
    pub clusters: Vec<Cluster>,
    /// Mean of each
    pub means: Vec<f64>,
    /// Standard deviation of each, of a sample; 0 of one value
    pub deviations: Vec<f64>,
    /// Bayesian information criterion of 1, 2, ... clusters: the least was taken
    pub criteria: Vec<f64>,
}

/// The optimal clusters; none without values.
///
/// Exact up to 8,192 distinct values. Of more, clusters are looked for that begin at one of
/// the 4,096 widest gaps, or where one of 4,096 parts with the same number of values does;
/// then each border is moved to the middle of the means beside it until none moves any more.
pub fn best_clusters(table: &PeTable, values: &Values) -> KMeans {
    let mut sorted: Vec<f64> = values.values.iter().map(|value| value.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (ends, criteria) = best(&sorted);
    // Upper bound of each cluster, for finding that of a value.
    let bounds: Vec<f64> = ends.iter().map(|&end| sorted[end - 1]).collect();
    let mut clusters: Vec<Cluster> = Vec::with_capacity(ends.len());
    let (mut means, mut deviations) = (Vec::new(), Vec::new());
    let mut first = 0;
    for &end in &ends {
        let part = &sorted[first..end];
        let moments = Moments::of(part);
        clusters.push(Cluster {
            from: part[0],
            to: part[part.len() - 1],
            count: part.len(),
            pes: vec![],
        });
        means.push(moments.mean);
        deviations.push(moments.sample_variance().sqrt());
        first = end;
    }
    for &(value, place) in &values.values {
        let cluster = bounds.partition_point(|bound| *bound < value);
        if let Some(cluster) = clusters.get_mut(cluster) {
            let pe = table.rows[place as usize].pe;
            match cluster.pes.last_mut() {
                Some(range) if range.last.checked_add(1) == Some(pe) => range.last = pe,
                _ => cluster.pes.push(PeRange { first: pe, last: pe }),
            }
        }
    }
    KMeans { clusters, means, deviations, criteria }
}

/// Ends of the best clusters of ascending values, and the criterion of each number of them.
pub(super) fn best(sorted: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let bins = bins(sorted);
    let most = MOST_CLASSES.min(bins.len());
    let mut best: Option<(f64, Vec<usize>)> = None;
    let mut criteria = Vec::with_capacity(most);
    for ends in partitions(&bins, most) {
        let criterion = criterion(&bins, &ends);
        criteria.push(criterion);
        if best.as_ref().is_none_or(|(least, _)| criterion < *least) {
            best = Some((criterion, ends));
        }
    }
    let ends = best.map(|(_, ends)| ends).unwrap_or_default();
    let ends = ends.iter().map(|&end| bins[end - 1].end).collect();
    (refined(sorted, ends, bins.len()), criteria)
}

/// Moves the borders of clusters of many values off the seams of bins (Lloyd's iteration,
/// which ends: each round lowers the squared deviations).
fn refined(sorted: &[f64], mut ends: Vec<usize>, bins: usize) -> Vec<usize> {
    if bins == sorted.len() || ends.len() < 2 {
        return ends;
    }
    let middle = sorted[sorted.len() / 2];
    let sums: Vec<f64> = std::iter::once(0.0)
        .chain(sorted.iter().scan(0.0, |sum, value| {
            *sum += value - middle;
            Some(*sum)
        }))
        .collect();
    for _ in 0..100 {
        let mean = |first: usize, end: usize| (sums[end] - sums[first]) / (end - first) as f64;
        let next: Vec<usize> = (0..ends.len())
            .map(|at| {
                let Some(&behind) = ends.get(at + 1) else { return ends[at] };
                let first = if at == 0 { 0 } else { ends[at - 1] };
                let border = (mean(first, ends[at]) + mean(ends[at], behind)) / 2.0 + middle;
                // Never past a neighbour: a mean lies within its cluster.
                sorted.partition_point(|value| *value < border).clamp(first + 1, behind - 1)
            })
            .collect();
        let done = next == ends || !next.is_sorted_by(|a, b| a < b);
        if done {
            break;
        }
        ends = next;
    }
    ends
}

/// Ends of the two best clusters of ascending values, with at least two distinct ones.
pub(super) fn best_two(sorted: &[f64]) -> Option<usize> {
    let bins = bins(sorted);
    let ends = partitions(&bins, 2.min(bins.len())).pop()?;
    (ends.len() == 2).then(|| bins[ends[0] - 1].end)
}

/// Number, mean and squared deviations of values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    count: f64,
    pub(super) mean: f64,
    squares: f64,
}

impl Moments {
    /// Of values, by two passes.
    pub(super) fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = super::summary::sum(values.iter().copied()) / count;
        let squares =
            super::summary::sum(values.iter().map(|value| (value - mean) * (value - mean)));
        Moments { count, mean, squares }
    }

    fn with(self, other: Moments) -> Self {
        let count = self.count + other.count;
        if count == 0.0 {
            return self;
        }
        let apart = other.mean - self.mean;
        Moments {
            count,
            mean: self.mean + apart * other.count / count,
            squares: self.squares
                + other.squares
                + apart * apart * self.count * other.count / count,
        }
    }

    pub(super) fn sample_variance(&self) -> f64 {
        if self.count > 1.0 { self.squares / (self.count - 1.0) } else { 0.0 }
    }
}

/// Values that stay together.
struct Bin {
    /// Place behind its last value
    end: usize,
    low: f64,
    high: f64,
    moments: Moments,
}

/// Equal values, or where there are many distinct ones, near values.
fn bins(sorted: &[f64]) -> Vec<Bin> {
    if sorted.is_empty() {
        return Vec::new();
    }
    let mut gaps: Vec<f64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let distinct = 1 + gaps.iter().filter(|gap| **gap > 0.0).count();
    let part = sorted.len().div_ceil(CUTS);
    let wide = if distinct <= 2 * CUTS {
        0.0
    } else {
        *gaps.select_nth_unstable_by(CUTS, |a, b| b.total_cmp(a)).1
    };
    let seam = |at: usize| {
        let gap = sorted[at] - sorted[at - 1];
        gap > wide || gap > 0.0 && at.is_multiple_of(part)
    };
    let mut bins = Vec::with_capacity(distinct.min(2 * CUTS + 2));
    let mut first = 0;
    for end in (1..sorted.len()).filter(|&at| seam(at)).chain([sorted.len()]) {
        let values = &sorted[first..end];
        let moments = Moments::of(values);
        bins.push(Bin { end, low: values[0], high: values[values.len() - 1], moments });
        first = end;
    }
    bins
}

/// Sums over the first bins, of values less a middle one, so that little cancels.
struct BinSums {
    count: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl BinSums {
    fn new(bins: &[Bin]) -> Self {
        let middle = bins.get(bins.len() / 2).map_or(0.0, |bin| bin.moments.mean);
        let mut sums = BinSums { count: vec![0.0], first: vec![0.0], second: vec![0.0] };
        let (mut count, mut first, mut second) = (0.0, 0.0, 0.0);
        for Bin { moments, .. } in bins {
            let mean = moments.mean - middle;
            count += moments.count;
            first += moments.count * mean;
            second += moments.squares + moments.count * mean * mean;
            sums.count.push(count);
            sums.first.push(first);
            sums.second.push(second);
        }
        sums
    }

    /// Squared deviations from their mean of the bins `first..end`.
    fn squares(&self, first: usize, end: usize) -> f64 {
        let sum = self.first[end] - self.first[first];
        let count = self.count[end] - self.count[first];
        (self.second[end] - self.second[first] - sum * sum / count).max(0.0)
    }
}

/// For 1 to `most` clusters the ends of the best, counted in bins.
fn partitions(bins: &[Bin], most: usize) -> Vec<Vec<usize>> {
    let sums = BinSums::new(bins);
    let count = bins.len();
    // Cost of the first `end` bins in as many clusters as rows are done.
    let mut cost: Vec<f64> =
        (0..=count).map(|end| if end == 0 { 0.0 } else { sums.squares(0, end) }).collect();
    // Where the last cluster begins, for each number of clusters and each end.
    let mut begins: Vec<Vec<u32>> = vec![vec![0; count + 1]];
    for clusters in 2..=most {
        let mut row = ClusterRow {
            sums: &sums,
            before: &cost,
            cost: vec![f64::INFINITY; count + 1],
            begin: vec![0; count + 1],
        };
        row.halve(clusters, count, clusters - 1, count - 1);
        let ClusterRow { cost: next, begin, .. } = row;
        cost = next;
        begins.push(begin);
    }
    let ends = |clusters: usize| {
        let mut ends = vec![count; clusters];
        for cluster in (1..clusters).rev() {
            ends[cluster - 1] = begins[cluster][ends[cluster]] as usize;
        }
        ends
    };
    (1..=most).map(ends).collect()
}

/// The table's row for one more cluster.
struct ClusterRow<'s> {
    sums: &'s BinSums,
    before: &'s [f64],
    cost: Vec<f64>,
    begin: Vec<u32>,
}

impl ClusterRow<'_> {
    /// Fills ends `first..=last`, whose last clusters begin in `low..=high`.
    fn halve(&mut self, first: usize, last: usize, low: usize, high: usize) {
        if first > last {
            return;
        }
        let end = first + (last - first) / 2;
        let mut best = (f64::INFINITY, low);
        for begin in low..=high.min(end - 1) {
            let cost = self.before[begin] + self.sums.squares(begin, end);
            if cost < best.0 {
                best = (cost, begin);
            }
        }
        self.cost[end] = best.0;
        self.begin[end] = best.1 as u32;
        self.halve(first, end - 1, low, best.1);
        self.halve(end + 1, last, best.1, high);
    }
}

/// The Bayesian information criterion of clusters that end at these bins; less is better.
/// A cluster without spread has a sixth of the distance to its nearest neighbour for a
/// standard deviation, and one of a single value all of it.
fn criterion(bins: &[Bin], ends: &[usize]) -> f64 {
    let total: f64 = bins.iter().map(|bin| bin.moments.count).sum();
    let mut first = 0;
    let mut parts = Vec::with_capacity(ends.len());
    for &end in ends {
        let moments =
            bins[first..end].iter().fold(Moments::default(), |all, bin| all.with(bin.moments));
        let mut variance = moments.sample_variance();
        if variance == 0.0 {
            let below = first.checked_sub(1).map(|at| bins[first].low - bins[at].high);
            let above = bins.get(end).map(|next| next.low - bins[end - 1].high);
            let apart = below.into_iter().chain(above).fold(f64::INFINITY, f64::min);
            let sigma = if moments.count > 1.0 { apart / 6.0 } else { apart };
            variance = if apart.is_finite() { sigma * sigma } else { 0.0 };
        }
        let variance = variance.max(f64::MIN_POSITIVE);
        let height = (moments.count / total).ln() - 0.5 * (std::f64::consts::TAU * variance).ln();
        parts.push((height, moments.mean, 0.5 / variance));
        first = end;
    }
    let likelihood = |value: f64| {
        // Relative to the highest, so that none of a far value is lost.
        let log = |&(height, mean, narrow): &(f64, f64, f64)| {
            height - narrow * (value - mean) * (value - mean)
        };
        let highest = parts.iter().map(log).fold(f64::NEG_INFINITY, f64::max);
        highest + parts.iter().map(|part| (log(part) - highest).exp()).sum::<f64>().ln()
    };
    let all: f64 = bins.iter().map(|bin| bin.moments.count * likelihood(bin.moments.mean)).sum();
    -2.0 * all + (3 * ends.len() - 1) as f64 * total.ln()
}

#[cfg(test)]
mod tests;
