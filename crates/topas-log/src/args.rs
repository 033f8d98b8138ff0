//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use topas_data::Month;

use crate::{TOOL, exit};

/// Keeps the TOPAS log: merges, closes and exports its segments
#[derive(Parser)]
#[command(
    name = "topas-log",
    version,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 done, 1 something could not be read or written, 2 usage, \
                  3 no log lines, 5 another close is at work."
)]
struct LogOptions {
    #[command(subcommand)]
    command: Command,
}

/// What is to be done.
#[derive(Subcommand)]
pub enum Command {
    /// Compresses the files of past months, whose names have a month YYYY-MM
    ///
    /// A file is removed when its compressed copy was read again and is the same. Programs may
    /// write meanwhile, and the work may be interrupted: no line is lost, none comes twice.
    Close(Close),

    /// Writes log lines for others: without names, as CSV or JSON, or one's own
    ///
    /// Lines that are no log lines are left out and counted.
    Export(Export),

    /// Makes a key for `export --anonymize`: 256 random bits in a file of mode 0600
    Key(KeyOptions),

    /// Merges segments of hosts or users by time
    ///
    /// Lines are copied byte for byte, in order of the time their programs ended, those of
    /// the same second in order of the segments. Lines that are no log lines stay behind the
    /// line they follow.
    Merge(Merge),
}

/// Options of `close`.
#[derive(Args)]
pub struct Close {
    /// Directory of the files and of directories of them; may be given several times [default: those of `log =` in
    /// topas.conf]
    #[arg(long, value_name = "DIR")]
    pub dir: Vec<PathBuf>,

    /// Close months before this one [default: the present month]
    #[arg(long, value_name = "YYYY-MM")]
    pub before: Option<Month>,

    /// Directory of the closed segments [default: that of the file]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,

    /// One segment a month, of this process's user; else each file has a segment of its own
    /// with its owner and mode
    #[arg(long)]
    pub join: bool,

    /// Leave files alone that were written within this time
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub idle: u64,

    /// Wait so long after files were renamed, for programs that had opened them
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub settle: u64,

    /// Only tell what would be closed
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// No report, only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `export`.
#[derive(Args)]
pub struct Export {
    /// Logs, plain or compressed by gzip, zstd or xz; of a directory all its files and those
    /// below it; - is standard input. With --mine also paths with % forms as in `log =`, and, if there is
    /// none, those of topas.conf
    #[arg(value_name = "LOG", required_unless_present = "mine")]
    pub logs: Vec<PathBuf>,

    /// Replace user, executable, ids, host and job by keyed hashes; leave out what is not
    /// known
    #[arg(short, long, requires = "key")]
    pub anonymize: bool,

    /// File with the key, for its owner alone; see `topas-log key`
    #[arg(short, long, value_name = "FILE", requires = "anonymize")]
    pub key: Option<PathBuf>,

    /// Hash these, too: mpi, cc, part
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', requires = "anonymize")]
    pub hash: Vec<String>,

    /// Leave these as they are, as host
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', requires = "anonymize")]
    pub keep: Vec<String>,

    /// Leave these out; of user, exe and id a - remains
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', requires = "anonymize")]
    pub drop: Vec<String>,

    /// Comma separated values, a column for each field
    #[arg(long)]
    pub csv: bool,

    /// A JSON object for each line, schema topas.line/1
    #[arg(long, conflicts_with = "csv")]
    pub jsonl: bool,

    /// Only lines of the user who calls this, by numeric id
    #[arg(long)]
    pub mine: bool,

    /// File to make, compressed if it ends in .zst, .gz or .xz; it appears when it is whole
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// Replace what is there, also an input or a log
    #[arg(long)]
    pub force: bool,

    /// No report, only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `key`.
#[derive(Args)]
pub struct KeyOptions {
    /// File to make; one that exists is not touched
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Options of `merge`.
#[derive(Args)]
pub struct Merge {
    /// Segments, plain or compressed by gzip, zstd or xz; of a directory all its files and those
    /// below it; - is standard input
    #[arg(value_name = "SEGMENT", required = true)]
    pub segments: Vec<PathBuf>,

    /// File to make, compressed if it ends in .zst, .gz or .xz; it appears when it is whole
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// Replace what is there, also an input or a log
    #[arg(long)]
    pub force: bool,

    /// Write log lines that are equal byte for byte once
    #[arg(short, long)]
    pub unique: bool,

    /// Write lines that are no log lines to this file
    #[arg(long, value_name = "FILE")]
    pub bad: Option<PathBuf>,

    /// No report and no progress, only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Reads the command line. Help, version and errors are printed here; the Err is then
/// the exit code.
pub fn parse() -> Result<Command, u8> {
    LogOptions::try_parse()
        .map(|line| line.command)
        .map_err(|error| if TOOL.command_line(&error) { exit::OK } else { exit::USAGE })
}
