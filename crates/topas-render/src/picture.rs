//! Tables of a report as charts.

use topas_data::measure::Bounds;
use topas_data::{Label, ReportRow, ReportTable, Share, TableSide};

use crate::document::{Document, Form};
use crate::number::{date, hours, percentage};
use crate::row::{is_measure, named};
use crate::text::notes::selected;
use crate::wording::runs;
use topas_chart::{Bars, Bucket, Caption, Places, Quantity, Series, Unit};

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
    let has = |side: usize| {
        let counted = &counted;
        move |label: &&Label| counted.iter().any(|row| row.labels[side] == **label)
    };
    let places: Vec<&Label> = table.sides[0].iter().filter(has(0)).collect();
    let mut bars = Bars::new(
        self::places(&table.by[0], &places),
        along(&table.by[0]),
        Quantity::new(
            match weight {
                Weight::Runs => "Share of runs",
                Weight::Time => "Share of PE x wall clock time",
            },
            Unit::Percent,
        ),
    );
    let of = part(table.of, weight);
    let value = |place: &Label, series: Option<&Label>| {
        let is = |row: &&&ReportRow| {
            row.labels[0] == *place && series.is_none_or(|label| row.labels[1] == *label)
        };
        let row = counted.iter().find(is)?;
        (of > 0).then(|| part(row.share, weight) as f64 / of as f64 * 100.0)
    };
    match table.sides.get(1) {
        None => {
            bars.series = vec![Series::new("", places.iter().map(|place| value(place, None)))];
        }
        Some(labels) => {
            for label in labels.iter().filter(has(1)) {
                let rows = counted.iter().filter(|row| row.labels[1] == *label);
                let sum = rows.map(|row| part(row.share, weight)).sum();
                let name = named(label, is_measure(&table.by[1])).name;
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
fn title(by: &TableSide) -> String {
    match by {
        TableSide::Measure(measure) => measure.unit.to_owned(),
        TableSide::Field(field) => field.title(),
    }
}

fn along(by: &TableSide) -> Quantity {
    match by {
        TableSide::Measure(measure) => Quantity::new(measure.unit, Unit::Count),
        TableSide::Field(_) => Quantity::new(title(by), Unit::Count),
    }
}

/// Buckets of a linear scale; names of all else.
fn places(by: &TableSide, labels: &[&Label]) -> Places {
    let millionths = |n: u128| n as f64 / 1e6;
    let bucket = |label: &&Label| match label {
        Label::Bucket(Bounds::Between(from, to)) => {
            Some(Bucket { from: Some(millionths(*from)), to: Some(millionths(*to)) })
        }
        Label::Bucket(Bounds::From(from)) => {
            Some(Bucket { from: Some(millionths(*from)), to: None })
        }
        _ => None,
    };
    let buckets: Option<Vec<Bucket>> = labels.iter().map(bucket).collect();
    match buckets {
        Some(buckets) if is_measure(by) => Places::Buckets(buckets),
        _ => Places::Categories(
            labels.iter().map(|label| named(label, is_measure(by)).name).collect(),
        ),
    }
}

fn caption(document: &Document<'_>, table: &ReportTable, weight: Weight) -> Caption {
    let report = document.report;
    let capital = |text: String| {
        let mut chars = text.chars();
        chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
    };
    let first = self::title(&table.by[0]);
    let title = match (table.by.get(1), is_measure(&table.by[0])) {
        (Some(by), _) => capital(format!("{first} by {}", self::title(by))),
        (None, true) => capital(first),
        (None, false) => match weight {
            Weight::Runs => format!("Runs by {first}"),
            Weight::Time => format!("PE x wall clock time by {first}"),
        },
    };
    let subtitle = match report.days {
        Some((first, last)) => format!("{} to {}", date(first), date(last)),
        None => "no runs".to_owned(),
    };
    let mut notes = vec![match weight {
        Weight::Runs => format!("100% are {}.", runs(table.of.runs)),
        Weight::Time => format!(
            "100% are {} PE x wall clock time (h:mm:ss) of {}.",
            hours(table.of.time),
            runs(table.of.runs)
        ),
    }];
    let left = report.total.runs - table.of.runs;
    if left > 0 {
        notes.push(format!("Not in it: {} without a value (not measured).", runs(left)));
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

impl Form for TerminalBars {
    fn render(&self, document: &Document<'_>) -> String {
        use topas_chart::Chart;
        let charts = document
            .tables
            .iter()
            .map(|table| bars(document, table, self.weight).terminal(self.screen));
        charts.collect::<Vec<_>>().join("\n")
    }
}
