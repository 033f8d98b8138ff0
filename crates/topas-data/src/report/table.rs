//! The tables of a report, in order and cut to what is to be shown.

use std::collections::BTreeMap;

use super::dimension::Dimension;
use super::fold::{LogReport, ReportCell, ReportCells, TableSums};
use super::order::TableOrder;
use super::report_plan::{DimensionPlace, TablePlan, TableSide};
use crate::field::{FieldKind, Value, label};
use crate::measure::{Bounds, Measure, MeasureBucket, Sample};
use crate::share::Share;

/// A table.
#[derive(Clone, Debug)]
pub struct ReportTable {
    /// What it is by: one or two
    pub by: Vec<TableSide>,
    /// The labels of each side that rows have, in order
    pub sides: Vec<Vec<Label>>,
    /// Measures with a sample in each row
    pub columns: Vec<&'static Measure>,
    /// Its rows in order
    pub rows: Vec<ReportRow>,
    /// What shares are of: all runs, but those without a value of a measure that it is by
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
    /// A sample for each measure of the table
    pub samples: Vec<Sample>,
}

/// What a row is of.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        let sides: Vec<Side> = (sums.sides.iter().zip(&by).enumerate())
            .map(|(at, (side, by))| {
                if let ReportCells::One(cells) = &sums.cells {
                    // As long as the side.
                    let marginal: Vec<&ReportCell> = cells.iter().collect();
                    return self.side(side, by, &marginal, &columns, order);
                }
                let mut marginal = vec![ReportCell::default(); side.len()];
                for (numbers, cell) in &cells {
                    marginal[numbers[at] as usize].merge((*cell).clone());
                }
                let marginal: Vec<&ReportCell> = marginal.iter().collect();
                self.side(side, by, &marginal, &columns, order)
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
        let used = |at: usize| {
            let mut ranks: Vec<usize> = rows.keys().map(|ranks| ranks[at]).collect();
            ranks.sort_unstable();
            ranks.dedup();
            ranks.into_iter().map(|rank| sides[at].labels[rank].clone()).collect()
        };
        let shown = (0..by.len()).map(used).collect();
        let mut of = Share::default();
        let rows = rows
            .into_iter()
            .map(|(ranks, cell)| {
                let labels: Vec<_> =
                    sides.iter().zip(ranks).map(|(side, rank)| side.labels[rank].clone()).collect();
                let unmeasured = |(by, label): (&TableSide, &Label)| {
                    matches!(by, TableSide::Measure(_)) && *label == Label::Missing
                };
                let counts = !by.iter().zip(&labels).any(unmeasured);
                if counts {
                    of = of.plus(cell.share);
                }
                ReportRow { labels, share: cell.share, counts, samples: cell.samples }
            })
            .collect();
        ReportTable { by, sides: shown, columns, rows, of }
    }

    fn side(
        &self,
        side: &Dimension,
        by: &TableSide,
        marginal: &[&ReportCell],
        columns: &[&'static Measure],
        order: &TableOrder,
    ) -> Side {
        let (kind, labels): (Option<FieldKind>, Vec<Label>) = match (side, by) {
            (Dimension::Field(values), TableSide::Field(field)) => {
                let kind = field.kind();
                let of = |value: &Option<Box<[u8]>>| match value {
                    Some(key) => Label::Value(label(kind, &Value::of_key(kind, true, key))),
                    None => Label::Missing,
                };
                (Some(kind), values.values.iter().map(of).collect())
            }
            (Dimension::Measure(buckets), _) => {
                let scale = self.plan.measures[buckets.measure].1;
                let of = |bucket: &MeasureBucket| match scale.bounds(*bucket) {
                    Bounds::Missing => Label::Missing,
                    bounds => Label::Bucket(bounds),
                };
                (None, buckets.buckets.iter().map(of).collect())
            }
            _ => unreachable!("a side is by what its plan says"),
        };
        let texts: Vec<String> = labels.iter().map(Label::text).collect();
        let sorted = order.of(side, kind, marginal, &texts, columns);
        let shown = match order.top {
            // One row for the rest would not save one.
            Some(top) if kind.is_some() && sorted.len() > top + 1 => top,
            _ => sorted.len(),
        };
        let mut ranks = vec![shown; sorted.len()];
        let mut by_rank = Vec::with_capacity(shown + 1);
        for (rank, &number) in sorted.iter().take(shown).enumerate() {
            ranks[number as usize] = rank;
            by_rank.push(labels[number as usize].clone());
        }
        by_rank.push(Label::Other(sorted.len() - shown));
        Side { ranks, labels: by_rank }
    }
}

/// One side of a table, in order.
struct Side {
    /// Rank of each value by its number
    ranks: Vec<usize>,
    /// Label of each rank; the last is of the rest
    labels: Vec<Label>,
}

impl Label {
    /// As a word: `-` if missing. Buckets have none.
    fn text(&self) -> String {
        match self {
            Label::Value(text) => text.clone(),
            _ => "-".to_owned(),
        }
    }
}
