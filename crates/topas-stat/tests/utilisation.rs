//! `topas-stat --utilisation`: figures against those that plain loops over the raw tokens give,
//! on a log of a zone whose clocks change within it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use topas_testkit::{numbers_below, with_lengths};

/// 2026-10-25 01:00 UTC, when clocks in Europe go back from 03:00 to 02:00.
const BACK: i64 = 1_792_890_000;

/// Local time minus UTC in s, as in Berlin that autumn.
fn ahead(utc: i64) -> i64 {
    if utc < BACK { 7200 } else { 3600 }
}

/// A log of 400 runs around that night, in a pseudo-random order.
fn log() -> String {
    let mut random = numbers_below(7);
    let mut text = String::new();
    for run in 0..400 {
        let t = BACK - 4 * 86_400 + random(8 * 86_400) as i64;
        let walls = ["0.500000", "30.250000", "3600.123456", "40000.500000", "200000.999999"];
        let wall = walls[random(5) as usize];
        let npes = [4, 16, 64][random(3) as usize];
        let part = ["batch", "batch", "large", ""][random(4) as usize];
        let part = if part.is_empty() { String::new() } else { format!(" part={part}") };
        for pe in 0..2 {
            let day = civil(t + ahead(t));
            let _ = writeln!(
                text,
                "{day} ann heat {pe} {npes} t2600 B c mpi 1.0 0.1 {wall} f=1000 100 id{run} v=1 t={t}{part}"
            );
        }
    }
    with_lengths(&text)
}

/// `2026/10/25 02:30:00` of seconds since 1970, in October or November 2026.
fn civil(local: i64) -> String {
    // 2026-10-01 is day 20727.
    let day = local / 86_400 - 20_727;
    let (month, day) = if day < 31 { (10, day + 1) } else { (11, day - 30) };
    let s = local % 86_400;
    format!("2026/{month}/{day:02} {:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}

/// PE x µs by period and partition ("" is all), of every run second by second in effect.
fn expected(log: &str, name: impl Fn(i64) -> String) -> BTreeMap<(String, String), u128> {
    let mut sums = BTreeMap::new();
    for line in log.lines() {
        let tokens: Vec<&str> = line.split(' ').collect();
        if tokens[4] != "0" {
            continue;
        }
        let extra = |key: &str| tokens[16..].iter().find_map(|token| token.strip_prefix(key));
        let end: i64 = extra("t=").unwrap().parse::<i64>().unwrap() * 1_000_000;
        let wall: i64 = tokens[12].replace('.', "").parse().unwrap();
        let npes: u128 = tokens[5].parse().unwrap();
        let mut begin = end - wall;
        while begin < end {
            // Every border of a local hour is one of an hour of UTC.
            let next = ((begin / 3_600_000_000 + 1) * 3_600_000_000).min(end);
            let used = (next - begin) as u128 * npes;
            let utc = begin / 1_000_000;
            let part = extra("part=").unwrap_or("none");
            for part in ["", part] {
                *sums.entry((name(utc), part.to_owned())).or_default() += used;
            }
            begin = next;
        }
    }
    sums
}

fn stat(log: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_topas-stat"))
        .args(args)
        .arg(log)
        .env("TOPAS_CONF", "/nonexistent/topas.conf")
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Cells of CSV rows by heading.
fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let heading = lines.next().unwrap();
    lines.map(|cells| heading.iter().cloned().zip(cells).collect()).collect()
}

fn site() -> (tempfile::TempDir, std::path::PathBuf, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.log");
    let log = log();
    fs::write(&path, &log).unwrap();
    (dir, path, log)
}

#[test]
fn a_run_is_spread_over_the_time_it_ran() {
    let (_dir, path, log) = site();
    let day = |utc: i64| civil(utc + ahead(utc))[..10].replace('/', "-");
    let hour = |utc: i64| {
        let local = civil(utc + ahead(utc)).replace('/', "-");
        format!("{}T{}:00:00+0{}:00", &local[..10], &local[11..13], ahead(utc) / 3600)
    };
    let month = |utc: i64| day(utc)[..7].to_owned();
    // 2026-10-26 is a Monday of week 44.
    let week = |utc: i64| {
        format!("2026-W{}", (utc + ahead(utc) - 20_752 * 86_400).div_euclid(604_800) + 44)
    };
    // The day 0 was a Thursday.
    let hour_of_week = |utc: i64| {
        let hours = (utc + ahead(utc)).div_euclid(3600);
        let day = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(hours / 24 % 7) as usize];
        format!("{day} {:02}:00", hours % 24)
    };
    type Name<'n> = &'n dyn Fn(i64) -> String;
    let steps: [(&str, &str, Name<'_>); 5] = [
        ("day", "period", &day),
        ("hour", "begin", &hour),
        ("month", "period", &month),
        ("week", "period", &week),
        ("hour-of-week", "period", &hour_of_week),
    ];
    for (step, key, name) in steps {
        let expected = expected(&log, name);
        let found = rows(&text(&stat(&path, &["--utilisation", step, "--csv"])));
        let mut ours = BTreeMap::new();
        for row in &found {
            let part = match (&*row["scope"], &*row["partition"]) {
                ("machine", _) => "",
                (_, "") => "none",
                (_, name) => name,
            };
            let used: u128 = row["used_pe_seconds"].replace('.', "").parse().unwrap();
            assert_eq!(row["available_pe_seconds"], "", "no capacity is known");
            let first = ours.insert((row[key].clone(), part.to_owned()), used).is_none();
            assert!(first, "{step} {row:?} is there twice");
        }
        ours.retain(|_, used| *used > 0);
        assert!(expected.len() > 3, "{step}");
        assert_eq!(ours, expected, "{step}");
    }
}

#[test]
fn the_most_and_the_least_used_periods_come_first() {
    let (_dir, path, _) = site();
    let used = |args: &[&str]| -> Vec<(String, f64)> {
        let args = [&["--utilisation", "day", "--csv"], args].concat();
        let rows = rows(&text(&stat(&path, &args)));
        let machine = rows.into_iter().filter(|row| row["scope"] == "machine");
        machine
            .map(|row| (row["period"].clone(), row["used_pe_seconds"].parse().unwrap()))
            .collect()
    };
    let mut sorted = used(&[]);
    sorted.sort_by(|one, other| other.1.total_cmp(&one.1));
    assert!(sorted.len() > 8);
    assert_eq!(used(&["--top", "3"]), sorted[..3]);
    // The capacity of the second half is half: its shares are twice as large.
    let capacity = ["--capacity", "4000", "--capacity", "2026-10-26 2000"];
    let share =
        |(day, used): &(String, f64)| used * if day.as_str() < "2026-10-26" { 1.0 } else { 2.0 };
    let mut shares = sorted.clone();
    shares.sort_by(|one, other| share(one).total_cmp(&share(other)));
    // The day on which clocks change has 25 hours, and is left out of what is compared.
    let days = |days: &[(String, f64)]| -> Vec<String> {
        days.iter().map(|(day, _)| day.clone()).filter(|day| day != "2026-10-25").collect()
    };
    assert_eq!(days(&used(&[&capacity[..], &["--reverse"]].concat())), days(&shares));
    assert_eq!(days(&used(&[&capacity[..], &["--sort", "time"]].concat())), days(&sorted));
    let shown = text(&stat(&path, &["--utilisation", "hour-of-week", "--top", "2"]));
    assert!(shown.contains("\nHour of week"), "{shown}");
    assert!(shown.contains("\n... 2 of 168 hours of the week\nSum "), "{shown}");
}

#[test]
fn periods_have_the_length_that_clocks_give_them() {
    let (_dir, path, _) = site();
    let capacity = ["--capacity", "2026-10-20 100", "--capacity", "2026-10-24 200"];
    let args = [&["--utilisation", "--csv"][..], &capacity].concat();
    let found = rows(&text(&stat(&path, &args)));
    let machine = found.iter().filter(|row| row["scope"] == "machine");
    let of: BTreeMap<&str, (&str, &str, &str)> = machine
        .map(|row| {
            let cells = [&row["seconds"], &row["available_pe_seconds"], &row["share_percent"]];
            let [seconds, available, share] = cells.map(String::as_str);
            let used: f64 = row["used_pe_seconds"].parse().unwrap();
            if let (Ok(of), Ok(percent)) = (available.parse::<f64>(), share.parse::<f64>()) {
                assert!((used / of * 100.0 - percent).abs() < 1e-4);
            }
            (row["period"].as_str(), (seconds, available, share))
        })
        .collect();
    assert_eq!(of["2026-10-23"].0, "86400");
    assert_eq!(of["2026-10-23"].1, "8640000.000000");
    assert_eq!(of["2026-10-24"].1, "17280000.000000");
    assert_eq!(of["2026-10-25"].0, "90000", "clocks go back");
    assert_eq!(of["2026-10-25"].1, "18000000.000000");
    let unknown = of.iter().find(|(day, _)| **day < "2026-10-20").unwrap();
    assert_eq!((unknown.1.1, unknown.1.2), ("", ""), "before any capacity is known");

    // The week is known from its second day on only: not at all.
    let args = [&["--utilisation", "week", "--csv"][..], &capacity].concat();
    let found = rows(&text(&stat(&path, &args)));
    let week = |name: &str| found.iter().find(|row| row["period"] == name).unwrap();
    assert_eq!(week("2026-W43")["available_pe_seconds"], "");
    assert_eq!(week("2026-W44")["available_pe_seconds"], "120960000.000000");
}

#[test]
fn days_select_the_time_and_not_the_runs() {
    let (_dir, path, log) = site();
    let day = |utc: i64| civil(utc + ahead(utc))[..10].replace('/', "-");
    let expected = expected(&log, day);
    let args = ["--utilisation", "--json", "--since", "2026-10-24", "--until", "2026-10-25"];
    let json: serde_json::Value = serde_json::from_str(&text(&stat(&path, &args))).unwrap();
    assert_eq!(json["schema"], "topas.utilisation/1");
    assert_eq!(json["runs"], 400);
    let periods = json["periods"].as_array().unwrap();
    assert_eq!(periods.len(), 2);
    let mut inside = 0.0;
    for period in periods {
        let day = period["period"].as_str().unwrap();
        let micros = expected[&(day.to_owned(), String::new())];
        assert_eq!(period["used_pe_seconds"].as_f64().unwrap(), micros as f64 / 1e6);
        assert_eq!(period["share_percent"], serde_json::Value::Null);
        inside += micros as f64 / 1e6;
    }
    let total = json["pe_seconds"].as_f64().unwrap();
    let outside = json["outside_pe_seconds"].as_f64().unwrap();
    assert!((total - outside - inside).abs() < 1e-3, "nothing is lost: {total} {outside} {inside}");
}

#[test]
fn selections_of_runs_and_of_lines_choose_what_is_spread() {
    let (_dir, path, _) = site();
    let used = |condition: &str| {
        let args = ["--utilisation", "month", "--json", "--where", condition];
        let json: serde_json::Value = serde_json::from_str(&text(&stat(&path, &args))).unwrap();
        (json["runs"].as_u64().unwrap(), json["pe_seconds"].as_f64().unwrap())
    };
    let parts = [used("pe_hours > 100 or hour < 12"), used("not (pe_hours > 100 or hour < 12)")];
    assert!(parts.iter().all(|(runs, _)| *runs > 20), "{parts:?}");
    assert_eq!(parts[0].0 + parts[1].0, 400);
    let all = used("npes > 0").1;
    assert!((parts[0].1 + parts[1].1 - all).abs() < 1e-3);
}

#[test]
fn people_read_shares_and_what_they_are_of() {
    let (_dir, path, _) = site();
    let args = ["--utilisation", "--capacity", "batch 4x8", "--capacity", "large 2000"];
    let shown = text(&stat(&path, &args));
    assert!(shown.starts_with("Utilisation by day, 2026-10-"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    for part in [
        "Day         ",
        "available   Share",
        "Partition",
        "(none)",
        "available: PEs of all partitions with a capacity x length of the period.",
        "(none) (",
        "used more than was available. Likely reasons:",
        "* : the log begins or ends in this day",
        "UTC+01:00 and UTC+02:00",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let shown = text(&stat(&path, &["--utilisation", "week"]));
    assert!(shown.contains("No capacity is known"), "{shown}");
    // The hour that is there twice has its offset.
    let shown = text(&stat(&path, &["--utilisation", "hour", "--capacity", "500"]));
    let twice = ["2026-10-25 02:00 +02:00", "2026-10-25 02:00 +01:00"];
    assert!(twice.iter().all(|name| shown.contains(name)), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn the_site_tells_its_capacity() {
    let (dir, path, _) = site();
    let conf = dir.path().join("topas.conf");
    fs::write(&conf, "capacity = 2026-10-01 10x50\ncapacity = large 64\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_topas-stat"))
        .args(["--utilisation", "month", "--jsonl"])
        .arg(&path)
        .env("TOPAS_CONF", &conf)
        .output()
        .unwrap();
    let shown = text(&output);
    let row = |wanted: &str| -> serde_json::Value {
        let mut rows = shown.lines().map(|line| serde_json::from_str(line).unwrap());
        rows.find(|row: &serde_json::Value| {
            row["partition"].as_str().unwrap_or("") == wanted
                && row["scope"] == if wanted.is_empty() { "machine" } else { "partition" }
        })
        .unwrap()
    };
    // October has 31 days and one hour more.
    let seconds = (31.0 * 24.0 + 1.0) * 3600.0;
    assert_eq!(row("")["schema"], "topas.utilisation.row/1");
    assert_eq!(row("")["available_pe_seconds"], 500.0 * seconds);
    assert_eq!(row("large")["available_pe_seconds"], 64.0 * seconds);
    assert_eq!(row("batch")["available_pe_seconds"], serde_json::Value::Null);
}

#[test]
fn a_calendar_is_drawn() {
    let (dir, path, _) = site();
    let svg = dir.path().join("calendar.svg");
    let args = ["--utilisation", "--capacity", "500", "--bars", "--svg", svg.to_str().unwrap()];
    let shown = text(&stat(&path, &args));
    assert!(shown.starts_with("Utilisation by day\n2026-10-"), "{shown}");
    let cells = |line: &&str| line.trim_start().starts_with(|c: char| c.is_ascii_alphabetic());
    let rows: Vec<&str> = shown
        .lines()
        .filter(cells)
        .filter(|line| ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&&line[..3]))
        .collect();
    assert_eq!(rows.len(), 7, "{shown}");
    let picture = fs::read_to_string(&svg).unwrap();
    assert!(picture.contains("2026-10-25: ") && picture.contains(" of 12500.00 PE-h"), "{picture}");
    for step in ["hour", "week", "month"] {
        let shown = text(&stat(&path, &["--utilisation", step, "--bars"]));
        assert!(shown.contains(&format!("of the {step} with the most")), "{shown}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let (dir, path, _) = site();
    for (args, hint) in [
        (&["--utilisation", "--capacity", "many"][..], "--capacity: invalid value 'many'"),
        (&["--capacity", "5"], "--utilisation"),
        (&["--utilisation", "fortnight"], "'fortnight' is neither a period nor a file"),
        (&["--utilisation", "--gnuplot"], "cannot be used with"),
        (&["--utilisation", "-f", "gnuplot"], "no output of the form 'gnuplot'"),
        (&["--utilisation", "--by", "user"], "cannot be used with"),
        (&["--utilisation", "--sort", "mflops"], "write --sort share or --sort time"),
    ] {
        let output = stat(&path, args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(hint), "{args:?}: {said}");
    }
    let none = dir.path().join("empty.log");
    fs::write(&none, "").unwrap();
    for form in ["text", "csv", "json", "jsonl", "bars"] {
        let output = stat(&none, &["--utilisation", "-f", form]);
        assert_eq!(output.status.code(), Some(3), "{form}");
    }
    // One line of a wrong clock must not make a report of a hundred thousand rows.
    let far = dir.path().join("far.log");
    let line =
        "1971/01/01 00:00:00 ann heat 0 4 t2600 B c mpi 1.0 0.1 1.0 f=1 1 a v=1 t=31536000\n";
    fs::write(&far, log() + &with_lengths(line)).unwrap();
    let output = stat(&far, &["--utilisation", "hour"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("more than 100000 hours") && said.contains("--since"), "{said}");
    let output = stat(&far, &["--utilisation", "hour", "--since", "2026-10-25"]);
    assert!(output.status.success());
}
