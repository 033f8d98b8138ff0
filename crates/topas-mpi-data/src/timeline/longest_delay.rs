//! The longest time for which a row was waited for while it did not wait itself: where a reader looks first.

use super::Timeline;
use super::notes::TimelineNote;

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

/// Times that follow one another, to be asked how much of them lies before a moment.
struct Spans {
    /// Begin, end, and the time of all spans before
    spans: Vec<(u64, u64, u64)>,
}

impl Spans {
    fn of<'n>(waits: impl Iterator<Item = &'n TimelineNote>) -> Spans {
        let mut own: Vec<(u64, u64)> =
            waits.map(|note| (note.moment.saturating_sub(note.wait), note.moment)).collect();
        own.sort_unstable();
        let (mut done, mut sum) = (0, 0);
        let mut spans = Vec::with_capacity(own.len());
        for (from, to) in own {
            // Where clocks disagree, waits may overlap: each moment counts once.
            let (from, to) = (from.max(done), to.max(done));
            spans.push((from, to, sum));
            (done, sum) = (to, sum + (to - from));
        }
        Spans { spans }
    }

    fn before(&self, moment: u64) -> u64 {
        let next = self.spans.partition_point(|(from, ..)| *from < moment);
        let last = next.checked_sub(1).and_then(|last| self.spans.get(last));
        last.map_or(0, |(from, to, sum)| sum + moment.min(*to) - from)
    }
}

impl Timeline<'_> {
    /// The longest time for which another row waited for this one and this one did not wait itself; None if nobody
    /// waited for it.
    pub fn longest_delay(&self, row: usize) -> Option<LongestDelay> {
        let waited = |note: &&TimelineNote| note.wait > 0;
        let own = Spans::of(self.notes_of(row).iter().filter(waited));
        let for_it = self.notes.iter().filter(waited).filter(|note| note.partner as usize == row);
        let arose = |note: &&TimelineNote| {
            let began = note.moment.saturating_sub(note.wait);
            (note.moment - began) - (own.before(note.moment) - own.before(began))
        };
        let longest = for_it.max_by_key(arose)?;
        Some(LongestDelay {
            began: longest.moment.saturating_sub(longest.wait),
            ended: longest.moment,
            waiting: longest.place.row,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::{CallPlace, NoteKind};

    #[test]
    fn time_before_a_moment_counts_once() {
        let note = |moment, wait| TimelineNote {
            place: CallPlace { row: 0, block: 0, call: 0 },
            kind: NoteKind::Message,
            wait,
            partner: 1,
            moment,
        };
        let spans = Spans::of([note(40, 10), note(20, 10), note(45, 10)].iter());
        for (moment, before) in [(5, 0), (10, 0), (15, 5), (25, 10), (35, 15), (42, 22), (99, 25)] {
            assert_eq!(spans.before(moment), before, "{moment}");
        }
    }
}
