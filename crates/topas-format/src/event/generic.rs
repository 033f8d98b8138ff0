//! Processors that no table knows: the kernel's generic events, where it maps them.

use super::formula::{Formula, NONE, cache};
use super::table::{Row, Status};

/// Reads of the first level data cache, as loads.
pub(super) const READS: Formula = Formula(&[cache(0, 0)]);
/// Writes to it, as stores.
pub(super) const WRITES: Formula = Formula(&[cache(1, 0)]);
/// Reads that missed.
pub(super) const READ_MISSES: Formula = Formula(&[cache(0, 1)]);

/// Row 0 of every table.
pub(super) const ROW: Row = Row {
    processors: "unknown",
    caveat: "the kernel's generic cache events; L1 misses of reads only",
    status: Status::Tables,
    formulas: [NONE, NONE, READS, WRITES, READ_MISSES],
};
