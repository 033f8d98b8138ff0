//! Why a rank of MPI waits: for a sender that is late, for a receiver that is late, or for the last
//! rank of a collective.
//!
//! Nothing is sent. Messages have numbers: the n-th send of a key (communicator, source,
//! destination, tag) is the n-th receive of that key in the order in which receives were posted,
//! because messages do not overtake. Each rank publishes when it began to send, and when it
//! posted a receive, by number, in a board that the other ranks of its node can read. Who was in a
//! call for long looks there whether the other side was late.
//!
//! ```text
//! key: which messages are counted together    board: rings of stamps, by key
//! wait: what follows from moments             posts: receives whose number is not known yet
//! epochs: accesses to windows that go on      neighbors: who they are in a communicator
//! engine: what a rank does                    collective: arrivals in collectives
//! far: what ranks of several nodes tell each other at the end
//! clocks: how their clocks differ, and drift against each other
//! protocol: which messages go without their receiver
//! absence: ranks that call no MPI
//! ```
//!
//! Moments are ticks of a clock that all ranks of a node share. No code here allocates, locks,
//! panics, or waits; what does not fit into a table is counted as uncertain.
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(test)]
extern crate std;

pub mod absence;
pub mod board;
pub mod clocks;
pub mod collective;
pub mod engine;
pub mod epochs;
pub mod far;
pub mod key;
pub mod neighbors;
pub mod posts;
pub mod protocol;
pub mod wait;

#[cfg(test)]
mod simulation;
