//! How the tools speak: messages on standard error, data on standard output, a line of
//! progress, and what the terminal can show.
//!
//! All tools say things in one form:
//!
//! ```text
//! TOOL: error: what happened, with the value
//!   cause: what the system says
//!   hint: what to do
//! ```
#![deny(unsafe_code)]

#[cfg(target_env = "musl")]
mod allocator;
mod look;
mod progress;
#[allow(unsafe_code, reason = "memory of static tools")]
mod sys;
mod tool;

pub use look::{ColorWish, Look};
pub use progress::Progress;
pub use tool::{Printed, Tool, shown, shown_lines};
