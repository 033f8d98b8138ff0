//! Exit codes of `topas-mpi`. They are public: scripts rely on them.

/// Done, also if there was nothing to do.
pub const OK: u8 = 0;
/// Something could not be read, written or removed, and is still there, or no launch has the id that was asked for.
pub const FAILED: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// There is no MPI to calibrate, or not one that is known.
pub const NO_MPI: u8 = 4;
