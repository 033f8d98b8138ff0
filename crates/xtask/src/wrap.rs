//! The MPI profile for programs that hold their MPI: an archive, and the linker's options that
//! lead the calls of a program into it.
//!
//! Of each name of a function there is a member that defines `__wrap_NAME`, and refers to
//! `__real_NAME`: so a program gets the members of the names it calls, and of the MPI what it would
//! have got anyway. All of them lead into one more member, the library itself, which finds what
//! lies below in a section that the members fill. It is compiled without the loader's functions, of
//! which a static program is warned when it is linked.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use topas_mpi_table::{Version, functions};

use crate::codegen::mpi_stubs::{FUNCTION_BITS, PROFILING, names};
use crate::process::{root, run};
use crate::wrap_member::member;

/// The section that the members fill: pairs of the number of a name and its address.
pub const SECTION: &str = "topas_mpi_real";

/// The section of what the MPI itself defines by other names: pairs of a name and its address.
const OBJECTS: &str = "topas_mpi_objects";

/// The ways into the library, in the order of `StubEntry`.
pub const ENTRIES: [&str; 3] = ["topas_mpi_common", "topas_mpi_floating", "topas_mpi_variadic"];

/// What the base module asks of the MPI by weak references, which would pull nothing.
const ASKED_BY_MODULE: [&str; 4] =
    ["MPI_Finalize", "PMPI_Finalized", "PMPI_Initialized", "PMPI_Get_library_version"];

/// What every MPI has: functions that the library calls and that came later are referred to
/// weakly.
const IN_EVERY_MPI: Version = Version::new(3, 0);

/// Makes the archive of a merged object of the library, and the file of options.
pub fn build(core: &Path, archive: &Path, options: &Path) -> Result<()> {
    let dir = archive.with_extension("members");
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let own = dir.join("own.s");
    std::fs::write(&own, own_references()?)?;
    let assembled = dir.join("own.o");
    run(Command::new("as").arg("-o").args([&assembled, &own]))?;
    let whole = dir.join("topas_mpi.o");
    run(Command::new("ld").args(["-r", "-o"]).arg(&whole).args([core, &assembled]))?;
    let mut objcopy = Command::new("objcopy");
    objcopy.args(ENTRIES.map(|name| format!("--keep-global-symbol={name}")));
    run(objcopy.arg(&whole))?;
    let mut members = vec![whole];
    let mut wrapped = String::new();
    for name in names() {
        let path = dir.join(format!("{}.o", members.len()));
        let entry = ENTRIES[name.entry as usize];
        std::fs::write(&path, member(&name.symbol, name.number, entry))?;
        members.push(path);
        writeln!(wrapped, "--wrap={}", name.symbol)?;
    }
    std::fs::write(options, wrapped)
        .with_context(|| format!("cannot write {}", options.display()))?;
    if archive.exists() {
        std::fs::remove_file(archive)?;
    }
    run(Command::new("ar").arg("rcsD").arg(archive).args(&members))?;
    std::fs::remove_dir_all(&dir).context("cannot remove the members")?;
    println!("{}: {} members, ok", archive.display(), members.len());
    Ok(())
}

/// Assembly that refers to what the library itself calls, and to objects it knows by name.
fn own_references() -> Result<String> {
    let mut text = format!(".section {SECTION},\"aw\",@progbits\n.balign 8\n");
    for (number, function) in functions().enumerate() {
        let name = function.name.trim_start_matches("MPI_");
        if !called()?.contains(&name.to_ascii_uppercase()) {
            continue;
        }
        let symbol = format!("__real_PMPI_{name}");
        if function.since > IN_EVERY_MPI {
            writeln!(text, ".weak {symbol}")?;
        }
        writeln!(text, ".quad {}, {symbol}", number | PROFILING << FUNCTION_BITS)?;
    }
    for name in ASKED_BY_MODULE {
        writeln!(text, ".globl __wrap_{name}\n.reloc ., R_X86_64_NONE, __wrap_{name}")?;
    }
    writeln!(text, ".section {OBJECTS},\"aw\",@progbits\n.balign 8")?;
    let objects: Vec<_> = topas_mpi_table::abi::ALL.iter().flat_map(|abi| abi.symbols()).collect();
    for (number, symbol) in objects.iter().enumerate() {
        writeln!(text, ".weak {symbol}\n.quad .Lname{number}, {symbol}")?;
    }
    writeln!(text, ".section .rodata\n")?;
    for (number, symbol) in objects.iter().enumerate() {
        writeln!(text, ".Lname{number}: .asciz \"{symbol}\"")?;
    }
    Ok(text + ".section .note.GNU-stack,\"\",@progbits\n")
}

/// Functions that the library itself calls, in capital letters, as its sources name them.
fn called() -> Result<&'static [String]> {
    static FOUND: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found);
    }
    let mut found = Vec::new();
    read_calls(&root().join("crates/topas-mpi-library/src"), &mut found)?;
    if found.is_empty() {
        bail!("no call of a function of MPI in the sources of the library");
    }
    Ok(FOUND.get_or_init(|| found))
}

fn read_calls(dir: &Path, found: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path: PathBuf = entry?.path();
        if path.is_dir() {
            read_calls(&path, found)?;
        } else if path.file_name().is_none_or(|name| name != "sys.rs") {
            calls_in(&std::fs::read_to_string(&path)?, found);
        }
    }
    Ok(())
}

/// The functions in `call(number::NAME`, `ask(...)`, `ask_handle(library, ...)` and `own(...)`: the
/// first or second argument of whatever is called.
fn calls_in(text: &str, found: &mut Vec<String>) {
    for (at, word) in text.match_indices("number::") {
        let before = text[..at].trim_end();
        let Some(before) = before.strip_suffix(['(', ',', '[']) else { continue };
        // `syscall(number::OPENAT` is the kernel's.
        if before.ends_with("syscall") {
            continue;
        }
        let name = &text[at + word.len()..];
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        found.push(name[..end.unwrap_or(name.len())].to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_in_sources() {
        let mut found = Vec::new();
        calls_in(
            "{ call(\n  number::SEND, [0]) }; library::ask(number::COMM_SIZE)? \
             ask_handle(library()?, number::COMM_GROUP, x) below::own(number::RECV) \
             syscall(number::OPENAT, []) call(function, args) [number::IBARRIER].any() \
             match x { number::WAIT => 0 }",
            &mut found,
        );
        found.sort();
        assert_eq!(found, ["COMM_GROUP", "COMM_SIZE", "IBARRIER", "RECV", "SEND"]);
    }

    #[test]
    fn what_the_library_cannot_do_without_is_among_them() {
        let found = called().unwrap();
        for name in ["INITIALIZED", "TYPE_SIZE", "COMM_SIZE", "GET_LIBRARY_VERSION", "TEST"] {
            assert!(found.iter().any(|found| found == name), "{name}");
        }
        let references = own_references().unwrap();
        assert!(references.contains(", __real_PMPI_Type_size\n"));
        assert!(references.contains(".weak __real_PMPI_Abi_get_version\n"));
        assert!(!references.contains("__real_PMPI_Spawn"), "more than is called");
    }
}
