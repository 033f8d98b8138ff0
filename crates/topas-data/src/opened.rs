//! Opens logs, which users name and put into directories that all may write to.
//!
//! What was found in a directory may be anything that somebody put there: it is opened without
//! following links, without waiting, and only a regular file is read. What the caller named is
//! the caller's choice, but for links and pipes of other users: a name can come from a shell that
//! filled in `*`.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, readlinkat};
use nix::sys::stat::Mode;
use nix::sys::statfs::{PROC_SUPER_MAGIC, fstatfs, statfs};

use crate::vouch::is_believed;

/// Links that lead from one to the next.
const MOST_LINKS: u32 = 16;

/// Not through a link, and without waiting for whoever writes a pipe.
const NO_LINK: OFlag =
    OFlag::O_NOFOLLOW.union(OFlag::O_NONBLOCK).union(OFlag::O_NOCTTY).union(OFlag::O_CLOEXEC);

/// Opens for reading what is no link.
pub(crate) fn open_no_link(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(NO_LINK.bits()).open(path)
}

/// As [`open_no_link`], but only to have the file: no right to read is asked for, and nothing is waited for.
pub(crate) fn hold_no_link(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}

/// Opens for reading what is open already, with a place of its own, whatever became of its name. What
/// waits for others waits.
pub(crate) fn opened_again(of: &impl AsRawFd) -> io::Result<(File, Metadata)> {
    let file = File::open(format!("/proc/self/fd/{}", of.as_raw_fd()))?;
    let about = file.metadata()?;
    Ok((file, about))
}

/// Whether opening failed because the last part of the path is a link.
pub(crate) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ELOOP as i32)
}

/// Opens what the caller named, of whatever type it is. A link is followed if it is root's or
/// the caller's; a pipe or a device is opened if that is, and a pipe's writer is waited for.
pub(crate) fn open_named(path: &Path) -> io::Result<(File, Metadata)> {
    named(path, MOST_LINKS)
}

fn named(path: &Path, links: u32) -> io::Result<(File, Metadata)> {
    match open_no_link(path) {
        Ok(file) => {
            let about = file.metadata()?;
            let kind = about.file_type();
            if kind.is_file() || kind.is_dir() {
                return Ok((file, about));
            }
            if !is_believed(about.uid()) {
                let what = if kind.is_fifo() { "a pipe" } else { "no regular file" };
                return Err(not_ours(what, &about));
            }
            // Opened again, so that reading waits. The first one is still open: a writer that
            // has come to it stays.
            opened_again(&file)
        }
        Err(error) if is_link(&error) => through(path, links),
        Err(error) => Err(error),
    }
}

/// Opens what a link leads to.
fn through(path: &Path, links: u32) -> io::Result<(File, Metadata)> {
    let link = hold_no_link(path)?;
    let about = link.metadata()?;
    if !about.is_symlink() || links == 0 {
        return Err(Errno::ELOOP.into());
    }
    if !is_believed(about.uid()) {
        return Err(not_ours("a symbolic link", &about));
    }
    // Those of /proc lead to what is open, which need not have a path: `/dev/stdin`, `<(...)`.
    if fstatfs(&link).is_ok_and(|system| system.filesystem_type() == PROC_SUPER_MAGIC) {
        let file = File::open(path)?;
        let about = file.metadata()?;
        return Ok((file, about));
    }
    let target = PathBuf::from(readlinkat(&link, "")?);
    named(&path.parent().unwrap_or(Path::new("")).join(target), links - 1)
}

fn not_ours(what: &str, about: &Metadata) -> io::Error {
    let uid = about.uid();
    refused(&format!("it is {what} of uid {uid}, who may lead the reader anywhere; not opened"))
}

fn refused(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

/// The file that an output of this name is to make or to replace; whether there is one that is
/// written to as it is, because it is a pipe or a device.
///
/// In a directory of all users anybody may have taken the name: a link would lead to a file of the
/// caller's, a pipe would bring the text to its reader, and a file of another user would still
/// belong to this user when it has the text. These are refused, as the kernel refuses them if
/// `fs.protected_symlinks`, `protected_fifos` and `protected_regular` are set.
pub(crate) fn output_place(path: &Path) -> io::Result<(PathBuf, bool)> {
    let mut path = path.to_owned();
    for _ in 0..=MOST_LINKS {
        let directory = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        let about = match fs::symlink_metadata(&path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((path, false)),
            Err(error) => return Err(error),
        };
        // Those of /proc lead to what the caller has open.
        if statfs(directory).is_ok_and(|s| s.filesystem_type() == PROC_SUPER_MAGIC) {
            let written = fs::metadata(&path).is_ok_and(|about| !about.is_file());
            return Ok((fs::canonicalize(&path).unwrap_or(path), written));
        }
        let kind = about.file_type();
        let within = fs::metadata(directory)?;
        let shared = within.mode() & 0o1000 != 0 && within.mode() & 0o022 != 0;
        if !is_believed(about.uid()) && about.uid() != within.uid() && shared {
            let uid = about.uid();
            let what = if kind.is_symlink() {
                "a symbolic link"
            } else if kind.is_fifo() {
                "a pipe"
            } else {
                "a file"
            };
            let text = "in a directory where every user can make files; not written";
            return Err(refused(&format!("it is {what} of uid {uid} {text}")));
        }
        if !kind.is_symlink() {
            return Ok((path, !kind.is_file()));
        }
        path = directory.join(fs::read_link(&path)?);
    }
    Err(Errno::ELOOP.into())
}

/// Opens a file below a directory without following a link on the way.
pub(crate) fn open_below(directory: &Path, below: &Path) -> io::Result<(File, Metadata)> {
    const STEP: OFlag = OFlag::O_PATH.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW);
    let root = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let root = OpenOptions::new().read(true).custom_flags(root.bits()).open(directory)?;
    let mut at = OwnedFd::from(root);
    let mut parts = below.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return Err(Errno::EINVAL.into()) };
        let last = parts.peek().is_none();
        let flags = if last { NO_LINK | OFlag::O_RDONLY } else { STEP | OFlag::O_CLOEXEC };
        at = openat(&at, name, flags, Mode::empty())?;
    }
    let file = File::from(at);
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is no regular file any more; not read"));
    }
    Ok((file, about))
}

/// A directory that is open: what is done through it stays in it, whatever becomes of its name.
pub(crate) struct OpenDirectory {
    file: File,
    about: Metadata,
}

impl OpenDirectory {
    /// One that the caller named: a link to it is followed as [`open_named`] does.
    pub(crate) fn named(path: &Path) -> io::Result<Self> {
        let (file, about) = open_named(path)?;
        if !about.is_dir() {
            return Err(Errno::ENOTDIR.into());
        }
        Ok(OpenDirectory { file, about })
    }

    /// One in this one.
    pub(crate) fn inner(&self, name: &std::ffi::OsStr) -> io::Result<Self> {
        let flags = NO_LINK | OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        let file = File::from(openat(&self.file, name, flags, Mode::empty())?);
        let about = file.metadata()?;
        Ok(OpenDirectory { file, about })
    }

    /// A path to it, good as long as it is open.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// Whether others than its owner, or an owner who is not believed, can put files into it.
    pub(crate) fn is_shared(&self) -> bool {
        self.about.mode() & 0o022 != 0 || !is_believed(self.about.uid())
    }

    /// What is in it, but for hidden names: in no order.
    pub(crate) fn entries(&self) -> io::Result<Vec<fs::DirEntry>> {
        let all = fs::read_dir(self.path())?.collect::<io::Result<Vec<_>>>()?;
        let hidden = |entry: &fs::DirEntry| entry.file_name().as_bytes().starts_with(b".");
        Ok(all.into_iter().filter(|entry| !hidden(entry)).collect())
    }
}
