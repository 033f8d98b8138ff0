//! Where the line goes: the first target that takes it.

use core::ffi::CStr;

use topas_format::form::Values;
use topas_format::out::Out;
use topas_format::target::{expand, file_pattern};
use topas_format::text::{Cursor, trim};

use crate::say::{Sentence, say};
use crate::sys::{
    EEXIST, EINVAL, ENOENT, ENOSPC, O_APPEND, O_CLOEXEC, O_CREAT, O_EXCL, O_NOCTTY, O_NONBLOCK,
    O_WRONLY, PATH_MAX, close, make_dir, open, set_mode, write,
};

/// Error numbers in the order of the sentences after [`Sentence::NoWrite`]: EACCES,
/// ENOENT, ENXIO, EISDIR, EINVAL, ENOSPC, EROFS.
const EXPLAINED: [u8; 7] = [13, 2, 6, 21, 22, 28, 30];

/// Appends the line to the first of `targets` that takes it. Says why one did not if
/// the user wants to know.
#[inline(never)]
pub fn append(
    targets: &[u8],
    values: &mut Values<'_>,
    path: &mut [u8; PATH_MAX],
    line: &[u8],
    verbose: bool,
) {
    let mut text = Cursor::new(trim(targets));
    loop {
        let target = text.until(b' ');
        let errno = to_file(file_pattern(target), values, path, line);
        if errno == 0 {
            return;
        }
        if verbose {
            let mut sentence = Sentence::NoTarget as u8;
            if !target.is_empty() {
                sentence = Sentence::ReadOnly as u8;
                for known in EXPLAINED.iter().rev() {
                    if i32::from(*known) == errno {
                        break;
                    }
                    sentence -= 1;
                }
            }
            say(b"not written: ", target, sentence);
        }
        text.rest = trim(text.rest);
        if text.rest.is_empty() {
            return;
        }
    }
}

/// Appends with one `write`, so that lines of many processes stay whole. An error
/// number, 0 if the line was taken.
#[inline(never)]
fn to_file(pattern: &[u8], values: &mut Values<'_>, path: &mut [u8; PATH_MAX], line: &[u8]) -> i32 {
    let mut out = Out::new(path);
    let shape = expand(pattern, values, &mut out);
    out.byte(0);
    let (Some(shape), false) = (shape, out.is_cut()) else {
        return EINVAL;
    };
    // Not to wait for the reader of a named pipe.
    const FLAGS: u32 = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    let slash = usize::from(shape.own_dir) % PATH_MAX;
    // Open the file or make it, in turn: another rank may make it first, or its directory be
    // missing.
    for attempt in 0..6 {
        let make = attempt % 2 == 1;
        // SAFETY: a NUL stands at its end, for which there was room.
        let name = unsafe { CStr::from_ptr(path.as_ptr().cast()) };
        let fd = open(name, if make { FLAGS | O_CREAT | O_EXCL } else { FLAGS }, 0o600);
        if fd >= 0 {
            if make && !shape.per_user {
                // The file is everybody's, whatever this user's umask is.
                set_mode(fd, 0o666);
            }
            let n = write(fd, line);
            close(fd);
            return match n {
                ..0 => -n as i32,
                n if n as usize == line.len() => 0,
                _ => ENOSPC,
            };
        }
        if make && fd == -ENOENT && slash > 0 {
            if let Some(byte) = path.get_mut(slash) {
                *byte = 0;
            }
            // SAFETY: as above.
            let dir = unsafe { CStr::from_ptr(path.as_ptr().cast()) };
            // Everybody may add a file, nobody may list or remove those of others.
            make_dir(dir, 0o1733);
            if let Some(byte) = path.get_mut(slash) {
                *byte = b'/';
            }
        } else if !(fd == -ENOENT && !make || fd == -EEXIST) {
            return -fd;
        }
    }
    ENOENT
}
