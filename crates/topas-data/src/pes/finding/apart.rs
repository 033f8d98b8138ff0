//! PEs and groups that lie apart from the rest.

use std::collections::BTreeMap;

use super::student::both_tails;
use super::{Item, LEAST_PES, LEVEL, middle};
use crate::pes::group::Grouping;
use crate::pes::ranks::{each_tie, rank_sum};
use crate::pes::table::Table;

/// PEs at an end that may lie apart: one in so many.
const FEW: usize = 16;

/// Standard deviations of the rest that it takes for a gap.
const GAP: f64 = 3.0;

/// How likely a gap as wide may be at the end of a tail that falls off exponentially, which
/// is slower than that of a normal distribution: noise of operating systems has such.
const TAIL_LEVEL: f64 = 0.005;

/// Groups that may lie apart: one in so many.
const FEW_GROUPS: usize = 4;

/// Ranges of the other groups' medians that it takes for a gap: the ratio of Dixon's test is
/// then 0.6.
const GROUP_GAP: f64 = 1.5;

/// The items at the lower or the upper end that lie apart, if any.
pub(super) fn ends(items: &[Item]) -> Vec<Item> {
    let mut sorted = items.to_vec();
    sorted.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
    let up = top(&sorted);
    // Mirrored, the lower end is the upper.
    let mut mirrored: Vec<Item> =
        sorted.iter().rev().map(|item| Item { value: -item.value, ..*item }).collect();
    let down = top(&mirrored);
    match (up, down) {
        (None, None) => Vec::new(),
        (Some((up, many)), down) if down.is_none_or(|(down, _)| up >= down) => {
            sorted.split_off(sorted.len() - many)
        }
        (_, Some((_, many))) => {
            let mut taken = mirrored.split_off(mirrored.len() - many);
            taken.iter_mut().for_each(|item| item.value = -item.value);
            taken
        }
        (Some(_), None) => Vec::new(),
    }
}

/// How many items at the upper end lie apart, with the gap to the rest in standard deviations
/// of the rest.
fn top(sorted: &[Item]) -> Option<(f64, usize)> {
    let most = (sorted.len() / FEW).max(1);
    let first = sorted.len().checked_sub(most).filter(|&first| first + 1 >= LEAST_PES)?;
    // Relative to a middle value, so that little cancels.
    let middle = sorted[first / 2].value;
    let sums: Vec<f64> = std::iter::once(0.0)
        .chain(sorted.iter().scan(0.0, |sum, item| {
            *sum += item.value - middle;
            Some(*sum)
        }))
        .collect();
    let (mut count, mut sum, mut squares) = (0.0f64, 0.0f64, 0.0f64);
    let mut best: Option<(f64, usize)> = None;
    for (place, item) in sorted.iter().enumerate() {
        if place >= first {
            let mean = sum / count;
            let variance = ((squares - sum * mean) / (count - 1.0)).max(0.0);
            let far = item.value - middle - mean;
            // Rounding leaves a little where all are equal.
            let deviation = variance.sqrt().max(1e-12);
            let wide = item.value - sorted[place - 1].value;
            let gap = wide / deviation;
            let t = far / (deviation * (1.0 + 1.0 / count).sqrt());
            let is_apart = gap >= GAP
                && wide >= tail(&sums, place)
                && both_tails(t, count - 1.0) * (sorted.len() as f64) < LEVEL;
            if is_apart && best.is_none_or(|(widest, _)| gap > widest) {
                best = Some((gap, sorted.len() - place));
            }
        }
        let value = item.value - middle;
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    best
}

/// The gap behind the first `count` of ascending items, whose sums are given, that follows in
/// one of 200 cases if their upper quarter is a tail that falls off exponentially: the ratio
/// of the gap to the mean excess then has a closed distribution.
fn tail(sums: &[f64], count: usize) -> f64 {
    let many = (count / 4).max(1);
    let from = count - many;
    let edge = from.checked_sub(1).map_or(0.0, |at| sums[at + 1] - sums[at]);
    let excess = sums[count] - sums[from] - edge * many as f64;
    excess * (TAIL_LEVEL.powf(-1.0 / many as f64) - 1.0)
}

/// Takes out the items of these rows.
pub(super) fn remove(items: &mut Vec<Item>, rows: &[u32]) {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    items.retain(|item| rows.binary_search(&item.row).is_err());
}

/// The items of the groups that lie apart, if any; of two groups those with the larger
/// values if `large`.
pub(super) fn groups(table: &Table, items: &[Item], by: Grouping, large: bool) -> Vec<Item> {
    let mut groups: BTreeMap<(u32, u32), Vec<Item>> = BTreeMap::new();
    for item in items {
        let Some(key) = by.key(table, &table.rows[item.row as usize]) else { return Vec::new() };
        groups.entry(key).or_default().push(*item);
    }
    // Groups of one PE are PEs.
    if groups.len() < 2 || groups.len() * 2 > items.len() {
        return Vec::new();
    }
    let mut sorted: Vec<(f64, Vec<Item>)> =
        groups.into_values().map(|items| (middle(&items), items)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let medians: Vec<f64> = sorted.iter().map(|group| group.0).collect();
    let up = top_groups(&medians);
    let mirrored: Vec<f64> = medians.iter().rev().map(|median| -median).collect();
    let down = top_groups(&mirrored);
    let taken: Vec<Item> = match (up, down) {
        (None, None) => return Vec::new(),
        (Some((up, many)), down)
            if down.is_none_or(|(down, _)| up > down || up == down && large) =>
        {
            sorted.split_off(sorted.len() - many).into_iter().flat_map(|group| group.1).collect()
        }
        (_, Some((_, many))) => sorted.drain(..many).flat_map(|group| group.1).collect(),
        (Some(_), None) => return Vec::new(),
    };
    if differ(items, &taken, medians.len()) { taken } else { Vec::new() }
}

/// How many of ascending medians at the upper end lie apart, with the gap as a share of the
/// others' range.
fn top_groups(medians: &[f64]) -> Option<(f64, usize)> {
    let most = (medians.len() / FEW_GROUPS).max(1);
    let mut best: Option<(f64, usize)> = None;
    for many in 1..=most {
        let place = medians.len() - many;
        let gap = medians[place] - medians[place - 1];
        // The range of one other group is 0: its gap is as wide as it may be.
        let range = medians[place - 1] - medians[0];
        let wide = gap / range.max(1e-12);
        if wide >= GROUP_GAP && best.is_none_or(|(widest, _)| wide > widest) {
            best = Some((wide, many));
        }
    }
    best
}

/// Whether the taken items differ from the others by ranks, for one of `groups` tests at
/// each end.
fn differ(items: &[Item], taken: &[Item], groups: usize) -> bool {
    let mut rows: Vec<u32> = taken.iter().map(|item| item.row).collect();
    rows.sort_unstable();
    let mut all: Vec<(f64, bool)> =
        items.iter().map(|item| (item.value, rows.binary_search(&item.row).is_ok())).collect();
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
    rank_sum(sum, ties, taken.len(), items.len() - taken.len())
        .is_some_and(|test| test.p * (groups as f64) < LEVEL)
}
