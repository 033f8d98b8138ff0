//! `topas-log merge`.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use topas_config::Environment;
use topas_data::{MergeOptions, MergeOutput, MergeReport, Output, SegmentError, merge};
use topas_terminal::Progress;

use crate::args::Merge;
use crate::inputs::{failed, may_write, sources};
use crate::{TOOL, exit};

/// Merges: the exit code.
pub fn run(options: &Merge, env: &Environment) -> u8 {
    let Some(sources) = sources(&options.segments) else { return exit::FAILED };
    if !may_write(&[Some(&options.output), options.bad.as_ref()], &sources, options.force) {
        return exit::USAGE;
    }
    let temporary = env.temporary_dir();
    let result = (|| {
        let mut lines = create(&options.output)?;
        let mut bad = options.bad.as_deref().map(create).transpose()?;
        let mut progress = Progress::new(TOOL, options.quiet);
        let report = merge(
            &sources,
            MergeOptions { unique: options.unique, temporary: &temporary },
            &mut MergeOutput {
                lines: &mut lines,
                name: options.output.clone(),
                bad: bad.as_mut().zip(options.bad.clone()).map(|(to, name)| (to as _, name)),
            },
            |source, bytes| progress.at(|| format!("{source}: {} MB read", bytes / 1_000_000)),
        )?;
        // The bad lines first: with the merged file all is there.
        if let (Some(bad), Some(path)) = (bad, &options.bad) {
            finish(bad, path)?;
        }
        finish(lines, &options.output)?;
        Ok(report)
    })();
    match result {
        Ok(report) => {
            if !options.quiet {
                TOOL.say(&words(&report, sources.len()));
            }
            exit::OK
        }
        // A reader that has seen enough (`| head`) is no error.
        Err(SegmentError::Write { path, cause })
            if cause.kind() == ErrorKind::BrokenPipe && path.as_os_str() == "-" =>
        {
            exit::OK
        }
        Err(error) => {
            failed(&error);
            exit::FAILED
        }
    }
}

fn create(path: &Path) -> Result<Output, SegmentError> {
    Output::create(path).map_err(|cause| written(path, cause))
}

fn finish(mut output: Output, path: &Path) -> Result<(), SegmentError> {
    output.flush().and_then(|()| output.finish()).map_err(|cause| written(path, cause))
}

fn written(path: &Path, cause: io::Error) -> SegmentError {
    SegmentError::Write { path: path.to_owned(), cause }
}

fn words(report: &MergeReport, segments: usize) -> String {
    let mut text = format!("{} lines of {segments} segments", report.lines);
    for (count, what) in [
        (report.bad, "no log lines"),
        (report.duplicates, "left out because they stood there before"),
        (report.completed, "got the newline they lacked"),
    ] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    if report.sorted > 0 {
        text += &format!("; {} of the segments had to be sorted", report.sorted);
    }
    text
}
