//! What is asked of a log: which lines count, how runs are grouped, what is added up.

use topas_format::line::{Extras, Line};

use crate::field::Field;
use crate::run::{Detail, Run};

/// Selects lines and runs, and says what group a run is of.
pub trait Question: Sync {
    /// How much of a line the fold looks at.
    fn detail(&self) -> Detail {
        Detail::Rates
    }

    /// Whether runs are to have the times of their MPI profiles ([`Run::mpi`]).
    fn reads_profiles(&self) -> bool {
        false
    }

    /// Whether a line counts. Each line is selected for itself, before lines are joined to
    /// runs, as `grep` would.
    fn wants(&self, _line: &Line<'_>, _extras: Extras<'_>) -> bool {
        true
    }

    /// Whether a run counts, made of the lines that do. A run that does not is in no fold.
    fn wants_run(&self, _run: &Run<'_>) -> bool {
        true
    }

    /// Whether a run that does not count would if it had not used an accelerator: its rates of the
    /// processor say nothing, and a condition asks for one. Such runs are counted.
    fn sets_aside(&self, _run: &Run<'_>) -> bool {
        false
    }

    /// Whether every line is wanted and its key is made from some tokens and extras alone: the fields
    /// that name them. None if that is not so, or not known.
    fn fields_of_key(&self) -> Option<Vec<Field>> {
        None
    }

    /// Appends what the fold is to know of the line besides its [`Detail`], as bytes of any
    /// form; `key` comes empty. [`Run::key`] is that of the line of the lowest PE. Equal keys
    /// are stored once: memory grows with the number of different ones.
    fn key(&self, _line: &Line<'_>, _extras: Extras<'_>, _key: &mut Vec<u8>) {}
}

impl<Q: Question + ?Sized> Question for &Q {
    fn detail(&self) -> Detail {
        (**self).detail()
    }

    fn reads_profiles(&self) -> bool {
        (**self).reads_profiles()
    }

    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        (**self).wants(line, extras)
    }

    fn wants_run(&self, run: &Run<'_>) -> bool {
        (**self).wants_run(run)
    }

    fn sets_aside(&self, run: &Run<'_>) -> bool {
        (**self).sets_aside(run)
    }

    fn fields_of_key(&self) -> Option<Vec<Field>> {
        (**self).fields_of_key()
    }

    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        (**self).key(line, extras, key);
    }
}

/// Adds up runs. Each thread has one of its own, and they are merged at the end.
///
/// Runs come in any order, and not in the same order twice: what a fold shows must not
/// depend on it. Sums of integers do not, sums of floating point numbers do.
pub trait Fold: Send {
    /// Adds a run.
    fn add(&mut self, run: &Run<'_>);

    /// Adds what another one has.
    fn merge(&mut self, other: Self);
}
