//! Merges segments by the time their lines ended.
//!
//! Segments are nearly in order, because a line is written when its program ends. Each is
//! read twice: once to see how far from order it is, and once to be merged, through a window
//! that puts it in order. What no window helps goes through a sort with temporary files.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::segment::raw::{Piece, RawLines, ended};
use crate::segment::sort::{InOrder, Key, Merged, Sorter};
use crate::segment::{SegmentError, open};
use crate::source::{Source, SourceError};

/// Bytes of lines that are held back to put a segment in order.
const WINDOW: usize = 1 << 20;

/// Segments that are open at the same time.
const STREAMS: usize = 64;

/// Bytes held by the sort.
const SORT: usize = 256 << 20;

/// A log line.
pub(crate) const GOOD: u8 = 0;
/// A blank line or a comment.
pub(crate) const OTHER: u8 = 1;
/// What is no log line.
pub(crate) const BAD: u8 = 2;
/// A part of a line that goes on.
pub(crate) const PART: u8 = 3;

/// How to merge.
#[derive(Clone, Copy, Debug)]
pub struct MergeOptions<'o> {
    /// Whether log lines that are equal byte for byte are written once
    pub unique: bool,
    /// Directory for temporary files
    pub temporary: &'o Path,
}

/// What was merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeReport {
    /// Lines written, of every kind, bad ones that went elsewhere included
    pub lines: u64,
    /// Lines among them that are no log lines, neither blank nor comments
    pub bad: u64,
    /// Log lines left out because they stood there before
    pub duplicates: u64,
    /// Last lines that got the newline they lacked
    pub completed: u64,
    /// Segments that had to be sorted
    pub sorted: u64,
}

/// Where merged lines go.
pub struct MergeOutput<'w> {
    /// Lines
    pub lines: &'w mut dyn Write,
    /// What `lines` is called in messages
    pub name: PathBuf,
    /// Bad lines, if they do not stay in place, and what it is called
    pub bad: Option<(&'w mut dyn Write, PathBuf)>,
}

/// Merges all sources in order of time; lines of the same second in order of the sources.
///
/// A line that is no log line stays behind the one it follows. A source that cannot be read
/// to its end fails the merge before anything was written, unless it is a stream.
///
/// # Errors
///
/// [`SegmentError`] for what could not be read or written.
pub fn merge(
    sources: &[Source],
    options: MergeOptions<'_>,
    out: &mut MergeOutput<'_>,
    mut progress: impl FnMut(&Source, u64),
) -> Result<MergeReport, SegmentError> {
    let mut report = MergeReport::default();
    let temporary = |cause| SegmentError::Temporary { dir: options.temporary.to_owned(), cause };
    let mut in_order: Vec<(usize, Survey)> = Vec::new();
    let mut to_sort: Vec<(usize, u64)> = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        match Survey::of(source, |bytes| progress(source, bytes))? {
            Some(survey) if survey.order != Order::None => in_order.push((number, survey)),
            survey => {
                report.sorted += 1;
                to_sort.push((number, survey.map_or(u64::MAX, |survey| survey.len)));
            }
        }
    }
    // The many small files of users are sorted together, without a file open for each.
    in_order.sort_by_key(|(_, survey)| Reverse(survey.len));
    to_sort.extend(in_order.drain(STREAMS.min(in_order.len())..).map(|(n, s)| (n, s.len)));

    let mut sorter = Sorter::new(options.temporary, SORT);
    for (number, len) in to_sort {
        let source = &sources[number];
        let mut keyed = Keyed::open(source, number, len)?;
        while let Some(key) = keyed.next().map_err(|cause| keyed.broken(source, cause))? {
            sorter.add(key, keyed.lines.current()).map_err(temporary)?;
            if key.place.is_multiple_of(4096) {
                progress(source, keyed.bytes);
            }
        }
    }
    let mut streams: Vec<Box<dyn InOrder>> = vec![Box::new(sorter.finish().map_err(temporary)?)];
    for (number, survey) in in_order {
        let keyed = Keyed::open(&sources[number], number, survey.len)?;
        streams.push(match survey.order {
            Order::Window => Box::new(Windowed::new(keyed)),
            _ => Box::new(keyed),
        });
    }
    // From here on a source breaks off only if it was changed meanwhile.
    let changed = |cause| SegmentError::Again { cause };
    let mut merged = Merged::new(streams).map_err(changed)?;
    let mut seen = Seen::default();
    while let Some(key) = merged.advance().map_err(changed)? {
        let bytes = merged.current();
        if options.unique && key.kind == GOOD && !seen.is_new(key.time, bytes) {
            report.duplicates += 1;
            continue;
        }
        report.lines += u64::from(key.kind != PART);
        report.bad += u64::from(key.kind == BAD);
        let (to, name) = match &mut out.bad {
            Some((bad, name)) if matches!(key.kind, BAD | PART) => (&mut **bad, &*name),
            _ => (&mut *out.lines, &out.name),
        };
        let mut written = to.write_all(bytes);
        if key.kind != PART && !bytes.ends_with(b"\n") {
            report.completed += 1;
            // What a newline alone would make a line of the T3E gets a length that it has not.
            let end: &[u8] = if crate::block::is_cut(bytes) { b" len=000\n" } else { b"\n" };
            written = written.and_then(|()| to.write_all(end));
        }
        written.map_err(|cause| SegmentError::Write { path: name.clone(), cause })?;
    }
    Ok(report)
}

/// Log lines of the present second.
#[derive(Default)]
struct Seen {
    time: i64,
    lines: HashSet<Box<[u8]>>,
}

impl Seen {
    fn is_new(&mut self, time: i64, line: &[u8]) -> bool {
        if self.time != time {
            self.time = time;
            self.lines.clear();
        }
        self.lines.insert(line.strip_suffix(b"\n").unwrap_or(line).into())
    }
}

/// How far from order a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Not at all
    Sorted,
    /// No further than [`WINDOW`]
    Window,
    /// Further
    None,
}

/// What the first reading of a segment tells.
struct Survey {
    order: Order,
    /// Bytes of the file that are read
    len: u64,
}

impl Survey {
    /// None of what can be read only once.
    fn of(source: &Source, mut progress: impl FnMut(u64)) -> Result<Option<Survey>, SourceError> {
        let Source::File(path) = source else { return Ok(None) };
        let failed = |cause| SourceError::Open { source: source.clone(), cause };
        let about = fs::metadata(path).map_err(failed)?;
        if !about.is_file() && !about.is_dir() {
            return Ok(None);
        }
        let mut keyed = Keyed::open(source, 0, about.len())?;
        let mut disorder = Disorder::default();
        while let Some(key) = keyed.next().map_err(|cause| keyed.broken(source, cause))? {
            disorder.add(key.time, keyed.lines.current().len() as u64);
            if key.place.is_multiple_of(4096) {
                progress(keyed.bytes);
            }
        }
        Ok(Some(Survey { order: disorder.order(), len: about.len() }))
    }
}

/// Finds out how many bytes lie between a line and the first one it belongs before.
#[derive(Default)]
struct Disorder {
    /// Where a time later than all before came first, within the window
    highest: VecDeque<(i64, u64)>,
    /// The latest time before the window
    before: Option<i64>,
    at: u64,
    some: bool,
    too_much: bool,
}

impl Disorder {
    fn add(&mut self, time: i64, len: u64) {
        while let Some(&(highest, at)) = self.highest.front()
            && self.at - at > WINDOW as u64
        {
            self.before = Some(highest);
            self.highest.pop_front();
        }
        let latest = self.highest.back().map(|&(highest, _)| highest).or(self.before);
        if latest.is_none_or(|latest| time > latest) {
            self.highest.push_back((time, self.at));
        }
        self.some |= latest.is_some_and(|latest| time < latest);
        self.too_much |= self.before.is_some_and(|before| time < before);
        self.at += len;
    }

    fn order(&self) -> Order {
        match (self.some, self.too_much) {
            (_, true) => Order::None,
            (true, false) => Order::Window,
            (false, false) => Order::Sorted,
        }
    }
}

/// Lines with their keys, as they stand in a source.
struct Keyed {
    lines: RawLines<Box<dyn Read + Send>>,
    source: u32,
    place: u64,
    /// Time of the last line that had one
    time: i64,
    /// Bytes of text read
    bytes: u64,
}

impl Keyed {
    fn open(source: &Source, number: usize, most: u64) -> Result<Self, SourceError> {
        let reader = open(source, most)
            .map_err(|cause| SourceError::Open { source: source.clone(), cause })?;
        Ok(Keyed {
            lines: RawLines::new(reader),
            source: number as u32,
            place: 0,
            time: i64::MIN,
            bytes: 0,
        })
    }

    fn broken(&self, source: &Source, cause: io::Error) -> SourceError {
        SourceError::Broken { source: source.clone(), lines: self.place, cause }
    }

    fn next(&mut self) -> io::Result<Option<Key>> {
        let Some(piece) = self.lines.next()? else { return Ok(None) };
        let (time, kind) = judge(&piece);
        self.time = time.unwrap_or(self.time);
        self.place += 1;
        self.bytes += piece.bytes.len() as u64;
        Ok(Some(Key { time: self.time, source: self.source, place: self.place, kind }))
    }
}

impl InOrder for Keyed {
    fn advance(&mut self) -> io::Result<Option<Key>> {
        self.next()
    }

    fn current(&self) -> &[u8] {
        self.lines.current()
    }
}

/// Time and kind of a piece.
pub(crate) fn judge(piece: &Piece<'_>) -> (Option<i64>, u8) {
    if piece.continues {
        return (None, PART);
    }
    if !piece.begins {
        return (None, BAD);
    }
    let text = piece.text();
    match ended(text) {
        (time, true) if !(piece.is_unfinished() && crate::block::is_cut(text)) => (time, GOOD),
        (None, _) if text.starts_with(b"#") || text.iter().all(u8::is_ascii_whitespace) => {
            (None, OTHER)
        }
        (time, _) => (time, BAD),
    }
}

/// Puts lines that are nearly in order in order.
struct Windowed {
    keyed: Keyed,
    held: BinaryHeap<Reverse<(Key, Box<[u8]>)>>,
    bytes: usize,
    current: Box<[u8]>,
    ended: bool,
}

impl Windowed {
    fn new(keyed: Keyed) -> Self {
        Windowed { keyed, held: BinaryHeap::new(), bytes: 0, current: Box::default(), ended: false }
    }
}

impl InOrder for Windowed {
    fn advance(&mut self) -> io::Result<Option<Key>> {
        while !self.ended && self.bytes <= WINDOW {
            match self.keyed.next()? {
                None => self.ended = true,
                Some(key) => {
                    let bytes = self.keyed.lines.current();
                    self.bytes += bytes.len();
                    self.held.push(Reverse((key, bytes.into())));
                }
            }
        }
        let Some(Reverse((key, bytes))) = self.held.pop() else { return Ok(None) };
        self.bytes -= bytes.len();
        self.current = bytes;
        Ok(Some(key))
    }

    fn current(&self) -> &[u8] {
        &self.current
    }
}
