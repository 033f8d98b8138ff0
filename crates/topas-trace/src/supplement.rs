//! What an event tells behind its arguments: the epoch of a window, or the communicator, window or file that the call
//! made or named.
//!
//! A program may name as many ranks of an epoch as it likes, so they are no arguments. A group of the program may be
//! gone when the log is read, and calls may be missing in the log, so each rank comes with the number of what this
//! rank and that one tell each other: who reads the log need not count.

/// More bytes than a number takes.
const MOST_OF_NUMBER: usize = 10;
/// More bytes than a rank takes with its number.
const MOST_OF_RANK: usize = 5 + MOST_OF_NUMBER;

/// Bytes of the name of a communicator, window or file that are kept.
pub const OBJECT_NAME: usize = 48;

/// The most bytes of an epoch with so many ranks.
pub const fn most_of_epoch(ranks: u32) -> usize {
    MOST_OF_NUMBER.saturating_add((ranks as usize).saturating_mul(MOST_OF_RANK))
}

/// The most bytes of a communicator, window or file.
pub const MOST_OF_OBJECT: usize = MOST_OF_NUMBER + OBJECT_NAME;

/// Writes what an event tells behind its arguments. Where there is no room, the rest of it is missing.
pub struct SupplementWriter<'b> {
    room: &'b mut [u8],
    used: usize,
    last: (u32, u64),
}

impl<'b> SupplementWriter<'b> {
    /// A writer that has written nothing.
    pub(crate) fn new(room: &'b mut [u8]) -> SupplementWriter<'b> {
        SupplementWriter { room, used: 0, last: (0, 0) }
    }

    /// How much was written, in B.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// An epoch: its number in its process, from 1, 0 if it is not known, and whether all ranks at its other end
    /// follow, if any do.
    pub fn epoch(&mut self, number: u32, is_whole: bool) {
        self.put(u64::from(number) << 1 | u64::from(!is_whole));
    }

    /// A rank at the other end of the epoch, and the number of the epoch among those of these two ranks and this
    /// window.
    pub fn rank(&mut self, rank: u32, number: u64) {
        let (last, last_number) = self.last;
        self.put_signed(i64::from(rank) - i64::from(last));
        self.put_signed(number.wrapping_sub(last_number) as i64);
        self.last = (rank, number);
    }

    /// A communicator, window or file: its number, and its name, which is filled up with NUL; without a name it was
    /// made only.
    pub fn object(&mut self, number: u64, name: &[u8]) {
        self.put(number);
        name.iter().take_while(|byte| **byte != 0).for_each(|byte| self.put_byte(*byte));
    }

    fn put_signed(&mut self, difference: i64) {
        self.put((difference << 1 ^ difference >> 63) as u64);
    }

    fn put_byte(&mut self, byte: u8) {
        if let Some(place) = self.room.get_mut(self.used) {
            *place = byte;
            self.used += 1;
        }
    }

    #[inline(never)]
    fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.put_byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.put_byte(number as u8);
    }
}

/// An epoch as an event of a call at a window tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedEpoch<'b> {
    /// Its number in the process, from 1; 0 if it is not known
    pub number: u64,
    /// Whether no rank at the other end is missing, if the event tells of these
    pub is_whole: bool,
    ranks: &'b [u8],
}

impl<'b> LoggedEpoch<'b> {
    /// What stands in these bytes; None if that is no epoch.
    pub fn of(mut bytes: &'b [u8]) -> Option<LoggedEpoch<'b>> {
        let first = take(&mut bytes)?;
        Some(LoggedEpoch { number: first >> 1, is_whole: first & 1 == 0, ranks: bytes })
    }

    /// The ranks at the other end, each with the number of the epoch among those of these two ranks and this
    /// window. It ends where bytes are no such numbers.
    pub fn ranks(&self) -> impl Iterator<Item = (u32, u64)> + use<'b> {
        let mut rest = self.ranks;
        let (mut rank, mut number) = (0i64, 0u64);
        core::iter::from_fn(move || {
            rank = rank.wrapping_add(signed(take(&mut rest)?));
            number = number.wrapping_add(signed(take(&mut rest)?) as u64);
            Some((u32::try_from(rank).ok()?, number))
        })
    }
}

/// A communicator, window or file that a call made or named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedObject<'b> {
    /// Its number, as in [`CallArguments::communicator`](crate::CallArguments::communicator)
    pub number: u64,
    /// Its name; empty if the call gave it none
    pub name: &'b [u8],
}

impl<'b> LoggedObject<'b> {
    /// What stands in these bytes; None if that is no such object.
    pub fn of(mut name: &'b [u8]) -> Option<LoggedObject<'b>> {
        let number = take(&mut name)?;
        Some(LoggedObject { number, name })
    }
}

const fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Takes a number from the beginning of some bytes. None if they end in it, or it has more than 64 bits.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0u64, 0u32);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if shift > 63 || shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        BODY, BlockContent, BlockHead, CallArguments, CallEvent, Damage, Events, TraceBlock, Writer,
    };

    /// The number of an epoch, whether it is whole, and its ranks.
    type Epoch = (u32, bool, Vec<(u32, u64)>);

    fn event(at: u64, communicator: u64) -> CallEvent {
        let arguments = CallArguments { communicator, ..CallArguments::NONE };
        CallEvent { routine: 351, began: at, ended: at + 5, arguments }
    }

    /// A block of events, of which some have epochs; fewer if not all have room.
    fn block(epochs: &[Option<Epoch>]) -> (Box<TraceBlock>, usize) {
        let head = BlockHead::new(BlockContent::Events);
        let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
        let mut writer = Box::new(Writer::new());
        writer.begin(&mut block);
        let mut count = 0;
        for (place, epoch) in epochs.iter().enumerate() {
            let event = event(10 * place as u64, place as u64 / 3);
            let fits = match epoch {
                None => writer.put(&mut block, &event),
                Some((number, is_whole, ranks)) => {
                    let most = most_of_epoch(ranks.len() as u32);
                    writer.put_with_supplement(&mut block, &event, most, |epoch| {
                        epoch.epoch(*number, *is_whole);
                        ranks.iter().for_each(|(rank, number)| epoch.rank(*rank, *number));
                    })
                }
            };
            if !fits {
                break;
            }
            count += 1;
        }
        assert_eq!(writer.events(), count as u64);
        block.close(0, writer.last());
        (block, count)
    }

    fn read(block: &TraceBlock) -> Result<Vec<(CallEvent, Option<Epoch>)>, Damage> {
        let mut events = Box::new(Events::new(&block.head, &block.body));
        let mut all = Vec::new();
        while let Some(event) = events.next() {
            let epoch = events.supplement().and_then(LoggedEpoch::of);
            let whole = |epoch: LoggedEpoch<'_>| {
                (epoch.number as u32, epoch.is_whole, epoch.ranks().collect::<Vec<_>>())
            };
            all.push((event?, epoch.map(whole)));
        }
        Ok(all)
    }

    fn epochs() -> impl Strategy<Value = Vec<Option<Epoch>>> {
        let number = prop_oneof![0u64..5, any::<u64>()];
        let rank = prop_oneof![0u32..9, any::<u32>()];
        let ranks = prop::collection::vec((rank, number), 0..40);
        let epoch = (0u32..=u32::MAX >> 1, any::<bool>(), ranks);
        prop::collection::vec(prop::option::of(epoch), 0..60)
    }

    proptest! {
        #[test]
        fn epochs_are_read_as_they_were_written(epochs in epochs()) {
            let (block, count) = block(&epochs);
            prop_assert_eq!(count, epochs.len());
            let expected: Vec<_> = epochs.into_iter().enumerate()
                .map(|(place, epoch)| (event(10 * place as u64, place as u64 / 3), epoch))
                .collect();
            prop_assert_eq!(read(&block), Ok(expected));
        }

        #[test]
        fn a_changed_epoch_is_read_or_refused(
            epochs in epochs(),
            changes in prop::collection::vec((0usize..2000, any::<u8>()), 1..9),
        ) {
            let (mut block, count) = block(&epochs);
            changes.into_iter().for_each(|(place, byte)| block.body[place] = byte);
            if let Ok(events) = read(&block) {
                prop_assert_eq!(events.len(), count);
            }
        }
    }

    /// A group of which the event has no room for all ranks would be read as another one: it goes into the next
    /// block. The largest one that is kept has room in an empty block.
    #[test]
    fn an_epoch_is_whole_or_in_the_next_block() {
        let ranks: Vec<(u32, u64)> = (0..3840).map(|rank| (3840 - rank, u64::MAX / 3)).collect();
        let all: Vec<Option<Epoch>> = (1..20).map(|n| Some((n, true, ranks.clone()))).collect();
        let (block, count) = block(&all);
        assert!((1..19).contains(&count), "{count}");
        let told = read(&block).expect("whole");
        assert!(told.iter().map(|(_, epoch)| epoch).eq(&all[..count]));
    }

    /// Logs that were written stay readable: these are the bytes of the document.
    #[test]
    fn the_bytes_are_those_of_the_document() {
        let ranks = Vec::from([(2, 5), (1, 5)]);
        let (block, _) = block(&[Some((3, true, ranks))]);
        let [_, high, .., a, b, c, d, e, f, g] = block.in_use() else { panic!("too short") };
        assert_eq!(high >> 7, 1);
        assert_eq!([a, b, c, d, e, f, g], [&5, &0, &6, &4, &10, &1, &0]);
    }

    #[test]
    fn objects_are_read_as_they_were_written() {
        let mut long = [b'x'; OBJECT_NAME];
        long[0] = b'y';
        for (number, name, text) in
            [(0x9a, &b"rows\0\0"[..], &b"rows"[..]), (u64::MAX, b"", b""), (1, &long, &long)]
        {
            let head = BlockHead::new(BlockContent::Events);
            let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
            let mut writer = Box::new(Writer::new());
            writer.begin(&mut block);
            let object = |object: &mut SupplementWriter<'_>| object.object(number, name);
            assert!(writer.put_with_supplement(&mut block, &event(3, 1), MOST_OF_OBJECT, object));
            assert!(writer.put(&mut block, &event(9, 1)));
            let mut events = Box::new(Events::new(&block.head, &block.body));
            assert_eq!(events.next(), Some(Ok(event(3, 1))));
            let read = events.supplement().and_then(LoggedObject::of);
            assert_eq!(read, Some(LoggedObject { number, name: text }));
            assert_eq!(events.next(), Some(Ok(event(9, 1))));
            assert_eq!(events.supplement(), None);
        }
    }

    /// A process may be killed behind any store: its block has whole events.
    #[test]
    fn an_epoch_that_is_cut_is_a_damage() {
        let (mut block, _) = block(&[None, Some((7, true, Vec::from([(1, 2), (3, 4)])))]);
        let used = block.head.used();
        assert_eq!(read(&block).expect("whole").len(), 2);
        block.head.filled = 2 << 32 | u64::from(used - 1);
        assert_eq!(read(&block).expect_err("cut").lost, 1);
    }
}
