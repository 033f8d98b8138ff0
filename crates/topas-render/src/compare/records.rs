//! A comparison for programs: one record for each group and measure.

use serde_json::{Map, Value, json};
use topas_data::{CompareRow, CompareTable};

use super::{CompareDocument, SIDES, verdict};
use crate::csv::{field, text_of};
use crate::json::value;
use crate::number::pe_seconds;
use crate::row::{SampleCell, named};

/// Value of the key `schema` of a comparison.
pub const COMPARE_SCHEMA: &str = "topas.stat.compare/1";

/// The same in each line of JSON lines.
const ROW_SCHEMA: &str = "topas.stat.compare.row/1";

/// A cell of a record.
enum RecordCell {
    Text(String),
    Number(SampleCell),
}

/// Names and cells of a row; all rows have the same names but for `name2`.
fn record(table: &CompareTable, row: &CompareRow, sides: usize) -> Vec<(String, RecordCell)> {
    let by: Vec<&str> = table.by.iter().map(|by| by.name()).collect();
    let number =
        |n: Option<f64>| RecordCell::Number(n.map_or(SampleCell::None, SampleCell::Number));
    let count = |n: u64| RecordCell::Number(SampleCell::Count(n.into()));
    let text = |text: &str| RecordCell::Text(text.to_owned());
    let is_sum = table.measure.is_compared_by_sum();
    let mut cells = vec![
        ("table".to_owned(), RecordCell::Text(by.join(","))),
        ("measure".to_owned(), text(table.measure.name)),
        ("of".to_owned(), text(if is_sum { "sum" } else { "mean" })),
    ];
    for side in 0..sides {
        let name = row.labels.get(side).map_or_else(String::new, |label| named(label, false).name);
        let key = if side == 0 { "name".to_owned() } else { format!("name{}", side + 1) };
        cells.push((key, RecordCell::Text(name)));
    }
    cells.push(("verdict".to_owned(), text(verdict(table, row))));
    cells.push(("difference".to_owned(), number(row.difference)));
    cells.push(("ratio".to_owned(), number(row.ratio)));
    cells.push(("difference_error95".to_owned(), number(row.error)));
    for (side, name) in row.sides.iter().zip(SIDES) {
        let name = |what: &str| format!("{}_{what}", name.to_lowercase());
        let quartile = |at: usize| number(side.quartiles.map(|quartiles| quartiles[at]));
        cells.extend([
            (name("runs"), count(side.share.runs)),
            (name("pe_seconds"), number(pe_seconds(side.share.time).parse().ok())),
            (name("valued"), count(side.runs)),
            (name("value"), number(side.value)),
            (name("error"), number(side.error)),
            (name("q25"), quartile(0)),
            (name("q50"), quartile(1)),
            (name("q75"), quartile(2)),
        ]);
    }
    cells
}

fn sides(document: &CompareDocument<'_>) -> usize {
    document.tables.iter().map(|table| table.by.len()).max().unwrap_or(1)
}

fn records<'d>(
    document: &'d CompareDocument<'_>,
) -> impl Iterator<Item = Vec<(String, RecordCell)>> + 'd {
    let sides = sides(document);
    let of_table =
        move |table: &'d CompareTable| table.rows.iter().map(move |row| record(table, row, sides));
    document.tables.iter().flat_map(of_table)
}

pub(super) fn csv(document: &CompareDocument<'_>) -> String {
    let mut out = String::new();
    for record in records(document) {
        if out.is_empty() {
            let names: Vec<&str> = record.iter().map(|(name, _)| name.as_str()).collect();
            out = names.join(",") + "\n";
        }
        let cells = record.into_iter().map(|(_, cell)| match cell {
            RecordCell::Text(text) => field(&text),
            RecordCell::Number(number) => text_of(number).unwrap_or_default(),
        });
        out += &cells.collect::<Vec<_>>().join(",");
        out.push('\n');
    }
    out
}

fn object(record: Vec<(String, RecordCell)>) -> Map<String, Value> {
    let cell = |(name, cell): (String, RecordCell)| match cell {
        RecordCell::Text(text) => (name, text.into()),
        RecordCell::Number(number) => (name, value(number)),
    };
    record.into_iter().map(cell).collect()
}

pub(super) fn json(document: &CompareDocument<'_>) -> String {
    let rows: Vec<Value> = records(document).map(|record| Value::Object(object(record))).collect();
    let side = |at: usize| {
        let report = &document.report.sides[at];
        json!({
            "of": document.sides[at],
            "first_day": report.days.map(|(first, _)| first.to_string()),
            "last_day": report.days.map(|(_, last)| last.to_string()),
            "runs": report.total.runs,
            "pe_seconds": report.total.time.seconds(),
        })
    };
    let object = json!({
        "schema": COMPARE_SCHEMA,
        "a": side(0),
        "b": side(1),
        "rows": rows,
        "lines": { "good": document.tally.good, "skipped": document.tally.skipped() },
    });
    format!("{object:#}\n")
}

pub(super) fn json_lines(document: &CompareDocument<'_>) -> String {
    let line = |record| {
        let mut object = object(record);
        object.insert("schema".to_owned(), ROW_SCHEMA.into());
        Value::Object(object).to_string() + "\n"
    };
    records(document).map(line).collect()
}

pub(super) fn gnuplot(document: &CompareDocument<'_>) -> String {
    let mut out = String::from("# TOPAS comparison\n# set datafile missing \"-\"\n");
    let mut before = None;
    let mut index = 0;
    let sides = sides(document);
    for table in document.tables {
        for row in &table.rows {
            let record = record(table, row, sides);
            let names: Vec<&str> = record.iter().map(|(name, _)| name.as_str()).collect();
            let this = (table.measure.name, std::ptr::from_ref(table));
            if before != Some(this) {
                if before.is_some() {
                    out += "\n\n";
                    index += 1;
                }
                let measure = table.measure.name;
                out += &format!("# index {index}: {measure}\n# columns: {}\n", names.join(", "));
                before = Some(this);
            }
            let cells = record.iter().map(|(_, cell)| match cell {
                RecordCell::Text(text) => crate::gnuplot::string(text),
                RecordCell::Number(number) => text_of(*number).unwrap_or_else(|| "-".to_owned()),
            });
            out += &cells.collect::<Vec<_>>().join(" ");
            out.push('\n');
        }
    }
    out
}

pub(super) fn r(document: &CompareDocument<'_>) -> String {
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    for record in records(document) {
        for (at, (name, cell)) in record.into_iter().enumerate() {
            let cell = match cell {
                RecordCell::Text(text) => crate::r::string(&text),
                RecordCell::Number(number) => {
                    text_of(number).unwrap_or_else(|| "NA_real_".to_owned())
                }
            };
            if columns.len() <= at {
                columns.push((name, Vec::new()));
            }
            columns[at].1.push(cell);
        }
    }
    let columns: Vec<String> = columns
        .iter()
        .map(|(name, cells)| format!("  {name} = c({})", cells.join(", ")))
        .chain(["  stringsAsFactors = FALSE".to_owned()])
        .collect();
    format!("# source(\"FILE\"); str(topas)\ntopas <- data.frame(\n{}\n)\n", columns.join(",\n"))
}
