//! Where waits arose: a rank that is late because it waited itself hands the delay on.
//!
//! Two rows met, and one comes later to the next meeting than the other, which waits: because it computed longer in
//! between, or because it waited itself. The wait is shared out among what it computed longer and its own waits, and what
//! falls to one of these is shared out in the same way. The idea is that of Böhme, Geimer, Wolf and Arnold, "Identifying
//! the root causes of wait states in large-scale parallel applications" (ICPP 2010). What both computed is nobody's
//! delay: of two ranks that compute alike, the one which comes late because of a third is not late itself.

use std::collections::BTreeMap;

use super::joins::joins;
use super::notes::TimelineNote;
use super::spans::Spans;
use super::states::TimeClass;

/// From this share of all waits on the delays of a rank beside the one in which most arise are told.
pub const SECOND_RANK: f64 = 0.15;

/// Most waits of a row that are looked at for the last meeting of two rows.
const MOST_LOOKED_AT: usize = 64;

/// Most waits to which a delay is handed on: the last ones before the meeting.
const MOST_PARTS: usize = 1024;

/// Most waits that are kept: of more, the older half is followed and forgotten.
const MOST_WAITS: usize = 2_000_000;

/// A time in which a row waited for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowWait {
    pub(super) row: u32,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) partner: u32,
    /// The number of the call path of the row that waited
    pub(super) path: u32,
    /// The kind of wait: its place in [`WAIT_KINDS`]
    pub(super) kind: u8,
    /// Whether both are threads of one process: that costs nobody else anything, but hands delays on
    pub(super) is_within: bool,
    /// Whether the row waited outside of MPI for one that was in it, as who joins a thread does
    pub(super) is_join: bool,
}

/// The kinds of wait, in the order in which profiles tell them.
const WAIT_KINDS: [TimeClass; 3] =
    [TimeClass::LateSender, TimeClass::LateReceiver, TimeClass::CollectiveWait];

/// Time by kind of wait, in ns.
pub(crate) type TimeByKind = [u64; WAIT_KINDS.len()];

/// Where the waits of others for a row begin: at which calls others waited for it while it computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DelayPlace {
    /// The row that was late
    pub(crate) late: u32,
    /// A row that waited for it
    pub(crate) waiting: u32,
    /// The number of the call path in the process of that row; 0 if it is not known
    pub(crate) path: u32,
    /// The kind of wait there, by its place among the kinds
    pub(crate) kind: u8,
}

/// For each row the time for which others waited because of it: directly, or because the row for which
/// they waited came late because it waited itself. All of it adds up to the waits for other processes.
#[derive(Debug, Default)]
pub(super) struct Delays {
    waits: Vec<RowWait>,
    /// The process of each row
    processes: Vec<usize>,
    caused: Vec<u64>,
    /// The same by place, and by the kind of the waits that begin there: those at the place, or others to which the delay
    /// was handed on
    places: BTreeMap<DelayPlace, TimeByKind>,
}

impl Delays {
    /// Of rows of these processes.
    pub(super) fn of(processes: Vec<usize>) -> Delays {
        Delays { caused: vec![0; processes.len()], processes, ..Delays::default() }
    }

    /// Adds a wait, which may be within a process.
    pub(super) fn add(&mut self, note: &TimelineNote, is_within: bool) {
        let TimelineNote { place, path, kind, wait, partner, moment } = *note;
        let kind = WAIT_KINDS.iter().position(|class| *class == kind.class()).unwrap_or(0) as u8;
        self.waits.push(RowWait {
            row: place.row,
            from: moment.saturating_sub(wait),
            to: moment,
            partner,
            path,
            kind,
            is_within,
            is_join: false,
        });
        if self.waits.len() > MOST_WAITS {
            let mut ends: Vec<u64> = self.waits.iter().map(|wait| wait.to).collect();
            let place = ends.len() / 2;
            let (_, middle, _) = ends.select_nth_unstable(place);
            self.follow_until(*middle);
        }
    }

    /// Follows the rest: the time of each row, and where it begins.
    pub(super) fn finish(&mut self) -> (Vec<u64>, BTreeMap<DelayPlace, TimeByKind>) {
        self.follow_until(u64::MAX);
        (std::mem::take(&mut self.caused), std::mem::take(&mut self.places))
    }

    /// Shares out the waits that ended until a moment, the last one first, and forgets them.
    fn follow_until(&mut self, moment: u64) {
        let in_order = |wait: &RowWait| (wait.row, wait.from, wait.to);
        self.waits.sort_unstable_by_key(in_order);
        let joins = joins(&self.waits, &self.processes);
        if !joins.is_empty() {
            self.waits.extend(joins);
            self.waits.sort_unstable_by_key(in_order);
        }
        let mut order: Vec<usize> =
            (0..self.waits.len()).filter(|number| self.waits[*number].to <= moment).collect();
        order.sort_unstable_by_key(|number| std::cmp::Reverse((self.waits[*number].to, *number)));
        let rows: Vec<WaitsOfRow<'_>> =
            (0..self.caused.len() as u32).map(|row| WaitsOfRow::of(row, &self.waits)).collect();
        let cost = |wait: &RowWait| {
            let mut cost = TimeByKind::default();
            if let Some(own) = cost.get_mut(wait.kind as usize).filter(|_| !wait.is_within) {
                *own = wait.to - wait.from;
            }
            cost
        };
        let mut costs: Vec<TimeByKind> = self.waits.iter().map(cost).collect();
        let mut parts = Vec::new();
        for number in order {
            let wait = &self.waits[number];
            let Some(late) = rows.get(wait.partner as usize) else { continue };
            let mut rest = costs[number];
            let whole = rest;
            let all = late.reasons(&rows[wait.row as usize], wait, &mut parts);
            for (other, part) in parts.drain(..) {
                for ((to, rest), whole) in costs[other].iter_mut().zip(&mut rest).zip(whole) {
                    let handed_on = (u128::from(whole) * u128::from(part) / u128::from(all)) as u64;
                    *to += handed_on;
                    *rest -= handed_on;
                }
            }
            let caused = rest.iter().sum::<u64>();
            if caused > 0 {
                self.caused[wait.partner as usize] += caused;
                let RowWait { row, partner, path, kind, .. } = *wait;
                let place = DelayPlace { late: partner, waiting: row, path, kind };
                let sums = self.places.entry(place).or_default();
                sums.iter_mut().zip(rest).for_each(|(sum, rest)| *sum += rest);
            }
        }
        self.waits.retain(|wait| wait.to > moment && !wait.is_join);
    }
}

/// The waits of a row in their order.
struct WaitsOfRow<'w> {
    /// The number of the first one among all waits
    first: usize,
    waits: &'w [RowWait],
    spans: Spans,
}

impl<'w> WaitsOfRow<'w> {
    fn of(row: u32, all: &'w [RowWait]) -> WaitsOfRow<'w> {
        let first = all.partition_point(|wait| wait.row < row);
        let end = all.partition_point(|wait| wait.row <= row);
        let waits = &all[first..end];
        WaitsOfRow { first, waits, spans: Spans::of(waits.iter().map(|wait| (wait.from, wait.to))) }
    }

    /// Why this row came late to a row that waited for it: `parts` gets its own waits since the two met, by their number
    /// among all, in ns, and the answer is their sum and how much longer this row computed since then, in ns.
    fn reasons(
        &self,
        waiting: &WaitsOfRow<'_>,
        wait: &RowWait,
        parts: &mut Vec<(usize, u64)>,
    ) -> u64 {
        // Who joins a thread has met it when it began to wait.
        let met = if wait.is_join { wait.from } else { self.met(waiting, wait) };
        let computed =
            |row: &WaitsOfRow<'_>, until: u64| (until - met) - row.spans.between(met, until);
        let mut all = computed(self, wait.to).saturating_sub(computed(waiting, wait.from));
        for (number, part) in self.spans.parts(met, wait.to).take(MOST_PARTS) {
            // Where clocks disagree, a wait may seem to end later than another one that it made.
            if part > 0 && self.waits[number].to < wait.to {
                parts.push((self.first + number, part));
                all += part;
            }
        }
        all
    }

    /// When this row and one that waits for it met last before: one waited for the other, or both for a third in the same
    /// call. Where that is too long ago, a moment since then, and the begin of the wait where nothing is known before.
    fn met(&self, waiting: &WaitsOfRow<'_>, wait: &RowWait) -> u64 {
        let looked_at = waiting.before(wait.from);
        let by_waiting = looked_at.iter().rev().find(|other| {
            other.partner == wait.partner || self.waits_until(other.to, other.partner)
        });
        let by_this = self.before(wait.from).iter().rev().find(|own| own.partner == wait.row);
        let met = by_waiting.into_iter().chain(by_this).map(|met| met.to).max();
        let met = met.or_else(|| looked_at.first().map(|oldest| oldest.to));
        // Where clocks disagree, ends of waits are not in the order of their begins.
        met.map_or(wait.from, |met| met.min(wait.from))
    }

    /// Some of the waits that ended until a moment: the last ones.
    fn before(&self, moment: u64) -> &[RowWait] {
        let end = self.waits.partition_point(|wait| wait.to <= moment);
        &self.waits[end.saturating_sub(MOST_LOOKED_AT)..end]
    }

    /// Whether this row waited for a row until that came.
    fn waits_until(&self, came: u64, partner: u32) -> bool {
        let place = self.waits.partition_point(|wait| wait.to < came);
        self.waits.get(place).is_some_and(|wait| (wait.to, wait.partner) == (came, partner))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Waits of two rows for each other that all overlap, as clocks that disagree make them: each moment is
    /// followed once, and all of it adds up.
    #[test]
    fn waits_that_overlap_are_followed_once() {
        let mut delays = Delays::of(vec![0, 1]);
        let mut sum = 0;
        for at in 0..200 {
            for row in 0..2 {
                let (from, to) = (at, at + 100);
                let partner = 1 - row;
                delays.waits.push(RowWait { row, from, to, partner, ..RowWait::default() });
                sum += to - from;
            }
        }
        assert_eq!(delays.finish().0.iter().sum::<u64>(), sum);
    }

    proptest! {
        /// Whatever rows wait for each other, as logs of any clocks may tell: all of it adds up.
        #[test]
        fn delays_add_up_to_the_waits(
            waits in prop::collection::vec((0..5u32, 0..200u64, 0..100u64, 0..5u32, 0..3u8), 0..60)
        ) {
            // Rows 3 and 4 are threads of one process.
            let wait = |(row, from, length, partner, kind)| {
                let is_within = row >= 3 && partner >= 3;
                let (to, path) = (from + length, row);
                RowWait { row, from, to, partner, path, kind, is_within, is_join: false }
            };
            let waits: Vec<RowWait> = waits.into_iter().map(wait).collect();
            let mut sums = TimeByKind::default();
            for wait in waits.iter().filter(|wait| !wait.is_within) {
                sums[wait.kind as usize] += wait.to - wait.from;
            }
            let mut delays = Delays { waits, ..Delays::of(vec![0, 1, 2, 3, 3]) };
            delays.follow_until(150);
            let (caused, places) = delays.finish();
            for (kind, sum) in sums.into_iter().enumerate() {
                prop_assert_eq!(places.values().map(|of| of[kind]).sum::<u64>(), sum);
            }
            for (late, caused) in caused.into_iter().enumerate() {
                let of = places.iter().filter(|(place, _)| place.late as usize == late);
                let began = of.map(|(_, times)| times.iter().sum::<u64>()).sum::<u64>();
                prop_assert_eq!(began, caused);
            }
        }
    }
}
