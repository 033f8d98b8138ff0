//! Files that were found in a directory, whose names may change before they are opened.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::DEPTH;
use crate::opened::{OpenDirectory, hold_no_link, open_below, open_no_link, opened_again};

/// How often a file is looked for under another name: it may be renamed again meanwhile.
const SEARCHES: usize = 5;

/// Files that are held from their listing to their opening: a process may often have no more than 1,024
/// descriptors, and lists what changed meanwhile while it holds the first list.
pub(super) const HELD: usize = 192;

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
    /// The file itself, see [`HELD`]: wherever it is moved to, and if its name is removed
    pub(super) held: Option<HeldFile>,
}

/// A file that is kept from vanishing, and is not open for reading.
#[derive(Clone, Debug)]
pub(super) struct HeldFile(Arc<OwnedFd>);

impl PartialEq for HeldFile {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for HeldFile {}

impl HeldFile {
    /// The file of this path, if it still is the one that was listed.
    pub fn of(path: &Path, listed: ListedFile) -> Option<Self> {
        let held = hold_no_link(path).ok()?;
        let is_it = ListedFile::of(&held.metadata().ok()?) == listed;
        is_it.then(|| HeldFile(Arc::new(held.into())))
    }
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
        if let Some(held) = &self.held {
            match opened_again(&held.0) {
                // There is no /proc.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                opened => return opened,
            }
        }
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

/// The numbers of what is in a directory and below it.
pub(super) fn numbers_below(open: &OpenDirectory) -> BTreeSet<u64> {
    let mut numbers = BTreeSet::new();
    add_numbers(open, 0, &mut numbers);
    numbers
}

fn add_numbers(open: &OpenDirectory, depth: usize, numbers: &mut BTreeSet<u64>) {
    // What cannot be looked into is told by who lists it.
    for entry in open.entries().unwrap_or_default() {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory
            && depth < DEPTH
            && let Ok(inner) = open.inner(&entry.file_name())
        {
            add_numbers(&inner, depth + 1, numbers);
        }
        numbers.insert(entry.ino());
    }
}
