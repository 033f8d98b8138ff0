//! What the program is written in, as far as the process shows it; which names of MPI it calls
//! is noted at the calls.

use core::ffi::{CStr, c_char, c_int, c_void};

use topas_format::hash::word;
use topas_format::text::{last, nth};
use topas_mpi_profile::layout::language;
use topas_node::sys as kernel;

/// `struct dl_phdr_info`, its beginning (link.h).
#[repr(C)]
struct Loaded {
    base: usize,
    name: *const c_char,
    parts: *const Part,
    count: u16,
}

/// `Elf64_Phdr`
#[repr(C)]
struct Part {
    kind: u32,
    flags: u32,
    offset: usize,
    address: usize,
    rest: [usize; 4],
}

// SAFETY: libc's own declaration.
unsafe extern "C" {
    fn dl_iterate_phdr(
        each: extern "C" fn(*const Loaded, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// Libraries by which a language is known if they are in the process, whoever loaded them.
const RUNTIMES: [(&[u8], u32); 3] =
    [(b"libpython", language::PYTHON), (b"libjulia", language::JULIA), (b"libR.so", language::R)];

/// Libraries by which C++ is known if the executable itself needs them.
const CXX: [&[u8]; 4] = [b"libstdc++.", b"libc++.", b"libmpi_cxx.", b"libmpicxx."];

/// Bits of [`language`] that the process shows. `exe` is the name of the executable.
pub fn seen(exe: &[u8], room: &mut [u8]) -> u32 {
    let mut seen = 0u32;
    // SAFETY: the function is called before this returns.
    unsafe { dl_iterate_phdr(look, (&raw mut seen).cast()) };
    // Interpreters may hold their runtime themselves.
    if exe.starts_with(b"python") {
        seen |= language::PYTHON;
    }
    if is_rust(room) {
        seen |= language::RUST;
    }
    seen
}

extern "C" fn look(loaded: *const Loaded, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: what the loader passes, and what `seen` passed.
    let (loaded, seen) = unsafe { (&*loaded, &mut *data.cast::<u32>()) };
    let name = if loaded.name.is_null() {
        &[]
    } else {
        // SAFETY: the loader's own name.
        unsafe { CStr::from_ptr(loaded.name) }.to_bytes()
    };
    // Nothing to name is the executable.
    if name.is_empty() {
        if needs_cxx(loaded) {
            *seen |= language::CXX;
        }
        return 0;
    }
    let file = last(name, b'/');
    for (front, bit) in RUNTIMES {
        if file.starts_with(front) {
            *seen |= bit;
        }
    }
    0
}

/// Whether the executable needs a library of C++.
fn needs_cxx(loaded: &Loaded) -> bool {
    const DYNAMIC: u32 = 2;
    const NEEDED: usize = 1;
    const STRINGS: usize = 5;
    // SAFETY: the program headers of what is loaded.
    let parts = unsafe { core::slice::from_raw_parts(loaded.parts, loaded.count.into()) };
    let Some(part) = parts.iter().find(|part| part.kind == DYNAMIC) else {
        return false;
    };
    let table = loaded.base.wrapping_add(part.address) as *const [usize; 2];
    let mut strings = 0;
    for needed in [false, true] {
        let mut at = table;
        // SAFETY: the table ends with tag 0; names are in the table of strings, whose address some
        // loaders leave as it was linked.
        unsafe {
            while (*at)[0] != 0 {
                let [tag, value] = *at;
                if tag == STRINGS {
                    strings =
                        if value < loaded.base { value.wrapping_add(loaded.base) } else { value };
                }
                if needed && tag == NEEDED && strings != 0 {
                    let name = CStr::from_ptr((strings + value) as *const c_char).to_bytes();
                    if CXX.iter().any(|front| name.starts_with(front)) {
                        return true;
                    }
                }
                at = at.add(1);
            }
        }
    }
    false
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
