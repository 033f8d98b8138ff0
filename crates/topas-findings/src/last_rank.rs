//! Facts about the rank that came last to `MPI_Finalize`, for which all others waited there.

use topas_mpi_data::{
    Blame, CallersTime, DelayBeginning, MpiProfile, MpiRank, RoutineWaits, WaitFigures, WaitSums,
    computing,
};

use crate::fact::FactValues;

fn is_end(of: &RoutineWaits) -> bool {
    of.number.function().is_some_and(|function| function.is_one_of(&["MPI_Finalize"]))
}

/// What a rank, or several together, waited in `MPI_Finalize`, in ns.
fn waited(waits: &WaitFigures) -> u128 {
    let ends = waits.routines.iter().filter(|of| is_end(of));
    ends.map(|of| Blame::from(&of.sums).collective.time).sum()
}

/// The rank that came last: the only one that waits for nobody there. None if that is not known.
fn last(profile: &MpiProfile) -> Option<&MpiRank> {
    if profile.ranks.len() as u64 != profile.total.ranks {
        return None;
    }
    let mut last = profile.ranks.iter().filter(|rank| waited(&rank.sums.waits) == 0);
    last.next().filter(|_| last.next().is_none())
}

/// Others waited for a rank elsewhere, too, if that is a tenth of what they waited at the end.
const ELSEWHERE: u128 = 10;

/// Whether the wait there is told by itself: not if the last rank is late because it waited for others before, nor if
/// it is late elsewhere, too, so that this is one cause.
pub(crate) fn is_told_apart(profile: &MpiProfile) -> bool {
    let Some(last) = last(profile) else { return true };
    let blames = profile.ranks.iter().flat_map(|rank| &rank.sums.waits.blamed);
    let all: u128 = blames.filter(|(peer, _)| *peer == last.rank).map(|(_, of)| of.time()).sum();
    let there: u128 = profile.ranks.iter().map(|rank| waited(&rank.sums.waits)).sum();
    let is_late_elsewhere = ELSEWHERE * all.saturating_sub(there) >= there;
    !is_late_elsewhere && DelayBeginning::of(profile, last.rank).is_none()
}

/// Waits, and those of each routine, without those in `MPI_Finalize`.
pub(crate) fn without_end(
    all: &WaitSums,
    routines: &[RoutineWaits],
) -> (WaitSums, Vec<RoutineWaits>) {
    if !routines.iter().any(is_end) {
        return (*all, routines.to_vec());
    }
    let others: Vec<RoutineWaits> = routines.iter().filter(|of| !is_end(of)).copied().collect();
    let mut sum = WaitSums::NONE;
    others.iter().for_each(|of| sum.merge(&of.sums));
    (sum, others)
}

/// Adds these facts, if the profile tells waits apart.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    let sums = &profile.total;
    let all = match is_told_apart(profile) {
        false => 0,
        true if sums.waits.measured => waited(&sums.waits),
        true => profile.ranks.iter().map(|rank| waited(&rank.sums.waits)).sum(),
    };
    let callers = CallersTime::of(profile);
    facts.number("finalize_share", 100.0 * all as f64 / callers.time as f64);
    facts.number("finalize_cost", all as f64 / 1e9 / callers.count as f64);
    facts.number("finalize_sum", all as f64 / 1e9);
    let Some(last) = last(profile).filter(|_| all > 0) else { return };
    facts.text("finalize_who", format!("rank {}", last.rank));
    if let Some((own, mean)) = computing(profile, last.rank) {
        facts.number("finalize_who_computes", own as f64 / 1e9);
        facts.number("finalize_others_compute", mean as f64 / 1e9);
    }
}
