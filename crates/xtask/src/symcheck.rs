//! `cargo xtask symcheck`: what a module object may hold, checked on the built bytes.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use goblin::elf::{Elf, header, section_header, sym};
use topas_format::event::COUNTING_FUNCTIONS;

use crate::object::EXTENDED;
use crate::{group, landing};

/// Largest object in bytes, apart from the path of a site's own `topas.conf`.
pub const MAX_SIZE: usize = 20_480;

/// Largest object of the extended module, which only users who ask for it link, as reached.
const MAX_EXTENDED: usize = 24_900;

/// The same where [`crate::fold`] leaves the relocations in.
const MAX_UNFOLDED: [usize; 2] = [48_800, 56_900];

/// What the object may import, all from libc; the last two on AArch64 only.
const IMPORTS: [&str; 5] = ["__cxa_atexit", "environ", "getauxval", "memcpy", "memset"];

/// What it may refer to weakly, besides [`COUNTING_FUNCTIONS`]: what tells the message passing
/// library, and more ways to end.
const WEAK: [&str; 14] = [
    "JLI_Launch",
    "MAIN__",
    "MPI_Finalize",
    "PMPI_Finalized",
    "PMPI_Get_library_version",
    "PMPI_Initialized",
    "PyOS_getsig",
    "_QQmain",
    "__cxa_at_quick_exit",
    "_start",
    "opal_util_register_stackhandlers",
    "pvm_mytid",
    "rust_eh_personality",
    "shmem_finalize",
];

fn is_weak(name: &str) -> bool {
    WEAK.contains(&name) || COUNTING_FUNCTIONS.contains(&name)
}

/// Sections that would change how a program unwinds, links or starts.
const FORBIDDEN: [&str; 8] = [
    ".eh_frame",
    ".gcc_except_table",
    ".tdata",
    ".tbss",
    ".ctors",
    ".dtors",
    ".fini_array",
    ".debug_info",
];

/// What an object over its size is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// A fault, for developers
    Held,
    /// A warning: another compiler's few bytes must not keep a site from installing
    Told,
}

/// Checks files and reports every fault of each. `path` is how many bytes the path of a site's own
/// `topas.conf` takes in each, which the limit of the size leaves out.
pub fn check_files(objects: &[PathBuf], size: Size, path: usize) -> Result<()> {
    let mut faulty = 0;
    for object in objects {
        let bytes =
            std::fs::read(object).with_context(|| format!("cannot read {}", object.display()))?;
        let mut faults = check(&bytes);
        let name = object.file_name().unwrap_or_default().to_string_lossy();
        let oversize = too_large(&bytes, name.contains(EXTENDED), path);
        if size == Size::Held {
            faults.extend(oversize);
        } else if let Some(fault) = oversize {
            eprintln!("xtask: warning: {}: {fault}", object.display());
        }
        for fault in &faults {
            eprintln!("xtask: error: {}: {fault}", object.display());
        }
        faulty += usize::from(!faults.is_empty());
        if faults.is_empty() {
            println!("{}: {} B, ok", object.display(), bytes.len());
        }
    }
    if faulty > 0 {
        bail!("{faulty} of {} objects are not fit for user programs", objects.len());
    }
    Ok(())
}

/// The fault of an object with too many bytes.
fn too_large(bytes: &[u8], extended: bool, path: usize) -> Option<String> {
    let folded = Elf::parse(bytes).is_ok_and(|elf| elf.header.e_machine == header::EM_X86_64);
    let most = match (folded, extended) {
        (false, extended) => MAX_UNFOLDED[usize::from(extended)],
        (true, false) => MAX_SIZE,
        (true, true) => MAX_EXTENDED,
    } + path;
    (bytes.len() > most).then(|| format!("has {} B, more than {most}", bytes.len()))
}

/// Every fault of an object but its size.
pub fn check(bytes: &[u8]) -> Vec<String> {
    let mut faults = Vec::new();
    let elf = match Elf::parse(bytes) {
        Ok(elf) => elf,
        Err(error) => return vec![format!("is not ELF: {error}")],
    };
    if elf.header.e_type != header::ET_REL {
        faults.push("is not a relocatable object".into());
    }
    check_sections(&elf, &mut faults);
    check_symbols(&elf, &mut faults);
    check_group(&elf, bytes, &mut faults);
    check_landing(&elf, bytes, &mut faults);
    // Panic messages hold the path of a source file, unless the handler shows none.
    if bytes.windows(3).any(|w| w == b".rs") {
        faults.push("holds the name of a Rust source file, so panic code".into());
    }
    faults
}

fn check_sections(elf: &Elf<'_>, faults: &mut Vec<String>) {
    let mut entry = false;
    let mut stack_note = None;
    for section in &elf.section_headers {
        let name = elf.shdr_strtab.get_at(section.sh_name).unwrap_or("?");
        let bits = u64::from(section_header::SHF_WRITE | section_header::SHF_EXECINSTR);
        if section.sh_flags & bits == bits {
            faults.push(format!("section {name} can be written and executed"));
        }
        if FORBIDDEN.contains(&name) {
            faults.push(format!("has a section {name}"));
        }
        if section.sh_flags & u64::from(section_header::SHF_TLS) != 0 {
            faults.push(format!("section {name} holds thread-local storage"));
        }
        entry |= name == ".init_array" && section.sh_size == 8;
        if name == ".note.GNU-stack" {
            stack_note = Some(section.sh_flags & u64::from(section_header::SHF_EXECINSTR) != 0);
        }
    }
    if !entry {
        faults.push("has no single entry in .init_array".into());
    }
    match stack_note {
        Some(false) => {}
        Some(true) => faults.push("asks for an executable stack".into()),
        None => faults.push("has no .note.GNU-stack: linkers make the stack executable".into()),
    }
}

fn check_symbols(elf: &Elf<'_>, faults: &mut Vec<String>) {
    for symbol in &elf.syms {
        let name = elf.strtab.get_at(symbol.st_name).unwrap_or("?");
        let undefined = symbol.st_shndx == 0;
        match symbol.st_bind() {
            sym::STB_WEAK if undefined && is_weak(name) => {}
            sym::STB_GLOBAL if undefined && IMPORTS.contains(&name) => {}
            sym::STB_LOCAL => {}
            _ if undefined => faults.push(imported(name)),
            _ => faults.push(format!("defines the global symbol {name}")),
        }
    }
}

/// However often it is linked, a program has one copy; but the facts of all.
fn check_group(elf: &Elf<'_>, bytes: &[u8], faults: &mut Vec<String>) {
    let kind = section_header::SHT_GROUP;
    let mut groups = elf.section_headers.iter().filter(|section| section.sh_type == kind);
    let (Some(found), None) = (groups.next(), groups.next()) else {
        faults.push("is not one group".into());
        return;
    };
    let words = &bytes[found.file_range().unwrap_or_default()];
    if !words.starts_with(&group::COMDAT.to_le_bytes()) {
        faults.push("has a group of which linkers take all".into());
    }
    for section in &elf.section_headers {
        let name = elf.shdr_strtab.get_at(section.sh_name).unwrap_or("?");
        let alone = [".topas", group::NOTE].contains(&name);
        let member = section.sh_flags & u64::from(section_header::SHF_GROUP) != 0;
        let loaded = section.sh_flags & u64::from(section_header::SHF_ALLOC) != 0;
        if loaded && section.sh_size > 0 && member == alone {
            let what = if alone { "in" } else { "outside of" };
            faults.push(format!("section {name} is {what} the group"));
        }
    }
}

/// Linkers believe the note, which no other object of a program can make up for.
fn check_landing(elf: &Elf<'_>, bytes: &[u8], faults: &mut Vec<String>) {
    let machine = elf.header.e_machine;
    let named = |at: usize| elf.shdr_strtab.get_at(elf.section_headers[at].sh_name).unwrap_or("?");
    let content = |at: usize| &bytes[elf.section_headers[at].file_range().unwrap_or_default()];
    faults.extend(group::lacks_note(elf, bytes));
    for (at, relocations) in &elf.shdr_relocs {
        let place = elf.section_headers[*at].sh_info as usize;
        if !named(place).contains("init_array") {
            continue;
        }
        for found in relocations {
            let entry = elf.syms.get(found.r_sym).and_then(|symbol| {
                let offset = symbol.st_value.wrapping_add_signed(found.r_addend.unwrap_or(0));
                content(symbol.st_shndx).get(offset as usize..)
            });
            if entry.is_none_or(|code| !code.starts_with(&landing::pad(machine))) {
                faults.push(format!("an entry of {} has no landing pad", named(place)));
            }
        }
    }
}

/// What every crate that runs in programs has its panic handler call, and nobody defines.
const PANICS: &str = "topas_holds_panic_code";

/// The fault of an import that is not listed.
pub fn imported(name: &str) -> String {
    if name == PANICS { "holds panic code".into() } else { format!("imports {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What is fit, in assembly; each test spoils one thing.
    const FIT: &str = "
        .section .init_array,\"awG\",%init_array,all,comdat
        .quad run
        .section .code,\"axG\",%progbits,all,comdat
        run: endbr64; ret
        .section .topas,\"a\",%progbits
        .quad 0
        .section .note.gnu.property,\"a\",%note
        .long 4, 16, 5, 0x554e47, 0xc0000002, 4, 3, 0
        .section .note.GNU-stack,\"\",%progbits
    ";

    fn faults(assembly: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let (source, object) = (dir.path().join("a.s"), dir.path().join("a.o"));
        std::fs::write(&source, assembly).unwrap();
        let status =
            Command::new("cc").args(["-c", "-o"]).args([&object, &source]).status().unwrap();
        assert!(status.success());
        let bytes = std::fs::read(object).unwrap();
        check(&bytes).into_iter().chain(too_large(&bytes, false, 0)).collect()
    }

    #[test]
    fn a_fit_object_has_no_fault() {
        assert_eq!(faults(FIT), [""; 0]);
    }

    #[test]
    fn every_spoiled_object_is_refused_for_its_fault() {
        for (spoiled, fault) in [
            (FIT.replace("\"\",%progbits", "\"x\",%progbits"), "executable stack"),
            (FIT.replace(".section .note.GNU-stack,\"\",%progbits", ""), "no .note.GNU-stack"),
            (FIT.replace("run: ", ".globl run\nrun: "), "global symbol run"),
            (FIT.replace("run: ", ".weak run\nrun: "), "global symbol run"),
            (FIT.replace("ret", "call malloc"), "imports malloc"),
            (FIT.replace("ret", "call core_panicking"), "imports core_panicking"),
            (FIT.replace("ret", "jmp topas_holds_panic_code"), "holds panic code"),
            (FIT.replace("ret", ".weak puts\ncall puts"), "imports puts"),
            (FIT.replace("endbr64;", ""), "an entry of .init_array has no landing pad"),
            (FIT.replace("4, 3, 0", "4, 1, 0"), "no note of its landing pads"),
            (FIT.replace(".note.gnu.property,", ".note.other,"), "no note of its landing pads"),
            (FIT.replace("\"axG\",%progbits,all,comdat", "\"ax\""), "section .code is outside"),
            (FIT.replace("\"a\",%progbits", "\"aG\",%progbits,all,comdat"), "section .topas is in"),
            (FIT.replace(",comdat", ""), "of which linkers take all"),
            (
                FIT.replace("awG", "aw").replace("axG", "ax").replace(",all,comdat", ""),
                "not one group",
            ),
            (FIT.replace(".quad run", ".quad run, run"), "no single entry"),
            (FIT.replace(".init_array,", ".fini_array,"), "section .fini_array"),
            (format!("{FIT}\n.section .eh_frame,\"a\"\n.quad 0"), "section .eh_frame"),
            (format!("{FIT}\n.section .tdata,\"awT\"\n.quad 0"), "thread-local"),
            (format!("{FIT}\n.section .wx,\"awx\"\n.quad 0"), "written and executed"),
            (format!("{FIT}\n.data\n.ascii \"src/lib.rs\""), "panic code"),
            (format!("{FIT}\n.data\n.zero {MAX_SIZE}"), "more than"),
        ] {
            let found = faults(&spoiled);
            assert!(found.iter().any(|f| f.contains(fault)), "{fault}: {found:?}");
        }
        assert!(!check(b"not ELF at all").is_empty());
    }
}
