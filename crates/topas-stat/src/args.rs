//! The command line.

use std::io::{IsTerminal, stdin};
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use topas_data::{BucketSize, Period, parse_date};
use topas_format::civil::Date;
use topas_render::{Csv, Form, Gnuplot, Json, Text};

use crate::exit;
use crate::message::TOOL;

/// Usage statistics of a center from the TOPAS log
///
/// Joins the lines of each run and prints the distribution of the MFlop/s per PE, of the
/// languages and of the message passing libraries, by number of runs and by PEs x wall
/// clock time. Bad lines are counted and reported on standard error.
#[derive(Parser)]
#[command(
    name = "topas-stat",
    version,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 report made, 1 some input could not be read, 2 usage, 3 no runs.\n\
                  Example:\n  grep ' f90 ' topas.log | grep ' B ' | grep ' mpi ' | topas-stat"
)]
struct CommandLine {
    /// Logs, plain or compressed by gzip, zstd or xz; of a directory all its files; - is
    /// standard input, as is none
    #[arg(value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,

    /// Size of a bucket of the distribution in MFlop/s
    #[arg(short, long, value_name = "N", default_value = "50", allow_hyphen_values = true)]
    bucket: BucketSize,

    /// Form of the output
    #[arg(short, long, value_name = "FORM", value_enum, default_value = "text")]
    format: Format,

    /// First day: runs that ended on it or later (YYYY/MM/DD or YYYY-MM-DD)
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    since: Option<Date>,

    /// Last day: runs that ended on it or before
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    until: Option<Date>,

    /// No warnings, no progress; errors only
    #[arg(short, long)]
    quiet: bool,
}

/// Forms of the output.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    /// A report for people
    Text,
    /// Comma separated values
    Csv,
    /// Data blocks for gnuplot
    Gnuplot,
    /// A JSON object, schema topas.stat/1
    Json,
}

impl Format {
    /// What renders it.
    pub fn form(self) -> &'static dyn Form {
        match self {
            Format::Text => &Text,
            Format::Csv => &Csv,
            Format::Gnuplot => &Gnuplot,
            Format::Json => &Json,
        }
    }
}

/// What is to be done.
pub struct Options {
    /// Files and directories; at least one
    pub inputs: Vec<PathBuf>,
    /// Bucket size of the distribution
    pub bucket: BucketSize,
    /// Form of the output
    pub format: Format,
    /// Days selected
    pub period: Period,
    /// No warnings and no progress
    pub quiet: bool,
}

/// Reads the command line. Help, version and errors are printed here; the Err is then
/// the exit code.
pub fn parse() -> Result<Options, u8> {
    let line = CommandLine::try_parse()
        .map_err(|error| if TOOL.command_line(&error) { exit::OK } else { exit::USAGE })?;
    let period = Period { since: line.since, until: line.until };
    if period.is_reversed() {
        TOOL.error(&"--since is after --until", None, "give the earlier day to --since");
        return Err(exit::USAGE);
    }
    let mut inputs = line.inputs;
    if inputs.is_empty() {
        if stdin().is_terminal() {
            let hint = "name a log or a directory of logs, or pipe lines into topas-stat";
            TOOL.error(&"no input: standard input is a terminal", None, hint);
            return Err(exit::USAGE);
        }
        inputs.push(PathBuf::from("-"));
    }
    let CommandLine { bucket, format, quiet, .. } = line;
    Ok(Options { inputs, bucket, format, period, quiet })
}
