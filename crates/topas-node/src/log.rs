//! Targets of the log: a file, a datagram socket, the system's log.

use core::ffi::CStr;

use topas_format::form::{Values, number};
use topas_format::out::Out;
use topas_format::target::{self, Shape, TargetKind, expand};

use crate::sys::{
    EACCES, EEXIST, EINVAL, ENOENT, ENOSPC, O_APPEND, O_CLOEXEC, O_CREAT, O_EXCL, O_NOCTTY,
    O_NOFOLLOW, O_NONBLOCK, O_WRONLY, SOCK_DGRAM, close, connect, is_ours, make_dir, open,
    set_mode, unix_socket, write,
};

/// What stands before a line in a datagram for syslog: facility user, severity informational
/// (RFC 3164), and the tag.
pub const TAG: &[u8; 11] = b"<14>topas: ";

/// Writes a line that stands behind a [`TAG`] to a target: an error number, 0 if it was taken.
/// `room` gives the empty text that takes a path. Where that is is known at compile time: an
/// argument would cost the module 96 bytes.
pub fn write_to<'r, R: FnOnce() -> &'r mut Out<'r>>(
    target: &[u8],
    values: &mut Values<'_>,
    tagged: &[u8],
    room: R,
) -> i32 {
    let (kind, pattern) = target::kind(target);
    let mut line = tagged;
    if kind != TargetKind::Syslog {
        line = line.get(TAG.len()..).unwrap_or_default();
    }
    if kind == TargetKind::File {
        to_file(pattern, values, line, room)
    } else {
        to_socket(pattern, line, room)
    }
}

/// Sends a datagram, without its newline. It is not waited for: an error number, 0 if it was
/// taken.
fn to_socket<'r, R: FnOnce() -> &'r mut Out<'r>>(path: &[u8], text: &[u8], room: R) -> i32 {
    // struct sockaddr_un with AF_UNIX; a path that is too long for it is none to the kernel.
    let address = room().put(b"\x01\0").put(path).byte(0).text();
    if path.is_empty() {
        return EINVAL;
    }
    let fd = unix_socket(SOCK_DGRAM);
    let mut result = connect(fd, address);
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
fn to_file<'r, R: FnOnce() -> &'r mut Out<'r>>(
    pattern: &[u8],
    values: &mut Values<'_>,
    line: &[u8],
    room: R,
) -> i32 {
    let out = room();
    let shape = expand(pattern, values, out);
    let (Some(shape), false) = (shape, out.byte(0).is_cut()) else {
        return EINVAL;
    };
    let fd = open_or_make(out.take_mut(), &shape);
    if fd < 0 {
        return -fd;
    }
    // Who made the file of a user can read it.
    let mut n = -EACCES as isize;
    if !shape.per_user || is_ours(fd, values.numbers[number::UID] as u32) {
        n = write(fd, line);
    }
    close(fd);
    match n {
        ..0 => -n as i32,
        n if n as usize == line.len() => 0,
        _ => ENOSPC,
    }
}

/// Opens the file or makes it, in turn: another rank may make it first, or its directory be
/// missing. The descriptor, or minus an error number. The path ends with a NUL.
#[inline]
fn open_or_make(path: &mut [u8], shape: &Shape) -> i32 {
    // Not to wait for the reader of a named pipe, nor to follow a link that somebody else put
    // into the directory.
    const FLAGS: u32 = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW;
    for attempt in 0..6 {
        let make = attempt % 2 == 1;
        // SAFETY: a NUL stands at its end, and nowhere else: it is made of texts of C.
        let name = unsafe { CStr::from_bytes_with_nul_unchecked(path) };
        let fd = open(name, if make { FLAGS | O_CREAT | O_EXCL } else { FLAGS }, 0o600);
        if fd >= 0 && make && !shape.per_user {
            // The file is everybody's, whatever this user's umask is.
            set_mode(fd, 0o666);
        }
        if make && fd == -ENOENT && shape.own_dir > 0 {
            // Everybody may add a file, nobody may list or remove those of others.
            make_dir(path, shape.own_dir.into(), 0o1733);
        } else if !(fd == -ENOENT && !make
            || fd == -EEXIST
            // Another user is just making it, and sets its mode next.
            || fd == -EACCES && !shape.per_user)
        {
            return fd;
        }
    }
    -EACCES
}
