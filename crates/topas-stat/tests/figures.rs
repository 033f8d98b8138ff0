//! Percentages of rows and columns, numbers of different ones and failures, against awk on the
//! text of the log.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use topas_testkit::{numbers_below, with_lengths};

fn stat(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
    let output = command.args(args).arg("topas.log").current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs of one and of two lines, whose ends may differ; some without a job or an end.
fn log(dir: &Path) {
    let mut next = numbers_below(12_345);
    let mut text = String::new();
    for id in 0..3000u64 {
        let (user, exe) =
            (["ann", "bob", "eve"][next(3) as usize], ["cg", "heat"][next(2) as usize]);
        let (month, job) = (1 + next(3), next(500));
        let npes = 1 + next(2);
        for pe in 0..npes {
            let end = match next(12) {
                0 => " end=exit:1",
                1 => " end=sig:11",
                2 => " end=abort",
                3 => "",
                _ => " end=exit:0",
            };
            let job = if job < 50 { String::new() } else { format!(" job={job}") };
            text += &format!(
                "2026/0{month}/05 12:00:00 {user} {exe} {pe} {npes} t1 B c mpi 1.0 0.1 2.5 f=5 1 r{id} v=1{end}{job}\n"
            );
        }
    }
    std::fs::write(dir.join("topas.log"), with_lengths(&text)).unwrap();
}

/// A table by these tokens: of each group users, jobs, runs without a job, executables, failed
/// runs, runs of known ending, runs.
const AWK: &str = r#"
{
    id = $16
    if (!(id in group)) { group[id] = by == "month" ? substr($1, 6, 2) : $by; user[id] = $3; exe[id] = $4 }
    for (i = 17; i <= NF; i++) {
        if ($i ~ /^end=/) { known[id] = 1; if ($i != "end=exit:0") failed[id] = 1 }
        if ($i ~ /^job=/) job[id] = $i
    }
}
END {
    for (id in group) {
        g = group[id]
        runs[g]++
        if (!((g, user[id]) in u)) { u[g, user[id]]; users[g]++ }
        if (!((g, exe[id]) in e)) { e[g, exe[id]]; exes[g]++ }
        if (!(id in job)) none[g]++
        else if (!((g, job[id]) in j)) { j[g, job[id]]; jobs[g]++ }
        k[g] += known[id]; f[g] += failed[id]
    }
    for (g in runs) print g, users[g] + 0, jobs[g] + 0, none[g] + 0, exes[g] + 0, f[g] + 0, k[g] + 0, runs[g]
}
"#;

fn awk(dir: &Path, by: &str) -> BTreeMap<String, Vec<u64>> {
    let by = format!("by={by}");
    let output = Command::new("awk").args(["-v", &by, AWK, "topas.log"]).current_dir(dir).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let row = |line: &str| {
        let (name, numbers) = line.split_once(' ').unwrap();
        (name.to_owned(), numbers.split(' ').map(|n| n.parse().unwrap()).collect())
    };
    text.lines().map(row).collect()
}

/// Rows of CSV by the names of their columns.
fn csv(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let cells =
        |line: &str| line.replace("\"month,exe\"", "month").replace("\"month,user\"", "month");
    let row = |line: &str| {
        let line = cells(line);
        let cells = line.split(',').map(str::to_owned);
        names.iter().map(|name| (*name).to_owned()).zip(cells).collect()
    };
    lines.map(row).collect()
}

/// The bounds of Wilson's interval as the roots of (p - f/n)^2 = z^2 p (1 - p) / n.
fn wilson(failed: f64, n: f64) -> [f64; 2] {
    let (z2, rate) = (1.959_963_984_540_054f64.powi(2), failed / n);
    let (a, b, c) = (1.0 + z2 / n, -2.0 * rate - z2 / n, rate * rate);
    let root = (b * b - 4.0 * a * c).sqrt();
    [(-b - root) / (2.0 * a), (-b + root) / (2.0 * a)]
}

#[test]
fn awk_counts_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    log(dir);
    const NUMBERS: [&str; 7] = [
        "users_number",
        "jobs_number",
        "jobs_none",
        "exes_number",
        "failures_failed",
        "failures_known",
        "runs",
    ];
    for (name, token) in [("user", "3"), ("exe", "4"), ("month", "month")] {
        let expected = awk(dir, token);
        // The answers of a selection of runs stand before the fields in keys.
        let every = "ending = - or ending = ok or not ending = ok";
        for threads in ["1", "3"] {
            let figures = ["--by", name, "--measure", "users,jobs,exes,failures", "--csv"];
            let text =
                stat(dir, &[&figures[..], &["--threads", threads, "--where", every]].concat());
            let rows = csv(&text);
            assert_eq!(rows.len(), expected.len(), "{text}");
            for row in rows {
                let group = row["name"].rsplit('-').next().unwrap().to_owned();
                let numbers = NUMBERS.map(|name| row[name].parse::<u64>().unwrap());
                assert_eq!(numbers.to_vec(), expected[&group], "{name} {group}");
                let [failed, known, runs] = [numbers[4], numbers[5], numbers[6]];
                assert_eq!(row["failures_unknown"], (runs - known).to_string());
                let number = |name: &str| row[name].parse::<f64>().unwrap();
                let near = |a: f64, b: f64| assert!((a - 100.0 * b).abs() < 1e-6, "{a} {b}");
                near(number("failures_percent"), failed as f64 / known as f64);
                let [low, high] = wilson(failed as f64, known as f64);
                near(number("failures_low"), low);
                near(number("failures_high"), high);
            }
        }
    }
    // Over all runs.
    let all = awk(dir, "8");
    let json: serde_json::Value =
        serde_json::from_str(&stat(dir, &["--measure", "users,jobs,failures", "--json"])).unwrap();
    let figures = &json["figures"];
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    let ours = [
        number(&figures["users"]["number"]),
        number(&figures["jobs"]["number"]),
        number(&figures["failures"]["failed"]),
    ];
    let all = &all["B"];
    assert_eq!(ours, [all[0], all[1], all[4]]);
    let text = stat(dir, &["--by", "exe", "--measure", "failures"]);
    assert!(text.contains(&format!("In all {} of {} runs failed, ", all[4], all[5])), "{text}");
}

/// Of each program: PE x tenths of seconds of its failed runs and of those of known ending, first and last day.
const LOST: &str = r#"
{
    id = $16; exe[id] = $4; time[id] = $6 * 25; day[id] = $1
    for (i = 17; i <= NF; i++) if ($i ~ /^end=/) { known[id] = 1; if ($i != "end=exit:0") failed[id] = 1 }
}
END {
    for (id in exe) {
        e = exe[id]
        if (id in known) k[e] += time[id]
        if (id in failed) f[e] += time[id]
        if (!(e in first) || day[id] < first[e]) first[e] = day[id]
        if (day[id] > last[e]) last[e] = day[id]
    }
    for (e in k) print e, f[e] / 10, k[e] / 10, first[e], last[e]
}
"#;

#[test]
fn lost_time_and_days_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    log(dir);
    let output = Command::new("awk").args([LOST, "topas.log"]).current_dir(dir).output().unwrap();
    let expected = String::from_utf8(output.stdout).unwrap().replace('/', "-");
    let args = ["--by", "exe", "--measure", "lost,days", "--sort", "lost"];
    let rows = csv(&stat(dir, &[&args[..], &["--csv"]].concat()));
    assert_eq!(rows.len(), 2);
    for row in &rows {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        let (lost, of) = (number("lost_pe_seconds"), number("lost_of_pe_seconds"));
        assert!((number("lost_percent") - 100.0 * lost / of).abs() < 1e-6, "{row:?}");
        let told =
            format!("{} {lost} {of} {} {}", row["name"], row["days_first"], row["days_last"]);
        assert!(expected.lines().any(|line| line == told), "{told}: {expected}");
    }
    assert!(rows.is_sorted_by(|a, b| {
        let lost = |row: &BTreeMap<String, String>| row["lost_pe_seconds"].parse::<f64>().unwrap();
        lost(a) >= lost(b)
    }));
    let text = stat(dir, &args);
    assert!(text.contains("Lost PE-h") && text.contains("2026-01-05 2026-03-05"), "{text}");
}

#[test]
fn rows_are_sorted_by_figures() {
    let dir = tempfile::tempdir().unwrap();
    log(dir.path());
    let names = |args: &[&str]| -> Vec<(String, f64)> {
        let figures = ["--by", "user", "--measure", "failures,jobs", "--csv"];
        let rows = csv(&stat(dir.path(), &[&figures[..], args].concat()));
        rows.iter()
            .map(|row| (row["name"].clone(), row["failures_percent"].parse().unwrap()))
            .collect()
    };
    let sorted = names(&["--sort", "failures"]);
    assert!(sorted.is_sorted_by(|a, b| a.1 >= b.1), "{sorted:?}");
    let mut reversed = names(&["--sort", "failures", "--reverse"]);
    reversed.reverse();
    assert_eq!(reversed, sorted);
    assert_eq!(names(&["--sort", "failures", "--top", "1"])[0], sorted[0]);
}

#[test]
fn percentages_are_of_rows_or_columns() {
    let dir = tempfile::tempdir().unwrap();
    log(dir.path());
    let by = ["--by", "month,user"];
    for (percent, side) in [("row", Some("name")), ("column", Some("name2")), ("all", None)] {
        let args = [&by[..], &["--percent", percent]].concat();
        let rows = csv(&stat(dir.path(), &[&args[..], &["--csv"]].concat()));
        assert_eq!(rows.len(), 9);
        let mut of = BTreeMap::new();
        let group = |row: &BTreeMap<String, String>| side.map(|side| row[side].clone());
        for row in &rows {
            *of.entry(group(row)).or_insert(0) += row["runs"].parse::<u64>().unwrap();
        }
        assert_eq!(of.len(), if side.is_some() { 3 } else { 1 });
        for row in &rows {
            let (runs, of) = (row["runs"].parse::<u64>().unwrap(), of[&group(row)]);
            let share = row["runs_percent"].parse::<f64>().unwrap();
            assert!((share - 100.0 * runs as f64 / of as f64).abs() < 0.5001e-4, "{row:?}");
            assert_eq!(row.get("of_runs").cloned(), side.map(|_| of.to_string()));
        }
        let json: serde_json::Value =
            serde_json::from_str(&stat(dir.path(), &[&args[..], &["--json"]].concat())).unwrap();
        assert_eq!(json["tables"][0]["percent_of"], percent);
        let text = stat(dir.path(), &args);
        let words = match percent {
            "row" => {
                "month,user: Num% of the Of runs of each Month, Time% of their Of PE x wall clock\n"
            }
            "column" => {
                "month,user: Num% of the Of runs of each User, Time% of their Of PE x wall clock\n"
            }
            _ => "Num% of 3000 runs, Time% of ",
        };
        assert!(text.contains(words), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        // Stacked bars of rows are all of one height; those of columns stand beside each other.
        let matrix = stat(dir.path(), &[&args[..], &["--gnuplot"]].concat());
        let sums: Vec<f64> = matrix
            .lines()
            .filter(|line| line.starts_with("\"2026-"))
            .map(|line| line.split(' ').skip(1).map(|cell| cell.parse::<f64>().unwrap()).sum())
            .collect();
        assert_eq!(sums.len(), 3);
        assert_eq!(sums.iter().all(|sum| (sum - 100.0).abs() < 1e-3), percent == "row", "{sums:?}");
    }
    let mut wrong = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
    let wrong = wrong.args(["--by", "user", "--percent", "row", "topas.log"]);
    let output = wrong.current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("--percent: no table is by two names"), "{error}");
}
