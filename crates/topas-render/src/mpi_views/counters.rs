//! Hardware counters inside and outside of MPI. Waiting in MPI mostly spins, so what is counted
//! inside says little of the program, and spoils what is counted of all.

use serde_json::{Value, json};
use topas_mpi_data::{Counter, MpiProfile};

use super::Views;
use super::body::ViewBody;
use super::cells::CellTable;
use super::json::number;
use crate::number::{NONE, compact, percent_of, quotient};

/// A table.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let profile = views.profile;
    let sums = &profile.total;
    let mut cells = CellTable::new([
        "counter",
        "outside MPI",
        "inside MPI",
        "inside",
        "outside 10^6/s",
        "inside 10^6/s",
    ]);
    // Events per ns are 10^9 per s.
    let rate = |events: Option<u128>, ns: u128| {
        events.map_or_else(|| NONE.to_owned(), |n| quotient(n.saturating_mul(1000), ns))
    };
    let known = |events: Option<u128>| events.map_or_else(|| NONE.to_owned(), compact);
    for Counter { name, inside, outside } in &sums.counters {
        let share =
            inside.zip(*outside).map(|(inside, outside)| percent_of(inside, inside + outside));
        cells.row([
            crate::wording::named(name.as_bytes()),
            known(*outside),
            known(*inside),
            share.unwrap_or_else(|| NONE.to_owned()),
            rate(*outside, sums.outside()),
            rate(*inside, sums.mpi),
        ]);
    }
    if cells.is_empty() {
        return ViewBody::default().prose(
            "No hardware counters were read: run with TOPAS_MPI_COUNTERS=yes where there are some.",
        );
    }
    ViewBody::default()
        .table("Counters", cells)
        .note("Events of all ranks; rates are per second of all ranks.")
}

/// The same as data.
pub(super) fn csv(profile: &MpiProfile) -> String {
    let mut cells = CellTable::new(["counter", "outside_mpi", "inside_mpi"]);
    for Counter { name, inside, outside } in &profile.total.counters {
        let known = |events: Option<u128>| events.map(|n| n.to_string()).unwrap_or_default();
        cells.row([crate::wording::named(name.as_bytes()), known(*outside), known(*inside)]);
    }
    cells.csv()
}

/// For JSON; null if there are none.
pub(super) fn value(profile: &MpiProfile) -> Value {
    if profile.total.counters.is_empty() {
        return Value::Null;
    }
    let value = |Counter { name, inside, outside }: &Counter| {
        json!({
            "name": crate::wording::named(name.as_bytes()),
            "outside_mpi": outside.map(number),
            "inside_mpi": inside.map(number),
        })
    };
    profile.total.counters.iter().map(value).collect()
}
