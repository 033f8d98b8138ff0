//! Where lines come from: files, directories, standard input.

mod found;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use topas_format::shown::Shown;

use crate::engine::TemporaryError;
use crate::feed::BLOCK;
use crate::opened::{OpenDirectory, open_named, opened_again};
use crate::vouch::Vouch;
pub use found::FoundFile;
use found::{FileGone, HELD, HeldFile, ListedFile, numbers_below};

/// One stream of log lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file that was named.
    File(PathBuf),
    /// A file that was found in a directory.
    Found(FoundFile),
    /// What came from standard input, see [`Inputs::keep_stdin`].
    Kept(KeptInput),
}

/// A temporary file without a name, which holds what came from standard input.
#[derive(Clone, Debug)]
pub struct KeptInput(Arc<File>);

impl PartialEq for KeptInput {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for KeptInput {}

impl Source {
    /// The path of a file, for its name and for messages: never to be opened by it.
    pub fn path(&self) -> Option<Cow<'_, Path>> {
        match self {
            Source::Stdin | Source::Kept(_) => None,
            Source::File(path) => Some(path.into()),
            Source::Found(found) => Some(found.path().into()),
        }
    }

    /// What is known of a file that is not open; None of standard input.
    pub(crate) fn about(&self) -> Option<io::Result<Metadata>> {
        match self {
            Source::Stdin => None,
            Source::Kept(kept) => Some(kept.0.metadata()),
            Source::File(path) => Some(fs::metadata(path)),
            Source::Found(found) => Some(fs::symlink_metadata(found.path())),
        }
    }

    /// Whether it is the file that a path leads to.
    pub fn is(&self, path: &Path) -> bool {
        let place = |about: Metadata| (about.dev(), about.ino());
        let own = self.about().and_then(Result::ok).map(place);
        own.is_some() && own == fs::metadata(path).ok().map(place)
    }

    /// Its length in B, compressed as it is; None if that is not known before it is read.
    pub(crate) fn len(&self) -> Option<u64> {
        // What cannot be opened is told when it is.
        match self.about()? {
            Ok(about) if about.is_file() => Some(about.len()),
            Ok(_) => None,
            Err(_) => Some(0),
        }
    }

    /// Opens a file, and says who vouches for its lines; None is standard input, for which
    /// whoever runs the tool does, as for every pipe.
    pub(crate) fn open(&self) -> io::Result<Option<Opened>> {
        let (file, about) = match self {
            Source::Stdin => return Ok(None),
            Source::File(path) => open_named(path)?,
            Source::Found(found) => found.open()?,
            Source::Kept(kept) => {
                let (file, about) = opened_again(&kept.0)?;
                return Ok(Some(Opened { file, about, vouch: Vouch::All, found: false }));
            }
        };
        // Opening a directory succeeds, and only reading it says what it is.
        if about.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let found = match self {
            Source::Found(found) if found.shared && about.nlink() > 1 => {
                return Err(io::Error::other("it has more than one name; not read"));
            }
            Source::Found(_) => true,
            Source::Stdin | Source::File(_) | Source::Kept(_) => false,
        };
        let vouch = if about.is_file() { Vouch::of(&about) } else { Vouch::All };
        Ok(Some(Opened { file, about, vouch, found }))
    }
}

/// A source that is open.
pub(crate) struct Opened {
    pub file: File,
    pub about: Metadata,
    pub vouch: Vouch,
    /// Whether it was found in a directory
    pub found: bool,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            None => f.write_str("standard input"),
            Some(path) => Shown(path.as_os_str().as_bytes()).fmt(f),
        }
    }
}

/// What is wrong with a source as a whole.
#[derive(Debug)]
pub enum SourceError {
    /// It could not be opened; nothing was read.
    Open {
        /// What was to be opened
        source: Source,
        /// Why it could not be
        cause: io::Error,
    },
    /// It broke off: the lines before the break were read.
    Broken {
        /// What broke off
        source: Source,
        /// Lines read before the break, of every kind
        lines: u64,
        /// What happened at the break
        cause: io::Error,
    },
}

impl SourceError {
    /// What it is about.
    pub fn about(&self) -> &Source {
        match self {
            SourceError::Open { source, .. } | SourceError::Broken { source, .. } => source,
        }
    }

    /// Whether it is a file that was listed, and was moved, removed or replaced before it was opened: its
    /// lines may be in a file that is listed now.
    pub fn is_gone(&self) -> bool {
        let SourceError::Open { cause, .. } = self else { return false };
        cause.get_ref().is_some_and(|cause| cause.is::<FileGone>())
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Open { source, .. } => write!(f, "cannot read {source}"),
            SourceError::Broken { source, lines, .. } => {
                write!(f, "{source} is damaged after line {lines}; the lines before it are counted")
            }
        }
    }
}

impl std::error::Error for SourceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SourceError::Open { cause, .. } | SourceError::Broken { cause, .. } => Some(cause),
        }
    }
}

/// How often directories are listed until no name in them changes meanwhile, and how often they are listed
/// and read once more because a file was gone when it was to be opened. Whoever renames files without a
/// pause never comes to an end.
const LISTINGS: usize = 8;

/// Directories below each other that are looked into.
pub(crate) const DEPTH: usize = 16;

/// Why something in a directory is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PassedOver {
    /// It is a symbolic link
    Link,
    /// It is a pipe, a socket or a device
    NoFile,
    /// It has more than one name, in a directory that others can write to: it may be a file of
    /// somebody else
    Linked,
    /// Its directories are too deep
    Deep,
}

impl PassedOver {
    /// A word for programs; it stays the same.
    pub fn name(self) -> &'static str {
        match self {
            PassedOver::Link => "symbolic_links",
            PassedOver::NoFile => "no_files",
            PassedOver::Linked => "hard_links",
            PassedOver::Deep => "too_deep",
        }
    }

    /// In words, for one.
    pub fn words(self) -> &'static str {
        match self {
            PassedOver::Link => "a symbolic link",
            PassedOver::NoFile => "a pipe, a socket or a device",
            PassedOver::Linked => "a file with several names (hard links)",
            PassedOver::Deep => "a directory too deep",
        }
    }
}

/// What names stand for.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Files and streams, in the order of the names, those of a directory in that of their names
    pub sources: Vec<Source>,
    /// Directories that were looked into
    pub directories: u64,
    /// What was found in them and is not read: how much, and the first of it
    pub passed: BTreeMap<PassedOver, (u64, PathBuf)>,
    /// What could not be looked into
    pub failed: Vec<SourceError>,
    /// The names, if they can be looked up once more
    pub names: Vec<PathBuf>,
}

impl Inputs {
    /// What all of these names stand for, see [`Inputs::add`].
    pub fn new(paths: &[PathBuf]) -> Self {
        let mut inputs = Inputs::default();
        paths.iter().for_each(|path| inputs.add(path));
        if !inputs.sources.contains(&Source::Stdin) {
            inputs.names = paths.to_vec();
        }
        inputs
    }

    /// Reads the sources by `read`. If a file was gone when it was to be opened ([`SourceError::is_gone`]
    /// of what `failed` tells), what the names stand for is listed and read once more, some times at most.
    /// What is read twice has to count once, as lines of runs do.
    pub fn read<T>(
        &self,
        mut read: impl FnMut(&Inputs) -> T,
        failed: impl Fn(&T) -> &[SourceError],
    ) -> T {
        let mut done = read(self);
        for _ in 1..LISTINGS {
            if self.names.is_empty() || !failed(&done).iter().any(SourceError::is_gone) {
                break;
            }
            done = read(&Inputs::new(&self.names));
        }
        done
    }

    /// Adds what a name stands for: `-` is standard input, a directory its regular files and
    /// those of its subdirectories, but for hidden ones, which are no logs or not whole yet. A
    /// path that does not exist and holds `*`, `?` or `[` is a pattern of the shell, for lists
    /// that are too long for a command line; what it matches is in order of names.
    ///
    /// A link that was named is followed if it is of root or of the caller; one that was found
    /// never is.
    pub fn add(&mut self, path: &Path) {
        if path.as_os_str() == "-" {
            self.sources.push(Source::Stdin);
            return;
        }
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => match OpenDirectory::named(path) {
                Ok(open) => self.named_directory(path, open),
                Err(cause) => self.failed(path, cause),
            },
            Ok(_) => self.sources.push(Source::File(path.to_owned())),
            Err(cause) => match path.to_str().filter(|text| text.contains(['*', '?', '['])) {
                Some(pattern) if cause.kind() == io::ErrorKind::NotFound => self.pattern(pattern),
                _ => self.failed(path, cause),
            },
        }
    }

    /// Copies standard input, if it is among the sources, to a temporary file without a name, so
    /// that it can be read more than once. What was read before an error is kept, and the error
    /// is among those of sources. `progress` gets the number of bytes copied so far.
    ///
    /// # Errors
    ///
    /// [`TemporaryError`] if the file cannot be made or written.
    pub fn keep_stdin(
        &mut self,
        directory: &Path,
        mut progress: impl FnMut(u64),
    ) -> Result<(), TemporaryError> {
        let Some(at) = self.sources.iter().position(|source| *source == Source::Stdin) else {
            return Ok(());
        };
        let failed =
            |written, cause| TemporaryError { directory: directory.to_owned(), written, cause };
        let mut file = tempfile::tempfile_in(directory).map_err(|cause| failed(0, cause))?;
        let (mut stdin, mut block) = (io::stdin().lock(), vec![0; BLOCK]);
        let mut written = 0;
        loop {
            match stdin.read(&mut block) {
                Ok(0) => break,
                Ok(len) => {
                    file.write_all(&block[..len]).map_err(|cause| failed(written, cause))?;
                    written += len as u64;
                    progress(written);
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => {
                    self.failed.push(SourceError::Open { source: Source::Stdin, cause });
                    break;
                }
            }
        }
        // A second `-` has nothing left to read.
        self.sources.retain(|source| *source != Source::Stdin);
        let at = at.min(self.sources.len());
        self.sources.insert(at, Source::Kept(KeptInput(Arc::new(file))));
        Ok(())
    }

    fn failed(&mut self, path: &Path, cause: io::Error) {
        self.failed.push(SourceError::Open { source: Source::File(path.to_owned()), cause });
    }

    fn passed(&mut self, why: PassedOver, path: PathBuf) {
        self.passed.entry(why).or_insert((0, path)).0 += 1;
    }

    /// What a pattern of the shell matches; at least one.
    fn pattern(&mut self, pattern: &str) {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        // As in the shell, `*` matches no hidden files and no separator.
        let options = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let found = match glob::glob_with(pattern, options).map_err(invalid) {
            Ok(found) => found,
            Err(cause) => return self.failed(Path::new(pattern), cause),
        };
        let is_wild = |part: &Component<'_>| {
            part.as_os_str().as_bytes().iter().any(|byte| b"*?[".contains(byte))
        };
        // Before its first wildcard a pattern is what the caller named.
        let named: PathBuf =
            Path::new(pattern).components().take_while(|part| !is_wild(part)).collect();
        let root: Arc<Path> =
            Arc::from(if named.as_os_str().is_empty() { Path::new(".") } else { &*named });
        let mut any = false;
        let mut open = None;
        for path in found {
            any = true;
            let matched = path.map_err(io::Error::from).and_then(|path| {
                let below = path.strip_prefix(&named).unwrap_or(&path).to_owned();
                if open.is_none() {
                    open = Some(OpenDirectory::named(&root)?);
                }
                Ok(below)
            });
            match (matched, &open) {
                (Ok(below), Some(open)) => self.matched(&root, open, &below),
                (Err(cause), _) => self.failed(Path::new(pattern), cause),
                (Ok(_), None) => {}
            }
        }
        if !any {
            let cause = io::Error::new(io::ErrorKind::NotFound, "no file matches this pattern");
            self.failed(Path::new(pattern), cause);
        }
    }

    /// Something below a directory whose name a pattern matches.
    fn matched(&mut self, root: &Arc<Path>, open: &OpenDirectory, below: &Path) {
        let mut within = None;
        let parent = below.parent().unwrap_or(Path::new(""));
        for part in parent.components() {
            let next = within.as_ref().unwrap_or(open).inner(part.as_os_str());
            match next {
                Ok(next) => within = Some(next),
                // A link on the way, or gone meanwhile.
                Err(_) => return self.passed(PassedOver::Link, root.join(below)),
            }
        }
        let within = within.as_ref().unwrap_or(open);
        let Some(name) = below.file_name() else { return };
        match fs::symlink_metadata(within.path().join(name)) {
            Ok(about) => self.entry(root, parent, within, name, about, &mut BTreeSet::new()),
            Err(cause) => self.failed(&root.join(below), cause),
        }
    }

    /// A directory that was named. It is listed once more if something was in it before or afterwards that
    /// the list lacks: a file that got the name of one that was passed already would be missed, and so
    /// would be one that was always where the list was not made.
    fn named_directory(&mut self, path: &Path, open: OpenDirectory) {
        let (sources, failed) = (self.sources.len(), self.failed.len());
        let (passed, directories) = (self.passed.clone(), self.directories);
        for _ in 0..LISTINGS {
            self.sources.truncate(sources);
            self.failed.truncate(failed);
            self.passed.clone_from(&passed);
            self.directories = directories;
            let (before, mut seen) = (numbers_below(&open), BTreeSet::new());
            self.directory(&Arc::from(path), PathBuf::new(), &open, &mut seen);
            if before.is_subset(&seen) && numbers_below(&open).is_subset(&seen) {
                break;
            }
        }
    }

    /// The files of an open directory, in order of their names, and those below it. The numbers of all that
    /// is there are added to `seen`.
    fn directory(
        &mut self,
        root: &Arc<Path>,
        below: PathBuf,
        open: &OpenDirectory,
        seen: &mut BTreeSet<u64>,
    ) {
        self.directories += 1;
        let entries = match open.entries() {
            Ok(entries) => entries,
            Err(cause) => return self.failed(&root.join(below), cause),
        };
        let mut names: Vec<_> =
            entries.into_iter().map(|entry| (entry.file_name(), entry.ino())).collect();
        names.sort_unstable();
        for (name, number) in names {
            let about = fs::symlink_metadata(open.path().join(&name));
            // A directory on which something is mounted has two numbers.
            if about.as_ref().is_ok_and(Metadata::is_dir) {
                seen.insert(number);
            }
            match about {
                Ok(about) => self.entry(root, &below, open, &name, about, seen),
                // Removed meanwhile.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => self.failed(&root.join(&below).join(name), cause),
            }
        }
    }

    fn entry(
        &mut self,
        root: &Arc<Path>,
        parent: &Path,
        open: &OpenDirectory,
        name: &OsStr,
        about: Metadata,
        seen: &mut BTreeSet<u64>,
    ) {
        seen.insert(about.ino());
        let below = parent.join(name);
        let kind = about.file_type();
        if kind.is_dir() {
            if below.components().count() > DEPTH {
                return self.passed(PassedOver::Deep, root.join(below));
            }
            match open.inner(name) {
                Ok(inner) => self.directory(root, below, &inner, seen),
                Err(cause) => self.failed(&root.join(below), cause),
            }
        } else if kind.is_symlink() {
            self.passed(PassedOver::Link, root.join(below));
        } else if !kind.is_file() {
            self.passed(PassedOver::NoFile, root.join(below));
        } else if open.is_shared() && about.nlink() > 1 {
            self.passed(PassedOver::Linked, root.join(below));
        } else {
            let listed = ListedFile::of(&about);
            let holds = self.sources.len() < HELD;
            self.sources.push(Source::Found(FoundFile {
                directory: Arc::clone(root),
                below,
                shared: open.is_shared(),
                listed,
                held: holds.then(|| HeldFile::of(&open.path().join(name), listed)).flatten(),
            }));
        }
    }
}
