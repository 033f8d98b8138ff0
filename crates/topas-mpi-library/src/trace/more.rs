//! What a call was about beside its words: a message that it completed, an epoch of a window, or what it has made or
//! named. Few calls are about such a thing, and those that are not must not pay for it: so it is told before the event is
//! written, and one look finds out that nothing was told.

use topas_mpi_waits::epochs::EpochEnd;
use topas_mpi_waits::key::Address;
use topas_trace::{
    CallArguments, CallEvent, MOST_OF_OBJECT, OBJECT_NAME, UNKNOWN_RANK, most_of_epoch,
};

use super::ThreadLog;
use crate::flow::waits::logged::Told;
use crate::flow::waits::{WritesSupplement, log_epoch};
use crate::frame::Frame;
use crate::generated::number;

/// What [`MoreOfCall`] is about: nothing.
pub(super) const NOTHING_MORE: u32 = 0;
/// A message that the call completed, for whose receiver it may have waited.
const COMPLETED_SEND: u32 = 1;
/// An epoch of a window.
const EPOCH: u32 = 2;
/// A communicator, window or file that the call made or named.
const OBJECT: u32 = 3;

/// What a call was about that began at this tick. Zero at its beginning.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct MoreOfCall {
    pub(super) kind: u32,
    /// The number of the epoch in this process
    epoch: u32,
    began: u64,
    /// The communicator, window or file
    number: u64,
    peer: i32,
    tag: i32,
    name: [u8; OBJECT_NAME],
}

impl MoreOfCall {
    const NOTHING: MoreOfCall = MoreOfCall {
        kind: NOTHING_MORE,
        epoch: 0,
        began: 0,
        number: 0,
        peer: 0,
        tag: 0,
        name: [0; OBJECT_NAME],
    };
}

/// The log of this thread is told something.
fn tell(more: MoreOfCall) {
    // SAFETY: the variables of this thread.
    let thread = unsafe { &mut *crate::arch::thread() };
    // SAFETY: null, or the thread's own.
    if let Some(log) = unsafe { thread.log.as_mut() } {
        log.more = more;
        log.period.suspend();
    }
}

/// The call of this thread that began at this tick completed a message, and may have waited for its
/// receiver.
#[cold]
#[inline(never)]
pub fn completed_send(to: &Address, began: u64) {
    let peer = to.peer.try_into().unwrap_or(UNKNOWN_RANK);
    let (kind, number, tag) = (COMPLETED_SEND, to.comm, to.tag);
    tell(MoreOfCall { kind, began, number, peer, tag, ..MoreOfCall::NOTHING });
}

/// The call of this thread that began at this tick has begun or ended an epoch of this rank at a window, or is to
/// end it; `epoch` is 0 if that is not known.
#[cold]
#[inline(never)]
pub fn has_epoch(window: u64, epoch: u32, began: u64) {
    tell(MoreOfCall { kind: EPOCH, began, number: window, epoch, ..MoreOfCall::NOTHING });
}

/// The call of this thread that began at this tick has made a communicator, window or file, or given it this name.
#[cold]
#[inline(never)]
pub fn has_object(object: u64, name: [u8; OBJECT_NAME], began: u64) {
    tell(MoreOfCall { kind: OBJECT, began, number: object, name, ..MoreOfCall::NOTHING });
}

impl ThreadLog {
    /// What else the call was about. True if something is to stand behind the arguments.
    #[cold]
    #[inline(never)]
    pub(super) fn tell_more(&mut self, frame: &Frame, arguments: &mut CallArguments) -> bool {
        let MoreOfCall { kind, began, number, peer, tag, .. } = self.more;
        self.more.kind = NOTHING_MORE;
        if !self.block.is_null() {
            self.period.resume();
        }
        // A call that was not written has left its own.
        if began != frame.began {
            return false;
        }
        self.told.get_mut(frame.function()).into_iter().for_each(Told::differ);
        match kind {
            COMPLETED_SEND => {
                (arguments.communicator, arguments.peer, arguments.tag) = (number, peer, tag);
                false
            }
            EPOCH => {
                arguments.communicator = number;
                true
            }
            _ => true,
        }
    }

    /// Writes an event, and behind its arguments what else the call was about.
    #[cold]
    #[inline(never)]
    pub(super) fn put_with_more(&mut self, event: &CallEvent) {
        let MoreOfCall { number: object, epoch, name, .. } = self.more;
        let end = match event.routine as usize {
            number::WIN_POST => Some(EpochEnd::Exposure),
            number::WIN_START => Some(EpochEnd::Access),
            _ => None,
        };
        let is_of_epoch = matches!(
            event.routine as usize,
            number::WIN_COMPLETE | number::WIN_WAIT | number::WIN_TEST
        );
        for is_new in [false, true] {
            if is_new {
                self.begin_next(event.began);
            }
            // SAFETY: null, or a block of the thread's own ring.
            let Some(block) = (unsafe { self.block.as_mut() }) else { continue };
            let writer = &mut self.writer;
            let mut put = |most: usize, write: WritesSupplement<'_>| {
                writer.put_with_supplement(block, event, most, write)
            };
            let is_put = match end {
                Some(end) => log_epoch(object, end, &mut put),
                None if is_of_epoch => put(most_of_epoch(0), &mut |log| log.epoch(epoch, true)),
                None => put(MOST_OF_OBJECT, &mut |log| log.object(object, &name)),
            };
            if is_put {
                return;
            }
        }
        // Waits were given up meanwhile, or there is no memory.
        self.put(event);
    }
}
