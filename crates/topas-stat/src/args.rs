//! The command line.

mod accelerators;
mod compare;
mod period;
mod runs;
mod sacct;
mod shares;
mod utilisation;

use std::io::{IsTerminal, stdin};
use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Parser, ValueEnum};
use topas_format::field::{Lang, Lib};
use topas_terminal::ColorWish;

pub use self::runs::RunArgs;
pub use accelerators::AcceleratorArgs;
pub use compare::CompareArgs;
pub use shares::{Percent, ShareArgs};

pub use self::sacct::SacctArgs;
pub use self::utilisation::UtilisationArgs;
use crate::exit;
use crate::form::FormArgs;
use crate::message::TOOL;

pub use period::PeriodArgs;

/// Usage statistics of a center from the TOPAS log
///
/// topas-stat joins the lines of each run and prints how the runs, and the time the runs took, are
/// distributed: by MFlop/s per PE, by language and by message passing library, or by any
/// other fields and measures. Bad lines are counted and reported on standard error.
#[derive(Debug, Parser)]
#[command(
    name = "topas-stat",
    version,
    disable_help_subcommand = true,
    group = ArgGroup::new("form").multiple(false),
    after_help = "Exit codes: 0 the report was made; 1 an input could not be read; 2 the command line is\n\
                  wrong; 3 the input holds no (such) runs; 4 --check found faults.\n\
                  Examples:\n  \
                  topas-stat --since 7d /var/log/topas\n  \
                  topas-stat --by user --top 10 --measure mflops,cpu_use topas.log\n  \
                  topas-stat --by mflops,lang --bucket 10 --upper 200 --svg lang.svg topas.log\n  \
                  topas-stat --where 'npes > 64 and mflops < 100 and wall > 1h' --by exe topas.log\n  \
                  topas-stat --runs --sort pe_hours --top 10 --since 2026-11-01 /var/log/topas\n  \
                  topas-stat --job 4711 /var/log/topas\n  \
                  grep ' f90 ' topas.log | grep ' B ' | grep ' mpi ' | topas-stat"
)]
pub struct StatOptions {
    /// Logs, plain or compressed by gzip, zstd or xz. A directory stands for all files in it and
    /// below it. `-`, or no argument, reads standard input
    #[arg(value_name = "FILE|DIR")]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub selection: SelectionArgs,

    #[command(flatten)]
    pub tables: TableArgs,

    #[command(flatten)]
    pub runs: RunArgs,

    #[command(flatten)]
    pub shares: ShareArgs,

    #[command(flatten)]
    pub compare: CompareArgs,

    #[command(flatten)]
    pub utilisation: UtilisationArgs,

    #[command(flatten)]
    pub sacct: SacctArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Number of threads that read and join lines [default: one for each processor]
    #[arg(long, value_name = "N", help_heading = "Work")]
    pub threads: Option<NonZero<usize>>,

    /// Memory for lines that wait for the other lines of their runs; further lines go to a
    /// temporary file. The rows of tables may take the same amount again [default: 256MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Work")]
    pub memory: Option<String>,

    /// Check the log instead of making a report: each line by itself, and the lines of a run
    /// together. Each fault is listed with the first places where it stands, in words or, with
    /// --json, as JSON
    #[arg(
        long,
        conflicts_with_all = [
            "mine", "since", "until", "period", "user", "exe", "lang", "mplib", "mode", "min_pes",
            "max_pes", "conditions", "by", "measure", "bucket", "upper", "log_scale", "top", "min_runs",
            "sort", "with_accelerators", "csv", "jsonl", "gnuplot", "r", "bars", "svg", "png",
        ]
    )]
    pub check: bool,

    /// Print errors only: no warnings and no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// List the fields that --by and --where know
    #[arg(long, exclusive = true)]
    pub list_fields: bool,

    /// List the measures that --by, --measure and --where know
    #[arg(long, exclusive = true)]
    pub list_measures: bool,
}

/// What counts.
#[derive(Args, Debug)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    #[command(flatten)]
    pub period: PeriodArgs,

    #[command(flatten)]
    pub accelerators: AcceleratorArgs,

    /// Select your own lines, by your numeric user id. The names of the logs may contain the %
    /// forms of topas.conf; without a name, the logs of topas.conf are read
    #[arg(long)]
    pub mine: bool,

    /// Select the runs of this user; repeat the option for further users
    #[arg(long, value_name = "NAME")]
    pub user: Vec<String>,

    /// Select the runs of this executable; repeat the option for further executables
    #[arg(long, value_name = "NAME")]
    pub exe: Vec<String>,

    /// Select the runs of programs in this language, or in one of several
    #[arg(long, value_delimiter = ',', value_parser = words(Lang::ALL, |lang| lang.word()))]
    pub lang: Vec<String>,

    /// Select the runs of programs with this message passing library, or with one of several; -
    /// stands for programs without one
    #[arg(
        long,
        value_delimiter = ',',
        value_parser = words(Lib::ALL, |lib| lib.word()),
        allow_hyphen_values = true
    )]
    pub mplib: Vec<String>,

    /// Select batch jobs (B) or interactive runs (I)
    #[arg(long, value_parser = ["B", "I"])]
    pub mode: Option<String>,

    /// Select the runs with at least N PEs
    #[arg(long, value_name = "N")]
    pub min_pes: Option<u32>,

    /// Select the runs with at most N PEs
    #[arg(long, value_name = "N")]
    pub max_pes: Option<u32>,

    /// Select the runs for which the expression is true: NAME OPERATOR VALUE with the name of a
    /// field or measure and an operator of = != < <= > >= ~ !~, joined by `and`, `or`, `not` and
    /// parentheses; VALUE can be another field or measure of the same unit. For a field of a single
    /// rank, select lines. If the option is repeated, all expressions must be true
    #[arg(short = 'w', long = "where", value_name = "EXPRESSION")]
    pub conditions: Vec<String>,
}

/// Which tables.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tables")]
pub struct TableArgs {
    /// Make a table by a field or a measure, or by two of them crossed; repeat the option for
    /// further tables [default: mflops, lang, lib]
    #[arg(long, value_name = "NAME[,NAME]")]
    pub by: Vec<String>,

    /// Show the mean, the quartiles and the sum of these measures in each row; without --by, show
    /// the distributions of these measures. users, jobs, exes show numbers of different ones,
    /// failures the rate of failed runs
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub measure: Vec<String>,

    /// Set the size of a bucket in the unit of the measure, for all measures or for the one that is
    /// named; 50 is the layout of 1999 [default: the data decides between one size and --log-scale]
    #[arg(short, long, value_name = "[MEASURE=]N", allow_hyphen_values = true)]
    pub bucket: Vec<String>,

    /// Put all values from this limit on into one bucket
    #[arg(long, value_name = "[MEASURE=]LIMIT", allow_hyphen_values = true)]
    pub upper: Vec<String>,

    /// Make buckets from 1 to 2, 2 to 5, 5 to 10 and so on, for all measures
    #[arg(long, conflicts_with = "bucket")]
    pub log_scale: bool,

    /// Show the N largest values of each field and put the others into one row; values are ranked
    /// by their time, or by the key of --sort. Days, weeks, months and the like stay whole
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZero<usize>>)]
    pub top: Option<NonZero<usize>>,

    /// Put the values of fields that have fewer than N runs into one row with the rest, so that a
    /// single run does not head a table that --sort orders by a mean or a rate
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZero<u64>>)]
    pub min_runs: Option<NonZero<u64>>,

    /// Order the values of fields by name, runs, time, or a measure
    #[arg(long, value_name = "KEY")]
    pub sort: Option<String>,

    /// Reverse the order of rows
    #[arg(long)]
    pub reverse: bool,
}

/// How it is shown.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    #[command(flatten)]
    pub form: FormArgs,

    /// Make the text as wide as its labels need [default: the columns of COLUMNS or of the terminal, else 80]
    #[arg(long)]
    pub wide: bool,

    /// Write the first table as an SVG picture, in addition to the report; `-` writes the picture
    /// to standard output instead of the report
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Write the first table as a PNG picture with twice the resolution of a screen
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,

    /// Let --svg and --png replace an existing file, even an input or a log
    #[arg(long)]
    pub force: bool,

    /// What the bars are shares of [default: the key that rows are sorted by, otherwise runs]
    #[arg(long, value_enum, value_name = "OF")]
    pub share: Option<ShareOf>,

    /// When bars have colours
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWish,
}

/// What bars are shares of.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ShareOf {
    /// The number of runs
    Runs,
    /// The number of PEs x the wall clock time
    Time,
}

/// A number of rows.
fn at_least_one<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "a whole number from 1 on is expected")
}

/// The words of an enumeration of the line.
fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> PossibleValuesParser {
    all.iter().map(|&value| word(value)).collect::<Vec<_>>().into()
}

/// Reads the command line. Help, version and errors are printed here; the Err is then
/// the exit code.
pub fn parse() -> Result<StatOptions, u8> {
    let mut line = StatOptions::try_parse()
        .map_err(|error| TOOL.command_line(&error, exit::INPUT, exit::USAGE))?;
    let lists = line.list_fields || line.list_measures;
    line.inputs.splice(..0, line.utilisation.take_input()?);
    if line.inputs.is_empty() && !lists && !line.selection.mine {
        if stdin().is_terminal() {
            let hint = "name a log or a directory of logs, or pipe lines into topas-stat";
            TOOL.error(&"no input: standard input is a terminal", None, hint);
            return Err(exit::USAGE);
        }
        line.inputs.push(PathBuf::from("-"));
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;

    const PAGE: &str = include_str!("../../../doc/topas-stat.1");

    /// The manual has a paragraph for every option, and none for what does not exist.
    #[test]
    fn the_manual_describes_every_option() {
        let command = StatOptions::command();
        let mut options: BTreeSet<String> = command
            .get_arguments()
            .filter_map(|argument| argument.get_long())
            .map(str::to_owned)
            .collect();
        options.extend(["help".to_owned(), "version".to_owned()]);
        let section = PAGE.split(".SH OPTIONS").nth(1).unwrap().split("\n.SH ").next().unwrap();
        let paragraphs = section.split("\n.TP\n").skip(1);
        let heads = paragraphs.filter_map(|paragraph| paragraph.lines().next());
        let described: BTreeSet<String> = heads
            .flat_map(|head| {
                head.replace('\\', "").split("--").skip(1).map(word).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(described, options);
        for argument in command.get_arguments() {
            if let (Some(short), Some(long)) = (argument.get_short(), argument.get_long()) {
                let pair = format!("\\-{short} \", \" \\-\\-{long}");
                assert!(section.contains(&pair), "-{short} and --{long} stand together: {pair}");
            }
        }
    }

    fn word(text: &str) -> String {
        text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect()
    }

    /// The manual lists every field and every measure.
    #[test]
    fn the_manual_lists_every_field_and_measure() {
        let section = |name: &str| {
            let rest = PAGE.split(&format!(".SS {name}\n")).nth(1).unwrap();
            rest.split("\n.S").next().unwrap().replace('\\', "")
        };
        let listed = |section: &str| -> Vec<String> {
            section.lines().filter_map(|line| line.strip_prefix(".B ")).map(word_of).collect()
        };
        let fields: Vec<_> =
            topas_data::field::FIELDS.iter().map(|row| row.name.to_owned()).collect();
        assert_eq!(listed(&section("Fields")), [&fields[..], &["extra.KEY".to_owned()]].concat());
        let measures: Vec<_> =
            topas_data::measure::MEASURES.iter().map(|measure| measure.name.to_owned()).collect();
        assert_eq!(listed(&section("Measures")), measures);
    }

    fn word_of(line: &str) -> String {
        line.split(' ').next().unwrap_or_default().to_owned()
    }
}
