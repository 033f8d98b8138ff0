//! Makes text from reports: for people, for spreadsheets, for gnuplot and R, as JSON.
//!
//! Pure: no files, no clock, no environment. Each form is a file of its own behind the
//! trait [`ReportForm`]. What was not measured is `-`, empty, NA or null, never 0.
#![forbid(unsafe_code)]

pub mod asking;
pub mod center;
pub mod check;
mod compare;
mod csv;
mod document;
mod endings;
mod fields;
mod figure;
pub mod finding;

mod gnuplot;
pub mod html;
mod json;
pub mod mpi_views;
mod number;
pub mod one_run;
mod period;
mod picture;
mod r;
pub mod record;
mod row;
pub mod runs;
pub mod sacct;
mod skipped;
mod text;
pub mod timeline;
pub mod utilisation;
pub mod view;
pub mod week;
pub mod why;
mod wording;

pub use compare::{COMPARE_SCHEMA, CompareDocument};
pub use csv::{Csv, field as csv_field};
pub use document::{Document, ReportForm};
pub use fields::{fields, measures};
pub use gnuplot::Gnuplot;
pub use json::{Json, JsonLines, ROW_SCHEMA, SCHEMA};
pub use number::{duration, grouped, pe_hours, si_bare};
pub use period::period_words;
pub use picture::{TerminalBars, Weight, bars};
pub use r::R;
pub use skipped::{foreign, looked_at, passed_over, skipped};
pub use text::TextReport;
pub use text::notes::set_aside;
pub use wording::PROSE_WIDTH;
