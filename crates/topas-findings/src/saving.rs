//! By how much a run could be shorter if no rank were late: what a finding about waits can promise.
//!
//! An even spread of the work over all ranks saves what a rank waits on average. That a rank no longer does what only
//! it does, such as reading input, saves what it computes longer than each other rank. Neither saves more than the
//! rank waits that waits most.

use topas_mpi_data::{MpiProfile, outside_of_rank};

use crate::fact::FactValues;
use crate::wait_names::WaitNames;

/// How much longer the rank that computes longest does so than each other, in s; 0 if that is not known, as of ranks in
/// which several threads call MPI.
fn beyond_the_next(profile: &MpiProfile) -> f64 {
    if profile.total.threads > 1 || profile.ranks.len() as u64 != profile.total.ranks {
        return 0.0;
    }
    let mut times: Vec<u128> =
        profile.ranks.iter().map(|rank| outside_of_rank(&rank.sums)).collect();
    times.sort_unstable();
    match times[..] {
        [.., next, most] => (most - next) as f64 / 1e9,
        _ => 0.0,
    }
}

/// Adds what could be saved of each kind of wait.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    let beyond = beyond_the_next(profile);
    let longest = facts.get_number(WaitNames::ALL.most).unwrap_or(0.0);
    for names in
        [WaitNames::LATE_SENDERS, WaitNames::LATE_RECEIVERS, WaitNames::COLLECTIVES, WaitNames::ALL]
    {
        let Some(mean) = facts.get_number(names.cost) else { continue };
        // What is saved by a rank is saved of the waits for this rank.
        let is_it = facts.get(names.first).is_some()
            && facts.get_text(names.first) == facts.get_text("outside_who");
        let beyond = if is_it { beyond.min(longest) } else { 0.0 };
        facts.number(names.gain, mean.max(beyond));
    }
    if let Some(mean) = facts.get_number("finalize_cost") {
        let is_it = facts.get_text("finalize_who") == facts.get_text("outside_who");
        let own = if is_it { beyond } else { 0.0 };
        let longest = facts.get_number("finalize_most").unwrap_or(0.0);
        facts.number("finalize_gain", mean.max(own.min(longest)));
    }
}
