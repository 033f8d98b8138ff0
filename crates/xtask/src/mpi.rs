//! The library of the MPI profile, `libtopas_mpi.so`: from the Rust staticlib to one object, and
//! from that to the library. And `topas-mpi.o`, which has a program loaded with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{cargo, root, run, target_dir};

/// A symbol that every build holds, by which the linker finds the rest.
const ROOT: &str = "MPI_Init";

/// Symbols that stay global: names of functions of MPI, in C and Fortran.
const GLOBAL: [&str; 3] = ["MPI_*", "PMPI_*", "mpi_*"];

/// File name of the object that has a program loaded with the library.
pub const DOOR: &str = "topas-mpi.o";
/// File name of the library.
pub const LIBRARY: &str = "libtopas_mpi.so";

/// Section of the door that holds the path of the library, and its size.
const PATH_SECTION: (&str, usize) = (".topas_mpi", 512);

/// Builds library and door into a directory; their paths. `installed` is where the library will
/// be found, if that is another directory.
pub fn build(out: &Path, installed: Option<&Path>) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let built = library(out)?;
    let door = door(out, &std::path::absolute(installed.unwrap_or(&built))?)?;
    Ok(vec![built, door])
}

/// Builds the object that has a program loaded with the library.
fn door(out: &Path, installed: &Path) -> Result<PathBuf> {
    let target = target_dir().join("mpi-profile");
    let mut rustc = cargo();
    rustc.args(["rustc", "--quiet", "--package", "topas-mpi-door", "--profile", "module"]);
    rustc.env("CARGO_TARGET_DIR", &target);
    run(&mut rustc)?;
    let (merged, object) = (out.join("door.merged.o"), out.join(DOOR));
    let archive = target.join("module/libtopas_mpi_door.a");
    run(Command::new("ld")
        .args(["-r", "--gc-sections", "-u", "topas_mpi_door", "-e", "topas_mpi_door", "-T"])
        .arg(root().join("crates/topas-mpi-door/merge.ld"))
        .arg("-o")
        .args([&merged, &archive]))?;
    let (section, size) = PATH_SECTION;
    let mut path = installed.as_os_str().as_encoded_bytes().to_vec();
    if path.len() >= size || path.contains(&0) {
        bail!("path of the MPI profile is too long: {}", installed.display());
    }
    path.resize(size, 0);
    let file = object.with_extension("path");
    std::fs::write(&file, path)?;
    run(Command::new("objcopy")
        .args(["--strip-unneeded", "--localize-symbol=topas_mpi_door"])
        .arg(format!("--update-section={section}={}", file.display()))
        .args([&merged, &object]))?;
    std::fs::remove_file(&file)?;
    std::fs::remove_file(&merged)?;
    Ok(object)
}

/// Builds the library.
fn library(out: &Path) -> Result<PathBuf> {
    let target = target_dir().join("mpi-profile");
    let mut rustc = cargo();
    rustc.args(["rustc", "--quiet", "--package", "topas-mpi", "--profile", "mpi"]);
    rustc.env("CARGO_TARGET_DIR", &target);
    // Frames of Rust are never on the stack while something below throws.
    rustc.args(["--", "-Cforce-unwind-tables=no"]);
    run(&mut rustc)?;
    let archive = target.join("mpi/libtopas_mpi.a");
    let merged = out.join("mpi.merged.o");
    let script = root().join("crates/topas-mpi/merge.ld");
    run(Command::new("ld")
        .args(["-r", "--gc-sections", "-u", ROOT, "-e", ROOT, "-T"])
        .arg(&script)
        .arg("-o")
        .args([&merged, &archive]))?;
    let object = out.join("mpi.o");
    run(Command::new("objcopy")
        .args(["--strip-unneeded", "--wildcard"])
        .args(GLOBAL.map(|name| format!("--keep-global-symbol={name}")))
        .args([&merged, &object]))?;
    std::fs::remove_file(&merged)?;
    let library = out.join(LIBRARY);
    run(Command::new("ld")
        .args(["-shared", "--build-id=none", "--hash-style=gnu", "-znow", "-znoexecstack"])
        .args(["-zmax-page-size=4096", "--eh-frame-hdr", "-soname", LIBRARY, "-s", "-o"])
        .args([&library, &object]))?;
    std::fs::remove_file(&object)?;
    Ok(library)
}
