//! Facts about the rank that came last to `MPI_Finalize`, for which all others waited there.

use topas_mpi_data::{
    CallersTime, DelayBeginning, MpiProfile, RoutineWaits, WaitSums, computing, last_to_end,
};

use crate::fact::FactValues;

/// Others waited for a rank elsewhere, too, if that is a tenth of what they waited at the end.
const ELSEWHERE: u128 = 10;

/// Whether the wait there is told by itself: not if the last rank is late because it waited for others before, nor if
/// it is late elsewhere, too, so that this is one cause.
pub(crate) fn is_told_apart(profile: &MpiProfile) -> bool {
    let Some(last) = last_to_end(profile) else { return true };
    let blames = profile.ranks.iter().flat_map(|rank| &rank.sums.waits.blamed);
    let all: u128 = blames.filter(|(peer, _)| *peer == last.rank).map(|(_, of)| of.time()).sum();
    let there: u128 = profile.ranks.iter().map(|rank| rank.sums.waits.at_end()).sum();
    let is_late_elsewhere = ELSEWHERE * all.saturating_sub(there) >= there;
    let is_handed_on = match &profile.logged {
        Some(logged) => 2 * logged.begins_in(last.rank) < there,
        None => DelayBeginning::of(profile, last.rank).is_some(),
    };
    !is_late_elsewhere && !is_handed_on
}

/// Waits, and those of each routine, without those in `MPI_Finalize`.
pub(crate) fn without_end(
    all: &WaitSums,
    routines: &[RoutineWaits],
) -> (WaitSums, Vec<RoutineWaits>) {
    if !routines.iter().any(RoutineWaits::is_end) {
        return (*all, routines.to_vec());
    }
    let others: Vec<RoutineWaits> = routines.iter().filter(|of| !of.is_end()).copied().collect();
    let mut sum = WaitSums::NONE;
    others.iter().for_each(|of| sum.merge(&of.sums));
    (sum, others)
}

/// Adds these facts, if the profile tells waits apart.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    let sums = &profile.total;
    let all = match is_told_apart(profile) {
        false => 0,
        true if sums.waits.measured => sums.waits.at_end(),
        true => profile.ranks.iter().map(|rank| rank.sums.waits.at_end()).sum(),
    };
    let callers = CallersTime::of(profile);
    facts.number("finalize_share", 100.0 * all as f64 / callers.time as f64);
    facts.number("finalize_cost", all as f64 / 1e9 / callers.count as f64);
    facts.number("finalize_sum", all as f64 / 1e9);
    if all > 0 {
        let longest = profile.ranks.iter().map(|rank| rank.sums.waits.at_end()).max();
        facts.number("finalize_most", longest.map(|longest| longest as f64 / 1e9));
    }
    let Some(last) = last_to_end(profile).filter(|_| all > 0) else { return };
    facts.text("finalize_who", format!("rank {}", last.rank));
    if let Some((own, mean)) = computing(profile, last.rank) {
        facts.number("finalize_who_computes", own as f64 / 1e9);
        facts.number("finalize_others_compute", mean as f64 / 1e9);
    }
}
