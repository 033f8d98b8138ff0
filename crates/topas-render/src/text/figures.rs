//! The table of figures: numbers of users, jobs and programs, and failures.

use topas_data::{FailureRate, Figure, FigureValue, ReportTable};

use super::{columns, join, labels, line, right, rule};
use crate::document::Document;
use crate::number::{NONE, percentage, significant};
use crate::wording::{count, runs};

/// Least width of a column.
const LEAST: usize = 6;

/// Digits of the bounds of a rate in percent.
const DIGITS: usize = 3;

/// Writes the figures of a table, if there are any.
pub(super) fn write(out: &mut String, table: &ReportTable, width: Option<usize>) {
    if table.figures.is_empty() {
        return;
    }
    let heading: Vec<String> = table.figures.iter().flat_map(|figure| heading(*figure)).collect();
    let mut cells = vec![heading];
    cells.extend(table.rows.iter().map(|row| row.figures.iter().flat_map(self::cells).collect()));
    let widest = |at: usize| cells.iter().map(|row| row[at].len()).max().unwrap_or(0).max(LEAST);
    let widths: Vec<usize> = (0..cells[0].len()).map(widest).collect();
    let taken: usize = widths.iter().map(|width| width + 1).sum();
    let labels = join(&labels(table), width.map_or(usize::MAX, |w| w.saturating_sub(taken)));
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
}

fn heading(figure: Figure) -> Vec<String> {
    let words: &[&str] = match figure {
        Figure::Users => &["Users"],
        Figure::Jobs => &["Jobs"],
        Figure::Exes => &["Exes"],
        Figure::Failures => &["Failed", "Known", "Fail%", "95% interval"],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn cells(value: &FigureValue) -> Vec<String> {
    match value {
        FigureValue::Distinct { number, .. } => vec![number.to_string()],
        FigureValue::Failures(rate) => {
            let none = || NONE.to_owned();
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
        }
    }
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
