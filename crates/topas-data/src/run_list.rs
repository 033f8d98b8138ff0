//! Lists runs, a row each: the first so many in an order, or all.
//!
//! A log has more runs than rows fit into memory. So it is read twice: once for the place of
//! each run, of which a heap keeps the first so many, and once for the lines of these. Many rows
//! are made in portions, each of which reads the log again.

mod column;
mod rank;

pub(crate) use column::FieldKeys;
pub use column::{RunColumn, RunValue};
pub(crate) use rank::Place;

use std::collections::BinaryHeap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use rustc_hash::FxHashMap;
use topas_format::civil::Date;
use topas_format::line::{Extras, Line};

use self::rank::{Rank, RunPlace};
use crate::engine::{AskAnswer, AskError, AskProgress, Resources, ask, launch_key};
use crate::field::Field;
use crate::first_extras::{FirstExtras, claim};
use crate::key_parts;
use crate::own::OwnLines;
use crate::period::{Period, both_days};
use crate::query::Selection;
use crate::question::{Fold, Question};
use crate::remark::Remarks;
use crate::run::{Detail, Run};
use crate::share::Share;
use crate::source::Source;
use crate::when::Clock;

/// What is to be listed, and in what order.
#[derive(Clone, Debug)]
pub struct RunListPlan {
    /// Lines that count
    pub selection: Selection,
    /// Whose lines count; None: everybody's
    pub own: Option<OwnLines>,
    /// Days in which runs ended
    pub period: Period,
    /// What is told of each run
    pub columns: Vec<RunColumn>,
    /// What runs are sorted by: numbers and times from the largest to the smallest, texts from A
    /// to Z; runs without a value come last. Runs of equal values: the latest first
    pub sort: RunColumn,
    /// The other way round; runs without a value still come last
    pub reverse: bool,
    /// Only so many, the first in this order
    pub top: Option<usize>,
}

/// What is told of a run: a value for each column of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// In the order of [`RunListPlan::columns`]
    pub cells: Vec<RunValue>,
}

/// What was read for a list.
#[derive(Debug)]
pub struct RunListAnswer {
    /// All runs that were selected, shown or not
    pub total: Share,
    /// How many of them were shown
    pub shown: u64,
    /// Runs outside the period
    pub outside: u64,
    /// Days of the first and the last run that was selected
    pub days: Option<(Date, Date)>,
    /// What is odd about the runs that were selected
    pub remarks: Remarks,
    /// Runs that were selected and used an accelerator, where a column or the order is a rate of
    /// the processor: they have none
    pub accelerated: u64,
    /// What became of lines and sources
    pub asked: AskAnswer<()>,
}

/// There is no list.
#[derive(Debug)]
pub enum RunListError {
    /// The log could not be asked
    Ask(AskError),
    /// The places of so many runs do not fit into the memory
    Runs {
        /// Runs that were selected
        runs: u64,
        /// Places that fit
        most: usize,
    },
}

impl std::fmt::Display for RunListError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunListError::Ask(error) => error.fmt(f),
            RunListError::Runs { runs, most } => {
                write!(f, "there are {runs} runs, and memory to sort {most}")
            }
        }
    }
}

impl std::error::Error for RunListError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunListError::Ask(error) => error.source(),
            RunListError::Runs { .. } => None,
        }
    }
}

/// What a row takes while it is made, in B: the keys of its lines and its cells. Measured.
const ROW: u64 = 4096;

/// What a place takes in B: a vector that grows takes twice what is in it.
const PLACE: u64 = 2 * size_of::<RunPlace>() as u64;

/// Least rows of a portion.
const LEAST_ROWS: usize = 1000;

/// Lists the runs of all lines of `sources`, which must be such that can be read again: rows are
/// given to `portion` in their order, some at a time, and at least once. A source that cannot be
/// read is in the answer, and the others are read.
///
/// # Errors
///
/// [`RunListError`] if the log could not be asked, or too many runs are wanted.
pub fn list_runs(
    sources: &[Source],
    plan: &RunListPlan,
    resources: &Resources,
    mut progress: impl FnMut(AskProgress),
    mut portion: impl FnMut(&[RunRow]),
) -> Result<RunListAnswer, RunListError> {
    let most = usize::try_from(resources.memory / PLACE).unwrap_or(usize::MAX).max(LEAST_ROWS);
    let room = AtomicUsize::new(most);
    let sorting = SortedRuns { plan, accelerator: plan.accelerator() };
    let places = || RunPlaces::new(plan, &room);
    let answer =
        ask(sources, &sorting, places, resources, &mut progress).map_err(RunListError::Ask)?;
    let AskAnswer { fold, tally, unwanted, unwanted_runs, aside, failed } = answer;
    let asked = AskAnswer { fold: (), tally, unwanted, unwanted_runs, aside, failed };
    let RunPlaces { heap, total, outside, days, remarks, accelerated, .. } = fold;
    let all = plan.top.map_or(total.runs, |top| total.runs.min(top as u64));
    if all > heap.len() as u64 {
        return Err(RunListError::Runs { runs: all, most });
    }
    let shown = heap.len() as u64;
    let places = heap.into_sorted_vec();
    let rows = usize::try_from(resources.memory / ROW).unwrap_or(usize::MAX).max(LEAST_ROWS);
    for part in places.chunks(rows) {
        portion(&rows_of(sources, plan, part, resources, &mut progress)?);
    }
    if places.is_empty() {
        portion(&[]);
    }
    Ok(RunListAnswer { total, shown, outside, days, remarks, accelerated, asked })
}

/// The rows of some runs, in the same order.
fn rows_of(
    sources: &[Source],
    plan: &RunListPlan,
    places: &[RunPlace],
    resources: &Resources,
    progress: impl FnMut(AskProgress),
) -> Result<Vec<RunRow>, RunListError> {
    let mut numbers: FxHashMap<Place, usize> = FxHashMap::default();
    let mut launches: FxHashMap<u64, (i64, i64)> = FxHashMap::default();
    for (number, RunPlace { place, .. }) in places.iter().enumerate() {
        numbers.insert(*place, number);
        let cover = launches.entry(place.launch).or_insert((place.start, place.end));
        *cover = (cover.0.min(place.start), cover.1.max(place.end));
    }
    let mut fields = fields_of(&plan.columns);
    let accelerator = plan.accelerator();
    fields.extend(accelerator.clone().filter(|field| !fields.contains(field)));
    let question = ListedLines { plan, launches, fields };
    let fold = || ListedRuns {
        columns: &plan.columns,
        fields: &question.fields,
        accelerator: accelerator.as_ref(),
        numbers: &numbers,
        rows: Vec::new(),
    };
    let answer = ask(sources, &question, fold, resources, progress).map_err(RunListError::Ask)?;
    let mut rows = answer.fold.rows;
    rows.sort_by_key(|(number, _)| *number);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// The fields that columns need of each line, each once.
fn fields_of<'c>(columns: impl IntoIterator<Item = &'c RunColumn>) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    for field in columns.into_iter().filter_map(RunColumn::field_of_line) {
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    fields
}

impl RunListPlan {
    /// The field by which runs have no rates of the processor; None if they have them all, or none
    /// is asked for.
    fn accelerator(&self) -> Option<Field> {
        let is_asked = self.columns.iter().chain([&self.sort]).any(RunColumn::is_of_processor);
        let field = || Field::named("gpu").ok();
        (is_asked && !self.selection.has_accelerators()).then(field).flatten()
    }

    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.own.as_ref().is_none_or(|own| own.wrote(line.user, extras))
            && self.selection.wants(line, extras)
    }
}

/// For the places of all runs.
struct SortedRuns<'p> {
    plan: &'p RunListPlan,
    accelerator: Option<Field>,
}

impl Question for SortedRuns<'_> {
    fn detail(&self) -> Detail {
        self.plan.sort.detail_to_sort().max(self.plan.selection.detail())
    }

    fn reads_profiles(&self) -> bool {
        self.plan.sort.reads_profiles() || self.plan.selection.reads_profiles()
    }

    #[inline]
    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.plan.wants(line, extras)
    }

    #[inline]
    fn wants_run(&self, run: &Run<'_>) -> bool {
        // Those outside of the period are counted.
        !self.plan.period.contains(run) || self.plan.selection.wants_run(run)
    }

    fn sets_aside(&self, run: &Run<'_>) -> bool {
        self.plan.selection.sets_aside(run)
    }

    #[inline]
    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        self.plan.selection.write_key(line, extras, key);
        for field in self.plan.sort.field_to_sort().into_iter().chain(&self.accelerator) {
            key_parts::write(&field.value(line, extras), key);
        }
    }
}

/// The first places, and what is known of all.
struct RunPlaces<'p> {
    plan: &'p RunListPlan,
    fields: Vec<Field>,
    /// The last of the first is at the top
    heap: BinaryHeap<RunPlace>,
    most: usize,
    /// Places that still fit into the memory, of all threads
    room: &'p AtomicUsize,
    total: Share,
    outside: u64,
    days: Option<(Date, Date)>,
    remarks: Remarks,
    accelerator: Option<Field>,
    accelerated: u64,
}

impl<'p> RunPlaces<'p> {
    fn new(plan: &'p RunListPlan, room: &'p AtomicUsize) -> Self {
        RunPlaces {
            plan,
            fields: plan
                .sort
                .field_to_sort()
                .cloned()
                .into_iter()
                .chain(plan.accelerator())
                .collect(),
            accelerator: plan.accelerator(),
            accelerated: 0,
            heap: BinaryHeap::new(),
            most: plan.top.unwrap_or(usize::MAX),
            room,
            total: Share::default(),
            outside: 0,
            days: None,
            remarks: Remarks::default(),
        }
    }

    fn keep(&mut self, place: RunPlace) {
        if self.heap.len() < self.most {
            let less = |room: usize| room.checked_sub(1);
            // Without room the list is an error, which the number of places tells in the end.
            if self.room.fetch_update(Relaxed, Relaxed, less).is_ok() {
                self.heap.push(place);
            }
        } else if let Some(mut last) = self.heap.peek_mut()
            && place < *last
        {
            *last = place;
        }
    }
}

impl Fold for RunPlaces<'_> {
    fn add(&mut self, run: &Run<'_>) {
        if !self.plan.period.contains(run) {
            self.outside += 1;
            return;
        }
        self.total.add(run.pe_micros());
        self.remarks.add(run, self.plan.selection.is_of_ranks());
        self.days = both_days(self.days, Some((run.date, run.date)));
        let keys = FieldKeys { skip: self.plan.selection.key_len(), fields: &self.fields };
        let accelerated = self.accelerator.as_ref().is_some_and(|field| keys.tell(run, field));
        self.accelerated += u64::from(accelerated);
        let value = if accelerated && self.plan.sort.is_of_processor() {
            RunValue::Missing
        } else {
            self.plan.sort.to_sort(run, keys)
        };
        let rank = Rank::new(value, self.plan.reverse);
        self.keep(RunPlace { rank, place: Place::new(run) });
    }

    fn merge(&mut self, other: Self) {
        self.total = self.total.plus(other.total);
        self.outside += other.outside;
        self.remarks.merge(other.remarks);
        self.days = both_days(self.days, other.days);
        self.accelerated += other.accelerated;
        self.room.fetch_add(other.heap.len(), Relaxed);
        other.heap.into_iter().for_each(|place| self.keep(place));
    }
}

/// For the rows of some runs: the lines of their launches.
struct ListedLines<'p> {
    plan: &'p RunListPlan,
    /// Times that the runs of each launch cover together
    launches: FxHashMap<u64, (i64, i64)>,
    fields: Vec<Field>,
}

impl Question for ListedLines<'_> {
    fn detail(&self) -> Detail {
        self.plan.columns.iter().map(RunColumn::detail).max().unwrap_or_default()
    }

    fn reads_profiles(&self) -> bool {
        self.plan.columns.iter().any(RunColumn::reads_profiles)
    }

    #[inline]
    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.launches.contains_key(&launch_key(line, claim(extras)))
            && self.plan.wants(line, extras)
    }

    /// What is outside of the times is of other runs, and needs no key.
    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        let first = FirstExtras::of_line(extras);
        let end = Clock::default().read(line, first.epoch).end.saturating_mul(1_000_000);
        let cover = self.launches.get(&launch_key(line, first.claim));
        if cover.is_some_and(|(start, last)| (start..=last).contains(&&end)) {
            for field in &self.fields {
                key_parts::write(&field.value(line, extras), key);
            }
        }
    }
}

/// The rows of some runs, with their numbers.
struct ListedRuns<'p> {
    columns: &'p [RunColumn],
    fields: &'p [Field],
    accelerator: Option<&'p Field>,
    numbers: &'p FxHashMap<Place, usize>,
    rows: Vec<(usize, RunRow)>,
}

impl Fold for ListedRuns<'_> {
    fn add(&mut self, run: &Run<'_>) {
        if let Some(number) = self.numbers.get(&Place::new(run)) {
            let keys = FieldKeys { skip: 0, fields: self.fields };
            let accelerated = self.accelerator.is_some_and(|field| keys.tell(run, field));
            let cells = self.columns.iter().map(|column| match column {
                column if accelerated && column.is_of_processor() => RunValue::Missing,
                column => column.value(run, keys),
            });
            self.rows.push((*number, RunRow { cells: cells.collect() }));
        }
    }

    fn merge(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }
}
