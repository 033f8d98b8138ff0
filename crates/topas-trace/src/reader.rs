//! Reads events of a block.

use core::fmt;

use crate::block::BlockHead;
use crate::event::{ARGUMENTS, CallArguments, CallEvent, ROUTINES, go_on};

/// The rest of a block cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The byte behind the head at which an event that cannot be read begins
    pub offset: usize,
    /// Events that the head tells of and that were not read
    pub lost: u32,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} events from byte {} on cannot be read", self.lost, self.offset)
    }
}

/// Where an event of a block begins: who only needs times can read a block from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventPlace {
    /// Bytes between the head of the block and the event
    pub offset: u32,
    /// When the call before ended, in units of `2^shift` ticks
    pub clock: u64,
}

/// Where a reader of a block is. It is 64 KiB large: callers should put it into a box. It does not
/// hold the block, so that who reads many blocks at once can keep them as they like.
pub struct EventCursor {
    offset: usize,
    left: u32,
    clock: u64,
    shift: u32,
    /// The last event with a supplement: how many events were left behind it, and where that stands
    supplement: Option<(u32, usize, usize)>,
    seen: [u64; ROUTINES / 64],
    memo: [[i64; ARGUMENTS]; ROUTINES],
}

/// In the first two bytes of an event: its arguments are not as expected.
const DIFFERS: u16 = 1 << 10;
/// The same: a supplement stands behind the arguments.
const HAS_SUPPLEMENT: u16 = 1 << 15;

impl EventCursor {
    /// A cursor in front of the events of a block with this head.
    pub fn new(head: &BlockHead) -> EventCursor {
        let mut cursor = EventCursor {
            offset: 0,
            left: 0,
            clock: 0,
            shift: 0,
            supplement: None,
            seen: [0; ROUTINES / 64],
            memo: [[0; ARGUMENTS]; ROUTINES],
        };
        cursor.restart(head);
        cursor
    }

    /// Goes to the beginning of another block.
    pub fn restart(&mut self, head: &BlockHead) {
        self.offset = 0;
        self.left = head.events();
        self.shift = head.shift & 63;
        self.clock = head.first >> self.shift;
        self.supplement = None;
        self.seen = [0; ROUTINES / 64];
    }

    /// Where the next event begins.
    pub fn place(&self) -> EventPlace {
        EventPlace { offset: self.offset as u32, clock: self.clock }
    }

    /// What the event that was read last tells behind its arguments; `body` is that of [`EventCursor::next`].
    pub fn supplement<'b>(&self, body: &'b [u8]) -> Option<&'b [u8]> {
        let (left, from, to) = self.supplement?;
        body.get(from..to).filter(|_| left == self.left)
    }

    /// The next event of the block; `body` is what is in use behind its head, the same at each call.
    /// None at the end. After a [`Damage`] there is nothing more.
    #[inline]
    pub fn next(&mut self, body: &[u8]) -> Option<Result<CallEvent, Damage>> {
        if self.left == 0 {
            return None;
        }
        let offset = self.offset;
        match self.event(body) {
            Some(event) => {
                self.left -= 1;
                Some(Ok(event))
            }
            None => Some(Err(Damage { offset, lost: core::mem::take(&mut self.left) })),
        }
    }

    #[inline]
    fn event(&mut self, body: &[u8]) -> Option<CallEvent> {
        let mut bytes = ByteReader { body, offset: self.offset };
        let (code, gap, length) = bytes.head()?;
        let routine = usize::from(code) % ROUTINES;
        let bit = 1u64 << (routine % 64);
        let seen = self.seen.get_mut(routine / 64)?;
        let values = self.memo.get_mut(routine)?;
        match *seen & bit {
            0 => *values = CallArguments::NONE.values(),
            _ => go_on(values),
        }
        *seen |= bit;
        if code & (DIFFERS | HAS_SUPPLEMENT) != 0 {
            // Few arguments change: those that do are looked at, and no others.
            let mut changed = if code & DIFFERS == 0 { 0 } else { bytes.byte()? };
            while let Some(value) = values.get_mut(changed.trailing_zeros() as usize) {
                *value = value.wrapping_add(bytes.difference()?);
                changed &= changed.wrapping_sub(1);
            }
            if code & HAS_SUPPLEMENT != 0 {
                let place = bytes.supplement()?;
                self.supplement = Some((self.left.wrapping_sub(1), place, bytes.offset));
            }
        }
        let arguments = CallArguments::of_values(values)?;
        let began = self.clock.checked_add(gap)?;
        let ended = began.checked_add(length)?;
        (self.offset, self.clock) = (bytes.offset, ended);
        Some(CallEvent {
            routine: routine as u16,
            began: began << self.shift,
            ended: ended << self.shift,
            arguments,
        })
    }
}

/// Reads what an event is made of.
struct ByteReader<'b> {
    body: &'b [u8],
    offset: usize,
}

impl ByteReader<'_> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let byte = self.body.get(self.offset).copied()?;
        self.offset += 1;
        Some(byte)
    }

    /// The first two bytes of an event, its gap and its length.
    #[inline]
    fn head(&mut self) -> Option<(u16, u64, u64)> {
        let rest = self.body.get(self.offset..)?;
        let code = u16::from_le_bytes(*rest.first_chunk()?);
        let widths = [code >> 11 & 3, code >> 13 & 3].map(|code| 1usize << code);
        let [gap, length] = widths;
        self.offset += 2 + gap + length;
        // Most events have as many bytes behind them as the longest would take.
        if let Some(rest) = rest.first_chunk::<18>() {
            let number = |place: usize, width: usize| {
                let word = rest.get(place..).and_then(<[u8]>::first_chunk);
                let word = word.map_or(0, |word| u64::from_le_bytes(*word));
                word & (u64::MAX >> (64 - 8 * width))
            };
            return Some((code, number(2, gap), number(2 + gap, length)));
        }
        let number = |place: usize, width: usize| {
            let bytes = rest.get(place..place + width)?;
            Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        };
        Some((code, number(2, gap)?, number(2 + gap, length)?))
    }

    /// Passes over a supplement: where that begins.
    #[cold]
    fn supplement(&mut self) -> Option<usize> {
        let length = u16::from_le_bytes([self.byte()?, self.byte()?]);
        let place = self.offset;
        self.offset = place + usize::from(length);
        (self.offset <= self.body.len()).then_some(place)
    }

    #[inline]
    fn difference(&mut self) -> Option<i64> {
        let first = self.byte()?;
        let number = if first & 0x80 == 0 { first.into() } else { self.long(first)? };
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// The number that begins with this byte and has more.
    fn long(&mut self, first: u8) -> Option<u64> {
        let (mut number, mut shift) = (u64::from(first & 0x7f), 7);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte has one bit.
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            shift += 7;
            if shift > 63 {
                return None;
            }
        }
    }
}

/// The events of a block, in the order in which their calls ended. After a [`Damage`] there is
/// nothing more. It is 64 KiB large: callers should put it into a box.
pub struct Events<'b> {
    body: &'b [u8],
    cursor: EventCursor,
}

impl<'b> Events<'b> {
    /// The events of a block with this head. `body` is what stands behind the head; what of it is
    /// not in use is not looked at.
    pub fn new(head: &BlockHead, body: &'b [u8]) -> Events<'b> {
        let used = (head.used() as usize).min(body.len());
        let body = body.get(..used).unwrap_or_default();
        Events { body, cursor: EventCursor::new(head) }
    }

    /// Where the next event begins.
    pub fn place(&self) -> EventPlace {
        self.cursor.place()
    }

    /// What the event that was read last tells behind its arguments.
    pub fn supplement(&self) -> Option<&'b [u8]> {
        self.cursor.supplement(self.body)
    }
}

impl Iterator for Events<'_> {
    type Item = Result<CallEvent, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        self.cursor.next(self.body)
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::collections::HashMap;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::block::{BODY, BlockContent, BlockHeadError, HEAD, TraceBlock, checksum};
    use crate::event::NOBODY;
    use crate::writer::Writer;

    fn new_block(first: u64, shift: u32) -> Box<TraceBlock> {
        let head = BlockHead { first, shift, ..BlockHead::new(BlockContent::Events) };
        Box::new(TraceBlock { head, body: [0; BODY] })
    }

    /// Writes as many events as fit: the block, and how many.
    fn write(first: u64, shift: u32, events: &[CallEvent]) -> (Box<TraceBlock>, usize) {
        let mut block = new_block(first, shift);
        let mut writer = Box::new(Writer::new());
        writer.begin(&mut block);
        let count = events.iter().take_while(|event| writer.put(&mut block, event)).count();
        assert_eq!(u64::from(block.head.events()), writer.events());
        (block, count)
    }

    fn read(block: &TraceBlock) -> Result<Vec<CallEvent>, Damage> {
        Box::new(Events::new(&block.head, &block.body)).collect()
    }

    fn arguments() -> impl Strategy<Value = CallArguments> {
        let small = (-2i32..4, -2i32..4, -1i32..3, 0u32..4, 0u64..3, 0u64..3, 0u64..3, 0u64..9);
        let any = any::<(i32, i32, i32, u32, u64, u64, u64, u64)>();
        let received_tag = prop_oneof![4 => Just(NOBODY), 2 => 0i32..4, 1 => 0..=i32::MAX];
        (prop_oneof![small, any], received_tag).prop_map(
            |((peer, source, tag, path, sent, received, communicator, number), received_tag)| {
                CallArguments {
                    peer,
                    source,
                    tag,
                    received_tag,
                    path,
                    sent,
                    received,
                    communicator,
                    number,
                }
            },
        )
    }

    /// Routine, gap, length, arguments.
    fn calls() -> impl Strategy<Value = Vec<(u16, u64, u64, CallArguments)>> {
        let time = prop_oneof![0u64..300, 0u64..1 << 20, 0u64..1 << 40];
        let routine = prop_oneof![0u16..3, 0..ROUTINES as u16];
        prop::collection::vec((routine, time.clone(), time, arguments()), 0..200)
    }

    fn events_of(calls: Vec<(u16, u64, u64, CallArguments)>, shift: u32) -> Vec<CallEvent> {
        let mut clock = 1 << 30;
        let event = |(routine, gap, length, arguments)| {
            let began = clock + (gap << shift);
            clock = began + (length << shift);
            CallEvent { routine, began, ended: clock, arguments }
        };
        calls.into_iter().map(event).collect()
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(calls in calls(), shift in 0u32..5) {
            let events = events_of(calls, shift);
            let (block, count) = write(1 << 30, shift, &events);
            prop_assert_eq!(count, events.len());
            prop_assert_eq!(read(&block), Ok(events));
        }

        #[test]
        fn what_is_as_expected_is_written_in_the_same_way(
            calls in calls(),
            others in prop::collection::vec(prop::option::of(arguments()), 200),
            shift in 0u32..5,
        ) {
            let with_others = calls.into_iter().zip(others);
            let twice = with_others.flat_map(|((routine, gap, length, arguments), other)| {
                let number = if arguments.number == 0 { 0 } else { arguments.number.wrapping_add(1) };
                let CallArguments { sent, received, .. } = other.unwrap_or(arguments);
                let next = CallArguments { number, sent, received, ..arguments };
                [(routine, gap, length, arguments), (routine, length, gap, next)]
            });
            let events = events_of(twice.collect(), shift);
            let (block, count) = write(1 << 30, shift, &events);
            let mut other = new_block(1 << 30, shift);
            let mut writer = Box::new(Writer::new());
            writer.begin(&mut other);
            let mut last: HashMap<u16, CallArguments> = HashMap::new();
            for event in events.iter().take(count) {
                let CallEvent { routine, began, ended, arguments } = *event;
                let CallArguments { sent, received, path, number, .. } = arguments;
                let words = |of: &CallArguments| (of.peer, of.source, of.tag, of.received_tag, of.communicator);
                let same = last.insert(routine, arguments).is_some_and(|last| words(&last) == words(&arguments));
                let units = writer.shift();
                let (times, moved) = ([began >> units, ended >> units], [sent, received]);
                if same && writer.expects(routine, path, number) {
                    prop_assert!(writer.has_room());
                    writer.go_on(routine, number);
                    let as_before = writer.expects_moved(routine, moved);
                    let is_put = match as_before {
                        true => writer.put_expected(&mut other, routine, times),
                        false => writer.put_moved(&mut other, routine, times, moved),
                    };
                    prop_assert!(is_put);
                } else {
                    prop_assert!(writer.put(&mut other, event));
                }
            }
            prop_assert_eq!(other.in_use(), block.in_use());
        }

        #[test]
        fn a_changed_block_is_read_or_refused(
            calls in calls(),
            changes in prop::collection::vec((0usize..2000, any::<u8>()), 1..9),
        ) {
            let (mut block, _) = write(1 << 30, 3, &events_of(calls, 3));
            block.close(0, 0);
            for (place, byte) in changes {
                block.body[place] = byte;
            }
            let count = block.head.events() as usize;
            let whole = checksum(&block.head, block.in_use()) == block.head.check;
            match read(&block) {
                Ok(events) => prop_assert_eq!(events.len(), count),
                Err(damage) => {
                    prop_assert!(!whole, "a sum that is right cannot be of damaged events");
                    prop_assert!(damage.lost as usize <= count && damage.lost > 0);
                }
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(head) = BlockHead::decode(&bytes) {
                let _ = Box::new(Events::new(&head, &bytes[HEAD..])).count();
            }
            let head = BlockHead { filled: 300 << 32 | 300, ..BlockHead::new(BlockContent::Events) };
            let most = Box::new(Events::new(&head, &bytes)).count();
            prop_assert!(most <= 301);
        }
    }

    fn sends(count: u64) -> Vec<CallEvent> {
        let event = |i| CallEvent {
            routine: 17,
            began: 1000 + i * 4000,
            ended: 1000 + i * 4000 + 800,
            arguments: CallArguments { peer: 1, tag: 7, sent: 800, ..CallArguments::NONE },
        };
        (0..count).map(event).collect()
    }

    #[test]
    fn the_same_call_again_takes_few_bytes() {
        let (block, count) = write(1000, 3, &sends(1000));
        assert_eq!(count, 1000);
        // Two bytes each of head and gap, one of length; the first tells its arguments, too.
        assert!(block.head.used() <= 5 * 1000 + 16, "{} B", block.head.used());
    }

    #[test]
    fn a_full_block_takes_nothing_and_keeps_what_it_has() {
        let events = sends(20_000);
        let (block, count) = write(1000, 3, &events);
        assert!(count > 10_000 && count < 20_000, "{count}");
        assert_eq!(read(&block).expect("whole"), events[..count]);
    }

    #[test]
    fn time_does_not_go_back() {
        let event =
            |began, ended| CallEvent { routine: 1, began, ended, arguments: CallArguments::NONE };
        let (block, _) = write(100, 0, &[event(100, 200), event(190, 210), event(205, 204)]);
        let read = read(&block).expect("whole");
        assert_eq!(read, [event(100, 200), event(200, 210), event(210, 210)]);
    }

    #[test]
    fn a_cut_block_tells_how_many_events_are_lost() {
        let (block, _) = write(1000, 3, &sends(100));
        let half = block.head.used() as usize / 2;
        let events: Vec<_> =
            Box::new(Events::new(&block.head, &block.body[..half])).collect::<Vec<_>>();
        let Some((Err(damage), whole)) = events.split_last() else { panic!("no damage") };
        assert_eq!(damage.lost as usize + whole.len(), 100);
        assert!(whole.iter().all(Result::is_ok));
        let (mut block, _) = write(1000, 3, &sends(100));
        block.close(5, 9);
        assert_eq!((block.head.rank, block.head.last), (5, 9));
        assert_eq!(block.head.check, checksum(&block.head, block.in_use()));
        block.body[50] ^= 1;
        assert_ne!(block.head.check, checksum(&block.head, block.in_use()));
    }

    #[test]
    fn a_head_is_read_as_it_was_written() {
        let head = BlockHead {
            rank: 1,
            filled: 3 << 32 | 40,
            process: 4,
            thread: 5,
            shift: 3,
            number: 7,
            before: 8,
            first: 9,
            last: 10,
            check: 11,
            reserved: [1, 2, 3, 4, 5, 6],
            ..BlockHead::new(BlockContent::Facts)
        };
        assert_eq!(BlockHead::decode(&head.encode()), Ok(head));
        let refused = |head: BlockHead| BlockHead::decode(&head.encode()).expect_err("refused");
        assert_eq!(refused(BlockHead { version: 2, ..head }), BlockHeadError::Version(2));
        assert_eq!(refused(BlockHead { content: 0, ..head }), BlockHeadError::Damaged);
        assert_eq!(refused(BlockHead { content: 3, ..head }), BlockHeadError::Damaged);
        assert_eq!(refused(BlockHead { shift: 17, ..head }), BlockHeadError::Damaged);
        assert_eq!(refused(BlockHead { filled: 65_409, ..head }), BlockHeadError::Damaged);
        assert_eq!(refused(BlockHead { filled: 9 << 32 | 8, ..head }), BlockHeadError::Damaged);
        assert_eq!(refused(BlockHead { magic: [1; 8], ..head }), BlockHeadError::Foreign);
        assert_eq!(BlockHead::decode(&head.encode()[..127]), Err(BlockHeadError::Foreign));
    }
}
