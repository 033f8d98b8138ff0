//! For what ranks waited in `MPI_Wait`, `MPI_Test` and their likes.

use serde_json::{Map, Value, json};
use topas_mpi_data::{MpiProfile, WAITED_NAMES, Waiting};

use super::Views;
use super::body::ViewBody;
use super::cells::CellTable;
use super::json::{number, seconds as json_seconds};
use crate::number::{compact, percent_of, seconds};

/// Kinds of requests as people call them, in the order of [`WAITED_NAMES`].
const KINDS: [&str; WAITED_NAMES.len()] = [
    "nothing that was over",
    "messages to be sent",
    "messages to be received",
    "collectives",
    "requests of the user",
    "memory of others",
    "files to be read",
    "files to be written",
];

fn kinds(profile: &MpiProfile) -> impl Iterator<Item = (usize, &Waiting)> {
    profile.total.waited.iter().enumerate().filter(|(_, of)| of.calls > 0)
}

/// A table; nothing if nobody waited.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let profile = views.profile;
    let mut cells = CellTable::new(["waited for", "calls", "time s", "of MPI"]);
    for (at, of) in kinds(profile) {
        cells.row([
            KINDS.get(at).copied().unwrap_or_default().to_owned(),
            compact(of.calls),
            seconds(of.time, 6),
            percent_of(of.time, profile.total.mpi),
        ]);
    }
    ViewBody::default().table("What was waited for", cells)
}

/// For JSON, by kind.
pub(super) fn value(profile: &MpiProfile) -> Value {
    let object: Map<String, Value> = kinds(profile)
        .map(|(at, of)| {
            let name = WAITED_NAMES.get(at).copied().unwrap_or_default().to_owned();
            (name, json!({ "calls": number(of.calls), "seconds": json_seconds(of.time) }))
        })
        .collect();
    object.into()
}
