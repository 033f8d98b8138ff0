//! Pictures of numbers: bars, strips of PEs, boxes, values per PE, matrices of pairs, calendars.
//!
//! A chart is a plain struct of what is shown. It draws itself as a [`Picture`], which is written
//! as SVG or as PNG, the same in both, or with characters for a terminal:
//!
//! ```
//! use topas_chart::{Bars, Chart, BarPlaces, Quantity, Screen, Series, Size, AxisUnit};
//!
//! let mut bars = Bars::new(
//!     BarPlaces::even(50.0, &[0, 1, 3]),
//!     Quantity::new("MFlop/s per PE", AxisUnit::Plain("MFlop/s")),
//!     Quantity::new("Share of runs", AxisUnit::Percent),
//! );
//! bars.caption.title = "Sustained rates".to_owned();
//! bars.caption.notes = vec!["100% are 68 007 runs with a rate.".to_owned()];
//! bars.series = vec![Series::new("f90", [Some(60.0), Some(15.0), Some(5.0)])];
//! let svg = bars.picture(Size::default()).svg();
//! let text = bars.terminal(Screen { width: 80, unicode: true, color: false });
//! # assert!(svg.starts_with("<svg") && text.contains("f90"));
//! ```
//!
//! What every chart keeps to:
//!
//! * Nothing is left out silently. A value that cannot be drawn (not a number, negative where
//!   bars stand for shares) and groups beyond what a picture can hold are said in its notes.
//! * `None` is "not measured"; it is never drawn as 0.
//! * No meaning by colour alone: legends have the order of what they explain, neighbours differ in
//!   lightness, extremes carry a sign.
//! * Text of any kind is safe: escaped in SVG; control characters become U+FFFD everywhere.
//! * The same input gives the same bytes.

mod axis;
mod bars;
mod boxes;
mod calendar;
mod color;
mod font;
mod frame;
mod heat;
mod matrix;
mod picture;
mod png;
mod points;
mod prefix;
mod quantile;
mod svg;
mod terminal;
mod unit;
mod words;

pub use bars::{Arrangement, BarBucket, BarPeriod, BarPlaces, Bars, Series};
pub use boxes::{BoxGroup, BoxPlot};
pub use calendar::{Calendar, CalendarCell};
pub use color::dark_rules;
pub use heat::HeatStrip;
pub use matrix::HeatMatrix;
pub use picture::Picture;
pub use points::Points;
pub use prefix::SiPrefix;
pub use unit::{AxisUnit, Quantity, grouped};

/// What can be drawn.
pub trait Chart {
    /// The picture. It is as wide as `size` says, and higher than that where it needs room.
    fn picture(&self, size: Size) -> Picture;

    /// Lines of text, each with a newline.
    fn terminal(&self, screen: Screen) -> String;
}

/// What is written around every chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caption {
    /// What is shown, the first line
    pub title: String,
    /// Of what and of when: machine, days, selection
    pub subtitle: String,
    /// Lines below the chart: denominators, what is missing
    pub notes: Vec<String>,
}

/// Wanted size of a picture, in CSS pixels (1/96 inch).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Width; at least 240
    pub width: f64,
    /// Height; at least 160
    pub height: f64,
}

impl Default for Size {
    /// 800 x 450: a slide's half, a page's width.
    fn default() -> Self {
        Size { width: 800.0, height: 450.0 }
    }
}

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Columns; 30 are used at least
    pub width: usize,
    /// Block characters and letters beyond ASCII; without, ASCII only
    pub unicode: bool,
    /// Colour, by the 256 colours of ANSI terminals
    pub color: bool,
}
