//! Log lines of sources in their order, for whom one thread is enough.

use std::ops::ControlFlow;

use topas_format::line::{Extras, Line};

use crate::block::behind_torn;
use crate::mpi;
use crate::segment::merge::{BAD, GOOD, judge};
use crate::segment::open;
use crate::segment::raw::RawLines;
use crate::source::{Source, SourceError};

/// A line of a log.
#[derive(Clone, Copy, Debug)]
pub enum LogLine<'a> {
    /// Of a run
    Run(&'a Line<'a>, Extras<'a>),
    /// Of an MPI profile
    Profile,
}

/// Reads the log lines of a source and those of MPI profiles, with their text, until `each` has
/// enough; gives the number of lines that are neither, blank ones and comments aside.
///
/// # Errors
///
/// [`SourceError`] if it cannot be opened or breaks off; the lines before have been given.
pub fn each_line(
    source: &Source,
    mut each: impl FnMut(LogLine<'_>, &[u8]) -> ControlFlow<()>,
) -> Result<u64, SourceError> {
    let reader = open(source, u64::MAX)
        .map_err(|cause| SourceError::Open { source: source.clone(), cause })?;
    let mut pieces = RawLines::new(reader);
    let (mut lines, mut bad) = (0, 0);
    let broken = |lines| move |cause| SourceError::Broken { source: source.clone(), lines, cause };
    while let Some(piece) = pieces.next().map_err(broken(lines))? {
        let kind = judge(&piece).1;
        lines += u64::from(piece.begins);
        bad += u64::from(kind == BAD);
        let text = piece.text();
        let flow = match kind {
            GOOD => match Line::parse(text) {
                Ok((line, extras)) => each(LogLine::Run(&line, extras), text),
                Err(_) => each(LogLine::Profile, text),
            },
            BAD if piece.begins => {
                if let Some((line, extras, text)) = behind_torn(text) {
                    each(LogLine::Run(&line, extras), text)
                } else if let Some(text) = mpi::behind_torn(text) {
                    each(LogLine::Profile, text)
                } else {
                    ControlFlow::Continue(())
                }
            }
            _ => ControlFlow::Continue(()),
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(bad)
}
