//! x86-64 in libpfm4's names.

use topas_format::event::{Cpu, Family, Metric, Weight};

use crate::{Known, ONCE, Term};

const SCALAR: Term =
    (ONCE, &["FP_ARITH_INST_RETIRED:SCALAR_SINGLE", "FP_ARITH_INST_RETIRED:SCALAR_DOUBLE"]);
const TWO: Term = (Weight::Times(2), &["FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE"]);
const FOUR: Term = (
    Weight::Times(4),
    &["FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", "FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE"],
);
const EIGHT: Term = (Weight::Times(8), &["FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE"]);
const EIGHT_512: Term = (
    Weight::Times(8),
    &["FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", "FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE"],
);
const SIXTEEN: Term = (Weight::Times(16), &["FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE"]);

const MISSES: (Metric, &[Term]) = (Metric::L1Miss, &[(ONCE, &["L1D:REPLACEMENT"])]);
const LOADS: (Metric, &[Term]) = (Metric::Loads, &[(ONCE, &["MEM_INST_RETIRED:ALL_LOADS"])]);
const STORES: (Metric, &[Term]) = (Metric::Stores, &[(ONCE, &["MEM_INST_RETIRED:ALL_STORES"])]);
const UOP_LOADS: (Metric, &[Term]) = (Metric::Loads, &[(ONCE, &["MEM_UOPS_RETIRED:ALL_LOADS"])]);
const UOP_STORES: (Metric, &[Term]) = (Metric::Stores, &[(ONCE, &["MEM_UOPS_RETIRED:ALL_STORES"])]);

const SKYLAKE: &[(Metric, &[Term])] =
    &[(Metric::FpOps, &[SCALAR, TWO, FOUR, EIGHT]), LOADS, STORES, MISSES];
const AVX512: &[(Metric, &[Term])] =
    &[(Metric::FpOps, &[SCALAR, TWO, FOUR, EIGHT_512, SIXTEEN]), LOADS, STORES, MISSES];
const HASWELL: &[(Metric, &[Term])] = &[UOP_LOADS, UOP_STORES, MISSES];
const BROADWELL: &[(Metric, &[Term])] = &[
    (
        Metric::FpOps,
        &[
            (ONCE, &["FP_ARITH:SCALAR_SINGLE", "FP_ARITH:SCALAR_DOUBLE"]),
            (Weight::Times(2), &["FP_ARITH:128B_PACKED_DOUBLE"]),
            (Weight::Times(4), &["FP_ARITH:128B_PACKED_SINGLE", "FP_ARITH:256B_PACKED_DOUBLE"]),
            (Weight::Times(8), &["FP_ARITH:256B_PACKED_SINGLE"]),
        ],
    ),
    UOP_LOADS,
    UOP_STORES,
    MISSES,
];
const KNIGHTS: &[(Metric, &[Term])] =
    &[UOP_LOADS, UOP_STORES, (Metric::L1Miss, &[(ONCE, &["MEM_UOPS_RETIRED:L1_MISS_LOADS"])])];
const GRACEMONT: &[(Metric, &[Term])] = &[UOP_LOADS, UOP_STORES];

const DISPATCHED_LOADS: (Metric, &[Term]) =
    (Metric::Loads, &[(ONCE, &["LS_DISPATCH:LD_DISPATCH", "LS_DISPATCH:LD_ST_DISPATCH"])]);
const DISPATCHED_STORES: (Metric, &[Term]) =
    (Metric::Stores, &[(ONCE, &["LS_DISPATCH:STORE_DISPATCH", "LS_DISPATCH:LD_ST_DISPATCH"])]);
const FROM_L1: (Metric, &[Term]) = (
    Metric::L1Miss,
    &[(
        ONCE,
        &[
            "REQUESTS_TO_L2_GROUP1:RD_BLK_L",
            "REQUESTS_TO_L2_GROUP1:RD_BLK_X",
            "REQUESTS_TO_L2_GROUP1:LS_RD_BLK_C_S",
            "REQUESTS_TO_L2_GROUP1:CHANGE_TO_X",
        ],
    )],
);
const ZEN1: &[(Metric, &[Term])] = &[
    (
        Metric::FpOps,
        &[(
            ONCE,
            &[
                "RETIRED_SSE_AVX_OPERATIONS:SP_ADD_SUB_FLOPS",
                "RETIRED_SSE_AVX_OPERATIONS:SP_MULT_FLOPS",
                "RETIRED_SSE_AVX_OPERATIONS:SP_DIV_FLOPS",
                "RETIRED_SSE_AVX_OPERATIONS:SP_MULT_ADD_FLOPS",
                "RETIRED_SSE_AVX_OPERATIONS:DP_ADD_SUB_FLOPS",
                "RETIRED_SSE_AVX_OPERATIONS:DP_MULT_FLOPS",
                "RETIRED_SSE_AVX_OPERATIONS:DP_DIV_FLOPS",
                "RETIRED_SSE_AVX_OPERATIONS:DP_MULT_ADD_FLOPS",
            ],
        )],
    ),
    DISPATCHED_LOADS,
    DISPATCHED_STORES,
    FROM_L1,
];
const ZEN2: &[(Metric, &[Term])] = &[
    (
        Metric::FpOps,
        &[(
            ONCE,
            &[
                "RETIRED_SSE_AVX_FLOPS:ADD_SUB_FLOPS",
                "RETIRED_SSE_AVX_FLOPS:MULT_FLOPS",
                "RETIRED_SSE_AVX_FLOPS:DIV_FLOPS",
                "RETIRED_SSE_AVX_FLOPS:MAC_FLOPS",
            ],
        )],
    ),
    DISPATCHED_LOADS,
    DISPATCHED_STORES,
    FROM_L1,
];
const ZEN4: &[(Metric, &[Term])] = &[
    (
        Metric::FpOps,
        &[(
            ONCE,
            &[
                "RETIRED_SSE_AVX_FLOPS:ADD_SUB_FLOPS",
                "RETIRED_SSE_AVX_FLOPS:MULT_FLOPS",
                "RETIRED_SSE_AVX_FLOPS:DIV_FLOPS",
                "RETIRED_SSE_AVX_FLOPS:MAC_FLOPS",
                "RETIRED_SSE_AVX_FLOPS:BFLOAT_MAC_FLOPS",
            ],
        )],
    ),
    DISPATCHED_LOADS,
    DISPATCHED_STORES,
    FROM_L1,
];

const ZEN5: &[(Metric, &[Term])] = &[
    (
        Metric::FpOps,
        &[(
            ONCE,
            &[
                "RETIRED_SSE_AVX_FLOPS:ADD_SUB_FLOPS:ALL_TYPE",
                "RETIRED_SSE_AVX_FLOPS:MULT_FLOPS:ALL_TYPE",
                "RETIRED_SSE_AVX_FLOPS:DIV_FLOPS:ALL_TYPE",
                "RETIRED_SSE_AVX_FLOPS:MAC_FLOPS:ALL_TYPE",
            ],
        )],
    ),
    DISPATCHED_LOADS,
    DISPATCHED_STORES,
    (
        Metric::L1Miss,
        &[(
            ONCE,
            &[
                "REQUESTS_TO_L2_GROUP1:RD_BLK_L",
                "REQUESTS_TO_L2_GROUP1:RD_BLK_X",
                "REQUESTS_TO_L2_GROUP1:LS_RD_BLK_C_S",
            ],
        )],
    ),
];

const fn intel(
    pmu: &'static str,
    model: u16,
    metrics: &'static [(Metric, &'static [Term])],
) -> Known {
    Known {
        pmu,
        cpu: Cpu { family: Family::Intel, number: 6, model },
        metrics,
        recent: false,
        nameless: None,
    }
}

const fn amd(
    pmu: &'static str,
    number: u8,
    model: u16,
    metrics: &'static [(Metric, &'static [Term])],
) -> Known {
    Known {
        pmu,
        cpu: Cpu { family: Family::Amd, number, model },
        metrics,
        recent: false,
        nameless: None,
    }
}

const fn recent(known: Known) -> Known {
    Known { recent: true, ..known }
}

pub const KNOWN: &[Known] = &[
    intel("hsw", 0x3c, HASWELL),
    intel("hsw_ep", 0x3f, HASWELL),
    intel("bdw", 0x4f, BROADWELL),
    intel("skl", 0x5e, SKYLAKE),
    intel("skx", 0x55, AVX512),
    intel("clx", 0x55, AVX512),
    intel("icl", 0x7e, AVX512),
    intel("icx", 0x6a, AVX512),
    intel("spr", 0x8f, AVX512),
    recent(intel("emr", 0xcf, AVX512)),
    recent(intel("gnr", 0xad, AVX512)),
    recent(intel("adl_glc", 0x97, SKYLAKE)),
    Known { nameless: Some(Metric::L1Miss), ..recent(intel("adl_grt", 0xbe, GRACEMONT)) },
    intel("knl", 0x57, KNIGHTS),
    intel("knm", 0x85, KNIGHTS),
    amd("amd64_fam17h_zen1", 23, 0x01, ZEN1),
    amd("amd64_fam17h_zen2", 23, 0x31, ZEN2),
    amd("amd64_fam19h_zen3", 25, 0x01, ZEN2),
    amd("amd64_fam19h_zen4", 25, 0x11, ZEN4),
    recent(amd("amd64_fam1ah_zen5", 26, 0x02, ZEN5)),
];
