//! Where waits arose: a rank that is late because it waited itself hands the delay on.
//!
//! Two rows met, and one comes later to the next meeting than the other, which waits: because it computed longer in
//! between, or because it waited itself. The wait is shared out among what it computed longer and its own waits, and what
//! falls to one of these is shared out in the same way. The idea is that of Böhme, Geimer, Wolf and Arnold, "Identifying
//! the root causes of wait states in large-scale parallel applications" (ICPP 2010). What both computed is nobody's
//! delay: of two ranks that compute alike, the one which comes late because of a third is not late itself. Nor is what
//! both know of the time of a third: who waits for a rank that came late because of a message of its own, or of one that
//! both waited for, waits for what came behind that message.

use std::collections::BTreeMap;

use super::joins::joins;
use super::notes::TimelineNote;
use super::spans::Spans;
use super::states::TimeClass;

/// From this share of all waits on the delays of a rank beside the one in which most arise are told.
pub const SECOND_RANK: f64 = 0.15;

/// Most waits of a row that are looked at for the last meeting of two rows.
const MOST_LOOKED_AT: usize = 64;

/// Most of these that are looked at for a third row for which both waited.
const MOST_THIRDS: usize = 8;

/// Most rows whose part in what is handed on to a wait is known: the others are taken for the row that waits there.
const MOST_ORIGINS: usize = 4;

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
        let mut handed_on: Vec<Vec<HandedOn>> = Vec::new();
        handed_on.resize_with(self.waits.len(), Vec::new);
        let (mut parts, mut since) = (Vec::new(), Vec::<(u64, HandedOn)>::new());
        for number in order {
            let wait = &self.waits[number];
            let mut costs = std::mem::take(&mut handed_on[number]);
            let Some(late) = rows.get(wait.partner as usize) else { continue };
            if !wait.is_within {
                let mut times = TimeByKind::default();
                if let Some(own) = times.get_mut(wait.kind as usize) {
                    *own = wait.to - wait.from;
                }
                add_cost(&mut costs, wait.row, wait.row, &times);
            }
            let waiting = &rows[wait.row as usize];
            let met = late.met_before(waiting, wait);
            let met_origin = |cost: &HandedOn| {
                let other = (cost.origin != wait.row).then(|| &rows[cost.origin as usize]);
                let met_other = other.and_then(|other| late.met(other, wait.to, wait.to));
                met_other.map_or(met, |later| later.max(met))
            };
            since.clear();
            since.extend(costs.into_iter().map(|cost| (met_origin(&cost), cost)));
            since.sort_unstable_by_key(|(met, cost)| (*met, cost.origin));
            // To rows that have met the late one at the same moment it comes late for the same reasons.
            for alike in since.chunk_by(|one, next| one.0 == next.0) {
                let Some((met, _)) = alike.first() else { continue };
                let all = late.reasons(waiting, wait, *met, &mut parts);
                for (_, cost) in alike {
                    let mut rest = cost.times;
                    for (other, part) in &parts {
                        let share =
                            |time: u64| u128::from(time) * u128::from(*part) / u128::from(all);
                        let times = cost.times.map(|time| share(time) as u64);
                        rest.iter_mut().zip(times).for_each(|(rest, time)| *rest -= time);
                        let row = self.waits[*other].row;
                        add_cost(&mut handed_on[*other], row, cost.origin, &times);
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
                parts.clear();
            }
        }
        self.waits.retain(|wait| wait.to > moment && !wait.is_join);
    }
}

/// What is handed on to a wait.
struct HandedOn {
    /// The row that waits in the end
    origin: u32,
    times: TimeByKind,
}

/// Adds what the row `origin` waits in the end because of a wait of `row` to the costs of that wait.
fn add_cost(costs: &mut Vec<HandedOn>, row: u32, origin: u32, times: &TimeByKind) {
    if times.iter().all(|time| *time == 0) {
        return;
    }
    let is_known = costs.len() < MOST_ORIGINS || costs.iter().any(|cost| cost.origin == origin);
    let origin = if is_known { origin } else { row };
    match costs.iter_mut().find(|cost| cost.origin == origin) {
        Some(cost) => cost.times.iter_mut().zip(times).for_each(|(sum, time)| *sum += time),
        None => costs.push(HandedOn { origin, times: *times }),
    }
}

/// The waits of a row in their order.
struct WaitsOfRow<'w> {
    row: u32,
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
        let spans = Spans::of(waits.iter().map(|wait| (wait.from, wait.to)));
        WaitsOfRow { row, first, waits, spans }
    }

    /// Why this row came late to a row that waited for it, since the two met: `parts` gets its own waits by their number
    /// among all, in ns, and the answer is their sum and how much longer this row computed since then, in ns.
    fn reasons(
        &self,
        waiting: &WaitsOfRow<'_>,
        wait: &RowWait,
        met: u64,
        parts: &mut Vec<(usize, u64)>,
    ) -> u64 {
        let computed = |row: &WaitsOfRow<'_>, until: u64| {
            until.saturating_sub(met).saturating_sub(row.spans.between(met, until))
        };
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

    /// When this row and one that waits for it met last before. Where that is too long ago, a moment since then, and the
    /// begin of the wait where nothing is known before.
    fn met_before(&self, waiting: &WaitsOfRow<'_>, wait: &RowWait) -> u64 {
        // Who joins a thread has met it when it began to wait.
        if wait.is_join {
            return wait.from;
        }
        let oldest = || waiting.before(wait.from).first().map(|oldest| oldest.to);
        let met = self.met(waiting, wait.to, wait.from + 1).or_else(oldest);
        // Where clocks disagree, ends of waits are not in the order of their begins.
        met.map_or(wait.from, |met| met.min(wait.from))
    }

    /// The last moment until which this row and another one have the same past: one waited for the other, or both
    /// for a third, which told them of itself until the earlier of these. Looked at are waits that ended before a moment,
    /// this row's and the other's.
    fn met(&self, other: &WaitsOfRow<'_>, own_end: u64, other_end: u64) -> Option<u64> {
        let (own, others) = (self.before(own_end), other.before(other_end));
        let by_own = own.iter().rev().find(|own| own.partner == other.row && own.to < other_end);
        let mut met = by_own.map(|own| own.to);
        for (looked_at, wait) in others.iter().rev().enumerate() {
            let is_later = |to: u64| met.is_none_or(|met| to > met);
            if !is_later(wait.to) {
                break;
            }
            if wait.partner == self.row {
                return Some(wait.to);
            }
            if looked_at < MOST_THIRDS {
                let mut own = own.iter().rev().take(MOST_THIRDS).take_while(|own| is_later(own.to));
                let third = own.find(|own| own.partner == wait.partner);
                met = met.max(third.map(|own| own.to.min(wait.to)));
            }
        }
        met
    }

    /// Some of the waits that ended before a moment: the last ones.
    fn before(&self, moment: u64) -> &[RowWait] {
        let end = self.waits.partition_point(|wait| wait.to < moment);
        &self.waits[end.saturating_sub(MOST_LOOKED_AT)..end]
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

    /// Waits as (row, from, to, for whom), and what begins in each row.
    fn begun(rows: usize, waits: &[(u32, u64, u64, u32)]) -> Vec<u64> {
        let mut delays = Delays::of((0..rows).collect());
        delays.waits.extend(waits.iter().map(|&(row, from, to, partner)| RowWait {
            row,
            from,
            to,
            partner,
            ..RowWait::default()
        }));
        delays.finish().0
    }

    /// Row 1 computes 300 and sends to 0, which computes 150 more and sends to 2; all meet at 450. Row 1 waits there for
    /// what row 0 computed, though that had waited for row 1 before. So does row 3, which had a message of row 1, too.
    #[test]
    fn a_row_does_not_wait_for_what_it_did_itself() {
        let step = |at: u64| {
            let ends = [(0, 50, 300, 1), (2, 50, 450, 0), (3, 50, 300, 1)];
            let meets = [(1, 300, 452, 2), (3, 300, 452, 2), (0, 450, 452, 2)];
            let waits = [ends, meets].concat();
            waits
                .into_iter()
                .map(move |(row, from, to, partner)| (row, at + from, at + to, partner))
        };
        let waits: Vec<_> = step(0).chain(step(452)).collect();
        let begun = begun(4, &waits);
        assert_eq!(begun[1], 2 * (250 + 250 + 250));
        // What row 2 needs to come to the meeting is its own: 2 of each wait there at most.
        assert!((2 * (150 + 150 + 150)..=2 * (152 + 152 + 152)).contains(&begun[0]), "{begun:?}");
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
