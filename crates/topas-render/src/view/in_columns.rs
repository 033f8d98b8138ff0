//! Tables of few rows, as wide as the terminal.

use crate::text::{at_places, cut, fitting};
use crate::wording::left_out_columns;

/// Columns that the first one keeps at least.
const LEAST: usize = 6;

/// Rows of texts, the heading first, in lines of `width`: the first `left` columns to the left, the others to
/// the right. Where there is no room, the gaps become smaller, then the columns of `first_to_go` leave in
/// this order, which is told, and at last the first column loses the ends of its texts.
pub(super) fn in_columns(
    rows: &[Vec<String>],
    left: usize,
    first_to_go: &[&str],
    width: usize,
) -> String {
    let Some(heading) = rows.first() else { return String::new() };
    let widest = |at: usize| {
        rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..heading.len()).map(|at| widest(at).unwrap_or(0)).collect();
    let all: usize = widths.iter().sum();
    let gap = if all + 2 * (widths.len() - 1) <= width { 2 } else { 1 };
    let with_gaps: Vec<usize> = widths.iter().map(|width| width + gap - 1).collect();
    let room = Some(width + gap);
    let (kept, left_out) = fitting(heading, &with_gaps, first_to_go, 0, room);
    let taken: usize = kept.iter().skip(1).map(|&at| widths[at] + gap).sum();
    let first = widths[0].min(width.saturating_sub(taken).max(LEAST));
    let mut out = String::new();
    for row in rows {
        let cells = at_places(row, &kept);
        let mut line = String::new();
        for (number, (cell, &at)) in cells.iter().zip(&kept).enumerate() {
            let (cell, width) =
                if number == 0 { (cut(cell, first), first) } else { (cell.clone(), widths[at]) };
            if number > 0 {
                line += &" ".repeat(gap);
            }
            line += &if at < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out + &left_out_columns(&left_out, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_leave_and_are_told() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["a long name", "min", "max"]), row(["x", "1.25", "3.5"])];
        let text = |width| in_columns(&rows, 1, &["min"], width);
        assert_eq!(text(80), "a long name   min  max\nx            1.25  3.5\n");
        assert_eq!(text(21), "a long name  min max\nx           1.25 3.5\n");
        let told = "No room for the\ncolumns min; a wider\nterminal shows them.\n";
        assert_eq!(text(16), format!("a long name max\nx           3.5\n{told}"));
        assert_eq!(text(11), format!("a lon.. max\nx       3.5\n{told}"));
    }
}
