//! Exit codes of `topas-log`. They are public: scripts rely on them.

/// Done, also if there was nothing to do.
pub const OK: u8 = 0;
/// Something could not be read or written; what was there before still is.
pub const FAILED: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// There are no log lines to export.
pub const NO_LINES: u8 = 3;
/// Another `topas-log close` is at work in the directory.
pub const BUSY: u8 = 5;
