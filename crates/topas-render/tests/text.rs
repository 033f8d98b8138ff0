//! The layout of the report for people.

use proptest::prelude::*;
use topas_data::{Joiner, Source, Statistics, Tally, scan_reader};
use topas_render::{Csv, Form, Gnuplot, Json, report};

/// Statistics of lines that are given by npes, wall clock seconds, operations, lang, lib.
fn statistics(bucket: &str, lines: &[(u32, &str, &str, &str, &str)]) -> Statistics {
    let mut text = String::new();
    for (id, (npes, wall, ops, lang, lib)) in lines.iter().enumerate() {
        text += &format!(
            "1999/05/04 12:00:00 u x 1 {npes} - B {lang} {lib} 0.0 0.0 {wall} {ops} - {id}\n"
        );
    }
    let mut joiner = Joiner::new();
    let mut tally = Tally::default();
    scan_reader(
        &Source::Stdin,
        text.as_bytes(),
        &mut tally,
        |line, extras| joiner.add(line, extras, &Statistics::key(line)),
        |_| (),
    )
    .unwrap();
    assert_eq!(tally.good, lines.len() as u64, "{:?}", tally.examples());
    let mut statistics = Statistics::new(bucket.parse().unwrap());
    joiner.runs(|run| statistics.add(run));
    statistics
}

#[test]
fn columns_widen_where_numbers_need_it() {
    let mut lines = vec![(1000, "72000000.0", "f=-", "c", "mpi")];
    lines.resize(123_457, (4, "0.1", "f=100000000", "c", "mpi"));
    let report = report(&statistics("50", &lines));
    let table: Vec<&str> = report.lines().take_while(|line| !line.starts_with("Mflops:")).collect();
    assert_eq!(
        table[..9],
        [
            "===============================================",
            "TOPAS Report           1999/05/04 to 1999/05/04",
            "===============================================",
            "",
            "   Mflops    Num%    Num   Time%           Time",
            "-----------------------------------------------",
            "1000-1050 100.00% 123456 100.00%       13:43:02",
            "        -       -      1       - 20000000:00:00",
            "",
        ]
    );
    let widths: Vec<usize> = table.iter().map(|line| line.len()).filter(|&w| w > 0).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{report}");
}

#[test]
fn the_dash_is_explained() {
    let report = report(&statistics(
        "50",
        &[
            (4, "1.0", "f=-", "c", "mpi"),
            (4, "1.0", "i=5", "c", "mpi"),
            (4, "0.0", "f=5", "c", "mpi"),
            (4, "1.0", "f~5000000", "c", "-"),
        ],
    ));
    for line in [
        "  0- 50 100.00%     1 100.00%      0:00:04",
        "      -       -     3       -      0:00:08",
        "      -  25.00%     1  33.33%      0:00:04",
        "Num% of 4 runs, Time% of 0:00:12 PE x wall clock (h:mm:ss).",
        "Under Mflops: Num% of 1 run with a rate, Time% of their 0:00:04.",
        "- : 2 runs without a count of floating point operations (not measured)",
        "- : 1 run with a wall clock time of 0 (not measured)",
        "~ : 1 run counted by an estimate",
    ] {
        assert!(report.lines().any(|l| l == line), "no {line:?} in\n{report}");
    }
}

#[test]
fn nothing_measured_leaves_no_zero() {
    let statistics = statistics("50", &[(4, "1.0", "f=-", "c", "mpi")]);
    let report = report(&statistics);
    let row = report.lines().nth(6);
    assert_eq!(row, Some("      -       -     1       -      0:00:04"), "{report}");
    assert!(Csv.render(&statistics).contains("\nmflops,not measured,,,1,,4.000000,\n"));
    assert!(Gnuplot.render(&statistics).contains("\n\"not measured\" - - 1 - 4.000000 -\n"));
    assert!(Json.render(&statistics).contains("\"mflops\": []"));
}

#[test]
fn runs_of_no_time_have_no_share_of_it() {
    let report = report(&statistics("50", &[(4, "0.0", "f=-", "c", "mpi")]));
    assert!(report.contains("\n      c 100.00%     1       -      0:00:00\n"), "{report}");
}

#[test]
fn no_runs_is_said() {
    let none = statistics("50", &[]);
    assert_eq!(report(&none), "no runs\n");
    assert_eq!(Csv.render(&none).lines().count(), 1);
    assert!(Gnuplot.render(&none).starts_with("# TOPAS report, no runs\n"));
    assert!(Json.render(&none).contains("\"first_day\": null"));
}

proptest! {
    #[test]
    fn percentages_add_up(runs in proptest::collection::vec((1..100u32, 1..10_000u32, 0..5usize, 0..4usize), 1..60)) {
        let lines: Vec<_> = runs
            .iter()
            .map(|(npes, wall, lang, lib)| (*npes, wall.to_string(), *lang, *lib))
            .collect();
        let lines: Vec<_> = lines
            .iter()
            .map(|(npes, wall, lang, lib)| {
                let words = (["c", "cxx", "f77", "f90", "-"][*lang], ["mpi", "pvm", "sma", "-"][*lib]);
                (*npes, wall.as_str(), "f=123456789", words.0, words.1)
            })
            .collect();
        let csv = Csv.render(&statistics("0.01", &lines));
        for table in ["mflops", "lang", "mp_lib"] {
            for column in [5, 7] {
                let cells: Vec<f64> = csv
                    .lines()
                    .filter(|line| line.starts_with(table))
                    .map(|line| line.split(',').nth(column).unwrap().parse().unwrap())
                    .collect();
                let sum: f64 = cells.iter().sum();
                // Each is off by at most half of its last digit.
                prop_assert!((sum - 100.0).abs() <= 0.00005 * cells.len() as f64 + 1e-9, "{csv}");
            }
        }
    }
}
