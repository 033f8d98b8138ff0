//! The mapped file of a rank. It is written while the program runs, by plain stores: whoever
//! reads it meanwhile may see a call whose bytes are not there yet, never a torn number.
//!
//! ```text
//! Header | Communicator x COMMUNICATORS | Block of the first thread | Block | ... | peers | ...
//! ```
//!
//! Everything is in the byte order of the machine; offsets are in bytes from the beginning of the
//! file, 0 is nowhere. The file is sparse: only pages that were touched take memory. Texts end
//! with a NUL or fill their room.

pub mod now;
mod waits;

use topas_mpi_table::CHAPTERS;

use now::NowLine;
pub use waits::{WAIT_ROWS, WaitPeer, WaitRow, WaitTicks, Waits};

mod bridges;
mod partners;
mod paths;
mod worlds;

pub use bridges::{BRIDGED, BRIDGES, Bridge, Bridged, Bridges, OUTSIDERS, Outsider};
pub use partners::{PARTNERS, Partner, Partners, SLACKS, slack_class};
pub use paths::{
    CallPath, OFFSET_BITS, PATH_DEPTH, PATH_FRAMES, PATH_FUNCTIONS, PATH_MODULES, PATHS, PathEnd,
    PathFunction, PathModule, PathTable,
};
pub use worlds::{WORLD_STARTS, WorldStart, Worlds};

/// First bytes of the file.
pub const MAGIC: [u8; 8] = *b"topasmpi";

/// Version of this layout.
pub const VERSION: u32 = 9;

/// Rows of a block: the functions of the table, by position; a variant for large counts has the
/// row of its function.
pub const FUNCTIONS: usize = 544;

/// Communicators told apart; the last is all others.
pub const COMMUNICATORS: usize = 256;

/// Sizes of messages: 0 is 0 B, k is from 2^(k-1) to less than 2^k B, the last has no end.
pub const BINS: usize = 40;

/// Histograms of a block: rows get them as they need them; without one left a row has none.
pub const HISTOGRAMS: usize = 256;

/// Hardware counters read around calls.
pub const COUNTERS: usize = 4;

/// A place in time.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Moment {
    /// Time stamp counter, or nanoseconds of the monotonic clock where there is none that is
    /// invariant
    pub ticks: u64,
    /// Nanoseconds of `CLOCK_MONOTONIC`
    pub monotonic: u64,
    /// Nanoseconds since 1970-01-01 00:00 UTC
    pub realtime: u64,
}

/// What became of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RankState {
    /// The program runs, or ended without a word.
    Running = 0,
    /// It is in `MPI_Finalize`, after the last call that counts.
    Finalizing = 1,
    /// All was written; the file can go.
    Written = 2,
    /// It called `MPI_Abort`; see [`Header::code`].
    Aborted = 3,
    /// It ended by `exit` or the end of `main`, without `MPI_Finalize`.
    Exited = 4,
}

/// Bits of [`Header::flags`].
pub mod flag {
    /// The program called names of the profiling interface.
    pub const PROFILING: u64 = 1;
    /// Constants of this MPI are not known: no bytes, no counts.
    pub const UNKNOWN_MPI: u64 = 1 << 1;
    /// Peers are counted.
    pub const PEERS: u64 = 1 << 2;
    /// Communicators are counted.
    pub const COMMUNICATORS: u64 = 1 << 3;
    /// Hardware counters are read.
    pub const COUNTERS: u64 = 1 << 4;
    /// More threads called than there is room for: their calls are not counted.
    pub const THREADS_LOST: u64 = 1 << 5;
    /// Ticks are nanoseconds: the processor has no time stamp counter to trust.
    pub const CLOCK: u64 = 1 << 6;
    /// Some receive or request was not followed to its end: bytes received are too few.
    pub const REQUESTS_LOST: u64 = 1 << 7;
    /// There is a world: `MPI_Init` was called, not sessions alone.
    pub const WORLD: u64 = 1 << 8;
    /// The user wants files of their own.
    pub const USER: u64 = 1 << 9;
    /// There are more environment switches than there is room for.
    pub const SWITCHES_LOST: u64 = 1 << 10;
    /// Hardware counters were asked for, and there are none.
    pub const NO_COUNTERS: u64 = 1 << 11;
    /// Call paths are counted.
    pub const PATHS: u64 = 1 << 14;
    /// In sums: some function has rows with `ROW_MISSED`.
    pub const ROWS_MISSED: u64 = 1 << 12;
    /// In sums: of some rank nothing arrived.
    pub const RANKS_LOST: u64 = 1 << 13;
    /// Waits are told apart: for late senders, late receivers, collectives.
    pub const WAITS: u64 = 1 << 15;
    /// Each call is written to the event log.
    pub const LOG: u64 = 1 << 16;
    /// The rank has written a record of its own into the user's data file.
    pub const TOLD_ALONE: u64 = 1 << 17;
}

/// Every bit of [`flag`] means one thing.
const _: () = assert!(
    (flag::PROFILING
        | flag::UNKNOWN_MPI
        | flag::PEERS
        | flag::COMMUNICATORS
        | flag::COUNTERS
        | flag::THREADS_LOST
        | flag::CLOCK
        | flag::REQUESTS_LOST
        | flag::WORLD
        | flag::USER
        | flag::SWITCHES_LOST
        | flag::NO_COUNTERS
        | flag::ROWS_MISSED
        | flag::RANKS_LOST
        | flag::PATHS
        | flag::WAITS
        | flag::LOG
        | flag::TOLD_ALONE)
        .count_ones()
        == 18,
    "two flags have one bit"
);

/// Bits of [`Header::languages`] and [`Beside::flags`].
pub mod language {
    /// C, or whatever calls it
    pub const C: u32 = 1;
    /// `mpif.h` or `use mpi`
    pub const FORTRAN: u32 = 1 << 1;
    /// `use mpi_f08`
    pub const F08: u32 = 1 << 2;
    /// C++: the executable is linked with a runtime of it.
    pub const CXX: u32 = 1 << 3;
    /// Python: its interpreter is in the process.
    pub const PYTHON: u32 = 1 << 4;
    /// Rust: the executable holds its runtime.
    pub const RUST: u32 = 1 << 5;
    /// Julia: its runtime is in the process.
    pub const JULIA: u32 = 1 << 6;
    /// R: its interpreter is in the process.
    pub const R: u32 = 1 << 7;
}

/// Of the whole process.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`]
    pub magic: [u8; 8],
    /// [`VERSION`]
    pub version: u32,
    /// [`FUNCTIONS`]
    pub functions: u32,
    /// Hash of the names of the functions, in order: [`TABLE`]
    pub table: u64,
    /// A [`RankState`]
    pub state: u32,
    /// Argument of `MPI_Abort`
    pub code: i32,
    /// User
    pub uid: u32,
    /// Process
    pub pid: u32,
    /// Rank in the world, of its launcher before `MPI_Init` returned
    pub rank: u32,
    /// Size of the world; 0 if it is not known
    pub ranks: u32,
    /// What `MPI_Init_thread` provided: the constant of the MPI put into 0 to 3; 0 for `MPI_Init`
    pub level: u32,
    /// Bits of [`language`]
    pub languages: u32,
    /// Bits of [`flag`]
    pub flags: u64,
    /// Bytes of the file in use
    pub used: u64,
    /// Blocks of threads in use
    pub blocks: u32,
    /// Number of the set of semaphores by which the kernel notes when the process ends, plus 1; 0
    /// if there is none
    pub life: u32,
    /// Offset of the first block; each tells the next
    pub first_block: u64,
    /// When measuring began: the entry of the first call of MPI
    pub began: Moment,
    /// When the world was there: `MPI_Init` returned
    pub initialized: Moment,
    /// The latest moment that was noted, for the length of a tick
    pub latest: Moment,
    /// Ticks during which measuring was paused
    pub paused: u64,
    /// When the pause that goes on began, in ticks; 0 if none does
    pub paused_since: u64,
    /// Ticks that the measurement took outside calls: to begin, to write
    pub own_ticks: u64,
    /// Ticks that the measurement adds to a call, in 1/256, as found out at the beginning
    pub call_cost: u64,
    /// Nanoseconds from the start of the process to `began`, without those in which it wanted a processor and had
    /// none; 0 if that is not known
    pub before: u64,
    /// Names of hardware counters
    pub counters: [[u8; 32]; COUNTERS],
    /// Launch id
    pub id: [u8; 64],
    /// Node
    pub host: [u8; 256],
    /// Name of the user
    pub user: [u8; 64],
    /// Executable, without its directory
    pub exe: [u8; 256],
    /// Job id of the batch system
    pub job: [u8; 64],
    /// Step of the job
    pub step: [u8; 32],
    /// Partition or queue
    pub part: [u8; 64],
    /// What MPI says of itself, as in the log line
    pub mpi: [u8; 128],
    /// Environment switches of the MPI: `NAME=VALUE`, each ended by a NUL; of values that are not
    /// told `NAME`
    pub switches: [u8; 2048],
    /// Subtotals written so far
    pub subtotals: u32,
    /// `MPI_COMM_WORLD`, as calls pass it; 0 if it is not known
    pub comm_world: u64,
    /// Functions whose bytes were not counted, the first of them: numbers of functions plus 1
    pub missed: [u16; 30],
    /// Offset of [`Waits`]; 0 if waits are not told apart
    pub waits: u64,
    /// Bytes of the file, with its holes
    pub size: u64,
    /// What is known of worlds beside that of the rank
    pub worlds: Worlds,
    /// Offset of the path of the user's data file, if the user wants one: who collects the profile of a rank
    /// that was killed finds no other word of it
    pub out: u64,
    /// Bytes of this path; 0 if there is none
    pub out_length: u64,
    /// Number of the set of semaphores in which the kernel notes the order in which ranks of this node end, plus 1; 0 if
    /// there is none
    pub order: u32,
    /// Room
    pub room: u32,
}

impl Header {
    /// The key of the set of semaphores of [`Header::order`]: that of a launch and a user.
    pub fn order_key(&self) -> u32 {
        let [a, b, c, d] = self.uid.to_le_bytes();
        let id = topas_format::hash::Fnv::new().with(&self.id).with(&[a, b, c, d]).value();
        // 0 would be a set without a key.
        (id ^ id >> 32) as u32 | 1
    }
}

/// Kinds of objects in the table of communicators: [`Communicator::kind`].
pub mod object_kind {
    /// Communicator
    pub const COMM: u16 = 0;
    /// Intercommunicator
    pub const INTER: u16 = 1;
    /// Window
    pub const WINDOW: u16 = 2;
    /// File
    pub const FILE: u16 = 3;

    /// The words for them; an intercommunicator is a communicator.
    pub const WORDS: [&str; 4] = ["communicator", "communicator", "window", "file"];

    /// The word for a kind; unknown ones are communicators.
    pub fn word(kind: u16) -> &'static str {
        WORDS.get(usize::from(kind)).copied().unwrap_or(WORDS[0])
    }

    /// The kind of which this is the word.
    pub fn of_word(word: &[u8]) -> Option<u16> {
        (0..).zip(WORDS).find(|(_, of)| of.as_bytes() == word).map(|(kind, _)| kind)
    }
}

/// A communicator, window or file, or all that look alike: same name, or same maker and size.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Communicator {
    /// Name that the program gave it; of a file the last part of its path
    pub name: [u8; 48],
    /// Processes: of an intercommunicator those of the other group
    pub size: u32,
    /// Function that made it, plus 1; 0 for those that are there from the start
    pub maker: u16,
    /// What it is: one of [`object_kind`]
    pub kind: u16,
    /// How many there were that look alike
    pub made: u64,
}

/// Calls of one function by one thread.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Row {
    /// Calls
    pub calls: u64,
    /// Ticks in them
    pub ticks: u64,
    /// Ticks of the longest
    pub longest: u64,
    /// Sum of the count arguments
    pub count: u64,
    /// Messages sent, blocks put or written
    pub sends: u64,
    /// Bytes in them
    pub sent: u64,
    /// Messages received, blocks got or read
    pub receives: u64,
    /// Bytes in them
    pub received: u64,
}

/// What stands beside a row, because few functions have it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Beside {
    /// Number of the histogram of what was sent, plus 1
    pub sent: u16,
    /// Number of the histogram of what was received, plus 1
    pub received: u16,
    /// Bits of [`language`], and [`ROW_LARGE`], [`ROW_MISSED`]
    pub flags: u32,
}

/// In [`Beside::flags`]: the variant for large counts was called.
pub const ROW_LARGE: u32 = 1 << 8;
/// In [`Beside::flags`]: bytes of some calls could not be counted.
pub const ROW_MISSED: u32 = 1 << 9;

/// For what a thread waited in functions that complete requests. A call that completes several
/// kinds is of the last of these that it completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Waited {
    /// Nothing that was completed, or nothing known
    Nothing = 0,
    /// Messages sent
    Send = 1,
    /// Messages received
    Receive = 2,
    /// Collectives
    Collective = 3,
    /// Requests of the user's own
    Generalized = 4,
    /// Access to memory of others
    Rma = 5,
    /// Files, read
    Read = 6,
    /// Files, written
    Write = 7,
}

/// Kinds of [`Waited`].
pub const WAITED: usize = 8;

/// Calls and ticks.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Waiting {
    /// Calls
    pub calls: u64,
    /// Ticks
    pub ticks: u64,
}

/// Traffic with a peer. Peers are ranks of the world; the last, behind them, is all others.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Peer {
    /// Messages sent to it
    pub sends: u64,
    /// Bytes in them
    pub sent: u64,
    /// Messages received from it
    pub receives: u64,
    /// Bytes in them
    pub received: u64,
}

/// Traffic of a communicator.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Traffic {
    /// Calls
    pub calls: u64,
    /// Ticks in them
    pub ticks: u64,
    /// Messages and bytes
    pub peer: Peer,
}

/// When a thread called no MPI for long: what an MPI does in calls alone did not go on meanwhile. Calls that neither
/// wait nor ask do not count. Ticks; zero if there was none.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Away {
    /// When its last call ended
    pub left: u64,
    /// When the call ended before which it was away for long, the last time
    pub from: u64,
    /// When it called MPI again; written after the path
    pub back: u64,
    /// By which call path; 0 if none is known
    pub path: u64,
}

/// What one thread counts.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Block {
    /// Thread
    pub tid: u32,
    /// The tag of the message that its call receives, or sends, while it calls a function that names one behind the rank of
    /// [`NowLine::peer`]: see [`now::tag_place`]
    pub tag: i32,
    /// Offset of the next block
    pub next: u64,
    /// Offset of [`Header::ranks`] + 1 of [`Peer`], if peers are counted
    pub peers: u64,
    /// Histograms in use
    pub histograms: u64,
    /// What it does
    pub now: NowLine,
    /// Hardware counters: events outside of calls
    pub outside: [u64; COUNTERS],
    /// Hardware counters: events in calls
    pub counted: [u64; COUNTERS],
    /// Offset of the [`PathTable`], if call paths are counted
    pub paths: u64,
    /// Offset of the ring of the event log, which begins with a `RingHead` of `topas-trace`; 0 if
    /// there is none
    pub log: u64,
    /// When it called no MPI for long, if waits are told apart
    pub away: Away,
    /// Room for what comes
    pub reserved: [u64; 2],
    /// By [`Waited`]
    pub waiting: [Waiting; WAITED],
    /// By number of the function
    pub rows: [Row; FUNCTIONS],
    /// By number of the function
    pub beside: [Beside; FUNCTIONS],
    /// By number of the communicator
    pub traffic: [Traffic; COMMUNICATORS],
    /// By number of the histogram
    pub sizes: [[u64; BINS]; HISTOGRAMS],
}

/// Where the table of communicators begins.
pub const COMMUNICATORS_AT: usize = size_of::<Header>().next_multiple_of(64);

/// Where the first block may begin.
pub const BLOCKS_AT: usize =
    (COMMUNICATORS_AT + COMMUNICATORS * size_of::<Communicator>()).next_multiple_of(4096);

/// The bin of a message of this size in B.
#[inline(always)]
pub const fn bin(bytes: u64) -> usize {
    /// The size from which on all are in the last bin
    const LAST: u64 = 1 << (BINS - 2);
    let bytes = if bytes < LAST { bytes } else { LAST };
    // Twice the size and 1 has one more bit, and a bit even if the size is 0: no processor has to ask.
    ((2 * bytes) | 1).ilog2() as usize
}

/// Tells a table of functions from another: a hash of their names in order, each with a NUL.
#[expect(clippy::indexing_slicing, reason = "done by the compiler")]
pub const TABLE: u64 = {
    // FNV-1a, 64 bits
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut chapter = 0;
    while chapter < CHAPTERS.len() {
        let functions = CHAPTERS[chapter].functions;
        let mut function = 0;
        while function < functions.len() {
            let name = functions[function].name.as_bytes();
            let mut i = 0;
            while i <= name.len() {
                let byte = if i < name.len() { name[i] } else { 0 };
                hash = (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
                i += 1;
            }
            function += 1;
        }
        chapter += 1;
    }
    hash
};

#[cfg(test)]
mod tests {
    use topas_mpi_table::functions;

    use super::*;

    #[test]
    fn there_is_a_row_for_every_function() {
        assert_eq!(functions().count(), FUNCTIONS);
    }

    #[test]
    fn nothing_lies_between_fields() {
        // Whatever reads by offset and whatever writes by name see the same.
        assert_eq!(size_of::<Row>(), 64);
        assert_eq!(size_of::<Communicator>(), 64);
        assert_eq!(size_of::<Block>() % 64, 0);
        // What a call writes beside its row is one cache line.
        assert_eq!(core::mem::offset_of!(Block, now), 32);
        assert_eq!(COMMUNICATORS_AT % 64, 0);
    }

    #[test]
    fn bins_are_powers_of_two() {
        for (bytes, expected) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11)] {
            assert_eq!(bin(bytes), expected, "{bytes}");
        }
        for (bytes, expected) in [((1 << 38) - 1, 38), (1 << 38, 39), (1 << 63, 39), (u64::MAX, 39)]
        {
            assert_eq!(bin(bytes), expected, "{bytes}");
        }
    }
}
