//! Real projects, built with nothing changed but PATH: their own tests give the same
//! results with TOPAS and without, and their executables are measured. Ignored
//! unless asked for: sources come from Debian's archive and PyPI, and it takes
//! half an hour and more. What is built and how: `tests/projects/`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use topas_tests::mpi_installation::Mpi;
use topas_tests::recipe::{Linked, Recipe, Tree, missing, same_lines};
use topas_tests::record::read_log;
use topas_tests::running::system_path;
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::{note, skip};
use topas_tests::sources::{Archive, fetch};

/// One project at a time: their tests want the processors for themselves.
static ONE: Mutex<()> = Mutex::new(());

/// A shell of one side, with TOPAS in front of PATH or without.
fn shell(topas: bool, tree: &Tree) -> Command {
    let mpi = Mpi::OpenMpi;
    let mut shell = mpi.driver(Site::shared(), &tree.scratch, "sh");
    if !topas {
        shell.env("PATH", format!("{}:{}", mpi.tools().display(), system_path()));
    }
    shell
}

fn project(name: &str) {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let recipe = Recipe::read(name);
    let missing = missing(recipe.value("needs"));
    if !missing.is_empty() {
        return skip(name, &format!("these packages are missing: {}", missing.join(" ")));
    }
    let archive = match fetch(recipe.value("source")) {
        Ok(archive) => archive,
        Err(reason) => return skip(name, &format!("no sources: {}", reason.trim())),
    };
    let compared = compare(&recipe, &archive);
    note(name, &compared);
}

/// Builds and checks both sides; a sentence on what came out.
fn compare(recipe: &Recipe, archive: &Archive) -> String {
    let with = Tree { recipe, scratch: Scratch::new(), side: "with" };
    with.unpack(archive);
    let step = |tree: &Tree, step| tree.step(shell(tree.side == "with", tree), step);
    let built = step(&with, "build");
    for text in [built.out(), built.err()] {
        let said: Vec<_> = text.lines().filter(|line| line.starts_with("topas")).collect();
        assert!(said.is_empty(), "the driver speaks: {said:?}");
    }
    let left = read_log(&with.scratch.log());
    let results = step(&with, "check");
    let linked = Linked::below(&with.scratch.sub("source"));
    let measured = executables(&with.scratch.log());

    let results_without = if recipe.value("built") == "once" {
        let without = Tree { side: "without", ..with };
        let before = read_log(&without.scratch.log()).len();
        let results = step(&without, "check");
        assert_eq!(read_log(&without.scratch.log()).len(), before, "lines without TOPAS");
        results
    } else {
        let without = Tree { recipe, scratch: Scratch::new(), side: "without" };
        without.unpack(archive);
        step(&without, "build");
        let results = step(&without, "check");
        assert!(read_log(&without.scratch.log()).is_empty(), "lines without TOPAS");
        assert!(Linked::below(&without.scratch.sub("source")).with.is_empty());
        results
    };

    same_lines(&results.out(), &results_without.out());
    let count = results.out().lines().count();
    assert!(count >= recipe.number("results"), "{count} results only:\n{}", results.out());
    let lines: usize = measured.values().sum();
    assert_eq!(measured.len(), recipe.number("measured"), "measured: {measured:?}");
    assert!(linked.without.is_empty(), "MPI and no module: {:?}", linked.without);
    format!(
        "{} {}: executables with the module: {}, measured: {} ({lines} lines, {} of them while \
         it was built); {count} results, all the same",
        recipe.value("name"),
        archive.version,
        linked.with.len(),
        measured.len(),
        left.len(),
    )
}

/// Lines of each executable.
fn executables(log: &Path) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for record in read_log(log) {
        *lines.entry(String::from_utf8_lossy(&record.exe).into_owned()).or_default() += 1;
    }
    lines
}

#[test]
#[ignore = "cargo xtask test --projects"]
fn hpcc() {
    project("hpcc");
}

#[test]
#[ignore = "cargo xtask test --projects"]
fn hdf5() {
    project("hdf5");
}

#[test]
#[ignore = "cargo xtask test --projects"]
fn petsc() {
    project("petsc");
}

#[test]
#[ignore = "cargo xtask test --projects"]
fn mpi4py() {
    project("mpi4py");
}

#[test]
#[ignore = "cargo xtask test --projects"]
fn dune_common() {
    project("dune_common");
}

#[test]
#[ignore = "cargo xtask test --projects"]
fn mumps() {
    project("mumps");
}

#[test]
#[ignore = "cargo xtask test --projects"]
fn sundials() {
    project("sundials");
}
