//! The event table against libpfm4, which encodes events of processors by their makers'
//! names: here by the installed library, and for other instruction sets by its sources.
//!
//! No version of it knows Sierra Forest, Lunar Lake or RISC-V.

mod arm;
mod others;
mod power;
mod x86;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use topas_format::event::{Cpu, Metric, PERF_TYPE_RAW, Weight, formula};

/// Masks or events whose encodings ORed are one term of a weight.
type Term = (Weight, &'static [&'static str]);

/// A processor by libpfm4's name, and what its metrics are made of; the metrics that are not
/// listed have no event.
struct Known {
    pmu: &'static str,
    cpu: Cpu,
    metrics: &'static [(Metric, &'static [Term])],
    /// Lacking in versions still in use
    recent: bool,
    /// A metric whose event has no name there
    nameless: Option<Metric>,
}

const ONCE: Weight = Weight::Times(1);
const METRICS: [Metric; 5] =
    [Metric::FpOps, Metric::IntOps, Metric::Loads, Metric::Stores, Metric::L1Miss];

/// Says something past the capture of libtest.
fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

fn helper_source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encodings/encode.c")
}

/// Asks the helper that `run` starts for the encodings of all events named; events that it
/// does not know are missing.
fn encodings(mut run: Command, known: &[Known]) -> BTreeMap<String, u64> {
    let names = known.iter().flat_map(|known| {
        let terms = known.metrics.iter().flat_map(|(_, terms)| terms.iter());
        terms.flat_map(|(_, names)| names.iter().map(|name| format!("{}::{name}", known.pmu)))
    });
    let names: Vec<String> = names.collect();
    let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all((names.join("\n") + "\n").as_bytes()).unwrap();
    let printed = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let known = printed.lines().filter_map(|line| {
        let (event, encoding) = line.rsplit_once(' ')?;
        let (event, kind) = event.rsplit_once(' ')?;
        assert_eq!(kind, PERF_TYPE_RAW.to_string(), "{line}");
        Some((event.to_owned(), u64::from_str_radix(encoding, 16).ok()?))
    });
    known.collect()
}

/// Compares every processor with what libpfm4 says; how many it knows.
fn compare(known: &[Known], encodings: &BTreeMap<String, u64>) -> usize {
    let mut compared = 0;
    for Known { pmu, cpu, metrics, recent, nameless } in known {
        let prefix = format!("{pmu}::");
        if *recent && !encodings.keys().any(|name| name.starts_with(&prefix)) {
            say(&format!("note: encodings: this libpfm4 does not know {pmu}"));
            continue;
        }
        compared += 1;
        for metric in METRICS.into_iter().filter(|metric| *nameless != Some(*metric)) {
            let listed = metrics.iter().find(|(of, _)| *of == metric);
            let terms = listed.map_or(&[][..], |(_, terms)| terms);
            let expected: Vec<(u32, Weight)> = terms
                .iter()
                .map(|(weight, names)| {
                    let code = names.iter().map(|name| {
                        let name = format!("{prefix}{name}");
                        *encodings.get(&name).unwrap_or_else(|| panic!("libpfm4 lacks {name}"))
                    });
                    (u32::try_from(code.fold(0, |all, one| all | one)).unwrap(), *weight)
                })
                .collect();
            let ours: Vec<(u32, Weight)> =
                formula(Some(*cpu), metric).terms().map(|t| (t.config, t.weight)).collect();
            assert_eq!(ours, expected, "{pmu} {metric:?}");
        }
    }
    compared
}

#[test]
fn agree_with_libpfm4() {
    let dir = tempfile::tempdir().unwrap();
    let helper = dir.path().join("encode");
    let mut cc = Command::new("cc");
    cc.arg(helper_source()).arg("-lpfm").arg("-o").arg(&helper).stderr(Stdio::null());
    if !cfg!(target_arch = "x86_64") || !cc.status().is_ok_and(|status| status.success()) {
        return say("skipped: agree_with_libpfm4: no libpfm4-dev for x86-64, or no C compiler");
    }
    let encodings = encodings(Command::new(&helper), x86::KNOWN);
    assert!(compare(x86::KNOWN, &encodings) >= 14);
}
