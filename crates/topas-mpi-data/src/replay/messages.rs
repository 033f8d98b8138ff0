//! Messages that were sent in the replay and not received yet, by the rank they went to.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// Empty queues are forgotten beyond so many: programs use tags as counters.
const QUEUES: usize = 4096;
/// Places of queues that are remembered.
const RECENT: usize = 16;

/// What orders messages: those with the same key do not overtake each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MessageKey {
    pub communicator: u64,
    /// Rank in the world
    pub source: u32,
    pub tag: i32,
}

impl MessageKey {
    /// Some bits that differ between the keys of a program.
    #[inline]
    fn bits(&self) -> usize {
        let tag = self.tag as u32;
        (self.source ^ tag.rotate_left(1) ^ tag >> 3 ^ self.communicator as u32) as usize
    }
}

/// A message on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Message {
    /// When it is there in the model, in ns
    pub there: f64,
    /// When it was sent in reality, in ns
    pub real: f64,
    pub bytes: u64,
}

/// What was sent to a rank.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    queues: Vec<(MessageKey, VecDeque<Message>)>,
    /// Where in `queues` the messages of a key are
    places: FxHashMap<MessageKey, usize>,
    /// Places of the keys that were looked for last, by some bits of the key: most ranks have few
    /// partners, and find them here without the table
    recent: [usize; RECENT],
    /// Queues that were not empty when the others were forgotten
    kept: usize,
}

impl Mailbox {
    #[inline]
    fn place(&mut self, key: &MessageKey) -> Option<usize> {
        let recent = &mut self.recent[key.bits() % RECENT];
        if self.queues.get(*recent).is_some_and(|(other, _)| other == key) {
            return Some(*recent);
        }
        *recent = *self.places.get(key)?;
        Some(*recent)
    }

    #[inline]
    fn queue(&mut self, key: &MessageKey) -> Option<&mut VecDeque<Message>> {
        let place = self.place(key)?;
        Some(&mut self.queues[place].1)
    }

    #[inline]
    pub fn post(&mut self, key: MessageKey, message: Message) {
        match self.queue(&key) {
            Some(queue) => queue.push_back(message),
            None => self.post_first(key, message),
        }
    }

    /// The first message of a key.
    #[cold]
    fn post_first(&mut self, key: MessageKey, message: Message) {
        if self.queues.len() > QUEUES.max(2 * self.kept) {
            self.queues.retain(|(_, queue)| !queue.is_empty());
            let kept = self.queues.iter().enumerate();
            self.places = kept.map(|(place, (key, _))| (*key, place)).collect();
            self.kept = self.queues.len();
        }
        self.places.insert(key, self.queues.len());
        self.queues.push((key, VecDeque::from([message])));
    }

    /// The message with this number among those of a key, from 0.
    #[inline]
    pub fn get(&mut self, key: &MessageKey, number: usize) -> Option<Message> {
        self.queue(key)?.get(number).copied()
    }

    #[inline]
    pub fn take(&mut self, key: &MessageKey, number: usize) -> Option<Message> {
        let queue = self.queue(key)?;
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
        self.queues.iter().map(|(_, queue)| queue.len() as u64).sum()
    }
}
