//! Files that were found in a directory, whose names may change before they are opened.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::DEPTH;
use crate::opened::{OpenDirectory, open_below, open_no_link};

/// How often a file is looked for under another name: it may be renamed again meanwhile.
const SEARCHES: usize = 5;

/// A file below a directory that was named. It is opened without following a link on the way.
///
/// It is the file that was there when the directory was listed, whatever its name is now: `logrotate`
/// renames files and gives their names to new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    pub(super) directory: Arc<Path>,
    pub(super) below: PathBuf,
    /// Whether others could put it there
    pub(super) shared: bool,
    pub(super) listed: ListedFile,
}

/// What tells a file from any other. The number of a file that was removed is soon that of another one,
/// so the time of its making belongs to it, where the file system knows this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListedFile {
    device: u64,
    inode: u64,
    made: Option<SystemTime>,
}

impl ListedFile {
    pub fn of(about: &Metadata) -> Self {
        ListedFile { device: about.dev(), inode: about.ino(), made: about.created().ok() }
    }
}

/// A file that was listed is neither under its name nor under another one in its directory.
#[derive(Debug)]
pub(super) struct FileGone;

impl fmt::Display for FileGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was moved, removed or replaced after its directory was listed")
    }
}

impl Error for FileGone {}

impl FoundFile {
    /// Where it was when it was listed.
    pub(super) fn path(&self) -> PathBuf {
        self.directory.join(&self.below)
    }

    pub(super) fn open(&self) -> io::Result<(File, Metadata)> {
        for _ in 0..SEARCHES {
            match open_below(&self.directory, &self.below) {
                Ok((file, about)) if ListedFile::of(&about) == self.listed => {
                    return Ok((file, about));
                }
                // What was not found may be back by now.
                Err(cause) if cause.kind() != io::ErrorKind::NotFound && self.is_in_place() => {
                    return Err(cause);
                }
                _ => {}
            }
            if let Some(opened) = self.renamed()? {
                return Ok(opened);
            }
        }
        Err(io::Error::new(io::ErrorKind::NotFound, FileGone))
    }

    /// Whether its name still is its own.
    fn is_in_place(&self) -> bool {
        fs::symlink_metadata(self.path()).is_ok_and(|about| ListedFile::of(&about) == self.listed)
    }

    /// The file under another name in its directory.
    fn renamed(&self) -> io::Result<Option<(File, Metadata)>> {
        let gone = |_| io::Error::new(io::ErrorKind::NotFound, FileGone);
        let mut within = OpenDirectory::named(&self.directory).map_err(gone)?;
        for part in self.below.parent().unwrap_or(Path::new("")).components() {
            within = within.inner(part.as_os_str()).map_err(gone)?;
        }
        for entry in within.entries()? {
            let path = within.path().join(entry.file_name());
            let is_it = |about: &Metadata| ListedFile::of(about) == self.listed;
            if fs::symlink_metadata(&path).is_ok_and(|about| is_it(&about)) {
                let Ok(file) = open_no_link(&path) else { continue };
                let about = file.metadata()?;
                if about.is_file() && is_it(&about) {
                    return Ok(Some((file, about)));
                }
            }
        }
        Ok(None)
    }
}

/// The names in a directory and below it, with the numbers of what they stand for.
pub(super) fn names_below(open: &OpenDirectory) -> BTreeSet<(PathBuf, u64)> {
    let mut names = BTreeSet::new();
    add_names(open, Path::new(""), &mut names);
    names
}

fn add_names(open: &OpenDirectory, below: &Path, names: &mut BTreeSet<(PathBuf, u64)>) {
    // What cannot be looked into is told by who lists it.
    for entry in open.entries().unwrap_or_default() {
        let path = below.join(entry.file_name());
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory
            && path.components().count() <= DEPTH
            && let Ok(inner) = open.inner(&entry.file_name())
        {
            add_names(&inner, &path, names);
        }
        names.insert((path, entry.ino()));
    }
}
