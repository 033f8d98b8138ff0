//! JSON: one object, or one for each row.

use serde_json::{Map, Value, json};
use topas_data::measure::{BucketSize, Measure, Sample, ScaleKind, SettledScale};
use topas_data::{Figure, FigureValue, PercentOf, ReportRow, ReportTable, Share, TableSide};

use crate::document::{Document, ReportForm};
use crate::endings;
use crate::figure::{figure_cells, figure_columns, iso_day};
use crate::number::{exact, machine, percentage};
use crate::row::{SAMPLE_COLUMNS, SampleCell, is_of_parts, names, sample_cells, table_name};
use crate::skipped::foreign_json;

/// Value of the key `schema`; it changes if the meaning of a key does.
pub const SCHEMA: &str = "topas.stat/2";

/// The same in each line of [`JsonLines`].
pub const ROW_SCHEMA: &str = "topas.stat.row/1";

/// One object, indented. Not measured is null.
pub struct Json;

/// An object for each row of each table, one a line.
pub struct JsonLines;

impl ReportForm for Json {
    fn render(&self, document: &Document<'_>) -> String {
        let report = document.report;
        let days = report.days.map(|(first, last)| (first.to_string(), last.to_string()));
        let measures: Vec<Value> = report.measures().map(|(m, sample)| total(m, sample)).collect();
        let tables: Vec<Value> = document
            .tables
            .iter()
            .map(|table| {
                let rows: Vec<Value> =
                    table.rows.iter().map(|row| Value::Object(self::row(table, row))).collect();
                let by: Vec<&str> = table.by.iter().map(|by| by.name()).collect();
                let percent_of = match table.percent {
                    PercentOf::All => "all",
                    PercentOf::Row => "row",
                    PercentOf::Column => "column",
                };
                json!({
                    "by": by,
                    "scales": scales(table),
                    "percent_of": percent_of,
                    "of": plain(table.of),
                    "rows": rows,
                })
            })
            .collect();
        let remarks = &report.remarks;
        let problems: Map<String, Value> =
            document.tally.problems().map(|(p, count)| (p.words(), count.into())).collect();
        let object = json!({
            "schema": SCHEMA,
            "first_day": days.as_ref().map(|days| &days.0),
            "last_day": days.as_ref().map(|days| &days.1),
            "runs": report.total.runs,
            "pe_seconds": report.total.time.seconds(),
            "figures": figures(report.figures()),
            "measures": measures,
            "tables": tables,
            "sacct": document.coverage.map(crate::sacct::note_json),
            "endings": report.gaps.as_ref().map(endings::json),
            "not_selected": {
                "lines": document.unwanted,
                "runs": document.unwanted_runs + report.outside,
                "accelerated": document.aside,
            },
            "lines": {
                "good": document.tally.good,
                "mpi_profile": document.tally.profile,
                "skipped": document.tally.skipped(),
                "problems": problems,
                "foreign": foreign_json(&document.tally.foreign),
            },
            "remarks": {
                "runs_with_one_line": remarks.single,
                "duplicated_lines": remarks.duplicates,
                "lines_with_clock_jump": remarks.zone,
                "lines_of_impossible_time": remarks.span,
                "runs_with_clocks_apart": remarks.apart,
            },
        });
        format!("{object:#}\n")
    }
}

impl ReportForm for JsonLines {
    fn render(&self, document: &Document<'_>) -> String {
        let mut out = String::new();
        for table in document.tables {
            for row in &table.rows {
                let mut object = Map::new();
                object.insert("schema".to_owned(), ROW_SCHEMA.into());
                object.insert("table".to_owned(), table_name(table).into());
                object.extend(self::row(table, row));
                out += &Value::Object(object).to_string();
                out.push('\n');
            }
        }
        out
    }
}

/// A decimal number of ours as a JSON number.
fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

fn plain(share: Share) -> Value {
    json!({ "runs": share.runs, "pe_seconds": share.time.seconds() })
}

/// For each thing that a table is by the scale of a measure's buckets; null of a field.
fn scales(table: &ReportTable) -> Vec<Value> {
    let scale = |(by, settled): (&TableSide, &Option<SettledScale>)| {
        let Some(SettledScale { scale, linear }) = settled else { return Value::Null };
        let bound = |size: BucketSize| number(&exact(size.millionths().into(), 6));
        let (kind, bucket) = match scale.kind {
            ScaleKind::Linear(size) => ("linear", bound(size)),
            _ => ("logarithmic", None),
        };
        json!({
            "measure": by.name(),
            "kind": kind,
            "bucket": bucket,
            "upper": scale.upper.and_then(bound),
            "from_data": linear.is_some(),
            "linear_bucket": linear.and_then(|(size, _)| bound(size)),
            "linear_rows": linear.map(|(_, rows)| rows),
        })
    };
    table.by.iter().zip(&table.scales).map(scale).collect()
}

/// A measure over all runs.
fn total(measure: &Measure, sample: &Sample) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), measure.name.into());
    object.insert("unit".to_owned(), measure.unit.into());
    object.insert("sum_of".to_owned(), measure.sum.0.into());
    object.insert("sum_unit".to_owned(), measure.sum.1.into());
    object.insert("valued".to_owned(), plain(sample.valued));
    let none = json!({
        "uncounted": plain(sample.uncounted),
        "zero": plain(sample.zero),
        "accelerated": plain(sample.accelerated),
    });
    object.insert("not_measured".to_owned(), none);
    object.extend(cells(measure, sample));
    Value::Object(object)
}

/// A cell as JSON; null if there is none.
pub(crate) fn value(cell: SampleCell) -> Value {
    match cell {
        SampleCell::Count(n) => u64::try_from(n).map_or_else(|_| json!(n as f64), Value::from),
        SampleCell::Number(n) => json!(machine(n)),
        SampleCell::Flag(flag) => json!(flag),
        SampleCell::Time(time) => json!(time.seconds()),
        SampleCell::Day(day) => iso_day(day).into(),
        SampleCell::None => Value::Null,
    }
}

fn cells(measure: &Measure, sample: &Sample) -> Map<String, Value> {
    let cells = sample_cells(measure, sample).map(value);
    SAMPLE_COLUMNS.iter().map(|name| (*name).to_owned()).zip(cells).collect()
}

fn figures(figures: impl Iterator<Item = (Figure, FigureValue)>) -> Value {
    let figure = |(figure, told): (Figure, FigureValue)| {
        let cells = figure_cells(&told).into_iter().map(value);
        let names = figure_columns(figure).iter().map(|name| (*name).to_owned());
        (figure.name().to_owned(), Value::Object(names.zip(cells).collect()))
    };
    Value::Object(figures.map(figure).collect())
}

fn row(table: &ReportTable, row: &ReportRow) -> Map<String, Value> {
    let mut object = Map::new();
    for (label, side) in names(table, row).into_iter().zip(["", "2"]) {
        let is_bucket = label.from.is_some();
        object.insert(format!("name{side}"), label.name.into());
        if is_bucket {
            let bound = |text: Option<String>| text.as_deref().and_then(number);
            object.insert(format!("from{side}"), json!(bound(label.from)));
            object.insert(format!("to{side}"), json!(bound(label.to)));
        }
    }
    let of = row.of;
    let part = |part, whole| percentage(part, whole, 4).as_deref().and_then(number);
    object.insert("runs".to_owned(), row.share.runs.into());
    object.insert("runs_percent".to_owned(), json!(part(row.share.runs.into(), of.runs.into())));
    object.insert("pe_seconds".to_owned(), json!(row.share.time.seconds()));
    object.insert("time_percent".to_owned(), json!(part(row.share.time.0, of.time.0)));
    if is_of_parts(table) {
        object.insert("of".to_owned(), row.counts.then(|| plain(of)).into());
    }
    if !table.figures.is_empty() {
        let figures = table.figures.iter().zip(&row.figures);
        object.insert("figures".to_owned(), self::figures(figures.map(|(f, v)| (*f, *v))));
    }
    if !table.columns.is_empty() {
        let samples = table.columns.iter().zip(&row.samples);
        let measures: Map<String, Value> = samples
            .map(|(m, sample)| (m.name.to_owned(), Value::Object(cells(m, sample))))
            .collect();
        object.insert("measures".to_owned(), Value::Object(measures));
    }
    object
}
