//! What the ranks count where all measure, on this machine's own processor row, played by the PMU
//! stand-in: one kind of operations for all of them.

use std::fs;

use topas_format::event::Metric;
use topas_testkit::pmu;
use topas_tests::build::{source, with_module};
use topas_tests::gang::Gang;
use topas_tests::processor::{CYCLES_SEEN, INSTRUCTIONS_SEEN, Processor};
use topas_tests::record::read_log;
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

#[test]
fn every_rank_counts_the_same_operations() {
    let Some(row) = Processor::here() else {
        let reason = "this machine's processor is not in the event table";
        return skip("every_rank_counts_the_same_operations", reason);
    };
    let scratch = Scratch::new();
    let program = scratch.path().join("program");
    let mut gcc = command("gcc");
    gcc.arg(source("c/empty.c")).arg("-o").arg(&program);
    run(gcc.arg(with_module(Site::shared(), "c.all"))).good();
    let out = scratch.path().join("topas.out");
    for (word, metric) in [
        (None, Metric::FpOps),
        (Some("fpops"), Metric::FpOps),
        (Some("intops"), Metric::IntOps),
        (Some("loads"), Metric::Loads),
        (Some("stores"), Metric::Stores),
        (Some("both"), Metric::FpOps),
    ] {
        // Ranks at the edges, the two that log, and another.
        for place in [0, 1, 2, 5, 7] {
            let mut rank = Gang::rank(&scratch, &program, place, 8);
            rank.env("TOPAS_PE", "1,2").envs(word.map(|word| ("TOPAS_OPS", word)));
            let outcome = pmu::run(&row.plan(1000), rank).expect("the stand-in");
            assert_eq!((outcome.exit_code(), &outcome.stderr[..]), (0, &b""[..]));
            let asked = outcome.calls.iter().map(|call| (call.attr.kind, call.attr.config));
            assert_eq!(asked.collect::<Vec<_>>(), row.all(metric), "{word:?} rank {place}");
            let lines = read_log(&out);
            let [line] = lines.as_slice() else { panic!("{} lines", lines.len()) };
            assert_eq!((line.pe, line.metric, line.ops), (place, metric, row.total(metric)));
            assert_eq!(line.l1_miss, row.total(Metric::L1Miss), "{}", line.text);
            assert_eq!(line.extra("cyc"), CYCLES_SEEN.to_string());
            assert_eq!(line.extra("ins"), INSTRUCTIONS_SEEN.to_string());
            let logged = scratch.take_log();
            assert_eq!(logged.len(), usize::from(place == 1 || place == 2), "rank {place}");
            assert!(logged.iter().all(|own| (own.metric, own.ops) == (metric, line.ops)));
            fs::remove_file(&out).expect("remove");
        }
    }
}
