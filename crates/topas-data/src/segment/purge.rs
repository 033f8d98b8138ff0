//! Removes closed segments of months that need not be kept any longer.
//!
//! As in a close, what is done in a directory stays in it, and links are not followed. Only what
//! [`close`](super::close::close) makes is removed: a compressed file with a month in its name.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::close::{CLOSED, CloseError, LeftFile, lock};
use super::month::Month;
use crate::opened::OpenDirectory;
use crate::source::DEPTH;

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
    let mut purge = Purge { options, report: PurgeReport::default(), each, failed };
    match OpenDirectory::named(dir) {
        Ok(open) => purge.tree(&open, dir, DEPTH),
        Err(cause) => purge.fail(dir, &CloseError::Dir(cause)),
    }
    purge.report
}

struct Purge<'p> {
    options: PurgeOptions,
    report: PurgeReport,
    each: &'p mut dyn FnMut(&Path, &Purging),
    failed: &'p mut dyn FnMut(&Path, &CloseError),
}

impl Purge<'_> {
    fn fail(&mut self, dir: &Path, error: &CloseError) {
        self.report.failed += 1;
        (self.failed)(dir, error);
    }

    fn tree(&mut self, open: &OpenDirectory, shown: &Path, depth: usize) {
        // A close must not add to a segment that is being removed.
        let _lock = match lock(&open.path()) {
            Ok(lock) => lock,
            Err(error) => return self.fail(shown, &error),
        };
        let mut entries = match open.entries() {
            Ok(entries) => entries,
            Err(cause) => return self.fail(shown, &CloseError::Dir(cause)),
        };
        entries.sort_unstable_by_key(fs::DirEntry::file_name);
        let mut inner = Vec::new();
        for entry in entries {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                inner.push(entry.file_name());
            } else if let Some(became) = self.file(&entry) {
                self.tell(&shown.join(entry.file_name()), &became);
            }
        }
        if !self.options.dry_run {
            // The removals, so that nothing that was told comes back.
            let _ = File::open(open.path()).and_then(|dir| dir.sync_all());
        }
        for name in inner.into_iter().filter(|_| depth > 0) {
            let shown: PathBuf = shown.join(&name);
            match open.inner(&name) {
                Ok(open) => self.tree(&open, &shown, depth - 1),
                Err(cause) => self.fail(&shown, &CloseError::Dir(cause)),
            }
        }
    }

    /// Removes a file if it is a closed segment of a past month; None: it is of no such month.
    fn file(&self, entry: &fs::DirEntry) -> Option<Purging> {
        let name = entry.file_name().into_string().ok()?;
        Month::in_name(&name).filter(|month| *month < self.options.before)?;
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
            if !self.options.dry_run {
                fs::remove_file(entry.path())?;
            }
            Ok(Purging::Removed { bytes: about.len() })
        };
        let became = fs::symlink_metadata(entry.path()).and_then(removed);
        Some(became.unwrap_or_else(|cause| Purging::Left(LeftFile::Failed(cause))))
    }

    fn tell(&mut self, path: &Path, became: &Purging) {
        match became {
            Purging::Removed { bytes } => {
                self.report.files += 1;
                self.report.bytes += bytes;
            }
            Purging::NotClosed => self.report.open += 1,
            Purging::Left(LeftFile::Failed(_)) => self.report.failed += 1,
            Purging::Left(_) => self.report.left += 1,
        }
        (self.each)(path, became);
    }
}
