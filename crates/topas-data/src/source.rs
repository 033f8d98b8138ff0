//! Where lines come from: files, directories, standard input.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One stream of log lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// Its length in B, compressed as it is; None if that is not known before it is read.
    pub(crate) fn len(&self) -> Option<u64> {
        match self {
            Source::Stdin => None,
            // What cannot be opened is told when it is.
            Source::File(path) => match fs::metadata(path) {
                Ok(about) if about.is_file() => Some(about.len()),
                Ok(_) => None,
                Err(_) => Some(0),
            },
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Stdin => f.write_str("standard input"),
            Source::File(path) => path.display().fmt(f),
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

/// The sources a path stands for: `-` is standard input, a directory its regular files
/// (and links to such) in order of their names, not those of its subdirectories, nor hidden
/// ones, which are no logs or not whole yet. A path that does not exist and holds `*`, `?` or
/// `[` is a pattern of the shell, for lists that are too long for a command line; what it
/// matches is in order of names.
///
/// # Errors
///
/// [`SourceError::Open`] if the path does not exist or the directory cannot be listed, or
/// nothing matches the pattern.
pub fn expand(path: &Path) -> Result<Vec<Source>, SourceError> {
    if path.as_os_str() == "-" {
        return Ok(vec![Source::Stdin]);
    }
    let failed = |cause| SourceError::Open { source: Source::File(path.to_owned()), cause };
    let matching = match fs::metadata(path) {
        Ok(about) => return files_of(path, about.is_dir()).map_err(failed),
        Err(cause) => match path.to_str().filter(|text| text.contains(['*', '?', '['])) {
            Some(pattern) if cause.kind() == io::ErrorKind::NotFound => {
                matching(pattern).map_err(failed)?
            }
            _ => return Err(failed(cause)),
        },
    };
    let mut sources = Vec::new();
    for path in matching {
        let is_dir = fs::metadata(&path).is_ok_and(|about| about.is_dir());
        sources.extend(files_of(&path, is_dir).map_err(failed)?);
    }
    Ok(sources)
}

/// The paths that a pattern of the shell matches; at least one.
fn matching(pattern: &str) -> io::Result<Vec<PathBuf>> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
    // As in the shell, `*` matches no hidden files and no separator.
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found = glob::glob_with(pattern, options).map_err(invalid)?;
    let paths = found.map(|path| path.map_err(io::Error::from)).collect::<io::Result<Vec<_>>>()?;
    if paths.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no file matches this pattern"));
    }
    Ok(paths)
}

/// The file itself, or the regular files of a directory.
fn files_of(path: &Path, is_dir: bool) -> io::Result<Vec<Source>> {
    if !is_dir {
        return Ok(vec![Source::File(path.to_owned())]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let file = entry.path();
        // A dangling link is kept, so that opening it reports it.
        if fs::metadata(&file).map_or(true, |about| about.is_file()) {
            files.push(file);
        }
    }
    files.sort_unstable();
    Ok(files.into_iter().map(Source::File).collect())
}
