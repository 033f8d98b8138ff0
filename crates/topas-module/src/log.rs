//! Where the line goes: the first target that takes it.

use topas_format::text::{Cursor, trim};
use topas_node::log::write_to;

use crate::say::{Sentence, say_by_number};
use crate::state::{ModuleRecord, out};

/// Error numbers in the order of the sentences after [`Sentence::NoWrite`]: EACCES,
/// ENOENT, ENXIO, EISDIR, EINVAL, ENOSPC, EROFS, ELOOP.
const EXPLAINED: &[u8] = &[13, 2, 6, 21, 22, 28, 30, 40];

/// Appends the line to the first of `targets` that takes it. Says why one did not if the user
/// wants to know, and in any case of the one behind which `told` bytes are left.
#[inline(never)]
pub fn append(targets: &[u8], record: &mut ModuleRecord, verbose: bool, told: usize) {
    let mut text = Cursor::new(trim(targets));
    loop {
        let target = text.until(b' ');
        let line = record.tagged();
        let errno = write_to(target, &mut record.values, line, out);
        if errno == 0 {
            return;
        }
        text.rest = trim(text.rest);
        let subject = if text.rest.len() == told { Sentence::Log } else { Sentence::NotWritten };
        if verbose || subject == Sentence::Log {
            say_by_number(subject as usize, target, sentence(target, errno));
        }
        if text.rest.is_empty() {
            return;
        }
    }
}

/// The number of the sentence that explains an error number.
pub fn sentence(target: &[u8], errno: i32) -> usize {
    if target.is_empty() {
        return Sentence::NoTarget as usize;
    }
    for (sentence, known) in (Sentence::Denied as usize..).zip(EXPLAINED) {
        if i32::from(*known) == errno {
            return sentence;
        }
    }
    Sentence::NoWrite as usize
}
