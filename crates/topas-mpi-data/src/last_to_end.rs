//! The rank that came last to `MPI_Finalize`, for which all others waited there.

use super::profile::{MpiProfile, MpiRank};
use super::waits::{Blame, RoutineWaits, WaitFigures};

impl RoutineWaits {
    /// Whether these are waits at the end of MPI.
    pub fn is_end(&self) -> bool {
        self.number.function().is_some_and(|function| function.is_one_of(&["MPI_Finalize"]))
    }
}

impl WaitFigures {
    /// What a rank, or several together, waited in `MPI_Finalize`, in ns.
    pub fn at_end(&self) -> u128 {
        let ends = self.routines.iter().filter(|of| of.is_end());
        ends.map(|of| Blame::from(&of.sums).collective.time).sum()
    }
}

/// The rank that came last to `MPI_Finalize`: the only one that waits for nobody there. None if that is not known.
pub fn last_to_end(profile: &MpiProfile) -> Option<&MpiRank> {
    if profile.ranks.len() as u64 != profile.total.ranks {
        return None;
    }
    let mut last = profile.ranks.iter().filter(|rank| rank.sums.waits.at_end() == 0);
    last.next().filter(|_| last.next().is_none())
}

/// What ranks wait for a rank before `MPI_Finalize` and there, if its delay arises before: then one rank waits for it
/// before at least half as long as any does there, where all wait for it that did not before. None if it is another.
/// `waiting` are those of which this is to be told.
pub fn delayed_before_end<'p>(
    profile: &MpiProfile,
    late: u32,
    waiting: impl IntoIterator<Item = &'p MpiRank>,
) -> Option<(Blame, u128)> {
    last_to_end(profile).filter(|last| last.rank == late)?;
    let (mut before, mut at_end) = (Blame::default(), 0);
    let (mut longest_before, mut longest_at_end) = (0, 0);
    for rank in waiting {
        let there = rank.sums.waits.at_end();
        let blamed = rank.sums.waits.blamed.iter().find(|(peer, _)| *peer == late);
        let mut blame = blamed.map(|(_, blame)| *blame).unwrap_or_default();
        blame.collective.time = blame.collective.time.saturating_sub(there);
        longest_before = longest_before.max(blame.time());
        longest_at_end = longest_at_end.max(there);
        before.add(&blame);
        at_end += there;
    }
    (at_end > 0 && 2 * longest_before >= longest_at_end).then_some((before, at_end))
}
