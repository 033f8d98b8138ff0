//! Facts about the rank that came to `MPI_Init` later than the others, which waited there for it.

use topas_mpi_data::{CallersTime, LateToInit, MpiProfile};

use crate::fact::FactValues;

/// Adds these facts, if the ranks tell how long they ran before.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    let Some(late) = LateToInit::of(profile) else { return };
    let waited = late.map_or(0, |late| late.waited);
    let callers = CallersTime::of(profile);
    facts.number("init_share", 100.0 * waited as f64 / callers.time as f64);
    facts.number("init_cost", waited as f64 / 1e9 / callers.count as f64);
    facts.number("init_sum", waited as f64 / 1e9);
    let Some(late) = late else { return };
    facts.text("init_who", format!("rank {}", late.rank));
    facts.number("init_later", late.later as f64 / 1e9);
    facts.number("init_before", late.before as f64 / 1e9);
    facts.number("init_others_before", late.others_before as f64 / 1e9);
}
