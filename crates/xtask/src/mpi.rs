//! The MPI profile: from the Rust staticlib to one object, and from that to `libtopas_mpi.so`.
//!
//! All symbols of the object but the functions of MPI are local, and these are weak: a tool of the
//! user's wins. The library names no other that it needs: it is in one process with an MPI, and so
//! with some libc, and loads with any version of either.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use goblin::elf::Elf;
use topas_format::field::Lang;
use topas_format::module_facts;

use crate::process::{cargo, root, run, target_dir};
use crate::profile_check::{self, Part};

/// A symbol that every build holds, by which the linker finds the rest.
const ROOT: &str = "MPI_Init";

/// Symbols that stay global: names of functions of MPI, in C and Fortran.
const GLOBAL: [&str; 3] = ["MPI_*", "PMPI_*", "mpi_*"];

/// The section by which a part knows its installation.
const FACTS: &str = ".topas";

/// File name of the object.
pub const OBJECT: &str = "topas-mpi.o";
/// File name of the library.
pub const LIBRARY: &str = "libtopas_mpi.so";

/// What the linker makes the library by: nothing is left for later, it is never unloaded, since
/// it is in the middle of calls; few pages.
const LINK: [&str; 9] = [
    "-shared",
    "--build-id=none",
    "--hash-style=gnu",
    "--eh-frame-hdr",
    "-znow",
    "-znodelete",
    "-znoexecstack",
    "-znoseparate-code",
    "-zmax-page-size=4096",
];

/// Builds and checks object and library; their paths. `conf` is the topas.conf they name.
pub fn build(out: &Path, conf: &Path) -> Result<Vec<PathBuf>> {
    let merged = out.join("mpi.merged.o");
    merge(&merged)?;
    let object = out.join(OBJECT);
    let facts = out.join("mpi.facts");
    let mut objcopy = Command::new("objcopy");
    objcopy.args(["--strip-unneeded", "--wildcard"]);
    objcopy.args(GLOBAL.map(|name| format!("--keep-global-symbol={name}")));
    write_facts(&facts, conf)?;
    if has_section(&merged, FACTS)? {
        objcopy.arg(format!("--update-section={FACTS}={}", facts.display()));
    }
    run(objcopy.args([&merged, &object]))?;
    std::fs::remove_file(&merged)?;
    std::fs::remove_file(&facts)?;
    let library = out.join(LIBRARY);
    run(Command::new("ld")
        .args(LINK)
        .args(["-soname", LIBRARY, "-s", "-o"])
        .args([&library, &object]))?;
    check(&object, Part::Object)?;
    check(&library, Part::Library)?;
    Ok(vec![object, library])
}

/// Compiles the crate and links its archive to one object, in a directory that is made on the
/// way.
fn merge(to: &Path) -> Result<()> {
    let dir = to.parent().context("an object without a directory")?;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let target = target_dir().join("mpi-profile");
    let mut rustc = cargo();
    rustc.args(["rustc", "--quiet", "--package", "topas-mpi", "--profile", "mpi"]);
    rustc.env("CARGO_TARGET_DIR", &target);
    // Frames of Rust are never on the stack while something below throws.
    rustc.args(["--", "-Cforce-unwind-tables=no"]);
    run(&mut rustc)?;
    let archive = target.join("mpi/libtopas_mpi.a");
    let script = root().join("crates/topas-mpi/merge.ld");
    run(Command::new("ld")
        .args(["-r", "--gc-sections", "-u", ROOT, "-e", ROOT, "-T"])
        .arg(&script)
        .arg("-o")
        .args([to, &archive]))
}

/// Writes the section that names the topas.conf.
fn write_facts(file: &Path, conf: &Path) -> Result<()> {
    let path = conf.as_os_str().as_encoded_bytes();
    let (section, len) = module_facts::section(Lang::C, true, path)
        .with_context(|| format!("path of topas.conf is too long: {}", conf.display()))?;
    std::fs::write(file, &section[..len]).context("cannot write the facts of the installation")
}

/// Whether an object has a section of this name.
fn has_section(object: &Path, name: &str) -> Result<bool> {
    let bytes = std::fs::read(object)?;
    let elf = Elf::parse(&bytes)?;
    let mut names = elf.section_headers.iter().map(|s| elf.shdr_strtab.get_at(s.sh_name));
    Ok(names.any(|found| found == Some(name)))
}

/// Checks a file, and tells its size or all its faults.
fn check(path: &Path, part: Part) -> Result<()> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let faults = profile_check::check(&bytes, part);
    if !faults.is_empty() {
        bail!("{}: {}", path.display(), faults.join("; "));
    }
    println!("{}: {} B, ok", path.display(), bytes.len());
    Ok(())
}
