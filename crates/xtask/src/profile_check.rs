//! What the parts of the MPI profile may hold, checked on the built bytes.

use goblin::elf::{Elf, dynamic, header, reloc, section_header, sym};

use crate::group;
use crate::symcheck::imported;
use crate::wrap::ENTRIES;

/// A part of the MPI profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfilePart {
    /// The object that the library is made of
    Object,
    /// The library that is loaded into programs
    Library,
    /// The object that is linked into programs, and has them loaded with it
    Door,
    /// The library itself as it is linked into programs that hold their MPI
    Wrapped,
}

/// Largest part in bytes, as reached.
const MAX_SIZE: [usize; 4] = [1_074_000, 834_000, 6_000, 821_000];

/// The same for AArch64, each of whose instructions has four bytes, and where programs hold no library.
const MAX_SIZE_AARCH64: [usize; 4] = [1_050_000, 728_000, 6_500, 0];

/// Thread-local bytes: what is loaded late shares a small reserve with all other libraries.
const MAX_THREAD_LOCAL: u64 = 256;

/// What they may import, all from libc and its loader.
const IMPORTS: [&str; 17] = [
    "__cxa_atexit",
    "bcmp",
    "clock_gettime",
    "dl_iterate_phdr",
    "dladdr",
    "environ",
    "getauxval",
    "getenv",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "strcmp",
    "strlen",
    "strnlen",
    "_DYNAMIC",
];

/// Functions of the loader that the library defines, so that names of functions look absent where
/// they are.
pub const LOADER: [&str; 3] = ["dlopen", "dlsym", "dlvsym"];

/// What the door may import.
const IMPORTS_OF_DOOR: [&str; 8] = [
    "__asan_init",
    "_start",
    "bcmp",
    "getauxval",
    "gnu_get_libc_version",
    "memcpy",
    "memset",
    "strlen",
];

/// Sections that would change how a program links or starts, or that a shared library cannot
/// have.
const FORBIDDEN: [&str; 5] = [".gcc_except_table", ".tdata", ".ctors", ".dtors", ".debug_info"];

/// Every fault of a part.
pub fn check(bytes: &[u8], part: ProfilePart) -> Vec<String> {
    let elf = match Elf::parse(bytes) {
        Ok(elf) => elf,
        Err(error) => return vec![format!("is not ELF: {error}")],
    };
    let mut faults = Vec::new();
    let is_aarch64 = elf.header.e_machine == header::EM_AARCH64;
    let most = if is_aarch64 { MAX_SIZE_AARCH64 } else { MAX_SIZE }[part as usize];
    if bytes.len() > most {
        faults.push(format!("has {} B, more than {most}", bytes.len()));
    }
    check_sections(&elf, &mut faults);
    if elf.header.e_machine == header::EM_X86_64 {
        faults.extend(group::lacks_note(&elf, bytes));
    }
    match part {
        ProfilePart::Object | ProfilePart::Door | ProfilePart::Wrapped => {
            check_object(&elf, part, &mut faults)
        }
        ProfilePart::Library => check_library(&elf, &mut faults),
    }
    faults
}

fn check_sections(elf: &Elf<'_>, faults: &mut Vec<String>) {
    for section in &elf.section_headers {
        let name = elf.shdr_strtab.get_at(section.sh_name).unwrap_or("?");
        let both = u64::from(section_header::SHF_WRITE | section_header::SHF_EXECINSTR);
        if section.sh_flags & both == both {
            faults.push(format!("section {name} can be written and executed"));
        }
        if FORBIDDEN.contains(&name) && section.sh_size > 0 {
            faults.push(format!("has a section {name}"));
        }
        let local = section.sh_flags & u64::from(section_header::SHF_TLS) != 0;
        if local && section.sh_size > MAX_THREAD_LOCAL {
            faults.push(format!("{} B are thread-local", section.sh_size));
        }
    }
}

/// Whether a symbol is the name of a function of MPI, in C or Fortran, or of [`LOADER`].
fn is_function_of_mpi(name: &str) -> bool {
    ["MPI_", "PMPI_"].iter().any(|front| {
        name.strip_prefix(front)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    }) || name.starts_with("mpi_") && name.ends_with('_')
        || LOADER.contains(&name)
}

fn check_object(elf: &Elf<'_>, part: ProfilePart, faults: &mut Vec<String>) {
    let imports = if part == ProfilePart::Door { &IMPORTS_OF_DOOR[..] } else { &IMPORTS };
    if elf.header.e_type != header::ET_REL {
        faults.push("is not a relocatable object".into());
    }
    let mut weak = 0;
    for symbol in elf.syms.iter() {
        let name = elf.strtab.get_at(symbol.st_name).unwrap_or("?");
        let undefined = symbol.st_shndx == section_header::SHN_UNDEF as usize;
        match symbol.st_bind() {
            sym::STB_LOCAL => {}
            _ if undefined && imports.contains(&name) => {}
            // The sections that its members fill begin and end where the linker says.
            _ if part == ProfilePart::Wrapped && name.starts_with("__st") => {}
            _ if undefined && !name.is_empty() => faults.push(imported(name)),
            sym::STB_WEAK if is_function_of_mpi(name) && part == ProfilePart::Object => weak += 1,
            _ if part == ProfilePart::Wrapped && ENTRIES.contains(&name) => {}
            _ if part != ProfilePart::Object => faults.push(format!("defines {name}")),
            sym::STB_WEAK => faults.push(format!("defines {name}, no function of MPI")),
            _ => faults.push(format!("{name} is not weak: a tool of the user's cannot win")),
        }
    }
    if part == ProfilePart::Object && weak < topas_mpi_table::functions().count() {
        faults.push(format!("defines {weak} names, fewer than there are functions"));
    }
    let stack = elf
        .section_headers
        .iter()
        .find(|s| elf.shdr_strtab.get_at(s.sh_name) == Some(".note.GNU-stack"));
    match stack {
        None => faults.push("has no .note.GNU-stack, so the stack becomes executable".into()),
        Some(note) if note.sh_flags & u64::from(section_header::SHF_EXECINSTR) != 0 => {
            faults.push("wants an executable stack".into());
        }
        Some(_) => {}
    }
    if elf.header.e_machine == header::EM_X86_64 {
        check_relocations(elf, faults);
    }
}

/// An object for programs of all kinds: nothing in it may need a fixed address.
fn check_relocations(elf: &Elf<'_>, faults: &mut Vec<String>) {
    const ABSOLUTE: [u32; 4] =
        [reloc::R_X86_64_32, reloc::R_X86_64_32S, reloc::R_X86_64_16, reloc::R_X86_64_TPOFF32];
    for (_, relocations) in &elf.shdr_relocs {
        for found in relocations.iter().filter(|r| ABSOLUTE.contains(&r.r_type)) {
            let kind = reloc::r_to_str(found.r_type, header::EM_X86_64);
            faults.push(format!("has a relocation {kind}, which a library cannot have"));
        }
    }
}

fn check_library(elf: &Elf<'_>, faults: &mut Vec<String>) {
    if elf.header.e_type != header::ET_DYN {
        faults.push("is not a shared library".into());
    }
    if elf.soname.is_none() {
        faults.push("has no SONAME".into());
    }
    for library in &elf.libraries {
        faults.push(format!("needs {library}"));
    }
    let tags = elf.dynamic.iter().flat_map(|dynamic| &dynamic.dyns);
    if tags.clone().any(|tag| tag.d_tag == dynamic::DT_TEXTREL) {
        faults.push("has relocations in its code".into());
    }
    let nodelete = tags
        .filter(|tag| tag.d_tag == dynamic::DT_FLAGS_1)
        .any(|tag| tag.d_val & dynamic::DF_1_NODELETE != 0);
    if !nodelete {
        faults.push("can be unloaded in the middle of a call".into());
    }
    for segment in &elf.program_headers {
        let executable = segment.p_flags & goblin::elf::program_header::PF_X != 0;
        if segment.p_type == goblin::elf::program_header::PT_GNU_STACK && executable {
            faults.push("wants an executable stack".into());
        }
    }
    // Sections are local symbols, which linkers for AArch64 list, too, and nobody can bind to.
    let visible = |symbol: &goblin::elf::Sym| symbol.st_bind() != goblin::elf::sym::STB_LOCAL;
    for symbol in elf.dynsyms.iter().filter(visible) {
        let name = elf.dynstrtab.get_at(symbol.st_name).unwrap_or("?");
        let undefined = symbol.st_shndx == section_header::SHN_UNDEF as usize;
        if undefined && !name.is_empty() && !IMPORTS.contains(&name) {
            faults.push(imported(name));
        } else if !undefined && !is_function_of_mpi(name) {
            faults.push(format!("exports {name}, no function of MPI"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What is fit, in assembly; each test spoils one thing.
    fn fit() -> String {
        let mut text = String::from(".text\nown: ret\n");
        for function in topas_mpi_table::functions() {
            text += &format!(".weak {0}\n.type {0},%function\n{0}: ret\n", function.name);
        }
        text + ".section .note.GNU-stack,\"\",%progbits\n" + NOTE
    }

    /// The note of landing pads.
    const NOTE: &str = ".section .note.gnu.property,\"a\",%note\n.balign 8\n\
                        .long 4, 16, 5, 0x554e47, 0xc0000002, 4, 3, 0\n";

    fn faults(assembly: &str, part: ProfilePart, link: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let (source, built) = (dir.path().join("a.s"), dir.path().join("a.o"));
        std::fs::write(&source, assembly).unwrap();
        let mut cc = Command::new("cc");
        match part {
            ProfilePart::Object | ProfilePart::Door | ProfilePart::Wrapped => cc.arg("-c"),
            ProfilePart::Library => cc.args(["-shared", "-nostdlib"]),
        };
        assert!(cc.args(link).arg("-o").args([&built, &source]).status().unwrap().success());
        check(&std::fs::read(built).unwrap(), part)
    }

    /// How the library is linked, as far as it is checked.
    const LINK: [&str; 2] = ["-Wl,-soname,a", "-Wl,-znodelete"];

    #[test]
    fn what_is_fit_has_no_fault() {
        assert_eq!(faults(&fit(), ProfilePart::Object, &[]), [""; 0]);
        assert_eq!(faults(&fit(), ProfilePart::Library, &LINK), [""; 0]);
    }

    #[test]
    fn every_spoiled_object_is_refused_for_its_fault() {
        let fit = fit();
        for (spoiled, fault) in [
            (fit.replace(".weak MPI_Send\n", ".globl MPI_Send\n"), "MPI_Send is not weak"),
            (fit.replace("own: ret", ".weak own\nown: ret"), "defines own, no function"),
            (fit.replace("own: ret", "own: call malloc"), "imports malloc"),
            (fit.replace("own: ret", "own: call core_panicking"), "imports core_panicking"),
            (fit.replace("own: ret", "own: call topas_holds_panic_code"), "holds panic code"),
            (fit.replace(".weak MPI_Recv\n", ""), "fewer than there are functions"),
            (fit.replace("own: ret", "own: movl $own, %eax"), "relocation X86_64_32,"),
            (fit.replace("\"\",%progbits", "\"x\",%progbits"), "executable stack"),
            (fit.replace(".section .note.GNU-stack,\"\",%progbits", ""), "no .note.GNU-stack"),
            (format!("{fit}.section .tbss,\"awT\",@nobits\n.zero 300\n"), "thread-local"),
            (format!("{fit}.section .wx,\"awx\"\n.quad 0\n"), "written and executed"),
            (format!("{fit}.data\n.zero {}\n", MAX_SIZE[0]), "more than"),
            (fit.replace("4, 3, 0", "4, 2, 0"), "no note of its landing pads"),
        ] {
            let found = faults(&spoiled, ProfilePart::Object, &[]);
            assert!(found.iter().any(|f| f.contains(fault)), "{fault}: {found:?}");
        }
        assert!(!check(b"not ELF at all", ProfilePart::Object).is_empty());
    }

    /// A program that is not profiled must not hold a function of MPI by its being able to.
    #[test]
    fn the_door_defines_nothing() {
        let door = ".text\nown: ret\n.section .note.GNU-stack,\"\",%progbits\n".to_owned() + NOTE;
        assert_eq!(faults(&door, ProfilePart::Door, &[]), [""; 0]);
        for (spoiled, fault) in [
            (fit(), "defines MPI_Send"),
            (door.replace("own: ret", ".weak own\nown: ret"), "defines own"),
            (door.replace("own: ret", "own: call dlopen"), "imports dlopen"),
        ] {
            let found = faults(&spoiled, ProfilePart::Door, &[]);
            assert!(found.iter().any(|f| f.contains(fault)), "{fault}: {found:?}");
        }
    }

    #[test]
    fn every_spoiled_library_is_refused_for_its_fault() {
        let exported = fit().replace("own: ret", ".globl own\nown: ret");
        let imports = fit().replace("own: ret", "own: jmp malloc@plt");
        let unwound = fit().replace("own: ret", "own: jmp rust_eh_personality@plt");
        let text = fit().replace("own: ret", "own: .quad MPI_Send");
        for (assembly, link, fault) in [
            (fit(), &["-Wl,-znodelete"][..], "no SONAME"),
            (fit(), &["-Wl,-soname,a"], "can be unloaded"),
            (fit(), &[LINK[0], LINK[1], "-Wl,--no-as-needed", "-lc"], "needs libc"),
            (fit(), &[LINK[0], LINK[1], "-Wl,-zexecstack"], "executable stack"),
            (exported, &LINK, "exports own"),
            (imports, &LINK, "imports malloc"),
            (unwound, &LINK, "imports rust_eh_personality"),
            (text, &[LINK[0], LINK[1], "-Wl,-znotext"], "relocations in its code"),
        ] {
            let found = faults(&assembly, ProfilePart::Library, link);
            assert!(found.iter().any(|f| f.contains(fault)), "{fault}: {found:?}");
        }
    }
}
