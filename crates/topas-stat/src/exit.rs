//! Exit codes of `topas-stat`. They are public: scripts rely on them.

/// A report was made; with `--check`, no faults were found.
pub const OK: u8 = 0;
/// Some input could not be read or the output not be written; the report is of the rest.
pub const INPUT: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// There are no runs in the input, or none in the period.
pub const NO_RUNS: u8 = 3;
/// `--check` found faults.
pub const FINDINGS: u8 = 4;
