//! The MPI profile: from the Rust staticlib to one object, and from that to `libtopas_mpi.so`. And
//! `topas-mpi.o`, which has a program loaded with it.
//!
//! All symbols of the library but the functions of MPI are local, and these are weak. It names no
//! other library that it needs: it is in one process with an MPI, and so with some libc, and loads
//! with any version of either.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use topas_config::Paths;
use topas_format::field::Lang;
use topas_format::module_facts;

use crate::object::{Machine, X86_64_LANDING};
use crate::process::{root, run, target_dir};
use crate::profile_check::{self, LOADER, ProfilePart};
use crate::wrap::{self, ENTRIES};
use crate::{group, landing};

/// A symbol that every build holds, by which the linker finds the rest.
const ROOT: &str = "MPI_Init";

/// Symbols that stay global: names of functions of MPI, in C and Fortran, and what asks for them.
const GLOBAL: [&str; 6] = ["MPI_*", "PMPI_*", "mpi_*", LOADER[0], LOADER[1], LOADER[2]];

/// The section by which the library knows its installation.
const SITE_SECTION: &str = ".topas_mpi_site";

/// Section of the door that holds the path of the library, and its size.
const PATH_SECTION: (&str, usize) = (".topas_mpi", 512);

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

/// Builds and checks all parts for an installation on a machine; their paths, whose file names are those of
/// an installation. `conf` is the topas.conf that they read, `library` is where the library will be
/// found, if not there.
pub fn build(
    machine: &Machine<'_>,
    out: &Path,
    paths: &Paths,
    conf: &Path,
    library: Option<&Path>,
) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    let built = build_library(machine, out, paths, conf, &[])?;
    let found = paths.mpi_library();
    let found = std::path::absolute(library.unwrap_or(&found))?;
    let mut parts = vec![built];
    if is_x86_64(machine) {
        let wrapped = out.join("mpi.wrapped.o");
        let core = merge(machine, &wrapped, &["topas_mpi_wrap"], ENTRIES[0])
            .and_then(|()| localize(machine, out, &wrapped, conf, &ENTRIES))?;
        let (archive, options) =
            (at(out, &paths.mpi_wrap_archive())?, at(out, &paths.mpi_wrap_names())?);
        check(&core, ProfilePart::Wrapped)?;
        wrap::build(&core, &archive, &options)?;
        std::fs::remove_file(core)?;
        parts.extend([archive, options]);
    }
    for (path, cfgs) in [(paths.mpi_object(), &[][..]), (paths.mpi_init_object(), &["topas_init"])]
    {
        parts.push(build_door(machine, &at(out, &path)?, cfgs, &found)?);
    }
    Ok(parts)
}

/// The place of an installed file in the directory of what is built.
fn at(out: &Path, installed: &Path) -> Result<PathBuf> {
    Ok(out.join(installed.file_name().context("a part has no name")?))
}

/// Builds an object that has a program loaded with the library, which is at `found`.
fn build_door(
    machine: &Machine<'_>,
    object: &Path,
    cfgs: &[&str],
    found: &Path,
) -> Result<PathBuf> {
    let target = target_dir().join("mpi-profile").join(cfgs.join("-"));
    let mut rustc = machine.staticlib("topas-mpi-door", "module", &target);
    rustc.args(landing_arguments(machine));
    rustc.args(cfgs.iter().flat_map(|cfg| ["--cfg", cfg]));
    run(&mut rustc)?;
    let merged = object.with_extension("merged.o");
    let archive = target.join(machine.built()).join("module/libtopas_mpi_door.a");
    run(machine
        .tool("ld")
        .args(["-r", "--gc-sections", "-u", "topas_mpi_door", "-e", "topas_mpi_door", "-T"])
        .arg(root().join("crates/topas-mpi-door/merge.ld"))
        .arg("-o")
        .args([&merged, &archive]))?;
    prove_landing(machine, &merged)?;
    let (section, size) = PATH_SECTION;
    let mut path = found.as_os_str().as_encoded_bytes().to_vec();
    if path.len() >= size || path.contains(&0) {
        bail!("path of the MPI profile is too long: {}", found.display());
    }
    path.resize(size, 0);
    let mut objcopy = machine.tool("objcopy");
    objcopy.args(["--strip-unneeded", "--localize-symbol=topas_mpi_door"]);
    with_section(machine, &mut objcopy, section, &path, &merged, object)?;
    check(object, ProfilePart::Door)?;
    Ok(object.to_owned())
}

/// Builds the library so that it takes no call for a long one. Programs that count instructions make
/// every call long.
pub fn build_without_long_calls(out: &Path, paths: &Paths) -> Result<PathBuf> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot make {}", out.display()))?;
    build_library(&Machine::HERE, out, paths, &paths.conf_file(), &["topas_no_call_is_long"])
}

/// Builds the library.
fn build_library(
    machine: &Machine<'_>,
    out: &Path,
    paths: &Paths,
    conf: &Path,
    cfgs: &[&str],
) -> Result<PathBuf> {
    let library = at(out, &paths.mpi_library())?;
    let merged = out.join("mpi.merged.o");
    merge(machine, &merged, cfgs, ROOT)?;
    let object = localize(machine, out, &merged, conf, &GLOBAL)?;
    check(&object, ProfilePart::Object)?;
    let name = library.file_name().context("the library has no name")?;
    let mut ld = machine.tool("ld");
    ld.args(LINK).arg("-soname").arg(name);
    run(ld.args(["-s", "-o"]).args([&library, &object]))?;
    std::fs::remove_file(&object)?;
    check(&library, ProfilePart::Library)?;
    Ok(library)
}

/// Compiles the crate of the library and links its archive to one object, beginning with a symbol.
fn merge(machine: &Machine<'_>, to: &Path, cfgs: &[&str], begin: &str) -> Result<()> {
    let target = target_dir().join("mpi-profile").join(cfgs.join("-"));
    let mut rustc = machine.staticlib("topas-mpi-library", "mpi", &target);
    // Frames of Rust are never on the stack while something below throws.
    rustc.arg("-Cforce-unwind-tables=no").args(landing_arguments(machine));
    rustc.args(cfgs.iter().flat_map(|cfg| ["--cfg", cfg]));
    run(&mut rustc)?;
    let archive = target.join(machine.built()).join("mpi/libtopas_mpi_library.a");
    let script = root().join("crates/topas-mpi-library/merge.ld");
    run(machine
        .tool("ld")
        .args(["-r", "--gc-sections", "-u", begin, "-e", begin])
        .args(is_x86_64(machine).then_some("--wrap=__udivti3"))
        .arg("-T")
        .arg(&script)
        .arg("-o")
        .args([to, &archive]))?;
    prove_landing(machine, to)
}

/// What makes landing pads, where a compiler can. On AArch64 it cannot, so there the parts have no
/// note, and what they are loaded into or linked with has none, either.
fn landing_arguments(machine: &Machine<'_>) -> &'static [&'static str] {
    if is_x86_64(machine) { &X86_64_LANDING } else { &[] }
}

fn is_x86_64(machine: &Machine<'_>) -> bool {
    machine.processor() == "x86_64"
}

/// Fails if an address is taken where there is no landing pad.
fn prove_landing(machine: &Machine<'_>, object: &Path) -> Result<()> {
    if !is_x86_64(machine) {
        return Ok(());
    }
    let bytes = std::fs::read(object).context("cannot read the merged object")?;
    let bytes = landing::call_directly(bytes)?;
    landing::check(&bytes).with_context(|| object.display().to_string())?;
    std::fs::write(object, bytes).context("cannot write the merged object")
}

/// Makes all symbols of an object local but these, and tells it of its installation; `merged` is
/// removed.
fn localize(
    machine: &Machine<'_>,
    out: &Path,
    merged: &Path,
    conf: &Path,
    global: &[&str],
) -> Result<PathBuf> {
    let object = out.join("mpi.o");
    let mut objcopy = machine.tool("objcopy");
    objcopy.args(["--strip-unneeded", "--wildcard"]);
    objcopy.args(global.iter().map(|name| format!("--keep-global-symbol={name}")));
    let (facts, len) = module_facts::section(Lang::C, true, conf.as_os_str().as_encoded_bytes())
        .with_context(|| format!("path of topas.conf is too long: {}", conf.display()))?;
    with_section(machine, &mut objcopy, SITE_SECTION, &facts[..len], merged, &object)?;
    Ok(object)
}

/// Runs `objcopy` on `from`, which is removed, with the bytes of a section replaced.
fn with_section(
    machine: &Machine<'_>,
    objcopy: &mut Command,
    section: &str,
    bytes: &[u8],
    from: &Path,
    to: &Path,
) -> Result<()> {
    let file = to.with_extension("section");
    std::fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    run(objcopy.arg(format!("--update-section={section}={}", file.display())).args([from, to]))?;
    std::fs::remove_file(&file)?;
    std::fs::remove_file(from)?;
    if is_x86_64(machine) {
        let object = std::fs::read(to).context("cannot read the object")?;
        std::fs::write(to, group::noted(&object)?)?;
    }
    Ok(())
}

/// Checks a file, and tells its size or all its faults.
fn check(path: &Path, part: ProfilePart) -> Result<()> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let faults = profile_check::check(&bytes, part);
    if !faults.is_empty() {
        bail!("{}: {}", path.display(), faults.join("; "));
    }
    if ![ProfilePart::Object, ProfilePart::Wrapped].contains(&part) {
        println!("{}: {} B, ok", path.display(), bytes.len());
    }
    Ok(())
}
