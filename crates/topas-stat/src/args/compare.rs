//! Options of a comparison.

use clap::Args;
use topas_data::Period;

use super::period::period;

/// What does not go together with a comparison.
const REPORTS_ONLY: [&str; 13] = [
    "runs",
    "job",
    "id",
    "bucket",
    "upper",
    "log_scale",
    "min_runs",
    "share",
    "percent",
    "check",
    "sacct",
    "coverage",
    "utilisation",
];

/// What is compared with the runs that are selected.
#[derive(Args, Debug)]
#[command(next_help_heading = "Comparison")]
pub struct CompareArgs {
    /// Compare the selected runs with those that ended in another period (`last month`, 2026-09):
    /// what changed in each group, and whether that is more than noise. Without --since, --until
    /// and --period, the selected runs are those after this period [default of --by: exe; of
    /// --measure: wall, mflops, pe_hours]
    #[arg(long, value_name = "PERIOD", value_parser = period, conflicts_with_all = REPORTS_ONLY)]
    pub compare: Option<Period>,

    /// Compare the runs for which --where is true with those for which this expression is true;
    /// repeat the option for further conditions
    #[arg(long, value_name = "EXPRESSION", conflicts_with_all = REPORTS_ONLY)]
    pub compare_where: Vec<String>,
}

impl CompareArgs {
    /// Whether a comparison is asked for.
    pub fn is_given(&self) -> bool {
        self.compare.is_some() || !self.compare_where.is_empty()
    }
}
