//! The tables of a report, in order and cut to what is to be shown.

use std::collections::BTreeMap;

use super::dimension::Dimension;
use super::fold::{Cell, Cells, Report, Sums};
use super::order::Order;
use super::plan::{By, Place, TablePlan};
use crate::field::{Kind, Value, label};
use crate::measure::{Bounds, Bucket, Measure, Sample};
use crate::share::Share;

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// What it is by: one or two
    pub by: Vec<By>,
    /// The labels of each side that rows have, in order
    pub sides: Vec<Vec<Label>>,
    /// Measures with a sample in each row
    pub columns: Vec<&'static Measure>,
    /// Its rows in order
    pub rows: Vec<Row>,
    /// What shares are of: all runs, but those without a value of a measure that it is by
    pub of: Share,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// A label for each thing the table is by
    pub labels: Vec<Label>,
    /// Its runs
    pub share: Share,
    /// Whether it is a part of [`Table::of`]
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

impl Report<'_> {
    /// The tables in the order of the plan.
    pub fn tables(&self, order: &Order) -> Vec<Table> {
        self.tables.iter().zip(&self.plan.tables).map(|(s, t)| self.table(s, t, order)).collect()
    }

    fn table(&self, sums: &Sums, table: &TablePlan, order: &Order) -> Table {
        let columns: Vec<_> = table.columns.iter().map(|&at| self.plan.measures[at].0).collect();
        let by: Vec<By> = table
            .by
            .iter()
            .map(|place| match *place {
                Place::Field(at) => By::Field(self.plan.fields[at].clone()),
                Place::Measure(at) => By::Measure(self.plan.measures[at].0),
            })
            .collect();
        let cells: Vec<([u32; 2], &Cell)> = match &sums.cells {
            Cells::One(cells) => (0..).map(|n| [n, 0]).zip(cells).collect(),
            Cells::Two(cells) => cells.iter().map(|(&(a, b), cell)| ([a, b], cell)).collect(),
        };
        let sides: Vec<Side> = (sums.sides.iter().zip(&by).enumerate())
            .map(|(at, (side, by))| {
                if let Cells::One(cells) = &sums.cells {
                    // As long as the side.
                    let marginal: Vec<&Cell> = cells.iter().collect();
                    return self.side(side, by, &marginal, &columns, order);
                }
                let mut marginal = vec![Cell::default(); side.len()];
                for (numbers, cell) in &cells {
                    marginal[numbers[at] as usize].merge((*cell).clone());
                }
                let marginal: Vec<&Cell> = marginal.iter().collect();
                self.side(side, by, &marginal, &columns, order)
            })
            .collect();
        // Cells by the ranks of their values; those beyond the top have one rank.
        let mut rows: BTreeMap<[usize; 2], Cell> = BTreeMap::new();
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
                let unmeasured = |(by, label): (&By, &Label)| {
                    matches!(by, By::Measure(_)) && *label == Label::Missing
                };
                let counts = !by.iter().zip(&labels).any(unmeasured);
                if counts {
                    of = of.plus(cell.share);
                }
                Row { labels, share: cell.share, counts, samples: cell.samples }
            })
            .collect();
        Table { by, sides: shown, columns, rows, of }
    }

    fn side(
        &self,
        side: &Dimension,
        by: &By,
        marginal: &[&Cell],
        columns: &[&'static Measure],
        order: &Order,
    ) -> Side {
        let (kind, labels): (Option<Kind>, Vec<Label>) = match (side, by) {
            (Dimension::Field(values), By::Field(field)) => {
                let kind = field.kind();
                let of = |value: &Option<Box<[u8]>>| match value {
                    Some(key) => Label::Value(label(kind, &Value::of_key(kind, true, key))),
                    None => Label::Missing,
                };
                (Some(kind), values.values.iter().map(of).collect())
            }
            (Dimension::Measure(buckets), _) => {
                let scale = self.plan.measures[buckets.measure].1;
                let of = |bucket: &Bucket| match scale.bounds(*bucket) {
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
