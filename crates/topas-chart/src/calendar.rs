//! A calendar: cells of time whose colour tells a share.

use super::color::{self, NOTHING, SOFT_INK};
use super::font::{CAPITAL, Type};
use super::frame::{Frame, LABEL, LegendEntry, MARGIN, Sign, hatched_with};
use super::picture::{Anchor, Area, Picture, PictureItem, PictureText, hatching, hundredth};
use super::words::clean;
use super::{Caption, Chart, Screen, Size, terminal};

/// Columns that a picture draws; what is beyond is said in a note.
const MOST_COLUMNS: usize = 1500;

const SMALL: Type = Type::regular(9.0);

/// Rows such as days of the week or hours of the day, columns such as weeks or days. A cell has a
/// colour, from light to dark, and its number where there is room, so that it is read without
/// colour, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Calendar {
    /// What is written around it
    pub caption: Caption,
    /// Names of the rows: `Mon`
    pub rows: Vec<String>,
    /// Names of the columns; those that are empty are not written
    pub columns: Vec<String>,
    /// What the numbers are called: `Share of PE-hours`
    pub name: String,
    /// The cells, in any order
    pub cells: Vec<CalendarCell>,
    /// What a cell without a share is: `capacity not known`
    pub unknown: String,
}

/// A period.
#[derive(Clone, Debug, PartialEq)]
pub struct CalendarCell {
    /// Index of its column
    pub column: usize,
    /// Index of its row
    pub row: usize,
    /// The share in percent; None: not known
    pub percent: Option<f64>,
    /// What is shown when it is pointed at: `2026-11-20: 87.1% of 1536 PE-h`
    pub note: String,
}

/// Classes of shares: tenths, and more than the whole.
pub(crate) const CLASSES: usize = 11;

impl CalendarCell {
    /// 0 for less than 10 %, 9 up to 100 %, 10 for more.
    pub(crate) fn class(&self) -> Option<usize> {
        let percent = self.percent.filter(|percent| percent.is_finite())?;
        Some(if percent > 100.0 { 10 } else { ((percent / 10.0).max(0.0) as usize).min(9) })
    }
}

/// The name of a class.
pub(crate) fn class_name(class: usize) -> String {
    match class {
        0 => "<10%".to_owned(),
        9 => "90–100%".to_owned(),
        10 => ">100%".to_owned(),
        class => format!("{}–{}%", class * 10, class * 10 + 10),
    }
}

impl Calendar {
    /// Number of cells in each class, and of those without.
    pub(crate) fn counts(&self) -> ([usize; CLASSES], usize) {
        let mut counts = [0; CLASSES];
        let mut unknown = 0;
        for cell in &self.cells {
            match cell.class().and_then(|class| counts.get_mut(class)) {
                Some(count) => *count += 1,
                None => unknown += 1,
            }
        }
        (counts, unknown)
    }

    /// Cells by column, then row.
    pub(crate) fn sorted(&self) -> Vec<&CalendarCell> {
        let inside =
            |cell: &&CalendarCell| cell.column < self.columns.len() && cell.row < self.rows.len();
        let mut cells: Vec<&CalendarCell> = self.cells.iter().filter(inside).collect();
        cells.sort_by_key(|cell| (cell.column, cell.row));
        cells
    }
}

impl Chart for Calendar {
    fn picture(&self, size: Size) -> Picture {
        if self.cells.is_empty() {
            return Frame::new(&self.caption, size, &[], Vec::new()).nothing("no period to show");
        }
        let shown = self.columns.len().min(MOST_COLUMNS);
        let mut more = Vec::new();
        if shown < self.columns.len() {
            more.push(format!(
                "Not drawn: {} of {} columns, the latest. Ask for fewer days.",
                self.columns.len() - shown,
                self.columns.len()
            ));
        }
        let mut frame = Frame::new(&self.caption, size, &legend(self), more);
        let label = self.rows.iter().map(|row| LABEL.width(&clean(row))).fold(0.0, f64::max) + 8.0;
        let room = frame.inner_width() - label;
        let left = MARGIN + label;
        let shape = Shape::of(room, shown, self.rows.len());
        let mut items = Vec::new();
        let mut top = frame.top + 6.0;
        let cells = self.sorted();
        for first in (0..shown).step_by(shape.columns) {
            let last = (first + shape.columns).min(shown);
            top += 18.0;
            self.names(&mut items, (left, top), first..last, &shape);
            let of_band = cells.iter().filter(|cell| (first..last).contains(&cell.column));
            for cell in of_band {
                let x = left + (cell.column - first) as f64 * shape.width;
                let y = top + cell.row as f64 * shape.height;
                let gap = if shape.width > 6.0 { 0.75 } else { 0.25 };
                let area =
                    Area::between(x + gap, y + gap, x + shape.width - gap, y + shape.height - gap);
                draw(&mut items, cell, area);
            }
            top += self.rows.len() as f64 * shape.height + 6.0;
        }
        frame.items.push(PictureItem::Group { kind: "cells", name: self.name.clone(), items });
        frame.finish(top, describe(self))
    }

    fn terminal(&self, screen: Screen) -> String {
        terminal::calendar(self, screen)
    }
}

/// Sizes of cells in px, and columns in a band.
struct Shape {
    width: f64,
    height: f64,
    columns: usize,
}

impl Shape {
    fn of(room: f64, columns: usize, rows: usize) -> Self {
        // Wide enough for a number, unless there would be too many bands of them.
        let wide = (room / 25.0).floor().max(1.0);
        let bands = (columns as f64 / wide).ceil();
        if bands * rows as f64 <= 96.0 {
            let count = (columns as f64 / bands.max(1.0)).ceil().max(1.0);
            let width = (room / count).min(40.0);
            let height = if rows > 12 { 15.0 } else { width.min(26.0) };
            return Shape { width, height, columns: count as usize };
        }
        let count = (room / 7.0).floor().max(1.0);
        Shape { width: 7.0, height: 7.0, columns: count as usize }
    }
}

impl Calendar {
    /// Names of the rows to the left of a band, of its columns above.
    fn names(
        &self,
        items: &mut Vec<PictureItem>,
        (left, top): (f64, f64),
        columns: std::ops::Range<usize>,
        shape: &Shape,
    ) {
        let every = (13.0 / shape.height).ceil().max(1.0) as usize;
        for (at, name) in self.rows.iter().enumerate().step_by(every) {
            let y = top + (at as f64 + 0.5) * shape.height + LABEL.size * CAPITAL / 2.0;
            let at = (hundredth(left - 6.0), hundredth(y));
            let text = PictureText::new(at, clean(name), LABEL, SOFT_INK);
            items.push(text.anchor(Anchor::End).into());
        }
        let mut free = 0.0;
        for column in columns.clone() {
            let Some(name) = self.columns.get(column).filter(|name| !name.is_empty()) else {
                continue;
            };
            let name = clean(name);
            let x = left + (column - columns.start) as f64 * shape.width;
            let end = x + LABEL.width(&name);
            // Names do not run into each other, nor out of the picture.
            if x < free || end > left + (columns.len() as f64 * shape.width).max(60.0) {
                continue;
            }
            free = end + 6.0;
            let at = (hundredth(x), hundredth(top - 4.0));
            items.push(PictureText::new(at, name, LABEL, SOFT_INK).into());
        }
    }
}

fn draw(items: &mut Vec<PictureItem>, cell: &CalendarCell, area: Area) {
    let Some(class) = cell.class() else {
        items.push(PictureItem::Bar { area, fill: NOTHING, note: cell.note.clone() });
        items.push(hatched_with(NOTHING, hatching(&area, 4.0)));
        return;
    };
    let fill = color::class(class, CLASSES);
    items.push(PictureItem::Bar { area, fill, note: cell.note.clone() });
    let number = format!("{:.0}", cell.percent.unwrap_or_default().clamp(0.0, 9999.0));
    if area.height >= 11.0 && SMALL.width(&number) <= area.width - 2.0 {
        let x = area.x + area.width / 2.0;
        let y = area.y + area.height / 2.0 + SMALL.size * CAPITAL / 2.0;
        let text = PictureText::new((hundredth(x), hundredth(y)), number, SMALL, fill.ink());
        items.push(text.anchor(Anchor::Middle).into());
    }
}

fn legend(calendar: &Calendar) -> Vec<LegendEntry> {
    let (counts, unknown) = calendar.counts();
    let mut entries: Vec<LegendEntry> = counts
        .iter()
        .enumerate()
        .filter(|&(class, count)| class < 10 || *count > 0)
        .map(|(class, count)| LegendEntry {
            sign: Sign::Fill(color::class(class, CLASSES), false),
            name: class_name(class),
            note: format!("({count})"),
        })
        .collect();
    if unknown > 0 {
        entries.push(LegendEntry {
            sign: Sign::Fill(NOTHING, true),
            name: calendar.unknown.clone(),
            note: format!("({unknown})"),
        });
    }
    entries
}

fn describe(calendar: &Calendar) -> String {
    let (counts, unknown) = calendar.counts();
    let classes = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut classes: Vec<String> =
        classes.map(|(class, count)| format!("{}: {count}", class_name(class))).collect();
    if unknown > 0 {
        classes.push(format!("{}: {unknown}", calendar.unknown));
    }
    let all = calendar.cells.len();
    format!("{}, {all} periods. Number in each class: {}.", calendar.name, classes.join("; "))
}
