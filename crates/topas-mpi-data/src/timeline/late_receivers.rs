//! Receivers for which calls waited that completed what another call had sent. The log tells of such a call
//! whose message may have been the one that it waited for.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use topas_mpi_waits::protocol::{Protocol, counted};
use topas_trace::CallArguments;

use super::exchanges::CallSide;
use super::message_ends::MessageKey;
use super::messages::{RequestCompletion, SHORT_SEND};
use super::notes::{NoteKind, TimelineNote};

/// Receives that are kept before those which nobody will ask for are looked for: a call that was short tells no
/// message, so theirs stay.
const MANY: usize = 1 << 20;

/// Receives of a key that are kept then, of those that were posted before the calls that are still to be told
/// ended.
const KEPT: usize = 64;

/// A receive that was posted after its message was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateReceiver {
    /// When it was posted, in ns since the origin
    pub(super) moment: u64,
    /// The row that posted it
    pub(super) row: u32,
    /// Bytes of the message
    pub(super) bytes: u64,
}

/// Receives that were late for messages whose calls did not wait for them, in the order of each key.
#[derive(Debug, Default)]
pub(super) struct LateReceivers {
    keys: FxHashMap<MessageKey, VecDeque<LateReceiver>>,
    count: usize,
    /// How many there were when it was looked last
    before: usize,
}

/// Which messages went without their receiver, by the ranks at both ends: as the profile knows that.
#[derive(Debug, Default)]
pub(super) struct PairProtocols(FxHashMap<(i32, i32), Protocol>);

impl PairProtocols {
    /// Whether messages of so many bytes go without their receiver.
    pub(super) fn goes(&self, key: &MessageKey, bytes: u64) -> bool {
        let pair = (key.source, key.destination);
        self.0.get(&pair).unwrap_or(&Protocol::UNSEEN).goes(counted(bytes))
    }

    /// What was seen of messages of a key.
    pub(super) fn of(&mut self, key: &MessageKey) -> &mut Protocol {
        self.0.entry((key.source, key.destination)).or_insert(Protocol::UNSEEN)
    }
}

/// The key of the message that a call completed which a rank had sent, if the log tells one.
pub(super) fn completed_send(rank: i32, told: &CallArguments) -> Option<MessageKey> {
    let CallArguments { communicator, peer, tag, .. } = *told;
    let is_told = communicator > 0 && peer >= 0;
    is_told.then_some(MessageKey { communicator, source: rank, destination: peer, tag })
}

impl LateReceivers {
    /// A receive was late for a message of this key.
    pub(super) fn add(&mut self, key: MessageKey, late: LateReceiver) {
        self.keys.entry(key).or_default().push_back(late);
        self.count += 1;
    }

    /// All calls that ended before `known` were told.
    pub(super) fn told_until(&mut self, known: u64) {
        if self.count < MANY.max(2 * self.before) {
            return;
        }
        self.keys.retain(|_, all| {
            let old = all.partition_point(|late| late.moment < known);
            all.drain(..old.saturating_sub(KEPT));
            !all.is_empty()
        });
        self.count = self.keys.values().map(VecDeque::len).sum();
        self.before = self.count;
    }

    /// What is to be said of a call that completed requests: whether it waited for a receiver.
    pub(super) fn told(
        &mut self,
        completion: &RequestCompletion,
        protocols: &PairProtocols,
    ) -> Option<CallSide> {
        let RequestCompletion { call, sent, .. } = *completion;
        let key = sent?;
        let all = self.keys.get_mut(&key)?;
        // A message is complete when its receiver is there, and receives of a key come in its order.
        let count = all.partition_point(|late| late.moment <= call.ended);
        self.count -= count;
        let late = all.drain(..count).next_back()?;
        let waited = late.moment > call.began && call.ended - call.began >= SHORT_SEND;
        let note = waited.then(|| TimelineNote {
            place: call.place,
            path: call.path,
            kind: NoteKind::LateReceiver,
            wait: late.moment - call.began,
            partner: late.row,
            moment: late.moment,
        });
        let receiver = Some((protocols.goes(&key, late.bytes), call.ended - call.began));
        note.map(|note| CallSide { note, receiver })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_nobody_asks_for_take_no_memory() {
        let key = |tag| MessageKey { communicator: 1, source: 0, destination: 1, tag };
        let mut all = LateReceivers::default();
        for moment in 0..4 * MANY as u64 {
            all.add(key((moment % 2) as i32), LateReceiver { moment, row: 1, bytes: 1 });
            if moment % 1000 == 0 {
                // Of what may still be asked for nothing goes.
                all.told_until(moment.saturating_sub(500));
                assert!(all.count <= MANY + 1000);
            }
        }
        let kept = all.keys.values().map(VecDeque::len);
        assert_eq!(kept.sum::<usize>(), all.count);
        let latest = |tag| all.keys[&key(tag)].back().map(|late| late.moment);
        assert_eq!([latest(0), latest(1)], [Some(4 * MANY as u64 - 2), Some(4 * MANY as u64 - 1)]);
    }
}
