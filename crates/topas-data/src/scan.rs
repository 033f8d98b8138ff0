//! Reads a source block by block and hands on each log line in it.

use std::fs::File;
use std::io::{self, Read};

use memchr::memchr;
use topas_format::line::{Extras, Fault, Line};

use crate::decode::decoded;
use crate::source::{Source, SourceError};
use crate::tally::{Problem, Tally};

/// Bytes read at a time: fits the second level cache, and is large against a system call.
pub const BLOCK: usize = 256 * 1024;

/// Longest line in bytes that is looked at. The longest log line has 1,000.
pub const MAX_LINE_READ: usize = 64 * 1024;

/// Reads every line of `source`: log lines go to `each`, all lines are counted in `tally`.
/// `progress` is told the number of bytes of text after each block.
///
/// # Errors
///
/// [`SourceError`] if the source cannot be opened, or breaks off (a read error, a damaged
/// or truncated compressed file); the lines before the break have been handed on.
pub fn scan(
    source: &Source,
    tally: &mut Tally,
    mut each: impl FnMut(&Line<'_>, Extras<'_>),
    mut progress: impl FnMut(u64),
) -> Result<(), SourceError> {
    let open = || match source {
        Source::Stdin => decoded(io::stdin().lock()),
        Source::File(path) => {
            let file = File::open(path)?;
            // Opening a directory succeeds, and only reading it says what it is.
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            decoded(file)
        }
    };
    let reader = open().map_err(|cause| SourceError::Open { source: source.clone(), cause })?;
    scan_text(source, reader, tally, &mut each, &mut progress)
}

/// As [`scan`], from any reader of plain or compressed lines; `source` is what messages
/// call it.
///
/// # Errors
///
/// As [`scan`].
pub fn scan_reader(
    source: &Source,
    reader: impl Read,
    tally: &mut Tally,
    mut each: impl FnMut(&Line<'_>, Extras<'_>),
    mut progress: impl FnMut(u64),
) -> Result<(), SourceError> {
    let reader =
        decoded(reader).map_err(|cause| SourceError::Open { source: source.clone(), cause })?;
    scan_text(source, reader, tally, &mut each, &mut progress)
}

fn scan_text(
    source: &Source,
    reader: impl Read,
    tally: &mut Tally,
    each: &mut impl FnMut(&Line<'_>, Extras<'_>),
    progress: &mut impl FnMut(u64),
) -> Result<(), SourceError> {
    let mut lines = Lines { source, tally, number: 0 };
    lines.read(reader, each, progress).map_err(|cause| SourceError::Broken {
        source: source.clone(),
        lines: lines.number,
        cause,
    })
}

/// The place in a source.
struct Lines<'s> {
    source: &'s Source,
    tally: &'s mut Tally,
    /// Lines seen so far
    number: u64,
}

impl Lines<'_> {
    fn read(
        &mut self,
        mut reader: impl Read,
        each: &mut impl FnMut(&Line<'_>, Extras<'_>),
        progress: &mut impl FnMut(u64),
    ) -> io::Result<()> {
        // Before each read the buffer holds the beginning of a line, at most MAX_LINE_READ.
        let mut buffer = vec![0; MAX_LINE_READ + BLOCK];
        let mut held = 0;
        let mut total = 0;
        // The rest of a line that is too long is passed over.
        let mut passing = false;
        loop {
            let got = match reader.read(&mut buffer[held..held + BLOCK]) {
                Ok(got) => got,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    if held > 0 {
                        self.bad(Problem::Unfinished, &buffer[..held]);
                    }
                    return Err(e);
                }
            };
            if got == 0 {
                break;
            }
            total += got as u64;
            let filled = held + got;
            let mut at = 0;
            if passing {
                let end = memchr(b'\n', &buffer[..filled]);
                passing = end.is_none();
                at = end.map_or(filled, |end| end + 1);
            }
            while let Some(len) = memchr(b'\n', &buffer[at..filled]) {
                self.line(&buffer[at..at + len], each);
                at += len + 1;
            }
            held = filled - at;
            if held > MAX_LINE_READ {
                self.bad(Problem::TooLong, &buffer[at..filled]);
                passing = true;
                held = 0;
            }
            buffer.copy_within(at..at + held, 0);
            progress(total);
        }
        if held > 0 {
            self.last(&buffer[..held], each);
        }
        Ok(())
    }

    fn bad(&mut self, problem: Problem, text: &[u8]) {
        self.number += 1;
        self.tally.bad(self.source, self.number, problem, text);
    }

    #[inline]
    fn line(&mut self, text: &[u8], each: &mut impl FnMut(&Line<'_>, Extras<'_>)) {
        match Line::parse(text) {
            Ok((line, extras)) if text.len() <= MAX_LINE_READ => {
                self.number += 1;
                self.tally.good += 1;
                each(&line, extras);
            }
            Ok(_) => self.bad(Problem::TooLong, text),
            Err(fault) => self.other(fault, text, each),
        }
    }

    #[cold]
    fn other(&mut self, fault: Fault, text: &[u8], each: &mut impl FnMut(&Line<'_>, Extras<'_>)) {
        if text.len() > MAX_LINE_READ {
            self.bad(Problem::TooLong, text);
        } else if text.iter().all(u8::is_ascii_whitespace) {
            self.number += 1;
            self.tally.blank += 1;
        } else if text.starts_with(b"#") {
            self.number += 1;
            self.tally.comments += 1;
        } else {
            self.bad(Problem::Fault(fault), text);
            if let Some((line, extras)) = behind_torn(text) {
                self.tally.good += 1;
                each(&line, extras);
            }
        }
    }

    /// A last line without newline may have been cut anywhere. One that should end with
    /// `len=`, as all that have `v=` do, and does not, is known to be.
    fn last(&mut self, text: &[u8], each: &mut impl FnMut(&Line<'_>, Extras<'_>)) {
        if is_cut(text) {
            self.bad(Problem::Unfinished, text);
        } else {
            self.line(text, each);
        }
    }
}

/// Whether a last line without newline is known to be cut: `len=` is missing.
pub(crate) fn is_cut(text: &[u8]) -> bool {
    Line::parse(text).is_ok_and(|(_, mut extras)| {
        extras.get(b"v").is_some()
            && extras.by_ref().last().is_none_or(|(key, len)| key != b"len" || len.len() != 3)
    })
}

/// The whole line at the end of a text that begins with a part of another. A full disk
/// takes a line in part and without its newline, and the next line follows on it.
pub(crate) fn behind_torn(text: &[u8]) -> Option<(Line<'_>, Extras<'_>)> {
    let digits = text.rsplit(|b| *b == b'=').next()?;
    let len: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Line::parse(text.get(text.len().checked_sub(len)?..)?).ok().filter(|_| len < text.len())
}
