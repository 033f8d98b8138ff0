//! Threads that read all sources together and keep what the question asks for.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rustc_hash::FxHasher;
use topas_format::escape::Name;
use topas_format::line::{Extras, IndexedLine, Line};

use super::TemporaryError;
use super::columns::ColumnGroups;
use super::join::part;
use super::line_hash::line_hash;
use super::record::{LineFacts, Marks, RecordForm};
use super::store::StoreWriter;
use crate::block::{BlockLines, BlockRoom, LineSink};
use crate::feed::{Buffer, Feed, locked};
use crate::field::Field;
use crate::first_extras::{Claim, FirstExtras};
use crate::group::{Groups, SeenGroups};
use crate::mpi_times::ProfileFragments;
use crate::question::Question;
use crate::source::{Source, SourceError};
use crate::tally::{Example, Tally};
use crate::when::Clock;

/// The number of ranks where the launcher does not tell it; no launch has none.
const UNTOLD: u32 = 0;

/// Sources that all threads read.
pub(super) struct SharedReading<'s> {
    sources: &'s [Source],
    /// Bytes read of all of them
    bytes: Arc<AtomicU64>,
    finished: AtomicUsize,
    /// Nothing more is to be read: there will be no answer
    pub(super) stopped: AtomicBool,
    open: Mutex<OpenFeeds<'s>>,
    opened: Condvar,
    outcomes: Mutex<Vec<(usize, SourceOutcome)>>,
}

/// Sources that are open, and those to come.
#[derive(Default)]
struct OpenFeeds<'s> {
    /// Number of the next source
    next: usize,
    /// Threads that are opening one
    opening: usize,
    active: Vec<Arc<Active<'s>>>,
}

/// A source that threads take blocks of.
struct Active<'s> {
    number: usize,
    feed: Feed<'s>,
    order: Mutex<BlockOrder>,
}

/// Puts the blocks of a source into their order, to number its lines.
#[derive(Default)]
struct BlockOrder {
    /// Blocks that are done and follow each other from the first
    done: u64,
    /// Their lines
    lines: u64,
    /// Blocks that are done before another
    early: BTreeMap<u64, (u64, Vec<Example>)>,
    /// Bad lines
    examples: Vec<Example>,
}

impl BlockOrder {
    fn add(&mut self, block: u64, lines: u64, examples: Vec<Example>) {
        self.early.insert(block, (lines, examples));
        while let Some((lines, examples)) = self.early.remove(&self.done) {
            let before = self.lines;
            self.done += 1;
            self.lines += lines;
            let numbered = |e: Example| Example { line: e.line + before, ..e };
            self.examples.extend(examples.into_iter().map(numbered));
            self.examples.truncate(Tally::EXAMPLES);
        }
    }
}

/// What is known of a source at its end.
struct SourceOutcome {
    failure: Option<SourceError>,
    examples: Vec<Example>,
}

impl<'s> SharedReading<'s> {
    pub(super) fn new(sources: &'s [Source]) -> Self {
        SharedReading {
            sources,
            bytes: Arc::default(),
            finished: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            open: Mutex::default(),
            opened: Condvar::new(),
            outcomes: Mutex::default(),
        }
    }

    /// A source that is read from `reader`.
    pub(super) fn of_reader(source: &'s Source, reader: impl Read + Send + 's) -> Self {
        let reading = SharedReading::new(&[]);
        match Feed::of_reader(source, reader, Arc::clone(&reading.bytes)) {
            Ok(feed) => {
                let active = Active { number: 0, feed, order: Mutex::default() };
                locked(&reading.open).active.push(Arc::new(active));
            }
            Err(error) => {
                reading.finish(0, SourceOutcome { failure: Some(error), examples: Vec::new() });
            }
        }
        reading
    }

    /// Number of sources.
    pub(super) fn len(&self) -> usize {
        self.sources.len()
    }

    /// Bytes read, and sources finished.
    pub(super) fn progress(&self) -> (u64, usize) {
        (self.bytes.load(Ordering::Relaxed), self.finished.load(Ordering::Relaxed))
    }

    /// Reads until there is nothing left to take, together with other threads.
    pub(super) fn run<Q: Question, F: RecordForm>(
        &self,
        mut reader: LogReader<'_, '_, Q, F>,
    ) -> Result<ReadCounts, TemporaryError> {
        let mut buffer = Buffer::new();
        while let Some(active) = self.choose() {
            let result = reader.read(self, &active, &mut buffer);
            if let Err(error) = result {
                self.stopped.store(true, Ordering::Relaxed);
                return Err(error);
            }
            self.leave(active);
        }
        reader.writer.finish()?;
        let LogReader { tally, unwanted, profiles, .. } = reader;
        Ok(ReadCounts { tally, unwanted, profiles: profiles.unwrap_or_default() })
    }

    /// The next source, opened; if there is none, one that others read.
    fn choose(&self) -> Option<Arc<Active<'s>>> {
        let mut open = locked(&self.open);
        loop {
            if self.stopped.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(source) = self.sources.get(open.next) {
                let number = open.next;
                open.next += 1;
                open.opening += 1;
                drop(open);
                let feed = Feed::open(source, Arc::clone(&self.bytes));
                open = locked(&self.open);
                open.opening -= 1;
                self.opened.notify_all();
                match feed {
                    Ok(feed) => {
                        let active = Arc::new(Active { number, feed, order: Mutex::default() });
                        open.active.push(Arc::clone(&active));
                        return Some(active);
                    }
                    Err(error) => {
                        let outcome = SourceOutcome { failure: Some(error), examples: Vec::new() };
                        self.finish(number, outcome);
                    }
                }
                continue;
            }
            if let Some(active) = open.active.iter().find(|active| !active.feed.is_exhausted()) {
                return Some(Arc::clone(active));
            }
            if open.opening == 0 {
                return None;
            }
            open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// After the last block that this thread could take.
    fn leave(&self, active: Arc<Active<'s>>) {
        let mut open = locked(&self.open);
        open.active.retain(|other| !Arc::ptr_eq(other, &active));
        drop(open);
        // The last thread that leaves knows all.
        if let Some(Active { number, feed, order }) = Arc::into_inner(active) {
            let order = order.into_inner().unwrap_or_else(PoisonError::into_inner);
            let failure = feed.failure(order.lines);
            self.finish(number, SourceOutcome { failure, examples: order.examples });
        }
    }

    fn finish(&self, number: usize, outcome: SourceOutcome) {
        self.finished.fetch_add(1, Ordering::Relaxed);
        if outcome.failure.is_some() || !outcome.examples.is_empty() {
            locked(&self.outcomes).push((number, outcome));
        }
    }

    /// What was wrong with sources, in their order; the first bad lines go to `tally`.
    pub(super) fn outcome(self, tally: &mut Tally) -> Vec<SourceError> {
        let mut outcomes = self.outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcomes.sort_unstable_by_key(|(number, _)| *number);
        let mut failures = Vec::new();
        for (_, outcome) in outcomes {
            tally.add_examples(outcome.examples);
            failures.extend(outcome.failure);
        }
        failures
    }
}

/// What one thread needs to read.
pub(super) struct LogReader<'r, 'o, Q, F: RecordForm> {
    question: &'r Q,
    groups: &'r Groups,
    seen: SeenGroups,
    key: Vec<u8>,
    /// If keys are made from few columns
    columns: Option<ColumnGroups>,
    room: BlockRoom,
    clock: Clock,
    writer: StoreWriter<'r, 'o, F>,
    tally: Tally,
    unwanted: u64,
    /// What lines of MPI profiles tell, if that is asked for
    profiles: Option<ProfileFragments>,
    most_profiles: u64,
}

/// The groups by columns of a question whose keys are made from few.
fn columns_of(question: &impl Question) -> Option<ColumnGroups> {
    let fields = question.fields_of_key()?;
    let columns: Option<Vec<_>> = fields.iter().map(Field::column).collect();
    ColumnGroups::new(&columns?)
}

/// What one thread read, besides what it kept.
pub(super) struct ReadCounts {
    pub(super) tally: Tally,
    /// Lines that the question did not want
    pub(super) unwanted: u64,
    pub(super) profiles: ProfileFragments,
}

impl<'r, 'o, Q: Question, F: RecordForm> LogReader<'r, 'o, Q, F> {
    /// Of what lines of MPI profiles tell, `most_profiles` are kept.
    pub(super) fn new(
        question: &'r Q,
        groups: &'r Groups,
        writer: StoreWriter<'r, 'o, F>,
        most_profiles: u64,
    ) -> Self {
        LogReader {
            question,
            groups,
            seen: SeenGroups::default(),
            key: Vec::new(),
            columns: columns_of(question),
            room: BlockRoom::default(),
            clock: Clock::default(),
            writer,
            tally: Tally::default(),
            unwanted: 0,
            profiles: question.reads_profiles().then(ProfileFragments::default),
            most_profiles,
        }
    }

    /// Reads blocks of a source until there are no more.
    fn read(
        &mut self,
        reading: &SharedReading<'_>,
        active: &Active<'_>,
        buffer: &mut Buffer,
    ) -> Result<(), TemporaryError> {
        // Two loops over lines, so that one of them computes of a line what the columns need, and
        // nothing else.
        loop {
            let is_read = match &self.columns {
                Some(_) => self.read_by::<true>(reading, active, buffer)?,
                None => self.read_by::<false>(reading, active, buffer)?,
            };
            if is_read {
                return Ok(());
            }
            self.columns = None;
        }
    }

    /// Whether the source was read to its end; it is not if columns are of no use.
    fn read_by<const BY_COLUMNS: bool>(
        &mut self,
        reading: &SharedReading<'_>,
        active: &Active<'_>,
        buffer: &mut Buffer,
    ) -> Result<bool, TemporaryError> {
        let mut tally = std::mem::take(&mut self.tally);
        let mut profiles = self.profiles.take();
        let mut room = std::mem::take(&mut self.room);
        let mut result = Ok(());
        let mut is_read = true;
        while let Some((number, block)) = active.feed.next(buffer) {
            let kept = KeptLines::<_, BY_COLUMNS> { reader: self, result: &mut result };
            let mut lines =
                BlockLines::new(&active.feed, &mut tally, kept).with_profiles(profiles.as_mut());
            lines.read(block, &mut room);
            let count = lines.number;
            let examples = tally.take_examples();
            locked(&active.order).add(number, count, examples);
            let kept = profiles.as_ref().map_or(0, |kept| kept.len() as u64);
            if self.groups.is_full() || kept > self.most_profiles {
                reading.stopped.store(true, Ordering::Relaxed);
            }
            if result.is_err() || reading.stopped.load(Ordering::Relaxed) {
                break;
            }
            if self.columns.as_ref().is_some_and(|columns| columns.is_of_no_use(tally.good)) {
                is_read = false;
                break;
            }
        }
        self.room = room;
        self.tally = tally;
        self.profiles = profiles;
        result.map(|()| is_read)
    }

    /// Keeps a line whose key the question makes.
    #[inline(always)]
    fn line_by_key(
        &mut self,
        line: &Line<'_>,
        extras: Extras<'_>,
        of: &IndexedLine<'_>,
    ) -> Result<(), TemporaryError> {
        if !self.question.wants(line, extras) {
            self.unwanted += 1;
            return Ok(());
        }
        self.key.clear();
        self.question.key(line, extras, &mut self.key);
        let rest = of.blanks.get(18).and_then(|blank| of.text.get(*blank as usize..of.end));
        let first = match (of.first, rest) {
            (Some(first), Some(rest)) => FirstExtras::of_numbers(first, rest, extras),
            _ => FirstExtras::of_line(extras),
        };
        let facts = facts_of_first(line, of.bytes(), first, &mut self.clock, 0);
        // Last: words of a key that was only just written in bytes would have to be waited for.
        let group = self.groups.number(&self.key, &mut self.seen);
        let facts = LineFacts { group, ..facts };
        self.writer.add_soon(part(facts.key), F::encode(line, extras, &facts))
    }

    /// Keeps a line whose key is made from columns.
    #[inline(always)]
    fn line_by_columns(
        &mut self,
        line: &Line<'_>,
        extras: Extras<'_>,
        of: &IndexedLine<'_>,
    ) -> Result<(), TemporaryError> {
        let Some(look) = self.columns.as_ref().and_then(|columns| columns.look(of)) else {
            return self.read_again(of.bytes());
        };
        let facts = facts_of_first(line, of.bytes(), look.first, &mut self.clock, 0);
        let LogReader { columns, question, groups, seen, key, .. } = self;
        let mut find = || {
            key.clear();
            if let Ok((line, extras)) = Line::parse_far(of.bytes()) {
                question.key(&line, extras, key);
            }
            groups.number(key, seen)
        };
        let group = match columns {
            Some(columns) => columns.number(look.texts, find),
            None => find(),
        };
        let facts = LineFacts { group, ..facts };
        self.writer.add_soon(part(facts.key), F::encode(line, extras, &facts))
    }

    /// Keeps a line of which the first look does not tell enough. It is parsed again, so that the
    /// usual line need not be put together for this function.
    #[cold]
    #[inline(never)]
    fn read_again(&mut self, text: &[u8]) -> Result<(), TemporaryError> {
        self.columns.iter_mut().for_each(ColumnGroups::missed);
        match Line::parse_far(text) {
            Ok((line, extras)) => self.line_by_key(&line, extras, &IndexedLine::lone(text)),
            Err(_) => Ok(()),
        }
    }
}

/// Hands lines to a reader; `BY_COLUMNS` if it knows columns from which keys are made.
struct KeptLines<'k, R, const BY_COLUMNS: bool> {
    reader: &'k mut R,
    result: &'k mut Result<(), TemporaryError>,
}

impl<Q: Question, F: RecordForm, const BY_COLUMNS: bool> LineSink
    for KeptLines<'_, LogReader<'_, '_, Q, F>, BY_COLUMNS>
{
    #[inline(always)]
    fn line(&mut self, line: &Line<'_>, extras: Extras<'_>, of: &IndexedLine<'_>) {
        let kept = if BY_COLUMNS {
            self.reader.line_by_columns(line, extras, of)
        } else {
            self.reader.line_by_key(line, extras, of)
        };
        if let Err(error) = kept {
            *self.result = Err(error);
        }
    }
}

/// What is known of a line besides its tokens.
#[inline(always)]
pub(super) fn facts_of(
    line: &Line<'_>,
    extras: Extras<'_>,
    text: &[u8],
    clock: &mut Clock,
    group: u32,
) -> LineFacts {
    facts_of_first(line, text, FirstExtras::of_line(extras), clock, group)
}

/// The same if it is known what the first extras tell.
#[inline(always)]
fn facts_of_first(
    line: &Line<'_>,
    text: &[u8],
    first: FirstExtras,
    clock: &mut Clock,
    group: u32,
) -> LineFacts {
    let marks = Marks::of_hash(line_hash(text));
    let when = clock.read(line, first.epoch);
    let marks = marks
        .with(Marks::ZONE, when.no_zone)
        .with(Marks::SPAN, when.impossible)
        .with(Marks::LAUNCH, !line.id.is_empty());
    LineFacts { key: launch_key(line, first.claim), end: when.end, group, marks }
}

/// Hash of what lines of a run have in common: an id is one user's.
#[inline(always)]
pub(crate) fn launch_key(line: &Line<'_>, claim: Claim) -> u64 {
    launch_key_of(claim, [line.user, line.exe, line.id], line.npes.0)
}

/// The same of a user, an executable and an id, and of the number of ranks if it is told.
#[inline(always)]
pub(crate) fn launch_key_of(
    claim: Claim,
    [user, exe, id]: [Name<'_>; 3],
    npes: Option<u32>,
) -> u64 {
    let mut hasher = FxHasher::default();
    match claim {
        Claim::Uid(uid) => hasher.write_u64(uid),
        Claim::None | Claim::Unclear => hash_name(user, &mut hasher),
    }
    if id.is_empty() {
        hash_name(user, &mut hasher);
        hash_name(exe, &mut hasher);
    } else {
        hash_name(id, &mut hasher);
    }
    hasher.write_u32(npes.unwrap_or(UNTOLD));
    // Parts and buckets are chosen by any of the bits, so all must be good.
    let hash = hasher.finish();
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 32
}

/// Adds the bytes a name means. Without escapes, which is nearly always, at no cost. The name comes
/// as a value: a line whose address was given away would have to be in memory with all its fields.
#[inline(always)]
fn hash_name(name: Name<'_>, hasher: &mut FxHasher) {
    match name.plain() {
        Some(bytes) => hasher.write(bytes),
        None => hasher.write(&meant(name)),
    }
}

/// The bytes a name means.
#[cold]
#[inline(never)]
fn meant(name: Name<'_>) -> Vec<u8> {
    name.bytes().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_done_in_any_order_number_their_lines() {
        let example = |line| Example {
            source: Source::Stdin,
            line,
            problem: crate::Problem::TooLong,
            text: String::new(),
        };
        let mut order = BlockOrder::default();
        order.add(2, 10, vec![example(4)]);
        order.add(1, 100, vec![]);
        assert_eq!((order.lines, order.examples.len()), (0, 0));
        order.add(0, 1000, vec![example(7), example(1000)]);
        let lines: Vec<u64> = order.examples.iter().map(|e| e.line).collect();
        assert_eq!((order.lines, lines), (1110, vec![7, 1000, 1104]));
    }
}
