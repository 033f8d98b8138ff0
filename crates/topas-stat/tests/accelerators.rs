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
                "2026/11/20 08:{id:02}:00 ann x {pe} 2 t2596 B c mpi 1.000 0.100 {wall}.000 f={ops} 7 \
                 {id:016x} v=1 t={}{gpu} cyc=10 ins=5\n",
                1_795_161_600 + 60 * id
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
    assert!(matches!(output.status.code(), Some(0 | 3)), "no runs is no error: {args:?}");
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

/// A condition on a rate of the processor is neither true nor false of a run with an accelerator.
#[test]
fn conditions_on_rates_set_such_runs_aside_and_tell_their_number() {
    let runs = |args: &[&str]| -> Value {
        serde_json::from_str(&stat(&[args, &["--json"]].concat())).unwrap()
    };
    // Rates in MFlop/s: 200, 300, 1e-5, 4e-5, 3e-4 and 1000; the last four have accelerators.
    for (condition, plain, all) in [
        ("mflops < 250", 1, 4),
        ("not mflops >= 250", 1, 4),
        ("mflops > 0 and wall > 4s", 0, 4),
        ("mflops = -", 4, 0),
        ("ipc > 0 and wall >= 3s", 1, 5),
        ("mflops < 250 or wall > 40s", 3, 4),
        ("wall > 4s", 4, 4),
    ] {
        let told = runs(&["--where", condition, "--by", "user"]);
        assert_eq!(told["runs"], plain, "{condition}");
        let aside = told["not_selected"]["accelerated"].as_u64().unwrap();
        assert_eq!(aside, u64::saturating_sub(all, plain), "{condition}");
        let told = runs(&["--where", condition, "--by", "user", "--with-accelerators"]);
        assert_eq!((&told["runs"], &told["not_selected"]["accelerated"]), (&all.into(), &0.into()));
        let listed = runs(&["--runs", "--where", condition]);
        assert_eq!(listed["selected"]["runs"], plain, "{condition}");
        assert_eq!(listed["not_selected"]["accelerated"], aside, "{condition}");
    }
    let text = stat(&["--where", "mflops < 250", "--by", "user"]).replace("\n    ", " ");
    assert!(text.contains("! 3 runs used an accelerator and are not selected"), "{text}");
}

#[test]
fn lists_show_no_rate_of_the_processor_of_such_runs() {
    let columns = "id,mflops,ipc,wall,gpu";
    let list = |more: &[&str]| {
        stat(&[&["--runs", "--csv", "--columns", columns, "--sort", "mflops"][..], more].concat())
    };
    let rows = |text: &str| -> Vec<Vec<String>> {
        let rows = text.lines().skip(1);
        rows.map(|row| row.split(',').map(str::to_owned).collect()).collect()
    };
    let plain = rows(&list(&[]));
    assert_eq!(plain.len(), RUNS.len());
    for row in &plain {
        let (rates, wall, gpu) = (&row[1..3], &row[3], &row[4]);
        assert_eq!(rates.iter().all(|rate| rate.is_empty()), !gpu.is_empty(), "{row:?}");
        assert!(!wall.is_empty(), "times are of every run: {row:?}");
    }
    // What has no rate comes last, in either order.
    let first: Vec<&str> = plain.iter().take(2).map(|row| &*row[0]).collect();
    assert_eq!(first, ["0000000000000001", "0000000000000000"]);
    let turned = rows(&list(&["--reverse"]));
    assert_eq!(turned[0][0], "0000000000000000");
    let all = rows(&list(&["--with-accelerators"]));
    assert_eq!(all[0][0], "0000000000000005");
    assert!(all.iter().all(|row| !row[1].is_empty()));
    let text = stat(&["--runs"]).replace("\n    ", " ");
    assert!(text.contains("- : 4 runs of 6 used an accelerator, and no rate"), "{text}");
    assert!(!stat(&["--runs", "--columns", "id,wall"]).contains("accelerator"));
}

#[test]
fn one_run_says_that_its_rates_are_not_comparable() {
    // The fourth run, after two without accelerators and one with.
    let id = "0000000000000003";
    let text = stat(&["--run", id]);
    let told: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("wall clock (not comparable: uses cuda)"), "{text}");
    assert!(
        told.contains("Median rate of 2 of them: 250.0 MFlop/s per PE; the rate of this run is")
    );
    assert!(told.contains("1 run used an accelerator and is in no median rate"), "{text}");
    assert!(!stat(&["--run", id, "--with-accelerators"]).contains("not comparable"));
    assert!(!stat(&["--run", "0000000000000001"]).contains("not comparable"));
    let json: Value = serde_json::from_str(&stat(&["--run", id, "--json"])).unwrap();
    let measures = &json["runs"][0]["measures"];
    assert_eq!(measures["mflops"]["comparable"], false);
    assert_eq!(measures["cpu_use"]["comparable"], true);
}
