//! Many MPIs, one library: the same calls in each language that an MPI has drivers for, counted
//! exactly.
//!
//! Debian's Open MPI and MPICH run it always, `cargo xtask test --all-mpi` adds others.

use std::fs;
use std::path::{Path, PathBuf};

use topas_tests::build::source;
use topas_tests::expected::Expected;
use topas_tests::installation::{Installation, MpiKind, Through};
use topas_tests::mpi_installation::{Mpi, launched};
use topas_tests::profile::{Counted, Places, library};
use topas_tests::running::{Run, run};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::note;

/// A language: driver, source, options, and whether calls are 25 and not one more.
struct Column {
    name: &'static str,
    tools: &'static [&'static str],
    source: &'static str,
    options: &'static [&'static str],
}

/// A buffer that is once a constant and once an array is a fault without interfaces.
const FORTRAN: [&str; 3] = ["-w", "-fallow-argument-mismatch", "-DMPIFH"];

const COLUMNS: &[Column] = &[
    Column { name: "C", tools: &["mpicc"], source: "calls.c", options: &["-w"] },
    Column { name: "PMPI", tools: &["mpicc"], source: "calls.c", options: &["-w", "-DPROFILING"] },
    Column { name: "ABI of MPI 5", tools: &["mpicc_abi"], source: "calls.c", options: &["-w"] },
    Column {
        name: "mpif.h",
        tools: &["mpifort", "mpif90"],
        source: "calls.F90",
        options: &FORTRAN,
    },
    Column {
        name: "use mpi",
        tools: &["mpifort", "mpif90"],
        source: "calls.F90",
        options: &["-w", "-DMODULE"],
    },
    Column {
        name: "use mpi_f08",
        tools: &["mpifort", "mpif90"],
        source: "calls.F90",
        options: &["-w", "-DF08"],
    },
];

const CALLS: u64 = 25;

fn build(mpi: &Installation, column: &Column, scratch: &Scratch) -> Option<PathBuf> {
    let tool = column.tools.iter().find(|tool| mpi.tool(tool).is_some())?;
    let program = scratch.path().join("program");
    let mut driver = mpi.command(Site::shared(), scratch, Through::Bare, tool);
    driver.env("TOPAS", "off").args(column.options);
    driver.arg(source(&format!("faults/{}", column.source))).arg("-o").arg(&program);
    // Libraries of a virtual environment are on no path of the loader.
    let own = mpi.tool(tool)?;
    let lib = own.parent().and_then(Path::parent).expect("directory of an MPI").join("lib");
    if mpi.kind != MpiKind::Intel && !mpi.name.ends_with("-of-debian") {
        driver.arg(format!("-Wl,-rpath,{}", lib.display()));
    }
    let built = run(&mut driver);
    let why = built.err().lines().find(|line| line.contains("rror")).unwrap_or("").to_owned();
    if built.code() != 0 && column.source.ends_with(".c") {
        panic!("{} of {}: {}", column.name, mpi.name, built.err());
    }
    if built.code() != 0 {
        // Wheels bring drivers for Fortran, but no modules.
        note(
            &format!("matrix {} of {}", column.name, mpi.name),
            &format!("cannot be built: {why}"),
        );
        return None;
    }
    Some(program)
}

fn launch(mpi: &Installation, scratch: &Scratch, words: &[String]) -> Run {
    let mut launch = mpi.command(Site::shared(), scratch, Through::Bare, "mpiexec");
    launch.args(["-n", "4"]).args(words).current_dir(scratch.path());
    launched(scratch, &mut launch).good()
}

/// What is wrong with the profile of one language under one MPI.
fn fault(mpi: &Installation, column: &Column, expected: &Expected) -> Option<String> {
    let scratch = Scratch::new();
    let program = build(mpi, column, &scratch)?.display().to_string();
    let places = Places::new(&scratch);
    let without = launch(mpi, &scratch, &["env".to_owned(), program.clone()]);
    let mut words = places.words(&[&library(Site::shared())]);
    words.push(program);
    let with = launch(mpi, &scratch, &words);
    // Lines of several ranks may come out as one.
    let said = |run: &Run| (run.out().matches("good").count(), run.err());
    assert_eq!(said(&with), said(&without), "{} of {}", column.name, mpi.name);
    let counted = places.counted();
    let mut faults = expected.faults(&counted, "");
    for one in counted.iter().filter(|one: &&Counted| one.calls() != CALLS) {
        let all: Vec<_> = one.routines.iter().map(|(name, r)| (name, r.calls)).collect();
        faults += &format!("rank {}: {} calls: {all:?}\n", one.rank, one.calls());
    }
    (!faults.is_empty()).then(|| format!("{} of {}:\n{faults}", column.name, mpi.name))
}

fn all(mpis: &[Installation]) {
    let text = fs::read_to_string(source("faults/calls.F90")).expect("program");
    let expected = Expected::read(&text).expect("directives");
    let cells = mpis.iter().flat_map(|mpi| COLUMNS.iter().map(move |column| (mpi, column)));
    let faults: Vec<_> = cells.filter_map(|(mpi, column)| fault(mpi, column, &expected)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn debian_s() {
    let mpis = Mpi::installed("matrix of Debian's MPIs");
    all(&mpis.into_iter().filter_map(Installation::of_debian).collect::<Vec<_>>());
}

#[test]
#[ignore = "cargo xtask test --all-mpi"]
fn others() {
    all(&Installation::all().expect("TOPAS_TEST_ALL_MPI"));
}
