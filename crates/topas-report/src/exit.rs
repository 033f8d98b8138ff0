//! Exit codes of `topas-report`. They are public: timers and scripts rely on them.

/// The work is done.
pub const OK: u8 = 0;
/// Some input could not be read, or something could not be written or sent; the rest is done.
pub const FAILED: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// There are no runs in the period, or none of the user.
pub const NO_RUNS: u8 = 3;
