//! Which days.

use clap::Args;
use topas_data::{Period, PeriodError, clock, parse_period};

/// The days that runs ended on.
#[derive(Args, Debug)]
#[command(next_help_heading = "Selection")]
pub struct PeriodArgs {
    /// Select the runs that ended on this day or later: YYYY-MM-DD, or the first day of a period
    /// such as 7d, `last month`, 2026-10
    #[arg(long, value_name = "WHEN", value_parser = period)]
    pub since: Option<Period>,

    /// Select the runs that ended on this day or before, or on the last day of a period
    #[arg(long, value_name = "WHEN", value_parser = period)]
    pub until: Option<Period>,

    /// Select the runs that ended in a period: `last week`, `this month`, 30d, yesterday, 2026-10,
    /// 2026-Q4
    #[arg(long, value_name = "PERIOD", value_parser = period, conflicts_with_all = ["since", "until"])]
    pub period: Option<Period>,
}

/// The period that a text says today.
pub fn period(text: &str) -> Result<Period, PeriodError> {
    parse_period(text, clock::now().date)
}

impl PeriodArgs {
    /// The days asked for; those that are not bounded are open.
    pub fn days(&self) -> Period {
        self.period.unwrap_or(Period {
            since: self.since.and_then(|period| period.since),
            until: self.until.and_then(|period| period.until),
        })
    }
}
