//! A member of the archive for programs that hold their MPI, written as ELF: a thousand calls of an
//! assembler would take longer than all else.

use goblin::elf::header::{EM_X86_64, ET_REL};
use goblin::elf::reloc::{R_X86_64_64, R_X86_64_NONE, R_X86_64_PLT32};
use goblin::elf::section_header::{
    SHF_ALLOC, SHF_EXECINSTR, SHF_INFO_LINK, SHF_WRITE, SHT_NOTE, SHT_PROGBITS, SHT_RELA,
    SHT_STRTAB, SHT_SYMTAB,
};

use crate::wrap::SECTION;
use crate::{group, landing};

/// Numbers of the sections.
const TEXT: u16 = 1;
const REAL: u16 = 3;
const SYMTAB: u16 = 7;
const STRTAB: u16 = 8;
const NAMES: u16 = 9;

/// Numbers of the symbols: that of the section, which is local, comes first.
const OF_REAL: u64 = 1;
const ENTRY: u64 = 3;
const BELOW: u64 = 4;

/// A section to be.
struct MemberSection<'s> {
    name: &'s str,
    kind: u32,
    flags: u32,
    link: u16,
    info: u16,
    align: u64,
    entry: u64,
    bytes: Vec<u8>,
}

/// The object that leads calls of `symbol`, whose number is given, to `entry`, and tells where the
/// real one is.
pub fn member(symbol: &str, number: u32, entry: &str) -> Vec<u8> {
    // mov eax, NUMBER; jmp ENTRY. Where a function has further arguments of any kind, eax tells
    // how many of them are in vector registers: mov r10d, eax comes first.
    // A landing pad in front, since programs take addresses of functions.
    let mut code = landing::pad(EM_X86_64).to_vec();
    if entry.ends_with("variadic") {
        code.extend([0x41, 0x89, 0xc2]);
    }
    code.push(0xb8);
    code.extend(number.to_le_bytes());
    code.push(0xe9);
    let jump = code.len() as u64;
    code.extend([0; 4]);
    let mut strings = vec![0];
    let mut string = |text: String| {
        let at = strings.len() as u32;
        strings.extend(text.bytes().chain([0]));
        at
    };
    let (wrapped, below) = (string(format!("__wrap_{symbol}")), string(format!("__real_{symbol}")));
    let entry = string(entry.to_owned());
    const GLOBAL: u8 = 1 << 4;
    const FUNCTION: u8 = 2;
    const OF_SECTION: u8 = 3;
    let symbols = [
        elf_symbol(0, 0, 0, 0),
        elf_symbol(0, OF_SECTION, REAL, 0),
        elf_symbol(wrapped, GLOBAL | FUNCTION, TEXT, code.len() as u64),
        elf_symbol(entry, GLOBAL, 0, 0),
        elf_symbol(below, GLOBAL, 0, 0),
    ];
    let pair = [u64::from(number).to_le_bytes(), [0; 8]].concat();
    let text = [
        relocation(jump, ENTRY, R_X86_64_PLT32, -4),
        // What is not called is thrown away with its pair, and what is called keeps it.
        relocation(0, OF_REAL, R_X86_64_NONE, 0),
    ];
    let real = [relocation(8, BELOW, R_X86_64_64, 0)];
    let of = |name, kind, flags, align, bytes| MemberSection {
        name,
        kind,
        flags,
        link: 0,
        info: 0,
        align,
        entry: 0,
        bytes,
    };
    let relocations = |name, info, bytes| MemberSection {
        link: SYMTAB,
        info,
        entry: 24,
        ..of(name, SHT_RELA, SHF_INFO_LINK, 8, bytes)
    };
    let rela_of_real = format!(".rela{SECTION}");
    object(vec![
        of(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 1, code),
        relocations(".rela.text", TEXT, text.concat()),
        of(SECTION, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 8, pair),
        relocations(&rela_of_real, REAL, real.concat()),
        of(".note.GNU-stack", SHT_PROGBITS, 0, 1, Vec::new()),
        of(
            group::NOTE,
            SHT_NOTE,
            SHF_ALLOC,
            8,
            group::features(EM_X86_64).map_or_else(Vec::new, group::note),
        ),
        MemberSection {
            link: STRTAB,
            // The first that is not local.
            info: 2,
            entry: 24,
            ..of(".symtab", SHT_SYMTAB, 0, 8, symbols.concat())
        },
        of(".strtab", SHT_STRTAB, 0, 1, strings),
    ])
}

fn elf_symbol(name: u32, info: u8, section: u16, size: u64) -> Vec<u8> {
    let mut bytes = name.to_le_bytes().to_vec();
    bytes.extend([info, 0]);
    bytes.extend(section.to_le_bytes());
    bytes.extend(0u64.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes
}

fn relocation(at: u64, symbol: u64, kind: u32, addend: i64) -> Vec<u8> {
    [at.to_le_bytes(), (symbol << 32 | u64::from(kind)).to_le_bytes(), addend.to_le_bytes()]
        .concat()
}

/// A relocatable object of these sections, and one more of their names.
fn object(mut sections: Vec<MemberSection<'_>>) -> Vec<u8> {
    const HEADER: u64 = 64;
    let mut names = vec![0];
    let mut places = Vec::new();
    for name in sections.iter().map(|section| section.name).chain([".shstrtab"]) {
        places.push(names.len() as u32);
        names.extend(name.bytes().chain([0]));
    }
    sections.push(MemberSection {
        name: ".shstrtab",
        kind: SHT_STRTAB,
        flags: 0,
        link: 0,
        info: 0,
        align: 1,
        entry: 0,
        bytes: names,
    });
    let mut body = Vec::new();
    let mut headers = vec![0; 64];
    for (section, name) in sections.iter().zip(places) {
        while !(HEADER + body.len() as u64).is_multiple_of(section.align) {
            body.push(0);
        }
        let (at, size) = (HEADER + body.len() as u64, section.bytes.len() as u64);
        body.extend(&section.bytes);
        headers.extend(name.to_le_bytes());
        headers.extend(section.kind.to_le_bytes());
        for word in [section.flags.into(), 0, at, size] {
            headers.extend(u64::to_le_bytes(word));
        }
        headers.extend(u32::from(section.link).to_le_bytes());
        headers.extend(u32::from(section.info).to_le_bytes());
        headers.extend(section.align.to_le_bytes());
        headers.extend(section.entry.to_le_bytes());
    }
    while !body.len().is_multiple_of(8) {
        body.push(0);
    }
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
    bytes.resize(16, 0);
    bytes.extend(ET_REL.to_le_bytes());
    bytes.extend(EM_X86_64.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    for word in [0, 0, HEADER + body.len() as u64] {
        bytes.extend(u64::to_le_bytes(word));
    }
    bytes.extend(0u32.to_le_bytes());
    for half in [HEADER as u16, 0, 0, 64, sections.len() as u16 + 1, NAMES] {
        bytes.extend(half.to_le_bytes());
    }
    bytes.extend(body);
    bytes.extend(headers);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A linker and a program are the judges: a call comes to the entry with its number, and the
    /// pair leads to what was there.
    #[test]
    fn a_program_is_led_to_the_entry() {
        const PROGRAM: &str = "
            extern int MPI_Odd(int);
            struct pair { unsigned long number; int (*real)(int); };
            extern struct pair __start_topas_mpi_real[], __stop_topas_mpi_real[];
            int main(void) {
                if (__stop_topas_mpi_real - __start_topas_mpi_real != 1) return 1;
                if (__start_topas_mpi_real->number != 4711) return 2;
                if (__start_topas_mpi_real->real(1) != 3) return 3;
                return MPI_Odd(5) == 4711 ? 0 : 4;
            }";
        const BELOW: &str = "int MPI_Odd(int x) { return x + 2; }";
        const ENTRY: &str = ".globl topas_mpi_common\ntopas_mpi_common: ret\n\
                             .section .note.GNU-stack,\"\",%progbits\n";
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let inputs = [
            file("main.c", PROGRAM.as_bytes()),
            file("member.o", &member("MPI_Odd", 4711, "topas_mpi_common")),
            file("below.c", BELOW.as_bytes()),
            file("entry.s", ENTRY.as_bytes()),
        ];
        let program = dir.path().join("program");
        for way in
            [&["-static"][..], &["-static-pie", "-fPIE"], &["-no-pie"], &["-Wl,--gc-sections"]]
        {
            let mut cc = Command::new("cc");
            cc.args(way).arg("-Wl,--wrap=MPI_Odd,--fatal-warnings").args(&inputs);
            assert!(cc.arg("-o").arg(&program).status().unwrap().success(), "{way:?}");
            assert_eq!(Command::new(&program).status().unwrap().code(), Some(0), "{way:?}");
        }
    }
}
