//! Exit codes of `topas-doctor`. They are public: monitoring relies on them.

/// Everything this processor has events for is counted, and lines are written.
pub const ALL: u8 = 0;
/// Lines are written; counts are missing, in part or all, or wrong. Times are right.
pub const TIMES_ONLY: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// Nothing would be written: no log target takes a line, or TOPAS is switched off.
pub const NOTHING: u8 = 3;
/// The report could not be written to standard output.
pub const OUTPUT: u8 = 4;
