//! The PEs of one launch as rows, in order of their numbers.

use topas_format::event::Metric;
use topas_format::line::Line;
use topas_format::number::Count;

use super::cluster::PeRange;
use super::read::{PeLaunch, PeLines};

/// Number of a text that a line does not have.
const NONE: u32 = u32::MAX;

/// What is kept of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptLine {
    launch: u32,
    pe: u32,
    pub(super) host: u32,
    exe: u32,
    pub(super) ending: u32,
    pub(super) why: u32,
    pub(super) cpu: Option<u32>,
    pub(super) numa: Option<u32>,
    pub(super) end: i64,
    wall: u64,
    user: u64,
    system: u64,
    metric: Metric,
    count: Count,
    l1_misses: Count,
    pub(super) cycles: Option<u64>,
    pub(super) instructions: Option<u64>,
    pub(super) rss: Option<u64>,
}

impl KeptLine {
    #[inline]
    pub(super) fn new(line: &Line<'_>, launch: u32, exe: u32) -> Self {
        KeptLine {
            launch,
            pe: line.pe,
            host: NONE,
            exe,
            ending: NONE,
            why: NONE,
            cpu: None,
            numa: None,
            end: i64::MIN,
            wall: line.wall_time.0,
            user: line.user_time.0,
            system: line.sys_time.0,
            metric: line.ops.metric,
            count: line.ops.count,
            l1_misses: line.l1_miss,
            cycles: None,
            instructions: None,
            rss: None,
        }
    }

    /// Whether it tells where its PE ran.
    #[inline]
    fn is_placed(&self) -> bool {
        self.cpu.is_some() || self.numa.is_some()
    }

    /// From numbers of a part to those of all.
    pub(super) fn renumber(&mut self, launches: &[u32], texts: &[u32]) {
        let text = |number: u32| texts.get(number as usize).copied().unwrap_or(NONE);
        self.launch = launches.get(self.launch as usize).copied().unwrap_or(NONE);
        self.host = text(self.host);
        self.exe = text(self.exe);
        self.ending = text(self.ending);
        self.why = text(self.why);
    }
}

/// What the line of a PE says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pe {
    /// Number of the PE, from 0
    pub pe: u32,
    /// Place in [`PeTable::hosts`]
    pub host: u32,
    /// Place in [`PeTable::exes`]
    pub exe: u32,
    /// NUMA node it ended on
    pub numa: Option<u32>,
    /// CPU it ended on
    pub cpu: Option<u32>,
    /// Wall clock time in µs
    pub wall: u64,
    /// User CPU time in µs, all threads
    pub user: u64,
    /// System CPU time in µs, all threads
    pub system: u64,
    /// What it counted
    pub metric: Metric,
    /// How many of them
    pub count: Count,
    /// Level 1 data cache misses
    pub l1_misses: Count,
    /// Cycles in user mode
    pub cycles: Option<u64>,
    /// Instructions in user mode
    pub instructions: Option<u64>,
    /// Largest resident set in B
    pub rss: Option<u64>,
    /// When its line was written: s since 1970-01-01 00:00, as [`PeLaunch::end`]
    pub end: i64,
    text: WordNumbers,
}

/// Numbers of the texts `end=` and `why=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WordNumbers {
    ending: u32,
    why: u32,
}

impl Pe {
    /// CPU time in µs: user and system.
    pub fn cpu_time(&self) -> u64 {
        self.user.saturating_add(self.system)
    }
}

/// PEs that a launch should have and the table has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// PEs without a line: they died before their end, or their file is elsewhere; None
    /// where the launcher does not tell the number of PEs
    pub missing: Option<u32>,
    /// Those PEs, folded
    pub ranges: Vec<PeRange>,
    /// Whether the lines are those of a log, in which two PEs of a launch have one, or as many as
    /// `TOPAS_PE` names: that others have none tells nothing
    pub of_log: bool,
    /// Lines of a PE that has a later one in the same launch; only that one is used
    pub repeated: u64,
    /// Lines with a PE beyond the number of PEs; they are used
    pub beyond: u64,
    /// Lines of an earlier run with the same id, which some launchers give again; they are
    /// not used
    pub earlier: u64,
}

/// The PEs of a launch.
#[derive(Clone, Debug)]
pub struct PeTable {
    /// The launch
    pub launch: PeLaunch,
    /// One for each PE that has a line, ascending
    pub rows: Vec<Pe>,
    /// Names of the hosts in the order of their first PEs; one is empty where a line has none
    pub hosts: Vec<Box<[u8]>>,
    /// Executables, likewise; several in a launch of several programs
    pub exes: Vec<Box<[u8]>>,
    /// What most PEs counted; that of a PE which counted another is no value
    pub metric: Metric,
    /// PEs that counted something else than `metric`
    pub others: usize,
    /// Wall clock time of the run in µs: the longest of its PEs
    pub wall: u64,
    /// What is not in the table
    pub without: Without,
    /// Texts of `end=` and `why=` by number
    texts: Vec<Box<[u8]>>,
}

impl PeTable {
    pub(super) fn new(lines: &PeLines, launch: PeLaunch, number: u32) -> Self {
        let mut kept: Vec<&KeptLine> =
            Vec::with_capacity(usize::try_from(launch.lines).unwrap_or(0));
        let of_launch = lines.lines.iter().flatten().filter(|line| line.launch == number);
        let mut look = LinesLook::default();
        kept.extend(of_launch.inspect(|line| look.add(line)));
        let of_id = kept.len();
        if !look.end_together() {
            keep_latest_run(&mut kept);
        }
        let earlier = (of_id - kept.len()) as u64;
        let total = kept.len() as u64;
        if look.is_unordered {
            keep_latest_of_each_pe(&mut kept);
        }
        // Lines of `topas.out` tell their place, those of a log do not. Of the T3E there is no
        // such sign.
        let is_placed = if kept.len() == of_id {
            look.is_placed
        } else {
            kept.iter().any(|line| line.is_placed())
        };
        let of_log = (lines.versioned || kept.len() <= MEASURING) && !is_placed;
        let all = lines.texts.all();
        let (mut hosts, mut exes) = (Named::new(all), Named::new(all));
        let (mut weights, mut wall) = (MetricWeights::default(), 0);
        let pe_of = |line: &&KeptLine| Pe {
            pe: line.pe,
            host: hosts.place(line.host),
            exe: exes.place(line.exe),
            numa: line.numa,
            cpu: line.cpu,
            wall: line.wall,
            user: line.user,
            system: line.system,
            metric: line.metric,
            count: line.count,
            l1_misses: line.l1_misses,
            cycles: line.cycles,
            instructions: line.instructions,
            rss: line.rss,
            end: line.end,
            text: WordNumbers { ending: line.ending, why: line.why },
        };
        // Rows are larger than any cache: what is asked of each is asked while it is made.
        let rows: Vec<Pe> = kept
            .iter()
            .map(pe_of)
            .inspect(|pe| {
                weights.add(pe);
                wall = pe.wall.max(wall);
            })
            .collect();
        let MetricMajority { metric, others } = weights.majority(rows.len());
        PeTable {
            without: Without {
                earlier,
                repeated: total - rows.len() as u64,
                of_log,
                ..without(&rows, launch.npes)
            },
            others,
            metric,
            wall,
            hosts: hosts.names,
            exes: exes.names,
            texts: all.to_vec(),
            launch,
            rows,
        }
    }

    /// How the PE ended, as `end=` says; empty if it does not.
    pub fn ending(&self, pe: &Pe) -> &[u8] {
        self.texts.get(pe.text.ending as usize).map_or(&[], |text| text)
    }

    /// Number of the text of [`PeTable::ending`], the same of PEs that ended alike.
    pub(super) fn ending_number(pe: &Pe) -> u32 {
        pe.text.ending
    }

    /// Why it has no count, as `why=` says; empty if it does not.
    pub fn why(&self, pe: &Pe) -> &[u8] {
        self.texts.get(pe.text.why as usize).map_or(&[], |text| text)
    }

    /// All texts of [`PeTable::ending`] and [`PeTable::why`].
    pub fn texts(&self) -> &[Box<[u8]>] {
        &self.texts
    }

    /// Numbers in [`PeTable::texts`] of how the PE ended, and why it has no count.
    pub fn text_numbers(pe: &Pe) -> [u32; 2] {
        [pe.text.ending, pe.text.why]
    }

    /// Name of the PE's host; empty if not known.
    pub fn host(&self, pe: &Pe) -> &[u8] {
        self.hosts.get(pe.host as usize).map_or(&[], |name| name)
    }

    /// The row of a PE.
    pub fn row(&self, pe: u32) -> Option<&Pe> {
        let place = self.rows.binary_search_by_key(&pe, |row| row.pe).ok()?;
        self.rows.get(place)
    }
}

/// Names in the order they come.
struct Named<'t> {
    all: &'t [Box<[u8]>],
    places: Vec<u32>,
    names: Vec<Box<[u8]>>,
    nameless: u32,
}

impl<'t> Named<'t> {
    fn new(all: &'t [Box<[u8]>]) -> Self {
        Named { all, places: vec![NONE; all.len()], names: Vec::new(), nameless: NONE }
    }

    #[inline]
    fn place(&mut self, number: u32) -> u32 {
        let slot = self.places.get_mut(number as usize).unwrap_or(&mut self.nameless);
        if *slot == NONE {
            *slot = self.names.len() as u32;
            self.names.push(self.all.get(number as usize).cloned().unwrap_or_default());
        }
        *slot
    }
}

/// What most PEs have a count of; where none has, what most wanted to count.
struct MetricMajority {
    metric: Metric,
    /// PEs that wanted to count another
    others: usize,
}

/// PEs that counted each metric, and that wanted to.
#[derive(Default)]
struct MetricWeights([(usize, usize); METRICS.len()]);

/// In the order in which they are preferred.
const METRICS: [Metric; 4] = [Metric::FpOps, Metric::IntOps, Metric::Loads, Metric::Stores];

impl MetricWeights {
    #[inline]
    fn add(&mut self, pe: &Pe) {
        for (metric, weight) in METRICS.into_iter().zip(&mut self.0) {
            let wanted = pe.metric == metric;
            weight.0 += usize::from(wanted && pe.count.value().is_some());
            weight.1 += usize::from(wanted);
        }
    }

    /// Of so many PEs.
    fn majority(self, pes: usize) -> MetricMajority {
        // Of equals the first.
        let weighed = METRICS.into_iter().zip(self.0).rev();
        let most = weighed.max_by_key(|(_, weight)| *weight);
        let (metric, (_, wanted)) = most.unwrap_or((Metric::FpOps, (0, 0)));
        MetricMajority { metric, others: pes - wanted }
    }
}

/// What all lines of a launch show at once: they are larger than any cache.
struct LinesLook {
    /// When the first and the last of them were written
    ends: (i64, i64),
    /// The PE of the last line
    last: Option<u32>,
    /// Whether PEs do not ascend
    is_unordered: bool,
    /// Whether a line tells where its PE ran
    is_placed: bool,
}

impl Default for LinesLook {
    fn default() -> Self {
        LinesLook { ends: (i64::MAX, i64::MIN), last: None, is_unordered: false, is_placed: false }
    }
}

impl LinesLook {
    #[inline]
    fn add(&mut self, line: &KeptLine) {
        self.ends = (self.ends.0.min(line.end), self.ends.1.max(line.end));
        self.is_unordered |= self.last.is_some_and(|last| last >= line.pe);
        self.last = Some(line.pe);
        self.is_placed |= line.is_placed();
    }

    /// Whether all lines were written at nearly the same time.
    fn end_together(&self) -> bool {
        self.ends.0 >= self.ends.1.saturating_sub(TOLERANCE)
    }
}

/// PEs of a launch that have a line in a log, unless the user names others.
const MEASURING: usize = 2;

/// How far clocks of hosts and whole seconds may be off, in s.
const TOLERANCE: i64 = 2;

/// Leaves the lines whose times, from start to end, overlap with that of the last or of one
/// that does.
fn keep_latest_run(kept: &mut Vec<&KeptLine>) {
    let begin = |line: &KeptLine| line.end.saturating_sub_unsigned(line.wall.div_ceil(1_000_000));
    // One pass is enough for a launch whose lines end together.
    let ends = kept.iter().fold((i64::MAX, i64::MIN), |(least, most), line| {
        (least.min(line.end), most.max(line.end))
    });
    if ends.0 >= ends.1 - TOLERANCE {
        return;
    }
    let last = ends.1;
    let near = kept.iter().filter(|line| line.end >= last - TOLERANCE);
    let mut start = near.map(|line| begin(line)).min().unwrap_or(last).min(last);
    // One look is enough for a launch of its own id; of others the later ends come first.
    if kept.iter().any(|line| line.end < start - TOLERANCE) {
        let mut times: Vec<(i64, i64)> = kept.iter().map(|line| (line.end, begin(line))).collect();
        times.sort_unstable_by_key(|(end, _)| std::cmp::Reverse(*end));
        for (end, begin) in times {
            if end < start - TOLERANCE {
                break;
            }
            start = start.min(begin);
        }
        kept.retain(|line| line.end >= start - TOLERANCE);
    }
}

/// Leaves one line of each PE, the latest, in order of PEs.
fn keep_latest_of_each_pe(kept: &mut Vec<&KeptLine>) {
    if !kept.is_sorted_by(|a, b| a.pe < b.pe) {
        // Stable: of two lines of a PE that ended in the same second the later in the input is
        // used.
        kept.sort_by_key(|line| (line.pe, line.end));
        kept.reverse();
        kept.dedup_by_key(|line| line.pe);
        kept.reverse();
    }
}

/// Number of PEs and of hosts of each launch, by its number, without making its table.
pub(super) fn sizes(lines: &PeLines, launches: usize) -> Vec<(usize, usize)> {
    let mut all: Vec<&KeptLine> = lines.lines.iter().flatten().collect();
    all.sort_by_key(|line| line.launch);
    let mut sizes = vec![(0, 0); launches];
    let (mut kept, mut hosts) = (Vec::new(), Vec::new());
    for of_launch in all.chunk_by(|a, b| a.launch == b.launch) {
        kept.clear();
        kept.extend_from_slice(of_launch);
        keep_latest_run(&mut kept);
        keep_latest_of_each_pe(&mut kept);
        hosts.clear();
        hosts.extend(kept.iter().map(|line| line.host));
        hosts.sort_unstable();
        hosts.dedup();
        let number = of_launch.first().map_or(NONE, |line| line.launch);
        if let Some(size) = sizes.get_mut(number as usize) {
            *size = (kept.len(), hosts.len());
        }
    }
    sizes
}

fn without(rows: &[Pe], npes: Option<u32>) -> Without {
    let Some(npes) = npes else {
        return Without::default();
    };
    let inside = rows.partition_point(|pe| pe.pe < npes);
    let present = rows.get(..inside).unwrap_or_default();
    let mut ranges = Vec::new();
    let mut next = 0;
    for pe in present.iter().map(|row| row.pe).chain([npes]) {
        if pe > next {
            ranges.push(PeRange { first: next, last: pe - 1 });
        }
        next = pe.saturating_add(1);
    }
    Without {
        missing: Some(npes - inside as u32),
        ranges,
        beyond: (rows.len() - inside) as u64,
        ..Without::default()
    }
}
