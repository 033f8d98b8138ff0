//! RISC-V. Raw events reach the counters through the firmware, which must know them.

use super::cpu::Family;
use super::formula::{Formula, NONE, raw};
use super::generic;
use super::table::{Models, Row, Status, Table};

/// Committed instructions of a class: additions, multiplications, divisions and roots; and
/// fused multiply-adds.
const U74_FP: Formula = Formula(&[raw(1, 0x0160_0000), raw(2, 0x0080_0000)]);
/// Arithmetic, multiplications, divisions.
const U74_INT: Formula = Formula(&[raw(1, 0x6_2000)]);
/// Of integers and of FP numbers.
const U74_LOADS: Formula = Formula(&[raw(1, 0x8_0200)]);
const U74_STORES: Formula = Formula(&[raw(1, 0x10_0400)]);
const U74_MISSES: Formula = Formula(&[raw(1, 0x202)]);
/// INST_ALU
const THEAD_INT: Formula = Formula(&[raw(1, 0x1d)]);

/// RISC-V, by `marchid` and `mvendorid`.
pub static TABLE: Table = Table {
    rows: &[
        generic::ROW,
        Row {
            processors: "SiFive U74",
            caveat: "L1 misses with uncached accesses",
            status: Status::Tables,
            formulas: [U74_FP, U74_INT, U74_LOADS, U74_STORES, U74_MISSES],
        },
        Row {
            processors: "T-Head C906, C910",
            caveat: "has no event for FP operations; loads, stores and L1 misses of the kernel's \
                     generic events",
            status: Status::Tables,
            formulas: [NONE, THEAD_INT, generic::READS, generic::WRITES, generic::READ_MISSES],
        },
    ],
    models: &[
        Models::of(Family::RiscV, 0x07, 0x489, 0x489, 1),
        Models::of(Family::RiscV, 0x00, 0x5b7, 0x5b7, 2),
    ],
};
