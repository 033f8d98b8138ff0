//! Rings of stamps, by key, that one rank writes and the others of its node read.

use core::sync::atomic::{
    AtomicU16, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// Stamps of a key that can be read: as many as there may be between a message and the look at
/// its stamp.
pub const STAMPS: usize = 64;

/// Places for keys. A quarter stays free, so that what is not there is soon known not to be.
pub const PLACES: usize = 4096;

/// Most keys of a rank. Messages of further ones have no figures.
pub const KEYS: usize = PLACES / 4 * 3;

/// Bit of a stamp: it may be that of another message, because two threads sent at once.
const UNSURE: u64 = 1 << 63;

/// The last stamps of a key. Zero at its beginning; each stamp has a number, from 0.
#[derive(Debug)]
#[repr(C)]
pub struct Ring {
    /// How many there were
    published: AtomicU64,
    /// Numbers of this key mean nothing any more
    void: AtomicU32,
    reserved: u32,
    stamps: [AtomicU64; STAMPS],
    /// The call path of each, as its owner numbers them; 0 if it does not tell
    paths: [AtomicU16; STAMPS],
}

/// What a ring says of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The moment, and the call path as the owner of the ring numbers paths; 0: not told.
    At(u64, u16),
    /// The event was so long ago that its stamp is overwritten: not later than this moment.
    Before(u64),
    /// The event was not yet, or was not yet published.
    NotYet,
    /// Nobody knows any more.
    Unsure,
}

impl Ring {
    /// Empty.
    pub const fn new() -> Ring {
        Ring {
            published: AtomicU64::new(0),
            void: AtomicU32::new(0),
            reserved: 0,
            stamps: [const { AtomicU64::new(0) }; STAMPS],
            paths: [const { AtomicU16::new(0) }; STAMPS],
        }
    }

    fn stamp(&self, number: u64) -> Option<&AtomicU64> {
        self.stamps.get(number as usize % STAMPS)
    }

    /// Publishes the next stamp: its number. Called by the owner alone.
    #[inline(always)]
    pub fn publish(&self, moment: u64) -> u64 {
        let number = self.published.load(Relaxed);
        if let Some(stamp) = self.stamp(number) {
            // Not before all that was published until now: a reader that sees it must also see
            // that its place was due.
            stamp.store(moment & !UNSURE, Release);
        }
        self.published.store(number + 1, Release);
        number
    }

    /// The same, and tells the call path: its number.
    #[inline(always)]
    pub fn publish_with(&self, moment: u64, path: u16) -> u64 {
        let number = self.published.load(Relaxed);
        if let Some(place) = self.paths.get(number as usize % STAMPS) {
            // The order is that of a stamp.
            place.store(path, Release);
        }
        self.publish(moment)
    }

    /// The same, by a call path whose number is not 0.
    #[inline(always)]
    pub fn publish_by(&self, moment: u64, path: u16) -> u64 {
        if path == 0 { self.publish(moment) } else { self.publish_with(moment, path) }
    }

    /// The last one that was published, and the one before it, may have been mistaken for each
    /// other.
    pub fn doubt(&self) {
        let published = self.published.load(Relaxed);
        for back in 1..=2 {
            if let Some(number) = published.checked_sub(back)
                && let Some(stamp) = self.stamp(number)
            {
                stamp.fetch_or(UNSURE, Release);
            }
        }
    }

    /// From now on its numbers mean nothing to others. `last` if the last stamp was none: the next
    /// gets its number.
    pub fn give_up(&self, last: bool) {
        self.void.store(1, Release);
        if last {
            self.published.store(self.published.load(Relaxed).saturating_sub(1), Release);
        }
    }

    /// What a ring begins with, for those who read it in a file: how many stamps there were, and a word whose lower half is 0 as
    /// long as their numbers mean something.
    pub const HEAD: [usize; 2] =
        [core::mem::offset_of!(Ring, published), core::mem::offset_of!(Ring, void)];

    /// How many stamps there were.
    pub fn published(&self) -> u64 {
        self.published.load(Acquire)
    }

    /// The latest that is not after a moment. Called by anybody.
    pub fn latest(&self, until: u64) -> Seen {
        let mut number = self.published();
        while let Some(before) = number.checked_sub(1) {
            match self.read(before) {
                Seen::At(moment, _) if moment > until => number = before,
                seen => return seen,
            }
        }
        Seen::NotYet
    }

    /// What is known of a number. Called by anybody.
    pub fn read(&self, number: u64) -> Seen {
        // A writer that is faster than its reader each time does not exist.
        for _ in 0..8 {
            let published = self.published.load(Acquire);
            if self.void.load(Relaxed) != 0 {
                return Seen::Unsure;
            }
            if number >= published {
                return Seen::NotYet;
            }
            let oldest = published.saturating_sub(STAMPS as u64 - 1);
            let wanted = number.max(oldest);
            let Some(stamp) = self.stamp(wanted) else { return Seen::Unsure };
            let moment = stamp.load(Relaxed);
            let path =
                self.paths.get(wanted as usize % STAMPS).map_or(0, |path| path.load(Relaxed));
            fence(Acquire);
            // The place of a number is written again as soon as so many more were published.
            if self.published.load(Relaxed) >= wanted + STAMPS as u64 {
                continue;
            }
            return match (moment & UNSURE != 0, wanted == number) {
                (true, _) => Seen::Unsure,
                (false, true) => Seen::At(moment, path),
                (false, false) => Seen::Before(moment),
            };
        }
        Seen::Unsure
    }
}

impl Default for Ring {
    fn default() -> Self {
        Ring::new()
    }
}

/// A key and where its ring is.
#[derive(Debug)]
#[repr(C)]
pub struct KeyPlace {
    /// Number of the key; 0 if nothing is here
    key: AtomicU64,
    /// Where its ring is, as the owner says
    ring: AtomicU64,
}

/// The keys of a rank. Zero at its beginning.
#[derive(Debug)]
#[repr(C)]
pub struct Keys {
    count: AtomicU32,
    reserved: [u32; 15],
    places: [KeyPlace; PLACES],
}

impl Keys {
    /// A table without keys.
    pub const fn new() -> Keys {
        Keys {
            count: AtomicU32::new(0),
            reserved: [0; 15],
            places: [const { KeyPlace { key: AtomicU64::new(0), ring: AtomicU64::new(0) } };
                PLACES],
        }
    }

    /// Where the number of its keys stands, in bytes: 4 of them.
    pub const COUNT_AT: usize = core::mem::offset_of!(Keys, count);

    /// Where its places begin, in bytes; each has the key and then where its ring is, in 8 bytes each.
    pub const PLACES_AT: usize = core::mem::offset_of!(Keys, places);

    /// The places at which a key may be, in their order. Behind a free one it is not.
    #[inline(always)]
    pub fn places_of(key: u64) -> impl Iterator<Item = usize> {
        let first = (key >> 40) as usize;
        (0..PLACES).map(move |step| (first + step) % PLACES)
    }

    /// Where the ring of a key is; None if there is none. Called by anybody.
    #[inline(always)]
    pub fn find(&self, key: u64) -> Option<u64> {
        for place in Keys::places_of(key) {
            let place = self.places.get(place)?;
            match place.key.load(Acquire) {
                found if found == key => return Some(place.ring.load(Relaxed)),
                0 => return None,
                _ => {}
            }
        }
        None
    }

    /// Whether there is no room for another key.
    pub fn is_full(&self) -> bool {
        self.count.load(Relaxed) as usize >= KEYS
    }

    /// Adds a key that is not there. Called by the owner alone, if there is room.
    #[cold]
    pub fn add(&self, key: u64, ring: u64) {
        let first = (key >> 40) as usize;
        for step in 0..PLACES {
            let Some(place) = self.places.get((first + step) % PLACES) else { return };
            if place.key.load(Relaxed) == 0 {
                place.ring.store(ring, Relaxed);
                place.key.store(key, Release);
                self.count.store(self.count.load(Relaxed) + 1, Relaxed);
                return;
            }
        }
    }
}

impl Default for Keys {
    fn default() -> Self {
        Keys::new()
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    #[test]
    fn a_stamp_is_read_by_its_number_until_it_is_overwritten() {
        let ring = Ring::new();
        assert_eq!(ring.read(0), Seen::NotYet);
        for n in 0..200 {
            assert_eq!(ring.publish(1_000 + n), n);
            assert_eq!(ring.read(n), Seen::At(1_000 + n, 0));
            assert_eq!(ring.read(n + 1), Seen::NotYet);
        }
        assert_eq!(ring.read(199 - 62), Seen::At(1_199 - 62, 0));
        // The oldest that is left says that those before it were earlier.
        assert_eq!(ring.read(10), Seen::Before(1_199 - 62));
        assert_eq!(Ring::new().latest(5), Seen::NotYet);
        assert_eq!(ring.latest(5_000), Seen::At(1_199, 0));
        assert_eq!(ring.latest(1_150), Seen::At(1_150, 0));
        assert_eq!(ring.latest(1_000), Seen::Before(1_199 - 62));
        ring.doubt();
        assert_eq!((ring.read(199), ring.read(198)), (Seen::Unsure, Seen::Unsure));
        assert_eq!(ring.read(197), Seen::At(1_197, 0));
        ring.give_up(false);
        assert_eq!(ring.read(197), Seen::Unsure);
    }

    #[test]
    fn what_is_read_while_it_is_written_is_that_of_its_number() {
        let ring = Ring::new();
        let path = |number: u64| (number % 60_000) as u16;
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for n in 0..2_000_000u64 {
                    ring.publish_with(n * 3, path(n));
                }
                done.store(true, Relaxed);
            });
            let mut seen = 0u64;
            while !done.load(Relaxed) {
                let number = ring.published().saturating_sub(seen % 90);
                match ring.read(number) {
                    Seen::At(moment, by) => assert_eq!((moment, by), (number * 3, path(number))),
                    Seen::Before(moment) => assert!(moment > number * 3),
                    Seen::NotYet | Seen::Unsure => {}
                }
                seen += 1;
            }
        });
    }

    #[test]
    fn keys_are_found_until_there_is_no_room() {
        let keys = Box::new(Keys::new());
        let key = |n: u64| crate::key::mix(n, 5) | 1;
        for n in 0..KEYS as u64 {
            assert!(!keys.is_full());
            assert_eq!(keys.find(key(n)), None);
            keys.add(key(n), n + 1);
        }
        assert!(keys.is_full());
        for n in 0..KEYS as u64 {
            assert_eq!(keys.find(key(n)), Some(n + 1));
        }
        assert_eq!(keys.find(key(KEYS as u64)), None);
    }
}
