//! Environment switches of the MPI.

use serde_json::{Map, Value};
use topas_mpi_data::MpiProfile;

use super::cells::CellTable;
use crate::wording::clean;

/// What stands in the place of a value that was not recorded.
const NOT_RECORDED: &str = "(not recorded: it may be a path or a name)";

/// Names and values; None for a value that was not recorded.
fn all(profile: &MpiProfile) -> impl Iterator<Item = (String, Option<String>)> {
    let value = |value: &str| clean(value.as_bytes());
    let switches = profile.facts.switches.iter();
    switches.map(move |(name, of)| (clean(name.as_bytes()), of.as_deref().map(value)))
}

/// A line each.
pub(super) fn text(profile: &MpiProfile) -> String {
    if profile.facts.switches.is_empty() {
        return "No environment switch of the MPI was set.\n".to_owned();
    }
    let line = |(name, value): (String, Option<String>)| match value {
        Some(value) => format!("{name}={value}\n"),
        None => format!("{name} {NOT_RECORDED}\n"),
    };
    all(profile).map(line).collect()
}

/// A row each.
pub(super) fn csv(profile: &MpiProfile) -> String {
    let mut cells = CellTable::new(["name", "value"]);
    let cell = |value: Option<String>| value.unwrap_or_else(|| NOT_RECORDED.to_owned());
    all(profile).for_each(|(name, value)| cells.row([name, cell(value)]));
    cells.csv()
}

/// An object of names; null for a value that was not recorded.
pub(super) fn value(profile: &MpiProfile) -> Value {
    let object: Map<String, Value> =
        all(profile).map(|(name, value)| (name, value.into())).collect();
    object.into()
}
