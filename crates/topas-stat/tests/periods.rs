//! Periods of the calendar, and buckets that the data decides, in all forms.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use topas_testkit::with_lengths;

/// A run with one line on a day, with so many operations in 1 s.
fn line(day: &str, hour: u32, user: &str, mflops: u64, id: usize) -> String {
    let ops = mflops * 1_000_000;
    with_lengths(&format!(
        "{day} {hour:02}:00:00 {user} x 0 1 t2596 B c mpi 0.5 0.1 1.0 f={ops} - r{id} v=1\n"
    ))
}

fn stat(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_topas-stat"));
    let output = command.args(args).arg("topas.log").current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Names and numbers of runs of a table by one.
fn rows(dir: &Path, args: &[&str]) -> Vec<(String, u64)> {
    let text = stat(dir, &[args, &["--csv"]].concat());
    let cells = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    cells.map(|cells| (cells[1].to_owned(), cells[4].parse().unwrap())).collect()
}

/// 60 days, of which every third has no run and the tenth has most.
fn days(dir: &Path) -> BTreeMap<String, u64> {
    let (mut text, mut expected) = (String::new(), BTreeMap::new());
    for day in 0..60u64 {
        let (month, of_month) = if day < 31 { (1, day + 1) } else { (2, day - 30) };
        let runs = if day % 3 == 1 { 0 } else { 1 + 5 * u64::from(day == 9) };
        if month == 2 && of_month > 28 {
            continue;
        }
        expected.insert(format!("2026-{month:02}-{of_month:02}"), runs);
        for run in 0..runs {
            let date = format!("2026/{month:02}/{of_month:02}");
            let user = ["ann", "bob"][(run % 2) as usize];
            text += &line(&date, 8, user, 100, (day * 100 + run) as usize);
        }
    }
    std::fs::write(dir.join("topas.log"), text).unwrap();
    // The table is from the first day with a run to the last.
    while expected.last_key_value().is_some_and(|(_, runs)| *runs == 0) {
        expected.pop_last();
    }
    expected
}

#[test]
fn every_day_has_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let expected: Vec<(String, u64)> = days(dir).into_iter().collect();
    assert!(expected.len() > 50 && expected.iter().any(|(_, runs)| *runs == 0));
    // Also with a top, which is of what has no order of its own.
    assert_eq!(rows(dir, &["--by", "day"]), expected);
    assert_eq!(rows(dir, &["--by", "day", "--top", "3"]), expected);
    let mut reversed = expected.clone();
    reversed.reverse();
    assert_eq!(rows(dir, &["--by", "day", "--reverse"]), reversed);
    let busiest = rows(dir, &["--by", "day", "--sort", "runs", "--top", "2"]);
    assert_eq!((busiest[0].0.as_str(), busiest[0].1, busiest.len()), ("2026-01-10", 6, 3));
    let hours = rows(dir, &["--by", "hour"]);
    let runs: u64 = expected.iter().map(|(_, runs)| runs).sum();
    let only_8 = |hour: u64| (hour.to_string(), if hour == 8 { runs } else { 0 });
    assert_eq!(hours, (0..24).map(only_8).collect::<Vec<_>>());

    let shown = stat(dir, &["--by", "day", "--bars"]);
    let crossed = stat(dir, &["--by", "day,user", "--svg", "-"]);
    let svg = stat(dir, &["--by", "day", "--svg", "-"]);
    let matrix = stat(dir, &["--by", "day,user", "--gnuplot"]);
    for (day, runs) in &expected {
        assert!(shown.contains(&format!("{day} ")), "{day} in {shown}");
        assert!(matrix.contains(&format!("\n\"{day}\" ")), "{day} in {matrix}");
        if *runs > 0 {
            assert!(svg.contains(&format!("{day}: ")), "{day} in {svg}");
            assert!(crossed.contains(&format!("{day}, ann: ")), "{day} in {crossed}");
        }
    }
    for text in [shown, svg, crossed, matrix] {
        assert!(!text.contains("other ("), "{text}");
    }
}

#[test]
fn long_gaps_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let text = line("1999/05/04", 8, "ann", 1, 1)
        + &line("2026/11/20", 8, "ann", 1, 2)
        + &line("2026/11/22", 8, "ann", 1, 3);
    std::fs::write(dir.path().join("topas.log"), text).unwrap();
    let expected = ["1999-05-04", "2026-11-20", "2026-11-21", "2026-11-22"];
    let names: Vec<String> =
        rows(dir.path(), &["--by", "day"]).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, expected);
    let text = stat(dir.path(), &["--by", "day"]);
    assert!(text.contains("\nDate: without 10061 dates that have no runs, in 1 gap.\n"), "{text}");
    let months = rows(dir.path(), &["--by", "month"]);
    assert_eq!(months.len(), 331);
}

#[test]
fn the_data_decides_the_buckets() {
    let dir = tempfile::tempdir().unwrap();
    let put = |rates: &[u64]| {
        let line = |(id, rate): (usize, &u64)| line("2026/11/20", 8, "ann", *rate, id);
        let text: String = rates.iter().enumerate().map(line).collect();
        std::fs::write(dir.path().join("topas.log"), text).unwrap();
    };
    let names = |args: &[&str]| -> Vec<String> {
        rows(dir.path(), &[&["--by", "mflops"], args].concat())
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    };
    // As in 1999.
    put(&[10, 60, 1170]);
    assert_eq!(names(&[]), ["0-50", "50-100", "1150-1200"]);
    // 25 buckets.
    let many: Vec<u64> = (0..25).map(|at| at * 50 + 1).collect();
    put(&many);
    let logarithmic = ["1-2", "50-100", "100-200", "200-500", "500-1000", "1000-2000"];
    for threads in ["1", "2", "7"] {
        assert_eq!(names(&["--threads", threads]), logarithmic);
    }
    assert_eq!(names(&["--bucket", "50"]).len(), 25);
    assert_eq!(names(&["--upper", "100"]), ["0-50", "50-100", ">=100"]);
    let text = stat(dir.path(), &[]);
    let note = "Mflops: logarithmic buckets, because the data would fill 25 buckets of 50\n    \
                (--bucket mflops=50).\n";
    assert!(text.contains(note), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&stat(dir.path(), &["--by", "mflops,user", "--json"])).unwrap();
    let scales = &json["tables"][0]["scales"];
    assert_eq!(
        (&scales[0]["kind"], &scales[0]["linear_rows"]),
        (&"logarithmic".into(), &25.into())
    );
    assert!(scales[1].is_null());
    // All of them slow.
    put(&[1, 3, 30]);
    assert_eq!(names(&[]), ["1-2", "2-5", "20-50"]);
}
