//! Where the lines of all PEs are: topas.out, and topas.out.HOST of several hosts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::source::{Inputs, Source, SourceError};

/// Name of the file, and what names of those of hosts begin with, a dot between.
const NAME: &[u8] = b"topas.out";

/// The files topas.out and topas.out.* of a directory, in order of their names.
///
/// # Errors
///
/// [`SourceError::Open`] if the directory cannot be listed.
pub fn here(directory: &Path) -> Result<Vec<Source>, SourceError> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            // What is neither file nor directory is told when it is opened.
            if is_ours(&path) && !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                files.push(path);
            }
        }
        files.sort_unstable();
        Ok(files)
    };
    let source = || Source::File(directory.to_owned());
    let files = list().map_err(|cause| SourceError::Open { source: source(), cause })?;
    Ok(files.into_iter().map(Source::File).collect())
}

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().map_or(&b""[..], |name| name.as_encoded_bytes());
    match name.strip_prefix(NAME) {
        Some(rest) => matches!(rest, [] | [b'.', ..]),
        None => false,
    }
}

/// Adds what a name stands for: of a directory the topas.out files in it, or if it has none
/// those below it, or if there are none all files; else as [`Inputs::add`].
pub fn add(path: &Path, inputs: &mut Inputs) {
    let before = inputs.sources.len();
    inputs.add(path);
    let mut added = inputs.sources.split_off(before);
    let ours = |source: &Source| source.path().is_some_and(|path| is_ours(&path));
    let in_it = |source: &Source| {
        ours(source) && source.path().is_some_and(|file| file.parent() == Some(path))
    };
    // A file that was named is taken as it is.
    if !matches!(added.as_slice(), [Source::Stdin | Source::File(_)]) {
        if added.iter().any(in_it) {
            added.retain(in_it);
        } else if added.iter().any(ours) {
            added.retain(ours);
        }
    }
    inputs.sources.extend(added);
}
