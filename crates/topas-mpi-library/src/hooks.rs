//! Where analyses that are switched on look at calls. With their bits of [`mode`](crate::mode)
//! clear nothing of this is called, and no call executes an instruction more.
//!
//! In the order of a call of the program's:
//!
//! * [`entered`], with `PATHS` or `LOG`: the outermost call, in C or Fortran, before the clock is
//!   read. [`Frame::caller`] is the return address, [`Frame::stack`] the stack pointer of the caller
//!   behind it. What is found goes to `now.path` of the thread's block, where the `now` line
//!   shows it.
//! * [`returned`], with `WAITS` or `LOG`: a call in C is over, and what it moved was counted. It may
//!   be the one that a function of Fortran stands for.
//! * [`left`], with `PATHS` or `LOG`: the outermost call is over; it lasted from [`Frame::began`] to
//!   `now`.
//!
//! Other nested calls (MPI within MPI) come to none of them.

use crate::frame::Frame;
use crate::mode::{LOG, PATHS, WAITS, has};
use crate::thread::Thread;
use crate::{flow, paths, trace};

/// Modes with [`entered`] and [`left`].
pub const ENTERED: u32 = PATHS | LOG;
/// Modes with [`returned`].
pub const RETURNED: u32 = WAITS | LOG;

/// See the module.
#[inline(always)]
pub fn entered(frame: &mut Frame, thread: &mut Thread) {
    if has(PATHS) {
        paths::enter(frame, thread);
    }
    if has(LOG) {
        trace::enter(frame, thread);
    }
}

/// See the module.
#[inline(always)]
pub fn returned(frame: &Frame, thread: &mut Thread, now: u64) {
    if has(WAITS) {
        flow::waits::after(frame, thread, now);
    }
    if has(LOG) && !core::ptr::eq(thread.outer, frame) {
        trace::reached(frame, thread);
    }
}

/// See the module.
#[inline(always)]
pub fn left(frame: &Frame, thread: &mut Thread, now: u64) {
    if has(LOG) {
        trace::leave(frame, thread, now);
    }
    if has(PATHS) {
        paths::leave(frame.symbol.function(), thread, now.wrapping_sub(frame.began));
    }
}
