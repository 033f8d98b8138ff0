//! AArch64 in libpfm4's names.

use topas_format::event::{Cpu, Family, Metric, Weight};

use crate::{Known, ONCE, Term};

const FP: (Metric, &[Term]) = (
    Metric::FpOps,
    &[(ONCE, &["FP_FIXED_OPS_SPEC"]), (Weight::VectorLength, &["FP_SCALE_OPS_SPEC"])],
);
const INT: (Metric, &[Term]) = (Metric::IntOps, &[(ONCE, &["DP_SPEC"])]);
const LOADS: (Metric, &[Term]) = (Metric::Loads, &[(ONCE, &["LD_SPEC"])]);
const STORES: (Metric, &[Term]) = (Metric::Stores, &[(ONCE, &["ST_SPEC"])]);
const MISSES: (Metric, &[Term]) = (Metric::L1Miss, &[(ONCE, &["L1D_CACHE_REFILL"])]);

const WITHOUT_FP: &[(Metric, &[Term])] = &[INT, LOADS, STORES, MISSES];
const WITH_FP: &[(Metric, &[Term])] = &[FP, INT, LOADS, STORES, MISSES];

const fn known(
    pmu: &'static str,
    number: u8,
    model: u16,
    metrics: &'static [(Metric, &'static [Term])],
) -> Known {
    Known {
        pmu,
        cpu: Cpu { family: Family::Arm, number, model },
        metrics,
        recent: false,
        nameless: None,
    }
}

pub const KNOWN: &[Known] = &[
    known("arm_n1", 0x41, 0xd0c, WITHOUT_FP),
    known("arm_n2", 0x41, 0xd49, WITH_FP),
    known("arm_v1", 0x41, 0xd40, WITH_FP),
    known("arm_v2", 0x41, 0xd4f, WITH_FP),
    known("arm_a64fx", 0x46, 0x001, WITH_FP),
    known("arm_thunderx2", 0x43, 0x0af, WITHOUT_FP),
    known("arm_thunderx2", 0x42, 0x516, WITHOUT_FP),
    known("arm_kunpeng", 0x48, 0xd01, WITHOUT_FP),
];
