//! `topas-run --mpi`: programs that were linked without TOPAS are profiled; the base measurement,
//! the environment and the way programs end stay as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_tests::build::source;
use topas_tests::expected::Expected;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Places, build};
use topas_tests::running::{Run, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::{note, skip};

const TRAFFIC: &str = "faults/traffic.c";

/// `mpiexec -n RANKS topas-run --mpi OPTION...`; the program follows.
fn launch(mpi: Mpi, scratch: &Scratch, ranks: u32, options: &[&str]) -> Command {
    let mut launch = mpi.launch(Site::shared(), scratch, ranks);
    launch.arg(Site::shared().tool("topas-run")).arg("--mpi").args(options);
    launch.env("TOPAS_MPI_SPOOL", scratch.sub("spool")).current_dir(scratch.path());
    launch
}

fn built(mpi: Mpi, scratch: &Scratch, tool: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = scratch.path().join("program");
    build(mpi, tool, &[name], options, &program);
    program
}

/// Compares what was counted with what the program says of itself.
#[track_caller]
fn exact(scratch: &Scratch, name: &str, ended: &Run, case: &str) {
    let places = Places { spool: scratch.sub("spool"), out: scratch.path().join("topas-mpi.out") };
    let expected = Expected::read(&fs::read_to_string(source(name)).unwrap()).unwrap();
    let counted = places.counted();
    assert_eq!(counted.len(), expected.ranks as usize, "{case}: ranks that were profiled");
    assert_eq!(expected.faults(&counted, &ended.out()), "", "{case}");
    fs::remove_file(&places.out).unwrap();
}

#[test]
fn programs_are_profiled_and_measured_as_without() {
    for mpi in Mpi::installed("topas-run --mpi") {
        let scratch = Scratch::new();
        for (tool, name, options) in
            [("mpicc", TRAFFIC, &["-w"][..]), ("mpif90", "faults/calls.F90", &["-DF08", "-w"])]
        {
            let program = built(mpi, &scratch, tool, name, options);
            let ranks = Expected::read(&fs::read_to_string(source(name)).unwrap()).unwrap().ranks;
            for front in [&[][..], &["nice"], &["env", "A=1", "nice", "-n", "1"]] {
                let mut command = launch(mpi, &scratch, ranks, &[]);
                let ended = launched(&scratch, command.args(front).arg(&program)).good();
                exact(&scratch, name, &ended, &format!("{tool} behind {front:?}"));
                let lines = scratch.take_log();
                assert_eq!(lines.len(), 2, "{tool} behind {front:?}");
                assert!(lines.iter().all(|line| line.extra("via") == "run"));
                assert_eq!(ended.err(), "");
            }
        }
    }
}

#[test]
fn a_program_sees_its_guard_and_nothing_else() {
    for mpi in Mpi::installed("environment of topas-run --mpi") {
        let scratch = Scratch::new();
        let program = built(mpi, &scratch, "mpicc", "c/sees_profile.c", &[]);
        let said = |command: &mut Command| launched(&scratch, command).good().out();
        let out = said(launch(mpi, &scratch, 4, &[]).arg(&program));
        assert_eq!(out.matches("loaded=1 preload=- guards=1").count(), 4, "{out}");
        // What the user has loaded stays.
        let libm = "/lib/x86_64-linux-gnu/libm.so.6";
        if Path::new(libm).exists() {
            let mut command = launch(mpi, &scratch, 4, &[]);
            let out = said(command.env("LD_PRELOAD", libm).arg(&program));
            let expected = format!("loaded=1 preload={libm} guards=1");
            assert_eq!(out.matches(&expected).count(), 4, "{out}");
        } else {
            note("libraries of the user", &format!("no {libm}"));
        }
        let out = said(launch(mpi, &scratch, 4, &[]).env("TOPAS", "off").arg(&program));
        assert_eq!(out.matches("loaded=0 preload=- guards=0").count(), 4, "{out}");
    }
}

/// Linked with the profile and loaded with it: one profile, no call twice.
#[test]
fn a_program_that_has_it_already_is_profiled_once() {
    for mpi in Mpi::installed("profile that is there twice") {
        let scratch = Scratch::new();
        let program = scratch.path().join("program");
        let mut link = mpi.driver(Site::shared(), &scratch, "mpicc");
        link.env("TOPAS_MPI", "yes").arg(source(TRAFFIC)).arg("-o").arg(&program);
        run(&mut link).good();
        let ended = launched(&scratch, launch(mpi, &scratch, 2, &[]).arg(&program)).good();
        exact(&scratch, TRAFFIC, &ended, "linked and loaded");
        // And one that has it is profiled by topas-run without the option, too.
        let mut command = mpi.launch(Site::shared(), &scratch, 2);
        command.arg(Site::shared().tool("topas-run")).env("TOPAS_MPI", "yes");
        command.env("TOPAS_MPI_SPOOL", scratch.sub("spool")).current_dir(scratch.path());
        let ended = launched(&scratch, command.arg(&program)).good();
        exact(&scratch, TRAFFIC, &ended, "linked, and run by topas-run");
    }
}

#[test]
fn python_is_profiled() {
    const PROGRAM: &str = "from mpi4py import MPI\nimport os\nw = MPI.COMM_WORLD\n\
        for i in range(9): w.Barrier()\n\
        assert os.system('env | grep -q LD_PRELOAD') != 0\n";
    // Debian's package stands on Open MPI.
    let mpi = Mpi::OpenMpi;
    let python = Path::new("/usr/bin/python3");
    let import = run(topas_tests::running::command(python).args(["-c", "import mpi4py"]));
    if mpi.real("mpiexec").is_none() || import.code() != 0 {
        skip("python under topas-run --mpi", "no mpi4py for Open MPI on this machine");
        return;
    }
    let scratch = Scratch::new();
    let script = scratch.path().join("program.py");
    fs::write(&script, PROGRAM).unwrap();
    let mut command = launch(mpi, &scratch, 2, &["--out", "mine.out"]);
    launched(&scratch, command.args([python, &script])).good();
    let out = scratch.path().join("mine.out");
    let counted = Places { spool: scratch.sub("spool"), out }.counted();
    assert_eq!(counted.len(), 2);
    assert!(counted.iter().all(|rank| rank.routine("Barrier").calls == 9), "{counted:?}");
    assert!(scratch.path().join("mine.txt").exists());
}

#[test]
fn what_cannot_be_profiled_runs_and_is_told_once() {
    let scratch = Scratch::new();
    for mpi in Mpi::installed("what cannot be profiled") {
        let told = |program: &[&str], why: &str| {
            let mut command = launch(mpi, &scratch, 2, &[]);
            let ended = launched(&scratch, command.args(program)).good();
            assert_eq!(ended.out(), "hello\nhello\n", "{program:?}");
            let expected = format!("topas-run: warning: no MPI profile: {why}");
            let lines = ended.err().lines().filter(|line| **line == expected).count();
            assert_eq!(lines, 1, "{program:?}: {}", ended.err());
        };
        let program = scratch.path().join("static");
        let source = scratch.path().join("hello.c");
        fs::write(&source, "#include <stdio.h>\nint main(void) { puts(\"hello\"); }\n").unwrap();
        let mut gcc = topas_tests::running::command("gcc");
        run(gcc.arg("-static").arg(&source).arg("-o").arg(&program)).good();
        told(&[program.to_str().unwrap()], "it is linked statically");
    }
}

/// A program without MPI, which the library leaves alone.
#[test]
fn a_program_without_mpi_ends_as_it_would() {
    let scratch = Scratch::new();
    let run_it = |words: &[&str]| {
        let mut command = scratch.command(Site::shared().tool("topas-run"));
        run(command.args(words).args(["false"]).current_dir(scratch.path()))
    };
    let (with, without) = (run_it(&["--mpi"]), run_it(&[]));
    assert_eq!((with.code(), with.out(), with.err()), (1, String::new(), String::new()));
    assert_eq!(without.code(), 1);
    assert!(!scratch.path().join("topas-mpi.out").exists());
    if !have("strace") {
        skip("a program without MPI", "no strace on this machine");
        return;
    }
    // It opens nothing and asks nothing that the loader does not.
    let mut strace = scratch.command("strace");
    strace.args(["-f", "-e", "trace=openat,open,socket"]).arg(Site::shared().tool("topas-run"));
    let ended = run(strace.args(["--mpi", "false"]).current_dir(scratch.path()));
    let spool = ended.err().lines().filter(|line| line.contains("topas-mpi.")).count();
    assert_eq!(spool, 0, "{}", ended.err());
}
