//! Tables of a report as charts.

use std::collections::{HashMap, HashSet};

use topas_data::measure::Bounds;
use topas_data::{Label, PercentOf, PeriodAxis, ReportRow, ReportTable, Share, TableSide};

use crate::document::{Document, ReportForm};
use crate::number::{grouped, hours, percentage};
use crate::period::periods;
use crate::row::{is_measure, named};
use crate::text::notes::selected;
use crate::wording::{capital, runs};
use topas_chart::{Arrangement, AxisUnit, BarBucket, BarPlaces, Bars, Caption, Quantity, Series};

/// What the height of a bar is a share of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// The number of runs
    #[default]
    Runs,
    /// PEs x wall clock time
    Time,
}

/// A table as bars: along the axis what it is by, stacked by the second if it is by two.
/// Figures 1 and 2 of the paper are the MFlop/s by type of processor and by language.
pub fn bars(document: &Document<'_>, table: &ReportTable, weight: Weight) -> Bars {
    let counted: Vec<&ReportRow> = table.rows.iter().filter(|row| row.counts).collect();
    let labels = |side: usize| -> Vec<&Label> {
        let used: HashSet<&Label> = counted.iter().map(|row| &row.labels[side]).collect();
        let is_shown = |label: &&Label| table.axes[side].is_some() || used.contains(label);
        table.sides[side].iter().filter(is_shown).collect()
    };
    let places: Vec<&Label> = labels(0);
    let mut bars = Bars::new(
        self::places(&table.by[0], table.axes[0].as_ref(), &places),
        along(&table.by[0]),
        Quantity::new(
            match weight {
                Weight::Runs => "Share of runs",
                Weight::Time => "Share of PE x wall clock time",
            },
            AxisUnit::Percent,
        ),
    );
    if table.percent == PercentOf::Column {
        // Parts of different wholes do not add up.
        bars.arrangement = Arrangement::Beside;
    }
    let of = part(table.of, weight);
    let by_labels: HashMap<(&Label, Option<&Label>), &ReportRow> =
        counted.iter().map(|row| ((&row.labels[0], row.labels.get(1)), *row)).collect();
    let value = |place: &Label, series: Option<&Label>| {
        let row = by_labels.get(&(place, series))?;
        let of = part(row.of, weight);
        (of > 0).then(|| part(row.share, weight) as f64 / of as f64 * 100.0)
    };
    match table.by.get(1) {
        None => {
            bars.series = vec![Series::new("", places.iter().map(|place| value(place, None)))];
        }
        Some(by) => {
            for label in labels(1) {
                let rows = counted.iter().filter(|row| row.labels[1] == *label);
                let sum = rows.map(|row| part(row.share, weight)).sum();
                let name = named(label, is_measure(by)).name;
                let values = places.iter().map(|place| value(place, Some(label)));
                let mut series = Series::new(name, values);
                series.note = percentage(sum, of, 1).map_or_else(String::new, |p| p + "%");
                bars.series.push(series);
            }
        }
    }
    bars.caption = caption(document, table, weight);
    bars
}

fn part(share: Share, weight: Weight) -> u128 {
    match weight {
        Weight::Runs => share.runs.into(),
        Weight::Time => share.time.0,
    }
}

/// What a side of a table is called.
pub(crate) fn title(by: &TableSide) -> String {
    match by {
        TableSide::Measure(measure) => measure.unit.to_owned(),
        TableSide::Field(field) => field.title(),
    }
}

fn along(by: &TableSide) -> Quantity {
    match by {
        TableSide::Measure(measure) => Quantity::new(measure.unit, AxisUnit::Count),
        TableSide::Field(_) => Quantity::new(title(by), AxisUnit::Count),
    }
}

/// Buckets of a measure, periods of the calendar; names of all else.
fn places(by: &TableSide, axis: Option<&PeriodAxis>, labels: &[&Label]) -> BarPlaces {
    if let (TableSide::Field(field), Some(axis)) = (by, axis) {
        return BarPlaces::Periods(periods(field, axis, labels));
    }
    let millionths = |n: u128| n as f64 / 1e6;
    let bucket = |label: &&Label| match label {
        Label::Bucket(Bounds::Between(from, to)) => {
            Some(BarBucket { from: Some(millionths(*from)), to: Some(millionths(*to)) })
        }
        Label::Bucket(Bounds::From(from)) => {
            Some(BarBucket { from: Some(millionths(*from)), to: None })
        }
        _ => None,
    };
    let buckets: Option<Vec<BarBucket>> = labels.iter().map(bucket).collect();
    match buckets {
        Some(buckets) if is_measure(by) => BarPlaces::Buckets(buckets),
        _ => BarPlaces::Categories(
            labels.iter().map(|label| named(label, is_measure(by)).name).collect(),
        ),
    }
}

fn caption(document: &Document<'_>, table: &ReportTable, weight: Weight) -> Caption {
    let report = document.report;
    let first = self::title(&table.by[0]);
    let title = match (table.by.get(1), is_measure(&table.by[0])) {
        (Some(by), _) => capital(&format!("{first} by {}", self::title(by))),
        (None, true) => capital(&first),
        (None, false) => match weight {
            Weight::Runs => format!("Runs by {first}"),
            Weight::Time => format!("PE x wall clock time by {first}"),
        },
    };
    let subtitle = match report.days {
        Some((first, last)) => format!("{} to {}", first, last),
        None => "no runs".to_owned(),
    };
    let each = match table.percent {
        PercentOf::All => None,
        PercentOf::Row => table.by.first().map(self::title),
        PercentOf::Column => table.by.get(1).map(self::title),
    };
    let mut notes = vec![match (each, weight) {
        (Some(each), Weight::Runs) => format!("100% are the runs of each {each}."),
        (Some(each), Weight::Time) => {
            format!("100% are the PE x wall clock time of each {each}.")
        }
        (None, Weight::Runs) => format!("100% are {}.", grouped(&runs(table.of.runs))),
        (None, Weight::Time) => format!(
            "100% are {} PE x wall clock time (h:mm:ss) of {}.",
            grouped(&hours(table.of.time)),
            grouped(&runs(table.of.runs))
        ),
    }];
    let left = report.total.runs - table.of.runs;
    if left > 0 {
        let left = grouped(&runs(left));
        notes.push(format!("Not in it: {left} without a value (not measured)."));
    }
    notes.extend(selected(document));
    Caption { title, subtitle, notes }
}

/// The tables as bars of characters.
#[derive(Clone, Copy, Debug)]
pub struct TerminalBars {
    /// What the terminal can show
    pub screen: topas_chart::Screen,
    /// What the lengths are shares of
    pub weight: Weight,
}

impl ReportForm for TerminalBars {
    fn render(&self, document: &Document<'_>) -> String {
        use topas_chart::Chart;
        let charts = document
            .tables
            .iter()
            .map(|table| bars(document, table, self.weight).terminal(self.screen));
        charts.collect::<Vec<_>>().join("\n")
    }
}
