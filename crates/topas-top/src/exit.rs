//! Exit codes.

/// All is well.
pub const OK: u8 = 0;
/// Files could not be read, or the output could not be written.
pub const FAILED: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// No program of the user's runs with a profile on this node.
pub const NOTHING: u8 = 3;
