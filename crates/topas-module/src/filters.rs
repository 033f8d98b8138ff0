//! Whether a seccomp filter watches over the calls of this process. One that ends whoever makes a
//! call that it does not list would take ours for the program's.
//!
//! No call tells that could not itself be punished. So the file that does is read before `main`,
//! by calls with which the loader has just read the libraries, opened once more, and read at the
//! end: `read` is what filters allow first.

use core::ffi::CStr;

use topas_format::hash::word;
use topas_format::text::Cursor;

/// The file.
pub const FILE: &CStr = c"/proc/self/status";

/// Whether the file's text says that calls may be punished: there is a filter, and a promise to
/// take no new privileges, without which only root can set one. A container's filter needs none,
/// and refuses calls. False where the kernel tells of no promise, before 4.10.
#[inline(never)]
pub fn may_punish(text: &[u8]) -> bool {
    let mut text = Cursor::new(text);
    // A program may have any name.
    text.until(b'\n');
    // The first v of all is that of NoNewPrivs.
    text.until(b'v');
    // By hash: a comparison of memory would be one more import.
    const FILTERED: &[u8; 16] = b"s:\t1\nSeccomp:\t2\n";
    text.rest.first_chunk::<16>().is_some_and(|told| word(told) == const { word(FILTERED) })
}
