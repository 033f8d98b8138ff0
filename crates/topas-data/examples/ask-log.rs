//! Statistics of logs with nothing around them, to measure the engine: the number of runs,
//! PE seconds and FP operations by language.
//!
//! ```text
//! cargo run --release --package topas-data --example ask-log -- THREADS MEMORY_MB FILE...
//! ```

use std::num::NonZero;
use std::path::Path;

use topas_data::{BucketSize, Fold, Question, Remarks, Resources, Run, Statistics, ask, expand};
use topas_format::line::{Extras, Line};

struct All;

impl Question for All {
    fn key(&self, line: &Line<'_>, _: Extras<'_>, key: &mut Vec<u8>) {
        key.extend_from_slice(&Statistics::key(line));
    }
}

struct Sums {
    statistics: Statistics,
    remarks: Remarks,
    operations: u128,
}

impl Fold for Sums {
    fn add(&mut self, run: &Run<'_>) {
        self.statistics.add(run);
        self.remarks.add(run);
        self.operations += run.fp().map_or(0, |fp| fp.operations);
    }

    fn merge(&mut self, other: Self) {
        let total = &mut self.statistics.total;
        total.runs += other.statistics.total.runs;
        total.time.0 += other.statistics.total.time.0;
        self.remarks.merge(other.remarks);
        self.operations += other.operations;
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = || -> u64 { arguments.next().and_then(|n| n.parse().ok()).expect("a number") };
    let threads = NonZero::new(number() as usize).expect("a thread at least");
    let memory = number() << 20;
    let resources = Resources { threads, memory, ..Resources::default() };
    let sources: Vec<_> =
        arguments.flat_map(|path| expand(Path::new(&path)).expect("a log")).collect();
    let sums = || Sums {
        statistics: Statistics::new(BucketSize::default()),
        remarks: Remarks::default(),
        operations: 0,
    };
    let answer = ask(&sources, &All, sums, &resources, |_| ()).expect("an answer");
    let Sums { statistics, remarks, operations } = answer.fold;
    println!("{} lines, {} skipped", answer.tally.lines(), answer.tally.skipped());
    println!(
        "{} runs, {} PE s, {operations} operations",
        statistics.total.runs,
        statistics.total.time.whole_seconds()
    );
    println!("{remarks:?} {:?}", answer.failed);
}
