//! Real projects and test suites, by the recipes of `tests/projects`: built once without TOPAS, and
//! checked without the library and with it. It is loaded into all that a check starts: shells,
//! make, compilers and launchers, too.

use std::fs;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use topas_tests::mpi_installation::{Mpi, permit};
use topas_tests::profile::{Places, library};
use topas_tests::recipe::{Recipe, Tree, missing, same_lines};
use topas_tests::running::{command, system_path};
use topas_tests::site::{Scratch, Site};
use topas_tests::skip::{note, skip};
use topas_tests::sources::fetch;

use super::EVERYTHING;

/// One at a time: their tests want the processors for themselves.
static ONE: Mutex<()> = Mutex::new(());

fn shell(mpi: Mpi, scratch: &Scratch) -> Command {
    let mut shell = command("bash");
    shell.env("PATH", format!("{}:{}", mpi.tools().display(), system_path()));
    shell.env("MPI", mpi.name());
    permit(&mut shell, scratch);
    shell
}

fn suite(name: &str) {
    let test = format!("suite {name}");
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let recipe = Recipe::read(name);
    let missing = missing(recipe.value("needs"));
    if !missing.is_empty() {
        return skip(&test, &format!("these packages are missing: {}", missing.join(" ")));
    }
    let archive = match fetch(recipe.value("source")) {
        Ok(archive) => archive,
        Err(reason) => return skip(&test, &format!("no sources: {}", reason.trim())),
    };
    let wanted = |mpi: &Mpi| match recipe.value("mpi") {
        "" => *mpi == Mpi::OpenMpi,
        names => names.split_whitespace().any(|name| name == mpi.name()),
    };
    for mpi in Mpi::installed(&test).into_iter().filter(wanted) {
        let scratch = Scratch::new();
        let places = Places::new(&scratch);
        let bare = Tree { recipe: &recipe, scratch, side: "bare" };
        bare.unpack(&archive);
        bare.step(shell(mpi, &bare.scratch), "build");
        let without = bare.step(shell(mpi, &bare.scratch), "check");
        let profiled = Tree { side: "profiled", ..bare };
        let mut with = shell(mpi, &profiled.scratch);
        with.env("LD_PRELOAD", library(Site::shared())).envs(places.variables()).envs(EVERYTHING);
        with.env("TOPAS_LOG", format!("file:{}", profiled.scratch.log().display()));
        let with = profiled.step(with, "check");
        same_lines(&with.out(), &without.out());
        let results = with.out().lines().count();
        assert!(results >= recipe.number("results"), "{results} results only:\n{}", with.out());
        let log = fs::read_to_string(profiled.scratch.log()).unwrap_or_default();
        let records = log.lines().filter(|line| line.contains(" of=run line=1/")).count();
        assert!(records >= recipe.number("profiles"), "{records} profiles only");
        note(
            &test,
            &format!("{}: {results} results, all the same; {records} profiles", mpi.name()),
        );
    }
}

macro_rules! suites {
    ($($name:ident)*) => {
        $(#[test]
        #[ignore = "cargo xtask test --projects"]
        fn $name() {
            suite(stringify!($name));
        })*
    };
}

suites! { dune_common hdf5 hpcc mpi4py mpich_tests mumps petsc sundials }
