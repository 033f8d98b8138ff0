//! Which lines are of one run.
//!
//! Lines belong together if they have the same `id` and `npes`, different PEs, and times
//! that overlap; the last because ids such as process groups come again later. A line
//! with an unknown id (`-`) has its user and executable for an id.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use topas_format::number::{Count, Micros};

use super::record::{Marks, Member, RecordForm, key, pe, same};
use crate::remark::{APART, Oddities};
use crate::run::{KeyPart, PeRecord, Run};

/// How far clocks of nodes and whole seconds may be off, in µs.
const TOLERANCE: i64 = 2_000_000;

/// Runs of one id at the same time that are looked at. There is one, or a few where ids
/// are process groups of several nodes; the bound keeps a forged log from taking forever.
const MOST_OPEN: usize = 64;

/// The number of ranks where the launcher does not tell it; no launch has none.
const UNTOLD: u32 = 0;

/// The times that lines of a run cover together.
#[derive(Clone, Copy)]
struct Cover {
    start: i64,
    end: i64,
}

impl Cover {
    fn of(pe: &PeRecord) -> Self {
        Cover { start: pe.start(), end: pe.end }
    }

    fn with(self, other: Cover) -> Self {
        Cover { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The overlap in µs if it is enough for one run, negative if there is a gap.
    ///
    /// Ranks of a launch run at the same time, so a short line may miss the other by
    /// [`TOLERANCE`], but long ones must overlap by more than it: launches that follow
    /// each other in one batch job have the same process group and touch.
    #[inline]
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

/// An order that does not depend on that of the lines.
fn rank(member: &Member) -> impl Ord + use<> {
    let pe = &member.pe;
    let count = |count| match count {
        Count::Missing => (0, 0),
        Count::Exact(n) => (1, n),
        Count::Estimate(n) => (2, n),
    };
    let ops = (pe.ops.metric.letter(), count(pe.ops.count));
    (member.npes, pe.start(), pe.end, pe.pe, ops, pe.date, member.marks)
}

/// A line, and how often it is there besides.
#[derive(Clone, Copy)]
struct RepeatedLine {
    member: Member,
    copies: u32,
}

impl RepeatedLine {
    #[inline]
    fn once<F: RecordForm>(record: &[u8]) -> Self {
        RepeatedLine { member: F::decode(record), copies: 0 }
    }

    /// What is odd about this line.
    #[inline]
    fn odd(&self) -> Oddities {
        let marks = self.member.marks;
        Oddities {
            duplicates: self.copies,
            zone: marks.has(Marks::ZONE).into(),
            span: marks.has(Marks::SPAN).into(),
            apart: false,
        }
    }
}

/// Makes runs of lines with one key.
pub(super) struct Launches<'k> {
    /// Keys of the groups
    keys: &'k [Arc<[u8]>],
    /// The key of the records that are looked at
    launch: u64,
    members: Vec<RepeatedLine>,
    /// What a run refers to
    pes: Vec<PeRecord>,
}

impl<'k> Launches<'k> {
    pub(super) fn new(keys: &'k [Arc<[u8]>]) -> Self {
        Launches { keys, launch: 0, members: Vec::new(), pes: Vec::new() }
    }

    /// Keys of the groups.
    pub(super) fn keys(&self) -> &'k [Arc<[u8]>] {
        self.keys
    }

    /// Gives the runs that records of one key make. `records` has at least one; it may be
    /// put in another order.
    pub(super) fn separate<F: RecordForm>(
        &mut self,
        records: &mut [&[u8]],
        each: &mut impl FnMut(&Run<'_>),
    ) {
        self.launch = key(records[0]);
        match records {
            [one] => return self.run(&[RepeatedLine::once::<F>(one)], false, each),
            [a, b] if !same(a, b) => {
                let (lower, upper) = if pe(b) < pe(a) { (b, a) } else { (a, b) };
                let lines = [RepeatedLine::once::<F>(lower), RepeatedLine::once::<F>(upper)];
                return self.pair(lines, each);
            }
            _ => {}
        }
        records.sort_unstable();
        let mut members = std::mem::take(&mut self.members);
        members.clear();
        for copies in records.chunk_by(|a, b| a == b) {
            let once = RepeatedLine::once::<F>(copies[0]);
            // At most as many as bytes of a part.
            members.push(RepeatedLine { copies: copies.len() as u32 - 1, ..once });
        }
        match members.as_slice() {
            [_] => self.run(&members, false, each),
            [a, b] if b.member.pe.pe < a.member.pe.pe => self.pair([*b, *a], each),
            [a, b] => self.pair([*a, *b], each),
            _ => {
                members.sort_unstable_by_key(|counted| rank(&counted.member));
                self.sweep(&members, each);
            }
        }
        self.members = members;
    }

    /// Two lines, in order of their PEs, are one run or two.
    #[inline]
    fn pair(&mut self, lines: [RepeatedLine; 2], each: &mut impl FnMut(&Run<'_>)) {
        let [a, b] = lines.each_ref().map(|counted| &counted.member);
        let could = a.npes == b.npes && a.pe.pe != b.pe.pe;
        if could && Cover::of(&a.pe).overlap(Cover::of(&b.pe)).is_some() {
            return self.run_of_two(lines, each);
        }
        self.two_runs(lines, could && alike(a, b), each);
    }

    /// As [`Launches::run`], of each of two lines.
    #[cold]
    fn two_runs(&mut self, lines: [RepeatedLine; 2], apart: bool, each: &mut impl FnMut(&Run<'_>)) {
        self.run(&lines[..1], apart, each);
        self.run(&lines[1..], apart, each);
    }

    /// As [`Launches::run`], of two lines in order of their PEs, which most runs have. They come as
    /// values, so that they are made in the place where the run refers to them.
    #[inline]
    fn run_of_two(&self, lines: [RepeatedLine; 2], each: &mut impl FnMut(&Run<'_>)) {
        let odd = lines[0].odd().and(lines[1].odd());
        let [lowest, other] = lines.map(|line| line.member);
        let apart = lowest.npes != UNTOLD && are_two_apart(&lowest.pe, &other.pe);
        let cover = Cover::of(&lowest.pe).with(Cover::of(&other.pe));
        let last = (lowest.pe.end, lowest.pe.date).max((other.pe.end, other.pe.date));
        each(&Run {
            key: &self.keys[lowest.pe.group as usize],
            group: lowest.pe.group,
            launch: self.launch,
            npes: if lowest.npes == UNTOLD { 2 } else { lowest.npes },
            wall: lowest.pe.wall.max(other.pe.wall),
            start: cover.start,
            end: cover.end,
            date: last.1,
            pes: &[lowest.pe, other.pe],
            mpi: None,
            odd: Oddities { apart, ..odd },
            keys: self.keys,
            part: KeyPart::Whole,
        });
    }

    /// In order of their starts, a line goes to the run that it overlaps most and that has no
    /// line of its PE, else it begins one.
    fn sweep(&mut self, members: &[RepeatedLine], each: &mut impl FnMut(&Run<'_>)) {
        let mut open: Vec<OpenRun> = Vec::new();
        let mut npes = None;
        for counted in members {
            let pe = &counted.member.pe;
            let cover = Cover::of(pe);
            let same_launch = npes.replace(counted.member.npes) == Some(counted.member.npes);
            open.retain(|run| {
                let keep = same_launch && run.cover.end.saturating_add(TOLERANCE) >= cover.start;
                if !keep {
                    self.run(&run.members, false, each);
                }
                keep
            });
            let best = open
                .iter_mut()
                .filter(|run| !run.pes.contains(&pe.pe))
                .filter_map(|run| run.cover.overlap(cover).map(|overlap| (overlap, run)))
                // Of equal ones the first: max_by_key takes the last.
                .rev()
                .max_by_key(|(overlap, _)| *overlap);
            match best {
                Some((_, run)) => {
                    run.cover = run.cover.with(cover);
                    run.pes.insert(pe.pe);
                    run.members.push(*counted);
                }
                None => {
                    if open.len() == MOST_OPEN {
                        self.run(&open.remove(0).members, false, each);
                    }
                    let pes = FxHashSet::from_iter([pe.pe]);
                    open.push(OpenRun { cover, pes, members: vec![*counted] });
                }
            }
        }
        for run in &open {
            self.run(&run.members, false, each);
        }
    }

    /// The run of lines that belong together; there is at least one. `apart`: it is known
    /// that clocks differ.
    fn run(&mut self, members: &[RepeatedLine], apart: bool, each: &mut impl FnMut(&Run<'_>)) {
        let mut lowest = &members[0].member;
        let mut last = &lowest.pe;
        let mut cover = Cover::of(last);
        let mut wall = Micros(0);
        let mut odd = Oddities { apart: apart || are_apart(members), ..Oddities::default() };
        self.pes.clear();
        for counted in members {
            let member = &counted.member;
            let pe = &member.pe;
            if pe.pe < lowest.pe.pe {
                lowest = member;
            }
            if (pe.end, pe.date) > (last.end, last.date) {
                last = pe;
            }
            cover = cover.with(Cover::of(pe));
            wall = wall.max(pe.wall);
            odd = odd.and(counted.odd());
            self.pes.push(*pe);
        }
        self.pes.sort_unstable_by_key(|pe| pe.pe);
        each(&Run {
            key: &self.keys[lowest.pe.group as usize],
            group: lowest.pe.group,
            launch: self.launch,
            npes: if lowest.npes == UNTOLD { members.len() as u32 } else { lowest.npes },
            wall,
            start: cover.start,
            end: cover.end,
            date: last.date,
            pes: &self.pes,
            mpi: None,
            odd,
            keys: self.keys,
            part: KeyPart::Whole,
        });
    }
}

/// A run that lines may still be added to.
struct OpenRun {
    cover: Cover,
    pes: FxHashSet<u32>,
    members: Vec<RepeatedLine>,
}

/// Whether two lines of a launch whose times do not meet look like one run: as long as each
/// other, to an eighth and the usual differences.
fn alike(a: &Member, b: &Member) -> bool {
    let (a_wall, b_wall) = (a.pe.wall.0, b.pe.wall.0);
    let longer = a_wall.max(b_wall);
    a.npes != UNTOLD
        && a.marks.has(Marks::LAUNCH)
        && a_wall.abs_diff(b_wall) <= longer / 8 + TOLERANCE.unsigned_abs()
}

/// Whether one of two lines began and ended more than [`APART`] after the other.
#[inline]
fn are_two_apart(a: &PeRecord, b: &PeRecord) -> bool {
    let later = |a: &PeRecord, b: &PeRecord| {
        b.start().saturating_sub(a.start()) > APART && b.end.saturating_sub(a.end) > APART
    };
    later(a, b) || later(b, a)
}

/// Whether a line began and ended more than [`APART`] after another of its run.
fn are_apart(members: &[RepeatedLine]) -> bool {
    if members[0].member.npes == UNTOLD {
        return false;
    }
    match members {
        [_] => false,
        [a, b] => are_two_apart(&a.member.pe, &b.member.pe),
        // In order of their starts: of the lines that began so much before another, the
        // one that ended first decides.
        many => {
            let mut first = 0;
            let mut earliest = i64::MAX;
            many.iter().any(|RepeatedLine { member: Member { pe, .. }, .. }| {
                while pe.start().saturating_sub(many[first].member.pe.start()) > APART {
                    earliest = earliest.min(many[first].member.pe.end);
                    first += 1;
                }
                pe.end.saturating_sub(APART) > earliest
            })
        }
    }
}
