//! The ring of blocks of a thread, in a mapped file: the newest blocks stay.

/// First bytes of a ring.
pub const RING_MAGIC: [u8; 8] = *b"topasrng";

/// The head of a ring. All zero before it is begun.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingHead {
    /// [`RING_MAGIC`]
    pub magic: [u8; 8],
    /// 1 if its blocks were written to the log of the host
    pub written: u32,
    /// Blocks that it may have
    pub capacity: u32,
    /// Blocks that it has; there is memory for these
    pub made: u32,
    /// The number of the thread in its process
    pub thread: u32,
    /// Blocks that were begun
    pub begun: u64,
    /// Events in blocks before the one that was begun last
    pub before: u64,
    /// Events for which there was no block
    pub lost: u64,
    /// Where the first block is, in B from the beginning of the file
    pub blocks: u64,
    /// Where the log of the host is to be; ends with a NUL
    pub path: [u8; 1024],
}

impl RingHead {
    /// The place of the next block, which is a new one or the oldest. `make` gets the place of a new
    /// block, and finds memory for it; if there is none, the ring stays as large as it is. None if
    /// there is no block at all.
    pub fn next_place(&mut self, make: impl FnOnce(u32) -> bool) -> Option<u32> {
        if self.made < self.capacity {
            if make(self.made) {
                self.made += 1;
            } else {
                self.capacity = self.made;
            }
        }
        let place = self.begun.checked_rem(u64::from(self.made))?;
        self.begun += 1;
        Some(place as u32)
    }

    /// Places of the blocks that are there, the oldest first.
    pub fn places(&self) -> impl Iterator<Item = u32> + use<> {
        let (begun, made) = (self.begun, u64::from(self.made));
        let first = begun.saturating_sub(made);
        (first..begun).map_while(move |number| number.checked_rem(made)).map(|place| place as u32)
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn ring(capacity: u32) -> RingHead {
        RingHead {
            magic: RING_MAGIC,
            written: 0,
            capacity,
            made: 0,
            thread: 0,
            begun: 0,
            before: 0,
            lost: 0,
            blocks: 0,
            path: [0; 1024],
        }
    }

    #[test]
    fn the_newest_blocks_stay() {
        let mut ring = ring(3);
        let places: Vec<_> = (0..7).map(|_| ring.next_place(|_| true)).collect();
        assert_eq!(places, [0, 1, 2, 0, 1, 2, 0].map(Some));
        assert_eq!(ring.places().collect::<Vec<_>>(), [1, 2, 0]);
    }

    #[test]
    fn a_ring_without_more_memory_stays_as_it_is() {
        let mut small = ring(9);
        let places: Vec<_> = (0..5).map(|_| small.next_place(|place| place < 2)).collect();
        assert_eq!(places, [0, 1, 0, 1, 0].map(Some));
        assert_eq!((small.made, small.capacity), (2, 2));
        let mut none = ring(9);
        assert_eq!(none.next_place(|_| false), None);
        assert_eq!(none.next_place(|_| true), None, "it is not tried again");
        assert_eq!(none.places().count(), 0);
    }
}
