//! The library of the MPI profile against real MPIs: calls, count arguments and bytes of every
//! function, in C and Fortran, as the programs themselves know them.

mod collectives;
mod compiled;
mod counted;
mod fortran;
mod launch;
mod profile;
mod rest;
mod single;
mod threads;
mod traffic;
