//! Segments that were named, and what is said of those that cannot be read.

use std::io::ErrorKind;
use std::path::PathBuf;

use topas_config::{Conf, Environment, Paths, command_line};
use topas_data::{Outputs, Own, SegmentError, Source, SourceError, expand};
use topas_format::conf::List;

use crate::TOOL;

/// The sources of all names; an error is said here.
pub fn sources(names: &[PathBuf]) -> Option<Vec<Source>> {
    let mut sources = Vec::new();
    for name in names {
        match expand(name) {
            Ok(found) => sources.extend(found),
            Err(error) => {
                failed(&error.into());
                return None;
            }
        }
    }
    Some(sources)
}

/// The files with lines of a user; an error is said here.
pub fn own(names: &[PathBuf], own: &Own, env: &Environment) -> Option<Vec<Source>> {
    let argv0 = command_line().into_iter().next().unwrap_or_default();
    let conf = Conf::load(Paths::of_this_program(&argv0, env).as_ref(), env);
    match own.sources(names, conf.settings().list(List::Log)) {
        Ok(Some(sources)) => return Some(sources),
        Ok(None) => {
            let what = "log = in topas.conf names no files";
            TOOL.error(&what, None, "name the log, or a path with %u as the site tells it");
        }
        Err(error) => failed(&error.into()),
    }
    None
}

/// Whether these may be written, by a command that reads the sources; what may not is said.
pub fn may_write(outputs: &[Option<&PathBuf>], sources: &[Source], force: bool) -> bool {
    let mut made = Outputs::new(sources, force);
    let kept = outputs.iter().flatten().find_map(|path| made.add(path).err());
    kept.inspect(|kept| TOOL.kept(kept)).is_none()
}

/// Says what could not be read or written.
pub fn failed(error: &SegmentError) {
    let hint = match error {
        SegmentError::Source(SourceError::Open { .. }) => "check its name and its permissions",
        SegmentError::Source(SourceError::Broken { .. }) => {
            "copy the file again, or test it with its decompressor; nothing was written"
        }
        SegmentError::Again { .. } => "was one of them changed meanwhile? start again",
        error if error.cause().kind() == ErrorKind::StorageFull => {
            "the file system is full; what was there before still is"
        }
        SegmentError::Write { .. } => "check the directory and its permissions",
        SegmentError::Temporary { .. } => "set TMPDIR to a directory with room",
    };
    TOOL.error(error, Some(error.cause()), hint);
}
