//! What stands around every chart: title, legend, axes, notes; and the room that is left.

use super::axis::Axis;
use super::color::{AXIS, Color, GRID, INK, PAPER, SOFT_INK};
use super::font::{CAPITAL, LINE, Type};
use super::picture::{Anchor, Area, Picture, PictureItem, PictureText, hatching, hundredth};
use super::unit::{NumberForm, Quantity};
use super::words::clean;
use super::{Caption, Size};

pub(crate) const TITLE: Type = Type::bold(18.0);
pub(crate) const SUBTITLE: Type = Type::regular(13.0);
pub(crate) const LABEL: Type = Type::regular(12.0);
pub(crate) const NOTE: Type = Type::regular(11.0);
const LEGEND: Type = Type::regular(12.0);

/// Room at the borders of a picture.
pub(crate) const MARGIN: f64 = 18.0;

/// Edge of a colour in the legend.
const SWATCH: f64 = 12.0;

/// Lines of a title or subtitle at most; more is shortened.
const TITLE_LINES: usize = 2;

/// One entry of a legend.
pub(crate) struct LegendEntry {
    pub(crate) sign: Sign,
    pub(crate) name: String,
    /// What is said of it as a whole
    pub(crate) note: String,
}

/// What a legend explains.
#[derive(Clone, Debug)]
pub(crate) enum Sign {
    /// A colour, maybe hatched
    Fill(Color, bool),
    /// A line
    Line(Color),
    /// A shape around its middle
    Shape(Vec<(f64, f64)>, Color),
}

/// A picture in the making.
pub(crate) struct Frame {
    width: f64,
    title: String,
    pub(crate) items: Vec<PictureItem>,
    /// Where the next thing from above may begin
    pub(crate) top: f64,
    notes: Vec<PictureText>,
    notes_height: f64,
    wanted: f64,
}

impl Frame {
    /// Title, subtitle and legend; `more` notes are added to the caption's.
    pub(crate) fn new(
        caption: &Caption,
        size: Size,
        legend: &[LegendEntry],
        more: Vec<String>,
    ) -> Self {
        let sane = |value: f64, least: f64| {
            if value.is_finite() { value.clamp(least, 8_000.0).round() } else { least }
        };
        let (width, wanted) = (sane(size.width, 240.0), sane(size.height, 160.0));
        let mut frame = Frame {
            width,
            title: clean(&caption.title),
            items: Vec::new(),
            top: MARGIN,
            notes: Vec::new(),
            notes_height: 0.0,
            wanted,
        };
        frame.heading(&caption.title, TITLE, INK);
        frame.heading(&caption.subtitle, SUBTITLE, SOFT_INK);
        if !legend.is_empty() {
            frame.legend(legend);
        }
        frame.top += 10.0;
        for note in caption.notes.iter().chain(&more) {
            for line in NOTE.wrap(&clean(note), frame.inner_width()) {
                frame.notes_height += NOTE.size * LINE;
                frame.notes.push(PictureText::new(
                    (MARGIN, frame.notes_height),
                    line,
                    NOTE,
                    SOFT_INK,
                ));
            }
        }
        frame
    }

    /// Width between the margins.
    pub(crate) fn inner_width(&self) -> f64 {
        self.width - 2.0 * MARGIN
    }

    /// Height that is left for the chart, `least` at least.
    pub(crate) fn height_left(&self, least: f64) -> f64 {
        let below = MARGIN + if self.notes.is_empty() { 0.0 } else { self.notes_height + 8.0 };
        (self.wanted - self.top - below).max(least)
    }

    /// The finished picture; the chart ends at `bottom`.
    pub(crate) fn finish(mut self, bottom: f64, description: String) -> Picture {
        let mut end = bottom;
        if !self.notes.is_empty() {
            end += 8.0;
            for mut note in std::mem::take(&mut self.notes) {
                note.at.1 = hundredth(note.at.1 + end);
                self.items.push(note.into());
            }
            end += self.notes_height;
        }
        let height = (end + MARGIN).ceil();
        let ground = Area { x: 0.0, y: 0.0, width: self.width, height };
        self.items.insert(0, PictureItem::Bar { area: ground, fill: PAPER, note: String::new() });
        Picture { width: self.width, height, title: self.title, description, items: self.items }
    }

    /// A picture that says that there is nothing to show.
    pub(crate) fn nothing(mut self, why: &str) -> Picture {
        let height = self.height_left(90.0);
        let area = Area::between(MARGIN, self.top, self.width - MARGIN, self.top + height);
        let mut corners = area.points();
        corners.extend(corners.first().copied());
        self.items.push(PictureItem::Lines {
            parts: vec![corners],
            stroke: GRID,
            width: 1.0,
            dashed: true,
        });
        let middle = (area.x + area.width / 2.0, area.y + area.height / 2.0);
        let text =
            PictureText::new(middle, why, Type::regular(15.0), SOFT_INK).anchor(Anchor::Middle);
        self.items.push(text.within(area.width - 8.0).into());
        self.finish(area.bottom(), why.to_owned())
    }

    fn heading(&mut self, text: &str, font: Type, color: Color) {
        let room = self.inner_width();
        let text = clean(text);
        let mut lines = font.wrap(&text, room);
        let cut = lines.len() > TITLE_LINES;
        if cut {
            let rest = lines.split_off(TITLE_LINES - 1).join(" ");
            lines.push(rest);
        }
        let last = lines.len().saturating_sub(1);
        for (at, line) in lines.into_iter().enumerate() {
            self.top += font.size * LINE;
            let place = (MARGIN, hundredth(self.top - font.size * 0.3));
            let mut line = PictureText::new(place, line, font, color).within(room);
            if cut && at == last {
                line.whole.clone_from(&text);
            }
            self.items.push(line.into());
        }
    }

    /// Entries side by side, in as many lines as they need.
    fn legend(&mut self, entries: &[LegendEntry]) {
        const GAP: f64 = 18.0;
        const LINE_HEIGHT: f64 = 19.0;
        self.top += 8.0;
        let room = self.inner_width();
        let mut left = 0.0;
        let mut items = Vec::new();
        for entry in entries {
            let note =
                if entry.note.is_empty() { String::new() } else { format!("  {}", entry.note) };
            let note_width = LEGEND.width(&note);
            let name = clean(&entry.name);
            let most = (room - SWATCH - 6.0 - note_width).clamp(40.0, 320.0);
            let shown = PictureText::new((0.0, 0.0), name, LEGEND, INK).within(most);
            let width = SWATCH + 6.0 + LEGEND.width(&shown.text) + note_width;
            if left > 0.0 && left + width > room {
                left = 0.0;
                self.top += LINE_HEIGHT;
            }
            let (x, y) = (MARGIN + left, self.top + 3.0);
            sign(&mut items, &entry.sign, Area::between(x, y, x + SWATCH, y + SWATCH));
            let base = hundredth(y + SWATCH / 2.0 + LEGEND.size * CAPITAL / 2.0);
            let after = x + SWATCH + 6.0 + LEGEND.width(&shown.text);
            items.push(PictureText { at: (hundredth(x + SWATCH + 6.0), base), ..shown }.into());
            if !note.is_empty() {
                let at = (hundredth(after + LEGEND.width("  ")), base);
                items.push(PictureText::new(at, clean(&entry.note), LEGEND, SOFT_INK).into());
            }
            left += width + GAP;
        }
        self.items.push(PictureItem::Group { kind: "legend", name: String::new(), items });
        self.top += LINE_HEIGHT;
    }
}

/// Draws what the legend explains.
fn sign(items: &mut Vec<PictureItem>, sign: &Sign, area: Area) {
    let middle = (area.x + area.width / 2.0, area.y + area.height / 2.0);
    match sign {
        Sign::Fill(color, hatched) => {
            items.push(PictureItem::Bar { area, fill: *color, note: String::new() });
            if *hatched {
                items.push(hatched_with(*color, hatching(&area, 4.0)));
            }
        }
        Sign::Line(color) => {
            let line = vec![(area.x, middle.1), (area.right(), middle.1)];
            items.push(PictureItem::Lines {
                parts: vec![line],
                stroke: *color,
                width: 2.0,
                dashed: false,
            });
        }
        Sign::Shape(points, color) => {
            let shape = points.iter().map(|(x, y)| (middle.0 + x, middle.1 + y)).collect();
            items.push(PictureItem::Polygons { parts: vec![shape], fill: *color });
        }
    }
}

/// Lines across a colour, in one that can be seen on it.
pub(crate) fn hatched_with(color: Color, parts: Vec<Vec<(f64, f64)>>) -> PictureItem {
    PictureItem::Lines { parts, stroke: color.ink(), width: 1.0, dashed: false }
}

/// Lines of a grid across `plot` and the numbers to its left, with the name above them.
pub(crate) fn upright_axis(
    items: &mut Vec<PictureItem>,
    plot: &Area,
    axis: &Axis,
    form: &NumberForm,
    quantity: &Quantity,
) {
    let y = |value: f64| hundredth(plot.bottom() - plot.height * axis.share(value));
    let lines = axis.ticks().map(|value| vec![(plot.x, y(value)), (plot.right(), y(value))]);
    let grid =
        PictureItem::Lines { parts: lines.collect(), stroke: GRID, width: 1.0, dashed: false };
    let mut all = vec![grid];
    for value in axis.ticks() {
        let at = (hundredth(plot.x - 8.0), hundredth(y(value) + LABEL.size * CAPITAL / 2.0));
        let number = PictureText::new(at, form.on_axis(value), LABEL, SOFT_INK);
        all.push(number.anchor(Anchor::End).into());
    }
    let name = form.heading(&clean(&quantity.name));
    let at = (MARGIN, hundredth(plot.y - 18.0));
    all.push(PictureText::new(at, name, LABEL, SOFT_INK).within(plot.right() - MARGIN).into());
    items.push(PictureItem::Group { kind: "axis", name: quantity.name.clone(), items: all });
}

/// Room that [`upright_axis`] needs to the left of the plot.
pub(crate) fn upright_axis_width(axis: &Axis, form: &NumberForm) -> f64 {
    let width = |value| LABEL.width(&form.on_axis(value));
    axis.ticks().map(width).fold(0.0, f64::max) + 8.0
}

/// Room that its heading needs above the plot.
pub(crate) const AXIS_HEADING: f64 = 30.0;

/// Lines of a grid down `plot`, the numbers below it, and the name below those.
pub(crate) fn level_axis(
    items: &mut Vec<PictureItem>,
    plot: &Area,
    axis: &Axis,
    form: &NumberForm,
    quantity: &Quantity,
) {
    let x = |value: f64| hundredth(plot.x + plot.width * axis.share(value));
    let lines = axis.ticks().map(|value| vec![(x(value), plot.y), (x(value), plot.bottom())]);
    let grid =
        PictureItem::Lines { parts: lines.collect(), stroke: GRID, width: 1.0, dashed: false };
    let mut all = vec![grid];
    let baseline = hundredth(plot.bottom() + 8.0 + LABEL.size * CAPITAL);
    for value in axis.ticks() {
        let number = form.on_axis(value);
        all.push(
            PictureText::new((x(value), baseline), number, LABEL, SOFT_INK)
                .anchor(Anchor::Middle)
                .into(),
        );
    }
    all.push(below(plot, form.heading(&clean(&quantity.name))).into());
    items.push(PictureItem::Group { kind: "axis", name: quantity.name.clone(), items: all });
}

/// Room that numbers and a name need below the plot.
pub(crate) const AXIS_BELOW: f64 = 44.0;

/// Name of what runs from left to right, below its numbers.
pub(crate) fn below(plot: &Area, name: String) -> PictureText {
    let at = (hundredth(plot.x + plot.width / 2.0), hundredth(plot.bottom() + 37.0));
    PictureText::new(at, name, LABEL, SOFT_INK).anchor(Anchor::Middle).within(plot.width)
}

/// The line that bars stand on.
pub(crate) fn ground(from: (f64, f64), to: (f64, f64)) -> PictureItem {
    PictureItem::Lines { parts: vec![vec![from, to]], stroke: AXIS, width: 1.0, dashed: false }
}
