//! The rank that came to `MPI_Init` later than all others, because of what it did before: the others wait there for it.
//!
//! A rank tells how long its process ran before its first call of MPI, without the time in which it waited for a
//! processor. So a launcher that starts one rank after the other is not mistaken for a rank that is late, nor is a
//! node with more ranks than processors. No clocks are compared for this: a rank waits at most as much longer in
//! `MPI_Init` as it is longer in it than the rank that came last.

use super::profile::{MpiProfile, MpiRank};

/// A rank counts as late from so many ns more than each other rank on. The start of a process is known to 10 ms, and
/// loading a program does not take the same time everywhere.
const LEAST: u64 = 100_000_000;

/// A rank that came late to `MPI_Init`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateToInit {
    /// The rank
    pub rank: u32,
    /// For how long it ran before, in ns
    pub before: u64,
    /// For how long the others did on average
    pub others_before: u64,
    /// How much longer it ran before than each other rank
    pub later: u64,
    /// What the others waited for it, in ns: no more than that each
    pub waited: u128,
}

impl LateToInit {
    /// The only rank of a launch that came late. None if there is none; in it None if ranks do not tell.
    pub fn of(profile: &MpiProfile) -> Option<Option<LateToInit>> {
        let ranks = &profile.ranks;
        let all_tell = ranks.iter().all(|rank| rank.sums.before > 0 && in_init(rank) > 0);
        if ranks.len() < 2 || ranks.len() as u64 != profile.total.ranks || !all_tell {
            return None;
        }
        let last = ranks.iter().max_by_key(|rank| rank.sums.before)?;
        let others = || ranks.iter().filter(|rank| rank.rank != last.rank);
        let before = last.sums.before;
        let later = before.saturating_sub(others().map(|rank| rank.sums.before).max()?);
        let least = in_init(last);
        let waits = others().map(|rank| in_init(rank).saturating_sub(least).min(later.into()));
        let waited: u128 = waits.sum();
        let sum: u128 = others().map(|rank| u128::from(rank.sums.before)).sum();
        let others_before = (sum / (ranks.len() as u128 - 1)) as u64;
        let late = LateToInit { rank: last.rank, before, others_before, later, waited };
        Some((later >= LEAST && waited > 0).then_some(late))
    }
}

/// How long a rank was in `MPI_Init`, in ns.
fn in_init(rank: &MpiRank) -> u128 {
    let is_init = |name: &str| ["MPI_Init", "MPI_Init_thread"].contains(&name);
    let routines = rank.sums.routines.iter();
    let of = routines.filter(|of| of.number.function().is_some_and(|of| is_init(of.name)));
    of.map(|of| of.time).sum()
}
