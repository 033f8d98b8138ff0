//! Statistics of logs with nothing around them, to measure the engine: the number of runs,
//! PE seconds and FP operations by language.
//!
//! ```text
//! cargo run --release --package topas-data --example ask-log -- THREADS MEMORY_MB FILE...
//! ```

use std::num::NonZero;
use std::path::PathBuf;

use topas_data::{
    Fold, Inputs, LogReport, Period, ReportPlan, Resources, Run, Selection, TableSide, ask,
};

struct Sums<'p> {
    report: LogReport<'p>,
    operations: u128,
}

impl Fold for Sums<'_> {
    fn add(&mut self, run: &Run<'_>) {
        self.report.add(run);
        self.operations += run.fp().map_or(0, |fp| fp.operations);
    }

    fn merge(&mut self, other: Self) {
        self.report.merge(other.report);
        self.operations += other.operations;
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = || -> u64 { arguments.next().and_then(|n| n.parse().ok()).expect("a number") };
    let threads = NonZero::new(number() as usize).expect("a thread at least");
    let memory = number() << 20;
    let resources = Resources { threads, memory, ..Resources::default() };
    let inputs = Inputs::new(&arguments.map(PathBuf::from).collect::<Vec<_>>());
    assert!(inputs.failed.is_empty(), "a log");
    let mut plan = ReportPlan::new(Selection::default(), Period::default());
    for name in ["mflops", "lang", "lib"] {
        plan.table(&[TableSide::named(name).expect("a name")], &[]).expect("a table");
    }
    let sums = || Sums { report: LogReport::new(&plan), operations: 0 };
    let answer = ask(&inputs.sources, &plan, sums, &resources, |_| ()).expect("an answer");
    let Sums { report, operations } = answer.fold;
    println!("{} lines, {} skipped", answer.tally.lines(), answer.tally.skipped());
    println!(
        "{} runs, {} PE s, {operations} operations",
        report.total.runs,
        report.total.time.whole_seconds()
    );
    println!("{:?} {:?}", report.remarks, answer.failed);
}
