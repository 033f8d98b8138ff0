//! Files of the user's: where they are, and how they are appended to.

use core::ffi::CStr;

use topas_format::form::{Values, number, text as slot};
use topas_format::out::Out;
use topas_format::target::expand_launch;
use topas_mpi_profile::layout::Header;
use topas_mpi_profile::lines::text;
use topas_node::sys as kernel;

use crate::workspace::kept;
use crate::{say, spool};

/// Which of the user's files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum File {
    /// Lines, for `topasview --mpi`
    Data,
    /// The table for people
    Table,
    /// The event log of the ranks of a host
    Log,
}

/// A file of the user's that lines are appended to.
#[derive(Clone, Copy)]
pub struct Own {
    fd: i32,
    /// Whether this process has made it
    made: bool,
}

/// What names of files and targets stand for. `local` is the time in seconds, in the zone of the
/// site.
pub fn values(header: &Header, local: u64) -> Values<'_> {
    let mut values = Values::new();
    values.set_time(local);
    values.numbers[number::UID] = header.uid.into();
    values.texts[slot::HOST] = Some(text(&header.host));
    values.texts[slot::ID] = Some(text(&header.id));
    values
}

/// The user's data file as the user names it.
fn pattern() -> &'static [u8] {
    match kept().map(|kept| text(&kept.pattern)) {
        None | Some(b"") => topas_format::mpi_conf::OUT.as_bytes(),
        Some(pattern) => pattern,
    }
}

/// Writes the path of a file. False if the user's name for it has no meaning.
pub fn compose(header: &Header, local: u64, file: File, out: &mut Out<'_>) -> bool {
    let pattern = pattern();
    if !pattern.starts_with(b"/") {
        out.put(kept().map_or(b"", |kept| text(&kept.directory)));
    }
    let known = expand_launch(pattern, &mut values(header, local), out).is_some();
    if known && file != File::Data {
        let end = out.text().len();
        if out.text().ends_with(b".out") {
            out.rewind(end - 4);
        }
        if file == File::Table {
            out.put(b".txt");
        } else {
            out.byte(b'.').put(text(&header.host)).put(b".trace");
        }
    }
    known
}

/// Notes in the mapped file where the user's data file is to be, should the rank not write it.
pub fn note(header: &mut Header, local: u64, room: &mut [u8]) {
    let mut out = Out::new(room);
    if !compose(header, local, File::Data, &mut out)
        || out.is_cut()
        || !out.text().starts_with(b"/")
    {
        return;
    }
    let path = out.text();
    let at = spool::reserve(path.len());
    if at != 0 {
        // SAFETY: a part of the file that was just reserved, of this length.
        let place = unsafe { core::slice::from_raw_parts_mut(spool::at::<u8>(at), path.len()) };
        place.copy_from_slice(path);
        (header.out, header.out_length) = (at, path.len() as u64);
    }
}

/// Opens a file to be appended to; its path goes to `path`, with a NUL. Says so if that cannot be.
pub fn open(header: &Header, local: u64, file: File, path: &mut [u8]) -> Option<Own> {
    let mut out = Out::new(path);
    if compose(header, local, file, &mut out) {
        open_at(out)
    } else {
        say::not_written(pattern(), kernel::EINVAL);
        None
    }
}

/// Opens the file of this path, to be appended to. Says so if that cannot be.
pub fn open_at(mut path: Out<'_>) -> Option<Own> {
    let mut own = Own { fd: -kernel::EINVAL, made: false };
    if !path.is_cut() {
        let flags = kernel::O_WRONLY | kernel::O_APPEND | kernel::O_CREAT | kernel::O_CLOEXEC;
        let flags = flags | kernel::O_NOCTTY;
        let path = kernel::path(&mut path);
        // To know whether it was there before.
        own.fd = kernel::open(path, flags | kernel::O_EXCL, 0o666);
        own.made = own.fd >= 0;
        if own.fd == -kernel::EEXIST {
            own.fd = kernel::open(path, flags, 0o666);
        }
    }
    if own.fd >= 0 {
        return Some(own);
    }
    say::not_written(text(path.text()), -own.fd);
    None
}

impl Own {
    /// Appends lines. False, and it says so, if that fails; a file that was made for them and
    /// took nothing is removed. `path` has the NUL of `open_own`.
    pub fn append(self, path: &[u8], lines: &[u8]) -> bool {
        let n = kernel::write(self.fd, lines);
        if n == lines.len() as isize {
            return true;
        }
        say::not_written(text(path), if n < 0 { -n as i32 } else { kernel::ENOSPC });
        if self.made
            && n <= 0
            && let Ok(path) = CStr::from_bytes_until_nul(path)
        {
            kernel::remove_empty(self.fd, path);
        }
        false
    }

    /// Closes it.
    pub fn close(self) {
        kernel::close(self.fd);
    }
}
