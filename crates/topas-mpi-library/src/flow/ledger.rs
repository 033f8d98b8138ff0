//! What a thread keeps to follow flows: requests, sizes of datatypes, what objects are.
//!
//! Caches are direct-mapped, and belong to one thread. A handle that is freed by any thread makes
//! a new generation of all handles that fall on the same place, so nothing old is believed.

use core::sync::atomic::{
    AtomicPtr, AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use topas_mpi_profile::layout::{Peer, Traffic};

use crate::element::element;
use crate::flow::object::CommObject;
use crate::frame::PendingRequest;
use crate::requests::{FoundRequest, Requests};
use crate::sys;

/// Places of the caches.
pub const PLACES: usize = 64;

/// Datatypes that are known by the words of calls.
pub const RECENT: usize = 32;

/// Ranks of other communicators whose ranks in the world are kept.
pub const TRANSLATIONS: usize = 512;

/// Size of a datatype.
#[derive(Clone, Copy)]
pub struct Sized {
    /// The handle of the datatype
    pub handle: u64,
    /// The size of the datatype in B
    pub size: u64,
    /// Generation of its place, plus 1; 0 if nothing is here
    pub generation: u32,
}

/// A rank of the world.
#[derive(Clone, Copy)]
pub struct Translation {
    /// [`CommObject::serial`] of its communicator; 0 if nothing is here
    pub serial: u32,
    /// Rank there
    pub rank: u32,
    /// Rank in the world
    pub world: u32,
}

/// What a thread keeps. Zero at its beginning.
pub struct Ledger {
    /// The thread
    owner: AtomicU32,
    /// Requests it was given
    pub requests: Requests,
    /// Its peers, one more than there are ranks; null if they are not counted
    pub peers: *mut Peer,
    /// The last of them: all that are not in the world
    pub others: u32,
    /// Communicators are counted
    pub communicators: bool,
    /// What counts as the row of no communicator; nobody reads it
    pub nowhere: Traffic,
    /// The datatype that was asked for last: the word by which a call named it, with bits that may mean
    /// nothing, and the generation of all places
    pub last: Sized,
    /// The same of those before
    pub recent: [Sized; RECENT],
    /// Sizes of datatypes
    pub sizes: [Sized; PLACES],
    /// Communicators and windows
    pub objects: [CommObject; PLACES],
    /// Serials of objects
    pub serial: u32,
    /// Ranks
    pub translations: [Translation; TRANSLATIONS],
    /// Requests of the call that the thread is in, if there are many
    pub pending: Buffer<PendingRequest>,
    /// Statuses for them
    pub statuses: Buffer<u64>,
}

/// Generations of handles, by place.
static GENERATIONS: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];

/// The generation of all places, odd: never that of what was not kept yet.
static AGE: AtomicU32 = AtomicU32::new(1);

/// Threads whose requests others can find.
const THREADS: usize = 1024;
static LEDGERS: [AtomicPtr<Ledger>; THREADS] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; THREADS];
static COUNT: AtomicU32 = AtomicU32::new(0);

/// The place of a handle.
#[inline(always)]
pub const fn place(handle: u64) -> usize {
    (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

/// The generation of a place, plus 1.
#[inline(always)]
pub fn generation(place: usize) -> u32 {
    element(&GENERATIONS, place).load(Relaxed) | 1
}

/// The generation of all places.
#[inline(always)]
pub fn age() -> u32 {
    AGE.load(Relaxed)
}

/// A handle is about to be freed, or means something else from now on.
pub fn forget(handle: u64) {
    AGE.fetch_add(2, Relaxed);
    element(&GENERATIONS, place(handle)).fetch_add(2, Relaxed);
}

impl Ledger {
    /// That of a new thread: one of a thread that has ended, which may have left requests for
    /// others, or a new one. Null if there is no memory.
    #[cold]
    pub fn new() -> *mut Ledger {
        let tid = sys::tid();
        let count = COUNT.load(Relaxed) as usize;
        let left = LEDGERS.iter().take(count).map(|slot| slot.load(Acquire)).find(|ledger| {
            if ledger.is_null() {
                return false;
            }
            // SAFETY: ledgers stay where they are; this word is meant to be looked at.
            let owner = unsafe { AtomicU32::from_ptr((&raw mut (**ledger).owner).cast()) };
            let old = owner.load(Relaxed);
            sys::has_ended(old) && owner.compare_exchange(old, tid, AcqRel, Relaxed).is_ok()
        });
        if let Some(ledger) = left {
            return ledger;
        }
        let Some(memory) = sys::map_memory(size_of::<Ledger>()) else {
            return core::ptr::null_mut();
        };
        let ledger: *mut Ledger = memory.cast();
        // SAFETY: new, zeroed, and large enough.
        unsafe { (*ledger).owner.store(tid, Relaxed) };
        let number = COUNT.fetch_add(1, Relaxed) as usize;
        // Requests of more threads are found by these themselves only.
        if let Some(slot) = LEDGERS.get(number) {
            slot.store(ledger, Release);
        }
        ledger
    }

    /// What a request is, whoever was given it.
    #[inline(always)]
    pub fn find(&self, request: u64) -> Option<FoundRequest> {
        match self.requests.find(request, true) {
            Some(found) => Some(found),
            None => self.find_elsewhere(request),
        }
    }

    #[inline(never)]
    fn find_elsewhere(&self, request: u64) -> Option<FoundRequest> {
        let count = COUNT.load(Relaxed) as usize;
        if count < 2 {
            return None;
        }
        LEDGERS.iter().take(count).find_map(|slot| {
            let ledger = slot.load(Acquire);
            if ledger.is_null() || core::ptr::eq(ledger, self) {
                return None;
            }
            // SAFETY: ledgers stay where they are; their requests are meant to be looked at.
            let requests = unsafe {
                let requests = &raw const (*ledger).requests;
                &*requests
            };
            requests.find(request, false)
        })
    }
}

/// Room that grows with the calls of a program: for as many requests as one has.
pub struct Buffer<T> {
    start: *mut T,
    room: usize,
}

impl<T: Copy> Buffer<T> {
    /// The first so many; None if there is no memory. What is in them is not what was there.
    pub fn first(&mut self, count: usize) -> Option<*mut T> {
        if count > self.room {
            let room = count.next_power_of_two().max(4096 / size_of::<T>());
            let memory = sys::map_memory(room * size_of::<T>())?;
            if !self.start.is_null() {
                sys::unmap(self.start.cast(), self.room * size_of::<T>());
            }
            self.start = memory.cast();
            self.room = room;
        }
        Some(self.start)
    }
}
