//! Segments of a log as files: merged, closed and written byte for byte.
//!
//! What is read here is kept as it stands, also lines that are none.

pub(crate) mod close;
pub(crate) mod forget;
pub(crate) mod index;
pub(crate) mod lines;
pub(crate) mod merge;
pub(crate) mod month;
pub(crate) mod output;
pub(crate) mod purge;
pub(crate) mod raw;
pub(crate) mod sort;
mod tree;

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use topas_format::shown::Shown;

use crate::decode::{decoded, is_plain};
use crate::holes::{PastHoles, has_holes, refuse_hollow};
use crate::source::{Opened, Source, SourceError};
use crate::vouch::Vouch;

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
    /// Temporary files could not be written or read
    Temporary {
        /// Their directory
        dir: PathBuf,
        /// What the system says
        cause: io::Error,
    },
}

impl SegmentError {
    /// Whether a reader of standard output had seen enough (`| head`), which is no error.
    pub fn is_reader_gone(&self) -> bool {
        matches!(self, SegmentError::Write { path, cause }
            if cause.kind() == io::ErrorKind::BrokenPipe && path.as_os_str() == "-")
    }

    /// What the system says.
    pub fn cause(&self) -> &io::Error {
        match self {
            SegmentError::Source(SourceError::Open { cause, .. })
            | SegmentError::Source(SourceError::Broken { cause, .. })
            | SegmentError::Write { cause, .. }
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
            SegmentError::Write { path, .. } => {
                write!(f, "cannot write {}", Shown(path.as_os_str().as_bytes()))
            }
            SegmentError::Temporary { dir, .. } => {
                write!(
                    f,
                    "cannot sort with temporary files in {}",
                    Shown(dir.as_os_str().as_bytes())
                )
            }
        }
    }
}

impl std::error::Error for SegmentError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause())
    }
}

/// Opens a source as text, and says who vouches for its lines. Of a regular file the first
/// `most` bytes, so that reading it twice gives the same although lines are being added.
pub(crate) fn open(source: &Source, most: u64) -> io::Result<(Box<dyn Read + Send>, Vouch)> {
    open_opened(source.open()?, 0, most)
}

/// The same of what is open; None is standard input. A plain file without holes is read from the
/// byte `from` on.
pub(crate) fn open_opened(
    opened: Option<Opened>,
    from: u64,
    most: u64,
) -> io::Result<(Box<dyn Read + Send>, Vouch)> {
    let Some(Opened { file, about, vouch, found }) = opened else {
        return Ok((decoded(io::stdin())?, Vouch::All));
    };
    // Files of /proc have no length: only who names one means it.
    let text: Box<dyn Read + Send> = if !about.is_file() || about.len() == 0 && !found {
        decoded(file)?
    } else if !is_plain(&file)? {
        refuse_hollow(&file, &about)?;
        decoded(file.take(most))?
    } else if has_holes(&file, about.len()) {
        Box::new(PastHoles::new(file, about.len().min(most)))
    } else {
        let mut file = file;
        file.seek(SeekFrom::Start(from))?;
        Box::new(file.take(most))
    };
    Ok((text, vouch))
}

/// Level of compression: of log lines 7 % less than level 3, in three times its time; level 9
/// saves 4 % more for twice as much.
pub(crate) const LEVEL: i32 = 6;

/// Compresses one frame with a checksum.
pub(crate) fn zstd_frame<W: Write>(to: W) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    let mut encoder = zstd::stream::write::Encoder::new(to, LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}
