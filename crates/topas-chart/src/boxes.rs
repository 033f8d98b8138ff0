//! Boxes: median, quartiles and extremes of groups.

use super::axis::Axis;
use super::color::{AXIS, Color, GRID, INK, SOFT_INK};
use super::font::{CAPITAL, Type};
use super::frame::{AXIS_BELOW, Frame, LABEL, MARGIN, level_axis};
use super::picture::{Anchor, Area, Picture, PictureItem, PictureText, hundredth};
use super::quantile::{quantile, sorted};
use super::unit::{AxisUnit, Quantity};
use super::words::clean;
use super::{Caption, Chart, Screen, Size, terminal};

/// More groups than this are not shown, those in the middle first.
const MOST_GROUPS: usize = 48;

const BOX: Color = Color(0x9c, 0xbd, 0xe0);
const MEDIAN: Color = Color(0x1f, 0x4e, 0x8c);
const NUMBER: Type = Type::regular(11.0);

/// One lying box per group: whiskers, quartiles, median, and what is beyond the whiskers.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxPlot {
    /// What is written around it
    pub caption: Caption,
    /// What a group is: `Host`
    pub by: String,
    /// What members are: `PE`
    pub thing: String,
    /// What is on the axis
    pub value: Quantity,
    /// From top to bottom
    pub groups: Vec<BoxGroup>,
}

/// Five numbers of a group, ascending, and what is beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxGroup {
    /// Name of the group
    pub name: String,
    /// Values in it
    pub count: u64,
    /// Smallest value that is not extreme
    pub low: f64,
    /// Lower quartile
    pub q25: f64,
    /// Median
    pub median: f64,
    /// Upper quartile
    pub q75: f64,
    /// Largest value that is not extreme
    pub high: f64,
    /// Values beyond, with the names of those they are of
    pub extremes: Vec<(f64, String)>,
}

impl BoxGroup {
    /// Of values and their names: quartiles of type 7, whiskers to the last value within 1.5 times
    /// the range of the quartiles. None if there is no value.
    pub fn of(
        name: impl Into<String>,
        values: impl IntoIterator<Item = (f64, String)>,
    ) -> Option<Self> {
        let values: Vec<(f64, String)> =
            values.into_iter().filter(|(v, _)| v.is_finite()).collect();
        let ascending = sorted(values.iter().map(|(value, _)| *value));
        let at = |share| quantile(&ascending, share);
        let (q25, median, q75) = (at(0.25)?, at(0.5)?, at(0.75)?);
        let reach = 1.5 * (q75 - q25);
        let inside = |value: f64| (q25 - reach..=q75 + reach).contains(&value);
        let mut within = ascending.iter().copied().filter(|&value| inside(value));
        let low = within.next()?;
        let high = within.next_back().unwrap_or(low);
        let extremes = values.into_iter().filter(|(value, _)| !inside(*value)).collect();
        let count = ascending.len() as u64;
        Some(BoxGroup { name: name.into(), count, low, q25, median, q75, high, extremes })
    }

    fn is_good(&self) -> bool {
        let five = [self.low, self.q25, self.median, self.q75, self.high];
        five.iter().all(|v| v.is_finite() && v.abs() < 1e200) && five.is_sorted()
    }
}

impl BoxPlot {
    /// Boxes of hosts' PEs.
    pub fn new(value: Quantity, groups: Vec<BoxGroup>) -> Self {
        BoxPlot {
            caption: Caption::default(),
            by: "Host".to_owned(),
            thing: "PE".to_owned(),
            value,
            groups,
        }
    }

    /// The groups that are shown, and what is said of the others.
    pub(crate) fn shown(&self) -> (Vec<&BoxGroup>, Vec<String>) {
        let mut notes = Vec::new();
        let mut groups: Vec<&BoxGroup> = self.groups.iter().filter(|g| g.is_good()).collect();
        let bad = self.groups.len() - groups.len();
        if bad > 0 {
            notes.push(format!(
                "{bad} groups cannot be drawn: their numbers are none, or in no order."
            ));
        }
        if groups.len() > MOST_GROUPS {
            let medians = sorted(groups.iter().map(|group| group.median));
            let middle = quantile(&medians, 0.5).unwrap_or_default();
            let mut far: Vec<f64> = groups.iter().map(|g| (g.median - middle).abs()).collect();
            far.sort_unstable_by(|a, b| b.total_cmp(a));
            let least = far.get(MOST_GROUPS).copied().unwrap_or_default();
            let before = groups.len();
            let mut equal = MOST_GROUPS - far.iter().filter(|&&f| f > least).count();
            groups.retain(|group| {
                let far = (group.median - middle).abs();
                let keep = far > least || far == least && equal > 0;
                equal -= usize::from(keep && far == least);
                keep
            });
            notes.push(format!(
                "{} of {before} groups are shown, those whose median is furthest from {}.",
                groups.len(),
                self.value.unit.value(middle, 4)
            ));
        }
        (groups, notes)
    }

    /// From the smallest to the largest number that is shown.
    pub(crate) fn range(groups: &[&BoxGroup]) -> (f64, f64) {
        let numbers = groups.iter().flat_map(|group| {
            let beyond = group.extremes.iter().map(|(value, _)| *value).filter(|v| v.abs() < 1e200);
            beyond.chain([group.low, group.high])
        });
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    }
}

impl Chart for BoxPlot {
    fn picture(&self, size: Size) -> Picture {
        let (groups, mut notes) = self.shown();
        let what = format!(
            "Box: quartiles and median; whiskers: last {} within 1.5 times the box; dots: beyond.",
            clean(&self.thing)
        );
        if groups.is_empty() {
            return Frame::new(&self.caption, size, &[], notes).nothing("no values to show");
        }
        notes.insert(0, what);
        let mut frame = Frame::new(&self.caption, size, &[], notes);
        let (low, high) = Self::range(&groups);
        let axis = Axis::around(low, high, 6);
        let form = self.value.unit.form(axis.most(), axis.step);
        let count = |group: &BoxGroup| AxisUnit::Count.value(group.count as f64, 3);
        let width = |text: String, font: Type| font.width(&text);
        let names = groups.iter().map(|g| width(clean(&g.name), LABEL)).fold(0.0, f64::max);
        let names = names.min(frame.inner_width() * 0.35);
        let (by, things) = (clean(&self.by), format!("{}s", clean(&self.thing)));
        let heads = [NUMBER.width(&things), LABEL.width(&by)].map(|w| w.min(120.0));
        let names = names.max(heads[1]);
        let counts = groups.iter().map(|g| width(count(g), NUMBER)).fold(heads[0], f64::max) + 12.0;
        let left = MARGIN + names + counts + 8.0;
        let rows = groups.len() as f64;
        let height = frame.height_left(rows * 18.0 + AXIS_BELOW + 18.0) - AXIS_BELOW - 18.0;
        let row = (height / rows).min(44.0);
        let top = frame.top + 18.0;
        let right = MARGIN + frame.inner_width() - LABEL.width(&form.on_axis(axis.high)) / 2.0;
        let plot = Area::between(left, top, right, top + row * rows);

        let mut items = std::mem::take(&mut frame.items);
        let heads = [(0.0, things, NUMBER, heads[0]), (counts, by, LABEL, heads[1])];
        for (before, text, font, room) in heads {
            let at = (hundredth(plot.x - 8.0 - before), hundredth(plot.y - 8.0));
            let head =
                PictureText::new(at, text, font, SOFT_INK).anchor(Anchor::End).within(room + 0.1);
            items.push(head.into());
        }
        level_axis(&mut items, &plot, &axis, &form, &self.value);
        for (index, group) in groups.iter().enumerate() {
            let middle = plot.y + (index as f64 + 0.5) * row;
            let at = |font: Type| hundredth(middle + font.size * CAPITAL / 2.0);
            let right = plot.x - 8.0;
            let number =
                PictureText::new((hundredth(right), at(NUMBER)), count(group), NUMBER, SOFT_INK);
            items.push(number.anchor(Anchor::End).into());
            let name = PictureText::new(
                (hundredth(right - counts), at(LABEL)),
                clean(&group.name),
                LABEL,
                INK,
            );
            items.push(name.anchor(Anchor::End).within(names).into());
            let drawn = draw(self, group, &plot, &axis, middle, row);
            items.push(PictureItem::Group { kind: "box", name: group.name.clone(), items: drawn });
        }
        frame.items = items;
        let description = describe(self, &groups);
        frame.finish(plot.bottom() + AXIS_BELOW, description)
    }

    fn terminal(&self, screen: Screen) -> String {
        terminal::boxes(self, screen)
    }
}

fn draw(
    plot: &BoxPlot,
    group: &BoxGroup,
    area: &Area,
    axis: &Axis,
    middle: f64,
    row: f64,
) -> Vec<PictureItem> {
    let x = |value: f64| hundredth(area.x + area.width * axis.share(value));
    let half = (row * 0.3).min(11.0);
    let cap = half * 0.6;
    let y = |offset: f64| hundredth(middle + offset);
    let line = |parts, width, stroke| PictureItem::Lines { parts, stroke, width, dashed: false };
    let whiskers = vec![
        vec![(x(group.low), y(0.0)), (x(group.q25), y(0.0))],
        vec![(x(group.q75), y(0.0)), (x(group.high), y(0.0))],
        vec![(x(group.low), y(-cap)), (x(group.low), y(cap))],
        vec![(x(group.high), y(-cap)), (x(group.high), y(cap))],
    ];
    let value = |value: f64| plot.value.unit.value(value, 4);
    let note = format!(
        "{}: median {}, quartiles {} and {}, {} to {}",
        clean(&group.name),
        value(group.median),
        value(group.q25),
        value(group.q75),
        value(group.low),
        value(group.high)
    );
    let body = Area::between(x(group.q25), middle - half, x(group.q75), middle + half);
    let extremes = group.extremes.iter().filter(|(value, _)| value.is_finite());
    let dots: Vec<(f64, f64)> = extremes.clone().map(|(value, _)| (x(*value), y(0.0))).collect();
    let mut items = vec![
        line(vec![vec![(area.x, y(0.0)), (area.right(), y(0.0))]], 0.5, GRID),
        line(whiskers, 1.25, AXIS),
        PictureItem::Bar { area: body, fill: BOX, note },
        line(vec![vec![(x(group.median), y(-half)), (x(group.median), y(half))]], 2.5, MEDIAN),
        PictureItem::Dots { centers: dots, radius: 2.5, fill: MEDIAN },
    ];
    // A few are named, where there is room between them.
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for (value, name) in extremes.take(6) {
        let text = clean(name);
        let width = NUMBER.width(&text);
        let left = (x(*value) - width / 2.0).clamp(area.x, (area.right() - width).max(area.x));
        let free = taken.iter().all(|&(a, b)| left + width < a - 4.0 || left > b + 4.0);
        if free && !text.is_empty() && row >= 22.0 {
            taken.push((left, left + width));
            items.push(
                PictureText::new((hundredth(left), y(-5.0)), text, Type::regular(9.5), SOFT_INK)
                    .into(),
            );
        }
    }
    items
}

fn describe(plot: &BoxPlot, groups: &[&BoxGroup]) -> String {
    let group = |group: &&BoxGroup| {
        let beyond = match group.extremes.len() {
            0 => String::new(),
            count => format!(", {count} beyond"),
        };
        format!("{}: median {}{beyond}", clean(&group.name), plot.value.unit.value(group.median, 4))
    };
    let groups: Vec<String> = groups.iter().take(20).map(group).collect();
    format!("{} by {}. {}.", clean(&plot.value.name), clean(&plot.by), groups.join("; "))
}
