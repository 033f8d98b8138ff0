//! What the library counted of one rank: its mapped file, as a copy of it is read back.

use std::collections::BTreeMap;
use std::fs;
use std::mem::offset_of;
use std::path::Path;

use topas_mpi_profile::layout::{
    BINS, Beside, Block, COMMUNICATORS, COMMUNICATORS_AT, Communicator, FUNCTIONS, HISTOGRAMS,
    Header, MAGIC, Peer, ROW_MISSED, Row, TABLE, Traffic, VERSION,
};
use topas_mpi_table::functions;

/// Calls of one function, by all threads of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls
    pub calls: u64,
    /// Sum of the count arguments
    pub count: u64,
    /// What went out
    pub sent: Messages,
    /// What came in
    pub received: Messages,
    /// True if some bytes could not be counted
    pub missed: bool,
}

/// Messages of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    /// How many
    pub number: u64,
    /// Bytes in them
    pub bytes: u64,
    /// How many, by their size
    pub sizes: [u64; BINS],
}

impl Default for Messages {
    fn default() -> Messages {
        Messages { number: 0, bytes: 0, sizes: [0; BINS] }
    }
}

/// Messages and bytes, to and from somebody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Messages sent
    pub sends: u64,
    /// Bytes in them
    pub sent: u64,
    /// Messages received
    pub receives: u64,
    /// Bytes in them
    pub received: u64,
}

/// A rank.
#[derive(Debug, Default)]
pub struct Profile {
    /// By the name of the function
    pub functions: BTreeMap<&'static str, Counts>,
    /// By rank of the world; the last is everybody else
    pub peers: Vec<Exchange>,
    /// Bits of the languages that called
    pub languages: u32,
    /// By name, or who made it, and size: calls, and what moved
    pub communicators: Vec<(String, u64, Exchange)>,
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn u64(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.0[at..at + 8].try_into().expect("eight bytes"))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_ne_bytes(self.0[at..at + 2].try_into().expect("two bytes"))
    }

    fn exchange(&self, at: usize) -> Exchange {
        Exchange {
            sends: self.u64(at + offset_of!(Peer, sends)),
            sent: self.u64(at + offset_of!(Peer, sent)),
            receives: self.u64(at + offset_of!(Peer, receives)),
            received: self.u64(at + offset_of!(Peer, received)),
        }
    }

    /// Adds a histogram that a row names; its number is one too large.
    fn sizes(&self, block: usize, number: u16, sum: &mut [u64; BINS]) {
        let Some(number) = usize::from(number).checked_sub(1) else { return };
        assert!(number < HISTOGRAMS, "histogram {number}");
        let at = block + offset_of!(Block, sizes) + number * BINS * 8;
        sum.iter_mut().enumerate().for_each(|(bin, n)| *n += self.u64(at + 8 * bin));
    }
}

fn add(sum: &mut Exchange, other: Exchange) {
    sum.sends += other.sends;
    sum.sent += other.sent;
    sum.receives += other.receives;
    sum.received += other.received;
}

/// What the library had counted when `rank` made a copy.
pub fn profile(dir: &Path, rank: u32) -> Profile {
    let path = dir.join(format!("profile.{rank}"));
    let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let bytes = Bytes(bytes);
    assert_eq!(bytes.0[..8], MAGIC, "{}", path.display());
    assert_eq!(bytes.u32(offset_of!(Header, version)), VERSION);
    assert_eq!(bytes.u64(offset_of!(Header, table)), TABLE);
    let ranks = bytes.u32(offset_of!(Header, ranks)) as usize;
    let languages = bytes.u32(offset_of!(Header, languages));
    let mut profile =
        Profile { languages, peers: vec![Exchange::default(); ranks + 1], ..Profile::default() };
    let names: Vec<_> = functions().map(|f| f.name).collect();
    let mut traffic = vec![(0, Exchange::default()); COMMUNICATORS];
    let mut block = bytes.u64(offset_of!(Header, first_block)) as usize;
    while block != 0 {
        for (i, name) in names.iter().enumerate().take(FUNCTIONS) {
            let row = block + offset_of!(Block, rows) + i * size_of::<Row>();
            let beside = block + offset_of!(Block, beside) + i * size_of::<Beside>();
            let calls = bytes.u64(row + offset_of!(Row, calls));
            let of = |place: usize| bytes.u64(row + place);
            let mut counts = profile.functions.get(name).copied().unwrap_or_default();
            counts.calls += calls;
            counts.count += of(offset_of!(Row, count));
            counts.sent.number += of(offset_of!(Row, sends));
            counts.sent.bytes += of(offset_of!(Row, sent));
            counts.received.number += of(offset_of!(Row, receives));
            counts.received.bytes += of(offset_of!(Row, received));
            let sent = bytes.u16(beside + offset_of!(Beside, sent));
            bytes.sizes(block, sent, &mut counts.sent.sizes);
            let received = bytes.u16(beside + offset_of!(Beside, received));
            bytes.sizes(block, received, &mut counts.received.sizes);
            let flags = bytes.u32(beside + offset_of!(Beside, flags));
            counts.missed |= flags & ROW_MISSED != 0;
            if counts != Counts::default() {
                profile.functions.insert(name, counts);
            }
        }
        let peers = bytes.u64(block + offset_of!(Block, peers)) as usize;
        if peers != 0 {
            for (i, peer) in profile.peers.iter_mut().enumerate() {
                add(peer, bytes.exchange(peers + i * size_of::<Peer>()));
            }
        }
        for (i, (calls, moved)) in traffic.iter_mut().enumerate() {
            let at = block + offset_of!(Block, traffic) + i * size_of::<Traffic>();
            *calls += bytes.u64(at + offset_of!(Traffic, calls));
            add(moved, bytes.exchange(at + offset_of!(Traffic, peer)));
        }
        block = bytes.u64(block + offset_of!(Block, next)) as usize;
    }
    for (i, (calls, moved)) in traffic
        .into_iter()
        .enumerate()
        .filter(|(_, (calls, moved))| *calls > 0 || *moved != Exchange::default())
    {
        let at = COMMUNICATORS_AT + i * size_of::<Communicator>();
        let name = &bytes.0[at..at + 48];
        let name = String::from_utf8_lossy(name.split(|b| *b == 0).next().unwrap_or(name));
        profile.communicators.push((name.into_owned(), calls, moved));
    }
    profile
}
