//! The library of the MPI profile: from the Rust staticlib to one object, and from that to
//! `libtopas_mpi.so`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::{cargo, root, run, target_dir};

/// A symbol that every build holds, by which the linker finds the rest.
const ROOT: &str = "MPI_Init";

/// Symbols that stay global: names of functions of MPI, in C and Fortran.
const GLOBAL: [&str; 3] = ["MPI_*", "PMPI_*", "mpi_*"];

/// File name of the object.
pub const OBJECT: &str = "topas-mpi.o";
/// File name of the library.
pub const LIBRARY: &str = "libtopas_mpi.so";

/// Builds object and library into a directory; their paths.
pub fn build(out: &Path) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
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
    run(std::process::Command::new("ld")
        .args(["-r", "--gc-sections", "-u", ROOT, "-e", ROOT, "-T"])
        .arg(&script)
        .arg("-o")
        .args([&merged, &archive]))?;
    let object = out.join(OBJECT);
    run(std::process::Command::new("objcopy")
        .args(["--strip-unneeded", "--wildcard"])
        .args(GLOBAL.map(|name| format!("--keep-global-symbol={name}")))
        .args([&merged, &object]))?;
    std::fs::remove_file(&merged)?;
    let library = out.join(LIBRARY);
    run(std::process::Command::new("ld")
        .args(["-shared", "--build-id=none", "--hash-style=gnu", "-znow", "-znoexecstack"])
        .args(["-zmax-page-size=4096", "--eh-frame-hdr", "-soname", LIBRARY, "-s", "-o"])
        .args([&library, &object]))?;
    Ok(vec![object, library])
}
