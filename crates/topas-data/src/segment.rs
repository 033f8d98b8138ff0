//! Segments of a log as files: merged, closed and written byte for byte.
//!
//! What is read here is kept as it stands, also lines that are none.

pub(crate) mod close;
pub(crate) mod index;
pub(crate) mod lines;
pub(crate) mod merge;
pub(crate) mod month;
pub(crate) mod output;
pub(crate) mod raw;
pub(crate) mod sort;

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use crate::decode::decoded;
use crate::source::{Source, SourceError};

/// Why lines could not be brought from one place to another.
#[derive(Debug)]
pub enum SegmentError {
    /// A log could not be read
    Source(SourceError),
    /// Something could not be written
    Write {
        /// What was to be written; `-` is standard output
        path: PathBuf,
        /// What the system says
        cause: io::Error,
    },
    /// What had been read once could not be read again
    Again {
        /// What the system says
        cause: io::Error,
    },
    /// Temporary files could not be written or read
    Temporary {
        /// Their directory
        dir: PathBuf,
        /// What the system says
        cause: io::Error,
    },
}

impl SegmentError {
    /// What the system says.
    pub fn cause(&self) -> &io::Error {
        match self {
            SegmentError::Source(SourceError::Open { cause, .. })
            | SegmentError::Source(SourceError::Broken { cause, .. })
            | SegmentError::Write { cause, .. }
            | SegmentError::Again { cause }
            | SegmentError::Temporary { cause, .. } => cause,
        }
    }
}

impl From<SourceError> for SegmentError {
    fn from(error: SourceError) -> Self {
        SegmentError::Source(error)
    }
}

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SegmentError::Source(SourceError::Broken { source, lines, .. }) => {
                write!(f, "{source} is damaged after line {lines}")
            }
            SegmentError::Source(error) => error.fmt(f),
            SegmentError::Write { path, .. } if path.as_os_str() == "-" => {
                f.write_str("cannot write to standard output")
            }
            SegmentError::Write { path, .. } => write!(f, "cannot write {}", path.display()),
            SegmentError::Again { .. } => {
                f.write_str("the logs could be read once and not a second time")
            }
            SegmentError::Temporary { dir, .. } => {
                write!(f, "cannot sort with temporary files in {}", dir.display())
            }
        }
    }
}

impl std::error::Error for SegmentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause())
    }
}

/// Opens a source as text. Of a regular file the first `most` bytes, so that reading it
/// twice gives the same although lines are being added.
pub(crate) fn open(source: &Source, most: u64) -> io::Result<Box<dyn Read + Send>> {
    match source {
        Source::Stdin => decoded(io::stdin()),
        Source::File(path) => {
            let file = File::open(path)?;
            // Opening a directory succeeds, and only reading it says what it is.
            match file.metadata()? {
                about if about.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
                about if about.is_file() => decoded(file.take(most)),
                _ => decoded(file),
            }
        }
    }
}

/// Compression of a closed segment: a level that costs little time, and a checksum.
pub(crate) const LEVEL: i32 = 9;

/// Compresses one frame with a checksum.
pub(crate) fn zstd_frame<W: Write>(to: W) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    let mut encoder = zstd::stream::write::Encoder::new(to, LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}
