//! Options for single runs.

use clap::Args;

/// What does not go together with a list of runs, or with one run.
const TABLES_ONLY: [&str; 10] =
    ["by", "measure", "bucket", "upper", "log_scale", "share", "gnuplot", "r", "bars", "check"];

/// Lists of runs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Runs")]
pub struct RunArgs {
    /// List runs, one in each row, instead of making tables. --top N shows the first N of them;
    /// --sort takes the name of a column [default: ended, the latest first]
    #[arg(long, conflicts_with_all = TABLES_ONLY)]
    pub runs: bool,

    /// The columns of the list: fields, measures, and ended, started, wall and lines, which are of
    /// the run as a whole [default: ended, job, user, exe, npes, wall, pe_hours, mflops, end; with
    /// --wide and in forms for programs many more]
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "runs")]
    pub columns: Vec<String>,
}
