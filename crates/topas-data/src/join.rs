//! Joins the lines of a run.
//!
//! Lines belong together if they have the same `id` and `npes`, different PEs, and times
//! that overlap; the last because ids such as process groups come again later. A line
//! with an unknown id (`-`) has its user and executable for an id.
//!
//! Lines can come in any order, and those of another node in another file, so no run is
//! known to be complete before the end of the input. Each line is kept as a record. Nearly always the mate of a line stands close by: a small table of the lines
//! last seen chains these while reading, so that nothing as large as the input is hashed.
//! What it missed is found at the end by sorting the keys of the chains.

use std::hash::Hasher;
use std::sync::Arc;

use rustc_hash::{FxHashSet, FxHasher};
use topas_format::line::{Extras, Line};
use topas_format::number::{Count, Micros, leading, whole};

use crate::group::{Groups, SeenGroups};
use topas_format::escape::Name;

use crate::remark::Oddities;
use crate::run::{CpuTime, Detail, PeRecord, Run};

/// Latest `t=` that is believed: the last second of the year 9999.
const LATEST: u64 = 253_402_300_799;

/// `next` of the last record of a chain.
const END: u32 = u32::MAX;

/// Slots for the keys last seen, 2 to this power; many more than launches at a time.
const RECENT_BITS: u32 = 12;

/// How far clocks of nodes and whole seconds may be off, in µs.
const TOLERANCE: i64 = 2_000_000;

/// Runs of one id at the same time that are looked at. There is one, or a few where ids
/// are process groups of several nodes; the bound keeps a forged log from taking forever.
const MOST_OPEN: usize = 64;

/// The number of ranks where the launcher does not tell it; no launch has none.
const UNTOLD: u32 = 0;

/// What is kept of a line.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Hash of id and npes
    key: u64,
    npes: u32,
    group: u32,
    /// Next record of the chain of this key
    next: u32,
    head: bool,
    pe: PeRecord,
}

impl Record {
    /// An order that does not depend on that of the lines.
    fn rank(&self) -> impl Ord + use<> {
        let pe = &self.pe;
        let count = match pe.ops.count {
            Count::Missing => (0, 0),
            Count::Exact(n) => (1, n),
            Count::Estimate(n) => (2, n),
        };
        (self.npes, pe.start(), pe.end, pe.pe, pe.ops.metric.letter(), count, pe.date)
    }
}

/// The times that lines of a run cover together.
#[derive(Clone, Copy)]
struct Cover {
    start: i64,
    end: i64,
}

impl Cover {
    fn of(record: &Record) -> Self {
        Cover { start: record.pe.start(), end: record.pe.end }
    }

    fn with(self, other: Cover) -> Self {
        Cover { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The overlap in µs if it is enough for one run, negative if there is a gap.
    ///
    /// Ranks of a launch run at the same time, so a short line may miss the other by
    /// [`TOLERANCE`], but long ones must overlap by more than it: launches that follow
    /// each other in one batch job have the same process group and touch.
    fn overlap(self, other: Cover) -> Option<i64> {
        let overlap = self.end.min(other.end).saturating_sub(self.start.max(other.start));
        let shorter = self.length().min(other.length());
        let needed = (shorter / 2).min(2 * TOLERANCE) - TOLERANCE;
        (overlap >= needed).then_some(overlap)
    }

    fn length(self) -> i64 {
        self.end.saturating_sub(self.start)
    }
}

/// Takes lines in any order and gives the runs they make.
pub struct Joiner {
    records: Vec<Record>,
    groups: Groups,
    seen: SeenGroups,
    detail: Detail,
    /// Key and number of the records last seen
    recent: Box<[(u64, u32); 1 << RECENT_BITS]>,
}

impl Default for Joiner {
    fn default() -> Self {
        Joiner::new()
    }
}

impl Joiner {
    /// No lines yet; keeps of them what rates are made of.
    pub fn new() -> Self {
        Joiner::with(Detail::Rates)
    }

    /// No lines yet; keeps so much of them.
    pub fn with(detail: Detail) -> Self {
        Joiner {
            detail,
            records: Vec::new(),
            groups: Groups::default(),
            seen: SeenGroups::default(),
            recent: Box::new([(0, END); 1 << RECENT_BITS]),
        }
    }

    /// Takes a line and the key of its group ([`Run::key`]).
    ///
    /// # Panics
    ///
    /// Beyond 4,294,967,294 lines, which need 240 GB of memory.
    pub fn add(&mut self, line: &Line<'_>, extras: Extras<'_>, group: &[u8]) {
        let number = u32::try_from(self.records.len()).ok().filter(|&n| n != END);
        let number = number.expect("at most 4294967294 lines can be joined");
        let key = key(line);
        let slot = &mut self.recent[(key >> (64 - RECENT_BITS)) as usize];
        let mate = (slot.0 == key).then_some(slot.1).and_then(|n| self.records.get_mut(n as usize));
        let head = mate.map(|mate| mate.next = number).is_none();
        *slot = (key, number);
        self.records.push(Record {
            key,
            npes: line.npes.0.unwrap_or(UNTOLD),
            group: self.groups.number(group, &mut self.seen),
            next: END,
            head,
            pe: record(line, extras, self.detail),
        });
    }

    /// Number of lines taken.
    pub fn lines(&self) -> usize {
        self.records.len()
    }

    /// Gives each run, in the order of their first lines.
    pub fn runs(mut self, mut each: impl FnMut(&Run<'_>)) {
        self.link_chains();
        let keys = std::mem::take(&mut self.groups).into_keys();
        let mut members = Vec::new();
        let mut pes = Vec::new();
        for record in &self.records {
            if !record.head {
                continue;
            }
            members.clear();
            members.push(*record);
            let mut next = record.next;
            while let Some(record) = self.records.get(next as usize) {
                members.push(*record);
                next = record.next;
            }
            let one_run = match members.as_slice() {
                [_] => true,
                [a, b] => {
                    a.npes == b.npes
                        && a.pe.pe != b.pe.pe
                        && Cover::of(a).overlap(Cover::of(b)).is_some()
                }
                _ => false,
            };
            if one_run {
                each(&run(&members, &keys, &mut pes));
            } else {
                separate(&mut members, |members| each(&run(members, &keys, &mut pes)));
            }
        }
    }

    /// Makes one chain of those with the same key.
    fn link_chains(&mut self) {
        // Half of the key and the number in one word sort twice as fast as both in full.
        let half = |key: u64| key >> 32;
        let mut heads: Vec<u64> = (0..)
            .zip(&self.records)
            .filter(|(_, record)| record.head)
            .map(|(number, record): (u64, _)| half(record.key) << 32 | number)
            .collect();
        heads.sort_unstable();
        let mut same_half = Vec::new();
        for heads in heads.chunk_by(|&a, &b| half(a) == half(b)) {
            if heads.len() == 1 {
                continue;
            }
            same_half.clear();
            same_half.extend(heads.iter().map(|&head| {
                let number = head as u32;
                (self.records[number as usize].key, number)
            }));
            same_half.sort_unstable();
            for same in same_half.chunk_by(|a, b| a.0 == b.0) {
                for pair in same.windows(2) {
                    let tail = self.tail(pair[0].1);
                    self.records[tail as usize].next = pair[1].1;
                    self.records[pair[1].1 as usize].head = false;
                }
            }
        }
    }

    /// Last record of the chain that begins at `number`.
    fn tail(&self, mut number: u32) -> u32 {
        while self.records[number as usize].next != END {
            number = self.records[number as usize].next;
        }
        number
    }
}

/// The run of lines that belong together; there is at least one. `pes` takes what it
/// refers to.
fn run<'r>(members: &[Record], keys: &'r [Arc<[u8]>], pes: &'r mut Vec<PeRecord>) -> Run<'r> {
    let mut lowest = &members[0];
    let mut last = lowest;
    let mut cover = Cover::of(lowest);
    let mut wall = Micros(0);
    pes.clear();
    for record in members {
        if record.pe.pe < lowest.pe.pe {
            lowest = record;
        }
        if (record.pe.end, record.pe.date) > (last.pe.end, last.pe.date) {
            last = record;
        }
        cover = cover.with(Cover::of(record));
        wall = wall.max(record.pe.wall);
        pes.push(record.pe);
    }
    pes.sort_unstable_by_key(|record| record.pe);
    Run {
        key: &keys[lowest.group as usize],
        group: lowest.group,
        npes: if lowest.npes == UNTOLD { members.len() as u32 } else { lowest.npes },
        wall,
        start: cover.start,
        end: cover.end,
        date: last.pe.date,
        pes,
        odd: Oddities::default(),
    }
}

/// What is kept of a line.
fn record(line: &Line<'_>, extras: Extras<'_>, detail: Detail) -> PeRecord {
    let mut record = PeRecord {
        pe: line.pe,
        wall: line.wall_time,
        end: end(line, extras),
        date: line.date,
        ops: line.ops,
        cpu: None,
        l1_miss: Count::Missing,
        cycles: Count::Missing,
        instructions: Count::Missing,
    };
    if detail >= Detail::Times {
        record.cpu = Some(CpuTime { user: line.user_time, sys: line.sys_time });
        record.l1_miss = line.l1_miss;
    }
    if detail >= Detail::Counters {
        for (key, value) in extras {
            match key {
                b"cyc" => record.cycles = count(value),
                b"ins" => record.instructions = count(value),
                _ => {}
            }
        }
    }
    record
}

/// A count of an extra; what is none is as if it was missing.
fn count(value: &[u8]) -> Count {
    match value {
        [b'~', digits @ ..] => whole(digits).map(Count::Estimate),
        digits => whole(digits).map(Count::Exact),
    }
    .unwrap_or_default()
}

/// When a line was written, in µs: `t=`, else its date and time.
pub(crate) fn end(line: &Line<'_>, extras: Extras<'_>) -> i64 {
    // The module writes `t=` behind `v=`; elsewhere it is found by reading every extra.
    let epoch = match extras.text().strip_prefix(b" v=1 t=") {
        Some(digits) => match leading(digits) {
            Some((t, [] | [b' ', ..])) => Some(t),
            _ => None,
        },
        None => extras.number(b"t"),
    };
    let seconds = epoch.filter(|&t| t <= LATEST).map_or_else(
        || {
            let time = line.time;
            line.date.days() * 86_400
                + i64::from(time.hour) * 3600
                + i64::from(time.minute) * 60
                + i64::from(time.second)
        },
        |t| t as i64,
    );
    seconds * 1_000_000
}

/// Hash of what lines of a run have in common.
fn key(line: &Line<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    if line.id.is_empty() {
        hash_name(&line.user, &mut hasher);
        hash_name(&line.exe, &mut hasher);
    } else {
        hash_name(&line.id, &mut hasher);
    }
    hasher.write_u32(line.npes.0.unwrap_or(UNTOLD));
    hasher.finish()
}

/// Adds the bytes a name means. Without escapes, which is nearly always, at no cost.
fn hash_name(name: &Name<'_>, hasher: &mut FxHasher) {
    match name.plain() {
        Some(bytes) => hasher.write(bytes),
        None => hasher.write(&name.bytes().collect::<Vec<u8>>()),
    }
}

/// A run that lines may still be added to.
struct Open {
    cover: Cover,
    pes: FxHashSet<u32>,
    members: Vec<Record>,
}

/// Separates the lines of one key into runs: in order of their starts, a line goes to
/// the run that it overlaps most and that has no line of its PE, else it begins one.
fn separate(members: &mut [Record], mut each: impl FnMut(&[Record])) {
    members.sort_unstable_by_key(Record::rank);
    let mut open: Vec<Open> = Vec::new();
    let mut npes = None;
    for record in members.iter() {
        let cover = Cover::of(record);
        let same_launch = npes.replace(record.npes) == Some(record.npes);
        open.retain(|run| {
            let keep = same_launch && run.cover.end.saturating_add(TOLERANCE) >= cover.start;
            if !keep {
                each(&run.members);
            }
            keep
        });
        let best = open
            .iter_mut()
            .filter(|run| !run.pes.contains(&record.pe.pe))
            .filter_map(|run| run.cover.overlap(cover).map(|overlap| (overlap, run)))
            // Of equal ones the first: max_by_key takes the last.
            .rev()
            .max_by_key(|(overlap, _)| *overlap);
        match best {
            Some((_, run)) => {
                run.cover = run.cover.with(cover);
                run.pes.insert(record.pe.pe);
                run.members.push(*record);
            }
            None => {
                if open.len() == MOST_OPEN {
                    each(&open.remove(0).members);
                }
                let pes = FxHashSet::from_iter([record.pe.pe]);
                open.push(Open { cover, pes, members: vec![*record] });
            }
        }
    }
    for run in &open {
        each(&run.members);
    }
}
