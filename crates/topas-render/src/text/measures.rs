//! The table of a measure: how many runs have a value, mean, quartiles, sum and its error.

use topas_data::field::FieldUnit;
use topas_data::measure::{Measure, Sample};
use topas_data::{ReportRow, ReportTable};

use super::{at_places, columns, fitting, join, labels, least_room, line, right, rule};
use crate::number::{NONE, error_percent, si_bare, significant};

/// Digits of a value.
const DIGITS: usize = 4;

/// Digits of an estimated quartile.
const ESTIMATED_DIGITS: usize = 3;

/// Columns in the order in which they leave lines that are too short.
const FIRST_TO_GO: [&str; 6] = ["+/-", "None", "Sum", "Q25", "Q75", "Num"];

/// Writes the table of one column; all is said of it in the notes. The names of columns for which
/// there is no room.
pub(super) fn write(
    out: &mut String,
    table: &ReportTable,
    column: usize,
    measure: &Measure,
    width: Option<usize>,
) -> Vec<String> {
    let heading = ["Num", "None", "Mean", "Q25", "Median", "Q75", "Sum", "+/-"];
    let heading = heading.map(str::to_owned);
    let mut cells = vec![heading.to_vec()];
    let row = |row: &ReportRow| self::cells(measure, &row.samples[column]).to_vec();
    cells.extend(table.rows.iter().map(row));
    let least = [5, 5, 6, 6, 6, 6, 6, 5];
    let widths: Vec<usize> = (0..heading.len())
        .map(|at| cells.iter().map(|row| row[at].len()).max().unwrap_or(0).max(least[at]))
        .collect();
    let labels = labels(table);
    let (kept, left_out) =
        fitting(&heading, &widths, &FIRST_TO_GO, least_room(table, &labels), width);
    let widths = at_places(&widths, &kept);
    let cells: Vec<Vec<String>> = cells.iter().map(|row| at_places(row, &kept)).collect();
    let taken: usize = widths.iter().map(|width| width + 1).sum();
    let labels = join(&labels, width.map_or(usize::MAX, |w| w.saturating_sub(taken)));
    let label = labels.iter().map(|label| columns(label)).max().unwrap_or(0).max(7);
    line(out, format_args!("{}, {}", measure.heading, measure.unit));
    for (at, (text, cells)) in labels.iter().zip(&cells).enumerate() {
        let cells: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, &width)| right(cell, width)).collect();
        line(out, format_args!("{} {}", right(text, label), cells.join(" ")));
        if at == 0 {
            *out += &rule("-", label + taken);
        }
    }
    left_out
}

/// A value of a measure with so many digits; a size has a prefix.
pub(crate) fn quantity(measure: &Measure, value: f64, digits: usize) -> String {
    match measure.written {
        FieldUnit::Bytes => si_bare(value),
        _ => significant(value, digits),
    }
}

fn cells(measure: &Measure, sample: &Sample) -> [String; 8] {
    let marked = |estimate, value, digits| {
        let mark = if estimate { "~" } else { "" };
        format!("{mark}{}", quantity(measure, value, digits))
    };
    let none = || NONE.to_owned();
    let mean =
        sample.mean(measure).map_or_else(none, |mean| marked(mean.estimate, mean.value, DIGITS));
    let quartiles = sample.quartiles();
    let quartile = |at: usize| {
        quartiles.map_or_else(none, |(quartiles, estimate)| {
            marked(estimate, quartiles[at], if estimate { ESTIMATED_DIGITS } else { DIGITS })
        })
    };
    let sum = sample.sum(measure);
    let estimate = sample.estimated.runs > 0;
    let error = sum.and_then(|sum| Some((sum.spread?, sum.runs))).map(|(spread, runs)| {
        let part = if spread.runs < runs { "*" } else { "" };
        format!("{}{part}", error_percent(spread.relative()))
    });
    [
        sample.valued.runs.to_string(),
        sample.without().runs.to_string(),
        mean,
        quartile(0),
        quartile(1),
        quartile(2),
        sum.map_or_else(none, |sum| {
            format!("{}{}", if estimate { "~" } else { "" }, si_bare(sum.value))
        }),
        error.unwrap_or_else(none),
    ]
}
