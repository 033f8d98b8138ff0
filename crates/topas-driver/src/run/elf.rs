//! What an executable says of itself: how it is loaded, what it was written in, what it uses.
//!
//! Headers and tables only, each read from its place: executables may be larger than memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use goblin::elf64::dynamic::{DT_NEEDED, Dyn};
use goblin::elf64::header::{EI_CLASS, EI_DATA, ELFCLASS64, Header, SIZEOF_EHDR};
use goblin::elf64::program_header::{PT_DYNAMIC, PT_INTERP, ProgramHeader, SIZEOF_PHDR};
use goblin::elf64::section_header::{
    SHN_UNDEF, SHT_DYNAMIC, SHT_DYNSYM, SHT_NOBITS, SHT_SYMTAB, SIZEOF_SHDR, SectionHeader,
};
use goblin::elf64::sym::{STT_FUNC, Sym, st_type};
use topas_format::event::COUNTING_FUNCTIONS;
use topas_format::field::{Lang, Lib};
use topas_format::module_facts::{MAGIC, is_of_every_rank};

use crate::elf_records::{MACHINE, name, records};

/// The bytes by which an executable is known.
pub const MAGIC_NUMBER: &[u8; 4] = b"\x7fELF";

/// Longest table that is read, in bytes: what is longer is taken for empty.
const MAX_TABLE: u64 = 64 << 20;

/// Byte order of this machine, as `e_ident` has it.
const ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };

/// What is known of an executable of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether a loader loads it, and what is preloaded with it.
    pub dynamic: bool,
    /// Whether it was linked with the measurement module.
    pub has_module: bool,
    /// Whether that is the extended one, in which every rank measures.
    pub has_extended: bool,
    /// Whether it has itself loaded with the library of MPI profiles.
    pub has_door: bool,
    /// Whether it holds the MPI profile, and its MPI.
    pub has_profile: bool,
    /// Language of its main program, as far as that shows.
    pub lang: Lang,
    /// The message passing library that it is linked with itself.
    pub lib: Lib,
    /// Whether it holds a message passing library itself, which no other file shows.
    pub holds_lib: bool,
    /// Whether it uses the hardware counters itself.
    pub counts: bool,
    /// Whether a checker of memory must be the first library in it.
    pub must_be_first: bool,
    /// The compiler, as it names itself; empty if nothing tells.
    pub compiler: Vec<u8>,
}

impl Default for Facts {
    fn default() -> Self {
        Facts {
            dynamic: false,
            has_module: false,
            has_extended: false,
            has_door: false,
            has_profile: false,
            lang: Lang::C,
            lib: Lib::None,
            holds_lib: false,
            counts: false,
            must_be_first: false,
            compiler: Vec::new(),
        }
    }
}

/// What a file with the magic number is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elf {
    /// An executable of this machine
    Ours(Facts),
    /// Of another machine, or of 32 bits
    Foreign,
}

/// The bytes of an executable, each part read from its place.
pub trait Bytes {
    /// Fills `room` with the bytes from a place on.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::UnexpectedEof`] if there are not so many.
    fn fill(&self, room: &mut [u8], at: u64) -> io::Result<()>;
}

impl Bytes for File {
    fn fill(&self, room: &mut [u8], at: u64) -> io::Result<()> {
        self.read_exact_at(room, at)
    }
}

impl Bytes for [u8] {
    fn fill(&self, room: &mut [u8], at: u64) -> io::Result<()> {
        let from = usize::try_from(at).ok().and_then(|at| self.get(at..)?.get(..room.len()));
        room.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// Reads an executable.
///
/// # Errors
/// The system's; [`io::ErrorKind::InvalidData`] if its headers are none.
pub fn read<F: Bytes + ?Sized>(file: &F) -> io::Result<Elf> {
    let mut header = [0; SIZEOF_EHDR];
    file.fill(&mut header, 0)?;
    let ident = |at: usize| header.get(at).copied().unwrap_or_default();
    if ident(EI_CLASS) != ELFCLASS64 || ident(EI_DATA) != ORDER {
        return Ok(Elf::Foreign);
    }
    let header: Header = records(&header).next().ok_or(io::ErrorKind::InvalidData)?;
    if Some(header.e_machine) != MACHINE {
        return Ok(Elf::Foreign);
    }
    let count = usize::from(header.e_phnum);
    if usize::from(header.e_phentsize) != SIZEOF_PHDR || count == 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; count * SIZEOF_PHDR];
    file.fill(&mut bytes, header.e_phoff)?;
    let parts: Vec<ProgramHeader> = records(&bytes).collect();
    let has = |kind| parts.iter().any(|part| part.p_type == kind);
    let mut facts = Facts { dynamic: has(PT_INTERP) && has(PT_DYNAMIC), ..Facts::default() };
    // Sections may be missing: then nothing more is known.
    if let Some(sections) = Sections::read(file, &header) {
        sections.tell(&mut facts);
    }
    Ok(Elf::Ours(facts))
}

/// The table of sections.
struct Sections<'f, F: ?Sized> {
    file: &'f F,
    all: Vec<SectionHeader>,
    names: Vec<u8>,
}

impl<'f, F: Bytes + ?Sized> Sections<'f, F> {
    fn read(file: &'f F, header: &Header) -> Option<Self> {
        let count = usize::from(header.e_shnum);
        if usize::from(header.e_shentsize) != SIZEOF_SHDR || count == 0 {
            return None;
        }
        let mut bytes = vec![0; count * SIZEOF_SHDR];
        file.fill(&mut bytes, header.e_shoff).ok()?;
        let all = records(&bytes).collect();
        let mut sections = Sections { file, all, names: Vec::new() };
        sections.names = sections.bytes(usize::from(header.e_shstrndx));
        Some(sections)
    }

    /// The bytes of a section; none if it has none in the file, or too many.
    fn bytes(&self, at: usize) -> Vec<u8> {
        let Some(section) = self.all.get(at).filter(|section| section.sh_type != SHT_NOBITS) else {
            return Vec::new();
        };
        if section.sh_size > MAX_TABLE {
            return Vec::new();
        }
        let mut bytes = vec![0; section.sh_size as usize];
        match self.file.fill(&mut bytes, section.sh_offset) {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }

    /// The first section of a type: its place, and the section it refers to.
    fn of_type(&self, kind: u32) -> Option<(usize, usize)> {
        let at = self.all.iter().position(|section| section.sh_type == kind)?;
        Some((at, self.all.get(at)?.sh_link as usize))
    }

    fn tell(&self, facts: &mut Facts) {
        let named = |wanted: &[u8]| {
            self.all
                .iter()
                .position(|section| name(&self.names, section.sh_name as usize) == Some(wanted))
                .map(|at| self.bytes(at))
        };
        let module = named(b".topas").filter(|bytes| bytes.starts_with(MAGIC));
        facts.has_module = module.is_some();
        facts.has_extended = module.is_some_and(|bytes| is_of_every_rank(&bytes));
        facts.has_door = named(b".topas_mpi").is_some();
        facts.has_profile = named(b".topas_mpi_site").is_some();
        facts.compiler = compiler(&named(b".comment").unwrap_or_default()).to_vec();
        if let Some((at, strings)) = self.of_type(SHT_DYNAMIC) {
            let strings = self.bytes(strings);
            for entry in records::<Dyn>(&self.bytes(at)) {
                if entry.d_tag == DT_NEEDED
                    && let Some(library) = name(&strings, entry.d_val as usize)
                {
                    library_says(library, facts);
                }
            }
        }
        for kind in [SHT_DYNSYM, SHT_SYMTAB] {
            let Some((at, strings)) = self.of_type(kind) else { continue };
            let strings = self.bytes(strings);
            for symbol in records::<Sym>(&self.bytes(at)) {
                let place = symbol.st_name as usize;
                // A function, an object, or what is not told; no section and no file.
                if place != 0
                    && st_type(symbol.st_info) <= STT_FUNC
                    && let Some(symbol_name) = name(&strings, place)
                {
                    let defined = u32::from(symbol.st_shndx) != SHN_UNDEF;
                    symbol_says(symbol_name, defined, facts);
                }
            }
        }
    }
}

/// The compiler of the program itself, of all that `.comment` names, as the module has it: the
/// parts that begin and end every program are of GCC, so another one is the program's; linkers
/// name themselves, too.
fn compiler(comment: &[u8]) -> &[u8] {
    let is_linker = |said: &&[u8]| matches!(said, [] | [b'L' | b'm', ..]);
    let of_gcc = |said: &[u8]| said.starts_with(b"G");
    comment.split(|byte| *byte == 0).filter(|said| !is_linker(said)).fold(&[], |found, said| {
        if of_gcc(said) && !(found.is_empty() || of_gcc(found)) { found } else { said }
    })
}

/// What a library that the loader will load tells of the program.
fn library_says(library: &[u8], facts: &mut Facts) {
    const CXX: [&[u8]; 2] = [b"libstdc++.so", b"libc++.so"];
    const MPI: [&[u8]; 2] = [b"libmpi", b"libfmpich"];
    const SHMEM: [&[u8]; 2] = [b"liboshmem", b"libsma"];
    const FIRST: [&[u8]; 3] = [b"libasan.so", b"libhwasan.so", b"libclang_rt.asan"];
    let one_of = |names: &[&[u8]]| names.iter().any(|name| library.starts_with(name));
    if one_of(&CXX) {
        speaks(Lang::Cxx, facts);
    }
    if one_of(&MPI) {
        uses(Lib::Mpi, facts);
    } else if library.starts_with(b"libpvm3") {
        uses(Lib::Pvm, facts);
    } else if one_of(&SHMEM) {
        uses(Lib::Sma, facts);
    }
    facts.must_be_first |= one_of(&FIRST);
}

/// What a function or object tells that the program defines or refers to.
fn symbol_says(symbol: &[u8], defined: bool, facts: &mut Facts) {
    match symbol {
        b"_gfortran_set_args"
        | b"MAIN__"
        | b"_FortranAProgramStart"
        | b"for_rtl_init_"
        | b"MAIN_" => speaks(Lang::F90, facts),
        b"__gxx_personality_v0" => speaks(Lang::Cxx, facts),
        b"MPI_Init" | b"MPI_Init_thread" | b"MPI_Finalize" | b"mpi_init_" | b"mpi_finalize_" => {
            uses(Lib::Mpi, facts);
            facts.holds_lib |= defined;
        }
        b"pvm_mytid" => {
            uses(Lib::Pvm, facts);
            facts.holds_lib |= defined;
        }
        b"shmem_finalize" | b"start_pes" => {
            uses(Lib::Sma, facts);
            facts.holds_lib |= defined;
        }
        _ if COUNTING_FUNCTIONS.iter().any(|name| name.as_bytes() == symbol) => {
            facts.counts = true;
        }
        _ if symbol.starts_with(b"_ZSt") => speaks(Lang::Cxx, facts),
        _ => {}
    }
}

/// Fortran programs call parts in C++, not the other way round.
fn speaks(lang: Lang, facts: &mut Facts) {
    if facts.lang != Lang::F90 {
        facts.lang = lang;
    }
}

/// In the order checked: an MPI or a PVM may be built on SHMEM.
fn uses(lib: Lib, facts: &mut Facts) {
    if facts.lib == Lib::None || lib < facts.lib {
        facts.lib = lib;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    /// Compiles one program in a directory of its own.
    fn built(
        compiler: &str,
        options: &[&str],
        name: &str,
        source: &str,
    ) -> (tempfile::TempDir, File) {
        let dir = tempfile::tempdir().unwrap();
        let source_file = dir.path().join(name);
        fs::write(&source_file, source).unwrap();
        let program = dir.path().join("program");
        let status = Command::new(compiler)
            .arg(&source_file)
            .args(options)
            .arg("-o")
            .arg(&program)
            .status()
            .unwrap();
        assert!(status.success());
        let file = File::open(program).unwrap();
        (dir, file)
    }

    fn facts(compiler: &str, options: &[&str], name: &str, source: &str) -> Facts {
        match read(&built(compiler, options, name, source).1).unwrap() {
            Elf::Ours(facts) => {
                assert!(facts.compiler.starts_with(b"GCC: ("), "{facts:?}");
                Facts { compiler: Vec::new(), ..facts }
            }
            Elf::Foreign => panic!("not of this machine"),
        }
    }

    #[test]
    fn the_compiler_of_the_program_itself() {
        for (comment, expected) in [
            ("GCC: (Debian 12.2.0) 12.2.0\0", "GCC: (Debian 12.2.0) 12.2.0"),
            ("GCC: (x) 12.2.0\0clang version 14.0.6\0", "clang version 14.0.6"),
            ("clang version 14.0.6\0GCC: (x) 12.2.0\0", "clang version 14.0.6"),
            ("GCC: (x) 11\0GCC: (x) 12\0Linker: LLD 14\0mold 1.10\0", "GCC: (x) 12"),
            ("", ""),
            ("\0\0", ""),
        ] {
            assert_eq!(compiler(comment.as_bytes()), expected.as_bytes(), "{comment:?}");
        }
    }

    const MAIN: &str = "int main(void) { return 0; }";
    const LOOKS: &str = "#include <string>\nint main(int c, char **) \
                         { return std::to_string(c).size() > 3; }";

    #[test]
    fn programs_of_each_kind() {
        let plain = Facts { dynamic: true, ..Facts::default() };
        assert_eq!(facts("cc", &[], "a.c", MAIN), plain);
        assert_eq!(facts("cc", &["-s"], "a.c", MAIN), plain);
        assert_eq!(facts("cc", &["-static"], "a.c", MAIN), Facts::default());
        assert_eq!(facts("cc", &["-static-pie"], "a.c", MAIN), Facts::default());
        let cxx = Facts { lang: Lang::Cxx, ..plain.clone() };
        assert_eq!(facts("c++", &[], "a.cc", LOOKS), cxx);
        assert_eq!(facts("c++", &["-s"], "a.cc", LOOKS), cxx);
        let fortran = "print *, 'x'\nend\n";
        let f90 = Facts { lang: Lang::F90, ..plain.clone() };
        assert_eq!(facts("gfortran", &["-s"], "a.f90", fortran), f90);
        let holds = "int MPI_Finalize(void) { return 0; } int main(void) { return 0; }";
        assert_eq!(
            facts("cc", &["-static"], "a.c", holds),
            Facts { lib: Lib::Mpi, holds_lib: true, ..Facts::default() }
        );
        let first = Facts { must_be_first: true, ..plain.clone() };
        assert_eq!(facts("cc", &["-fsanitize=address"], "a.c", MAIN), first);
        let section = "__attribute__((section(\".topas\"))) const char f[16] = \"TOPAS\\0\\0\\2\";\
                       int main(void) { return f[0] == 0; }";
        assert_eq!(facts("cc", &[], "a.c", section), Facts { has_module: true, ..plain });
    }

    /// Cut anywhere and with any byte changed: an answer or an error.
    #[test]
    fn broken_files_are_no_end() {
        let (dir, file) = built("cc", &["-s"], "a.c", MAIN);
        let mut whole = fs::read(dir.path().join("program")).unwrap();
        assert_eq!(read(&whole[..]).unwrap(), read(&file).unwrap());
        drop(file);
        let judge = |bytes: &[u8]| drop(read(bytes));
        for length in 0..whole.len() {
            judge(&whole[..length]);
        }
        for at in 0..SIZEOF_EHDR {
            let before = std::mem::replace(&mut whole[at], 0xff);
            judge(&whole);
            whole[at] = before;
        }
        let header: Header = records(&whole).next().unwrap();
        let sections = header.e_shoff as usize;
        for at in sections..whole.len() {
            let before = std::mem::replace(&mut whole[at], 0xff);
            judge(&whole);
            whole[at] = before;
        }
    }
}
