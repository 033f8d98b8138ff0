//! Where the lines of all PEs are: topas.out, and topas.out.HOST of several hosts.

use std::path::Path;

use crate::source::{self, Source, SourceError};

/// Name of the file, and what names of those of hosts begin with, a dot between.
const NAME: &[u8] = b"topas.out";

/// The files topas.out and topas.out.* of a directory, in order of their names.
///
/// # Errors
///
/// [`SourceError::Open`] if the directory cannot be listed.
pub fn here(directory: &Path) -> Result<Vec<Source>, SourceError> {
    let mut files = source::expand(directory)?;
    files.retain(is_ours);
    Ok(files)
}

fn is_ours(source: &Source) -> bool {
    let Source::File(path) = source else { return false };
    let name = path.file_name().map_or(&b""[..], |name| name.as_encoded_bytes());
    match name.strip_prefix(NAME) {
        Some(rest) => matches!(rest, [] | [b'.', ..]),
        None => false,
    }
}

/// The sources a path stands for: `-` is standard input, a directory its topas.out files, or
/// all its files if it has none.
///
/// # Errors
///
/// As [`crate::expand`].
pub fn expand(path: &Path) -> Result<Vec<Source>, SourceError> {
    let mut all = source::expand(path)?;
    // A single file is taken as it is; a directory of one gives that one either way.
    if all.iter().any(is_ours) {
        all.retain(|source| is_ours(source) || *source == Source::File(path.to_owned()));
    }
    Ok(all)
}
