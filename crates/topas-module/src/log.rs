//! Where the line goes: the first target that takes it.

use topas_format::conf::words;
use topas_format::out::Out;
use topas_format::target::{Facts, expand, file_pattern};

use crate::say::{NO_TARGET, NO_WRITE, say};
use crate::sys::{
    EEXIST, EINVAL, ENOENT, O_APPEND, O_CLOEXEC, O_CREAT, O_EXCL, O_NOCTTY, O_NONBLOCK, O_WRONLY,
    PATH_MAX, make_dir, open,
};

/// Error numbers in the order of the sentences after [`NO_WRITE`]: EACCES, EPERM,
/// ENOENT, ENXIO, EISDIR, EINVAL, ENOSPC, EROFS.
const EXPLAINED: &[u8] = &[0, 13, 1, 2, 6, 21, 22, 28, 30];

/// Appends the line to the first of `targets` that takes it. Says why one did not if
/// the user wants to know.
#[inline(never)]
pub fn append(targets: &[u8], facts: &Facts<'_>, line: &[u8], verbose: bool) {
    let mut any = false;
    for target in words(targets) {
        let errno = to_file(file_pattern(target), facts, line);
        if errno == 0 {
            return;
        }
        any = true;
        if verbose {
            let place = EXPLAINED.iter().position(|known| i32::from(*known) == errno);
            say(b"not written: ", b"", NO_WRITE + place.unwrap_or(0), target);
        }
    }
    if verbose && !any {
        say(b"not written: ", b"", NO_TARGET, b"");
    }
}

/// Appends with one `write`, so that lines of many processes stay whole. An error
/// number, 0 if the line was taken.
#[inline(never)]
fn to_file(pattern: &[u8], facts: &Facts<'_>, line: &[u8]) -> i32 {
    // The last byte stays a NUL.
    let mut path = [0; PATH_MAX + 1];
    let Some(shape) = expand(pattern, facts, &mut Out::new(&mut path[..PATH_MAX])) else {
        return EINVAL;
    };
    // Not to wait for the reader of a named pipe.
    const FLAGS: u32 = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    let mut flags = FLAGS;
    // Open, make the file, make its directory, and again where another rank was faster.
    for _ in 0..5 {
        match open(&path, flags, 0o600) {
            Ok(file) => {
                if flags != FLAGS && !shape.per_user {
                    // The file is everybody's, whatever this user's umask is.
                    file.set_mode(0o666);
                }
                return file.write_once(line);
            }
            Err(EEXIST) => flags = FLAGS,
            Err(ENOENT) if flags == FLAGS => flags |= O_CREAT | O_EXCL,
            Err(ENOENT) if shape.own_dir > 0 => {
                if let Some(slash) = path.get_mut(shape.own_dir) {
                    *slash = 0;
                }
                // Everybody may add a file, nobody may list or remove those of others.
                make_dir(&path, 0o1733);
                if let Some(slash) = path.get_mut(shape.own_dir) {
                    *slash = b'/';
                }
            }
            Err(errno) => return errno,
        }
    }
    ENOENT
}
