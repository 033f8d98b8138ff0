//! For which rank others wait, for one kind of waits.

use std::collections::BTreeMap;

use topas_mpi_data::{
    DelayBeginning, DelayOrigins, HeldUp, MpiProfile, MpiRank, OutsideRank, computing,
    delay_origin, far_ahead, is_longer, leading, outside_of_rank, own_waits, seems_to_begin,
};

use crate::fact::FactValues;
use crate::wait_names::{KindOfWait, WaitNames};

/// Share of a kind of wait from which on one rank is the one that others wait for.
const MOST: f64 = 0.5;

/// A rank for which others wait.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum BlamedRank {
    /// Of the same world
    Own(u32),
    /// Of another one
    Outside(OutsideRank),
}

impl BlamedRank {
    fn own(&self) -> Option<u32> {
        match self {
            BlamedRank::Own(rank) => Some(*rank),
            BlamedRank::Outside(_) => None,
        }
    }

    fn name(&self, profile: &MpiProfile) -> String {
        match self {
            BlamedRank::Own(rank) => format!("rank {rank}"),
            BlamedRank::Outside(rank) => rank.name(profile),
        }
    }
}

/// That a rank waited for another; times in ns.
struct BlamedWait {
    blamed: BlamedRank,
    time: u128,
    /// The time of the rank that waited outside of MPI
    outside: u128,
}

impl BlamedWait {
    /// What begins in a rank by the event log: whoever waits.
    const fn logged(rank: u32, time: u128) -> BlamedWait {
        BlamedWait { blamed: BlamedRank::Own(rank), time, outside: 0 }
    }
}

/// The waits of a kind, of all ranks.
fn blamed_waits(profile: &MpiProfile, of: KindOfWait) -> Vec<BlamedWait> {
    let of_rank = |rank: &MpiRank| {
        let outside = outside_of_rank(&rank.sums);
        let own = rank.sums.waits.blamed.iter();
        let own = own.map(|(blamed, blame)| (BlamedRank::Own(*blamed), blame));
        let others = rank.sums.waits.outside.iter();
        let others = others.map(|(blamed, blame)| (BlamedRank::Outside(blamed.clone()), blame));
        let waits = own.chain(others).map(|(blamed, blame)| BlamedWait {
            blamed,
            time: of(blame).time,
            outside,
        });
        waits.collect::<Vec<_>>()
    };
    profile.ranks.iter().flat_map(of_rank).collect()
}

/// The time for which others waited for each rank.
fn by_blamed(waits: &[BlamedWait]) -> BTreeMap<&BlamedRank, u128> {
    let mut times = BTreeMap::new();
    for wait in waits {
        *times.entry(&wait.blamed).or_default() += wait.time;
    }
    times
}

/// The time in which a rank that left a record was outside of MPI, or waited for others itself.
fn busy_elsewhere(profile: &MpiProfile, rank: u32) -> Option<u128> {
    let known = profile.ranks.iter().find(|known| known.rank == rank)?;
    Some(outside_of_rank(&known.sums) + known.sums.waits.all().waited())
}

/// The share of the waits for late receivers in which the receiver was in other calls of MPI, at least: what
/// is left of the waits for the rank that most of them are for, if each is shortened by the time that this
/// rank was elsewhere (outside of MPI, or waiting itself) longer than the one that waited was outside of MPI. 0 if
/// there is no such rank.
fn queued_of(waits: &[BlamedWait], elsewhere: impl Fn(u32) -> Option<u128>) -> f64 {
    let receivers = by_blamed(waits);
    let all: u128 = receivers.values().sum();
    let most = receivers.iter().max_by_key(|(_, time)| **time);
    let Some((receiver, _)) = most.filter(|(_, time)| **time as f64 >= MOST * all as f64) else {
        return 0.0;
    };
    let own = receiver.own().and_then(elsewhere);
    let Some(own) = own.filter(|_| all > 0) else { return 0.0 };
    let of_it = waits.iter().filter(|wait| wait.blamed == **receiver);
    let left = of_it.map(|wait| wait.time.saturating_sub(own.saturating_sub(wait.outside)));
    left.sum::<u128>() as f64 / all as f64
}

/// The same of the waits for late receivers of a launch.
pub(crate) fn queued(profile: &MpiProfile) -> f64 {
    let waits = blamed_waits(profile, |of| of.late_receiver);
    queued_of(&waits, |rank| busy_elsewhere(profile, rank))
}

/// The rank that others wait for, if there is one; else that in which most of their waits begin; else how many
/// ranks are late in turns.
pub(crate) fn culprit(
    profile: &MpiProfile,
    names: &WaitNames,
    of: KindOfWait,
    facts: &mut FactValues,
) {
    let waits = match &profile.logged {
        Some(logged) => {
            logged.begins().map(|(rank, blame)| BlamedWait::logged(rank, of(&blame).time)).collect()
        }
        None => blamed_waits(profile, of),
    };
    let blamed = by_blamed(&waits);
    let all: u128 = blamed.values().sum();
    if all == 0 {
        return;
    }
    let times = blamed.iter().map(|(rank, time)| (*rank, *time as f64 / 1e9));
    let all_seconds = all as f64 / 1e9;
    let own = |rank: &&BlamedRank| rank.own().map_or(0.0, |rank| own_waits(profile, rank));
    let is_cause = |rank: &BlamedRank, time: f64| {
        rank.own().is_none_or(|rank| !seems_to_begin(profile, rank, time))
    };
    let leader = leading(times, all_seconds, own).filter(|(rank, time)| is_cause(rank, *time));
    let leader = leader.or_else(|| {
        let ahead = far_ahead(profile, |blame| of(blame).time)?;
        blamed
            .iter()
            .map(|(rank, time)| (*rank, *time as f64 / 1e9))
            .find(|(rank, _)| rank.own() == Some(ahead))
    });
    let Some((rank, time)) = leader else {
        let first = delay_origin(profile, |blame| of(blame).time);
        if let Some((first, (own, mean))) =
            first.and_then(|(rank, _)| Some((rank, computing(profile, rank)?)))
        {
            let words = format!("rank {first}");
            facts.text(names.first, words.clone());
            facts.text(names.origin, words);
            facts.number(names.origin_computes, own as f64 / 1e9);
            facts.number(names.others, mean as f64 / 1e9);
            return;
        }
        let some = blamed.values().filter(|time| **time * 20 >= all).count();
        facts.number(names.turns, (some > 0).then_some(some as f64));
        return;
    };
    facts.text(names.who, rank.name(profile));
    facts.number(names.who_share, 100.0 * time / all_seconds);
    let Some(rank) = rank.own() else { return facts.text(names.first, rank.name(profile)) };
    let computes = computing(profile, rank);
    if let Some((own, mean)) = computes {
        facts.number(names.own, own as f64 / 1e9);
        facts.number(names.others, mean as f64 / 1e9);
    }
    // An event log has followed all waits to their begin.
    let is_late = profile.logged.is_none();
    let first = is_late.then(|| DelayBeginning::of(profile, rank)).flatten();
    let first = first.map(|beginning| beginning.first);
    // Waits are followed through all ranks only where this one may hand them on.
    let may_hand_on = computes.is_some_and(|(own, mean)| !is_longer(own, mean));
    let origins = || DelayOrigins::of(profile, |blame| of(blame).time);
    let handed_on = || may_hand_on.then(origins)?.handed_on(rank);
    let first = first.or_else(|| handed_on().map(|(first, _)| first));
    let first = HeldUp::of(profile, first.unwrap_or(rank)).map(|held| held.by).or(first);
    facts.text(names.first, format!("rank {}", first.unwrap_or(rank)));
    if let Some((own, _)) = first.and_then(|first| computing(profile, first)) {
        facts.number(names.first_computes, own as f64 / 1e9);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(of: &[(u32, u128, u128)]) -> Vec<BlamedWait> {
        let one = |(blamed, time, outside): &(u32, u128, u128)| BlamedWait {
            blamed: BlamedRank::Own(*blamed),
            time: *time,
            outside: *outside,
        };
        of.iter().map(one).collect()
    }

    #[test]
    fn a_receiver_that_computes_is_told_from_one_that_is_in_mpi() {
        let outside = |rank: u32| (rank < 4).then_some(if rank == 0 { 300 } else { 100 });
        for (of, share) in [
            // Rank 0 computes for 200 longer than those that wait for it.
            (&[(0, 200, 100), (0, 150, 100)][..], 0.0),
            (&[(0, 400, 100), (0, 400, 100)], 0.5),
            // Rank 1 computes as long as all others.
            (&[(1, 200, 100), (1, 200, 120)], 1.0),
            (&[(1, 300, 100), (2, 100, 100)], 0.75),
            // Nobody is late for half of the time.
            (&[(1, 100, 100), (2, 100, 100), (3, 100, 100)], 0.0),
            // Of a rank that left no record, nothing is known.
            (&[(9, 100, 100)], 0.0),
            (&[], 0.0),
        ] {
            assert_eq!(queued_of(&waits(of), outside), share, "{of:?}");
        }
    }
}
