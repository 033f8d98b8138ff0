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

/// This moment, by all clocks. Of three tries, that counts which was interrupted least between them.
pub fn now() -> Moment {
    let (mut ticks_then, mut monotonic, mut shortest) = (0, 0, u64::MAX);
    for _ in 0..3 {
        let before = ticks();
        let between = sys::clock(1);
        let took = ticks().wrapping_sub(before);
        if took < shortest {
            (ticks_then, monotonic, shortest) = (before.wrapping_add(took / 2), between, took);
        }
    }
    Moment { ticks: ticks_then, monotonic, realtime: sys::clock(0) }
}
