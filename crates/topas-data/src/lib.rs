//! Finds and reads logs, joins the lines of a run, aggregates.
//!
//! This crate alone opens logs. It makes no text: what it returns goes to
//! `topas-render`. The way of a line through it:
//!
//! ```text
//! Source -> feed (blocks of whole lines) -> block (Line::parse) -> Question: wanted, group
//!            any thread takes the next       bad lines: Tally          |
//!                                                                      v
//!         Fold <- Run <- launch (lines of one run) <- join <- store (records by launch)
//! ```
//!
//! [`ask`] does all of it on several threads and in bounded memory; [`scan`] reads the lines
//! of one source in their order.
//!
//! Nothing in a log is fatal: a line that cannot be read is counted by its fault in
//! [`Tally`], a file that ends too soon gives the lines before the break and an error
//! that says so.
#![deny(unsafe_code)]

mod block;
mod decode;
mod distribution;
mod engine;
mod feed;
mod group;
mod join;
mod own;
mod pattern;
mod period;
mod pseudonym;
mod question;
mod remark;
mod run;
mod scan;
mod segment;
mod source;
mod statistics;
#[allow(unsafe_code, reason = "a system call")]
mod sys;
mod tally;

pub use block::MAX_LINE_READ;
pub use distribution::{BucketSize, BucketSizeError, Distribution};
pub use engine::{Answer, MEMORY, Progress, Resources, TemporaryError, ask};
pub use feed::BLOCK;
pub use join::Joiner;
pub use own::Own;
pub use pattern::Pattern;
pub use period::{DateError, Period, parse_date};
pub use pseudonym::{Anonymizer, Fate, HASHED, Key, KeyError, NoSuchFate};
pub use question::{Fold, Question};
pub use remark::{APART, MOST_CPUS, Oddities, Remarks};
pub use run::{CpuTime, Detail, FpRate, PeRecord, Run};
pub use scan::{scan, scan_reader};
pub use segment::SegmentError;
pub use segment::close::{CloseError, CloseOptions, CloseReport, Closing, Left, close};
pub use segment::lines::each_line;
pub use segment::merge::{MergeOptions, MergeOutput, MergeReport, merge};
pub use segment::month::{Month, NoMonth};
pub use segment::output::Output;
pub use source::{Source, SourceError, expand};
pub use statistics::{PeTime, Share, Statistics};
pub use tally::{Example, Problem, Tally};
