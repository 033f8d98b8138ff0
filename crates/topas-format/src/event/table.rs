//! The event table as data.
//!
//! Sources: vendors' event lists as shipped with the Linux kernel (tools/perf/pmu-events),
//! intel/perfmon, and libpfm4, which agree on every row here unless a note says so.

use super::cpu::{Cpu, Family};
use super::{Formula, Term, Weight};

/// A range of processor models and its row; packed, because it is in every user program.
#[derive(Clone, Copy)]
#[repr(C, packed(2))]
pub struct Model {
    /// [`Cpu::key`] of the first
    first: u32,
    /// How many more there are
    more: u8,
    /// Index into [`ROWS`]
    pub row: u8,
}

impl Model {
    /// Whether the processor is one of this range.
    pub fn holds(&self, cpu: Cpu) -> bool {
        cpu.key().wrapping_sub(self.first) <= self.more.into()
    }
}

const fn range(family: Family, number: u8, first: u16, last: u16, row: u8) -> Model {
    assert!(first <= last && last - first <= 0xff);
    let cpu = Cpu { family, number, model: first };
    Model { first: cpu.key(), more: (last - first) as u8, row }
}

const fn intel(first: u16, last: u16, row: u8) -> Model {
    range(Family::Intel, 6, first, last, row)
}

const fn amd(number: u8, first: u16, last: u16, row: u8) -> Model {
    range(Family::Amd, number, first, last, row)
}

const fn arm(number: u8, part: u16, row: u8) -> Model {
    range(Family::Arm, number, part, part, row)
}

/// Every processor model of the table; the first that holds is taken.
pub const MODELS: &[Model] = &[
    intel(0x3d, 0x3d, 0),
    intel(0x47, 0x47, 0),
    intel(0x4f, 0x4f, 0),
    intel(0x56, 0x56, 0),
    intel(0x4e, 0x4e, 0),
    intel(0x5e, 0x5e, 0),
    intel(0x8e, 0x8e, 0),
    intel(0x9e, 0x9e, 0),
    intel(0xa5, 0xa6, 0),
    intel(0x55, 0x55, 1),
    intel(0x6a, 0x6a, 1),
    intel(0x6c, 0x6c, 1),
    intel(0x7d, 0x7e, 1),
    intel(0x8c, 0x8d, 1),
    intel(0xa7, 0xa7, 1),
    intel(0x8f, 0x8f, 1),
    intel(0xcf, 0xcf, 1),
    intel(0xad, 0xae, 1),
    intel(0xaf, 0xaf, 2),
    intel(0xb6, 0xb6, 2),
    amd(23, 0x00, 0x2f, 3),
    amd(23, 0x30, 0xff, 4),
    amd(25, 0x10, 0x1f, 5),
    amd(25, 0x60, 0xff, 5),
    amd(25, 0x00, 0xff, 4),
    amd(26, 0x00, 0xff, 6),
    arm(0x41, 0xd0c, 7),
    arm(0x41, 0xd40, 8),
    arm(0x41, 0xd49, 8),
    arm(0x41, 0xd4f, 8),
    arm(0x46, 0x001, 9),
];

/// What can be counted on each kind of processor: per metric (FpOps, IntOps, Loads, Stores,
/// L1Miss) the index into [`FORMULAS`].
pub const ROWS: &[[u8; 5]] = &[
    [1, 0, 3, 4, 5],      // 0 Intel without AVX-512
    [2, 0, 3, 4, 5],      // 1 Intel with AVX-512
    [6, 0, 3, 4, 7],      // 2 Intel E-core servers
    [8, 0, 11, 12, 13],   // 3 Zen 1
    [9, 0, 11, 12, 13],   // 4 Zen 2, Zen 3
    [10, 0, 11, 12, 13],  // 5 Zen 4
    [9, 0, 11, 12, 14],   // 6 Zen 5
    [0, 16, 17, 18, 19],  // 7 Neoverse N1: FP instructions only, no operations
    [15, 16, 17, 18, 19], // 8 Neoverse V1, N2, V2
    [15, 0, 17, 18, 19],  // 9 A64FX
];

/// The formula of an event that a processor does not have.
pub(super) const NONE: Formula = formula(0, 0);

/// Every formula; the first is `NONE`.
pub const FORMULAS: &[Formula] = &[
    NONE,               // 0
    formula(0, 4),      // 1 FP_ARITH_INST_RETIRED up to 256 bit
    formula(4, 5),      // 2 FP_ARITH_INST_RETIRED
    formula(9, 1),      // 3 MEM_INST_RETIRED.ALL_LOADS
    formula(10, 1),     // 4 MEM_INST_RETIRED.ALL_STORES
    formula(11, 1),     // 5 L1D.REPLACEMENT
    formula(12, 1),     // 6 FP_FLOPS_RETIRED.ALL
    formula(13, 1),     // 7 MEM_LOAD_UOPS_RETIRED.L1_MISS
    formula(14, 1),     // 8 retired SSE/AVX operations of Zen 1
    formula(15, 1),     // 9 of Zen 2, 3, 5
    formula(16, 1),     // 10 of Zen 4
    speculative(17, 1), // 11 dispatched loads
    speculative(18, 1), // 12 dispatched stores
    formula(19, 1),     // 13 requests of the data cache to L2, Zen 1 to 4
    formula(20, 1),     // 14 of Zen 5
    speculative(21, 2), // 15 FP_FIXED_OPS_SPEC and FP_SCALE_OPS_SPEC
    speculative(23, 1), // 16 DP_SPEC
    speculative(24, 1), // 17 LD_SPEC
    speculative(25, 1), // 18 ST_SPEC
    formula(26, 1),     // 19 L1D_CACHE_REFILL
];

/// Events with weights, packed.
///
/// x86 configs are `umask << 8 | event`. FP_ARITH counts a fused multiply-add twice in
/// hardware, and one event per *weight* (masks ORed) needs 5 counters in place of 8.
pub(super) const TERMS: &[u32] = &[
    // 0: FP_ARITH, scalar, 128d, 128s + 256d, 256s
    times(1, 0x03c7),
    times(2, 0x04c7),
    times(4, 0x18c7),
    times(8, 0x20c7),
    // 4: the same with 512 bit
    times(1, 0x03c7),
    times(2, 0x04c7),
    times(4, 0x18c7),
    times(8, 0x60c7),
    times(16, 0x80c7),
    // 9
    times(1, 0x81d0),
    times(1, 0x82d0),
    // 11: lines brought in, with those of the prefetcher
    times(1, 0x0151),
    // 12: weighted in hardware
    times(1, 0x03c8),
    // 13: load misses only
    times(1, 0x40d1),
    // 14: the mask means other things on each generation
    times(1, 0xff03),
    times(1, 0x0f03),
    times(1, 0x1f03),
    // 17: with load-op-stores
    times(1, 0x0529),
    times(1, 0x0629),
    // 19: with requests of the prefetcher
    times(1, 0xe860),
    times(1, 0xe060),
    // 21: operations of vectors of scalable length are counted per 128 bit
    times(1, 0x80c1),
    per_vector(0x80c0),
    // 23: integer data processing instructions
    times(1, 0x73),
    times(1, 0x70),
    times(1, 0x71),
    times(1, 0x03),
];

const fn formula(first: u8, count: u8) -> Formula {
    Formula { first, count, estimate: false }
}

const fn speculative(first: u8, count: u8) -> Formula {
    Formula { first, count, estimate: true }
}

/// The weight stands above the 24 bits of the config; 0 is the vector length.
const fn times(weight: u8, config: u32) -> u32 {
    (weight as u32) << 24 | config
}

const fn per_vector(config: u32) -> u32 {
    times(0, config)
}

/// Takes a packed event apart.
pub fn unpack(packed: u32) -> Term {
    let weight = match (packed >> 24) as u8 {
        0 => Weight::VectorLength,
        weight => Weight::Times(weight),
    };
    Term { config: packed & 0x00ff_ffff, weight }
}
