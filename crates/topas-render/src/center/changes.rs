//! Programs that lose speed against their own past: by more than the noise of both times.

use std::collections::BTreeSet;

use topas_data::measure::LogDifference;
use topas_data::{CompareRow, CompareTable, CompareVerdict};

use super::{MOST_ROWS, Part, PartTable, Shown};
use crate::number::{NONE, grouped, pe_hours, short, signed_percent};
use crate::row::named;

/// Changes of less than this share are not told, however sure they are.
const LEAST: f64 = 0.05;

/// The chance that noise alone brings any program onto a page is at most this. Of hundreds of programs
/// that nobody changed, some would pass a test of 95 % each, so the chance of each is multiplied by
/// the number of all comparisons (C. E. Bonferroni).
const CHANCE: f64 = 0.05;

/// The chance that noise alone brings one program onto a page is at most this for each comparison, however
/// few there are: a program with two measures has then one false row in a thousand weeks, or less often,
/// because only half of the chance is on the side of the slower ones.
const CHANCE_OF_ONE: f64 = 0.0005;

/// The medians of what is told have changed as well, with at most this chance for each that noise alone did
/// it: values of runs that are far from log-normal may have a mean of logarithms that a few of them decide.
const MEDIAN_CHANCE: f64 = 0.01;

pub(super) fn part(shown: &Shown<'_, '_>) -> Part {
    let center = shown.center;
    let mut part = Part::new("slower", "Programs that lost speed");
    let mut rows = slower(center.changes);
    rows.sort_by_key(|(table, row)| {
        (
            std::cmp::Reverse(row.sides[0].share.time),
            label(row, 0),
            label(row, 1),
            table.measure.name,
        )
    });
    if center.changes.is_empty() {
        part.sentence = format!("There are no runs before ({}) to compare with.", center.before);
        return part;
    }
    part.sentence = match rows.len() {
        0 => format!("No program lost speed against {} by more than its noise.", center.before),
        _ => {
            let programs: BTreeSet<_> =
                rows.iter().map(|(_, row)| (label(row, 0), label(row, 1))).collect();
            let number = match programs.len() {
                1 => "One program of a user is".to_owned(),
                number => format!("{number} programs of users are"),
            };
            format!(
                "{number} slower than in {}, by more than their noise and by {:.0}% or more.",
                center.before,
                100.0 * LEAST
            )
        }
    };
    if rows.is_empty() {
        return part;
    }
    let cells = |(table, row): &(&CompareTable, &CompareRow)| {
        let value = |side: usize| row.sides[side].value.map_or_else(|| NONE.to_owned(), short);
        let name = |at: usize| label(row, at);
        vec![
            name(1),
            name(0),
            format!("{} ({})", table.measure.heading, table.measure.unit),
            value(0),
            value(1),
            row.ratio.map_or_else(|| NONE.to_owned(), |ratio| signed_percent(ratio - 1.0)),
            grouped(&row.sides[0].runs.to_string()),
            grouped(&row.sides[1].runs.to_string()),
            grouped(&pe_hours(row.sides[0].share.time)),
        ]
    };
    part.tables.push(PartTable {
        caption: "Programs that lost speed, those with the most PE-hours first".to_owned(),
        headings: vec![
            "program",
            "user",
            "measure",
            "now",
            "before",
            "change",
            "runs",
            "runs before",
            "PE-h",
        ],
        rows: rows.iter().take(MOST_ROWS).map(cells).collect(),
        bars: Vec::new(),
        marked: Vec::new(),
    });
    if rows.len() > MOST_ROWS {
        part.notes.push(format!("{} more are not shown.", rows.len() - MOST_ROWS));
    }
    part.notes.push(
        "A longer wall clock time may be a larger problem; a lower rate is slower work. What more or \
         fewer PEs do to rates and times is taken off. The chance that noise alone brings a program \
         into this table is at most 0.05% for each measure, and 5% for all programs together; the run \
         in the middle is slower, too."
            .to_owned(),
    );
    part
}

/// The rows that are slower, and not by chance.
fn slower(tables: &[CompareTable]) -> Vec<(&CompareTable, &CompareRow)> {
    let compared: Vec<(&CompareTable, &CompareRow, LogDifference)> = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)))
        .filter_map(|(table, row)| Some((table, row, row.log_difference()?)))
        .collect();
    let least_chance = CHANCE_OF_ONE.min(CHANCE / compared.len() as f64);
    compared
        .iter()
        .filter(|(_, _, difference)| difference.chance <= least_chance)
        .filter(|(table, row, difference)| {
            // More PEs alone change the mean that is shown, and fewer can hide a loss in it.
            is_worse(table, difference.ratio) && is_slower(table, row)
        })
        .map(|(table, row, _)| (*table, *row))
        .collect()
}

/// The user (0) or the program (1) of a row.
fn label(row: &CompareRow, at: usize) -> String {
    row.labels.get(at).map_or_else(String::new, |label| named(label, false).name)
}

/// Whether a ratio of now to before is worse by enough to be told.
fn is_worse(table: &CompareTable, ratio: f64) -> bool {
    match table.measure.name {
        "wall" => ratio >= 1.0 + LEAST,
        _ => ratio <= 1.0 - LEAST,
    }
}

fn is_slower(table: &CompareTable, row: &CompareRow) -> bool {
    row.verdict == CompareVerdict::Changed
        && row.ratio.is_some_and(|ratio| is_worse(table, ratio))
        && has_slower_runs(table, row)
}

/// Whether the run in the middle is slower, too.
fn has_slower_runs(table: &CompareTable, row: &CompareRow) -> bool {
    let [Some([_, now, _]), Some([_, before, _])] = row.sides.each_ref().map(|side| side.quartiles)
    else {
        return false;
    };
    let is_worse = if table.measure.name == "wall" { now > before } else { now < before };
    is_worse && row.median_chance().is_some_and(|chance| chance <= MEDIAN_CHANCE)
}

#[cfg(test)]
mod tests;
