//! The tables of a report, in order and cut to what is to be shown.

use std::collections::{BTreeMap, BTreeSet};

use super::axis::{self, PeriodAxis, PeriodStep};
use super::dimension::{Dimension, FieldValues};
use super::figure::{Figure, FigureCell, FigureValue};
use super::fold::{LogReport, ReportCell, ReportCells, TableSums};
use super::order::{PercentOf, TableOrder};
use super::report_plan::{DimensionPlace, TablePlan, TableSide};
use crate::field::{FieldKind, Value, label};
use crate::measure::{Bounds, Measure, MeasureBucket, RunNoise, Sample, Scale, SettledScale};
use crate::share::Share;

/// A table.
#[derive(Clone, Debug)]
pub struct ReportTable {
    /// What it is by: one or two
    pub by: Vec<TableSide>,
    /// The labels of each side that rows have, and those of periods without runs, in order
    pub sides: Vec<Vec<Label>>,
    /// For each side the scale of a measure
    pub scales: Vec<Option<SettledScale>>,
    /// For each side the axis of periods, if these follow each other; all of them are labels of
    /// the side, and rows in a table by one
    pub axes: Vec<Option<PeriodAxis>>,
    /// Measures with a sample in each row
    pub columns: Vec<&'static Measure>,
    /// Its rows in order
    pub rows: Vec<ReportRow>,
    /// Figures of each row
    pub figures: Vec<Figure>,
    /// Whether shares are of all, of a row or of a column; of all in a table by one
    pub percent: PercentOf,
    /// All runs, but those without a value of a measure that it is by
    pub of: Share,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct ReportRow {
    /// A label for each thing the table is by
    pub labels: Vec<Label>,
    /// Its runs
    pub share: Share,
    /// Whether it is a part of [`ReportTable::of`]
    pub counts: bool,
    /// What its share is of; nothing if it does not count
    pub of: Share,
    /// A sample for each measure of the table
    pub samples: Vec<Sample>,
    /// A value for each figure of the table
    pub figures: Vec<FigureValue>,
    /// For each measure of the table, if the plan asks for it
    pub(super) noise: Vec<RunNoise>,
}

/// What a row is of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// The value of a field
    Value(String),
    /// A bucket of a measure
    Bucket(Bounds),
    /// A field that is missing, or a measure without a value
    Missing,
    /// So many values together that are not shown by themselves
    Other(usize),
}

impl LogReport<'_> {
    /// The tables in the order of the plan.
    pub fn tables(&self, order: &TableOrder) -> Vec<ReportTable> {
        self.tables.iter().zip(&self.plan.tables).map(|(s, t)| self.table(s, t, order)).collect()
    }

    fn table(&self, sums: &TableSums, table: &TablePlan, order: &TableOrder) -> ReportTable {
        let columns: Vec<_> = table.columns.iter().map(|&at| self.plan.measures[at].0).collect();
        let by: Vec<TableSide> = table
            .by
            .iter()
            .map(|place| match *place {
                DimensionPlace::Field(at) => TableSide::Field(self.plan.fields[at].clone()),
                DimensionPlace::Measure(at) => TableSide::Measure(self.plan.measures[at].0),
            })
            .collect();
        let cells: Vec<([u32; 2], &ReportCell)> = match &sums.cells {
            ReportCells::One(cells) => (0..).map(|n| [n, 0]).zip(cells).collect(),
            ReportCells::Two(cells) => cells.iter().map(|(&(a, b), cell)| ([a, b], cell)).collect(),
        };
        let is_crossed = by.len() > 1;
        let sides: Vec<Side> = (sums.sides.iter().zip(&by).enumerate())
            .map(|(at, (side, by))| {
                if let ReportCells::One(cells) = &sums.cells {
                    // As long as the side.
                    let marginal: Vec<&ReportCell> = cells.iter().collect();
                    return self.side(side, by, &marginal, &columns, order, is_crossed);
                }
                let mut marginal = vec![ReportCell::default(); side.len()];
                for (numbers, cell) in &cells {
                    marginal[numbers[at] as usize].merge((*cell).clone());
                }
                let marginal: Vec<&ReportCell> = marginal.iter().collect();
                self.side(side, by, &marginal, &columns, order, is_crossed)
            })
            .collect();
        // Cells by the ranks of their values; those beyond the top have one rank.
        let mut rows: BTreeMap<[usize; 2], ReportCell> = BTreeMap::new();
        for (numbers, cell) in cells {
            if cell.share.runs == 0 {
                continue;
            }
            let mut ranks = [0; 2];
            for ((rank, side), number) in ranks.iter_mut().zip(&sides).zip(numbers) {
                *rank = side.ranks[number as usize];
            }
            rows.entry(ranks).or_default().merge(cell.clone());
        }
        let periods = |at: usize| match &sides[at] {
            Side { axis: Some(_), periods, .. } => 0..*periods,
            _ => 0..0,
        };
        if !is_crossed {
            let empty = || ReportCell::empty(self.plan, columns.len());
            for rank in periods(0) {
                rows.entry([rank, 0]).or_insert_with(empty);
            }
        }
        let used = |at: usize| {
            let mut ranks: Vec<usize> =
                rows.keys().map(|ranks| ranks[at]).chain(periods(at)).collect();
            ranks.sort_unstable();
            ranks.dedup();
            ranks.into_iter().map(|rank| sides[at].labels[rank].clone()).collect()
        };
        let shown = (0..by.len()).map(used).collect();
        let counts = |ranks: &[usize; 2]| {
            let unmeasured = |((by, side), rank): ((&TableSide, &Side), &usize)| {
                matches!(by, TableSide::Measure(_)) && side.labels[*rank] == Label::Missing
            };
            !by.iter().zip(&sides).zip(ranks).any(unmeasured)
        };
        let percent = if is_crossed { order.percent } else { PercentOf::All };
        let group = |ranks: &[usize; 2]| match percent {
            PercentOf::All => 0,
            PercentOf::Row => ranks[0],
            PercentOf::Column => ranks[1],
        };
        let (mut of, mut of_groups) = (Share::default(), BTreeMap::<usize, Share>::new());
        for (ranks, cell) in rows.iter().filter(|(ranks, _)| counts(ranks)) {
            of = of.plus(cell.share);
            let of_group = of_groups.entry(group(ranks)).or_default();
            *of_group = of_group.plus(cell.share);
        }
        let rows = rows.into_iter().map(|(ranks, cell)| {
            let labels = sides.iter().zip(ranks).map(|(side, rank)| side.labels[rank].clone());
            let counts = counts(&ranks);
            let of = if counts { of_groups.get(&group(&ranks)).copied() } else { None };
            ReportRow {
                labels: labels.collect(),
                share: cell.share,
                counts,
                of: of.unwrap_or_default(),
                samples: cell.samples,
                figures: cell.figures.iter().map(FigureCell::value).collect(),
                noise: cell.noise,
            }
        });
        let rows = rows.collect();
        let figures = self.plan.figures().collect();
        let scales = sides.iter().map(|side| side.scale).collect();
        let axes = sides.into_iter().map(|side| side.axis).collect();
        ReportTable { by, sides: shown, scales, axes, columns, figures, percent, rows, of }
    }

    fn side(
        &self,
        side: &Dimension,
        by: &TableSide,
        marginal: &[&ReportCell],
        columns: &[&'static Measure],
        order: &TableOrder,
        is_crossed: bool,
    ) -> Side {
        match (side, by) {
            (Dimension::Field(values), TableSide::Field(field)) => {
                let kind = field.kind();
                let of = |value: &Option<Box<[u8]>>| match value {
                    Some(key) => Label::Value(label(kind, &Value::of_key(kind, true, key))),
                    None => Label::Missing,
                };
                let step = PeriodStep::of(field).filter(|_| order.keeps_periods(is_crossed));
                if let Some(side) =
                    step.and_then(|step| Side::of_periods(values, kind, step, order))
                {
                    return side;
                }
                let labels: Vec<Label> = values.values.iter().map(of).collect();
                let texts: Vec<String> = labels.iter().map(Label::text).collect();
                let figures: Vec<Figure> = self.plan.figures().collect();
                let sorted = order.of(side, kind, marginal, &texts, columns, &figures);
                let shown = marginal.iter().filter(|cell| order.is_shown(cell)).count();
                Side::of_values(&labels, &sorted, order.top, shown)
            }
            (Dimension::Measure(buckets), _) => {
                Side::of_buckets(&buckets.buckets, self.plan.measures[buckets.measure].1)
            }
            _ => unreachable!("a side is by what its plan says"),
        }
    }
}

/// One side of a table, in order.
struct Side {
    /// Rank of each value by its number
    ranks: Vec<usize>,
    /// Label of each rank; the last is of the rest
    labels: Vec<Label>,
    scale: Option<SettledScale>,
    axis: Option<PeriodAxis>,
    /// Number of periods, which have the first ranks
    periods: usize,
}

impl Side {
    /// Labels by the numbers of values, and the numbers in order, of which at most `most` have rows.
    fn of_values(labels: &[Label], sorted: &[u32], top: Option<usize>, most: usize) -> Self {
        let shown = match top {
            // One row for the rest would not save one.
            Some(top) if sorted.len() > top + 1 => top.min(most),
            _ => most,
        };
        let mut ranks = vec![shown; sorted.len()];
        let mut by_rank = Vec::with_capacity(shown + 1);
        for (rank, &number) in sorted.iter().take(shown).enumerate() {
            ranks[number as usize] = rank;
            by_rank.push(labels[number as usize].clone());
        }
        by_rank.push(Label::Other(sorted.len() - shown));
        Side { ranks, labels: by_rank, scale: None, axis: None, periods: 0 }
    }

    /// Buckets ascend; those that are one in the settled scale have one rank.
    fn of_buckets(buckets: &[MeasureBucket], scale: Scale) -> Self {
        let settled = scale.settled(buckets);
        let coarser = |bucket: &MeasureBucket| scale.coarser(*bucket, &settled.scale);
        let coarse: BTreeSet<MeasureBucket> = buckets.iter().map(coarser).collect();
        let coarse: Vec<MeasureBucket> = coarse.into_iter().collect();
        let rank = |bucket| coarse.binary_search(&coarser(bucket)).unwrap_or_default();
        let label = |bucket: &MeasureBucket| match settled.scale.bounds(*bucket) {
            Bounds::Missing => Label::Missing,
            bounds => Label::Bucket(bounds),
        };
        Side {
            ranks: buckets.iter().map(rank).collect(),
            labels: coarse.iter().map(label).chain([Label::Other(0)]).collect(),
            scale: Some(settled),
            axis: None,
            periods: 0,
        }
    }

    /// Periods ascend, what is missing comes last; None if a value is no number.
    fn of_periods(
        values: &FieldValues,
        kind: FieldKind,
        step: PeriodStep,
        order: &TableOrder,
    ) -> Option<Self> {
        let numbers = values.values.iter().flatten().map(|key| axis::number(kind, key));
        let present: BTreeSet<i128> = numbers.collect::<Option<_>>()?;
        let present: Vec<i128> = present.into_iter().collect();
        let (mut all, mut axis) = step.filled(&present);
        let periods = all.len();
        let rank = |key: &Option<Box<[u8]>>| {
            let number = key.as_ref().and_then(|key| axis::number(kind, key));
            let rank = number.and_then(|number| all.binary_search(&number).ok());
            rank.map_or(periods, |rank| if order.reverse { periods - 1 - rank } else { rank })
        };
        let ranks = values.values.iter().map(rank).collect();
        if order.reverse {
            all.reverse();
            axis.breaks = axis.breaks.iter().rev().map(|at| periods - at).collect();
        }
        let labels = all.iter().map(|&n| Label::Value(label(kind, &Value::Number(n))));
        let labels = labels.chain([Label::Missing, Label::Other(0)]).collect();
        Some(Side { ranks, labels, scale: None, axis: Some(axis), periods })
    }
}

impl Label {
    /// As a word: `-` if missing. Buckets have none.
    pub(super) fn text(&self) -> String {
        match self {
            Label::Value(text) => text.clone(),
            _ => "-".to_owned(),
        }
    }
}
