//! The module with counts that the kernel makes: breakpoints on stores and page faults stand
//! in for the processor's events, so threads, children and groups are real.
#![cfg(target_arch = "x86_64")]

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::process::Command;

use topas_format::event::{Cpu, Family, Metric};
use topas_format::number::Count;
use topas_testkit::pmu::{self, KernelEvent, PmuAnswer, PmuOutcome, PmuPlan};
use topas_tests::build::source;
use topas_tests::processor::{AnyProcessor, Processor};
use topas_tests::record::Record;
use topas_tests::running::run;
use topas_tests::site::Scratch;
use topas_tests::skip::skip;

/// One event of weight 1 for FP operations, one for misses.
const ZEN5: Processor = Processor(Some(Cpu { family: Family::Amd, number: 26, model: 2 }));
/// Weights 1, 2, 4, 8.
const SKYLAKE: Processor = Processor(Some(Cpu { family: Family::Intel, number: 6, model: 0x5e }));

/// Faults of the program and of libraries beside those it was told to make.
const OTHER_FAULTS: u64 = 400;

/// Addresses of the objects and functions of a program.
fn symbols(program: &Path) -> HashMap<String, u64> {
    let listed = run(Command::new("nm").arg(program)).good().out();
    let line = |line: &str| {
        let mut words = line.split(' ');
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        Some((words.nth(1)?.to_owned(), address))
    };
    listed.lines().filter_map(line).collect()
}

/// The program at the addresses that `nm` tells, and those of its two targets of stores.
fn bench(options: &[&str]) -> (AnyProcessor, [KernelEvent; 2]) {
    let options = [&["-no-pie", "-pthread"], options].concat();
    let bench = AnyProcessor::building("c/stores.c", &options);
    let symbols = symbols(&bench.program());
    let stores = ["first", "second"].map(|name| KernelEvent::stores(symbols[name]));
    (bench, stores)
}

/// Events of `metric`, misses, cycles and instructions in this order.
fn plan(processor: Processor, metric: Metric, events: &[KernelEvent]) -> PmuPlan {
    let wanted = processor.all(metric);
    assert_eq!(wanted.len(), events.len());
    let pairs = wanted.into_iter().zip(events);
    pairs.fold(PmuPlan::new(), |plan, ((kind, config), event)| {
        plan.event(kind, config, PmuAnswer::Other(*event))
    })
}

fn measure(command: Command, plan: &PmuPlan) -> PmuOutcome {
    let outcome = pmu::run(plan, command).expect("the stand-in");
    assert_eq!(outcome.exit_code(), 0, "{}", String::from_utf8_lossy(&outcome.stderr));
    assert_eq!(String::from_utf8_lossy(&outcome.stderr), "");
    outcome
}

/// The one line of a run, by which the kernel counted all that was asked.
#[track_caller]
fn line(bench: &AnyProcessor, processor: Processor, plan: &PmuPlan, arguments: &str) -> Record {
    let mut command = bench.command(processor);
    command.args(arguments.split_whitespace());
    let outcome = measure(command, plan);
    assert!(outcome.calls.iter().all(|call| call.is_open()), "{:#?}", outcome.calls);
    let mut lines = bench.scratch.take_log();
    assert_eq!(lines.len(), 1);
    lines.remove(0)
}

/// Whether breakpoints can be had here at all; says so if not.
fn can_count(test: &str) -> bool {
    let mut perf = Command::new("perf");
    perf.args(["stat", "-e", "mem:0x10000/8:w", "--", "true"]);
    let refused = match perf.output() {
        Ok(output) if output.status.success() => return true,
        Ok(_) => "this kernel or machine gives no hardware breakpoints".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "no perf".to_owned(),
        Err(error) => error.to_string(),
    };
    skip(test, &refused);
    false
}

fn value(line: &Record, key: &str) -> u64 {
    line.extra(key).parse().unwrap_or_else(|_| panic!("{key}: {}", line.text))
}

#[test]
fn stores_threads_and_children_are_counted_exactly() {
    if !can_count("stores_threads_and_children_are_counted_exactly") {
        return;
    }
    for options in [&[][..], &["-static"][..]] {
        let (bench, [first, second]) = bench(options);
        let faults = KernelEvent::PAGE_FAULTS;
        let plan = plan(ZEN5, Metric::FpOps, &[first, faults, second, faults]);
        for (arguments, stores) in [
            ("1000 0 0 0 0", 1000),
            ("1000 1 500 0 0", 1500),
            ("0 4 250 0 0", 1000),
            ("1000 3 100 700 0", 2000),
            ("123456 2 0 0 0", 123_456),
        ] {
            let line = line(&bench, ZEN5, &plan, arguments);
            assert_eq!(line.ops, Count::Exact(stores), "{arguments}: {}", line.text);
            assert_eq!(value(&line, "cyc"), stores / 2, "{arguments}: {}", line.text);
            assert_eq!((line.extra("run"), line.extra("why")), ("", ""), "{}", line.text);
        }
    }
}

/// Threads of OpenMP, and one that a library's constructor starts before any of the
/// program's own.
#[test]
fn pools_of_threads_are_counted() {
    if !can_count("pools_of_threads_are_counted") {
        return;
    }
    let library = Scratch::new();
    let file = library.path().join("libpool.so");
    let mut gcc = library.command("gcc");
    gcc.args(["-Wall", "-Werror", "-O1", "-fPIC", "-shared", "-pthread"]);
    run(gcc.arg(source("library/pool.c")).arg("-o").arg(&file)).good();
    let (file, path) = (file.display(), library.path().display());
    let options = ["-no-pie", "-fopenmp", &format!("{file}"), &format!("-Wl,-rpath,{path}")];
    let bench = AnyProcessor::building("c/pool.c", &options);
    let first = KernelEvent::stores(symbols(&bench.program())["first"]);
    let clock = KernelEvent::TASK_CLOCK;
    let plan = plan(ZEN5, Metric::FpOps, &[first, clock, first, clock]);
    let line = line(&bench, ZEN5, &plan, "");
    assert_eq!(line.ops, Count::Exact(1400), "{}", line.text);
}

/// Faults come from elsewhere too: the difference of two runs is that of the pages.
#[test]
fn page_faults_of_threads_are_counted() {
    let (bench, [..]) = bench(&[]);
    let faults = KernelEvent::PAGE_FAULTS;
    let clock = KernelEvent::TASK_CLOCK;
    let plan = plan(ZEN5, Metric::FpOps, &[faults, faults, clock, faults]);
    let misses = |arguments: &str| {
        let line = line(&bench, ZEN5, &plan, arguments);
        assert_eq!(line.l1_miss, line.ops, "{}", line.text);
        assert!(value(&line, "cyc") > 10_000, "time in ns: {}", line.text);
        line.l1_miss.value().expect("a count")
    };
    let (few, many) = (misses("0 3 0 1 0"), misses("0 3 0 1 1000"));
    assert!(few < OTHER_FAULTS, "{few}");
    let more = many - few;
    // Five threads of execution; each may need some pages of stack and heap more or less.
    assert!(more.abs_diff(5000) <= 40, "{more} for 5,000 pages");
}

/// Four breakpoints fill all there are: events with weights, in one group and exact.
#[test]
fn a_group_with_weights() {
    if !can_count("a_group_with_weights") {
        return;
    }
    let (bench, [first, second]) = bench(&[]);
    let faults = KernelEvent::PAGE_FAULTS;
    let events = [first, second, first, second, faults, faults, faults];
    let line = line(&bench, SKYLAKE, &plan(SKYLAKE, Metric::FpOps, &events), "800 2 200 40 0");
    let (first, second) = (800 + 400 + 40, 400 + 200 + 20);
    let sum = first + 2 * second + 4 * first + 8 * second;
    assert_eq!(line.ops, Count::Exact(sum), "{}", line.text);
}

/// A reader around a rank counts the same whether the rank has the module or not.
#[test]
fn perf_around_a_rank_tells_the_same() {
    if !can_count("perf_around_a_rank_tells_the_same") {
        return;
    }
    let (bench, [first, second]) = bench(&[]);
    let address = symbols(&bench.program())["second"];
    let clock = KernelEvent::TASK_CLOCK;
    let mut plan = plan(ZEN5, Metric::FpOps, &[first, clock, second, clock]);
    // What perf itself opens goes to the kernel.
    plan = plan.kind(5, PmuAnswer::Kernel).kind(1, PmuAnswer::Kernel);
    let mut seen = Vec::new();
    for measured in [true, false] {
        let rank = bench.command(ZEN5);
        let mut perf = Command::new("perf");
        perf.args(["stat", "-x,", "-e", &format!("mem:{address:#x}/8:wu"), "--"]);
        perf.arg(rank.get_program()).args(["600", "2", "100", "50", "0"]);
        perf.env_clear().current_dir(bench.scratch.path());
        perf.envs(rank.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if !measured {
            perf.env("TOPAS", "off");
        }
        let outcome = pmu::run(&plan, perf).expect("the stand-in");
        assert_eq!(outcome.exit_code(), 0);
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        seen.push(said.split(',').next().unwrap_or("").to_owned());
        let lines = bench.scratch.take_log();
        assert_eq!(lines.len(), usize::from(measured));
        for line in lines {
            assert_eq!(line.ops, Count::Exact(850), "{}", line.text);
            assert_eq!(value(&line, "cyc"), 425, "{}", line.text);
        }
    }
    assert_eq!(seen, ["425", "425"]);
}
