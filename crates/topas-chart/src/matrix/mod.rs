//! A square of cells, one for each pair of things, whose colour tells what is between them.

mod grid;

use super::color::{self, SOFT_INK, ZERO};
use super::font::CAPITAL;
use super::frame::{Frame, LABEL, LegendEntry, MARGIN, Sign};
use super::picture::{Anchor, Area, Picture, PictureItem, PictureText, hatching, hundredth};
use super::unit::Quantity;
use super::words::clean;
use super::{Caption, Chart, Screen, Size, color::NOTHING, terminal};

pub(crate) use grid::{Grid, PairClass};

/// Rows and columns of a picture at most; more are put together.
const MOST_CELLS: usize = 128;

/// Up to this many cells each tells its pair and value when it is pointed at.
const MOST_NOTES: usize = 1024;

/// One cell per pair, from light for little to dark for much; empty where there is nothing.
///
/// Values of very different size get classes of powers of ten. More than 128 rows are put
/// together: each cell then shows the sum of its pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMatrix {
    /// What is written around it
    pub caption: Caption,
    /// What rows and columns stand for: `rank`
    pub thing: String,
    /// What a row is: `sender`
    pub row: String,
    /// What a column is: `receiver`
    pub column: String,
    /// Rows, and columns
    pub size: usize,
    /// What the colours mean
    pub value: Quantity,
    /// Row, column and value, above 0; what is not in it is 0
    pub values: Vec<(u32, u32, f64)>,
    /// Rows that were not measured
    pub missing: Vec<u32>,
}

impl HeatMatrix {
    /// Of so many rows and columns, without values yet.
    pub fn new(value: Quantity, size: usize) -> Self {
        HeatMatrix {
            caption: Caption::default(),
            thing: "rank".to_owned(),
            row: "row".to_owned(),
            column: "column".to_owned(),
            size,
            value,
            values: Vec::new(),
            missing: Vec::new(),
        }
    }
}

impl Chart for HeatMatrix {
    fn picture(&self, size: Size) -> Picture {
        let Some(grid) = Grid::of(self, MOST_CELLS) else {
            return Frame::new(&self.caption, size, &[], Vec::new())
                .nothing("no value was measured");
        };
        let mut frame = Frame::new(&self.caption, size, &legend(&grid), grid.notes.clone());
        let last = self.size.saturating_sub(1).to_string();
        let label_width = LABEL.width(&last) + 8.0;
        let (row, column) = (clean(&self.row), clean(&self.column));
        let value = clean(&self.value.name);
        let text = format!("{value}: {row}s down, {column}s from left to right");
        let at = (MARGIN, hundredth(frame.top + 8.0));
        frame
            .items
            .push(PictureText::new(at, text, LABEL, SOFT_INK).within(frame.inner_width()).into());
        let top = frame.top + 34.0;
        // A square that fills the width would be higher than a screen.
        let room = (frame.inner_width() - label_width).min((frame.height_left(150.0) - 34.0) * 1.4);
        let cell = (room / grid.side as f64).min(46.0);
        let at = (MARGIN + label_width, top);
        let mut items = numbers(&grid, at, cell);
        draw(&mut items, self, &grid, at, cell);
        frame.items.push(PictureItem::Group {
            kind: "cells",
            name: self.value.name.clone(),
            items,
        });
        let description = format!(
            "{value} of {} {}s: {row}s down, {column}s from left to right. {}",
            self.size,
            clean(&self.thing),
            grid.notes.join(" ")
        );
        frame.finish(top + grid.side as f64 * cell, description)
    }

    fn terminal(&self, screen: Screen) -> String {
        terminal::matrix(self, screen)
    }
}

/// Colour of a class: the lightest of the scale is too near to nothing.
pub(crate) fn class(at: usize, count: usize) -> color::Color {
    color::class(at + 1, count + 1)
}

fn legend(grid: &Grid) -> Vec<LegendEntry> {
    let count = grid.classes.len();
    let mut legend = vec![LegendEntry {
        sign: Sign::Fill(ZERO, false),
        name: "0".to_owned(),
        note: format!("({})", grid.zeros),
    }];
    legend.extend(grid.classes.iter().enumerate().map(|(at, of)| LegendEntry {
        sign: Sign::Fill(class(at, count), false),
        name: of.label.clone(),
        note: format!("({})", of.count),
    }));
    if grid.missing > 0 {
        legend.push(LegendEntry {
            sign: Sign::Fill(NOTHING, true),
            name: "not measured".to_owned(),
            note: format!("({})", grid.missing),
        });
    }
    legend
}

/// Numbers of rows at the left and of columns above.
fn numbers(grid: &Grid, at: (f64, f64), cell: f64) -> Vec<PictureItem> {
    let mut items = Vec::new();
    let number = |place: usize| (place * grid.each).to_string();
    let every = ((14.0 / cell).ceil().max(1.0) as usize).next_power_of_two();
    for row in (0..grid.side).step_by(every) {
        let middle = at.1 + (row as f64 + 0.5) * cell + LABEL.size * CAPITAL / 2.0;
        let place = (hundredth(at.0 - 8.0), hundredth(middle));
        items
            .push(PictureText::new(place, number(row), LABEL, SOFT_INK).anchor(Anchor::End).into());
    }
    let widest = LABEL.width(&number(grid.side.saturating_sub(1))) + 8.0;
    let every = ((widest / cell).ceil().max(1.0) as usize).next_power_of_two();
    for column in (0..grid.side).step_by(every) {
        let x = hundredth(at.0 + (column as f64 + 0.5) * cell);
        let text = PictureText::new((x, hundredth(at.1 - 6.0)), number(column), LABEL, SOFT_INK);
        items.push(text.anchor(Anchor::Middle).into());
    }
    items
}

fn draw(items: &mut Vec<PictureItem>, matrix: &HeatMatrix, grid: &Grid, at: (f64, f64), cell: f64) {
    let gap = if cell >= 8.0 { 0.5 } else { 0.0 };
    let area = |row: usize, column: usize| {
        let (x, y) = (at.0 + column as f64 * cell, at.1 + row as f64 * cell);
        Area::between(x + gap, y + gap, x + cell - gap, y + cell - gap)
    };
    let edge = grid.side as f64 * cell;
    let ground = Area::between(at.0, at.1, at.0 + edge, at.1 + edge);
    items.push(PictureItem::Bar { area: ground, fill: ZERO, note: String::new() });
    let count = grid.classes.len();
    let mut classes: Vec<Vec<Area>> = vec![Vec::new(); count];
    let (mut missing, mut hatches) = (Vec::new(), Vec::new());
    for (place, value) in grid.cells.iter().enumerate() {
        let (row, column) = (place / grid.side, place % grid.side);
        match value {
            None => {
                hatches.extend(hatching(&area(row, column), 4.0));
                missing.push(area(row, column));
            }
            Some(value) if *value > 0.0 => {
                let of = grid.class(*value);
                if grid.cells.len() <= MOST_NOTES {
                    let note = note(matrix, grid, row, column, *value);
                    let fill = class(of, count);
                    items.push(PictureItem::Bar { area: area(row, column), fill, note });
                } else if let Some(class) = classes.get_mut(of) {
                    class.push(area(row, column));
                }
            }
            Some(_) => {}
        }
    }
    for (at, areas) in classes.into_iter().enumerate() {
        items.push(PictureItem::Cells { areas, fill: class(at, count) });
    }
    items.push(PictureItem::Cells { areas: missing, fill: NOTHING });
    items.push(PictureItem::Lines { parts: hatches, stroke: SOFT_INK, width: 0.75, dashed: false });
}

fn note(matrix: &HeatMatrix, grid: &Grid, row: usize, column: usize, value: f64) -> String {
    let range = |place: usize| {
        let first = place * grid.each;
        let last = (first + grid.each).min(matrix.size).saturating_sub(1);
        if last > first { format!("{first}–{last}") } else { first.to_string() }
    };
    format!(
        "{} {} to {}: {}",
        clean(&matrix.thing),
        range(row),
        range(column),
        matrix.value.unit.value(value, 4)
    )
}
