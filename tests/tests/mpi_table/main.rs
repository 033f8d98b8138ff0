//! The table of MPI against the MPIs at hand: what their headers declare, as the C compiler
//! understands it, what their Fortran modules declare, and what their libraries export.
//!
//! Debian's two by default; with `TOPAS_TEST_ALL_MPI` those of that directory as well, up to
//! MPI 5.0. Their headers are Python packages' and have no Fortran modules.

mod bytes;
mod calls;
mod fortran;
mod headers;
mod judge;
mod symbols;
