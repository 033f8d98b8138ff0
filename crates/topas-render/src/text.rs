//! The report for people, in the layout of the 1999 paper's Listing 4.

mod figures;
pub(crate) mod measures;
pub(crate) mod notes;
mod shares;

use std::fmt::Write;

use topas_data::{Label, ReportTable, TableSide};

use crate::document::{Document, ReportForm};
use crate::number::NONE;
use crate::row::{is_measure, named};
use crate::wording::{TEXT_WIDTH, hanging};

/// Text for people. Not an interface for programs: its layout may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextReport {
    /// Columns: longer labels lose their end, which is marked, and notes are broken there. The
    /// figures of a table take the room they need. None: as many as are needed.
    pub width: Option<usize>,
}

/// Mark of an end that was cut.
const CUT: &str = "..";

impl ReportForm for TextReport {
    fn render(&self, document: &Document<'_>) -> String {
        let Some((first, last)) = document.report.days else {
            return "no runs\n".to_owned();
        };
        let shares = shares::Shares::new(document.tables, self.width);
        // The heading with its days takes 38 columns.
        let total = shares.width().max(38);
        let mut out = String::new();
        let days = format!("{} to {}", first, last);
        out += &rule("=", total);
        line(&mut out, format_args!("TOPAS Report{days:>0$}", total - 12));
        out += &rule("=", total);
        let mut left_out = shares.left_out.clone();
        for (table, number) in document.tables.iter().zip(0..) {
            out.push('\n');
            shares.write(&mut out, number);
            left_out.extend(figures::write(&mut out, table, self.width));
            for (column, measure) in table.columns.iter().enumerate() {
                out.push('\n');
                left_out.extend(measures::write(&mut out, table, column, measure, self.width));
            }
        }
        out.push('\n');
        let width = self.width.unwrap_or(TEXT_WIDTH);
        out += &no_room(&left_out, width);
        notes::write(&mut out, document, width);
        out
    }
}

/// Says which columns were left out.
pub(crate) fn no_room(names: &[String], width: usize) -> String {
    let mut told: Vec<&str> = Vec::new();
    for name in names {
        if !told.contains(&name.as_str()) {
            told.push(name);
        }
    }
    if told.is_empty() {
        return String::new();
    }
    let text = format!("No room for the columns {}; --wide shows them.", told.join(", "));
    hanging(&text, width, 4)
}

/// Columns of a name by which it is told apart from others.
const NAME: usize = 8;

/// The room that the labels of a table need at least: bounds of buckets whole, and of names a part.
fn least_room(table: &ReportTable, labels: &[Vec<String>]) -> usize {
    let side = |(by, labels): (&TableSide, &Vec<String>)| {
        let widest = labels.iter().map(|label| columns(label)).max().unwrap_or(0);
        if is_measure(by) { widest } else { widest.min(NAME) }
    };
    let sides = table.by.iter().zip(labels).map(side);
    (sides.sum::<usize>() + table.by.len().saturating_sub(1)).max(7)
}

/// The columns for which there is room beside labels, in lines of `width`: their places, and the names
/// of the others. Columns leave in the order of `first_to_go`.
pub(crate) fn fitting(
    names: &[String],
    widths: &[usize],
    first_to_go: &[&str],
    labels: usize,
    width: Option<usize>,
) -> (Vec<usize>, Vec<String>) {
    let mut kept: Vec<usize> = (0..names.len()).collect();
    let mut left_out = Vec::new();
    for going in first_to_go {
        let taken: usize = kept.iter().map(|&at| widths[at] + 1).sum();
        if width.is_none_or(|width| labels + taken <= width) {
            break;
        }
        if kept.iter().any(|&at| names[at] == *going) {
            left_out.push(going.strip_prefix("Time of").map_or(*going, |_| "Of").to_owned());
        }
        kept.retain(|&at| names[at] != *going);
    }
    (kept, left_out)
}

/// The cells of these places.
pub(crate) fn at_places<T: Clone>(cells: &[T], places: &[usize]) -> Vec<T> {
    places.iter().filter_map(|&at| cells.get(at).cloned()).collect()
}

pub(crate) fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
    out.push('\n');
}

pub(crate) fn rule(sign: &str, width: usize) -> String {
    sign.repeat(width) + "\n"
}

/// Columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// A text to the right of a field. The width of characters is that of the screen.
pub(crate) fn right(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text))) + text
}

/// A text of at most so many columns; what is longer loses its end, which is marked.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if columns(&kept) + columns(c.encode_utf8(&mut [0; 4])) + CUT.len() > most {
            break;
        }
        kept.push(c);
    }
    kept + CUT
}

/// The heading above the labels of a side.
pub(crate) fn heading(by: &TableSide) -> String {
    match by {
        TableSide::Measure(measure) => measure.heading.to_owned(),
        TableSide::Field(field) => field.heading(),
    }
}

/// Labels of a table, the heading first: a column for each side, with its width.
fn labels(table: &ReportTable) -> Vec<Vec<String>> {
    (0..table.by.len())
        .map(|side| {
            let by = &table.by[side];
            let bounds = |label: &Label| match (label, named(label, is_measure(by))) {
                (Label::Bucket(_), named) => named.to.map(|to| columns(&to)),
                _ => None,
            };
            let widest = table.sides[side].iter().filter_map(bounds).max().unwrap_or(0).max(3);
            let text = |label: &Label| label_text(label, by, widest);
            let rows = table.rows.iter().map(|row| text(&row.labels[side]));
            std::iter::once(heading(by)).chain(rows).collect()
        })
        .collect()
}

/// A label; bounds of buckets stand in columns.
fn label_text(label: &Label, by: &TableSide, width: usize) -> String {
    let named = named(label, is_measure(by));
    match (label, named.from, named.to) {
        (Label::Missing, ..) => NONE.to_owned(),
        (Label::Bucket(_), Some(from), Some(to)) if from != to => {
            format!("{from:>width$}-{to:>width$}")
        }
        _ => named.name,
    }
}

/// The labels of a row in one field; each side is as wide as its widest, or as `most` has
/// room for.
fn join(labels: &[Vec<String>], most: usize) -> Vec<String> {
    let mut widths: Vec<usize> = labels
        .iter()
        .map(|side| side.iter().map(|label| columns(label)).max().unwrap_or(0))
        .collect();
    // The widest gives way first.
    while widths.iter().sum::<usize>() + widths.len() - 1 > most.max(7) {
        match widths.iter_mut().max() {
            Some(widest) if *widest > 3 => *widest -= 1,
            _ => break,
        }
    }
    let rows = labels.first().map_or(0, Vec::len);
    (0..rows)
        .map(|row| {
            let cells = labels.iter().zip(&widths);
            let cells = cells.map(|(side, &width)| right(&cut(&side[row], width), width));
            cells.collect::<Vec<_>>().join(" ")
        })
        .collect()
}
