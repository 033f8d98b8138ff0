//! Adds up runs as a plan says.

use rustc_hash::FxHashMap;
use topas_format::civil::Date;

use super::dimension::{Buckets, Dimension, FieldValues};
use super::report_plan::{DimensionPlace, ReportPlan, TablePlan};
use crate::measure::{Measure, Of, Sample};
use crate::question::Fold;
use crate::remark::Remarks;
use crate::run::Run;
use crate::share::Share;

/// What a report is made from: runs added up by tables.
#[derive(Clone, Debug)]
pub struct LogReport<'p> {
    pub(super) plan: &'p ReportPlan,
    /// All runs
    pub total: Share,
    /// Runs outside the period, in nothing else of this
    pub outside: u64,
    /// Days of the first and the last run
    pub days: Option<(Date, Date)>,
    /// What is odd about the runs
    pub remarks: Remarks,
    /// A sample of each measure of the plan, over all runs
    totals: Vec<Sample>,
    pub(super) tables: Vec<TableSums>,
    /// Values of one run, kept for the sake of its memory
    values: Vec<RunValue>,
    /// What lines say of accelerators
    accelerators: Option<FieldValues>,
}

/// A measure of one run.
#[derive(Clone, Debug)]
struct RunValue {
    of: Of,
    /// It is a rate of the processor, and the run used an accelerator
    accelerated: bool,
}

impl RunValue {
    fn add_to(&self, sample: &mut Sample, measure: &Measure, run: &Run<'_>, quantiles: bool) {
        if self.accelerated {
            sample.accelerated.add(run.pe_micros());
        } else {
            sample.add(measure, run, &self.of, quantiles);
        }
    }
}

/// Runs of one table.
#[derive(Clone, Debug)]
pub(super) struct TableSums {
    pub(super) sides: Vec<Dimension>,
    pub(super) cells: ReportCells,
}

/// By the numbers of the values of the sides.
#[derive(Clone, Debug)]
pub(super) enum ReportCells {
    One(Vec<ReportCell>),
    Two(FxHashMap<(u32, u32), ReportCell>),
}

/// Runs that a row is of.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportCell {
    pub(super) share: Share,
    /// Of the table's columns
    pub(super) samples: Vec<Sample>,
}

impl ReportCell {
    fn add(&mut self, table: &TablePlan, plan: &ReportPlan, run: &Run<'_>, values: &[RunValue]) {
        self.share.add(run.pe_micros());
        if self.samples.is_empty() {
            self.samples.resize_with(table.columns.len(), Sample::default);
        }
        for (sample, &at) in self.samples.iter_mut().zip(&table.columns) {
            values[at].add_to(sample, plan.measures[at].0, run, true);
        }
    }

    pub(super) fn merge(&mut self, other: ReportCell) {
        self.share = self.share.plus(other.share);
        if self.samples.is_empty() {
            self.samples = other.samples;
            return;
        }
        for (sample, other) in self.samples.iter_mut().zip(other.samples) {
            sample.merge(other);
        }
    }
}

impl<'p> LogReport<'p> {
    /// No runs yet.
    pub fn new(plan: &'p ReportPlan) -> Self {
        let side = |place: &DimensionPlace| match place {
            DimensionPlace::Field(at) => Dimension::Field(FieldValues::new(*at)),
            DimensionPlace::Measure(at) => Dimension::Measure(Buckets::new(*at)),
        };
        let sums = |table: &TablePlan| TableSums {
            sides: table.by.iter().map(side).collect(),
            cells: match table.by.len() {
                1 => ReportCells::One(Vec::new()),
                _ => ReportCells::Two(FxHashMap::default()),
            },
        };
        LogReport {
            plan,
            total: Share::default(),
            outside: 0,
            days: None,
            remarks: Remarks::default(),
            totals: vec![Sample::default(); plan.measures.len()],
            tables: plan.tables.iter().map(sums).collect(),
            values: Vec::new(),
            accelerators: plan.accelerator.map(FieldValues::new),
        }
    }

    /// Each measure of the plan with its sample over all runs.
    pub fn measures(&self) -> impl Iterator<Item = (&'static Measure, &Sample)> {
        self.plan.measures.iter().map(|(measure, _)| *measure).zip(&self.totals)
    }

    /// The sample of a measure over all runs; None if the plan has no such measure.
    pub fn sample(&self, measure: &Measure) -> Option<&Sample> {
        self.measures().find(|(known, _)| *known == measure).map(|(_, sample)| sample)
    }
}

impl Fold for LogReport<'_> {
    fn add(&mut self, run: &Run<'_>) {
        if !self.plan.period.contains(run) {
            self.outside += 1;
            return;
        }
        self.total.add(run.pe_micros());
        let selection = self.plan.selection();
        self.remarks.add(run, selection.is_of_ranks());
        let key = run.key.get(selection.key_len()..).unwrap_or_default();
        self.days = Some(match self.days {
            None => (run.date, run.date),
            Some((first, last)) => (first.min(run.date), last.max(run.date)),
        });
        self.values.clear();
        let accelerated = self
            .accelerators
            .as_mut()
            .is_some_and(|known| run.pes.iter().any(|pe| known.is_some(run.key_of(pe), pe.group)));
        self.values.extend(self.plan.measures.iter().map(|(measure, _)| {
            let accelerated = accelerated && measure.is_of_processor();
            let of = if accelerated { Of::Uncounted } else { measure.of(run) };
            RunValue { of, accelerated }
        }));
        let measures = self.plan.measures.iter().zip(&self.values);
        for (sample, ((measure, _), value)) in self.totals.iter_mut().zip(measures) {
            value.add_to(sample, measure, run, false);
        }
        for (sums, table) in self.tables.iter_mut().zip(&self.plan.tables) {
            let mut number = |side: usize| match &mut sums.sides[side] {
                Dimension::Field(values) => values.number(key, run.group),
                Dimension::Measure(buckets) => {
                    let at = buckets.measure;
                    buckets.number(&self.values[at].of, &self.plan.measures[at].1)
                }
            };
            let first = number(0);
            let cell = match &mut sums.cells {
                ReportCells::One(cells) => {
                    let at = first as usize;
                    if cells.len() <= at {
                        cells.resize_with(at + 1, ReportCell::default);
                    }
                    &mut cells[at]
                }
                ReportCells::Two(cells) => cells.entry((first, number(1))).or_default(),
            };
            cell.add(table, self.plan, run, &self.values);
        }
    }

    fn merge(&mut self, other: Self) {
        self.total = self.total.plus(other.total);
        self.outside += other.outside;
        self.remarks.merge(other.remarks);
        self.days = match (self.days, other.days) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (days, None) | (None, days) => days,
        };
        for (sample, other) in self.totals.iter_mut().zip(other.totals) {
            sample.merge(other);
        }
        for (sums, other) in self.tables.iter_mut().zip(other.tables) {
            let sides = sums.sides.iter_mut().zip(other.sides);
            let numbers: Vec<Vec<u32>> = sides.map(|(own, other)| own.merge(other)).collect();
            match (&mut sums.cells, other.cells) {
                (ReportCells::One(cells), ReportCells::One(others)) => {
                    for (cell, number) in others.into_iter().zip(&numbers[0]) {
                        let at = *number as usize;
                        if cells.len() <= at {
                            cells.resize_with(at + 1, ReportCell::default);
                        }
                        cells[at].merge(cell);
                    }
                }
                (ReportCells::Two(cells), ReportCells::Two(others)) => {
                    for ((one, two), cell) in others {
                        let at = (numbers[0][one as usize], numbers[1][two as usize]);
                        cells.entry(at).or_default().merge(cell);
                    }
                }
                _ => unreachable!("reports of one plan have the same tables"),
            }
        }
    }
}
