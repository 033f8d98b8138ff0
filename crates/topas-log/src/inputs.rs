//! Segments that were named, and what is said of those that cannot be read.

use std::io::ErrorKind;
use std::path::PathBuf;

use chrono::{Datelike, Local};
use topas_config::{Conf, Environment, Paths, command_line};
use topas_data::{Own, Pattern, SegmentError, Source, SourceError, expand};
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

/// The files with lines of a user: those named, a path with `%` forms as in `log =` those it
/// stands for; if none is named those of topas.conf. An error is said here.
pub fn own_sources(names: &[PathBuf], own: &Own, env: &Environment) -> Option<Vec<Source>> {
    let year = Local::now().year() as u16;
    let files = |pattern: &Pattern| pattern.files_of(own.uid, year).into_iter().map(Source::File);
    if !names.is_empty() {
        let mut found = Vec::new();
        for name in names {
            let pattern = name.as_os_str().as_encoded_bytes().contains(&b'%');
            match pattern.then(|| Pattern::new(name)).flatten() {
                Some(pattern) => found.extend(files(&pattern)),
                None => found.extend(sources(std::slice::from_ref(name))?),
            }
        }
        return Some(found);
    }
    let argv0 = command_line().into_iter().next().unwrap_or_default();
    let conf = Conf::load(Paths::of_this_program(&argv0, env).as_ref(), env);
    let patterns = Pattern::of_targets(conf.settings().list(List::Log));
    if patterns.is_empty() {
        let what = "log = in topas.conf names no files";
        TOOL.error(&what, None, "name the log, or a path with %u as the site tells it");
        return None;
    }
    Some(patterns.iter().flat_map(files).collect())
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
