//! `topas-log merge`.

use std::io::{self, Write};
use std::path::Path;

use topas_config::Environment;
use topas_data::{
    Inputs, MergeOptions, MergeOutput, MergeProgress, MergeReport, Output, SegmentError, merge,
};
use topas_terminal::{Progress, shown};

use crate::args::Merge;
use crate::inputs::{failed, inputs, may_write, unreadable};
use crate::{TOOL, exit};

/// Merges: the exit code.
pub fn run(options: &Merge, env: &Environment) -> u8 {
    let inputs = inputs(&options.segments, options.quiet);
    let sources = &inputs.sources;
    if sources.is_empty() {
        return nothing(&inputs);
    }
    if !may_write(&[Some(&options.output), options.bad.as_ref()], sources, options.force) {
        return exit::USAGE;
    }
    let temporary = env.temporary_dir();
    let result: Result<MergeReport, SegmentError> = (|| {
        let mut lines = create(&options.output)?;
        let mut bad = options.bad.as_deref().map(create).transpose()?;
        let mut progress = Progress::new(TOOL, options.quiet);
        let report = merge(
            sources,
            MergeOptions { unique: options.unique, temporary: &temporary },
            &mut MergeOutput {
                lines: &mut lines,
                name: options.output.clone(),
                bad: bad.as_mut().zip(options.bad.clone()).map(|(to, name)| (to as _, name)),
            },
            |place| {
                progress.at(|| match place {
                    MergeProgress::Reading { source, bytes } => {
                        format!("{source}: {} MB read", bytes / 1_000_000)
                    }
                    MergeProgress::Writing { lines } => format!("{lines} lines written"),
                });
            },
        )?;
        progress.clear();
        // What was there before is worth more than nothing, or than a part of itself.
        let nothing = report.lines == 0 && report.failed.len() >= sources.len();
        if nothing || report.failed.iter().any(|error| error.about().is(&options.output)) {
            TOOL.say(&format!("{} is left as it was", shown(&options.output)));
            return Ok(report);
        }
        // The bad lines first: with the merged file all is there.
        if let (Some(bad), Some(path)) = (bad, &options.bad) {
            finish(bad, path)?;
        }
        finish(lines, &options.output)?;
        Ok(report)
    })();
    match result {
        Ok(report) => {
            report.failed.iter().for_each(unreadable);
            if !options.quiet {
                TOOL.say(&words(&report, sources.len()));
                if let Some(text) = topas_render::foreign(&report.foreign) {
                    TOOL.write(&format!("{}: warning: {text}", TOOL.0));
                }
            }
            let failed = inputs.failed.len() + report.failed.len();
            if failed > 0 { exit::FAILED } else { exit::OK }
        }
        Err(error) if error.is_reader_gone() => exit::OK,
        Err(error) => {
            failed(&error);
            exit::FAILED
        }
    }
}

/// There is nothing to merge: says what was looked at.
fn nothing(inputs: &Inputs) -> u8 {
    let looked_at = topas_render::looked_at(inputs, 0, &[]);
    let what = format!("nothing to merge; looked at {looked_at}");
    TOOL.error(&what, None, "name segments, or a directory of them");
    exit::FAILED
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
        (report.foreign.lines(), "foreign and marked as such"),
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
