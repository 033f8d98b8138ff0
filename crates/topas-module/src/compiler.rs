//! Which compiler made the program: what it wrote into the section `.comment` of the executable,
//! which `strip` leaves there.

use topas_format::out::Out;
use topas_format::text::Cursor;

use crate::state::FILE_MAX;
use crate::sys;

/// Words of an entry of the section table (`Elf64_Shdr`).
const ENTRY: usize = 8;

/// Words of the longest section table that is read.
pub const TABLE: usize = 128 * ENTRY;

/// Appends what the compiler says of itself, with blanks as `_`. The cost does not grow with the
/// size of the executable: six system calls, one more with debug information.
pub fn compiler(name: &mut Out<'_>, table: &mut [u64; TABLE], room: &mut [u8; FILE_MAX]) {
    // SHF_MERGE | SHF_STRINGS, and not loaded: else only sections of debug information.
    const FLAGS: u64 = 0x30;
    const COMMENT: u64 = u64::from_ne_bytes(*b".comment");

    let fd = sys::open(c"/proc/self/exe", sys::O_CLOEXEC, 0);
    // Elf64_Ehdr: the place of the table, and two words on which of its entries is of names.
    sys::load_at(fd, 0, sys::as_bytes(table));
    let [_, _, _, _, _, at, _, counts, ..] = *table;
    sys::load_at(fd, at, sys::as_bytes(table));
    let names = table.get((counts >> 48) as usize * ENTRY + 3).copied().unwrap_or_default();
    for entry in table.chunks_exact(ENTRY) {
        if let [own, FLAGS, _, at, size, ..] = *entry {
            let mut word = [0];
            sys::load_at(fd, names + (own & 0xffff_ffff), sys::as_bytes(&mut word));
            if word == [COMMENT] {
                let room = room.get_mut(..size as usize).unwrap_or_default();
                name.one_word(of_program(sys::load_at(fd, at, room)));
                break;
            }
        }
    }
    sys::close(fd);
}

/// The compiler of the program itself, of all that are named. The parts that begin and end every
/// program are of GCC, so another one is the program's; `Linker:` and `mold` name themselves, too.
fn of_program(text: &[u8]) -> &[u8] {
    let mut text = Cursor::new(text);
    let mut found = Cursor::new(&[]);
    while !text.rest.is_empty() {
        let first = text.peek();
        let said = text.until(0);
        if !matches!(first, 0 | b'L' | b'm') && (first != b'G' || matches!(found.peek(), 0 | b'G'))
        {
            found.rest = said;
        }
    }
    found.rest
}
