//! Lists of runs, compared with what plain loops over the words of the log find.

#[path = "../../topas-data/examples/generate-log/synthetic.rs"]
mod synthetic;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const LINES: usize = 4000;

/// What the lines of a run say, by plain loops.
#[derive(Clone, Debug, Default)]
struct OracleRun {
    /// `date time` of the line that was written last
    ended: String,
    user: String,
    npes: u64,
    /// Longest, in µs
    wall: u64,
    /// Floating point operations, and the time they took in µs
    fp: Option<(u128, u128)>,
    pe: u64,
}

fn log(path: &Path) -> String {
    let mut log = synthetic::Log::new(31);
    let text: Vec<u8> = (0..LINES).flat_map(|_| log.line().to_vec()).collect();
    fs::write(path, &text).unwrap();
    String::from_utf8(text).unwrap()
}

fn micros(seconds: &str) -> u64 {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    whole.parse::<u64>().unwrap() * 1_000_000 + format!("{part:0<6}").parse::<u64>().unwrap()
}

/// The runs by their ids.
fn oracle(text: &str) -> BTreeMap<String, OracleRun> {
    let mut runs: BTreeMap<String, OracleRun> = BTreeMap::new();
    for line in text.lines() {
        let word: Vec<&str> = line.split(' ').collect();
        let pe: u64 = word[4].parse().unwrap();
        let run = runs
            .entry(word[15].to_owned())
            .or_insert(OracleRun { pe: u64::MAX, ..OracleRun::default() });
        run.ended = run.ended.clone().max(format!("{} {}", word[0].replace('/', "-"), word[1]));
        run.npes = word[5].parse().unwrap();
        run.wall = run.wall.max(micros(word[12]));
        if pe < run.pe {
            (run.pe, run.user) = (pe, word[2].to_owned());
        }
        let count = word[13].strip_prefix("f=").or_else(|| word[13].strip_prefix("f~"));
        if let Some(count) = count.and_then(|count| count.parse::<u128>().ok()) {
            let (operations, time) = run.fp.get_or_insert_default();
            *operations += count;
            *time += u128::from(micros(word[12]));
        }
    }
    for run in runs.values_mut() {
        run.fp = run.fp.filter(|(_, time)| *time > 0);
    }
    runs
}

fn stat(arguments: &[&str], path: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
    command.arg("--runs").args(arguments).arg(path).stdin(Stdio::null()).output().unwrap()
}

fn text(output: Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Rows of CSV without the heading.
fn rows(csv: &str) -> Vec<Vec<String>> {
    csv.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

const COLUMNS: &str = "--columns=id,ended,user,npes,wall,pe_hours,mflops";

#[test]
fn every_run_has_a_row_with_the_figures_of_its_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.log");
    let expected = oracle(&log(&path));
    assert!(expected.len() > 1500);
    let csv = text(stat(&[COLUMNS, "--csv"], &path));
    let rows = rows(&csv);
    assert_eq!(rows.len(), expected.len());
    let near =
        |text: &str, value: f64| (text.parse::<f64>().unwrap() - value).abs() <= value * 1e-8;
    for row in &rows {
        let run = &expected[&row[0]];
        assert_eq!([&row[1], &row[2]], [&run.ended, &run.user], "{row:?}");
        assert_eq!(row[3], run.npes.to_string());
        assert_eq!(micros(&row[4]), run.wall);
        assert!(near(&row[5], run.npes as f64 * run.wall as f64 / 3.6e9), "{row:?} {run:?}");
        match run.fp {
            Some((operations, time)) => assert!(near(&row[6], operations as f64 / time as f64)),
            None => assert_eq!(row[6], ""),
        }
    }
    assert!(rows.windows(2).all(|pair| pair[0][1] >= pair[1][1]), "the latest first");
    // Portions of 1,000 rows, one thread, and another way in make the same list.
    for few in [&["--memory", "1M"][..], &["--threads", "1"]] {
        assert!(text(stat(&[&[COLUMNS, "--csv"], few].concat(), &path)) == csv, "{few:?}");
    }
    let mut piped = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
    piped.args(["--runs", COLUMNS, "--csv"]).stdin(File::open(&path).unwrap());
    assert!(text(piped.output().unwrap()) == csv, "standard input");
}

#[test]
fn the_first_rows_are_the_first_of_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.log");
    let expected = oracle(&log(&path));
    let without = expected.values().filter(|run| run.fp.is_none()).count();
    assert!(without > 30, "{without} runs without a rate");
    for (key, at) in [("wall", 4), ("pe_hours", 5), ("mflops", 6), ("npes", 3)] {
        for reverse in [false, true] {
            let sort = ["--sort", key, "--csv", COLUMNS, "--reverse"];
            let sort = &sort[..if reverse { 5 } else { 4 }];
            let all = rows(&text(stat(sort, &path)));
            let top = rows(&text(stat(&[sort, &["--top", "37"]].concat(), &path)));
            assert_eq!(top[..], all[..37], "{key}");
            let values: Vec<Option<f64>> = all.iter().map(|row| row[at].parse().ok()).collect();
            let valued = values.iter().flatten().count();
            assert!(values[..valued].iter().all(Option::is_some), "{key}: those without come last");
            assert_eq!(all.len() - valued, if key == "mflops" { without } else { 0 });
            let ordered =
                values[..valued].is_sorted_by(|a, b| if reverse { a <= b } else { a >= b });
            assert!(ordered, "{key} {reverse}");
        }
    }
    let users = rows(&text(stat(&["--sort", "user", "--csv", COLUMNS], &path)));
    assert!(users.is_sorted_by(|a, b| a[2] <= b[2]), "texts from A to Z");
}

/// Both lines of a run are told, where they differ.
const TWO: &str = "\
2026/11/20 08:01:02 ann heat 2 4 t2596 B c mpi 1.0 0.1 60.0 f=600 10 r1 v=1 host=n1 end=exit:0 rss=1000 job=7\n\
2026/11/20 08:01:03 ann heat 5 4 t2596 B c mpi 1.0 0.1 61.0 i=- - r1 v=1 host=n2 end=sig:15 rss=5000 job=7\n\
2026/11/20 09:00:00 bob cg 1 2 t2596 B c mpi 1.0 0.1 3.5 f=- - r2 v=1 host=n1 end=exit:0\n";

fn two(dir: &Path) -> std::path::PathBuf {
    let path = dir.join("two.log");
    fs::write(&path, topas_testkit::with_lengths(TWO)).unwrap();
    path
}

#[test]
fn lists_for_people_and_programs() {
    let dir = tempfile::tempdir().unwrap();
    let path = two(dir.path());
    let shown = text(stat(&[], &path));
    let expected = "\
Ended            Job User Exe  PEs    Wall     PE-h   Mflops End
2026-11-20 09:00 -   bob  cg     2  3.50 s 0.001944        - exit:0
2026-11-20 08:01 7   ann  heat   4 0:01:01  0.06778 1.000e-5 exit:0|sig:15
";
    assert!(shown.starts_with(expected), "{shown}");
    assert!(shown.contains("\nAll 2 runs, sorted by ended, the latest first.\n"), "{shown}");
    assert!(shown.contains("2 runs from 2026-11-20 to 2026-11-20 took 0:04:11 PE x wall clock"));
    assert!(shown.lines().all(|line| line.len() <= 80));
    let top = text(stat(&["--top", "1", "--sort", "wall", "--reverse"], &path));
    assert!(top.contains("\n1 of 2 runs, sorted by wall, the smallest first.\n"), "{top}");
    let lines = text(stat(&["--jsonl", "--columns", "id,host,rss,wall,mflops,lines"], &path));
    assert_eq!(
        lines,
        "{\"schema\":\"topas.runs.row/1\",\"id\":\"r2\",\"host\":\"n1\",\"rss\":null,\"wall\":3.5,\
         \"mflops\":null,\"lines\":1}\n\
         {\"schema\":\"topas.runs.row/1\",\"id\":\"r1\",\"host\":\"n1|n2\",\"rss\":1000,\"wall\":61,\
         \"mflops\":0.00001,\"lines\":2}\n"
    );
    for arguments in [&["--json"][..], &["--json", "--top", "1"], &["--json", "--until=2000-01-01"]]
    {
        let output = stat(arguments, &path);
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(object["schema"], "topas.runs/1");
        let runs = object["runs"].as_array().unwrap().len() as u64;
        assert_eq!(object["shown"].as_u64(), Some(runs));
        assert_eq!(output.status.code(), Some(if runs == 0 { 3 } else { 0 }));
    }
    let wide = text(stat(&["--wide"], &path));
    assert!(wide.starts_with("Ended                Started  "), "{wide}");
}

#[test]
fn what_cannot_be_listed_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = two(dir.path());
    for (arguments, code, said) in [
        (&["--columns", "walls"][..], 2, "did you mean 'wall"),
        (&["--columns", "exe,exe"], 2, "'exe' is given twice"),
        (&["--sort", "speed"], 2, "--sort: no field and no measure is called 'speed'"),
        (&["--gnuplot"], 2, "cannot be used with"),
        (&["--format", "r"], 2, "--runs has the forms text, csv, json and jsonl"),
        (&["--svg", "x.svg"], 2, "--runs makes no picture"),
        (&["--by", "exe"], 2, "cannot be used with"),
        (&["--since", "2030-01-01"], 3, "2 runs are outside the period"),
        (&["--user", "eve"], 3, "3 lines are not selected"),
    ] {
        let output = stat(arguments, &path);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
    let missing = stat(&["--csv"], &dir.path().join("missing.log"));
    assert_eq!(missing.status.code(), Some(1));
}
