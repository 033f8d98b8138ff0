//! Segments that were named, and what is said of those that cannot be read.

use std::io::ErrorKind;
use std::path::PathBuf;

use topas_data::{SegmentError, Source, SourceError, expand};

use crate::TOOL;

/// The sources of all names; an error is said here.
pub fn sources(names: &[PathBuf]) -> Option<Vec<Source>> {
    let mut sources = Vec::new();
    for name in names {
        match expand(name) {
            Ok(found) => sources.extend(found),
            Err(error) => {
                failed(&error.into());
                return None;
            }
        }
    }
    Some(sources)
}

/// Says what could not be read or written.
pub fn failed(error: &SegmentError) {
    let hint = match error {
        SegmentError::Source(SourceError::Open { .. }) => "check its name and its permissions",
        SegmentError::Source(SourceError::Broken { .. }) => {
            "copy the file again, or test it with its decompressor; nothing was written"
        }
        SegmentError::Again { .. } => "was one of them changed meanwhile? start again",
        error if error.cause().kind() == ErrorKind::StorageFull => {
            "the file system is full; what was there before still is"
        }
        SegmentError::Write { .. } => "check the directory and its permissions",
        SegmentError::Temporary { .. } => "set TMPDIR to a directory with room",
    };
    TOOL.error(error, Some(error.cause()), hint);
}
