//! What the mapped file of a rank says: its sums, added up as the library does.

use std::time::SystemTime;

use topas_mpi_profile::layout::now::{NamedRank, NamedRanks, NowLine, names_group, names_tag};
use topas_mpi_profile::layout::{
    BINS, Block, COMMUNICATORS, Communicator as Told, FUNCTIONS, HISTOGRAMS, Header, Outsider,
    Partners, Peer as Traded, RankState, Traffic as Moved, WaitPeer, flag,
};
use topas_mpi_profile::sums::{self, TickLength, histogram};

use super::identity;
use super::last_sign::LastSign;
use super::now::NowPeer;
use super::partners::PathPartner;
use super::paths::RankPaths;
use super::profile::MpiRank;
use super::routine::{RoutineNumber, Routines};
use super::semaphore::{death, ended_after};
use super::spool::{Spool, SpoolError, ThreadPaths, text};
use super::spool_paths;
use super::sums::{Communicator, Counter, MpiObjectKind, MpiSums, PeerSums, Sizes, TrafficSums};
use super::waits;
use super::worlds::StartedWorld;

/// Most peers of all threads that are believed: the tables of many threads may be the same hole.
const MOST_PEERS: usize = 1 << 26;

/// The call a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inside {
    /// Which routine
    pub routine: RoutineNumber,
    /// The rank it names, or its root; None of routines that name none
    pub peer: Option<NowPeer>,
    /// The tag of the message that it receives, or sends; less than 0 for any. None of routines that name none, and if it is not
    /// known
    pub tag: Option<i32>,
    /// Number of its call path in its rank; None if it is not known
    pub path: Option<u32>,
    /// For how long, in ns: until now, or until the last sign of life of a rank that is gone; None
    /// if there was none after the call began, or measuring is paused
    pub time: Option<u64>,
}

/// A rank as its mapped file has it.
pub struct SpoolRank {
    /// What it counted, the time of calls that its threads are in, or were in when it ended,
    /// included.
    pub rank: MpiRank,
    /// The calls its threads are in, or were in when they ended
    pub inside: Vec<Inside>,
    /// When it ended, as far as that is known, in ns since 1970-01-01 UTC; now if it runs
    pub(super) ended: u64,
    /// The same sums as the library has them
    pub(super) sums: Box<sums::Sums>,
    /// Messages by size of each routine: what was sent, and what was received
    pub(super) sizes: Vec<(RoutineNumber, [[u64; BINS]; 2])>,
    /// Traffic by communicator
    pub(super) communicators: Vec<(Told, Moved)>,
    /// Traffic by peer, None for all others
    pub(super) peers: Vec<(Option<u32>, Traded)>,
    /// Whom it blames for its waits
    pub(super) blamed: Vec<(u32, WaitPeer)>,
    /// Whom of other worlds
    pub(super) outsiders: Vec<Outsider>,
    /// The posts for which its call waits, if it is one that accesses windows
    pub(super) posts: Vec<NamedRank>,
    /// Call paths as its threads have them
    pub(super) paths: Vec<ThreadPaths>,
    /// Whom they waited for
    pub(super) partners: Option<Box<Partners>>,
    /// Length of a tick
    pub(super) tick: TickLength,
}

/// What is added up over threads.
struct Threads {
    sums: Box<sums::Sums>,
    sizes: Vec<(RoutineNumber, [[u64; BINS]; 2])>,
    traffic: Vec<Moved>,
    peers: Vec<Traded>,
    /// Peers that were read, of all threads
    peers_read: usize,
    inside: Vec<Inside>,
    paths: Option<RankPaths>,
    tables: Vec<ThreadPaths>,
    /// ns in calls of the thread that has most
    busiest: u64,
}

/// Reads what a rank has counted. `running`: its process is there, so time goes on. Of a rank that
/// is gone a call that had not ended counts up to its last sign of life: the moment at which the
/// kernel saw it end, if it did, else the last that the rank noted itself.
///
/// # Errors
///
/// [`SpoolError`] for what cannot be read or be true.
pub fn read_rank(spool: &Spool, running: bool) -> Result<SpoolRank, SpoolError> {
    let header = &spool.header;
    let tick = tick_length(header);
    // While measuring goes on, so do the calls that threads are in.
    let counts = header.paused_since == 0 && spool.state() != Some(RankState::Written);
    let now = if running { now(header) } else { death_tick(header) };
    let mut threads = Threads {
        sums: Box::default(),
        sizes: Vec::new(),
        traffic: vec![Moved::default(); COMMUNICATORS],
        peers: Vec::new(),
        peers_read: 0,
        inside: Vec::new(),
        paths: None,
        tables: Vec::new(),
        busiest: 0,
    };
    let mut last = header.latest.ticks.max(header.initialized.ticks).max(header.began.ticks);
    let mut last_call = NowLine { since: header.began.ticks, ..NowLine::default() };
    spool.blocks(|block| {
        last = last.max(block.now.since);
        if block.now.since > last_call.since {
            last_call = block.now;
        }
        Ok(())
    })?;
    let until = now.unwrap_or(0).max(last);
    let mut last_path = None;
    let mut unended: Vec<Inside> = Vec::new();
    let mut posts: Vec<NamedRank> = Vec::new();
    spool.blocks(|mut block| {
        let function =
            (block.now.inside as usize).checked_sub(1).filter(|number| *number < FUNCTIONS);
        let mut in_call = 0;
        let of = spool.paths(&block)?;
        let path = of.as_ref().and_then(|of| spool_paths::now(&of.table, &block.now));
        // A thread that runs may have begun another call meanwhile.
        if block.now.since >= last_call.since {
            last_path = path;
        }
        if let Some(function) = function {
            let ticks = counts.then(|| until.saturating_sub(block.now.since));
            // Without a later sign of life nobody knows for how long.
            let ticks = ticks.filter(|ticks| running || *ticks > 0);
            let row = &mut block.rows[function];
            in_call = ticks.unwrap_or(0);
            // `MPI_Finalize` is counted behind what the library does in it.
            if RoutineNumber(function as u16).is_edge() {
                row.calls = row.calls.max(1);
            }
            row.ticks += in_call;
            row.longest = row.longest.max(ticks.unwrap_or(0));
            let inside = Inside {
                routine: RoutineNumber(function as u16),
                peer: NowPeer::of(function, &block.now, header.comm_world),
                tag: names_tag(function).then_some(block.tag),
                path: path.map(|(number, _)| number),
                time: ticks.map(|ticks| tick.nanoseconds(ticks)),
            };
            threads.inside.push(inside);
            if running && names_group(function) && block.now.group != 0 {
                let named: NamedRanks = spool.decode(u64::from(block.now.group) * 8)?;
                posts.extend(named.ranks.iter().take(named.count as usize));
            }
            unended.extend((!running).then_some(inside));
        }
        if let Some(mut of) = of {
            spool_paths::goes_on(&mut of.table, in_call);
            spool_paths::add(threads.paths.get_or_insert_default(), &of, &tick);
            threads.tables.push(of);
        }
        threads.add(spool, &block, &tick)
    })?;
    let blamed = waits::read(spool, &mut threads.sums, &tick)?;
    let outsiders = waits::outsiders(spool)?;
    // Nobody knows when a rank ended that wrote nothing: not before its last call began, and
    // not before the time of its calls had gone by.
    let busiest = u128::from(threads.busiest) + u128::from(tick.nanoseconds(header.paused));
    let end = until.max(ticks_after(header, &tick, busiest));
    threads.sums.rank(header, end, threads.busiest, &tick);

    let communicators = match header.flags & flag::COMMUNICATORS {
        0 => Vec::new(),
        _ => with_traffic(spool.communicators()?, threads.traffic),
    };
    let partners = waits::partners(spool)?;
    let Threads { sums, sizes, peers, inside, paths, tables, .. } = threads;
    let mut shown = MpiSums::of(&sums, &header.counters);
    shown.sizes = sizes
        .iter()
        .map(|(number, [sent, received])| {
            let wide = |bins: &[u64; BINS]| bins.map(u128::from);
            (*number, Sizes { sent: wide(sent), received: wide(received) })
        })
        .collect();
    for inside in unended {
        let routine = shown.routine_mut(inside.routine);
        routine.unended += 1;
        routine.unended_time += u128::from(inside.time.unwrap_or(0));
    }
    shown.communicators =
        communicators.iter().map(|(told, moved)| named(told, moved, &tick)).collect();
    let peers = with_peer(&peers);
    shown.peers = peers.iter().map(|(rank, peer)| named_peer(*rank, peer)).collect();
    shown.paths = paths;
    if let (Some(paths), Some(table)) = (&mut shown.paths, &partners) {
        paths.partners = PathPartner::of_table(table, &tick);
    }
    shown.before = header.before;
    shown.waits.blamed = waits::blamed(&blamed, &tick);
    shown.waits.asked = waits::asked(&blamed, &tick);
    waits::blame_outsiders(&mut shown.waits, &outsiders, &tick);
    let realtime = |ticks: u64| {
        let since = tick.nanoseconds(ticks.saturating_sub(header.began.ticks));
        header.began.realtime.saturating_add(since)
    };
    let rank = MpiRank {
        rank: header.rank,
        pid: Some(header.pid),
        host: text(&header.host).into(),
        ending: Some(identity::ending(spool, running)),
        missed: identity::missed(header, sums.flags),
        sums: shown,
        started: StartedWorld::of(header, &tick),
        last: Some(LastSign {
            began: header.began.realtime,
            last_call: realtime(last_call.since),
            quiet: (running && counts)
                .then(|| tick.nanoseconds(until.saturating_sub(last_call.since))),
            routine: (last_call.inside as usize)
                .checked_sub(1)
                .filter(|number| *number < FUNCTIONS)
                .map(|number| RoutineNumber(number as u16))
                .or(last_path.and_then(|(_, routine)| routine)),
            path: last_path.map(|(number, _)| number),
            died: if running { None } else { death(header) }
                .and_then(|at| u64::try_from(at / 1_000_000_000).ok()),
            ended_after: if running { None } else { ended_after(header) },
        }),
    };
    let ended = realtime(end);
    let paths = tables;
    Ok(SpoolRank {
        rank,
        inside,
        ended,
        sums,
        sizes,
        communicators,
        peers,
        posts,
        blamed,
        outsiders,
        paths,
        partners,
        tick,
    })
}

impl Threads {
    fn add(&mut self, spool: &Spool, block: &Block, tick: &TickLength) -> Result<(), SpoolError> {
        self.busiest = self.busiest.max(self.sums.thread(block, tick));
        for (number, beside) in block.beside.iter().enumerate() {
            let number = RoutineNumber(number as u16);
            for (way, which) in [beside.sent, beside.received].into_iter().enumerate() {
                if usize::from(which) > HISTOGRAMS {
                    return Err(SpoolError::Damaged("number of a histogram"));
                }
                let Some(bins) = histogram(block, which) else { continue };
                let found = self.sizes.binary_search_by_key(&number, |(of, _)| *of);
                let place = found.unwrap_or_else(|place| {
                    self.sizes.insert(place, (number, [[0; BINS]; 2]));
                    place
                });
                for (sum, more) in self.sizes[place].1[way].iter_mut().zip(bins) {
                    *sum = sum.saturating_add(*more);
                }
            }
        }
        for (sum, more) in self.traffic.iter_mut().zip(&block.traffic) {
            sum.calls = sum.calls.saturating_add(more.calls);
            sum.ticks = sum.ticks.saturating_add(more.ticks);
            add_peer(&mut sum.peer, &more.peer);
        }
        let peers = spool.peers(block)?;
        self.peers_read = self.peers_read.saturating_add(peers.len());
        if self.peers_read > MOST_PEERS {
            return Err(SpoolError::Damaged("number of peers"));
        }
        self.peers.resize(self.peers.len().max(peers.len()), Traded::default());
        for (sum, more) in self.peers.iter_mut().zip(&peers) {
            add_peer(sum, more);
        }
        Ok(())
    }
}

pub(super) fn add_peer(sum: &mut Traded, more: &Traded) {
    sum.sends = sum.sends.saturating_add(more.sends);
    sum.sent = sum.sent.saturating_add(more.sent);
    sum.receives = sum.receives.saturating_add(more.receives);
    sum.received = sum.received.saturating_add(more.received);
}

/// From the first moment and the farthest there is.
pub(super) fn tick_length(header: &Header) -> TickLength {
    let ends = [header.latest, header.initialized];
    let end = ends.iter().max_by_key(|moment| moment.ticks).unwrap_or(&header.latest);
    TickLength::between(&header.began, end)
}

/// The tick of this moment; None if that is not known.
pub(super) fn now(header: &Header) -> Option<u64> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    tick_at(header, now.as_nanos())
}

/// The tick at which the process of a rank ended; None if nobody noted it.
pub(super) fn death_tick(header: &Header) -> Option<u64> {
    tick_at(header, death(header)?)
}

/// The tick of a moment in ns since 1970; None if that is not known.
fn tick_at(header: &Header, nanoseconds: u128) -> Option<u64> {
    let passed = nanoseconds.checked_sub(header.began.realtime.into())?;
    Some(ticks_after(header, &tick_length(header), passed)).filter(|now| *now > 0)
}

/// The tick that is so many nanoseconds after the first; 0 if the length of a tick is not known.
fn ticks_after(header: &Header, tick: &TickLength, nanoseconds: u128) -> u64 {
    // The length of 2^32 ticks has enough digits for years.
    let long = u128::from(tick.nanoseconds(1 << 32));
    let ticks = (nanoseconds << 32).checked_div(long).map(u64::try_from);
    ticks.and_then(Result::ok).map_or(0, |ticks| header.began.ticks.saturating_add(ticks))
}

fn with_traffic(told: Vec<Told>, moved: Vec<Moved>) -> Vec<(Told, Moved)> {
    told.into_iter().zip(moved).filter(|(_, moved)| moved.calls > 0).collect()
}

/// What a communicator, window or file is called: by the program, or after the function that made it.
pub(super) fn name_of(told: &Told) -> String {
    match (text(&told.name), told.maker.checked_sub(1)) {
        ([], Some(maker)) => Routines::default().name(RoutineNumber(maker)).to_owned(),
        ([], None) => "others".to_owned(),
        (name, _) => String::from_utf8_lossy(name).into_owned(),
    }
}

fn named(told: &Told, moved: &Moved, tick: &TickLength) -> Communicator {
    Communicator {
        name: name_of(told).into(),
        kind: MpiObjectKind::of(told.kind),
        size: (told.size > 0).then_some(told.size),
        calls: moved.calls.into(),
        time: tick.nanoseconds(moved.ticks).into(),
        traffic: TrafficSums::of(&moved.peer),
    }
}

/// Peers with traffic; the last place is that of all others.
fn with_peer(peers: &[Traded]) -> Vec<(Option<u32>, Traded)> {
    let others = peers.len().wrapping_sub(1);
    let named = |(place, traded): (usize, &Traded)| {
        (u32::try_from(place).ok().filter(|_| place != others), *traded)
    };
    let peers = peers.iter().enumerate().map(named);
    peers.filter(|(_, traded)| TrafficSums::of(traded) != TrafficSums::default()).collect()
}

fn named_peer(rank: Option<u32>, traded: &Traded) -> PeerSums {
    PeerSums { rank, traffic: TrafficSums::of(traded) }
}

impl TrafficSums {
    fn of(peer: &Traded) -> TrafficSums {
        TrafficSums {
            sends: peer.sends.into(),
            sent: peer.sent.into(),
            receives: peer.receives.into(),
            received: peer.received.into(),
        }
    }
}

/// Hardware counters by name.
pub(super) fn counters(
    sums: &sums::Sums,
    names: &[[u8; 32]; topas_mpi_profile::layout::COUNTERS],
) -> Vec<Counter> {
    if sums.flags & flag::COUNTERS == 0 {
        return Vec::new();
    }
    let counts = sums.inside.iter().zip(&sums.outside);
    let named = names.iter().zip(counts).filter(|(name, _)| !text(*name).is_empty());
    let counter = |(name, (inside, outside)): (&[u8; 32], (&u128, &u128))| Counter {
        name: String::from_utf8_lossy(text(name)).into(),
        inside: Some(*inside),
        outside: Some(*outside),
    };
    named.map(counter).collect()
}
