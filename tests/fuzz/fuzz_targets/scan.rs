//! Any bytes as a log, plain or compressed: every line is counted, joined and added up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_data::measure::MEASURES;
use topas_data::{
    By, Fold, Joiner, Order, Period, Plan, Question, Report, Selection, Source, Tally, scan_reader,
};

fuzz_target!(|text: &[u8]| {
    let mut tally = Tally::default();
    // Tables by every field and measure.
    let mut plan = Plan::new(Selection::default(), Period::default());
    let measures: Vec<_> = MEASURES.iter().collect();
    for name in Plan::names() {
        plan.table(&[By::named(name).unwrap()], &measures).unwrap();
    }
    let mut joiner = Joiner::with(plan.detail());
    let mut key = Vec::new();
    let mut good = 0;
    let _ = scan_reader(
        &Source::Stdin,
        text,
        &mut tally,
        |line, extras| {
            good += 1;
            key.clear();
            plan.key(line, extras, &mut key);
            joiner.add(line, extras, &key);
        },
        |_| (),
    );
    assert_eq!(tally.good, good);
    let mut report = Report::new(&plan);
    joiner.runs(|run| report.add(run));
    for table in report.tables(&Order { top: Some(3), ..Order::default() }) {
        let runs: u64 = table.rows.iter().map(|row| row.share.runs).sum();
        assert_eq!(runs, report.total.runs);
    }
});
