//! When ranks called no MPI: most MPIs do nothing outside of calls, so a collective that was started stands still as long as
//! a rank computes from which others need something.

use core::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_mpi_profile::layout::{Away, Block};
use topas_mpi_waits::absence::Absence;
use topas_mpi_waits::wait::Call;

use super::{asked, partners};

/// Ticks from which on a time between two calls is kept; the largest number as long as waits are not told.
static LONG: AtomicU64 = AtomicU64::new(u64::MAX);

/// Says how many ticks a microsecond has.
pub(super) fn begin(microsecond: u64) {
    /// Microseconds of an absence that is kept.
    const KEPT: u64 = 50;
    LONG.store(KEPT.saturating_mul(microsecond), Relaxed);
}

/// A call of this thread's that may wait, or asks, is over: the same call.
#[inline(always)]
pub(super) fn over(block: *mut Block, call: Call) -> Call {
    asked::note();
    // SAFETY: the block of the thread that calls; other processes read single words of it.
    let away = unsafe { &mut (*block).away };
    let left = core::mem::replace(&mut away.left, call.ended);
    if call.began.wrapping_sub(left) > LONG.load(Relaxed) {
        was_away(away, left, (call.began, call.function));
    }
    call
}

/// The same if the rank was not away for long before it; else None, and nothing is noted.
#[inline(always)]
pub(super) fn over_soon(block: *mut Block, call: Call) -> Option<Call> {
    // SAFETY: as in `over`.
    let away = unsafe { &mut (*block).away };
    if call.began.wrapping_sub(away.left) > LONG.load(Relaxed) {
        return None;
    }
    asked::note();
    away.left = call.ended;
    Some(call)
}

#[cold]
#[inline(never)]
fn was_away(away: &mut Away, left: u64, (back, function): (u64, u32)) {
    // What it did before its first such call is not known. A call below another one may begin before that ends.
    if left == 0 || left > back {
        return;
    }
    let (_, path) = partners::parts_of_call(function);
    away.from = left;
    away.path = path.into();
    // SAFETY: a word of the block, which other processes read.
    unsafe { AtomicU64::from_ptr(&raw mut away.back) }.store(back, Release);
}

/// When the only thread of a rank was away for long: the last time, and before the call that it is in. None if there are more
/// threads. `block` is the first of its blocks.
///
/// # Safety
/// It is in a mapped file.
pub(super) unsafe fn absences(block: *const Block) -> [Absence; 2] {
    // SAFETY: by the caller; what changes there are single words, and nobody writes by these addresses.
    unsafe {
        let word = |at: *const u64| AtomicU64::from_ptr(at.cast_mut()).load(Acquire);
        let (now, away) = (&raw const (*block).now, &raw const (*block).away);
        if word(&raw const (*block).next) != 0 {
            return [Absence::NONE; 2];
        }
        let (back, path) = (word(&raw const (*away).back), word(&raw const (*away).path));
        let last = Absence { from: word(&raw const (*away).from), back, path: path as u16 };
        let (left, since) = (word(&raw const (*away).left), word(&raw const (*now).since));
        let inside = (&raw const (*now).inside).read_volatile() != 0;
        // What it did before its first call that may wait is not known.
        let is_back = inside && left != 0 && since.saturating_sub(left) > LONG.load(Relaxed);
        let path = (&raw const (*now).path).read_volatile() as u16;
        let own = Absence { from: left, back: since, path };
        [last, if is_back { own } else { Absence::NONE }]
    }
}
