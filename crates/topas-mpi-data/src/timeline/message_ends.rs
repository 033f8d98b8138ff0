//! Which messages a call sends and receives: what orders them, as far as the event tells.

use topas_trace::{CallArguments, UNKNOWN_RANK};

use super::states::Meaning;

/// What orders messages: those with the same key do not overtake each other. Ranks are those of the
/// world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MessageKey {
    pub(super) communicator: u64,
    pub(super) source: i32,
    pub(super) destination: i32,
    pub(super) tag: i32,
}

/// One side of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageEnd {
    /// No message
    Nothing,
    /// A message of this key
    Of(MessageKey),
    /// Messages of this key, nobody knows how many
    Some(MessageKey),
    /// Messages of any key of the rank and communicator
    Any,
}

impl MessageEnd {
    /// What comes from a source to a rank.
    pub(super) fn from(source: i32, rank: i32, told: &CallArguments) -> MessageEnd {
        let (communicator, tag) = (told.communicator, told.tag_of_received());
        match source {
            UNKNOWN_RANK => MessageEnd::Any,
            _ if source >= 0 && tag < 0 => MessageEnd::Any,
            _ if source >= 0 => {
                MessageEnd::Of(MessageKey { communicator, source, destination: rank, tag })
            }
            _ => MessageEnd::Nothing,
        }
    }
}

/// What a call does with messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageEnds {
    /// What it sends
    pub(super) sent: MessageEnd,
    /// What it receives, or posts a receive for
    pub(super) received: MessageEnd,
}

impl MessageEnds {
    /// Those of a call of a rank; None of a call that neither sends nor receives.
    pub(super) fn of(meaning: Meaning, rank: i32, told: &CallArguments) -> Option<MessageEnds> {
        let key = |source, destination| MessageKey {
            communicator: told.communicator,
            source,
            destination,
            tag: told.tag,
        };
        let sent = match meaning {
            Meaning::Send | Meaning::SendStarted | Meaning::SendReceive if told.peer >= 0 => {
                MessageEnd::Of(key(rank, told.peer))
            }
            Meaning::SendPrepared if told.peer >= 0 => MessageEnd::Some(key(rank, told.peer)),
            _ => MessageEnd::Nothing,
        };
        let from = |source: i32| MessageEnd::from(source, rank, told);
        let received = match meaning {
            Meaning::Receive | Meaning::ReceivePosted => from(told.peer),
            Meaning::SendReceive => from(told.source),
            Meaning::ReceiveUntold => MessageEnd::Any,
            Meaning::Send | Meaning::SendStarted | Meaning::SendPrepared => MessageEnd::Nothing,
            _ => return None,
        };
        Some(MessageEnds { sent, received })
    }
}
