//! Closes past months: each file is compressed, verified and only then removed.
//!
//! Programs that end append while this works, and it can be killed at any moment. A file is
//! renamed first, to a name with a token of its own, so that later lines make a new file.
//! When nobody writes it any more, its text becomes a part of a closed segment that appears
//! with one rename, and the index in that segment holds the token. Whatever was interrupted
//! is found by name: of a file whose token is in the index only what is not there yet is
//! added. Nothing else is remembered anywhere.
//!
//! Directories of logs may be open to all users. What is renamed, read and removed is a
//! regular file with one name, never a link; a closed segment is added to only if it belongs
//! to the owner of the file; what a user can spoil is what was that user's anyway.

pub(super) mod packing;
mod target;

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::holes::is_hollow;
use crate::opened::{OpenDirectory, is_link, open_no_link};
use crate::segment::month::Month;
use crate::source::DEPTH;
use crate::sys::has_writers;
use packing::add;
use target::Target;

/// What begins the names of unfinished files, where they need a name.
pub(super) const UNFINISHED: &str = ".topas-close-";

/// Between a file's name and its token while it is being closed.
const CLOSING: &str = ".closing-";

/// Hexadecimal digits of a token.
const TOKEN: usize = 16;

/// Ends of names of what is closed already.
pub(super) const CLOSED: [&str; 3] = [".zst", ".gz", ".xz"];

/// How often lines that came in meanwhile are added.
const ROUNDS: usize = 10;

/// How to close.
#[derive(Clone, Copy, Debug)]
pub struct CloseOptions<'o> {
    /// Months before this one are closed
    pub before: Month,
    /// Directory of the closed segments, if not that of the files
    pub to: Option<&'o Path>,
    /// One segment a month, not one a file
    pub join: bool,
    /// Files that were written within this time are left alone
    pub idle: Duration,
    /// How long is waited after files were renamed, for programs that had opened them
    pub settle: Duration,
    /// Only tell
    pub dry_run: bool,
}

/// What became of a file.
#[derive(Debug)]
pub enum Closing<'c> {
    /// It would be closed
    Planned {
        /// Its name
        name: &'c str,
        /// Its size in bytes
        bytes: u64,
    },
    /// It is read and compressed, or the compressed copy is read again
    Working {
        /// Its name
        name: &'c str,
        /// Bytes of text so far
        bytes: u64,
        /// Whether this is the second reading
        again: bool,
    },
    /// It is closed and removed
    Closed {
        /// Its name
        name: &'c str,
        /// The segment it is in
        into: &'c Path,
        /// Lines that were added now
        lines: u64,
        /// Their bytes
        bytes: u64,
        /// Their bytes in the segment
        packed: u64,
    },
    /// It is left as it is
    Left {
        /// Its name
        name: &'c str,
        /// Why
        why: LeftFile,
    },
}

/// Why a file was left.
#[derive(Debug)]
pub enum LeftFile {
    /// Its name has no month
    NoMonth,
    /// It was written a moment ago
    Recent,
    /// Some process has it open for writing
    Open,
    /// It is a link, or no regular file
    NoFile,
    /// It has more than one name
    Linked,
    /// Most of it is holes: it would take far longer to read than it took to make
    Hollow,
    /// It is shorter than what was read of it before
    Shorter,
    /// Something could not be read or written
    Failed(io::Error),
}

/// What was done in a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CloseReport {
    /// Files closed, or that would be
    pub files: u64,
    /// Lines in them
    pub lines: u64,
    /// Their bytes
    pub bytes: u64,
    /// Their bytes in the segments
    pub packed: u64,
    /// Files that failed
    pub failed: u64,
    /// Files without a month in their names
    pub no_month: u64,
}

/// Why nothing was done in a directory.
#[derive(Debug)]
pub enum CloseError {
    /// Another close is at work there
    Busy,
    /// The directory could not be read
    Dir(io::Error),
}

/// A file that is to be closed.
struct ClosingFile {
    /// Its name as a log
    name: String,
    month: Month,
    /// Empty until it is renamed
    token: String,
    path: PathBuf,
    /// Its size in bytes
    bytes: u64,
}

/// Bytes of files that have been renamed and are not closed yet. A file that is larger is closed
/// by itself, behind all others: however long that takes, only its owner waits for it.
const BATCH: u64 = 1 << 30;

/// Hears of a close.
pub trait Listener {
    /// What becomes of a file: while it is at work often, in the end once.
    fn file(&mut self, event: &Closing<'_>);
    /// What was done in a directory, behind all of its files. What goes wrong with one file is
    /// told of that, and the others are closed.
    fn directory(&mut self, path: &Path, done: Result<CloseReport, CloseError>);
}

/// Closes the files of past months in `dir`, and if that is wanted in the directories below it,
/// each by itself. What is done in a directory stays in it, whatever users make of its name
/// meanwhile, and links are not followed.
pub fn close(dir: &Path, below: bool, options: CloseOptions<'_>, listener: &mut dyn Listener) {
    match OpenDirectory::named(dir) {
        Ok(open) => tree(&open, dir, if below { DEPTH } else { 0 }, options, listener),
        Err(cause) => listener.directory(dir, Err(CloseError::Dir(cause))),
    }
}

fn tree(
    open: &OpenDirectory,
    shown: &Path,
    depth: usize,
    options: CloseOptions<'_>,
    listener: &mut dyn Listener,
) {
    let into = options.to.unwrap_or(shown);
    let done = close_one(&open.path(), options, &mut |event| match event {
        Closing::Closed { name, into: segment, lines, bytes, packed } => {
            let segment = segment.file_name().map_or(into.to_owned(), |name| into.join(name));
            listener.file(&Closing::Closed { name, into: &segment, lines, bytes, packed });
        }
        event => listener.file(&event),
    });
    listener.directory(shown, done);
    if depth == 0 {
        return;
    }
    let mut names: Vec<_> = match open.entries() {
        Ok(entries) => entries,
        // The close has said that, too.
        Err(_) => return,
    }
    .into_iter()
    .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
    .map(|entry| entry.file_name())
    .collect();
    names.sort_unstable();
    for name in names {
        let shown = shown.join(&name);
        match open.inner(&name) {
            Ok(inner) => tree(&inner, &shown, depth - 1, options, listener),
            Err(cause) => listener.directory(&shown, Err(CloseError::Dir(cause))),
        }
    }
}

/// Closes the files of past months in one directory.
fn close_one(
    dir: &Path,
    options: CloseOptions<'_>,
    each: &mut dyn FnMut(Closing<'_>),
) -> Result<CloseReport, CloseError> {
    let to = options.to.unwrap_or(dir);
    let _lock = lock(dir)?;
    let place = |dir: &Path| fs::metadata(dir).map(|about| (about.dev(), about.ino())).ok();
    let _other = options.to.filter(|to| place(to) != place(dir)).map(lock).transpose()?;
    let mut report = CloseReport::default();
    if !options.dry_run {
        remove_unfinished(to).map_err(CloseError::Dir)?;
    }
    let works = find(dir, &options, &mut report, each).map_err(CloseError::Dir)?;
    if options.dry_run {
        for work in &works {
            report.files += 1;
            report.bytes += work.bytes;
            each(Closing::Planned { name: &work.name, bytes: work.bytes });
        }
        return Ok(report);
    }
    for mut works in batches(works) {
        if set_aside(dir, &mut works, &mut report, each).map_err(CloseError::Dir)? {
            std::thread::sleep(options.settle);
        }
        let mut groups: BTreeMap<String, Vec<ClosingFile>> = BTreeMap::new();
        for work in works {
            let base = if options.join { format!("{}.log", work.month) } else { work.name.clone() };
            groups.entry(base).or_default().push(work);
        }
        for (base, works) in groups {
            close_group(to, &base, works, &options, &mut report, each);
        }
    }
    // The removals, so that nothing that was told comes back.
    let _ = File::open(dir).and_then(|dir| dir.sync_all());
    Ok(report)
}

/// The files in the order of their names, as many at a time as are renamed together; large ones
/// are alone and come last, the largest at the end.
fn batches(works: Vec<ClosingFile>) -> Vec<Vec<ClosingFile>> {
    let (mut large, small): (Vec<_>, Vec<_>) = works.into_iter().partition(|w| w.bytes > BATCH);
    let mut batches: Vec<Vec<ClosingFile>> = Vec::new();
    let mut bytes = 0;
    for work in small {
        bytes += work.bytes;
        match batches.last_mut().filter(|_| bytes <= BATCH) {
            Some(batch) => batch.push(work),
            None => {
                bytes = work.bytes;
                batches.push(vec![work]);
            }
        }
    }
    large.sort_by_key(|work| work.bytes);
    batches.extend(large.into_iter().map(|work| vec![work]));
    batches
}

/// A lock on a directory that lasts as long as the file is open, and no longer than the
/// process. Users cannot take it: they cannot open a directory that they may not list.
pub(super) fn lock(dir: &Path) -> Result<File, CloseError> {
    let file = File::open(dir).map_err(CloseError::Dir)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(CloseError::Busy),
        Err(TryLockError::Error(cause)) => Err(CloseError::Dir(cause)),
    }
}

/// Removes what a close that was killed left unfinished. The lock is held: nobody uses it.
pub(super) fn remove_unfinished(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            // A user may have made one that cannot be removed, as a directory.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// The files to close, in order of their names, and those that were being closed.
fn find(
    dir: &Path,
    options: &CloseOptions<'_>,
    report: &mut CloseReport,
    each: &mut dyn FnMut(Closing<'_>),
) -> io::Result<Vec<ClosingFile>> {
    let now = SystemTime::now();
    let mut works = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(file_name) = entry.file_name().into_string() else { continue };
        if file_name.starts_with('.') || CLOSED.iter().any(|end| file_name.ends_with(end)) {
            continue;
        }
        let about = fs::symlink_metadata(entry.path());
        if about.as_ref().is_ok_and(|about| about.is_dir()) {
            continue;
        }
        let (name, token) = match file_name.rsplit_once(CLOSING) {
            Some((name, token)) if is_token(token) => (name, token),
            _ => (&*file_name, ""),
        };
        let Some(month) = Month::in_name(name) else {
            report.no_month += 1;
            each(Closing::Left { name, why: LeftFile::NoMonth });
            continue;
        };
        if month >= options.before && token.is_empty() {
            continue;
        }
        let bytes = about.as_ref().map_or(0, Metadata::len);
        let why = match about {
            Err(cause) => Some(LeftFile::Failed(cause)),
            Ok(about) if !about.is_file() => Some(LeftFile::NoFile),
            Ok(about) if about.nlink() > 1 => Some(LeftFile::Linked),
            Ok(about) if token.is_empty() => {
                // A time in the future is recent, too.
                let age = about.modified().map(|at| now.duration_since(at).unwrap_or_default());
                let recent = age.is_ok_and(|age| age < options.idle);
                recent.then_some(LeftFile::Recent)
            }
            Ok(_) => None,
        };
        match why {
            Some(why) => left(report, each, name, why),
            None => works.push(ClosingFile {
                name: name.to_owned(),
                month,
                token: token.to_owned(),
                path: entry.path(),
                bytes,
            }),
        }
    }
    works.sort_by(|a, b| (&a.name, &a.token).cmp(&(&b.name, &b.token)));
    Ok(works)
}

fn is_token(text: &str) -> bool {
    text.len() == TOKEN && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn left(report: &mut CloseReport, each: &mut dyn FnMut(Closing<'_>), name: &str, why: LeftFile) {
    report.failed += u64::from(matches!(why, LeftFile::Failed(_)));
    each(Closing::Left { name, why });
}

/// Renames the files, so that lines from now on make new ones; whether there was any.
fn set_aside(
    dir: &Path,
    works: &mut Vec<ClosingFile>,
    report: &mut CloseReport,
    each: &mut dyn FnMut(Closing<'_>),
) -> io::Result<bool> {
    let mut any = false;
    works.retain_mut(|work| {
        if !work.token.is_empty() {
            return true;
        }
        let renamed = getrandom::u64().map_err(io::Error::from).and_then(|token| {
            work.token = format!("{token:016x}");
            let path = dir.join(format!("{}{CLOSING}{}", work.name, work.token));
            renameat_with(CWD, &work.path, CWD, &path, RenameFlags::NOREPLACE)?;
            work.path = path;
            Ok(())
        });
        match renamed {
            Ok(()) => any = true,
            Err(cause) => left(report, each, &work.name, LeftFile::Failed(cause)),
        }
        !work.token.is_empty() && work.path.to_string_lossy().ends_with(&*work.token)
    });
    if any {
        // The token must not be on the disk before the name that has it.
        File::open(dir)?.sync_all()?;
    }
    Ok(any)
}

/// A file that is being closed, open for reading.
struct OpenFile {
    work: ClosingFile,
    file: File,
    about: Metadata,
    /// Bytes that are in the segment
    done: u64,
    /// Lines, bytes and packed bytes that were added now
    added: (u64, u64, u64),
    /// Whether its name is gone
    removed: bool,
}

/// Opens a file that was set aside. Its owner may have put something else in its place.
fn open(work: ClosingFile) -> Result<OpenFile, (ClosingFile, LeftFile)> {
    let opened = open_no_link(&work.path);
    let opened = opened.and_then(|file| file.metadata().map(|about| (file, about)));
    match opened {
        Err(cause) if is_link(&cause) => Err((work, LeftFile::NoFile)),
        Err(cause) => Err((work, LeftFile::Failed(cause))),
        Ok((_, about)) if !about.is_file() => Err((work, LeftFile::NoFile)),
        Ok((_, about)) if about.nlink() > 1 => Err((work, LeftFile::Linked)),
        Ok((file, about)) => {
            Ok(OpenFile { work, file, about, done: 0, added: (0, 0, 0), removed: false })
        }
    }
}

/// Closes the files that go into one segment.
fn close_group(
    to: &Path,
    base: &str,
    works: Vec<ClosingFile>,
    options: &CloseOptions<'_>,
    report: &mut CloseReport,
    each: &mut dyn FnMut(Closing<'_>),
) {
    let mut files = Vec::new();
    for work in works {
        match open(work) {
            Ok(open) if has_writers(&open.file) == Some(true) => {
                left(report, each, &open.work.name, LeftFile::Open);
            }
            Ok(open) if is_hollow(&open.file, &open.about) => {
                give_back(&open);
                left(report, each, &open.work.name, LeftFile::Hollow);
            }
            Ok(open) => files.push(open),
            Err((work, why)) => left(report, each, &work.name, why),
        }
    }
    for _ in 0..ROUNDS {
        // Files of one name can belong to several users, one after the other.
        let Some(first) = files.first() else { return };
        let owner = (!options.join).then(|| first.about.uid());
        let (mut group, rest): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|open| owner.is_none_or(|uid| open.about.uid() == uid));
        let added = Target::find(to, base, owner).and_then(|target| {
            let path = target.path.clone();
            add(target, &mut group, options.join, each).map(|()| path)
        });
        files = rest;
        match added {
            Ok(into) => files.extend(remove(group, &into, report, each)),
            Err(cause) => {
                // What failed may have been the very last step, behind the rename.
                let index = Target::find(to, base, owner).map(|target| target.index);
                for open in group {
                    if index.as_ref().is_ok_and(|index| index.bytes_of(&open.work.token) == 0) {
                        give_back(&open);
                    }
                    let cause = io::Error::new(cause.kind(), cause.to_string());
                    left(report, each, &open.work.name, LeftFile::Failed(cause));
                }
            }
        }
    }
    for open in files {
        left(report, each, &open.work.name, LeftFile::Open);
    }
}

/// Removes the files whose lines are in the segment. Gives those that have more by now.
fn remove(
    group: Vec<OpenFile>,
    into: &Path,
    report: &mut CloseReport,
    each: &mut dyn FnMut(Closing<'_>),
) -> Vec<OpenFile> {
    let mut again = Vec::new();
    for mut open in group {
        let size = |open: &OpenFile| open.file.metadata().map(|about| about.len());
        let more = |open: &OpenFile| size(open).is_ok_and(|size| size > open.done);
        if size(&open).is_ok_and(|size| size < open.done) {
            left(report, each, &open.work.name, LeftFile::Shorter);
        } else if !open.removed && has_writers(&open.file) == Some(true) {
            left(report, each, &open.work.name, LeftFile::Open);
        } else if more(&open) {
            again.push(open);
        } else if let Err(cause) = remove_name(&mut open) {
            left(report, each, &open.work.name, LeftFile::Failed(cause));
        } else if more(&open) {
            // Written between the look at it and its removal; it lives while it is open.
            again.push(open);
        } else {
            let (lines, bytes, packed) = open.added;
            report.files += 1;
            report.lines += lines;
            report.bytes += bytes;
            report.packed += packed;
            each(Closing::Closed { name: &open.work.name, into, lines, bytes, packed });
        }
    }
    again
}

fn remove_name(open: &mut OpenFile) -> io::Result<()> {
    if !open.removed {
        fs::remove_file(&open.work.path)?;
        open.removed = true;
    }
    Ok(())
}

/// Gives a file, of which nothing is in a segment, its name back if no new one has it.
fn give_back(open: &OpenFile) {
    let path = open.work.path.with_file_name(&open.work.name);
    if !open.removed {
        // It can also stay as it is: the next close finds it.
        let _ = renameat_with(CWD, &open.work.path, CWD, &path, RenameFlags::NOREPLACE);
    }
}
