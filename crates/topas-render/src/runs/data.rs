//! A list of runs for programs.

use serde_json::{Map, Value, json};
use topas_data::{RunListAnswer, RunListPlan, RunRow};

use super::{RUN_ROW_SCHEMA, RUNS_SCHEMA, RunListWriter, day, plain, unit};
use crate::csv::field;
use crate::skipped::foreign_json;

/// Rows, below the names of the columns if they are the first.
pub(super) fn csv(writer: &mut RunListWriter<'_>, rows: &[RunRow]) -> String {
    let columns = &writer.plan.columns;
    let mut out = String::new();
    if !std::mem::replace(&mut writer.begun, true) {
        let names: Vec<String> = columns.iter().map(|column| field(column.name())).collect();
        out = names.join(",") + "\n";
    }
    for row in rows {
        for (at, (column, value)) in columns.iter().zip(&row.cells).enumerate() {
            if at > 0 {
                out.push(',');
            }
            match plain(column, value) {
                None => {}
                Some((true, number)) => out += &number,
                Some((false, text)) => out += &field(&text),
            }
        }
        out.push('\n');
    }
    out
}

/// The members of a run's object.
fn members(plan: &RunListPlan, row: &RunRow) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let both = plan.columns.iter().zip(&row.cells);
    let member = |(column, value)| {
        let value = match plain(column, value) {
            None => "null".to_owned(),
            Some((true, number)) => number,
            Some((false, text)) => quoted(&text),
        };
        format!("{}:{value}", quoted(column.name()))
    };
    both.map(member).collect::<Vec<_>>().join(",")
}

/// Each run as a line.
pub(super) fn json_lines(writer: &mut RunListWriter<'_>, rows: &[RunRow]) -> String {
    let line = |row: &RunRow| {
        format!("{{\"schema\":\"{RUN_ROW_SCHEMA}\",{}}}\n", members(writer.plan, row))
    };
    rows.iter().map(line).collect()
}

/// Rows of the object, below its beginning if they are the first.
pub(super) fn json(writer: &mut RunListWriter<'_>, rows: &[RunRow]) -> String {
    let mut out = String::new();
    if writer.widths.is_empty() {
        // Remembers that the beginning stands there, though there may be no row yet.
        writer.widths.push(0);
        let column = |column: &topas_data::RunColumn| {
            let unit = unit(column);
            json!({ "name": column.name(), "unit": (!unit.is_empty()).then_some(unit) })
        };
        let columns: Vec<Value> = writer.plan.columns.iter().map(column).collect();
        out += &format!(
            "{{\n  \"schema\": \"{RUNS_SCHEMA}\",\n  \"columns\": {},\n  \"runs\": [",
            Value::from(columns)
        );
    }
    for row in rows {
        let comma = if std::mem::replace(&mut writer.begun, true) { "," } else { "" };
        out += &format!("{comma}\n    {{{}}}", members(writer.plan, row));
    }
    out
}

/// The end of the object.
pub(super) fn json_end(plan: &RunListPlan, answer: &RunListAnswer) -> String {
    let days = answer.days.map(|(first, last)| (day(first), day(last)));
    let problems: Map<String, Value> =
        answer.asked.tally.problems().map(|(p, count)| (p.words(), count.into())).collect();
    let rest = json!({
        "sort": plan.sort.name(),
        "reverse": plan.reverse,
        "shown": answer.shown,
        "selected": {
            "runs": answer.total.runs,
            "pe_seconds": answer.total.time.seconds(),
            "first_day": days.as_ref().map(|days| &days.0),
            "last_day": days.as_ref().map(|days| &days.1),
        },
        "without_rates": { "accelerated": answer.accelerated },
        "not_selected": {
            "lines": answer.asked.unwanted,
            "runs": answer.asked.unwanted_runs + answer.outside,
            "accelerated": answer.asked.aside,
        },
        "lines": {
            "good": answer.asked.tally.good,
            "mpi_profile": answer.asked.tally.profile,
            "skipped": answer.asked.tally.skipped(),
            "problems": problems,
            "foreign": foreign_json(&answer.asked.tally.foreign),
        },
    });
    let rest = format!("{rest:#}");
    format!("\n  ],{}\n", rest.trim_start_matches('{'))
}
