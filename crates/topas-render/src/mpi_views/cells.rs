//! Tables of cells: aligned for people, separated by commas for programs.

use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

use crate::csv::field;
use crate::text::fitting;
use crate::wording::{left_out_columns, paragraph};

/// Columns that words need beside others.
const LEAST_WORDS: usize = 20;

/// Rows of cells under a header.
pub(super) struct CellTable {
    rows: Vec<Vec<String>>,
    /// Lines of the header
    header: usize,
    /// Columns that begin at the left; all others end at the right
    left: usize,
    /// Whether the last column begins at the left, too
    words: bool,
    /// Columns that leave where lines are too short, in this order; if there are none, the table is
    /// taken apart
    first_to_go: &'static [&'static str],
}

impl CellTable {
    /// With a header of one line.
    pub(super) fn new<'h>(header: impl IntoIterator<Item = &'h str>) -> Self {
        let header = header.into_iter().map(str::to_owned).collect();
        CellTable { rows: vec![header], header: 1, left: 1, words: false, first_to_go: &[] }
    }

    /// So many columns begin at the left.
    pub(super) fn left(self, left: usize) -> Self {
        CellTable { left, ..self }
    }

    /// The last column is of words.
    pub(super) fn words(self) -> Self {
        CellTable { words: true, ..self }
    }

    /// Of which these columns leave where lines are too short, in this order: its rows go on in
    /// further lines, which no part of it could have.
    pub(super) fn leaving(self, first_to_go: &'static [&'static str]) -> Self {
        CellTable { first_to_go, ..self }
    }

    /// A further line of the header, of the same number of columns.
    pub(super) fn below<'h>(mut self, header: impl IntoIterator<Item = &'h str>) -> Self {
        self.row(header.into_iter().map(str::to_owned));
        self.header += 1;
        self
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there is no row but the header.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == self.header
    }

    /// Columns as wide as their widest cell, `gap` blanks between them.
    pub(super) fn aligned(&self, gap: usize) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths = self.widths();
        let line: usize = widths.iter().map(|width| width + gap).sum::<usize>() + 1;
        let mut out = String::with_capacity(self.rows.len() * line);
        for row in &self.rows {
            for (column, (width, cell)) in widths.iter().zip(row).enumerate() {
                let blanks = width.saturating_sub(cell.width());
                if column > 0 {
                    blank(&mut out, gap);
                }
                if column < self.left || self.words && column + 1 == columns {
                    out += cell;
                    blank(&mut out, blanks);
                } else {
                    blank(&mut out, blanks);
                    out += cell;
                }
            }
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        out
    }

    /// For lines of so many columns: two blanks between columns or one. If that is too wide, words
    /// are broken into lines, and the other columns go into further tables below, which repeat the
    /// columns that begin at the left.
    pub(super) fn within(&self, width: usize) -> String {
        let gaps = self.rows.first().map_or(0, Vec::len).saturating_sub(1);
        let cells: usize = self.widths().iter().sum();
        if cells + gaps * 2 <= width {
            return self.aligned(2);
        }
        if !self.first_to_go.is_empty() {
            return self.without_some(width);
        }
        if self.words {
            return self.broken(width);
        }
        if cells + gaps <= width {
            return self.aligned(1);
        }
        let tables: Vec<String> =
            self.parts(width).into_iter().map(|columns| self.part(&columns).aligned(2)).collect();
        tables.join("\n")
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.rows.first().map_or(0, Vec::len)];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        widths
    }

    /// Columns of each of the tables into which this one is taken apart, those at the left in each.
    fn parts(&self, width: usize) -> Vec<Vec<usize>> {
        let widths = self.widths();
        let left: Vec<usize> = (0..self.left.min(widths.len())).collect();
        let room: usize = left.iter().filter_map(|&column| widths.get(column)).map(|w| w + 2).sum();
        let mut parts = vec![left.clone()];
        let mut used = room;
        for (column, needed) in widths.iter().enumerate().skip(self.left) {
            let is_full = used + needed > width && used > room;
            if is_full {
                parts.push(left.clone());
                used = room;
            }
            used += needed + 2;
            if let Some(part) = parts.last_mut() {
                part.push(column);
            }
        }
        parts
    }

    /// A table of some columns.
    pub(super) fn part(&self, columns: &[usize]) -> CellTable {
        let row = |row: &Vec<String>| {
            columns.iter().map(|&column| row.get(column).cloned().unwrap_or_default()).collect()
        };
        let rows = self.rows.iter().map(row).collect();
        let left = columns.iter().filter(|&&column| column < self.left).count();
        CellTable { rows, header: self.header, left, words: false, first_to_go: &[] }
    }

    /// With the columns for which there is room; words may be longer than lines.
    fn without_some(&self, width: usize) -> String {
        let Some(names) = self.rows.first() else { return String::new() };
        let mut widths = self.widths();
        if let Some(words) = widths.last_mut() {
            *words = (*words).min(LEAST_WORDS);
        }
        // Two blanks between columns, of which one is in any case.
        let with_gaps: Vec<usize> = widths.iter().map(|width| width + 1).collect();
        let (kept, left_out) = fitting(names, &with_gaps, self.first_to_go, 0, Some(width + 2));
        let table = CellTable { words: self.words, ..self.part(&kept) };
        table.aligned(2) + &left_out_columns(&left_out, width)
    }

    /// With the words of the last column in as many lines as they need.
    fn broken(&self, width: usize) -> String {
        let widths = self.widths();
        let before: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
        let room = width.saturating_sub(before);
        if room < LEAST_WORDS {
            return self.words_below(width);
        }
        let mut table = CellTable { rows: Vec::new(), ..*self };
        for row in &self.rows {
            let (words, cells) =
                row.split_last().map_or(("", &[][..]), |(last, rest)| (last, rest));
            for (at, line) in paragraph(words, room).lines().enumerate() {
                let blank = cells.iter().map(|_| String::new());
                let first: Vec<String> = if at == 0 { cells.to_vec() } else { blank.collect() };
                table.rows.push(first.into_iter().chain([line.to_owned()]).collect());
            }
        }
        table.aligned(2)
    }

    /// With the words of the last column below the others, each in a paragraph of its own.
    fn words_below(&self, width: usize) -> String {
        let columns: Vec<usize> = (0..self.widths().len().saturating_sub(1)).collect();
        let mut out = self.part(&columns).within(width);
        out.push('\n');
        for row in self.rows.iter().skip(self.header) {
            if let (Some(name), Some(words)) = (row.first(), row.last()) {
                let name = name.trim_start_matches(|c: char| !c.is_alphanumeric());
                out += &paragraph(&format!("{name}: {words}"), width);
            }
        }
        out
    }

    /// As a table of a page: words may take several lines, numbers end at the right. Where many
    /// columns stand before the words, which would be out of sight, the words are the second column.
    pub(super) fn markup(&self) -> Markup {
        let columns = self.rows.first().map_or(0, Vec::len);
        let mut order: Vec<usize> = (0..columns).collect();
        if self.words && !self.first_to_go.is_empty() && columns > 1 {
            order[1..].rotate_right(1);
        }
        let in_order = |row: &Vec<String>| -> Vec<(usize, String)> {
            order.iter().filter_map(|&at| Some((at, row.get(at)?.clone()))).collect()
        };
        let (header, rows) = self.rows.split_at(self.header.min(self.rows.len()));
        let is_words = |column: usize| self.words && column + 1 == columns;
        let class = |column| if column < self.left || is_words(column) { Some("l") } else { None };
        // The page takes blanks at the beginning away, which are the form of a tree.
        let kept = |cell: &str| {
            let text = cell.trim_start_matches(' ');
            "\u{a0}".repeat(cell.len() - text.len()) + text
        };
        html! { table {
            thead { @for row in header { tr {
                @for (column, cell) in in_order(row) {
                    th class=[class(column)] scope="col" { (cell) }
                }
            } } }
            tbody { @for row in rows { tr { @for (column, cell) in in_order(row) {
                @if column == 0 && !cell.is_empty() { th class=[class(0)] scope="row" { (kept(&cell)) } }
                @else if is_words(column) { td.list { (cell) } }
                @else { td class=[class(column)] { (cell) } }
            } } } }
        } }
    }

    /// Comma separated values (RFC 4180, but lines end with a newline only).
    pub(super) fn csv(&self) -> String {
        let mut out = String::new();
        for row in &self.rows {
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    out.push(',');
                }
                out += &field(cell);
            }
            out.push('\n');
        }
        out
    }
}

fn blank(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_leave_where_rows_go_on() {
        let mut cells = CellTable::new(["routine", "ranks", "calls", "time s", "callers"])
            .left(2)
            .words()
            .leaving(&["calls", "ranks", "time s"]);
        cells.row(["Send", "0-3", "800", "8.775169", "exchange (halo.c:12)"].map(str::to_owned));
        cells.row(["", "", "", "", "< main (halo.c:50)"].map(str::to_owned));
        let whole = "\
routine  ranks  calls    time s  callers
Send     0-3      800  8.775169  exchange (halo.c:12)
                                 < main (halo.c:50)
";
        assert_eq!(cells.within(53), whole);
        let without = "\
routine    time s  callers
Send     8.775169  exchange (halo.c:12)
                   < main (halo.c:50)
No room for the columns calls, ranks; a
wider terminal shows them.
";
        assert_eq!(cells.within(39), without);
        assert_eq!(cells.within(46).lines().next(), Some("routine  ranks    time s  callers"));
        // What is left may be too wide; words are not taken away.
        assert!(cells.within(20).starts_with("routine  callers\nSend     exchange (halo.c:12)\n"));
    }
}
