//! Which launcher started this process, which rank it is, and whether it measures.
//!
//! Pure: the environment comes in as byte strings, the few questions that need the
//! system are a trait ([`Proof`]), and the answer is data. The measurement module asks
//! before `main`; tools ask to show the same answer. No allocation, no panic, no
//! `unsafe`, for the same reasons as in `topas-format`.
//!
//! A new launcher is a row in [`launcher`] and its variables in [`vars`].
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(test)]
extern crate std;

pub mod choice;
pub mod extended;
pub mod gather;
pub mod hash;
pub mod job;
pub mod launcher;
pub mod marker;
pub mod named;
pub mod preload;
pub mod proxy;
pub mod through;
pub mod vars;

pub use launcher::{Family, Proof, Rank, find, nearest};
pub use vars::{Var, Vars};
