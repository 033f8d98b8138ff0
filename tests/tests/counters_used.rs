//! Programs that use the counters themselves, through PAPI, LIKWID or libpfm4: their numbers
//! are the same with the module, which opens nothing and says so.
#![cfg(target_arch = "x86_64")]

use std::process::Command;

use topas_format::number::Count;
use topas_testkit::pmu::{self, KernelEvent, PmuAnswer, PmuOutcome, PmuPlan};
use topas_tests::build::{source, with_module};
use topas_tests::mpi_installation::emulate_rank;
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

/// Builds a program with and without the module. None, with the reason printed, without the
/// library.
fn build(test: &str, name: &str, libraries: &[&str]) -> Option<Scratch> {
    let scratch = Scratch::new();
    let module = with_module(Site::shared(), "c");
    for (output, module) in [("bare", None), ("program", Some(module))] {
        let mut gcc = command("gcc");
        gcc.args(["-Wall", "-Werror", "-O1", "-no-pie"]).arg(source(name)).args(module);
        let built = run(gcc.args(libraries).arg("-o").arg(scratch.path().join(output)));
        if built.code() != 0
            && (built.err().contains("No such file") || built.err().contains("cannot find"))
        {
            skip(test, &format!("cannot link with {libraries:?}"));
            return None;
        }
        built.good();
    }
    Some(scratch)
}

/// Where the program keeps what it stores into; 16 where it has no such place.
fn place_of_stores(scratch: &Scratch, program: &str) -> u64 {
    let listed = run(Command::new("nm").arg(scratch.path().join(program))).good().out();
    let line = listed.lines().find(|line| line.ends_with(" first"));
    line.map_or(16, |line| u64::from_str_radix(&line[..16], 16).expect("an address"))
}

/// Runs one of them as a measuring rank. libpfm4 is told to be on a processor it knows.
fn outcome(scratch: &Scratch, program: &str) -> PmuOutcome {
    let mut rank = scratch.command(scratch.path().join(program));
    rank.env("TOPAS_PE", "1,2").env("LIBPFM_FORCE_PMU", "amd64_fam19h_zen4");
    emulate_rank(&mut rank, 1, 8, "0123456789abcdef-0123456789abcdef");
    let stores = PmuAnswer::Other(KernelEvent::stores(place_of_stores(scratch, program)));
    let plan = PmuPlan::new().others(PmuAnswer::Kernel).kind(4, stores).kind(0, stores);
    let outcome = pmu::run(&plan, rank).expect("the stand-in");
    assert_eq!(outcome.exit_code(), 0, "{}", String::from_utf8_lossy(&outcome.stderr));
    outcome
}

/// The program's words, which are the same without the module.
#[track_caller]
fn compare(scratch: &Scratch) -> String {
    let (bare, with) = (outcome(scratch, "bare"), outcome(scratch, "program"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&with.stdout), text(&bare.stdout));
    assert_eq!(text(&with.stderr), text(&bare.stderr));
    let asked = |outcome: &PmuOutcome| -> Vec<_> {
        outcome.calls.iter().map(|call| (call.attr, call.group_fd)).collect()
    };
    assert_eq!(asked(&with), asked(&bare), "events beside the program's own");
    let lines = scratch.take_log();
    let [line] = lines.as_slice() else { panic!("{} lines", lines.len()) };
    assert_eq!((line.ops, line.l1_miss), (Count::Missing, Count::Missing), "{}", line.text);
    assert_eq!(line.extra("why"), "f:used,m:used", "{}", line.text);
    assert_eq!((line.extra("cyc"), line.extra("ins")), ("", ""), "{}", line.text);
    text(&with.stdout)
}

#[test]
fn papi() {
    for libraries in [&["-lpapi"][..], &["-l:libpapi.a", "-lpfm"][..]] {
        let Some(scratch) = build("papi", "c/uses_papi.c", libraries) else { return };
        assert_eq!(compare(&scratch), "1 0 0 0 0: 777\n", "{libraries:?}");
    }
}

#[test]
fn libpfm4() {
    for libraries in [&["-lpfm"][..], &["-static", "-lpfm"][..]] {
        let Some(scratch) = build("libpfm4", "c/uses_libpfm.c", libraries) else { return };
        assert!(compare(&scratch).ends_with(" 8: 777\n"), "{libraries:?}");
    }
}

#[test]
fn likwid() {
    let Some(scratch) = build("likwid", "c/uses_likwid.c", &["-llikwid"]) else { return };
    assert!(compare(&scratch).contains("start"));
}
