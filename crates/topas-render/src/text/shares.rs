//! Tables of shares: label, Num%, Num, Time%, Time; where shares are of rows or columns, also
//! what they are of.

use topas_data::{ReportRow, ReportTable};

use super::{at_places, columns, fitting, join, labels, least_room, line, right, rule};
use crate::number::{NONE, hours, percentage};
use crate::row::is_of_parts;

/// Columns, each with its least width.
const PLAIN: [(&str, usize); 4] = [("Num%", 7), ("Num", 5), ("Time%", 7), ("Time", 12)];
const OF_PARTS: [(&str, usize); 6] =
    [("Num%", 7), ("Num", 5), ("Of", 5), ("Time%", 7), ("Time", 12), ("Time of", 12)];

/// Tables, all with the same columns: those of the paper, wider where a number needs it.
pub(super) struct Shares {
    /// For each table its rows: the label, then the cells
    tables: Vec<Vec<(String, Vec<String>)>>,
    label: usize,
    widths: Vec<usize>,
    /// Names of columns for which there is no room
    pub(super) left_out: Vec<String>,
}

/// Columns in the order in which they leave lines that are too short.
const FIRST_TO_GO: [&str; 4] = ["Time of", "Time", "Of", "Num%"];

impl Shares {
    pub(super) fn new(tables: &[ReportTable], width: Option<usize>) -> Self {
        let heading: &[(&str, usize)] =
            if tables.iter().any(is_of_parts) { &OF_PARTS } else { &PLAIN };
        let cells: Vec<_> = tables.iter().map(|table| cells(table, heading)).collect();
        let widest = |(at, (_, least)): (usize, &(&str, usize))| {
            let cells = cells.iter().flatten().map(|row| row[at].len());
            cells.max().unwrap_or(0).max(*least)
        };
        let widths: Vec<usize> = heading.iter().enumerate().map(widest).collect();
        let labels_of: Vec<_> = tables.iter().map(labels).collect();
        let least = tables.iter().zip(&labels_of).map(|(table, of)| least_room(table, of)).max();
        let names: Vec<String> = heading.iter().map(|(name, _)| (*name).to_owned()).collect();
        let (kept, left_out) = fitting(&names, &widths, &FIRST_TO_GO, least.unwrap_or(0), width);
        let widths = at_places(&widths, &kept);
        let taken: usize = widths.iter().map(|width| width + 1).sum();
        let most = width.map_or(usize::MAX, |width| width.saturating_sub(taken));
        let rows = |(labels, cells): (&Vec<Vec<String>>, Vec<Vec<String>>)| {
            let cells = cells.iter().map(|row| at_places(row, &kept));
            join(labels, most).into_iter().zip(cells).collect::<Vec<_>>()
        };
        let tables: Vec<_> = labels_of.iter().zip(cells).map(rows).collect();
        let label = tables.iter().flatten().map(|(label, _)| columns(label)).max();
        Shares { label: label.unwrap_or(0).max(7), widths, tables, left_out }
    }

    pub(super) fn width(&self) -> usize {
        self.label + self.widths.iter().map(|width| width + 1).sum::<usize>()
    }

    pub(super) fn write(&self, out: &mut String, number: usize) {
        for (at, (label, cells)) in self.tables[number].iter().enumerate() {
            let cells: Vec<String> =
                cells.iter().zip(&self.widths).map(|(cell, &width)| right(cell, width)).collect();
            line(out, format_args!("{} {}", right(label, self.label), cells.join(" ")));
            if at == 0 {
                *out += &rule("-", self.width());
            }
        }
    }
}

/// The heading and the rows of a table, without their labels.
fn cells(table: &ReportTable, heading: &[(&str, usize)]) -> Vec<Vec<String>> {
    let row = |row: &ReportRow| {
        let of = row.of;
        let cell = |part, whole| percentage(part, whole, 2).map_or(NONE.to_owned(), |p| p + "%");
        let whole = |text: String| if row.counts { text } else { NONE.to_owned() };
        let mut cells = vec![
            cell(row.share.runs.into(), of.runs.into()),
            row.share.runs.to_string(),
            whole(of.runs.to_string()),
            cell(row.share.time.0, of.time.0),
            hours(row.share.time),
            whole(hours(of.time)),
        ];
        if heading.len() == PLAIN.len() {
            cells.remove(5);
            cells.remove(2);
        }
        cells
    };
    // Both columns that tell what percentages are of have one heading.
    let shown = |name: &str| if name == "Time of" { "Of".to_owned() } else { name.to_owned() };
    let heading = heading.iter().map(|(name, _)| shown(name)).collect();
    std::iter::once(heading).chain(table.rows.iter().map(row)).collect()
}
