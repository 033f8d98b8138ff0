//! Reads all inputs and adds up their runs.

use topas_config::Environment;
use topas_data::{
    Answer, Plan, Progress as Place, Report, Resources, SourceError, ask, expand, parse_size,
};
use topas_terminal::Progress;

use crate::args::CommandLine;
use crate::exit;
use crate::message::{self, TOOL};

/// What was read.
pub struct Reading<'p> {
    /// The runs and what became of the lines
    pub answer: Answer<Report<'p>>,
    /// Inputs that could not be read, or not to their end
    pub unreadable: usize,
}

/// Reads every input; one that cannot be read is reported and the others are read. The Err
/// is an exit code, and the reason has been said.
pub fn read<'p>(line: &CommandLine, plan: &'p Plan, env: &Environment) -> Result<Reading<'p>, u8> {
    let resources = resources(line, env)?;
    let mut unreadable = 0;
    let mut sources = Vec::new();
    for input in &line.inputs {
        match expand(input) {
            Ok(found) => sources.extend(found),
            Err(error) => {
                failed(&error);
                unreadable += 1;
            }
        }
    }
    let mut progress = Progress::new(TOOL, line.quiet);
    let answer = ask(
        &sources,
        plan,
        || Report::new(plan),
        &resources,
        |place| {
            progress.at(|| words(place, sources.len()));
        },
    );
    progress.clear();
    let answer = answer.map_err(|error| {
        let hint = "set TMPDIR to a directory with more room, or allow more --memory";
        TOOL.error(&error, Some(&error.cause), hint);
        exit::INPUT
    })?;
    answer.failed.iter().for_each(failed);
    unreadable += answer.failed.len();
    if !line.quiet {
        message::skipped(&answer.tally);
    }
    Ok(Reading { answer, unreadable })
}

fn resources(line: &CommandLine, env: &Environment) -> Result<Resources, u8> {
    let mut resources = Resources { temporary: env.temporary_dir(), ..Resources::default() };
    if let Some(threads) = line.threads {
        resources.threads = threads;
    }
    if let Some(text) = &line.memory {
        resources.memory = parse_size(text).map_err(|error| {
            let what = format!("--memory: invalid value '{text}': {error}");
            TOOL.error(&what, None, "give a size such as 512M or 4GiB");
            exit::USAGE
        })?;
    }
    Ok(resources)
}

/// How far it is, in words.
fn words(place: Place, files: usize) -> String {
    match place {
        Place::Reading { bytes, of, sources } => {
            let megabytes = bytes / 1_000_000;
            let of = of.map_or_else(String::new, |of| format!(" of {}", of / 1_000_000));
            format!("{megabytes}{of} MB read, {sources} of {files} files done")
        }
        Place::Joining { done, of } => format!("joining, {done} of {of} parts done"),
    }
}

fn failed(error: &SourceError) {
    let (cause, hint) = match error {
        SourceError::Open { cause, .. } => (cause, "check its name and its permissions"),
        SourceError::Broken { cause, .. } => {
            (cause, "copy the file again, or test it with its decompressor")
        }
    };
    TOOL.error(error, Some(cause), hint);
}
