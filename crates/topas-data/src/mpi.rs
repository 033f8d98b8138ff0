//! Profiles of MPI calls: of lines in logs and in files of users, and of the mapped files of
//! ranks, which run or have ended without a word.
//!
//! All times are integers of nanoseconds and all amounts are exact, so that a sum does not
//! depend on the order of ranks.

mod identity;
mod profile;
mod rank;
mod routine;
mod spool;
mod sums;

pub use profile::{Ending, Facts, Level, Origin, Profile, Rank, Subtotal};
pub use rank::{Inside, LiveRank, read_rank};
pub use routine::{Amount, Routine, RoutineNumber, Routines};
pub use spool::{SPOOL_PREFIX, Spool, SpoolError, spool_files};
pub use sums::{
    CLASSES, Class, Communicator, Counter, Peer, Sizes, Sums, Traffic, WAITED_NAMES, Waiting,
};
