//! The command line.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use topas_data::Month;

use crate::{TOOL, exit};

/// Keeps the TOPAS log: topas-log merges, closes and exports the segments of the log
#[derive(Parser)]
#[command(
    name = "topas-log",
    version,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 the work is done; 1 a file could not be read or written; 2 the command \
                  line is wrong; 3 the input holds no log lines; 5 another `topas-log close` or `purge` is at work."
)]
struct LogOptions {
    #[command(subcommand)]
    command: Command,
}

/// What is to be done.
#[derive(Subcommand)]
pub enum Command {
    /// Compress the files of past months, whose names contain a month as YYYY-MM
    ///
    /// A file is removed only after its compressed copy was read again and found to be the same.
    /// Programs may write to the log meanwhile, and the work may be interrupted: no line is lost,
    /// and no line is stored twice.
    Close(Close),

    /// Write log lines for others: without names, as CSV or JSON, or only your own lines
    ///
    /// Lines that are not log lines are left out and counted.
    Export(Export),

    /// Make a key for `export --anonymize`: 256 random bits in a file of mode 0600
    Key(KeyOptions),

    /// Merge the segments of several hosts or users by time
    ///
    /// Lines are copied byte for byte in the order of the times at which the programs ended; lines
    /// of the same second are in the order of the segments. A line that is not a log line stays
    /// behind the line that it follows in its segment.
    Merge(Merge),

    /// Remove the closed segments of months that need not be kept any longer, or the lines of a user
    ///
    /// By age only files that `close` makes are removed: compressed, and with a month as YYYY-MM in their
    /// names. Of a user the user's files are removed, and closed segments that hold lines of several
    /// users are written anew.
    Purge(Purge),
}

/// Options of `purge`.
#[derive(Args)]
pub struct Purge {
    /// The directory of the segments and the directories below it; repeat the option for further
    /// directories [default: the directories of `log =` in topas.conf]
    #[arg(long, value_name = "DIR")]
    pub dir: Vec<PathBuf>,

    /// Remove the segments of the months before this one
    #[arg(long, value_name = "YYYY-MM", conflicts_with = "keep")]
    pub before: Option<Month>,

    /// Keep the segments of so many whole months before the present month [default: `keep` in
    /// topas.conf]
    #[arg(long, value_name = "MONTHS")]
    pub keep: Option<NonZero<u16>>,

    /// Remove all lines of this user, by name or numeric id, instead of those of old months
    #[arg(long, value_name = "USER", conflicts_with_all = ["before", "keep"])]
    pub user: Option<String>,

    /// Only say which segments would be removed
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Say only what is wrong
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `close`.
#[derive(Args)]
pub struct Close {
    /// The directory of the files, or of directories with such files; repeat the option for further
    /// directories [default: the directories of `log =` in topas.conf]
    #[arg(long, value_name = "DIR")]
    pub dir: Vec<PathBuf>,

    /// Close the months before this one [default: the present month]
    #[arg(long, value_name = "YYYY-MM")]
    pub before: Option<Month>,

    /// The directory for the closed segments [default: the directory of the file]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,

    /// Make one segment for each month, owned by the user who runs topas-log; without this option,
    /// each file becomes a segment of its own with the owner and the mode of the file
    #[arg(long)]
    pub join: bool,

    /// Leave a file alone if it was written to within this time
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub idle: u64,

    /// Wait this long after files were renamed, for programs that have already opened the files
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub settle: u64,

    /// Only say which files would be closed
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Print errors only: no report
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `export`.
#[derive(Args)]
pub struct Export {
    /// Logs, plain or compressed by gzip, zstd or xz. A directory stands for all files in it and
    /// below it; `-` reads standard input. With --mine, a path may contain the % forms of `log =`,
    /// and without a path the logs of topas.conf are read
    #[arg(value_name = "LOG", required_unless_present = "mine")]
    pub logs: Vec<PathBuf>,

    /// Replace the user, the executable, the ids, the host and the job by keyed hashes, and leave
    /// out fields that topas-log does not know
    #[arg(short, long, requires = "key")]
    pub anonymize: bool,

    /// The file with the key, which only its owner may read; see `topas-log key`
    #[arg(short, long, value_name = "FILE", requires = "anonymize")]
    pub key: Option<PathBuf>,

    /// Hash these fields, too: mpi, cc or part
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', requires = "anonymize")]
    pub hash: Vec<String>,

    /// Leave these fields as they are, for example host
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', requires = "anonymize")]
    pub keep: Vec<String>,

    /// Leave these fields out; for user, exe and id a `-` remains
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', requires = "anonymize")]
    pub drop: Vec<String>,

    /// Write comma separated values with a column for each field
    #[arg(long)]
    pub csv: bool,

    /// Write a JSON object of the schema topas.line/1 for each line
    #[arg(long, conflicts_with = "csv")]
    pub jsonl: bool,

    /// Write only your own lines, selected by your numeric user id
    #[arg(long)]
    pub mine: bool,

    /// The file to make, compressed if its name ends in .zst, .gz or .xz. The file appears when it
    /// is complete; `-` writes to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// Replace an existing file, even an input or a log
    #[arg(long)]
    pub force: bool,

    /// Print errors only: no report
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `key`.
#[derive(Args)]
pub struct KeyOptions {
    /// The file to make; an existing file is not changed
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Options of `merge`.
#[derive(Args)]
pub struct Merge {
    /// Segments, plain or compressed by gzip, zstd or xz. A directory stands for all files in it
    /// and below it; `-` reads standard input
    #[arg(value_name = "SEGMENT", required = true)]
    pub segments: Vec<PathBuf>,

    /// The file to make, compressed if its name ends in .zst, .gz or .xz. The file appears when it
    /// is complete; `-` writes to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// Replace an existing file, even an input or a log
    #[arg(long)]
    pub force: bool,

    /// Write only one of several log lines that are equal byte for byte
    #[arg(short, long)]
    pub unique: bool,

    /// Write the lines that are not log lines to this file
    #[arg(long, value_name = "FILE")]
    pub bad: Option<PathBuf>,

    /// Print errors only: no report and no progress
    #[arg(short, long)]
    pub quiet: bool,
}

/// Reads the command line. Help, version and errors are printed here; the Err is then
/// the exit code.
pub fn parse() -> Result<Command, u8> {
    LogOptions::try_parse()
        .map(|line| line.command)
        .map_err(|error| TOOL.command_line(&error, exit::FAILED, exit::USAGE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use topas_data::field::FIELDS;
    use topas_format::extra::ExportRule;

    const PAGE: &str = include_str!("../../../doc/topas-log.1");

    fn fields(rule: ExportRule) -> Vec<&'static str> {
        let mut fields: Vec<_> =
            FIELDS.iter().filter(|row| row.export == Some(rule)).map(|row| row.name).collect();
        fields.sort_unstable();
        fields
    }

    /// Names of fields in a text of the manual or of the help.
    fn named(text: &str) -> Vec<&str> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let known = |word: &&str| FIELDS.iter().any(|row| row.name == *word);
        let mut named: Vec<_> = words.filter(known).collect();
        named.sort_unstable();
        named
    }

    #[test]
    fn the_help_and_the_manual_name_the_fields_that_are_hashed() {
        let (_, behind) = PAGE.split_once("The hashed fields are\n").unwrap();
        assert_eq!(named(behind.split('\n').next().unwrap()), fields(ExportRule::Hashed));
        let (before, _) = PAGE.split_once("\ncan be hashed, too.").unwrap();
        assert_eq!(named(before.rsplit('\n').next().unwrap()), fields(ExportRule::KeptName));
        let command = LogOptions::command();
        let export = command.find_subcommand("export").unwrap();
        let hash = export.get_arguments().find(|argument| argument.get_id() == "hash").unwrap();
        let help = hash.get_help().unwrap().to_string();
        let (_, listed) = help.split_once(':').unwrap();
        assert_eq!(named(listed), fields(ExportRule::KeptName), "{help}");
    }
}
