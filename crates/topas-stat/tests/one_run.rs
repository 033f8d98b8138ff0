//! `--job` and `--run`: a run in words, its earlier runs by plain loops, and what is said of runs
//! that are not there.

#[path = "../../topas-data/examples/generate-log/synthetic.rs"]
mod synthetic;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use topas_testkit::with_lengths;

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/logs/v1");

fn stat(arguments: &[&str], path: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_topas-stat")).args(arguments).arg(path).output().unwrap()
}

fn text(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn object(arguments: &[&str], path: &Path) -> Value {
    let output = stat(&[arguments, &["--json"]].concat(), path);
    serde_json::from_str(&text(&output)).unwrap()
}

/// The sentences of a text, however it is broken into lines.
fn unbroken(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The golden log, word for word: `TOPAS_UPDATE_GOLDEN=1` writes the transcript anew.
#[test]
fn a_run_of_the_golden_log() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/one-run.txt");
    let log = PathBuf::from(LOGS).join("module.log");
    let shown = text(&stat(&["--job", "4711"], &log));
    if std::env::var_os("TOPAS_UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &shown).unwrap();
    }
    assert_eq!(shown, fs::read_to_string(golden).unwrap());
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.lines().count() <= 40, "one screen: {shown}");
    assert_eq!(text(&stat(&["--run", "81f277aa03c4d9e1"], &log)), shown);
    let mut piped = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
    piped.args(["--job", "4711"]).stdin(File::open(&log).unwrap());
    assert_eq!(text(&piped.output().unwrap()), shown, "standard input");
}

/// A log of a program that ran nine times well and once badly, and then once more; others beside.
fn history(dir: &Path) -> PathBuf {
    let mut log = String::new();
    let mut run = |id: &str, user: &str, npes: u32, minute: u32, wall: u32, ops: u32, end: &str| {
        for (pe, word) in [(1, format!("f={ops}000000")), (2, "i=-".to_owned())] {
            log += &format!(
                "2026/11/20 08:{minute:02}:59 {user} heat {pe} {npes} t2596 B c mpi {wall}.0 0.5 \
                 {wall}.0 {word} - {id} v=1 uid=7 end={end} host=n{pe} job=7{id}\n"
            );
        }
    };
    for n in 0..9 {
        run(&format!("r{n}"), "ann", 4, n, 10 + n, 100 * (10 + n), "exit:0");
    }
    run("bad", "ann", 4, 20, 2, 1, "sig:11");
    run("other", "ann", 8, 21, 1, 1, "exit:0");
    run("this", "ann", 4, 30, 17, 3400, "exit:0");
    run("later", "ann", 4, 40, 1, 1, "exit:0");
    let path = dir.join("history.log");
    fs::write(&path, with_lengths(&log)).unwrap();
    path
}

#[test]
fn a_run_is_compared_with_the_earlier_ones_of_its_program() {
    let dir = tempfile::tempdir().unwrap();
    let path = history(dir.path());
    let shown = unbroken(&text(&stat(&["--run", "this"], &path)));
    assert!(
        shown.contains(
            "Earlier 9 earlier runs of heat by ann with 4 PEs since 2026-11-20, without 1 that ended \
             badly: median wall clock time 14.00 s; this run took 17.00 s, slower than 7 of 9. \
             Median rate of 9 of them: 100.0 MFlop/s per PE; this run had 200.0."
        ),
        "{shown}"
    );
    assert!(shown.starts_with("heat of ann ran on 4 PEs for 17.00 s and ended normally (exit:0)."));
    assert!(
        shown
            .contains("200.0 MFlop/s per PE: 3.400e9 floating point operations of PE 1 in 17.00 s")
    );
    let earlier = &object(&["--job", "7this"], &path)["runs"][0]["earlier"];
    assert_eq!(earlier["compared"], 9);
    assert_eq!((&earlier["shorter"], &earlier["longer"]), (&7.into(), &1.into()));
    assert_eq!(
        (&earlier["median_wall_s"], &earlier["median_mflops"]),
        (&14.0.into(), &100.0.into())
    );
    // What the selections leave out is not compared with.
    let none = unbroken(&text(&stat(&["--run", "this", "--where", "wall > 16s"], &path)));
    assert!(none.contains("2 earlier runs"), "{none}");
    let bad = unbroken(&text(&stat(&["--run", "bad"], &path)));
    assert!(bad.contains(" Findings * ") && bad.contains("after 2.000 s."), "{bad}");
    // What broke off after a moment was not fast.
    assert!(bad.contains("; this run took 2.00 s and ended badly. Median"), "{bad}");
    let findings = &object(&["--run", "bad"], &path)["runs"][0]["findings"];
    let rules: Vec<_> =
        findings.as_array().unwrap().iter().map(|of| of["sentence"].as_str()).collect();
    assert!(rules.iter().flatten().any(|text| text.contains("sig:11")), "{findings}");
    let well = text(&stat(&["--run", "r5"], &path));
    assert!(!well.contains("\nFindings\n"), "{well}");
    assert!(
        bad.starts_with(
            "heat of ann ran on 4 PEs for 2.00 s and was ended by signal 11 (SIGSEGV)."
        )
    );
}

/// Lines that end in different ways, an id that came again, and a job of several runs.
#[test]
fn endings_differ_and_ids_come_again() {
    let dir = tempfile::tempdir().unwrap();
    let line = |minute: u32, pe: u32, id: &str, end: &str| {
        format!(
            "2026/11/20 08:{minute:02}:59 ann heat {pe} 4 t2596 B c mpi 9.0 0.5 10.0 f=- - {id} v=1 \
             end={end} host=n{pe} job=7 why=f:paranoid\n"
        )
    };
    let path = dir.path().join("again.log");
    let lines = [
        line(1, 1, "100", "exit:0"),
        line(1, 2, "100", "sig:15"),
        line(30, 1, "100", "exit:3"),
        line(30, 2, "100", "exit:3"),
        line(50, 1, "200", "abort"),
    ];
    fs::write(&path, with_lengths(&lines.concat())).unwrap();
    let shown = text(&stat(&["--run", "100"], &path));
    assert!(
        shown.starts_with("2 runs of launch 100, the latest first: 0.02222 PE-h (0:01:20 PE x")
    );
    let shown = unbroken(&shown);
    let first = shown.find("and ended with exit code 3.").expect("the later run");
    let second = shown.find("PE 1 ended normally (exit:0), PE 2 was ended by signal 15 (SIGTERM).");
    assert!(first < second.expect("the earlier run"), "{shown}");
    let all = text(&stat(&["--job", "7"], &path));
    assert!(all.starts_with("3 runs of job 7, the latest first:"), "{all}");
    let told = unbroken(&all);
    for sentence in [
        "3 of them ended badly.",
        "and was aborted (SIGABRT).",
        "The other measuring PE: only PE 1 has a line.",
        "Floating point operations of PEs 1, 2: perf_event_paranoid (why=f:paranoid).",
        "2 PEs of 4 were not measured, by design",
    ] {
        assert!(told.contains(sentence), "{sentence}: {all}");
    }
    let object = object(&["--job", "7"], &path);
    let runs = object["runs"].as_array().unwrap();
    let ids: Vec<_> = runs.iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["200", "100", "100"]);
    assert_eq!(runs[2]["lines"][1]["end"], "sig:15");
    assert_eq!(runs[2]["measures"]["mflops"]["value"], Value::Null);
}

#[test]
fn a_job_of_many_runs_is_a_list() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("many.log");
    let line = |n: u32| {
        format!(
            "2026/11/20 08:{n:02}:00 ann heat 0 1 t2596 B c - 9.0 0.5 10.0 f=1 - r{n} v=1 job=7\n"
        )
    };
    fs::write(&path, with_lengths(&(0..30).map(line).collect::<String>())).unwrap();
    let shown = text(&stat(&["--job", "7"], &path));
    assert!(shown.starts_with("30 runs of job 7, the latest first: 0.08333 PE-h"), "{shown}");
    assert!(shown.contains("\nand 10 more\n") && shown.contains("--run ID tells one"), "{shown}");
    assert!(shown.lines().all(|line| line.len() <= 80));
    assert_eq!(object(&["--job", "7"], &path)["runs"].as_array().unwrap().len(), 30);
}

#[test]
fn what_is_not_there_is_said_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let path = history(dir.path());
    let demo = PathBuf::from(LOGS).join("demo.log");
    for (arguments, log, code, said) in [
        (&["--job", "7r10"][..], &path, 3, "hint: similar: --job 7r0, --job 7r1"),
        (&["--job", "99"], &path, 3, "no run of job 99 in 26 lines from 2026-11-20 to 2026-11-20"),
        (&["--job", "99"], &demo, 3, "none of these lines has a job id"),
        (&["--run", "e9110d5d400bb39"], &demo, 3, "similar: --run e9110d5d400bb39a"),
        (
            &["--run", "this", "--since", "2027-01-01"],
            &path,
            3,
            "1 run of launch this ended outside the period",
        ),
        (&["--run", "this", "--user", "eve"], &path, 3, "the selections leave none of 26 lines"),
        (&["--run", "this", "--csv"], &path, 2, "cannot be used with"),
        (&["--run", "this", "--runs"], &path, 2, "cannot be used with"),
        (&["--run", "this", "--job", "7"], &path, 2, "cannot be used with"),
        (&["--run", "this", "--format", "jsonl"], &path, 2, "one run is told as text or json"),
        (&["--run", "this", "--png", "x.png"], &path, 2, "one run has no picture"),
    ] {
        let output = stat(arguments, log);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(stat(&["--run", "this"], &dir.path().join("none.log")).status.code(), Some(1));
}

/// The figures of runs of a large log, by plain loops over its words.
#[test]
fn figures_are_those_of_the_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.log");
    let mut log = synthetic::Log::new(41);
    let log: Vec<u8> = (0..4000).flat_map(|_| log.line().to_vec()).collect();
    fs::write(&path, &log).unwrap();
    let log = String::from_utf8(log).unwrap();
    let words: Vec<Vec<&str>> = log.lines().map(|line| line.split(' ').collect()).collect();
    for id in [words[0][15], words[1777][15], words[3900][15]] {
        let mut lines: Vec<&Vec<&str>> = words.iter().filter(|line| line[15] == id).collect();
        lines.sort_by_key(|line| line[4].parse::<u32>().unwrap());
        let run = &object(&["--run", id], &path)["runs"][0];
        let seconds = |line: &[&str], at: usize| line[at].parse::<f64>().unwrap();
        let told = run["lines"].as_array().unwrap();
        assert_eq!(told.len(), lines.len(), "{id}");
        for (told, line) in told.iter().zip(&lines) {
            assert_eq!(told["pe"].as_u64(), line[4].parse().ok());
            for (name, at) in [("user_s", 10), ("sys_s", 11), ("wall_s", 12)] {
                assert_eq!(told[name].as_f64(), Some(seconds(line, at)), "{id} {name}");
            }
            let count = &line[13][2..];
            assert_eq!(told["ops"].as_u64(), count.parse().ok(), "{id}");
        }
        let cpu: f64 = lines.iter().map(|line| seconds(line, 10) + seconds(line, 11)).sum();
        let wall: f64 = lines.iter().map(|line| seconds(line, 12)).sum();
        let shown = run["measures"]["cpu_use"]["value"].as_f64().unwrap();
        assert!((shown - 100.0 * cpu / wall).abs() <= 1e-7 * shown, "{id}: {shown}");
        let longest = lines.iter().map(|line| seconds(line, 12)).fold(0.0, f64::max);
        let hours = lines[0][5].parse::<f64>().unwrap() * longest / 3600.0;
        let shown = run["measures"]["pe_hours"]["value"].as_f64().unwrap();
        assert!((shown - hours).abs() <= 1e-7 * hours, "{id}: {shown}");
    }
}

/// The findings of a run stand between its figures and what is not known; the rules are those of
/// every tool, and a center changes them.
#[test]
fn what_the_rules_find_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = String::new();
    let mut run = |id: &str, day: u32, wall: u32, system: u32, end: &str| {
        for pe in [1, 2] {
            log += &format!(
                "2026/11/{day:02} 08:00:59 ann heat {pe} 4 t2596 B c mpi {} {system}.0 {wall}.0 f=- - \
                 {id} v=1 uid=7 end={end} host=n{pe} job=7{id}\n",
                wall - system - 5,
            );
        }
    };
    for n in 1..=6 {
        run(&format!("r{n}"), n, 100 + n, 1, "exit:0");
    }
    run("this", 8, 200, 80, "sig:11");
    run("well", 9, 104, 1, "exit:0");
    let path = dir.path().join("history.log");
    fs::write(&path, with_lengths(&log)).unwrap();
    let shown = text(&stat(&["--job", "7this"], &path));
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let findings = unbroken(shown.split_once("\nFindings\n").expect("findings").1);
    // The slower run: 200 s against the median 103.5 s; system time: 80 of 195 s.
    for words in [
        "* Of the measured PEs, PE 1 on n1 died first: sig:11 (SIGSEGV) after 3 min 20 s. Next: ",
        "* This run took 3 min 20 s, 93.2% more than the median of 6 earlier runs of this program on 4 \
         PEs, which is 103.5 s.",
        "* 41.0% of the CPU time is system time: 80.00 s per PE, of 3 min 20 s wall clock time. Without \
         system calls the run might be shorter by up to 80.00 s. Next: ",
    ] {
        assert!(findings.contains(words), "{words}: {findings}");
    }
    assert!(!text(&stat(&["--job", "7well"], &path)).contains("\nFindings\n"));
    let object = object(&["--job", "7this"], &path);
    let found = object["runs"][0]["findings"].as_array().unwrap();
    let names: Vec<&str> = found.iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert_eq!(names, ["failed", "slower-than-before", "system-time"]);
    assert_eq!(found[1]["saving_s"], 96.5);
    // A rule of the center.
    fs::create_dir(dir.path().join("rules.d")).unwrap();
    fs::write(dir.path().join("topas.conf"), "").unwrap();
    fs::write(dir.path().join("rules.d/a.conf"), "[system-time]\nshare = 50\n[x]\nwhat\n").unwrap();
    let mut changed = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
    changed.args(["--job", "7this"]).arg(&path);
    let changed = changed.env("TOPAS_CONF", dir.path().join("topas.conf")).output().unwrap();
    assert!(!text(&changed).contains("is system time"));
    let error = String::from_utf8_lossy(&changed.stderr);
    assert!(error.contains("a.conf:4: `what` is not of the form `key = value`"), "{error}");
}

/// What the batch system tells of the job stands beside what its lines say.
#[test]
fn jobs_of_sacct_are_told_and_listed() {
    let dir = tempfile::tempdir().unwrap();
    let path = PathBuf::from(LOGS).join("module.log");
    let jobs = dir.path().join("jobs.txt");
    fs::write(
        &jobs,
        "JobID|JobIDRaw|User|Account|QOS|Partition|State|Timelimit|Elapsed|AllocCPUS|CPUTimeRAW|Start|End\n\
         4711|4711|mohr|chem|long|main|TIMEOUT|01:00:00|00:00:17|16|272|2026-11-20T08:00:46|2026-11-20T08:01:03\n",
    )
    .unwrap();
    let sacct = jobs.to_str().unwrap();
    let shown = unbroken(&text(&stat(&["--job", "4711", "--sacct", sacct], &path)));
    let job = "Job 4711, step 0, account chem, QOS long, state by sacct TIMEOUT, batch";
    assert!(shown.contains(job), "{shown}");
    let list = text(&stat(
        &[
            "--runs",
            "--sacct",
            sacct,
            "--csv",
            "--columns",
            "id,sacct.account",
            "--where",
            "job = 4711",
        ],
        &path,
    ));
    assert_eq!(list, "id,sacct.account\n81f277aa03c4d9e1,chem\n");
}
