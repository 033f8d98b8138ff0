//! The command line.

use std::io::{IsTerminal, stdin};
use std::num::NonZero;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Parser, ValueEnum};
use topas_data::parse_date;
use topas_format::civil::Date;
use topas_format::field::{Lang, Lib};
use topas_terminal::ColorWish;

use crate::exit;
use crate::message::TOOL;

/// Usage statistics of a center from the TOPAS log
///
/// Joins the lines of each run and prints how the runs, and the time they took, are
/// distributed: by MFlop/s per PE, by language and by message passing library, or by any
/// other fields and measures. Bad lines are counted and reported on standard error.
#[derive(Debug, Parser)]
#[command(
    name = "topas-stat",
    version,
    disable_help_subcommand = true,
    group = ArgGroup::new("form").multiple(false),
    after_help = "Exit codes: 0 report made, 1 some input could not be read, 2 usage, 3 no runs,\n\
                  4 --check found faults.\n\
                  Examples:\n  \
                  topas-stat --since 2026-01-01 /var/log/topas\n  \
                  topas-stat --by user --top 10 --measure mflops,cpu_use topas.log\n  \
                  topas-stat --by mflops,lang --bucket 10 --upper 200 --svg lang.svg topas.log\n  \
                  topas-stat --where 'npes >= 64 and exe ~ ^heat' --by month topas.log\n  \
                  grep ' f90 ' topas.log | grep ' B ' | grep ' mpi ' | topas-stat"
)]
pub struct StatOptions {
    /// Logs, plain or compressed by gzip, zstd or xz; of a directory all its files and those
    /// below it; - is standard input, as is none
    #[arg(value_name = "FILE|DIR")]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub selection: SelectionArgs,

    #[command(flatten)]
    pub tables: TableArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Threads that read and join [default: one for each processor]
    #[arg(long, value_name = "N", help_heading = "Work")]
    pub threads: Option<NonZero<usize>>,

    /// Memory for lines that wait for others of their runs; what is more goes to a
    /// temporary file. As much again is for rows of tables [default: 256MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Work")]
    pub memory: Option<String>,

    /// No report: check every line, and what lines together tell; faults with their first
    /// places, in words or with --json
    #[arg(
        long,
        conflicts_with_all = [
            "mine", "since", "until", "user", "exe", "lang", "mplib", "mode", "min_pes",
            "max_pes", "conditions", "by", "measure", "bucket", "upper", "log_scale", "top",
            "sort", "csv", "jsonl", "gnuplot", "r", "bars", "svg", "png",
        ]
    )]
    pub check: bool,

    /// No warnings, no progress; errors only
    #[arg(short, long)]
    pub quiet: bool,

    /// Show the fields for --by and --where
    #[arg(long, exclusive = true)]
    pub list_fields: bool,

    /// Show the measures for --by and --measure
    #[arg(long, exclusive = true)]
    pub list_measures: bool,
}

/// What counts.
#[derive(Args, Debug)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// First day: runs that ended on it or later (YYYY/MM/DD or YYYY-MM-DD)
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    pub since: Option<Date>,

    /// Last day: runs that ended on it or before
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    pub until: Option<Date>,

    /// Lines of the user who calls this, by numeric id; the logs may have % forms as those of
    /// topas.conf, which are taken if there are none
    #[arg(long)]
    pub mine: bool,

    /// Lines of this user, or of these
    #[arg(long, value_name = "NAME")]
    pub user: Vec<String>,

    /// Lines of this executable, or of these
    #[arg(long, value_name = "NAME")]
    pub exe: Vec<String>,

    /// Lines of this language, or of these
    #[arg(long, value_delimiter = ',', value_parser = words(Lang::ALL, |lang| lang.word()))]
    pub lang: Vec<String>,

    /// Lines with this message passing library, or with these; - is none
    #[arg(
        long,
        value_delimiter = ',',
        value_parser = words(Lib::ALL, |lib| lib.word()),
        allow_hyphen_values = true
    )]
    pub mplib: Vec<String>,

    /// Batch (B) or interactive (I)
    #[arg(long, value_parser = ["B", "I"])]
    pub mode: Option<String>,

    /// Lines of runs with so many PEs or more
    #[arg(long, value_name = "N")]
    pub min_pes: Option<u32>,

    /// Lines of runs with so many PEs or less
    #[arg(long, value_name = "N")]
    pub max_pes: Option<u32>,

    /// Lines of which this is true: FIELD OPERATOR VALUE with = != < <= > >= ~ !~, and, or,
    /// not, parentheses; several must all be true
    #[arg(short = 'w', long = "where", value_name = "EXPRESSION")]
    pub conditions: Vec<String>,
}

/// Which tables.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tables")]
pub struct TableArgs {
    /// A table by a field or a measure, or by two crossed; again for one more
    /// [default: mflops, lang, lib]
    #[arg(long, value_name = "NAME[,NAME]")]
    pub by: Vec<String>,

    /// Mean, quartiles and sum of these in each row; without --by the distributions of these
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    pub measure: Vec<String>,

    /// Size of a bucket in the unit of the measure, of all or of the one that is named
    /// [default: mflops=50; --list-measures]
    #[arg(short, long, value_name = "[MEASURE=]N", allow_hyphen_values = true)]
    pub bucket: Vec<String>,

    /// All values from here on in one bucket
    #[arg(long, value_name = "[MEASURE=]LIMIT", allow_hyphen_values = true)]
    pub upper: Vec<String>,

    /// Buckets from 1 to 2 to 5 to 10 and so on, for all measures
    #[arg(long, conflicts_with = "bucket")]
    pub log_scale: bool,

    /// The N largest of each field, the others in one row; by time unless --sort says
    #[arg(long, value_name = "N")]
    pub top: Option<NonZero<usize>>,

    /// Order of fields: name, runs, time, or the mean of a measure of --measure
    #[arg(long, value_name = "KEY")]
    pub sort: Option<String>,

    /// The other way round
    #[arg(long)]
    pub reverse: bool,
}

/// How it is shown.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Form of the output
    #[arg(short, long, value_name = "FORM", value_enum, group = "form")]
    pub format: Option<Format>,

    /// Text as wide as the labels need [default: 80 columns]
    #[arg(long)]
    pub wide: bool,

    /// As --format csv
    #[arg(long, group = "form")]
    pub csv: bool,

    /// As --format json
    #[arg(long, group = "form")]
    pub json: bool,

    /// As --format jsonl
    #[arg(long, group = "form")]
    pub jsonl: bool,

    /// As --format gnuplot
    #[arg(long, group = "form")]
    pub gnuplot: bool,

    /// As --format r
    #[arg(long, group = "form")]
    pub r: bool,

    /// As --format bars
    #[arg(long, group = "form")]
    pub bars: bool,

    /// The first table as a picture, besides; - is standard output, instead
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// The same as PNG, twice as fine as on the screen
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,

    /// Replace what is there by --svg and --png, also an input or a log
    #[arg(long)]
    pub force: bool,

    /// What bars are shares of [default: what rows are sorted by, else runs]
    #[arg(long, value_enum, value_name = "OF")]
    pub share: Option<ShareOf>,

    /// Colour of bars
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWish,
}

/// Forms of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A report for people
    #[default]
    Text,
    /// Comma separated values
    Csv,
    /// A JSON object, schema topas.stat/2
    Json,
    /// A JSON object for each row, schema topas.stat.row/1
    Jsonl,
    /// Data blocks for gnuplot
    Gnuplot,
    /// Source of R: a list of data frames
    R,
    /// Bars of characters
    Bars,
}

/// What bars are shares of.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ShareOf {
    /// Number of runs
    Runs,
    /// PEs x wall clock time
    Time,
}

impl OutputArgs {
    /// The form asked for.
    pub fn form(&self) -> Format {
        let flags = [
            (self.csv, Format::Csv),
            (self.json, Format::Json),
            (self.jsonl, Format::Jsonl),
            (self.gnuplot, Format::Gnuplot),
            (self.r, Format::R),
            (self.bars, Format::Bars),
        ];
        let flag = flags.into_iter().find(|(given, _)| *given).map(|(_, format)| format);
        flag.or(self.format).unwrap_or_default()
    }
}

/// The words of an enumeration of the line.
fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> PossibleValuesParser {
    all.iter().map(|&value| word(value)).collect::<Vec<_>>().into()
}

/// Reads the command line. Help, version and errors are printed here; the Err is then
/// the exit code.
pub fn parse() -> Result<StatOptions, u8> {
    let mut line = StatOptions::try_parse()
        .map_err(|error| if TOOL.command_line(&error) { exit::OK } else { exit::USAGE })?;
    let lists = line.list_fields || line.list_measures;
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
