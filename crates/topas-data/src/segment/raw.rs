//! Lines byte for byte, bad ones and long ones, too.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr;
use topas_format::line::Line;

use crate::block::{MAX_LINE_READ, behind_torn};
use crate::feed::BLOCK;
use crate::first_extras::epoch;
use crate::profile_line;
use crate::when::Clock;

/// A line with its newline, or a part of a line that is longer than [`MAX_LINE_READ`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawLine<'b> {
    /// As it stands in the source
    pub bytes: &'b [u8],
    /// Whether a line begins here
    pub begins: bool,
    /// Whether the line goes on in the next piece
    pub continues: bool,
}

impl<'b> RawLine<'b> {
    /// The bytes without the newline.
    pub fn text(&self) -> &'b [u8] {
        self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes)
    }

    /// Whether the source ended within the line.
    pub fn is_unfinished(&self) -> bool {
        !self.continues && !self.bytes.ends_with(b"\n")
    }
}

/// Reads pieces one after the other, in bounded memory.
pub(crate) struct RawLines<R> {
    reader: R,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    ended: bool,
    inside: bool,
    current: Range<usize>,
}

impl<R: Read> RawLines<R> {
    /// Of a reader of plain text.
    pub fn new(reader: R) -> Self {
        RawLines {
            reader,
            buffer: Vec::new(),
            at: 0,
            filled: 0,
            ended: false,
            inside: false,
            current: 0..0,
        }
    }

    /// The next piece, none at the end.
    ///
    /// # Errors
    ///
    /// What the reader says.
    pub fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        let mut looked = 0;
        let end = loop {
            let held = &self.buffer[self.at..self.filled];
            if let Some(len) = memchr(b'\n', &held[looked..]) {
                break looked + len + 1;
            }
            // More than the limit, so that something is left to tell that the line goes on.
            if held.len() > MAX_LINE_READ || self.ended {
                break held.len().min(MAX_LINE_READ);
            }
            looked = held.len();
            self.fill()?;
        };
        // A newline far behind ends a line that is too long.
        let end = if end > MAX_LINE_READ + 1 { MAX_LINE_READ } else { end };
        if end == 0 {
            return Ok(None);
        }
        self.current = self.at..self.at + end;
        let bytes = &self.buffer[self.current.clone()];
        self.at += end;
        let begins = !self.inside;
        let last = self.ended && self.at == self.filled;
        self.inside = !bytes.ends_with(b"\n") && !last;
        Ok(Some(RawLine { bytes, begins, continues: self.inside }))
    }

    /// The bytes of the piece that came last.
    pub fn current(&self) -> &[u8] {
        &self.buffer[self.current.clone()]
    }

    /// Reads a block behind what is held.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.at..self.filled, 0);
        self.filled -= self.at;
        self.at = 0;
        self.buffer.resize(MAX_LINE_READ + BLOCK, 0);
        let got = loop {
            match self.reader.read(&mut self.buffer[self.filled..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                got => break got?,
            }
        };
        self.ended = got == 0;
        self.filled += got;
        Ok(())
    }
}

/// When a line ended in s since 1970-01-01, `t=` or else its date and time as they stand;
/// and whether it is a log line or one of an MPI profile. None of a text that holds no log line:
/// the further lines of a profile stay behind its first.
pub(crate) fn ended(text: &[u8]) -> (Option<i64>, bool) {
    let (line, good) = match Line::parse(text) {
        Ok(line) => (Some(line), true),
        Err(_) => {
            if let Some(Ok(time)) = profile_line::judge(text) {
                return (time, true);
            }
            // The rest of a torn line says when it was torn.
            (behind_torn(text).map(|(line, extras, _)| (line, extras)), false)
        }
    };
    (line.map(|(line, extras)| Clock::default().read(&line, epoch(extras)).end), good)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives at most so many bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(to.len()).min(self.0.len());
            to[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    /// Every line, its pieces joined.
    fn lines(text: &[u8], step: usize) -> Vec<Vec<u8>> {
        let mut raw = RawLines::new(Slow(text, step));
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut open = false;
        while let Some(piece) = raw.next().unwrap() {
            assert!(!piece.bytes.is_empty() && piece.bytes.len() <= MAX_LINE_READ + 1);
            assert_eq!(piece.begins, !open);
            if piece.begins {
                lines.push(Vec::new());
            }
            lines.last_mut().unwrap().extend_from_slice(piece.bytes);
            open = piece.continues;
        }
        assert!(!open);
        lines
    }

    proptest! {
        #[test]
        fn pieces_make_the_text(
            lengths in proptest::collection::vec(
                prop_oneof![0usize..200, MAX_LINE_READ - 2..MAX_LINE_READ + 3, Just(300_000)], 0..8),
            newline in any::<bool>(),
            step in prop_oneof![Just(1usize << 30), Just(65_537), Just(BLOCK)],
        ) {
            let mut text: Vec<u8> = Vec::new();
            for len in lengths {
                text.resize(text.len() + len, b'x');
                text.push(b'\n');
            }
            if !newline {
                text.pop();
            }
            let expected: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
            prop_assert_eq!(lines(&text, step), expected);
        }
    }
}
