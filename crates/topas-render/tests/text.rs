//! The layout of the report for people.

use proptest::prelude::*;
use topas_data::measure::{BucketSize, ScaleKind};
use topas_data::{
    LogReport, Period, ReportPlan, Resources, Selection, Source, TableOrder, TableSide, ask_reader,
};
use topas_render::{Csv, Document, Gnuplot, Json, JsonLines, R, ReportForm, TextReport};

/// A log of lines that are given by npes, wall clock seconds, operations, lang, lib.
fn log(lines: &[(u32, &str, &str, &str, &str)]) -> String {
    let line = |(id, (npes, wall, ops, lang, lib)): (usize, &(u32, &str, &str, &str, &str))| {
        format!("1999/05/04 12:00:00 u x 1 {npes} - B {lang} {lib} 0.0 0.0 {wall} {ops} - {id}\n")
    };
    lines.iter().enumerate().map(line).collect()
}

/// The tables of the paper in a form.
fn render(form: &dyn ReportForm, bucket: &str, lines: &[(u32, &str, &str, &str, &str)]) -> String {
    let mut plan = ReportPlan::new(Selection::default(), Period::default());
    for name in ["mflops", "lang", "lib"] {
        plan.table(&[TableSide::named(name).unwrap()], &[]).unwrap();
    }
    let size: BucketSize = bucket.parse().unwrap();
    plan.scales().for_each(|(_, scale)| scale.kind = ScaleKind::Linear(size));
    render_plan(form, &plan, &log(lines))
}

fn render_plan(form: &dyn ReportForm, plan: &ReportPlan, log: &str) -> String {
    let (source, resources) = (Source::Stdin, Resources::default());
    let fold = || LogReport::new(plan);
    let answer = ask_reader(&source, log.as_bytes(), plan, fold, &resources, |_| ()).unwrap();
    let (report, tally) = (answer.fold, answer.tally);
    assert_eq!(tally.skipped(), 0, "{:?}", tally.examples());
    let tables = report.tables(&TableOrder::default());
    form.render(&Document {
        report: &report,
        tables: &tables,
        tally: &tally,
        unwanted: 0,
        unwanted_runs: 0,
        aside: 0,
        coverage: None,
    })
}

const TEXT: TextReport = TextReport { width: Some(80) };

/// The report for people, without the remarks on lines.
fn report(bucket: &str, lines: &[(u32, &str, &str, &str, &str)]) -> String {
    let text = render(&TEXT, bucket, lines);
    text.lines()
        .filter(|line| !line.starts_with("! :"))
        .map(|line| line.to_owned() + "\n")
        .collect()
}

#[test]
fn columns_widen_where_numbers_need_it() {
    let mut lines = vec![(1000, "72000000.0", "f=-", "c", "mpi")];
    lines.resize(123_457, (4, "0.1", "f=100000000", "c", "mpi"));
    let report = report("50", &lines);
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
    let report = report(
        "50",
        &[
            (4, "1.0", "f=-", "c", "mpi"),
            (4, "1.0", "i=5", "c", "mpi"),
            (4, "0.0", "f=5", "c", "mpi"),
            (4, "1.0", "f~5000000", "c", "-"),
        ],
    );
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
    assert!(!report.contains("topas-doctor"), "{report}");
}

#[test]
fn nothing_measured_leaves_no_zero() {
    let lines = [(4, "1.0", "f=-", "c", "mpi")];
    let report = report("50", &lines);
    let row = report.lines().nth(6);
    assert_eq!(row, Some("      -       -     1       -      0:00:04"), "{report}");
    let next = report.split_once("(not measured)\n").and_then(|(_, rest)| rest.lines().next());
    assert!(next.is_some_and(|next| next.starts_with("Next: Call topas-doctor")), "{report}");
    let of = |form: &dyn ReportForm| render(form, "50", &lines);
    assert!(of(&Csv).contains("\nmflops,not measured,,,1,,4.000000,\n"));
    assert!(of(&Gnuplot).contains("\n\"not measured\" - - 1 - 4.000000 -\n"));
    assert!(of(&R).contains("runs_percent = c(NA_real_)"));
    let json: serde_json::Value = serde_json::from_str(&of(&Json)).unwrap();
    let row = &json["tables"][0]["rows"][0];
    assert_eq!((&row["runs_percent"], &row["runs"]), (&serde_json::Value::Null, &1.into()));
    assert!(row.get("from").is_none());
    let first: serde_json::Value =
        serde_json::from_str(of(&JsonLines).lines().next().unwrap()).unwrap();
    assert_eq!(first["time_percent"], serde_json::Value::Null);
}

#[test]
fn runs_of_no_time_have_no_share_of_it() {
    let report = report("50", &[(4, "0.0", "f=-", "c", "mpi")]);
    assert!(report.contains("\n      c 100.00%     1       -      0:00:00\n"), "{report}");
}

#[test]
fn no_runs_is_said() {
    let of = |form: &dyn ReportForm| render(form, "50", &[]);
    assert_eq!(of(&TEXT), "no runs\n");
    assert_eq!(of(&Csv).lines().count(), 1);
    assert!(of(&Gnuplot).starts_with("# TOPAS report, no runs\n"));
    assert!(of(&Json).contains("\"first_day\": null"));
    assert_eq!(of(&JsonLines), "");
}

fn by(names: &[&str], columns: &[&str]) -> ReportPlan {
    use topas_data::measure::Measure;
    let mut plan = ReportPlan::new(Selection::default(), Period::default());
    let by: Vec<TableSide> = names.iter().map(|name| TableSide::named(name).unwrap()).collect();
    let columns: Vec<_> = columns.iter().map(|name| Measure::named(name).unwrap()).collect();
    plan.table(&by, &columns).unwrap();
    plan
}

const NAMES: &str = "\
1999/05/04 12:00:00 a,b x 0 2 - B c mpi 1.0 1.0 2.0 f=100 - 1
1999/05/04 12:00:00 a,b x 1 2 - B c mpi 3.0 1.0 4.0 i=100 - 1
1999/05/04 12:00:00 %22q\\%22 x 1 2 - B c mpi 1.0 0.0 2.0 f=100 - 2
1999/05/04 12:00:00 größe%0A%E2%80%AE x 1 2 - B c mpi 1.0 0.0 2.0 f=100 - 3
1999/05/04 12:00:00 a-name-that-is-so-long-that-no-table-of-eighty-columns-can-ever-have-room-for-it x 1 2 - B c mpi 1.0 0.0 2.0 f=100 - 4
";

#[test]
fn names_of_any_bytes() {
    let plan = by(&["user"], &["cpu_use"]);
    let of = |form: &dyn ReportForm| render_plan(form, &plan, NAMES);
    let text = of(&TEXT);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("a-name-that-is-so-long-that-no-table-of-eig..  25.00% "), "{text}");
    let wide = of(&TextReport { width: None });
    assert!(wide.contains("-can-ever-have-room-for-it  25.00%"), "{wide}");
    assert!(wide.contains(" größe%0A%E2%80%AE  25.00% "), "{wide}");
    let csv = of(&Csv);
    assert!(
        csv.contains("\nuser,\"a,b\",,,1,") && csv.contains("\nuser,\"\"\"q\\\"\"\",,,1,"),
        "{csv}"
    );
    assert!(of(&Gnuplot).contains("\n\"\\\"q\\\\\\\"\" - - 1 "));
    let r = of(&R);
    assert!(r.is_ascii() && r.contains("gr\\u{f6}\\u{df}e%0A%E2%80%AE"), "{r}");
    let row: serde_json::Value =
        serde_json::from_str(of(&JsonLines).lines().next().unwrap()).unwrap();
    assert_eq!(row["name"], "\"q\\\"");
}

#[test]
fn a_measure_has_a_table_of_its_own() {
    // User a,b: 2 PEs that both measured, 6 s CPU in 6 s. The others 1 s CPU in 2 s of one
    // of two PEs.
    let text = render_plan(&TEXT, &by(&["npes"], &["cpu_use"]), NAMES);
    let table: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("CPU%,")).take(4).collect();
    assert_eq!(
        table,
        [
            "CPU%, % of wall clock time",
            "    PEs   Num  None   Mean    Q25 Median    Q75      Sum   +/-",
            "--------------------------------------------------------------",
            "      2     4     0  66.67  50.00  50.00  62.50 0.003333   0%*",
        ]
    );
    let notes = text.replace("\n    ", " ");
    for note in [
        "extrapolated from 5 of 8 PEs in 4 runs.",
        "known of 1 run with two values, 50.0% of the sum of CPU%.",
    ] {
        assert!(notes.contains(note), "{text}");
    }
}

#[test]
fn two_fields_are_two_columns() {
    let lines = log(&[
        (4, "1.0", "f=10000000", "c", "mpi"),
        (16, "1.0", "f=60000000", "c", "-"),
        (16, "1.0", "f=-", "f90", "-"),
    ]);
    let plan = by(&["mflops", "npes"], &[]);
    let text = render_plan(&TEXT, &plan, &lines);
    assert!(text.contains("\n  0- 50   4  50.00%     1  20.00%      0:00:04\n"), "{text}");
    assert!(text.contains("\n 50-100  16  50.00%     1  80.00%      0:00:16\n"), "{text}");
    assert!(text.contains("\n      -  16       -     1       -      0:00:16\n"), "{text}");
    let gnuplot = render_plan(&Gnuplot, &plan, &lines);
    let matrix = "\"mflops\" \"4\" \"16\"\n\"0-50\" 50.0000 0.0000\n\"50-100\" 0.0000 50.0000\n";
    assert!(gnuplot.ends_with(matrix), "{gnuplot}");
    let csv = render_plan(&Csv, &plan, &lines);
    assert!(csv.contains("\n\"mflops,npes\",0-50,0,50,4,,,1,50.0000,4.000000,20.0000\n"), "{csv}");
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
        let csv = render(&Csv, "0.01", &lines);
        for table in ["mflops", "lang", "lib"] {
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
