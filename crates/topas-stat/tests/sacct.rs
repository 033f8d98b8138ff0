//! `topas-stat --sacct`: figures against those of plain loops over the raw rows and tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use topas_testkit::{numbers_below, with_lengths};

/// As Slurm prints it: steps, elements of an array, components, states with a word behind them.
const SACCT: &str = "\
JobID|JobIDRaw|User|Account|QOS|Partition|State|Timelimit|Elapsed|AllocCPUS|NNodes|CPUTimeRAW|Start|End|
100|100|ann|chem|normal|batch|COMPLETED|01:00:00|00:30:00|16|1|28800|2026-11-20T08:00:00|2026-11-20T08:30:00|
100.batch|100.batch||chem|||COMPLETED||00:30:00|16|1|28800|2026-11-20T08:00:00|2026-11-20T08:30:00|
100.0|100.0||chem|||COMPLETED||00:29:00|16|1|27840|2026-11-20T08:00:00|2026-11-20T08:29:00|
101_4|107|bob|phys|long|batch|TIMEOUT|1-00:00:00|1-00:00:10|32|2|2765120|2026-11-20T08:00:00|2026-11-21T08:00:10|
101_4.0|107.0||phys|||CANCELLED||1-00:00:10|32|2|2765120|2026-11-20T08:00:00|2026-11-21T08:00:10|
102+0|102|cat|chem|normal|batch|COMPLETED|UNLIMITED|01:00:00|8|1|28800|2026-11-20T08:00:00|2026-11-20T09:00:00|
102+1|103|cat|chem|normal|gpu|COMPLETED|UNLIMITED|01:00:00|4|1|14400|2026-11-20T08:00:00|2026-11-20T09:00:00|
102+1.0|103.0||chem|||COMPLETED||01:00:00|4|1|14400|2026-11-20T08:00:00|2026-11-20T09:00:00|
104|104|ann|chem|normal|batch|CANCELLED by 1000|01:00:00|00:10:00|16|1|9600|2026-11-20T10:00:00|2026-11-20T10:10:00|
104.0|104.0||chem|||CANCELLED||00:10:00|16|1|9600|2026-11-20T10:00:00|2026-11-20T10:10:00|
105|105|ann|chem|normal|batch|COMPLETED|01:00:00|00:20:00|1|1|1200|2026-11-20T10:00:00|2026-11-20T10:20:00|
106|106|ann|chem|normal|batch|FAILED|01:00:00|00:00:20|16|1|320|2026-11-20T10:00:00|2026-11-20T10:00:20|
108|108|ann|chem|normal|batch|COMPLETED|01:00:00|00:20:00|16|1|19200|2026-11-19T10:00:00|2026-11-19T10:20:00|
109|109|ann|chem|normal|batch|RUNNING|01:00:00|00:20:00|16|1|19200|2026-11-20T10:00:00|Unknown|
110|110|ann|chem|normal|batch|COMPLETED|01:00:00|00:20:00|16|1|19200|2026-11-20T10:00:00|2026-11-20T10:20:00|
110.batch|110.batch||chem|||COMPLETED||00:20:00|16|1|19200|2026-11-20T10:00:00|2026-11-20T10:20:00|
111|111|dan|bio|normal|fat|COMPLETED|01:00:00|00:20:00|16|1|19200|2026-11-20T10:00:00|2026-11-20T10:20:00|
111.0|111.0||bio|||COMPLETED||00:20:00|16|1|19200|2026-11-20T10:00:00|2026-11-20T10:20:00|
112|112|dan|bio|normal|batch|COMPLETED|01:00:00|00:20:00|16|1|19200|2026-11-20T10:00:00|2026-11-20T10:20:00|
112.0|112.0||bio|||COMPLETED||00:20:00|16|1|19200|2026-11-20T10:00:00|2026-11-20T10:20:00|
113|113|ann|chem|normal|batch|COMPLETED|Partition_Limit|00:20:00|16|1|19200|2026-11-20T10:00:00|2026-11-20T10:20:00|
113.0|113.0||chem|||COMPLETED||00:20:00|16|1|19200|2026-11-20T10:00:00|2026-11-20T10:20:00|
114_[5-9%2]|114|ann|chem|normal|batch|PENDING|01:00:00|00:00:00|0|1|0|Unknown|Unknown|
115|115|ann|chem|normal|batch|CANCELLED by 1000|01:00:00|00:00:00|0|1|0|None|2026-11-20T10:20:00|
116|116|ann|chem|normal|batch|COMPLETED|01:00:00|00:20:00|16|1|19200|2026-11-22T10:00:00|2026-11-22T10:20:00|
";

fn line(user: &str, end: &str, wall: &str, npes: u32, id: &str, job: &str) -> String {
    let job = if job.is_empty() { String::new() } else { format!(" job={job}") };
    let one = |pe| {
        format!("{end} {user} heat {pe} {npes} t2600 B c mpi 1.0 0.1 {wall} f=9 1 {id} v=1{job}\n")
    };
    with_lengths(&(one(0) + &one(1)))
}

/// Runs of the jobs 100, 101_4, 102, of one that sacct does not tell, and of none.
fn log() -> String {
    [
        line("ann", "2026/11/20 08:20:00", "600.000000", 16, "a", "100"),
        line("ann", "2026/11/20 08:29:00", "500.000000", 16, "b", "100"),
        line("bob", "2026/11/21 08:00:05", "86000.000000", 32, "c", "101_4"),
        line("cat", "2026/11/20 09:00:00", "3600.000000", 8, "d", "102"),
        line("eve", "2026/11/20 09:00:00", "100.000000", 4, "e", "999"),
        line("eve", "2026/11/20 09:00:00", "50.000000", 4, "f", ""),
    ]
    .concat()
}

struct Site {
    _dir: tempfile::TempDir,
    log: PathBuf,
    sacct: PathBuf,
}

fn site(sacct: &str, log: &str) -> Site {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("topas.log"), log).unwrap();
    fs::write(path("sacct.txt"), sacct).unwrap();
    Site { log: path("topas.log"), sacct: path("sacct.txt"), _dir: dir }
}

impl Site {
    fn stat(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_topas-stat"))
            .arg("--sacct")
            .arg(&self.sacct)
            .args(args)
            .arg(&self.log)
            .output()
            .unwrap()
    }

    fn text(&self, args: &[&str]) -> String {
        let output = self.stat(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(args)).unwrap()
    }
}

/// Jobs and CPU seconds by name of a table.
fn table(json: &Value, table: &str) -> BTreeMap<String, (u64, u64)> {
    let rows = json["tables"][table].as_array().unwrap().iter();
    let cell = |row: &Value, name: &str| row[name].as_u64().unwrap();
    rows.map(|row| {
        (row["name"].as_str().unwrap().to_owned(), (cell(row, "jobs"), cell(row, "cpu_seconds")))
    })
    .collect()
}

#[test]
fn jobs_without_a_line_have_a_likely_reason() {
    let json = site(SACCT, &log()).json(&["--coverage", "--json"]);
    assert_eq!(json["schema"], "topas.coverage/1");
    let totals = table(&json, "total");
    // 100, 101_4, and both components of 102, whose lines name the first.
    assert_eq!(totals["measured"], (4, 28_800 + 2_765_120 + 28_800 + 14_400));
    assert_eq!(totals["ran"], (14, 2_837_120 + 9600 + 1200 + 320 + 7 * 19_200));
    let expected = [
        ("running", (1, 19_200)),
        ("before_log", (1, 19_200)),
        ("after_log", (1, 19_200)),
        ("one_cpu", (1, 1200)),
        ("short", (1, 320)),
        ("killed", (1, 9600)),
        ("no_step", (1, 19_200)),
        ("partition", (1, 19_200)),
        ("user", (1, 19_200)),
        ("other", (1, 19_200)),
    ];
    let expected = expected.map(|(name, row)| (name.to_owned(), row));
    assert_eq!(table(&json, "reason"), BTreeMap::from(expected));
    assert_eq!(table(&json, "user")["dan"], (2, 38_400));
    assert_eq!(table(&json, "account").keys().collect::<Vec<_>>(), ["bio", "chem"]);
    assert_eq!(table(&json, "state")["CANCELLED"], (1, 9600), "without `by 1000`");
    assert_eq!(json["never_ran"], 2);
    let log = &json["log"];
    assert_eq!(log["jobs_not_in_sacct"], 1);
    assert_eq!(log["of_jobs"]["runs"], 4);
    let pe_seconds = 16.0 * 1100.0 + 32.0 * 86_000.0 + 8.0 * 3600.0;
    assert_eq!(log["of_jobs"]["pe_seconds"], pe_seconds);
    assert_eq!(log["of_jobs_not_in_sacct"]["pe_seconds"], 400.0);
    assert_eq!(log["without_job"]["pe_seconds"], 200.0);
    assert_eq!(json["rows"]["skipped"], 0);
}

/// A file and a log that a Slurm of two nodes made: a job, an array whose last element has the
/// number of the array, jobs that were cancelled, failed, or had one CPU, and two components whose
/// lines both name the first.
#[test]
fn a_real_slurm_and_a_real_log_meet() {
    let fixture = |name: &str| {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sacct");
        fs::read_to_string(Path::new(directory).join(name)).unwrap()
    };
    let (sacct, log) = (fixture("slurm-22.05.txt"), fixture("slurm-22.05.log"));
    let json = site(&sacct, &log).json(&["--coverage", "--json"]);
    let totals = table(&json, "total");
    assert_eq!(totals["measured"], (6, 28 + 3 * 24 + 2 * 6));
    assert_eq!(totals["ran"], (9, 112 + 10 + 4 + 2));
    // The job of one CPU was the last one, and began a second after the last line.
    let expected = [("after_log", (1, 2)), ("short", (2, 14))];
    let expected = expected.map(|(name, row)| (name.to_owned(), row));
    assert_eq!(table(&json, "reason"), BTreeMap::from(expected));
    assert_eq!(json["never_ran"], 3);
    assert_eq!(json["rows"]["skipped"], 0);
    assert_eq!(json["log"]["jobs_not_in_sacct"], 0);
    assert_eq!(json["log"]["of_jobs"]["runs"], 6);
}

#[test]
fn people_read_how_much_was_measured() {
    let site = site(SACCT, &log());
    let shown = site.text(&["--coverage"]);
    let percent = 2_837_120.0 / 2_982_640.0 * 100.0;
    let first =
        format!("Measured {percent:.2}% of the CPU-hours of jobs (788.09 of 828.51 CPU-h)\n");
    assert!(shown.starts_with(&first), "{first}{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    for part in ["one CPU", "cancelled, time limit", "User, no line", "1 job that it does not tell"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(site.text(&["--coverage", "--top", "1"]).contains("and 1 more, see --top"));
    let csv = site.text(&["--coverage", "--csv"]);
    assert!(csv.contains("\nreason,killed,1,9600,0.3219,14,2982640\n"), "{csv}");
    for row in site.text(&["--coverage", "--jsonl"]).lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        assert_eq!(row["schema"], "topas.coverage.row/1");
    }
    // Below every table: what is not in it.
    let shown = site.text(&["--by", "ending"]);
    assert!(shown.contains("10 of 14 jobs left no line, by state: COMPLETED 7"), "{shown}");
}

/// The same jobs as a real Slurm told them in both forms: completed, failed, cancelled, without a
/// step, and elements of an array. Its JSON names no users.
#[test]
fn a_real_json_says_what_the_rows_say() {
    let fixture = |name: &str| {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sacct");
        fs::read_to_string(Path::new(directory).join(name)).unwrap()
    };
    let log = fixture("slurm-22.05.log");
    let [rows, json] = ["slurm-22.05-jobs.txt", "slurm-22.05-jobs.json"].map(|name| {
        let csv = site(&fixture(name), &log).text(&["--coverage", "--csv"]);
        csv.lines().filter(|row| !row.starts_with("user,")).map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(rows, json);
    assert!(rows.contains(&"total,ran,6,38,100.0000,6,38".to_owned()), "{rows:?}");
    let cut = fixture("slurm-22.05-jobs.json").replace("\"jobs\"", "\"job\"");
    let output = site(&cut, &log).stat(&["--coverage"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("not the JSON of sacct --json") && said.contains("hint: "), "{said}");
}

/// Rows are rows of tables in every form, and the figures of the note are the table of coverage.
#[test]
fn the_coverage_is_told_beside_every_form() {
    let site = site(SACCT, &log());
    let json = site.json(&["--by", "exe", "--json"]);
    let csv = site.text(&["--coverage", "--csv"]);
    for (path, row) in [
        ("/measured", "total,measured"),
        ("/not_measured", "total,not_measured"),
        ("/reasons/short", "reason,short"),
        ("/reasons/no_step", "reason,no_step"),
    ] {
        let part = json["sacct"].pointer(path).unwrap_or_else(|| panic!("{path}: {json}"));
        let cell = |key: &str| part[key].as_u64().unwrap();
        let begin = format!("\n{row},{},{},", cell("jobs"), cell("cpu_seconds"));
        assert!(csv.contains(&begin), "{begin}: {csv}");
    }
    for form in ["csv", "jsonl", "gnuplot", "r", "bars"] {
        let output = site.stat(&["--by", "exe", "--format", form]);
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(!shown.contains("sacct"), "{form}: {shown}");
        let said = String::from_utf8(output.stderr).unwrap();
        let note = "topas-stat: note: --sacct: measured 95.12% of the CPU-hours of jobs that ran";
        assert!(said.starts_with(note), "{form}: {said}");
        assert!(said.contains("10 of 14 jobs left no line") && said.contains("--coverage --csv"));
        let quiet = site.stat(&["-q", "--by", "exe", "--format", form]);
        assert!(quiet.stderr.is_empty(), "{form}: -q says errors only");
        assert_eq!(String::from_utf8(quiet.stdout).unwrap(), shown, "{form}");
    }
}

#[test]
fn columns_of_sacct_are_fields() {
    let site = site(SACCT, &log());
    let by = |args: &[&str]| -> BTreeMap<String, (u64, f64)> {
        let json = site.json(&[args, &["--json"]].concat());
        let rows = json["tables"][0]["rows"].as_array().unwrap().clone();
        rows.iter()
            .map(|row| {
                let numbers = (row["runs"].as_u64().unwrap(), row["pe_seconds"].as_f64().unwrap());
                (row["name"].as_str().unwrap().to_owned(), numbers)
            })
            .collect()
    };
    let accounts = by(&["--by", "sacct.account"]);
    assert_eq!(accounts["chem"], (3, 17_600.0 + 28_800.0));
    assert_eq!(accounts["phys"], (1, 2_752_000.0));
    assert_eq!(accounts["-"].0, 2, "{accounts:?}");
    let states = by(&["--by", "sacct.state", "--where", "sacct.account = phys"]);
    assert_eq!(states, BTreeMap::from([("TIMEOUT".to_owned(), (1, 2_752_000.0))]));
    for (condition, runs) in [
        ("sacct.timelimit >= 1h and sacct.timelimit < 1d", 2),
        ("sacct.timelimit = 1d", 1),
        ("sacct.account = chem and sacct.timelimit = -", 1),
        ("sacct.cpus > 8", 3),
        ("sacct.time_used > 99% and sacct.time_class != '<10%'", 1),
        ("sacct.time_used = -", 3),
        ("sacct.cpus_per_pe != -", 4),
        ("sacct.elapsed > 23h and sacct.qos = long", 1),
        ("not sacct.user = ann", 2),
    ] {
        let found = by(&["--by", "user", "--where", condition]);
        assert_eq!(found.values().map(|row| row.0).sum::<u64>(), runs, "{condition}");
    }
    // The same in lists of runs and in the utilisation.
    let args = ["--runs", "--columns", "job,sacct.account,sacct.cpus", "--sort", "job", "--csv"];
    let listed = site.text(&args);
    let rows: Vec<&str> = listed.lines().skip(1).collect();
    assert_eq!(
        rows[..4],
        ["100,chem,16", "100,chem,16", "101_4,phys,32", "102,chem,8"],
        "{listed}"
    );
    let args = ["--utilisation", "month", "--json", "--where", "sacct.account = phys"];
    assert_eq!(site.json(&args)["runs"], 1);
}

#[test]
fn the_fields_need_the_file() {
    let site = site(SACCT, &log());
    for args in
        [&["--by", "sacct.account"][..], &["--where", "sacct.account = chem"], &["--coverage"]]
    {
        let output =
            Command::new(env!("CARGO_BIN_EXE_topas-stat")).args(args).arg(&site.log).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("--sacct"), "{said}");
    }
}

#[test]
fn bad_rows_are_told_and_the_others_count() {
    let dirt = "200|200|x\n\
                abc|1|ann|chem|n|b|COMPLETED|1:00|00:30:00|16|1|1|2026-11-20T08:00:00|2026-11-20T08:30:00|\n\
                201|201|ann|chem|n|b|COMPLETED|01:00:00|half|16|1|1|2026-11-20T08:00:00|2026-11-20T08:30:00|\n\
                202|202|ann|chem|n|b|COMPLETED|01:00:00|00:30:00|16|1|1|2026-13-20T08:00:00|x|\n\n";
    let long = "9".repeat(100_000);
    // Files that overlap, and the steps before their jobs.
    let rows: Vec<&str> = SACCT.lines().collect();
    let reversed: Vec<&str> = rows[1..].iter().rev().copied().collect();
    let text = format!("{}\n{}\n{dirt}{long}\r\n{SACCT}", rows[0], reversed.join("\n"));
    let site = site(&text, &log());
    let output = site.stat(&["--coverage", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("--sacct: 5 of ") && said.contains("1 wrong number of columns"),
        "{said}"
    );
    assert!(said.contains("2 wrong number or time, 1 too long"), "{said}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["rows"]["skipped"], 5);
    assert_eq!(json["rows"]["repeated"], 15);
    let clean = self::site(SACCT, &log()).json(&["--coverage", "--json"]);
    assert_eq!(json["tables"], clean["tables"], "nothing is counted twice");

    for (text, code) in [("", 3), ("100|100|ann\n", 1), ("nonsense\n", 1), ("JobID\n", 3)] {
        let output = self::site(text, &log()).stat(&["--coverage"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}: {said}");
        assert!(code != 1 || said.contains("names no column JobID") && said.contains("hint: "));
    }
    let missing = Command::new(env!("CARGO_BIN_EXE_topas-stat"))
        .args(["--coverage", "--sacct", "/nonexistent/sacct"])
        .arg(&site.log)
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(1));
}

/// Columns in another order, few of them, other forms of times, compressed.
#[test]
fn files_of_other_columns_mean_the_same() {
    let columns = [6, 0, 9, 8, 2, 12, 13];
    let choose = |row: &str| {
        let cells: Vec<&str> = row.split('|').collect();
        columns.map(|at| cells[at]).join("|") + "\n"
    };
    let few: String = SACCT.lines().map(choose).collect();
    assert!(few.starts_with("State|JobID|AllocCPUS|Elapsed|User|Start|End\n"));
    let site = site(&few, &log());
    let mut compressed = zstd::Encoder::new(fs::File::create(&site.sacct).unwrap(), 1).unwrap();
    compressed.write_all(few.as_bytes()).unwrap();
    compressed.finish().unwrap();
    let json = site.json(&["--coverage", "--json"]);
    let whole = self::site(SACCT, &log()).json(&["--coverage", "--json"]);
    assert_eq!(json["tables"]["total"], whole["tables"]["total"]);
    assert_eq!(json["tables"]["user"], whole["tables"]["user"]);
}

/// A log and a file of many jobs, counted by sets of words.
#[test]
fn many_jobs_are_counted_as_words_are() {
    let mut random = numbers_below(5);
    let mut sacct = "JobID|JobIDRaw|User|Account|State|AllocCPUS|CPUTimeRAW|Elapsed\n".to_owned();
    let mut log = String::new();
    for job in 1..3000u64 {
        let (array, raw) = (random(3) == 0, job * 10);
        let id = if array { format!("{}_{}", job * 10 - 5, random(50)) } else { raw.to_string() };
        let (cpus, elapsed) = (2 + random(64), 61 + random(10_000));
        let (user, account) = (random(20), random(6));
        let _ = writeln!(
            sacct,
            "{id}|{raw}|u{user}|a{account}|COMPLETED|{cpus}|{}|{:02}:{:02}:{:02}",
            cpus * elapsed,
            elapsed / 3600,
            elapsed / 60 % 60,
            elapsed % 60
        );
        // Some lines name the element, some the number it had as a job, some neither.
        let name = match random(4) {
            0 => id,
            1 => raw.to_string(),
            2 => (raw + 1_000_000).to_string(),
            _ => continue,
        };
        let wall = format!("{elapsed}.000000");
        log +=
            &line(&format!("u{user}"), "2026/11/20 08:20:00", &wall, 4, &format!("i{job}"), &name);
    }
    let named: BTreeSet<&str> =
        log.split(' ').filter_map(|token| token.strip_prefix("job=")).collect();
    let (mut ran, mut measured) = ((0, 0), (0, 0));
    let mut accounts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut known = BTreeSet::new();
    for row in sacct.lines().skip(1) {
        let cells: Vec<&str> = row.split('|').collect();
        let time: u64 = cells[6].parse().unwrap();
        ran = (ran.0 + 1, ran.1 + time);
        known.extend([cells[0], cells[1]]);
        if named.contains(cells[0]) || named.contains(cells[1]) {
            measured = (measured.0 + 1, measured.1 + time);
        } else {
            let account = accounts.entry(cells[3].to_owned()).or_default();
            *account = (account.0 + 1, account.1 + time);
        }
    }
    let site = site(&sacct, &log);
    let json = site.json(&["--coverage", "--json"]);
    assert_eq!(table(&json, "total")["ran"], ran);
    assert_eq!(table(&json, "total")["measured"], measured);
    assert_eq!(table(&json, "account"), accounts);
    assert!(measured.0 > 1000 && accounts.len() == 6);
    let unknown = named.iter().filter(|job| !known.contains(**job)).count();
    assert_eq!(json["log"]["jobs_not_in_sacct"], unknown);
    assert!(Path::new(&site.sacct).exists());
}
