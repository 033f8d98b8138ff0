//! Where the line goes: the first target that takes it.

use core::ffi::CStr;

use topas_format::form::{Values, number};
use topas_format::out::Out;
use topas_format::target::{self, Kind, expand};
use topas_format::text::{Cursor, trim};

use crate::say::{Sentence, say};
use crate::state::TAG;
use crate::sys::{
    EACCES, EEXIST, EINVAL, ENOENT, ENOSPC, O_APPEND, O_CLOEXEC, O_CREAT, O_EXCL, O_NOCTTY,
    O_NOFOLLOW, O_NONBLOCK, O_WRONLY, PATH_MAX, SOCK_DGRAM, close, connect, is_ours, make_dir,
    open, set_mode, unix_socket, write,
};

/// Error numbers in the order of the sentences after [`Sentence::NoWrite`]: EACCES,
/// ENOENT, ENXIO, EISDIR, EINVAL, ENOSPC, EROFS, ELOOP.
const EXPLAINED: [u8; 8] = [13, 2, 6, 21, 22, 28, 30, 40];

/// Appends the line to the first of `targets` that takes it. Says why one did not if
/// the user wants to know. `tagged` is the line behind a [`TAG`].
#[inline(never)]
pub fn append(
    targets: &[u8],
    values: &mut Values<'_>,
    path: &mut [u8; PATH_MAX],
    tagged: &[u8],
    verbose: bool,
) {
    let line = tagged.get(TAG.len()..).unwrap_or_default();
    let mut text = Cursor::new(trim(targets));
    loop {
        let target = text.until(b' ');
        let errno = match target::kind(target) {
            (Kind::File, pattern) => to_file(pattern, values, path, line),
            (Kind::Unix, pattern) => to_socket(pattern, line),
            (Kind::Syslog, pattern) => to_socket(pattern, tagged),
        };
        if errno == 0 {
            return;
        }
        if verbose {
            let mut sentence = Sentence::NoTarget as u8;
            if !target.is_empty() {
                sentence = Sentence::Link as u8;
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

/// Sends a datagram, without its newline. It is not waited for: an error number, 0 if it was
/// taken.
#[inline(never)]
fn to_socket(path: &[u8], text: &[u8]) -> i32 {
    const AF_UNIX: u8 = 1;
    // struct sockaddr_un
    let mut address = [0; 110];
    let mut out = Out::new(&mut address);
    out.byte(AF_UNIX).byte(0).put(path).byte(0);
    if path.is_empty() || out.is_cut() {
        return EINVAL;
    }
    let fd = unix_socket(SOCK_DGRAM);
    let mut result = connect(fd, out.text());
    if result == 0
        && let [text @ .., _] = text
    {
        result = write(fd, text).min(0) as i32;
    }
    close(fd);
    -result
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
    // Not to wait for the reader of a named pipe, nor to follow a link that somebody else put
    // into the directory.
    const FLAGS: u32 = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
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
            // Who made the file of a user can read it.
            let mut n = -EACCES as isize;
            if !shape.per_user || is_ours(fd, values.numbers[number::UID] as u32) {
                n = write(fd, line);
            }
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
        } else if !(fd == -ENOENT && !make
            || fd == -EEXIST
            // Another user is just making it, and sets its mode next.
            || fd == -EACCES && !shape.per_user)
        {
            return -fd;
        }
    }
    EACCES
}
