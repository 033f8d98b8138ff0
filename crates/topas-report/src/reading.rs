//! Reads the log for a subcommand.

use std::path::PathBuf;
use std::{fs, io};

use clap::Args;
use topas_config::{Conf, Environment, Paths};
use topas_data::{
    AskAnswer, AskError, Fold, Inputs, OwnLines, Period, PeriodError, Question, Resources,
    SourceError, ask_inputs, clock, parse_period, parse_size,
};
use topas_format::conf::List;
use topas_mpi_data::{Profiles, read_profiles_in};
use topas_render::asking::{ROOM_HINT, SIZE_HINT, progress_words, source_hint};
use topas_render::{passed_over, skipped};
use topas_terminal::Progress;

use crate::{TOOL, exit};

/// Which logs are read, and how.
#[derive(Args, Debug)]
pub struct ReadingArgs {
    /// Logs, plain or compressed by gzip, zstd or xz. A directory stands for all files in it and
    /// below it [default: the directory of logs of this installation]
    #[arg(value_name = "FILE|DIR")]
    pub inputs: Vec<PathBuf>,

    /// Say only what is wrong
    #[arg(short, long)]
    pub quiet: bool,

    /// Memory for lines that wait for others of their runs, such as 512M; more goes to a file in TMPDIR
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
}

/// The log, to be asked several times.
pub struct ReportLog {
    /// What was found
    pub inputs: Inputs,
    /// What may be used
    pub resources: Resources,
    quiet: bool,
}

/// The period that a text says today.
pub fn period(text: &str) -> Result<Period, PeriodError> {
    parse_period(text, clock::now().date)
}

impl ReportLog {
    /// Finds the files. What cannot be looked into is said; the Err is an exit code.
    pub fn find(args: &ReadingArgs, env: &Environment) -> Result<Self, u8> {
        let mut names = args.inputs.clone();
        if names.is_empty() {
            let argv0 = topas_config::command_line().into_iter().next().unwrap_or_default();
            names.extend(Paths::of_this_program(&argv0, env).map(|paths| paths.log_dir()));
        }
        if names.is_empty() || names.iter().any(|name| name.as_os_str() == "-") {
            let hint = "name a log or a directory of logs; it is read more than once";
            TOOL.error(&"no log to read", None, hint);
            return Err(exit::USAGE);
        }
        let mut resources = Resources { temporary: env.temporary_dir(), ..Resources::default() };
        if let Some(text) = &args.memory {
            resources.memory = parse_size(text).map_err(|error| {
                let what = format!("--memory: invalid value '{text}': {error}");
                TOOL.error(&what, None, SIZE_HINT);
                exit::USAGE
            })?;
        }
        let own = args.inputs.is_empty().then(|| own_files(&names, env)).flatten();
        if own.is_some() && !args.quiet {
            let text = "the directory of logs is closed to you: only your own lines are read";
            TOOL.write(&format!("{}: {text}", TOOL.0));
        }
        let inputs = own.unwrap_or_else(|| Inputs::new(&names));
        inputs.failed.iter().for_each(failed);
        Ok(ReportLog { inputs, resources, quiet: args.quiet })
    }

    /// Asks all of it. Sources that cannot be read are said, and counted in the answer.
    pub fn ask<Q: Question, F: Fold>(
        &self,
        question: &Q,
        fold: impl Fn() -> F + Sync,
    ) -> Result<AskAnswer<F>, u8> {
        let mut progress = Progress::new(TOOL, self.quiet);
        let sources = self.inputs.sources.len();
        let answer = ask_inputs(&self.inputs, question, fold, &self.resources, |place| {
            progress.at(|| progress_words(place, sources));
        });
        progress.clear();
        let answer = answer.map_err(|error| no_answer(&error))?;
        self.unreadable(&answer);
        Ok(answer)
    }

    /// The MPI profiles of a period.
    pub fn profiles(&self, of: Period) -> Profiles {
        let mut progress = Progress::new(TOOL, self.quiet);
        let read = |inputs: &Inputs| {
            read_profiles_in(&inputs.sources, of, &mut |bytes| {
                progress.at(|| format!("{} MB read for MPI profiles", bytes / 1_000_000));
            })
        };
        let (profiles, _) = self.inputs.read(read, |(_, failed)| failed);
        progress.clear();
        profiles
    }

    /// Says which sources could not be read: how many, and of those that were not even found.
    pub fn unreadable<F>(&self, answer: &AskAnswer<F>) -> usize {
        answer.failed.iter().for_each(failed);
        self.inputs.failed.len() + answer.failed.len()
    }

    /// Says what was passed over.
    pub fn remark_inputs(&self) {
        if let Some(text) = passed_over(&self.inputs).filter(|_| !self.quiet) {
            TOOL.write(&format!("{}: warning: {text}", TOOL.0));
        }
    }

    /// Says what was passed over, and which lines were skipped.
    pub fn remark<F>(&self, answer: &AskAnswer<F>) {
        if self.quiet {
            return;
        }
        for text in passed_over(&self.inputs).into_iter().chain(skipped(&answer.tally)) {
            TOOL.write(&format!("{}: warning: {text}", TOOL.0));
        }
    }
}

/// The files with lines of the caller, if the caller may not list one of these directories, as those
/// of installations that give each user a file. None if `log =` names no files.
fn own_files(dirs: &[PathBuf], env: &Environment) -> Option<Inputs> {
    let is_closed = |dir: &PathBuf| {
        fs::read_dir(dir).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    };
    dirs.iter().any(is_closed).then(|| {
        let conf = Conf::of_this_program(env);
        OwnLines::of_caller().sources(&[], conf.settings().list(List::Log))
    })?
}

/// Says why there is no answer: the exit code.
pub fn no_answer(error: &AskError) -> u8 {
    match error {
        AskError::Temporary(error) => {
            TOOL.error(error, Some(&error.cause), ROOM_HINT);
        }
        AskError::Groups { .. } | AskError::Profiles { .. } => {
            TOOL.error(error, None, "allow more --memory");
        }
    }
    exit::FAILED
}

/// Says that a source could not be read.
fn failed(error: &SourceError) {
    let (cause, hint) = source_hint(error);
    TOOL.error(error, Some(cause), hint);
}
