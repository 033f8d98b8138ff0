//! What each thread did, in slices of some hundred calls: the picture of times at which single calls
//! cannot be seen.

use topas_trace::{CallEvent, EventPlace};

use super::clock::RowClock;
use super::states::{TIME_CLASSES, TimeClass};
use super::tail::TailPart;
use crate::trace::{LostSpan, TraceProcess};

/// Most slices of a launch: so many that a picture of the whole run is sharp.
const MOST_SLICES: u64 = 200_000;

/// How many calls a slice has if there are so many in all.
pub(super) fn slice_calls(calls: u64) -> u32 {
    u32::try_from(calls.div_ceil(MOST_SLICES)).unwrap_or(u32::MAX).max(1)
}

/// The time that some calls, one after the other, took in each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimelineSlice {
    /// When the last call ended, in ns since the origin. A slice begins where the one before ended
    pub ended: u64,
    /// Nanoseconds by [`TimeClass`]; their sum is the length of the slice
    pub times: [u64; TIME_CLASSES],
    /// Where its first call begins in the block
    pub place: EventPlace,
}

/// The time of all rows together in so many slices of the same length, from the origin to `ended`. A slice of
/// a row that lies in several has the same share of each class in all of them.
pub(super) fn overview(rows: &[TimelineRow], ended: u64, slices: usize) -> Vec<TimelineSlice> {
    let ended = ended.max(1);
    let edge = |slice: usize| scaled(ended, slice as u64, slices as u64);
    let one = |slice| TimelineSlice { ended: edge(slice + 1), ..TimelineSlice::default() };
    let mut all: Vec<TimelineSlice> = (0..slices).map(one).collect();
    for row in rows {
        let mut began = row.began();
        for slice in &row.slices {
            let length = slice.ended - began;
            let first = all.partition_point(|part| part.ended <= began).min(slices - 1);
            let mut before = [0; TIME_CLASSES];
            for part in &mut all[first..] {
                let done = part.ended.min(slice.ended) - began;
                for ((sum, before), time) in part.times.iter_mut().zip(&mut before).zip(slice.times)
                {
                    let until = if done == length { time } else { scaled(time, done, length) };
                    *sum += until - *before;
                    *before = until;
                }
                if part.ended >= slice.ended {
                    break;
                }
            }
            began = slice.ended;
        }
    }
    all
}

/// `number * part / whole`.
fn scaled(number: u64, part: u64, whole: u64) -> u64 {
    (u128::from(number) * u128::from(part) / u128::from(whole)) as u64
}

/// A block of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineBlock {
    /// The log, by its place among those that were read
    pub log: usize,
    /// Where the block begins in the log, in B
    pub offset: u64,
    /// Bytes of the block in use, with its head
    pub bytes: u32,
    /// Calls in the block that can be read
    pub calls: u32,
    /// The moment from which the times of its calls count, in ns since the origin
    pub began: u64,
    /// When its last call ended, in ns since the origin
    pub ended: u64,
    /// The sum of the block, by which a log is known again
    pub check: u64,
    /// The tick from which the times of its calls count
    pub first: u64,
    /// Its times are multiples of `2^shift` ticks
    pub shift: u32,
    /// Its first slice, by place in the row
    pub first_slice: u32,
}

/// A call by its place: row, block of the row, call of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallPlace {
    /// The row
    pub row: u32,
    /// The block, by place in the row
    pub block: u32,
    /// The call, by place in the block
    pub call: u32,
}

/// A thread of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimelineRow {
    /// The process, by its place in [`Timeline::processes`](super::Timeline::processes)
    pub process: usize,
    /// The number of the thread in its process
    pub thread: u32,
    /// The blocks that can be read, the oldest first
    pub blocks: Vec<TimelineBlock>,
    /// Slices of all blocks
    pub slices: Vec<TimelineSlice>,
    /// Nanoseconds by [`TimeClass`] of the whole row
    pub times: [u64; TIME_CLASSES],
    /// Events: calls, and where measuring was paused
    pub calls: u64,
    /// How many of them tell that measuring was paused
    paused: u64,
    /// For how long other rows waited because of this one, in ns: directly, or because the row for which
    /// they waited waited itself
    pub delayed: u64,
    /// The call in which the thread was at its end, and when that began, in ns since the origin
    pub inside: Option<(u16, u64)>,
    /// What is known of the thread behind its last event
    pub tail: Vec<TailPart>,
    /// When the row begins, if blocks before the first that can be read are damaged or were overwritten
    pub(super) opened: Option<u64>,
    /// Up to when nothing is known of the thread behind its last block that can be read
    pub(super) lost_until: Option<u64>,
    /// The number of events before the next block, if none is missing
    expected: u64,
    /// Whether calls were missing before a block
    has_lost: bool,
    /// Calls in a slice
    slice_calls: u32,
    /// Whether the thread came to `MPI_Finalize`, as far as the log tells
    pub has_finalized: bool,
    /// Block and call, by place, in front of which measuring was paused
    pub pauses: Vec<(u32, u32)>,
    /// Whether measuring paused with the last call
    is_paused: bool,
}

impl TimelineRow {
    /// An empty row of a thread.
    pub(super) fn new(process: usize, thread: u32, slice_calls: u32) -> TimelineRow {
        TimelineRow { process, thread, slice_calls, ..TimelineRow::default() }
    }

    /// Notes the times at the beginning and at the end of the thread of which nothing can be read.
    pub(super) fn lose(&mut self, process: &TraceProcess, clock: &RowClock<'_>) {
        let own = process.blocks().filter(|(thread, _)| *thread == self.thread);
        let mut blocks = own.map(|(_, block)| (block.head.first, block.head.before));
        let (first, last) = (blocks.next(), blocks.last());
        let last = last.or(first).map(|(last, _)| last);
        let is_overwritten = first.is_some_and(|(_, before)| before > 0);
        let first = first.map(|(first, _)| first);
        let spans = process.lost_spans(self.thread);
        // A span that ends where the first block begins is in front of it.
        let before = |span: &&LostSpan| first.is_none_or(|first| span.1 <= first);
        let behind = |span: &&LostSpan| last.is_none_or(|last| span.0 >= last);
        self.opened = spans.first().filter(before).map(|(from, _)| clock.nanoseconds(*from));
        // What was overwritten began with the process, or later: nobody knows when.
        if self.opened.is_none() && is_overwritten && process.has_clock() {
            self.opened = Some(clock.nanoseconds(process.first_moment().ticks));
        }
        self.lost_until = spans.last().filter(behind).map(|(_, to)| clock.nanoseconds(*to));
    }

    /// When the row begins, in ns since the origin.
    pub fn began(&self) -> u64 {
        let first = self.blocks.first().map(|block| block.began);
        self.opened.or(first).unwrap_or(0)
    }

    /// When its last call ended, in ns since the origin.
    pub fn ended(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.ended)
    }

    /// Begins a block. `before` is the number of events of the thread before it. `began` is moved to the
    /// end of the block before, because time does not go back.
    pub(super) fn begin(&mut self, block: TimelineBlock, before: u64) {
        let opened = self.opened.unwrap_or(block.began);
        let ended = self.blocks.last().map_or(opened, |last| last.ended);
        let began = block.began.max(ended);
        let first_slice = self.slices.len() as u32;
        self.blocks.push(TimelineBlock { began, ended: began, first_slice, ..block });
        let mut times = [0; TIME_CLASSES];
        let is_next = before == self.expected;
        self.has_lost |= !is_next;
        let class = if is_next { self.class_between() } else { TimeClass::NotInLog };
        times[class as usize] = began - ended;
        self.expected = before;
        self.slices.push(TimelineSlice { ended: began, times, place: EventPlace::default() });
    }

    /// The class of the time between the last call and the next one.
    pub(super) fn class_between(&self) -> TimeClass {
        if self.is_paused { TimeClass::Paused } else { TimeClass::Outside }
    }

    /// Measuring pauses with the call that was added last.
    pub(super) fn pause(&mut self) {
        self.is_paused = true;
        self.paused += 1;
    }

    /// Calls that are counted, as the profile counts them: what pauses measuring is none.
    pub const fn counted_calls(&self) -> u64 {
        self.calls - self.paused
    }

    /// Adds a call to the block that was begun, and that begins at this place: when the call began and ended.
    pub(super) fn add(
        &mut self,
        clock: &RowClock<'_>,
        event: &CallEvent,
        place: EventPlace,
        class: TimeClass,
    ) -> (u64, u64) {
        let between = self.class_between();
        let (number, is_paused) = (self.blocks.len(), std::mem::take(&mut self.is_paused));
        let (Some(block), Some(slice)) = (self.blocks.last_mut(), self.slices.last_mut()) else {
            return (0, 0);
        };
        if is_paused {
            self.pauses.push((number as u32 - 1, block.calls));
        }
        let before = block.ended;
        let began = clock.nanoseconds(event.began).max(before);
        let ended = clock.nanoseconds(event.ended).max(began);
        let mut times = [0; TIME_CLASSES];
        times[between as usize] = began - before;
        times[class as usize] += ended - began;
        if block.calls > 0 && block.calls.is_multiple_of(self.slice_calls) {
            self.slices.push(TimelineSlice { ended, times, place });
        } else {
            slice.ended = ended;
            for (sum, time) in slice.times.iter_mut().zip(times) {
                *sum += time;
            }
        }
        block.calls += 1;
        block.ended = ended;
        self.calls += 1;
        self.expected += 1;
        (began, ended)
    }

    /// Moves time of a call from one class to another.
    pub(super) fn shift(&mut self, place: CallPlace, from: TimeClass, to: TimeClass, time: u64) {
        let Some(block) = self.blocks.get(place.block as usize) else { return };
        let slice = (block.first_slice + place.call / self.slice_calls) as usize;
        let Some(slice) = self.slices.get_mut(slice) else { return };
        let time = time.min(slice.times[from as usize]);
        slice.times[from as usize] -= time;
        slice.times[to as usize] += time;
    }

    /// Whether measuring was paused in front of a call of this row.
    pub fn is_paused_before(&self, place: CallPlace) -> bool {
        self.pauses.binary_search(&(place.block, place.call)).is_ok()
    }

    /// The class of the time in front of a call of this row.
    pub fn class_before(&self, place: CallPlace) -> TimeClass {
        let block = self.blocks.get(place.block as usize).filter(|_| place.call == 0);
        let first = block.and_then(|block| self.slices.get(block.first_slice as usize));
        match first {
            Some(first) if first.times[TimeClass::NotInLog as usize] > 0 => TimeClass::NotInLog,
            _ if self.is_paused_before(place) => TimeClass::Paused,
            _ => TimeClass::Outside,
        }
    }

    /// The slices of a block.
    pub fn slices_of(&self, block: &TimelineBlock) -> &[TimelineSlice] {
        let first = block.first_slice as usize;
        let count = block.calls.div_ceil(self.slice_calls.max(1)).max(1) as usize;
        self.slices.get(first..first + count).unwrap_or_default()
    }

    /// Whether the log lacks calls before one of the blocks.
    pub fn has_gap(&self) -> bool {
        self.has_lost
    }

    /// What the row waited in calls that ended, in ns.
    pub fn waited(&self) -> u64 {
        let times = self.times_of_events();
        let waits = TimeClass::ALL.iter().filter(|class| class.is_wait());
        // Numbers that a damaged log tells may add up to anything.
        let waits = waits.filter_map(|class| times.get(*class as usize));
        waits.fold(0, |all, time| all.saturating_add(*time))
    }

    /// The waits in the call that did not end, in ns: the log does not tell for whom.
    pub fn unended_wait(&self) -> u64 {
        self.unended_call().filter(|part| part.class.is_wait()).map_or(0, TailPart::time)
    }

    /// The call that did not end, if the row ended in one.
    pub fn unended_call(&self) -> Option<&TailPart> {
        self.tail.iter().find(|part| part.routine.is_some())
    }

    /// Nanoseconds by [`TimeClass`] up to the last event.
    pub fn times_of_events(&self) -> [u64; TIME_CLASSES] {
        let mut times = self.times;
        for part in &self.tail {
            times[part.class as usize] -= part.time();
        }
        times
    }

    /// The slices up to the last event.
    pub fn slices_of_events(&self) -> &[TimelineSlice] {
        self.slices.get(..self.slices.len().saturating_sub(self.tail.len())).unwrap_or_default()
    }

    /// Makes the sums of the row. What lies behind its last event are slices of no block.
    pub(super) fn finish(&mut self, tail: Vec<TailPart>) {
        for part in &tail {
            let mut times = [0; TIME_CLASSES];
            times[part.class as usize] = part.time();
            let place = EventPlace::default();
            self.slices.push(TimelineSlice { ended: part.ended, times, place });
        }
        self.tail = tail;
        self.times = [0; TIME_CLASSES];
        for slice in &self.slices {
            for (sum, time) in self.times.iter_mut().zip(slice.times) {
                *sum += time;
            }
        }
    }
}
