//! What the measurement module writes and the tools read.
//!
//! This crate owns the log line (one field table serves writer and parser), the
//! event table with its formulas, the syntax of `topas.conf` and the names of all
//! environment variables. It is pure `core`: no allocation, no dependency, no
//! feature, no `unsafe`, and no path through it can panic, because the same source
//! is linked into user programs and into the tools. Comforts that need `std` live
//! in `topas-data`.
//!
//! The normative description of the line is `doc/format.md`.
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(test)]
extern crate std;

pub mod capacity;
pub mod civil;
pub mod conf;
pub mod env;
pub mod escape;
pub mod event;
pub mod extra;
pub mod field;
pub mod form;
pub mod hash;
pub mod line;
pub mod module_facts;
pub mod mpi_conf;
mod name_list;
pub mod number;
pub mod out;
pub mod policy;
pub mod shown;
pub mod slot;
pub mod target;
pub mod text;
pub mod zone;

/// Version of the log line, the value of its `v=` token.
pub const LINE_VERSION: u64 = 1;

/// Longest log line in bytes, with its newline. One `write` of this size is
/// appended whole by every local file system, and no syslog relay cuts it.
pub const MAX_LINE: usize = 1000;
