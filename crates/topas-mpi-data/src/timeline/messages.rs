//! Which receive took which message: the n-th send of a key (communicator, source, destination, tag) is
//! the n-th receive of that key in the order in which receives were posted, because messages do not
//! overtake. What cannot be told in this way is counted.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};
use topas_mpi_waits::protocol::{EVIDENT, counted, shows_need};
use topas_trace::{CallEvent, NOBODY};

use super::clock::HostClocks;
use super::exchanges::{self, CallSide, Exchanges};
use super::late_receivers::{LateReceiver, LateReceivers, PairProtocols, completed_send};
use super::message_ends::{MessageEnd, MessageEnds, MessageKey};
use super::notes::{NoteKind, Notes, TimelineNote};
use super::rows::CallPlace;
use super::states::{Meaning, TimeClass};

/// Sends that took less are not looked at: a send that copies its message waits for nobody. In ns.
pub(super) const SHORT_SEND: u64 = 1000;

/// A call as the rules of messages need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedCall {
    pub(super) place: CallPlace,
    pub(super) began: u64,
    pub(super) ended: u64,
    /// The number of its call path in its process; 0 if that is not known
    pub(super) path: u32,
}

#[derive(Clone, Copy, Debug)]
struct SentMessage {
    call: TimedCall,
    bytes: u64,
    /// Whether the call may have waited for the receiver
    is_blocking: bool,
    /// Whether another call completes it
    is_started: bool,
}

#[derive(Clone, Copy, Debug)]
enum Receipt {
    /// By nobody yet: the call waited for the message and left it
    Probed,
    /// By the call itself, of so many bytes
    Now(u64),
    /// By a later call of this process: the number of the post
    Posted { process: usize, post: u64 },
}

/// Sends without a receive, or receives without a send.
#[derive(Debug, Default)]
struct Channel {
    sends: VecDeque<SentMessage>,
    receives: VecDeque<(TimedCall, Receipt)>,
}

/// A receive that was posted and not completed.
#[derive(Clone, Copy, Debug)]
struct OpenPost {
    number: u64,
    message: Option<SentMessage>,
}

/// A call that completed receives, or waited for the receiver of what another had sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestCompletion {
    pub(super) call: TimedCall,
    /// Bytes that were received
    pub(super) bytes: u64,
    is_single: bool,
    /// Posts before this number may be completed
    until: u64,
    /// What was sent by the request for which the call may have waited
    pub(super) sent: Option<MessageKey>,
}

/// Posts and completions of a process.
#[derive(Debug, Default)]
struct Posts {
    /// Those that are open, by number: one may stay for the whole run
    open: VecDeque<OpenPost>,
    /// How many there were
    count: u64,
    completions: VecDeque<RequestCompletion>,
}

/// Messages of a launch.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// By how much clocks may disagree before an order that cannot be is no match, in ns
    tolerance: u64,
    channels: FxHashMap<MessageKey, Channel>,
    /// Keys of which messages cannot be told apart
    void: FxHashSet<MessageKey>,
    /// Destinations and communicators of which that is true of all keys
    wild: FxHashSet<(i32, u64)>,
    posts: FxHashMap<usize, Posts>,
    late_receivers: LateReceivers,
    protocols: PairProtocols,
    exchanges: Exchanges,
    /// Messages, or calls that complete some, that could not be matched
    pub(super) untold: u64,
    /// Calls on communicators that the log does not tell apart
    pub(super) unnamed: u64,
}

impl Messages {
    /// None yet, on hosts with such clocks.
    pub(super) fn new(clocks: HostClocks) -> Messages {
        Messages { tolerance: clocks.tolerance(), ..Messages::default() }
    }

    /// Adds a call of a process with this rank.
    pub(super) fn add(
        &mut self,
        meaning: Meaning,
        (process, rank): (usize, i32),
        call: TimedCall,
        event: &CallEvent,
        notes: &mut Notes,
    ) {
        let told = &event.arguments;
        if matches!(meaning, Meaning::Completion | Meaning::Completions) {
            let sent = completed_send(rank, told);
            if told.received > 0 || sent.is_some() {
                let posts = self.posts.entry(process).or_default();
                posts.completions.push_back(RequestCompletion {
                    call,
                    bytes: told.received,
                    is_single: meaning == Meaning::Completion,
                    until: posts.count,
                    sent,
                });
            }
            return;
        }
        if meaning == Meaning::Probe {
            if let MessageEnd::Of(key) = MessageEnd::from(told.peer, rank, told) {
                self.probe(key, call, notes);
            }
            return;
        }
        let Some(ends) = MessageEnds::of(meaning, rank, told) else { return };
        if told.communicator == 0 {
            // A call that failed or that had no partner has no communicator either.
            self.unnamed += u64::from(told.peer != NOBODY || told.source != NOBODY);
            return;
        }
        if let (MessageEnd::Of(_), MessageEnd::Of(_)) = (ends.sent, ends.received) {
            self.exchanges.begin(call.place);
        }
        match ends.sent {
            MessageEnd::Of(key) => {
                let is_blocking = matches!(meaning, Meaning::Send | Meaning::SendReceive);
                let is_started = meaning == Meaning::SendStarted;
                self.send(
                    key,
                    SentMessage { call, bytes: told.sent, is_blocking, is_started },
                    notes,
                );
            }
            MessageEnd::Some(key) => self.forget(key, notes),
            MessageEnd::Nothing | MessageEnd::Any => {}
        }
        let is_open = matches!(ends.received, MessageEnd::Of(key) if !self.is_void(&key));
        let receipt = if meaning == Meaning::ReceivePosted {
            let posts = self.posts.entry(process).or_default();
            let post = posts.count;
            posts.count += 1;
            if is_open {
                posts.open.push_back(OpenPost { number: post, message: None });
            }
            Receipt::Posted { process, post }
        } else {
            Receipt::Now(told.received)
        };
        match ends.received {
            MessageEnd::Of(key) => self.receive(key, call, receipt, notes),
            MessageEnd::Any => self.forget_all(rank, told.communicator, notes),
            MessageEnd::Nothing | MessageEnd::Some(_) => {}
        }
    }

    fn is_void(&self, key: &MessageKey) -> bool {
        self.wild.contains(&(key.destination, key.communicator)) || self.void.contains(key)
    }

    fn forget(&mut self, key: MessageKey, notes: &mut Notes) {
        self.void.insert(key);
        if let Some(channel) = self.channels.remove(&key) {
            self.close(channel, notes);
        }
        self.untold += 1;
    }

    fn forget_all(&mut self, rank: i32, communicator: u64, notes: &mut Notes) {
        self.untold += 1;
        if self.wild.insert((rank, communicator)) {
            let same =
                |key: &MessageKey| key.destination == rank && key.communicator == communicator;
            let gone: Vec<Channel> =
                self.channels.extract_if(|key, _| same(key)).map(|(_, channel)| channel).collect();
            gone.into_iter().for_each(|channel| self.close(channel, notes));
        }
    }

    /// The posts of a channel will get no message, and nothing is told of its calls.
    fn close(&mut self, channel: Channel, notes: &mut Notes) {
        for sent in channel.sends {
            self.exchanges.tell(sent.call.place, None, notes);
        }
        for (call, receipt) in channel.receives {
            let Receipt::Posted { process, post } = receipt else {
                // Of a call that probed, nothing is open.
                self.exchanges.tell(call.place, None, notes);
                continue;
            };
            let Some(posts) = self.posts.get_mut(&process) else { continue };
            if let Some(place) = posts.place(post) {
                posts.open.remove(place);
            }
        }
    }

    fn send(&mut self, key: MessageKey, sent: SentMessage, notes: &mut Notes) {
        if self.is_void(&key) {
            self.untold += 1;
            self.exchanges.tell(sent.call.place, None, notes);
            return;
        }
        let channel = self.channels.entry(key).or_default();
        while let Some((call, Receipt::Probed)) = channel.receives.front() {
            probed(*call, &sent, notes);
            channel.receives.pop_front();
        }
        match channel.receives.pop_front() {
            Some(receive) => self.pair(key, sent, receive, notes),
            None => channel.sends.push_back(sent),
        }
    }

    fn receive(&mut self, key: MessageKey, call: TimedCall, receipt: Receipt, notes: &mut Notes) {
        if self.is_void(&key) {
            self.exchanges.tell(call.place, None, notes);
            return;
        }
        let channel = self.channels.entry(key).or_default();
        match channel.sends.pop_front() {
            Some(sent) => self.pair(key, sent, (call, receipt), notes),
            None => channel.receives.push_back((call, receipt)),
        }
    }

    /// A call that waits for a message takes none.
    fn probe(&mut self, key: MessageKey, call: TimedCall, notes: &mut Notes) {
        if self.is_void(&key) || key.communicator == 0 {
            return;
        }
        let channel = self.channels.entry(key).or_default();
        match channel.sends.front() {
            Some(sent) => probed(call, sent, notes),
            None => channel.receives.push_back((call, Receipt::Probed)),
        }
    }

    /// A message and its receive.
    fn pair(
        &mut self,
        key: MessageKey,
        sent: SentMessage,
        (call, receipt): (TimedCall, Receipt),
        notes: &mut Notes,
    ) {
        match receipt {
            Receipt::Probed => return probed(call, &sent, notes),
            Receipt::Now(bytes) => {
                if bytes != sent.bytes || sent.call.began > call.ended + self.tolerance {
                    self.exchanges.tell(call.place, None, notes);
                    self.exchanges.tell(sent.call.place, None, notes);
                    self.forget(key, notes);
                    return;
                }
                let wait = sent.call.began.min(call.ended).saturating_sub(call.began);
                let side = CallSide::of_message(received(call, &sent, wait));
                self.exchanges.tell(call.place, Some(side), notes);
            }
            Receipt::Posted { process, post } => {
                let posts = self.posts.entry(process).or_default();
                if let Some(open) = posts.place(post).and_then(|place| posts.open.get_mut(place)) {
                    open.message = Some(sent);
                }
            }
        }
        let SentMessage { call: send, is_blocking, is_started, .. } = sent;
        if is_started && call.began > send.began {
            let (moment, row) = (call.began, call.place.row);
            self.late_receivers.add(key, LateReceiver { moment, row, bytes: sent.bytes });
        }
        let is_late = call.began > send.began && call.began <= send.ended;
        let length = send.ended - send.began;
        let waited = is_blocking && is_late && length >= SHORT_SEND;
        let receiver = Some((self.protocols.goes(&key, sent.bytes), length));
        if is_blocking && call.began > send.ended {
            self.protocols.of(&key).went(counted(sent.bytes));
        } else if waited && !self.exchanges.is_open(send.place) {
            let wait = call.began - send.began;
            if shows_need(wait, length, EVIDENT * SHORT_SEND) {
                self.protocols.of(&key).waited(counted(sent.bytes));
            }
        }
        let note = waited.then(|| TimelineNote {
            place: send.place,
            path: send.path,
            kind: NoteKind::LateReceiver,
            wait: call.began - send.began,
            partner: call.place.row,
            moment: call.began,
        });
        let side = note.map(|note| CallSide { note, receiver });
        self.exchanges.tell(send.place, side, notes);
    }

    /// Everything was added.
    pub(super) fn finish(&mut self, notes: &mut Notes) {
        self.complete(u64::MAX, notes);
        self.exchanges.finish(notes);
    }

    /// Tells for what calls waited that completed requests and ended before `known`: all calls that began before
    /// this moment were added.
    pub(super) fn complete(&mut self, known: u64, notes: &mut Notes) {
        for posts in self.posts.values_mut() {
            while let Some(completion) = posts.completions.front().copied() {
                if completion.call.ended >= known {
                    break;
                }
                posts.completions.pop_front();
                let late = self.late_receivers.told(&completion, &self.protocols);
                let mut received = posts.take(&completion, self.tolerance);
                self.untold += u64::from(received.is_none());
                // The call waits once: for that side which comes later.
                let received = received.iter_mut().flatten();
                let (waited, others): (Vec<_>, Vec<_>) = received.partition(|note| note.wait > 0);
                others.into_iter().for_each(|note| exchanges::add(*note, notes));
                let waited = waited.into_iter().next().copied().map(CallSide::of_message);
                if completion.bytes > 0 {
                    exchanges::both(late, waited, notes);
                } else {
                    exchanges::alone(late, notes);
                }
            }
        }
        self.late_receivers.told_until(known);
    }
}

/// A call that waited for a message that it left.
fn probed(call: TimedCall, sent: &SentMessage, notes: &mut Notes) {
    let wait = sent.call.began.min(call.ended).saturating_sub(call.began);
    if wait > 0 {
        notes.add(received(call, sent, wait), TimeClass::PointToPoint);
    }
}

/// A message that a call received.
fn received(call: TimedCall, sent: &SentMessage, wait: u64) -> TimelineNote {
    TimelineNote {
        place: call.place,
        path: call.path,
        kind: NoteKind::Message,
        wait,
        partner: sent.call.place.row,
        moment: sent.call.began,
    }
}

impl Posts {
    /// Where a post is among those that are open.
    fn place(&self, post: u64) -> Option<usize> {
        self.open.binary_search_by_key(&post, |open| open.number).ok()
    }

    /// Takes the messages of a completion: those that were there, in the order of their posts, and whose
    /// bytes add up. None if they do not; then nobody knows what was completed, and what was posted
    /// before is forgotten. At most one of them has a wait.
    fn take(
        &mut self,
        completion: &RequestCompletion,
        tolerance: u64,
    ) -> Option<Vec<TimelineNote>> {
        let RequestCompletion { call, bytes, is_single, until, .. } = *completion;
        let mut notes = Vec::new();
        if bytes == 0 {
            return Some(notes);
        }
        let count = self.open.partition_point(|open| open.number < until);
        let mut left = bytes;
        let mut taken = Vec::new();
        for (place, open) in self.open.iter().enumerate().take(count) {
            let Some(sent) = open.message else { continue };
            let is_there = sent.call.began <= call.ended + tolerance;
            let fits = if is_single { sent.bytes == left } else { sent.bytes <= left };
            if is_there && fits {
                taken.push((place, sent));
                left -= sent.bytes;
            }
            if left == 0 {
                break;
            }
        }
        if left > 0 {
            self.open.drain(..count);
            return None;
        }
        // The last message is the one for which the call waited.
        let last = taken.iter().max_by_key(|(_, sent)| sent.call.began).map(|(place, _)| *place);
        for (before, (place, sent)) in taken.iter().enumerate() {
            let late = sent.call.began.min(call.ended).saturating_sub(call.began);
            let wait = if Some(*place) == last { late } else { 0 };
            notes.push(received(call, sent, wait));
            self.open.remove(place - before);
        }
        Some(notes)
    }
}
