//! A strip of PEs, one character each.

use super::{LEVELS, TerminalPage};
use crate::color;
use crate::heat::{HeatCell, HeatCells, HeatStrip};
use crate::words::clean;
use crate::{Screen, color::NOTHING};

/// Rows at most; more PEs share characters.
const MOST_ROWS: usize = 32;

pub(crate) fn heat(strip: &HeatStrip, screen: Screen) -> String {
    let mut page = TerminalPage::new(&strip.caption, screen);
    let last = strip.first.saturating_add(strip.values.len() as u64).to_string();
    let label = last.len();
    let columns = columns(strip, page.width.saturating_sub(label + 1));
    let Some(cells) = HeatCells::of(strip, columns * MOST_ROWS, LEVELS[0].len() + 1) else {
        page.line("");
        page.line("no value was measured");
        return page.finish(&[&strip.caption.notes]);
    };
    // Classes are spread over the levels; of many some share one.
    let top = cells.classes.len().saturating_sub(1).max(1);
    let level = |class: usize| (class * (LEVELS[0].len() - 1) + top / 2) / top;
    let sign = |level: usize| {
        let signs = LEVELS[usize::from(!screen.unicode)];
        signs.get(level).copied().unwrap_or('?').to_string()
    };
    let count = cells.classes.len();
    let heading = cells.form.heading(&clean(&strip.value.name));
    page.wrapped(&format!("{heading} of each {}", clean(&strip.thing)));
    let entry = |(at, class): (usize, &crate::heat::HeatClass)| {
        (sign(level(at)), color::class(at, count), format!("{} ({})", class.label, class.count))
    };
    let mut legend: Vec<_> = cells.classes.iter().enumerate().map(entry).collect();
    if cells.missing > 0 {
        legend.push((".".to_owned(), NOTHING, format!("not measured ({})", cells.missing)));
    }
    page.legend(&legend);
    page.line("");
    for (row, cells_of_row) in
        cells.cells.chunks(columns.div_ceil(divisor(strip, &cells))).enumerate()
    {
        let columns = columns.div_ceil(divisor(strip, &cells));
        let first = strip.first.saturating_add((row * columns * cells.each) as u64);
        let show = |cell: &HeatCell| match cell.value {
            Some(_) => page.colored(&sign(level(cell.class)), color::class(cell.class, count)),
            None => ".".to_owned(),
        };
        let text: String = cells_of_row.iter().map(show).collect();
        page.line(&format!("{first:>label$} {text}"));
        if cells_of_row.iter().any(|cell| cell.extreme.is_some()) {
            let mark = |cell: &HeatCell| match (cell.extreme, screen.unicode) {
                (Some(true), true) => '▲',
                (Some(false), true) => '▼',
                (Some(true), false) => '^',
                (Some(false), false) => 'v',
                (None, _) => ' ',
            };
            let text: String = cells_of_row.iter().map(mark).collect();
            page.line(&format!("{:>label$} {text}", ""));
        }
    }
    page.finish(&[&strip.caption.notes, &cells.notes])
}

/// Characters in a row.
fn columns(strip: &HeatStrip, room: usize) -> usize {
    let most = [128, 64, 32, 16].into_iter().find(|&n| n <= room).unwrap_or(8);
    strip.per_row.filter(|&n| (1..=room).contains(&n)).unwrap_or(most)
}

/// Where rows are wanted to hold so many PEs and several share a character.
fn divisor(strip: &HeatStrip, cells: &HeatCells) -> usize {
    if strip.per_row.is_some() { cells.each } else { 1 }
}
