//! The options of jobs.

use std::path::PathBuf;

use clap::Args;

/// What the batch system tells of the jobs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Jobs")]
pub struct SacctArgs {
    /// Jobs as `sacct -P` prints them, with its header, or as `sacct --json` does, for the fields
    /// sacct.account, sacct.qos, sacct.state and others; repeat the option for further files
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub sacct: Vec<PathBuf>,

    /// Show which jobs of --sacct left a line, and the likely reasons of the others
    #[arg(
        long,
        requires = "sacct",
        conflicts_with_all = [
            "check", "utilisation", "by", "measure", "bucket", "upper", "log_scale", "min_runs", "sort",
            "reverse", "runs", "columns", "job", "id", "percent", "gnuplot", "r", "bars", "svg", "png", "share", "mine", "since", "until", "period",
            "user", "exe", "lang", "mplib", "mode", "min_pes", "max_pes", "conditions",
        ]
    )]
    pub coverage: bool,
}
