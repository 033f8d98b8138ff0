//! The event table against libpfm4, which encodes events of processors by their makers'
//! names. It does not know Sierra Forest, Zen 5 and, in Debian 12, Emerald and Granite
//! Rapids; its tables for Arm are in builds for Arm only.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use topas_format::event::{Cpu, Family, Metric, PERF_TYPE_RAW, Weight, formula};

/// Masks of one event whose bits together are the term of that weight.
type Term = (u8, &'static str, &'static [&'static str]);

const SCALAR: Term = (1, "FP", &["SCALAR_SINGLE", "SCALAR_DOUBLE"]);
const TWO: Term = (2, "FP", &["128B_PACKED_DOUBLE"]);
const FOUR: Term = (4, "FP", &["128B_PACKED_SINGLE", "256B_PACKED_DOUBLE"]);
const EIGHT: Term = (8, "FP", &["256B_PACKED_SINGLE"]);
const EIGHT_512: Term = (8, "FP", &["256B_PACKED_SINGLE", "512B_PACKED_DOUBLE"]);
const SIXTEEN: Term = (16, "FP", &["512B_PACKED_SINGLE"]);

const AVX2: &[Term] = &[SCALAR, TWO, FOUR, EIGHT];
const AVX512: &[Term] = &[SCALAR, TWO, FOUR, EIGHT_512, SIXTEEN];
const ALL_LOADS: &[Term] = &[(1, "MEM", &["ALL_LOADS"])];
const ALL_STORES: &[Term] = &[(1, "MEM", &["ALL_STORES"])];
const REPLACEMENT: &[Term] = &[(1, "L1D", &["REPLACEMENT"])];

const LD_DISPATCH: &[Term] = &[(1, "LS_DISPATCH", &["LD_DISPATCH", "LD_ST_DISPATCH"])];
const ST_DISPATCH: &[Term] = &[(1, "LS_DISPATCH", &["STORE_DISPATCH", "LD_ST_DISPATCH"])];
const FROM_L1: &[Term] =
    &[(1, "REQUESTS_TO_L2_GROUP1", &["RD_BLK_L", "RD_BLK_X", "LS_RD_BLK_C_S", "CHANGE_TO_X"])];
const FLOPS: &[Term] =
    &[(1, "RETIRED_SSE_AVX_FLOPS", &["ADD_SUB_FLOPS", "MULT_FLOPS", "DIV_FLOPS", "MAC_FLOPS"])];
const FLOPS_BF16: &[Term] = &[(
    1,
    "RETIRED_SSE_AVX_FLOPS",
    &["ADD_SUB_FLOPS", "MULT_FLOPS", "DIV_FLOPS", "MAC_FLOPS", "BFLOAT_MAC_FLOPS"],
)];
const FLOPS_BY_PRECISION: &[Term] = &[(
    1,
    "RETIRED_SSE_AVX_OPERATIONS",
    &[
        "SP_ADD_SUB_FLOPS",
        "SP_MULT_FLOPS",
        "SP_DIV_FLOPS",
        "SP_MULT_ADD_FLOPS",
        "DP_ADD_SUB_FLOPS",
        "DP_MULT_FLOPS",
        "DP_DIV_FLOPS",
        "DP_MULT_ADD_FLOPS",
    ],
)];

/// libpfm4's name of a processor, its family and a model of it, its names for two events,
/// and what its four metrics are made of.
struct Row(&'static str, Family, u8, u16, &'static str, &'static str, [&'static [Term]; 4]);

const INTEL_FP: &str = "FP_ARITH_INST_RETIRED";
const MEM: &str = "MEM_INST_RETIRED";
const INTEL: [&[Term]; 3] = [ALL_LOADS, ALL_STORES, REPLACEMENT];
const AMD: [&[Term]; 3] = [LD_DISPATCH, ST_DISPATCH, FROM_L1];

const fn row(fp: &'static [Term], others: [&'static [Term]; 3]) -> [&'static [Term]; 4] {
    let [loads, stores, misses] = others;
    [fp, loads, stores, misses]
}

const ROWS: &[Row] = &[
    Row("bdw", Family::Intel, 6, 0x4f, "FP_ARITH", "MEM_UOPS_RETIRED", row(AVX2, INTEL)),
    Row("skl", Family::Intel, 6, 0x5e, INTEL_FP, MEM, row(AVX2, INTEL)),
    Row("skx", Family::Intel, 6, 0x55, INTEL_FP, MEM, row(AVX512, INTEL)),
    Row("clx", Family::Intel, 6, 0x55, INTEL_FP, MEM, row(AVX512, INTEL)),
    Row("icl", Family::Intel, 6, 0x7e, INTEL_FP, MEM, row(AVX512, INTEL)),
    Row("icx", Family::Intel, 6, 0x6a, INTEL_FP, MEM, row(AVX512, INTEL)),
    Row("spr", Family::Intel, 6, 0x8f, INTEL_FP, MEM, row(AVX512, INTEL)),
    Row("amd64_fam17h_zen1", Family::Amd, 23, 1, "", "", row(FLOPS_BY_PRECISION, AMD)),
    Row("amd64_fam17h_zen2", Family::Amd, 23, 0x31, "", "", row(FLOPS, AMD)),
    Row("amd64_fam19h_zen3", Family::Amd, 25, 1, "", "", row(FLOPS, AMD)),
    Row("amd64_fam19h_zen4", Family::Amd, 25, 0x11, "", "", row(FLOPS_BF16, AMD)),
];

/// The full name of an event.
fn name(Row(pmu, _, _, _, fp, memory, _): &Row, event: &str, mask: &str) -> String {
    let event = match event {
        "FP" => fp,
        "MEM" => memory,
        other => other,
    };
    format!("{pmu}::{event}:{mask}")
}

/// Compiles and asks the helper; None without libpfm4 or a compiler.
fn encodings(names: &[String]) -> Option<BTreeMap<String, u64>> {
    let dir = std::env::temp_dir().join(format!("topas-encode-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let helper = dir.join("encode");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/encode.c");
    let mut cc = Command::new("cc");
    cc.arg(source).arg("-lpfm").arg("-o").arg(&helper).stderr(Stdio::null());
    if !cc.status().is_ok_and(|status| status.success()) {
        return None;
    }
    let mut child =
        Command::new(&helper).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all((names.join("\n") + "\n").as_bytes()).unwrap();
    let printed = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let known = printed.lines().filter_map(|line| {
        let (event, encoding) = line.rsplit_once(' ')?;
        let (event, kind) = event.rsplit_once(' ')?;
        assert_eq!(kind, PERF_TYPE_RAW.to_string(), "{line}");
        Some((event.to_owned(), u64::from_str_radix(encoding, 16).ok()?))
    });
    Some(known.collect())
}

#[test]
fn agree_with_libpfm4() {
    let all = ROWS.iter().flat_map(|row| {
        let terms = row.6.iter().flat_map(|terms| terms.iter());
        terms.flat_map(|(_, event, masks)| masks.iter().map(|mask| name(row, event, mask)))
    });
    let all: Vec<String> = all.collect();
    let Some(known) = encodings(&all) else {
        // Past the capture of libtest.
        let line = b"skipped: agree_with_libpfm4: libpfm4-dev or a C compiler is missing\n";
        let _ = std::io::stderr().write_all(line);
        return;
    };
    for row in ROWS {
        let cpu = Cpu { family: row.1, number: row.2, model: row.3 };
        let metrics = [Metric::FpOps, Metric::Loads, Metric::Stores, Metric::L1Miss];
        for (metric, terms) in metrics.into_iter().zip(row.6) {
            let expected: Vec<(u32, Weight)> = terms
                .iter()
                .map(|(weight, event, masks)| {
                    let code = masks.iter().map(|mask| {
                        let name = name(row, event, mask);
                        *known.get(&name).unwrap_or_else(|| panic!("libpfm4 lacks {name}"))
                    });
                    let code = code.fold(0, |all, one| all | one);
                    (u32::try_from(code).unwrap(), Weight::Times(*weight))
                })
                .collect();
            let ours: Vec<(u32, Weight)> =
                formula(Some(cpu), metric).terms().map(|t| (t.config, t.weight)).collect();
            assert_eq!(ours, expected, "{} {metric:?}", row.0);
        }
    }
}
