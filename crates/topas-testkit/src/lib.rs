//! Test support for TOPAS.

mod alone;
pub mod browser;
pub mod command_table;
pub mod fake_compiler;
mod json_page;
mod length;
mod numbers;
pub mod pmu;
pub mod scratch;
mod sys;

pub use alone::ProcessAlone;
pub use json_page::WrittenJson;
pub use length::with_lengths;
pub use numbers::numbers_below;
