//! Reads the lines of all launches, in parallel, and tells the launches apart.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustc_hash::FxHashMap;
use topas_format::civil::{Civil, Date, Time};
use topas_format::escape::Name;
use topas_format::field::{Lang, Lib, Mhz, Mode};
use topas_format::line::{Extras, Line};

use super::intern::InternedTexts;
use super::table::{KeptLine, PeTable, sizes};
use crate::block;
use crate::feed::{Buffer, Feed, locked};
use crate::first_extras::{Claim, believed, claim};
use crate::source::{Source, SourceError};
use crate::tally::{Example, Tally};

/// What a launch takes besides its lines, in B: its facts here and in the table of keys. Measured.
const LAUNCH: u64 = 900;

/// What is read needs more memory than it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinesTooMany {
    /// Memory that it may take, in B
    pub memory: u64,
}

impl std::fmt::Display for LinesTooMany {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the lines need more than {} MiB of memory", self.memory >> 20)
    }
}

impl std::error::Error for LinesTooMany {}

/// The memory that all threads together may fill.
struct Room {
    memory: u64,
    taken: AtomicU64,
}

impl Room {
    fn take(&self, bytes: u64) {
        self.taken.fetch_add(bytes, Ordering::Relaxed);
    }

    fn is_full(&self) -> bool {
        self.taken.load(Ordering::Relaxed) > self.memory
    }
}

/// One execution of a program, as its lines tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeLaunch {
    /// Launch id; empty if not known
    pub id: Box<[u8]>,
    /// Number of PEs it was started with; None where the launcher does not tell
    pub npes: Option<u32>,
    /// User; empty if not known
    pub user: Box<[u8]>,
    /// Numeric user id; None where its lines have none
    pub uid: Option<u64>,
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
    /// Source and block of its first line
    first: (usize, u64),
}

impl PeLaunch {
    fn new(line: &Line<'_>, extras: Extras<'_>, first: (usize, u64)) -> Self {
        let bytes = |name: Name<'_>| name.bytes().collect();
        let extra = |key: &[u8]| extras.name(key).map(bytes).unwrap_or_default();
        PeLaunch {
            id: bytes(line.id),
            npes: line.npes.0,
            user: bytes(line.user),
            uid: user_of(extras),
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
            first,
        }
    }

    fn is_of(&self, line: &Line<'_>, uid: Option<u64>) -> bool {
        let of_user = self.uid == uid && (uid.is_some() || Name::new(&self.user) == line.user);
        of_user && self.npes == line.npes.0 && Name::new(&self.id) == line.id
    }

    fn key(&self) -> LaunchKey {
        let user = if self.uid.is_none() { self.user.clone() } else { Box::default() };
        LaunchKey { id: self.id.clone(), npes: self.npes, uid: self.uid, user }
    }

    fn ended(&mut self, end: i64, date: Date, time: Time) {
        if end > self.end {
            (self.end, self.date, self.time) = (end, date, time);
        }
    }
}

/// The user id that a line tells.
fn user_of(extras: Extras<'_>) -> Option<u64> {
    match claim(extras) {
        Claim::Uid(uid) => Some(uid),
        Claim::None | Claim::Unclear => None,
    }
}

/// What lines of a launch have in common. Ids of different users may be the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LaunchKey {
    id: Box<[u8]>,
    npes: Option<u32>,
    uid: Option<u64>,
    /// Of lines without `uid=`
    user: Box<[u8]>,
}

/// Launches by number, in the order they were first seen.
#[derive(Default)]
struct Launches {
    all: Vec<PeLaunch>,
    numbers: FxHashMap<LaunchKey, u32>,
    /// Source and block that are being read
    place: (usize, u64),
}

impl Launches {
    /// The number of a line's launch; `last` is tried first and updated.
    #[inline]
    fn number(&mut self, line: &Line<'_>, extras: Extras<'_>, last: &mut u32) -> u32 {
        let uid = user_of(extras);
        if !self.all.get(*last as usize).is_some_and(|launch| launch.is_of(line, uid)) {
            let id = line.id.bytes().collect();
            let user = if uid.is_none() { line.user.bytes().collect() } else { Box::default() };
            let key = LaunchKey { id, npes: line.npes.0, uid, user };
            let place = self.place;
            *last = self.find(key, || PeLaunch::new(line, extras, place));
        }
        *last
    }

    fn find(&mut self, key: LaunchKey, new: impl FnOnce() -> PeLaunch) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.all.push(new());
            // At most one launch a line.
            u32::try_from(self.all.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// Takes those of `other`; gives the new number of each.
    fn take(&mut self, other: Launches) -> Vec<u32> {
        let take = |theirs: PeLaunch| {
            let number = self.find(theirs.key(), || theirs.clone());
            if let Some(ours) = self.all.get_mut(number as usize)
                && *ours != theirs
            {
                // What the first line says, and the end of the last.
                let (end, date, time) = (theirs.end, theirs.date, theirs.time);
                let lines = ours.lines + theirs.lines;
                if theirs.first < ours.first {
                    let (our_end, our_date, our_time) = (ours.end, ours.date, ours.time);
                    *ours = theirs;
                    ours.ended(our_end, our_date, our_time);
                }
                ours.ended(end, date, time);
                ours.lines = lines;
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

/// Launches and texts of lines, by numbers of their own.
#[derive(Default)]
struct LineNames {
    launches: Launches,
    texts: InternedTexts,
    last: Last,
}

/// What one thread has read.
#[derive(Default)]
struct PeReader {
    /// Of lines with `v=`
    names: LineNames,
    /// Of lines without: of 1999
    old: LineNames,
    blocks: Vec<Read>,
    tally: Tally,
    block_room: block::BlockRoom,
}

/// What stood in a block.
struct Read {
    /// Place of the source, and number of the block in it
    place: (usize, u64),
    lines: Vec<KeptLine>,
    /// Lines without `v=`
    old: Vec<KeptLine>,
    /// Number of lines of any kind
    count: u64,
    examples: Vec<Example>,
}

impl PeReader {
    /// Takes blocks of a source until there are no more, or no more room.
    fn read(
        &mut self,
        source: usize,
        feed: &Feed<'_>,
        buffer: &mut Buffer,
        room: &Room,
        progress: &dyn Fn(),
    ) {
        while !room.is_full()
            && let Some((block, text)) = feed.next(buffer)
        {
            let before = self.names.bytes() + self.old.bytes();
            let PeReader { names, old, tally, block_room, .. } = self;
            (names.launches.place, old.launches.place) = ((source, block), (source, block));
            // As many as in the last block, so that the lines are not moved as they grow.
            let like = self.blocks.last().map_or((0, 0), |last| (last.lines.len(), last.old.len()));
            let (mut kept, mut kept_old) = (roomy(like.0), roomy(like.1));
            let each = |line: &Line<'_>, extras: Extras<'_>| {
                // It is always the first.
                if extras.text().starts_with(b" v=") {
                    kept.push(names.kept(line, extras));
                } else {
                    kept_old.push(old.kept(line, extras));
                }
            };
            let mut lines = block::BlockLines::new(feed, tally, each);
            lines.read(text, block_room);
            let count = lines.number;
            let examples = self.tally.take_examples();
            let place = (source, block);
            let names = self.names.bytes() + self.old.bytes() - before;
            room.take(names + ((kept.len() + kept_old.len()) * size_of::<KeptLine>()) as u64);
            self.blocks.push(Read { place, lines: kept, old: kept_old, count, examples });
            progress();
        }
    }
}

/// Room for somewhat more lines than there were.
fn roomy(lines: usize) -> Vec<KeptLine> {
    Vec::with_capacity(lines + lines / 16)
}

impl LineNames {
    /// What its launches and texts take, in B.
    fn bytes(&self) -> u64 {
        self.launches.all.len() as u64 * LAUNCH + self.texts.bytes()
    }

    #[inline]
    fn kept(&mut self, line: &Line<'_>, extras: Extras<'_>) -> KeptLine {
        let LineNames { launches, texts, last } = self;
        let launch = launches.number(line, extras, &mut last.launch);
        let mut kept = KeptLine::new(line, launch, texts.name(&line.exe, &mut last.exe));
        let mut end = None;
        let mut rest = extras;
        while let Some(token) = rest.next_slot() {
            let (key, value) = token.at_equals();
            let small = || value.number().and_then(|number| u32::try_from(number).ok());
            match key {
                b"t" => end = value.count().and_then(believed),
                b"host" => {
                    kept.host = texts.name(&Name::from_token(value.bytes()), &mut last.host);
                }
                b"end" => kept.ending = texts.number(value.bytes(), &mut last.ending),
                b"why" => kept.why = texts.number(value.bytes(), &mut last.why),
                b"cpu" => kept.cpu = small(),
                b"numa" => kept.numa = small(),
                b"cyc" => kept.cycles = value.count(),
                b"ins" => kept.instructions = value.count(),
                b"rss" => kept.rss = value.count(),
                _ => {}
            }
        }
        let end = end.unwrap_or_else(|| local(line));
        kept.end = end;
        if let Some(launch) = launches.all.get_mut(launch as usize) {
            launch.ended(end, line.date, line.time);
            launch.lines += 1;
        }
        kept
    }
}

/// Seconds since 1970-01-01 00:00 local time.
fn local(line: &Line<'_>) -> i64 {
    let Civil { date, time } = Civil { date: line.date, time: line.time };
    let minutes = i64::from(time.hour) * 60 + i64::from(time.minute);
    date.days() * 86_400 + minutes * 60 + i64::from(time.second)
}

/// The lines of all launches.
pub struct PeLines {
    pub(super) lines: Vec<Vec<KeptLine>>,
    pub(super) texts: InternedTexts,
    launches: Vec<PeLaunch>,
    /// Whether they have `v=`
    pub(super) versioned: bool,
    /// What became of the lines
    pub tally: Tally,
}

impl PeLines {
    /// All launches, the one that ended last first.
    pub fn launches(&self) -> impl Iterator<Item = &PeLaunch> {
        let mut order: Vec<&PeLaunch> = self.launches.iter().collect();
        // Of several that ended in the same second the one seen last is the newest.
        order.reverse();
        order.sort_by_key(|launch| std::cmp::Reverse((launch.end, launch.first)));
        order.into_iter()
    }

    /// The launches in that order, each with its number of PEs and of hosts.
    pub fn list(&self) -> Vec<(&PeLaunch, usize, usize)> {
        let sizes = sizes(self, self.launches.len());
        let known =
            self.launches.iter().zip(sizes).map(|(launch, (pes, hosts))| (launch, pes, hosts));
        let mut known: Vec<_> = known.collect();
        known.reverse();
        known.sort_by_key(|(launch, ..)| std::cmp::Reverse((launch.end, launch.first)));
        known
    }

    /// The PEs of a launch of [`PeLines::launches`].
    pub fn table(&self, launch: &PeLaunch) -> PeTable {
        let key = launch.key();
        let same = |other: &PeLaunch| other.key() == key;
        let number = self.launches.iter().position(same).unwrap_or(usize::MAX);
        PeTable::new(self, launch.clone(), u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// Reads all sources by up to `threads` threads: each takes short files as a whole, and all
/// of them blocks of long ones and of streams. A source that cannot be read, or not to its
/// end, is told and the others are read. `progress` gets the number of bytes read so far,
/// compressed as they are, from any thread.
///
/// # Errors
///
/// [`LinesTooMany`] if what is kept of all lines takes more than `memory` bytes.
pub fn read(
    sources: &[Source],
    threads: NonZero<usize>,
    memory: u64,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(PeLines, Vec<SourceError>), LinesTooMany> {
    let room = Room { memory, taken: AtomicU64::new(0) };
    let bytes = Arc::new(AtomicU64::new(0));
    let report = || progress(bytes.load(Ordering::Relaxed));
    let failures = Mutex::new(Vec::new());
    let (short, long): (Vec<usize>, Vec<usize>) =
        (0..sources.len()).partition(|&place| is_short(&sources[place]));
    let mut readers: Vec<PeReader> = Vec::new();
    readers.resize_with(threads.get(), PeReader::default);

    let next = AtomicUsize::new(0);
    on_all(&mut readers, short.len(), |reader, buffer| {
        while let Some(&place) = short.get(next.fetch_add(1, Ordering::Relaxed)) {
            match Feed::open(&sources[place], Arc::clone(&bytes)) {
                Ok(feed) => {
                    reader.read(place, &feed, buffer, &room, &report);
                    let lines = reader.blocks.iter().filter(|read| read.place.0 == place);
                    let lines = lines.map(|read| read.count).sum();
                    locked(&failures).extend(feed.failure(lines).map(|error| (place, error)));
                }
                Err(error) => locked(&failures).push((place, error)),
            }
        }
    });
    for place in long {
        let feed = match Feed::open(&sources[place], Arc::clone(&bytes)) {
            Ok(feed) => feed,
            Err(error) => {
                locked(&failures).push((place, error));
                continue;
            }
        };
        on_all(&mut readers, usize::MAX, |reader, buffer| {
            reader.read(place, &feed, buffer, &room, &report)
        });
        let reads = readers.iter().flat_map(|reader| &reader.blocks);
        let lines = reads.filter(|read| read.place.0 == place).map(|read| read.count).sum();
        locked(&failures).extend(feed.failure(lines).map(|error| (place, error)));
    }

    if room.is_full() {
        return Err(LinesTooMany { memory });
    }
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_by_key(|(place, _)| *place);
    Ok((joined(readers), failures.into_iter().map(|(_, error)| error).collect()))
}

/// Files that one thread reads by itself, in B.
const SHORT: u64 = 4 << 20;

/// Whether a source is a file that is not worth being divided; also what cannot be opened.
fn is_short(source: &Source) -> bool {
    match source.about() {
        None => false,
        Some(about) => about.map_or(true, |about| about.is_file() && about.len() <= SHORT),
    }
}

/// Runs `work` with each reader on a thread of its own, as many as there are tasks.
fn on_all(
    readers: &mut [PeReader],
    tasks: usize,
    work: impl Fn(&mut PeReader, &mut Buffer) + Sync,
) {
    let count = readers.len().min(tasks);
    let work = &work;
    thread::scope(|scope| {
        let (first, others) = match readers.get_mut(..count).and_then(<[PeReader]>::split_first_mut)
        {
            Some(split) => split,
            None => return,
        };
        for reader in others {
            scope.spawn(move || work(reader, &mut Buffer::new()));
        }
        work(first, &mut Buffer::new());
    });
}

/// Puts together what all threads have read, in the order of the input.
fn joined(mut readers: Vec<PeReader>) -> PeLines {
    // Where lines have versions, a line of 1999 is none of the run: it has no place among them.
    let versioned =
        readers.iter().flat_map(|reader| &reader.blocks).any(|read| !read.lines.is_empty());
    let mut launches = Launches::default();
    let mut texts = InternedTexts::default();
    let mut tally = Tally::default();
    let mut blocks: Vec<(Read, usize)> = Vec::new();
    let mut numbers = Vec::new();
    for (at, reader) in readers.iter_mut().enumerate() {
        tally.merge(&reader.tally);
        let names = std::mem::take(if versioned { &mut reader.names } else { &mut reader.old });
        numbers.push((launches.take(names.launches), texts.take(names.texts)));
        blocks.extend(reader.blocks.drain(..).map(|read| (read, at)));
    }
    blocks.sort_by_key(|(read, _)| read.place);
    let mut lines = Vec::with_capacity(blocks.len());
    // Source of the last block, and its lines so far.
    let (mut source, mut before) = (usize::MAX, 0);
    for (mut read, at) in blocks {
        if read.place.0 != source {
            (source, before) = (read.place.0, 0);
        }
        let numbered = |example: Example| Example { line: example.line + before, ..example };
        tally.add_examples(read.examples.into_iter().map(numbered).collect());
        before += read.count;
        if versioned {
            tally.unfinished(read.old.len() as u64);
        } else {
            read.lines = read.old;
        }
        let (launch_numbers, text_numbers) = &numbers[at];
        read.lines.iter_mut().for_each(|kept| kept.renumber(launch_numbers, text_numbers));
        lines.push(read.lines);
    }
    PeLines { lines, texts, launches: launches.all, versioned, tally }
}
