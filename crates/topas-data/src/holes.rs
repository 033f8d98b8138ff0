//! Holes of sparse files: passed over, because anybody can make one of a terabyte at no cost.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;

use nix::unistd::{Whence, lseek};

use crate::block::MAX_LINE_READ;

/// Bytes of holes that a file may have and still be copied whole: a crash can leave some in a
/// log.
const FEW: u64 = 64 << 20;

/// Whether a file has holes, as far as the file system tells. Its position is at its beginning
/// afterwards.
pub(crate) fn has_holes(file: &File, len: u64) -> bool {
    let hole = lseek(file, 0, Whence::SeekHole);
    let _ = lseek(file, 0, Whence::SeekSet);
    hole.is_ok_and(|at| u64::try_from(at).is_ok_and(|at| at < len))
}

/// Whether most of a file is holes, so that it takes far longer to read than it took to make.
pub(crate) fn is_hollow(file: &File, about: &Metadata) -> bool {
    let stored = about.blocks().saturating_mul(512);
    about.len().saturating_sub(stored) > FEW && has_holes(file, about.len())
}

/// Refuses a compressed file with holes: its text has none.
pub(crate) fn refuse_hollow(file: &File, about: &Metadata) -> io::Result<()> {
    if about.is_file() && is_hollow(file, about) {
        let (len, stored) = (about.len(), about.blocks().saturating_mul(512));
        let text =
            format!("only {stored} B of its {len} B are stored, the rest is holes; not read");
        return Err(io::Error::other(text));
    }
    Ok(())
}

/// The next place at or behind `at` where a file has data, its length if it has none. Moves the
/// position.
pub fn data_from(file: &File, at: u64, len: u64) -> u64 {
    let Ok(from) = i64::try_from(at) else { return len };
    match lseek(file, from, Whence::SeekData) {
        Ok(data) => u64::try_from(data).map_or(at, |data| data.clamp(at, len.max(at))),
        Err(nix::errno::Errno::ENXIO) => len,
        // The file system does not tell.
        Err(_) => at,
    }
}

/// Bytes of a hole that are given: longer than any line that is looked at.
const GIVEN: u64 = 2 * MAX_LINE_READ as u64;

/// Reads a regular file from its beginning. Of a hole only the first 128 kB are given: a line
/// that a hole is in is too long with them and without.
pub(crate) struct PastHoles {
    file: File,
    len: u64,
    at: u64,
    /// Where the data or the part of a hole ends that is being read
    until: u64,
}

impl PastHoles {
    /// Of a file, up to `len`.
    pub(crate) fn new(file: File, len: u64) -> Self {
        PastHoles { file, len, at: 0, until: 0 }
    }

    /// Finds what comes next.
    fn step(&mut self) -> io::Result<()> {
        let data = data_from(&self.file, self.at, self.len);
        if data > self.at {
            let given = self.at + (data - self.at).min(GIVEN);
            // The last bytes of the hole are given, so that data follow at once.
            self.at = data - (given - self.at);
            self.until = data;
        } else {
            let from = i64::try_from(self.at).unwrap_or(i64::MAX);
            let hole = lseek(&self.file, from, Whence::SeekHole);
            let hole = hole.ok().and_then(|hole| u64::try_from(hole).ok()).unwrap_or(self.len);
            self.until = hole.clamp(self.at + 1, self.len.max(self.at + 1));
        }
        let at = i64::try_from(self.at).unwrap_or(i64::MAX);
        lseek(&self.file, at, Whence::SeekSet)?;
        Ok(())
    }
}

impl Read for PastHoles {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.len || buffer.is_empty() {
            return Ok(0);
        }
        if self.at >= self.until {
            self.step()?;
        }
        let most = usize::try_from(self.until - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let got = self.file.read(&mut buffer[..most])?;
        self.at += got as u64;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    #[test]
    fn data_are_read_and_holes_are_short() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"first\n").unwrap();
        file.write_all_at(b"\nlast\n", 1 << 40).unwrap();
        let about = file.metadata().unwrap();
        if !has_holes(&file, about.len()) {
            eprintln!("skipped: data_are_read_and_holes_are_short: no holes in this file system");
            return;
        }
        assert!(is_hollow(&file, &about));
        let mut text = Vec::new();
        PastHoles::new(file, about.len()).read_to_end(&mut text).unwrap();
        assert!(text.starts_with(b"first\n") && text.ends_with(b"\nlast\n"));
        assert!(text.len() > MAX_LINE_READ && text.len() < 4 * MAX_LINE_READ, "{}", text.len());
    }

    #[test]
    fn a_file_without_holes_is_read_as_it_is() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[b'x'; 100_000]).unwrap();
        let opened = File::open(file.path()).unwrap();
        assert!(!is_hollow(&opened, &opened.metadata().unwrap()));
        let mut text = Vec::new();
        PastHoles::new(opened, 90_000).read_to_end(&mut text).unwrap();
        assert_eq!(text, [b'x'; 90_000]);
    }
}
