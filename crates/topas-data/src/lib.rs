//! Finds and reads logs, joins the lines of a run, aggregates.
//!
//! This crate alone opens logs. It makes no text: what it returns goes to
//! `topas-render`. The way of a line through it:
//!
//! ```text
//! Source -> scan (decompress, split, Line::parse) -> Joiner -> Run -> Statistics
//!            bad lines, counted: Tally                Period ^
//! ```
//!
//! Nothing in a log is fatal: a line that cannot be read is counted by its fault in
//! [`Tally`], a file that ends too soon gives the lines before the break and an error
//! that says so.
#![forbid(unsafe_code)]

mod decode;
mod engine;
pub mod field;
mod group;
mod join;
pub mod measure;
mod period;
mod query;
mod question;
mod remark;
mod report;
mod run;
mod scan;
mod share;
mod source;
mod tally;

pub use engine::{Answer, MEMORY, Progress, Resources, TemporaryError, ask};
pub use field::parse_size;
pub use join::Joiner;
pub use period::{DateError, Period, parse_date};
pub use query::{Expression, ExpressionError, MOST_NESTED, Selection};
pub use question::{Fold, Question};
pub use remark::{APART, MOST_CPUS, Oddities, Remarks};
pub use report::{By, Label, Order, Plan, PlanError, Report, Row, SortKey, Table};
pub use run::{CpuTime, Detail, FpRate, PeRecord, Run};
pub use scan::{BLOCK, MAX_LINE_READ, scan, scan_reader};
pub use share::{PeTime, Share};
pub use source::{Source, SourceError, expand};
pub use tally::{Example, Problem, Tally};
pub use topas_format::line::Fault;
