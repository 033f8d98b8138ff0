//! The numbers of messages among those that cannot overtake each other, by which a reader finds the call
//! that received what another sent.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use topas_trace::CallEvent;

use super::message_ends::{MessageEnd, MessageEnds, MessageKey};
use super::states::Meaning;
use crate::trace::TraceProcess;

/// Keys of a process that are numbered: programs use tags as counters.
const MOST_KEYS: usize = 1 << 20;

/// The numbers of the messages of a call among those of the same communicator, source, destination and
/// tag, from 1; None where the call has no such message or the number is not known. The message that was
/// sent and the one that was received with the same number are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageNumber {
    /// That of the message that the call sends
    pub sent: Option<u64>,
    /// That of the message that the call receives, or posts a receive for
    pub received: Option<u64>,
}

/// The messages of a key so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    count: u64,
    thread: u32,
    /// The tick at which the last of the calls ended
    ended: u64,
    is_lost: bool,
}

/// Numbers the messages of a process, whose calls come in the order in which they began.
pub struct MessageNumbers<'l> {
    process: &'l TraceProcess,
    meanings: FxHashMap<u16, Meaning>,
    keys: FxHashMap<MessageKey, Counted>,
    /// Communicators on which the rank received nobody knows what
    wild: FxHashSet<u64>,
    is_lost: bool,
}

impl<'l> MessageNumbers<'l> {
    /// Those of a process, before its first call. A log without the first calls numbers nothing.
    pub fn of(process: &'l TraceProcess) -> MessageNumbers<'l> {
        MessageNumbers {
            process,
            meanings: FxHashMap::default(),
            keys: FxHashMap::default(),
            wild: FxHashSet::default(),
            is_lost: false,
        }
    }

    /// Calls are missing here: from now on nothing has a number.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// The numbers of the next call.
    pub fn next(&mut self, thread: u32, event: &CallEvent) -> MessageNumber {
        let process = self.process;
        let known = self.meanings.entry(event.routine);
        let meaning =
            *known.or_insert_with(|| Meaning::of_routine(&process.routine(event.routine)));
        let told = &event.arguments;
        if self.is_lost || told.communicator == 0 {
            return MessageNumber::default();
        }
        let Some(ends) = MessageEnds::of(meaning, process.rank as i32, told) else {
            return MessageNumber::default();
        };
        let sent = self.count(ends.sent, thread, event);
        if ends.received == MessageEnd::Any {
            self.wild.insert(told.communicator);
        }
        let received = self.count(ends.received, thread, event);
        MessageNumber {
            sent,
            received: received.filter(|_| !self.wild.contains(&told.communicator)),
        }
    }

    fn count(&mut self, end: MessageEnd, thread: u32, event: &CallEvent) -> Option<u64> {
        let (MessageEnd::Of(key) | MessageEnd::Some(key)) = end else { return None };
        let room = self.keys.len() < MOST_KEYS;
        let counted = match self.keys.entry(key) {
            Entry::Occupied(counted) => counted.into_mut(),
            Entry::Vacant(place) if room => place.insert(Counted::default()),
            Entry::Vacant(_) => return None,
        };
        // Of two calls at the same time, nobody knows which was first.
        let is_beside = counted.thread != thread && counted.ended > event.began;
        counted.is_lost |= is_beside || matches!(end, MessageEnd::Some(_));
        counted.count += 1;
        (counted.thread, counted.ended) = (thread, counted.ended.max(event.ended));
        (!counted.is_lost).then_some(counted.count)
    }
}
