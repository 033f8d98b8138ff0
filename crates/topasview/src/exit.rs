//! Exit codes of `topasview`. They are public: scripts rely on them.

/// What was asked for has been shown.
pub const OK: u8 = 0;
/// Some input could not be read, or some output not be written; what is shown is of the rest.
pub const INPUT: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// There is no PE to show: no file, no line of a PE in it, or not the launch asked for.
pub const NO_PES: u8 = 3;
