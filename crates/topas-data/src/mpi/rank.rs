//! What the mapped file of a rank says.

use std::mem::{offset_of, size_of};
use std::time::SystemTime;

use topas_mpi_profile::layout::{
    BINS, Beside, Block, COMMUNICATORS, COUNTERS, Communicator as Told, FUNCTIONS, HISTOGRAMS,
    Header, Moment, Peer as Traded, ROW_MISSED, Row, State, Traffic as Moved, WAITED,
    Waiting as Waited, flag,
};
use topas_mpi_table::{Function, Transfer, Way};

use super::profile::Rank;
use super::routine::{Amount, Routine, RoutineNumber, table};
use super::spool::{Part, Spool, SpoolError};
use super::sums::{Class, Communicator, Counter, Peer, Sizes, Sums, Traffic, Waiting};

/// The clock of a rank.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Length of `ticks` in ns
    span: u64,
    ticks: u64,
}

impl Clock {
    /// From two moments; ticks that are ns have no need of any.
    fn new(header: Part<'_>) -> Clock {
        let moment = |at: usize| {
            let ticks = header.u64(at + offset_of!(Moment, ticks));
            (ticks, header.u64(at + offset_of!(Moment, monotonic)))
        };
        if header.u64(offset_of!(Header, flags)) & flag::CLOCK != 0 {
            return Clock { span: 1, ticks: 1 };
        }
        let began = moment(offset_of!(Header, began));
        let ends = [offset_of!(Header, latest), offset_of!(Header, initialized)].map(moment);
        // The farther apart the better.
        let (ticks, monotonic) = ends.into_iter().max().unwrap_or(began);
        Clock { span: monotonic.saturating_sub(began.1), ticks: ticks.saturating_sub(began.0) }
    }

    /// In ns, rounded; None if the length of a tick is not known.
    fn ns(self, ticks: u64) -> Option<u64> {
        let (span, of) = (u128::from(self.span), u128::from(self.ticks));
        let ns = (u128::from(ticks) * span + of / 2).checked_div(of)?;
        u64::try_from(ns).ok().filter(|_| self.span > 0)
    }
}

/// The call a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inside {
    /// Which routine
    pub routine: RoutineNumber,
    /// Since when, in ns of the rank's wall clock time; None if the clock is not known
    pub since: Option<u64>,
}

/// A rank as its mapped file has it.
#[derive(Clone, Debug)]
pub struct LiveRank {
    /// What it counted; a call that goes on is not counted, its time is, if the rank runs
    pub rank: Rank,
    /// The calls its threads are in, or were in when they ended
    pub inside: Vec<Inside>,
}

/// Reads what a rank has counted. `running`: its process is there, so time goes on.
///
/// # Errors
///
/// [`SpoolError`] for what cannot be read or be true.
pub fn read_rank(spool: &Spool, running: bool) -> Result<LiveRank, SpoolError> {
    let header = spool.header();
    let clock = Clock::new(header);
    let flags = header.u64(offset_of!(Header, flags));
    let blocks = spool.blocks()?;
    let mut missed: Vec<Box<str>> = Vec::new();
    let mut sums = Sums { ranks: 1, ..Sums::default() };

    // Times. A rank that runs is at this moment, another one was at the last that is known.
    let began = header.u64(offset_of!(Header, began) + offset_of!(Moment, ticks));
    let activity = |block: &Vec<u8>| Part(block).u64(offset_of!(Block, since));
    let latest = header.u64(offset_of!(Header, latest) + offset_of!(Moment, ticks));
    let last = blocks.iter().map(activity).chain([latest]).max().unwrap_or(latest);
    let known = clock.ns(last.saturating_sub(began));
    let wall = if running { elapsed(header).max(known) } else { known };
    let state = spool.state();
    let counts = running && matches!(state, Some(State::Running));

    let mut inside = Vec::new();
    let mut waiting = [(0u64, 0u64); WAITED];
    let mut rows = vec![[0u64; 8]; FUNCTIONS];
    let mut besides = vec![0u32; FUNCTIONS];
    let mut histograms: Vec<(RoutineNumber, Sizes)> = Vec::new();
    let mut traffic = vec![[0u64; 6]; COMMUNICATORS];
    let mut peers: Vec<[u64; 4]> = Vec::new();
    let mut counters = [(0u64, 0u64); COUNTERS];
    let mut threads = 0;
    for block in &blocks {
        let block = Part(block);
        let mut calls = false;
        for (number, sum) in rows.iter_mut().enumerate() {
            let row =
                block.at(offset_of!(Block, rows) + number * size_of::<Row>(), size_of::<Row>());
            let row: [u64; 8] = std::array::from_fn(|field| row.u64(field * 8));
            let longest = offset_of!(Row, longest) / 8;
            calls |= row[0] > 0;
            for (field, (sum, more)) in sum.iter_mut().zip(row).enumerate() {
                *sum = if field == longest { more.max(*sum) } else { sum.saturating_add(more) };
            }
            let beside = block
                .at(offset_of!(Block, beside) + number * size_of::<Beside>(), size_of::<Beside>());
            besides[number] |= beside.u32(offset_of!(Beside, flags));
            let sent = beside.u16(offset_of!(Beside, sent));
            let received = beside.u16(offset_of!(Beside, received));
            if (sent, received) != (0, 0) {
                let number = RoutineNumber(number as u16);
                let found = histograms.binary_search_by_key(&number, |(of, _)| *of);
                let place = found.unwrap_or_else(|place| {
                    histograms.insert(place, (number, Sizes::default()));
                    place
                });
                let sizes = &mut histograms[place].1;
                add_histogram(block, sent, &mut sizes.sent);
                add_histogram(block, received, &mut sizes.received);
            }
        }
        threads += u32::from(calls);
        for (kind, sum) in waiting.iter_mut().enumerate() {
            let at = offset_of!(Block, waiting) + kind * size_of::<Waited>();
            sum.0 = sum.0.saturating_add(block.u64(at + offset_of!(Waited, calls)));
            sum.1 = sum.1.saturating_add(block.u64(at + offset_of!(Waited, ticks)));
        }
        for (number, sum) in traffic.iter_mut().enumerate() {
            let at = offset_of!(Block, traffic) + number * size_of::<Moved>();
            for (field, sum) in sum.iter_mut().enumerate() {
                *sum = sum.saturating_add(block.u64(at + field * 8));
            }
        }
        let traded = spool.peers(block)?;
        peers.resize(peers.len().max(traded.len() / size_of::<Traded>()), [0; 4]);
        for (sum, more) in peers.iter_mut().zip(traded.chunks_exact(size_of::<Traded>())) {
            for (field, sum) in sum.iter_mut().enumerate() {
                *sum = sum.saturating_add(Part(more).u64(field * 8));
            }
        }
        for (number, (counted, outside)) in counters.iter_mut().enumerate() {
            *counted += block.u64(offset_of!(Block, counted) + number * 8);
            *outside += block.u64(offset_of!(Block, outside) + number * 8);
        }
        if let Some(function) = block.u32(offset_of!(Block, inside)).checked_sub(1)
            && (function as usize) < FUNCTIONS
        {
            let since = block.u64(offset_of!(Block, since)).saturating_sub(began);
            let since = clock.ns(since);
            inside.push(Inside { routine: RoutineNumber(function as u16), since });
        }
    }

    let unknown_mpi = flags & flag::UNKNOWN_MPI != 0;
    let mut no_clock = wall.is_none();
    for (number, (row, beside)) in rows.iter().zip(&besides).enumerate() {
        let going_on = inside.iter().filter(|call| counts && usize::from(call.routine.0) == number);
        let going_on: u64 =
            going_on.filter_map(|call| Some(wall?.saturating_sub(call.since?))).sum();
        if row[0] == 0 && going_on == 0 {
            continue;
        }
        let times = (clock.ns(row[1]), clock.ns(row[2]));
        no_clock |= times.0.is_none();
        let not_counted = unknown_mpi || beside & ROW_MISSED != 0;
        let mut routine = routine(number, row, not_counted);
        routine.time = u128::from(times.0.unwrap_or(0)) + u128::from(going_on);
        routine.longest = times.1.unwrap_or(0).max(going_on);
        sums.routines.push(routine);
    }
    for (place, sum) in sums.waited.iter_mut().enumerate() {
        let (calls, ticks) = waiting[place];
        *sum = Waiting { calls: calls.into(), time: clock.ns(ticks).unwrap_or(0).into() };
    }
    for (number, sizes) in &histograms {
        if let Some(class) = Class::of(*number) {
            sums.classes[class as usize].add(sizes);
        }
    }
    sums.sizes = histograms.into_iter().filter(|(_, sizes)| !sizes.is_empty()).collect();
    sums.communicators = communicators(spool, flags, &traffic, clock)?;
    sums.peers = named_peers(&peers);
    sums.counters = named_counters(header, flags, &counters);
    sums.threads = threads;
    let ns = |ticks: u64| u128::from(clock.ns(ticks).unwrap_or(0));
    let wall = wall.unwrap_or(0);
    let mpi: u128 = sums.routines.iter().map(|routine| routine.time).sum();
    let paused_since = header.u64(offset_of!(Header, paused_since));
    let pause = match paused_since.checked_sub(began) {
        Some(since) if paused_since > 0 => u128::from(wall).saturating_sub(ns(since)),
        _ => 0,
    };
    sums.paused = ns(header.u64(offset_of!(Header, paused))) + pause;
    // The cost of a call is told in 1/256 of a tick.
    let cost = sums.calls().saturating_mul(header.u64(offset_of!(Header, call_cost)).into()) / 256;
    let cost = u64::try_from(cost).unwrap_or(u64::MAX);
    sums.overhead = ns(cost) + ns(header.u64(offset_of!(Header, own_ticks)));
    sums.wall = wall.into();
    sums.wall_max = wall;
    sums.mpi = mpi;
    sums.mpi_max = u64::try_from(mpi).unwrap_or(u64::MAX);
    sums.mpi_min = sums.mpi_max;
    sums.outside_max = u64::try_from(sums.outside()).unwrap_or(u64::MAX);

    if no_clock {
        missed.push("time".into());
    }
    missed.extend(super::identity::missed(header));
    let rank = Rank {
        rank: spool.rank(),
        pid: Some(spool.pid()),
        host: super::identity::host(header),
        ending: Some(super::identity::ending(spool, running)),
        missed,
        sums,
    };
    Ok(LiveRank { rank, inside })
}

/// Wall clock time of a rank that runs, from its first call until now, in ns.
fn elapsed(header: Part<'_>) -> Option<u64> {
    let began = header.u64(offset_of!(Header, began) + offset_of!(Moment, realtime));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    u64::try_from(now.as_nanos()).ok()?.checked_sub(began).filter(|_| began > 0)
}

/// A routine with its counts, without times. What no flow of the table moves does not apply.
fn routine(number: usize, row: &[u64; 8], not_counted: bool) -> Routine {
    let function = table()[number];
    let amount = |of: u64, applies: bool| match (of, applies, not_counted) {
        (_, true, true) => Amount::NotCounted,
        (of, true, false) => Amount::Exact(of.into()),
        (0, false, _) => Amount::Nothing,
        (of, false, _) => Amount::Exact(of.into()),
    };
    let (sends, receives) = (moves(function, true), moves(function, false));
    let field = |at: usize| row[at / 8];
    Routine {
        calls: field(offset_of!(Row, calls)).into(),
        count: amount(field(offset_of!(Row, count)), sends || receives),
        sends: amount(field(offset_of!(Row, sends)), sends),
        sent: amount(field(offset_of!(Row, sent)), sends),
        receives: amount(field(offset_of!(Row, receives)), receives),
        received: amount(field(offset_of!(Row, received)), receives),
        ranks: Some(1),
        ..Routine::new(RoutineNumber(number as u16))
    }
}

/// Whether a function can move bytes away from the process, or to it.
fn moves(function: &Function, away: bool) -> bool {
    function.flows.iter().any(|flow| match flow.way {
        Way::Sent | Way::File(Transfer::Write) => away,
        Way::Received | Way::File(Transfer::Read) => !away,
    })
}

fn add_histogram(block: Part<'_>, number: u16, sum: &mut [u128; BINS]) {
    let Some(place) = usize::from(number).checked_sub(1).filter(|place| *place < HISTOGRAMS) else {
        return;
    };
    let at = offset_of!(Block, sizes) + place * BINS * 8;
    for (bin, sum) in sum.iter_mut().enumerate() {
        *sum += u128::from(block.u64(at + bin * 8));
    }
}

fn communicators(
    spool: &Spool,
    flags: u64,
    traffic: &[[u64; 6]],
    clock: Clock,
) -> Result<Vec<Communicator>, SpoolError> {
    if flags & flag::COMMUNICATORS == 0 {
        return Ok(Vec::new());
    }
    let told = spool.communicators()?;
    let told = told.chunks_exact(size_of::<Told>()).map(Part);
    let mut communicators = Vec::new();
    for (place, (told, moved)) in told.zip(traffic).enumerate() {
        let [calls, ticks, sends, sent, receives, received] = *moved;
        if calls == 0 {
            continue;
        }
        let name = told.text(offset_of!(Told, name), offset_of!(Told, size));
        let size = told.u32(offset_of!(Told, size));
        let maker = told.u16(offset_of!(Told, maker)).checked_sub(1);
        let name = match (name, maker) {
            _ if place == COMMUNICATORS - 1 => "others".into(),
            ([], Some(maker)) => super::Routines::default().name(RoutineNumber(maker)).into(),
            ([], None) => "unnamed".into(),
            (name, _) => String::from_utf8_lossy(name).into(),
        };
        communicators.push(Communicator {
            name,
            size: (size > 0).then_some(size),
            calls: calls.into(),
            time: clock.ns(ticks).unwrap_or(0).into(),
            traffic: Traffic {
                sends: sends.into(),
                sent: sent.into(),
                receives: receives.into(),
                received: received.into(),
            },
        });
    }
    Ok(communicators)
}

/// Peers with traffic; the last place is that of all others.
fn named_peers(peers: &[[u64; 4]]) -> Vec<Peer> {
    let others = peers.len().wrapping_sub(1);
    let with_traffic = peers.iter().enumerate().filter(|(_, traded)| **traded != [0; 4]);
    let peer = |(place, traded): (usize, &[u64; 4])| {
        let [sends, sent, receives, received] = traded.map(u128::from);
        let rank = u32::try_from(place).ok().filter(|_| place != others);
        Peer { rank, traffic: Traffic { sends, sent, receives, received } }
    };
    with_traffic.map(peer).collect()
}

fn named_counters(header: Part<'_>, flags: u64, counters: &[(u64, u64); COUNTERS]) -> Vec<Counter> {
    if flags & flag::COUNTERS == 0 {
        return Vec::new();
    }
    let room = (offset_of!(Header, id) - offset_of!(Header, counters)) / COUNTERS;
    let name = |place: usize| header.text(offset_of!(Header, counters) + place * room, room);
    let named = counters.iter().enumerate().filter(|(place, _)| !name(*place).is_empty());
    let counter = |(place, (inside, outside)): (usize, &(u64, u64))| Counter {
        name: String::from_utf8_lossy(name(place)).into(),
        inside: Some((*inside).into()),
        outside: Some((*outside).into()),
    };
    named.map(counter).collect()
}
