//! The longest time for which a row was waited for while it did not wait itself: where a reader looks first.

use super::Timeline;
use super::notes::TimelineNote;
use super::spans::Spans;

/// A time for which a row waited for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestDelay {
    /// When the wait began, in ns since the origin
    pub began: u64,
    /// When the row came for which the other waited
    pub ended: u64,
    /// The row that waited
    pub waiting: u32,
}

impl Timeline<'_> {
    /// The longest time for which another row waited for this one and this one did not wait itself; None if nobody
    /// waited for it.
    pub fn longest_delay(&self, row: usize) -> Option<LongestDelay> {
        let waited = |note: &&TimelineNote| note.wait > 0;
        let time = |note: &TimelineNote| (note.moment.saturating_sub(note.wait), note.moment);
        let own = Spans::of(self.notes_of(row).iter().filter(waited).map(time));
        let for_it = self.notes.iter().filter(waited).filter(|note| note.partner as usize == row);
        let arose = |note: &&TimelineNote| {
            let (began, ended) = time(note);
            (ended - began) - own.between(began, ended)
        };
        let longest = for_it.max_by_key(arose)?;
        Some(LongestDelay {
            began: longest.moment.saturating_sub(longest.wait),
            ended: longest.moment,
            waiting: longest.place.row,
        })
    }
}
