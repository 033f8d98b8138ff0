//! Large plain files in pieces that are read at the same time.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use memchr::memchr;

use crate::decode::is_plain;
use crate::source::{Source, SourceError};

/// Bytes of a piece: large against the seams, small against what a core is given.
pub(super) const PIECE: u64 = 8 << 20;

/// Behind any byte of a file: the kernel takes no place beyond.
const END: u64 = i64::MAX as u64;

/// Bytes that are looked at in one go to find a line's end.
const LOOK: usize = 4096;

/// A part of a source that can be read by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Place of the source in the list
    pub(super) source: usize,
    /// The lines that begin in `from..to`; None is all of a source that cannot be divided
    pub(super) bytes: Option<(u64, u64)>,
}

/// The pieces of all sources, in order.
pub(super) fn pieces(sources: &[Source], size: u64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (place, source) in sources.iter().enumerate() {
        let long = match source {
            Source::Stdin => None,
            // What cannot be opened is told when it is read.
            Source::File(path) => divisible(path).ok().flatten().filter(|len| *len > size),
        };
        let Some(len) = long else {
            pieces.push(Piece { source: place, bytes: None });
            continue;
        };
        let count = len.div_ceil(size);
        for number in 0..count {
            // The last takes what has been appended meanwhile.
            let to = if number + 1 == count { END } else { (number + 1) * size };
            pieces.push(Piece { source: place, bytes: Some((number * size, to)) });
        }
    }
    pieces
}

/// Length of a plain regular file, None of any other source.
fn divisible(path: &Path) -> io::Result<Option<u64>> {
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut head = Vec::new();
    File::open(path)?.take(8).read_to_end(&mut head)?;
    Ok(is_plain(&head).then_some(metadata.len()))
}

/// Reads the whole lines that begin between two places of a file.
pub(super) struct Lines {
    file: File,
    at: u64,
    end: u64,
}

impl Lines {
    /// Of the file at `path`, from the first line that begins at `from` or behind it to the
    /// first that begins at `to` or behind it.
    pub(super) fn open(source: &Source, from: u64, to: u64) -> Result<Self, SourceError> {
        let open = || {
            let Source::File(path) = source else {
                return Err(io::ErrorKind::NotSeekable.into());
            };
            let file = File::open(path)?;
            let (at, end) = (line_start(&file, from)?, line_start(&file, to)?);
            Ok(Lines { file, at, end })
        };
        open().map_err(|cause| SourceError::Open { source: source.clone(), cause })
    }
}

/// Where the first line begins that does not begin before `at`.
fn line_start(file: &File, at: u64) -> io::Result<u64> {
    if at == 0 || at == END {
        return Ok(at);
    }
    let mut look = [0; LOOK];
    let mut from = at - 1;
    loop {
        match file.read_at(&mut look, from) {
            // No line begins there.
            Ok(0) => return Ok(END),
            Ok(got) => match memchr(b'\n', look.get(..got).unwrap_or_default()) {
                Some(end) => return Ok(from + end as u64 + 1),
                None => from += got as u64,
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        if room == 0 {
            return Ok(0);
        }
        let got = self.file.read_at(buffer.get_mut(..room).unwrap_or_default(), self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    proptest! {
        /// Pieces of any size, put together, are the file.
        #[test]
        fn every_line_is_in_one_piece(
            lines in proptest::collection::vec("[a-z]{0,20}", 1..40),
            ended: bool,
            size in 1u64..60,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("topas.out");
            let mut text = lines.join("\n");
            if ended {
                text.push('\n');
            }
            // Not to be mistaken for a compressed file, and long enough to be divided.
            text.insert(0, '2');
            fs::write(&path, &text).unwrap();
            let sources = [Source::File(path)];
            let mut all = Vec::new();
            for piece in pieces(&sources, size) {
                let Some((from, to)) = piece.bytes else {
                    prop_assert!(text.len() as u64 <= size);
                    return Ok(());
                };
                let before = all.len();
                Lines::open(&sources[0], from, to).unwrap().read_to_end(&mut all).unwrap();
                let whole = all.len() == before || all.len() == text.len() || all.ends_with(b"\n");
                prop_assert!(whole, "a piece ends within a line");
            }
            prop_assert_eq!(all, text.into_bytes());
        }
    }
}
