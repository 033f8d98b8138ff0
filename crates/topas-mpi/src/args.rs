//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::collect_users::CollectedUser;
use crate::{TOOL, exit};

/// Profiles of MPI calls: collect what ranks left behind, list launches, calibrate a machine
#[derive(Parser)]
#[command(
    name = "topas-mpi",
    version,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 the work is done; 1 a file could not be read, written or removed; 2 the \
                  command line is wrong; 4 there is no MPI to calibrate."
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// What is to be done.
#[derive(Subcommand)]
pub enum Command {
    /// Measure the latency and the bandwidth of MPI routines; the launcher of the MPI starts this
    /// command
    ///
    /// `mpirun -n 2 topas-mpi calibrate` measures the point-to-point routines between the ranks 0
    /// and 1. With more ranks, the collective routines over all ranks are measured, too.
    Calibrate(Calibrate),

    /// Write to the log what those ranks of this node counted that ended without MPI_Finalize
    ///
    /// This command is meant for the end of a job script, or for an epilog. Launches that still
    /// have ranks on this node are left alone. The files of collected ranks are removed.
    Collect(Collect),

    /// List the launches on this node that run or that left a profile behind
    List(List),

    /// Show what an event log holds, its events, or an export of them
    ///
    /// `topas-run --mpi=log` writes one log for each host, topas-mpi.HOST.trace. Without other options
    /// there is one line for each thread of each rank.
    Trace(Trace),

    /// Replay an event log on another network: the perfect one, or one with this latency and bandwidth
    ///
    /// Prints the run beside its model for each rank and routine, and the efficiencies of POP:
    /// load balance, serialisation and transfer.
    Replay(Replay),
}

/// Options of `calibrate`.
#[derive(Args)]
pub struct Calibrate {
    /// The file to write; its former contents are replaced [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace an existing file, even a log
    #[arg(long, requires = "output")]
    pub force: bool,

    /// Keep the rows of the file that were measured with other numbers of ranks
    #[arg(long, requires = "output")]
    pub add: bool,

    /// The MPI library to open [default: the library of the launcher]
    #[arg(long, value_name = "LIBRARY")]
    pub mpi: Option<PathBuf>,

    /// Length of the longest message in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20)]
    pub longest: usize,

    /// Number of repetitions of each measurement; the median of them is the result
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(3..=1001))]
    pub repetitions: u32,
}

/// Options of `collect`.
#[derive(Args)]
pub struct Collect {
    /// A directory to look in; repeat the option for further directories [default: the directory
    /// that TOPAS_MPI_SPOOL names; if the variable is not set, mpi_spool of topas.conf,
    /// /run/topas/mpi and /dev/shm]
    #[arg(long, value_name = "DIR")]
    pub spool: Vec<PathBuf>,

    /// Collect for all users, which needs root: topas-mpi becomes each user in turn
    #[arg(long)]
    pub all_users: bool,

    /// Collect this launch alone; the beginning of its id is enough, as topas-mpi list shows it
    #[arg(long, value_name = "ID", conflicts_with = "all_users")]
    pub launch: Option<String>,

    /// The user that this process becomes, for a process that --all-users has started
    #[arg(long, hide = true, value_name = "UID:GID", conflicts_with_all = ["all_users", "out"])]
    pub as_user: Option<CollectedUser>,

    /// Also append the records, and one record for each rank, to this file
    #[arg(short, long, value_name = "FILE", conflicts_with = "all_users")]
    pub out: Option<PathBuf>,

    /// Do not write to the log of the center
    #[arg(long, requires = "out")]
    pub no_log: bool,

    /// Only say what would be collected
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Print errors only: no report
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `list`.
#[derive(Args)]
pub struct List {
    /// A directory to look in, as for `topas-mpi collect`
    #[arg(long, value_name = "DIR")]
    pub spool: Vec<PathBuf>,

    /// List the launches of all users whose files you may read
    #[arg(long)]
    pub all_users: bool,

    /// Print a JSON object of the schema topas.mpi.list/1
    #[arg(long)]
    pub json: bool,
}

/// Options of `trace`.
#[derive(Args)]
pub struct Trace {
    /// Event logs; of a run on several hosts all of them
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Print all events of the launch as CSV, with times in ns from the beginning of the first rank
    #[arg(long, group = "form")]
    pub events: bool,

    /// Print all events of the launch as JSON of Chrome's tracing, which Perfetto reads, too
    #[arg(long, group = "form")]
    pub chrome: bool,

    /// Write the events to standard output as a trace of Perfetto, with waits within calls, and
    /// messages as flows
    #[arg(long, group = "form")]
    pub perfetto: bool,

    /// Write the events for Paraver: BASE.prv, BASE.pcf and BASE.row
    #[arg(long, value_name = "BASE", group = "form")]
    pub paraver: Option<PathBuf>,

    /// Leave out calls that ended before this moment, in s from the beginning of the first rank
    #[arg(long, value_name = "SECONDS", value_parser = moment, requires = "form")]
    pub from: Option<u64>,

    /// Leave out calls that began after this moment, in s from the beginning of the first rank
    #[arg(long, value_name = "SECONDS", value_parser = moment, requires = "form")]
    pub to: Option<u64>,

    /// Show the launch whose id begins with this [default: the newest in the logs]
    #[arg(long, value_name = "ID")]
    pub launch: Option<String>,

    /// Show this rank only; repeat the option for further ranks
    #[arg(long, value_name = "RANK")]
    pub rank: Vec<u32>,

    /// Let --paraver replace existing files, even logs
    #[arg(long, requires = "paraver")]
    pub force: bool,
}

/// A moment in s: in ns.
fn moment(text: &str) -> Result<u64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is no number of seconds".to_owned())?;
    if (0.0..=1e9).contains(&seconds) {
        Ok((seconds * 1e9).round() as u64)
    } else {
        Err("it is no number of seconds from 0 to 1e9".to_owned())
    }
}

/// Options of `replay`.
#[derive(Args)]
pub struct Replay {
    /// Event logs; of a run on several hosts all of them
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Time of a message of 0 B in us [default: 0, or that of the calibration]
    #[arg(long, value_name = "US", value_parser = not_negative)]
    pub latency: Option<f64>,

    /// Bandwidth of messages in 10^6 B/s [default: without limit, or that of the calibration]
    #[arg(long, value_name = "MB/S", value_parser = positive)]
    pub bandwidth: Option<f64>,

    /// Take latency, bandwidth and the costs of collectives from what topas-mpi calibrate wrote
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,

    /// How many times faster the processors are
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    pub cpu: f64,

    /// Replay the launch whose id begins with this [default: the newest in the logs]
    #[arg(long, value_name = "ID")]
    pub launch: Option<String>,

    /// Print a JSON object of the schema topas.mpi.replay/1
    #[arg(long)]
    pub json: bool,

    /// Print the ranks as CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,

    /// With --csv: print the routines
    #[arg(long, requires = "csv")]
    pub routines: bool,
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("below 0".to_owned()) }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = not_negative(text)?;
    if number > 0.0 { Ok(number) } else { Err("not above 0".to_owned()) }
}

/// Reads the command line. Help, version and errors are printed here; the Err is then
/// the exit code.
pub fn parse() -> Result<Command, u8> {
    CommandLine::try_parse()
        .map(|line| line.command)
        .map_err(|error| TOOL.command_line(&error, exit::FAILED, exit::USAGE))
}
