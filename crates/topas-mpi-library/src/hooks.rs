//! Where analyses that are switched on look at calls. With their bits of [`mode`](crate::mode)
//! clear nothing of this is called, and no call executes an instruction more.
//!
//! In the order of a call of the program's:
//!
//! * [`entered`], with `PATHS`: the outermost call, in C or Fortran, before the clock is read.
//!   [`Frame::caller`] is the return address, [`Frame::stack`] the stack pointer of the caller
//!   behind it. What is found goes to `now.path` of the thread's block, where the `now` line
//!   shows it.
//! * [`left`], with `PATHS`: the outermost call is over; it lasted from [`Frame::began`] to `now`.
//!
//! Nested calls (MPI within MPI) come to none of them.

use crate::frame::Frame;
use crate::mode::{PATHS, has};
use crate::paths;
use crate::thread::Thread;

/// See the module.
#[inline(always)]
pub fn entered(frame: &mut Frame, thread: &mut Thread) {
    paths::enter(frame, thread);
}

/// See the module.
#[inline(always)]
pub fn left(frame: &Frame, thread: &mut Thread, now: u64) {
    if has(PATHS) {
        paths::leave(frame.symbol.function(), thread, now.wrapping_sub(frame.began));
    }
}
