//! Bars that stand.

use super::stack::{Slot, Stacks, edges};
use super::{Arrangement, Bars};
use crate::axis::Axis;
use crate::color;
use crate::color::{AXIS, INK, SOFT_INK};
use crate::font::CAPITAL;
use crate::font::Type;
use crate::frame::{
    AXIS_BELOW, AXIS_HEADING, Frame, LABEL, MARGIN, below, ground, hatched_with, upright_axis,
    upright_axis_width,
};
use crate::picture::{Anchor, Area, Picture, PictureItem, PictureText, hatching, hundredth};
use crate::words::clean;

const VALUE: Type = Type::regular(11.0);

/// Bars get a note for the mouse up to this number; more would make the file large.
const MOST_NOTES: usize = 4000;

pub(super) fn draw(bars: &Bars, stacks: &Stacks, mut frame: Frame, description: String) -> Picture {
    let quantity = &bars.height;
    let axis = Axis::from_zero(stacks.highest(), 5);
    let form = quantity.unit.form(axis.most(), axis.step);
    let left = MARGIN + upright_axis_width(&axis, &form);
    let top = frame.top + AXIS_HEADING;
    let height = frame.height_left(150.0 + AXIS_HEADING + AXIS_BELOW) - AXIS_HEADING - AXIS_BELOW;
    let right = MARGIN + frame.inner_width();
    let plot = Area::between(left, top, right, top + height);

    let mut items = std::mem::take(&mut frame.items);
    upright_axis(&mut items, &plot, &axis, &form, quantity);
    let slot = plot.width / stacks.slots.len() as f64;
    series(&mut items, bars, stacks, &plot, &axis, slot);
    totals(&mut items, bars, stacks, &plot, &axis, slot);
    items.push(ground((plot.x, plot.bottom()), (plot.right(), plot.bottom())));
    labels(&mut items, bars, stacks, &plot, slot);
    frame.items = items;
    frame.finish(plot.bottom() + AXIS_BELOW, description)
}

/// Space to the left and to the right of a bar in its slot.
fn gap(bars: &Bars, slot: f64) -> f64 {
    let share = match bars.places {
        super::BarPlaces::Buckets(_) => 0.04,
        super::BarPlaces::Periods(_) => 0.08,
        super::BarPlaces::Categories(_) => 0.14,
    };
    if slot < 3.0 { 0.0 } else { (slot * share).clamp(0.25, 40.0) }
}

fn series(
    items: &mut Vec<PictureItem>,
    bars: &Bars,
    stacks: &Stacks,
    plot: &Area,
    axis: &Axis,
    slot: f64,
) {
    let gap = gap(bars, slot);
    let stacked = bars.arrangement == Arrangement::Stacked;
    let noted = stacks.slots.len() * stacks.parts.len() <= MOST_NOTES;
    let mut below = vec![0.0; stacks.slots.len()];
    let y = |value: f64| plot.bottom() - plot.height * axis.share(value);
    let count = stacks.parts.len() as f64;
    for (at, part) in stacks.parts.iter().enumerate() {
        let (fill, hatched) = color::series(at);
        let (mut drawn, mut hatches) = (Vec::new(), Vec::new());
        for (index, (value, below)) in part.values.iter().zip(&mut below).enumerate() {
            let Some(value) = *value else { continue };
            let base = if stacked { *below } else { 0.0 };
            let left = plot.x + index as f64 * slot + gap;
            let (left, width) = if stacked {
                (left, slot - 2.0 * gap)
            } else {
                let width = (slot - 2.0 * gap) / count;
                (left + at as f64 * width, width)
            };
            *below += value;
            let area = Area::between(left, y(base + value), left + width, y(base));
            if area.height <= 0.0 {
                continue;
            }
            if hatched {
                hatches.extend(hatching(&area, 5.0));
            }
            let note = match stacks.slots.get(index).filter(|_| noted) {
                Some(slot) => note(bars, &part.name, slot, value),
                None => String::new(),
            };
            drawn.push(PictureItem::Bar { area, fill, note });
        }
        if hatched {
            drawn.push(hatched_with(fill, hatches));
        }
        items.push(PictureItem::Group { kind: "series", name: part.name.clone(), items: drawn });
    }
}

/// What is shown when a bar is pointed at.
pub(super) fn note(bars: &Bars, name: &str, slot: &Slot, value: f64) -> String {
    let unit = match bars.along.unit.form(1.0, 1.0).symbol() {
        _ if matches!(slot, Slot::Category(_) | Slot::Period(..)) => String::new(),
        symbol if symbol.is_empty() => symbol,
        symbol => format!(" {symbol}"),
    };
    let of = if name.is_empty() { String::new() } else { format!(", {name}") };
    format!("{}{unit}{of}: {}", slot.label(), bars.height.unit.value(value, 4))
}

/// Heights as numbers, where all of them have room.
fn totals(
    items: &mut Vec<PictureItem>,
    bars: &Bars,
    stacks: &Stacks,
    plot: &Area,
    axis: &Axis,
    slot: f64,
) {
    if bars.arrangement != Arrangement::Stacked {
        return;
    }
    let total =
        |at: usize| Some((at, stacks.total(at)?, bars.height.unit.value(stacks.total(at)?, 3)));
    let totals: Vec<_> = (0..stacks.slots.len()).filter_map(total).collect();
    if totals.iter().any(|(_, _, text)| VALUE.width(text) > slot - 2.0) {
        return;
    }
    let text = |(at, value, text): (usize, f64, String)| {
        let x = hundredth(plot.x + (at as f64 + 0.5) * slot);
        let y = hundredth(plot.bottom() - plot.height * axis.share(value) - 4.0);
        PictureText::new((x, y), text, VALUE, INK).anchor(Anchor::Middle).into()
    };
    let texts = totals.into_iter().map(text).collect();
    items.push(PictureItem::Group { kind: "totals", name: String::new(), items: texts });
}

/// What stands below the bars: bounds between buckets, names below categories.
fn labels(items: &mut Vec<PictureItem>, bars: &Bars, stacks: &Stacks, plot: &Area, slot: f64) {
    let baseline = hundredth(plot.bottom() + 8.0 + LABEL.size * CAPITAL);
    let mut all: Vec<PictureItem> = Vec::new();
    let middle = |at: usize| hundredth(plot.x + (at as f64 + 0.5) * slot);
    let right = plot.right() + MARGIN - 4.0;
    let centered = |x: f64, text: String| {
        // The first and the last may be wider than the margin.
        let half = LABEL.width(&text) / 2.0;
        let x = hundredth(x.min(right - half).max(4.0 + half));
        PictureItem::from(
            PictureText::new((x, baseline), text, LABEL, SOFT_INK).anchor(Anchor::Middle),
        )
    };
    let mut name = clean(&bars.along.name);
    if let super::BarPlaces::Categories(_) = bars.places {
        all.extend(stacks.slots.iter().enumerate().map(|(at, s)| centered(middle(at), s.label())));
    } else if let super::BarPlaces::Periods(_) = bars.places {
        let named = named_periods(&stacks.slots, slot);
        let marks = named.iter().map(|&at| middle(at));
        let marks = marks.map(|x| vec![(x, plot.bottom()), (x, hundredth(plot.bottom() + 4.0))]);
        items.push(tick_marks(marks.collect()));
        all.extend(named.iter().map(|&at| centered(middle(at), stacks.slots[at].label())));
        items.push(zigzag(stacks, plot, middle));
    } else {
        name = bars.along.unit.form(1.0, 1.0).heading(&name);
        let mut ends = f64::NEG_INFINITY;
        let mut marks = Vec::new();
        // Open buckets are named below their middle, and that goes first.
        let open: Vec<(f64, String)> = stacks
            .slots
            .iter()
            .enumerate()
            .filter_map(|(at, slot)| match slot {
                Slot::Bucket(bucket) if bucket.from.is_none() || bucket.to.is_none() => {
                    Some((middle(at), slot.label()))
                }
                Slot::Break => Some((middle(at), slot.label())),
                _ => None,
            })
            .collect();
        for (x, text) in &open {
            all.push(centered(*x, text.clone()));
        }
        let every = stride(stacks, slot);
        for (at, text) in edges(&stacks.slots) {
            let x = hundredth(plot.x + at as f64 * slot);
            marks.push(vec![(x, plot.bottom()), (x, hundredth(plot.bottom() + 4.0))]);
            let half = LABEL.width(&text) / 2.0;
            let near_open = open
                .iter()
                .any(|(middle, other)| (middle - x).abs() < half + LABEL.width(other) / 2.0 + 4.0);
            let round = every
                .is_none_or(|(first, every)| at >= first && (at - first).is_multiple_of(every));
            if round && x - half > ends + 6.0 && !near_open {
                ends = x + half;
                all.push(centered(x, text));
            }
        }
        if marks.len() as f64 * 4.0 < plot.width {
            items.push(tick_marks(marks));
        }
        items.push(zigzag(stacks, plot, middle));
    }
    all.push(below(plot, name).into());
    items.push(PictureItem::Group { kind: "axis", name: bars.along.name.clone(), items: all });
}

fn tick_marks(parts: Vec<Vec<(f64, f64)>>) -> PictureItem {
    PictureItem::Lines { parts, stroke: AXIS, width: 1.0, dashed: false }
}

/// The breaks in the axis.
fn zigzag(stacks: &Stacks, plot: &Area, middle: impl Fn(usize) -> f64) -> PictureItem {
    let breaks = stacks.slots.iter().enumerate().filter(|(_, slot)| **slot == Slot::Break);
    let zigzag = breaks.map(|(at, _)| {
        let y = plot.bottom();
        [(-4.0, 4.0), (-1.5, -4.0), (1.5, 4.0), (4.0, -4.0)]
            .map(|(dx, dy)| (hundredth(middle(at) + dx), y + dy))
            .to_vec()
    });
    PictureItem::Lines { parts: zigzag.collect(), stroke: AXIS, width: 1.5, dashed: false }
}

/// The periods whose names are shown: those of the least roundness at which no two meet, and if
/// the roundest do, those of them that have room.
fn named_periods(slots: &[Slot], width: f64) -> Vec<usize> {
    let named = |least: u8| -> Vec<(usize, f64)> {
        let period = |(at, slot): (usize, &Slot)| match slot {
            Slot::Period(name, roundness) if *roundness >= least => {
                Some((at, LABEL.width(name) + 8.0))
            }
            _ => None,
        };
        slots.iter().enumerate().filter_map(period).collect()
    };
    let apart = |one: &(usize, f64), next: &(usize, f64)| {
        (next.0 - one.0) as f64 * width >= (one.1 + next.1) / 2.0
    };
    let mut last = named(0);
    for least in 0..=u8::MAX {
        let these = named(least);
        if these.is_empty() {
            break;
        }
        if these.is_sorted_by(apart) {
            return these.into_iter().map(|(at, _)| at).collect();
        }
        last = these;
    }
    let mut shown: Vec<(usize, f64)> = Vec::new();
    for period in last {
        if shown.last().is_none_or(|before| apart(before, &period)) {
            shown.push(period);
        }
    }
    shown.into_iter().map(|(at, _)| at).collect()
}

/// For buckets of one width without breaks: the first border with a label and the distance to the
/// next, so that labels are round numbers.
fn stride(stacks: &Stacks, slot: f64) -> Option<(usize, usize)> {
    let edges = edges(&stacks.slots);
    let widest = edges.iter().map(|(_, text)| LABEL.width(text)).fold(0.0, f64::max) + 12.0;
    let buckets: Option<Vec<_>> = stacks
        .slots
        .iter()
        .map(|slot| match slot {
            Slot::Bucket(bucket) => Some((bucket.from, bucket.to)),
            _ => None,
        })
        .collect();
    let closed: Vec<(f64, f64)> =
        buckets?.into_iter().filter_map(|(a, b)| Some((a?, b?))).collect();
    let &(from, to) = closed.first()?;
    let width = to - from;
    if closed.iter().any(|(a, b)| (b - a - width).abs() > width * 1e-6) {
        return None;
    }
    let every = (0..9)
        .flat_map(|power| [1, 2, 5].map(|digit| digit * 10usize.pow(power)))
        .find(|&every| every as f64 * slot >= widest)?;
    let number = (from / width).round();
    let offset = (-number).rem_euclid(every as f64) as usize;
    let before =
        usize::from(matches!(stacks.slots.first(), Some(Slot::Bucket(b)) if b.from.is_none()));
    Some((offset + before, every))
}
