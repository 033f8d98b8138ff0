//! What tells which file an executable or a library is.

use std::path::Path;

use object::read::{Object, ObjectSegment};
use topas_callpath::{BUILD_ID, SegmentPrint};
use topas_config::regular;

use crate::debug_file::MOST_BYTES;

/// A file that was read.
pub struct ElfFile {
    /// As [`topas_mpi_data::PathModule`] has it: `b` and its build id, or `s` and the hash of its
    /// segments
    pub id: String,
    /// Name of the file that holds its debug information, if it says so
    pub debug_link: Option<String>,
    /// The content of the file
    pub bytes: Vec<u8>,
}

impl ElfFile {
    /// Reads it. None if it cannot be read, or is none.
    pub fn read(path: &Path) -> Option<ElfFile> {
        let bytes = regular::read(path, MOST_BYTES).ok()?;
        let elf = object::File::parse(&*bytes).ok()?;
        if elf.format() != object::BinaryFormat::Elf {
            return None;
        }
        let id = match elf.build_id().ok().flatten() {
            Some(id) => {
                let digits: String =
                    id.iter().take(BUILD_ID).map(|byte| format!("{byte:02x}")).collect();
                format!("b{digits}")
            }
            None => {
                let print = elf.segments().fold(SegmentPrint::EMPTY, |print, segment| {
                    print.add(segment.address(), segment.file_range().1, segment.size())
                });
                format!("s{:x}", print.hash())
            }
        };
        let debug_link = elf.gnu_debuglink().ok().flatten();
        let debug_link = debug_link.and_then(|(name, _)| {
            String::from_utf8(name.to_vec()).ok().filter(|name| !name.contains('/'))
        });
        Some(ElfFile { id, debug_link, bytes })
    }
}
