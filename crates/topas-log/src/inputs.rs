//! Segments that were named, and what is said of those that cannot be read.

use std::io::ErrorKind;
use std::path::PathBuf;

use topas_config::{Conf, Environment};
use topas_data::{Inputs, Outputs, OwnLines, SegmentError, Source, SourceError};
use topas_format::conf::List;

use crate::TOOL;

/// What all names stand for; what could not be looked into, and what is passed over, is said here.
pub fn inputs(names: &[PathBuf], quiet: bool) -> Inputs {
    said(Inputs::new(names), quiet)
}

fn said(inputs: Inputs, quiet: bool) -> Inputs {
    inputs.failed.iter().for_each(unreadable);
    if let Some(text) = topas_render::passed_over(&inputs).filter(|_| !quiet) {
        TOOL.write(&format!("{}: warning: {text}", TOOL.0));
    }
    inputs
}

/// The files with lines of a user; an error is said here.
pub fn own(names: &[PathBuf], own: &OwnLines, env: &Environment, quiet: bool) -> Option<Inputs> {
    let conf = Conf::of_this_program(env);
    let inputs = own.sources(names, conf.settings().list(List::Log));
    if inputs.is_none() {
        let what = "log = in topas.conf names no files";
        TOOL.error(&what, None, "name the log, or a path with %u as the site tells it");
    }
    inputs.map(|inputs| said(inputs, quiet))
}

/// Says that a source could not be read, or not to its end; the others are.
pub fn unreadable(error: &SourceError) {
    let (cause, hint) = match error {
        SourceError::Open { cause, .. } => (cause, "check its name and its permissions"),
        SourceError::Broken { cause, .. } => {
            (cause, "copy the file again, or test it with its decompressor")
        }
    };
    TOOL.error(error, Some(cause), hint);
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
        SegmentError::Source(error) => return unreadable(error),
        error if error.cause().kind() == ErrorKind::StorageFull => {
            "the file system is full; what was there before still is"
        }
        SegmentError::Write { .. } => "check the directory and its permissions",
        SegmentError::Temporary { .. } => "set TMPDIR to a directory with room",
    };
    TOOL.error(error, Some(error.cause()), hint);
}
