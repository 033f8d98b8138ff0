//! Writes events into blocks.

use core::sync::atomic::{Ordering::Release, compiler_fence};

use crate::block::TraceBlock;
use crate::event::{ARGUMENTS, CallArguments, CallEvent, ROUTINES, expected};

/// More bytes than any event takes, with the words that are written past its end.
const MOST: usize = 128;

/// What a thread keeps to write events. All zero at first.
#[repr(C)]
pub struct Writer {
    /// The time up to which events are written, in units of the block
    clock: u64,
    /// Bytes and events, as [`BlockHead::filled`](crate::BlockHead::filled)
    filled: u64,
    shift: u32,
    reserved: u32,
    /// Routines that were written since the block began, a bit of each
    seen: [u64; ROUTINES / 64],
    /// Their arguments
    memo: [[i64; ARGUMENTS]; ROUTINES],
}

/// The code of the width of a number, and the width in B.
#[inline(always)]
const fn width(number: u64) -> (u16, usize) {
    if number < 1 << 8 {
        (0, 1)
    } else if number < 1 << 16 {
        (1, 2)
    } else if number < 1 << 32 {
        (2, 4)
    } else {
        (3, 8)
    }
}

#[inline(always)]
fn put_word(room: &mut [u8; MOST], place: usize, word: u64) {
    if let Some(place) = room.get_mut(place..).and_then(<[u8]>::first_chunk_mut) {
        *place = word.to_le_bytes();
    }
}

impl Writer {
    /// A writer that has no block yet.
    pub const fn new() -> Writer {
        Writer {
            clock: 0,
            filled: 0,
            shift: 0,
            reserved: 0,
            seen: [0; ROUTINES / 64],
            memo: [[0; ARGUMENTS]; ROUTINES],
        }
    }

    /// Begins a block, whose head is complete but for what events change.
    pub fn begin(&mut self, block: &mut TraceBlock) {
        block.head.filled = 0;
        self.filled = 0;
        self.shift = block.head.shift & 63;
        self.clock = block.head.first >> self.shift;
        self.seen = [0; ROUTINES / 64];
    }

    /// The tick up to which events are written.
    pub const fn last(&self) -> u64 {
        self.clock << self.shift
    }

    /// How many events the block has.
    pub const fn events(&self) -> u64 {
        self.filled >> 32
    }

    /// Adds an event to the block that was begun. False if the block is full, and nothing was added.
    #[inline(always)]
    pub fn put(&mut self, block: &mut TraceBlock, event: &CallEvent) -> bool {
        let used = self.filled as u32 as usize;
        let room = block.body.get_mut(used..).and_then(<[u8]>::first_chunk_mut::<MOST>);
        let Some(room) = room else { return false };
        // Clocks of two processors may differ by some ticks: time never goes back.
        let gap = (event.began >> self.shift).saturating_sub(self.clock);
        let began = self.clock.wrapping_add(gap);
        let length = (event.ended >> self.shift).saturating_sub(began);
        let (gap_code, gap_width) = width(gap);
        let (length_code, length_width) = width(length);
        put_word(room, 2, gap);
        put_word(room, 2 + gap_width, length);
        let mut end = 2 + gap_width + length_width;
        let values = event.arguments.values();
        let routine = usize::from(event.routine) % ROUTINES;
        let expected = self.expected(routine);
        let differs = values != expected;
        if differs {
            end = put_changes(room, end, &values, &expected);
        }
        if let Some(memo) = self.memo.get_mut(routine) {
            *memo = values;
        }
        let code = routine as u16 | u16::from(differs) << 10 | gap_code << 11 | length_code << 13;
        if let Some(head) = room.first_chunk_mut() {
            *head = code.to_le_bytes();
        }
        self.clock = began.wrapping_add(length);
        self.filled = self.filled.wrapping_add(1 << 32 | end as u64);
        // Whoever finds the block of a process that was killed sees whole events.
        compiler_fence(Release);
        block.head.filled = self.filled;
        true
    }

    #[inline(always)]
    fn expected(&mut self, routine: usize) -> [i64; ARGUMENTS] {
        let bit = 1u64 << (routine % 64);
        if let Some(seen) = self.seen.get_mut(routine / 64)
            && *seen & bit == 0
        {
            *seen |= bit;
            return CallArguments::NONE.values();
        }
        self.memo.get(routine).map_or([0; ARGUMENTS], expected)
    }
}

impl Default for Writer {
    fn default() -> Self {
        Writer::new()
    }
}

/// Writes a byte that tells which arguments are not as expected, and by how much each of them
/// differs. Returns where that ends.
#[inline]
fn put_changes(
    room: &mut [u8; MOST],
    begin: usize,
    values: &[i64; ARGUMENTS],
    expected: &[i64; ARGUMENTS],
) -> usize {
    let (mut end, mut changed, mut bit) = (begin + 1, 0u8, 1u8);
    for (value, expected) in values.iter().zip(expected) {
        let difference = value.wrapping_sub(*expected);
        if difference != 0 {
            changed |= bit;
            let mut rest = (difference << 1 ^ difference >> 63) as u64;
            while rest >= 0x80 {
                if let Some(byte) = room.get_mut(end) {
                    *byte = rest as u8 | 0x80;
                }
                rest >>= 7;
                end += 1;
            }
            if let Some(byte) = room.get_mut(end) {
                *byte = rest as u8;
            }
            end += 1;
        }
        bit = bit.wrapping_shl(1);
    }
    if let Some(byte) = room.get_mut(begin) {
        *byte = changed;
    }
    end
}
