//! Numbers of communicators, which are equal on all of their members.
//!
//! Nobody has to be asked: whoever is a member of a communicator makes those that come from it
//! together with all others, in the same order. So a number follows from that of the parent and
//! from how many were made of it before.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use topas_mpi_waits::key::{WORLD, derived};

use crate::element::{element, element_mut};
use crate::flow::library::Library;

/// Communicators that have a number at the same time, with room for them to be found.
const PLACES: usize = 1024;

/// The number of `MPI_COMM_SELF`.
const SELF: u64 = 2;

/// A communicator.
#[derive(Clone, Copy)]
pub struct Numbered {
    /// The handle of the communicator; 0 if nothing is here
    handle: u64,
    /// The number of the communicator
    pub number: u64,
    /// How many were made of it
    made: u64,
    /// Whether all members are on this node: [`NEAR`], [`FAR`], or 0 if that is not known
    place: u8,
    /// Of windows and files that all ranks of the world share: how many these are; else 0
    size: u32,
    /// Place among communicators of several worlds, plus 1; 0 if it is none of these
    bridged: u8,
}

const NEAR: u8 = 1;
const FAR: u8 = 2;

/// Communicators. Zero at its beginning.
pub struct Numbers {
    places: [Numbered; PLACES],
    used: usize,
    /// Of `MPI_COMM_WORLD`
    world: u8,
    /// Messages of `MPI_COMM_WORLD` may overtake each other
    world_overtakes: bool,
}

static AGE: AtomicU32 = AtomicU32::new(0);

/// Changes with what handles mean: what was looked up before may not hold any more. Never 0.
#[inline(always)]
pub fn age() -> u32 {
    AGE.load(Relaxed) | 1
}

fn renew() {
    AGE.fetch_add(2, Relaxed);
}

impl Numbers {
    /// A table without communicators.
    pub const fn new() -> Numbers {
        const NONE: Numbered =
            Numbered { handle: 0, number: 0, made: 0, place: 0, size: 0, bridged: 0 };
        Numbers { places: [NONE; PLACES], used: 0, world: 0, world_overtakes: false }
    }

    fn place(&self, handle: u64) -> usize {
        let mut at = (handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        // There is always a free one.
        while ![handle, 0].contains(&element(&self.places, at).handle) {
            at += 1;
        }
        at % PLACES
    }

    /// The number of a communicator; 0 if it has none.
    #[inline(always)]
    pub fn of(&self, library: &Library, handle: u64) -> u64 {
        if handle == library.comm_world {
            return if self.world_overtakes { 0 } else { WORLD };
        }
        self.look_up(library, handle)
    }

    fn look_up(&self, library: &Library, handle: u64) -> u64 {
        if handle == library.comm_self {
            return SELF;
        }
        if handle == 0 {
            return 0;
        }
        element(&self.places, self.place(handle)).number
    }

    /// Whether all members of a communicator are on this node; None if that is not known.
    #[inline(always)]
    pub fn is_near(&mut self, library: &Library, handle: u64) -> Option<bool> {
        let place = *self.where_is(library, handle)?;
        (place != 0).then_some(place == NEAR)
    }

    /// It is known now.
    pub fn set_near(&mut self, library: &Library, handle: u64, near: bool) {
        if let Some(place) = self.where_is(library, handle) {
            *place = if near { NEAR } else { FAR };
        }
    }

    fn where_is(&mut self, library: &Library, handle: u64) -> Option<&mut u8> {
        if handle == library.comm_world {
            return Some(&mut self.world);
        }
        let place = self.place(handle);
        let known = element_mut(&mut self.places, place);
        (known.handle != 0 && handle != 0).then_some(&mut known.place)
    }

    /// All members of a communicator made another, or a window or file; null where this rank is no
    /// member of it. `size` is that of a communicator whose ranks are those of the world, else 0. `first` tells
    /// one of several parts from the others, and is 0 without parts.
    pub fn derived(&mut self, library: &Library, parent: u64, made: u64, size: u32, first: u32) {
        let Some((number, nth)) = self.next_of(library, parent) else {
            return self.put(made, 0);
        };
        let new = derived(number, nth.wrapping_add(u64::from(first) << 32));
        if made != library.comm_null {
            self.put(made, new);
            let place = self.place(made);
            let known = element_mut(&mut self.places, place);
            if known.handle == made {
                known.size = size;
            }
        }
    }

    /// The number of a communicator whose members make another one, and how many they made before. None if the
    /// number is not known.
    pub fn next_of(&mut self, library: &Library, parent: u64) -> Option<(u64, u64)> {
        let number = self.of(library, parent);
        if number == 0 {
            return None;
        }
        let nth = if parent == library.comm_world || parent == library.comm_self {
            // These have no number of their own in the table, but count there.
            self.count(parent, number)
        } else {
            self.count(parent, 0)
        };
        Some((number, nth?))
    }

    /// A communicator is there that ranks of another world share: its place among these.
    pub fn put_bridged(&mut self, handle: u64, number: u64, place: u32) {
        self.put(handle, number);
        let at = self.place(handle);
        let known = element_mut(&mut self.places, at);
        if known.handle == handle && handle != 0 {
            known.bridged = place as u8 + 1;
        }
    }

    /// The place of a communicator among those of several worlds; None if it is none of these.
    pub fn bridged(&self, handle: u64) -> Option<u32> {
        let known = element(&self.places, self.place(handle));
        u32::from(known.bridged).checked_sub(1).filter(|_| known.handle == handle)
    }

    /// How many ranks share a window or a file, if that are all of the world; else 0.
    pub fn size(&self, handle: u64) -> u32 {
        element(&self.places, self.place(handle)).size
    }

    fn count(&mut self, handle: u64, number: u64) -> Option<u64> {
        let place = self.place(handle);
        let known = element_mut(&mut self.places, place);
        if known.handle == 0 {
            // For the two that are always there, there is always room: who would not count them
            // once would be wrong from then on.
            if number == 0 {
                return None;
            }
            self.used += 1;
            *known = Numbered { handle, number, made: 0, place: 0, size: 0, bridged: 0 };
        }
        known.made += 1;
        Some(known.made - 1)
    }

    /// A communicator is there; number 0 if none is known.
    pub fn put(&mut self, handle: u64, number: u64) {
        self.remove(handle);
        renew();
        if handle == 0 || number == 0 || self.used >= PLACES / 2 {
            return;
        }
        let place = self.place(handle);
        *element_mut(&mut self.places, place) =
            Numbered { handle, number, made: 0, place: 0, size: 0, bridged: 0 };
        self.used += 1;
    }

    /// A communicator is there beside others that may have the same members and tag: its number
    /// also tells how many of these there are, which all members know.
    pub fn put_beside(&mut self, handle: u64, number: u64) {
        let is_there = |number| self.places.iter().any(|known| known.number == number);
        let beside = (0..PLACES as u64).map(|nth| derived(number, nth));
        let free = beside.into_iter().find(|number| !is_there(*number));
        self.put(handle, if number == 0 { 0 } else { free.unwrap_or(0) });
    }

    /// Numbers of messages of a communicator mean nothing.
    pub fn give_up(&mut self, library: &Library, handle: u64) {
        renew();
        if handle == library.comm_world {
            self.world_overtakes = true;
        } else {
            self.remove(handle);
        }
    }

    /// A communicator goes.
    pub fn remove(&mut self, handle: u64) {
        if handle == 0 {
            return;
        }
        let hole = self.place(handle);
        if element(&self.places, hole).handle == 0 {
            return;
        }
        const NONE: Numbered =
            Numbered { handle: 0, number: 0, made: 0, place: 0, size: 0, bridged: 0 };
        *element_mut(&mut self.places, hole) = NONE;
        renew();
        self.used -= 1;
        // Those behind it may not have had their place.
        let mut next = hole + 1;
        while element(&self.places, next).handle != 0 {
            let moved = core::mem::replace(element_mut(&mut self.places, next), NONE);
            let place = self.place(moved.handle);
            *element_mut(&mut self.places, place) = moved;
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_removed_leaves_no_gap() {
        let mut numbers = Box::new(Numbers::new());
        let all: Vec<u64> = (1..500).map(|n| 0x8400_0000 + n * 7).collect();
        for handle in &all {
            numbers.put(*handle, *handle + 1);
        }
        for handle in all.iter().step_by(2) {
            numbers.remove(*handle);
        }
        for (i, handle) in all.iter().enumerate() {
            let number = element(&numbers.places, numbers.place(*handle)).number;
            assert_eq!(number, if i % 2 == 0 { 0 } else { *handle + 1 });
        }
        assert_eq!(numbers.used, 249);
    }
}
