//! POWER. The first digit of an event is its counter: those of one digit exclude each other.

use super::cpu::Family;
use super::formula::{Formula, begun, raw};
use super::generic;
use super::table::{Models, Row, Status, Table};

/// PM_1FLOP_CMPL to PM_8FLOP_CMPL, all of counter 4: never counted together.
const FP: Formula = Formula(&[raw(1, 0x45050), raw(2, 0x4d052), raw(4, 0x45052), raw(8, 0x4d054)]);
/// PM_FXU_FIN, of POWER10 PM_FXU_ISSUE.
const INT: Formula = Formula(&[begun(0x40004)]);
/// PM_LD_REF_L1
const P9_LOADS: Formula = Formula(&[raw(1, 0x100fc)]);
/// PM_LD_CMPL
const P10_LOADS: Formula = Formula(&[raw(1, 0x4003e)]);
/// PM_ST_CMPL
const STORES: Formula = Formula(&[raw(1, 0x200f0)]);
/// PM_LD_MISS_L1
const LOAD_MISSES: Formula = Formula(&[raw(1, 0x3e054)]);

const CAVEAT: &str =
    "FP operations in turns by four; integer instructions finished; L1 misses of loads only";

const fn row(processors: &'static str, formulas: [Formula; 5]) -> Row {
    Row { processors, caveat: CAVEAT, status: Status::Tables, formulas }
}

const fn pvr(first: u16, last: u16, row: u8) -> Models {
    Models::of(Family::Power, 0, first, last, row)
}

/// POWER, by the upper half of the processor version register.
pub static TABLE: Table = Table {
    rows: &[
        generic::ROW,
        row("IBM POWER9", [FP, INT, P9_LOADS, STORES, LOAD_MISSES]),
        row("IBM POWER10", [FP, INT, P10_LOADS, STORES, LOAD_MISSES]),
    ],
    models: &[pvr(0x4e, 0x4e, 1), pvr(0x80, 0x80, 2), pvr(0x82, 0x82, 2)],
};
