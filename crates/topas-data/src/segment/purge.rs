//! Removes closed segments of months that need not be kept any longer.
//!
//! Only what [`close`](super::close::close) makes is removed: a compressed file with a month in its name.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::close::{CLOSED, CloseError, LeftFile};
use super::month::Month;
use super::tree::each_file;

/// What is removed.
#[derive(Clone, Copy, Debug)]
pub struct PurgeOptions {
    /// Segments of months before this one
    pub before: Month,
    /// Only tell
    pub dry_run: bool,
}

/// What became of a file of such a month.
#[derive(Debug)]
pub enum Purging {
    /// It is removed, or would be
    Removed {
        /// Its size in bytes
        bytes: u64,
    },
    /// It is no closed segment yet
    NotClosed,
    /// It is left as it is
    Left(LeftFile),
}

/// What was done in a directory and those below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeReport {
    /// Files that were removed, or would be
    pub files: u64,
    /// Their bytes
    pub bytes: u64,
    /// Files of such months that are not closed yet
    pub open: u64,
    /// Files that are left for another reason
    pub left: u64,
    /// Directories and files that failed
    pub failed: u64,
}

/// Removes the closed segments of past months in `dir` and the directories below it. `each` hears of
/// every file of such a month, by its path as it is shown, and `failed` of directories in which nothing
/// was done.
pub fn purge(
    dir: &Path,
    options: PurgeOptions,
    each: &mut dyn FnMut(&Path, &Purging),
    failed: &mut dyn FnMut(&Path, &CloseError),
) -> PurgeReport {
    let mut report = PurgeReport::default();
    let mut file = |entry: &fs::DirEntry, path: &Path| {
        let Some(became) = file(entry, options) else { return };
        match &became {
            Purging::Removed { bytes } => {
                report.files += 1;
                report.bytes += bytes;
            }
            Purging::NotClosed => report.open += 1,
            Purging::Left(LeftFile::Failed(_)) => report.failed += 1,
            Purging::Left(_) => report.left += 1,
        }
        each(path, &became);
    };
    let failures = each_file(dir, &mut file, failed);
    report.failed += failures;
    report
}

/// Removes a file if it is a closed segment of a past month; None: it is of no such month.
fn file(entry: &fs::DirEntry, options: PurgeOptions) -> Option<Purging> {
    let name = entry.file_name().into_string().ok()?;
    Month::in_name(&name).filter(|month| *month < options.before)?;
    if !CLOSED.iter().any(|end| name.ends_with(end)) {
        return Some(Purging::NotClosed);
    }
    let removed = |about: fs::Metadata| -> io::Result<Purging> {
        if !about.is_file() {
            return Ok(Purging::Left(LeftFile::NoFile));
        }
        if about.nlink() > 1 {
            return Ok(Purging::Left(LeftFile::Linked));
        }
        if !options.dry_run {
            fs::remove_file(entry.path())?;
        }
        Ok(Purging::Removed { bytes: about.len() })
    };
    let became = fs::symlink_metadata(entry.path()).and_then(removed);
    Some(became.unwrap_or_else(|cause| Purging::Left(LeftFile::Failed(cause))))
}
