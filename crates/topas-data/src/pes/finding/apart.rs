//! PEs and groups that lie apart from the rest.

use std::ops::Range;

use super::{ExaminedValue, LEAST_PES, LEVEL};
use crate::pes::group::{NONE, Numbered};
use crate::pes::ranks::{each_tie, rank_sum};
use crate::student::both_tails;

/// PEs at an end that may lie apart: one in so many.
const FEW: usize = 16;

/// Standard deviations of the rest that it takes for a gap.
const GAP: f64 = 3.0;

/// A gap as wide as this share of the middle is no tail of noise, and a weaker test is enough.
/// Without it, one PE of eight that takes twice the time would have to be apart by 199 times the
/// excess of one other.
const BLATANT: f64 = 1.0 / 3.0;
const BLATANT_LEVEL: f64 = 10.0 * LEVEL;

/// A gap as wide as the middle itself, such as three times the time of others, needs no test:
/// of four PEs no test could tell.
const FLAGRANT: f64 = 1.0;

/// How likely a gap as wide may be at the end of a tail that falls off exponentially, which
/// is slower than that of a normal distribution: noise of operating systems has such.
const TAIL_LEVEL: f64 = 0.005;

/// Groups that may lie apart: one in so many.
const FEW_GROUPS: usize = 4;

/// Ranges of the other groups' medians that it takes for a gap: the ratio of Dixon's test is
/// then 0.6.
const GROUP_GAP: f64 = 1.5;

/// The items at the lower or the upper end of ascending ones that lie apart, if any.
pub(super) fn ends(items: &[ExaminedValue]) -> Option<Range<usize>> {
    let all = items.len();
    let up = top(all, |at| items[at].value);
    // Mirrored, the lower end is the upper.
    let down = top(all, |at| -items[all - 1 - at].value);
    match (up, down) {
        (Some((up, many)), Some((down, _))) if up >= down => Some(all - many..all),
        (Some((_, many)), None) => Some(all - many..all),
        (_, Some((_, many))) => Some(0..many),
        (None, None) => None,
    }
}

/// How many items at the upper end lie apart, with the gap to the rest in standard deviations
/// of the rest.
fn top(all: usize, value: impl Fn(usize) -> f64) -> Option<(f64, usize)> {
    let most = (all / FEW).max(1);
    let first = all.checked_sub(most).filter(|&first| first + 1 >= LEAST_PES)?;
    // Relative to a middle value, so that little cancels.
    let middle = value(first / 2);
    let mut sums = Vec::with_capacity(all + 1);
    sums.push(0.0);
    let (mut sum, mut squares) = (0.0f64, 0.0f64);
    let mut best: Option<(f64, usize)> = None;
    for place in 0..all {
        let beyond = value(place) - middle;
        if place >= first {
            let count = place as f64;
            let mean = sum / count;
            let variance = ((squares - sum * mean) / (count - 1.0)).max(0.0);
            // Rounding leaves a little where all are equal.
            let deviation = variance.sqrt().max(1e-12);
            let wide = value(place) - value(place - 1);
            let gap = wide / deviation;
            let t = (beyond - mean) / (deviation * (1.0 + 1.0 / count).sqrt());
            let blatant = wide >= BLATANT * middle.abs();
            let level = if blatant { BLATANT_LEVEL } else { LEVEL };
            let is_apart = gap >= GAP
                && (blatant || wide >= tail(&sums, place))
                && (wide >= FLAGRANT * middle.abs()
                    || both_tails(t, count - 1.0) * (all as f64) < level);
            if is_apart && best.is_none_or(|(widest, _)| gap > widest) {
                best = Some((gap, all - place));
            }
        }
        sum += beyond;
        squares += beyond * beyond;
        sums.push(sum);
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

/// The items of the groups that lie apart, ascending as all items; of two groups those with
/// the larger values if `large`. Empty if there are none, or not all items have a group. `of_item`
/// is the group of an item by its place.
pub(super) fn groups(
    numbered: &Numbered,
    items: &[ExaminedValue],
    of_item: impl Fn(usize) -> u32,
    large: bool,
) -> Vec<ExaminedValue> {
    let many = numbered.keys.len();
    // Groups of one PE are PEs.
    if many < 2 || many * 2 > items.len() {
        return Vec::new();
    }
    let Some(counts) = counts(numbered, items, &of_item) else { return Vec::new() };
    // As the items ascend, those in the middle of a group come in the middle.
    let mut seen = vec![0u32; many];
    let mut medians = vec![0.0; many];
    for (place, item) in items.iter().enumerate() {
        let group = of_item(place) as usize;
        let (at, count) = (seen[group], counts[group]);
        if at == (count - 1) / 2 {
            medians[group] += item.value / 2.0;
        }
        if at == count / 2 {
            medians[group] += item.value / 2.0;
        }
        seen[group] += 1;
    }
    let mut order: Vec<usize> = (0..many).filter(|&group| counts[group] > 0).collect();
    order.sort_by(|&a, &b| medians[a].total_cmp(&medians[b]));
    let ascending: Vec<f64> = order.iter().map(|&group| medians[group]).collect();
    let mirrored: Vec<f64> = ascending.iter().rev().map(|median| -median).collect();
    let is_up = |up: f64, down: f64| up > down || up == down && large;
    let apart = match (top_groups(&ascending), top_groups(&mirrored)) {
        (Some((up, many)), Some((down, _))) if is_up(up, down) => {
            order.split_off(order.len() - many)
        }
        (Some((_, many)), None) => order.split_off(order.len() - many),
        (_, Some((_, many))) => order[..many].to_vec(),
        (None, None) => return Vec::new(),
    };
    let mut taken = vec![false; many];
    apart.iter().for_each(|&group| taken[group] = true);
    let is_taken = |item: &ExaminedValue| taken[numbered.of_row[item.row as usize] as usize];
    if differ(items, is_taken, ascending.len()) {
        items.iter().copied().filter(is_taken).collect()
    } else {
        Vec::new()
    }
}

/// How many of the items are in each group; None if not all are in one.
fn counts(
    numbered: &Numbered,
    items: &[ExaminedValue],
    of_item: &impl Fn(usize) -> u32,
) -> Option<Vec<u32>> {
    if items.len() == numbered.of_row.len() && numbered.unknown() == 0 {
        return Some(numbered.sizes.clone());
    }
    let mut counts = vec![0u32; numbered.keys.len()];
    for place in 0..items.len() {
        match of_item(place) {
            NONE => return None,
            group => counts[group as usize] += 1,
        }
    }
    Some(counts)
}

/// How many of ascending medians at the upper end lie apart, with the gap as a share of the
/// others' range.
fn top_groups(medians: &[f64]) -> Option<(f64, usize)> {
    let most = (medians.len() / FEW_GROUPS).max(1);
    let mut best: Option<(f64, usize)> = None;
    for many in 1..=most.min(medians.len().saturating_sub(1)) {
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
fn differ(
    items: &[ExaminedValue],
    is_taken: impl Fn(&ExaminedValue) -> bool,
    groups: usize,
) -> bool {
    let (mut sum, mut ties, mut taken) = (0.0, 0.0, 0);
    each_tie(
        items,
        |item| item.value,
        |equal, rank, tie| {
            let count = equal.iter().filter(|item| is_taken(item)).count();
            taken += count;
            sum += rank * count as f64;
            ties += tie;
        },
    );
    rank_sum(sum, ties, taken, items.len() - taken)
        .is_some_and(|test| test.p * (groups as f64) < LEVEL)
}
