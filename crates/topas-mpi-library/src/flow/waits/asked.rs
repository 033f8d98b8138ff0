//! Calls that ask whether requests are complete or a message is there: `Test`, `Iprobe` and their likes.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use topas_mpi_profile::layout::WaitPeer;
use topas_mpi_waits::engine::ProcessUse;
use topas_mpi_waits::wait::{Call, Figure, parts_of_peer};
use topas_node::sys as kernel;

use super::role::Act;
use super::{Returned, THREADS, bridges, with};
use crate::spool;

/// Calls that may wait, or that ask.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// One more. Where several threads call, nobody asks how many there were.
#[inline(always)]
pub(super) fn note() {
    CALLS.store(CALLS.load(Relaxed).wrapping_add(1), Relaxed);
}

/// What the process has used, and its calls; None if several threads may call.
pub(super) fn process_use() -> Option<ProcessUse> {
    if THREADS.load(Relaxed) {
        return None;
    }
    let ([microseconds, _], [given_up, taken]) = (kernel::usage(), kernel::switches());
    Some(ProcessUse { microseconds, given_up, taken, calls: CALLS.load(Relaxed) })
}

/// Ticks between calls that asked in vain for what a rank had not begun. `peers` is [`Waits::peers`]. What ranks of
/// other worlds had not begun is not told.
///
/// [`Waits::peers`]: topas_mpi_profile::layout::Waits::peers
#[cold]
#[inline(never)]
pub(super) fn add(peers: u64, figure: Figure, peer: u64, ticks: u64) {
    let (peer, _) = parts_of_peer(peer);
    let is_known = spool::header().is_some_and(|header| peer < header.ranks);
    if peers == 0 || !is_known || bridges::is_beside(peer) {
        return;
    }
    // SAFETY: there is one for each rank.
    let peer = unsafe { &mut *spool::at::<WaitPeer>(peers).add(peer as usize) };
    match figure {
        Figure::Between => peer.between.add(ticks),
        Figure::Slept => peer.slept.add(ticks),
        _ => {}
    }
}

/// A call asked in vain for the requests that were posted with these numbers.
#[inline(never)]
pub fn asked_in_vain(call: &Call, posts: impl Iterator<Item = u32>) {
    if !call.counts {
        return;
    }
    with(|engine, _, _| {
        let mark = engine.asked_in_vain(call);
        posts.filter(|post| *post != 0).for_each(|post| engine.asked_for(post, mark));
    });
}

impl Returned<'_> {
    /// A call asked for a message, and found one or not.
    pub fn asked_for_message(&mut self) {
        let call = self.call;
        // SAFETY: an integer that the call has written: the flag of `Iprobe` and of `Improbe`.
        if unsafe { *(self.args[3] as *const i32) } == 0 {
            return asked_in_vain(&call, core::iter::empty());
        }
        let is_taken = self.role.act == Act::MatchedIf;
        let Some(mut waiting) = with(|engine, _, _| Some(engine.begin(call))) else { return };
        // A probe that finds its message at once never waits.
        let has_asked = with(|engine, _, _| engine.found_message(&mut waiting));
        if !is_taken && !has_asked {
            return;
        }
        let Some(from) = self.whose() else { return };
        let (doer, bytes) = (self.doer, self.bytes_received());
        with(|engine, _, boards| {
            if is_taken {
                engine.received(boards, &mut waiting, (&from, bytes), &doer);
            } else {
                engine.probed(boards, &mut waiting, &from);
            }
            engine.end(boards, waiting);
        });
        if is_taken {
            self.know_receive(&from);
        }
    }
}
