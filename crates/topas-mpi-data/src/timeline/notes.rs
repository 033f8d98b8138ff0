//! What was found out about single calls: for whom they waited, and which messages they received.

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
}

impl NoteKind {
    /// The class of the wait.
    pub const fn class(self) -> TimeClass {
        match self {
            NoteKind::Message => TimeClass::LateSender,
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
    /// What
    pub kind: NoteKind,
    /// For how long the call waited from its beginning on, in ns
    pub wait: u64,
    /// The row for which it waited, or from which the message came
    pub partner: u32,
    /// When the partner came: began to send, posted the receive, or called the collective; in ns since
    /// the origin
    pub moment: u64,
}

/// Keeps notes, and books waits.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) all: Vec<TimelineNote>,
    /// Notes of shorter waits are not kept, in ns
    pub(super) least: u64,
    /// Waits that became known, with the class of the time in the call
    waits: Vec<(TimelineNote, TimeClass)>,
}

impl Notes {
    /// Adds what was found out about a call whose time is of this class.
    pub(super) fn add(&mut self, note: TimelineNote, class: TimeClass) {
        if note.wait > 0 {
            self.waits.push((note, class));
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

    /// Books the waits that became known since the last time.
    pub(super) fn book(&mut self, rows: &mut [TimelineRow]) {
        for (note, from) in self.waits.drain(..) {
            if let Some(row) = rows.get_mut(note.place.row as usize) {
                row.shift(note.place, from, note.kind.class(), note.wait);
            }
        }
    }
}

/// Most rows through which a delay is followed.
const LONGEST_CHAIN: u32 = 32;

/// For each of `rows` rows the time for which others waited because of it, in ns: directly, or because
/// the rank for which they waited waited itself at that moment. All of it adds up to the waits of the
/// notes, which are in the order of their calls.
pub(super) fn delays(notes: &[TimelineNote], rows: usize) -> Vec<u64> {
    let waits: Vec<Vec<(u64, u64, u32)>> = (0..rows as u32)
        .map(|row| {
            let from = notes.partition_point(|note| note.place.row < row);
            let to = notes.partition_point(|note| note.place.row <= row);
            let own = notes.get(from..to).unwrap_or_default().iter();
            let own = own.filter(|note| note.wait > 0 && note.moment >= note.wait);
            own.map(|note| (note.moment - note.wait, note.moment, note.partner)).collect()
        })
        .collect();
    let mut caused = vec![0; rows];
    for row in &waits {
        for (from, to, partner) in row {
            follow(&waits, (*from, *to), *partner, LONGEST_CHAIN, &mut caused);
        }
    }
    caused
}

/// Books a time in which somebody waited for a row.
fn follow(
    waits: &[Vec<(u64, u64, u32)>],
    (from, to): (u64, u64),
    row: u32,
    chain: u32,
    caused: &mut [u64],
) {
    let own = waits.get(row as usize).map_or(&[][..], |own| own);
    let mut rest = to - from;
    if chain > 0 {
        let first = own.partition_point(|(_, ended, _)| *ended <= from);
        let later = own.get(first..).unwrap_or_default().iter();
        for (began, ended, partner) in later.take_while(|(began, _, _)| *began < to) {
            let part = ((*began).max(from), (*ended).min(to));
            rest = rest.saturating_sub(part.1 - part.0);
            follow(waits, part, *partner, chain - 1, caused);
        }
    }
    if let Some(sum) = caused.get_mut(row as usize) {
        *sum += rest;
    }
}
