//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

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
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// What is to be done.
#[derive(Subcommand)]
pub enum Command {
    /// Merges segments of hosts or users by time
    ///
    /// Lines are copied byte for byte, in order of the time their programs ended, those of
    /// the same second in order of the segments. Lines that are no log lines stay behind the
    /// line they follow.
    Merge(Merge),
}

/// Options of `merge`.
#[derive(Args)]
pub struct Merge {
    /// Segments, plain or compressed by gzip, zstd or xz; of a directory all its files; - is
    /// standard input
    #[arg(value_name = "SEGMENT", required = true)]
    pub segments: Vec<PathBuf>,

    /// File to make, compressed if it ends in .zst, .gz or .xz; it appears when it is whole
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

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
    CommandLine::try_parse()
        .map(|line| line.command)
        .map_err(|error| if TOOL.command_line(&error) { exit::OK } else { exit::USAGE })
}
