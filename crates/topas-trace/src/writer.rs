//! Writes events into blocks.

use core::sync::atomic::{Ordering::Release, compiler_fence};

use crate::block::{BODY, BlockHead, TraceBlock};
use crate::event::{ARGUMENTS, CallArguments, CallEvent, ROUTINES, expect};
use crate::supplement::SupplementWriter;

/// In the head of an event: some of its arguments are not as expected.
const DIFFERS: u16 = 1 << 10;

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
    /// What is expected of their next calls
    memo: [[i64; ARGUMENTS]; ROUTINES],
}

/// More bytes than the head and the times of an event take, with the word that is written past
/// their end.
const TIMES: usize = 2 + 8 + 8;

/// More bytes than these take with a byte of changes and the bytes sent and received.
const SHORT: usize = TIMES + 1 + 10 + 10;

/// The places of bytes sent and received among the arguments.
const SENT: usize = 2;
const RECEIVED: usize = 3;

/// How numbers are written, by their highest bits: the width in B, and in the upper half the code of
/// the width, where it stands in the head of an event. So numbers of all widths take the same
/// instructions, and no branch that a processor would have to foresee.
const fn widths(place: u32) -> [u32; 64] {
    let mut all = [0; 64];
    let (mut left, mut bit) = (all.as_mut_slice(), 0);
    while let Some((first, rest)) = left.split_first_mut() {
        let code = if bit < 8 {
            0
        } else if bit < 16 {
            1
        } else if bit < 32 {
            2
        } else {
            3
        };
        *first = 1 << code | code << (16 + place);
        (left, bit) = (rest, bit + 1);
    }
    all
}

/// How the time between two calls is written, and the length of a call. One table, so that there is one
/// address to keep.
static FORMS: [[u32; 64]; 2] = [widths(11), widths(13)];

/// How a number is written.
#[inline(always)]
fn form(forms: &[u32; 64], number: u64) -> u32 {
    let highest = 63 - (number | 1).leading_zeros();
    forms.get(highest as usize).copied().unwrap_or_default()
}

#[inline(always)]
fn put_word(room: &mut [u8], place: usize, word: u64) {
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

    /// Times are written in units of 2 to the power of this, in ticks.
    #[inline(always)]
    pub const fn shift(&self) -> u32 {
        self.shift
    }

    /// How many events the block has.
    pub const fn events(&self) -> u64 {
        self.filled >> 32
    }

    /// Adds an event to the block that was begun. False if the block is full, and nothing was added.
    #[inline]
    pub fn put(&mut self, block: &mut TraceBlock, event: &CallEvent) -> bool {
        let used = self.filled as u32 as usize;
        let room = block.body.get_mut(used..).and_then(<[u8]>::first_chunk_mut::<MOST>);
        let Some(room) = room else { return false };
        let (mut end, code) =
            self.put_times(room, event.began >> self.shift, event.ended >> self.shift);
        let values = event.arguments.values();
        let routine = usize::from(event.routine) % ROUTINES;
        let expected = self.expected_values(routine);
        let mut differs = false;
        if values.iter().zip(&expected).any(|(value, expected)| value != expected) {
            differs = true;
            end = put_changes(room, end, &values, &expected);
        }
        if let Some(memo) = self.memo.get_mut(routine) {
            *memo = expect(&values);
        }
        let head = routine as u16 | if differs { DIFFERS } else { 0 } | code;
        let [first, second, ..] = room;
        [*first, *second] = head.to_le_bytes();
        self.close(&mut block.head, end);
        true
    }

    /// Adds an event with what it tells behind its arguments, of at most so many bytes. False if the block is full,
    /// and nothing was added.
    pub fn put_with_supplement(
        &mut self,
        block: &mut TraceBlock,
        event: &CallEvent,
        most: usize,
        write: impl FnOnce(&mut SupplementWriter<'_>),
    ) -> bool {
        let used = self.filled as u32 as usize;
        if used.saturating_add(MOST + 2).saturating_add(most) > BODY || !self.put(block, event) {
            return false;
        }
        let end = self.filled as u32 as usize;
        let room = block.body.get_mut(end..).and_then(<[u8]>::split_first_chunk_mut::<2>);
        let Some((length, room)) = room else { return true };
        let mut supplement = SupplementWriter::new(room);
        write(&mut supplement);
        let told = supplement.used();
        *length = (told as u16).to_le_bytes();
        self.filled = self.filled.wrapping_add(2 + told as u64);
        // Whoever finds the block of a process that was killed sees the event alone, or with all of it.
        compiler_fence(Release);
        block.head.filled = self.filled;
        compiler_fence(Release);
        if let Some(high) = block.body.get_mut(used + 1) {
            *high |= 0x80;
        }
        true
    }

    /// Whether the block that was begun has room for an event, if that is a short one.
    #[inline(always)]
    pub const fn has_room(&self) -> bool {
        self.filled as u32 as usize <= BODY - SHORT
    }

    /// Where the next event goes in the body of the block, if that is a short one; None if it is full.
    #[inline(always)]
    fn short_room<'b>(&self, body: &'b mut [u8; BODY]) -> Option<&'b mut [u8; SHORT]> {
        let used = self.filled as u32 as usize;
        if !self.has_room() {
            return None;
        }
        body.get_mut(used..)?.first_chunk_mut()
    }

    /// Adds an event of a routine whose arguments are as those of the last one, where
    /// [`Writer::expects`] said so, too: the same as [`Writer::put`], and shorter. Times are in units of the
    /// block: see [`Writer::shift`]. If the arguments have the number of a collective, [`Writer::go_on`] is told
    /// that. False if the block is full, and nothing was added.
    #[inline(always)]
    pub fn put_expected(
        &mut self,
        block: &mut TraceBlock,
        routine: u16,
        [began, ended]: [u64; 2],
    ) -> bool {
        let Some(room) = self.short_room(&mut block.body) else { return false };
        let (end, code) = self.put_times(room, began, ended);
        let [first, second, ..] = room;
        let routine = routine % ROUTINES as u16;
        [*first, *second] = (routine | code).to_le_bytes();
        self.close(&mut block.head, end);
        true
    }

    /// The same of an event that moved something else than the last one: bytes sent and received.
    #[inline]
    pub fn put_moved(
        &mut self,
        block: &mut TraceBlock,
        routine: u16,
        [began, ended]: [u64; 2],
        [sent, received]: [u64; 2],
    ) -> bool {
        let Some(room) = self.short_room(&mut block.body) else { return false };
        let (changes, code) = self.put_times(room, began, ended);
        let routine = routine % ROUTINES as u16;
        let Some(memo) = self.memo.get_mut(usize::from(routine)) else { return false };
        let (mut end, mut changed) = (changes + 1, 0);
        for (argument, value) in [(SENT, sent as i64), (RECEIVED, received as i64)] {
            if let Some(expected) = memo.get_mut(argument) {
                let difference = value.wrapping_sub(*expected);
                if difference != 0 {
                    changed |= 1 << argument;
                    end = put_difference(room, end, difference);
                    *expected = value;
                }
            }
        }
        if let Some(byte) = room.get_mut(changes) {
            *byte = changed;
        }
        let [first, second, ..] = room;
        [*first, *second] = (routine | DIFFERS | code).to_le_bytes();
        self.close(&mut block.head, end);
        true
    }

    /// The event of a routine that is put next, and is as expected, has this number of a collective.
    #[inline(always)]
    pub fn go_on(&mut self, routine: u16, number: u64) {
        if number != 0
            && let Some(memo) = self.memo.get_mut(usize::from(routine) % ROUTINES)
        {
            let [_, _, _, _, _, _, next, _] = memo;
            *next = number.wrapping_add(1) as i64;
        }
    }

    /// Whether there was an event of this routine in the block, and what tells calls with the same
    /// words apart is as with that, but for [`Writer::expects_moved`]: the path and the number of the
    /// collective (the next one).
    #[inline(always)]
    pub fn expects(&self, routine: u16, path: u32, number: u64) -> bool {
        let routine = usize::from(routine) % ROUTINES;
        let Some(memo) = self.memo.get(routine) else { return false };
        let [.., by, nth, _] = memo;
        self.has_seen(routine) && *by == i64::from(path) && *nth == number as i64
    }

    /// Whether the last event of this routine told these bytes sent and received.
    #[inline(always)]
    pub fn expects_moved(&self, routine: u16, told: [u64; 2]) -> bool {
        let Some(memo) = self.memo.get(usize::from(routine) % ROUTINES) else { return false };
        let [_, _, sent, received, ..] = memo;
        *sent == told[0] as i64 && *received == told[1] as i64
    }

    #[inline(always)]
    fn has_seen(&self, routine: usize) -> bool {
        self.seen.get(routine / 64).is_some_and(|seen| seen >> (routine % 64) & 1 != 0)
    }

    /// Writes the times of an event, in units of the block: where they end in it, and what its head tells of them.
    #[inline(always)]
    fn put_times<const ROOM: usize>(
        &mut self,
        room: &mut [u8; ROOM],
        began: u64,
        ended: u64,
    ) -> (usize, u16) {
        const { assert!(ROOM >= TIMES) };
        // Clocks of two processors may differ by some ticks: time never goes back.
        let began = began.max(self.clock);
        let ended = ended.max(began);
        let (gap, length) = (began.wrapping_sub(self.clock), ended.wrapping_sub(began));
        self.clock = ended;
        let [gaps, lengths] = &FORMS;
        let gap_form = form(gaps, gap);
        let forms = gap_form.wrapping_add(form(lengths, length));
        put_word(room, 2, gap);
        put_word(room, 2 + (gap_form & 0xff) as usize, length);
        (2 + (forms & 0xff) as usize, (forms >> 16) as u16)
    }

    /// An event of this length is complete, and counts.
    #[inline(always)]
    fn close(&mut self, head: &mut BlockHead, length: usize) {
        self.filled = self.filled.wrapping_add(1 << 32 | length as u64);
        // Whoever finds the block of a process that was killed sees whole events.
        compiler_fence(Release);
        head.filled = self.filled;
    }

    #[inline(always)]
    fn expected_values(&mut self, routine: usize) -> [i64; ARGUMENTS] {
        let bit = 1u64 << (routine % 64);
        if let Some(seen) = self.seen.get_mut(routine / 64)
            && *seen & bit == 0
        {
            *seen |= bit;
            return CallArguments::NONE.values();
        }
        self.memo.get(routine).copied().unwrap_or_default()
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
            end = put_difference(room, end, difference);
        }
        bit = bit.wrapping_shl(1);
    }
    if let Some(byte) = room.get_mut(begin) {
        *byte = changed;
    }
    end
}

/// Writes by how much an argument differs, small numbers of both signs in few bytes. Returns where that ends.
#[inline(always)]
fn put_difference(room: &mut [u8], begin: usize, difference: i64) -> usize {
    let (mut end, mut rest) = (begin, (difference << 1 ^ difference >> 63) as u64);
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
    end + 1
}
