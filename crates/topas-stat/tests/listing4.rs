//! The report of the 1999 paper (Listing 4) from a log whose sums are those of the paper.
//!
//! The three tables of the paper do not add up to the same: against the table of the
//! libraries (68263 runs), the MFlop/s table lacks 275 runs of 0:15:42, and its percentages
//! are of the rest; the table of languages lacks 34 runs of 0:01:12. Here the former are
//! runs without a count and the latter are Fortran 77, so every row of the paper must come
//! out with the same bytes. The paper's rows of languages and libraries are in no order;
//! ours are in ascending order of Num.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

const PAPER: &str = include_str!("golden/listing4.txt");
const EXPECTED: &str = include_str!("golden/listing4.expected.txt");

/// A row of a table: its label, number of runs, PE seconds.
struct Margin {
    label: String,
    runs: u64,
    seconds: u64,
}

fn seconds(hms: &str) -> u64 {
    hms.split(':').fold(0, |sum, part| sum * 60 + part.parse::<u64>().unwrap())
}

/// The rows below a heading of the paper, and one more.
fn table(heading: &str, more: Option<(&str, u64, &str)>) -> Vec<Margin> {
    let lines = PAPER.lines().skip_while(|line| !line.trim_start().starts_with(heading)).skip(2);
    let mut rows: Vec<Margin> = lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let cells: Vec<&str> = line[7..].split_whitespace().collect();
            let label = line[..7].replace(' ', "");
            Margin { label, runs: cells[1].parse().unwrap(), seconds: seconds(cells[3]) }
        })
        .collect();
    rows.extend(more.map(|(label, runs, time)| Margin {
        label: label.to_owned(),
        runs,
        seconds: seconds(time),
    }));
    rows
}

/// Cells of three tables that have the given sums in each: cuts the same length into
/// pieces at the marks of all three.
fn cells(tables: [&[u64]; 3]) -> Vec<([usize; 3], u64)> {
    let mut at = [0; 3];
    let mut left = tables.map(|table| table[0]);
    let mut cells = Vec::new();
    loop {
        let piece = left.into_iter().min().unwrap();
        if piece > 0 {
            cells.push((at, piece));
        }
        left = left.map(|left| left - piece);
        for i in 0..3 {
            while left[i] == 0 {
                at[i] += 1;
                if at[i] == tables[i].len() {
                    assert!(left.iter().all(|&left| left == 0), "the tables add up to the same");
                    return cells;
                }
                left[i] = tables[i][at[i]];
            }
        }
    }
}

/// 68263 runs. Each takes one PE second, and the rest of the time goes to few.
fn log() -> String {
    let rates = table("Mflops", Some(("-", 275, "0:15:42")));
    let langs = table("Lang", Some(("f77", 34, "0:01:12")));
    let libs = table("MP-Lib", None);
    let tables = [&rates, &langs, &libs];
    let of = |value: fn(&Margin) -> u64| tables.map(|t| t.iter().map(value).collect::<Vec<_>>());

    let times = of(|margin| margin.seconds - margin.runs);
    let times = cells([&times[0], &times[1], &times[2]]);
    let mut runs = of(|margin| margin.runs);
    for (at, _) in &times {
        (0..3).for_each(|i| runs[i][at[i]] -= 1);
    }
    let rest = cells([&runs[0], &runs[1], &runs[2]]);

    let mut log = String::new();
    let mut id = 0;
    let mut run = |at: [usize; 3], pe_seconds: u64| {
        id += 1;
        let date = if id % 2 == 0 { "1999/05/04" } else { "1999/08/23" };
        let bucket = &rates[at[0]].label;
        let (lang, lib) = (&langs[at[1]].label, &libs[at[2]].label);
        // With 1000 PEs a PE second is a millisecond of wall clock time.
        let wall = format!("{}.{:03}", pe_seconds / 1000, pe_seconds % 1000);
        let ops = match bucket.split_once('-') {
            Some((from, _)) if !from.is_empty() => {
                format!("f={}", (from.parse::<u64>().unwrap() + 1) * pe_seconds * 1000)
            }
            _ => "f=-".to_owned(),
        };
        for (pe, ops) in [(3, ops.as_str()), (800, "i=7")] {
            writeln!(
                log,
                "{date} 12:00:00 mohr a.out {pe} 1000 t450 B {lang} {lib} 1.0 0.1 {wall} {ops} 10 {id}"
            )
            .unwrap();
        }
    };
    for (at, seconds) in times {
        run(at, 1 + seconds);
    }
    for (at, number) in rest {
        (0..number).for_each(|_| run(at, 1));
    }
    log
}

#[test]
fn the_paper_is_reproduced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("topas.log");
    std::fs::write(&path, log()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_topas-stat")).arg(&path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(report, EXPECTED);
    let ours: BTreeSet<&str> = report.lines().collect();
    for line in PAPER.lines() {
        assert!(ours.contains(line), "the paper has {line:?}");
    }
}
