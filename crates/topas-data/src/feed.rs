//! Cuts sources into blocks of whole lines, which any number of threads take.
//!
//! A plain file is cut at multiples of [`BLOCK`]: who takes a block reads it itself, with
//! `pread`, and no block waits for another. (Not `mmap`: a file that becomes shorter while it
//! is read would end the process.) Compressed files and pipes are streams: who wants a block
//! holds the stream while it reads or decompresses, and parses it while others hold it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::{memchr, memrchr};

use crate::block::{Block, MAX_LINE_READ};
use crate::decode::{decoded, is_plain};
use crate::holes::{data_from, has_holes, refuse_hollow};
use crate::source::{Opened, Source, SourceError};
use crate::vouch::Vouch;

/// Bytes of a block: fits the second level cache, and is large against a system call.
pub const BLOCK: usize = 256 * 1024;

/// Bytes read to find the end of a line that goes beyond its block.
const STEP: usize = 2048;

/// Bytes at a multiple of which a block begins in memory, as it does in its file. The kernel copies
/// 12 GB/s to such a place, and 1.6 GB/s to one that is a byte or sixteen away.
const ALIGNMENT: usize = 64;

/// Room for a block and a line that goes beyond it, as long as is looked at.
const ROOM: usize = ALIGNMENT + BLOCK + MAX_LINE_READ + 2 * STEP;

/// What a block is read into.
pub(crate) struct Buffer(Box<[u8]>);

impl Buffer {
    pub(crate) fn new() -> Self {
        Buffer(vec![0; ROOM].into())
    }
}

/// A source that is open.
pub(crate) struct Feed<'s> {
    pub(crate) source: &'s Source,
    /// Who vouches for its lines; of a reader, whoever gave it
    pub(crate) vouch: Vouch,
    reader: FeedReader<'s>,
    /// Bytes read, compressed as they are
    bytes: Arc<AtomicU64>,
    exhausted: AtomicBool,
    failure: Mutex<Option<FeedFailure>>,
}

enum FeedReader<'s> {
    Plain(Plain),
    Stream(Mutex<Stream<'s>>),
}

/// What ended a source too soon, and in which block.
struct FeedFailure {
    block: u64,
    cause: io::Error,
}

impl<'s> Feed<'s> {
    /// Opens a source. Bytes that are read from it are added to `bytes`.
    pub(crate) fn open(source: &'s Source, bytes: Arc<AtomicU64>) -> Result<Self, SourceError> {
        let mut vouch = Vouch::All;
        let mut open = || -> io::Result<FeedReader<'s>> {
            let Some(Opened { file, about, vouch: of, found }) = source.open()? else {
                return FeedReader::stream(io::stdin(), &bytes);
            };
            vouch = of;
            // Files of /proc have no length: only who names one means it.
            if !about.is_file() || about.len() == 0 && !found {
                return FeedReader::stream(file, &bytes);
            }
            if !is_plain(&file)? {
                refuse_hollow(&file, &about)?;
                return FeedReader::stream(file, &bytes);
            }
            let (size, sparse) = (about.len(), has_holes(&file, about.len()));
            Ok(FeedReader::Plain(Plain { file, size, sparse, next: Mutex::default() }))
        };
        let reader = open().map_err(|cause| SourceError::Open { source: source.clone(), cause })?;
        Ok(Feed { bytes, vouch, ..Feed::new(source, reader) })
    }

    /// A source whose text comes from `raw`, plain or compressed.
    pub(crate) fn of_reader(
        source: &'s Source,
        raw: impl Read + Send + 's,
        bytes: Arc<AtomicU64>,
    ) -> Result<Self, SourceError> {
        let reader = FeedReader::stream(raw, &bytes)
            .map_err(|cause| SourceError::Open { source: source.clone(), cause })?;
        Ok(Feed { bytes, ..Feed::new(source, reader) })
    }

    fn new(source: &'s Source, reader: FeedReader<'s>) -> Self {
        Feed {
            source,
            vouch: Vouch::All,
            reader,
            bytes: Arc::default(),
            exhausted: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Takes the next block: its number and what it holds. None at the end.
    pub(crate) fn next<'b>(&self, buffer: &'b mut Buffer) -> Option<(u64, Block<'b>)> {
        if self.exhausted.load(Ordering::Relaxed) {
            return None;
        }
        let (block, read) = match &self.reader {
            FeedReader::Plain(plain) => match plain.next(&mut buffer.0) {
                Some((block, read)) => {
                    self.bytes.fetch_add(read.bytes, Ordering::Relaxed);
                    (block, read)
                }
                None => {
                    self.exhaust();
                    return None;
                }
            },
            FeedReader::Stream(stream) => {
                let mut stream = locked(stream);
                match stream.next(&mut buffer.0) {
                    Some(read) => (stream.blocks - 1, read),
                    None => {
                        self.exhaust();
                        return None;
                    }
                }
            }
        };
        let broken = read.error.is_some();
        if let Some(cause) = read.error {
            self.exhaust();
            let mut failure = locked(&self.failure);
            if failure.as_ref().is_none_or(|of| block < of.block) {
                *failure = Some(FeedFailure { block, cause });
            }
        }
        Some((block, Block { text: &buffer.0[read.start..read.end], broken }))
    }

    fn exhaust(&self) {
        self.exhausted.store(true, Ordering::Relaxed);
    }

    /// Whether there is nothing more to take.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed)
    }

    /// What ended it too soon; the lines up to there are told by `lines`.
    pub(crate) fn failure(self, lines: u64) -> Option<SourceError> {
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        Some(SourceError::Broken { source: self.source.clone(), lines, cause: failure.cause })
    }
}

/// No thread can leave anything of ours in a bad state: none panics while it holds a lock.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What came into the buffer: whole lines from `start` to `end`.
struct Filled {
    start: usize,
    end: usize,
    /// Bytes that no other block counts
    bytes: u64,
    error: Option<io::Error>,
}

/// A plain file.
struct Plain {
    file: File,
    /// Its length when it was opened; lines that begin behind it are of no block
    size: u64,
    /// Whether it has holes
    sparse: bool,
    next: Mutex<Next>,
}

/// The block that comes next.
#[derive(Clone, Copy, Default)]
struct Next {
    number: u64,
    /// Where it begins: a multiple of [`BLOCK`]
    begin: u64,
}

impl Plain {
    /// The next block: lines that begin in it. The first ends the line before with the
    /// newline at its end or later.
    fn next(&self, buffer: &mut [u8]) -> Option<(u64, Filled)> {
        let mut next = locked(&self.next);
        let Next { number, begin } = *next;
        if begin >= self.size {
            return None;
        }
        next.number += 1;
        next.begin = begin.saturating_add(BLOCK as u64);
        if self.sparse {
            // No line begins in a hole but where it begins itself, which is in this block.
            let data = data_from(&self.file, begin, self.size);
            next.begin = next.begin.max(data - data % BLOCK as u64);
            if data == self.size {
                next.begin = next.begin.max(data);
            }
        }
        drop(next);
        // The byte before tells whether a line begins with the block.
        let before = usize::from(begin > 0);
        let front = buffer[before..].as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT - 1);
        let read = self.read(begin, before, &mut buffer[front..]);
        Some((number, Filled { start: front + read.start, end: front + read.end, ..read }))
    }

    fn read(&self, begin: u64, before: usize, buffer: &mut [u8]) -> Filled {
        let len = (self.size - begin).min(BLOCK as u64) as usize;
        let from = begin - before as u64;
        let mut text = FeedText { file: &self.file, from, buffer, filled: 0, ended: false };
        let mut read = Filled { start: 0, end: 0, bytes: len as u64, error: None };
        read.error = text.fill(before + len).err();
        if text.ended {
            read.error = Some(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file became shorter while it was read",
            ));
        }
        if before > 0 {
            match memchr(b'\n', &text.buffer[..text.filled]) {
                Some(end) if end + 1 < before + len => read.start = end + 1,
                // No line begins here.
                _ => return read,
            }
        }
        // The last line goes on to its newline, or until it is too long.
        while read.error.is_none()
            && !text.ended
            && text.buffer[text.filled - 1] != b'\n'
            && memrchr(b'\n', &text.buffer[before + len..text.filled]).is_none()
            && text.filled - (before + len) <= MAX_LINE_READ
        {
            read.error = text.fill(text.filled + STEP).err();
        }
        let inside = (before + len).min(text.filled);
        read.end = if inside > 0 && text.buffer[inside - 1] == b'\n' {
            inside
        } else {
            memchr(b'\n', &text.buffer[inside..text.filled])
                .map_or(text.filled, |end| inside + end + 1)
        };
        read
    }
}

/// Text of a file that is read on and on.
struct FeedText<'t> {
    file: &'t File,
    /// Where in the file the buffer begins
    from: u64,
    buffer: &'t mut [u8],
    filled: usize,
    /// Whether the end of the file was met
    ended: bool,
}

impl FeedText<'_> {
    fn fill(&mut self, to: usize) -> io::Result<()> {
        while self.filled < to && !self.ended {
            let at = self.from + self.filled as u64;
            match self.file.read_at(&mut self.buffer[self.filled..to], at) {
                Ok(0) => self.ended = true,
                Ok(got) => self.filled += got,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// A source that is read from its beginning to its end.
struct Stream<'r> {
    reader: Box<dyn Read + Send + 'r>,
    /// The beginning of a line that the last block left
    tail: Vec<u8>,
    /// Whether the next bytes belong to a line that was too long
    passing: bool,
    ended: bool,
    /// Blocks taken
    blocks: u64,
}

impl<'s> FeedReader<'s> {
    fn stream(raw: impl Read + Send + 's, bytes: &Arc<AtomicU64>) -> io::Result<Self> {
        let reader = decoded(CountedBytes { raw, bytes: Arc::clone(bytes) })?;
        let tail = Vec::new();
        let stream = Stream { reader, tail, passing: false, ended: false, blocks: 0 };
        Ok(FeedReader::Stream(Mutex::new(stream)))
    }
}

impl Stream<'_> {
    fn next(&mut self, buffer: &mut [u8]) -> Option<Filled> {
        loop {
            if self.ended {
                return None;
            }
            let mut filled = self.tail.len();
            buffer[..filled].copy_from_slice(&self.tail);
            self.tail.clear();
            let mut error = None;
            while filled < BLOCK && !self.ended {
                match self.reader.read(&mut buffer[filled..BLOCK]) {
                    Ok(0) => self.ended = true,
                    Ok(got) => filled += got,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => {
                        error = Some(e);
                        self.ended = true;
                    }
                }
            }
            let mut start = 0;
            if self.passing {
                let end = memchr(b'\n', &buffer[..filled]);
                self.passing = end.is_none();
                start = end.map_or(filled, |end| end + 1);
            }
            let end = match memrchr(b'\n', &buffer[start..filled]) {
                _ if self.ended => filled,
                Some(end) => start + end + 1,
                // Nothing but a line that is too long.
                None if filled - start > MAX_LINE_READ => {
                    self.passing = true;
                    filled
                }
                None => start,
            };
            self.tail.extend_from_slice(&buffer[end..filled]);
            if start < end || error.is_some() {
                self.blocks += 1;
                return Some(Filled { start, end, bytes: 0, error });
            }
        }
    }
}

/// Counts what is read.
struct CountedBytes<R> {
    raw: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for CountedBytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.raw.read(buffer)?;
        self.bytes.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn text_of(feed: &Feed<'_>) -> String {
        let mut buffer = Buffer::new();
        let mut text = String::new();
        while let Some((_, block)) = feed.next(&mut buffer) {
            text += std::str::from_utf8(block.text).unwrap();
        }
        text
    }

    fn lines(numbers: std::ops::Range<usize>) -> String {
        numbers.map(|n| format!("line {n} {}\n", "-".repeat(n % 90))).collect()
    }

    #[test]
    fn a_file_that_grows_is_read_to_the_line_that_was_its_last() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let text = lines(0..20_000);
        let (before, after) = text.split_at(text.len() - 10);
        file.write_all(before.as_bytes()).unwrap();
        let source = Source::File(file.path().to_owned());
        let feed = Feed::open(&source, Arc::default()).unwrap();
        file.write_all(after.as_bytes()).unwrap();
        file.write_all(b"one more\n").unwrap();
        assert!(text_of(&feed) == text);
        assert!(feed.failure(0).is_none());
    }

    #[test]
    fn a_file_that_becomes_shorter_is_told() {
        for left in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 1000] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            let text = lines(0..20_000);
            file.write_all(text.as_bytes()).unwrap();
            assert!(text.len() > 3 * BLOCK);
            let source = Source::File(file.path().to_owned());
            let feed = Feed::open(&source, Arc::default()).unwrap();
            file.as_file().set_len(left as u64).unwrap();
            assert!(text_of(&feed) == text[..left], "{left} B left");
            let failure = feed.failure(5).unwrap().to_string();
            assert!(failure.contains("damaged after line 5"), "{failure}");
        }
    }

    #[test]
    fn streams_and_files_are_cut_into_whole_lines() {
        let text = lines(0..20_000) + &"x".repeat(2 * BLOCK) + "\n" + &lines(0..10_000);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let source = Source::File(file.path().to_owned());
        let plain = Feed::open(&source, Arc::default()).unwrap();
        let stream = Feed::of_reader(&source, text.as_bytes(), Arc::default()).unwrap();
        let mut buffer = Buffer::new();
        for feed in [plain, stream] {
            let (mut seen, mut long) = (0, 0);
            while let Some((_, block)) = feed.next(&mut buffer) {
                let end = block.text.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
                seen += block.text[..end].iter().filter(|b| **b == b'\n').count();
                if end < block.text.len() {
                    assert!(block.text.len() - end > MAX_LINE_READ);
                    long += 1;
                }
            }
            assert_eq!((seen, long), (30_000, 1));
        }
    }
}
