//! Makes a group of the sections of an object, of which linkers take one however often it is
//! linked, and adds the note that its code has landing pads.
//!
//! Drivers answer how to link with the module, and answers of several meet in one link: of all
//! languages and variants the code is the same. `.topas`, by which they differ, stays outside, so
//! that the module that is taken sees what all of them say.

use anyhow::{Context, Result};
use goblin::elf::section_header::{
    SHF_ALLOC, SHF_GROUP, SHT_GROUP, SHT_NOTE, SHT_RELA, SHT_SYMTAB,
};
use goblin::elf::{Elf, SectionHeader, Sym, header};

/// The section that stays outside of the group.
const FACTS: &str = ".topas";

/// The section of the note.
pub const NOTE: &str = ".note.gnu.property";

/// `GRP_COMDAT`: of groups with one signature the linker takes the first.
pub const COMDAT: u32 = 1;

/// Bytes of the ELF header, of a section's header and of a symbol (64 bit).
const HEADER: usize = 64;
const SECTION: usize = 64;
const SYMBOL: usize = 24;

/// Fields of a section's header: name, type, flags, offset, size, link, info, alignment, and size
/// of an entry.
const NAME: usize = 0;
const KIND: usize = 4;
const FLAGS: usize = 8;
const OFFSET: usize = 24;
const SIZE: usize = 32;
const LINK: usize = 40;
const INFO: usize = 44;
const ALIGN: usize = 48;
const ENTRY: usize = 56;

/// What the note says of code for a processor: the type of the property
/// (`GNU_PROPERTY_*_FEATURE_1_AND`) and its bits. None for others.
pub fn features(machine: u16) -> Option<(u32, u32)> {
    match machine {
        // IBT and SHSTK.
        header::EM_X86_64 => Some((0xc000_0002, 0b11)),
        // BTI and GCS. Not PAC: a stable compiler signs no return addresses.
        header::EM_AARCH64 => Some((0xc000_0000, 0b101)),
        _ => None,
    }
}

/// The note (`NT_GNU_PROPERTY_TYPE_0`) that tells these features.
pub fn note((kind, bits): (u32, u32)) -> Vec<u8> {
    let words = [4, 16, 5, u32::from_le_bytes(*b"GNU\0"), kind, 4, bits, 0];
    words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect()
}

/// A section: its header and its bytes.
struct ObjectSection {
    header: Vec<u8>,
    bytes: Vec<u8>,
}

impl ObjectSection {
    fn new(name: u32, kind: u32, align: u64, bytes: Vec<u8>) -> Self {
        let mut section = ObjectSection { header: vec![0; SECTION], bytes };
        section.put(NAME, name);
        section.put(KIND, kind);
        section.header[ALIGN..ALIGN + 8].copy_from_slice(&align.to_le_bytes());
        section
    }

    fn get(&self, field: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| self.header[field + i]))
    }

    fn put(&mut self, field: usize, value: u32) {
        self.header[field..field + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// An object in its parts.
struct GroupedObject<'o> {
    elf: Elf<'o>,
    header: &'o [u8],
    sections: Vec<ObjectSection>,
    /// The section with the names of all
    names: usize,
}

impl<'o> GroupedObject<'o> {
    fn parse(object: &'o [u8]) -> Result<Self> {
        let elf = Elf::parse(object).context("the object is not ELF")?;
        let names = usize::from(elf.header.e_shstrndx);
        let section = |(at, section): (usize, &SectionHeader)| {
            let begin = elf.header.e_shoff as usize + at * SECTION;
            let bytes = section.file_range().map_or_else(Vec::new, |range| object[range].to_vec());
            ObjectSection { header: object[begin..begin + SECTION].to_vec(), bytes }
        };
        let sections = elf.section_headers.iter().enumerate().map(section).collect();
        Ok(GroupedObject { elf, header: &object[..HEADER], sections, names })
    }

    /// Where a name begins, which is put behind the others.
    fn name(&mut self, text: &str) -> u32 {
        let table = &mut self.sections[self.names].bytes;
        let at = table.len() as u32;
        table.extend(text.bytes().chain([0]));
        at
    }

    /// Puts the note in front of the names, which come last.
    fn add_note(&mut self) {
        let Some(features) = features(self.elf.header.e_machine) else { return };
        let mut section = ObjectSection::new(self.name(NOTE), SHT_NOTE, 8, note(features));
        section.put(FLAGS, SHF_ALLOC);
        self.sections.insert(self.names, section);
        self.names += 1;
    }

    /// Makes a group of the name of the symbol `signature`.
    fn make_group(&mut self, signature: &str) -> Result<()> {
        let symbols = self.elf.syms.iter();
        let named = |symbol: Sym| self.elf.strtab.get_at(symbol.st_name) == Some(signature);
        let signed = symbols.into_iter().position(named);
        let signed = signed.with_context(|| format!("no symbol {signature}"))?;
        // The group's own section stands in front of its members, so all others move up by one.
        let moved = |at: u32| if at == 0 { 0 } else { at + 1 };
        let mut members = Vec::new();
        let mut table = 0;
        for (at, section) in self.sections.iter_mut().enumerate() {
            let kind = section.get(KIND);
            section.put(LINK, moved(section.get(LINK)));
            let mut holder = at;
            if kind == SHT_RELA {
                holder = section.get(INFO) as usize;
                section.put(INFO, moved(holder as u32));
            }
            if kind == SHT_SYMTAB {
                table = moved(at as u32);
                for symbol in section.bytes.chunks_exact_mut(SYMBOL) {
                    let defined = u16::from_le_bytes([symbol[6], symbol[7]]);
                    if (1..0xff00).contains(&defined) {
                        symbol[6..8].copy_from_slice(&(defined + 1).to_le_bytes());
                    }
                }
            }
            let held = &self.elf.section_headers[holder];
            let facts = self.elf.shdr_strtab.get_at(held.sh_name) == Some(FACTS);
            if held.sh_flags & u64::from(SHF_ALLOC) != 0 && !facts {
                members.push(moved(at as u32));
                section.put(FLAGS, section.get(FLAGS) | SHF_GROUP);
            }
        }
        let words = [COMDAT].into_iter().chain(members);
        let words = words.flat_map(|word: u32| word.to_le_bytes()).collect();
        let mut group = ObjectSection::new(self.name(".group"), SHT_GROUP, 4, words);
        group.put(LINK, table);
        group.put(INFO, signed as u32);
        group.put(ENTRY, 4);
        self.sections.insert(1, group);
        self.names += 1;
        Ok(())
    }

    /// The file.
    fn written(mut self) -> Vec<u8> {
        let mut file = self.header.to_vec();
        for section in self.sections.iter_mut().skip(1) {
            file.resize(file.len().next_multiple_of(64), 0);
            section.header[OFFSET..OFFSET + 8].copy_from_slice(&(file.len() as u64).to_le_bytes());
            if !section.bytes.is_empty() {
                let size = section.bytes.len() as u64;
                section.header[SIZE..SIZE + 8].copy_from_slice(&size.to_le_bytes());
            }
            file.extend_from_slice(&section.bytes);
        }
        file.resize(file.len().next_multiple_of(8), 0);
        // e_shoff, e_shnum, e_shstrndx
        let table = file.len() as u64;
        file[40..48].copy_from_slice(&table.to_le_bytes());
        file[60..62].copy_from_slice(&(self.sections.len() as u16).to_le_bytes());
        file[62..64].copy_from_slice(&(self.names as u16).to_le_bytes());
        file.extend(self.sections.iter().flat_map(|section| &section.header));
        file
    }
}

/// Returns the object with its sections as a group of the name of the symbol `signature`, and with
/// the note.
pub fn group(object: &[u8], signature: &str) -> Result<Vec<u8>> {
    let mut object = GroupedObject::parse(object)?;
    object.make_group(signature)?;
    object.add_note();
    Ok(object.written())
}

/// Returns the object with the note.
pub fn noted(object: &[u8]) -> Result<Vec<u8>> {
    let mut object = GroupedObject::parse(object)?;
    object.add_note();
    Ok(object.written())
}

/// The fault of a file whose note is missing or says less.
pub fn lacks_note(elf: &Elf<'_>, bytes: &[u8]) -> Option<String> {
    let wanted = note(features(elf.header.e_machine)?);
    let found = elf.section_headers.iter().any(|section| {
        elf.shdr_strtab.get_at(section.sh_name) == Some(NOTE)
            && bytes[section.file_range().unwrap_or_default()] == wanted
    });
    (!found).then(|| "has no note of its landing pads".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Linkers are the judges: two such objects make one program with one copy.
    #[test]
    fn of_two_objects_of_a_group_one_is_linked() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let run = |args: &[&str]| {
            let output = Command::new(args[0]).args(&args[1..]).current_dir(dir.path()).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{args:?}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        let of = |facts: &str| {
            format!(
                "static int calls; extern int all; static int room[10000];\n\
                 __attribute__((constructor)) static void before(void)\n\
                 {{ all += ++calls + room[5]; }}\n\
                 __attribute__((section(\".topas\"), used)) static const char facts[8] = \"{facts}\";\n"
            )
        };
        std::fs::write(path("main.c"), "int all; int main(void) { return all; }\n").unwrap();
        run(&["cc", "-c", "main.c"]);
        for name in ["a", "b"] {
            std::fs::write(path(&format!("{name}.c")), of(name)).unwrap();
            run(&["cc", "-c", "-fcf-protection=none", &format!("{name}.c")]);
            let object = path(&format!("{name}.o"));
            let grouped = group(&std::fs::read(&object).unwrap(), "room").unwrap();
            std::fs::write(object, crate::pack::pack(grouped).unwrap()).unwrap();
        }
        for linker in ["bfd", "gold", "lld", "mold"] {
            if Command::new(format!("ld.{linker}")).arg("-v").output().is_err() {
                continue;
            }
            let linker = format!("-fuse-ld={linker}");
            run(&["cc", &linker, "-o", "one", "main.o", "a.o"]);
            run(&["cc", &linker, "-o", "two", "main.o", "b.o", "a.o"]);
            for program in ["one", "two"] {
                let status = Command::new(path(program)).status().unwrap();
                assert_eq!(status.code(), Some(1), "{linker} {program}");
            }
            assert!(run(&["readelf", "-x", ".topas", "two"]).contains("62000000 00000000 61"));
        }
    }

    #[test]
    fn an_object_without_the_symbol_is_refused() {
        assert!(group(b"not ELF at all", "x").is_err());
    }
}
