//! The event log of MPI calls: one event for each call, delta coded, in blocks of 64 KiB.
//!
//! A block can be read without any other block. So the blocks of a thread may be a ring, of which the
//! newest part is always there, and the log of a host is made by writing blocks behind one another.
//! `doc/trace.md` describes every byte.
//!
//! Nothing here allocates, panics or makes a system call: the writer stands in every call of MPI.
//! The reader believes nothing that a block says of itself.
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(test)]
extern crate std;

mod block;
mod event;
mod name;
mod pause;
mod reader;
mod ring;
mod state;
mod supplement;
mod writer;

pub use block::{
    BODY, BlockContent, BlockHead, BlockHeadError, HEAD, LENGTH, MAGIC, TraceBlock, VERSION,
    checksum,
};
pub use event::{ARGUMENTS, CallArguments, CallEvent, NOBODY, ROUTINES, UNKNOWN_RANK};
pub use name::{CommunicatorName, NAME, NameBytes};
pub use reader::{Damage, EventCursor, EventPlace, Events};
pub use ring::{RING_MAGIC, RingHead};
pub use state::{STATE_BEGINS, STATE_ENDS, UserState};
pub use supplement::{
    LoggedEpoch, LoggedObject, MOST_OF_OBJECT, OBJECT_NAME, SupplementWriter, most_of_epoch,
};
pub use writer::Writer;
