//! Where waits arose: a rank that is late because it waited itself hands the delay on.

use super::notes::TimelineNote;

/// Most rows through which a delay is followed.
const LONGEST_CHAIN: u32 = 32;

/// Most waits that are kept: of more, the older half is followed and forgotten.
const MOST_WAITS: usize = 2_000_000;

/// A time in which a row waited for another.
#[derive(Clone, Copy, Debug)]
struct RowWait {
    row: u32,
    from: u64,
    to: u64,
    partner: u32,
}

/// For each row the time for which others waited because of it: directly, or because the row for which
/// they waited waited itself at that moment. All of it adds up to the waits.
#[derive(Debug, Default)]
pub(super) struct Delays {
    waits: Vec<RowWait>,
    caused: Vec<u64>,
}

impl Delays {
    /// Adds a wait of one of `rows` rows.
    pub(super) fn add(&mut self, note: &TimelineNote, rows: usize) {
        self.caused.resize(rows, 0);
        let TimelineNote { place, wait, partner, moment, .. } = *note;
        self.waits.push(RowWait {
            row: place.row,
            from: moment.saturating_sub(wait),
            to: moment,
            partner,
        });
        if self.waits.len() > MOST_WAITS {
            let mut ends: Vec<u64> = self.waits.iter().map(|wait| wait.to).collect();
            let place = ends.len() / 2;
            let (_, middle, _) = ends.select_nth_unstable(place);
            self.follow_until(*middle);
        }
    }

    /// Follows the rest: the time of each row.
    pub(super) fn finish(&mut self) -> Vec<u64> {
        self.follow_until(u64::MAX);
        std::mem::take(&mut self.caused)
    }

    /// Follows the waits that ended until a moment, and forgets them.
    fn follow_until(&mut self, moment: u64) {
        self.waits.sort_unstable_by_key(|wait| (wait.row, wait.from));
        let rows: Vec<&[RowWait]> = (0..self.caused.len() as u32)
            .map(|row| {
                let first = self.waits.partition_point(|wait| wait.row < row);
                let last = self.waits.partition_point(|wait| wait.row <= row);
                self.waits.get(first..last).unwrap_or_default()
            })
            .collect();
        for wait in self.waits.iter().filter(|wait| wait.to <= moment) {
            let time = (wait.from, wait.to);
            follow(&rows, time, wait.partner, LONGEST_CHAIN, &mut self.caused);
        }
        self.waits.retain(|wait| wait.to > moment);
    }
}

/// Books a time in which somebody waited for a row. The waits of each row are in their order. Where clocks
/// disagree they may overlap: each moment is followed once, because otherwise the work would be multiplied
/// with each row of the chain.
fn follow(rows: &[&[RowWait]], (from, to): (u64, u64), row: u32, chain: u32, caused: &mut [u64]) {
    let mut rest = to - from;
    if chain > 0 {
        let own = rows.get(row as usize).copied().unwrap_or_default();
        let first = own.partition_point(|wait| wait.to <= from);
        let later = own.get(first..).unwrap_or_default().iter();
        let mut told = from;
        for wait in later.take_while(|wait| wait.from < to) {
            let part = (wait.from.max(told), wait.to.min(to));
            if part.0 < part.1 {
                told = part.1;
                rest -= part.1 - part.0;
                follow(rows, part, wait.partner, chain - 1, caused);
            }
        }
    }
    if let Some(sum) = caused.get_mut(row as usize) {
        *sum = sum.saturating_add(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits of two rows for each other that all overlap, as clocks that disagree make them: each moment is
    /// followed once, and all of it adds up.
    #[test]
    fn waits_that_overlap_are_followed_once() {
        let mut delays = Delays { waits: Vec::new(), caused: vec![0; 2] };
        let mut sum = 0;
        for at in 0..200 {
            for row in 0..2 {
                let (from, to) = (at, at + 100);
                delays.waits.push(RowWait { row, from, to, partner: 1 - row });
                sum += to - from;
            }
        }
        assert_eq!(delays.finish().iter().sum::<u64>(), sum);
    }
}
