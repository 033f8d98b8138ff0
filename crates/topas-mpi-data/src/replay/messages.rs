//! Messages that were sent in the replay and not received yet, by the rank they went to.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Empty queues are forgotten beyond so many: programs use tags as counters.
const QUEUES: usize = 4096;

/// What orders messages: those with the same key do not overtake each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MessageKey {
    pub communicator: u64,
    /// Rank in the world
    pub source: u32,
    pub tag: i32,
}

/// A message on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Message {
    /// When it was sent in the model, in ns
    pub at: f64,
    /// When it was sent in reality, in ns
    pub real: f64,
    pub bytes: u64,
}

/// What was sent to a rank.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    queues: FxHashMap<MessageKey, VecDeque<Message>>,
}

impl Mailbox {
    #[inline]
    pub fn post(&mut self, key: MessageKey, message: Message) {
        if self.queues.len() > QUEUES && !self.queues.contains_key(&key) {
            self.queues.retain(|_, queue| !queue.is_empty());
        }
        self.queues.entry(key).or_default().push_back(message);
    }

    /// The message with this number among those of a key, from 0.
    #[inline]
    pub fn get(&self, key: &MessageKey, number: usize) -> Option<Message> {
        self.queues.get(key)?.get(number).copied()
    }

    #[inline]
    pub fn take(&mut self, key: &MessageKey, number: usize) -> Option<Message> {
        let queue = self.queues.get_mut(key)?;
        if number == 0 { queue.pop_front() } else { queue.remove(number) }
    }

    /// Of the messages that came first with their keys, the one sent first in reality, not after
    /// `until`. A `source` or `tag` that is None is not looked at, and neither are 0 bytes.
    pub fn first(
        &self,
        communicator: u64,
        source: Option<u32>,
        tag: Option<i32>,
        bytes: u64,
        until: f64,
    ) -> Option<(MessageKey, Message)> {
        let fits = |key: &MessageKey, message: &Message| {
            key.communicator == communicator
                && source.is_none_or(|source| source == key.source)
                && tag.is_none_or(|tag| tag == key.tag)
                && (bytes == 0 || message.bytes == bytes)
                && message.real <= until
        };
        let all = self.queues.iter().filter_map(|(key, queue)| Some((*key, *queue.front()?)));
        let fitting = all.filter(|(key, message)| fits(key, message));
        fitting.min_by(|(one, a), (other, b)| {
            a.real
                .total_cmp(&b.real)
                .then_with(|| (one.source, one.tag).cmp(&(other.source, other.tag)))
        })
    }

    /// Messages that nobody has received.
    pub fn left(&self) -> u64 {
        self.queues.values().map(|queue| queue.len() as u64).sum()
    }
}
