//! The measurement module: what is linked into user programs.
//!
//! Before `main` it decides whether this process is a measuring rank; if so it reads
//! the clocks and opens the counters. At the end it reads them again and appends one
//! line to the log. Nothing runs in between.
//!
//! Rules of this crate, checked by `cargo xtask symcheck` on the built object: no
//! allocation, no panic path, no formatting machinery, no global symbol, nothing imported
//! but the listed functions of libc. System calls are made directly, because a program may
//! define a `read` or `open` of its own, and so that `errno` stays the program's.
#![no_std]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod claim;
mod compiler;
mod counters;
#[cfg(not(topas_run))]
mod entry;
#[cfg(topas_run)]
mod executable;
mod extended;
mod facts;
mod filters;
mod finish;
mod language;
mod library;
mod log;
mod node;
#[cfg(topas_run)]
mod preload;
mod processor;
mod say;
mod seen;
mod signals;
mod site;
mod start;
mod state;

use topas_node::sys;

// Defined nowhere. Whatever could panic would import it, and `symcheck` refuses an object that
// imports what is not listed.
unsafe extern "C" {
    safe fn topas_holds_panic_code() -> !;
}

/// Never reached, and not even linked.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    topas_holds_panic_code()
}
