//! Test support for TOPAS.

pub mod command_table;
pub mod fake_compiler;
pub mod pmu;
pub mod scratch;
mod sys;
