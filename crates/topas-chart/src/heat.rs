//! A strip of cells, one for each PE, whose colour tells a value.

use super::axis::Axis;
use super::color::{self, Color, INK, NOTHING, PAPER, SOFT_INK};
use super::font::{CAPITAL, Type};
use super::frame::{Frame, LABEL, LegendEntry, MARGIN, Sign};
use super::picture::{Anchor, Area, Picture, PictureItem, PictureText, hatching, hundredth};
use super::quantile::{quantile, sorted};
use super::unit::{NumberForm, Quantity};
use super::words::clean;
use super::{Caption, Chart, Screen, Size, terminal};

/// Cells of a picture at most; more values are put together.
const MOST_CELLS: usize = 8192;

/// Extremes that are named below.
const MOST_NAMED: usize = 6;

const SMALL: Type = Type::regular(10.0);

/// One cell per PE, in rows, light for low values and dark for high ones.
///
/// More than 8192 values are put together: each cell then shows the median of its PEs, and a sign
/// if one of the extremes is among them.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatStrip {
    /// What is written around it
    pub caption: Caption,
    /// What a cell is: `PE`
    pub thing: String,
    /// Number of the first cell
    pub first: u64,
    /// What the colours mean
    pub value: Quantity,
    /// One for each cell; None: not measured
    pub values: Vec<Option<f64>>,
    /// Indices of values that stand out: they get a sign, and the first are named
    pub extremes: Vec<usize>,
    /// Cells in a row, such as the PEs of a host; None: as fits best
    pub per_row: Option<usize>,
}

impl HeatStrip {
    /// Cells of PEs from 0 on.
    pub fn new(value: Quantity, values: Vec<Option<f64>>) -> Self {
        HeatStrip {
            caption: Caption::default(),
            thing: "PE".to_owned(),
            first: 0,
            value,
            values,
            extremes: Vec::new(),
            per_row: None,
        }
    }
}

/// What a strip shows, by whichever back end.
pub(crate) struct HeatCells {
    /// Values that one cell stands for
    pub(crate) each: usize,
    pub(crate) cells: Vec<HeatCell>,
    pub(crate) classes: Vec<HeatClass>,
    pub(crate) form: NumberForm,
    pub(crate) missing: usize,
    pub(crate) notes: Vec<String>,
}

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeatCell {
    pub(crate) value: Option<f64>,
    /// Index of the class
    pub(crate) class: usize,
    /// Whether an extreme is in it, and whether that is a high one
    pub(crate) extreme: Option<bool>,
}

/// A range of values that have one colour.
pub(crate) struct HeatClass {
    pub(crate) label: String,
    pub(crate) count: usize,
}

impl HeatCells {
    /// At most `most` cells with about `steps` classes; `whole` cells stand together if possible.
    pub(crate) fn of(strip: &HeatStrip, most: usize, steps: usize) -> Option<Self> {
        let good = |value: &Option<f64>| value.filter(|v| v.is_finite() && v.abs() < 1e200);
        let values: Vec<Option<f64>> = strip.values.iter().map(good).collect();
        let ascending = sorted(values.iter().copied().flatten());
        let at = |share| quantile(&ascending, share);
        let (q25, median, q75) = (at(0.25)?, at(0.5)?, at(0.75)?);
        // Few far out must not leave one colour for all others: the outer classes are open.
        let reach = 3.0 * (q75 - q25);
        let (least, largest) = (at(0.0)?, at(1.0)?);
        let (low, high) = if reach > 0.0 {
            (least.max(q25 - reach), largest.min(q75 + reach))
        } else {
            (least, largest)
        };
        let axis = if low == high { Axis::only(low) } else { Axis::around(low, high, steps) };
        let form = strip.value.unit.form(axis.most(), axis.step);
        let ticks: Vec<f64> = axis.ticks().collect();
        let count = ticks.len().saturating_sub(1).max(1);
        let class = |value: f64| {
            // The bounds as they are printed, so that a legend can be checked by eye.
            ticks.iter().skip(1).filter(|&&tick| value >= tick).count().min(count - 1)
        };
        let each = values.len().div_ceil(most.max(1)).max(1).next_power_of_two();
        let mut cells: Vec<HeatCell> = values
            .chunks(each)
            .map(|values| {
                let value = match values {
                    [only] => *only,
                    several => quantile(&sorted(several.iter().copied().flatten()), 0.5),
                };
                HeatCell { value, class: value.map_or(0, class), extreme: None }
            })
            .collect();
        let mut counts = vec![0; count];
        for value in values.iter().flatten() {
            if let Some(count) = counts.get_mut(class(*value)) {
                *count += 1;
            }
        }
        let mut extremes: Vec<usize> = strip.extremes.clone();
        extremes.sort_unstable();
        extremes.dedup();
        for &index in &extremes {
            let value = values.get(index).copied().flatten();
            if let (Some(value), Some(cell)) = (value, cells.get_mut(index / each)) {
                cell.extreme = Some(value > median);
            }
        }
        let label = |(at, &count): (usize, &usize)| {
            let number = |at: usize| ticks.get(at).map(|&v| form.number(v)).unwrap_or_default();
            let label = if at == 0 && least < axis.low {
                format!("<{}", number(1))
            } else if at + 1 == counts.len() && largest > axis.high {
                format!("≥{}", number(at))
            } else if low == high {
                strip.value.unit.form(low.abs(), 0.0).number(low)
            } else {
                format!("{}–{}", number(at), number(at + 1))
            };
            HeatClass { label, count }
        };
        let classes: Vec<HeatClass> = counts.iter().enumerate().map(label).collect();
        let missing = values.len() - ascending.len();
        let notes = notes(strip, &values, &extremes, median, each, missing);
        Some(HeatCells { each, cells, classes, form, missing, notes })
    }
}

fn notes(
    strip: &HeatStrip,
    values: &[Option<f64>],
    extremes: &[usize],
    median: f64,
    each: usize,
    missing: usize,
) -> Vec<String> {
    let thing = clean(&strip.thing);
    let mut notes = Vec::new();
    if each > 1 {
        notes.push(format!("A cell stands for {each} {thing}s and shows their median."));
    }
    if missing > 0 {
        notes.push(format!("{missing} of {} {thing}s were not measured.", values.len()));
    }
    for (sign, word, high) in [("▲", "high", true), ("▼", "low", false)] {
        let mut found: Vec<(usize, f64)> = extremes
            .iter()
            .filter_map(|&at| Some((at, values.get(at).copied().flatten()?)))
            .filter(|&(_, value)| (value > median) == high)
            .collect();
        let far = |value: f64| (value - median).abs();
        found.sort_by(|a, b| far(b.1).total_cmp(&far(a.1)).then(a.0.cmp(&b.0)));
        if found.is_empty() {
            continue;
        }
        let name = |&(at, value): &(usize, f64)| {
            let number = strip.first.saturating_add(at as u64);
            format!("{thing} {number}: {}", strip.value.unit.value(value, 4))
        };
        let named: Vec<String> = found.iter().take(MOST_NAMED).map(name).collect();
        let more = found.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let median = strip.value.unit.value(median, 4);
        notes.push(format!("{sign} {word} (median {median}): {}{more}", named.join(", ")));
    }
    notes
}

impl Chart for HeatStrip {
    fn picture(&self, size: Size) -> Picture {
        let Some(cells) = HeatCells::of(self, MOST_CELLS, 9) else {
            return Frame::new(&self.caption, size, &[], Vec::new())
                .nothing("no value was measured");
        };
        let mut frame = Frame::new(&self.caption, size, &legend(self, &cells), cells.notes.clone());
        let last = self.first.saturating_add(self.values.len().saturating_sub(1) as u64);
        let label_width = LABEL.width(&last.to_string()) + 8.0;
        let room = frame.inner_width() - label_width;
        let left = MARGIN + label_width;
        let heading = cells.form.heading(&clean(&self.value.name));
        let text = format!("{heading} of each {}", clean(&self.thing));
        let at = (MARGIN, hundredth(frame.top + 8.0));
        frame
            .items
            .push(PictureText::new(at, text, LABEL, SOFT_INK).within(frame.inner_width()).into());
        let top = frame.top + 34.0;
        let high = frame.height_left(150.0) - 34.0;
        let (columns, side) = shape(self, &cells, room, high);

        let mut items = axes(self, &cells, (left, top), columns, side);
        draw(&mut items, self, &cells, (left, top), columns, side);
        let group = PictureItem::Group { kind: "cells", name: self.value.name.clone(), items };
        frame.items.push(group);
        let rows = cells.cells.len().div_ceil(columns) as f64;
        let description = describe(self, &cells);
        frame.finish(top + rows * side, description)
    }

    fn terminal(&self, screen: Screen) -> String {
        terminal::heat(self, screen)
    }
}

fn legend(strip: &HeatStrip, cells: &HeatCells) -> Vec<LegendEntry> {
    let count = cells.classes.len();
    let entry = |(at, class): (usize, &HeatClass)| LegendEntry {
        sign: Sign::Fill(color::class(at, count), false),
        name: class.label.clone(),
        note: format!("({})", class.count),
    };
    let mut legend: Vec<LegendEntry> = cells.classes.iter().enumerate().map(entry).collect();
    if cells.missing > 0 {
        legend.push(LegendEntry {
            sign: Sign::Fill(NOTHING, true),
            name: "not measured".to_owned(),
            note: format!("({})", cells.missing),
        });
    }
    for (high, name) in [(true, "high"), (false, "low")] {
        if cells.cells.iter().any(|cell| cell.extreme == Some(high)) {
            let name = format!("{name} {}", clean(&strip.thing));
            legend.push(LegendEntry {
                sign: Sign::Shape(triangle(high, 5.0), INK),
                name,
                note: String::new(),
            });
        }
    }
    legend
}

/// Cells in a row, and the side of a cell in px.
fn shape(strip: &HeatStrip, cells: &HeatCells, room: f64, high: f64) -> (usize, f64) {
    const LARGEST: f64 = 46.0;
    let count = cells.cells.len();
    let side = |columns: usize| (room / columns as f64).min(LARGEST);
    let wanted = strip.per_row.map(|n| n / cells.each).filter(|&n| (1..=256).contains(&n));
    if let Some(columns) = wanted {
        let rows = count.div_ceil(columns) as f64;
        return (columns, side(columns).min((high / rows).max(5.0)));
    }
    // Few cells fill their only row. Of more the largest cells are wanted.
    if count <= 16 {
        return (count.max(1), side(count.max(1)));
    }
    let fitting = |columns: usize| side(columns).min(high / count.div_ceil(columns) as f64);
    let shapes = [8, 16, 32, 64, 128].map(|columns| (columns, fitting(columns)));
    let best = shapes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or((128, side(128)), |(columns, side)| (columns, side.max(room / 160.0)))
}

/// Numbers at the rows, and above columns.
fn axes(
    strip: &HeatStrip,
    cells: &HeatCells,
    at: (f64, f64),
    columns: usize,
    side: f64,
) -> Vec<PictureItem> {
    let mut items = Vec::new();
    let number = |cell: usize| strip.first.saturating_add((cell * cells.each) as u64).to_string();
    let rows = cells.cells.len().div_ceil(columns);
    let every = (14.0 / side).ceil().max(1.0) as usize;
    let every = every.next_power_of_two();
    for row in (0..rows).step_by(every) {
        let middle = at.1 + (row as f64 + 0.5) * side + LABEL.size * CAPITAL / 2.0;
        let at = (hundredth(at.0 - 8.0), hundredth(middle));
        items.push(
            PictureText::new(at, number(row * columns), LABEL, SOFT_INK).anchor(Anchor::End).into(),
        );
    }
    if rows > 1 {
        let widest = SMALL.width(&format!("+{}", columns * cells.each)) + 8.0;
        let every = ((widest / side).ceil() as usize).max(columns.div_ceil(16)).next_power_of_two();
        for column in (0..columns).step_by(every) {
            let x = hundredth(at.0 + (column as f64 + 0.5) * side);
            let text = format!("+{}", column * cells.each);
            let text = PictureText::new((x, hundredth(at.1 - 5.0)), text, SMALL, SOFT_INK);
            items.push(text.anchor(Anchor::Middle).into());
        }
    }
    items
}

fn draw(
    items: &mut Vec<PictureItem>,
    strip: &HeatStrip,
    cells: &HeatCells,
    at: (f64, f64),
    columns: usize,
    side: f64,
) {
    /// Up to this many cells each tells its number and value when it is pointed at.
    const MOST_NOTES: usize = 1024;
    let gap = if side >= 8.0 {
        0.75
    } else if side >= 4.0 {
        0.4
    } else {
        0.0
    };
    let area = |index: usize| {
        let (column, row) = ((index % columns) as f64, (index / columns) as f64);
        let (x, y) = (at.0 + column * side, at.1 + row * side);
        Area::between(x + gap, y + gap, x + side - gap, y + side - gap)
    };
    let count = cells.classes.len();
    let mut classes: Vec<Vec<Area>> = vec![Vec::new(); count];
    let (mut missing, mut hatches) = (Vec::new(), Vec::new());
    for (index, cell) in cells.cells.iter().enumerate() {
        let area = area(index);
        if cells.cells.len() <= MOST_NOTES {
            let fill = if cell.value.is_some() { color::class(cell.class, count) } else { NOTHING };
            let note = note(strip, cells, index, cell);
            items.push(PictureItem::Bar { area, fill, note });
        } else if cell.value.is_some() {
            classes.get_mut(cell.class).into_iter().for_each(|class| class.push(area));
        } else {
            missing.push(area);
        }
        if cell.value.is_none() {
            hatches.extend(hatching(&area, 4.0));
        }
    }
    for (at, areas) in classes.into_iter().enumerate() {
        items.push(PictureItem::Cells { areas, fill: color::class(at, count) });
    }
    items.push(PictureItem::Cells { areas: missing, fill: NOTHING });
    items.push(PictureItem::Lines { parts: hatches, stroke: SOFT_INK, width: 0.75, dashed: false });
    for (index, cell) in cells.cells.iter().enumerate() {
        let Some(high) = cell.extreme else { continue };
        sign(items, &area(index), color::class(cell.class, count), high);
    }
}

/// A triangle in the cell; around small cells a frame, and the triangle beside it.
fn sign(items: &mut Vec<PictureItem>, area: &Area, ground: Color, high: bool) {
    let middle = (area.x + area.width / 2.0, area.y + area.height / 2.0);
    let shape = |size: f64, middle: (f64, f64)| -> Vec<(f64, f64)> {
        let place = |(x, y): (f64, f64)| (hundredth(middle.0 + x), hundredth(middle.1 + y));
        triangle(high, size).into_iter().map(place).collect()
    };
    if area.width >= 9.0 {
        let size = (area.width * 0.3).min(6.0);
        items.push(PictureItem::Polygons { parts: vec![shape(size, middle)], fill: ground.ink() });
    } else {
        items.push(PictureItem::Polygons { parts: vec![shape(6.5, middle)], fill: PAPER });
        items.push(PictureItem::Polygons { parts: vec![shape(5.0, middle)], fill: INK });
    }
}

/// Around its middle; upwards for high values.
pub(crate) fn triangle(high: bool, size: f64) -> Vec<(f64, f64)> {
    let up = if high { -1.0 } else { 1.0 };
    vec![(-size, -0.75 * up * size), (size, -0.75 * up * size), (0.0, 0.9 * up * size)]
}

fn note(strip: &HeatStrip, cells: &HeatCells, index: usize, cell: &HeatCell) -> String {
    let thing = clean(&strip.thing);
    let first = strip.first.saturating_add((index * cells.each) as u64);
    let value = match cell.value {
        Some(value) => strip.value.unit.value(value, 4),
        None => "not measured".to_owned(),
    };
    if cells.each == 1 {
        format!("{thing} {first}: {value}")
    } else {
        let rest = strip.values.len().saturating_sub(index * cells.each);
        let last = first.saturating_add(cells.each.min(rest).saturating_sub(1) as u64);
        format!("{thing} {first}–{last}: {value}")
    }
}

fn describe(strip: &HeatStrip, cells: &HeatCells) -> String {
    let class = |class: &HeatClass| format!("{}: {}", class.label, class.count);
    let classes: Vec<String> = cells.classes.iter().map(class).collect();
    let heading = cells.form.heading(&clean(&strip.value.name));
    let things = format!("{} {}s", strip.values.len(), clean(&strip.thing));
    format!(
        "{heading} of {things}. Number in each class: {}. {}",
        classes.join("; "),
        cells.notes.join(" ")
    )
}
