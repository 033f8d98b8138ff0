//! Tables of cells: aligned for people, separated by commas for programs.

use unicode_width::UnicodeWidthStr;

use crate::csv::field;

/// Rows of cells under a header.
pub(super) struct CellTable {
    rows: Vec<Vec<String>>,
    /// Lines of the header
    header: usize,
    /// Columns that begin at the left; all others end at the right
    left: usize,
    /// Whether the last column begins at the left, too
    words: bool,
}

impl CellTable {
    /// With a header of one line.
    pub(super) fn new<'h>(header: impl IntoIterator<Item = &'h str>) -> Self {
        let header = header.into_iter().map(str::to_owned).collect();
        CellTable { rows: vec![header], header: 1, left: 1, words: false }
    }

    /// So many columns begin at the left.
    pub(super) fn left(self, left: usize) -> Self {
        CellTable { left, ..self }
    }

    /// The last column is of words.
    pub(super) fn words(self) -> Self {
        CellTable { words: true, ..self }
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
        let mut widths = vec![0; columns];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
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
