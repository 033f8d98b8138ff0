//! Utilisation: the PE-hours that runs used of those that were available, by period.
//!
//! A run is spread over the time it ran: from its latest end back over its wall clock time. So
//! the PE-hours of all periods together are those of every other report. Time is counted in
//! quarters of an hour of UTC, whose borders are those of every zone's days and hours; what a
//! run used of the first and the last one is exact to the µs. Local time comes in at the end.

mod bins;
mod calendar;
mod capacity;
mod report;
mod zone;

use rustc_hash::FxHashMap;
use topas_format::line::{Extras, Line};

use crate::field::Field;
use crate::question::{Fold, Question};
use crate::run::{Detail, Run};
use crate::share::{PeTime, Share};
use crate::when::LineClock;

pub use calendar::PeriodStep;
pub use capacity::Capacity;
pub use report::{
    MOST_PERIODS, UsedCell, UsedPeriod, UtilisationReport, UtilisationTooLong, ZoneFound,
};

use bins::{BinSums, QUARTER};

/// What is asked of a log to know its utilisation: the lines that another question wants, by
/// the clock of the line and by partition.
pub struct UtilisationQuestion<Q> {
    wanted: Q,
    partition: Field,
}

impl<Q: Question> UtilisationQuestion<Q> {
    /// Of the lines that a question wants.
    pub fn new(wanted: Q) -> Self {
        let partition = Field::named("part").expect("lines have partitions");
        UtilisationQuestion { wanted, partition }
    }
}

impl<Q: Question> Question for UtilisationQuestion<Q> {
    fn detail(&self) -> Detail {
        self.wanted.detail()
    }

    #[inline]
    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.wanted.wants(line, extras)
    }

    #[inline]
    fn wants_run(&self, run: &Run<'_>) -> bool {
        self.wanted.wants_run(run)
    }

    fn sets_aside(&self, run: &Run<'_>) -> bool {
        self.wanted.sets_aside(run)
    }

    /// What the other question says, the clock, then the name of the partition, which is empty
    /// where the line has none.
    #[inline]
    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        self.wanted.key(line, extras, key);
        key.push(LineClock::of_line(line, extras).byte());
        self.partition.value(line, extras).write_key(key);
    }
}

/// What the runs of one partition used.
#[derive(Clone, Debug, Default)]
struct PartitionUse {
    /// Of runs whose lines have `t=`, by quarters of an hour of UTC
    utc: BinSums,
    /// Of all others, by those of local time
    local: BinSums,
}

/// Adds up what runs used; [`Utilisation::report`] makes periods of it.
#[derive(Clone, Debug, Default)]
pub struct Utilisation {
    /// Bytes of the other question at the beginning of each key
    others: usize,
    /// By name, which is empty for runs without a partition
    partitions: Vec<(Box<[u8]>, PartitionUse)>,
    /// Of each group of runs: the place of its partition, and the clock
    groups: Vec<Option<(usize, LineClock)>>,
    /// Runs by the quarter of an hour in which they ended and the offset of their local time
    offsets: FxHashMap<(u32, i8), u64>,
    /// First and last end in s, of UTC and of local time
    ends: [Option<(i64, i64)>; 2],
    /// All runs that are counted
    total: Share,
    /// Runs whose times are impossible, which are not counted
    impossible: Share,
}

impl Utilisation {
    /// No runs yet. The other question appends so many bytes to each key.
    pub fn new(others: usize) -> Self {
        Utilisation { others, ..Utilisation::default() }
    }

    /// Whether there is no run that has a time.
    pub fn is_empty(&self) -> bool {
        self.total.runs == 0
    }

    fn group(&mut self, run: &Run<'_>) -> (usize, LineClock) {
        let at = run.group as usize;
        if let Some(Some(known)) = self.groups.get(at) {
            return *known;
        }
        let key = run.key.get(self.others..).unwrap_or_default();
        let (clock, name) = key.split_first().map_or((255, key), |(clock, name)| (*clock, name));
        let found = (self.partition(name), LineClock::of_byte(clock));
        if self.groups.len() <= at {
            self.groups.resize(at + 1, None);
        }
        self.groups[at] = Some(found);
        found
    }

    fn partition(&mut self, name: &[u8]) -> usize {
        let known = self.partitions.iter().position(|(known, _)| **known == *name);
        known.unwrap_or_else(|| {
            self.partitions.push((name.into(), PartitionUse::default()));
            self.partitions.len() - 1
        })
    }
}

impl Fold for Utilisation {
    fn add(&mut self, run: &Run<'_>) {
        let begin = run.end.saturating_sub_unsigned(run.wall.0);
        if run.odd.span > 0 || begin < 0 {
            self.impossible.add(run.pe_micros());
            return;
        }
        self.total.add(run.pe_micros());
        let (partition, clock) = self.group(run);
        let (used, ends) = match clock {
            LineClock::Local => (&mut self.partitions[partition].1.local, &mut self.ends[1]),
            _ => (&mut self.partitions[partition].1.utc, &mut self.ends[0]),
        };
        used.add(begin as u64, run.end as u64, run.npes);
        let end = run.end / 1_000_000;
        *ends = Some(ends.map_or((end, end), |(a, b)| (a.min(end), b.max(end))));
        if let LineClock::Ahead(quarters) = clock {
            let bin = (run.end as u64 / QUARTER) as u32;
            *self.offsets.entry((bin, quarters)).or_default() += 1;
        }
    }

    fn merge(&mut self, other: Self) {
        for (name, used) in other.partitions {
            let at = self.partition(&name);
            self.partitions[at].1.utc.merge(used.utc);
            self.partitions[at].1.local.merge(used.local);
        }
        for (key, runs) in other.offsets {
            *self.offsets.entry(key).or_default() += runs;
        }
        for (own, other) in self.ends.iter_mut().zip(other.ends) {
            *own = match (*own, other) {
                (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                (ends, None) | (None, ends) => ends,
            };
        }
        self.total = self.total.plus(other.total);
        self.impossible = self.impossible.plus(other.impossible);
    }
}

/// A sum of PE-time, in PE x µs.
pub(crate) fn sum(times: impl IntoIterator<Item = PeTime>) -> PeTime {
    PeTime(times.into_iter().map(|time| time.0).sum())
}
