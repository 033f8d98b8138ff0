//! Building test programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mpi_installation::Mpi;
use crate::running::{command, run};
use crate::site::{Scratch, Site, source_root};

/// A program below `tests/programs`, such as `c/hello.c`.
pub fn source(name: &str) -> PathBuf {
    source_root().join("tests/programs").join(name)
}

/// Compiles a C program without MPI: `bare` without, else with the module on the link line.
/// Panics if that fails.
#[track_caller]
pub fn plain(site: &Site, name: &str, bare: bool, output: &Path) {
    let mut gcc = command("gcc");
    gcc.args(["-Wall", "-Werror", "-O1"]).arg(source(name)).arg("-o").arg(output);
    if !bare {
        gcc.arg(with_module(site, "c"));
    }
    run(&mut gcc).good();
}

/// The option that links the module, as a driver adds it.
pub fn with_module(site: &Site, language: &str) -> String {
    format!("-Wl,{}", site.module(language).display())
}

/// A command of the driver `tool` in front of `mpi` that builds a program; options and
/// libraries may follow.
pub fn by_driver(
    site: &Site,
    scratch: &Scratch,
    mpi: Mpi,
    tool: &str,
    name: &str,
    output: &Path,
) -> Command {
    let mut driver = mpi.driver(site, scratch, tool);
    driver.arg(source(name)).arg("-o").arg(output);
    driver
}
