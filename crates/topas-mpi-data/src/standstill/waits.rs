//! For which rank each rank waits that is in a call for long, as far as the calls tell it.

use std::collections::{HashMap, HashSet};

use crate::now::PeerSide;
use crate::profile::MpiProfile;
use crate::rank::Inside;
use crate::routine::RoutineNumber;

/// For which rank each rank waits, as far as its call names one.
pub(super) struct Waits(HashMap<u32, u32>);

impl Waits {
    /// By the calls in which ranks are, and the ranks that are known to be outside of MPI.
    pub(super) fn of(profile: &MpiProfile, calls: &[(u32, Inside)], outside: &[u32]) -> Waits {
        let absent = absent(profile, calls);
        let one = |(rank, call): &(u32, Inside)| {
            let named = call.peer.filter(|peer| peer.of_world);
            let named = named.and_then(|peer| u32::try_from(peer.rank).ok());
            let peer = match named {
                Some(named) => {
                    let is_gone = || has_left(profile, named, *rank, call);
                    Some(named).filter(|named| named != rank && !is_gone())
                }
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
        let are_of_parts = profile.total.routines.iter().any(|of| of.number.makes_parts());
        let gathering: HashSet<u32> =
            calls.iter().filter(|(_, call)| needs_all_ranks(call)).map(|(rank, _)| *rank).collect();
        for (rank, call) in calls.iter().filter(|(_, call)| needs_all_ranks(call)) {
            let absent = absent.get(&call.routine).into_iter().flatten();
            let mut elsewhere = absent.filter(|other| !gathering.contains(other));
            let closes = |other: &u32| waits.leads_to(*other, *rank);
            // Who takes part in a collective of some ranks is not known.
            let is_of_some = are_of_parts && !call.routine.ends_mpi();
            if is_of_some && !elsewhere.clone().all(closes) {
                continue;
            }
            if let Some(other) = elsewhere.find(|other| closes(other)) {
                waits.0.entry(*rank).or_insert(*other);
            }
        }
        waits.wait_for_the_only_one(profile, calls, outside);
        waits
    }

    /// Of a collective of some ranks nobody knows which these are. If all ranks of the launch but one are in collectives, and
    /// that one is outside of MPI, those whose calls name no other one wait for it.
    fn wait_for_the_only_one(
        &mut self,
        profile: &MpiProfile,
        calls: &[(u32, Inside)],
        outside: &[u32],
    ) {
        let [only] = outside else { return };
        let is_collective =
            |call: &Inside| call.routine.is_of_all_ranks() || call.routine.ends_mpi();
        let all_are_known = profile.facts.npes.map(|npes| npes as usize) == Some(calls.len() + 1);
        if all_are_known && calls.iter().all(|(_, call)| is_collective(call)) {
            for (rank, _) in calls {
                self.0.entry(*rank).or_insert(*only);
            }
        }
    }

    /// The rank for which all others of the launch wait, while it waits itself for a message of one of them, or for one of
    /// them to take its own: whichever rank of its communicator that is, none of them goes on. None if there is no such rank.
    pub(super) fn closed_by(&self, profile: &MpiProfile, calls: &[(u32, Inside)]) -> Option<u32> {
        if profile.facts.npes.map(|npes| npes as usize) != Some(calls.len()) || calls.len() < 2 {
            return None;
        }
        let waits_for_one = |call: &Inside| {
            let is_message =
                matches!(call.routine.peer_side(), Some(PeerSide::To | PeerSide::From));
            let is_of_other = call.peer.is_some_and(|peer| !peer.of_world && peer.rank >= 0);
            is_message && is_of_other && !call.routine.asks()
        };
        let all_wait_for = |rank: u32| {
            let mut others = calls.iter().map(|(other, _)| *other).filter(|other| *other != rank);
            others.all(|other| self.leads_to(other, rank))
        };
        let mut open = calls.iter().filter(|(rank, call)| {
            !self.0.contains_key(rank) && waits_for_one(call) && all_wait_for(*rank)
        });
        open.next().map(|(rank, _)| *rank)
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
    pub(super) fn cycles(&self) -> Vec<Vec<u32>> {
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
    pub(super) fn end(&self, rank: u32) -> Option<u32> {
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

/// Whether the root of a collective, in which another rank is, has called it more often than that one already: then the rank
/// waits for somebody else, as for the one in between from which it gets what the root has sent.
fn has_left(profile: &MpiProfile, root: u32, rank: u32, call: &Inside) -> bool {
    let ended = |rank: u32| {
        let rank = profile.ranks.iter().find(|known| known.rank == rank)?;
        let all = rank.sums.routines.iter();
        let own = all.filter(|own| own.number == call.routine);
        Some(own.map(|own| own.calls.saturating_sub(own.unended)).sum::<u128>())
    };
    call.routine.peer_side() == Some(PeerSide::Root)
        && ended(root).zip(ended(rank)).is_some_and(|(root, own)| root > own)
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
