//! Log lines of sources in their order, for whom one thread is enough.

use std::ops::ControlFlow;

use topas_format::line::{Extras, Line};

use crate::block::behind_torn;
use crate::segment::merge::{BAD, GOOD, judge};
use crate::segment::open;
use crate::segment::raw::RawLines;
use crate::source::{Source, SourceError};

/// Reads the log lines of a source, with their text, until `each` has enough; gives the number of lines that
/// are none, blank ones and comments aside.
///
/// # Errors
///
/// [`SourceError`] if it cannot be opened or breaks off; the lines before have been given.
pub fn each_line(
    source: &Source,
    mut each: impl FnMut(&Line<'_>, Extras<'_>, &[u8]) -> ControlFlow<()>,
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
        let line = match kind {
            GOOD => {
                Line::parse(piece.text()).ok().map(|(line, extras)| (line, extras, piece.text()))
            }
            BAD if piece.begins => behind_torn(piece.text()),
            _ => None,
        };
        if let Some((line, extras, text)) = line
            && each(&line, extras, text).is_break()
        {
            break;
        }
    }
    Ok(bad)
}
