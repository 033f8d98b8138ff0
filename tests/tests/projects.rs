//! Real projects, built with nothing changed but PATH: their own tests give the same
//! results with TOPAS and without, and their executables are measured. Runs with
//! `TOPAS_TEST_PROJECTS=1` only: sources come from Debian's archive and PyPI, and it takes
//! half an hour and more. What is built and how: `tests/projects/`.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use topas_tests::mpi::Mpi;
use topas_tests::recipe::{Linked, Recipe};
use topas_tests::record::read_log;
use topas_tests::running::{Run, command, run, run_within, system_path};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::{left_out, note, skip};
use topas_tests::sources::{Archive, fetch};

/// How long one step of a project may take.
const LIMIT: Duration = Duration::from_secs(5400);

/// One project at a time: their tests want the processors for themselves.
static ONE: Mutex<()> = Mutex::new(());

/// A side of the comparison.
struct Side<'a> {
    recipe: &'a Recipe,
    scratch: Scratch,
    topas: bool,
}

impl Side<'_> {
    /// Runs `build` or `check` in the sources.
    fn step(&self, step: &str) -> Run {
        let mpi = Mpi::OpenMpi;
        let mut shell = mpi.driver(Site::shared(), &self.scratch, "sh");
        if !self.topas {
            shell.env("PATH", format!("{}:{}", mpi.tools().display(), system_path()));
        }
        // Ranks that wait leave the processor to others, of which there are more than enough.
        shell.env("OMPI_MCA_mpi_yield_when_idle", "1").env("TMPDIR", self.scratch.sub("tmp"));
        let script = format!(". '{}' && {step}", self.recipe.path.display());
        shell.current_dir(self.scratch.sub("source")).args(["-e", "-c", &script]);
        let ended = run_within(&mut shell, LIMIT);
        self.keep(step, &ended);
        let said = ended.err();
        let last: Vec<_> = said.lines().rev().take(20).collect();
        let last = last.into_iter().rev().collect::<Vec<_>>().join("\n");
        assert_eq!(ended.code(), 0, "{} of {}:\n{last}", step, self.recipe.value("name"));
        ended
    }

    /// Keeps the output for whoever wants to see why, beside the sources.
    fn keep(&self, step: &str, ended: &Run) {
        let side = if self.topas { "with" } else { "without" };
        let dir = env::temp_dir().join("topas-projects");
        let name = self.recipe.path.file_stem().unwrap_or_default().to_string_lossy();
        let _ = fs::create_dir_all(&dir);
        for (kind, text) in [("out", &ended.stdout), ("err", &ended.stderr)] {
            let _ = fs::write(dir.join(format!("{name}.{step}.{side}.{kind}")), text);
        }
        let log = fs::read(self.scratch.log()).unwrap_or_default();
        let _ = fs::write(dir.join(format!("{name}.{step}.{side}.log")), log);
    }

    fn unpack(&self, archive: &Archive) {
        let mut tar = command("tar");
        tar.args(["--strip-components=1", "-xf"]).arg(&archive.path);
        run(tar.arg("-C").arg(self.scratch.sub("source"))).good();
    }
}

/// Whether Debian packages are installed; those that are not.
fn missing(packages: &str) -> Vec<&str> {
    let installed = |package: &&str| {
        let query =
            Command::new("dpkg-query").args(["-W", "-f", "${db:Status-Abbrev}", package]).output();
        query.is_ok_and(|output| output.stdout.starts_with(b"ii"))
    };
    packages.split_whitespace().filter(|package| !installed(package)).collect()
}

fn project(name: &str) {
    if env::var_os("TOPAS_TEST_PROJECTS").as_deref() != Some(OsStr::new("1")) {
        return left_out(name, "cargo xtask test --projects");
    }
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
    let side = |topas| Side { recipe, scratch: Scratch::new(), topas };
    let with = side(true);
    with.unpack(archive);
    let built = with.step("build");
    for text in [built.out(), built.err()] {
        let said: Vec<_> = text.lines().filter(|line| line.starts_with("topas")).collect();
        assert!(said.is_empty(), "the driver speaks: {said:?}");
    }
    let left = read_log(&with.scratch.log());
    let results = with.step("check");
    let linked = Linked::below(&with.scratch.sub("source"));
    let measured = executables(&with.scratch.log());

    let results_without = if recipe.value("built") == "once" {
        let without = Side { recipe, scratch: with.scratch, topas: false };
        let before = read_log(&without.scratch.log()).len();
        let results = without.step("check");
        assert_eq!(read_log(&without.scratch.log()).len(), before, "lines without TOPAS");
        results
    } else {
        let without = side(false);
        without.unpack(archive);
        without.step("build");
        let results = without.step("check");
        assert!(read_log(&without.scratch.log()).is_empty(), "lines without TOPAS");
        assert!(Linked::below(&without.scratch.sub("source")).with.is_empty());
        results
    };

    same(&results.out(), &results_without.out());
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

/// Panics with the lines that only one side has.
#[track_caller]
fn same(with: &str, without: &str) {
    let [a, b] = [with, without].map(|text| text.lines().collect::<BTreeSet<_>>());
    assert!(with == without || a != b, "the same lines in another order or number");
    let only = |x: &BTreeSet<_>, y: &BTreeSet<&str>| {
        x.difference(y).map(|line: &&str| (*line).to_owned()).collect::<Vec<_>>().join("\n")
    };
    assert!(a == b, "only with TOPAS:\n{}\nonly without:\n{}", only(&a, &b), only(&b, &a));
}

#[test]
fn hpcc() {
    project("hpcc");
}

#[test]
fn hdf5() {
    project("hdf5");
}

#[test]
fn petsc() {
    project("petsc");
}

#[test]
fn mpi4py() {
    project("mpi4py");
}

#[test]
fn dune_common() {
    project("dune_common");
}

#[test]
fn mumps() {
    project("mumps");
}
