//! What the MPI profile of a rank is: its layout in a mapped file, sums over ranks, and the
//! lines of text that logs and files of users hold.
//!
//! The library in the program writes what the tools read, so both use this crate.
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(test)]
extern crate std;

mod digits;
pub mod facts;
pub mod figure;
pub mod keys;
pub mod layout;
pub mod lines;
pub mod parse;
pub mod routine;
pub mod sums;
pub mod wire;
