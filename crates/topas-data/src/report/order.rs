//! The order of rows, and how many are shown.

use std::cmp::{Ordering, Reverse};

use super::dimension::Dimension;
use super::figure::Figure;
use super::fold::ReportCell;
use crate::field::FieldKind;
use crate::measure::Measure;

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SortKey {
    /// The value of the field
    Name,
    /// Number of runs, the most first
    Runs,
    /// PEs x time, the most first
    Time,
    /// The mean of a measure, or its sum ([`Measure::is_sorted_by_sum`]), the highest first; those
    /// without come last
    Mean(&'static Measure),
    /// A figure, the highest number or rate first; those without come last
    Figure(Figure),
}

/// What the shares of a crossed table are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PercentOf {
    /// All rows
    #[default]
    All,
    /// The rows with the same value of the first side
    Row,
    /// The rows with the same value of the second side
    Column,
}

/// How the rows of a table are shown. Buckets ascend whatever this says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TableOrder {
    /// None: fields with an order of their own ascend, texts by number of runs; with
    /// [`TableOrder::top`] by time
    pub sort: Option<SortKey>,
    /// The other way round, but what has no value stays last
    pub reverse: bool,
    /// Of each field only so many values, in this order; the rest becomes one. Periods of the
    /// calendar are whole, unless a table is by one alone and has another order
    pub top: Option<usize>,
    /// Of each field only values with so many runs; those with fewer join the rest, as what they
    /// have is one run's chance. Periods of the calendar are whole as above
    pub min_runs: u64,
    /// What the shares of a crossed table are of
    pub percent: PercentOf,
}

impl TableOrder {
    /// Whether periods of the calendar follow each other along a side.
    pub(super) fn keeps_periods(&self, is_crossed: bool) -> bool {
        is_crossed || matches!(self.sort, None | Some(SortKey::Name))
    }

    /// Whether a value has runs enough for a row of its own.
    pub(super) fn is_shown(&self, cell: &ReportCell) -> bool {
        cell.share.runs >= self.min_runs
    }

    /// What rows are sorted by, if it is the same for all fields.
    pub fn key(&self) -> Option<SortKey> {
        self.sort.or(self.top.map(|_| SortKey::Time))
    }

    /// The numbers of a field's values in their order, those with too few runs last. `sums` has all
    /// runs of each value, `labels` its text, `columns` the measures of the samples, `figures` the
    /// figures.
    pub(super) fn of(
        &self,
        side: &Dimension,
        kind: FieldKind,
        sums: &[&ReportCell],
        labels: &[String],
        columns: &[&'static Measure],
        figures: &[Figure],
    ) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..side.len() as u32).collect();
        let values = match side {
            Dimension::Measure(_) => return numbers,
            Dimension::Field(values) => &values.values,
        };
        let is_text = kind == FieldKind::Text;
        let by_name = |a: usize, b: usize| {
            // What is missing comes last, but among texts, where it is a word like others.
            let rank = |n: usize| (!is_text && values[n].is_none(), &values[n]);
            if is_text { labels[a].cmp(&labels[b]) } else { rank(a).cmp(&rank(b)) }
        };
        let sort = self.key();
        let figure_of = |cell: &ReportCell, figure: Figure| {
            let place = figures.iter().position(|known| *known == figure)?;
            cell.figures.get(place)?.value().rank()
        };
        let mean_of = |cell: &ReportCell, measure: &'static Measure| {
            let place = columns.iter().position(|column| *column == measure)?;
            let sample = cell.samples.get(place)?;
            match measure.is_sorted_by_sum() {
                true => sample.sum(measure).map(|sum| sum.value),
                false => sample.mean(measure).map(|mean| mean.value),
            }
        };
        // Neither the slowest nor the fastest has no speed.
        let has_value = |n: usize| match sort {
            Some(SortKey::Figure(figure)) => figure_of(sums[n], figure).is_some(),
            Some(SortKey::Mean(measure)) => mean_of(sums[n], measure).is_some(),
            None | Some(SortKey::Name) => is_text || values[n].is_some(),
            Some(SortKey::Runs | SortKey::Time) => true,
        };
        let compare = |a: usize, b: usize| -> Ordering {
            let (one, other) = (sums[a], sums[b]);
            match sort {
                None if is_text => one.share.runs.cmp(&other.share.runs).then(by_name(a, b)),
                None | Some(SortKey::Name) => by_name(a, b),
                Some(SortKey::Runs) => {
                    Reverse(one.share.runs).cmp(&Reverse(other.share.runs)).then(by_name(a, b))
                }
                Some(SortKey::Time) => {
                    Reverse(one.share.time).cmp(&Reverse(other.share.time)).then(by_name(a, b))
                }
                Some(SortKey::Figure(figure)) => {
                    descending(figure_of(one, figure), figure_of(other, figure)).then(by_name(a, b))
                }
                Some(SortKey::Mean(measure)) => {
                    descending(mean_of(one, measure), mean_of(other, measure)).then(by_name(a, b))
                }
            }
        };
        numbers.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            let order = compare(a, b);
            let order = if self.reverse { order.reverse() } else { order };
            let is_shown = |n: usize| self.is_shown(sums[n]);
            is_shown(b).cmp(&is_shown(a)).then(has_value(b).cmp(&has_value(a))).then(order)
        });
        numbers
    }
}

/// The highest first, None last.
fn descending(one: Option<f64>, other: Option<f64>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => other.total_cmp(&one),
        // None is less than any number.
        (one, other) => other.is_some().cmp(&one.is_some()),
    }
}
