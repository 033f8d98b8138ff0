//! The board as text: for pipes, and for terminals that can do no more.

use topas_render::why::found;
use topas_render::{PROSE_WIDTH, csv_field};

use crate::args::{TopArgs, TopView};
use crate::board::{Board, columns, why_empty};

/// Heading, what stands still, what costs time, and the rows.
pub fn as_text(board: &Board, args: &TopArgs) -> String {
    let mut out = board.title();
    out.push('\n');
    if let Some(standing) = board.standing() {
        out += &standing;
        out.push('\n');
    }
    out += &found(&board.search, PROSE_WIDTH);
    let rows = board.rows(args);
    if rows.is_empty() {
        return out + why_empty(args.view) + "\n";
    }
    let header: Vec<String> =
        columns(args.view, board.tells_waits()).iter().map(|&column| column.to_owned()).collect();
    let columns = header.len();
    let shown = rows.iter().map(|row| row.cells.iter().map(|cell| cell.shown.clone()).collect());
    let cells: Vec<Vec<String>> = std::iter::once(header).chain(shown).collect();
    let widths: Vec<usize> = (0..columns)
        .map(|column| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    // The last column of ranks is words, as the first of all others is.
    let words = |column: usize| match args.view {
        TopView::Ranks => column == 1 || column + 1 == columns,
        TopView::Peers => false,
        TopView::Routines | TopView::Comms => column == 0,
    };
    for row in &cells {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if column > 0 {
                line += "  ";
            }
            line +=
                &if words(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// The rows as comma separated values, under a header.
pub fn as_csv(board: &Board, args: &TopArgs) -> String {
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let fields: Vec<String> = cells.map(csv_field).collect();
        fields.join(",") + "\n"
    };
    let mut out = line(&mut columns(args.view, board.tells_waits()).iter().copied());
    for row in board.rows(args) {
        out += &line(&mut row.cells.iter().map(|cell| cell.value.as_str()));
    }
    out
}
