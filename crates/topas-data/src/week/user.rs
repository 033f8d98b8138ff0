//! A user's week.

use rustc_hash::FxHashMap;
use topas_format::civil::Date;

use super::WeekRunValues;
use crate::measure::{Measure, Sample};
use crate::one_run::RunHistory;
use crate::pes::quantile;
use crate::report::FailureRate;
use crate::run_list::Place;
use crate::share::{PeTime, Share};

/// Who a user is: by the id that lines tell, else by the name in them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WeekUserId {
    /// Numeric user id
    Uid(u64),
    /// A name, of lines that tell no id
    Name(Box<[u8]>),
}

/// Runs added up.
#[derive(Clone, Debug, Default)]
pub struct WeekSums {
    /// Runs and their PE-time
    pub share: Share,
    /// Samples of the measures of the plan
    pub samples: [Sample; 2],
    /// How they ended
    pub ended: FailureRate,
}

impl WeekSums {
    fn add(&mut self, of: &WeekRunValues<'_, '_>) {
        self.share.add(of.run.pe_micros());
        let values = of.plan.measures.iter().zip(of.values);
        for (sample, (measure, value)) in self.samples.iter_mut().zip(values) {
            match of.accelerated {
                true => sample.accelerated.add(of.run.pe_micros()),
                false => sample.add(measure, of.run, value, false),
            }
        }
        match of.ended {
            Some(well) => {
                self.ended.known += 1;
                self.ended.failed += u64::from(!well);
            }
            None => self.ended.unknown += 1,
        }
    }

    fn merge(&mut self, other: WeekSums) {
        self.share = self.share.plus(other.share);
        for (sample, other) in self.samples.iter_mut().zip(other.samples) {
            sample.merge(other);
        }
        self.ended.known += other.ended.known;
        self.ended.failed += other.ended.failed;
        self.ended.unknown += other.ended.unknown;
    }

    /// The mean of a measure of the plan, by its place there; None if no run has a value.
    pub fn mean(&self, measures: &[&'static Measure; 2], place: usize) -> Option<f64> {
        let (sample, measure) = (self.samples.get(place)?, measures.get(place)?);
        sample.mean(measure).map(|mean| mean.value)
    }
}

/// What tells a run from all others, for a second reading of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WeekRunName(pub(super) Place);

/// A run as the history of a program keeps it.
#[derive(Clone, Copy, Debug)]
struct PastRun {
    place: Place,
    end: i64,
    date: Date,
    wall: u64,
    pe_micros: u128,
    /// NaN if there is none
    rate: f64,
    accelerated: bool,
    ended: Option<bool>,
    in_week: bool,
}

/// A program of a user.
#[derive(Clone, Debug, Default)]
pub struct WeekProgram {
    /// Runs of the week
    pub now: WeekSums,
    /// Runs before
    pub before: WeekSums,
    /// Smallest and largest number of PEs in the week
    pub pes: Option<(u32, u32)>,
    /// PE-time of the week by class of comparable runs
    pub classes: FxHashMap<Box<[u8]>, PeTime>,
    /// All runs by number of PEs
    runs: FxHashMap<u32, Vec<PastRun>>,
}

impl WeekProgram {
    /// The class with most of its PE-time.
    pub fn main_class(&self) -> Option<&[u8]> {
        let most =
            self.classes.iter().max_by_key(|(name, time)| (**time, std::cmp::Reverse(*name)));
        most.map(|(name, _)| &**name)
    }

    /// The runs of the week of which something may be said: the one with the most PE-time, and the
    /// latest that failed.
    pub fn notable(&self) -> Vec<WeekRunName> {
        let week = || self.runs.values().flatten().filter(|run| run.in_week);
        let order = |run: &&PastRun| (run.end, run.place.launch);
        let longest = week().max_by_key(|run| (run.pe_micros, order(run)));
        let failed = week().filter(|run| run.ended == Some(false)).max_by_key(order);
        let mut names: Vec<WeekRunName> = Vec::new();
        for run in [failed, longest].into_iter().flatten() {
            if !names.contains(&WeekRunName(run.place)) {
                names.push(WeekRunName(run.place));
            }
        }
        names
    }

    /// The runs before one of this program with as many PEs, in this time.
    pub fn history(&self, run: WeekRunName, npes: u32) -> RunHistory {
        let mut history = RunHistory::default();
        let Some(all) = self.runs.get(&npes) else { return history };
        let Some(own) = all.iter().find(|past| past.place == run.0) else { return history };
        for past in all.iter().filter(|past| past.end < own.end) {
            if past.ended == Some(false) {
                history.failed += 1;
                continue;
            }
            history.runs += 1;
            history.accelerated += u64::from(past.accelerated);
            history.since = Some(history.since.map_or(past.date, |since| since.min(past.date)));
            history.walls.push(past.wall);
            if !past.rate.is_nan() {
                history.rates.push(past.rate);
            }
        }
        history.walls.sort_unstable();
        history.rates.sort_unstable_by(f64::total_cmp);
        history
    }

    fn merge(&mut self, other: WeekProgram) {
        self.now.merge(other.now);
        self.before.merge(other.before);
        self.pes = match (self.pes, other.pes) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (pes, None) | (None, pes) => pes,
        };
        for (class, time) in other.classes {
            self.classes.entry(class).or_default().0 += time.0;
        }
        for (npes, runs) in other.runs {
            self.runs.entry(npes).or_default().extend(runs);
        }
    }
}

/// Comparable runs of a user in the week.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassRuns {
    time: PeTime,
    /// By the places of the measures of the plan, and [`super::MPI_SHARE`]
    pub(super) values: [Vec<f64>; 3],
}

/// A user's week.
#[derive(Clone, Debug, Default)]
pub struct WeekUser {
    /// The name in the lines; of several the first
    pub name: Box<[u8]>,
    /// Runs of the week
    pub now: WeekSums,
    /// Runs before
    pub before: WeekSums,
    /// Programs by the names of their executables
    pub programs: FxHashMap<Box<[u8]>, WeekProgram>,
    pub(super) classes: FxHashMap<Box<[u8]>, ClassRuns>,
}

impl WeekUser {
    pub(super) fn see_name(&mut self, name: &[u8]) {
        // Whatever the order of lines, the same name.
        if !name.is_empty() && (self.name.is_empty() || *name < *self.name) {
            self.name = name.into();
        }
    }

    pub(super) fn add(
        &mut self,
        of: &WeekRunValues<'_, '_>,
        in_week: bool,
        exe: &[u8],
        class: &[u8],
    ) {
        let run = of.run;
        let rate = of.values[0].ratio();
        let program = match self.programs.get_mut(exe) {
            Some(program) => program,
            None => self.programs.entry(exe.into()).or_default(),
        };
        program.runs.entry(run.npes).or_default().push(PastRun {
            place: Place::new(run),
            end: run.end,
            date: run.date,
            wall: run.wall.0,
            pe_micros: run.pe_micros(),
            rate: rate.unwrap_or(f64::NAN),
            accelerated: of.accelerated,
            ended: of.ended,
            in_week,
        });
        if !in_week {
            self.before.add(of);
            program.before.add(of);
            return;
        }
        self.now.add(of);
        program.now.add(of);
        program.pes = Some(program.pes.map_or((run.npes, run.npes), |(least, most)| {
            (least.min(run.npes), most.max(run.npes))
        }));
        program.classes.entry(class.into()).or_default().0 += run.pe_micros();
        let comparable = self.classes.entry(class.into()).or_default();
        comparable.time.0 += run.pe_micros();
        for (known, value) in comparable.values.iter_mut().zip(of.values) {
            known.extend(value.ratio());
        }
    }

    /// The class of comparable runs with most of the PE-time of the week.
    pub fn main_class(&self) -> Option<&[u8]> {
        Self::largest(self.classes.iter())
    }

    /// The same of classes where a run has a value, by the place of a measure of the plan, or
    /// [`super::MPI_SHARE`].
    pub fn main_class_with(&self, place: usize) -> Option<&[u8]> {
        let has_some =
            |of: &ClassRuns| of.values.get(place).is_some_and(|values| !values.is_empty());
        Self::largest(self.classes.iter().filter(|(_, of)| has_some(of)))
    }

    fn largest<'c>(
        classes: impl Iterator<Item = (&'c Box<[u8]>, &'c ClassRuns)>,
    ) -> Option<&'c [u8]> {
        let most = classes.max_by_key(|(name, of)| (of.time, std::cmp::Reverse(*name)));
        most.map(|(name, _)| &**name)
    }

    /// The median over the user's runs of a class, by the place of a measure of the plan, or
    /// [`super::MPI_SHARE`], and how many have a value.
    pub fn own_median(&self, class: &[u8], place: usize) -> Option<(f64, usize)> {
        let mut values = self.classes.get(class)?.values.get(place)?.clone();
        values.sort_unstable_by(f64::total_cmp);
        (!values.is_empty()).then(|| (quantile(&values, 0.5), values.len()))
    }

    pub(super) fn merge(&mut self, other: WeekUser) {
        self.see_name(&other.name);
        self.now.merge(other.now);
        self.before.merge(other.before);
        for (exe, program) in other.programs {
            self.programs.entry(exe).or_default().merge(program);
        }
        for (class, runs) in other.classes {
            let own = self.classes.entry(class).or_default();
            own.time.0 += runs.time.0;
            for (known, values) in own.values.iter_mut().zip(runs.values) {
                known.extend(values);
            }
        }
    }
}

/// A measure of comparable runs of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// Other users
    pub users: usize,
    /// Their runs
    pub runs: usize,
    /// Median of the values of these runs, type 7
    pub median: f64,
    /// The value that a quarter of the runs has or exceeds, type 7
    pub upper_quarter: f64,
    /// The value that a quarter of the runs has or stays below, type 7
    pub lower_quarter: f64,
}

impl Reference {
    /// Of the values of each other user.
    pub(super) fn of(users: &[&Vec<f64>]) -> Self {
        let mut all: Vec<f64> = users.iter().flat_map(|values| values.iter().copied()).collect();
        all.sort_unstable_by(f64::total_cmp);
        Reference {
            users: users.len(),
            runs: all.len(),
            median: quantile(&all, 0.5),
            upper_quarter: quantile(&all, 0.75),
            lower_quarter: quantile(&all, 0.25),
        }
    }
}
