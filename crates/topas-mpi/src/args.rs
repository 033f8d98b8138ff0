//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::{TOOL, exit};

/// Profiles of MPI calls: collects what ranks left behind, lists what there is, calibrates
#[derive(Parser)]
#[command(
    name = "topas-mpi",
    version,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 done, 1 something could not be read, written or removed, 2 usage, \
                  4 no MPI to calibrate."
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// What is to be done.
#[derive(Subcommand)]
pub enum Command {
    /// Measures latency and bandwidth of MPI routines; to be started by the MPI's launcher
    ///
    /// `mpirun -n 2 topas-mpi calibrate` measures point-to-point routines, between the ranks 0
    /// and 1; with more ranks collective ones over all of them are measured, too.
    Calibrate(Calibrate),

    /// Writes into the log what ranks on this node counted that ended without MPI_Finalize
    ///
    /// For the end of a job script, or an epilog. Launches that still have ranks on this node are
    /// left alone. What was written is removed.
    Collect(Collect),

    /// Lists launches on this node that run or left something behind
    List(List),
}

/// Options of `calibrate`.
#[derive(Args)]
pub struct Calibrate {
    /// File to write, in place of what was in it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace what is there, also a log
    #[arg(long, requires = "output")]
    pub force: bool,

    /// Keep rows of the file that are for other numbers of ranks
    #[arg(long, requires = "output")]
    pub add: bool,

    /// MPI library to open [default: that of the launcher]
    #[arg(long, value_name = "LIBRARY")]
    pub mpi: Option<PathBuf>,

    /// Longest message in B
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20)]
    pub longest: usize,

    /// Repetitions of each measurement, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(3..=1001))]
    pub repetitions: u32,
}

/// Options of `collect`.
#[derive(Args)]
pub struct Collect {
    /// Directory to look in; may be given several times [default: TOPAS_MPI_SPOOL alone, or if it
    /// is not set mpi_spool of topas.conf, /run/topas/mpi and /dev/shm]
    #[arg(long, value_name = "DIR")]
    pub spool: Vec<PathBuf>,

    /// Of all users, as root: as each of them in turn
    #[arg(long)]
    pub all_users: bool,

    /// Append the records, and one for each rank, to this file, too
    #[arg(short, long, value_name = "FILE", conflicts_with = "all_users")]
    pub out: Option<PathBuf>,

    /// Not into the center's log
    #[arg(long, requires = "out")]
    pub no_log: bool,

    /// Only tell what would be collected
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// No report, only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `list`.
#[derive(Args)]
pub struct List {
    /// Directory to look in, as of collect
    #[arg(long, value_name = "DIR")]
    pub spool: Vec<PathBuf>,

    /// Of all users whose files can be read
    #[arg(long)]
    pub all_users: bool,

    /// JSON, schema topas.mpi.list/1
    #[arg(long)]
    pub json: bool,
}

/// Reads the command line. Help, version and errors are printed here; the Err is then
/// the exit code.
pub fn parse() -> Result<Command, u8> {
    CommandLine::try_parse()
        .map(|line| line.command)
        .map_err(|error| if TOOL.command_line(&error) { exit::OK } else { exit::USAGE })
}
