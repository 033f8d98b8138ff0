//! A calendar: the number of each cell where there is room, else one digit, tenths of the whole.

use unicode_width::UnicodeWidthStr;

use super::TerminalPage;
use crate::Screen;
use crate::calendar::{CLASSES, Calendar, CalendarCell, class_name};
use crate::color::{self, NOTHING};

/// Columns of a cell that shows its number.
const WIDE: usize = 4;

/// The sign of each class.
const SIGNS: [char; CLASSES] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+'];

pub(crate) fn calendar(calendar: &Calendar, screen: Screen) -> String {
    let mut page = TerminalPage::new(&calendar.caption, screen);
    if calendar.cells.is_empty() {
        page.line("");
        page.line("no period to show");
        return page.finish(&[&calendar.caption.notes]);
    }
    page.wrapped(&calendar.name);
    let (counts, unknown) = calendar.counts();
    let used = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut legend: Vec<_> = used
        .map(|(class, count)| {
            let sign = SIGNS.get(class).copied().unwrap_or('?').to_string();
            (sign, color::class(class, CLASSES), format!("{} ({count})", class_name(class)))
        })
        .collect();
    if unknown > 0 {
        legend.push((".".to_owned(), NOTHING, format!("{} ({unknown})", calendar.unknown)));
    }
    let label = calendar.rows.iter().map(|row| row.width()).max().unwrap_or(0).min(12);
    let room = page.width.saturating_sub(label + 1).max(8);
    let wide = calendar.columns.len() * WIDE <= room;
    let (columns, width) = if wide { (room / WIDE, WIDE) } else { (room, 1) };
    if !wide {
        page.legend(&legend);
    }
    let cells = calendar.sorted();
    for first in (0..calendar.columns.len()).step_by(columns) {
        let last = (first + columns).min(calendar.columns.len());
        page.line("");
        let names = names(calendar, first, last, (room, width));
        page.line(&format!("{:label$} {names}", ""));
        for (row, name) in calendar.rows.iter().enumerate() {
            let name = page.cell(name, label, true);
            let mut line = String::new();
            for column in first..last {
                let found = cells.binary_search_by_key(&(column, row), |c| (c.column, c.row));
                let cell = found.ok().and_then(|at| cells.get(at));
                line += &match cell.map(|cell| (cell, cell.class())) {
                    None => " ".repeat(width),
                    Some((_, None)) => format!("{:>width$}", "."),
                    Some((cell, Some(class))) => {
                        let sign = if wide {
                            number(cell)
                        } else {
                            SIGNS.get(class).copied().unwrap_or('?').to_string()
                        };
                        page.colored(&format!("{sign:>width$}"), color::class(class, CLASSES))
                    }
                };
            }
            page.line(&format!("{name} {line}"));
        }
    }
    page.finish(&[&calendar.caption.notes])
}

/// The percentage of a cell; three digits fit.
fn number(cell: &CalendarCell) -> String {
    match cell.percent.unwrap_or_default() {
        percent if percent > 999.0 => ">1k".to_owned(),
        percent => format!("{:.0}", percent.max(0.0)),
    }
}

/// Names of columns, each above its column where it has room.
fn names(calendar: &Calendar, first: usize, last: usize, (room, width): (usize, usize)) -> String {
    let mut text = String::new();
    for column in first..last {
        let Some(name) = calendar.columns.get(column).filter(|name| !name.is_empty()) else {
            continue;
        };
        let at = (column - first) * width;
        let used = text.width();
        if (used > 0 && used >= at) || at + name.width() > room {
            continue;
        }
        text += &" ".repeat(at - used);
        text += name;
    }
    text
}
