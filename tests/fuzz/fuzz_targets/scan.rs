//! Any bytes as a log, plain or compressed: every line is counted, joined and added up.
#![no_main]

use std::num::NonZero;

use libfuzzer_sys::fuzz_target;
use topas_data::measure::MEASURES;
use topas_data::{
    LogReport, Period, PlanError, ReportPlan, Resources, Selection, Source, TableOrder, TableSide,
    ask_reader,
};

fuzz_target!(|text: &[u8]| {
    // Tables by every field and measure.
    let mut plan = ReportPlan::new(Selection::default(), Period::default());
    let measures: Vec<_> = MEASURES.iter().collect();
    for name in ReportPlan::names() {
        match TableSide::named(name) {
            Ok(side) => plan.table(&[side], &measures).unwrap(),
            // There are no jobs here to join.
            Err(PlanError::NeedsSacct(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let answer = ask_reader(
        &Source::Stdin,
        text,
        &plan,
        || LogReport::new(&plan),
        &Resources { threads: NonZero::<usize>::MIN, ..Resources::default() },
        |_| (),
    );
    let Ok(answer) = answer else { panic!("no temporary file is needed") };
    let report = answer.fold;
    assert!(report.total.runs <= answer.tally.good);
    for table in report.tables(&TableOrder { top: Some(3), ..TableOrder::default() }) {
        let runs: u64 = table.rows.iter().map(|row| row.share.runs).sum();
        assert_eq!(runs, report.total.runs);
    }
});
