//! Options for single runs.

use clap::Args;
use topas_data::RunName;

/// What goes together neither with a list of runs nor with one run.
const TABLES_ONLY: [&str; 14] = [
    "by",
    "measure",
    "bucket",
    "upper",
    "log_scale",
    "share",
    "percent",
    "min_runs",
    "gnuplot",
    "r",
    "bars",
    "check",
    "coverage",
    "utilisation",
];

/// What else does not go together with one run.
const LISTS_ONLY: [&str; 7] = ["runs", "columns", "top", "sort", "reverse", "csv", "jsonl"];

/// Lists of runs, and single runs.
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

    /// Tell the runs of this job of the batch system in words: how each ended, its times, rates,
    /// memory, its earlier runs, and what is not known of it
    #[arg(long, value_name = "ID", conflicts_with_all = TABLES_ONLY, conflicts_with_all = LISTS_ONLY)]
    pub job: Option<String>,

    /// Tell the run with this launch id in words. An id can come again; all its runs are told, the
    /// latest first
    #[arg(long = "run", value_name = "ID", conflicts_with = "job", conflicts_with_all = TABLES_ONLY, conflicts_with_all = LISTS_ONLY)]
    pub id: Option<String>,
}

impl RunArgs {
    /// The name of the runs that are to be told in words.
    pub fn name(&self) -> Option<RunName> {
        let bytes = |text: &String| text.clone().into_bytes();
        let job = self.job.as_ref().map(|job| RunName::Job(bytes(job)));
        job.or_else(|| self.id.as_ref().map(|id| RunName::Id(bytes(id))))
    }
}
