//! Reads all inputs and adds up their runs.

use topas_config::{Conf, Environment};
use topas_data::field::Field;
use topas_data::{
    AskAnswer, AskError, Detail, Fold, Inputs, LogReport, OwnLines, Question, ReportPlan,
    Resources, Run, SourceError, TemporaryError, ask, parse_size,
};
use topas_format::conf::List;
use topas_format::line::{Extras, Line};
pub use topas_render::asking::progress_words as words;
use topas_render::asking::{ROOM_HINT, SIZE_HINT, source_hint};
use topas_terminal::Progress;

use crate::args::StatOptions;
use crate::exit;
use crate::message::{self, TOOL};
use crate::output;

/// What was read.
pub struct StatReading<F> {
    /// The runs and what became of the lines
    pub answer: AskAnswer<F>,
    /// What was looked at
    pub inputs: Inputs,
    /// Inputs that could not be read, or not to their end
    pub unreadable: usize,
}

/// Reads every input; one that cannot be read is reported and the others are read. The Err
/// is an exit code, and the reason has been said.
pub fn read<'p>(
    line: &StatOptions,
    plan: &'p ReportPlan,
    env: &Environment,
) -> Result<StatReading<LogReport<'p>>, u8> {
    read_as(line, plan, env, |lines| lines, || LogReport::new(plan))
}

/// As [`read`], with another question about the lines of the plan, and another fold.
pub fn read_as<'p, P: Question, Q: Question, F: Fold>(
    line: &StatOptions,
    plan: &'p P,
    env: &Environment,
    question: impl FnOnce(PlannedLines<'p, P>) -> Q,
    fold: impl Fn() -> F + Sync,
) -> Result<StatReading<F>, u8> {
    let resources = resources(line, env)?;
    let own = line.selection.mine.then(OwnLines::of_caller);
    let inputs = inputs(line, own.as_ref(), env)?;
    inputs.failed.iter().for_each(failed);
    let sources = &inputs.sources;
    if !output::may_write(&line.output, sources) {
        return Err(exit::USAGE);
    }
    let mut progress = Progress::new(TOOL, line.quiet);
    let answer = ask(sources, &question(PlannedLines { plan, own }), fold, &resources, |place| {
        progress.at(|| words(place, sources.len()));
    });
    progress.clear();
    let answer = answer.map_err(|error| no_answer(&error))?;
    answer.failed.iter().for_each(failed);
    let unreadable = inputs.failed.len() + answer.failed.len();
    if !line.quiet {
        message::passed_over(&inputs);
        message::skipped(&answer.tally);
    }
    Ok(StatReading { answer, inputs, unreadable })
}

/// The plan, of all lines or of a user's own.
pub struct PlannedLines<'p, P = ReportPlan> {
    plan: &'p P,
    own: Option<OwnLines>,
}

impl<P: Question> Question for PlannedLines<'_, P> {
    fn detail(&self) -> Detail {
        self.plan.detail()
    }

    fn reads_profiles(&self) -> bool {
        self.plan.reads_profiles()
    }

    #[inline]
    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.own.as_ref().is_none_or(|own| own.wrote(line.user, extras))
            && self.plan.wants(line, extras)
    }

    #[inline]
    fn wants_run(&self, run: &Run<'_>) -> bool {
        self.plan.wants_run(run)
    }

    fn sets_aside(&self, run: &Run<'_>) -> bool {
        self.plan.sets_aside(run)
    }

    fn fields_of_key(&self) -> Option<Vec<Field>> {
        self.own.is_none().then(|| self.plan.fields_of_key()).flatten()
    }

    #[inline]
    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        self.plan.key(line, extras, key);
    }
}

/// Says why there is no answer: the exit code.
pub fn no_answer(error: &AskError) -> u8 {
    match error {
        AskError::Temporary(error) => temporary_failed(error),
        AskError::Groups { .. } => {
            let hint = "allow more --memory, select lines by --where, or take a coarser --by";
            TOOL.error(error, None, hint);
            exit::INPUT
        }
        AskError::Profiles { .. } => {
            TOOL.error(error, None, "allow more --memory, or read less of the log at a time");
            exit::INPUT
        }
    }
}

/// What is to be read: the files that are named, or those of a user.
pub fn inputs(line: &StatOptions, own: Option<&OwnLines>, env: &Environment) -> Result<Inputs, u8> {
    match own {
        Some(own) => own_inputs(line, own, env),
        None => Ok(Inputs::new(&line.inputs)),
    }
}

/// Copies standard input, so that it can be read again. The Err is an exit code, and the reason has
/// been said.
pub fn keep_stdin(inputs: &mut Inputs, resources: &Resources, quiet: bool) -> Result<(), u8> {
    let mut progress = Progress::new(TOOL, quiet);
    let told = |bytes| progress.at(|| format!("{} MB of standard input read", bytes / 1_000_000));
    inputs.keep_stdin(&resources.temporary, told).map_err(|error| temporary_failed(&error))
}

/// The files with the lines of the caller.
fn own_inputs(line: &StatOptions, own: &OwnLines, env: &Environment) -> Result<Inputs, u8> {
    let conf = Conf::of_this_program(env);
    own.sources(&line.inputs, conf.settings().list(List::Log)).ok_or_else(|| {
        let what = "--mine: log = in topas.conf names no files";
        TOOL.error(&what, None, "name the log, or a path with %u as the site tells it");
        exit::USAGE
    })
}

/// Says that a temporary file failed: the exit code.
pub fn temporary_failed(error: &TemporaryError) -> u8 {
    TOOL.error(error, Some(&error.cause), ROOM_HINT);
    exit::INPUT
}

/// What may be used.
pub fn resources(line: &StatOptions, env: &Environment) -> Result<Resources, u8> {
    let mut resources = Resources { temporary: env.temporary_dir(), ..Resources::default() };
    if let Some(threads) = line.threads {
        resources.threads = threads;
    }
    if let Some(text) = &line.memory {
        resources.memory = parse_size(text).map_err(|error| {
            let what = format!("--memory: invalid value '{text}': {error}");
            TOOL.error(&what, None, SIZE_HINT);
            exit::USAGE
        })?;
    }
    Ok(resources)
}

/// Says that a source could not be read.
pub fn failed(error: &SourceError) {
    let (cause, hint) = source_hint(error);
    TOOL.error(error, Some(cause), hint);
}
