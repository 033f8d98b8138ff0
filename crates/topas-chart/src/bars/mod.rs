//! Bars over buckets of a quantity or over categories, stacked by series or side by side.

mod level;
pub(super) mod stack;
mod upright;

use super::frame::{Frame, LABEL, LegendEntry, Sign};
use super::picture::Picture;
use super::unit::{Quantity, bound};
use super::{Caption, Chart, Screen, Size, color, terminal};
use stack::Stacks;

/// Bars: one place along the axis each, one colour per series.
///
/// Figures 1 and 2 of the 1999 paper are bars over buckets of MFlop/s, stacked by the type of
/// the CPU and by language.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What is written around them
    pub caption: Caption,
    /// What the bars stand along: its unit is that of the buckets' bounds
    pub along: Quantity,
    /// Where bars stand
    pub places: BarPlaces,
    /// What their height, or length, means
    pub height: Quantity,
    /// Parts of each bar. The first stands at the bottom, and first in the legend
    pub series: Vec<Series>,
    /// How the parts are put together
    pub arrangement: Arrangement,
}

/// Where bars stand.
#[derive(Clone, Debug, PartialEq)]
pub enum BarPlaces {
    /// Ranges of a number, ascending. Every bucket is drawn in the same width, so areas tell the
    /// values on any scale. Where two do not meet there are buckets without values: they are drawn
    /// if all are of one width, else a break in the axis is
    Buckets(Vec<BarBucket>),
    /// Names, in the order they are shown
    Categories(Vec<String>),
    /// Periods of time that follow each other. However many they are, none is put together with
    /// others, and the bars stand
    Periods(Vec<BarPeriod>),
}

/// A period of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarPeriod {
    /// What it is called, such as `2026-11-20`
    pub name: String,
    /// How round it is: where there is no room for all names, those of the least round are left
    /// out first
    pub roundness: u8,
    /// Whether periods are left out before it, which is drawn as a break
    pub after_break: bool,
}

/// A range of a number; the upper bound belongs to the next bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarBucket {
    /// Lower bound; None: everything below `to`
    pub from: Option<f64>,
    /// Upper bound; None: `from` and everything above
    pub to: Option<f64>,
}

/// The values of one kind, one for each place.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend
    pub name: String,
    /// Said after the name, such as `71.3%`; may be empty
    pub note: String,
    /// None: not measured, or no such thing
    pub values: Vec<Option<f64>>,
}

/// How several series share a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrangement {
    /// On top of each other: parts of a whole
    #[default]
    Stacked,
    /// Side by side: things that are compared
    Beside,
}

impl Series {
    /// A series without a note.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Series { name: name.into(), note: String::new(), values: values.into_iter().collect() }
    }
}

impl BarPlaces {
    /// Buckets of one width: those with the given numbers, ascending, from `number * width` on.
    pub fn even(width: f64, numbers: &[u64]) -> Self {
        let bucket = |&at: &u64| BarBucket {
            from: Some(at as f64 * width),
            to: Some((at as f64 + 1.0) * width),
        };
        BarPlaces::Buckets(numbers.iter().map(bucket).collect())
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        match self {
            BarPlaces::Buckets(buckets) => buckets.len(),
            BarPlaces::Categories(names) => names.len(),
            BarPlaces::Periods(periods) => periods.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl BarBucket {
    /// Such as `50–100`, `>200`, `<1`.
    pub fn label(&self) -> String {
        match (self.from, self.to) {
            (Some(from), Some(to)) => format!("{}–{}", bound(from), bound(to)),
            (Some(from), None) => format!("≥{}", bound(from)),
            (None, Some(to)) => format!("<{}", bound(to)),
            (None, None) => "any".to_owned(),
        }
    }
}

impl Bars {
    /// Stacked bars without series yet.
    pub fn new(places: BarPlaces, along: Quantity, height: Quantity) -> Self {
        Bars {
            caption: Caption::default(),
            along,
            places,
            height,
            series: Vec::new(),
            arrangement: Arrangement::Stacked,
        }
    }

    fn legend(&self, stacks: &Stacks) -> Vec<LegendEntry> {
        let entry = |(at, series): (usize, &stack::StackPart)| {
            let (color, hatched) = color::series(at);
            LegendEntry {
                sign: Sign::Fill(color, hatched),
                name: series.name.clone(),
                note: series.note.clone(),
            }
        };
        match stacks.parts.as_slice() {
            // One nameless series needs no key.
            [only] if only.name.is_empty() => Vec::new(),
            parts => parts.iter().enumerate().map(entry).collect(),
        }
    }

    /// Whether the names of the categories fit side by side below bars.
    fn fits_upright(&self, names: &[String], frame: &Frame) -> bool {
        let slot = (frame.inner_width() - 60.0) / names.len().max(1) as f64;
        names.iter().all(|name| LABEL.width(name) + 8.0 <= slot)
    }
}

impl Chart for Bars {
    fn picture(&self, size: Size) -> Picture {
        let stacks = Stacks::of(self);
        let frame = Frame::new(&self.caption, size, &self.legend(&stacks), stacks.notes.clone());
        if stacks.is_empty() {
            return frame.nothing("no values to show");
        }
        let description = stacks.describe(&self.along, &self.height);
        match &self.places {
            BarPlaces::Categories(names) if !self.fits_upright(names, &frame) => {
                level::draw(self, &stacks, frame, description)
            }
            _ => upright::draw(self, &stacks, frame, description),
        }
    }

    fn terminal(&self, screen: Screen) -> String {
        terminal::bars(self, screen)
    }
}
