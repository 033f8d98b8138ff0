//! The executable: see the library part of this crate.
//!
//! There is no Rust `main`: the start-up code of std ignores SIGPIPE and opens closed
//! standard descriptors, and the real driver would inherit both.
#![no_main]

mod sys;
