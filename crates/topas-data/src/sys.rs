//! The system calls that no library here makes safe.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Chooses the signal of a broken lease; not in `libc`, the same on every processor.
const F_SETSIG: libc::c_int = 10;

/// Whether some process has a file open for writing; None where the file system or the
/// permissions do not tell. The file must be open for reading only.
///
/// The kernel gives a read lease only for a file that nobody writes, and it is given back at
/// once.
pub(crate) fn has_writers(file: &File) -> Option<bool> {
    let fd = file.as_raw_fd();
    // Who opens the file meanwhile breaks the lease, which is told by a signal: one that is
    // ignored, as SIGIO is not.
    // SAFETY: `fd` is open for as long as `file` is borrowed, and these commands take an int.
    let lease = unsafe {
        libc::fcntl(fd, F_SETSIG, libc::SIGURG);
        libc::fcntl(fd, libc::F_SETLEASE, libc::F_RDLCK)
    };
    if lease == -1 {
        let busy = io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN);
        return busy.then_some(true);
    }
    // SAFETY: as above.
    unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_UNLCK) };
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn writers_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let writer = File::create(&path).unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(has_writers(&file), Some(true));
        drop(writer);
        assert_eq!(has_writers(&file), Some(false));
        let appends = OpenOptions::new().append(true).open(&path).unwrap();
        assert_eq!(has_writers(&file), Some(true));
        drop(appends);
        assert_eq!(has_writers(&file), Some(false));
    }
}
