//! The words about a rank for which others wait, and which is probably held up by one that calls no MPI.

use topas_mpi_data::{Blame, CallersTime, HeldUp, MpiProfile, computing};

use super::amount::routine_name;
use super::charged_rank::ChargedRank;
use super::paths::PathViews;
use super::waited_place::WaitKind;
use crate::number::{percent_of, seconds};

/// What is said of the one that holds up a rank, for which the others wait so.
pub(super) fn charged(
    profile: &MpiProfile,
    paths: Option<&PathViews>,
    held: &HeldUp,
    (rank, blame): (u32, &Blame),
) -> ChargedRank {
    let by = held.by;
    let (own, mean) = computing(profile, by).unwrap_or_default();
    let callers = CallersTime::of(profile);
    let routine = routine_name(profile, held.most);
    let waits = format!(
        "Rank {by} probably makes the others wait: it computes {} s outside of MPI, the others {} s on average, and what these \
         have begun with it may not go on meanwhile. The waits that are known, {} s, {} of the time of all {}, are for rank \
         {rank}, but that one is itself in calls for {} s of which it is not known for whom they wait, most of that in {routine}.",
        seconds(own, 3),
        seconds(mean, 3),
        seconds(blame.time(), 3),
        percent_of(blame.time(), callers.time),
        callers.whose(),
        seconds(held.time, 3),
    );
    let place = paths.and_then(|paths| paths.longest_of(held.most));
    ChargedRank {
        rank: by,
        kind: WaitKind::longest(blame),
        is_most: false,
        is_probable: true,
        as_long: Vec::new(),
        waits,
        begins: None,
        computes: None,
        is_late_otherwise: true,
        place: place.map(|place| format!("Most of {routine} is from {place}.")),
        beside: None,
        second: None,
    }
}
