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
#![deny(unsafe_code)]

mod decode;
mod distribution;
mod join;
mod kind;
mod own;
mod pattern;
mod period;
mod pseudonym;
mod run;
mod scan;
mod segment;
mod source;
mod statistics;
#[allow(unsafe_code, reason = "a system call")]
mod sys;
mod tally;

pub use distribution::{BucketSize, BucketSizeError, Distribution};
pub use join::Joiner;
pub use kind::Kind;
pub use own::Own;
pub use pattern::Pattern;
pub use period::{DateError, Period, parse_date};
pub use pseudonym::{Anonymizer, Fate, HASHED, Key, KeyError, NoSuchFate};
pub use run::{FpRate, Run};
pub use scan::{BLOCK, MAX_LINE_READ, scan, scan_reader};
pub use segment::SegmentError;
pub use segment::close::{CloseError, CloseOptions, CloseReport, Closing, Left, close};
pub use segment::merge::{MergeOptions, MergeOutput, MergeReport, merge};
pub use segment::month::{Month, NoMonth};
pub use segment::output::Output;
pub use source::{Source, SourceError, expand};
pub use statistics::{PeTime, Share, Statistics};
pub use tally::{Example, Problem, Tally};
