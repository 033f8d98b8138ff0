//! Ranks that have been in a call for long while their program runs, and ranks that were lost first
//! when it ended: what every view of a running or killed program says of them.

use std::collections::HashMap;

use super::profile::{Ending, MpiProfile, MpiRank, Origin};
use super::rank::Inside;
use super::routine::RoutineNumber;

mod lost;
mod waits;

pub use lost::{Hang, LostRanks, asked_until_the_end};
use waits::Waits;

/// A call that has gone on for less, in ns, is no standstill.
pub const SHORTEST_STANDSTILL: u64 = 1_000_000_000;

/// A call that has gone on for so long, in ns, is told, however long the program has run.
const LONG: u64 = 10_000_000_000;

/// A shorter call is told if it has this part of the time since the first call: a quarter.
const LARGE_PART: u64 = 4;

/// Seconds between two ends after which the first of them is no matter of rounding: the kernel notes
/// the second of an end.
const SURELY_LATER: u64 = 2;

/// Whether a rank waited in a call for the one that the call names. For a moment each rank of a ring waits for another, and for
/// longer if ranks lack processors, so that an end from outside finds such calls, too.
fn waited_surely(call: &Inside) -> bool {
    call.time.is_some_and(|time| time >= SHORTEST_STANDSTILL)
}

/// The calls that go on and are long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// Ranks in long calls, ascending, each with the longest call of its threads
    pub calls: Vec<(u32, Inside)>,
    /// If no rank goes on: those outside of MPI, ascending, and for how many ns they have begun no
    /// call
    pub outside: Vec<(u32, u64)>,
    /// Ranks that go on, but whose latest call asked for something, ascending
    pub asking: Vec<u32>,
    /// For how long no rank has ended or begun a call, in ns; None if some rank goes on
    pub since: Option<u64>,
    /// What costs time cannot be told: no rank has gone on, or done anything but ask, for so long that this is a large part
    /// of the run, or ranks have waited for each other in a circle for so long
    pub hides_costs: bool,
    /// Circles of ranks of which each may wait for the next, and the last for the first
    pub cycles: Vec<Vec<u32>>,
    /// If there is none: the rank for which all others wait, while it waits for one of them that its call names in a communicator
    /// whose ranks are not known, so that this is a circle, too
    pub closed_by: Option<u32>,
    /// How the collective operations differ in which all ranks are, if they are in such and none has gone on for so long
    pub mismatch: Option<Mismatch>,
    /// The rank outside of MPI for which the others may wait; None if there is none, or more than one
    pub waited_for: Option<u32>,
}

impl Standstill {
    /// Of a program that runs; None if all of its ranks go on, or have stood still for a short part of the
    /// time only.
    pub fn of(profile: &MpiProfile) -> Option<Standstill> {
        if profile.origin != Origin::Live {
            return None;
        }
        let open = open_calls(profile);
        let time = |rank: &MpiRank| open.get(&rank.rank).and_then(|call| call.time);
        let running = || profile.ranks.iter().filter(|rank| rank.ending != Some(Ending::Lost));
        let quiet = |rank: &MpiRank| {
            let last = rank.last.and_then(|last| last.quiet);
            last.or(time(rank)).unwrap_or(0)
        };
        let least = running().map(quiet).min().unwrap_or(0);
        let is_still = |rank: &MpiRank| time(rank).is_some_and(|time| time >= SHORTEST_STANDSTILL);
        let since = (least >= SHORTEST_STANDSTILL && running().any(is_still)).then_some(least);
        let wall = profile.total.wall_max;
        let is_long = |time: u64| is_long(time, wall);
        let calls: Vec<(u32, Inside)> = running()
            .filter(|rank| time(rank).is_some_and(|time| since.is_some() || is_long(time)))
            .filter_map(|rank| Some((rank.rank, *open.get(&rank.rank)?)))
            .collect();
        if calls.is_empty() {
            return None;
        }
        let outside = running().filter(|rank| since.is_some() && !open.contains_key(&rank.rank));
        let outside: Vec<(u32, u64)> = outside.map(|rank| (rank.rank, quiet(rank))).collect();
        let asks = |rank: &&MpiRank| {
            let last = rank.last.and_then(|last| last.routine);
            since.is_none()
                && last.is_some_and(RoutineNumber::asks)
                && !calls.iter().any(|(of, _)| *of == rank.rank)
        };
        let asking: Vec<u32> = running().filter(asks).map(|rank| rank.rank).collect();
        let out: Vec<u32> = outside.iter().map(|(rank, _)| *rank).collect();
        let waits = Waits::of(profile, &calls, &out);
        let ends: Vec<u32> = calls.iter().filter_map(|(rank, _)| waits.end(*rank)).collect();
        let is_outside = |rank: &u32| outside.iter().any(|(of, _)| of == rank);
        let waited_for = match ends.first() {
            Some(first) if ends.iter().all(|end| end == first) => Some(*first).filter(is_outside),
            _ => None,
        };
        let cycles = waits.cycles();
        let closed_by = waits.closed_by(profile, &calls).filter(|_| cycles.is_empty());
        let is_lasting = since.is_some_and(is_long);
        // Large data take their time, too, and some ranks are through with them before others.
        let mismatch = if is_lasting { Mismatch::of(profile, &calls) } else { None };
        let is_in_long = |rank: &u32| {
            calls.iter().any(|(of, call)| of == rank && call.time.is_some_and(is_long))
        };
        let is_in_circle = cycles.iter().any(|circle| circle.iter().all(is_in_long));
        // Who only asks, while all others wait, computes nothing that could be spread.
        let all_wait = || running().all(|of| is_in_long(&of.rank) || asking.contains(&of.rank));
        let hides_costs = is_lasting || is_in_circle || !asking.is_empty() && all_wait();
        Some(Standstill {
            calls,
            outside,
            asking,
            since,
            hides_costs,
            cycles,
            closed_by,
            mismatch,
            waited_for,
        })
    }
}

/// Ranks whose time outside of MPI is no measure of what ranks compute, in any order: those that were lost first, and those that have been
/// outside of MPI for long while others stood still, as one does in an endless loop.
pub fn unmeasured_ranks(profile: &MpiProfile) -> Vec<u32> {
    let mut ranks = match LostRanks::of(profile) {
        Some(lost) => {
            let hang = lost.hang(profile);
            let mut ranks = lost.first;
            ranks.extend(hang.into_iter().flat_map(|hang| hang.outside));
            ranks
        }
        None => Vec::new(),
    };
    if let Some(standstill) = Standstill::of(profile) {
        let is_lasting = |(_, quiet): &&(u32, u64)| is_long(*quiet, profile.total.wall_max);
        ranks.extend(standstill.outside.iter().filter(is_lasting).map(|(rank, _)| *rank));
    }
    ranks
}

/// Whether a call of this time, in ns, is long in a run of this time.
fn is_long(time: u64, wall: u64) -> bool {
    let is_large = time.saturating_mul(LARGE_PART) >= wall;
    time >= LONG || time >= SHORTEST_STANDSTILL && is_large
}

/// The call of each rank that has gone on for longest, of its threads.
fn open_calls(profile: &MpiProfile) -> HashMap<u32, Inside> {
    let mut open: HashMap<u32, Inside> = HashMap::new();
    for (rank, inside) in &profile.inside {
        let known = open.entry(*rank).or_insert(*inside);
        if inside.time > known.time {
            *known = *inside;
        }
    }
    open
}

/// Why collective operations may not end in which all ranks of a launch are: matching ones would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// They are of several routines
    Routines,
    /// They name different roots
    Roots,
    /// Some are of the communicator of the world, and others of another one
    Communicators,
    /// They look the same: communicators may differ, or calls before
    Hidden,
}

impl Mismatch {
    /// Of calls that do not end; None if a rank is in another call, or in none, or if not all ranks are known.
    pub fn of(profile: &MpiProfile, calls: &[(u32, Inside)]) -> Option<Mismatch> {
        let is_collective =
            |call: &Inside| call.routine.is_of_all_ranks() || call.routine.is_edge();
        let ranks = profile.facts.npes? as usize;
        let all_are_in = calls.len() == ranks && profile.ranks.len() == ranks;
        if !all_are_in || !calls.iter().all(|(_, call)| is_collective(call)) {
            return None;
        }
        let [(_, first), others @ ..] = calls else { return None };
        // Ranks begin and end MPI one after the other, which takes its time.
        if others.is_empty() || calls.iter().all(|(_, call)| call.routine.is_edge()) {
            return None;
        }
        let differs = |what: &dyn Fn(&Inside) -> bool| others.iter().any(|(_, call)| what(call));
        Some(if differs(&|call| call.routine != first.routine) {
            Mismatch::Routines
        } else if differs(&|call| {
            call.peer.map(|peer| peer.of_world) != first.peer.map(|peer| peer.of_world)
        }) {
            Mismatch::Communicators
        } else if first.peer.is_some_and(|root| root.of_world)
            && differs(&|call| call.peer != first.peer)
        {
            Mismatch::Roots
        } else {
            Mismatch::Hidden
        })
    }
}

#[cfg(test)]
mod tests;
