//! Rows and columns as the forms for programs show them.

use topas_data::measure::{Bounds, Measure, Sample};
use topas_data::{Label, PeTime, PercentOf, ReportRow, ReportTable};
use topas_format::civil::Date;

use crate::number::{exact, pe_seconds, percentage};

/// A label in parts: its name, and the bounds of a bucket.
pub(crate) struct Named {
    pub(crate) name: String,
    /// Lower bound of a bucket
    pub(crate) from: Option<String>,
    /// Upper bound of a bucket that has one
    pub(crate) to: Option<String>,
}

/// What a measure without a value is called.
pub(crate) const NOT_MEASURED: &str = "not measured";

/// The parts of a row's label; `is_measure` tells what is missing in it.
pub(crate) fn named(label: &Label, is_measure: bool) -> Named {
    let only = |name: String| Named { name, from: None, to: None };
    match label {
        Label::Value(text) => only(text.clone()),
        Label::Missing if is_measure => only(NOT_MEASURED.to_owned()),
        Label::Missing => only("-".to_owned()),
        Label::Other(values) => only(format!("other ({values})")),
        Label::Bucket(bounds) => {
            let (from, to) = match *bounds {
                Bounds::Between(from, to) => (Some(exact(from, 6)), Some(exact(to, 6))),
                Bounds::Zero => (Some("0".to_owned()), Some("0".to_owned())),
                Bounds::From(from) => (Some(exact(from, 6)), None),
                Bounds::Missing => (None, None),
            };
            let name = match (&from, &to) {
                (Some(from), Some(to)) if from == to => from.clone(),
                (Some(from), Some(to)) => format!("{from}-{to}"),
                (Some(from), None) => format!(">={from}"),
                _ => NOT_MEASURED.to_owned(),
            };
            Named { name, from, to }
        }
    }
}

/// The labels of a row in parts.
pub(crate) fn names(table: &ReportTable, row: &ReportRow) -> Vec<Named> {
    let sides = row.labels.iter().zip(&table.by);
    sides.map(|(label, by)| named(label, is_measure(by))).collect()
}

pub(crate) fn is_measure(by: &topas_data::TableSide) -> bool {
    matches!(by, topas_data::TableSide::Measure(_))
}

/// Name of a table: what it is by.
pub(crate) fn table_name(table: &ReportTable) -> String {
    table.by.iter().map(|by| by.name()).collect::<Vec<_>>().join(",")
}

/// Runs, their percentage, PE seconds, their percentage; None where there is none.
pub(crate) fn share_cells(row: &ReportRow) -> [Option<String>; 4] {
    [
        Some(row.share.runs.to_string()),
        percentage(row.share.runs.into(), row.of.runs.into(), 4),
        Some(pe_seconds(row.share.time)),
        percentage(row.share.time.0, row.of.time.0, 4),
    ]
}

/// Names of the columns of [`of_cells`].
pub(crate) const OF_COLUMNS: [&str; 2] = ["of_runs", "of_pe_seconds"];

/// What the percentages of a row are of: runs and PE seconds; None if it does not count.
pub(crate) fn of_cells(row: &ReportRow) -> [Option<String>; 2] {
    let cells = [row.of.runs.to_string(), pe_seconds(row.of.time)];
    cells.map(|cell| Some(cell).filter(|_| row.counts))
}

/// Whether percentages in a table are of rows or columns, so that rows say of what.
pub(crate) fn is_of_parts(table: &ReportTable) -> bool {
    table.percent != PercentOf::All
}

/// Names of the columns of [`share_cells`].
pub(crate) const SHARE_COLUMNS: [&str; 4] = ["runs", "runs_percent", "pe_seconds", "time_percent"];

/// Names of the columns of [`sample_cells`], each behind the name of the measure.
pub(crate) const SAMPLE_COLUMNS: [&str; 13] = [
    "runs",
    "none",
    "estimated",
    "mean",
    "q25",
    "q50",
    "q75",
    "quartiles_estimated",
    "sum",
    "sum_pes",
    "sum_of_pes",
    "sum_error",
    "sum_error_part",
];

/// What a form for programs shows of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SampleCell {
    Count(u128),
    Number(f64),
    Flag(bool),
    Time(PeTime),
    Day(Date),
    None,
}

/// Runs with and without a value, those estimated; mean and quartiles; the sum, the PEs it
/// was measured on, those it is of, its standard error, the part of it that is known of.
pub(crate) fn sample_cells(measure: &Measure, sample: &Sample) -> [SampleCell; 13] {
    let number = |value: Option<f64>| value.map_or(SampleCell::None, SampleCell::Number);
    let mean = sample.mean(measure).map(|mean| mean.value);
    let quartiles = sample.quartiles();
    let quartile = |at: usize| number(quartiles.map(|(quartiles, _)| quartiles[at]));
    let sum = sample.sum(measure);
    let spread = sum.and_then(|sum| sum.spread);
    [
        SampleCell::Count(sample.valued.runs.into()),
        SampleCell::Count(sample.without().runs.into()),
        SampleCell::Count(sample.estimated.runs.into()),
        number(mean),
        quartile(0),
        quartile(1),
        quartile(2),
        quartiles.map_or(SampleCell::None, |(_, estimate)| SampleCell::Flag(estimate)),
        number(sum.map(|sum| sum.value)),
        sum.map_or(SampleCell::None, |sum| SampleCell::Count(sum.pes)),
        sum.map_or(SampleCell::None, |sum| SampleCell::Count(sum.all_pes)),
        number(spread.map(|spread| spread.error)),
        number(spread.map(|spread| spread.part)),
    ]
}
