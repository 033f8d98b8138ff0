//! The variables of a thread.

use topas_mpi_profile::layout::Block;

use crate::counters::ThreadCounters;
use crate::frame::Frame;
use crate::paths::ThreadPaths;
use crate::symbol::{StubBinding, StubSymbol};
use crate::trace::ThreadLog;

/// Variables of a thread; zero at its beginning. The assembly in `entry/` allocates them.
#[repr(C)]
pub struct Thread {
    /// The outermost call the thread is in
    pub outer: *mut Frame,
    /// When that began. It stands in the frame, too: a frame that was left by a jump does not
    /// hold it for long.
    pub cookie: u64,
    /// What it counts; null before its first call
    pub block: *mut Block,
    /// The C function, plus 1, that a Fortran function is expected to call and that did not yet
    awaited: u32,
    /// Names seen: a bit of each
    pub bindings: u32,
    /// For `flow`: what it keeps for the thread
    pub flow: usize,
    /// There was no room for it
    pub lost: bool,
    /// Hardware counters; null if they are not wanted, or cannot be read
    pub counters: *mut ThreadCounters,
    /// What it keeps for call paths; null if they are not counted
    pub paths: *mut ThreadPaths,
    /// What it keeps for the event log; null if there is none
    pub log: *mut ThreadLog,
    reserved: [usize; 7],
}

const _: () = assert!(size_of::<Thread>() == 128);

impl Thread {
    /// Whether the thread is in the call it said it is in. A jump or an exception may have left it:
    /// then the stack was cut above it, and soon holds something else. A frame that reaches into
    /// that of the call shows it at once.
    #[inline(always)]
    pub fn is_inside(&mut self, frame: *mut Frame) -> bool {
        // SAFETY: a place of this thread's stack, readable even if the frame is gone.
        let began = unsafe { core::ptr::read_volatile(&raw const (*self.outer).began) };
        if self.outer >= frame.wrapping_add(1) && began == self.cookie {
            return true;
        }
        self.outer = core::ptr::null_mut();
        self.awaited = 0;
        false
    }

    /// An outermost call of Fortran is over. True if its C function was not reached.
    #[inline(always)]
    pub fn leaves(&mut self) -> bool {
        core::mem::take(&mut self.awaited) != 0
    }

    /// Whether a Fortran function was called, and its C function not yet.
    #[inline(always)]
    pub fn still_awaits(&self) -> bool {
        self.awaited != 0
    }

    /// A Fortran function begins, whose C function will tell what it moves.
    #[inline(always)]
    pub fn awaits(&mut self, function: u32) {
        self.awaited = function + 1;
    }

    /// Whether this nested call is the C function that a Fortran function stands for.
    #[inline(always)]
    pub fn wants(&self, symbol: StubSymbol) -> bool {
        self.awaited == symbol.without_name_in_c() + 1
    }

    /// The C function has been reached.
    #[inline(always)]
    pub fn reached(&mut self) {
        self.awaited = 0;
    }

    /// Whether no function was called yet by such a name. So it is of every name as long as the thread has
    /// no block.
    #[inline(always)]
    pub fn is_new_binding(&self, binding: StubBinding) -> bool {
        !binding.is_in(self.bindings)
    }

    /// Notes by which of its names a function was called.
    pub fn note_binding(&mut self, binding: StubBinding) {
        self.bindings |= binding.bit();
    }
}
