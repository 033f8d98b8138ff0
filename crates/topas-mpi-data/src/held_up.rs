//! Ranks that one holds up which calls no MPI: what they have begun with it goes on when it does.
//!
//! Who flushes a window whose target computes, or completes a collective that all have begun, may wait until another rank
//! calls MPI, and no message tells for whom. What follows from that is told: the rank that was held up makes others wait.
//! But then it computes no longer than they do, and one computes much longer.

use topas_mpi_table::{CallProgress, FunctionClass};

use crate::delay::{computed, computing, is_longer};
use crate::profile::{MpiProfile, MpiRank};
use crate::routine::{RoutineCalls, RoutineNumber};
use crate::standstill::unmeasured_ranks;

/// A rank for which others wait, and which probably waits itself for one that calls no MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldUp {
    /// The one that computes much longer than each other
    pub by: u32,
    /// How long the rank is in calls of which it is not known for whom they wait, in ns
    pub time: u128,
    /// The routine that has most of this
    pub most: RoutineNumber,
}

impl HeldUp {
    /// Whether that is so of a rank; None if it is not.
    pub fn of(profile: &MpiProfile, rank: u32) -> Option<HeldUp> {
        let (own, mean) = computing(profile, rank)?;
        let lost = unmeasured_ranks(profile);
        let mut times: Vec<(u128, u32)> = (profile.ranks.iter())
            .filter(|known| !lost.contains(&known.rank))
            .map(|known| (computed(&known.sums), known.rank))
            .collect();
        times.sort_unstable();
        let [.., (next, _), (most, by)] = times[..] else { return None };
        // Half as long again as each other.
        if is_longer(own, mean) || by == rank || 2 * most < 3 * next {
            return None;
        }
        let known = profile.ranks.iter().find(|known| known.rank == rank)?;
        let untold = || held_routines(known).map(|of| (untold(known, of), of.number));
        let time: u128 = untold().map(|(time, _)| time).sum();
        let (_, routine) = untold().max_by_key(|(time, _)| *time)?;
        // At least half of what the other one computes longer.
        (2 * time >= most - own).then_some(HeldUp { by, time, most: routine })
    }
}

/// The routines in which a rank may be held up so.
fn held_routines(rank: &MpiRank) -> impl Iterator<Item = &RoutineCalls> {
    let all = &rank.sums.routines;
    let class = |of: &RoutineCalls| of.number.function().map(|function| function.class);
    let has_begun = all.iter().any(|of| {
        let by = match class(of) {
            Some(FunctionClass::Collective(by) | FunctionClass::Neighborhood(by)) => Some(by),
            _ => None,
        };
        by == Some(CallProgress::Nonblocking)
    });
    all.iter().filter(move |of| match class(of) {
        Some(FunctionClass::RmaSynchronization(_)) => true,
        Some(FunctionClass::Wait) => has_begun,
        _ => false,
    })
}

/// How long a rank was in a routine without waiting for a rank that is known, in ns.
fn untold(rank: &MpiRank, of: &RoutineCalls) -> u128 {
    of.time.saturating_sub(rank.sums.waits.routine(of.number).waited())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::efficiency::tests::profile;

    /// Ranks of so much time in MPI of 100, each of which is in some calls of `routine` for so long.
    fn held(in_mpi: [u64; 3], routine: &str, times: [u128; 3]) -> Option<u32> {
        let mut launch = profile(&in_mpi.map(|time| (100, time)));
        let number = launch.routines.number(routine).unwrap();
        for (rank, time) in launch.ranks.iter_mut().zip(times) {
            rank.sums.routines.push(RoutineCalls { calls: 1, time, ..RoutineCalls::new(number) });
        }
        HeldUp::of(&launch, 2).map(|held| held.by)
    }

    #[test]
    fn who_flushes_a_window_is_held_up_by_the_one_that_computes() {
        assert_eq!(held([20, 70, 70], "Win_flush", [0, 50, 50]), Some(0));
        // It is not in such calls for long, or in others.
        assert_eq!(held([20, 70, 70], "Win_flush", [0, 20, 20]), None);
        assert_eq!(held([20, 70, 70], "Recv", [0, 50, 50]), None);
        // What it waits for completes no collective that it has begun.
        assert_eq!(held([20, 70, 70], "Wait", [0, 50, 50]), None);
        // Another one computes nearly as long.
        assert_eq!(held([20, 30, 70], "Win_flush", [0, 50, 50]), None);
        // It computes longest itself.
        assert_eq!(held([70, 70, 20], "Win_flush", [50, 50, 50]), None);
    }
}
