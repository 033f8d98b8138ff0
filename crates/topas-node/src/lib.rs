//! What the measurement module and the library of MPI profiles have in common below
//! `topas-format`: system calls, made directly, because a program may define a `read` or `open`
//! of its own, and so that `errno` stays the program's.
#![no_std]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod gather;
pub mod log;
pub mod program;
pub mod proof;
pub mod sys;
