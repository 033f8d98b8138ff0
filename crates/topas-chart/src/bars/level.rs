//! Bars that lie: categories whose names need room.

use super::stack::{Slot, Stacks};
use super::upright::note;
use super::{Arrangement, Bars};
use crate::axis::Axis;
use crate::color::{self, INK};
use crate::font::{CAPITAL, Type};
use crate::frame::{AXIS_BELOW, Frame, LABEL, MARGIN, ground, hatched_with, level_axis};
use crate::picture::{Anchor, Area, Picture, PictureItem, PictureText, hatching, hundredth};

const VALUE: Type = Type::regular(11.0);

pub(super) fn draw(bars: &Bars, stacks: &Stacks, mut frame: Frame, description: String) -> Picture {
    let axis = Axis::from_zero(stacks.highest(), 5);
    let form = bars.height.unit.form(axis.most(), axis.step);
    let widest = stacks.slots.iter().map(|slot| LABEL.width(&slot.label())).fold(0.0, f64::max);
    let names = widest.min(frame.inner_width() * 0.4);
    let total = |at: usize| stacks.total(at).map(|total| bars.height.unit.value(total, 3));
    let values: Vec<Option<String>> = (0..stacks.slots.len()).map(total).collect();
    let value_room =
        values.iter().flatten().map(|text| VALUE.width(text)).fold(0.0, f64::max) + 8.0;

    let (left, right) = (MARGIN + names + 8.0, MARGIN + frame.inner_width() - value_room);
    let rows = stacks.slots.len() as f64;
    let least = if bars.arrangement == Arrangement::Stacked {
        20.0
    } else {
        9.0 * stacks.parts.len() as f64 + 6.0
    };
    let height = frame.height_left(rows * least + AXIS_BELOW) - AXIS_BELOW;
    let row = (height / rows).min(46.0);
    let plot = Area::between(left, frame.top, right, frame.top + row * rows);

    let mut items = std::mem::take(&mut frame.items);
    level_axis(&mut items, &plot, &axis, &form, &bars.height);
    let gap = (row * 0.14).clamp(1.0, 6.0);
    let x = |value: f64| plot.x + plot.width * axis.share(value);
    let stacked = bars.arrangement == Arrangement::Stacked;
    let mut before = vec![0.0; stacks.slots.len()];
    for (at, part) in stacks.parts.iter().enumerate() {
        let (fill, hatched) = color::series(at);
        let (mut drawn, mut hatches) = (Vec::new(), Vec::new());
        for ((index, slot), before) in stacks.slots.iter().enumerate().zip(&mut before) {
            let Some(value) = part.values.get(index).copied().flatten() else { continue };
            let base = if stacked { *before } else { 0.0 };
            *before += value;
            let (mut top, mut high) = (plot.y + index as f64 * row + gap, row - 2.0 * gap);
            if !stacked {
                high /= stacks.parts.len() as f64;
                top += at as f64 * high;
            }
            let area = Area::between(x(base), top, x(base + value), top + high);
            if area.width <= 0.0 {
                continue;
            }
            if hatched {
                hatches.extend(hatching(&area, 5.0));
            }
            drawn.push(PictureItem::Bar { area, fill, note: note(bars, &part.name, slot, value) });
        }
        if hatched {
            drawn.push(hatched_with(fill, hatches));
        }
        items.push(PictureItem::Group { kind: "series", name: part.name.clone(), items: drawn });
    }
    let mut texts = Vec::new();
    for ((index, slot), value) in stacks.slots.iter().enumerate().zip(values) {
        let middle = plot.y + (index as f64 + 0.5) * row;
        let base = |font: Type| hundredth(middle + font.size * CAPITAL / 2.0);
        texts.push(label(slot, plot.x - 8.0, base(LABEL), names));
        if let (Some(text), true) = (value, stacked) {
            let end = x(stacks.total(index).unwrap_or(0.0));
            texts.push(
                PictureText::new((hundredth(end + 5.0), base(VALUE)), text, VALUE, INK).into(),
            );
        }
    }
    items.push(PictureItem::Group { kind: "axis", name: bars.along.name.clone(), items: texts });
    items.push(ground((plot.x, plot.y), (plot.x, plot.bottom())));
    frame.items = items;
    frame.finish(plot.bottom() + AXIS_BELOW, description)
}

fn label(slot: &Slot, right: f64, baseline: f64, room: f64) -> PictureItem {
    let text = PictureText::new((hundredth(right), baseline), slot.label(), LABEL, INK);
    text.anchor(Anchor::End).within(room).into()
}
