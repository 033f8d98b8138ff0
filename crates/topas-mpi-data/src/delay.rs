//! Where a delay began: a rank that makes others wait may have waited itself.

use std::collections::BTreeMap;

use crate::{Blame, MpiProfile, outside_of_rank};

/// Delays that are less than this part of all are not followed further: a thousandth.
const NEGLIGIBLE: f64 = 1000.0;

/// A rank computes longer than the others from a twentieth above their mean on.
const LONGER: u128 = 20;

/// Where the delay of a rank began.
#[derive(Clone, Copy, Debug)]
pub struct DelayBeginning {
    /// The rank that computes longer than the others
    pub first: u32,
    /// The rank that waited for it
    pub next: u32,
    /// How long that rank waited for it, and why
    pub waited: Blame,
}

impl DelayBeginning {
    /// A rank that is late may have waited itself, and the rank for which it waited, too: where that began,
    /// because a rank computes longer. None if the rank itself does, or if the waits lead to none that does.
    pub fn of(profile: &MpiProfile, late: u32) -> Option<DelayBeginning> {
        let mut delayed = vec![late];
        let mut found = None;
        loop {
            let next = *delayed.last()?;
            let (own, mean) = computing(profile, next)?;
            if is_longer(own, mean) {
                return found;
            }
            let (first, waited, all) = awaited_most(profile, next)?;
            let passed_on = profile.ranks.iter().flat_map(|other| &other.sums.waits.blamed);
            let passed_on = passed_on.filter(|(peer, _)| *peer == next);
            let passed_on = passed_on.map(|(_, blame)| blame.time()).max().unwrap_or(0);
            // Its own waits are as much as half of what another rank waited for this one, else its delay is another;
            // and they are for one rank above all.
            let is_handed_on = 2 * all >= passed_on && 2 * waited.time() >= all;
            if delayed.contains(&first) || !is_handed_on {
                return None;
            }
            delayed.push(first);
            found = Some(DelayBeginning { first, next, waited });
        }
    }
}

/// What a rank computes, and the mean of all others, in ns; None if that is not known.
pub fn computing(profile: &MpiProfile, rank: u32) -> Option<(u128, u128)> {
    let (mut own, mut others, mut count) = (None, 0, 0);
    for known in &profile.ranks {
        let outside = outside_of_rank(&known.sums);
        if known.rank == rank {
            own = Some(outside);
        } else {
            others += outside;
            count += 1;
        }
    }
    let mean = u128::checked_div(others, count)?;
    Some((own?, mean))
}

/// Whether a rank that computes so long computes longer than the others, whose mean this is.
pub const fn is_longer(own: u128, mean: u128) -> bool {
    own > mean + mean / LONGER
}

/// Whom a rank waited for most, how long, and how long it waited for all others, in ns.
fn awaited_most(profile: &MpiProfile, rank: u32) -> Option<(u32, Blame, u128)> {
    let known = profile.ranks.iter().find(|known| known.rank == rank)?;
    let others = || known.sums.waits.blamed.iter().filter(|(peer, _)| *peer != rank);
    let most = others().max_by_key(|(peer, blame)| (blame.time(), std::cmp::Reverse(*peer)))?;
    Some((most.0, most.1, others().map(|(_, blame)| blame.time()).sum()))
}

/// In which ranks waits begin: the time of waits in s, by rank, in the order of ranks.
///
/// What others waited for a rank is followed to those for which this rank waited itself: of the delay that it hands on,
/// the part min(1, W / P) is theirs, in proportion to its waits for them, where W is the time that it waited for
/// others, and P the longest time that another rank waited for it. The rest begins in the rank. What goes round among
/// ranks for ever begins in none of them.
pub fn delay_origins(profile: &MpiProfile, of: impl Fn(&Blame) -> u128) -> BTreeMap<u32, f64> {
    let mut delays = BTreeMap::<u32, f64>::new();
    let mut handed_on = BTreeMap::<u32, f64>::new();
    let mut waits = BTreeMap::<u32, Vec<(u32, f64)>>::new();
    for rank in &profile.ranks {
        for (peer, blame) in rank.sums.waits.blamed.iter().filter(|(peer, _)| *peer != rank.rank) {
            *delays.entry(*peer).or_default() += of(blame) as f64 / 1e9;
            let time = blame.time() as f64 / 1e9;
            let most = handed_on.entry(*peer).or_default();
            *most = most.max(time);
            waits.entry(rank.rank).or_default().push((*peer, time));
        }
    }
    let all: f64 = delays.values().sum();
    let mut origins = BTreeMap::<u32, f64>::new();
    for _ in 0..=profile.ranks.len() {
        if delays.values().sum::<f64>() <= all / NEGLIGIBLE {
            break;
        }
        let mut next = BTreeMap::<u32, f64>::new();
        for (rank, delay) in delays {
            let own = waits.get(&rank).map_or(&[][..], Vec::as_slice);
            let waited: f64 = own.iter().map(|(_, time)| time).sum();
            let most = handed_on.get(&rank).copied().unwrap_or(0.0);
            let part = if most > 0.0 { (waited / most).min(1.0) } else { 0.0 };
            *origins.entry(rank).or_default() += delay * (1.0 - part);
            for (peer, time) in own.iter().filter(|_| waited > 0.0) {
                *next.entry(*peer).or_default() += delay * part * time / waited;
            }
        }
        delays = next;
    }
    origins
}
