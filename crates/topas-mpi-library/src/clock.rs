//! Time: ticks of the processor's counter, or nanoseconds where that is none to trust.

use topas_mpi_profile::layout::Moment;

use crate::{mode, sys, ticks};

/// Decides what a tick is. True if it is a nanosecond.
pub fn begin() -> bool {
    let nanoseconds = !ticks::counter_is_even();
    mode::set(mode::NANOSECONDS, nanoseconds);
    nanoseconds
}

/// Ticks since some moment in the past.
#[inline(always)]
pub fn ticks() -> u64 {
    if mode::has(mode::NANOSECONDS) { nanoseconds() } else { ticks::counter() }
}

#[cold]
#[inline(never)]
fn nanoseconds() -> u64 {
    sys::monotonic()
}

/// This moment, by all clocks.
pub fn now() -> Moment {
    Moment { ticks: ticks(), monotonic: sys::clock(1), realtime: sys::clock(0) }
}
