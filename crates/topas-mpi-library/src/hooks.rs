//! Where analyses that are switched on look at calls. With their bits of [`mode`](crate::mode)
//! clear nothing of this is called, and no call executes an instruction more.
//!
//! In the order of a call of the program's:
//!
//! * [`entered`], with `PATHS`: the outermost call, in C or Fortran, before the clock is
//!   read. [`Frame::caller`] is the return address, [`Frame::stack`] the stack pointer of the caller
//!   behind it. What is found goes to `now.path` of the thread's block, where the `now` line
//!   shows it.
//! * [`returned`], with `WAITS` or `LOG`: a call in C is over, and what it moved was counted. It may
//!   be the one that a function of Fortran stands for.
//! * [`left`], with `PATHS` or `LOG`: the outermost call is over; it lasted from [`Frame::began`] to
//!   `now`, and it is known what it moved if it is one in C.
//!
//! Other nested calls (MPI within MPI) come to none of them.

use crate::flow::Moved;
use crate::frame::Frame;
use crate::mode::{ANY, COMMUNICATORS, LOG, PATHS, WAITS, has, mode, paused};
use crate::thread::Thread;
use crate::{flow, paths, trace};

/// Modes with [`left`].
pub const LEFT: u32 = PATHS | LOG;
/// Modes that are told what a call moved.
pub const MOVED: u32 = PATHS | LOG;
/// Modes with [`returned`].
pub const RETURNED: u32 = WAITS | LOG;
/// Modes in which something is noted of calls that move nothing.
pub const NOTED: u32 = RETURNED | COMMUNICATORS;

/// See the module.
#[inline(always)]
pub fn entered(frame: &mut Frame, thread: &mut Thread) {
    if has(PATHS) {
        paths::enter(frame, thread);
    }
}

/// See the module.
#[inline(always)]
pub fn returned(frame: &Frame, thread: &mut Thread, now: u64, moved: Moved) {
    let is_noted = frame.result as i32 == 0 && !paused() && noted::<true>(frame, thread, now);
    if has(WAITS) && !is_noted {
        flow::waits::after(frame, thread, now);
    }
    if !core::ptr::eq(thread.outer, frame) {
        reached(frame, thread, moved);
    }
}

/// The same of a successful call that moves nothing, but for [`reached`]: false if it is left to [`returned`]. `ASKS` if it
/// may be one that asks for a message.
#[inline(always)]
pub fn noted<const ASKS: bool>(frame: &Frame, thread: &mut Thread, now: u64) -> bool {
    !has(WAITS) || flow::waits::quick::noted::<ASKS>(frame, thread, now)
}

/// Whether a call asks for a message, and that matters.
#[inline(always)]
pub fn asks(frame: &Frame) -> bool {
    has(WAITS) && flow::waits::quick::asks(frame)
}

/// A call in C is over that one in Fortran has made.
#[inline(always)]
pub fn reached(frame: &Frame, thread: &mut Thread, [sent, received]: Moved) {
    if has(LOG) {
        trace::reached(frame, thread, sent, received);
    }
}

/// See the module.
#[inline(always)]
pub fn left<const WAY: u8>(frame: &Frame, thread: &mut Thread, now: u64, moved: Moved) {
    let bits = mode();
    if bits & LEFT == 0 {
        return;
    }
    if WAY == ANY || bits & PATHS != 0 {
        let [sent, received] = moved;
        return left_in_general(frame, thread, sent, now, received);
    }
    left_to_log(frame, thread, now, moved);
}

/// The same while nothing but `LOG` is switched on.
#[inline(always)]
pub fn left_to_log(frame: &Frame, thread: &mut Thread, now: u64, [sent, received]: Moved) {
    trace::leave(frame, thread, sent, now, received);
}

/// The same if paths are counted, or whatever is switched on. The order of the parameters is that of
/// [`trace::leave`].
#[inline(never)]
fn left_in_general(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    if has(LOG) {
        return left_logged(frame, thread, sent, now, received);
    }
    if has(PATHS) {
        leave_path(frame, thread, sent, now, received);
    }
}

#[inline(never)]
fn left_logged(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    if !paused() {
        trace::leave_by_path(frame, thread, sent, now, received);
    }
    if has(PATHS) {
        leave_path(frame, thread, sent, now, received);
    }
}

#[inline(always)]
fn leave_path(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    paths::leave(frame.symbol, thread, now.wrapping_sub(frame.began), [sent, received]);
}
