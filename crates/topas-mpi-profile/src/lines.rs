//! The lines of a record, as `doc/mpi-profile.md` has them: written into a buffer, handed over
//! one by one.
//!
//! A record is written twice: first only to know how many lines it has, because each says so.

mod waits;

use topas_format::MAX_LINE;
use topas_format::civil::Civil;
use topas_format::escape::Name;
use topas_format::out::Out;
use topas_mpi_table::Function;

use crate::digits::{decimal, part, seconds};
use crate::layout::{BINS, COUNTERS, Peer, ROW_MISSED, WAITED, flag, language, object_kind};
use crate::routine::{Applies, SizeClass, applies, columns, name};
use crate::sums::{RoutineSums, Sums, TickLength, WaitedSums};

mod ends;
mod paths;
mod worlds;

pub use ends::{LastMoment, OpenCall, OpenMessage, OpenSide};
pub use paths::PATH_END_LETTERS;
use paths::hex;
pub use worlds::SpawnedWorld;

/// The third word of each line.
pub const WORD: &[u8] = b"topas-mpi";

/// Version of the lines.
pub const VERSION: u32 = 1;

/// Kinds of requests that a call waited for, by [`crate::layout::Waited`].
pub const WAITED_WORDS: [&str; WAITED] =
    ["nothing", "send", "receive", "collective", "generalized", "rma", "read", "write"];

/// Levels of threads, by number.
pub const LEVEL_WORDS: [&str; 4] = ["single", "funneled", "serialized", "multiple"];

/// Languages, by bit of [`language`].
pub const LANGUAGE_WORDS: [(u32, &str); 8] = [
    (language::C, "c"),
    (language::FORTRAN, "mpifh"),
    (language::F08, "f08"),
    (language::CXX, "cxx"),
    (language::PYTHON, "python"),
    (language::RUST, "rust"),
    (language::JULIA, "julia"),
    (language::R, "r"),
];

/// What was not counted, by bit of [`flag`].
pub const MISSED_WORDS: [(u64, &str); 7] = [
    (flag::UNKNOWN_MPI, "bytes"),
    (flag::THREADS_LOST, "threads"),
    (flag::REQUESTS_LOST, "requests"),
    (flag::SWITCHES_LOST, "switches"),
    (flag::NO_COUNTERS, "counters"),
    (flag::ROWS_MISSED, "routines"),
    (flag::RANKS_LOST, "ranks"),
];

/// What a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// All ranks, summed when they ended together
    Run,
    /// The ranks of a host, collected
    Host,
    /// One rank
    Rank,
}

impl Of {
    /// The word in lines.
    pub const fn word(self) -> &'static str {
        match self {
            Of::Run => "run",
            Of::Host => "host",
            Of::Rank => "rank",
        }
    }
}

/// How what is told ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By `MPI_Finalize`
    Finalize,
    /// By `MPI_Abort` with this code
    Abort(i32),
    /// By `exit`, without `MPI_Finalize`
    Exit,
    /// Without a word
    Lost,
    /// Not yet
    Running,
}

/// What each line begins with.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Local time of the site
    pub at: Civil,
    /// Name of the user
    pub user: &'a [u8],
    /// Executable, without its directory
    pub exe: &'a [u8],
    /// Ranks of the launch; 0 if not known
    pub npes: u32,
    /// Launch id
    pub id: &'a [u8],
    /// What the record is of
    pub of: Of,
    /// Number of the subtotal; 0 for a total
    pub subtotal: u32,
}

/// What the first line says.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Seconds since 1970
    pub epoch: u64,
    /// User
    pub uid: u32,
    /// Node
    pub host: &'a [u8],
    /// Job id
    pub job: &'a [u8],
    /// Step of the job
    pub step: &'a [u8],
    /// Partition or queue
    pub part: &'a [u8],
    /// MPI library
    pub mpi: &'a [u8],
    /// How it ended
    pub end: End,
    /// Rank in the world and process, of one rank
    pub rank: Option<(u32, u32)>,
    /// How long it ran before its first call of MPI: [`crate::layout::Header::before`]
    pub before: u64,
    /// What started the world, if other ranks did
    pub spawned: Option<SpawnedWorld>,
    /// [`crate::layout::Worlds::launcher`]
    pub launcher: u64,
    /// Names of hardware counters, each ended by a NUL or its room
    pub counters: &'a [[u8; 32]; COUNTERS],
}

/// Writes lines, token by token.
pub struct Lines<'a> {
    head: &'a Head<'a>,
    sink: &'a mut dyn FnMut(&[u8]),
    /// False while lines are only counted
    written: bool,
    buf: [u8; MAX_LINE],
    /// Bytes of the line so far
    len: usize,
    /// Length of what the line begins with
    begin: usize,
    /// The same without the numbers of lines
    base: usize,
    line: u32,
    lines: u32,
}

/// ` len=` with three digits, and the newline.
const END_OF_LINE: usize = 9;

/// Longest token that any line takes. Names at the beginning of lines leave so much.
const LONGEST_TOKEN: usize = 500;

/// Writes a record: facts, functions, waiting, and what `more` adds. `more` is called twice, and
/// must write the same. The number of lines.
pub fn record(
    head: &Head<'_>,
    facts: &Facts<'_>,
    sums: &Sums,
    more: &mut dyn FnMut(&mut Lines<'_>),
    sink: &mut dyn FnMut(&[u8]),
) -> u32 {
    let mut lines = 0;
    for written in [false, true] {
        let mut to = Lines {
            head,
            sink: &mut *sink,
            written,
            buf: [0; MAX_LINE],
            len: 0,
            begin: 0,
            base: 0,
            line: 0,
            lines,
        };
        to.open();
        to.facts(facts, sums);
        to.routines(sums, head.of == Of::Rank);
        to.waited(sums);
        to.waits(sums);
        more(&mut to);
        to.close();
        lines = to.line;
    }
    lines
}

impl Lines<'_> {
    fn open(&mut self) {
        self.line += 1;
        let mut out = Out::new(&mut self.buf);
        let Head { at, user, exe, npes, id, of, subtotal } = *self.head;
        out.dec_wide(at.date.year.into(), 4).byte(b'/').dec_wide(at.date.month.into(), 2);
        out.byte(b'/').dec_wide(at.date.day.into(), 2).byte(b' ');
        out.dec_wide(at.time.hour.into(), 2).byte(b':').dec_wide(at.time.minute.into(), 2);
        out.byte(b':').dec_wide(at.time.second.into(), 2).byte(b' ').put(WORD).byte(b' ');
        let mut whole = true;
        for (name, most) in [(user, 96), (exe, 224)] {
            // A name leaves free what stands behind it, and what would be too long for it.
            let reserve = MAX_LINE.saturating_sub(out.len() + most);
            whole &= Name::new(name).write(&mut out, reserve);
            out.byte(b' ');
        }
        if npes == 0 {
            out.byte(b'-');
        } else {
            out.dec(npes.into());
        }
        let reserve = MAX_LINE.saturating_sub(out.len() + 64);
        whole &= Name::new(id).write(out.byte(b' '), reserve);
        out.put(b" v=").dec(VERSION.into()).put(b" of=").put(of.word().as_bytes());
        if subtotal != 0 {
            out.put(b" at=").dec(subtotal.into());
        }
        if !whole {
            out.put(b" cut=1");
        }
        out.put(b" line=");
        self.base = out.len();
        out.dec(self.line.into()).byte(b'/').dec(self.lines.into());
        self.len = out.len();
        self.begin = self.len;
    }

    fn close(&mut self) {
        let len = self.len + END_OF_LINE - 1;
        let Some(rest) = self.buf.get_mut(self.len..) else {
            return;
        };
        let mut out = Out::new(rest);
        out.put(b" len=").dec_wide(len as u64, 3).byte(b'\n');
        let end = self.len + out.len();
        if let (true, Some(line)) = (self.written, self.buf.get(..end)) {
            (self.sink)(line);
        }
    }

    /// Adds a token, if need be to a new line. What is longer than any line takes is cut.
    pub fn token(&mut self, write: &mut dyn FnMut(&mut Out<'_>)) {
        for again in [true, false] {
            // Lines break at the same places while they are only counted: two numbers of ten
            // digits, whatever they are.
            let used = self.base + 21 + (self.len - self.begin);
            let room = MAX_LINE.saturating_sub(END_OF_LINE + used);
            let Some(rest) = self.buf.get_mut(self.len..).and_then(|r| r.get_mut(..room)) else {
                return;
            };
            let mut out = Out::new(rest);
            write(out.byte(b' '));
            if again && out.is_cut() && self.len > self.begin {
                self.close();
                self.open();
                continue;
            }
            self.len += out.len();
            return;
        }
    }

    fn fact(&mut self, key: &[u8], value: &[u8]) {
        if !value.is_empty() {
            self.token(&mut |out| {
                if !Name::new(value).write(out.put(key).byte(b'='), 0) {
                    // Less than three bytes are left: this marks it as cut.
                    out.put(b"...");
                }
            });
        }
    }

    fn number(&mut self, key: &[u8], value: u128) {
        self.token(&mut |out| {
            decimal(out.put(key).byte(b'='), value);
        });
    }

    fn time(&mut self, key: &[u8], nanoseconds: u128) {
        self.token(&mut |out| {
            seconds(out.put(key).byte(b'='), nanoseconds);
        });
    }

    fn words(&mut self, key: &[u8], words: &mut dyn Iterator<Item = &'static str>) {
        let mut list = [0; 96];
        let mut out = Out::new(&mut list);
        for word in words {
            if !out.is_empty() {
                out.byte(b',');
            }
            out.put(word.as_bytes());
        }
        let text = out.take();
        self.fact(key, text);
    }

    fn facts(&mut self, facts: &Facts<'_>, sums: &Sums) {
        self.number(b"t", facts.epoch.into());
        self.number(b"uid", facts.uid.into());
        match facts.end {
            End::Abort(code) => self.token(&mut |out| {
                out.put(b"end=abort:");
                if code < 0 {
                    out.byte(b'-');
                }
                out.dec(code.unsigned_abs().into());
            }),
            End::Finalize => self.fact(b"end", b"finalize"),
            End::Exit => self.fact(b"end", b"exit"),
            End::Lost => self.fact(b"end", b"lost"),
            End::Running => self.fact(b"end", b"running"),
        }
        self.fact(b"host", facts.host);
        self.fact(b"job", facts.job);
        self.fact(b"step", facts.step);
        self.fact(b"part", facts.part);
        self.fact(b"mpi", facts.mpi);
        if let Some((rank, pid)) = facts.rank {
            self.number(b"rank", rank.into());
            self.number(b"pid", pid.into());
            if facts.before > 0 {
                self.time(b"before", facts.before.into());
            }
        }
        if let Some(world) = &facts.spawned {
            self.spawned(world);
        } else if facts.launcher != 0 && sums.starts_worlds() {
            self.token(&mut |out| hex(out.put(b"launcher="), facts.launcher));
        }
        self.number(b"ranks", sums.ranks.into());
        self.time(b"wall", sums.wall);
        self.time(b"wallmax", sums.wall_max.into());
        self.time(b"mpisum", sums.mpi);
        self.time(b"mpimax", sums.mpi_max.into());
        self.time(b"mpimin", sums.mpi_min.into());
        self.time(b"usemax", sums.outside_max.into());
        self.time(b"over", sums.overhead);
        if sums.paused > 0 {
            self.time(b"pause", sums.paused);
        }
        if sums.processor > 0 {
            self.time(b"cpu", sums.processor);
            self.number(b"preempted", sums.interruptions);
        }
        if sums.processors > 0 {
            self.number(b"cpus", sums.processors.into());
        }
        self.number(b"thr", sums.threads.into());
        let mut languages = LANGUAGE_WORDS
            .iter()
            .filter(|(bit, _)| sums.languages & bit != 0)
            .map(|(_, word)| *word);
        self.words(b"lang", &mut languages);
        if sums.flags & flag::PROFILING != 0 {
            self.fact(b"pmpi", b"1");
        }
        if let Some(level) = LEVEL_WORDS.get(sums.level as usize) {
            self.fact(b"level", level.as_bytes());
        }
        let mut missed =
            MISSED_WORDS.iter().filter(|(bit, _)| sums.flags & bit != 0).map(|(_, word)| *word);
        self.words(b"miss", &mut missed);
        self.wait_facts(sums);
        if sums.flags & flag::COUNTERS != 0 {
            let counts = sums.inside.iter().zip(&sums.outside);
            for (name, (inside, outside)) in facts.counters.iter().zip(counts) {
                let name = text(name);
                for (key, count) in [(b"ci.", inside), (b"co.", outside)] {
                    if !name.is_empty() {
                        self.token(&mut |out| {
                            decimal(part(out.put(key), name).byte(b'='), *count);
                        });
                    }
                }
            }
        }
    }

    fn routines(&mut self, sums: &Sums, one_rank: bool) {
        let known = sums.flags & flag::UNKNOWN_MPI == 0;
        for (number, routine) in sums.routines.iter().enumerate() {
            if routine.calls > 0 || routine.sends > 0 || routine.receives > 0 {
                self.token(&mut |out| put_routine(out, number, routine, known, one_rank));
            }
        }
    }

    fn waited(&mut self, sums: &Sums) {
        for (word, WaitedSums { calls, nanoseconds }) in WAITED_WORDS.iter().zip(&sums.waited) {
            if *calls > 0 {
                self.token(&mut |out| {
                    decimal(out.put(b"w=").put(word.as_bytes()).byte(b':'), *calls);
                    seconds(out.byte(b':'), *nanoseconds);
                });
            }
        }
    }

    /// Message sizes by class, for records of more than one rank.
    pub fn sizes_by_class(&mut self, sums: &Sums) {
        for (class, both) in SizeClass::ALL.into_iter().zip(&sums.sizes) {
            for (way, bins) in [b's', b'r'].into_iter().zip(both) {
                self.sizes(class.word().as_bytes(), way, bins.iter().copied());
            }
        }
    }

    /// Message sizes of one function, by its number, for records of one rank.
    pub fn sizes_of(&mut self, number: usize, way: u8, bins: &[u64; BINS]) {
        self.sizes(name(number), way, bins.iter().map(|n| u128::from(*n)));
    }

    fn sizes(&mut self, what: &[u8], way: u8, bins: impl Iterator<Item = u128> + Clone) {
        // As many bins to a token as any line takes; tokens of one name add up.
        const BINS_PER_TOKEN: usize = 10;
        for first in (0..BINS).step_by(BINS_PER_TOKEN) {
            let bins = bins.clone().enumerate().skip(first).take(BINS_PER_TOKEN);
            let bins = bins.filter(|(_, n)| *n > 0);
            if bins.clone().next().is_none() {
                continue;
            }
            self.token(&mut |out| {
                out.put(b"h=").put(what).byte(b':').byte(way);
                let mut separator = b':';
                for (bin, n) in bins.clone() {
                    decimal(out.byte(separator).dec(bin as u64).byte(b'='), n);
                    separator = b',';
                }
            });
        }
    }

    /// Traffic with a peer, a rank of the world; None are all others.
    pub fn peer(&mut self, rank: Option<u32>, peer: &Peer) {
        self.token(&mut |out| {
            out.put(b"p=");
            match rank {
                Some(rank) => out.dec(rank.into()),
                None => out.byte(b'-'),
            };
            put_traffic(out, peer);
        });
    }

    /// Calls of a function that had not ended when their ranks did, and the nanoseconds of them
    /// that count for it.
    pub fn unended(&mut self, number: usize, calls: u64, nanoseconds: u128) {
        self.token(&mut |out| {
            out.put(b"u=").put(name(number)).byte(b':').dec(calls);
            seconds(out.byte(b':'), nanoseconds);
        });
    }

    /// Traffic of a communicator, window or file of a kind of [`object_kind`];
    /// without a name of the program's it has that of what made it.
    pub fn communicator(
        &mut self,
        name: &[u8],
        kind: u16,
        size: u32,
        traffic: &crate::layout::Traffic,
        tick: &TickLength,
    ) {
        self.token(&mut |out| {
            part(out.put(b"c="), name).byte(b':').dec(size.into()).byte(b':').dec(traffic.calls);
            seconds(out.byte(b':'), tick.nanoseconds(traffic.ticks).into());
            put_traffic(out, &traffic.peer);
            if kind > object_kind::INTER {
                out.byte(b':').put(object_kind::word(kind).as_bytes());
            }
        });
    }

    /// Environment switches of the MPI: `NAME=VALUE`, each ended by a NUL, or `NAME` if the value
    /// is not to be told. A long value loses its end and gets `...`.
    pub fn switches(&mut self, switches: &[u8]) {
        for entry in switches.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let mut halves = entry.splitn(2, |byte| *byte == b'=');
            let (name, value) = (halves.next().unwrap_or_default(), halves.next());
            // Three bytes for one that is escaped.
            const NAME: usize = 60;
            const VALUE: usize = (LONGEST_TOKEN - 3 * NAME - 8) / 3;
            self.token(&mut |out| {
                part(out.put(b"e="), name.get(..NAME).unwrap_or(name));
                let Some(value) = value else { return };
                out.byte(b'=');
                match value.get(..VALUE) {
                    Some(cut) if value.len() > VALUE => part(out, cut).put(b"..."),
                    _ => part(out, value),
                };
            });
        }
    }
}

/// A text that ends with a NUL or fills its room.
pub fn text(room: &[u8]) -> &[u8] {
    room.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn put_traffic(out: &mut Out<'_>, peer: &Peer) {
    for n in [peer.sends, peer.sent, peer.receives, peer.received] {
        out.byte(b':').dec(n);
    }
}

/// What a field says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Does not apply
    None,
    /// Not counted
    Missing,
    /// Counted
    Exact(u128),
    /// Some calls were not counted: at least so much
    AtLeast(u128),
}

/// The amounts of a function: count, sends, sent, receives, received.
pub fn amounts(function: &Function, routine: &RoutineSums, known: bool) -> [Amount; 5] {
    amounts_in(applies(function), routine, known)
}

/// [`amounts`] of a function with these columns.
pub fn amounts_in(columns: Applies, routine: &RoutineSums, known: bool) -> [Amount; 5] {
    let Applies { count, sends, receives } = columns;
    let missed = routine.flags & ROW_MISSED != 0;
    let amount = |applies: bool, n: u128| match (applies || n > 0, known, missed) {
        (false, ..) => Amount::None,
        (true, false, _) => Amount::Missing,
        (true, true, true) if n == 0 => Amount::Missing,
        (true, true, true) => Amount::AtLeast(n),
        (true, true, false) => Amount::Exact(n),
    };
    [
        amount(count, routine.count),
        amount(sends, routine.sends),
        amount(sends, routine.sent),
        amount(receives, routine.receives),
        amount(receives, routine.received),
    ]
}

fn put_routine(
    out: &mut Out<'_>,
    number: usize,
    routine: &RoutineSums,
    known: bool,
    one_rank: bool,
) {
    out.put(b"f=").put(name(number));
    decimal(out.byte(b':'), routine.calls);
    seconds(out.byte(b':'), routine.nanoseconds);
    seconds(out.byte(b':'), routine.longest.into());
    let mut end = out.len();
    for amount in amounts_in(columns(number), routine, known) {
        out.byte(b':');
        match amount {
            Amount::None => continue,
            Amount::Missing => out.byte(b'-'),
            Amount::Exact(n) => decimal(out, n),
            Amount::AtLeast(n) => decimal(out, n).byte(b'+'),
        };
        end = out.len();
    }
    if one_rank {
        // Empty fields at the end are dropped.
        if !out.is_cut() {
            out.rewind(end);
        }
    } else {
        out.byte(b':').dec(routine.ranks);
    }
}
