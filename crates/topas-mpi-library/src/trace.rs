//! The event log: each call of the program's is written to the ring of its thread, which lies in the
//! mapped file. So the newest part of it survives any end of the process.
//!
//! What a thread keeps for that lies in front of its ring. A thread that takes over the block of a
//! thread that has ended takes over the ring, too.

mod leave;
mod log_file;
mod more;

use core::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Relaxed, Release},
    compiler_fence,
};

use topas_format::out::Out;
use topas_mpi_profile::facts::process_key;
use topas_mpi_profile::layout::FUNCTIONS;
use topas_trace::{
    BlockContent, BlockHead, CallArguments, CallEvent, LENGTH, NameBytes, RING_MAGIC, RingHead,
    STATE_BEGINS, STATE_ENDS, TraceBlock, UserState, Writer,
};

use crate::element::{element, element_mut};
use crate::files::{self, File};
use crate::flow::waits::logged::expected::{ExpectedCalls, Period, ReachedCall};
use crate::flow::waits::logged::{self, Told};
use crate::frame::Frame;
use crate::generated::number;
use crate::mode::{NANOSECONDS, paused};
use crate::thread::Thread;
use crate::workspace::{self, keep};
use crate::{mode, paths, spool, sys};

pub use leave::{leave, leave_by_path};
pub use log_file::write;
use more::MoreOfCall;
pub use more::{completed_send, has_epoch, has_object};

/// Most bytes of the ring of a thread; 0: no events are written.
static SIZE: AtomicU64 = AtomicU64::new(0);

/// Threads that have a ring.
static THREADS: AtomicU32 = AtomicU32::new(0);

/// Ticks of the time stamp counter are shorter than the counter is exact: times are written in units
/// of 8 ticks.
const SHIFT: u32 = 3;

/// What a thread keeps to write events; in the mapped file. All zero at first.
#[repr(C)]
pub struct ThreadLog {
    /// The ring; the first part, because the reader of a mapped file knows no other
    ring: RingHead,
    /// The block that is written; null if there is none
    block: *mut TraceBlock,
    /// Where the blocks are
    blocks: *mut TraceBlock,
    /// In which those of `expected` hold
    period: Period,
    writer: Writer,
    expected: ExpectedCalls,
    reached: ReachedCall,
    /// What else the call was about
    more: MoreOfCall,
    /// Names of the states that are open, the outermost first
    states: [NameBytes; STATES],
    /// How many are open, those that are too deep included
    depth: u32,
    /// What calls were about, by function
    told: [Told; FUNCTIONS],
}

/// States within each other whose names are kept until they end.
const STATES: usize = 16;

/// Bytes in front of the blocks.
const FRONT: usize = size_of::<ThreadLog>().next_multiple_of(4096);

/// Notes how much a thread is to keep; 0 if no events are written.
pub fn want(bytes: u64) {
    SIZE.store(bytes, Relaxed);
    mode::set(mode::LOG, bytes > 0);
}

/// For a new thread that has its block: its ring, if events are written.
#[cold]
pub fn begin(thread: &mut Thread) {
    let size = SIZE.load(Relaxed) as usize;
    if size == 0 || thread.block.is_null() {
        return;
    }
    // SAFETY: the thread's own block.
    let block = unsafe { &mut *thread.block };
    if block.log != 0 {
        // SAFETY: that of a thread that has ended, whose block this thread has taken over.
        thread.log = spool::at(block.log);
        return;
    }
    let wanted = FRONT + size.next_multiple_of(LENGTH);
    let Some((offset, bytes)) = spool::reserve_sparse(FRONT, wanted) else { return };
    let log: *mut ThreadLog = spool::at(offset);
    // SAFETY: a part of the file that was just reserved, zeroed, which is a value of this type.
    let log = unsafe { &mut *log };
    let blocks = offset + FRONT as u64;
    log.period = Period::WITHOUT;
    log.blocks = spool::at(blocks);
    log.ring.capacity = (bytes.saturating_sub(FRONT) / LENGTH) as u32;
    log.ring.blocks = blocks;
    log.ring.thread = THREADS.fetch_add(1, Relaxed);
    if let Some(header) = spool::header() {
        workspace::with(|room| {
            let now = crate::report::Now::new(&mut room.file);
            let mut out = Out::new(&mut room.path);
            files::compose(header, now.local(), File::Log, &mut out);
            if !out.is_cut() {
                keep(&mut log.ring.path, out.text());
            }
        });
    }
    log.ring.magic = RING_MAGIC;
    thread.log = log;
    // Last: whoever reads the file meanwhile sees a ring that is complete.
    compiler_fence(Release);
    block.log = offset;
}

/// Gives a thread that writes events a ring in memory, for calls that are no program's. Returns its
/// own, for [`put_back`].
pub fn put_aside(thread: &mut Thread) -> *mut ThreadLog {
    let own = thread.log;
    if own.is_null() {
        return own;
    }
    thread.log = core::ptr::null_mut();
    if let Some(memory) = sys::map_memory(FRONT + LENGTH) {
        let log: *mut ThreadLog = memory.cast();
        // SAFETY: new, zeroed, which is a value of this type, and large enough for it and a block.
        unsafe {
            (*log).period = Period::WITHOUT;
            (*log).blocks = memory.add(FRONT).cast();
            (*log).ring.capacity = 1;
            (*log).ring.made = 1;
        }
        thread.log = log;
    }
    own
}

/// The calls that were no program's are over.
pub fn put_back(thread: &mut Thread, own: *mut ThreadLog) {
    if !thread.log.is_null() {
        sys::unmap(thread.log.cast(), FRONT + LENGTH);
    }
    thread.log = own;
}

/// A function of C has returned that a function of Fortran has called, and moved these bytes: it tells
/// what that was about.
#[inline(never)]
pub fn reached(frame: &Frame, thread: &mut Thread, sent: u64, received: u64) {
    if thread.log.is_null() || paused() {
        return;
    }
    // SAFETY: the thread's own.
    let log = unsafe { &mut *thread.log };
    let expected = element(&log.expected, frame.function());
    log.reached.began = thread.cookie;
    log.reached.moved = [sent, received];
    log.reached.number = logged::number(frame);
    log.reached.is_expected = expected.holds(log.period) && expected.has_words(frame)
        || log.told.get(frame.function()).is_some_and(|told| told.is_same(frame));
    if !log.reached.is_expected {
        reached_with_news(frame, thread);
    }
}

#[inline(never)]
fn reached_with_news(frame: &Frame, thread: &mut Thread) {
    // SAFETY: the thread's own.
    let log = unsafe { &mut *thread.log };
    log.reached.arguments = log.tell(frame, thread);
}

/// Measuring will pause: the last that the log of this thread tells until it goes on. The call of `MPI_Pcontrol` that was
/// entered stands in the log up to this moment, because its end is part of the pause.
#[cold]
#[inline(never)]
pub fn pauses() {
    // SAFETY: the variables of this thread.
    let thread = unsafe { &mut *crate::arch::thread() };
    // SAFETY: null, or the thread's own.
    let Some(log) = (unsafe { thread.log.as_mut() }) else { return };
    if paused() {
        return;
    }
    let now = crate::clock::ticks();
    let arguments =
        CallArguments { path: paths::number_of(thread).into(), ..CallArguments::PAUSING };
    log.put(&CallEvent { routine: number::PCONTROL as u16, began: now, ended: now, arguments });
}

/// `MPI_Finalize` writes the log before it has come to its end: when it was entered, and when all
/// ranks were there. It is the last event.
pub fn finalizing(entered: u64, ended: u64) {
    // SAFETY: the variables of this thread.
    let thread = unsafe { &mut *crate::arch::thread() };
    if thread.log.is_null() {
        return;
    }
    if !paused() {
        let arguments =
            CallArguments { path: paths::number_of(thread).into(), ..CallArguments::NONE };
        let routine = number::FINALIZE as u16;
        // SAFETY: the thread's own.
        unsafe { &mut *thread.log }.put(&CallEvent { routine, began: entered, ended, arguments });
    }
    mode::set(mode::LOG, false);
    thread.log = core::ptr::null_mut();
}

impl ThreadLog {
    /// What a call was about whose words are the same as before.
    fn as_told(&self, function: usize, number: u64) -> CallArguments {
        CallArguments {
            number,
            ..self.told.get(function).map_or(CallArguments::NONE, Told::arguments)
        }
    }

    /// What a call in C was about, and keeps that.
    #[inline(never)]
    fn tell(&mut self, frame: &Frame, thread: &mut Thread) -> CallArguments {
        let arguments = logged::arguments(frame, thread);
        // Here, too: a function of Fortran that has called this one may be left by a jump.
        element_mut(&mut self.expected, frame.function()).forget();
        if let Some(told) = self.told.get_mut(frame.function()) {
            told.keep(frame, thread, &arguments);
        }
        arguments
    }

    /// A call of `MPI_Pcontrol` may be the begin or the end of a state that the program names.
    #[cold]
    #[inline(never)]
    fn state(&mut self, frame: &Frame, arguments: &mut CallArguments) {
        let [level, name, ..] = frame.args;
        let path = arguments.path;
        match level as i32 {
            STATE_BEGINS => {
                // SAFETY: who passes this level passes a C string, as the header says.
                let name: NameBytes = unsafe { name_at(name as *const u8) };
                if let Some(place) = self.states.get_mut(self.depth as usize) {
                    *place = name;
                }
                self.depth = self.depth.saturating_add(1);
                *arguments = UserState { begins: true, name }.arguments();
            }
            STATE_ENDS => {
                let Some(depth) = self.depth.checked_sub(1) else { return };
                self.depth = depth;
                let name = self.states.get(depth as usize).copied().unwrap_or_default();
                *arguments = UserState { begins: false, name }.arguments();
            }
            _ => return,
        }
        arguments.path = path;
    }

    #[inline(always)]
    fn put(&mut self, event: &CallEvent) {
        // SAFETY: null, or a block of the thread's own ring.
        if let Some(block) = unsafe { self.block.as_mut() }
            && self.writer.put(block, event)
        {
            return;
        }
        self.put_into_next(event);
    }

    /// The block is full, or there is none yet.
    #[cold]
    #[inline(never)]
    fn put_into_next(&mut self, event: &CallEvent) {
        self.begin_next(event.began);
        // SAFETY: null, or a block of the thread's own ring.
        let block = unsafe { self.block.as_mut() };
        if !block.is_some_and(|block| self.writer.put(block, event)) {
            self.ring.lost += 1;
        }
    }

    /// Begins the next block, whose first event begins then; there is no block if there is no memory for it.
    fn begin_next(&mut self, first: u64) {
        // SAFETY: null, or a block of the thread's own ring.
        if let Some(block) = unsafe { self.block.as_mut() } {
            block.head.last = self.writer.last();
            self.ring.before += self.writer.events();
        }
        let from = self.ring.blocks;
        let make = |place: u32| spool::make(from + u64::from(place) * LENGTH as u64, LENGTH);
        let number = self.ring.begun;
        let Some(place) = self.ring.next_place(make) else {
            self.block = core::ptr::null_mut();
            self.period.suspend();
            return;
        };
        let shift = if mode::has(NANOSECONDS) { 0 } else { SHIFT };
        let mut head = BlockHead {
            thread: self.ring.thread,
            shift,
            number,
            before: self.ring.before,
            first,
            ..BlockHead::new(BlockContent::Events)
        };
        if let Some(header) = spool::header() {
            (head.rank, head.process) = (header.rank, process_key(header));
        }
        // SAFETY: a place of the ring, for which there is memory.
        let block = unsafe { &mut *self.blocks.add(place as usize) };
        // What was there is no part of a new block, whenever the process ends.
        block.head.magic = [0; 8];
        compiler_fence(Release);
        block.head = BlockHead { magic: [0; 8], ..head };
        self.writer.begin(block);
        compiler_fence(Release);
        block.head.magic = head.magic;
        self.block = block;
        self.period.begin();
    }
}

/// The beginning of a name that a program passes, up to the end of its last whole character.
///
/// # Safety
/// A C string, or null.
pub unsafe fn name_at<const LONGEST: usize>(text: *const u8) -> [u8; LONGEST] {
    let mut name = [0; LONGEST];
    // SAFETY: by the caller.
    unsafe { put_name(text, &mut name) };
    name
}

/// The same into zeros.
///
/// # Safety
/// A C string, or null.
#[inline(never)]
unsafe fn put_name(text: *const u8, name: &mut [u8]) {
    if text.is_null() {
        return;
    }
    for (number, place) in name.iter_mut().enumerate() {
        // SAFETY: nothing is read behind the NUL.
        match unsafe { *text.add(number) } {
            0 => return,
            byte => *place = byte,
        }
    }
    // SAFETY: none of the bytes before was NUL.
    let next = unsafe { *text.add(name.len()) };
    if next & 0xc0 == 0x80 {
        // A character is cut in two: its part goes.
        for place in name.iter_mut().rev() {
            let byte = core::mem::take(place);
            if byte & 0xc0 != 0x80 {
                break;
            }
        }
    }
}
