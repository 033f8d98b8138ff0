//! What a user asks of a run by a variable and the program was not linked for: one rank says so in
//! one line, and nobody who has it, or did not ask, hears of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use topas_tests::build::{plain, source};
use topas_tests::mpi_installation::{Mpi, emulate_rank, launched};
use topas_tests::profile::library;
use topas_tests::running::{command, have, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::skip;

const ALL_PE: (&str, &str) = ("TOPAS_MEASURE_ALL_PE", "1");
const MPI: (&str, &str) = ("TOPAS_MPI", "yes");

const ALL_PE_TOLD: &str = "topas: TOPAS_MEASURE_ALL_PE=1 needs topas-run --all-pe\n";
const MPI_TOLD: &str = "topas: TOPAS_MPI=yes needs topas-run --mpi\n";

/// Links a program of MPI by the driver, with these variables.
fn linked(mpi: Mpi, scratch: &Scratch, name: &str, link: &[(&str, &str)]) -> PathBuf {
    let program = scratch.path().join(name);
    let mut driver = mpi.driver(Site::shared(), scratch, "mpicc");
    driver.arg(source("c/hello.c")).arg("-o").arg(&program).envs(link.iter().copied());
    run(&mut driver).good();
    program
}

/// What a launch of four ranks says on standard error, and the number of its lines in the log.
fn said(
    mpi: Mpi,
    scratch: &Scratch,
    words: &[&Path],
    variables: &[(&str, &str)],
) -> (String, usize) {
    let mut launch = mpi.launch(Site::shared(), scratch, 4);
    launch.current_dir(scratch.path()).env("TOPAS_MPI_SPOOL", scratch.sub("spool"));
    launch.args(words).envs(variables.iter().copied());
    let ended = launched(scratch, &mut launch).good();
    (ended.err(), scratch.take_log().len())
}

#[test]
fn one_rank_says_what_the_program_was_not_linked_for() {
    for mpi in Mpi::installed("asked at run") {
        let scratch = Scratch::new();
        let base = linked(mpi, &scratch, "base", &[]);
        let both = [ALL_PE_TOLD, MPI_TOLD].concat();
        for (variables, told) in [
            (&[ALL_PE][..], ALL_PE_TOLD),
            (&[MPI], MPI_TOLD),
            (&[ALL_PE, MPI], &both),
            // Rank 0 says it whether it measures or not.
            (&[MPI, ("TOPAS_PE", "0")], MPI_TOLD),
            // Another library that is loaded is none of the profile.
            (&[MPI, ("LD_PRELOAD", "libm.so.6")], MPI_TOLD),
            (&[], ""),
            (&[("TOPAS_MEASURE_ALL_PE", "no"), ("TOPAS_MPI", "no")], ""),
        ] {
            let (err, lines) = said(mpi, &scratch, &[&base], variables);
            assert_eq!(err, told, "{variables:?} under {}", mpi.name());
            let measured = if variables.contains(&("TOPAS_PE", "0")) { 1 } else { 2 };
            assert_eq!(lines, measured, "{variables:?} under {}", mpi.name());
        }
        let off = [ALL_PE, MPI, ("TOPAS", "off")];
        assert_eq!(said(mpi, &scratch, &[&base], &off), (String::new(), 0));
    }
}

#[test]
fn who_has_it_hears_nothing() {
    for mpi in Mpi::installed("asked at run and there") {
        let scratch = Scratch::new();
        let base = linked(mpi, &scratch, "base", &[]);
        let every = linked(mpi, &scratch, "every", &[ALL_PE]);
        let profiled = linked(mpi, &scratch, "profiled", &[MPI]);
        let run = Site::shared().tool("topas-run");
        let (all_pe, profile) = (Path::new("--all-pe"), Path::new("--mpi"));
        let library = library(Site::shared());
        let library = library.to_str().expect("a path");
        let beside = format!("libm.so.6:{library}");
        for (words, variables) in [
            (&[every.as_path()][..], &[ALL_PE][..]),
            (&[&profiled], &[MPI]),
            (&[&profiled], &[MPI, ("LD_PRELOAD", "libm.so.6")]),
            (&[&run, all_pe, &base], &[ALL_PE]),
            (&[&run, profile, &base], &[MPI]),
            (&[&run, all_pe, profile, &base], &[ALL_PE, MPI]),
            (&[&base], &[MPI, ("LD_PRELOAD", library)]),
            (&[&base], &[MPI, ("LD_PRELOAD", &beside)]),
        ] {
            let (err, lines) = said(mpi, &scratch, words, variables);
            assert_eq!((err.as_str(), lines), ("", 2), "{words:?} {variables:?} {}", mpi.name());
        }
        // Where only a half is there, the other half is told.
        let (err, _) = said(mpi, &scratch, &[&every], &[ALL_PE, MPI]);
        assert_eq!(err, MPI_TOLD, "{}", mpi.name());
        let (err, _) = said(mpi, &scratch, &[&profiled], &[ALL_PE, MPI]);
        assert_eq!(err, ALL_PE_TOLD, "{}", mpi.name());
    }
}

/// Programs that were never linked with the module, and `topas-run` without its option.
#[test]
fn a_run_without_the_option_says_so() {
    for mpi in Mpi::installed("asked at a run by topas-run") {
        let scratch = Scratch::new();
        let program = scratch.path().join("bare");
        let mut real = command(mpi.real("mpicc").expect("a driver of this MPI"));
        run(real.arg(source("c/hello.c")).arg("-o").arg(&program)).good();
        let tool = Site::shared().tool("topas-run");
        let of =
            |name, option| format!("topas-run: warning: {name} is for the link: here {option}\n");
        let told = of(ALL_PE.0, "--all-pe measures all") + &of(MPI.0, "--mpi profiles");
        // Rank 0 says it whether it measures or not.
        for list in ["0,1", "1,2"] {
            let variables = [ALL_PE, MPI, ("TOPAS_PE", list)];
            let (err, lines) = said(mpi, &scratch, &[&tool, &program], &variables);
            assert_eq!((err.as_str(), lines), (told.as_str(), 2), "{list} {}", mpi.name());
        }
    }
}

/// A program that holds its MPI may hold the profile, too: nothing tells.
#[test]
fn a_static_program_is_not_told_of_the_profile() {
    let scratch = Scratch::new();
    let Some(words) = Mpi::Mpich.static_words(&scratch) else { return };
    for mpi in Mpi::installed("asked of a static program") {
        if mpi != Mpi::Mpich {
            continue;
        }
        let program = scratch.path().join("static");
        let mut driver = mpi.driver(Site::shared(), &scratch, "mpicc");
        driver.arg(source("c/hello.c")).arg("-o").arg(&program).args(&words);
        run(&mut driver).good();
        let (err, lines) = said(mpi, &scratch, &[&program], &[ALL_PE, MPI]);
        assert_eq!((err.as_str(), lines), (ALL_PE_TOLD, 2));
    }
}

/// A rank of a program without MPI, by itself.
fn rank(scratch: &Scratch, program: &Path, rank: u32) -> Command {
    let mut command = scratch.command(program);
    emulate_rank(&mut command, rank, 8, "0123456789abcdef-0123456789abcdef");
    command.env("TOPAS_PE", "1,2").envs([ALL_PE, MPI]);
    command
}

#[test]
fn one_rank_speaks_by_one_write_and_opens_nothing() {
    let test = "one_rank_speaks_by_one_write";
    let scratch = Scratch::new();
    let (program, bare) = (scratch.path().join("program"), scratch.path().join("bare"));
    plain(Site::shared(), "c/empty.c", false, &program);
    plain(Site::shared(), "c/empty.c", true, &bare);
    // No MPI, so no profile that could be missed.
    for (number, told) in [(0, ALL_PE_TOLD), (1, ""), (3, "")] {
        let ended = run(&mut rank(&scratch, &program, number)).good();
        assert_eq!(ended.err(), told, "rank {number}");
    }
    // A child of a rank, and a process in which topas-run measures.
    let mut marked = rank(&scratch, &program, 0);
    assert_eq!(run(marked.env("TOPAS_RANK", "1")).good().err(), "");

    if !have("strace") || run(command("strace").args(["-o", "/dev/null", "true"])).code() != 0 {
        return skip(test, "strace does not work here");
    }
    let calls = |program: &Path, number: u32| {
        let traced = rank(&scratch, program, number);
        let mut strace = scratch.command("strace");
        for (name, value) in traced.get_envs() {
            strace.env(name, value.expect("a variable that is set"));
        }
        let report = scratch.path().join("calls");
        run(strace.arg("-o").arg(&report).arg(program)).good();
        let text = std::fs::read_to_string(report).expect("report of strace");
        text.lines().map(|line| line.split('(').next().unwrap_or_default().to_owned()).collect()
    };
    let (without, with): (Vec<String>, Vec<String>) = (calls(&bare, 0), calls(&program, 0));
    let own: Vec<&str> = {
        let mut rest = without.iter().peekable();
        with.iter()
            .filter(|call| rest.next_if(|next| next == call).is_none())
            .map(|c| &**c)
            .collect()
    };
    // One write, with the signals held back that it may raise.
    assert_eq!(own, ["rt_sigprocmask", "write", "rt_sigprocmask"], "{with:?}");
    assert_eq!(calls(&program, 3), calls(&bare, 3));
}
