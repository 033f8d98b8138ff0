//! Exit codes of `topas-log`. They are public: scripts rely on them.

/// Done, also if there was nothing to do.
pub const OK: u8 = 0;
/// Something could not be read or written; what was there before still is.
pub const FAILED: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
