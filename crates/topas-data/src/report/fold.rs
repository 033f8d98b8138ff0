//! Adds up runs as a plan says.

use rustc_hash::FxHashMap;
use topas_format::civil::Date;

use super::dimension::{Buckets, Dimension, FieldValues};
use super::figure::{Figure, FigureCell, FigureOfRun, FigureValue, FigureValues};
use super::gaps::{self, EndingGaps};
use super::report_plan::{DimensionPlace, ReportPlan, TablePlan};
use crate::measure::{Measure, Of, RunNoise, RunTerms, Sample};
use crate::period::{Period, both_days};
use crate::question::Fold;
use crate::remark::Remarks;
use crate::run::{PeRecord, Run};
use crate::share::Share;

/// What a report is made from: runs added up by tables.
#[derive(Clone, Debug)]
pub struct LogReport<'p> {
    pub(super) plan: &'p ReportPlan,
    /// All runs
    pub total: Share,
    /// Runs outside the period, in nothing else of this; 0 of a plan that does not count them
    pub outside: u64,
    /// Runs of a comparison as in [`AskAnswer::aside`](crate::AskAnswer::aside)
    pub aside: u64,
    /// Days of the first and the last run
    pub days: Option<(Date, Date)>,
    /// What is odd about the runs
    pub remarks: Remarks,
    /// What tables of endings do not tell; None if no table is by the ending
    pub gaps: Option<EndingGaps>,
    /// A sample of each measure of the plan, over all runs
    totals: Vec<Sample>,
    pub(super) tables: Vec<TableSums>,
    /// Figures over all runs
    pub(super) figures: Vec<FigureCell>,
    figure_values: Vec<FigureValues>,
    /// Values of one run, kept for the sake of its memory
    values: Vec<MeasureOfRun>,
    /// What one run adds to figures, likewise
    told: Vec<FigureOfRun>,
    /// What lines say of accelerators
    accelerators: Option<FieldValues>,
}

/// A measure of one run.
#[derive(Clone, Debug)]
struct MeasureOfRun {
    of: Of,
    /// What the run adds to sums; None if none of its PEs has the terms
    terms: Option<RunTerms>,
    /// It is a rate of the processor, and the run used an accelerator
    accelerated: bool,
}

impl MeasureOfRun {
    fn add_to(&self, sample: &mut Sample, measure: &Measure, run: &Run<'_>, quantiles: bool) {
        if self.accelerated {
            sample.accelerated.add(run.pe_micros());
        } else {
            sample.add_terms(measure, run, &self.of, self.terms, quantiles);
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
    /// Of the plan
    pub(super) figures: Vec<FigureCell>,
    /// Of the table's columns, if the plan asks for it
    pub(super) noise: Vec<RunNoise>,
}

impl ReportCell {
    /// Without runs, for a table with so many columns.
    pub(super) fn empty(plan: &ReportPlan, columns: usize) -> Self {
        ReportCell {
            samples: vec![Sample::default(); columns],
            figures: plan.figures().map(FigureCell::new).collect(),
            ..ReportCell::default()
        }
    }

    fn tell(&mut self, plan: &ReportPlan, told: &[FigureOfRun], run: &Run<'_>) {
        if self.figures.is_empty() {
            self.figures = plan.figures().map(FigureCell::new).collect();
        }
        for (figure, told) in self.figures.iter_mut().zip(told) {
            figure.add(*told, run);
        }
    }

    fn add(
        &mut self,
        table: &TablePlan,
        plan: &ReportPlan,
        run: &Run<'_>,
        values: &[MeasureOfRun],
    ) {
        self.share.add(run.pe_micros());
        if self.samples.is_empty() {
            self.samples.resize_with(table.columns.len(), Sample::default);
        }
        for (sample, &at) in self.samples.iter_mut().zip(&table.columns) {
            values[at].add_to(sample, plan.measures[at].0, run, true);
        }
        if plan.noise {
            self.noise.resize_with(table.columns.len(), RunNoise::default);
            for (noise, &at) in self.noise.iter_mut().zip(&table.columns) {
                if !values[at].accelerated {
                    noise.add(plan.measures[at].0, run, &values[at].of);
                }
            }
        }
    }

    /// Adds a cell of the same report.
    pub(super) fn merge(&mut self, other: ReportCell) {
        self.merge_figures(&other, |_, number| number);
        self.merge_samples(other);
    }

    /// Adds figures whose values have these numbers here; the first of it is the figure.
    fn merge_figures(&mut self, other: &ReportCell, number: impl Fn(usize, u32) -> u32) {
        if self.figures.is_empty() {
            self.figures = other.figures.iter().map(FigureCell::emptied).collect();
        }
        for (at, (figure, other)) in self.figures.iter_mut().zip(&other.figures).enumerate() {
            figure.merge(other, |value| number(at, value));
        }
    }

    fn merge_samples(&mut self, other: ReportCell) {
        self.share = self.share.plus(other.share);
        self.noise.resize_with(self.noise.len().max(other.noise.len()), RunNoise::default);
        for (noise, other) in self.noise.iter_mut().zip(&other.noise) {
            noise.merge(other);
        }
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
            DimensionPlace::Field(at) => {
                let scope = plan.fields[*at].scope();
                Dimension::Field(FieldValues::new(*at).of_scope(scope))
            }
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
            aside: 0,
            days: None,
            remarks: Remarks::default(),
            gaps: plan.gap_places.map(|_| EndingGaps::default()),
            totals: vec![Sample::default(); plan.measures.len()],
            tables: plan.tables.iter().map(sums).collect(),
            figures: plan.figures().map(FigureCell::new).collect(),
            figure_values: plan.figures.iter().map(|(f, at)| FigureValues::new(*f, *at)).collect(),
            values: Vec::new(),
            accelerators: plan.accelerator.map(FieldValues::new),
            told: Vec::new(),
        }
    }

    /// The days that its runs are of.
    pub fn period(&self) -> Period {
        self.plan.period
    }

    /// Each measure of the plan with its sample over all runs.
    pub fn measures(&self) -> impl Iterator<Item = (&'static Measure, &Sample)> {
        self.plan.measures.iter().map(|(measure, _)| *measure).zip(&self.totals)
    }

    /// Each figure of the plan over all runs.
    pub fn figures(&self) -> impl Iterator<Item = (Figure, FigureValue)> + '_ {
        self.plan.figures().zip(self.figures.iter().map(FigureCell::value))
    }

    /// The sample of a measure over all runs; None if the plan has no such measure.
    pub fn sample(&self, measure: &Measure) -> Option<&Sample> {
        self.measures().find(|(known, _)| *known == measure).map(|(_, sample)| sample)
    }
}

impl Fold for LogReport<'_> {
    fn add(&mut self, run: &Run<'_>) {
        if !self.plan.period.contains(run) {
            self.outside += u64::from(self.plan.counts_outside());
            return;
        }
        self.total.add(run.pe_micros());
        let selection = self.plan.selection();
        self.remarks.add(run, selection.is_of_ranks());
        let fields = selection.key_len();
        if let (Some(places), Some(gaps)) = (self.plan.gap_places, &mut self.gaps) {
            places.add(gaps, run, fields, selection.is_of_ranks());
        }
        self.days = both_days(self.days, Some((run.date, run.date)));
        self.values.clear();
        let accelerated = self.accelerators.as_mut().is_some_and(|known| {
            // The lines of a run are of one group, mostly.
            let mut asked = None;
            let says = |pe: &PeRecord| {
                asked.replace(pe.group) != Some(pe.group)
                    && known.is_some(run.key_of(pe).get(fields..).unwrap_or_default(), pe.group)
            };
            run.pes.iter().any(says)
        });
        self.values.extend(self.plan.measures.iter().map(|(measure, _)| {
            let accelerated = accelerated && measure.is_of_processor();
            let (of, terms) = match accelerated {
                true => (Of::Uncounted, None),
                false => measure.of_and_terms(run),
            };
            MeasureOfRun { of, terms, accelerated }
        }));
        let measures = self.plan.measures.iter().zip(&self.values);
        for (sample, ((measure, _), value)) in self.totals.iter_mut().zip(measures) {
            value.add_to(sample, measure, run, false);
        }
        self.told.clear();
        self.told.extend(self.figure_values.iter_mut().map(|values| values.of(run, fields)));
        for (figure, told) in self.figures.iter_mut().zip(&self.told) {
            figure.add(*told, run);
        }
        for (sums, table) in self.tables.iter_mut().zip(&self.plan.tables) {
            let mut number = |side: usize| match &mut sums.sides[side] {
                Dimension::Field(values) => values.number_of_run(run, fields),
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
            if !self.told.is_empty() {
                cell.tell(self.plan, &self.told, run);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.total = self.total.plus(other.total);
        self.outside += other.outside;
        self.aside += other.aside;
        self.remarks.merge(other.remarks);
        if let (Some(gaps), Some(other)) = (&mut self.gaps, other.gaps) {
            gaps::merge(gaps, other);
        }
        self.days = both_days(self.days, other.days);
        for (sample, other) in self.totals.iter_mut().zip(other.totals) {
            sample.merge(other);
        }
        let values = self.figure_values.iter_mut().zip(other.figure_values);
        let figure_numbers: Vec<Vec<u32>> = values.map(|(own, other)| own.merge(other)).collect();
        let figure_number = |at: usize, value: u32| figure_numbers[at][value as usize];
        for (at, (figure, other)) in self.figures.iter_mut().zip(&other.figures).enumerate() {
            figure.merge(other, |value| figure_number(at, value));
        }
        let merge = |cell: &mut ReportCell, other: ReportCell| {
            cell.merge_figures(&other, figure_number);
            cell.merge_samples(other);
        };
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
                        merge(&mut cells[at], cell);
                    }
                }
                (ReportCells::Two(cells), ReportCells::Two(others)) => {
                    for ((one, two), cell) in others {
                        let at = (numbers[0][one as usize], numbers[1][two as usize]);
                        merge(cells.entry(at).or_default(), cell);
                    }
                }
                _ => unreachable!("reports of one plan have the same tables"),
            }
        }
    }
}
