//! Options of shares.

use clap::{Args, ValueEnum};
use topas_data::PercentOf;

/// What percentages are of.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tables")]
pub struct ShareArgs {
    /// What the percentages of crossed tables are of: the runs with the same value of the first
    /// name (row), of the second (column), or all
    #[arg(long, value_enum, value_name = "OF", default_value = "all")]
    pub percent: Percent,
}

/// What percentages are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Percent {
    /// The runs with the same value of the first name of a crossed table
    Row,
    /// The runs with the same value of the second name
    Column,
    /// All runs
    All,
}

impl From<Percent> for PercentOf {
    fn from(percent: Percent) -> PercentOf {
        match percent {
            Percent::Row => PercentOf::Row,
            Percent::Column => PercentOf::Column,
            Percent::All => PercentOf::All,
        }
    }
}
