//! Whether blocks are what their ranks wrote: by their sums, their events and their times.
//!
//! All blocks are checked when a log is opened, so that who reads it later meets no damage, and can say
//! before anything else what is missing of which rank.

use std::fs::File;
use std::io;
use std::thread;

use topas_data::read_at_most;
use topas_trace::{BODY, BlockContent, BlockHead, EventCursor, HEAD, checksum};

use super::FoundBlock;

/// Blocks for which a thread of its own is worth it.
const SHARE: usize = 256;

/// What a block was found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockCheck {
    /// As it was written; the tick at which its last event ended
    Whole(u64),
    /// It has no sum, and so many events at its end cannot be read; the same of the others
    Partial(u64, u32),
    /// Nothing of it is believed
    Damaged,
}

/// Checks blocks, each by itself.
pub(super) fn check_blocks(file: &File, blocks: &[FoundBlock]) -> io::Result<Vec<BlockCheck>> {
    let most = thread::available_parallelism().map_or(1, usize::from);
    let workers = blocks.len().div_ceil(SHARE).clamp(1, most);
    if workers == 1 {
        return check_in_order(file, blocks);
    }
    let parts = thread::scope(|scope| {
        let part = |part| scope.spawn(move || check_in_order(file, part));
        let running: Vec<_> = blocks.chunks(blocks.len().div_ceil(workers)).map(part).collect();
        let ended = running.into_iter().map(thread::ScopedJoinHandle::join);
        let failed = |_| Err(io::Error::other("a thread failed"));
        ended.map(|part| part.unwrap_or_else(failed)).collect::<io::Result<Vec<_>>>()
    })?;
    Ok(parts.concat())
}

fn check_in_order(file: &File, blocks: &[FoundBlock]) -> io::Result<Vec<BlockCheck>> {
    let mut cursor = Box::new(EventCursor::new(&BlockHead::new(BlockContent::Events)));
    let mut body = Vec::new();
    let check = |FoundBlock { offset, head }: &FoundBlock| {
        body.resize((head.used() as usize).min(BODY), 0);
        let read = read_at_most(file, &mut body, offset + HEAD as u64)?;
        body.truncate(read);
        Ok(check_block(head, &body, &mut cursor))
    };
    blocks.iter().map(check).collect()
}

/// What a block is, of which the file has these bytes.
fn check_block(head: &BlockHead, body: &[u8], cursor: &mut EventCursor) -> BlockCheck {
    let has_sum = head.check != 0;
    if has_sum && head.check != checksum(head, body) {
        return BlockCheck::Damaged;
    }
    if head.content == BlockContent::Facts as u16 {
        return if has_sum { BlockCheck::Whole(head.last) } else { BlockCheck::Damaged };
    }
    cursor.restart(head);
    let mut clock = head.first >> head.shift << head.shift;
    while let Some(event) = cursor.next(body) {
        match event {
            // In units of 16 ticks, say, a time can be larger than all numbers of ticks.
            Ok(event) if event.began < clock || event.ended < event.began => {
                return BlockCheck::Damaged;
            }
            Ok(event) => clock = event.ended,
            Err(_) if has_sum => return BlockCheck::Damaged,
            Err(damage) => return BlockCheck::Partial(clock, damage.lost),
        }
    }
    // The head tells when the last event ended, unless the process ended while it wrote the block.
    if head.last != 0 && head.last >> head.shift != clock >> head.shift {
        return BlockCheck::Damaged;
    }
    BlockCheck::Whole(clock)
}

#[cfg(test)]
mod tests {
    use topas_trace::{CallArguments, CallEvent, TraceBlock, Writer};

    use super::*;

    /// A block of three calls from tick 1000 on, the last of which ends at tick 1025.
    fn block() -> Box<TraceBlock> {
        let head = BlockHead { first: 1000, ..BlockHead::new(BlockContent::Events) };
        let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
        let mut writer = Box::new(Writer::new());
        writer.begin(&mut block);
        for began in [1000, 1010, 1020] {
            let (ended, arguments) = (began + 5, CallArguments::NONE);
            assert!(writer.put(&mut block, &CallEvent { routine: 3, began, ended, arguments }));
        }
        block.close(0, writer.last());
        block
    }

    fn check(block: &TraceBlock) -> BlockCheck {
        let mut cursor = Box::new(EventCursor::new(&block.head));
        check_block(&block.head, block.in_use(), &mut cursor)
    }

    /// The sum is made right, as one that damages a log on purpose does.
    fn mended(mut block: Box<TraceBlock>) -> Box<TraceBlock> {
        block.head.check = checksum(&block.head, block.in_use());
        block
    }

    #[test]
    fn a_block_is_whole_or_damaged() {
        assert_eq!(check(&block()), BlockCheck::Whole(1025));
        let mut changed = block();
        changed.body[3] ^= 1;
        assert_eq!(check(&changed), BlockCheck::Damaged);
        assert_eq!(
            check(&mended(changed)),
            BlockCheck::Damaged,
            "the last call ends at another time"
        );
    }

    #[test]
    fn times_behind_the_end_of_the_block_are_damage_although_the_sum_is_right() {
        let mut late = block();
        // The length of the first call.
        late.body[3] = 255;
        assert_eq!(check(&mended(late)), BlockCheck::Damaged);
        let mut moved = block();
        moved.head.first = u64::MAX - 3;
        assert_eq!(check(&mended(moved)), BlockCheck::Damaged, "no tick is that late");
        let mut wide = block();
        (wide.head.first, wide.head.shift, wide.head.last) = (u64::MAX - 64, 4, 0);
        assert_eq!(check(&mended(wide)), BlockCheck::Damaged, "time goes back");
    }

    #[test]
    fn a_block_without_a_sum_is_read_as_far_as_it_goes() {
        let mut open = block();
        (open.head.check, open.head.last) = (0, 0);
        assert_eq!(check(&open), BlockCheck::Whole(1025));
        let mut cursor = Box::new(EventCursor::new(&open.head));
        let half = &open.in_use()[..open.in_use().len() - 2];
        assert_eq!(check_block(&open.head, half, &mut cursor), BlockCheck::Partial(1015, 1));
    }
}
