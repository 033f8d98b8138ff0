//! `topas-stat --sacct` with what a real Slurm with accounting tells of real jobs, as text and as
//! JSON. Ignored unless asked for; runs as root, with Slurm's, MUNGE's and MariaDB's packages.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use topas_tests::running::{command, run};
use topas_tests::site::Site;
use topas_tests::skip::skip;
use topas_tests::slurm_accounting::ACCOUNT;
use topas_tests::slurm_jobs::{SlurmBench, job_in};

/// How long slurmdbd may take to know how a job ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// The columns that the manual names.
const COLUMNS: &str = "JobID,JobIDRaw,User,Account,QOS,Partition,State,Timelimit,Elapsed,AllocCPUS,\
                       CPUTimeRAW,Start,End";

#[test]
#[ignore = "cargo xtask test --slurm"]
fn jobs_of_a_real_accounting() {
    let bench = match SlurmBench::with_accounting() {
        Ok(bench) => bench,
        Err(reason) => return skip("jobs_of_a_real_accounting", &reason),
    };
    let tiny = bench.program("tiny");
    let ok = job(&bench, &format!("srun --mpi=none {tiny}\nsleep 2"));
    let failed = job(&bench, &format!("srun --mpi=none {tiny}\nsleep 2\nexit 3"));
    let cancelled = cancelled_job(&bench);
    let unmeasured = job(&bench, "sleep 2");
    let array = job(&bench, &format!("srun --mpi=none {tiny}\nsleep 2"));
    let expected = BTreeMap::from([
        (ok.as_str(), "COMPLETED"),
        (&failed, "FAILED"),
        (&cancelled, "CANCELLED"),
        (&unmeasured, "COMPLETED"),
        (&array, "COMPLETED"),
    ]);
    let text = wait_for(&bench, &expected);
    let plain = bench.scratch.path().join("sacct.txt");
    fs::write(&plain, &text).expect("write");
    check(&bench, &plain.display().to_string(), &expected, &unmeasured);

    let mut sacct = bench.cluster.client(&bench.scratch, "sacct");
    let said = run(sacct.args(["--allusers", "--starttime=now-1hour", "--json"]));
    assert_eq!(said.code(), 0, "{}", said.err());
    let json = bench.scratch.path().join("sacct.json");
    fs::write(&json, &said.stdout).expect("write");
    let json = json.display().to_string();
    check(&bench, &json, &expected, &unmeasured);
    let coverage = |file: &str| stat(&bench, file, &["--coverage", "--json"]);
    let (one, other) = (coverage(&plain.display().to_string()), coverage(&json));
    assert_eq!(one["tables"], other["tables"], "{}", said.out());
    let fields = ["user", "qos", "state", "partition", "cpus", "timelimit", "elapsed"];
    for field in fields.map(|field| format!("sacct.{field}")) {
        let rows = |file: &str| stat(&bench, file, &["--by", &field, "--json"])["tables"].clone();
        assert_eq!(rows(&plain.display().to_string()), rows(&json), "{field}");
    }
}

/// The figures of a file of sacct beside the log.
fn check(bench: &SlurmBench, file: &str, expected: &BTreeMap<&str, &str>, unmeasured: &str) {
    let coverage = stat(bench, file, &["--coverage", "--json"]);
    let totals = table(&coverage, "total");
    assert_eq!(totals["ran"].0, expected.len() as u64, "{coverage}");
    assert_eq!(totals["measured"].0, expected.len() as u64 - 1, "all but {unmeasured}: {coverage}");
    assert_eq!(table(&coverage, "state")["COMPLETED"].0, 1, "{coverage}");
    assert_eq!(table(&coverage, "account")[ACCOUNT].0, 1, "{coverage}");
    // 16 CPUs on two nodes were allocated, or 8; and the job took two seconds or more.
    assert!(totals["not_measured"].1 >= 16, "{coverage}");
    assert_eq!(coverage["log"]["jobs_not_in_sacct"], 0, "{coverage}");
    let runs = stat(bench, file, &["--by", "sacct.state", "--json"]);
    let rows = runs["tables"][0]["rows"].as_array().expect("rows");
    let states: BTreeMap<&str, u64> = rows
        .iter()
        .map(|row| (row["name"].as_str().expect("name"), row["runs"].as_u64().expect("runs")))
        .collect();
    assert_eq!(states, BTreeMap::from([("CANCELLED", 1), ("COMPLETED", 2), ("FAILED", 1)]));
    let of_account =
        stat(bench, file, &["--where", &format!("sacct.account = {ACCOUNT}"), "--json"]);
    assert_eq!(of_account["runs"], expected.len() as u64 - 1);
}

/// Jobs and CPU seconds by name of a table.
fn table(coverage: &Value, name: &str) -> BTreeMap<String, (u64, u64)> {
    let rows = coverage["tables"][name].as_array().expect("rows").iter();
    let number = |row: &Value, key: &str| row[key].as_u64().expect("number");
    rows.map(|row| {
        let name = row["name"].as_str().expect("name").to_owned();
        (name, (number(row, "jobs"), number(row, "cpu_seconds")))
    })
    .collect()
}

fn stat(bench: &SlurmBench, file: &str, words: &[&str]) -> Value {
    let mut stat = command(Site::shared().tool("topas-stat"));
    let ended = run(stat.args(["--sacct", file]).args(words).arg(bench.scratch.log())).good();
    serde_json::from_slice(&ended.stdout).expect("JSON")
}

/// Runs a batch script to its end, whatever that is: the id of the job.
fn job(bench: &SlurmBench, script: &str) -> String {
    let account = format!("--account={ACCOUNT}");
    run(&mut bench.batch(&[&account], script));
    let output = bench.scratch.sub("output");
    let file = fs::read_dir(&output).expect("output").flatten().next().expect("one output");
    let id = job_in(&fs::read_to_string(file.path()).expect("output of the job"));
    fs::remove_dir_all(output).expect("remove");
    id
}

/// The same of a job that is cancelled while its tasks wait.
fn cancelled_job(bench: &SlurmBench) -> String {
    let (file, account) = (bench.program("begun"), format!("--account={ACCOUNT}"));
    let script = format!("srun --mpi=none {} {file}", bench.program("waits"));
    let mut sbatch = bench.batch(&[&account, "--job-name=waits"], &script);
    let mut sbatch = sbatch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("sbatch");
    bench.wait_for_tasks("begun");
    let mut squeue = bench.cluster.client(&bench.scratch, "squeue");
    let id = run(squeue.args(["--noheader", "--format=%A", "--name=waits"])).good().out();
    let id = id.trim().to_owned();
    sleep(Duration::from_secs(2));
    run(bench.cluster.client(&bench.scratch, "scancel").arg(&id)).good();
    assert!(!sbatch.wait().expect("sbatch").success());
    fs::remove_dir_all(bench.scratch.sub("output")).expect("remove");
    id
}

/// Asks sacct until it knows how all jobs ended: its text.
fn wait_for(bench: &SlurmBench, expected: &BTreeMap<&str, &str>) -> String {
    let start = Instant::now();
    loop {
        let mut sacct = bench.cluster.client(&bench.scratch, "sacct");
        let words = ["--allusers", "--parsable2", "--starttime=now-1hour", "--format", COLUMNS];
        let text = run(sacct.args(words)).good().out();
        let states: BTreeMap<&str, &str> = text
            .lines()
            .map(|row| row.split('|').collect::<Vec<_>>())
            .filter(|cells| cells.len() > 6 && expected.contains_key(cells[0]))
            .map(|cells| (cells[0], cells[6].split(' ').next().unwrap_or_default()))
            .collect();
        if states == *expected {
            return text;
        }
        assert!(start.elapsed() < PATIENCE, "{expected:?}:\n{text}");
        sleep(Duration::from_millis(500));
    }
}
