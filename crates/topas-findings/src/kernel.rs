//! How much of the time of a run its PEs lost in the kernel, without what they spend there to wait.
//!
//! Open MPI lets a rank that waits give its processor away again and again where a host has more ranks than processors:
//! that is system time, and no loss beside the wait. How much of the system time it is was not measured; all of it may
//! be, as far as the ranks were in MPI.

use std::collections::BTreeMap;

use topas_mpi_data::{MpiProfile, MpiRank};

use crate::fact::FactValues;

/// A rank has been without a processor for most of its time below this share.
const FEW_PROCESSORS: f64 = 50.0;

/// What is less than this share of the run, in percent, or than these seconds of all ranks is too little to be told.
const TOLD: f64 = 5.0;
const TOLD_TOGETHER: f64 = 1.0;

/// A rank does little else than system calls from this share of its CPU time on.
const MOSTLY: f64 = 60.0;

/// What a process needs in the kernel to start and to end, in s, says nothing of what it does in between.
const START: f64 = 0.1;

/// Sets what system time costs, of PEs of which nothing is known but that time, in s, and the share of it in their CPU
/// time, in percent.
pub(crate) fn add(system: Option<f64>, of_cpu: Option<f64>, facts: &mut FactValues) {
    let pes = facts.get_number("pes").unwrap_or(0.0);
    facts.number("kernel_cost", system);
    facts.number("kernel_sum", system.map(|system| system * pes));
    facts.number("kernel_cpu", of_cpu);
    let wall = facts.get_number("wall").filter(|wall| *wall > 0.0);
    facts.number("kernel_share", system.zip(wall).map(|(system, wall)| 100.0 * system / wall));
}

/// Ranks that are in MPI for at least this part of the time of the rank that is there longest tell how much of the time a
/// rank is in the kernel while it waits.
const LONG_IN_MPI: f64 = 0.75;

/// The mean system time of a PE, in s, that is more than waiting in MPI explains; None if it is not known of each rank.
fn outside_of_mpi(profile: &MpiProfile, facts: &FactValues) -> Option<f64> {
    if facts.system.is_empty() || profile.ranks.len() as u64 != profile.total.ranks {
        return None;
    }
    let of_pe: BTreeMap<u32, f64> = facts.system.iter().copied().collect();
    let of_rank = |rank: &MpiRank| {
        let edges = rank.sums.routines.iter().filter(|of| of.number.is_edge());
        let in_mpi = rank.sums.mpi.saturating_sub(edges.map(|of| of.time).sum());
        Some((*of_pe.get(&rank.rank)?, in_mpi as f64 / 1e9))
    };
    let each: Vec<(f64, f64)> = profile.ranks.iter().map(of_rank).collect::<Option<_>>()?;
    Some(unexplained(&each))
}

/// The mean of what system times of ranks are more than they may have spent there to wait in MPI, by both times of each.
/// All of them wait in one way.
fn unexplained(ranks: &[(f64, f64)]) -> f64 {
    let longest = ranks.iter().map(|(_, in_mpi)| *in_mpi).fold(0.0, f64::max);
    let long = ranks.iter().filter(|(_, in_mpi)| *in_mpi > 0.0 && *in_mpi >= LONG_IN_MPI * longest);
    let rate = long.map(|(system, in_mpi)| system / in_mpi).fold(0.0, f64::max).min(1.0);
    let own = ranks.iter().map(|(system, in_mpi)| (system - rate * in_mpi).max(0.0));
    own.sum::<f64>() / ranks.len().max(1) as f64
}

/// Takes away what ranks may have spent there to wait, and estimates what the rest costs where others had the processors.
pub(crate) fn without_waiting(profile: &MpiProfile, facts: &mut FactValues) {
    let number = |name| facts.get_number(name);
    let (Some(system), Some(of_cpu), Some(wall)) =
        (number("system_time"), number("system_share"), number("wall"))
    else {
        return;
    };
    let is_yielding =
        profile.facts.mpi.starts_with(b"Open_MPI") || profile.facts.mpi.starts_with(b"Open MPI");
    let own = match is_yielding && number("crowd") == Some(1.0) {
        true => outside_of_mpi(profile, facts)
            .unwrap_or_else(|| (system - number("mpi_work_cost").unwrap_or(0.0)).max(0.0)),
        false => system,
    };
    if system <= 0.0 || of_cpu <= 0.0 {
        return;
    }
    let cpu = 100.0 * system / of_cpu;
    let pes = number("npes").unwrap_or(1.0);
    let processor = number("processor_share").unwrap_or(100.0);
    let outside = number("outside_share").unwrap_or(100.0) / 100.0 * wall;
    let is_little = 100.0 * own < TOLD * wall || own * pes < TOLD_TOGETHER;
    let is_starved = is_little
        && processor < FEW_PROCESSORS
        && number("preempted_rate").is_some_and(|rate| rate >= 10.0)
        && own >= START
        && of_cpu >= MOSTLY;
    // With a processor of its own a rank would have been there for as large a part of the time, unless it sleeps: so this is
    // an estimate, for what would be passed over otherwise.
    let cost =
        if is_starved { (own * 100.0 / processor.max(1.0)).min(outside).max(own) } else { own };
    facts.number("kernel_cost", cost);
    facts.number("kernel_sum", cost * pes);
    facts.number("kernel_cpu", 100.0 * own / cpu);
    facts.number("kernel_share", 100.0 * cost / wall);
    if is_starved {
        facts.number("kernel_scaled", processor);
    }
}

#[cfg(test)]
mod tests {
    use super::unexplained;

    #[test]
    fn waiting_explains_no_more_than_other_ranks_need_for_it() {
        for (ranks, own) in [
            // All wait, and yield while they do.
            (&[(0.5, 2.0), (0.5, 2.0), (0.0, 0.0), (0.4, 1.8)][..], 0.0),
            // The rank for which the others wait is in the kernel meanwhile.
            (&[(0.2, 2.0), (0.2, 2.0), (1.1, 1.0), (0.2, 2.0)], 0.25),
            // Longer in the kernel than in MPI.
            (&[(0.5, 0.2), (0.5, 0.2)], 0.3),
            (&[(0.5, 0.0), (0.5, 0.0)], 0.5),
        ] {
            let told = unexplained(ranks);
            assert!((told - own).abs() < 1e-9, "{ranks:?}: {told}");
        }
    }
}
