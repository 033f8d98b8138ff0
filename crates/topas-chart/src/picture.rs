//! A picture as a list of what is drawn, in order. Back ends add nothing of their own.

use super::color::Color;
use super::font::Type;

/// A drawn chart: write it with [`svg`](Picture::svg) or [`png`](Picture::png).
#[derive(Clone, Debug)]
pub struct Picture {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// What is read aloud first
    pub(crate) title: String,
    /// What is read aloud then: the numbers in words
    pub(crate) description: String,
    pub(crate) items: Vec<PictureItem>,
}

/// A rectangle in px; x to the right, y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    /// Between edges, each rounded for itself so that neighbours meet.
    pub(crate) fn between(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        let [left, top, right, bottom] = [left, top, right, bottom].map(hundredth);
        Area {
            x: left,
            y: top,
            width: hundredth((right - left).max(0.0)),
            height: hundredth((bottom - top).max(0.0)),
        }
    }

    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    /// Corners, clockwise from the upper left one.
    pub(crate) fn points(&self) -> Vec<(f64, f64)> {
        let (right, bottom) = (self.right(), self.bottom());
        vec![(self.x, self.y), (right, self.y), (right, bottom), (self.x, bottom)]
    }
}

/// What is drawn.
#[derive(Clone, Debug)]
pub(crate) enum PictureItem {
    /// Things that belong together, with the name of what they show
    Group { kind: &'static str, name: String, items: Vec<PictureItem> },
    /// A filled rectangle; `note` is shown when it is pointed at
    Bar { area: Area, fill: Color, note: String },
    /// Filled rectangles of one colour
    Cells { areas: Vec<Area>, fill: Color },
    /// Filled polygons of one colour
    Polygons { parts: Vec<Vec<(f64, f64)>>, fill: Color },
    /// Lines of one kind
    Lines { parts: Vec<Vec<(f64, f64)>>, stroke: Color, width: f64, dashed: bool },
    /// Filled circles of one size
    Dots { centers: Vec<(f64, f64)>, radius: f64, fill: Color },
    /// One line of text
    Text(PictureText),
}

/// One line of text.
#[derive(Clone, Debug)]
pub(crate) struct PictureText {
    /// End of the baseline that `anchor` names
    pub(crate) at: (f64, f64),
    pub(crate) text: String,
    pub(crate) font: Type,
    pub(crate) color: Color,
    pub(crate) anchor: Anchor,
    /// The whole of a shortened text; empty if nothing is missing
    pub(crate) whole: String,
}

/// Part of a text that is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl PictureText {
    pub(crate) fn new(at: (f64, f64), text: impl Into<String>, font: Type, color: Color) -> Self {
        PictureText {
            at,
            text: text.into(),
            font,
            color,
            anchor: Anchor::Start,
            whole: String::new(),
        }
    }

    pub(crate) fn anchor(self, anchor: Anchor) -> Self {
        PictureText { anchor, ..self }
    }

    /// Shortened to `room` px; the whole text is shown when it is pointed at.
    pub(crate) fn within(mut self, room: f64) -> Self {
        let fitting = self.font.fit(&self.text, room);
        if fitting != self.text {
            self.whole = std::mem::replace(&mut self.text, fitting);
        }
        self
    }
}

impl From<PictureText> for PictureItem {
    fn from(text: PictureText) -> PictureItem {
        PictureItem::Text(text)
    }
}

/// Rounded to what pictures state.
pub(crate) fn hundredth(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Lines under 45 degrees inside `area`, `distance` apart.
pub(crate) fn hatching(area: &Area, distance: f64) -> Vec<Vec<(f64, f64)>> {
    let mut lines = Vec::new();
    let mut at = (area.x + area.y) / distance;
    at = (at.floor() + 0.5) * distance;
    // Lines x + y = at, where they are inside.
    while at < area.right() + area.bottom() {
        let (left, right) = (area.x.max(at - area.bottom()), area.right().min(at - area.y));
        if right - left > 0.05 {
            lines.push(vec![
                (hundredth(left), hundredth(at - left)),
                (hundredth(right), hundredth(at - right)),
            ]);
        }
        at += distance;
    }
    lines
}
