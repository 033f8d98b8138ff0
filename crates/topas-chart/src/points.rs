//! A value per PE, or per moment: points, a line, or bands where there are too many.

use super::axis::Axis;
use super::color::{self, Color, INK};
use super::font::{CAPITAL, Type};
use super::frame::{
    AXIS_BELOW, AXIS_HEADING, Frame, LABEL, LegendEntry, MARGIN, Sign, below, ground, upright_axis,
    upright_axis_width,
};
use super::heat::triangle;
use super::picture::{Anchor, Area, Picture, PictureItem, PictureText, hundredth};
use super::quantile::{quantile, sorted};
use super::unit::{AxisUnit, Quantity};
use super::words::clean;
use super::{Caption, Chart, Screen, Series, Size, terminal};

/// Points of all series that are drawn one by one; more become bands.
const MOST_POINTS: usize = 4000;

/// Width of a column of bands in px.
const COLUMN: f64 = 2.0;

const NAME: Type = Type::regular(10.0);

/// Values against a number that counts up.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// What is written around them
    pub caption: Caption,
    /// What is counted from left to right: `PE`
    pub along: String,
    /// Number of the first value of each series
    pub first: u64,
    /// What is upwards
    pub value: Quantity,
    /// The values, in order; None: not measured
    pub series: Vec<Series>,
    /// Indices of values of the first series that stand out: they get a sign and their number
    pub extremes: Vec<usize>,
    /// Whether the axis begins at 0; else near the smallest value
    pub from_zero: bool,
    /// Whether a line joins neighbours
    pub joined: bool,
}

impl Points {
    /// One series of PEs from 0 on.
    pub fn new(value: Quantity, values: Vec<Option<f64>>) -> Self {
        Points {
            caption: Caption::default(),
            along: "PE".to_owned(),
            first: 0,
            value,
            series: vec![Series { name: String::new(), note: String::new(), values }],
            extremes: Vec::new(),
            from_zero: false,
            joined: false,
        }
    }

    /// Length of the longest series.
    pub(crate) fn len(&self) -> usize {
        self.series.iter().map(|series| series.values.len()).max().unwrap_or(0)
    }

    /// Smallest and largest value, or None if there is none.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let values = self.series.iter().flat_map(|series| &series.values).filter_map(drawable);
        let range = values.fold(None, |range: Option<(f64, f64)>, v| match range {
            Some((low, high)) => Some((low.min(v), high.max(v))),
            None => Some((v, v)),
        });
        range.map(|(low, high)| (if self.from_zero { low.min(0.0) } else { low }, high))
    }

    /// What is said of values that are not there.
    pub(crate) fn notes(&self) -> Vec<String> {
        let all: usize = self.series.iter().map(|series| series.values.len()).sum();
        let missing = self.series.iter().flat_map(|s| &s.values).filter(|v| drawable(v).is_none());
        match missing.count() {
            0 => Vec::new(),
            missing => vec![format!("{missing} of {all} values were not measured.")],
        }
    }
}

/// A value that can be drawn.
pub(crate) fn drawable(value: &Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite() && v.abs() < 1e200)
}

/// What is in one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Band {
    pub(crate) column: usize,
    pub(crate) low: f64,
    pub(crate) q25: f64,
    pub(crate) median: f64,
    pub(crate) q75: f64,
    pub(crate) high: f64,
}

/// `values` in so many columns; empty columns are left out.
pub(crate) fn bands(values: &[Option<f64>], total: usize, columns: usize) -> Vec<Band> {
    let mut bands = Vec::new();
    for column in 0..columns {
        // In u128: a product of both may be large.
        let end = |at: usize| (at as u128 * total as u128 / columns as u128) as usize;
        let (from, to) = (end(column), end(column + 1));
        let inside = values.get(from..to.min(values.len())).unwrap_or_default();
        let ascending = sorted(inside.iter().filter_map(drawable));
        let at = |share| quantile(&ascending, share);
        if let (Some(low), Some(q25), Some(median), Some(q75), Some(high)) =
            (at(0.0), at(0.25), at(0.5), at(0.75), at(1.0))
        {
            bands.push(Band { column, low, q25, median, q75, high });
        }
    }
    bands
}

impl Chart for Points {
    fn picture(&self, size: Size) -> Picture {
        let mut notes = self.notes();
        let Some((low, high)) = self.range() else {
            return Frame::new(&self.caption, size, &[], notes).nothing("no value was measured");
        };
        let banded = self.series.iter().map(|s| s.values.len()).sum::<usize>() > MOST_POINTS;
        if banded {
            notes.insert(
                0,
                format!(
                    "Line: median of neighbouring {along}s; dark band: quartiles; light band: all.",
                    along = clean(&self.along)
                ),
            );
        }
        let entry = |(at, series): (usize, &Series)| LegendEntry {
            sign: Sign::Line(color::series(at).0),
            name: series.name.clone(),
            note: series.note.clone(),
        };
        let named = self.series.iter().any(|series| !series.name.is_empty());
        let legend: Vec<LegendEntry> =
            self.series.iter().enumerate().filter(|_| named).map(entry).collect();
        let mut frame = Frame::new(&self.caption, size, &legend, notes);
        let axis = if self.from_zero && low >= 0.0 {
            Axis::from_zero(high, 5)
        } else {
            Axis::around(low, high, 5)
        };
        let form = self.value.unit.form(axis.most(), axis.step);
        let left = MARGIN + upright_axis_width(&axis, &form);
        let top = frame.top + AXIS_HEADING;
        let height =
            frame.height_left(150.0 + AXIS_HEADING + AXIS_BELOW) - AXIS_HEADING - AXIS_BELOW;
        let plot = Area::between(left, top, MARGIN + frame.inner_width(), top + height);
        let mut items = std::mem::take(&mut frame.items);
        upright_axis(&mut items, &plot, &axis, &form, &self.value);
        along(&mut items, self, &plot);
        for (at, series) in self.series.iter().enumerate() {
            let color = color::series(at).0;
            let drawn = if banded {
                draw_bands(self, series, &plot, &axis, color)
            } else {
                draw_points(self, series, &plot, &axis, color, at)
            };
            items.push(PictureItem::Group {
                kind: "series",
                name: series.name.clone(),
                items: drawn,
            });
        }
        extremes(&mut items, self, &plot, &axis);
        frame.items = items;
        let (least, most) = (self.value.unit.value(low, 4), self.value.unit.value(high, 4));
        let description = format!(
            "{} of {} {}s, from {least} to {most}.",
            clean(&self.value.name),
            self.len(),
            clean(&self.along)
        );
        frame.finish(plot.bottom() + AXIS_BELOW, description)
    }

    fn terminal(&self, screen: Screen) -> String {
        terminal::points(self, screen)
    }
}

/// Middle of the place of `index`.
fn x(points: &Points, plot: &Area, index: usize) -> f64 {
    hundredth(plot.x + (index as f64 + 0.5) / points.len().max(1) as f64 * plot.width)
}

fn y(plot: &Area, axis: &Axis, value: f64) -> f64 {
    hundredth(plot.bottom() - plot.height * axis.share(value))
}

/// Numbers from left to right.
fn along(items: &mut Vec<PictureItem>, points: &Points, plot: &Area) {
    let count = points.len();
    let first = points.first as f64;
    let widest = LABEL.width(&AxisUnit::Count.value(first + count as f64, 3)) + 16.0;
    let wanted = ((plot.width / widest) as usize).clamp(1, 10);
    let axis = Axis::around(first, first + count.saturating_sub(1) as f64, wanted);
    let whole = axis.step.max(1.0);
    let baseline = hundredth(plot.bottom() + 8.0 + LABEL.size * CAPITAL);
    let (mut all, mut marks): (Vec<PictureItem>, _) = (Vec::new(), Vec::new());
    for tick in axis.ticks().filter(|tick| tick % whole == 0.0) {
        let index = tick - first;
        if (0.0..count as f64).contains(&index) {
            let x = x(points, plot, index as usize);
            marks.push(vec![(x, plot.bottom()), (x, hundredth(plot.bottom() + 4.0))]);
            let text = PictureText::new(
                (x, baseline),
                AxisUnit::Count.value(tick, 3),
                LABEL,
                color::SOFT_INK,
            );
            all.push(text.anchor(Anchor::Middle).into());
        }
    }
    items.push(ground((plot.x, plot.bottom()), (plot.right(), plot.bottom())));
    all.push(PictureItem::Lines { parts: marks, stroke: color::AXIS, width: 1.0, dashed: false });
    all.push(below(plot, clean(&points.along)).into());
    items.push(PictureItem::Group { kind: "axis", name: points.along.clone(), items: all });
}

fn draw_points(
    points: &Points,
    series: &Series,
    plot: &Area,
    axis: &Axis,
    color: Color,
    number: usize,
) -> Vec<PictureItem> {
    let place = |(index, value): (usize, &Option<f64>)| {
        Some((x(points, plot, index), y(plot, axis, drawable(value)?)))
    };
    let places: Vec<Option<(f64, f64)>> = series.values.iter().enumerate().map(place).collect();
    let mut items = Vec::new();
    if points.joined {
        let runs = places.split(Option::is_none).map(|run| run.iter().copied().flatten().collect());
        let parts: Vec<Vec<(f64, f64)>> = runs.filter(|run: &Vec<_>| run.len() > 1).collect();
        items.push(PictureItem::Lines {
            parts,
            stroke: color,
            width: 1.5,
            dashed: number % 2 == 1,
        });
    }
    let apart = plot.width / points.len().max(1) as f64;
    let radius = hundredth((apart * 0.3).clamp(1.5, 3.5));
    let centers: Vec<(f64, f64)> = places.into_iter().flatten().collect();
    if number == 0 {
        items.push(PictureItem::Dots { centers, radius, fill: color });
    } else {
        // Another series, another shape.
        let high = number % 2 == 1;
        let shape = |(cx, cy): (f64, f64)| {
            let corner = |(x, y)| (hundredth(cx + x), hundredth(cy + y));
            triangle(high, radius * 1.3).into_iter().map(corner).collect()
        };
        items.push(PictureItem::Polygons {
            parts: centers.into_iter().map(shape).collect(),
            fill: color,
        });
    }
    items
}

fn draw_bands(
    points: &Points,
    series: &Series,
    plot: &Area,
    axis: &Axis,
    color: Color,
) -> Vec<PictureItem> {
    let columns = (plot.width / COLUMN).floor().max(1.0) as usize;
    let bands = bands(&series.values, points.len(), columns);
    let left = |band: &Band| plot.x + band.column as f64 * plot.width / columns as f64;
    let width = plot.width / columns as f64;
    let area = |band: &Band, low: f64, high: f64| {
        // A flat band is still seen.
        let (top, bottom) = (y(plot, axis, high), y(plot, axis, low));
        Area::between(left(band), top - 0.25, left(band) + width, bottom + 0.25)
    };
    let all = bands.iter().map(|band| area(band, band.low, band.high)).collect();
    let inner = bands.iter().map(|band| area(band, band.q25, band.q75)).collect();
    let mut line: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut before = None;
    for band in &bands {
        let place = (hundredth(left(band) + width / 2.0), y(plot, axis, band.median));
        match line.last_mut().filter(|_| before == band.column.checked_sub(1)) {
            Some(part) => part.push(place),
            None => line.push(vec![place]),
        }
        before = Some(band.column);
    }
    vec![
        PictureItem::Cells { areas: all, fill: color.pale(0.25) },
        PictureItem::Cells { areas: inner, fill: color.pale(0.55) },
        PictureItem::Lines { parts: line, stroke: color, width: 1.5, dashed: false },
    ]
}

/// Signs and numbers of what stands out.
fn extremes(items: &mut Vec<PictureItem>, points: &Points, plot: &Area, axis: &Axis) {
    const MOST: usize = 8;
    let Some(series) = points.series.first() else { return };
    let ascending = sorted(series.values.iter().filter_map(drawable));
    let Some(median) = quantile(&ascending, 0.5) else { return };
    let value = |&index: &usize| Some((index, drawable(series.values.get(index)?)?));
    let mut found: Vec<(usize, f64)> = points.extremes.iter().filter_map(value).collect();
    found.sort_by(|a, b| (b.1 - median).abs().total_cmp(&(a.1 - median).abs()).then(a.0.cmp(&b.0)));
    let (mut drawn, mut taken): (Vec<PictureItem>, Vec<Area>) = (Vec::new(), Vec::new());
    // No number stands on the sign of another point.
    let sign = |(index, value): &(usize, f64)| {
        let (x, y) = (x(points, plot, *index), y(plot, axis, *value));
        Area::between(x - 6.0, y - 6.0, x + 6.0, y + 6.0)
    };
    let signs: Vec<Area> = found.iter().map(sign).collect();
    for (order, (index, value)) in found.into_iter().enumerate() {
        let high = value > median;
        let middle = (x(points, plot, index), y(plot, axis, value));
        let corner = |(x, y)| (hundredth(middle.0 + x), hundredth(middle.1 + y));
        let shape = triangle(high, 6.0).into_iter().map(corner).collect();
        drawn.push(PictureItem::Polygons { parts: vec![shape], fill: INK });
        let number = points.first.saturating_add(index as u64);
        let text = format!("{} {number}", clean(&points.along));
        let width = NAME.width(&text);
        let left_side = middle.0 + 9.0 + width > plot.right();
        let left = if left_side { middle.0 - 9.0 - width } else { middle.0 + 9.0 };
        let area = Area::between(left, middle.1 - 7.0, left + width, middle.1 + 7.0);
        let others = signs.iter().enumerate().filter(|(at, _)| *at != order);
        let free = taken.iter().chain(others.map(|(_, sign)| sign)).all(|t| {
            area.right() < t.x || t.right() < area.x || area.bottom() < t.y || t.bottom() < area.y
        });
        if order < MOST && free {
            taken.push(area);
            let at = (hundredth(left), hundredth(middle.1 + NAME.size * CAPITAL / 2.0));
            drawn.push(PictureText::new(at, text, NAME, INK).into());
        }
    }
    items.push(PictureItem::Group { kind: "extremes", name: String::new(), items: drawn });
}
