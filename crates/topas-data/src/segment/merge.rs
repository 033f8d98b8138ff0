//! Merges segments by the time their lines ended.
//!
//! Segments are nearly in order, because a line is written when its program ends. Each is
//! read twice: once to see how far from order it is, and once to be merged, through a window
//! that puts it in order. What no window helps goes through a sort with temporary files.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use topas_format::line::Line;

use crate::block::behind_torn;
use crate::own::OwnProfiles;
use crate::profile_line;
use crate::segment::raw::{RawLine, RawLines, ended};
use crate::segment::sort::{InOrder, LineSortKey, Merged, Sorter};
use crate::segment::{SegmentError, open};
use crate::source::{Source, SourceError};
use crate::vouch::{Foreign, Vouch, is_marked, mark};

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
/// A log line, or one of an MPI profile, that the owner of its file does not vouch for.
const FOREIGN: u8 = 4;

/// How to merge.
#[derive(Clone, Copy, Debug)]
pub struct MergeOptions<'o> {
    /// Whether log lines that are equal byte for byte are written once
    pub unique: bool,
    /// Directory for temporary files
    pub temporary: &'o Path,
}

/// What was merged.
#[derive(Debug, Default)]
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
    /// Lines among them that the owner of their file does not vouch for
    pub foreign: Foreign,
    /// Sources that could not be read, or not to their end
    pub failed: Vec<SourceError>,
}

/// How far a merge is.
#[derive(Clone, Copy, Debug)]
pub enum MergeProgress<'s> {
    /// A source is read, for the first or the second time
    Reading {
        /// The source
        source: &'s Source,
        /// Bytes of text read of it
        bytes: u64,
    },
    /// Lines are written in the order of their times
    Writing {
        /// Lines so far
        lines: u64,
    },
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
/// A line that is no log line stays behind the one it follows. Of a source that cannot be read
/// to its end the lines before the break are merged, and the report says what happened.
///
/// A line that the owner of its file does not vouch for becomes a comment that says whose file it
/// stood in: the merged file has another owner, and would vouch for it.
///
/// # Errors
///
/// [`SegmentError`] for what could not be read or written.
pub fn merge(
    sources: &[Source],
    options: MergeOptions<'_>,
    out: &mut MergeOutput<'_>,
    mut progress: impl FnMut(MergeProgress<'_>),
) -> Result<MergeReport, SegmentError> {
    let mut report = MergeReport::default();
    let temporary = |cause| SegmentError::Temporary { dir: options.temporary.to_owned(), cause };
    let mut in_order: Vec<(usize, Survey)> = Vec::new();
    let mut to_sort: Vec<(usize, Survey)> = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        match Survey::of(source, &mut report.failed, |bytes| {
            progress(MergeProgress::Reading { source, bytes });
        }) {
            Err(error) => report.failed.push(error),
            Ok(survey) if survey.order != SegmentOrder::None => in_order.push((number, survey)),
            Ok(survey) => {
                report.sorted += 1;
                to_sort.push((number, survey));
            }
        }
    }
    // The many small files of users are sorted together, without a file open for each.
    in_order.sort_by_key(|(_, survey)| Reverse(survey.len));
    to_sort.extend(in_order.drain(STREAMS.min(in_order.len())..));
    // The owners of files that only they vouch for, by the number of the source.
    let mut owners = vec![None; sources.len()];

    let mut sorter = Sorter::new(options.temporary, SORT);
    for (number, survey) in to_sort {
        let source = &sources[number];
        let mut keyed = match Keyed::open(source, number, &survey) {
            Ok(keyed) => keyed,
            Err(error) => {
                report.failed.push(error);
                continue;
            }
        };
        owners[number] = keyed.vouch.owner();
        loop {
            let key = match keyed.next() {
                Ok(Some(key)) => key,
                Ok(None) => break,
                Err(cause) => {
                    report.failed.push(keyed.broken(source, cause));
                    break;
                }
            };
            sorter.add(key, keyed.lines.current()).map_err(temporary)?;
            if key.place.is_multiple_of(4096) {
                progress(MergeProgress::Reading { source, bytes: keyed.bytes });
            }
        }
    }
    // A source breaks off in its second reading if it was changed meanwhile.
    let changed = Changed::default();
    let mut streams: Vec<Box<dyn InOrder>> = vec![Box::new(sorter.finish().map_err(temporary)?)];
    for (number, survey) in in_order {
        let keyed = match Keyed::open(&sources[number], number, &survey) {
            Ok(keyed) => keyed,
            Err(error) => {
                report.failed.push(error);
                continue;
            }
        };
        owners[number] = keyed.vouch.owner();
        streams.push(match survey.order {
            SegmentOrder::Window => Box::new(Windowed::new(keyed, &changed)),
            _ => Box::new(OrderedSource { keyed, changed: Rc::clone(&changed) }),
        });
    }
    let mut merged = Merged::new(streams).map_err(temporary)?;
    let mut seen = SecondsLines::default();
    while let Some(key) = merged.advance().map_err(temporary)? {
        let bytes = merged.current();
        if options.unique && key.kind == GOOD && !seen.is_new(key.time, bytes) {
            report.duplicates += 1;
            continue;
        }
        report.lines += u64::from(key.kind != PART);
        if report.lines.is_multiple_of(4096) {
            progress(MergeProgress::Writing { lines: report.lines });
        }
        report.bad += u64::from(key.kind == BAD);
        let owner = owners.get(key.source as usize).copied().flatten();
        let marked =
            owner.filter(|_| key.kind == FOREIGN).map(|owner| [&mark(owner), bytes].concat());
        let text = marked.as_deref().unwrap_or(bytes);
        // What a merge before this one has set apart is still foreign.
        if marked.is_some() || owner.is_none() && key.kind == OTHER {
            let stranger = Vouch::All.marked(text.strip_suffix(b"\n").unwrap_or(text));
            stranger.into_iter().for_each(|stranger| report.foreign.add(stranger));
        }
        let (to, name) = match &mut out.bad {
            Some((bad, name)) if matches!(key.kind, BAD | PART) => (&mut **bad, &*name),
            _ => (&mut *out.lines, &out.name),
        };
        let mut written = to.write_all(text);
        if key.kind != PART && !bytes.ends_with(b"\n") {
            report.completed += 1;
            written = written.and_then(|()| to.write_all(b"\n"));
        }
        written.map_err(|cause| SegmentError::Write { path: name.clone(), cause })?;
    }
    drop(merged);
    for (number, lines, cause) in changed.take() {
        let source = sources[number as usize].clone();
        report.failed.push(SourceError::Broken { source, lines, cause });
    }
    Ok(report)
}

/// Sources that broke off while they were merged: number, pieces before, why.
type Changed = Rc<RefCell<Vec<(u32, u64, io::Error)>>>;

/// Log lines of the present second.
#[derive(Default)]
struct SecondsLines {
    time: i64,
    lines: HashSet<Box<[u8]>>,
}

impl SecondsLines {
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
enum SegmentOrder {
    /// Not at all
    Sorted,
    /// No further than [`WINDOW`]
    Window,
    /// Further
    None,
}

/// What the first reading of a segment tells.
struct Survey {
    order: SegmentOrder,
    /// Bytes of the file that are read
    len: u64,
    /// Pieces that could be read of them
    pieces: u64,
}

/// What is read once and in any order.
const STREAM: Survey = Survey { order: SegmentOrder::None, len: u64::MAX, pieces: u64::MAX };

impl Survey {
    /// Reads a file, if it can be read twice. Where it breaks off goes to `failed`.
    fn of(
        source: &Source,
        failed: &mut Vec<SourceError>,
        mut progress: impl FnMut(u64),
    ) -> Result<Survey, SourceError> {
        let unknown = |cause| SourceError::Open { source: source.clone(), cause };
        let Some(about) = source.about() else { return Ok(STREAM) };
        let about = about.map_err(unknown)?;
        if !about.is_file() && !about.is_dir() {
            return Ok(STREAM);
        }
        let mut survey = Survey { len: about.len(), ..STREAM };
        let mut keyed = Keyed::open(source, 0, &survey)?;
        let mut disorder = Disorder::default();
        loop {
            let key = match keyed.next() {
                Ok(Some(key)) => key,
                Ok(None) => break,
                Err(cause) => {
                    survey.pieces = keyed.place;
                    failed.push(keyed.broken(source, cause));
                    break;
                }
            };
            disorder.add(key.time, keyed.lines.current().len() as u64);
            if key.place.is_multiple_of(4096) {
                progress(keyed.bytes);
            }
        }
        survey.order = disorder.order();
        Ok(survey)
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

    fn order(&self) -> SegmentOrder {
        match (self.some, self.too_much) {
            (_, true) => SegmentOrder::None,
            (true, false) => SegmentOrder::Window,
            (false, false) => SegmentOrder::Sorted,
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
    /// Pieces that are read
    most: u64,
    vouch: Vouch,
    /// What was found out about lines of MPI profiles
    before: OwnProfiles,
}

impl Keyed {
    fn open(source: &Source, number: usize, survey: &Survey) -> Result<Self, SourceError> {
        let (reader, vouch) = open(source, survey.len)
            .map_err(|cause| SourceError::Open { source: source.clone(), cause })?;
        Ok(Keyed {
            lines: RawLines::new(reader),
            source: number as u32,
            place: 0,
            time: i64::MIN,
            bytes: 0,
            most: survey.pieces,
            vouch,
            before: OwnProfiles::default(),
        })
    }

    fn broken(&self, source: &Source, cause: io::Error) -> SourceError {
        SourceError::Broken { source: source.clone(), lines: self.place, cause }
    }

    /// The next one; a source that breaks off now ends there.
    fn next_or_end(&mut self, changed: &Changed) -> Option<LineSortKey> {
        self.next().unwrap_or_else(|cause| {
            changed.borrow_mut().push((self.source, self.place, cause));
            self.most = 0;
            None
        })
    }

    fn next(&mut self) -> io::Result<Option<LineSortKey>> {
        if self.place >= self.most {
            return Ok(None);
        }
        let Some(piece) = self.lines.next()? else { return Ok(None) };
        let (time, mut kind) = judge(&piece);
        if self.vouch.owner().is_some() && is_foreign(&piece, kind, &self.vouch, &mut self.before) {
            kind = FOREIGN;
        }
        self.time = time.unwrap_or(self.time);
        self.place += 1;
        self.bytes += piece.bytes.len() as u64;
        Ok(Some(LineSortKey { time: self.time, source: self.source, place: self.place, kind }))
    }
}

/// A source that is in order.
struct OrderedSource {
    keyed: Keyed,
    changed: Changed,
}

impl InOrder for OrderedSource {
    fn advance(&mut self) -> io::Result<Option<LineSortKey>> {
        Ok(self.keyed.next_or_end(&self.changed))
    }

    fn current(&self) -> &[u8] {
        self.keyed.lines.current()
    }
}

/// Whether the owner of a file, the only one who vouches for its lines, does not vouch for this
/// one; also what looks as if it had been set apart, which only its reader does.
pub(crate) fn is_foreign(
    piece: &RawLine<'_>,
    kind: u8,
    vouch: &Vouch,
    before: &mut OwnProfiles,
) -> bool {
    let text = piece.text();
    match kind {
        GOOD => match Line::parse(text) {
            Ok((line, extras)) => vouch.line(line.user, extras).is_err(),
            Err(_) => vouch.profile(text, before).is_err(),
        },
        OTHER => vouch.owner().is_some() && is_marked(text),
        BAD => match behind_torn(text).filter(|_| piece.begins) {
            Some((line, extras, _)) => vouch.line(line.user, extras).is_err(),
            None => profile_line::behind_torn(text)
                .is_some_and(|whole| piece.begins && vouch.profile(whole, before).is_err()),
        },
        _ => false,
    }
}

/// Time and kind of a piece.
pub(crate) fn judge(piece: &RawLine<'_>) -> (Option<i64>, u8) {
    if piece.continues {
        return (None, PART);
    }
    if !piece.begins {
        return (None, BAD);
    }
    let text = piece.text();
    // Before a look at what stands at its end: a comment can hold a whole line.
    if text.starts_with(b"#") {
        return (None, OTHER);
    }
    match ended(text) {
        (time, true) => (time, GOOD),
        (None, _) if text.iter().all(u8::is_ascii_whitespace) => (None, OTHER),
        (time, _) => (time, BAD),
    }
}

/// Puts lines that are nearly in order in order.
struct Windowed {
    keyed: Keyed,
    held: BinaryHeap<Reverse<(LineSortKey, Box<[u8]>)>>,
    bytes: usize,
    current: Box<[u8]>,
    ended: bool,
    changed: Changed,
}

impl Windowed {
    fn new(keyed: Keyed, changed: &Changed) -> Self {
        Windowed {
            keyed,
            held: BinaryHeap::new(),
            bytes: 0,
            current: Box::default(),
            ended: false,
            changed: Rc::clone(changed),
        }
    }
}

impl InOrder for Windowed {
    fn advance(&mut self) -> io::Result<Option<LineSortKey>> {
        while !self.ended && self.bytes <= WINDOW {
            match self.keyed.next_or_end(&self.changed) {
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
