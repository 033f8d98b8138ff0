//! Small files of the kernel.

use std::path::Path;

use topas_config::regular;

/// Longest file that is read, in bytes: `/proc/cpuinfo` of a large node is the longest.
const LIMIT: u64 = 4 << 20;

/// The text of a file; None if it cannot be read.
pub fn text(path: &Path) -> Option<String> {
    bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The bytes of a file; None if it cannot be read.
pub fn bytes(path: &Path) -> Option<Vec<u8>> {
    regular::read(path, LIMIT).ok()
}
