//! What the file of the running program says of it, where nobody looked at it when it was
//! linked: whether it holds the module itself, and whether it is of Rust.

use core::sync::atomic::{AtomicBool, Ordering};

use topas_format::hash::word;
use topas_format::text::nth;

use crate::state::FILE_MAX;
use crate::sys;

/// Whether the program is one of Rust; known after [`look`].
static RUST: AtomicBool = AtomicBool::new(false);

/// What its sections say.
#[derive(Default)]
pub struct Sections {
    /// It was linked with the module, which measures then.
    pub has_module: bool,
}

/// Bytes of an entry of the section table (`Elf64_Shdr`).
const ENTRY: usize = 64;

/// Reads the table of sections: four reads at most, however large the program is.
pub fn look(room: &mut [u8; FILE_MAX]) -> Sections {
    let mut found = Sections::default();
    let fd = sys::open(c"/proc/self/exe", sys::O_CLOEXEC, 0);
    if fd < 0 {
        return found;
    }
    let (table, rest) = room.split_at_mut(FILE_MAX / 2);
    let (names, comment) = rest.split_at_mut(FILE_MAX / 4);
    let header = sys::load_at(fd, 0, table.get_mut(..ENTRY).unwrap_or_default());
    let (at, count, of_names) = (long(header, 0x28), half(header, 0x3c), half(header, 0x3e));
    let sections = sys::load_at(fd, at, table);
    let mut entries = sections.chunks_exact(ENTRY).take(count);
    if let Some(section) = entries.clone().nth(of_names) {
        let names = sys::load_at(fd, long(section, 24), names);
        found.has_module = entries.clone().any(|section| named(names, section) == TOPAS);
        if let Some(section) = entries.find(|section| named(names, section) == COMMENT) {
            let length = (long(section, 32) as usize).min(comment.len());
            let text = comment.get_mut(..length).unwrap_or_default();
            let text = sys::load_at(fd, long(section, 24), text);
            let rust = text.windows(6).any(|bytes| word(bytes) == RUSTC);
            RUST.store(rust, Ordering::Relaxed);
        }
    }
    sys::close(fd);
    found
}

/// Whether it is of Rust, whose runtime sets handlers only where it finds the default.
pub fn is_rust() -> bool {
    RUST.load(Ordering::Relaxed)
}

const TOPAS: u32 = word(b".topas");
const COMMENT: u32 = word(b".comment");
const RUSTC: u32 = word(b"rustc ");

/// The hash of a section's name.
fn named(names: &[u8], section: &[u8]) -> u32 {
    let [a, b, c, d, ..] = section else {
        return 0;
    };
    let at = u32::from_ne_bytes([*a, *b, *c, *d]) as usize;
    word(nth(names.get(at..).unwrap_or_default(), 0, 0))
}

fn half(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..) {
        Some([a, b, ..]) => u16::from_ne_bytes([*a, *b]).into(),
        _ => 0,
    }
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |eight| u64::from_ne_bytes(*eight))
}
