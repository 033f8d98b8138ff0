//! Event logs of MPI calls: what is in a file, and its events. Nothing that a file says of itself is
//! believed; what cannot be read is counted, and told of by rank.

mod check;
mod damage;
mod files;
mod host_ticks;
mod launch;
mod lent;
mod open;
mod stream;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;

use topas_data::read_at_most;
use topas_mpi_profile::facts::HostClock;
use topas_mpi_profile::layout::Moment;
use topas_trace::{BODY, BlockHead, CallEvent, EventPlace, Events, HEAD, checksum};

pub(crate) use damage::{LostSpan, damage_of};
pub use damage::{RankDamage, TraceCut, is_readable, ranks_in_words};
pub use files::{data_file_beside, is_event_log, trace_files};
pub(crate) use host_ticks::HostTicks;
pub use launch::{
    absent_in_words, absent_ranks, launch_of, launches_in, launches_in_words,
    several_launches_in_words, unfinished_ranks,
};
pub use stream::{EventStream, ProcessClock, StreamedEvent};

/// What of a file was passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceSkips {
    /// Bytes that belong to no block
    pub bytes: u64,
    /// Blocks of other versions of the format
    pub versions: u64,
    /// Blocks that stand in the file a second time
    pub repeated: u64,
    /// Events of blocks whose sum is wrong, or which end too early
    pub damaged: u64,
    /// Damaged blocks of processes of which the file has nothing else
    pub strays: u64,
}

impl TraceSkips {
    /// Whether nothing was passed over.
    pub fn is_empty(&self) -> bool {
        *self == TraceSkips::default()
    }

    /// Whether something was passed over that does not stand in the file a second time.
    pub fn lack(&self) -> bool {
        !TraceSkips { repeated: 0, ..*self }.is_empty()
    }
}

impl fmt::Display for TraceSkips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.bytes, "B that belong to no block"),
            (self.versions, "blocks of another version"),
            (self.repeated, "repeated blocks"),
            (self.damaged, "damaged events"),
            (self.strays, "damaged blocks of unknown ranks"),
        ];
        let there = parts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = there.map(|(count, what)| format!("{count} {what}")).collect();
        f.write_str(&words.join(", "))
    }
}

/// A block of events in a file.
#[derive(Clone, Copy, Debug)]
pub struct FoundBlock {
    /// Where the block begins, in B from the beginning of the file
    pub offset: u64,
    /// The head of the block
    pub head: BlockHead,
}

/// What a process says of itself.
#[derive(Clone, Debug, Default)]
pub struct TraceFacts {
    /// Lines in the form `key value`, as the file has them
    lines: Vec<(String, String)>,
    began: Moment,
    initialized: Moment,
    latest: Moment,
    clock: Option<HostClock>,
}

impl TraceFacts {
    fn parse(text: &[u8]) -> TraceFacts {
        let text = String::from_utf8_lossy(text);
        let mut facts = TraceFacts::default();
        for line in text.lines() {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "began" => facts.began = moment(value),
                "initialized" => facts.initialized = moment(value),
                "latest" => facts.latest = moment(value),
                "clock" => facts.clock = host_clock(value),
                _ => facts.lines.push((key.to_owned(), value.to_owned())),
            }
        }
        facts
    }

    /// The first value of a key; empty without one.
    pub fn value(&self, key: &str) -> &str {
        self.values(key).next().unwrap_or("")
    }

    /// All values of a key.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        let found = self.lines.iter().filter(move |(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }
}

/// Whether a name can be that of a routine: others could end a line or a cell of what is shown.
fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn moment(text: &str) -> Moment {
    let mut numbers = text.split(' ').map(|word| word.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    Moment { ticks: next(), monotonic: next(), realtime: next() }
}

fn host_clock(text: &str) -> Option<HostClock> {
    let mut numbers = text.split(' ');
    let ahead = numbers.next()?.parse().ok()?;
    let error = numbers.next()?.parse().ok()?;
    Some(HostClock { ahead, error, drift: numbers.next()?.parse().ok()? })
}

/// The events of a process in a log.
#[derive(Clone, Debug, Default)]
pub struct TraceProcess {
    /// Its rank in the world
    pub rank: u32,
    /// What it says of itself; empty if the log does not have it
    pub facts: TraceFacts,
    /// By what its ticks are told
    pub(crate) ticks: HostTicks,
    /// Names of routines by number
    routines: BTreeMap<u16, String>,
    threads: BTreeMap<u32, BTreeMap<u64, FoundBlock>>,
    /// Heads of blocks that cannot be read, by thread and number
    damaged: BTreeMap<u32, BTreeMap<u64, BlockHead>>,
    /// Whether the log lacks what the process says of itself, and this is of another of the launch
    has_lent_facts: bool,
    /// What cannot be read of each thread
    lost: BTreeMap<u32, damage::ThreadLoss>,
}

/// What a thread has in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceThread {
    /// The number of the thread in its process
    pub thread: u32,
    /// Events in the log
    pub events: u64,
    /// Bytes that these take, without heads of blocks
    pub bytes: u64,
    /// Blocks in the log
    pub blocks: u64,
    /// Events that were written and overwritten, because the ring was full
    pub overwritten: u64,
}

impl TraceProcess {
    /// The threads, by number.
    pub fn threads(&self) -> impl Iterator<Item = TraceThread> {
        self.threads.iter().map(|(thread, blocks)| {
            let mut told = TraceThread { thread: *thread, ..TraceThread::default() };
            let mut expected = 0;
            let lost = self.lost.get(thread).map_or(0, |lost| lost.events_before);
            for block in blocks.values() {
                told.blocks += 1;
                told.events += u64::from(block.head.events());
                told.bytes += u64::from(block.head.used());
                let gap = block.head.before.saturating_sub(expected);
                told.overwritten = told.overwritten.saturating_add(gap);
                expected = block.head.before.saturating_add(block.head.events().into());
            }
            told.overwritten = told.overwritten.saturating_sub(lost);
            told
        })
    }

    /// The blocks of events with the numbers of their threads, thread by thread in the order in which
    /// blocks were written.
    pub fn blocks(&self) -> impl Iterator<Item = (u32, &FoundBlock)> {
        let threads = self.threads.iter();
        threads.flat_map(|(thread, blocks)| blocks.values().map(|block| (*thread, block)))
    }

    /// The routines that have a name, by number.
    pub fn routines(&self) -> impl Iterator<Item = (u16, &str)> {
        self.routines.iter().map(|(number, name)| (*number, name.as_str()))
    }

    /// The first moment that the process tells of.
    pub fn first_moment(&self) -> Moment {
        self.facts.began
    }

    /// When the process was through `MPI_Init`; zeros if it was not, or if its log does not tell.
    pub fn initialized(&self) -> Moment {
        self.facts.initialized
    }

    /// The latest moment that the process tells of.
    pub fn latest_moment(&self) -> Moment {
        self.facts.latest
    }

    /// How the clock of its host differs from that of the first host; None if clocks were not compared.
    pub fn host_clock(&self) -> Option<HostClock> {
        self.facts.clock
    }

    /// Whether the process ended without `MPI_Finalize`, in whatever way.
    pub fn is_unfinished(&self) -> bool {
        matches!(self.facts.value("state"), "0" | "3" | "4")
    }

    /// Whether the process ended without a sign of it: it was killed.
    pub fn was_lost(&self) -> bool {
        self.facts.value("state") == "0"
    }

    /// The call in which its only thread was when the log was written, and the tick at which that began. Of several threads
    /// the facts do not tell which one it was.
    pub fn inside(&self) -> Option<(u16, u64)> {
        if self.threads().count() != 1 {
            return None;
        }
        let (routine, tick) = self.facts.value("inside").split_once(' ')?;
        Some((routine.parse().ok()?, tick.parse().ok()?))
    }

    /// The name of a routine.
    pub fn routine(&self, number: u16) -> String {
        self.routines.get(&number).cloned().unwrap_or_else(|| format!("routine {number}"))
    }

    /// Whether ticks can be told in nanoseconds of a clock that all processes of the host share.
    pub fn has_clock(&self) -> bool {
        self.ticks.are_known()
    }

    /// When its first call of MPI began, in nanoseconds of the monotonic clock of the host.
    pub fn began(&self) -> u64 {
        if self.has_clock() {
            self.nanoseconds(self.facts.began.ticks)
        } else {
            self.facts.began.monotonic
        }
    }

    /// A tick in nanoseconds of the monotonic clock of the host; the tick itself without
    /// [`TraceProcess::has_clock`].
    pub fn nanoseconds(&self, tick: u64) -> u64 {
        self.ticks.nanoseconds(tick)
    }

    /// The length of a tick in nanoseconds; 1 without [`TraceProcess::has_clock`].
    pub fn tick_length(&self) -> f64 {
        self.ticks.length()
    }
}

/// A log that was opened.
pub struct TraceLog {
    file: File,
    /// The processes, by rank
    pub processes: Vec<TraceProcess>,
    /// What was passed over when it was opened
    pub skips: TraceSkips,
    /// Where the file ends within a block
    pub cut: Option<TraceCut>,
}

impl TraceLog {
    /// What is in use behind a head, as far as the file has it.
    fn body(&self, offset: u64, head: &BlockHead) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        self.read_body(offset, head, &mut body)?;
        Ok(body)
    }

    /// The same, into a buffer that is used again.
    fn read_body(&self, offset: u64, head: &BlockHead, body: &mut Vec<u8>) -> io::Result<()> {
        body.resize((head.used() as usize).min(BODY), 0);
        let read = read_at_most(&self.file, body, offset + HEAD as u64)?;
        body.truncate(read);
        Ok(())
    }

    /// Calls `each` with the number of the thread and every event of a process, thread by thread in
    /// the order in which calls ended. What was passed over is added to `skips`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or what `each` says.
    pub fn events(
        &self,
        process: &TraceProcess,
        skips: &mut TraceSkips,
        mut each: impl FnMut(u32, &CallEvent) -> io::Result<()>,
    ) -> io::Result<()> {
        for (thread, block) in process.blocks() {
            self.events_of(block, skips, |event| each(thread, event))?;
        }
        Ok(())
    }

    /// Calls `each` with every event of a block, in the order in which calls ended. A block whose sum
    /// is wrong has none. What was passed over is added to `skips`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or what `each` says.
    pub fn events_of(
        &self,
        block: &FoundBlock,
        skips: &mut TraceSkips,
        mut each: impl FnMut(&CallEvent) -> io::Result<()>,
    ) -> io::Result<()> {
        self.placed_events_of(block, skips, |event, _, _| each(event))
    }

    /// The same, with the places in the block at which events begin, and with what was read up to the end of the
    /// event.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or what `each` says.
    pub fn placed_events_of(
        &self,
        block: &FoundBlock,
        skips: &mut TraceSkips,
        mut each: impl FnMut(&CallEvent, EventPlace, &Events<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let FoundBlock { offset, head } = block;
        let body = self.body(*offset, head)?;
        if head.check != 0 && head.check != checksum(head, &body) {
            skips.damaged += u64::from(head.events());
            return Ok(());
        }
        let mut events = Box::new(Events::new(head, &body));
        loop {
            let place = events.place();
            let Some(event) = events.next() else { break };
            match event {
                Ok(event) => each(&event, place, &events)?,
                Err(damage) => skips.damaged += u64::from(damage.lost),
            }
        }
        Ok(())
    }

    /// So many bytes from an offset on, as far as the file has them.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn bytes_of(&self, offset: u64, bytes: u32) -> io::Result<Vec<u8>> {
        let mut found = vec![0; bytes as usize];
        let read = read_at_most(&self.file, &mut found, offset)?;
        found.truncate(read);
        Ok(found)
    }

    /// Bytes of the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be asked.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use topas_data::data_from;
    use topas_trace::{BlockContent, CallArguments, LENGTH, TraceBlock, Writer};

    use super::*;

    /// A block of so many calls.
    fn block(process: u64, number: u64, calls: u64) -> Vec<u8> {
        let head = BlockHead {
            process,
            rank: process as u32,
            number,
            before: number * calls,
            first: 1000,
            ..BlockHead::new(BlockContent::Events)
        };
        let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
        let mut writer = Box::new(Writer::new());
        writer.begin(&mut block);
        for call in 0..calls {
            let arguments = CallArguments { peer: call as i32, ..CallArguments::NONE };
            let (began, ended) = (1000 + call * 10, 1005 + call * 10);
            assert!(writer.put(&mut block, &CallEvent { routine: 3, began, ended, arguments }));
        }
        block.close(process as u32, writer.last());
        [&block.head.encode()[..], &block.body].concat()
    }

    fn facts(process: u64, text: &str) -> Vec<u8> {
        let mut head = BlockHead {
            process,
            rank: process as u32,
            filled: text.len() as u64,
            ..BlockHead::new(BlockContent::Facts)
        };
        head.check = checksum(&head, text.as_bytes());
        let mut bytes = [&head.encode()[..], text.as_bytes()].concat();
        bytes.resize(LENGTH, 0);
        bytes
    }

    /// A log of these bytes: events of all processes, and what was passed over.
    fn read(bytes: &[u8]) -> (Vec<(u32, i32)>, TraceSkips, TraceLog) {
        let file = tempfile::NamedTempFile::new().expect("file");
        std::fs::write(file.path(), bytes).expect("written");
        let log = TraceLog::open(file.path()).expect("a log");
        let mut skips = log.skips;
        let mut found = Vec::new();
        for process in &log.processes {
            let each = |_, event: &CallEvent| {
                found.push((process.rank, event.arguments.peer));
                Ok(())
            };
            log.events(process, &mut skips, each).expect("read");
        }
        (found, skips, log)
    }

    #[test]
    fn blocks_of_ranks_are_put_in_order() {
        let all = [
            block(2, 1, 2),
            block(1, 0, 1),
            facts(2, "host n1\nbegan 100 1000 7\nlatest 300 1100 8\nroutine 3 MPI_Send\n"),
            block(2, 0, 2),
        ];
        let (found, skips, log) = read(&all.concat());
        assert_eq!(found, [(1, 0), (2, 0), (2, 1), (2, 0), (2, 1)]);
        assert!(skips.is_empty());
        let process = &log.processes[1];
        assert_eq!((process.routine(3), process.facts.value("host")), ("MPI_Send".into(), "n1"));
        assert_eq!((process.nanoseconds(200), process.nanoseconds(100)), (1050, 1000));
        assert_eq!(log.processes[0].routine(3), "routine 3");
        let thread = process.threads().next().expect("a thread");
        assert_eq!((thread.events, thread.blocks, thread.overwritten), (4, 2, 0));
    }

    #[test]
    fn a_name_that_no_routine_has_is_not_believed() {
        let text = "routine 3 MPI_Send\nroutine 4 a,b\nroutine 5 \u{1b}[2J\nroutine 6 \n";
        let (_, _, log) = read(&facts(1, text));
        let names = [3, 4, 5, 6].map(|number| log.processes[0].routine(number));
        assert_eq!(names, ["MPI_Send", "routine 4", "routine 5", "routine 6"]);
    }

    #[test]
    fn a_hole_is_passed_over_at_once() {
        const FAR: u64 = 1 << 40;
        let file = tempfile::NamedTempFile::new().expect("file");
        file.as_file().write_all_at(&block(1, 0, 3), 0).expect("written");
        file.as_file().write_all_at(&block(1, 1, 2), FAR).expect("written");
        if data_from(file.as_file(), LENGTH as u64, FAR) == LENGTH as u64 {
            eprintln!("skipped: a_hole_is_passed_over_at_once: no holes in this file system");
            return;
        }
        let log = TraceLog::open(file.path()).expect("a log");
        let thread = log.processes[0].threads().next().expect("a thread");
        assert_eq!((thread.events, thread.blocks), (5, 2));
        assert_eq!(log.skips.bytes, FAR - LENGTH as u64);
    }

    #[test]
    fn what_is_no_block_is_passed_over_and_counted() {
        let noise = [1u8; 100];
        let (one, two) = (block(1, 0, 3), block(1, 5, 3));
        let all = [&noise[..], &one, &noise, &two, &two, &noise].concat();
        let (found, skips, log) = read(&all);
        assert_eq!(found.len(), 6);
        assert_eq!(skips, TraceSkips { bytes: 300, repeated: 1, ..TraceSkips::default() });
        let thread = log.processes[0].threads().next().expect("a thread");
        assert_eq!(thread.overwritten, 12, "blocks 1 to 4");
        // Cut in the events.
        let (found, skips, log) = read(&one[..HEAD + 8]);
        assert_eq!((found.len(), skips.strays), (0, 1), "its sum is wrong");
        assert_eq!(log.cut, Some(TraceCut { found: 136, least: LENGTH as u64 }));
        // A changed byte.
        let mut changed = one.clone();
        changed[HEAD + 3] ^= 1;
        let (found, skips, log) = read(&[changed, two].concat());
        assert_eq!((found.len(), skips), (3, TraceSkips::default()));
        let damage = log.processes[0].damage().expect("damage");
        assert_eq!((damage.damaged, damage.absent, damage.events), (1, 0, 3));
        // Another version.
        let mut newer = one;
        newer[8] = 9;
        assert_eq!(read(&newer).1, TraceSkips { versions: 1, ..TraceSkips::default() });
        assert_eq!(read(b"").0, []);
        assert_eq!(read(b"topastrc").1.bytes, 8);
    }
}
