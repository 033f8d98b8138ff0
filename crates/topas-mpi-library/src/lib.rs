//! The MPI profile: a library between a program and whatever MPI it has.
//!
//! It defines every function of MPI under its names in C (`MPI_Send`, `PMPI_Send`) and Fortran,
//! counts the call, and passes the very words of the arguments on to the next definition, be it
//! that of a tool or of the MPI. So it needs no header of any MPI, and one build is for all.
//!
//! ```text
//! stub (generated) -> entry: frame of words -> enter -> next definition -> leave -> return
//! ```
//!
//! What a call means is told by tables that are made from `topas-mpi-table`. What it counted
//! stands in a mapped file, see `topas_mpi_profile::layout`.
//!
//! The modules in their order: each uses modules of its own line and of the lines above it only.
//!
//! ```text
//! element symbol mode ticks objects generated::{name,number}   leaves
//! sys lookup below wrapped processor            the kernel, the loader, the next definitions
//! life spool requests workspace                 what is kept, in files and in memory
//! frame counters thread arch clock              a call, a thread, the time
//! paths paths::{interpreted,python,stack}        who calls
//! say files                                     words to the user, files of the user
//! flow trace hooks descriptor generated::table  what calls move, and their event log
//! installation site switches launch preload     whether this process is measured
//! cost process                                  the beginning
//! languages absent ranks report finish          the end
//! special entry leave                           the way of a call
//! ```
#![cfg_attr(not(test), no_std)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod absent;
mod arch;
mod below;
mod clock;
mod cost;
mod counters;
mod descriptor;
mod element;
mod entry;
mod files;
mod finish;
mod first_proxy;
mod flow;
mod frame;
mod generated;
mod hooks;
mod installation;
mod languages;
mod launch;
mod leave;
mod life;
mod lookup;
mod mode;
mod objects;
mod paths;
mod preload;
mod process;
mod processor;
mod ranks;
mod report;
mod requests;
mod say;
mod site;
mod special;
mod spool;
mod switches;
mod symbol;
mod sys;
mod thread;
mod ticks;
mod trace;
mod workspace;
mod wrapped;

// Defined nowhere. Whatever could panic would import it, and `cargo xtask mpi` refuses a library
// that imports what is not listed: so nothing in it panics, and what a program computes goes on.
#[cfg(not(test))]
unsafe extern "C" {
    safe fn topas_holds_panic_code() -> !;
}

/// Never reached, and not even linked.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    topas_holds_panic_code()
}
