//! The lines of a block of text: read, passed over on purpose, or bad.

#[allow(unsafe_code, reason = "instructions that not every processor has")]
mod sys;

#[cfg(target_arch = "x86_64")]
use topas_format::line::UsualReader;
use topas_format::line::{Extras, Fault, IndexedLine, Line};

use crate::feed::Feed;
use crate::line_index::LineIndex;
use crate::mpi_times::ProfileFragments;
use crate::profile_line;
use crate::source::Source;
use crate::tally::{Problem, Tally};
use crate::vouch::Vouch;

/// Longest line in bytes that is looked at. The longest log line has 1,000.
pub const MAX_LINE_READ: usize = 64 * 1024;

/// A part of a source that begins with a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'b> {
    /// Whole lines. Only the last may have no newline: the source ends there, or the line
    /// is too long and its rest is in no block.
    pub(crate) text: &'b [u8],
    /// Whether reading failed at its end
    pub(crate) broken: bool,
}

/// Counts the lines of blocks of one source, and hands on those of the log.
pub(crate) struct BlockLines<'s, E> {
    source: &'s Source,
    vouch: &'s Vouch,
    tally: &'s mut Tally,
    /// Gets the lines of MPI profiles, if that is asked for
    profiles: Option<&'s mut ProfileFragments>,
    /// Lines seen so far
    pub(crate) number: u64,
    /// Gets each log line
    each: E,
}

/// Room that is used again for each block.
#[derive(Default)]
pub(crate) struct BlockRoom {
    index: LineIndex,
    #[cfg(target_arch = "x86_64")]
    usual: UsualReader,
}

/// Gets the log lines of blocks.
pub(crate) trait LineSink {
    /// A line, which stands at `of`.
    fn line(&mut self, line: &Line<'_>, extras: Extras<'_>, of: &IndexedLine<'_>);
}

impl<F: FnMut(&Line<'_>, Extras<'_>)> LineSink for F {
    #[inline(always)]
    fn line(&mut self, line: &Line<'_>, extras: Extras<'_>, _: &IndexedLine<'_>) {
        self(line, extras);
    }
}

impl<'s, E: LineSink> BlockLines<'s, E> {
    pub(crate) fn new(feed: &'s Feed<'_>, tally: &'s mut Tally, each: E) -> Self {
        BlockLines {
            source: feed.source,
            vouch: &feed.vouch,
            tally,
            profiles: None,
            number: 0,
            each,
        }
    }

    /// The same, which hands on the lines of MPI profiles.
    pub(crate) fn with_profiles(self, profiles: Option<&'s mut ProfileFragments>) -> Self {
        BlockLines { profiles, ..self }
    }

    /// Reads all lines of a block.
    #[inline]
    pub(crate) fn read(&mut self, block: Block<'_>, room: &mut BlockRoom) {
        room.index.fill(block.text);
        sys::lines(self, block.text, room);
        match &block.text[room.index.rest()..] {
            [] => {}
            long if long.len() > MAX_LINE_READ => self.bad(Problem::TooLong, long),
            cut if block.broken => self.bad(Problem::Unfinished, cut),
            // A last line without newline may have been cut anywhere.
            last => self.whole(last, false),
        }
    }

    fn bad(&mut self, problem: Problem, text: &[u8]) {
        self.number += 1;
        self.tally.bad(self.source, self.number, problem, text);
    }

    #[inline(always)]
    fn line(&mut self, of: &IndexedLine<'_>) {
        // A result of the other parser would have to come through memory, and this one, too.
        let Some(ends) = of.blanks.first_chunk() else { return self.whole(of.bytes(), true) };
        match Line::parse_indexed(of, ends) {
            Ok((line, extras)) if of.end - of.begin <= MAX_LINE_READ => {
                self.number += 1;
                self.good(&line, extras, of);
            }
            Ok(_) => self.bad(Problem::TooLong, of.bytes()),
            Err(_) => self.other(of.bytes(), true),
        }
    }

    /// A line that is not as the module writes it, or may not be.
    #[cfg(target_arch = "x86_64")]
    #[cold]
    #[inline(never)]
    fn unusual(&mut self, of: IndexedLine<'_>) {
        self.line(&of);
    }

    /// A line in a text by itself; if it is not whole, it was cut somewhere.
    #[cold]
    #[inline(never)]
    fn whole(&mut self, text: &[u8], is_whole: bool) {
        match Line::parse_far(text) {
            Ok((line, extras)) if text.len() <= MAX_LINE_READ => {
                self.number += 1;
                self.good(&line, extras, &IndexedLine::lone(text));
            }
            Ok(_) => self.bad(Problem::TooLong, text),
            Err(_) => self.other(text, is_whole),
        }
    }

    /// A log line: it counts if it is vouched for.
    #[inline(always)]
    fn good(&mut self, line: &Line<'_>, extras: Extras<'_>, of: &IndexedLine<'_>) {
        match self.vouch.line(line.user, extras) {
            Ok(()) => {
                self.tally.good += 1;
                self.each.line(line, extras, of);
            }
            Err(stranger) => self.tally.foreign.add(stranger),
        }
    }

    fn profile(&mut self, text: &[u8]) {
        match self.vouch.lone_profile(text) {
            Ok(()) => {
                self.tally.profile += 1;
                if let Some(profiles) = &mut self.profiles {
                    profiles.add(text);
                }
            }
            Err(stranger) => self.tally.foreign.add(stranger),
        }
    }

    #[cold]
    fn other(&mut self, text: &[u8], is_whole: bool) {
        self.number += 1;
        if text.len() > MAX_LINE_READ {
            self.tally.bad(self.source, self.number, Problem::TooLong, text);
        } else if text.iter().all(u8::is_ascii_whitespace) {
            self.tally.blank += 1;
        } else if text.starts_with(b"#") {
            match self.vouch.marked(text) {
                None => self.tally.comments += 1,
                Some(stranger) => self.tally.foreign.add(stranger),
            }
        } else if let Some(Ok(_)) = profile_line::judge(text) {
            self.profile(text);
        } else {
            self.tally.bad(self.source, self.number, problem(text, is_whole), text);
            if let Some((line, extras, text)) = behind_torn(text) {
                self.good(&line, extras, &IndexedLine::lone(text));
            } else if let Some(text) = profile_line::behind_torn(text) {
                self.profile(text);
            }
        }
    }
}

/// What is wrong with a line that is none of the log; a last one without its newline is not
/// whole.
pub(crate) fn problem(text: &[u8], is_whole: bool) -> Problem {
    if text.len() > MAX_LINE_READ {
        return Problem::TooLong;
    }
    if !is_whole {
        return Problem::Unfinished;
    }
    match Line::parse_far(text) {
        Err(_) if without_cr(text).is_some() => Problem::CarriageReturn,
        // Whatever a torn line has in the middle: a whole one is behind it.
        Err(_) if behind_torn(text).is_some() => Problem::Fault(Fault::length),
        Err(fault) => match profile_line::judge(text) {
            Some(Err(fault)) => Problem::Profile(fault.says()),
            _ => Problem::Fault(fault),
        },
        Ok(_) => Problem::Unfinished,
    }
}

/// A log line that has a CR behind it.
fn without_cr(text: &[u8]) -> Option<Line<'_>> {
    Line::parse_far(text.strip_suffix(b"\r")?).ok().map(|(line, _)| line)
}

/// The whole line at the end of a text that begins with a part of another. A full disk
/// takes a line in part and without its newline, and the next line follows on it.
pub(crate) fn behind_torn(text: &[u8]) -> Option<(Line<'_>, Extras<'_>, &[u8])> {
    let digits = text.rsplit(|b| *b == b'=').next()?;
    let len: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let whole = text.get(text.len().checked_sub(len)?..)?;
    let (line, extras) = Line::parse_far(whole).ok().filter(|_| len < text.len())?;
    Some((line, extras, whole))
}
