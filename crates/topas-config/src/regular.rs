//! Reading regular files of bounded size.
//!
//! Configuration and response files are named by users. A pipe under such a name must
//! not be drained, a device must not be read for ever, and a directory is no file.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;

/// Reads the whole of a regular file.
///
/// # Errors
/// What the system says; [`io::ErrorKind::InvalidInput`] if `path` is no regular file;
/// [`io::ErrorKind::FileTooLarge`] if it is longer than `limit` bytes. Nothing but a
/// regular file is ever opened: opening a pipe would already disturb its writer. If the file is
/// replaced by a pipe at this moment, nobody waits for a writer.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
    let too_large = || {
        let why = format!("longer than {limit} B");
        io::Error::new(io::ErrorKind::FileTooLarge, why)
    };
    if !fs::metadata(path)?.is_file() {
        return Err(no_file());
    }
    let no_wait = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(no_wait.bits()).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(no_file());
    }
    if about.len() > limit {
        return Err(too_large());
    }
    // One read where the length is true, and no trust in it.
    let mut text = Vec::with_capacity(about.len().min(limit) as usize + 1);
    file.take(limit.saturating_add(1)).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_regular_files_only_and_within_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert_eq!(read(&path, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(dir.path(), 4).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(
            read(Path::new("/dev/zero"), 4).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        let none = read(&dir.path().join("none"), 4).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
    }
}
