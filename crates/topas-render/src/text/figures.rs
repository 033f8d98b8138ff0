//! The table of figures: numbers of users, jobs and programs, failures, lost time, days.

use topas_data::{FailureRate, Figure, FigureValue, LostTime, ReportTable};

use super::{at_places, columns, fitting, join, labels, least_room, line, right, rule};
use crate::document::Document;
use crate::figure::iso_day;
use crate::number::{NONE, pe_hours, percentage, significant};
use crate::wording::{count, runs};

/// Least width of a column.
const LEAST: usize = 6;

/// Digits of the bounds of a rate in percent.
const DIGITS: usize = 3;

/// Columns in the order in which they leave lines that are too short.
const FIRST_TO_GO: [&str; 5] = ["95% interval", "Known", "First", "Failed", "Lost%"];

/// Writes the figures of a table, if there are any. The names of columns for which there is no room.
pub(super) fn write(out: &mut String, table: &ReportTable, width: Option<usize>) -> Vec<String> {
    if table.figures.is_empty() {
        return Vec::new();
    }
    let heading: Vec<String> = table.figures.iter().flat_map(|figure| heading(*figure)).collect();
    let mut cells = vec![heading.clone()];
    cells.extend(table.rows.iter().map(|row| row.figures.iter().flat_map(self::cells).collect()));
    let widest = |at: usize| cells.iter().map(|row| row[at].len()).max().unwrap_or(0).max(LEAST);
    let widths: Vec<usize> = (0..cells[0].len()).map(widest).collect();
    let labels = labels(table);
    let (kept, left_out) =
        fitting(&heading, &widths, &FIRST_TO_GO, least_room(table, &labels), width);
    let widths = at_places(&widths, &kept);
    let cells: Vec<Vec<String>> = cells.iter().map(|row| at_places(row, &kept)).collect();
    let taken: usize = widths.iter().map(|width| width + 1).sum();
    let labels = join(&labels, width.map_or(usize::MAX, |w| w.saturating_sub(taken)));
    let label = labels.iter().map(|label| columns(label)).max().unwrap_or(0).max(7);
    out.push('\n');
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

fn heading(figure: Figure) -> Vec<String> {
    let words: &[&str] = match figure {
        Figure::Users => &["Users"],
        Figure::Jobs => &["Jobs"],
        Figure::Exes => &["Exes"],
        Figure::Failures => &["Failed", "Known", "Fail%", "95% interval"],
        Figure::Lost => &["Lost PE-h", "Lost%"],
        Figure::Days => &["First", "Last"],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn cells(value: &FigureValue) -> Vec<String> {
    let none = || NONE.to_owned();
    match value {
        FigureValue::Distinct { number, .. } => vec![number.to_string()],
        FigureValue::Lost(time) => {
            let percent = percentage(time.failed.0, time.known.0, 2);
            vec![pe_hours(time.failed), percent.map_or_else(none, |percent| percent + "%")]
        }
        FigureValue::Days(None) => vec![none(); 2],
        FigureValue::Days(Some((first, last))) => vec![iso_day(*first), iso_day(*last)],
        FigureValue::Failures(rate) => {
            let percent = percentage(rate.failed.into(), rate.known.into(), 2);
            vec![
                rate.failed.to_string(),
                rate.known.to_string(),
                percent.map_or_else(none, |percent| percent + "%"),
                rate.interval().map_or_else(none, interval),
            ]
        }
    }
}

/// Bounds in percent.
fn interval([low, high]: [f64; 2]) -> String {
    format!("{}-{}%", significant(100.0 * low, DIGITS), significant(100.0 * high, DIGITS))
}

/// Says what the figures are, and what they are over all runs.
pub(super) fn notes(note: &mut impl FnMut(String), document: &Document<'_>) {
    for (figure, value) in document.report.figures() {
        match value {
            FigureValue::Distinct { number, runs_without } => {
                let (heading, one) = match figure {
                    Figure::Users => ("Users", "user"),
                    Figure::Jobs => ("Jobs", "job"),
                    _ => ("Exes", "executable"),
                };
                let all = count(number, one);
                let without = match runs_without {
                    0 => String::new(),
                    n => format!("; {} without one", runs(n)),
                };
                note(format!("{heading}: numbers of different ones; in all {all}{without}."));
            }
            FigureValue::Failures(rate) => failures(note, &rate),
            FigureValue::Lost(time) => lost(note, &time),
            FigureValue::Days(_) => {
                note("First, Last: the days on which the first and the last run ended.".to_owned());
            }
        }
    }
}

fn lost(note: &mut impl FnMut(String), time: &LostTime) {
    let all = percentage(time.failed.0, time.known.0, 2);
    note(format!(
        "Lost: PE-hours of runs that did not end ok in one of their lines; Lost% of the PE-hours of \
         the runs whose ending is known; in all {} of {} PE-h{}.",
        pe_hours(time.failed),
        pe_hours(time.known),
        all.map_or_else(String::new, |percent| format!(", {percent}%"))
    ));
}

fn failures(note: &mut impl FnMut(String), rate: &FailureRate) {
    let all = percentage(rate.failed.into(), rate.known.into(), 2);
    let all = all.map_or_else(String::new, |percent| {
        format!(", {percent}% ({})", rate.interval().map_or_else(String::new, interval))
    });
    note(
        "Failed: runs that did not end ok in one of their lines, of those whose ending is Known; \
         Fail% of Known, with the score interval of Wilson."
            .to_owned(),
    );
    note(format!(
        "In all {} of {} failed{all}; the ending of {} is not known.",
        rate.failed,
        runs(rate.known),
        runs(rate.unknown)
    ));
}
