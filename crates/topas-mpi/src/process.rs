//! The process: whether it is measured, and since when.

use core::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_mpi_profile::layout::{Block, Header, Moment, flag};

use crate::below::binding;
use crate::thread::Thread;
use crate::{arch, spool, sys};

/// Nothing was decided yet.
const NEW: u32 = 0;
/// Some thread is deciding.
const BUSY: u32 = 1;
/// It is measured.
const ON: u32 = 2;
/// It is not.
const OFF: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(NEW);
static PAUSED: AtomicBool = AtomicBool::new(false);
/// Ticks are nanoseconds of the monotonic clock.
static SLOW_CLOCK: AtomicBool = AtomicBool::new(false);

/// A thread's first call: gives it a block. False if nothing is measured.
#[cold]
#[inline(never)]
pub fn begin(thread: &mut Thread, _function: u32) -> bool {
    loop {
        match STATE.load(Acquire) {
            ON => break,
            OFF => return false,
            NEW if STATE.compare_exchange(NEW, BUSY, Acquire, Relaxed).is_ok() => {
                let on = begin_process();
                STATE.store(if on { ON } else { OFF }, Release);
            }
            _ => core::hint::spin_loop(),
        }
    }
    thread.block = spool::new_block();
    !thread.block.is_null()
}

/// Decides whether this process is measured, and begins.
fn begin_process() -> bool {
    if sys::variable(c"TOPAS_MPI").is_some_and(|value| matches!(value, b"no" | b"off" | b"0")) {
        return false;
    }
    if !arch::ticks_are_even() {
        SLOW_CLOCK.store(true, Relaxed);
        return false;
    }
    let began = now();
    let Some(header) = spool::begin() else { return false };
    header.began = began;
    header.latest = began;
    true
}

/// This moment, by all clocks.
pub fn now() -> Moment {
    Moment { ticks: arch::ticks(), monotonic: sys::clock(1), realtime: sys::clock(0) }
}

/// What is known of the process; None if it is not measured.
pub fn header() -> Option<&'static mut Header> {
    (STATE.load(Acquire) == ON).then(spool::header).flatten()
}

/// Whether measuring is paused.
#[inline(always)]
pub fn paused() -> bool {
    PAUSED.load(Relaxed)
}

/// Pauses measuring, or goes on.
pub fn pause(pause: bool) {
    let Some(header) = header() else { return };
    if PAUSED.swap(pause, Relaxed) == pause {
        return;
    }
    let ticks = arch::ticks();
    if pause {
        header.paused_since = ticks;
    } else {
        header.paused += ticks.wrapping_sub(header.paused_since);
        header.paused_since = 0;
    }
}

/// Notes names of functions that were called: a bit of each [`binding`].
#[cold]
#[inline(never)]
pub fn note_language(names: u32) {
    let Some(header) = header() else { return };
    header.languages |= binding::language(names.trailing_zeros());
    if names & (1 << binding::PMPI | 1 << binding::PMPI_LARGE) != 0 {
        header.flags |= flag::PROFILING;
    }
}

/// All blocks of threads.
pub fn blocks() -> impl Iterator<Item = &'static Block> {
    spool::blocks()
}
