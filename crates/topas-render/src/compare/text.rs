//! The comparison for people.

use topas_data::measure::Measure;
use topas_data::{CompareRow, CompareTable, CompareVerdict, LEAST_RUNS};

use super::{CompareDocument, quantity, verdict};
use crate::number::{NONE, significant};
use crate::text::measures;
use crate::text::notes::set_aside;
use crate::text::{at_places, columns, cut, fitting, heading, line, no_room, right, rule};
use crate::wording::{TEXT_WIDTH, count, hanging, runs};

/// Digits of values.
const DIGITS: usize = 4;

/// Columns that names need at least.
const LEAST_LABEL: usize = 8;

/// Blanks before the further lines of a note.
const INDENT: usize = 4;

pub(super) fn render(document: &CompareDocument<'_>, width: Option<usize>) -> String {
    let mut out = String::new();
    let notes = width.unwrap_or(TEXT_WIDTH);
    let note = |out: &mut String, text: &str| *out += &hanging(text, notes, INDENT);
    out += &rule("=", notes);
    out += "TOPAS Comparison\n";
    out += &rule("=", notes);
    for side in 0..2 {
        note(&mut out, &document.side(side));
        if let Some(text) = set_aside(document.report.sides[side].aside) {
            note(&mut out, &text);
        }
    }
    let mut left_out = Vec::new();
    for table in document.tables {
        left_out.extend(write(&mut out, table, document.top, width));
    }
    // The same groups are new or gone whatever the measure is.
    let mut said = Vec::new();
    for table in document.tables {
        if said.contains(&&table.by) {
            continue;
        }
        said.push(&table.by);
        for (which, words) in [
            (CompareVerdict::New, "New, with runs in A only"),
            (CompareVerdict::Gone, "Gone, with runs in B only"),
        ] {
            let side = usize::from(which == CompareVerdict::Gone);
            let mut rows: Vec<&CompareRow> =
                table.rows.iter().filter(|row| row.verdict == which).collect();
            rows.sort_by_key(|row| std::cmp::Reverse(row.sides[side].share.time.0));
            if rows.is_empty() {
                continue;
            }
            let name = |row: &&CompareRow| {
                format!("{} ({})", super::label(row), runs(row.sides[side].share.runs))
            };
            let mut names: Vec<String> = rows.iter().take(document.top).map(name).collect();
            if rows.len() > document.top {
                names.push(format!("and {} more", rows.len() - document.top));
            }
            out.push('\n');
            note(&mut out, &format!("{words}: {}.", names.join(", ")));
        }
    }
    out.push('\n');
    out += &no_room(&left_out, notes);
    for text in explanations(document, width) {
        note(&mut out, &text);
    }
    out
}

/// Whether a row stands in the table, not in the lists of what is new or gone.
fn is_listed(row: &&CompareRow) -> bool {
    !matches!(row.verdict, CompareVerdict::New | CompareVerdict::Gone)
}

/// Columns in the order in which they leave lines that are too short.
const FIRST_TO_GO: [&str; 3] = ["+/-", "Num", "A-B"];

/// Writes a table. The names of columns for which there is no room.
fn write(out: &mut String, table: &CompareTable, top: usize, width: Option<usize>) -> Vec<String> {
    let (what, unit) = quantity(table);
    let listed: Vec<&CompareRow> = table.rows.iter().filter(is_listed).collect();
    out.push('\n');
    line(out, format_args!("{what}, {unit}"));
    if listed.is_empty() {
        line(out, format_args!("no group has runs on both sides"));
        return Vec::new();
    }
    let medians = has_medians(table, width);
    let (names, least): (&[&str], &[usize]) = if medians {
        (
            &["A", "+/-", "Num", "Median", "B", "+/-", "Num", "Median", "A-B", "A/B", ""],
            &[6, 5, 5, 6, 6, 5, 5, 6, 7, 5, 8],
        )
    } else {
        (&["A", "+/-", "Num", "B", "+/-", "Num", "A-B", "A/B", ""], &[6, 5, 5, 6, 5, 5, 7, 5, 8])
    };
    let mut cells: Vec<Vec<String>> = vec![names.iter().map(|name| (*name).to_owned()).collect()];
    cells.extend(listed.iter().take(top).map(|row| self::cells(table, row, medians)));
    let widths: Vec<usize> = (0..least.len())
        .map(|at| cells.iter().map(|row| row[at].len()).max().unwrap_or(0).max(least[at]))
        .collect();
    let (kept, left_out) = fitting(&cells[0], &widths, &FIRST_TO_GO, LEAST_LABEL, width);
    let widths = at_places(&widths, &kept);
    let cells: Vec<Vec<String>> = cells.iter().map(|row| at_places(row, &kept)).collect();
    let taken: usize = widths.iter().map(|width| width + 1).sum();
    let by = table.by.iter().map(heading).collect::<Vec<_>>().join(" ");
    let labels = listed.iter().take(top).map(|row| {
        row.labels
            .iter()
            .map(|label| crate::row::named(label, false).name)
            .collect::<Vec<_>>()
            .join(" ")
    });
    let most = width.map_or(usize::MAX, |width| width.saturating_sub(taken).max(7));
    let labels: Vec<String> =
        std::iter::once(by).chain(labels).map(|label| cut(&label, most)).collect();
    let label = labels.iter().map(|label| columns(label)).max().unwrap_or(0).max(7);
    for (at, (text, cells)) in labels.iter().zip(&cells).enumerate() {
        let last = cells.len() - 1;
        let shown: Vec<String> = cells[..last]
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| right(cell, width))
            .chain([cells[last].clone()])
            .collect();
        let row = format!("{} {}", right(text, label), shown.join(" "));
        line(out, format_args!("{}", row.trim_end()));
        if at == 0 {
            *out += &rule("-", label + taken);
        }
    }
    if listed.len() > top {
        let more = count((listed.len() - top) as u64, "row");
        line(out, format_args!("... and {more} more (--top)"));
    }
    left_out
}

/// Columns from which on a table of means has the medians, too.
const WITH_MEDIANS: usize = 100;

/// Whether a table shows the median of each side in lines of so many columns.
fn has_medians(table: &CompareTable, width: Option<usize>) -> bool {
    !table.measure.is_compared_by_sum() && width.is_none_or(|width| width >= WITH_MEDIANS)
}

fn cells(table: &CompareTable, row: &CompareRow, medians: bool) -> Vec<String> {
    let none = || NONE.to_owned();
    let shown = |v: f64| measures::quantity(table.measure, v, DIGITS);
    let value = |value: Option<f64>| value.map_or_else(none, shown);
    let error = |side: usize| match (row.sides[side].value, row.sides[side].error) {
        (Some(value), Some(error)) if value != 0.0 => percent(error / value.abs()),
        _ => none(),
    };
    let difference = row.difference.map_or_else(none, |difference| {
        let sign = if difference > 0.0 { "+" } else { "" };
        format!("{sign}{}", signed(table.measure, difference))
    });
    let ratio = row.ratio.map_or_else(none, |ratio| significant(ratio, 3));
    let mut cells = Vec::new();
    for (at, side) in row.sides.iter().enumerate() {
        cells.extend([value(side.value), error(at), side.runs.to_string()]);
        if medians {
            cells.push(value(side.quartiles.map(|[_, median, _]| median)));
        }
    }
    cells.extend([difference, ratio, verdict(table, row).to_owned()]);
    cells
}

/// A number that may be negative.
fn signed(measure: &Measure, value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", measures::quantity(measure, value.abs(), 3))
}

/// A standard error as a share.
fn percent(share: f64) -> String {
    format!(
        "{}%",
        if share >= 1.0 { significant(share * 100.0, 3) } else { format!("{:.1}", share * 100.0) }
    )
}

fn explanations(document: &CompareDocument<'_>, width: Option<usize>) -> Vec<String> {
    let mut notes = Vec::new();
    if document.tables.iter().any(|table| !table.measure.is_compared_by_sum()) {
        notes.push(
            "Mean: as in other reports, rates weighted by PEs x time. +/-: its standard error by \
             the spread between runs. Num: runs with a value."
                .to_owned(),
        );
    }
    if document.tables.iter().any(|table| has_medians(table, width)) {
        notes.push(
            "Median: of the runs of a side, each counted once; of more than 256 runs off by up to 0.4%."
                .to_owned(),
        );
    }
    if document.tables.iter().any(|table| table.measure.is_compared_by_sum()) {
        notes.push(
            "Sum: over all runs of a side, not by day. +/-: its standard error, if runs come at \
             random."
                .to_owned(),
        );
    }
    let rows = document.tables.iter().flat_map(|table| &table.rows);
    let has = |verdict| rows.clone().any(|row| row.verdict == verdict);
    if has(CompareVerdict::WithinNoise) {
        notes.push(
            "noise: the difference is within its own uncertainty (95%, Welch). Of groups that did \
             not change, one in twenty is taken for changed by chance."
                .to_owned(),
        );
    }
    if has(CompareVerdict::FewRuns) {
        notes.push(format!(
            "few runs: not enough to tell, less than {LEAST_RUNS} with a value on a side."
        ));
    }
    if has(CompareVerdict::NotMeasured) {
        notes.push("- : no value (not measured).".to_owned());
    }
    notes
}
