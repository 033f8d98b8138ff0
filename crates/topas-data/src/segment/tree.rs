//! Goes through the files of a directory of logs and of those below it, for what is to be removed.
//!
//! What is done in a directory stays in it, whatever users make of its name meanwhile, and links are
//! not followed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::close::{CloseError, lock};
use crate::opened::OpenDirectory;
use crate::source::DEPTH;

/// Hears of every file, with its path as it is shown.
type EachFile<'w> = &'w mut dyn FnMut(&fs::DirEntry, &Path);

/// Hears of directories in which nothing was done.
type Failed<'w> = &'w mut dyn FnMut(&Path, &CloseError);

/// Gives every file in `dir` and below it to `each`, in the order of names, while nobody else closes or
/// removes files of its directory. Gives the number of directories of which `failed` heard.
pub(super) fn each_file(dir: &Path, each: EachFile<'_>, failed: Failed<'_>) -> u64 {
    let mut failures = 0;
    let mut failed = |path: &Path, error: &CloseError| {
        failures += 1;
        failed(path, error);
    };
    match OpenDirectory::named(dir) {
        Ok(open) => tree(&open, dir, DEPTH, each, &mut failed),
        Err(cause) => failed(dir, &CloseError::Dir(cause)),
    }
    failures
}

fn tree(open: &OpenDirectory, shown: &Path, depth: usize, each: EachFile<'_>, failed: Failed<'_>) {
    // A close must not add to a segment that is being removed or written anew.
    let _lock = match lock(&open.path()) {
        Ok(lock) => lock,
        Err(error) => return failed(shown, &error),
    };
    let mut entries = match open.entries() {
        Ok(entries) => entries,
        Err(cause) => return failed(shown, &CloseError::Dir(cause)),
    };
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    let mut inner = Vec::new();
    for entry in entries {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            inner.push(entry.file_name());
        } else {
            each(&entry, &shown.join(entry.file_name()));
        }
    }
    // The removals, so that nothing that was told comes back.
    let _ = File::open(open.path()).and_then(|dir| dir.sync_all());
    for name in inner.into_iter().filter(|_| depth > 0) {
        let shown: PathBuf = shown.join(&name);
        match open.inner(&name) {
            Ok(open) => tree(&open, &shown, depth - 1, each, failed),
            Err(cause) => failed(&shown, &CloseError::Dir(cause)),
        }
    }
}
