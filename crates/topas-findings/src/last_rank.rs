//! Facts about the rank that came last to `MPI_Finalize`, for which all others waited there.

use topas_mpi_data::{Blame, MpiProfile, RoutineWaits, WaitFigures, WaitSums, computing};

use crate::fact::FactValues;

fn is_end(of: &RoutineWaits) -> bool {
    of.number.function().is_some_and(|function| function.is_one_of(&["MPI_Finalize"]))
}

/// What a rank, or several together, waited in `MPI_Finalize`, in ns.
fn waited(waits: &WaitFigures) -> u128 {
    let ends = waits.routines.iter().filter(|of| is_end(of));
    ends.map(|of| Blame::from(&of.sums).collective.time).sum()
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
    let all = if sums.waits.measured {
        waited(&sums.waits)
    } else {
        profile.ranks.iter().map(|rank| waited(&rank.sums.waits)).sum()
    };
    facts.number("finalize_share", 100.0 * all as f64 / sums.wall as f64);
    facts.number("finalize_cost", all as f64 / 1e9 / sums.ranks as f64);
    facts.number("finalize_sum", all as f64 / 1e9);
    if all == 0 || profile.ranks.len() as u64 != sums.ranks {
        return;
    }
    // It is the only one that waits for nobody there.
    let mut last = profile.ranks.iter().filter(|rank| waited(&rank.sums.waits) == 0);
    let (Some(last), None) = (last.next(), last.next()) else { return };
    facts.text("finalize_who", format!("rank {}", last.rank));
    if let Some((own, mean)) = computing(profile, last.rank) {
        facts.number("finalize_who_computes", own as f64 / 1e9);
        facts.number("finalize_others_compute", mean as f64 / 1e9);
    }
}
