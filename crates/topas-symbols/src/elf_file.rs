//! What tells which file an executable or a library is.

use std::fs;
use std::path::Path;

use goblin::elf::{Elf, program_header::PT_LOAD};
use topas_callpath::{BUILD_ID, SegmentPrint};

/// A file that was read.
pub struct ElfFile {
    /// As [`topas_mpi_data::PathModule`] has it: `b` and its build id, or `s` and the hash of its
    /// segments
    pub id: String,
    /// Name of the file that holds its debug information, if it says so
    pub debug_link: Option<String>,
}

impl ElfFile {
    /// Reads it. None if it cannot be read, or is none.
    pub fn read(path: &Path) -> Option<ElfFile> {
        let about = fs::metadata(path).ok()?;
        if !about.is_file() {
            return None;
        }
        let bytes = fs::read(path).ok()?;
        let elf = Elf::parse(&bytes).ok()?;
        let build_id = elf.iter_note_headers(&bytes).and_then(|notes| {
            let notes = notes.flatten();
            let mut ids = notes.filter(|note| note.n_type == 3 && note.name == "GNU");
            ids.next().map(|note| note.desc.to_vec())
        });
        let id = match build_id {
            Some(id) => {
                let digits: String =
                    id.iter().take(BUILD_ID).map(|byte| format!("{byte:02x}")).collect();
                format!("b{digits}")
            }
            None => {
                let loaded = elf.program_headers.iter().filter(|header| header.p_type == PT_LOAD);
                let print = loaded.fold(SegmentPrint::EMPTY, |print, header| {
                    print.add(header.p_vaddr, header.p_filesz, header.p_memsz)
                });
                format!("s{:x}", print.hash())
            }
        };
        let section = elf
            .section_headers
            .iter()
            .find(|section| elf.shdr_strtab.get_at(section.sh_name) == Some(".gnu_debuglink"));
        let debug_link = section.and_then(|section| {
            let text = bytes.get(section.file_range()?)?;
            let name = text.split(|byte| *byte == 0).next()?;
            String::from_utf8(name.to_vec()).ok().filter(|name| !name.contains('/'))
        });
        Some(ElfFile { id, debug_link })
    }
}
