//! What is counted of a rank, or of several together.

use topas_mpi_profile::layout::{BINS, COUNTERS, WAITED, flag, object_kind};
use topas_mpi_profile::lines::{WAITED_WORDS, amounts};
use topas_mpi_profile::routine::{SizeClass, size_class};
use topas_mpi_profile::sums::{self, RoutineSums};

use super::paths::RankPaths;
use super::rank::counters;
use super::routine::{RoutineAmount, RoutineCalls, RoutineNumber, table};
use super::waits::WaitFigures;

/// What messages are for; histograms of several ranks are by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageClass {
    /// Point-to-point, `p2p`
    PointToPoint,
    /// Collective, `coll`
    Collective,
    /// Access to memory of others, `rma`
    Rma,
    /// Files, `io`
    Io,
}

/// All classes.
pub const CLASSES: [MessageClass; 4] =
    [MessageClass::PointToPoint, MessageClass::Collective, MessageClass::Rma, MessageClass::Io];

impl MessageClass {
    /// As lines name it.
    pub const fn name(self) -> &'static str {
        match self {
            MessageClass::PointToPoint => "p2p",
            MessageClass::Collective => "coll",
            MessageClass::Rma => "rma",
            MessageClass::Io => "io",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<MessageClass> {
        CLASSES.into_iter().find(|class| class.name() == name)
    }

    /// That of a routine; None if it moves nothing or its bytes are those of another.
    pub fn of(number: RoutineNumber) -> Option<MessageClass> {
        size_class(number.function()?).map(MessageClass::from)
    }
}

impl From<SizeClass> for MessageClass {
    fn from(class: SizeClass) -> MessageClass {
        match class {
            SizeClass::PointToPoint => MessageClass::PointToPoint,
            SizeClass::Collective => MessageClass::Collective,
            SizeClass::Rma => MessageClass::Rma,
            SizeClass::Io => MessageClass::Io,
        }
    }
}

/// Numbers of messages by size: bin 0 of 0 B, bin k from 2^(k-1) to less than 2^k B, the last
/// without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Of what was sent, put or written
    pub sent: [u128; BINS],
    /// Of what was received, got or read
    pub received: [u128; BINS],
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes { sent: [0; BINS], received: [0; BINS] }
    }
}

impl Sizes {
    pub(super) fn add(&mut self, other: &Sizes) {
        for (mine, theirs) in [(&mut self.sent, &other.sent), (&mut self.received, &other.received)]
        {
            for (sum, more) in mine.iter_mut().zip(theirs) {
                *sum += more;
            }
        }
    }

    /// Whether there is no message at all.
    pub fn is_empty(&self) -> bool {
        self.sent.iter().chain(&self.received).all(|count| *count == 0)
    }
}

/// Messages and bytes in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficSums {
    /// Messages sent
    pub sends: u128,
    /// Bytes in them
    pub sent: u128,
    /// Messages received
    pub receives: u128,
    /// Bytes in them
    pub received: u128,
}

impl TrafficSums {
    pub(super) fn add(&mut self, other: &TrafficSums) {
        self.sends += other.sends;
        self.sent += other.sent;
        self.receives += other.receives;
        self.received += other.received;
    }
}

/// Traffic of a rank with another one, point-to-point and with its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerSums {
    /// Rank of the world; None: processes that are not in the world
    pub rank: Option<u32>,
    /// Messages and bytes
    pub traffic: TrafficSums,
}

/// Traffic of the communicators, windows or files of one name and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communicator {
    /// Name that the program gave it, or the function that made it; of a file the last part of its
    /// path
    pub name: Box<str>,
    /// What it is
    pub kind: MpiObjectKind,
    /// Processes; of an intercommunicator those of the other group; None if not told
    pub size: Option<u32>,
    /// Calls with it
    pub calls: u128,
    /// Wall clock time in them in ns
    pub time: u128,
    /// Messages and bytes
    pub traffic: TrafficSums,
}

/// What stands in the table of communicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MpiObjectKind {
    /// Communicator or intercommunicator
    Communicator,
    /// Window
    Window,
    /// File
    File,
}

impl MpiObjectKind {
    /// Of a kind of [`object_kind`].
    pub(super) fn of(kind: u16) -> Self {
        match kind {
            object_kind::WINDOW => MpiObjectKind::Window,
            object_kind::FILE => MpiObjectKind::File,
            _ => MpiObjectKind::Communicator,
        }
    }

    /// `communicator`, `window` or `file`
    pub fn word(self) -> &'static str {
        match self {
            MpiObjectKind::Communicator => object_kind::word(object_kind::COMM),
            MpiObjectKind::Window => object_kind::word(object_kind::WINDOW),
            MpiObjectKind::File => object_kind::word(object_kind::FILE),
        }
    }

    /// A name, of windows and files behind the word for what they are.
    pub fn name(self, name: &str) -> String {
        match self {
            MpiObjectKind::Communicator => name.to_owned(),
            other => format!("{} {name}", other.word()),
        }
    }
}

/// A hardware counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name of what it counts
    pub name: Box<str>,
    /// Events in calls of MPI
    pub inside: Option<u128>,
    /// Events outside of them
    pub outside: Option<u128>,
}

/// Calls and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Calls
    pub calls: u128,
    /// Wall clock time in them in ns
    pub time: u128,
}

/// For what ranks waited in functions that complete requests, in the order of
/// `topas_mpi_profile::layout::Waited`.
pub const WAITED_NAMES: [&str; WAITED] = WAITED_WORDS;

/// What was counted, of one rank or of several together. Times are in ns of wall clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MpiSums {
    /// Ranks in the sum
    pub ranks: u64,
    /// Time from the first call of MPI to the last moment known, of all ranks
    pub wall: u128,
    /// That of the rank that took longest
    pub wall_max: u64,
    /// Time in MPI
    pub mpi: u128,
    /// That of the rank with most
    pub mpi_max: u64,
    /// That of the rank with least
    pub mpi_min: u64,
    /// Largest time of a rank outside MPI
    pub outside_max: u64,
    /// Time that the measurement itself took
    pub overhead: u128,
    /// Time during which measuring was paused
    pub paused: u128,
    /// Processor time in ns; 0 if that is not known
    pub processor: u128,
    /// How often ranks were interrupted in favour of others
    pub interruptions: u128,
    /// Most processors of a node; 0 if that is not known
    pub processors: u32,
    /// How long the process ran before its first call of MPI, without waiting for a processor; of several ranks that
    /// of the rank with most; 0 if that is not known
    pub before: u64,
    /// Largest number of threads of a rank that called MPI
    pub threads: u32,
    /// Routines that were called, by number
    pub routines: Vec<RoutineCalls>,
    /// Message sizes by class: places as in [`CLASSES`]
    pub classes: [Sizes; CLASSES.len()],
    /// Message sizes by routine, by number; of one rank only
    pub sizes: Vec<(RoutineNumber, Sizes)>,
    /// Waiting for requests by kind, as in [`WAITED_NAMES`]
    pub waited: [Waiting; WAITED],
    /// Communicators, if they were counted
    pub communicators: Vec<Communicator>,
    /// Peers by rank, others last, if they were counted; of one rank only
    pub peers: Vec<PeerSums>,
    /// Hardware counters, if they were read
    pub counters: Vec<Counter>,
    /// Call paths, if they were counted; of one rank only
    pub paths: Option<RankPaths>,
    /// Why ranks waited
    pub waits: WaitFigures,
}

impl MpiSums {
    /// From the sums of the library; `names` are those of hardware counters.
    pub(super) fn of(all: &sums::Sums, names: &[[u8; 32]; COUNTERS]) -> MpiSums {
        let known = all.flags & flag::UNKNOWN_MPI == 0;
        let rows = (0..).map(RoutineNumber).zip(table().iter().zip(&all.routines));
        let told = rows.filter(|(_, (_, sums))| sums.calls > 0 || sums.nanoseconds > 0);
        let routines = told.map(|(number, (function, sums))| {
            routine(number, sums, amounts(function, sums, known))
        });
        let waited = all
            .waited
            .map(|sums::WaitedSums { calls, nanoseconds }| Waiting { calls, time: nanoseconds });
        let classes = all.sizes.map(|[sent, received]| Sizes { sent, received });
        MpiSums {
            ranks: all.ranks,
            wall: all.wall,
            wall_max: all.wall_max,
            mpi: all.mpi,
            mpi_max: all.mpi_max,
            mpi_min: all.mpi_min,
            outside_max: all.outside_max,
            overhead: all.overhead,
            paused: all.paused,
            processor: all.processor,
            interruptions: all.interruptions,
            processors: all.processors,
            threads: u32::try_from(all.threads).unwrap_or(u32::MAX),
            routines: routines.collect(),
            classes,
            waited,
            counters: counters(all, names),
            waits: WaitFigures::of(all),
            ..MpiSums::default()
        }
    }

    /// The calls of a routine, if there were any.
    pub fn routine(&self, number: RoutineNumber) -> Option<&RoutineCalls> {
        let place = self.routines.binary_search_by_key(&number, |routine| routine.number).ok()?;
        self.routines.get(place)
    }

    /// All calls.
    pub fn calls(&self) -> u128 {
        self.routines.iter().map(|routine| routine.calls).sum()
    }

    /// Time outside MPI, without pauses, in ns.
    pub fn outside(&self) -> u128 {
        self.wall.saturating_sub(self.mpi).saturating_sub(self.paused)
    }

    /// Message sizes of a class.
    pub fn class(&self, class: MessageClass) -> &Sizes {
        &self.classes[class as usize]
    }

    /// Bytes sent, or received, by all routines.
    pub fn sent(&self) -> RoutineAmount {
        self.routines.iter().map(|routine| routine.sent).sum()
    }

    /// Bytes received by all routines.
    pub fn received(&self) -> RoutineAmount {
        self.routines.iter().map(|routine| routine.received).sum()
    }

    /// The calls of a routine, to be added to.
    pub fn routine_mut(&mut self, number: RoutineNumber) -> &mut RoutineCalls {
        let found = self.routines.binary_search_by_key(&number, |routine| routine.number);
        let place = found.unwrap_or_else(|place| {
            self.routines.insert(place, RoutineCalls::new(number));
            place
        });
        &mut self.routines[place]
    }

    /// Adds calls with communicators, windows or files of one name and size.
    pub(super) fn add_communicator(&mut self, theirs: &Communicator) {
        fn key(of: &Communicator) -> (&str, MpiObjectKind, Option<u32>) {
            (&of.name, of.kind, of.size)
        }
        let same = |mine: &&mut Communicator| key(mine) == key(theirs);
        match self.communicators.iter_mut().find(same) {
            Some(mine) => {
                mine.calls += theirs.calls;
                mine.time += theirs.time;
                mine.traffic.add(&theirs.traffic);
            }
            None => self.communicators.push(theirs.clone()),
        }
    }

    /// Puts peers in order, and those of one rank together.
    pub(super) fn merge_peers(&mut self) {
        // All others are last.
        let order = |peer: &PeerSums| peer.rank.map_or(u64::MAX, u64::from);
        self.peers.sort_by_key(order);
        self.peers.dedup_by(|next, kept| {
            let same = next.rank == kept.rank;
            if same {
                kept.traffic.add(&next.traffic);
            }
            same
        });
    }

    /// Adds other ranks. What only one rank can have, its peers and sizes by routine, is
    /// left out.
    pub fn add(&mut self, other: &MpiSums) {
        self.mpi_min = match (self.ranks, other.ranks) {
            (0, _) => other.mpi_min,
            (_, 0) => self.mpi_min,
            _ => self.mpi_min.min(other.mpi_min),
        };
        self.ranks = self.ranks.saturating_add(other.ranks);
        self.wall += other.wall;
        self.wall_max = self.wall_max.max(other.wall_max);
        self.mpi += other.mpi;
        self.mpi_max = self.mpi_max.max(other.mpi_max);
        self.outside_max = self.outside_max.max(other.outside_max);
        self.overhead += other.overhead;
        self.paused += other.paused;
        self.processor += other.processor;
        self.interruptions += other.interruptions;
        self.processors = self.processors.max(other.processors);
        self.before = self.before.max(other.before);
        self.threads = self.threads.max(other.threads);
        for routine in &other.routines {
            self.routine_mut(routine.number).add(routine);
        }
        for (mine, theirs) in self.classes.iter_mut().zip(&other.classes) {
            mine.add(theirs);
        }
        for (mine, theirs) in self.waited.iter_mut().zip(&other.waited) {
            mine.calls += theirs.calls;
            mine.time += theirs.time;
        }
        self.waits.add(&other.waits);
        for theirs in &other.communicators {
            self.add_communicator(theirs);
        }
        for theirs in &other.counters {
            match self.counters.iter_mut().find(|counter| counter.name == theirs.name) {
                Some(mine) => {
                    let both = |a: Option<u128>, b: Option<u128>| Some(a? + b?);
                    mine.inside = both(mine.inside, theirs.inside);
                    mine.outside = both(mine.outside, theirs.outside);
                }
                None => self.counters.push(theirs.clone()),
            }
        }
    }
}

fn routine(
    number: RoutineNumber,
    sums: &RoutineSums,
    [count, sends, sent, receives, received]: [topas_mpi_profile::lines::Amount; 5],
) -> RoutineCalls {
    RoutineCalls {
        number,
        calls: sums.calls,
        time: sums.nanoseconds,
        longest: sums.longest,
        count: count.into(),
        sends: sends.into(),
        sent: sent.into(),
        receives: receives.into(),
        received: received.into(),
        ranks: Some(sums.ranks),
        ..RoutineCalls::new(number)
    }
}
