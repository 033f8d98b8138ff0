//! x86-64.
//!
//! Configs are `umask << 8 | event`. Sources: the makers' event lists as shipped with the
//! Linux kernel (tools/perf/pmu-events), intel/perfmon, and libpfm4, which agree on every
//! row here unless a note says so.

#[cfg(any(test, target_arch = "x86_64"))]
pub mod small;

use super::cpu::Family;
use super::formula::{Formula, NONE, begun, raw};
use super::generic;
use super::table::{Models, Row, Status, Table};

/// FP_ARITH_INST_RETIRED counts a fused multiply-add twice in hardware. One event per
/// *weight* (masks ORed) needs 5 counters in place of 8: scalar, 128d, 128s + 256d, 256s.
const FP_256: Formula = Formula(&[raw(1, 0x03c7), raw(2, 0x04c7), raw(4, 0x18c7), raw(8, 0x20c7)]);
/// The same with 512d beside 256s, and 512s.
const FP_512: Formula =
    Formula(&[raw(1, 0x03c7), raw(2, 0x04c7), raw(4, 0x18c7), raw(8, 0x60c7), raw(16, 0x80c7)]);
/// FP_FLOPS_RETIRED.ALL, weighted in hardware.
const FP_FLOPS: Formula = Formula(&[raw(1, 0x03c8)]);
/// MEM_INST_RETIRED (earlier MEM_UOPS_RETIRED) .ALL_LOADS and .ALL_STORES.
const LOADS: Formula = Formula(&[raw(1, 0x81d0)]);
const STORES: Formula = Formula(&[raw(1, 0x82d0)]);
/// L1D.REPLACEMENT: lines brought in, with those of the prefetcher.
const REPLACEMENT: Formula = Formula(&[raw(1, 0x0151)]);
/// The event of that name since Lion Cove, where 0x0151 is the new level 0 alone.
const REPLACEMENT_L0_L1: Formula = Formula(&[raw(1, 0x0551)]);
/// MEM_LOAD_UOPS_RETIRED.L1_MISS since Crestmont, and of Gracemont.
const LOAD_MISSES: Formula = Formula(&[raw(1, 0x40d1)]);
const LOAD_MISSES_GRACEMONT: Formula = Formula(&[raw(1, 0x08d1)]);
/// MEM_UOPS_RETIRED of Knights Landing.
const KNL_LOADS: Formula = Formula(&[raw(1, 0x4004)]);
const KNL_STORES: Formula = Formula(&[raw(1, 0x8004)]);
const KNL_LOAD_MISSES: Formula = Formula(&[raw(1, 0x0104)]);

/// Retired SSE and AVX operations; the mask means other things on each generation.
const ZEN1_FP: Formula = Formula(&[raw(1, 0xff03)]);
const ZEN_FP: Formula = Formula(&[raw(1, 0x0f03)]);
/// With those of bfloat16.
const ZEN4_FP: Formula = Formula(&[raw(1, 0x1f03)]);
/// Dispatched, with load-op-stores.
const ZEN_LOADS: Formula = Formula(&[begun(0x0529)]);
const ZEN_STORES: Formula = Formula(&[begun(0x0629)]);
/// Requests of the data cache to L2, with those of the prefetcher.
const ZEN_MISSES: Formula = Formula(&[raw(1, 0xe860)]);
const ZEN5_MISSES: Formula = Formula(&[raw(1, 0xe060)]);

const fn row(processors: &'static str, caveat: &'static str, formulas: [Formula; 5]) -> Row {
    Row { processors, caveat, status: Status::Tables, formulas }
}

const DISPATCHED: &str = "loads and stores are dispatched, not retired";

const HASWELL: u8 = 1;
const BROADWELL: u8 = 2;
const AVX512: u8 = 3;
const HYBRID: u8 = 4;
const LION_COVE: u8 = 5;
const GRACEMONT: u8 = 6;
const CRESTMONT: u8 = 7;
const KNL: u8 = 8;
const ZEN1: u8 = 9;
const ZEN2: u8 = 10;
const ZEN4: u8 = 11;
const ZEN5: u8 = 12;

/// Per row FP operations, integer operations, loads, stores, L1D misses. No x86 processor
/// counts scalar integer operations.
const ROWS: &[Row] = &[
    generic::ROW,
    row(
        "Intel Haswell",
        "has no event for FP operations",
        [NONE, NONE, LOADS, STORES, REPLACEMENT],
    ),
    row(
        "Intel Broadwell, Skylake client",
        "4 counters of a thread hold FP operations alone: shared in turns",
        [FP_256, NONE, LOADS, STORES, REPLACEMENT],
    ),
    row(
        "Intel Skylake-SP to Granite Rapids, Ice Lake, Tiger Lake, Rocket Lake",
        "no x87, MMX or AMX operations; FP16 not counted",
        [FP_512, NONE, LOADS, STORES, REPLACEMENT],
    ),
    row(
        "Intel Alder Lake, Raptor Lake, Meteor Lake (hybrid)",
        "P-cores only: scaled up by the time on E-cores, nothing for a process that stays there",
        [FP_256, NONE, LOADS, STORES, REPLACEMENT],
    ),
    row(
        "Intel Lunar Lake, Arrow Lake, Panther Lake (hybrid)",
        "P-cores only: scaled up by the time on E-cores, nothing for a process that stays there; \
         L1 misses are lines brought into level 0 or 1",
        [FP_256, NONE, LOADS, STORES, REPLACEMENT_L0_L1],
    ),
    row(
        "Intel Alder Lake-N",
        "has no event for FP operations; L1 misses of loads only",
        [NONE, NONE, LOADS, STORES, LOAD_MISSES_GRACEMONT],
    ),
    row(
        "Intel Sierra Forest, Grand Ridge, Clearwater Forest",
        "L1 misses of loads only",
        [FP_FLOPS, NONE, LOADS, STORES, LOAD_MISSES],
    ),
    row(
        "Intel Knights Landing, Knights Mill",
        "has no event for FP operations; L1 misses of loads only",
        [NONE, NONE, KNL_LOADS, KNL_STORES, KNL_LOAD_MISSES],
    ),
    row("AMD Zen 1", DISPATCHED, [ZEN1_FP, NONE, ZEN_LOADS, ZEN_STORES, ZEN_MISSES]),
    row("AMD Zen 2, Zen 3", DISPATCHED, [ZEN_FP, NONE, ZEN_LOADS, ZEN_STORES, ZEN_MISSES]),
    row("AMD Zen 4", DISPATCHED, [ZEN4_FP, NONE, ZEN_LOADS, ZEN_STORES, ZEN_MISSES]),
    row("AMD Zen 5, Zen 6", DISPATCHED, [ZEN_FP, NONE, ZEN_LOADS, ZEN_STORES, ZEN5_MISSES]),
];

const fn intel(first: u16, last: u16, row: u8) -> Models {
    Models::of(Family::Intel, 6, first, last, row)
}

const fn amd(family: u8, first: u16, last: u16, row: u8) -> Models {
    Models::of(Family::Amd, family, first, last, row)
}

/// x86-64, of makers in the table.
pub static TABLE: Table = Table {
    rows: ROWS,
    models: &[
        intel(0x3c, 0x3c, HASWELL),
        intel(0x3f, 0x3f, HASWELL),
        intel(0x45, 0x46, HASWELL),
        intel(0x3d, 0x3d, BROADWELL),
        intel(0x47, 0x47, BROADWELL),
        intel(0x4f, 0x4f, BROADWELL),
        intel(0x56, 0x56, BROADWELL),
        intel(0x4e, 0x4e, BROADWELL),
        intel(0x5e, 0x5e, BROADWELL),
        intel(0x8e, 0x8e, BROADWELL),
        intel(0x9e, 0x9e, BROADWELL),
        intel(0xa5, 0xa6, BROADWELL),
        intel(0x55, 0x55, AVX512),
        intel(0x6a, 0x6a, AVX512),
        intel(0x6c, 0x6c, AVX512),
        intel(0x7d, 0x7e, AVX512),
        intel(0x8c, 0x8d, AVX512),
        intel(0xa7, 0xa7, AVX512),
        intel(0x8f, 0x8f, AVX512),
        intel(0xcf, 0xcf, AVX512),
        intel(0xad, 0xae, AVX512),
        intel(0x97, 0x97, HYBRID),
        intel(0x9a, 0x9a, HYBRID),
        intel(0xb7, 0xb7, HYBRID),
        intel(0xba, 0xba, HYBRID),
        intel(0xbf, 0xbf, HYBRID),
        intel(0xaa, 0xaa, HYBRID),
        intel(0xac, 0xac, HYBRID),
        intel(0xb5, 0xb5, HYBRID),
        intel(0xbd, 0xbd, LION_COVE),
        intel(0xc5, 0xc6, LION_COVE),
        intel(0xcc, 0xcc, LION_COVE),
        intel(0xd5, 0xd5, LION_COVE),
        intel(0xe5, 0xe5, LION_COVE),
        intel(0xbe, 0xbe, GRACEMONT),
        intel(0xaf, 0xaf, CRESTMONT),
        intel(0xb6, 0xb6, CRESTMONT),
        intel(0xdd, 0xdd, CRESTMONT),
        intel(0x57, 0x57, KNL),
        intel(0x85, 0x85, KNL),
        amd(23, 0x00, 0x2f, ZEN1),
        amd(23, 0x30, 0xff, ZEN2),
        amd(25, 0x10, 0x1f, ZEN4),
        amd(25, 0x60, 0xff, ZEN4),
        amd(25, 0x00, 0xff, ZEN2),
        amd(26, 0x00, 0xff, ZEN5),
    ],
};
