//! Pages of TOPAS for browsers: HTML without scripts, which is readable without colours, on paper,
//! on a telephone, and by a screen reader.
//!
//! What a page says is made by `topas-render`; this crate lays it out.
#![forbid(unsafe_code)]

mod center;

pub use center::{CenterIndex, IndexEntry, center_index, center_page};
