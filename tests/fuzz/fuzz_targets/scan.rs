//! Any bytes as a log, plain or compressed: every line is counted, joined and added up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_data::{BucketSize, Joiner, Source, Statistics, Tally, scan_reader};

fuzz_target!(|text: &[u8]| {
    let mut tally = Tally::default();
    let mut joiner = Joiner::new();
    let mut good = 0;
    let _ = scan_reader(
        &Source::Stdin,
        text,
        &mut tally,
        |line, extras| {
            good += 1;
            joiner.add(line, extras, &Statistics::key(line));
        },
        |_| (),
    );
    assert_eq!(tally.good, good);
    let mut statistics = Statistics::new(BucketSize::default());
    joiner.runs(|run| statistics.add(run));
});
