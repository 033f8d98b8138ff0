//! What a call moves.

use crate::entry::Frame;
use crate::thread::Thread;

/// What is kept from before a call until after it, in its frame.
#[repr(C, align(16))]
pub struct Kept {
    words: [usize; 32],
}

/// Before the call of a C function: what must be seen or changed before it.
#[inline(always)]
pub fn before(_frame: &mut Frame, _thread: &mut Thread) {}

/// After the call of a C function: what it moved.
#[inline(always)]
pub fn after(_frame: &mut Frame, _thread: &mut Thread) {}

/// Before a call within a call that frees a handle.
#[inline(always)]
pub fn nested(_frame: &mut Frame, _thread: &mut Thread) {}
