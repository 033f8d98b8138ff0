//! Lists of runs, a row each, in any number of portions.

mod data;
mod table;

use topas_data::field::{FieldKind, FieldUnit, MILLION, Value, label};
use topas_data::{RunColumn, RunListAnswer, RunListPlan, RunRow, RunValue};
use topas_format::civil::Date;

use crate::number::{NONE, fixed, hours, machine_text, short, si};
use crate::wording::TEXT_WIDTH;

/// Value of the key `schema` of the object of all runs.
pub const RUNS_SCHEMA: &str = "topas.runs/1";

/// The same in each line of [`RunListForm::JsonLines`].
pub const RUN_ROW_SCHEMA: &str = "topas.runs.row/1";

/// Columns of a list for people that has room for 80 characters.
pub const USUAL_COLUMNS: [&str; 9] =
    ["ended", "job", "user", "exe", "npes", "wall", "pe_hours", "mflops", "end"];

/// Columns of a list for programs, or for people with a wide screen.
pub const ALL_COLUMNS: [&str; 31] = [
    "ended",
    "started",
    "job",
    "step",
    "part",
    "id",
    "user",
    "exe",
    "npes",
    "host",
    "mode",
    "lang",
    "lib",
    "mpi",
    "cc",
    "cputype",
    "wall",
    "pe_hours",
    "mflops",
    "mintops",
    "l1_rate",
    "l1_per_op",
    "sys_share",
    "cpu_use",
    "ipc",
    "rss",
    "thr",
    "end",
    "why",
    "lines",
    "via",
];

/// A form of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunListForm {
    /// For people, in so many columns; None: as many as are needed
    Text(Option<usize>),
    /// Comma separated values
    Csv,
    /// One JSON object
    Json,
    /// A JSON object for each run, one a line
    JsonLines,
}

/// Makes the text of a list, portion by portion.
pub struct RunListWriter<'p> {
    plan: &'p RunListPlan,
    form: RunListForm,
    /// Widths of the columns, as the first portion has them
    widths: Vec<usize>,
    /// Whether a row was written
    begun: bool,
}

impl<'p> RunListWriter<'p> {
    /// Nothing is written yet.
    pub fn new(plan: &'p RunListPlan, form: RunListForm) -> Self {
        RunListWriter { plan, form, widths: Vec::new(), begun: false }
    }

    /// The next rows; before the first of them what stands above.
    pub fn portion(&mut self, rows: &[RunRow]) -> String {
        match self.form {
            RunListForm::Text(width) => table::rows(self, rows, width),
            RunListForm::Csv => data::csv(self, rows),
            RunListForm::Json => data::json(self, rows),
            RunListForm::JsonLines => data::json_lines(self, rows),
        }
    }

    /// What stands below the last row.
    pub fn end(&self, answer: &RunListAnswer) -> String {
        match self.form {
            RunListForm::Text(width) => {
                table::notes(self.plan, answer, width.unwrap_or(TEXT_WIDTH))
            }
            RunListForm::Json => data::json_end(self.plan, answer),
            RunListForm::Csv | RunListForm::JsonLines => String::new(),
        }
    }
}

/// The unit of a column's values for programs; empty if there is none.
pub fn unit(column: &RunColumn) -> &'static str {
    match column {
        RunColumn::Ended | RunColumn::Started => "local time",
        RunColumn::Measure(measure) => measure.unit,
        own => match own.kind() {
            Some(FieldKind::Number(unit)) => unit.symbol(),
            _ => "",
        },
    }
}

/// The heading of a column.
fn heading(column: &RunColumn) -> String {
    match column {
        RunColumn::Ended => "Ended".to_owned(),
        RunColumn::Started => "Started".to_owned(),
        RunColumn::Wall => "Wall".to_owned(),
        RunColumn::Lines => "Lines".to_owned(),
        RunColumn::Field(field) => field.heading(),
        RunColumn::Measure(measure) => measure.heading.to_owned(),
    }
}

/// A local time in µs: `2026-11-20 08:01:02`, whole seconds.
pub fn moment(micros: i128) -> String {
    const DAY: i128 = 86_400 * MILLION;
    let day = label(FieldKind::Day, &Value::Number(micros.div_euclid(DAY) * MILLION));
    day + " " + &label(FieldKind::Time, &Value::Number(micros.rem_euclid(DAY)))
}

/// A day: `2026-11-20`.
pub(crate) fn day(date: Date) -> String {
    label(FieldKind::Day, &Value::whole(date.days()))
}

/// A length of time for people: `12.46 s`, and from a minute on `1:02:03` in hours.
pub fn length(micros: u128) -> String {
    if micros < 59_995_000 {
        return fixed(micros, 6, 2) + " s";
    }
    hours(topas_data::PeTime(micros))
}

/// A value for people.
fn shown(column: &RunColumn, value: &RunValue, narrow: bool) -> String {
    let number = match value {
        RunValue::Missing => return NONE.to_owned(),
        RunValue::Text(text) => return label(FieldKind::Text, &Value::Text(text[..].into())),
        RunValue::Ratio(value) => {
            return match column {
                RunColumn::Measure(measure) if measure.written == FieldUnit::Bytes => {
                    si(*value, "B")
                }
                _ => short(*value),
            };
        }
        RunValue::Number(n) => *n,
    };
    match (column, column.kind()) {
        (RunColumn::Ended | RunColumn::Started, _) => {
            let mut text = moment(number);
            // The seconds give way on a narrow screen.
            text.truncate(if narrow { 16 } else { text.len() });
            text
        }
        (_, Some(FieldKind::Number(FieldUnit::Seconds))) if number >= 0 => {
            length(number.unsigned_abs())
        }
        (_, Some(FieldKind::Number(FieldUnit::Bytes))) => si(number as f64 / 1e6, "B"),
        (_, Some(kind)) => label(kind, &Value::Number(number)),
        (_, None) => NONE.to_owned(),
    }
}

/// A value for programs: whether it is a number, and its text; None if there is none.
fn plain(column: &RunColumn, value: &RunValue) -> Option<(bool, String)> {
    let number = match value {
        RunValue::Missing => return None,
        RunValue::Text(text) => {
            return Some((false, label(FieldKind::Text, &Value::Text(text[..].into()))));
        }
        RunValue::Ratio(value) => return Some((true, machine_text(*value))),
        RunValue::Number(n) => *n,
    };
    Some(match (column, column.kind()?) {
        (RunColumn::Ended | RunColumn::Started, _) => (false, moment(number)),
        (_, kind) => {
            let text = label(kind, &Value::Number(number));
            (matches!(kind, FieldKind::Number(_)), text)
        }
    })
}

/// Whether a column begins at the left, as texts do.
fn is_text(column: &RunColumn) -> bool {
    match column {
        RunColumn::Ended | RunColumn::Started => true,
        own => own.kind().is_some_and(|kind| !matches!(kind, FieldKind::Number(_))),
    }
}
