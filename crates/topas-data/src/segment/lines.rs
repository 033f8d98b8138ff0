//! Log lines of sources in their order, for whom one thread is enough.

use std::ops::ControlFlow;

use topas_format::line::{Extras, Line};

use crate::block::behind_torn;
use crate::own::OwnProfiles;
use crate::profile_line;
use crate::segment::merge::{BAD, GOOD, judge};
use crate::segment::open;
use crate::segment::raw::RawLines;
use crate::source::{Source, SourceError};
use crate::vouch::{Foreign, Stranger};

/// A line of a log.
#[derive(Clone, Copy, Debug)]
pub enum LogLine<'a> {
    /// Of a run
    Run(&'a Line<'a>, Extras<'a>),
    /// Of an MPI profile
    Profile,
}

/// What [`each_line`] does not give.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// Lines of every kind, those that were given included
    pub of_lines: u64,
    /// Lines that are no log lines, neither blank nor comments
    pub bad: u64,
    /// Lines that the owner of their file does not vouch for
    pub foreign: Foreign,
}

impl LeftOut {
    fn set_apart(&mut self, stranger: Stranger) -> ControlFlow<()> {
        self.foreign.add(stranger);
        ControlFlow::Continue(())
    }
}

/// Reads the log lines of a source and those of MPI profiles, with their text, until `each` has
/// enough; `out` gets the number of those that are left out.
///
/// # Errors
///
/// [`SourceError`] if it cannot be opened or breaks off; the lines before have been given.
pub fn each_line(
    source: &Source,
    out: &mut LeftOut,
    mut each: impl FnMut(LogLine<'_>, &[u8]) -> ControlFlow<()>,
) -> Result<(), SourceError> {
    let (reader, vouch) = open(source, u64::MAX)
        .map_err(|cause| SourceError::Open { source: source.clone(), cause })?;
    let mut pieces = RawLines::new(reader);
    let mut lines = 0;
    let mut before = OwnProfiles::default();
    let broken = |lines| move |cause| SourceError::Broken { source: source.clone(), lines, cause };
    while let Some(piece) = pieces.next().map_err(broken(lines))? {
        let kind = judge(&piece).1;
        lines += u64::from(piece.begins);
        out.of_lines += u64::from(piece.begins);
        out.bad += u64::from(kind == BAD);
        let text = piece.text();
        let found = match kind {
            GOOD => match Line::parse(text) {
                Ok((line, extras)) => Some((Some((line, extras)), text)),
                Err(_) => Some((None, text)),
            },
            BAD if piece.begins => match behind_torn(text) {
                Some((line, extras, text)) => Some((Some((line, extras)), text)),
                None => profile_line::behind_torn(text).map(|text| (None, text)),
            },
            _ => {
                if let Some(stranger) = vouch.marked(text) {
                    out.foreign.add(stranger);
                }
                None
            }
        };
        let flow = match found {
            None => ControlFlow::Continue(()),
            Some((Some((line, extras)), text)) => match vouch.line(&line, extras) {
                Ok(()) => each(LogLine::Run(&line, extras), text),
                Err(stranger) => out.set_apart(stranger),
            },
            Some((None, text)) => match vouch.profile(text, &mut before) {
                Ok(()) => each(LogLine::Profile, text),
                Err(stranger) => out.set_apart(stranger),
            },
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}
