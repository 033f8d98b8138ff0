//! Time: ticks of the processor's counter, or nanoseconds where that is none to trust.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use topas_mpi_profile::layout::Moment;

use crate::{sys, ticks};

/// Ticks are nanoseconds of the monotonic clock.
static NANOSECONDS: AtomicBool = AtomicBool::new(false);

/// Decides what a tick is. True if it is a nanosecond.
pub fn begin() -> bool {
    let nanoseconds = !ticks::counter_is_even();
    NANOSECONDS.store(nanoseconds, Relaxed);
    nanoseconds
}

/// Ticks since some moment in the past.
#[inline(always)]
pub fn ticks() -> u64 {
    if NANOSECONDS.load(Relaxed) { sys::monotonic() } else { ticks::counter() }
}

/// This moment, by all clocks.
pub fn now() -> Moment {
    Moment { ticks: ticks(), monotonic: sys::clock(1), realtime: sys::clock(0) }
}
