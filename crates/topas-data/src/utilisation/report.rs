//! Periods with what was used and what was available in each.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use topas_format::civil::Date;

use super::calendar::{PeriodStep, Span, spans, weekday};
use super::capacity::Capacity;
use super::zone::{DAY, Zone};
use super::{QUARTER, Utilisation, sum};
use crate::field::civil_day;
use crate::period::Period;
use crate::share::{PeTime, Share};

/// Most periods of a report: eleven years of hours.
pub const MOST_PERIODS: usize = 100_000;

/// What was used of what was available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedCell {
    /// PEs x time that runs used
    pub used: PeTime,
    /// PEs x time that there were; None if the capacity of a part of the period is not known
    pub available: Option<PeTime>,
}

/// A period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedPeriod {
    /// `2026-11-20 08:00`, `2026-11-20`, `2026-W47`, `2026-11`, `Fri 08:00`
    pub name: String,
    /// The day it begins, local time
    pub day: Date,
    /// The day of the week it begins on, 0 is Monday
    pub weekday: u8,
    /// The hour of the day, if it is an hour
    pub hour: Option<u8>,
    /// When it begins, in s since 1970-01-01 00:00 UTC; of hours of the week the first of its kind
    pub begin: i64,
    /// Its length in s; of hours of the week that of all of its kind
    pub seconds: u64,
    /// Local time minus UTC where it begins, in s
    pub ahead: i64,
    /// Whether the log begins or ends in it, so that it was used more than is known
    pub partial: bool,
    /// The whole machine
    pub all: UsedCell,
    /// Of each of [`UtilisationReport::partitions`]
    pub partitions: Vec<UsedCell>,
}

/// What zone the periods are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneFound {
    /// Whether it is the zone of this machine
    pub own: bool,
    /// Runs with a local time that is that of the zone
    pub agreed: u64,
    /// Runs with `t=` and a local time
    pub of: u64,
    /// Smallest and largest of local time minus UTC in the periods, in s
    pub ahead: (i64, i64),
}

/// The utilisation of a machine.
#[derive(Clone, Debug)]
pub struct UtilisationReport {
    /// What the periods are
    pub step: PeriodStep,
    /// Every period from the first to the last, also those in which nothing was used
    pub periods: Vec<UsedPeriod>,
    /// Days on which the first and the last period begin; of hours of the week those of all hours
    pub days: Option<(Date, Date)>,
    /// Places of the periods that lists show, in their order: all, unless [`UtilisationReport::sort`]
    /// was called
    pub rows: Vec<usize>,
    /// Names of partitions, those with the most PE-time first; an empty one has the runs whose
    /// lines name none
    pub partitions: Vec<Box<[u8]>>,
    /// The sums over all periods
    pub all: UsedCell,
    /// The sums of each partition
    pub sums: Vec<UsedCell>,
    /// Runs of the log, also those outside of the periods
    pub runs: Share,
    /// Runs with impossible times, which are not in `runs`
    pub impossible: Share,
    /// Used outside of the days that were asked for
    pub outside: PeTime,
    /// Local time
    pub zone: ZoneFound,
    /// Whether any capacity is known
    pub has_capacity: bool,
    /// Whether a capacity of the whole machine was given; else it is the sum over partitions
    pub machine_given: bool,
}

/// There are more periods than [`MOST_PERIODS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtilisationTooLong {
    /// What the periods would be
    pub step: PeriodStep,
    /// Days of the first and the last of them
    pub days: (Date, Date),
}

impl fmt::Display for UtilisationTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let day = |day: Date| format!("{:04}-{:02}-{:02}", day.year, day.month, day.day);
        let (first, last) = (day(self.days.0), day(self.days.1));
        let step = self.step.name();
        write!(f, "there are more than {MOST_PERIODS} {step}s from {first} to {last}")
    }
}

impl std::error::Error for UtilisationTooLong {}

impl Utilisation {
    /// Makes periods of what was added up. `days` limits the periods, not the runs: of a run
    /// that began before them, the part within them is counted. `rule` is the rule of the zone
    /// of this machine (the last line of its TZif file). `is_whole` says that all runs of the
    /// log were added, so that periods in which the log begins or ends can be told.
    ///
    /// # Errors
    ///
    /// [`UtilisationTooLong`] if there are too many periods.
    pub fn report(
        self,
        step: PeriodStep,
        days: Period,
        capacity: &Capacity,
        rule: &[u8],
        is_whole: bool,
    ) -> Result<UtilisationReport, UtilisationTooLong> {
        let mut zone = Zone::choose(rule, &self.offsets);
        let (first, last) = self.bounds(days, &mut zone);
        let is_wanted = |(first, last): &(i64, i64)| first <= last && !self.is_empty();
        let spans = match first.zip(last).filter(is_wanted) {
            None => Vec::new(),
            Some((first, last)) => {
                let day = |bin: i64| civil_day(bin.div_euclid(DAY));
                let days = (day(first), day(last));
                // Of hours of the week only 168 are shown.
                let most = MOST_PERIODS * if step == PeriodStep::HourOfWeek { 10 } else { 1 };
                spans(&mut zone, step, first, last, most)
                    .ok_or(UtilisationTooLong { step, days })?
            }
        };
        let mut names: Vec<Box<[u8]>> =
            self.partitions.iter().map(|(name, _)| name.clone()).collect();
        for name in capacity.partitions() {
            if !names.iter().any(|known| **known == *name) {
                names.push(name.into());
            }
        }
        let mut used = vec![vec![0u128; names.len()]; spans.len()];
        let mut outside = 0;
        for (at, (_, of)) in self.partitions.iter().enumerate() {
            let mut add = |bin: i64, micros: u128| {
                let place = spans.partition_point(|span| span.end <= bin);
                match spans.get(place).filter(|span| span.begin <= bin) {
                    Some(_) => used[place][at] += micros,
                    None => outside += micros,
                }
            };
            of.utc.each(|bin, micros| add(bin.into(), micros));
            of.local.each(|bin, micros| add(zone.utc(bin.into()), micros));
        }
        let log = is_whole.then(|| self.log_bounds(&mut zone)).flatten();
        let mut order: Vec<usize> = (0..names.len()).collect();
        let sum_of = |at: usize| used.iter().map(|cells| cells[at]).sum::<u128>();
        order.sort_by_cached_key(|&at| (std::cmp::Reverse(sum_of(at)), names[at].clone()));
        let mut found = ZoneFound {
            own: zone.own,
            agreed: zone.agreed.0,
            of: zone.agreed.1,
            ahead: (i64::MAX, i64::MIN),
        };
        let periods: Vec<UsedPeriod> = spans
            .iter()
            .zip(&used)
            .map(|(span, cells)| {
                let ahead = span.ahead * 900;
                found.ahead = (found.ahead.0.min(ahead), found.ahead.1.max(ahead));
                let available =
                    |of: &dyn Fn(i64) -> Option<u64>| available(&mut zone.clone(), span, of);
                let partitions = order.iter().map(|&at| UsedCell {
                    used: PeTime(cells[at]),
                    available: available(&|day| capacity.of_partition(&names[at], day)),
                });
                UsedPeriod {
                    name: span.name(step),
                    day: civil_day(span.day),
                    weekday: weekday(span.day) as u8,
                    hour: span.hour,
                    begin: span.begin * 900,
                    seconds: (span.end - span.begin) as u64 * 900,
                    ahead,
                    partial: log.is_some_and(|(first, last)| {
                        span.begin * 900 < first || span.end * 900 > last
                    }),
                    partitions: partitions.collect(),
                    all: UsedCell {
                        used: PeTime(cells.iter().sum()),
                        available: available(&|day| capacity.of_machine(day)),
                    },
                }
            })
            .collect();
        if periods.is_empty() {
            found.ahead = (0, 0);
        }
        let days = periods.first().zip(periods.last()).map(|(first, last)| (first.day, last.day));
        let periods = match step {
            PeriodStep::HourOfWeek => by_hour_of_week(periods),
            _ => periods,
        };
        let place_sum = |at: usize| total(periods.iter().map(|period| period.partitions[at]));
        Ok(UtilisationReport {
            step,
            all: total(periods.iter().map(|period| period.all)),
            sums: (0..order.len()).map(place_sum).collect(),
            partitions: order.into_iter().map(|at| names[at].clone()).collect(),
            rows: (0..periods.len()).collect(),
            periods,
            days,
            runs: self.total,
            impossible: self.impossible,
            outside: PeTime(outside),
            zone: found,
            has_capacity: !capacity.is_empty(),
            machine_given: capacity.is_of_machine(),
        })
    }

    /// The first and the last quarter of an hour of the report.
    fn bounds(&self, days: Period, zone: &mut Zone) -> (Option<i64>, Option<i64>) {
        let mut bounds: Option<(i64, i64)> = None;
        for (_, of) in &self.partitions {
            let utc = of.utc.bounds().map(|(a, b)| (i64::from(a), i64::from(b)));
            let local = of.local.bounds().map(|(a, b)| (zone.utc(a.into()), zone.utc(b.into())));
            for (first, last) in utc.into_iter().chain(local) {
                bounds = Some(bounds.map_or((first, last), |(a, b)| (a.min(first), b.max(last))));
            }
        }
        let since = days.since.map(|day| zone.begin_of(day.days()));
        let until = days.until.map(|day| zone.begin_of(day.days() + 1) - 1);
        (since.or(bounds.map(|(first, _)| first)), until.or(bounds.map(|(_, last)| last)))
    }

    /// When the first and the last line of the log were written, in s.
    fn log_bounds(&self, zone: &mut Zone) -> Option<(i64, i64)> {
        let local = self.ends[1].map(|ends| {
            let utc =
                |s: i64, zone: &mut Zone| zone.utc(s.div_euclid(900)) * 900 + s.rem_euclid(900);
            (utc(ends.0, zone), utc(ends.1, zone))
        });
        let both = self.ends[0].into_iter().chain(local);
        both.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }
}

impl UtilisationReport {
    /// Sorts the periods that lists show, the most used first: by the share of what was available
    /// if `by_share`, else by the PEs that were busy in the mean, so that long months are not before
    /// short ones. `reverse` turns this round. Periods without a share stay last, and of equal ones
    /// the earlier comes first. Only the first `top` of them are left.
    pub fn sort(&mut self, by_share: bool, reverse: bool, top: usize) {
        let value = |at: usize| {
            let UsedPeriod { all, seconds, .. } = &self.periods[at];
            let of = if by_share { all.available?.0 } else { u128::from(*seconds) };
            (of > 0).then(|| all.used.0 as f64 / of as f64)
        };
        self.rows = (0..self.periods.len()).collect();
        self.rows.sort_by(|&one, &other| match (value(one), value(other)) {
            (Some(one), Some(other)) if reverse => one.total_cmp(&other),
            (Some(one), Some(other)) => other.total_cmp(&one),
            (one, other) => other.is_some().cmp(&one.is_some()),
        });
        self.rows.truncate(top);
    }

    /// The periods that lists show.
    pub fn shown(&self) -> impl Iterator<Item = &UsedPeriod> + Clone {
        self.rows.iter().filter_map(|&at| self.periods.get(at))
    }
}

/// The hours of a week, from Monday on, each with the sums of all hours of its kind.
fn by_hour_of_week(hours: Vec<UsedPeriod>) -> Vec<UsedPeriod> {
    let mut week: BTreeMap<(u8, Option<u8>), UsedPeriod> = BTreeMap::new();
    for hour in hours {
        match week.entry((hour.weekday, hour.hour)) {
            Entry::Vacant(entry) => {
                entry.insert(hour);
            }
            Entry::Occupied(mut entry) => {
                let sum = entry.get_mut();
                sum.seconds += hour.seconds;
                sum.partial |= hour.partial;
                sum.all = total([sum.all, hour.all].into_iter());
                for (sum, cell) in sum.partitions.iter_mut().zip(hour.partitions) {
                    *sum = total([*sum, cell].into_iter());
                }
            }
        }
    }
    week.into_values().collect()
}

/// PE-time available in a period.
fn available(zone: &mut Zone, span: &Span, pes: &dyn Fn(i64) -> Option<u64>) -> Option<PeTime> {
    let mut sum = 0u128;
    let mut begin = span.begin;
    while begin < span.end {
        let day = (begin + zone.offset(begin)).div_euclid(DAY);
        let end = zone.begin_of(day + 1).min(span.end);
        sum += u128::from(pes(day)?) * (end - begin) as u128 * u128::from(QUARTER);
        begin = end;
    }
    Some(PeTime(sum))
}

/// The sum of cells; available is known if it is known of all of them.
fn total(cells: impl Iterator<Item = UsedCell> + Clone) -> UsedCell {
    UsedCell {
        used: sum(cells.clone().map(|cell| cell.used)),
        available: cells.map(|cell| cell.available).collect::<Option<Vec<_>>>().map(sum),
    }
}
