//! Ranks of a launch that ended without a word: which were lost first, and whether they had hung before.

use super::waits::Waits;
use super::{SURELY_LATER, is_long, open_calls, waited_surely};
use crate::last_sign::LastSign;
use crate::profile::{Ending, MpiProfile, MpiRank};
use crate::rank::Inside;

/// The ranks of a launch that ended without a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRanks {
    /// Those that were lost before the others, ascending; empty if nothing tells which they were
    pub first: Vec<u32>,
    /// Whether it is known that they were the first: else they probably were
    pub is_certain: bool,
    /// Whether the others ended because of that: else all may have been killed from outside
    pub is_cause: bool,
    /// All others that ended without a word, ascending
    pub others: Vec<u32>,
}

impl LostRanks {
    /// The ranks that were lost before the others; none if no rank was lost, or nothing tells which were the first.
    pub fn first_of(profile: &MpiProfile) -> Vec<u32> {
        LostRanks::of(profile).map_or_else(Vec::new, |lost| lost.first)
    }

    /// Of a launch; None if no rank was lost, or another one ended it in another way.
    pub fn of(profile: &MpiProfile) -> Option<LostRanks> {
        let is = |ending: Ending| move |rank: &&MpiRank| rank.ending == Some(ending);
        let ends_others =
            |rank: &MpiRank| matches!(rank.ending, Some(Ending::Abort(_) | Ending::Exit));
        let lost: Vec<(&MpiRank, LastSign)> = (profile.ranks.iter())
            .filter(is(Ending::Lost))
            .filter_map(|rank| Some((rank, rank.last?)))
            .collect();
        if lost.is_empty() || profile.ranks.iter().any(ends_others) {
            return None;
        }
        let ranks = |of: &dyn Fn(&(&MpiRank, LastSign)) -> bool| -> Vec<u32> {
            lost.iter().filter(|one| of(one)).map(|(rank, _)| rank.rank).collect()
        };
        if profile.ranks.iter().any(|rank| is(Ending::Running)(&rank)) || lost.len() == 1 {
            let first = ranks(&|_| true);
            let others = Vec::new();
            return Some(LostRanks { first, is_certain: true, is_cause: true, others });
        }
        let open = open_calls(profile);
        let is_named = |rank: u32| {
            let names = |of: u32, call: &Inside| {
                let peer = call.peer.filter(|peer| peer.of_world && of != rank);
                waited_surely(call) && peer.is_some_and(|peer| u32::try_from(peer.rank) == Ok(rank))
            };
            open.iter().any(|(of, call)| names(*of, call))
        };
        let died: Option<Vec<u64>> = lost.iter().map(|(_, last)| last.died).collect();
        let died = died.unwrap_or_default();
        let least = died.iter().min().copied().unwrap_or(0);
        let next = died.iter().filter(|second| **second > least).min();
        let is_apart = next.is_some_and(|next| next - least >= SURELY_LATER);
        let earliest: Vec<&(&MpiRank, LastSign)> =
            lost.iter().filter(|(_, last)| next.is_none() || last.died == Some(least)).collect();
        let by_order = first_by_order(&earliest);
        let all_are_known =
            profile.facts.npes.is_some_and(|npes| npes as usize == profile.ranks.len());
        let is_of_all = all_are_known && first_by_order(&lost.iter().collect::<Vec<_>>()).is_some();
        let first = match by_order {
            Some(first) if next.is_some() || is_of_all => vec![first],
            _ if next.is_some() => earliest.iter().map(|(rank, _)| rank.rank).collect(),
            // All in one second, or nobody noted it. Which call was the last of a rank tells nothing: the others
            // may have ended before they came to another one.
            _ => Vec::new(),
        };
        let others = ranks(&|(rank, _)| !first.contains(&rank.rank));
        // Who waits in a circle with others holds these up no more than they do.
        let every = ranks(&|_| true);
        let circles = Waits::of(profile, &LostRanks::calls(profile, &every), &[]).cycles();
        // Nor who waits itself, for whomever.
        let waits = |rank: u32| {
            open.get(&rank).is_some_and(|call| waited_surely(call) && !call.routine.asks())
        };
        let is_awaited = |rank: u32| {
            let is_in_circle = circles.iter().any(|circle| circle.contains(&rank));
            is_named(rank) && !is_in_circle && !waits(rank)
        };
        let is_cause =
            !first.is_empty() && (is_apart || first.iter().all(|rank| is_awaited(*rank)));
        let is_certain = is_cause || is_of_all;
        Some(LostRanks { first, is_certain, is_cause, others })
    }

    /// Circles of ranks of which each waited for the next when the launch ended, and the last for the first: all of them
    /// for longer than those do that exchange messages in a circle.
    pub fn cycles(&self, profile: &MpiProfile) -> Vec<Vec<u32>> {
        Waits::of(profile, &self.long_calls(profile), &[]).cycles()
    }

    /// The rank for which all others waited, and which waited for one of them that its call does not tell: see
    /// [`Standstill::closed_by`].
    ///
    /// [`Standstill::closed_by`]: super::Standstill::closed_by
    pub fn closed_by(&self, profile: &MpiProfile) -> Option<u32> {
        let calls = self.long_calls(profile);
        Waits::of(profile, &calls, &[]).closed_by(profile, &calls)
    }

    /// Whether ranks waited for each other so that none of these could go on.
    pub fn is_deadlock(&self, profile: &MpiProfile) -> bool {
        !self.cycles(profile).is_empty() || self.closed_by(profile).is_some()
    }

    /// The calls in which ranks were at their end for longer than those do that exchange messages.
    fn long_calls(&self, profile: &MpiProfile) -> Vec<(u32, Inside)> {
        let ranks = [&self.first[..], &self.others].concat();
        let mut calls = LostRanks::calls(profile, &ranks);
        calls.retain(|(_, call)| waited_surely(call));
        calls
    }

    /// That the program may have hung, and was ended from outside, so that it does not matter which rank ended first: ranks had
    /// been in their calls of MPI for a large part of the run. None if some rank ended well before the others.
    pub fn hang(&self, profile: &MpiProfile) -> Option<Hang> {
        let open = open_calls(profile);
        let lost: Vec<&MpiRank> = [&self.first[..], &self.others]
            .concat()
            .iter()
            .filter_map(|rank| profile.ranks.iter().find(|known| known.rank == *rank))
            .collect();
        let died = || lost.iter().filter_map(|rank| rank.last?.died);
        let first = died().min();
        let apart =
            died().max().zip(first).is_some_and(|(last, first)| last - first >= SURELY_LATER);
        let runs = profile.ranks.iter().any(|rank| rank.ending == Some(Ending::Running));
        // All ended together: a second of difference is a matter of rounding.
        let until_all = |rank: &MpiRank, time: u64| {
            let later = rank.last.and_then(|last| last.died).zip(first);
            time.saturating_sub(later.map_or(0, |(own, first)| (own - first) * 1_000_000_000))
        };
        let (mut calls, mut outside) = (Vec::new(), Vec::new());
        for rank in &lost {
            match open.get(&rank.rank).filter(|call| !call.routine.asks()) {
                Some(call) => {
                    let time = call.time.map(|time| until_all(rank, time));
                    calls.push((rank.rank, Inside { time, ..*call }));
                }
                None => outside.push(*rank),
            }
        }
        calls.sort_unstable_by_key(|(rank, _)| *rank);
        let times: Option<Vec<u64>> = calls.iter().map(|(_, call)| call.time).collect();
        let time = times?.into_iter().min()?;
        let is_outside = |first: &u32| outside.iter().any(|rank| rank.rank == *first);
        let is_asking =
            |rank: &&MpiRank| asked_until_the_end(rank) || open.contains_key(&rank.rank);
        // A rank outside of MPI may have computed: then whoever was killed alone ended the others.
        let may_be_alone = !outside.iter().all(is_asking)
            && self.is_certain
            && self.first.len() == 1
            && !self.first.iter().any(is_outside)
            && !self.is_deadlock(profile);
        let of_others = lost.iter().filter(|rank| !self.first.contains(&rank.rank));
        let next = of_others.filter_map(|rank| rank.last?.died).min();
        let is_clear = may_be_alone && next > first;
        let is_sure = outside.iter().all(is_asking)
            || !self.first.is_empty() && !self.first.iter().any(is_outside) && !is_clear;
        let mut outside: Vec<u32> = outside.iter().map(|rank| rank.rank).collect();
        outside.sort_unstable();
        (lost.len() > 1 && !apart && !runs && is_long(time, profile.total.wall_max))
            .then_some(Hang { time, calls, outside, is_sure, may_be_alone })
    }

    /// The call in which each of some ranks was at its end, the longest of its threads.
    pub fn calls(profile: &MpiProfile, ranks: &[u32]) -> Vec<(u32, Inside)> {
        let open = open_calls(profile);
        ranks.iter().filter_map(|rank| Some((*rank, *open.get(rank)?))).collect()
    }
}

/// Ranks that may have hung when their launch was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// For how long each rank that was in a call had been there at least, in ns
    pub time: u64,
    /// Ranks in calls that wait, ascending, and these
    pub calls: Vec<(u32, Inside)>,
    /// Those outside of MPI, or in a call that asks, ascending
    pub outside: Vec<u32>,
    /// None of these has failed: each asked in vain until the end, or another rank ended first. Not so if that one ended in an earlier
    /// second than all others, and may have been killed alone
    pub is_sure: bool,
    /// The rank that ended first may have been killed alone, while one outside of MPI computed
    pub may_be_alone: bool,
}

impl Hang {
    /// Whether this is what is said first: not if a rank may have been killed alone while most others computed, as those of a
    /// master do.
    pub fn is_first(&self) -> bool {
        self.is_sure && (!self.may_be_alone || self.outside.len() <= self.calls.len())
    }

    /// What costs time cannot be told: all ranks had stood still for a large part of the run but those outside of MPI, one of
    /// which may have failed there.
    pub fn hides_costs(&self) -> bool {
        self.is_sure || !self.may_be_alone
    }
}

/// Whether the last call of a rank asked for something, and began shortly before the end of the rank, which the kernel notes in
/// seconds.
pub fn asked_until_the_end(rank: &MpiRank) -> bool {
    /// s
    const SHORTLY: u64 = 2;
    let is_late = |last: &LastSign| {
        let asked = last.last_call / 1_000_000_000;
        last.died.is_some_and(|died| died <= asked + SHORTLY)
    };
    let asks = |last: &LastSign| last.routine.is_some_and(|routine| routine.asks());
    rank.last.is_some_and(|last| asks(&last) && is_late(&last))
}

/// Which of these ranks ended first, as the kernel noted it: it does so for the ranks of one node.
fn first_by_order(ranks: &[&(&MpiRank, LastSign)]) -> Option<u32> {
    let (first, _) = ranks.first()?;
    let after =
        |(rank, last): &&(&MpiRank, LastSign)| last.ended_after.filter(|_| rank.host == first.host);
    let order: Option<Vec<u32>> = ranks.iter().map(after).collect();
    let order = order?;
    let most = order.iter().max()?;
    let mut found = ranks.iter().zip(&order).filter(|(_, after)| *after == most);
    let ((rank, _), _) = found.next()?;
    found.next().is_none().then_some(rank.rank)
}
