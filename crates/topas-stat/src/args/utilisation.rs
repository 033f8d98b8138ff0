//! The options of utilisation.

use std::path::{Path, PathBuf};

use clap::Args;
use topas_data::PeriodStep;

use crate::asked::wrong;

/// Words of the periods.
const STEPS: [PeriodStep; 5] = [
    PeriodStep::Hour,
    PeriodStep::Day,
    PeriodStep::Week,
    PeriodStep::Month,
    PeriodStep::HourOfWeek,
];

/// How much of the machine was used.
#[derive(Args, Debug)]
#[command(next_help_heading = "Utilisation")]
pub struct UtilisationArgs {
    /// Show the PE-hours used of those available in each hour, day, week or month, or by hour-of-week
    /// [default: day]. A run is spread over the time it ran. --since and --until select the periods.
    /// --bars, --svg and --png draw a calendar; --top N shows the periods that were used most, with
    /// --reverse those that were used least
    #[arg(
        long,
        value_name = "PERIOD",
        num_args = 0..=1,
        default_missing_value = "day",
        alias = "utilization",
        conflicts_with_all = [
            "check", "by", "measure", "bucket", "upper", "log_scale", "min_runs", "runs", "columns", "job", "id", "percent", "gnuplot", "r", "share",
        ]
    )]
    pub utilisation: Option<String>,

    /// The number of PEs from a day on, of a partition or of the whole machine, in place of
    /// capacity = in topas.conf; repeat the option for further days and partitions. PES is a
    /// number, or NODESxPES
    #[arg(long, value_name = "[DATE] [PARTITION] PES", requires = "utilisation")]
    pub capacity: Vec<String>,
}

impl UtilisationArgs {
    /// Whether utilisation is asked for.
    pub fn is_asked(&self) -> bool {
        self.utilisation.is_some()
    }

    /// The periods.
    pub fn step(&self) -> PeriodStep {
        let word = self.utilisation.as_deref();
        let step = STEPS.into_iter().find(|step| word == Some(step.name()));
        step.unwrap_or_default()
    }

    /// The word behind `--utilisation` if it is no period but an input: the period may be left
    /// out. What is neither is said; the Err is then the exit code.
    pub fn take_input(&mut self) -> Result<Option<PathBuf>, u8> {
        let Some(word) = &self.utilisation else { return Ok(None) };
        if STEPS.iter().any(|step| step.name() == word) {
            return Ok(None);
        }
        let is_pattern = word.contains(['*', '?', '[', '%']);
        if word == "-" || is_pattern || Path::new(word).exists() {
            return Ok(self
                .utilisation
                .replace(PeriodStep::default().name().to_owned())
                .map(PathBuf::from));
        }
        let what = format!("--utilisation: '{word}' is neither a period nor a file");
        Err(wrong(what, "the periods are hour, day, week, month and hour-of-week"))
    }
}
