//! Log lines of sources in their order, for whom one thread is enough.

use std::ops::ControlFlow;

use topas_format::line::{Extras, Line};

use crate::block::behind_torn;
use crate::own::OwnProfiles;
use crate::profile_line;
use crate::segment::merge::{BAD, GOOD, judge};
use crate::segment::open;
use crate::segment::raw::{RawLine, RawLines};
use crate::source::{Source, SourceError};
use crate::vouch::{Foreign, Vouch};

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
        lines += u64::from(piece.begins);
        let flow = match whole_line(&piece, &vouch, &mut before, out) {
            None => ControlFlow::Continue(()),
            Some((Some((line, extras)), text)) => each(LogLine::Run(&line, extras), text),
            Some((None, text)) => each(LogLine::Profile, text),
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// A line that counts, with its text: that of a run in its parts, or one of an MPI profile. What
/// does not count is counted in `out`.
#[expect(clippy::type_complexity, reason = "a line in its parts, and its text")]
pub(crate) fn whole_line<'b>(
    piece: &RawLine<'b>,
    vouch: &Vouch,
    before: &mut OwnProfiles,
    out: &mut LeftOut,
) -> Option<(Option<(Line<'b>, Extras<'b>)>, &'b [u8])> {
    let kind = judge(piece).1;
    out.of_lines += u64::from(piece.begins);
    out.bad += u64::from(kind == BAD);
    let text = piece.text();
    let (line, text) = match kind {
        GOOD => (Line::parse(text).ok(), text),
        BAD if piece.begins => match behind_torn(text) {
            Some((line, extras, text)) => (Some((line, extras)), text),
            None => (None, profile_line::behind_torn(text)?),
        },
        _ => {
            if let Some(stranger) = vouch.marked(text) {
                out.foreign.add(stranger);
            }
            return None;
        }
    };
    let vouched = match &line {
        Some((line, extras)) => vouch.line(line.user, *extras),
        None => vouch.profile(text, before),
    };
    match vouched {
        Ok(()) => Some((line, text)),
        Err(stranger) => {
            out.foreign.add(stranger);
            None
        }
    }
}
