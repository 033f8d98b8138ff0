//! Epochs of windows that go on: the ranks that may access the window of this rank, and those whose
//! windows it accesses, as `MPI_Win_post` and `MPI_Win_start` name them.
//!
//! A program may free the group by which it named them as soon as it has, so their ranks in the world
//! are kept here, in blocks.

/// Most epochs that go on at the same time.
const EPOCHS: usize = 64;
/// Blocks of ranks.
const BLOCKS: usize = 256;
/// Ranks of a block.
const RANKS: usize = 15;

/// Most ranks of all epochs that go on, if all blocks are full.
pub const MOST_RANKS: usize = BLOCKS * RANKS;

/// Which end of an epoch a rank is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EpochEnd {
    /// Others access its window
    #[default]
    Exposure,
    /// It accesses the windows of others
    Access,
}

/// An epoch that goes on.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenEpoch {
    /// The number of the window; 0 if nothing is here
    window: u64,
    /// Where the ranks at the other end stand
    first: u16,
    last: u16,
    /// How many they are
    pub ranks: u32,
    /// Which of the epochs of this rank that is, from 1
    pub number: u32,
    end: EpochEnd,
    /// Some of them do not measure, or have no number
    pub elsewhere: bool,
    /// For some of them there was no room
    pub unsure: bool,
}

/// Some ranks of an epoch.
#[derive(Clone, Copy, Debug)]
struct RankBlock {
    /// The next block of the epoch, or the next that is free; blocks have numbers from 1
    next: u16,
    used: u16,
    ranks: [u32; RANKS],
}

/// A place among the ranks of an epoch.
#[derive(Clone, Copy, Debug)]
pub struct RankPlace {
    block: u16,
    nth: u16,
}

/// The epochs that go on. Zero at its beginning.
#[derive(Debug)]
pub struct OpenEpochs {
    epochs: [OpenEpoch; EPOCHS],
    blocks: [RankBlock; BLOCKS],
    /// Blocks that were given out at least once
    touched: u16,
    free: u16,
    /// Epochs that have begun
    begun: u32,
    /// An access has ended of which no number could be told, because the board is full
    pub is_board_full: bool,
}

const _: () = assert!(BLOCKS < u16::MAX as usize);

impl OpenEpochs {
    /// Without an epoch.
    pub const fn new() -> OpenEpochs {
        const NONE: OpenEpoch = OpenEpoch {
            window: 0,
            first: 0,
            last: 0,
            ranks: 0,
            number: 0,
            end: EpochEnd::Exposure,
            elsewhere: false,
            unsure: false,
        };
        const BLOCK: RankBlock = RankBlock { next: 0, used: 0, ranks: [0; RANKS] };
        OpenEpochs {
            epochs: [NONE; EPOCHS],
            blocks: [BLOCK; BLOCKS],
            touched: 0,
            free: 0,
            begun: 0,
            is_board_full: false,
        }
    }

    /// An epoch begins, without ranks so far. A window has one of each end at a time. False if there
    /// is no room.
    #[inline(never)]
    pub fn open(&mut self, window: u64, end: EpochEnd) -> bool {
        self.close(window, end);
        // Readers of an event log need only tell those apart that are near each other.
        self.begun = (self.begun + 1) & u32::MAX >> 1;
        let number = self.begun.max(1);
        match self.epochs.iter_mut().find(|epoch| epoch.window == 0) {
            Some(free) => *free = OpenEpoch { window, end, number, ..OpenEpoch::default() },
            None => return false,
        }
        true
    }

    /// An epoch; None if it does not go on.
    #[inline(never)]
    pub fn find(&mut self, window: u64, end: EpochEnd) -> Option<&mut OpenEpoch> {
        let is_it = |epoch: &&mut OpenEpoch| epoch.window == window && epoch.end == end;
        self.epochs.iter_mut().find(is_it).filter(|_| window != 0)
    }

    /// A rank at the other end of an epoch. False if there is no room for it.
    #[inline(never)]
    pub fn add(&mut self, window: u64, end: EpochEnd, rank: u32) -> bool {
        let Some(epoch) = self.find(window, end) else { return false };
        epoch.ranks += 1;
        let last = epoch.last;
        if let Some(block) = self.block(last)
            && let Some(place) = block.ranks.get_mut(usize::from(block.used))
        {
            *place = rank;
            block.used += 1;
            return true;
        }
        let new = self.take(rank);
        if let Some(last) = self.block(last).filter(|_| new != 0) {
            last.next = new;
        }
        let Some(epoch) = self.find(window, end) else { return false };
        if new == 0 {
            epoch.unsure = true;
            return false;
        }
        epoch.first = if epoch.first == 0 { new } else { epoch.first };
        epoch.last = new;
        true
    }

    /// The first place of the ranks of an epoch.
    pub fn ranks(&mut self, window: u64, end: EpochEnd) -> RankPlace {
        RankPlace { block: self.find(window, end).map_or(0, |epoch| epoch.first), nth: 0 }
    }

    /// The rank at a place, and the place behind it; None behind the last one.
    #[inline(never)]
    pub fn next(&mut self, place: RankPlace) -> Option<(u32, RankPlace)> {
        let RankPlace { block: number, nth } = place;
        let block = self.block(number)?;
        let rank = block.ranks.get(usize::from(nth)).copied()?;
        let is_last = nth + 1 >= block.used;
        let behind = if is_last {
            RankPlace { block: block.next, nth: 0 }
        } else {
            RankPlace { nth: nth + 1, ..place }
        };
        Some((rank, behind))
    }

    /// An epoch ends.
    #[inline(never)]
    pub fn close(&mut self, window: u64, end: EpochEnd) {
        let Some(epoch) = self.find(window, end) else { return };
        let OpenEpoch { first, last, .. } = core::mem::take(epoch);
        let free = self.free;
        if let Some(last) = self.block(last) {
            last.next = free;
            self.free = first;
        }
    }

    fn block(&mut self, number: u16) -> Option<&mut RankBlock> {
        self.blocks.get_mut(usize::from(number).wrapping_sub(1))
    }

    /// A block with one rank; 0 if there is none.
    fn take(&mut self, rank: u32) -> u16 {
        let mut number = self.free;
        if number != 0 {
            self.free = self.block(number).map_or(0, |block| block.next);
        } else if usize::from(self.touched) < BLOCKS {
            self.touched += 1;
            number = self.touched;
        }
        let Some(block) = self.block(number) else { return 0 };
        (block.next, block.used) = (0, 1);
        if let Some(place) = block.ranks.first_mut() {
            *place = rank;
        }
        number
    }
}

impl Default for OpenEpochs {
    fn default() -> Self {
        OpenEpochs::new()
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::vec::Vec;

    use super::*;

    fn ranks(epochs: &mut OpenEpochs, window: u64, end: EpochEnd) -> Vec<u32> {
        let mut at = epochs.ranks(window, end);
        let mut all = Vec::new();
        while let Some((rank, next)) = epochs.next(at) {
            all.push(rank);
            at = next;
        }
        all
    }

    #[test]
    fn the_ranks_of_an_epoch_stay_until_it_ends() {
        use EpochEnd::{Access, Exposure};
        let mut epochs = Box::new(OpenEpochs::new());
        for round in 0..1_000u32 {
            // Epochs of two windows and both ends, which end in another order than they began.
            let all = [(5, Access), (6, Access), (5, Exposure), (6, Exposure)];
            for (window, end) in all {
                assert!(epochs.open(window, end));
            }
            for rank in 0..round % 40 {
                for (at, (window, end)) in (0..).zip(all) {
                    assert!(epochs.add(window, end, 1_000 * at + rank));
                }
            }
            for at in [2, 0, 3, 1] {
                let (window, end) = all[at];
                let expected: Vec<u32> =
                    (0..round % 40).map(|rank| 1_000 * at as u32 + rank).collect();
                assert_eq!(ranks(&mut epochs, window, end), expected, "round {round}");
                assert_eq!(epochs.find(window, end).unwrap().ranks, round % 40);
                epochs.close(window, end);
                assert!(epochs.find(window, end).is_none());
            }
        }
    }

    #[test]
    fn what_has_no_room_is_told() {
        use EpochEnd::{Access, Exposure};
        let mut epochs = Box::new(OpenEpochs::new());
        assert!(!epochs.add(1, Access, 3));
        assert!(epochs.open(1, Access) && epochs.open(2, Exposure));
        let kept = (0..2 * MOST_RANKS as u32).filter(|rank| epochs.add(1, Access, *rank)).count();
        assert_eq!(kept, MOST_RANKS);
        assert!(!epochs.add(2, Exposure, 0));
        for window in [1, 2] {
            let end = if window == 1 { Access } else { Exposure };
            assert!(epochs.find(window, end).unwrap().unsure);
            epochs.close(window, end);
        }
        for window in 1..=EPOCHS as u64 {
            assert!(epochs.open(window, Access) && epochs.add(window, Access, 7));
        }
        assert!(!epochs.open(999, Access));
        // The same epoch once more takes its own place.
        assert!(epochs.open(3, Access));
        assert!(ranks(&mut epochs, 3, Access).is_empty());
    }
}
