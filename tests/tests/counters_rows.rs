//! The module on every x86-64 processor of the event table: it believes the test which one
//! it has, and the PMU stand-in has the counts.
#![cfg(target_arch = "x86_64")]

use std::collections::BTreeSet;

use topas_format::event::{Cpu, Family, Metric, Table};
use topas_format::number::Count;
use topas_testkit::pmu::{self, PmuAnswer, PmuOutcome, PmuPlan, Reply};
use topas_tests::processor::{AnyProcessor, CYCLES_SEEN, INSTRUCTIONS_SEEN, METRICS, Processor};
use topas_tests::record::Record;

const OPERATIONS: [(&str, Metric); 4] = [
    ("fpops", Metric::FpOps),
    ("intops", Metric::IntOps),
    ("loads", Metric::Loads),
    ("stores", Metric::Stores),
];

fn table() -> &'static Table {
    Family::Intel.table()
}

/// The first and the last model of every range, one beside it, and a maker without a row.
fn models() -> Vec<Processor> {
    let ends = table().models.iter().flat_map(|models| {
        let Cpu { model, .. } = models.first;
        [model, models.last, models.last.saturating_add(1).min(0xff)]
            .map(|model| Processor(Some(Cpu { model, ..models.first })))
    });
    ends.chain([Processor(None)]).collect()
}

/// One processor of each row, the unknown one too.
fn rows() -> Vec<Processor> {
    let mut seen = BTreeSet::new();
    let place = |processor: &Processor| processor.0.map_or(0, |cpu| table().place(cpu));
    let mut all = models();
    all.retain(|processor| seen.insert(place(processor)));
    assert_eq!(all.len(), table().rows.len(), "a row without a model");
    all
}

#[track_caller]
fn measure(
    bench: &AnyProcessor,
    processor: Processor,
    word: &str,
    plan: &PmuPlan,
) -> (PmuOutcome, Record) {
    let mut command = bench.command(processor);
    command.env("TOPAS_OPS", word);
    let outcome = pmu::run(plan, command).expect("the stand-in");
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert_eq!((outcome.exit_code(), said.as_str()), (0, ""), "{processor:?} {word}");
    let mut lines = bench.scratch.take_log();
    assert_eq!(lines.len(), 1, "{processor:?} {word}");
    (outcome, lines.remove(0))
}

fn asked(outcome: &PmuOutcome) -> Vec<(u32, u64)> {
    outcome.calls.iter().map(|call| (call.attr.kind, call.attr.config)).collect()
}

/// Metrics of a line that cannot be counted, as `why` has them.
fn missing(processor: Processor, metric: Metric, reason: &str) -> String {
    let of = |metric: Metric| {
        let word = if processor.events(metric).is_empty() {
            processor.why_missing()
        } else if reason.is_empty() {
            return None;
        } else {
            reason
        };
        Some(format!("{}:{word}", char::from(metric.letter())))
    };
    [metric, Metric::L1Miss].into_iter().filter_map(of).collect::<Vec<_>>().join(",")
}

#[test]
fn every_model_opens_the_events_of_its_row() {
    let bench = AnyProcessor::building("c/empty.c", &[]);
    for processor in models() {
        let (outcome, line) = measure(&bench, processor, "fpops", &processor.plan(1000));
        assert_eq!(asked(&outcome), processor.all(Metric::FpOps), "{processor:?}");
        assert_eq!(line.ops, processor.total(Metric::FpOps), "{processor:?}: {}", line.text);
    }
}

#[test]
fn every_row_counts_every_metric() {
    let bench = AnyProcessor::building("c/empty.c", &[]);
    for processor in rows() {
        for (word, metric) in OPERATIONS {
            let (outcome, line) = measure(&bench, processor, word, &processor.plan(1000));
            let case = format!("{processor:?} {word}: {}", line.text);
            assert_eq!(asked(&outcome), processor.all(metric), "{case}");
            assert_eq!((line.metric, line.ops), (metric, processor.total(metric)), "{case}");
            assert_eq!(line.l1_miss, processor.total(Metric::L1Miss), "{case}");
            assert_ne!(line.l1_miss, Count::Missing, "{case}");
            assert_eq!(line.extra("cyc"), CYCLES_SEEN.to_string(), "{case}");
            assert_eq!(line.extra("ins"), INSTRUCTIONS_SEEN.to_string(), "{case}");
            assert_eq!(line.extra("why"), missing(processor, metric, ""), "{case}");
            assert_eq!(line.extra("run"), "", "{case}");
        }
    }
}

/// A quarter of the time on a counter; and counters for half of a group only.
#[test]
fn every_row_in_turns() {
    let bench = AnyProcessor::building("c/empty.c", &[]);
    for processor in rows() {
        for metric in [Metric::FpOps, Metric::Stores] {
            let word = OPERATIONS.iter().find(|(_, of)| *of == metric).expect("a word").0;
            // What a read shows is cut to whole counts; times eight it is exact.
            let (outcome, line) = measure(&bench, processor, word, &processor.plan(125));
            let scaled = |metric: Metric| {
                let events = processor.events(metric);
                let each = |count: u64| count * 125 / 1000 * 8;
                let sum = events.iter().map(|event| each(event.seen()) * event.weight).sum();
                if events.is_empty() { Count::Missing } else { Count::Estimate(sum) }
            };
            let case = format!("{processor:?} {word}: {}", line.text);
            assert_eq!(
                (line.ops, line.l1_miss),
                (scaled(metric), scaled(Metric::L1Miss)),
                "{case}"
            );
            assert_eq!(line.extra("run"), "0.125", "{case}");

            // A group that is off its counters when it is looked at is given up.
            let wanted = processor.all(metric);
            assert_eq!(asked(&outcome), [wanted.clone(), wanted.clone()].concat(), "{case}");
            let plan = processor.plan(1000).group(wanted.len() as u32 - 1);
            let (outcome, line) = measure(&bench, processor, word, &plan);
            let (grouped, singles) = outcome.calls.split_at(wanted.len());
            assert!(matches!(grouped.last().unwrap().reply, Reply::Refused(22, _)), "{case}");
            assert!(singles.iter().all(|call| call.group_fd == -1), "{case}");
            assert_eq!(singles.len(), wanted.len(), "{case}");
            assert_eq!(line.ops, processor.total(metric), "{case}");
        }
    }
}

/// No event at all, and each event by itself: what it is a part of is not counted, and
/// nothing else suffers.
#[test]
fn every_row_refused() {
    let bench = AnyProcessor::building("c/empty.c", &[]);
    for processor in rows() {
        for (answer, why) in [(1, "seccomp"), (13, "paranoid")] {
            let plan = PmuPlan::new().others(PmuAnswer::Refuse(answer));
            let (_, line) = measure(&bench, processor, "fpops", &plan);
            let case = format!("{processor:?}: {}", line.text);
            assert_eq!((line.ops, line.l1_miss), (Count::Missing, Count::Missing), "{case}");
            assert_eq!(line.extra("why"), missing(processor, Metric::FpOps, why), "{case}");
            assert_eq!((line.extra("cyc"), line.extra("ins")), ("", ""), "{case}");
        }
        for of in METRICS {
            let metric = if of == Metric::L1Miss { Metric::FpOps } else { of };
            let word = OPERATIONS.iter().find(|(_, other)| *other == metric).expect("a word").0;
            for event in processor.events(of) {
                let refused = PmuAnswer::Refuse(2);
                let plan = processor.plan(1000).event(event.kind, event.config, refused);
                let (_, line) = measure(&bench, processor, word, &plan);
                let case = format!("{processor:?} {event:?}: {}", line.text);
                let counted = |metric| match of == metric {
                    true => Count::Missing,
                    false => processor.total(metric),
                };
                assert_eq!(line.ops, counted(metric), "{case}");
                assert_eq!(line.l1_miss, counted(Metric::L1Miss), "{case}");
                let reason = format!("{}:pmu", char::from(of.letter()));
                assert!(line.extra("why").contains(&reason), "{case}");
                assert_eq!(line.extra("cyc"), CYCLES_SEEN.to_string(), "{case}");
            }
        }
    }
}
