//! The earlier runs of the program of a run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use topas_format::civil::Date;
use topas_format::line::{Extras, Line};

use super::{RunName, RunRecord, RunSearch};
use crate::engine::{AskError, AskProgress, Resources, ask, ask_reader};
use crate::field::{Field, Value};
use crate::first_extras::{Claim, claim};
use crate::key_parts::{self, KeyParts};
use crate::measure::Measure;
use crate::period::Period;
use crate::pes::quantile;
use crate::query::Selection;
use crate::question::{Fold, Question};
use crate::run::{Detail, Run};
use crate::run_list::Place;
use crate::source::Source;

/// Earlier runs that are compared with, the latest.
pub const MOST_EARLIER: usize = 100_000;

/// Runs of the same executable by the same user with the same number of PEs that ended before a
/// run, as far as they ended well or did not tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunHistory {
    /// How many there are; at most [`MOST_EARLIER`], the latest, are in the rest
    pub runs: u64,
    /// Earlier runs that ended badly, in nothing else of this
    pub failed: u64,
    /// Day of the first of them, local time of the site
    pub since: Option<Date>,
    /// Wall clock times in µs, ascending
    pub walls: Vec<u64>,
    /// MFlop/s per PE of those that have a rate, ascending
    pub rates: Vec<f64>,
    /// Runs that used an accelerator, whose rates are not among these
    pub accelerated: u64,
}

impl RunHistory {
    /// Median of the wall clock times in µs, type 7; None without runs.
    pub fn median_wall(&self) -> Option<f64> {
        let walls: Vec<f64> = self.walls.iter().map(|wall| *wall as f64).collect();
        (!walls.is_empty()).then(|| quantile(&walls, 0.5))
    }

    /// Median of the rates, type 7; None without rates.
    pub fn median_rate(&self) -> Option<f64> {
        (!self.rates.is_empty()).then(|| quantile(&self.rates, 0.5))
    }

    /// How many of them took less time than this, in µs.
    pub fn faster_than(&self, wall: u64) -> usize {
        self.walls.partition_point(|known| *known < wall)
    }

    /// How many of them took more time than this, in µs.
    pub fn slower_than(&self, wall: u64) -> usize {
        self.walls.len() - self.walls.partition_point(|known| *known <= wall)
    }
}

/// Finds the earlier runs of the program of `run` in all lines that count for `search`, whatever
/// their jobs and ids. None of a run whose executable or number of PEs is not told.
///
/// # Errors
///
/// [`AskError`] as [`ask`] has it.
pub fn earlier_runs(
    sources: &[Source],
    search: &RunSearch,
    run: &RunRecord,
    resources: &Resources,
    progress: impl FnMut(AskProgress),
) -> Result<Option<RunHistory>, AskError> {
    let (Some(_), false) = (run.npes, run.exe.is_empty()) else { return Ok(None) };
    let ending = Field::named("ending").ok();
    // Asked for only where runs with accelerators have no rate.
    let accelerator = || Field::named("gpu").ok();
    let accelerator = (!search.selection.has_accelerators()).then(accelerator).flatten();
    let question = SameProgram { search, run, ending, accelerator };
    let fold = || EarlierFold::new(search, run);
    Ok(Some(ask(sources, &question, fold, resources, progress)?.fold.history()))
}

/// The same of lines that are in memory, whatever runs these are of.
///
/// # Errors
///
/// [`AskError`] as [`ask`] has it.
pub fn earlier_runs_in(
    lines: &[u8],
    run: &RunRecord,
    resources: &Resources,
) -> Result<Option<RunHistory>, AskError> {
    let (Some(_), false) = (run.npes, run.exe.is_empty()) else { return Ok(None) };
    let search = &RunSearch {
        name: RunName::Id(run.id.to_vec()),
        selection: Selection::default(),
        own: None,
        period: Period::default(),
    };
    let (ending, accelerator) = (Field::named("ending").ok(), Field::named("gpu").ok());
    let question = SameProgram { search, run, ending, accelerator };
    let fold = || EarlierFold::new(search, run);
    let answer = ask_reader(&Source::Stdin, lines, &question, fold, resources, |_| {})?;
    Ok(Some(answer.fold.history()))
}

impl<'s> EarlierFold<'s> {
    fn new(search: &'s RunSearch, run: &'s RunRecord) -> Self {
        EarlierFold { search, run, latest: BinaryHeap::new(), runs: 0, failed: 0, accelerated: 0 }
    }

    fn history(self) -> RunHistory {
        let fold = self;
        let mut walls: Vec<u64> = fold.latest.iter().map(|Reverse(of)| of.wall).collect();
        let mut rates: Vec<f64> = fold.latest.iter().filter_map(|Reverse(of)| of.rate()).collect();
        walls.sort_unstable();
        rates.sort_unstable_by(f64::total_cmp);
        let since = fold.latest.iter().map(|Reverse(of)| of.date).min();
        let EarlierFold { runs, failed, accelerated, .. } = fold;
        RunHistory { runs, failed, since, walls, rates, accelerated }
    }
}

/// Lines of one program of a user.
struct SameProgram<'s> {
    search: &'s RunSearch,
    run: &'s RunRecord,
    ending: Option<Field>,
    accelerator: Option<Field>,
}

impl Question for SameProgram<'_> {
    fn detail(&self) -> Detail {
        let own = Measure::named(RATE).map_or(Detail::Rates, |measure| measure.detail);
        own.max(self.search.selection.detail())
    }

    fn reads_profiles(&self) -> bool {
        self.search.selection.reads_profiles()
    }

    fn wants_run(&self, run: &Run<'_>) -> bool {
        self.search.selection.wants_run(run)
    }

    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        line.npes.0 == self.run.npes
            && line.exe.bytes().eq(self.run.exe.iter().copied())
            && match (claim(extras), self.run.uid) {
                (Claim::Uid(uid), Some(of)) => uid == of,
                _ => line.user.bytes().eq(self.run.user.iter().copied()),
            }
            && self.search.counts(line, extras)
    }

    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        self.search.selection.write_key(line, extras, key);
        let ending = self.ending.as_ref().map(|field| field.value(line, extras));
        key_parts::write(&ending.unwrap_or(Value::Missing), key);
        let accelerator = self.accelerator.as_ref().map(|field| field.value(line, extras));
        key_parts::write(&accelerator.unwrap_or(Value::Missing), key);
    }
}

/// The measure that runs are compared by, besides their time.
const RATE: &str = "mflops";

/// A run; the one that ended first is the least.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct EarlierRun {
    end: i64,
    date: Date,
    wall: u64,
    /// Bits of the rate, so that runs have an order; that of NaN if there is none
    rate: u64,
}

impl EarlierRun {
    fn rate(&self) -> Option<f64> {
        Some(f64::from_bits(self.rate)).filter(|rate| !rate.is_nan())
    }
}

struct EarlierFold<'s> {
    search: &'s RunSearch,
    run: &'s RunRecord,
    /// The first of the latest is at the top
    latest: BinaryHeap<Reverse<EarlierRun>>,
    runs: u64,
    failed: u64,
    accelerated: u64,
}

impl EarlierFold<'_> {
    fn keep(&mut self, run: EarlierRun) {
        self.latest.push(Reverse(run));
        if self.latest.len() > MOST_EARLIER {
            self.latest.pop();
        }
    }
}

impl Fold for EarlierFold<'_> {
    fn add(&mut self, run: &Run<'_>) {
        let is_earlier = run.end < self.run.end && Place::new(run) != self.run.place;
        if !is_earlier || !self.search.period.contains(run) {
            return;
        }
        // The class of runs that ended well is 0, whose key is not that of any other.
        let well = {
            let mut key = Vec::new();
            Value::whole(0).write_key(&mut key);
            key
        };
        let skip = self.search.selection.key_len();
        let told = |at: usize| {
            let part = move |pe| {
                KeyParts(run.key_of(pe).get(skip..).unwrap_or_default()).nth(at).flatten()
            };
            run.pes.iter().filter_map(part)
        };
        if told(0).any(|ending| ending != well) {
            self.failed += 1;
            return;
        }
        self.runs += 1;
        let accelerated = told(1).next().is_some();
        self.accelerated += u64::from(accelerated);
        let rate = Measure::named(RATE).ok().filter(|_| !accelerated);
        let rate = rate.and_then(|measure| measure.of(run).ratio());
        let rate = rate.unwrap_or(f64::NAN).to_bits();
        self.keep(EarlierRun { end: run.end, date: run.date, wall: run.wall.0, rate });
    }

    fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.failed += other.failed;
        self.accelerated += other.accelerated;
        other.latest.into_iter().for_each(|Reverse(run)| self.keep(run));
    }
}
