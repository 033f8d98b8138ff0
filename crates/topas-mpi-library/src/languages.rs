//! What the program is written in, as far as the process shows it; which names of MPI it calls
//! is noted at the calls.

use topas_format::hash::word;
use topas_format::text::{last, nth};
use topas_mpi_profile::layout::language;
use topas_node::sys as kernel;

use crate::objects::{self, LoadedObject};

/// Libraries by which a language is known if they are in the process, whoever loaded them.
const RUNTIMES: [(&[u8], u32); 3] =
    [(b"libpython", language::PYTHON), (b"libjulia", language::JULIA), (b"libR.so", language::R)];

/// Libraries by which C++ is known if the executable itself needs them.
const CXX: [&[u8]; 4] = [b"libstdc++.", b"libc++.", b"libmpi_cxx.", b"libmpicxx."];

/// Bits of [`language`] that the process shows. `exe` is the name of the executable.
pub fn seen(exe: &[u8], room: &mut [u8]) -> u32 {
    let mut seen = 0u32;
    objects::each(|object| {
        seen |= shown_by(object);
        false
    });
    // Interpreters may hold their runtime themselves.
    if exe.starts_with(b"python") {
        seen |= language::PYTHON;
    }
    if is_rust(room) {
        seen |= language::RUST;
    }
    seen
}

/// What an object of the process shows.
fn shown_by(object: &LoadedObject) -> u32 {
    let name = object.file();
    // Nothing to name is the executable.
    if name.is_empty() {
        let is_cxx = object.needs(|library| CXX.iter().any(|front| library.starts_with(front)));
        return if is_cxx { language::CXX } else { 0 };
    }
    let file = last(name, b'/');
    let known = RUNTIMES.iter().filter(|(front, _)| file.starts_with(front));
    known.fold(0, |seen, (_, bit)| seen | bit)
}

/// Whether a compiler of Rust says in the executable that it had part in it.
fn is_rust(room: &mut [u8]) -> bool {
    const ENTRY: usize = 64;
    const COMMENT: u32 = word(b".comment");
    let fd = kernel::open(c"/proc/self/exe", kernel::O_CLOEXEC, 0);
    if fd < 0 {
        return false;
    }
    let mut header = [0; ENTRY];
    let header = kernel::load_at(fd, 0, &mut header);
    let (at, count, of_names) = (long(header, 0x28), half(header, 0x3c), half(header, 0x3e));
    let (table, names) = room.split_at_mut(room.len() / 2);
    let sections = kernel::load_at(fd, at, table);
    let mut found = false;
    let mut entries = sections.chunks_exact(ENTRY).take(count);
    if let Some(section) = entries.clone().nth(of_names) {
        let texts = kernel::load_at(fd, long(section, 24), names);
        let comment = entries.find(|section| {
            let at = half(section, 0) | half(section, 2) << 16;
            word(nth(texts.get(at..).unwrap_or_default(), 0, 0)) == COMMENT
        });
        let place = comment.map(|section| (long(section, 24), long(section, 32) as usize));
        if let Some((at, length)) = place {
            let length = length.min(names.len());
            let text = names.get_mut(..length).unwrap_or_default();
            let text = kernel::load_at(fd, at, text);
            found = text.windows(6).any(|part| part == b"rustc ");
        }
    }
    kernel::close(fd);
    found
}

fn half(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u16::from_le_bytes(*b).into())
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
}
