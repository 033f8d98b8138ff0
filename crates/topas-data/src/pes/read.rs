//! Reads the lines of all launches, in parallel, and tells the launches apart.

use std::io::Read;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use rustc_hash::FxHashMap;
use topas_format::civil::{Civil, Date, Time};
use topas_format::escape::Name;
use topas_format::field::{Lang, Lib, Mhz, Mode};
use topas_format::line::{Extras, Line};
use topas_format::number::whole;

use super::intern::Texts;
use super::piece::{self, PIECE, Piece, pieces};
use super::table::{Kept, Table};
use crate::scan::{scan, scan_text};
use crate::source::{Source, SourceError};
use crate::tally::Tally;

/// Latest `t=` that is believed: the last second of the year 9999.
const LATEST: u64 = 253_402_300_799;

/// One execution of a program, as its lines tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Launch id; empty if not known
    pub id: Box<[u8]>,
    /// Number of PEs it was started with; None where the launcher does not tell
    pub npes: Option<u32>,
    /// User; empty if not known
    pub user: Box<[u8]>,
    /// File name of the executable of its first line
    pub exe: Box<[u8]>,
    /// Nominal frequency of that line's processor in MHz
    pub mhz: Mhz,
    /// Batch or interactive
    pub mode: Mode,
    /// Language
    pub lang: Lang,
    /// Message passing library
    pub lib: Lib,
    /// MPI library as it names itself, blanks as `_`; empty if not known
    pub mpi: Box<[u8]>,
    /// Compiler, likewise
    pub compiler: Box<[u8]>,
    /// Job id of the batch system; empty if none
    pub job: Box<[u8]>,
    /// Day of its latest line, local time of the site
    pub date: Date,
    /// Time of day of that line
    pub time: Time,
    /// When that was: s since 1970-01-01 00:00 (UTC if its line has `t=`, else local time)
    pub end: i64,
    /// Number of its lines
    pub lines: u64,
}

impl Launch {
    fn new(line: &Line<'_>, extras: Extras<'_>) -> Self {
        let bytes = |name: Name<'_>| name.bytes().collect();
        let extra = |key: &[u8]| extras.name(key).map(bytes).unwrap_or_default();
        Launch {
            id: bytes(line.id),
            npes: line.npes.0,
            user: bytes(line.user),
            exe: bytes(line.exe),
            mhz: line.mhz,
            mode: line.mode,
            lang: line.lang,
            lib: line.lib,
            mpi: extra(b"mpi"),
            compiler: extra(b"cc"),
            job: extra(b"job"),
            date: line.date,
            time: line.time,
            end: i64::MIN,
            lines: 0,
        }
    }

    fn is_of(&self, line: &Line<'_>) -> bool {
        self.npes == line.npes.0 && Name::new(&self.id) == line.id
    }

    fn ended(&mut self, end: i64, date: Date, time: Time) {
        if end > self.end {
            (self.end, self.date, self.time) = (end, date, time);
        }
    }
}

/// Launches by number, in the order they were first seen.
#[derive(Debug, Default)]
struct Launches {
    all: Vec<Launch>,
    numbers: FxHashMap<(Box<[u8]>, Option<u32>), u32>,
}

impl Launches {
    /// The number of a line's launch; `last` is tried first and updated.
    #[inline]
    fn number(&mut self, line: &Line<'_>, extras: Extras<'_>, last: &mut u32) -> u32 {
        if !self.all.get(*last as usize).is_some_and(|launch| launch.is_of(line)) {
            let key = (line.id.bytes().collect(), line.npes.0);
            *last = self.find(key, || Launch::new(line, extras));
        }
        *last
    }

    fn find(&mut self, key: (Box<[u8]>, Option<u32>), new: impl FnOnce() -> Launch) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.all.push(new());
            // At most one launch a line.
            u32::try_from(self.all.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Takes those of `other`; gives the new number of each.
    fn take(&mut self, other: Launches) -> Vec<u32> {
        let take = |theirs: Launch| {
            let (end, date, time, lines) = (theirs.end, theirs.date, theirs.time, theirs.lines);
            let number =
                self.find((theirs.id.clone(), theirs.npes), || Launch { lines: 0, ..theirs });
            if let Some(ours) = self.all.get_mut(number as usize) {
                ours.ended(end, date, time);
                ours.lines += lines;
            }
            number
        };
        other.all.into_iter().map(take).collect()
    }
}

/// What was last seen of each text, for neighbours that agree.
#[derive(Default)]
struct Last {
    launch: u32,
    host: u32,
    exe: u32,
    ending: u32,
    why: u32,
}

/// Lines, with numbers of their own for texts and launches.
#[derive(Default)]
struct Batch {
    lines: Vec<Kept>,
    launches: Launches,
    texts: Texts,
    last: Last,
}

/// What was read of one piece.
#[derive(Default)]
struct Part {
    /// Lines with `v=`
    lines: Batch,
    /// Lines without: of 1999, or of today and torn before it
    old: Batch,
    tally: Tally,
}

impl Part {
    #[inline]
    fn add(&mut self, line: &Line<'_>, extras: Extras<'_>) {
        // It is always the first.
        let versioned = extras.text().starts_with(b" v=");
        if versioned { &mut self.lines } else { &mut self.old }.add(line, extras);
    }
}

impl Batch {
    #[inline]
    fn add(&mut self, line: &Line<'_>, extras: Extras<'_>) {
        let Batch { launches, texts, last, lines } = self;
        let launch = launches.number(line, extras, &mut last.launch);
        let mut kept = Kept::new(line, launch, texts.name(&line.exe, &mut last.exe));
        let mut end = None;
        for (key, value) in extras {
            match key {
                b"t" => end = whole(value).filter(|&t| t <= LATEST),
                b"host" => kept.host = texts.name(&Name::from_token(value), &mut last.host),
                b"end" => kept.ending = texts.number(value, &mut last.ending),
                b"why" => kept.why = texts.number(value, &mut last.why),
                b"cpu" => kept.cpu = small(value),
                b"numa" => kept.numa = small(value),
                b"cyc" => kept.cycles = whole(value),
                b"ins" => kept.instructions = whole(value),
                b"rss" => kept.rss = whole(value),
                _ => {}
            }
        }
        let end = end.map_or_else(|| local(line), |t| t as i64);
        kept.end = end;
        if let Some(launch) = launches.all.get_mut(launch as usize) {
            launch.ended(end, line.date, line.time);
            launch.lines += 1;
        }
        lines.push(kept);
    }
}

fn small(value: &[u8]) -> Option<u32> {
    whole(value).and_then(|n| u32::try_from(n).ok())
}

/// Seconds since 1970-01-01 00:00 local time.
fn local(line: &Line<'_>) -> i64 {
    let Civil { date, time } = Civil { date: line.date, time: line.time };
    let minutes = i64::from(time.hour) * 60 + i64::from(time.minute);
    date.days() * 86_400 + minutes * 60 + i64::from(time.second)
}

/// The lines of all launches.
pub struct Lines {
    pub(super) lines: Vec<Vec<Kept>>,
    pub(super) texts: Texts,
    launches: Vec<Launch>,
    /// What became of the lines
    pub tally: Tally,
}

impl Lines {
    /// All launches, the one that ended last first.
    pub fn launches(&self) -> impl Iterator<Item = &Launch> {
        let mut order: Vec<&Launch> = self.launches.iter().collect();
        // Of several that ended in the same second the one seen last is the newest.
        order.reverse();
        order.sort_by_key(|launch| std::cmp::Reverse(launch.end));
        order.into_iter()
    }

    /// The PEs of a launch of [`Lines::launches`].
    pub fn table(&self, launch: &Launch) -> Table {
        let same = |other: &Launch| (&other.id, other.npes) == (&launch.id, launch.npes);
        let number = self.launches.iter().position(same).unwrap_or(usize::MAX);
        Table::new(self, launch.clone(), u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// Reads all sources, plain files in pieces by up to `threads` threads. A source that
/// cannot be read, or not to its end, is told and the others are read. `progress` gets the
/// number of bytes of text read so far, from any thread.
pub fn read(
    sources: &[Source],
    threads: NonZero<usize>,
    progress: &(dyn Fn(u64) + Sync),
) -> (Lines, Vec<SourceError>) {
    read_in_pieces(sources, threads, PIECE, progress)
}

/// As [`read`], with the size of a piece in bytes.
fn read_in_pieces(
    sources: &[Source],
    threads: NonZero<usize>,
    size: u64,
    progress: &(dyn Fn(u64) + Sync),
) -> (Lines, Vec<SourceError>) {
    let pieces = pieces(sources, size);
    let next = AtomicUsize::new(0);
    let bytes = AtomicU64::new(0);
    let done = Mutex::new(Vec::new());
    let work = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(piece) = pieces.get(number) else { break };
        let mut part = Part::default();
        let mut before = 0;
        let result = read_piece(sources, piece, &mut part, |so_far| {
            progress(bytes.fetch_add(so_far - before, Ordering::Relaxed) + so_far - before);
            before = so_far;
        });
        // A panic of another thread aborts, so the lock is whole.
        if let Ok(mut done) = done.lock() {
            done.push((number, part, result.err()));
        }
    };
    let threads = threads.get().min(pieces.len()).max(1);
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(number, ..)| *number);
    joined(&pieces, done)
}

fn read_piece(
    sources: &[Source],
    piece: &Piece,
    part: &mut Part,
    mut progress: impl FnMut(u64),
) -> Result<(), SourceError> {
    let Some(source) = sources.get(piece.source) else { return Ok(()) };
    let mut tally = Tally::default();
    let mut each = |line: &Line<'_>, extras: Extras<'_>| part.add(line, extras);
    let result = match piece.bytes {
        None => scan(source, &mut tally, each, progress),
        Some((from, to)) => piece::Lines::open(source, from, to).and_then(|lines| {
            let reader: &mut dyn Read = &mut { lines };
            scan_text(source, reader, &mut tally, &mut each, &mut progress)
        }),
    };
    part.tally = tally;
    result
}

/// Puts the parts together, in the order of the input.
fn joined(
    pieces: &[Piece],
    parts: Vec<(usize, Part, Option<SourceError>)>,
) -> (Lines, Vec<SourceError>) {
    // A line that was torn in its id looks like a line of 1999 with another id.
    let torn = parts.iter().any(|(_, part, _)| !part.lines.lines.is_empty());
    let mut launches = Launches::default();
    let mut texts = Texts::default();
    let mut tally = Tally::default();
    let mut lines = Vec::new();
    let mut errors: Vec<SourceError> = Vec::new();
    // Source of the last part, and its lines so far.
    let (mut source, mut before) = (usize::MAX, 0);
    for (number, part, error) in parts {
        let of = pieces.get(number).map_or(0, |piece| piece.source);
        if of != source {
            (source, before) = (of, 0);
        }
        let read = part.tally.lines();
        tally.append(part.tally, before);
        before += read;
        let mut batch = if torn {
            tally.unfinished(part.old.lines.len() as u64);
            part.lines
        } else {
            part.old
        };
        let launch_numbers = launches.take(batch.launches);
        let text_numbers = texts.take(batch.texts);
        batch.lines.iter_mut().for_each(|kept| kept.renumber(&launch_numbers, &text_numbers));
        lines.push(batch.lines);
        errors.extend(error);
    }
    (Lines { lines, texts, launches: launches.all, tally }, errors)
}
