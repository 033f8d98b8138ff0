//! Slots: the places in objects and libraries where paths of the installation stand.
//!
//! What goes into programs holds two paths. The section `.topas` of the module, and the section of
//! the same form in the library of MPI profiles, hold the directory of topas.conf. The section
//! `.topas_mpi` of the door holds the path of that library. A slot has a fixed size, so another path
//! can be written into a finished file without moving anything: slashes fill up a directory, because
//! to the kernel several slashes are one, and NULs fill up a path.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use goblin::elf64::header::{ELFMAG, Header, SIZEOF_EHDR};
use goblin::elf64::section_header::{SHT_NOBITS, SIZEOF_SHDR, SectionHeader};
use topas_format::module_facts::{self, CONF};

use crate::elf_records::{name, records};

/// Sections with the layout of `module_facts`.
const FACTS: [&[u8]; 2] = [b".topas", b".topas_mpi_site"];

/// The section with the path of the library of MPI profiles.
const DOOR: &[u8] = b".topas_mpi";

/// The first bytes of an archive, the length of the head of a member, and where the size of the
/// member stands in the head.
const ARCHIVE: &[u8] = b"!<arch>\n";
const MEMBER: usize = 60;
const MEMBER_SIZE: Range<usize> = 48..58;

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// The directory of topas.conf
    Conf,
    /// The path of the library of MPI profiles
    Library,
}

/// A slot in the bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What it holds
    pub kind: SlotKind,
    /// The bytes of the path and those that fill it up
    place: Range<usize>,
}

impl Slot {
    /// All slots of an object, a library or an archive. A file that is none of these has none.
    pub fn all(file: &[u8]) -> Vec<Slot> {
        let Some(mut members) = file.strip_prefix(ARCHIVE) else { return of_elf(file, 0) };
        let mut slots = Vec::new();
        let mut at = ARCHIVE.len();
        while let Some((head, rest)) = members.split_at_checked(MEMBER) {
            let size = head.get(MEMBER_SIZE).and_then(|text| str::from_utf8(text).ok());
            let Some(size) = size.and_then(|text| text.trim().parse::<usize>().ok()) else { break };
            let Some(member) = rest.get(..size) else { break };
            slots.extend(of_elf(member, at + MEMBER));
            // Members begin at even places.
            let step = size.next_multiple_of(2).min(rest.len());
            at += MEMBER + step;
            members = rest.get(step..).unwrap_or_default();
        }
        slots
    }

    /// The path in it: that of topas.conf, or of the library.
    pub fn path(&self, file: &[u8]) -> Option<PathBuf> {
        let bytes = file.get(self.place.clone())?;
        match self.kind {
            SlotKind::Conf => {
                let length = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
                let directory = PathBuf::from(OsStr::from_bytes(bytes.get(..length)?));
                Some(directory.join(OsStr::from_bytes(CONF)))
            }
            SlotKind::Library => {
                let path = bytes.split(|byte| *byte == 0).next()?;
                Some(OsStr::from_bytes(path).into())
            }
        }
    }

    /// The longest path that it can hold, in bytes.
    pub fn room(&self) -> usize {
        match self.kind {
            // The slash between directory and name is one of the slot.
            SlotKind::Conf => self.place.len() + CONF.len(),
            SlotKind::Library => self.place.len() - 1,
        }
    }

    /// Writes a path of its kind. Returns false, and changes nothing, if the path is too long, or if
    /// it is not of a topas.conf where one has to stand.
    #[must_use]
    pub fn put(&self, file: &mut [u8], path: &OsStr) -> bool {
        let path = path.as_bytes();
        let (text, fill) = match self.kind {
            SlotKind::Conf => match path.strip_suffix(CONF) {
                Some(directory) if directory.ends_with(b"/") => (directory, b'/'),
                _ => return false,
            },
            SlotKind::Library => (path, 0),
        };
        if path.len() > self.room() || path.contains(&0) {
            return false;
        }
        let Some((to, rest)) = file
            .get_mut(self.place.clone())
            .and_then(|place| place.split_at_mut_checked(text.len()))
        else {
            return false;
        };
        to.copy_from_slice(text);
        rest.fill(fill);
        true
    }
}

/// The slots of one object or library that begins at `base` in its file.
fn of_elf(elf: &[u8], base: usize) -> Vec<Slot> {
    sections(elf)
        .into_iter()
        .flatten()
        .filter_map(|(section_name, place)| {
            let bytes = elf.get(place.clone())?;
            let (kind, inner) = if FACTS.contains(&section_name) {
                (SlotKind::Conf, module_facts::directory(bytes)?)
            } else if section_name == DOOR && bytes.first() == Some(&b'/') {
                (SlotKind::Library, 0..bytes.len())
            } else {
                return None;
            };
            let begin = base + place.start;
            Some(Slot { kind, place: begin + inner.start..begin + inner.end })
        })
        .collect()
}

/// Name and place of each section that has bytes in the file.
fn sections(elf: &[u8]) -> Option<Vec<(&[u8], Range<usize>)>> {
    let header: Header = records(elf.get(..SIZEOF_EHDR)?).next()?;
    if !elf.starts_with(ELFMAG) || usize::from(header.e_shentsize) != SIZEOF_SHDR {
        return None;
    }
    let table = elf.get(usize::try_from(header.e_shoff).ok()?..)?;
    let table = table.get(..usize::from(header.e_shnum) * SIZEOF_SHDR)?;
    let all: Vec<SectionHeader> = records(table).collect();
    let place = |section: &SectionHeader| {
        let begin = usize::try_from(section.sh_offset).ok()?;
        let end = begin.checked_add(usize::try_from(section.sh_size).ok()?)?;
        (section.sh_type != SHT_NOBITS && end <= elf.len()).then_some(begin..end)
    };
    let names = elf.get(place(all.get(usize::from(header.e_shstrndx))?)?)?;
    let named =
        |section: &SectionHeader| Some((name(names, section.sh_name as usize)?, place(section)?));
    Some(all.iter().filter_map(named).collect())
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::process::Command;
    use topas_format::field::Lang;

    /// An object with a section `.topas` and one `.topas_mpi`, made by the system's compiler.
    fn object(dir: &std::path::Path, conf: &[u8]) -> Vec<u8> {
        let (facts, length) = module_facts::section(Lang::C, false, conf).unwrap();
        let bytes =
            |bytes: &[u8]| bytes.iter().map(|byte| byte.to_string()).collect::<Vec<_>>().join(",");
        let mut library = [0; 512];
        library[..6].copy_from_slice(b"/a/b.s");
        let text = format!(
            ".section .topas,\"a\"\n.byte {}\n.section .topas_mpi,\"a\"\n.byte {}\n",
            bytes(&facts[..length]),
            bytes(&library)
        );
        let (source, object) = (dir.join("a.s"), dir.join("a.o"));
        std::fs::write(&source, text).unwrap();
        assert!(Command::new("as").arg("-o").args([&object, &source]).status().unwrap().success());
        std::fs::read(object).unwrap()
    }

    #[test]
    fn paths_are_read_written_and_written_back() {
        let dir = tempfile::tempdir().unwrap();
        let conf = [b"/old/etc/topas/".as_slice(), &[b'/'; 60], CONF].concat();
        let before = object(dir.path(), &conf);
        let slots = Slot::all(&before);
        let kinds: Vec<_> = slots.iter().map(|slot| (slot.kind, slot.room())).collect();
        assert_eq!(kinds, [(SlotKind::Conf, conf.len()), (SlotKind::Library, 511)]);
        assert_eq!(slots[0].path(&before), Some("/old/etc/topas/topas.conf".into()));
        assert_eq!(slots[1].path(&before), Some("/a/b.s".into()));
        let mut moved = before.clone();
        assert!(slots[0].put(&mut moved, OsStr::new("/a/longer/place/etc/topas/topas.conf")));
        assert!(slots[1].put(&mut moved, OsStr::new("/a/longer/place/lib/topas/libtopas_mpi.so")));
        assert_eq!(moved.len(), before.len());
        let again = Slot::all(&moved);
        assert_eq!(again, slots, "slots have not moved");
        assert_eq!(again[0].path(&moved), Some("/a/longer/place/etc/topas/topas.conf".into()));
        assert_eq!(again[1].path(&moved), Some("/a/longer/place/lib/topas/libtopas_mpi.so".into()));
        assert!(again[0].put(&mut moved, OsStr::new("/old/etc/topas/topas.conf")));
        assert!(again[1].put(&mut moved, OsStr::new("/a/b.s")));
        assert_eq!(moved, before);
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = object(dir.path(), b"/old/etc/topas/topas.conf");
        let before = file.clone();
        let slot = Slot::all(&file).remove(0);
        for wrong in ["/older/etc/topas/topas.conf", "/old/etc/topas/", "topas.conf", ""] {
            assert!(!slot.put(&mut file, OsStr::new(wrong)), "{wrong}");
        }
        assert_eq!(file, before);
        assert!(slot.put(&mut file, OsStr::new("/new/etc/topas/topas.conf")));
    }

    #[test]
    fn archives_are_looked_through() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("odd"), "odd").unwrap();
        object(dir.path(), b"/old/etc/topas/topas.conf");
        let archive = dir.path().join("a.a");
        let mut ar = Command::new("ar");
        ar.current_dir(dir.path()).args(["rc", "a.a", "odd", "a.o"]);
        assert!(ar.status().unwrap().success());
        let file = std::fs::read(archive).unwrap();
        let paths: Vec<_> = Slot::all(&file).iter().map(|slot| slot.path(&file)).collect();
        assert_eq!(paths.len(), 2, "{paths:?}");
        assert!(paths.contains(&Some("/old/etc/topas/topas.conf".into())));
    }

    #[test]
    fn damaged_files_have_no_slots_and_stop_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let whole = object(dir.path(), b"/old/etc/topas/topas.conf");
        for length in 0..whole.len() {
            Slot::all(&whole[..length]);
            Slot::all(&[ARCHIVE, &[b'9'; 60], &whole[..length]].concat());
        }
        let mut changed = whole.clone();
        for at in 0..whole.len().min(4096) {
            changed[at] ^= 0xff;
            Slot::all(&changed);
            changed[at] = whole[at];
        }
    }
}
