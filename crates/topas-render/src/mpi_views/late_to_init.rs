//! The sentence that names a rank which came late to `MPI_Init`.

use topas_mpi_data::{CallersTime, LateToInit, MpiProfile};

use crate::number::{percent_of, seconds};

/// Said if the others waited for it for this part of the time of all ranks, a twentieth, and for a second.
const WORTH_A_SENTENCE: u128 = 20;
const LEAST: u128 = 1_000_000_000;

/// Which rank came there later than all others; nothing if none did, or ranks do not tell.
pub(crate) fn sentence(profile: &MpiProfile) -> Option<String> {
    let late = LateToInit::of(profile)??;
    let callers = CallersTime::of(profile);
    if late.waited < LEAST || late.waited.saturating_mul(WORTH_A_SENTENCE) < callers.time {
        return None;
    }
    Some(format!(
        "Rank {} comes to MPI_Init {} s later than the others, which wait there for it for {} s, {} of the time of all \
         {}.",
        late.rank,
        seconds(late.later.into(), 3),
        seconds(late.waited, 3),
        percent_of(late.waited, callers.time),
        callers.whose()
    ))
}

/// What is said of the waits that follow.
pub(super) fn later(of: &str) -> String {
    let mut letters = of.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    format!("Behind MPI_Init, {first}{}", letters.as_str())
}
