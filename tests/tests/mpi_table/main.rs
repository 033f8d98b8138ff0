//! The table of MPI against the MPIs at hand: what their headers declare, as the C compiler
//! understands it, what their Fortran modules declare, what their libraries export, and what
//! their calls do to buffers.
//!
//! Debian's two by default; with `TOPAS_TEST_ALL_MPI` those of that directory as well, up to
//! MPI 5.0. Their headers are Python packages' and have no Fortran modules.

mod abi;
mod alone;
mod bytes;
mod fortran;
mod headers;
mod judge;
mod symbols;
