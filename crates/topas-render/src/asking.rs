//! What tools say while they ask logs, and when that fails.

use std::io;

use topas_data::{AskProgress, SourceError};

/// What to do where `--memory` is no size.
pub const SIZE_HINT: &str = "give a size such as 512M or 4GiB";

/// What to do where a temporary file failed.
pub const ROOM_HINT: &str = "set TMPDIR to a directory with more room, or allow more --memory";

/// How far a tool is with the logs, in words.
pub fn progress_words(place: AskProgress, files: usize) -> String {
    match place {
        AskProgress::Reading { bytes, of, sources } => {
            let megabytes = bytes / 1_000_000;
            let of = of.map_or_else(String::new, |of| format!(" of {}", of / 1_000_000));
            format!("{megabytes}{of} MB read, {sources} of {files} files done")
        }
        AskProgress::Joining { done, of } => format!("joining, {done} of {of} parts done"),
    }
}

/// Why a source could not be read, and what to do.
pub fn source_hint(error: &SourceError) -> (&io::Error, &'static str) {
    match error {
        SourceError::Open { cause, .. } if error.is_gone() => {
            (cause, "ask again; let files be renamed less often than they are read")
        }
        SourceError::Open { cause, .. } => (cause, "check its name and its permissions"),
        SourceError::Broken { cause, .. } => {
            (cause, "copy the file again, or test it with its decompressor")
        }
    }
}
