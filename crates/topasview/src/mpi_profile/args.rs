//! Options of the MPI profile.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use topas_render::mpi_views::{Direction, MATRICES, Matrix, View};

/// What is shown of the profile of MPI calls.
#[derive(Args)]
#[command(next_help_heading = "Profile of MPI calls")]
pub struct MpiArgs {
    /// Show the profile of MPI calls that the files hold. Without files, show the profile of
    /// topas-mpi.out in the working directory, or else that of your own ranks which run on this
    /// node or were killed on it
    #[arg(long = "mpi")]
    pub on: bool,

    /// Show what was counted until subtotal N, which the program wrote by MPI_Pcontrol
    #[arg(long, value_name = "N", requires = "on")]
    pub at: Option<u32>,

    /// Show a matrix of ranks by routines in the form of MPInside: times, bytes or messages
    #[arg(long, value_name = "WHAT", value_enum, requires = "on")]
    pub matrix: Option<Which>,

    /// Show every routine and what its time was spent on
    #[arg(long, requires = "on")]
    pub routines: bool,

    /// Read the latency and the bandwidth of routines from a file that `topas-mpi calibrate` wrote
    #[arg(long, value_name = "FILE", requires = "on")]
    pub calibration: Option<PathBuf>,

    /// Show the parallel efficiency as load balance x communication efficiency
    #[arg(long, requires = "on")]
    pub efficiency: bool,

    /// Show what the ranks sent to each other
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        requires = "on",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "sent"
    )]
    pub peers: Option<Pairs>,

    /// Show the messages by their size
    #[arg(long, requires = "on")]
    pub sizes: bool,

    /// Show the calls by communicator
    #[arg(long, requires = "on")]
    pub comms: bool,

    /// Show the callers of MPI routines: for each call path its time, calls and bytes, with functions
    /// and lines of the source. With =ranks, every rank has rows of its own
    #[arg(
        long,
        value_name = "OF",
        value_enum,
        requires = "on",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all"
    )]
    pub paths: Option<PathsOf>,

    /// Show for whom each call path waited: the other rank, the callers there, and how closely the two
    /// are in step
    #[arg(long, requires = "on")]
    pub partners: bool,

    /// Show why the ranks waited for each other: for senders and receivers that were late, and in
    /// collectives
    #[arg(long, requires = "on")]
    pub waits: bool,

    /// Show metrics of process creation, one-sided communication and files
    #[arg(long, requires = "on")]
    pub metrics: bool,

    /// Show the hardware counters inside and outside of MPI
    #[arg(long, requires = "on")]
    pub counters: bool,

    /// Show the environment variables that switch features of the MPI library
    #[arg(long, requires = "on")]
    pub switches: bool,
}

/// Whose call paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PathsOf {
    /// Of all ranks together
    All,
    /// Of each rank
    Ranks,
}

/// Matrices of ranks by routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Which {
    /// Wall clock time
    Time,
    /// Bytes sent
    Sent,
    /// Messages sent
    Sends,
    /// Bytes received
    Received,
    /// Messages received
    Receives,
    /// All five
    All,
}

/// Matrices of ranks by ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pairs {
    /// Bytes sent
    Sent,
    /// Messages sent
    Sends,
    /// Bytes received
    Received,
    /// Messages received
    Receives,
}

impl Which {
    fn matrices(self) -> Vec<Matrix> {
        match self {
            Which::Time => vec![Matrix::Time],
            Which::Sent => vec![Matrix::Sent],
            Which::Sends => vec![Matrix::Sends],
            Which::Received => vec![Matrix::Received],
            Which::Receives => vec![Matrix::Receives],
            Which::All => MATRICES.to_vec(),
        }
    }
}

impl From<Pairs> for Direction {
    fn from(pairs: Pairs) -> Self {
        match pairs {
            Pairs::Sent => Direction::Sent,
            Pairs::Sends => Direction::Sends,
            Pairs::Received => Direction::Received,
            Pairs::Receives => Direction::Receives,
        }
    }
}

impl MpiArgs {
    /// Views that are asked for, in the order in which they are shown; none: the overview.
    pub fn views(&self) -> Vec<View> {
        let mut views = Vec::new();
        if let Some(which) = self.matrix {
            views.extend(which.matrices().into_iter().map(View::Matrix));
        }
        views.extend(self.routines.then_some(View::Routines));
        views.extend(self.efficiency.then_some(View::Efficiency));
        views.extend(self.peers.map(|pairs| View::Peers(pairs.into())));
        let others = [
            (self.sizes, View::Sizes),
            (self.comms, View::Communicators),
            (self.paths.is_some(), View::Paths),
            (self.partners, View::Partners),
            (self.waits, View::Waits),
            (self.metrics, View::Metrics),
            (self.counters, View::Counters),
            (self.switches, View::Switches),
        ];
        views.extend(others.iter().filter(|(asked, _)| *asked).map(|(_, view)| *view));
        views
    }

    /// Number of kinds of views that are asked for.
    pub fn kinds(&self) -> usize {
        let matrices = self.matrix.map_or(0, |which| which.matrices().len());
        self.views().len() - matrices + usize::from(matrices > 0)
    }
}
