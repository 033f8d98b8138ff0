//! MPIs that nobody knows: handles, constants and versions like those of no other, functions that
//! are missing, and functions that the table does not have. The program runs; calls and seconds are
//! counted, and what is not is named.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_tests::build::source;
use topas_tests::profile::{Counted, Places, alike, library, spool_files};
use topas_tests::running::{command, run};
use topas_tests::site::{Scratch, Site};

const STRICT: [&str; 5] = ["-O1", "-g", "-Wall", "-Wextra", "-Werror"];

fn compiled(scratch: &Scratch, file: &str, options: &[&str], to: &str) -> PathBuf {
    let path = scratch.path().join(to);
    let mut gcc = command("gcc");
    gcc.args(STRICT).arg("-I").arg(source("unknown")).arg(source(&format!("unknown/{file}")));
    run(gcc.args(options).arg("-o").arg(&path)).good();
    path
}

/// The library of that MPI, and a program of it.
fn acme(scratch: &Scratch, options: &[&str], program: &str) -> PathBuf {
    let options = [&["-fPIC", "-shared", "-Wl,-soname,libacme.so"], options].concat();
    let mpi = compiled(scratch, "acme.c", &options, "libacme.so");
    let found = format!("-Wl,-rpath,{}", scratch.path().display());
    compiled(scratch, program, &[mpi.to_str().expect("path"), &found], "program")
}

fn profiled(scratch: &Scratch, places: &Places, program: &Path) -> Command {
    let mut profiled = scratch.command(program);
    profiled.env("LD_PRELOAD", library(Site::shared())).envs(places.variables());
    profiled.current_dir(scratch.path());
    profiled
}

/// Runs a program without the library and with it; its profile. A rank alone needs no messages, of
/// which an unknown MPI has none that could be used.
#[track_caller]
fn counted(scratch: &Scratch, program: &Path) -> Counted {
    let places = Places::new(scratch);
    let without = run(&mut scratch.command(program)).good();
    let with = run(&mut profiled(scratch, &places, program)).good();
    alike(&without, &with);
    assert!(spool_files(&places.spool).is_empty(), "a mapped file after a good end");
    let lines = fs::read_to_string(&places.out).expect("data file");
    assert!(lines.contains(" of=run "), "{lines}");
    let all = places.counted();
    let [one] = &all[..] else { panic!("one process: {all:?}") };
    one.clone()
}

#[track_caller]
fn calls_and_seconds_alone(counted: &Counted) {
    let calls = |name| counted.routine(name).calls;
    let found =
        ["Init", "Comm_rank", "Comm_size", "Send", "Recv", "Barrier", "Finalize"].map(calls);
    assert_eq!(found, [1, 1, 1, 20, 20, 3, 1]);
    assert_eq!(counted.calls(), 47, "{:?}", counted.routines.keys());
    assert!(counted.routine("Send").seconds > 0.0);
    let moved: u64 =
        counted.routines.values().map(|r| r.sent + r.received + r.sends + r.count).sum();
    assert_eq!(moved, 0, "bytes of an unknown MPI: {:?}", counted.routines);
    assert!(!counted.missed.is_empty(), "nothing is said of what was not counted");
}

#[test]
fn an_unknown_mpi_with_a_function_that_the_table_does_not_have() {
    let scratch = Scratch::new();
    let program = acme(&scratch, &[], "program.c");
    calls_and_seconds_alone(&counted(&scratch, &program));
}

#[test]
fn an_old_mpi_without_a_version_and_a_profiling_interface() {
    let scratch = Scratch::new();
    let program = acme(&scratch, &["-DOLD"], "program.c");
    calls_and_seconds_alone(&counted(&scratch, &program));
}

/// Who asks the loader is told that the function is not there, although the library has its name.
#[test]
fn a_function_that_the_mpi_does_not_have() {
    let scratch = Scratch::new();
    let program = acme(&scratch, &["-DOLD"], "asks.c");
    let counted = counted(&scratch, &program);
    assert_eq!(counted.routine("Barrier").calls, 3);
}

/// Memory checkers see every access: nothing of the library touches what is not its own.
#[test]
fn nothing_strange_is_touched() {
    let test = "an unknown MPI under valgrind";
    if !topas_tests::running::have("valgrind") {
        return topas_tests::skip::skip(test, "no valgrind on this machine");
    }
    let scratch = Scratch::new();
    let program = acme(&scratch, &[], "program.c");
    let places = Places::new(&scratch);
    let mut checked = profiled(&scratch, &places, Path::new("valgrind"));
    checked.args(["-q", "--error-exitcode=9"]).arg(&program);
    let run = run(&mut checked).good();
    assert!(run.out().starts_with("0 of 1: "), "{}", run.out());
}
