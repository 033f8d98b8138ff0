//! All that is known of single runs: those of a job, or of a launch id, which can come again.
//!
//! What a run is compared with, the earlier runs of the same program, is known only when the run
//! is found. So that is a question of its own, and the log is read again for it.

mod earlier;
mod facts;
mod seen;

pub use earlier::{MOST_EARLIER, RunHistory, earlier_runs, earlier_runs_in};
pub(crate) use facts::fields as record_fields;
pub use facts::{LineFacts, MeasuredValue, RunDetails, RunRecord};
pub use seen::SeenLines;

use std::cmp::Reverse;

use topas_format::line::{Extras, Line};

use self::seen::Watch;
use crate::engine::{AskAnswer, AskError, AskProgress, Resources, ask};
use crate::own::OwnLines;
use crate::period::Period;
use crate::query::Selection;
use crate::question::{Fold, Question};
use crate::run::{Detail, Run};
use crate::run_list::FieldKeys;
use crate::source::{Source, SourceError};
use crate::tally::Tally;

/// What runs are called by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunName {
    /// Job id of the batch system
    Job(Vec<u8>),
    /// Launch id
    Id(Vec<u8>),
}

/// Which runs are looked for.
#[derive(Clone, Debug)]
pub struct RunSearch {
    /// Their name
    pub name: RunName,
    /// Lines that count
    pub selection: Selection,
    /// Whose lines count; None: everybody's
    pub own: Option<OwnLines>,
    /// Days in which runs ended
    pub period: Period,
}

impl RunSearch {
    /// Whether a line counts, of whatever run it is.
    fn counts(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.own.as_ref().is_none_or(|own| own.wrote(line.user, extras))
            && self.selection.wants(line, extras)
    }
}

/// What was found.
#[derive(Debug)]
pub struct FoundRuns {
    /// The runs, the latest first
    pub runs: Vec<RunRecord>,
    /// Runs of this name outside the period
    pub outside: u64,
    /// What was seen on the way
    pub seen: SeenLines,
    /// The lines
    pub tally: Tally,
    /// Sources that could not be read, or not to their end
    pub failed: Vec<SourceError>,
}

/// Finds all runs of a name in the lines of `sources`. A source that cannot be read is in the
/// answer, and the others are read.
///
/// # Errors
///
/// [`AskError`] as [`ask`] has it; a job of more runs than memory for their lines is one.
pub fn find_runs(
    sources: &[Source],
    search: &RunSearch,
    resources: &Resources,
    progress: impl FnMut(AskProgress),
) -> Result<FoundRuns, AskError> {
    let question = NamedLines { search, watch: Watch::new(&search.name), fields: facts::fields() };
    let keys = FieldKeys { skip: search.selection.key_len(), fields: &question.fields };
    let fold = || NamedRuns { keys, search, runs: Vec::new(), outside: 0 };
    let AskAnswer { fold, tally, failed, .. } = ask(sources, &question, fold, resources, progress)?;
    let mut runs = fold.runs;
    runs.sort_by_key(|run| (Reverse((run.end, run.start)), run.id.clone(), run.pes().next()));
    Ok(FoundRuns { runs, outside: fold.outside, seen: question.watch.seen(), tally, failed })
}

/// The lines of runs of a name.
struct NamedLines<'s> {
    search: &'s RunSearch,
    watch: Watch<'s>,
    fields: Vec<crate::field::Field>,
}

impl Question for NamedLines<'_> {
    fn detail(&self) -> Detail {
        Detail::Counters
    }

    fn reads_profiles(&self) -> bool {
        true
    }

    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.search.counts(line, extras) && self.watch.is_named(line, extras)
    }

    fn wants_run(&self, run: &Run<'_>) -> bool {
        self.search.selection.wants_run(run)
    }

    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        self.search.selection.write_key(line, extras, key);
        for field in &self.fields {
            crate::key_parts::write(&field.value(line, extras), key);
        }
    }
}

struct NamedRuns<'s> {
    keys: FieldKeys<'s>,
    search: &'s RunSearch,
    runs: Vec<RunRecord>,
    outside: u64,
}

impl Fold for NamedRuns<'_> {
    fn add(&mut self, run: &Run<'_>) {
        if self.search.period.contains(run) {
            let with_accelerators = self.search.selection.has_accelerators();
            self.runs.push(RunRecord::new(run, self.keys, with_accelerators));
        } else {
            self.outside += 1;
        }
    }

    fn merge(&mut self, other: Self) {
        self.runs.extend(other.runs);
        self.outside += other.outside;
    }
}
