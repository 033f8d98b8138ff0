//! Runs that used an accelerator: kept out of the rates of the processor unless asked, and told.
//! The figures are compared with sums over the tokens of the lines.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use topas_testkit::with_lengths;

/// Lines of each run: what its two ranks say of accelerators, operations, wall clock time in s.
const RUNS: &[([&str; 2], u64, u64)] = &[
    (["", ""], 400_000_000, 2),
    (["", ""], 900_000_000, 3),
    (["cuda", "cuda"], 1_000, 100),
    (["cuda", ""], 2_000, 50),
    (["", "hip+opencl"], 3_000, 10),
    (["opencl", "opencl"], 5_000_000_000, 5),
];

fn log() -> String {
    let mut text = String::new();
    for (id, (gpus, ops, wall)) in RUNS.iter().enumerate() {
        for (pe, gpu) in gpus.iter().enumerate() {
            let gpu = if gpu.is_empty() { String::new() } else { format!(" gpu={gpu}") };
            text += &format!(
                "2026/11/20 08:00:00 ann x {pe} 2 t2596 B c mpi 1.000 0.100 {wall}.000 f={ops} 7 \
                 {id:016x} v=1 t=1795161600{gpu} cyc=10 ins=5\n"
            );
        }
    }
    with_lengths(&text)
}

fn stat(args: &[&str]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_topas-stat"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(log().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// Operations by wall clock time over the lines of the log, of runs that `wanted` wants by what
/// their lines say of accelerators; and the number of these runs.
fn by_hand(wanted: impl Fn(&[String]) -> bool) -> (f64, u64) {
    let mut runs: BTreeMap<String, (Vec<String>, f64, f64)> = BTreeMap::new();
    for line in log().lines() {
        let tokens: Vec<&str> = line.split(' ').collect();
        let gpu = tokens.iter().find_map(|token| token.strip_prefix("gpu="));
        let run = runs.entry(tokens[15].to_owned()).or_default();
        run.0.extend(gpu.map(str::to_owned));
        run.1 += tokens[13][2..].parse::<f64>().unwrap();
        run.2 += tokens[12].parse::<f64>().unwrap();
    }
    let counted: Vec<_> = runs.into_values().filter(|(gpus, ..)| wanted(gpus)).collect();
    let sum = |of: fn(&(Vec<String>, f64, f64)) -> f64| counted.iter().map(of).sum::<f64>();
    (sum(|run| run.1) / sum(|run| run.2) / 1e6, counted.len() as u64)
}

fn mflops(args: &[&str]) -> Value {
    let json: Value = serde_json::from_str(&stat(&[args, &["--json"]].concat())).unwrap();
    let measures = json["measures"].as_array().unwrap();
    measures.iter().find(|measure| measure["name"] == "mflops").unwrap().clone()
}

#[test]
fn rates_are_those_of_runs_without_accelerators() {
    for (args, wanted) in [
        (&["--measure", "mflops", "--by", "user"][..], false),
        (&["--measure", "mflops", "--by", "user", "--with-accelerators"], true),
    ] {
        let (rate, runs) = by_hand(|gpus| wanted || gpus.is_empty());
        let told = mflops(args);
        assert_eq!(told["valued"]["runs"], runs, "{told}");
        assert!((told["mean"].as_f64().unwrap() / rate - 1.0).abs() < 1e-9, "{told} {rate}");
        let aside = if wanted { 0 } else { 4 };
        assert_eq!(told["not_measured"]["accelerated"]["runs"], aside, "{told}");
    }
}

#[test]
fn the_report_tells_how_many_there_are() {
    let told = "- : 4 runs used an accelerator and are in no rate of the processor;\n    \
                --with-accelerators adds them.";
    let text = stat(&[]);
    assert!(text.contains(told), "{text}");
    // Nothing is lost: they are in the other tables, and in the row of runs without a value.
    assert!(text.contains("Num% of 6 runs"), "{text}");
    let all = stat(&["--with-accelerators"]);
    assert!(!all.contains("accelerator"), "{all}");
    // A share of time needs no rate.
    let shares = stat(&["--by", "sys_share"]);
    assert!(!shares.contains("accelerator"), "{shares}");
}

#[test]
fn a_table_of_accelerators() {
    let json: Value = serde_json::from_str(&stat(&["--by", "gpu", "--json"])).unwrap();
    let rows = json["tables"][0]["rows"].as_array().unwrap();
    let rows: BTreeMap<&str, u64> = rows
        .iter()
        .map(|row| (row["name"].as_str().unwrap_or("-"), row["runs"].as_u64().unwrap()))
        .collect();
    // As of every field, the value of a run is that of its lowest PE.
    let expected = [("-", 3), ("cuda", 2), ("opencl", 1)];
    assert_eq!(rows, BTreeMap::from(expected));
}
