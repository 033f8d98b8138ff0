//! Whom each call path waits for, if paths are counted, too.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use topas_mpi_profile::layout::{PARTNERS, Partner, Partners, Waits, slack_class};
use topas_mpi_waits::wait::{Cause, Figure, parts_of_peer};

use super::bridges;
use crate::element::element_mut;
use crate::thread::Thread;
use crate::{mode, paths, spool};

/// A call as the engine knows it: its function, and above that its path.
#[inline(always)]
pub fn call_with(function: usize, thread: &Thread) -> u32 {
    let path = if mode::has(mode::PATHS) { paths::number_of(thread) } else { 0 };
    function as u32 & 0xffff | u32::from(path) << 16
}

/// The same of this thread.
#[inline(always)]
pub fn call_here(function: usize) -> u32 {
    function as u32 & 0xffff | u32::from(here()) << 16
}

/// What [`call_with`] put together.
#[inline(always)]
pub fn parts_of_call(call: u32) -> (usize, u16) {
    (call as usize & 0xffff, (call >> 16) as u16)
}

/// The number of the path of the call that this thread is in; 0 if paths are not counted.
#[inline(always)]
pub fn here() -> u16 {
    if !mode::has(mode::PATHS) {
        return 0;
    }
    // SAFETY: the variables of this thread.
    paths::number_of(unsafe { &*crate::arch::thread() })
}

/// Places by which partners are found.
const PLACES: usize = 2 * PARTNERS;

/// Number of a partner in its table; 0 if nothing is here.
struct Found(UnsafeCell<[u16; PLACES]>);

// SAFETY: whoever tells waits is alone.
unsafe impl Sync for Found {}

static FOUND: Found = Found(UnsafeCell::new([0; PLACES]));

/// Ticks of a microsecond.
pub static MICROSECOND: AtomicU64 = AtomicU64::new(0);

/// Makes the table: where it is; 0 if there is no room, or paths are not counted.
pub fn begin() -> u64 {
    if !mode::has(mode::PATHS) {
        return 0;
    }
    let offset = spool::reserve(size_of::<Partners>());
    if offset != 0 {
        // The first is that of all others.
        // SAFETY: a part of the file that was just reserved, zeroed.
        unsafe { (*spool::at::<Partners>(offset)).count = 1 };
    }
    offset
}

/// Ticks of a call by a path go there.
#[inline(never)]
pub fn add(waits: &Waits, path: u16, figure: Figure, peer: u64, ticks: u64) {
    let cause = match figure {
        Figure::Waited(cause) => Some(cause),
        Figure::OnTime => None,
        Figure::Elsewhere | Figure::Unsure => return paths::waited(path, None, ticks),
        Figure::Below | Figure::Between | Figure::Slept => return,
    };
    if let Some(cause) = cause {
        paths::waited(path, Some(cause as usize), ticks);
    }
    // Paths of other worlds have other numbers.
    if waits.partners == 0 || bridges::is_beside(parts_of_peer(peer).0) {
        return;
    }
    // SAFETY: this part of the file is there, and who tells waits is alone.
    let table = unsafe { &mut *spool::at::<Partners>(waits.partners) };
    let Some(partner) = partner(table, path, peer) else { return };
    let class = slack_class(ticks, MICROSECOND.load(Relaxed));
    let slack = match cause {
        Some(Cause::LateSender) => {
            partner.late.add(ticks);
            0
        }
        Some(Cause::LateReceiver) => return partner.late_receiver.add(ticks),
        Some(Cause::Collective) => return partner.collective.add(ticks),
        None => {
            partner.on_time += 1;
            1
        }
    };
    let [behind, before] = &mut partner.slack;
    let classes = if slack == 0 { behind } else { before };
    if let Some(calls) = classes.get_mut(class) {
        *calls = calls.saturating_add(1);
    }
}

/// The place of a partner; that of all others if there is no room.
fn partner(table: &mut Partners, path: u16, peer: u64) -> Option<&mut Partner> {
    let (rank, peer_path) = parts_of_peer(peer);
    // SAFETY: see `Found`.
    let places = unsafe { &mut *FOUND.0.get() };
    let hash = (peer ^ u64::from(path) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut at = (hash >> 54) as usize;
    // There is always a free one.
    loop {
        let place = element_mut(places, at);
        let known = usize::from(*place);
        if known == 0 {
            let new = table.count as usize;
            if new >= PARTNERS {
                return table.partner.first_mut();
            }
            *place = new as u16;
            table.count += 1;
            let partner = table.partner.get_mut(new)?;
            *partner = Partner { path, peer_path, peer: rank, ..Partner::default() };
            return Some(partner);
        }
        let same = table.partner.get(known).is_some_and(|known| {
            (known.path, known.peer, known.peer_path) == (path, rank, peer_path)
        });
        if same {
            return table.partner.get_mut(known);
        }
        at += 1;
    }
}

const _: () = assert!(
    Cause::LateSender as usize == 0
        && Cause::LateReceiver as usize == 1
        && Cause::Collective as usize == 2
        && PLACES == 1 << 10
);
