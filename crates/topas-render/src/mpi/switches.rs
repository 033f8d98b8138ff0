//! Environment switches of the MPI.

use serde_json::{Map, Value};
use topas_data::mpi::Profile;

use super::cells::Cells;
use crate::figure::clean;

fn all(profile: &Profile) -> impl Iterator<Item = (String, String)> {
    profile
        .facts
        .switches
        .iter()
        .map(|(name, value)| (clean(name.as_bytes()), clean(value.as_bytes())))
}

/// A line each.
pub(super) fn text(profile: &Profile) -> String {
    if profile.facts.switches.is_empty() {
        return "No environment switch of the MPI was set.\n".to_owned();
    }
    all(profile).map(|(name, value)| format!("{name}={value}\n")).collect()
}

/// A row each.
pub(super) fn csv(profile: &Profile) -> String {
    let mut cells = Cells::new(["name", "value"]);
    all(profile).for_each(|(name, value)| cells.row([name, value]));
    cells.csv()
}

/// An object of names.
pub(super) fn value(profile: &Profile) -> Value {
    let object: Map<String, Value> =
        all(profile).map(|(name, value)| (name, value.into())).collect();
    object.into()
}
