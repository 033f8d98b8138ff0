//! A matrix, one or two characters for each cell.

use super::{LEVELS, TerminalPage};
use crate::color::NOTHING;
use crate::matrix::{Grid, HeatMatrix, class};
use crate::words::clean;
use crate::{Screen, color::SOFT_INK};

/// Cells in a row at most; more share characters.
const MOST_CELLS: usize = 64;

pub(crate) fn matrix(matrix: &HeatMatrix, screen: Screen) -> String {
    let mut page = TerminalPage::new(&matrix.caption, screen);
    let label = matrix.size.saturating_sub(1).to_string().len();
    let room = page.width.saturating_sub(label + 3);
    let most = [64, 32, 16].into_iter().find(|&n| n <= room).unwrap_or(8).min(MOST_CELLS);
    let Some(grid) = Grid::of(matrix, most) else {
        page.line("");
        page.line("no value was measured");
        return page.finish(&[&matrix.caption.notes]);
    };
    let count = grid.classes.len();
    let signs = LEVELS[usize::from(!screen.unicode)];
    let sign = |at: usize| {
        let level = if count < 2 { 7 } else { at * 7 / (count - 1) };
        signs.get(level).copied().unwrap_or('?')
    };
    let name = clean(&matrix.value.name);
    page.wrapped(&format!(
        "{name}: {}s down, {}s from left to right",
        clean(&matrix.row),
        clean(&matrix.column)
    ));
    let entry = |(at, of): (usize, &crate::matrix::PairClass)| {
        (sign(at).to_string(), class(at, count), format!("{} ({})", of.label, of.count))
    };
    let mut legend: Vec<_> = grid.classes.iter().enumerate().map(entry).collect();
    legend.insert(0, ("blank".to_owned(), SOFT_INK, format!("0 ({})", grid.zeros)));
    if grid.missing > 0 {
        legend.push((".".to_owned(), NOTHING, format!("not measured ({})", grid.missing)));
    }
    page.legend(&legend);
    page.line("");
    // Two characters are about as wide as high.
    let wide = if 2 * grid.side <= room { 2 } else { 1 };
    for (row, cells) in grid.cells.chunks(grid.side.max(1)).enumerate() {
        let mut text = String::new();
        for cell in cells {
            text += &match cell {
                None => ".".repeat(wide),
                Some(value) if *value > 0.0 => {
                    let at = grid.class(*value);
                    page.colored(&sign(at).to_string().repeat(wide), class(at, count))
                }
                Some(_) => " ".repeat(wide),
            };
        }
        page.line(&format!("{:>label$} |{text}|", row * grid.each));
    }
    page.finish(&[&matrix.caption.notes, &grid.notes])
}
