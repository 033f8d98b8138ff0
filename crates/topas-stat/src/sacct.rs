//! `topas-stat --sacct`: jobs beside the lines of the log.

use std::path::{Path, PathBuf};

use topas_config::Environment;
use topas_data::{
    CoverageQuestion, LogReport, Period, ReportPlan, RunsByJob, SacctCoverage, SacctError,
    SacctJobs, SacctLines, SacctSeen, Selection, join_sacct,
};
use topas_render::sacct;
use topas_terminal::{Printed, Progress};

use crate::args::StatOptions;
use crate::asked::wrong;
use crate::exit;
use crate::form::Format;
use crate::message::TOOL;
use crate::output::text_width;
use crate::reading::{StatReading, read_as};

/// The forms of the coverage.
const FORMS: [Format; 4] = [Format::Text, Format::Csv, Format::Json, Format::Jsonl];

/// Groups that the text shows unless `--top` tells.
const TOP: usize = 10;

/// Reads and joins the jobs of `--sacct`, if there are any. The Err is an exit code whose reason
/// has been said.
pub fn jobs(line: &StatOptions) -> Result<Option<&'static SacctJobs>, u8> {
    let files = &line.sacct.sacct;
    if files.is_empty() {
        return Ok(None);
    }
    let inputs = files.iter().chain(&line.inputs).filter(|path| path.as_path() == Path::new("-"));
    if inputs.count() > 1 {
        return Err(wrong("standard input can be read once", "name the log, or the file of sacct"));
    }
    let mut jobs = SacctJobs::default();
    let mut progress = Progress::new(TOOL, line.quiet);
    for file in files {
        let mut told = |bytes: u64| {
            progress.at(|| format!("{}: {} MB read", file.display(), bytes / 1_000_000));
        };
        let read = jobs.read_file(file, &mut told);
        progress.clear();
        read.map_err(|error| failed(&error))?;
    }
    if !line.quiet
        && let Some(text) = sacct::skipped(&jobs.tally)
    {
        TOOL.write(&format!("{}: warning: {text}", TOOL.0));
    }
    Ok(Some(join_sacct(jobs)))
}

fn failed(error: &SacctError) -> u8 {
    match error {
        SacctError::Read { cause, .. } => {
            TOOL.error(error, Some(cause), "check its name and its permissions");
        }
        SacctError::Json { cause, .. } => {
            TOOL.error(error, Some(cause), "make the file by sacct --json, or by sacct -P");
        }
        SacctError::NoHeader { .. } => {
            let hint = "make the file by sacct -a -P -o JobID,JobIDRaw,User,Account,QOS,Partition,\
                        State,Timelimit,Elapsed,AllocCPUS,CPUTimeRAW,Start,End, without -n";
            TOOL.error(error, None, hint);
        }
    }
    exit::INPUT
}

/// A reading, and which jobs left a line.
type WithCoverage<'p> = (StatReading<LogReport<'p>>, Option<SacctCoverage>);

/// Reads the lines of a plan, and notes the jobs of all lines, wanted or not.
pub fn read<'p>(
    line: &StatOptions,
    plan: &'p ReportPlan,
    env: &Environment,
    jobs: &SacctJobs,
) -> Result<WithCoverage<'p>, u8> {
    let seen = SacctSeen::new(jobs);
    let question = |lines| SacctLines::new(lines, &seen);
    let reading = read_as(line, plan, env, question, || LogReport::new(plan))?;
    Ok((reading, Some(seen.coverage(RunsByJob::default()))))
}

/// Says how much of the jobs a report can be of: below a text, and on standard error beside a form
/// whose readers expect nothing but rows. JSON has the key `sacct` instead.
pub fn note(line: &StatOptions, env: &Environment, coverage: &SacctCoverage) -> Printed {
    let on_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let is_picture = on_stdout(&line.output.svg) || on_stdout(&line.output.png);
    let form = line.output.form.chosen();
    if form == Format::Json && !is_picture || line.selection.mine {
        return Printed::Done;
    }
    if form == Format::Text && !is_picture {
        return TOOL.print(sacct::note(coverage, text_width(&line.output, env)).as_bytes());
    }
    if !line.quiet {
        TOOL.write(&format!("{}: note: {}", TOOL.0, sacct::note_beside_rows(coverage)));
    }
    Printed::Done
}

/// Shows which jobs left a line: the exit code.
pub fn coverage(line: &StatOptions, env: &Environment, jobs: &SacctJobs) -> Result<u8, u8> {
    line.output.form.is_one_of(&FORMS, "--coverage")?;
    let plan = ReportPlan::new(Selection::default(), Period::default());
    let seen = SacctSeen::new(jobs);
    let question = |lines| CoverageQuestion::new(lines, &seen);
    let reading = read_as(line, &plan, env, question, RunsByJob::default)?;
    let coverage = seen.coverage(reading.answer.fold);
    let text = match line.output.form.chosen() {
        Format::Csv => sacct::csv(&coverage),
        Format::Json => sacct::json(&coverage, &jobs.tally),
        Format::Jsonl => sacct::json_lines(&coverage),
        _ => {
            let most = line.tables.top.map_or(TOP, Into::into);
            sacct::text(&coverage, &jobs.tally, most, text_width(&line.output, env))
        }
    };
    if TOOL.print(text.as_bytes()) == Printed::Failed || reading.unreadable > 0 {
        return Ok(exit::INPUT);
    }
    Ok(if coverage.ran.jobs == 0 { exit::NO_RUNS } else { exit::OK })
}
