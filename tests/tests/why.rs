//! The search for bottlenecks in programs whose bottleneck is known: each ends in the right finding at
//! the right place, and programs without one in none.

use std::process::{Child, Command};

use serde_json::Value;
use topas_tests::build::source;
use topas_tests::launched_again::launched_again;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, build, event_log, profiled};
use topas_tests::running::run;
use topas_tests::site::{Scratch, Site};

/// A program with a bottleneck.
struct Bottleneck {
    source: &'static str,
    ranks: u32,
    args: &'static [&'static str],
    /// The rule that has to come first
    rule: &'static str,
    /// The ranks one of which is the place; any or none if this is empty
    ranks_to_blame: &'static [u32],
}

const fn grindstone(
    source: &'static str,
    ranks: u32,
    args: &'static [&'static str],
    rule: &'static str,
    ranks_to_blame: &'static [u32],
) -> Bottleneck {
    Bottleneck { source, ranks, args, rule, ranks_to_blame }
}

/// The programs of the thesis, long enough that a second is lost.
const GRINDSTONE: [Bottleneck; 6] = [
    grindstone("random_barrier", 4, &["160", "5"], "late-to-collectives", &[]),
    grindstone("intensive_server", 4, &["40", "8"], "late-senders", &[0]),
    grindstone("big_message", 2, &["4000", "1000000"], "large-messages", &[]),
    grindstone("small_messages", 4, &["300000", "1000"], MANY_MESSAGES, &[]),
    // Rank 1 waits for the last message, then rank 0 for the answer while rank 1 empties its queue:
    // each is late for half of the time.
    grindstone("wrong_way", 2, &["2000", "1000"], "late-senders", &[]),
    grindstone("diffuse_procedure", 4, &["160", "5"], "late-to-collectives", &[]),
];

/// The patterns by which analysis tools are tried.
const PATTERNS: [(&str, &str, &[u32]); 10] = [
    ("late_sender", "late-senders", &[0, 2]),
    ("late_broadcast", "late-to-collectives", &[1]),
    ("late_receiver", "late-receivers", &[1, 3]),
    ("imbalance_at_mpi_barrier", "late-to-collectives", &[]),
    ("imbalance_at_mpi_alltoall", "late-to-collectives", &[]),
    ("late_scatter", "late-to-collectives", &[1]),
    ("late_scatterv", "late-to-collectives", &[1]),
    ("early_reduce", "late-to-collectives", &[]),
    ("early_gather", "late-to-collectives", &[]),
    ("early_gatherv", "late-to-collectives", &[]),
];

fn why(scratch: &Scratch, files: &[&std::path::Path]) -> Value {
    let mut tool = scratch.command(Site::shared().tool("topasview"));
    let told = run(tool.args(["--why", "--json"]).args(files)).good();
    serde_json::from_str(&told.out()).expect("JSON")
}

/// What the search says of a program whose calls of MPI are profiled.
fn searched(mpi: Mpi, program: &std::path::Path, ranks: u32, args: &[&str]) -> Value {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let mut words = vec!["TOPAS_MPI_WAITS=yes", program.to_str().expect("path")];
    words.extend(args);
    profiled(mpi, &scratch, ranks, &words, &places).good();
    why(&scratch, &[&places.out])
}

/// Whether the search says that other programs took the processors.
fn is_taken(told: &Value) -> bool {
    told["beside"].to_string().contains("taken-processors")
}

/// What was found first. If the search says that other programs took the processors, what it finds may
/// be because of them, and it says that instead.
fn first_told<'t>(what: &str, told: &'t Value) -> &'t Value {
    let list = |kind: &str| told[kind].as_array().expect("a list");
    let unsure = if is_taken(told) { &list("unsure")[..] } else { &[] };
    let Some(first) = list("findings").iter().chain(unsure).next() else {
        panic!("{what}: nothing found: {told:#}");
    };
    assert!(list("findings").is_empty() || told["nothing"].is_null(), "{what}: {told:#}");
    first
}

/// Many small messages: those for which ranks wait, or those that take MPI its time.
const MANY_MESSAGES: &str = "short-messages|small-messages";

/// Panics unless the first finding is the right one, or one of those between bars, at the right place.
fn ends_in(what: &str, mpi: Mpi, rule: &str, blamed: &[u32], told: &Value) {
    let what = format!("{what} under {}", mpi.name());
    let first = first_told(&what, told);
    let place = first["where"].as_str().unwrap_or("");
    let right = blamed.iter().any(|rank| place == format!("rank {rank}"));
    let is_right =
        rule.split('|').any(|rule| first["rule"] == rule) && (blamed.is_empty() || right);
    assert!(is_right, "{what}: no {rule} first: {told:#}");
    let share = first["saving_share"].as_f64().expect("a share");
    assert!((0.05..=1.0).contains(&share), "{what}: {first}");
}

fn grindstone_ends_in(of: &Bottleneck, mpi: Mpi) {
    let scratch = Scratch::new();
    let program = scratch.path().join(of.source);
    let source = format!("grindstone/{}.c", of.source);
    build(mpi, "mpicc", &[&source], &["-O1"], &program);
    let told = searched(mpi, &program, of.ranks, of.args);
    ends_in(of.source, mpi, of.rule, of.ranks_to_blame, &told);
}

fn pattern_ends_in(
    (case, rule, blamed): (&str, &str, &[u32]),
    mpi: Mpi,
    program: &std::path::Path,
) {
    let notes = program.with_extension("notes");
    let notes = notes.to_str().expect("path");
    ends_in(case, mpi, rule, blamed, &searched(mpi, program, 4, &[case, notes, "700"]));
}

fn patterns(mpi: Mpi, scratch: &Scratch) -> std::path::PathBuf {
    let program = scratch.path().join("patterns");
    build(mpi, "mpicc", &["waits/patterns.c"], &["-O1"], &program);
    program
}

#[test]
fn programs_end_in_their_bottleneck() {
    for mpi in Mpi::installed("programs_end_in_their_bottleneck") {
        GRINDSTONE[..2].iter().for_each(|of| grindstone_ends_in(of, mpi));
        let scratch = Scratch::new();
        let program = patterns(mpi, &scratch);
        PATTERNS[..2].iter().for_each(|of| pattern_ends_in(*of, mpi, &program));
    }
}

#[test]
#[ignore = "cargo xtask test --findings"]
fn every_program_ends_in_its_bottleneck() {
    for mpi in Mpi::installed("every_program_ends_in_its_bottleneck") {
        GRINDSTONE[2..].iter().for_each(|of| grindstone_ends_in(of, mpi));
    }
}

#[test]
#[ignore = "cargo xtask test --findings"]
fn every_pattern_ends_in_its_bottleneck() {
    for mpi in Mpi::installed("every_pattern_ends_in_its_bottleneck") {
        let scratch = Scratch::new();
        let program = patterns(mpi, &scratch);
        PATTERNS[2..].iter().for_each(|of| pattern_ends_in(*of, mpi, &program));
    }
}

/// Delays that begin in one rank and reach others by ranks that wait themselves: the case, its rounds, the rule that
/// comes first, and that rank. A round of the last case waits for 6 ms in each of three ways, and none may reach the
/// second from which on it is told by itself, also where something else takes the processors.
const DELAYS: [(&str, u32, &str, u32); 7] = [
    ("parts", 130, "late-to-collectives", 3),
    ("pipeline", 130, "late-receivers", 2),
    ("gather", 130, "late-senders", 2),
    ("meanwhile", 130, "late-to-collectives", 2),
    // One rank waits for a message, one for a receiver where the MPI needs that, one in the barrier: each as long.
    ("persistent", 130, "late-to-collectives|late-senders|late-receivers", 1),
    ("probe", 130, "late-to-collectives", 1),
    ("mixed", 80, "mixed-waits", 1),
];

/// The rules of waits for late ranks.
const ANY_WAIT: &str = "late-to-collectives|late-senders|late-receivers|mixed-waits";

/// The first sentence of the profile with the event log beside it or without, in one line.
fn first_sentence(scratch: &Scratch, profile: &std::path::Path) -> String {
    let mut view = scratch.command(Site::shared().tool("topasview"));
    let told = run(view.arg("--mpi").arg(profile)).good().out();
    let first: Vec<&str> = told.lines().skip(3).take(9).flat_map(str::split_whitespace).collect();
    first.join(" ")
}

/// The first sentence of the profile and the first finding, with the event log and without, name the rank in which
/// the delay begins, in the same words, and what the event log lacks makes no guess of it.
fn delay_begins_in((case, rounds, rule, rank): (&str, u32, &str, u32), mpi: Mpi) {
    let scratch = Scratch::new();
    let places = Places::new(&scratch);
    let program = scratch.path().join("delays");
    build(mpi, "mpicc", &["delays/delays.c"], &["-O1", "-g"], &program);
    let program = program.to_str().expect("path");
    let rounds = rounds.to_string();
    let variables = ["TOPAS_MPI_LOG=yes", "TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes"];
    let words = [&variables[..], &[program, case, &rounds]].concat();
    profiled(mpi, &scratch, 4, &words, &places).good();
    let log = event_log(places.out.parent().expect("a directory"));
    let alone = scratch.path().join("without-log");
    std::fs::create_dir(&alone).expect("a directory");
    let alone = alone.join("topas-mpi.out");
    std::fs::copy(&places.out, &alone).expect("a copy");
    for files in [&[&*places.out, &log][..], &[&*alone]] {
        let first = first_sentence(&scratch, files[0]);
        let opening = first.split(',').next().unwrap_or_default();
        let names = [format!("for rank {rank}, "), format!("Rank {rank} makes the others wait")];
        assert!(names.iter().any(|name| first.contains(name)), "{case}, {}: {first}", mpi.name());
        let told = why(&scratch, files);
        // Waits are longer where ranks lack processors, so that one kind may be enough to be told by itself.
        let rule = if is_taken(&told) { ANY_WAIT } else { rule };
        ends_in(case, mpi, rule, &[rank], &told);
        let sentence = first_told(case, &told)["sentence"].as_str().expect("a sentence");
        assert!(sentence.starts_with(opening), "{opening}, {}: {sentence}", mpi.name());
        let is_told = !told["findings"].as_array().expect("a list").is_empty();
        assert!(is_told || is_taken(&told), "{case}, {}: {told:#}", mpi.name());
    }
}

#[test]
fn a_delay_in_a_part_of_a_communicator_is_found() {
    let name = "a_delay_in_a_part_of_a_communicator_is_found";
    Mpi::installed(name).into_iter().for_each(|mpi| delay_begins_in(DELAYS[0], mpi));
}

#[test]
#[ignore = "cargo xtask test --findings"]
fn every_delay_is_followed_to_its_begin() {
    for mpi in Mpi::installed("every_delay_is_followed_to_its_begin") {
        DELAYS[1..].iter().for_each(|of| delay_begins_in(*of, mpi));
    }
}

/// Of two ranks that are late one after the other, each of which waits where the other one is late, the event log tells
/// which is late where; sums lead to one of them by the waits of the other.
#[test]
fn ranks_that_are_late_crosswise_are_told_apart_by_an_event_log() {
    let name = "ranks_that_are_late_crosswise_are_told_apart_by_an_event_log";
    for mpi in Mpi::installed(name) {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("delays");
        build(mpi, "mpicc", &["delays/delays.c"], &["-O1", "-g"], &program);
        let program = program.to_str().expect("path");
        let variables = ["TOPAS_MPI_LOG=yes", "TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes"];
        let words = [&variables[..], &[program, "crosswise", "60"]].concat();
        // Where ranks lack processors a log may contradict what they compute. That sums are taken then is told.
        let first = launched_again(|| {
            places.clear();
            profiled(mpi, &scratch, 4, &words, &places).good();
            let first = first_sentence(&scratch, &places.out);
            match first.contains("The sums of a run do not tell which") {
                true => Err(format!("{}: {first}", mpi.name())),
                false => Ok(first),
            }
        });
        let log = event_log(places.out.parent().expect("a directory"));
        let told = why(&scratch, &[&places.out, &log]);
        let lists = ["findings", "unsure"].map(|list| told[list].as_array().expect("a list"));
        let of = |rule: &str| {
            let found = lists.iter().flat_map(|list| list.iter()).find(|one| one["rule"] == rule);
            found.unwrap_or_else(|| panic!("{}: no {rule}: {told:#}", mpi.name()))
        };
        for (rank, rule, place) in [
            (0, "late-to-collectives", "They wait for it in Reduce, from reduce (delays.c:"),
            (3, "late-senders", "They wait for it in Sendrecv, from exchange (delays.c:"),
        ] {
            let finding = of(rule);
            assert_eq!(finding["where"], format!("rank {rank}"), "{}: {finding:#}", mpi.name());
            let sentence = finding["sentence"].as_str().expect("a sentence");
            assert!(sentence.contains(place), "{}: {sentence}", mpi.name());
            let names = [
                format!("Rank {rank} makes the others wait"),
                format!("for rank {rank}, "),
                format!("Rank {rank} makes others wait, too"),
            ];
            let is_named = names.iter().any(|name| first.contains(name));
            assert!(is_named && first.contains(place), "{}: {first}", mpi.name());
        }
    }
}

/// Two ranks are late, each before another call of the same function: the second is told behind the first, and each with
/// its caller.
#[test]
fn a_second_late_rank_and_callers_are_told() {
    for mpi in Mpi::installed("a_second_late_rank_and_callers_are_told") {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let program = scratch.path().join("delays");
        build(mpi, "mpicc", &["delays/delays.c"], &["-O1", "-g"], &program);
        let program = program.to_str().expect("path");
        let variables = ["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_PATHS=yes"];
        let words = [&variables[..], &[program, "phases", "60"]].concat();
        profiled(mpi, &scratch, 4, &words, &places).good();
        for view in ["--mpi", "--why"] {
            let mut told = scratch.command(Site::shared().tool("topasview"));
            let told = run(told.arg(view).arg(&places.out)).good().out();
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            let (first, second) =
                told.split_once("Rank 3 makes others wait, too").unwrap_or_default();
            assert!(
                first.contains("The others wait ") && first.contains(" s for rank 1,"),
                "{told}"
            );
            let place = |function| format!("called by {function} (delays.c:");
            assert!(first.contains(&place("assemble")), "{view}, {}: {told}", mpi.name());
            assert!(second.contains(&place("solve")), "{view}, {}: {told}", mpi.name());
        }
    }
}

/// Calls that are many and short, in which no rank is late, and some of them beside a rank that is: the case, the rule
/// that comes first, and the rank.
const SHORT_CALLS: [(&str, &str, &[u32]); 4] = [
    ("ring", "short-messages", &[]),
    ("barriers", "short-collectives", &[]),
    ("ping_pong", "short-messages", &[]),
    ("late", "late-senders", &[1]),
];

/// What the search says of a program whose ranks had processors of their own, if that is so in one of some launches: ranks that
/// lack a processor are late indeed.
fn searched_undisturbed(mpi: Mpi, program: &std::path::Path, args: &[&str]) -> Value {
    const LAUNCHES: usize = 4;
    let mut told = searched(mpi, program, 2, args);
    for _ in 1..LAUNCHES {
        if !is_taken(&told) {
            break;
        }
        told = searched(mpi, program, 2, args);
    }
    told
}

fn short_calls_end_in((case, rule, blamed): (&str, &str, &[u32]), mpi: Mpi) {
    let scratch = Scratch::new();
    let program = scratch.path().join("short_calls");
    build(mpi, "mpicc", &["waits/short_calls.c"], &["-O1"], &program);
    let told = searched_undisturbed(mpi, &program, &[case, "3"]);
    // Of messages that wait for a processor, most of the time may be no wait for a rank.
    let is_taken = is_taken(&told);
    let rule = if is_taken && rule == "short-messages" { MANY_MESSAGES } else { rule };
    ends_in(case, mpi, rule, blamed, &told);
    // What may be because of other programs is no accusation, and is told as a hint.
    let lists =
        if is_taken { &["findings", "seldom"][..] } else { &["findings", "unsure", "seldom"] };
    let accused = lists.iter().any(|list| told[list].to_string().contains("late-senders"));
    assert!(
        is_taken && !blamed.is_empty() || accused != blamed.is_empty(),
        "{case}, {}: {told:#}",
        mpi.name()
    );
    let saving = first_told(case, &told)["saving"].as_str().expect("what could be gained");
    assert!(saving.contains("shorter by up to"), "{case}: {saving}");
}

#[test]
fn many_short_calls_accuse_no_rank() {
    for mpi in Mpi::installed("many_short_calls_accuse_no_rank") {
        SHORT_CALLS[..2].iter().for_each(|of| short_calls_end_in(*of, mpi));
    }
}

#[test]
#[ignore = "cargo xtask test --findings"]
fn all_kinds_of_short_calls_accuse_no_rank() {
    for mpi in Mpi::installed("all_kinds_of_short_calls_accuse_no_rank") {
        SHORT_CALLS[2..].iter().for_each(|of| short_calls_end_in(*of, mpi));
    }
}

/// Time in the kernel is none of MPI's: the lines of the PEs tell it.
#[test]
fn time_in_the_kernel_is_found() {
    let site = Site::shared();
    for mpi in Mpi::installed("time_in_the_kernel_is_found") {
        let scratch = Scratch::new();
        let program = scratch.path().join("system_time");
        let mut topas = mpi.driver(site, &scratch, site.tool("topas").to_str().unwrap());
        topas.env("PATH", format!("{}:/usr/bin:/bin", mpi.tools().display()));
        let file = source("grindstone/system_time.c");
        run(topas.arg("mpicc").arg(file).arg("-o").arg(&program)).good();
        let mut launch = mpi.launch(site, &scratch, 2);
        launch.arg(&program).arg("1500").current_dir(scratch.path());
        launched(&scratch, &mut launch).good();
        ends_in("system_time", mpi, "system-time", &[], &why(&scratch, &[scratch.path()]));
    }
}

/// Programs of which nothing is to be said: source, compiler, options, ranks, arguments.
type Healthy = (&'static str, &'static str, &'static [&'static str], u32, &'static [&'static str]);

const HEALTHY: [Healthy; 9] = [
    ("grindstone/hot_procedure.c", "mpicc", &["-O1"], 2, &["3000"]),
    ("c/hello.c", "mpicc", &[], 4, &[]),
    ("c/cg.c", "mpicc", &["-O2", "-lm"], 2, &["100"]),
    ("c/hybrid.c", "mpicc", &["-O2", "-fopenmp"], 2, &[]),
    ("c/init_thread.c", "mpicc", &[], 2, &[]),
    ("cxx/hello.cc", "mpicxx", &[], 3, &[]),
    ("f77/hello.f", "mpif77", &[], 3, &[]),
    ("f90/hello.f90", "mpif90", &[], 3, &[]),
    ("f90/heat.f90", "mpif90", &["-O2"], 2, &[]),
];

fn ends_in_none(of: &Healthy, mpi: Mpi) {
    let told = launches_of(of, mpi, 1).remove(0);
    let is_none = told["findings"].as_array().is_some_and(Vec::is_empty);
    assert!(is_none, "{} under {}: {told:#}", of.0, mpi.name());
    let rule = told["nothing"]["rule"].as_str().expect("a rule");
    assert!(["nothing-found", "nothing-but-start"].contains(&rule), "{}: {told:#}", of.0);
}

/// What the search says of so many launches.
fn launches_of(of: &Healthy, mpi: Mpi, launches: usize) -> Vec<Value> {
    let (source, compiler, options, ranks, args) = *of;
    let scratch = Scratch::new();
    let program = scratch.path().join("healthy");
    build(mpi, compiler, &[source], options, &program);
    (0..launches).map(|_| searched(mpi, &program, ranks, args)).collect()
}

/// A program that always computes.
struct Busy(Child);

impl Busy {
    fn new() -> Busy {
        let mut shell = Command::new("sh");
        Busy(shell.args(["-c", "while :; do :; done"]).spawn().expect("a shell"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Launches a program of four ranks with waits and an event log.
fn logged(mpi: Mpi, scratch: &Scratch, program: &[&str]) -> Places {
    let places = Places::new(scratch);
    let words = [&["TOPAS_MPI_WAITS=yes", "TOPAS_MPI_LOG=64M"], program].concat();
    profiled(mpi, scratch, 4, &words, &places).good();
    places
}

/// Sums of a run take ranks that are late one after the other for one. An event log tells them apart, and that one waits
/// for the other in turn: 40 % of the waits arise in rank 1, and 60 % in rank 2.
#[test]
fn ranks_that_are_late_one_after_the_other_are_told_apart_by_an_event_log() {
    let name = "ranks_that_are_late_one_after_the_other_are_told_apart_by_an_event_log";
    for mpi in Mpi::installed(name) {
        let scratch = Scratch::new();
        let program = scratch.path().join("one_after_other");
        build(mpi, "mpicc", &["delays/one_after_other.c"], &["-O1"], &program);
        let places = logged(mpi, &scratch, &[program.to_str().expect("path"), "120"]);
        let told = why(&scratch, &[scratch.path(), &places.out]);
        let first = first_told("one_after_other", &told);
        let sentence = first["sentence"].as_str().expect("a sentence");
        for part in [
            "of all waits arise in rank 2. Another ",
            "% arise in rank 1. Not all of it is because some ranks compute longer (load balance ",
        ] {
            assert!(sentence.contains(part), "{}: {sentence}", mpi.name());
        }
        assert!(!sentence.contains("begin in it"), "{}: {sentence}", mpi.name());
        let evidence = first["evidence"].to_string();
        assert!(!evidence.contains("arise in rank"), "{}: told twice: {evidence}", mpi.name());
    }
}

/// An event log tells whether it was so during the whole run, where the waits arose, and what was found
/// before counts.
#[test]
fn an_event_log_tells_the_course_of_the_run() {
    let name = "an_event_log_tells_the_course_of_the_run";
    let Some(mpi) = Mpi::installed(name).into_iter().next() else { return };
    let scratch = Scratch::new();
    let program = patterns(mpi, &scratch);
    let notes = program.with_extension("notes");
    let (program, notes) = (program.to_str().expect("path"), notes.to_str().expect("path"));
    let places = logged(mpi, &scratch, &[program, "late_broadcast", notes, "700"]);
    let told = why(&scratch, &[scratch.path(), &places.out]);
    assert_eq!(told["read"]["log"], true, "{told:#}");
    let first = first_told("late_broadcast", &told);
    assert_eq!(first["rule"], "late-to-collectives", "{told:#}");
    let sentence = first["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("of all waits arise in rank 1."), "{sentence}");
    let evidence = first["evidence"][0].as_str().expect("evidence");
    assert!(evidence.starts_with("Over 18 slices of the run, the standard error"), "{evidence}");
    let unknown = told["unknown"].as_array().expect("a list");
    assert!(unknown.iter().all(|one| one["fact"] != "slices"), "{told:#}");
    // The log alone stands for the run that wrote it.
    let by_log = why(&scratch, &[&event_log(places.out.parent().expect("a directory"))]);
    assert_eq!(by_log["findings"], told["findings"], "{by_log:#}");
    // Without the log that is what is not known.
    let told = why(&scratch, &[&places.out]);
    assert_eq!(told["read"]["log"], false);
    let unknown = told["unknown"].as_array().expect("a list");
    assert!(unknown.iter().any(|one| one["fact"] == "slices"), "{told:#}");
}

#[test]
fn healthy_programs_end_in_none() {
    for mpi in Mpi::installed("healthy_programs_end_in_none") {
        HEALTHY[..2].iter().for_each(|of| ends_in_none(of, mpi));
    }
}

#[test]
#[ignore = "cargo xtask test --findings"]
fn every_healthy_program_ends_in_none() {
    for mpi in Mpi::installed("every_healthy_program_ends_in_none") {
        HEALTHY[2..].iter().for_each(|of| ends_in_none(of, mpi));
    }
}

/// Beside as many programs that compute as there are processors.
#[test]
#[ignore = "cargo xtask test --findings"]
fn no_launch_of_a_healthy_program_ends_in_a_finding_on_a_loaded_machine() {
    let name = "no_launch_of_a_healthy_program_ends_in_a_finding_on_a_loaded_machine";
    let _beside = [Busy::new(), Busy::new()];
    let mpis = Mpi::installed(name);
    let rounds = 100usize.div_ceil(HEALTHY.len() * mpis.len().max(1));
    for mpi in mpis {
        for of in &HEALTHY {
            for told in launches_of(of, mpi, rounds) {
                let is_none = told["findings"].as_array().is_some_and(Vec::is_empty);
                assert!(is_none, "{} under {}: {told:#}", of.0, mpi.name());
            }
        }
    }
}

/// People are told what, where, how much and what to do; and what was not measured.
#[test]
fn people_are_told_what_to_do() {
    let name = "people_are_told_what_to_do";
    let Some(mpi) = Mpi::installed(name).into_iter().next() else { return };
    let scratch = Scratch::new();
    let program = patterns(mpi, &scratch);
    let places = Places::new(&scratch);
    let notes = program.with_extension("notes");
    let words = [
        "TOPAS_MPI_WAITS=yes",
        program.to_str().expect("path"),
        "late_broadcast",
        notes.to_str().expect("path"),
        "700",
    ];
    profiled(mpi, &scratch, 4, &words, &places).good();
    let mut tool = scratch.command(Site::shared().tool("topasview"));
    let told = run(tool.arg("--why").arg(&places.out)).good().out();
    let text = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "1. ranks that wait in collectives, rank 1: it costs ",
        "MPI_Bcast",
        "Next: ",
        "Ruled out: ",
        "Not known: ",
    ] {
        assert!(text.contains(part), "{part} in {told}");
    }
    let none = run(scratch.command(Site::shared().tool("topasview")).args(["--why", "--raw"]));
    assert_eq!(none.code(), 2, "{}", none.err());
}
