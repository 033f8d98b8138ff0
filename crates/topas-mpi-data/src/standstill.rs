//! Ranks that have been in a call for long while their program runs, and ranks that were lost first
//! when it ended: what every view of a running or killed program says of them.

use std::collections::{HashMap, HashSet};

use super::last_sign::LastSign;
use super::profile::{Ending, MpiProfile, MpiRank, Origin};
use super::rank::Inside;
use super::routine::RoutineNumber;

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
    /// What costs time cannot be told: no rank has gone on for so long that this is a large part of the run, or ranks have
    /// waited for each other in a circle for so long
    pub hides_costs: bool,
    /// Circles of ranks of which each may wait for the next, and the last for the first
    pub cycles: Vec<Vec<u32>>,
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
        let waits = Waits::of(profile, &calls);
        let ends: Vec<u32> = calls.iter().filter_map(|(rank, _)| waits.end(*rank)).collect();
        let is_outside = |rank: &u32| outside.iter().any(|(of, _)| of == rank);
        let waited_for = match ends.first() {
            Some(first) if ends.iter().all(|end| end == first) => Some(*first).filter(is_outside),
            _ => None,
        };
        let cycles = waits.cycles();
        let is_lasting = since.is_some_and(is_long);
        // Large data take their time, too, and some ranks are through with them before others.
        let mismatch = if is_lasting { Mismatch::of(profile, &calls) } else { None };
        let is_in_long = |rank: &u32| {
            calls.iter().any(|(of, call)| of == rank && call.time.is_some_and(is_long))
        };
        let hides_costs = is_lasting || cycles.iter().any(|circle| circle.iter().all(is_in_long));
        Some(Standstill {
            calls,
            outside,
            asking,
            since,
            hides_costs,
            cycles,
            mismatch,
            waited_for,
        })
    }
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

/// For which rank each rank waits, as far as its call names one.
struct Waits(HashMap<u32, u32>);

impl Waits {
    fn of(profile: &MpiProfile, calls: &[(u32, Inside)]) -> Waits {
        let absent = absent(profile, calls);
        let one = |(rank, call): &(u32, Inside)| {
            let named = call.peer.filter(|peer| peer.of_world);
            let named = named.and_then(|peer| u32::try_from(peer.rank).ok());
            let peer = match named {
                Some(named) => Some(named).filter(|named| named != rank),
                None if needs_all_ranks(call) => match absent.get(&call.routine).map(Vec::as_slice)
                {
                    Some([one]) => Some(*one),
                    _ => None,
                },
                // More than one may be those for which it waits.
                None if call.routine.names_group() => match profile.unposted(*rank) {
                    [one] => Some(*one).filter(|one| one != rank),
                    _ => None,
                },
                None if call.routine.waits_for_unnamed(call.peer) => {
                    let open = profile.open_messages(*rank)?;
                    let mut others = [&open.awaited, &open.unreceived]
                        .into_iter()
                        .flatten()
                        .map(|message| message.rank);
                    let first = others.next().filter(|one| one != rank);
                    first.filter(|first| others.all(|other| other == *first))
                }
                None => None,
            };
            Some((*rank, peer?))
        };
        // Who asks does not wait for the answer.
        let waiting = calls.iter().filter(|(_, call)| !call.routine.asks());
        let mut waits = Waits(waiting.filter_map(one).collect());
        // Of several ranks that are not there, one that waits for the rank closes a circle.
        let gathering: HashSet<u32> =
            calls.iter().filter(|(_, call)| needs_all_ranks(call)).map(|(rank, _)| *rank).collect();
        for (rank, call) in calls.iter().filter(|(_, call)| needs_all_ranks(call)) {
            let absent = absent.get(&call.routine).into_iter().flatten();
            let mut elsewhere = absent.filter(|other| !gathering.contains(other));
            if let Some(other) = elsewhere.find(|other| waits.leads_to(**other, *rank)) {
                waits.0.entry(*rank).or_insert(*other);
            }
        }
        waits
    }

    /// Whether a rank waits for another one, or for one that does.
    fn leads_to(&self, from: u32, to: u32) -> bool {
        let mut at = Some(&from);
        for _ in 0..self.0.len() {
            at = at.and_then(|rank| self.0.get(rank));
            if at == Some(&to) {
                return true;
            }
        }
        false
    }

    /// Circles of ranks of which each waits for the next, each from its least rank on, in the order of these.
    fn cycles(&self) -> Vec<Vec<u32>> {
        let mut starts: Vec<u32> = self.0.keys().copied().collect();
        starts.sort_unstable();
        // A rank waits for one other, so no rank is in two circles, and every way is gone once.
        let (mut cycles, mut gone) = (Vec::new(), HashSet::new());
        for start in starts {
            let (mut way, mut at) = (Vec::new(), start);
            while gone.insert(at) {
                way.push(at);
                let Some(next) = self.0.get(&at) else {
                    way.clear();
                    break;
                };
                at = *next;
            }
            if let Some(first) = way.iter().position(|rank| *rank == at) {
                let mut cycle = way.split_off(first);
                let least = cycle.iter().enumerate().min_by_key(|(_, rank)| **rank);
                let least = least.map_or(0, |(place, _)| place);
                cycle.rotate_left(least);
                cycles.push(cycle);
            }
        }
        cycles.sort();
        cycles
    }

    /// Where the ranks end of which each waits for the next; None if they do not.
    fn end(&self, rank: u32) -> Option<u32> {
        let mut at = rank;
        for _ in 0..=self.0.len() {
            match self.0.get(&at) {
                Some(next) => at = *next,
                None => return Some(at).filter(|at| *at != rank),
            }
        }
        None
    }
}

/// Whether a call ends when all ranks of the launch have come to it.
fn needs_all_ranks(call: &Inside) -> bool {
    call.peer.is_none() && (call.routine.is_of_all_ranks() || call.routine.ends_mpi())
}

/// By collective in which ranks are, those that are not in it, ascending; nothing if not all ranks are known.
fn absent(profile: &MpiProfile, calls: &[(u32, Inside)]) -> HashMap<RoutineNumber, Vec<u32>> {
    let mut all = HashMap::new();
    if profile.facts.npes.is_some_and(|npes| npes as usize != profile.ranks.len()) {
        return all;
    }
    for (_, call) in calls.iter().filter(|(_, call)| needs_all_ranks(call)) {
        all.entry(call.routine).or_insert_with(|| {
            let inside = calls.iter().filter(|(_, other)| other.routine == call.routine);
            let inside: HashSet<u32> = inside.map(|(rank, _)| *rank).collect();
            let ranks = profile.ranks.iter().map(|rank| rank.rank);
            let mut others: Vec<u32> = ranks.filter(|rank| !inside.contains(rank)).collect();
            others.sort_unstable();
            others
        });
    }
    all
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
        let circles = Waits::of(profile, &LostRanks::calls(profile, &every)).cycles();
        let is_awaited =
            |rank: u32| is_named(rank) && !circles.iter().any(|circle| circle.contains(&rank));
        let is_cause =
            !first.is_empty() && (is_apart || first.iter().all(|rank| is_awaited(*rank)));
        let is_certain = is_cause || is_of_all;
        Some(LostRanks { first, is_certain, is_cause, others })
    }

    /// Circles of ranks of which each waited for the next when the launch ended, and the last for the first: all of them
    /// for longer than those do that exchange messages in a circle.
    pub fn cycles(&self, profile: &MpiProfile) -> Vec<Vec<u32>> {
        let ranks = [&self.first[..], &self.others].concat();
        let mut calls = LostRanks::calls(profile, &ranks);
        calls.retain(|(_, call)| waited_surely(call));
        Waits::of(profile, &calls).cycles()
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
        let is_sure = outside.iter().all(is_asking)
            || !self.first.is_empty() && !self.first.iter().any(is_outside);
        let mut outside: Vec<u32> = outside.iter().map(|rank| rank.rank).collect();
        outside.sort_unstable();
        (lost.len() > 1 && !apart && !runs && is_long(time, profile.total.wall_max))
            .then_some(Hang { time, calls, outside, is_sure })
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
    /// None of these has failed: each asked in vain until the end, or another rank ended first
    pub is_sure: bool,
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

#[cfg(test)]
mod tests;
