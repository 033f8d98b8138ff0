//! POWER in libpfm4's names.

use topas_format::event::{Cpu, Family, Metric, Weight};

use crate::{Known, ONCE, Term};

const FP: (Metric, &[Term]) = (
    Metric::FpOps,
    &[
        (ONCE, &["PM_1FLOP_CMPL"]),
        (Weight::Times(2), &["PM_2FLOP_CMPL"]),
        (Weight::Times(4), &["PM_4FLOP_CMPL"]),
        (Weight::Times(8), &["PM_8FLOP_CMPL"]),
    ],
);
const STORES: (Metric, &[Term]) = (Metric::Stores, &[(ONCE, &["PM_ST_CMPL"])]);
const MISSES: (Metric, &[Term]) = (Metric::L1Miss, &[(ONCE, &["PM_LD_MISS_L1"])]);

const POWER9: &[(Metric, &[Term])] = &[
    FP,
    (Metric::IntOps, &[(ONCE, &["PM_FXU_FIN"])]),
    (Metric::Loads, &[(ONCE, &["PM_LD_REF_L1"])]),
    STORES,
    MISSES,
];
const POWER10: &[(Metric, &[Term])] = &[
    FP,
    (Metric::IntOps, &[(ONCE, &["PM_FXU_ISSUE"])]),
    (Metric::Loads, &[(ONCE, &["PM_LD_CMPL"])]),
    STORES,
    MISSES,
];

const fn pvr(
    pmu: &'static str,
    model: u16,
    metrics: &'static [(Metric, &'static [Term])],
) -> Known {
    Known {
        pmu,
        cpu: Cpu { family: Family::Power, number: 0, model },
        metrics,
        recent: false,
        nameless: None,
    }
}

pub const KNOWN: &[Known] = &[pvr("power9", 0x4e, POWER9), pvr("power10", 0x80, POWER10)];
