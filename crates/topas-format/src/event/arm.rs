//! AArch64.
//!
//! Events of the architecture's common list (Arm ARM D11.10), all but AmpereOne's
//! speculative. A processor opens any number and counts 0 for an event it lacks, so a row
//! names only processors whose makers list every event of it.

#[cfg(any(test, target_arch = "aarch64"))]
pub mod small;

use super::cpu::Family;
use super::formula::{Formula, NONE, begun, begun_per_128_bit, raw};
use super::generic;
use super::table::{Models, Row, Status, Table};

/// FP_FIXED_OPS_SPEC, and FP_SCALE_OPS_SPEC of vectors of scalable length.
const FP: Formula = Formula(&[begun(0x80c1), begun_per_128_bit(0x80c0)]);
/// DP_SPEC: integer data processing instructions.
const INT: Formula = Formula(&[begun(0x73)]);
/// LD_SPEC
const LOADS: Formula = Formula(&[begun(0x70)]);
/// ST_SPEC
const STORES: Formula = Formula(&[begun(0x71)]);
/// LD_RETIRED and ST_RETIRED
const RETIRED_LOADS: Formula = Formula(&[raw(1, 0x06)]);
const RETIRED_STORES: Formula = Formula(&[raw(1, 0x07)]);
/// L1D_CACHE_REFILL
const MISSES: Formula = Formula(&[raw(1, 0x03)]);

const fn row(processors: &'static str, caveat: &'static str, formulas: [Formula; 5]) -> Row {
    Row { processors, caveat, status: Status::Tables, formulas }
}

const N1: u8 = 1;
const V1: u8 = 2;
const A64FX: u8 = 3;
const AMPERE_ONE: u8 = 4;

const ROWS: &[Row] = &[
    generic::ROW,
    row(
        "Arm Neoverse N1, Cortex-A57, A72, A75 to A78; Marvell ThunderX2; Kunpeng 920",
        "has no event for FP operations; others are speculative",
        [NONE, INT, LOADS, STORES, MISSES],
    ),
    row(
        "Arm Neoverse V1, V2, V3, N2, N3",
        "speculative: over-counts; SVE by the vector length in force",
        [FP, INT, LOADS, STORES, MISSES],
    ),
    row(
        "Fujitsu A64FX",
        "speculative: over-counts; SVE by the vector length in force",
        [FP, INT, LOADS, STORES, MISSES],
    ),
    row(
        "AmpereOne",
        "has no event for FP operations; integer operations are speculative",
        [NONE, INT, RETIRED_LOADS, RETIRED_STORES, MISSES],
    ),
];

const fn part(implementer: u8, part: u16, row: u8) -> Models {
    parts(implementer, part, part, row)
}

const fn parts(implementer: u8, first: u16, last: u16, row: u8) -> Models {
    Models::of(Family::Arm, implementer, first, last, row)
}

/// AArch64, by implementer and part.
pub static TABLE: Table = Table {
    rows: ROWS,
    models: &[
        part(0x41, 0xd0c, N1),
        part(0x41, 0xd07, N1),
        part(0x41, 0xd08, N1),
        parts(0x41, 0xd0a, 0xd0b, N1),
        part(0x41, 0xd0d, N1),
        part(0x41, 0xd41, N1),
        part(0x41, 0xd40, V1),
        part(0x41, 0xd49, V1),
        part(0x41, 0xd4f, V1),
        parts(0x41, 0xd83, 0xd84, V1),
        part(0x41, 0xd8e, V1),
        part(0x46, 0x001, A64FX),
        parts(0xc0, 0xac3, 0xac4, AMPERE_ONE),
        part(0x43, 0x0af, N1),
        part(0x42, 0x516, N1),
        part(0x48, 0xd01, N1),
    ],
};
