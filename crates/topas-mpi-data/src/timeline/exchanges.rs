//! Calls that send a message and receive another one. Such a call waits once: for that side which comes later.

use rustc_hash::FxHashMap;
use topas_mpi_waits::protocol::explains;

use super::notes::{Notes, TimelineNote};
use super::rows::CallPlace;
use super::states::TimeClass;

/// Exchanges of which a side is not told.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    /// What the other side told, if it is told
    open: FxHashMap<CallPlace, Option<SideNote>>,
}

/// What is said of one side of a call; None if nothing.
type SideNote = Option<CallSide>;

/// What one side of a call told.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSide {
    pub(super) note: TimelineNote,
    /// Of a receiver that was late, whether such messages go without, and how long the call was
    pub(super) receiver: Option<(bool, u64)>,
}

impl CallSide {
    /// Of a message that the call received.
    pub(super) fn of_message(note: TimelineNote) -> CallSide {
        CallSide { note, receiver: None }
    }

    /// Whether the call waited for that, if it waited so long for something else, or only for that.
    fn explains(&self, other: Option<u64>) -> bool {
        let Some((goes, length)) = self.receiver else { return true };
        // Who receives something does not wait for a receiver that is not needed.
        let is_needed = !goes || other.is_none();
        is_needed && explains(goes, self.note.wait, other.unwrap_or(0), length)
    }
}

impl Exchanges {
    /// A call of which both sides are to be told.
    pub(super) fn begin(&mut self, call: CallPlace) {
        self.open.insert(call, None);
    }

    /// Whether a call sends and receives, and a side of it is still to be told.
    pub(super) fn is_open(&self, call: CallPlace) -> bool {
        !self.open.is_empty() && self.open.contains_key(&call)
    }

    /// Tells a side of a call. Of a call that was not begun here, the side is the whole call.
    pub(super) fn tell(&mut self, call: CallPlace, side: SideNote, notes: &mut Notes) {
        // Most calls are no exchanges, and few exchanges are open at once.
        let other = if self.open.is_empty() { None } else { self.open.remove(&call) };
        match other {
            None => alone(side, notes),
            Some(None) => {
                self.open.insert(call, Some(side));
            }
            Some(Some(other)) => both(side, other, notes),
        }
    }

    /// The other sides of the exchanges that are open will never be told.
    pub(super) fn finish(&mut self, notes: &mut Notes) {
        self.open.drain().for_each(|(_, side)| alone(side.flatten(), notes));
    }
}

/// Adds what the only side of a call told.
pub(super) fn alone(side: SideNote, notes: &mut Notes) {
    let side = side.filter(|side| side.explains(None));
    side.into_iter().for_each(|side| add(side.note, notes));
}

/// Adds what both sides of a call told: the shorter wait lies within the longer one.
pub(super) fn both(one: SideNote, other: SideNote, notes: &mut Notes) {
    let wait = |side: &SideNote| side.map_or(0, |side| side.note.wait);
    let waits = [wait(&one), wait(&other)];
    let one = one.filter(|side| side.explains(Some(waits[1])));
    let other = other.filter(|side| side.explains(Some(waits[0])));
    let (shorter, longer) = if wait(&one) > wait(&other) { (other, one) } else { (one, other) };
    longer.into_iter().for_each(|side| add(side.note, notes));
    shorter.into_iter().for_each(|side| add(TimelineNote { wait: 0, ..side.note }, notes));
}

/// Adds what is told of a call of messages.
pub(super) fn add(note: TimelineNote, notes: &mut Notes) {
    notes.add(note, TimeClass::PointToPoint);
}
