//! What differs from the plain way of a call: bits that every call looks at together. While there
//! are none a call takes the shortest way; the assembly looks at the first itself.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Nothing is measured: the assembly jumps on to what lies below.
pub const OFF: u32 = 1;
/// Measuring is paused, as `MPI_Pcontrol` says.
pub const PAUSED: u32 = 1 << 1;
/// Ticks are nanoseconds of the monotonic clock.
pub const NANOSECONDS: u32 = 1 << 2;
/// Some thread reads hardware counters.
pub const COUNTERS: u32 = 1 << 3;
/// Communicators are counted.
pub const COMMUNICATORS: u32 = 1 << 4;
/// Waits are told apart: see `flow::waits`.
pub const WAITS: u32 = 1 << 5;
/// Call paths are counted: see [`hooks`](crate::hooks).
pub const PATHS: u32 = 1 << 6;
/// Each call is written to the event log: see [`trace`](crate::trace).
pub const LOG: u32 = 1 << 7;

/// With one of these a call takes the way of all that can be switched on.
pub const RARE: u32 = PAUSED | NANOSECONDS | COUNTERS;

/// With one of these more is to be done before the plainest call: all but [`COMMUNICATORS`] and [`LOG`].
pub const BEFORE: u32 = OFF | RARE | WAITS | PATHS;

/// The way of a call while no bit is set.
pub const PLAIN: u8 = 0;
/// While bits are set, but none of [`RARE`]: compiled so that it calls nothing, too. Calls whose
/// paths are counted return by it.
pub const LEAN: u8 = 1;
/// Whatever is set.
pub const ANY: u8 = 2;
/// While [`COMMUNICATORS`] alone is set.
pub const COUNTED: u8 = 3;
/// While [`PAUSED`] is set, and nothing else but [`COMMUNICATORS`].
pub const IDLE: u8 = 4;
/// As [`LEAN`] without [`COMMUNICATORS`]: what a call moved is counted as in [`PLAIN`].
pub const SOLE: u8 = 5;
/// As [`PLAIN`], of the function of C that one in Fortran has called, which ends no call of the program's.
pub const INSIDE: u8 = 6;

/// Whether no bit is set on a way.
pub const fn is_plain(way: u8) -> bool {
    way == PLAIN || way == INSIDE
}

/// The bits, for the assembly.
///
/// Until it is known whether paths are counted, calls take the way on which the frame pointer of the
/// caller is kept: the first call needs it.
pub static MODE: AtomicU32 = AtomicU32::new(PATHS);

/// All bits; 0 is the plain way.
#[inline(always)]
pub fn mode() -> u32 {
    MODE.load(Relaxed)
}

/// Whether one of these bits is set.
#[inline(always)]
pub fn has(bits: u32) -> bool {
    mode() & bits != 0
}

/// Whether these bits are those of [`IDLE`].
#[inline(always)]
pub const fn is_idle(bits: u32) -> bool {
    bits & !COMMUNICATORS == PAUSED
}

/// Whether measuring is paused.
#[inline(always)]
pub fn paused() -> bool {
    has(PAUSED)
}

/// Sets bits or takes them away. True if one of them was not so before.
pub fn set(bits: u32, on: bool) -> bool {
    let before = if on { MODE.fetch_or(bits, Relaxed) } else { MODE.fetch_and(!bits, Relaxed) };
    (before & bits != 0) != on
}
