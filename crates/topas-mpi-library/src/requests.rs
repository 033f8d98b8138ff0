//! What requests are, from the call that gives one to the call that completes it.
//!
//! Each thread has a table of those it was given; others, which may complete them, look into it
//! without a lock. Only the owner puts entries in. Whoever completes one takes it out: its serial
//! becomes 0, if it still is the one that was found, because the MPI may give the owner the same
//! handle again before that.
//!
//! A table has levels, each eight times as large as the one above and made when that is full where
//! an entry should go; so there are no marks for what was taken out, and what is not there is
//! known after one cache line for each level.

use core::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use crate::element::element;
use crate::sys;

/// What a request is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct RequestEntry {
    /// B that are sent: by each start of a persistent one, else counted already
    pub sent: u64,
    /// B that are received by each start of a collective; of others the status tells
    pub received: u64,
    /// The communicator, whose ranks may have to be translated
    pub comm: u64,
    /// The peer: a rank of the world, or one of the numbers of `flow::peers`
    pub peer: u32,
    /// Generation of the communicator's handle
    pub generation: u32,
    /// The function that gave it
    pub function: u32,
    /// Number of the communicator
    pub index: u32,
    /// A [`Waited`](topas_mpi_profile::layout::Waited)
    pub kind: u32,
    /// Bits of [`flag`]
    pub flags: u32,
}

/// Bits of [`RequestEntry::flags`].
pub mod flag {
    /// The status of its completion tells what was received.
    pub const TOLD: u32 = 1;
    /// The request is persistent: each start is a new message.
    pub const PERSISTENT: u32 = 1 << 1;
    /// The request was started.
    pub const ACTIVE: u32 = 1 << 2;
    /// Cancelling it was tried.
    pub const CANCELLED: u32 = 1 << 3;
    /// The request sends: [`super::RequestEntry::sent`].
    pub const SENDS: u32 = 1 << 4;
    /// The request receives as much as [`super::RequestEntry::received`] says.
    pub const RECEIVES: u32 = 1 << 5;
    /// Ranks of its communicator are those of the world.
    pub const IDENTITY: u32 = 1 << 6;
    /// The peer of the request counts.
    pub const PEER: u32 = 1 << 7;
    /// From this bit on: the number of what `flow::waits` has posted for it, 0 if it has not.
    pub const POST_AT: u32 = 8;
    /// All bits below that.
    pub const BELOW_POST: u32 = (1 << POST_AT) - 1;
}

/// Entries of a bucket.
const WAYS: usize = 4;
/// Levels: 64 buckets to 262,144.
const LEVELS: usize = 5;
/// Binary logarithm of the buckets of the first level.
const FIRST: u32 = 6;

#[repr(C)]
struct RequestBucket {
    keys: [AtomicU64; WAYS],
    serials: [AtomicU32; WAYS],
    entries: [core::cell::UnsafeCell<RequestEntry>; WAYS],
}

/// Where an entry was found.
#[derive(Clone, Copy)]
pub struct FoundRequest {
    bucket: *const RequestBucket,
    way: u32,
    serial: u32,
    own: bool,
}

/// Where a request may go.
#[derive(Clone, Copy)]
pub struct RequestRoom {
    bucket: &'static RequestBucket,
    way: usize,
}

/// The requests that a thread was given. Zero at its beginning.
#[repr(C)]
pub struct Requests {
    levels: [AtomicPtr<RequestBucket>; LEVELS],
    serial: u32,
    /// Where the last one was put
    way: u32,
    /// See `way`; null before the first
    bucket: *const RequestBucket,
}

// SAFETY: what others may read or write at the same time is atomic; entries are written while
// their serial is 0.
unsafe impl Sync for Requests {}

#[inline(always)]
const fn bucket_of(key: u64, level: usize) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - FIRST - 3 * level as u32)) as usize
}

impl Requests {
    /// Nothing.
    #[cfg(test)]
    pub const fn new() -> Requests {
        Requests {
            levels: [const { AtomicPtr::new(core::ptr::null_mut()) }; LEVELS],
            serial: 0,
            way: 0,
            bucket: core::ptr::null(),
        }
    }

    /// Remembers what a request is. Called by the owner alone. False if there is no memory.
    #[inline(always)]
    pub fn put(&mut self, key: u64, entry: RequestEntry) -> bool {
        let Some(room) = self.room(key).or_else(|| self.place_below(key)) else { return false };
        self.put_into(room, key, &entry);
        true
    }

    /// Where a request may go, if there is room in the first level.
    #[inline(always)]
    pub fn room(&self, key: u64) -> Option<RequestRoom> {
        let [first, ..] = &self.levels;
        let buckets = first.load(Relaxed);
        if buckets.is_null() {
            return None;
        }
        // SAFETY: the level has this many buckets.
        unsafe { &*buckets.add(bucket_of(key, 0)) }.place(key)
    }

    /// Puts what a request is where it may go.
    #[inline(always)]
    pub fn put_into(&mut self, room: RequestRoom, key: u64, entry: &RequestEntry) {
        // Serials are odd, so none is 0.
        self.serial = self.serial.wrapping_add(2) | 1;
        (self.bucket, self.way) = (room.bucket, room.way as u32);
        room.bucket.put(room.way, key, entry, self.serial);
    }

    /// The request that was put in last, if it is this one. Called by the owner alone.
    #[inline(always)]
    pub fn latest(&self, key: u64) -> Option<FoundRequest> {
        // SAFETY: null, or a bucket, which stays where it is.
        let bucket = unsafe { self.bucket.as_ref() }?;
        let same = element(&bucket.keys, self.way as usize).load(Relaxed) == key
            && element(&bucket.serials, self.way as usize).load(Relaxed) == self.serial;
        let (way, serial) = (self.way, self.serial);
        same.then_some(FoundRequest { bucket, way, serial, own: true })
    }

    #[inline(never)]
    fn place_below(&mut self, key: u64) -> Option<RequestRoom> {
        for (level, place) in self.levels.iter().enumerate() {
            let mut buckets = place.load(Relaxed);
            if buckets.is_null() {
                buckets = grow(level, place);
                if buckets.is_null() {
                    break;
                }
            }
            // SAFETY: the level has this many buckets.
            let place = unsafe { &*buckets.add(bucket_of(key, level)) }.place(key);
            if place.is_some() {
                return place;
            }
        }
        None
    }

    /// Finds a request. `own` if the caller is the owner.
    #[inline(always)]
    pub fn find(&self, key: u64, own: bool) -> Option<FoundRequest> {
        let [first, second, ..] = &self.levels;
        let buckets = first.load(Acquire);
        if buckets.is_null() {
            return None;
        }
        // SAFETY: the level has this many buckets.
        let found = unsafe { &*buckets.add(bucket_of(key, 0)) }.find(key, own);
        if found.is_some() || second.load(Relaxed).is_null() {
            return found;
        }
        self.find_below(key, own)
    }

    #[inline(never)]
    fn find_below(&self, key: u64, own: bool) -> Option<FoundRequest> {
        self.levels.iter().enumerate().skip(1).find_map(|(level, buckets)| {
            let buckets = buckets.load(Acquire);
            if buckets.is_null() {
                return None;
            }
            // SAFETY: the level has this many buckets.
            unsafe { &*buckets.add(bucket_of(key, level)) }.find(key, own)
        })
    }
}

/// Maps the buckets of a level; null if there is no memory.
#[cold]
fn grow(level: usize, place: &AtomicPtr<RequestBucket>) -> *mut RequestBucket {
    let buckets = 1usize << (FIRST + 3 * level as u32);
    let Some(memory) = sys::map_memory(buckets * size_of::<RequestBucket>()) else {
        return core::ptr::null_mut();
    };
    place.store(memory.cast(), Release);
    memory.cast()
}

impl RequestBucket {
    /// Where the owner may put an entry.
    #[inline(always)]
    fn place(&'static self, key: u64) -> Option<RequestRoom> {
        let [first, second, third, last] = &self.serials;
        // Most buckets have one entry at most, in the first place.
        if second.load(Relaxed) | third.load(Relaxed) | last.load(Relaxed) == 0
            && (first.load(Relaxed) == 0 || element(&self.keys, 0).load(Relaxed) == key)
        {
            // While the entry is written it is none.
            first.store(0, Relaxed);
            return Some(RequestRoom { bucket: self, way: 0 });
        }
        self.place_among(key)
    }

    /// The same, where there are several.
    #[inline(always)]
    fn place_among(&'static self, key: u64) -> Option<RequestRoom> {
        let mut free = WAYS;
        for way in (0..WAYS).rev() {
            // What it was has come to its end without our seeing it, or is just being taken out
            // by another thread.
            let again = element(&self.keys, way).load(Relaxed) == key;
            let serial = element(&self.serials, way);
            if again && serial.load(Relaxed) != 0 {
                serial.store(0, Relaxed);
            }
            if again || serial.load(Relaxed) == 0 {
                free = way;
            }
        }
        (free < WAYS).then_some(RequestRoom { bucket: self, way: free })
    }

    /// Puts an entry in: field by field, as they are read, because a processor waits for a word
    /// that was written in parts.
    #[inline(always)]
    fn put(&self, way: usize, key: u64, entry: &RequestEntry, serial: u32) {
        element(&self.keys, way).store(key, Relaxed);
        // SAFETY: nobody else writes entries, and nobody reads one whose serial is 0.
        let to = unsafe { &mut *element(&self.entries, way).get() };
        to.sent = entry.sent;
        to.received = entry.received;
        to.comm = entry.comm;
        to.peer = entry.peer;
        to.generation = entry.generation;
        to.function = entry.function;
        to.index = entry.index;
        to.kind = entry.kind;
        to.flags = entry.flags;
        element(&self.serials, way).store(serial, Release);
    }

    #[inline(always)]
    fn find(&self, key: u64, own: bool) -> Option<FoundRequest> {
        for way in 0..WAYS {
            if element(&self.keys, way).load(Relaxed) == key {
                let serial = element(&self.serials, way).load(Acquire);
                if serial != 0 {
                    return Some(FoundRequest { bucket: self, way: way as u32, serial, own });
                }
            }
        }
        None
    }
}

impl FoundRequest {
    /// Whether the thread that found it is the owner: then it stays what it is until that thread
    /// puts another one in.
    #[inline(always)]
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// What it is.
    #[inline(always)]
    pub fn entry(&self) -> &RequestEntry {
        // SAFETY: buckets stay where they are, and the entry was written before its serial. The
        // owner may write it again, if this is a request that came to its end unseen: nobody would
        // ask for it.
        unsafe { &*element(&(*self.bucket).entries, self.way as usize).get() }
    }

    /// Takes it out, unless its place has another already.
    #[inline]
    pub fn remove(self) {
        // SAFETY: buckets stay where they are.
        let serial = unsafe { element(&(*self.bucket).serials, self.way as usize) };
        if self.own {
            serial.store(0, Relaxed);
        } else {
            let _ = serial.compare_exchange(self.serial, 0, AcqRel, Relaxed);
        }
    }

    /// Changes its flags. Requests are started and cancelled by one thread at a time.
    #[inline]
    pub fn set_flags(self, flags: u32) {
        // SAFETY: buckets stay where they are.
        let bucket = unsafe { &*self.bucket };
        let way = self.way as usize;
        if element(&bucket.serials, way).load(Relaxed) == self.serial {
            // SAFETY: a program completes, starts and cancels a request by one thread at a time.
            unsafe { (*element(&bucket.entries, way).get()).flags = flags };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(n: u64) -> RequestEntry {
        RequestEntry { sent: n, ..RequestEntry::default() }
    }

    #[test]
    fn what_is_put_is_found_until_it_is_removed() {
        let mut requests = Requests::new();
        // As addresses of a pool, and as numbers one after the other.
        let keys = |n: u64| [0x5555_0000_0000 + n * 192, 0x9800_0000 + n];
        for n in 0..5_000 {
            for key in keys(n) {
                assert!(requests.put(key, entry(key)));
            }
        }
        for n in 0..5_000 {
            for key in keys(n) {
                let found = requests.find(key, true).expect("is there");
                assert_eq!(found.entry().sent, key);
                if n % 3 == 0 {
                    found.remove();
                }
            }
        }
        for n in 0..5_000 {
            for key in keys(n) {
                assert_eq!(requests.find(key, true).is_some(), n % 3 != 0);
            }
        }
    }

    #[test]
    fn a_handle_that_is_given_again_is_not_taken_out_with_the_old_one() {
        let mut requests = Requests::new();
        requests.put(7, entry(1));
        let old = requests.find(7, false).expect("is there");
        requests.put(7, entry(2));
        old.remove();
        assert_eq!(requests.find(7, true).map(|found| found.entry().sent), Some(2));
    }

    #[test]
    fn another_thread_takes_out_what_it_completes() {
        let mut requests = Requests::new();
        for n in 1..=1_000 {
            requests.put(n, entry(n));
        }
        let shared = &requests;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                (1..=1_000).for_each(|n| {
                    let found = shared.find(n, false).expect("is there");
                    assert_eq!(found.entry().sent, n);
                    found.remove();
                });
            });
        });
        assert!((1..=1_000).all(|n| requests.find(n, true).is_none()));
    }
}
