//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::{TOOL, exit};

/// Show what the ranks of your running programs do in MPI, live
///
/// The programs must run with the MPI profile: topas-run --mpi, TOPAS_MPI=yes, or linked with it.
#[derive(Clone, Parser)]
#[command(
    name = "topas-top",
    version,
    after_help = "Keys: r ranks, f routines, c communicators, p peers, s sort, / filter, e export, n next launch, \
                  arrows scroll, q quit.\n\nExit codes: 0 the work is done; 1 a file could not be read or \
                  written; 2 the command line is wrong; 3 no program of yours runs with a profile."
)]
pub struct TopArgs {
    /// Look once, print it and end
    #[arg(short = '1', long)]
    pub once: bool,

    /// Print text again and again in place of the screen of a terminal
    #[arg(long)]
    pub plain: bool,

    /// Print comma separated values
    #[arg(long)]
    pub csv: bool,

    /// Seconds between two readings
    #[arg(short, long, value_name = "SECONDS", default_value_t = 2.0, value_parser = period)]
    pub every: f64,

    /// The launch whose id begins with ID [default: the newest that runs]
    #[arg(short, long, value_name = "ID")]
    pub launch: Option<String>,

    /// A directory with the mapped files of ranks; repeat the option for further directories
    /// [default: as for topas-mpi list]
    #[arg(long, value_name = "DIR")]
    pub spool: Vec<PathBuf>,

    /// What is shown
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = TopView::Ranks)]
    pub view: TopView,

    /// The order of rows: by name or rank, by the time in MPI, by the time of waiting for other ranks, or by
    /// how long a rank has been in its call
    #[arg(long, value_name = "BY", value_enum, default_value_t = TopOrder::Name)]
    pub sort: TopOrder,

    /// Only rows that contain this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub filter: String,

    /// Show the ranks on these nodes, too: a reader is started on each
    #[arg(long, value_name = "HOST,...", value_delimiter = ',')]
    pub hosts: Vec<String>,

    /// The command that starts a reader on a node. {host} in it is the name of the node; without it,
    /// the name is appended
    #[arg(long, value_name = "COMMAND", default_value = "ssh", requires = "hosts")]
    pub via: String,

    /// Print what the ranks on this node do, for topas-top on another node, until standard output is
    /// closed
    #[arg(long, hide = true, conflicts_with_all = ["hosts", "csv", "plain"])]
    pub reader: bool,
}

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TopView {
    /// Ranks
    Ranks,
    /// Routines
    Routines,
    /// Communicators
    Comms,
    /// Pairs of ranks
    Peers,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TopOrder {
    /// By rank or name
    Name,
    /// Most time in MPI first
    Mpi,
    /// Most time of waiting for other ranks first, where waits are told apart
    Waits,
    /// Longest call first
    Now,
}

impl TopOrder {
    /// The order behind this one.
    pub fn next(self) -> TopOrder {
        match self {
            TopOrder::Name => TopOrder::Mpi,
            TopOrder::Mpi => TopOrder::Waits,
            TopOrder::Waits => TopOrder::Now,
            TopOrder::Now => TopOrder::Name,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            TopOrder::Name => "name",
            TopOrder::Mpi => "mpi",
            TopOrder::Waits => "waits",
            TopOrder::Now => "now",
        }
    }
}

impl TopArgs {
    /// Time between two readings.
    pub fn period(&self) -> Duration {
        Duration::from_secs_f64(self.every)
    }
}

/// Seconds from 0.1 to a day.
fn period(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if (0.1..=86_400.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("it is not between 0.1 and 86400".to_owned())
    }
}

/// Reads the command line. Help, version and errors are printed here; the Err is then the exit code.
pub fn parse() -> Result<TopArgs, u8> {
    TopArgs::try_parse_from(topas_config::command_line())
        .map_err(|error| TOOL.command_line(&error, exit::FAILED, exit::USAGE))
}
