//! Communicators, windows and files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::{Value, json};
use topas_mpi_data::{Communicator, MpiObjectKind, MpiProfile};

use super::Views;
use super::body::ViewBody;
use super::cells::CellTable;
use super::json::{number, seconds as json_seconds};
use crate::number::{NONE, compact, exact_seconds, percent_of, seconds};

/// Whether there are any.
pub(super) fn are_counted(profile: &MpiProfile) -> bool {
    !sorted(profile).is_empty()
}

/// Of all ranks, that with most time first. A sum over ranks may not have them where single
/// ranks do.
fn sorted(profile: &MpiProfile) -> Vec<Communicator> {
    let mut all = profile.total.communicators.clone();
    if all.is_empty() {
        all = sum(profile.ranks.iter().flat_map(|rank| &rank.sums.communicators));
    }
    all.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.name.cmp(&b.name)));
    all
}

/// Those of one name, kind and size together.
fn sum<'p>(all: impl Iterator<Item = &'p Communicator>) -> Vec<Communicator> {
    let mut sums: BTreeMap<(&str, MpiObjectKind, Option<u32>), Communicator> = BTreeMap::new();
    for of in all {
        match sums.entry((&of.name, of.kind, of.size)) {
            Entry::Vacant(place) => {
                place.insert(of.clone());
            }
            Entry::Occupied(mut place) => {
                let sum = place.get_mut();
                sum.calls += of.calls;
                sum.time += of.time;
                sum.traffic.sends += of.traffic.sends;
                sum.traffic.sent += of.traffic.sent;
                sum.traffic.receives += of.traffic.receives;
                sum.traffic.received += of.traffic.received;
            }
        }
    }
    sums.into_values().collect()
}

fn name(of: &Communicator) -> String {
    crate::wording::named(of.name.as_bytes())
}

/// The name; of windows and files behind the word for what they are.
fn shown(of: &Communicator) -> String {
    of.kind.name(&name(of))
}

/// A table, that with most time first.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let profile = views.profile;
    let all = sorted(profile);
    let others = all.iter().any(|of| of.kind != MpiObjectKind::Communicator);
    let mut cells = CellTable::new([
        if others { "communicator, window, file" } else { "communicator" },
        "size",
        "calls",
        "time s",
        "of MPI",
        "sends",
        "sent B",
        "receives",
        "received B",
    ]);
    for of in &all {
        cells.row([
            shown(of),
            of.size.map_or_else(|| NONE.to_owned(), |size| size.to_string()),
            compact(of.calls),
            seconds(of.time, 6),
            percent_of(of.time, profile.total.mpi),
            compact(of.traffic.sends),
            compact(of.traffic.sent),
            compact(of.traffic.receives),
            compact(of.traffic.received),
        ]);
    }
    if cells.is_empty() {
        return ViewBody::default()
            .prose("Communicators were not counted: run with TOPAS_MPI_COMMS=yes.");
    }
    ViewBody::default().table("Communicators", cells)
}

/// The same as data.
pub(super) fn csv(profile: &MpiProfile) -> String {
    let mut cells = CellTable::new([
        "communicator",
        "size",
        "calls",
        "seconds",
        "sends",
        "sent_bytes",
        "receives",
        "received_bytes",
        "kind",
    ]);
    for of in &sorted(profile) {
        cells.row([
            name(of),
            of.size.map(|size| size.to_string()).unwrap_or_default(),
            of.calls.to_string(),
            exact_seconds(of.time),
            of.traffic.sends.to_string(),
            of.traffic.sent.to_string(),
            of.traffic.receives.to_string(),
            of.traffic.received.to_string(),
            of.kind.word().to_owned(),
        ]);
    }
    cells.csv()
}

/// For JSON; null if they were not counted.
pub(super) fn value(profile: &MpiProfile) -> Value {
    let all = sorted(profile);
    if all.is_empty() {
        return Value::Null;
    }
    let value = |of: &Communicator| {
        json!({
            "name": name(of),
            "kind": of.kind.word(),
            "size": of.size,
            "calls": number(of.calls),
            "seconds": json_seconds(of.time),
            "sends": number(of.traffic.sends),
            "sent_bytes": number(of.traffic.sent),
            "receives": number(of.traffic.receives),
            "received_bytes": number(of.traffic.received),
        })
    };
    all.iter().map(value).collect()
}
