//! Who called: walks the stack of a thread without frame pointers.
//!
//! On x86-64 a return address has a rule, which the tables for exceptions (`.eh_frame`) give: where
//! the frame of its function ends, and where that function has saved `rbp`. A rule is made once
//! and kept in a table of fixed size, [`Rows`], which belongs to one thread. So a walk takes no
//! lock and no memory. Only the first sight of a return address asks the loader for its module.
//! On AArch64, where compilers keep frame records, the walk follows these.
//!
//! A walk reads memory of the stack only, between the caller's frame and the end of the stack as
//! told. It stops where no rule is known, and says so. [`Trails`] remember what walks depended on, so
//! that the next one from the same place can be spared.
//!
//! ```text
//! sys -> bytes, module -> frame_table -> rule -> rows -> walk -> trail
//! ```
#![cfg_attr(not(test), no_std)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(target_arch = "x86_64")]
mod bytes;
#[cfg(target_arch = "x86_64")]
mod frame_table;
mod module;
mod rows;
#[cfg(target_arch = "x86_64")]
mod rule;
mod sys;
mod trail;
mod walk;

pub use module::{BUILD_ID, LoadedModule, SegmentPrint, module_of};
pub use rows::Rows;
pub use sys::Memory;
pub use trail::Trails;
pub use walk::{Caller, Walk, WalkEnd, mark_base, walk};
