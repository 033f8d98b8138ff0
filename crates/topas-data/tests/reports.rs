//! Reports of random runs: sums, order and merging.

use proptest::prelude::*;
use topas_data::measure::MEASURES;
use topas_data::{
    Fold, Label, LogReport, Period, ReportPlan, ReportTable, Resources, Selection, Share, SortKey,
    Source, TableOrder, TableSide, ask_reader,
};

/// A run of one or two lines.
#[derive(Clone, Debug)]
struct Spec {
    user: usize,
    lang: usize,
    npes: u32,
    wall: u64,
    ops: usize,
    lines: u32,
}

fn any_run() -> impl Strategy<Value = Spec> {
    (0..4usize, 0..4usize, 1..40u32, 0..100_000u64, 0..6usize, 1..3u32).prop_map(
        |(user, lang, npes, wall, ops, lines)| Spec { user, lang, npes, wall, ops, lines },
    )
}

fn log(runs: &[Spec]) -> String {
    let mut text = String::new();
    for (id, run) in runs.iter().enumerate() {
        for pe in 0..run.lines.min(run.npes) {
            let user = ["ann", "bob", "c%20c", "#5"][run.user];
            let lang = ["c", "f90", "cxx", "-"][run.lang];
            let ops = ["f=-", "f=0", "f=777777", "f~123456789012345", "i=5", "f=99999999999999999"]
                [run.ops];
            let (sys, wall) = (pe + 1, run.wall + u64::from(pe));
            text += &topas_testkit::with_lengths(&format!(
                "2026/11/20 08:00:00 {user} x {pe} {} t2596 B {lang} mpi 5.0 {sys}.0 {}.{:03} {ops} {} {id} v=1 t=1795161600 cyc=7 ins=3\n",
                run.npes,
                wall / 1000,
                wall % 1000,
                1000 * (pe + 1),
            ));
        }
    }
    text
}

fn plan(tables: &[&str]) -> ReportPlan {
    let mut plan = ReportPlan::new(Selection::default(), Period::default());
    let measures: Vec<_> = MEASURES.iter().collect();
    for table in tables {
        let by: Vec<TableSide> =
            table.split(',').map(|name| TableSide::named(name).unwrap()).collect();
        plan.table(&by, &measures).unwrap();
    }
    plan
}

fn report<'p>(plan: &'p ReportPlan, text: &str) -> LogReport<'p> {
    let (source, resources) = (Source::Stdin, Resources::default());
    let fold = || LogReport::new(plan);
    let answer = ask_reader(&source, text.as_bytes(), plan, fold, &resources, |_| ()).unwrap();
    assert_eq!(answer.tally.skipped(), 0, "{:?}", answer.tally.examples());
    answer.fold
}

fn sum(rows: impl IntoIterator<Item = Share>) -> Share {
    rows.into_iter().fold(Share::default(), Share::plus)
}

/// All that is shown of a table, as text.
fn shown(tables: &[ReportTable]) -> String {
    let samples = tables.iter().flat_map(|table| {
        table.rows.iter().flat_map(|row| {
            let columns = table.columns.iter().zip(&row.samples);
            columns.map(|(m, s)| format!("{:?} {:?} {:?}\n", s.mean(m), s.quartiles(), s.sum(m)))
        })
    });
    let samples: String = samples.collect();
    let rows = tables.iter().flat_map(|t| t.rows.iter().map(|row| (row.labels.clone(), row.share)));
    format!("{:?}\n{samples}", rows.collect::<Vec<_>>())
}

const TABLES: [&str; 6] = ["mflops", "lang", "user,npes_class", "sys_share,lang", "ipc", "day"];

proptest! {
    #[test]
    fn sums_of_every_table_are_the_total(runs in proptest::collection::vec(any_run(), 0..60), top in 0..4usize) {
        let plan = plan(&TABLES);
        let report = report(&plan, &log(&runs));
        prop_assert_eq!(report.total.runs, runs.len() as u64);
        for order in [TableOrder::default(), TableOrder { top: Some(top.max(1)), ..TableOrder::default() }] {
            for table in report.tables(&order) {
                prop_assert_eq!(sum(table.rows.iter().map(|row| row.share)), report.total);
                prop_assert_eq!(sum(table.rows.iter().filter(|row| row.counts).map(|row| row.share)), table.of);
                for row in &table.rows {
                    for sample in &row.samples {
                        let parts = [sample.valued, sample.uncounted, sample.zero, sample.accelerated];
                        prop_assert_eq!(sum(parts), row.share);
                    }
                }
            }
        }
    }

    #[test]
    fn parts_make_the_whole(runs in proptest::collection::vec(any_run(), 0..60), cut in 0..60usize) {
        let plan = plan(&TABLES);
        let whole = shown(&report(&plan, &log(&runs)).tables(&TableOrder::default()));
        let (one, other) = runs.split_at(cut.min(runs.len()));
        for (a, b) in [(one, other), (other, one)] {
            let mut merged = report(&plan, &log(a));
            merged.merge(report(&plan, &log(b)));
            prop_assert_eq!(&shown(&merged.tables(&TableOrder::default())), &whole);
        }
    }
}

fn spec(user: usize, npes: u32, wall: u64, ops: usize) -> Spec {
    Spec { user, lang: 0, npes, wall, ops, lines: 1 }
}

fn labels(table: &ReportTable) -> Vec<String> {
    table
        .rows
        .iter()
        .map(|row| match &row.labels[0] {
            Label::Value(text) => text.clone(),
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn orders_of_rows() {
    let runs = [
        spec(0, 1, 1000, 2),
        spec(0, 1, 1000, 0),
        spec(1, 30, 1000, 5),
        spec(2, 2, 5000, 2),
        spec(3, 1, 9000, 0),
    ];
    let text = log(&runs);
    let plan = plan(&["user", "npes"]);
    let report = report(&plan, &text);
    let order = |order: TableOrder| -> Vec<Vec<String>> {
        report.tables(&order).iter().map(labels).collect()
    };
    let sorted = |sort| TableOrder { sort: Some(sort), ..TableOrder::default() };
    let mflops = topas_data::measure::Measure::named("mflops").unwrap();
    // Texts by number of runs, then by name; numbers ascend.
    assert_eq!(
        order(TableOrder::default()),
        [vec!["#5", "bob", "c c", "ann"], vec!["1", "2", "30"]]
    );
    assert_eq!(order(sorted(SortKey::Name))[0], ["#5", "ann", "bob", "c c"]);
    assert_eq!(
        order(sorted(SortKey::Runs)),
        [vec!["ann", "#5", "bob", "c c"], vec!["1", "2", "30"]]
    );
    assert_eq!(
        order(sorted(SortKey::Time)),
        [vec!["bob", "c c", "#5", "ann"], vec!["30", "1", "2"]]
    );
    // Without a value comes last.
    assert_eq!(order(sorted(SortKey::Mean(mflops)))[0], ["bob", "ann", "c c", "#5"]);
    assert_eq!(order(TableOrder { reverse: true, ..sorted(SortKey::Time) })[1], ["2", "1", "30"]);
    let top = TableOrder { top: Some(1), ..TableOrder::default() };
    assert_eq!(order(top), [vec!["bob", "Other(3)"], vec!["30", "Other(2)"]]);
    // A row for the rest is no gain where the rest is one.
    assert_eq!(
        order(TableOrder { top: Some(3), ..TableOrder::default() })[0],
        ["bob", "c c", "#5", "ann"]
    );
}

#[test]
fn not_measured_is_not_zero() {
    let plan = plan(&["mflops"]);
    let report = report(
        &plan,
        &log(&[spec(0, 4, 5000, 0), spec(0, 4, 5000, 4), spec(0, 4, 0, 2), spec(0, 4, 5000, 1)]),
    );
    let sample = report.sample(MEASURES.first().unwrap()).unwrap();
    assert_eq!((sample.uncounted.runs, sample.zero.runs, sample.valued.runs), (2, 1, 1));
    let table = &report.tables(&TableOrder::default())[0];
    let rows: Vec<_> =
        table.rows.iter().map(|row| (&row.labels[0], row.share.runs, row.counts)).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].1, rows[0].2), (1, true));
    assert_eq!(rows[1], (&Label::Missing, 3, false));
}
