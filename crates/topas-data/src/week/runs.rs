//! The few runs of a week of which something is to be said.

use rustc_hash::{FxHashMap, FxHashSet};
use topas_format::line::{Extras, Line};

use super::WeekRunName;
use crate::engine::{AskError, AskProgress, Resources, ask_inputs, launch_key};
use crate::field::Field;
use crate::first_extras::claim;
use crate::key_parts;
use crate::one_run::{RunRecord, record_fields};
use crate::question::{Fold, Question};
use crate::run::{Detail, Run};
use crate::run_list::{FieldKeys, Place};
use crate::source::Inputs;

/// All that the log says of these runs, by their names. Reads the log again.
///
/// # Errors
///
/// [`AskError`] as [`ask_inputs`] has it.
pub fn week_runs(
    inputs: &Inputs,
    names: &[WeekRunName],
    resources: &Resources,
    progress: impl FnMut(AskProgress),
) -> Result<FxHashMap<WeekRunName, RunRecord>, AskError> {
    if names.is_empty() {
        return Ok(FxHashMap::default());
    }
    let wanted: FxHashSet<Place> = names.iter().map(|name| name.0).collect();
    let launches = wanted.iter().map(|place| place.launch).collect();
    let question = WantedLines { launches, fields: record_fields() };
    let keys = FieldKeys { skip: 0, fields: &question.fields };
    let fold = || WantedRuns { wanted: &wanted, keys, found: FxHashMap::default() };
    Ok(ask_inputs(inputs, &question, fold, resources, progress)?.fold.found)
}

/// The lines of some launches.
struct WantedLines {
    launches: FxHashSet<u64>,
    fields: Vec<Field>,
}

impl Question for WantedLines {
    fn detail(&self) -> Detail {
        Detail::Counters
    }

    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.launches.contains(&launch_key(line, claim(extras)))
    }

    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        for field in &self.fields {
            key_parts::write(&field.value(line, extras), key);
        }
    }
}

struct WantedRuns<'w> {
    wanted: &'w FxHashSet<Place>,
    keys: FieldKeys<'w>,
    found: FxHashMap<WeekRunName, RunRecord>,
}

impl Fold for WantedRuns<'_> {
    fn add(&mut self, run: &Run<'_>) {
        let place = Place::new(run);
        if self.wanted.contains(&place) {
            let record = RunRecord::new(run, self.keys, false);
            self.found.insert(WeekRunName(place), record);
        }
    }

    fn merge(&mut self, other: Self) {
        self.found.extend(other.found);
    }
}
