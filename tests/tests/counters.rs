//! Counters on this machine's own processor row, played by the PMU stand-in.

use std::fs;
use std::process::Command;

use topas_format::event::{Metric, PERF_TYPE_RAW};
use topas_format::number::Count;
use topas_testkit::pmu::{self, PmuAnswer, PmuCall, PmuOutcome, PmuPlan, Reply};
use topas_tests::build::plain;
use topas_tests::launched_again::launched_again;
use topas_tests::mpi_installation::{BROKEN_PIPE, Mpi, emulate_rank};
use topas_tests::processor::{CYCLES_SEEN, INSTRUCTIONS_SEEN, Processor, Wanted};
use topas_tests::record::Record;
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

const KEY: &str = "0123456789abcdef-0123456789abcdef";
/// The row of this machine; says why there is none.
fn here(test: &str) -> Option<Processor> {
    let here = Processor::here();
    if here.is_none() {
        skip(test, "this machine's processor is not in the event table");
    }
    here
}

/// Program and log of a test.
struct CounterBench {
    scratch: Scratch,
    source: &'static str,
}

impl CounterBench {
    fn new(source: &'static str) -> CounterBench {
        let scratch = Scratch::new();
        plain(Site::shared(), source, false, &scratch.path().join("program"));
        CounterBench { scratch, source }
    }

    /// Measuring rank 1 (floating point) or 2 (integers) of 8.
    fn command(&self, rank: u32) -> Command {
        let mut command = self.scratch.command(self.scratch.path().join("program"));
        command.env("TOPAS_PE", "1,2");
        emulate_rank(&mut command, rank, 8, KEY);
        command
    }

    #[track_caller]
    fn measure(&self, plan: &PmuPlan, command: Command) -> (PmuOutcome, Record) {
        let outcome = pmu::run(plan, command).expect("the stand-in");
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        assert_eq!((outcome.exit_code(), said.as_str()), (0, ""), "{}", self.source);
        let mut lines = self.scratch.take_log();
        assert_eq!(lines.len(), 1, "{}", self.source);
        (outcome, lines.remove(0))
    }
}

fn asked(calls: &[PmuCall]) -> Vec<(u32, u64)> {
    calls.iter().map(|call| (call.attr.kind, call.attr.config)).collect()
}

#[test]
fn opens_one_group_of_inherited_user_mode_events() {
    let Some(row) = here("opens_one_group_of_inherited_user_mode_events") else { return };
    let bench = CounterBench::new("c/empty.c");
    let (outcome, _) = bench.measure(&row.plan(1000), bench.command(1));
    assert_eq!(asked(&outcome.calls), row.all(Metric::FpOps));
    let leader = outcome.calls[0].event;
    for (place, call) in outcome.calls.iter().enumerate() {
        let attr = &call.attr;
        assert_eq!((attr.size, attr.read_format, attr.sample_period), (64, 3, 0), "{call}");
        assert!(attr.inherit() && attr.exclude_kernel() && attr.exclude_hv(), "{call}");
        assert!(!attr.disabled() && !attr.pinned() && !attr.enable_on_exec(), "{call}");
        assert_eq!(attr.bits.count_ones(), 3, "other flags: {call}");
        assert_eq!((attr.config1, attr.config2), (0, 0), "{call}");
        assert_eq!((call.task, call.cpu, call.flags), (0, -1, 8), "{call}");
        assert_eq!(call.leader, leader.filter(|_| place > 0), "{call}");
        assert!(call.is_open(), "{call}");
    }
}

#[test]
fn counts_come_out_exactly() {
    let Some(row) = here("counts_come_out_exactly") else { return };
    let bench = CounterBench::new("c/empty.c");
    for (word, metric) in [
        (None, Metric::FpOps),
        (Some("fpops"), Metric::FpOps),
        (Some("intops"), Metric::IntOps),
        (Some("loads"), Metric::Loads),
        (Some("stores"), Metric::Stores),
        (Some("both"), Metric::FpOps),
        (Some("auto"), Metric::FpOps),
    ] {
        let mut command = bench.command(1);
        command.envs(word.map(|word| ("TOPAS_OPS", word)));
        let (outcome, line) = bench.measure(&row.plan(1000), command);
        assert_eq!(asked(&outcome.calls), row.all(metric), "{word:?}");
        assert_eq!((line.metric, line.ops), (metric, row.total(metric)), "{word:?} {}", line.text);
        assert_eq!(line.l1_miss, row.total(Metric::L1Miss), "{word:?} {}", line.text);
        assert_eq!(line.extra("cyc"), CYCLES_SEEN.to_string());
        assert_eq!(line.extra("ins"), INSTRUCTIONS_SEEN.to_string());
        assert_eq!(line.extra("run"), "", "run= of a full share");
        let letter = char::from(metric.letter());
        let why =
            if line.ops == Count::Missing { format!("{letter}:event") } else { String::new() };
        assert_eq!(line.extra("why"), why, "{}", line.text);
    }
}

/// What the higher rank counts where the processor has no word in it.
const SECOND: Metric = if cfg!(target_arch = "x86_64") { Metric::FpOps } else { Metric::IntOps };

#[test]
fn the_higher_rank_counts_integers_where_it_can() {
    let Some(row) = here("the_higher_rank_counts_integers_where_it_can") else { return };
    let bench = CounterBench::new("c/empty.c");
    for (word, metric) in [(None, SECOND), (Some("auto"), SECOND), (Some("both"), Metric::IntOps)] {
        let mut command = bench.command(2);
        command.envs(word.map(|word| ("TOPAS_OPS", word)));
        let (outcome, line) = bench.measure(&row.plan(1000), command);
        assert_eq!(asked(&outcome.calls), row.all(metric), "{word:?}");
        assert_eq!((line.metric, line.ops), (metric, row.total(metric)), "{word:?}");
        assert_eq!(line.l1_miss, row.total(Metric::L1Miss), "{word:?}");
    }
}

/// Two values of a run tell how sure their sum is: topas-stat shows its standard error, which one
/// value cannot.
#[test]
fn the_sum_has_an_error_bar() {
    let Some(row) = here("the_sum_has_an_error_bar") else { return };
    let bench = CounterBench::new("c/empty.c");
    for (word, sure) in [("auto", SECOND == Metric::FpOps), ("both", false)] {
        for rank in [1, 2] {
            let mut command = bench.command(rank);
            command.env("TOPAS_OPS", word);
            let outcome = pmu::run(&row.plan(1000), command).expect("the stand-in");
            assert_eq!(outcome.exit_code(), 0);
        }
        let mut stat = bench.scratch.command(Site::shared().tool("topas-stat"));
        stat.args(["--by", "exe", "--measure", "mflops", "--format", "csv"])
            .arg(bench.scratch.log());
        let said = run(&mut stat).good().out();
        bench.scratch.take_log();
        let rows: Vec<Vec<&str>> = said.lines().map(|line| line.split(',').collect()).collect();
        let error = rows[0].iter().position(|name| name.contains("sum_error")).expect("a column");
        assert_eq!(rows[1][error].parse::<f64>().is_ok(), sure, "{word}: {said}");
    }
}

/// A word that is none is said once and not used.
#[test]
fn nonsense_in_topas_ops() {
    let Some(row) = here("nonsense_in_topas_ops") else { return };
    let bench = CounterBench::new("c/empty.c");
    let mut said = String::new();
    for rank in [1, 2] {
        let mut command = bench.command(rank);
        command.env("TOPAS_OPS", "flops");
        let outcome = pmu::run(&row.plan(1000), command).expect("the stand-in");
        said.push_str(&String::from_utf8_lossy(&outcome.stderr));
    }
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("topas: TOPAS_OPS=flops names no operations"), "{said}");
    let metrics: Vec<_> = bench.scratch.take_log().iter().map(|line| line.metric).collect();
    assert_eq!(metrics, [Metric::FpOps, SECOND]);
}

/// A share of the time on the counters: scaled, marked, and the share is said.
#[test]
fn multiplexed_counts_are_estimates() {
    let Some(row) = here("multiplexed_counts_are_estimates") else { return };
    let bench = CounterBench::new("c/empty.c");
    for (share, shown) in [(500, "0.500"), (250, "0.250"), (125, "0.125")] {
        let (_, line) = bench.measure(&row.plan(share), bench.command(1));
        let terms = row.events(Metric::FpOps);
        // Each event is read and scaled by itself: what was cut off by the division is less
        // than one count while it ran.
        let sum = |read: fn(u64, u64) -> u64| {
            let scaled = |event: &Wanted| read(event.seen(), share.into()) * event.weight;
            terms.iter().map(scaled).sum::<u64>()
        };
        let exact = sum(|count, share| count * share / 1000 * 1000 / share);
        assert_eq!(line.ops, Count::Estimate(exact), "{}", line.text);
        assert!(matches!(line.l1_miss, Count::Estimate(_)), "{}", line.text);
        assert!(line.text.contains(" f~"), "{}", line.text);
        assert!(line.extra("cyc").starts_with('~'), "{}", line.text);
        assert_eq!(line.extra("run"), shown, "{}", line.text);
    }
}

/// A group that does not fit is given up, and each event opened alone.
#[test]
fn a_group_that_is_refused() {
    let Some(row) = here("a_group_that_is_refused") else { return };
    let bench = CounterBench::new("c/empty.c");
    let wanted = row.all(Metric::FpOps);
    for counters in 1..wanted.len() {
        let plan = row.plan(1000).group(counters as u32);
        let (outcome, line) = bench.measure(&plan, bench.command(1));
        let (grouped, singles) = outcome.calls.split_at(counters + 1);
        assert_eq!(asked(grouped), wanted[..=counters]);
        assert!(matches!(grouped[counters].reply, Reply::Refused(22, _)), "{}", grouped[counters]);
        assert_eq!(asked(singles), wanted, "{counters} counters");
        assert!(singles.iter().all(|call| call.group_fd == -1 && call.is_open()));
        assert_eq!(line.ops, row.total(Metric::FpOps), "{}", line.text);
        assert_eq!(line.l1_miss, row.total(Metric::L1Miss), "{}", line.text);
    }
}

/// A group that opens and never comes onto the counters: alone some events may.
#[test]
fn a_group_that_never_runs() {
    let Some(row) = here("a_group_that_never_runs") else { return };
    let bench = CounterBench::new("c/empty.c");
    let never = PmuAnswer::Count { value: 0, running_per_mille: 0 };
    let (outcome, line) = bench.measure(&PmuPlan::new().others(never), bench.command(1));
    let wanted = row.all(Metric::FpOps);
    assert_eq!(asked(&outcome.calls), [wanted.clone(), wanted].concat());
    let singles = &outcome.calls[outcome.calls.len() / 2..];
    assert!(singles.iter().all(|call| call.group_fd == -1));
    assert_eq!((line.ops, line.l1_miss), (Count::Missing, Count::Missing));
    assert_eq!(line.extra("why"), "f:shared,m:shared", "{}", line.text);
    assert_eq!((line.extra("cyc"), line.extra("ins")), ("", ""), "{}", line.text);

    // The leader alone was held: the others count.
    let leader = row.events(Metric::FpOps)[0].config;
    let (_, line) =
        bench.measure(&row.plan(1000).event(PERF_TYPE_RAW, leader, never), bench.command(1));
    assert_eq!((line.ops, line.l1_miss), (Count::Missing, row.total(Metric::L1Miss)));
    assert_eq!(line.extra("why"), "f:shared", "{}", line.text);
    assert_eq!(line.extra("cyc"), CYCLES_SEEN.to_string());
}

#[test]
fn each_refusal_has_its_reason() {
    let Some(row) = here("each_refusal_has_its_reason") else { return };
    let bench = CounterBench::new("c/empty.c");
    for (plan, why) in [
        ("* = EACCES", "paranoid"),
        ("* = EPERM", "seccomp"),
        ("* = ENOENT", "pmu"),
        ("* = ENODEV", "pmu"),
        ("* = EOPNOTSUPP", "pmu"),
        ("* = ENOSYS", "kernel"),
        ("* = EMFILE", "files"),
        ("* = ENFILE", "files"),
        ("* = EBUSY", "shared"),
        ("* = ENOMEM", "refused"),
        ("* = EINVAL", "refused"),
        ("* = 5; paranoid = 3", "paranoid"),
        ("* = unreadable", "shared"),
    ] {
        let (_, line) = bench.measure(&plan.parse().expect("plan"), bench.command(1));
        let case = format!("{plan}: {}", line.text);
        assert_eq!((line.ops, line.l1_miss), (Count::Missing, Count::Missing), "{case}");
        assert_eq!(line.extra("why"), format!("f:{why},m:{why}"), "{case}");
        assert_eq!((line.extra("cyc"), line.extra("ins")), ("", ""), "{case}");
    }
    // One event alone: nothing else suffers.
    let misses = row.events(Metric::L1Miss)[0].config;
    let refused = row.plan(1000).event(PERF_TYPE_RAW, misses, PmuAnswer::Refuse(13));
    let (_, line) = bench.measure(&refused, bench.command(1));
    assert_eq!((line.ops, line.l1_miss), (row.total(Metric::FpOps), Count::Missing));
    assert_eq!(line.extra("why"), "m:paranoid", "{}", line.text);
}

/// A program that closes everything gets a line with a reason; a file of its own that has
/// our number is neither read nor closed.
#[test]
fn a_program_that_closes_our_descriptors() {
    let Some(row) = here("a_program_that_closes_our_descriptors") else { return };
    let bench = CounterBench::new("c/own_file.c");
    let file = bench.scratch.path().join("file");
    // Long enough for every read an event could get.
    fs::write(&file, [7; 4096]).expect("write");
    let mut command = bench.command(1);
    command.arg(&file);
    let (outcome, line) = bench.measure(&row.plan(1000), command);
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), "took one\nopen 1 offset 0\n");
    assert_eq!((line.ops, line.l1_miss), (Count::Missing, Count::Missing), "{}", line.text);
    assert_eq!(line.extra("why"), "f:lost,m:lost", "{}", line.text);
    assert_eq!((line.extra("cyc"), line.extra("ins")), ("", ""), "{}", line.text);
}

/// A low limit of open files costs the counts at most.
#[test]
fn a_low_limit_of_open_files() {
    let Some(row) = here("a_low_limit_of_open_files") else { return };
    let bench = CounterBench::new("c/empty.c");
    for (limit, counted) in [(256, true), (64, true), (16, true), (4, false)] {
        let mut shell = bench.scratch.command("sh");
        shell.env("TOPAS_PE", "1,2");
        emulate_rank(&mut shell, 1, 8, KEY);
        shell.args(["-c", &format!("ulimit -n {limit}; exec \"$0\"")]);
        shell.arg(bench.scratch.path().join("program"));
        let (_, line) = bench.measure(&row.plan(1000), shell);
        let ops = if counted { row.total(Metric::FpOps) } else { Count::Missing };
        assert_eq!(line.ops, ops, "limit {limit}: {}", line.text);
        let why = if counted { "" } else { "f:files,m:files" };
        assert_eq!(line.extra("why"), why, "limit {limit}: {}", line.text);
    }
}

/// Eight ranks under each launcher: two of them open events, each its own.
#[test]
fn under_a_launcher() {
    let Some(row) = here("under_a_launcher") else { return };
    let site = Site::shared();
    let bench = CounterBench::new("c/empty.c");
    for mpi in Mpi::installed("under_a_launcher") {
        let outcome = launched_again(|| {
            let mut launch = mpi.launch(site, &bench.scratch, 8);
            launch.arg(bench.scratch.path().join("program"));
            let outcome = pmu::run(&row.plan(1000), launch).expect("the stand-in");
            let is_silent = outcome.stdout.is_empty() && outcome.stderr.is_empty();
            match i32::from(outcome.exit_code()) {
                BROKEN_PIPE if is_silent => Err(format!("{} died of SIGPIPE", mpi.name())),
                _ => Ok(outcome),
            }
        });
        assert_eq!(outcome.exit_code(), 0, "{}", String::from_utf8_lossy(&outcome.stderr));
        let raw = |call: &&PmuCall| call.attr.size == 64 && call.is_open();
        let mut pids: Vec<_> = outcome.calls.iter().filter(raw).map(|call| call.pid).collect();
        pids.dedup();
        pids.sort_unstable();
        pids.dedup();
        assert_eq!(pids.len(), 2, "{}: processes with events", mpi.name());
        let mut lines = bench.scratch.take_log();
        lines.sort_by_key(|line| line.pe);
        let metrics: Vec<_> = lines.iter().map(|line| line.metric).collect();
        assert_eq!(metrics, [Metric::FpOps, SECOND], "{}", mpi.name());
        assert_eq!(lines[0].ops, row.total(Metric::FpOps), "{}", lines[0].text);
    }
}

/// What `TOPAS_PRINT` shows: the same numbers, with their units, and reasons in words.
#[test]
fn the_printed_result() {
    let Some(row) = here("the_printed_result") else { return };
    let bench = CounterBench::new("c/empty.c");
    let shown = |plan: &PmuPlan, rank| {
        let mut command = bench.command(rank);
        command.env("TOPAS_PRINT", "yes");
        let outcome = pmu::run(plan, command).expect("the stand-in");
        assert_eq!(bench.scratch.take_log().len(), 1);
        String::from_utf8(outcome.stderr).expect("text")
    };
    let text = shown(&row.plan(1000), 1);
    assert!(text.lines().all(|line| line.starts_with("topas: ")), "{text}");
    let value = |metric| row.total(metric).value().expect("a count").to_string();
    assert!(text.contains(&value(Metric::FpOps)), "{text}");
    assert!(text.contains(&value(Metric::L1Miss)), "{text}");
    assert!(text.contains("PE 1 of 8") && text.contains(" s\n"), "{text}");
    assert!(!text.contains('~') && !text.contains("not measured"), "{text}");
    let text = shown(&row.plan(500), 1);
    assert!(text.contains('~'), "an estimate is not marked: {text}");
    let text = shown(&"* = EACCES".parse().expect("plan"), 1);
    assert_eq!(text.matches("not measured, see topas-doctor: ").count(), 2, "{text}");
    assert!(text.contains("not measured, see topas-doctor: paranoid"), "{text}");
}
