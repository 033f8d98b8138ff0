//! Calls that send a message and receive another one. Such a call waits once: for that side which comes later.

use rustc_hash::FxHashMap;

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
type SideNote = Option<TimelineNote>;

impl Exchanges {
    /// A call of which both sides are to be told.
    pub(super) fn begin(&mut self, call: CallPlace) {
        self.open.insert(call, None);
    }

    /// Tells a side of a call. Of a call that was not begun here, the side is the whole call.
    pub(super) fn tell(&mut self, call: CallPlace, side: SideNote, notes: &mut Notes) {
        // Most calls are no exchanges, and few exchanges are open at once.
        let other = if self.open.is_empty() { None } else { self.open.remove(&call) };
        match other {
            None => side.into_iter().for_each(|note| add(note, notes)),
            Some(None) => {
                self.open.insert(call, Some(side));
            }
            Some(Some(other)) => both(side, other, notes),
        }
    }

    /// The other sides of the exchanges that are open will never be told.
    pub(super) fn finish(&mut self, notes: &mut Notes) {
        let sides = self.open.drain().filter_map(|(_, side)| side.flatten());
        sides.for_each(|note| add(note, notes));
    }
}

/// Adds what both sides of a call told: the shorter wait lies within the longer one.
pub(super) fn both(one: SideNote, other: SideNote, notes: &mut Notes) {
    let wait = |side: &SideNote| side.map_or(0, |note| note.wait);
    let (shorter, longer) = if wait(&one) > wait(&other) { (other, one) } else { (one, other) };
    longer.into_iter().for_each(|note| add(note, notes));
    shorter.into_iter().for_each(|note| add(TimelineNote { wait: 0, ..note }, notes));
}

/// Adds what is told of a call of messages.
pub(super) fn add(note: TimelineNote, notes: &mut Notes) {
    notes.add(note, TimeClass::PointToPoint);
}
