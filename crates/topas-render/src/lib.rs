//! Makes text from statistics: for people, for spreadsheets, for gnuplot, as JSON.
//!
//! Pure: no files, no clock, no environment. Each form is a file of its own behind the
//! trait [`Form`]. What was not measured is `-`, empty or null, never 0.
#![forbid(unsafe_code)]

pub mod chart;
mod csv;
mod gnuplot;
mod json;
mod number;
pub mod record;
mod table;
mod text;

pub use csv::Csv;
pub use gnuplot::Gnuplot;
pub use json::{Json, SCHEMA};
pub use text::Text;

use topas_data::Statistics;

/// A form that statistics can be given in.
pub trait Form {
    /// The whole output, with a newline at its end.
    fn render(&self, statistics: &Statistics) -> String;
}

/// The report for people: [`Text`].
pub fn report(statistics: &Statistics) -> String {
    Text.render(statistics)
}
