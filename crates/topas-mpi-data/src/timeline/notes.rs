//! What was found out about single calls: for whom they waited, and which messages they received.

use std::collections::BTreeMap;

use super::delays::{DelayPlace, Delays, TimeByKind};
use super::rows::{CallPlace, TimelineRow};
use super::states::TimeClass;

/// Most notes that are kept: those of the shortest waits go first.
const MOST_NOTES: usize = 2_000_000;

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NoteKind {
    /// The call received a message; the wait is for a late sender
    Message,
    /// The call sent a message and waited for the receiver
    LateReceiver,
    /// The call waited for others in a collective
    Collective,
    /// The call waited until a window was posted: for a late sender
    Post,
    /// The call waited until an access to its window was ended: for a late sender
    AccessEnd,
}

impl NoteKind {
    /// The class of the wait.
    pub const fn class(self) -> TimeClass {
        match self {
            NoteKind::Message | NoteKind::Post | NoteKind::AccessEnd => TimeClass::LateSender,
            NoteKind::LateReceiver => TimeClass::LateReceiver,
            NoteKind::Collective => TimeClass::CollectiveWait,
        }
    }
}

/// What was found out about a call. A call that completes several messages has several notes, and its
/// wait stands in one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineNote {
    /// The call
    pub place: CallPlace,
    /// The number of its call path in its process; 0 if that is not known
    pub path: u32,
    /// What
    pub kind: NoteKind,
    /// For how long the call waited from its beginning on, in ns
    pub wait: u64,
    /// The row for which it waited, or from which the message came
    pub partner: u32,
    /// When the partner came: began to send, posted the receive, called the collective, posted its window, or
    /// ended its access; in ns since the origin
    pub moment: u64,
}

/// Keeps notes, and books waits.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) all: Vec<TimelineNote>,
    /// Notes of shorter waits are not kept, in ns
    pub(super) least: u64,
    /// In which rows waits arose
    delays: Delays,
    /// Waits that became known, with the class of the time in the call, and whether they are within a process
    waits: Vec<(TimelineNote, TimeClass, bool)>,
    /// The process of each row
    processes: Vec<usize>,
}

impl Notes {
    /// Of these rows.
    pub(super) fn of(rows: &[TimelineRow]) -> Notes {
        let processes: Vec<usize> = rows.iter().map(|row| row.process).collect();
        Notes { delays: Delays::of(processes.clone()), processes, ..Notes::default() }
    }

    /// Adds what was found out about a call whose time is of this class. What threads of a rank wait for each other is no
    /// wait for another rank: of such a call only the message remains.
    pub(super) fn add(&mut self, mut note: TimelineNote, class: TimeClass) {
        if note.wait > 0 {
            let is_within = self.is_within(&note);
            self.waits.push((note, class, is_within));
            if is_within {
                note.wait = 0;
            }
        }
        if note.wait < self.least {
            return;
        }
        self.all.push(note);
        while self.all.len() > MOST_NOTES {
            self.least = if self.least == 0 { 1000 } else { self.least * 2 };
            let least = self.least;
            self.all.retain(|note| note.wait >= least);
        }
    }

    /// The time for which others waited because of each row, in ns, and where it begins. Everything was booked.
    pub(super) fn delays(&mut self) -> (Vec<u64>, BTreeMap<DelayPlace, TimeByKind>) {
        self.delays.finish()
    }

    /// Books the waits that became known since the last time.
    pub(super) fn book(&mut self, rows: &mut [TimelineRow]) {
        for (note, from, is_within) in self.waits.drain(..) {
            let row = rows.get_mut(note.place.row as usize).filter(|_| !is_within);
            if let Some(row) = row {
                row.shift(note.place, from, note.kind.class(), note.wait);
            }
            self.delays.add(&note, is_within);
        }
    }

    /// Whether a thread of a process waited for another thread of the same process.
    fn is_within(&self, note: &TimelineNote) -> bool {
        let process = |row: u32| self.processes.get(row as usize);
        process(note.place.row).is_some_and(|own| process(note.partner) == Some(own))
    }
}
