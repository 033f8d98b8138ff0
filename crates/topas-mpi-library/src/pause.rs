//! Whether measuring is paused, as `MPI_Pcontrol` says: a flag that every call looks at.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

static PAUSED: AtomicBool = AtomicBool::new(false);

/// Whether measuring is paused.
#[inline(always)]
pub fn paused() -> bool {
    PAUSED.load(Relaxed)
}

/// Pauses measuring, or goes on. True if it was not so before.
pub fn pause(pause: bool) -> bool {
    PAUSED.swap(pause, Relaxed) != pause
}
