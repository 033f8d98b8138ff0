//! `topas-report export`: all runs in a file for other programs.

mod parquet_file;

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;

use clap::Args;
use topas_config::Environment;
use topas_data::{
    Output, Outputs, Period, RunColumn, RunListError, RunListPlan, RunRow, Selection, list_runs,
};
use topas_render::asking::progress_words;
use topas_render::runs::ALL_COLUMNS;
use topas_terminal::Progress;

use self::parquet_file::RunsFile;
use crate::reading::{ReadingArgs, ReportLog, no_answer, period};
use crate::{TOOL, exit};

/// Options of `topas-report export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    #[command(flatten)]
    reading: ReadingArgs,

    /// Write a row for each run into this file, in the form of Apache Parquet; - is standard output
    #[arg(long, value_name = "FILE", required = true)]
    parquet: PathBuf,

    /// What is told of each run: fields, measures, ended, started, wall and lines, as for
    /// `topas-stat --runs --columns` [default: those of `topas-stat --runs --csv`]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = column)]
    columns: Vec<RunColumn>,

    /// Only runs that ended in this time, such as `last week`, 2026-W47, 2026-10 or 2026
    #[arg(long, value_name = "PERIOD", value_parser = period)]
    period: Option<Period>,

    /// Replace a file that is an input or holds lines of a log
    #[arg(short, long)]
    force: bool,
}

fn column(name: &str) -> Result<RunColumn, String> {
    let hint = "topas-stat --list-fields and --list-measures show the names";
    RunColumn::named(name).map_err(|unknown| format!("{unknown}; {hint}"))
}

/// Writes the file: the exit code. The Err is one whose reason has been said.
pub fn run(args: &ExportArgs, env: &Environment) -> Result<u8, u8> {
    let plan = plan(args)?;
    let log = ReportLog::find(&args.reading, env)?;
    let sources = &log.inputs.sources;
    Outputs::new(sources, args.force).add(&args.parquet).map_err(|kept| {
        TOOL.kept(&kept);
        exit::USAGE
    })?;
    let unwritten = |cause: &io::Error| {
        let what = format!("cannot write {}", args.parquet.display());
        TOOL.error(&what, Some(cause), "check the directory, its permissions and its room");
        exit::FAILED
    };
    let output = Output::create(&args.parquet).map_err(|cause| unwritten(&cause))?;
    let mut file = RunsFile::create(output, &plan.columns).map_err(|cause| unwritten(&cause))?;
    let mut written = Ok(());
    let progress = RefCell::new(Progress::new(TOOL, args.reading.quiet));
    let answer = list_runs(
        sources,
        &plan,
        &log.resources,
        |place| progress.borrow_mut().at(|| progress_words(place, sources.len())),
        |rows: &[RunRow]| {
            if written.is_ok() {
                written = file.rows(rows);
            }
        },
    );
    progress.borrow_mut().clear();
    let answer = answer.map_err(|error| match error {
        RunListError::Ask(error) => no_answer(&error),
        RunListError::Runs { .. } => {
            TOOL.error(&error, None, "allow more --memory, or export a --period at a time");
            exit::FAILED
        }
    })?;
    written.and_then(|()| file.finish()).map_err(|cause| unwritten(&cause))?;
    log.remark(&answer.asked);
    let unreadable = log.unreadable(&answer.asked);
    if !args.reading.quiet {
        TOOL.say(&format!("{} runs in {}", answer.shown, args.parquet.display()));
    }
    Ok(match (unreadable, answer.total.runs) {
        (1.., _) => exit::FAILED,
        (0, 0) => exit::NO_RUNS,
        (0, _) => exit::OK,
    })
}

fn plan(args: &ExportArgs) -> Result<RunListPlan, u8> {
    let mut columns = args.columns.clone();
    if columns.is_empty() {
        columns.extend(ALL_COLUMNS.iter().filter_map(|name| RunColumn::named(name).ok()));
    }
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].contains(column) {
            let what = format!("--columns: '{}' is given twice", column.name());
            TOOL.error(&what, None, "name each column once");
            return Err(exit::USAGE);
        }
    }
    Ok(RunListPlan {
        selection: Selection::default(),
        own: None,
        period: args.period.unwrap_or_default(),
        columns,
        // The oldest run first, so that two exports of a log are equal.
        sort: RunColumn::Ended,
        reverse: true,
        top: None,
    })
}
