//! The programs of `tests/programs`, with nothing changed but a library loaded into them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use topas_tests::build::source;
use topas_tests::directives::Directives;
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::compiler;
use topas_tests::running::{Run, run};
use topas_tests::site::Scratch;
use topas_tests::skip::note;

use super::{Side, counter, sorted};

/// Directories of programs with the driver used there.
const LANGUAGES: [(&str, &str); 4] =
    [("c", "mpicc"), ("cxx", "mpicxx"), ("f77", "mpif77"), ("f90", "mpif90")];

/// Functions that may be called after `MPI_Finalize`, when the profile is written.
const LATE: [&str; 3] = ["Finalized", "Initialized", "Get_version"];

/// Functions that a program may call until something has happened.
const POLLS: [&str; 6] = ["Test", "Testall", "Testany", "Testsome", "Iprobe", "Improbe"];

/// Programs with directives that are launched under `mpi`, and their drivers.
fn programs(mpi: Mpi, languages: &[&str]) -> Vec<(String, Directives, &'static str)> {
    let mut programs = Vec::new();
    for (directory, tool) in LANGUAGES.into_iter().filter(|(name, _)| languages.contains(name)) {
        for entry in fs::read_dir(source(directory)).expect("directory of programs") {
            let path = entry.expect("entry").path();
            let text = fs::read_to_string(&path).expect("program");
            if !text.lines().take(3).any(|line| line.contains(" topas:")) {
                continue;
            }
            let name = format!("{directory}/{}", path.file_name().unwrap().to_str().unwrap());
            let directives = Directives::read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
            let here = directives.mpi.as_ref().is_none_or(|only| only == mpi.name());
            if here && !directives.alone && directives.compiler.is_none() {
                programs.push((name, directives, tool));
            }
        }
    }
    programs.sort_by(|a, b| a.0.cmp(&b.0));
    programs
}

fn build(mpi: Mpi, name: &str, directives: &Directives, tool: &str, to: &Path) {
    let mut build = compiler(mpi, tool);
    build.arg(source(name)).args(&directives.flags).arg("-o").arg(to);
    // Fortran leaves files of modules where it runs.
    run(build.current_dir(to.parent().expect("directory"))).good();
}

fn launch(
    side: &Side,
    directives: &Directives,
    program: &Path,
    change: impl Fn(&mut Command),
) -> Run {
    let mut launch = side.launch(directives.ranks);
    change(&mut launch);
    launch.envs(directives.env.iter().map(|(name, value)| (name, value)));
    launched(&side.scratch, launch.arg(program).args(&directives.args))
}

/// Lines without those that tell a time.
fn untimed(text: &str) -> Vec<&str> {
    sorted(text).into_iter().filter(|line| !line.contains("MFlop/s")).collect()
}

fn same(mpi: Mpi) {
    let (mut ran, mut profiles) = (0, 0);
    for (name, directives, tool) in programs(mpi, &["c", "cxx", "f77", "f90"]) {
        let scratch = Scratch::new();
        let program = scratch.path().join("program");
        build(mpi, &name, &directives, tool, &program);
        let (bare, side) = (Side::without(mpi), Side::with(mpi));
        let without = launch(&bare, &directives, &program, |_| {});
        let with = launch(&side, &directives, &program, |_| {});
        let case = format!("{name} under {}", mpi.name());
        assert_eq!(with.code(), without.code(), "{case}: {}", with.err());
        let (out, bare_out) = (with.out(), without.out());
        assert_eq!(untimed(&out), untimed(&bare_out), "{case}");
        // Launchers name processes by numbers.
        let [err, bare_err] = [with.err(), without.err()].map(|text| {
            text.split(|c: char| c.is_ascii_digit())
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("#")
        });
        assert_eq!(sorted(&err), sorted(&bare_err), "{case}");
        let counted = side.places.expect("with the library").counted();
        profiles += counted.iter().filter(|rank| rank.calls() > 0).count();
        ran += 1;
    }
    assert!(ran > 10 && profiles > ran, "{ran} programs, {profiles} profiles of ranks");
    note(&format!("own programs, {}", mpi.name()), &format!("{ran}, {profiles} ranks profiled"));
}

#[test]
fn own_programs_are_the_same_under_open_mpi() {
    for mpi in Mpi::installed("own programs").into_iter().filter(|mpi| *mpi == Mpi::OpenMpi) {
        same(mpi);
    }
}

#[test]
fn own_programs_are_the_same_under_mpich() {
    for mpi in Mpi::installed("own programs").into_iter().filter(|mpi| *mpi == Mpi::Mpich) {
        same(mpi);
    }
}

/// Our counts, those of the counter below us, and those of the counter without us: of each program
/// under one of the MPIs, and under both with `TOPAS_TEST_FULL`.
#[test]
fn calls_are_those_of_another_counter() {
    let scratch = Scratch::new();
    let library = counter::build(scratch.path());
    let mut all = 0;
    for mpi in Mpi::installed("calls of another counter") {
        let mut compared = 0;
        for (name, directives, tool) in programs(mpi, &["c", "cxx"]) {
            // The place in the list is another one under each MPI.
            let place = name.bytes().map(usize::from).sum();
            if directives.mpi.is_none() && !mpi.takes(place) {
                continue;
            }
            let program = scratch.path().join("program");
            build(mpi, &name, &directives, tool, &program);
            let (alone, below) =
                (Side::without(mpi).above(&library), Side::with(mpi).above(&library));
            let counted = |side: &Side| {
                let dir = side.scratch.sub("counts");
                launch(side, &directives, &program, |launch| {
                    launch.env("COUNTS", &dir);
                });
                without_late(counter::counts(&dir))
            };
            let (alone_counts, below_counts) = (counted(&alone), counted(&below));
            let case = format!("{name} under {}", mpi.name());
            let fixed = |counts: &BTreeMap<String, u64>| {
                let mut counts = counts.clone();
                counts.retain(|routine, _| !POLLS.contains(&routine.as_str()));
                counts
            };
            assert_eq!(fixed(&alone_counts), fixed(&below_counts), "{case}: alone and below");
            let ranks = below.places.expect("with the library").counted();
            // Who ends otherwise may go on counting after one of the two wrote.
            if below_counts.get("Finalize") != Some(&(ranks.len() as u64)) {
                continue;
            }
            let mut ours = BTreeMap::new();
            for (routine, row) in ranks.into_iter().flat_map(|rank| rank.routines) {
                *ours.entry(routine).or_default() += row.calls;
            }
            // They return no word, so the counter does not have them.
            ours.retain(|routine, calls| {
                *calls > 0 && !["Wtime", "Wtick"].contains(&routine.as_str())
            });
            assert_eq!(without_late(ours), below_counts, "{case}");
            compared += 1;
        }
        all += compared;
        note("calls of another counter", &format!("{compared} programs under {}", mpi.name()));
    }
    assert!(all >= 8, "{all} programs compared");
}

fn without_late(mut counts: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    counts.retain(|routine, _| !LATE.contains(&routine.as_str()));
    counts
}
