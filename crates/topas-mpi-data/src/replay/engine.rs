//! Runs all lanes side by side: each goes on until it has to wait for another, or until it is some
//! way ahead in the time of the run. So what was sent and not yet received is about what was under
//! way in reality, and takes no more memory for a longer log.

mod requests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

use rustc_hash::FxHashMap;
use topas_mpi_table::Gathering;
use topas_trace::{NOBODY, ROUTINES};

use super::gatherings::{Arrival, Gatherings};
use super::kind::{AsMeasured, CallKind, Completes};
use super::lane::{Call, Lane, LaneState, Open};
use super::messages::{Mailbox, Message, MessageKey};
use super::network::Network;
use crate::trace::{TraceLog, TraceProcess};

/// Events of a round, of all lanes, between which the width of a round is kept.
const ROUND: (u64, u64) = (1 << 14, 1 << 17);
/// How far clocks of ranks of one host may differ, in ns.
const NEAR: f64 = 1e5;
/// How far clocks of hosts may differ, in ns.
const FAR: f64 = 5e7;
/// `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
const WORLD: u64 = 1;
const SELF: u64 = 2;
/// The end of the world: the collective of `MPI_Finalize`.
const END: u64 = u64::MAX;
/// Open requests of a lane that are remembered.
const OPEN: usize = 1 << 16;

/// How a lane decides what others have not decided for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Patience {
    /// Others may still do something
    Running,
    /// All others have come to rest
    Settled,
    /// Nothing else goes on
    Forced,
}

/// Whether a message is there.
enum Found {
    Here(Message),
    NotYet,
    /// It will not come
    Never,
}

/// What the replay counts of all lanes.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub sent: u64,
    pub received: u64,
    pub polls: u64,
    /// Calls and ns by reason, as in [`AsMeasured::ALL`]
    pub as_measured: [(u64, f64); AsMeasured::ALL.len()],
}

/// A rank that has a log.
struct ReplayRank {
    /// Number of its host
    host: u32,
    /// Its threads
    lanes: Vec<usize>,
    mailbox: Mailbox,
}

pub(super) struct Engine<'l, 'n> {
    pub lanes: Vec<Lane<'l>>,
    pub network: &'n Network,
    /// Names of routines without `MPI_`, for what collectives cost
    pub names: Vec<Box<str>>,
    /// Ranks of the world that have a log, in order
    pub world: Vec<u32>,
    processes: &'l [(&'l TraceLog, &'l TraceProcess)],
    /// Members of other communicators, once there is one
    members: Option<FxHashMap<u64, BTreeSet<u32>>>,
    failed: Option<io::Error>,
    /// Where events are missing, messages are compared with what was received
    pub is_lossy: bool,
    /// When the time of the replay begins in reality, where the log has lost its beginning
    pub from: f64,
    pub counts: Counts,
    /// In the order of [`Engine::world`]. A log may tell of any rank, so ranks are no places here.
    ranks: Vec<ReplayRank>,
    gatherings: Gatherings,
    numbers: FxHashMap<(u32, u64), u64>,
    ready: VecDeque<usize>,
    horizon: f64,
}

impl<'l, 'n> Engine<'l, 'n> {
    pub fn new(
        mut lanes: Vec<Lane<'l>>,
        processes: &'l [(&'l TraceLog, &'l TraceProcess)],
        network: &'n Network,
    ) -> Engine<'l, 'n> {
        let mut ranks: BTreeMap<u32, ReplayRank> = BTreeMap::new();
        for (number, lane) in lanes.iter().enumerate() {
            let new =
                || ReplayRank { host: lane.host, lanes: Vec::new(), mailbox: Mailbox::default() };
            ranks.entry(lane.rank).or_insert_with(new).lanes.push(number);
        }
        for (place, rank) in ranks.values().enumerate() {
            for lane in &rank.lanes {
                lanes[*lane].place = place;
            }
        }
        Engine {
            network,
            names: vec![Box::default(); ROUTINES],
            world: ranks.keys().copied().collect(),
            processes,
            members: None,
            failed: None,
            is_lossy: false,
            from: f64::NEG_INFINITY,
            counts: Counts::default(),
            ranks: ranks.into_values().collect(),
            gatherings: Gatherings::default(),
            numbers: FxHashMap::default(),
            ready: (0..lanes.len()).collect(),
            horizon: f64::NEG_INFINITY,
            lanes,
        }
    }

    /// Messages that were sent and never received.
    pub fn left(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.mailbox.left()).sum()
    }

    /// Replays everything.
    ///
    /// # Errors
    ///
    /// If the log cannot be read.
    pub fn run(&mut self) -> io::Result<()> {
        let mut width = 1e6;
        let mut before = 0;
        loop {
            while let Some(lane) = self.ready.pop_front() {
                self.go(lane, Patience::Running)?;
            }
            if self.settle()? || self.force()? {
                continue;
            }
            let ahead = self.lanes.iter().filter(|lane| lane.state == LaneState::Ahead);
            let next = ahead.map(|lane| lane.position).fold(f64::INFINITY, f64::min);
            if let Some(failed) = self.failed.take() {
                return Err(failed);
            }
            if next == f64::INFINITY {
                return Ok(());
            }
            let events: u64 = self.lanes.iter().map(|lane| lane.events).sum();
            match events - before {
                few if few < ROUND.0 => width *= 2.0,
                many if many > ROUND.1 => width /= 2.0,
                _ => {}
            }
            before = events;
            self.horizon = next + width;
            for (number, lane) in self.lanes.iter_mut().enumerate() {
                if lane.state == LaneState::Ahead {
                    lane.state = LaneState::Ready;
                    self.ready.push_back(number);
                }
            }
        }
    }

    /// All lanes have come to rest: those that wait decide by what there is. Whether any went on.
    fn settle(&mut self) -> io::Result<bool> {
        let mut any = false;
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].state == LaneState::Blocked {
                any |= self.go(lane, Patience::Settled)?;
            }
        }
        Ok(any)
    }

    /// Nothing goes on: the lane that waits since the earliest call goes on as it did in reality.
    fn force(&mut self) -> io::Result<bool> {
        let blocked = self.lanes.iter().enumerate().filter_map(|(number, lane)| {
            let call = lane.call.as_ref().filter(|_| lane.state == LaneState::Blocked)?;
            Some((number, call.ended))
        });
        let Some((lane, ended)) = blocked.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(false);
        };
        let others = self.lanes.iter().any(|lane| lane.state == LaneState::Ahead);
        if others && ended + FAR > self.horizon {
            return Ok(false);
        }
        self.go(lane, Patience::Forced)
    }

    /// Runs a lane until it waits or is ahead. Whether it did anything.
    fn go(&mut self, number: usize, patience: Patience) -> io::Result<bool> {
        let (speed, from) = (self.network.processors, self.from);
        let mut patience = patience;
        let mut any = false;
        let lane = &mut self.lanes[number];
        if lane.state == LaneState::Ended {
            return Ok(any);
        }
        let kept = lane.call.take();
        let mut call = kept.unwrap_or(Call::NONE);
        if kept.is_none() && !lane.fetch(&mut call, speed, from)? {
            return Ok(any);
        }
        loop {
            let lane = &mut self.lanes[number];
            if call.began > self.horizon {
                (lane.call, lane.state) = (Some(call), LaneState::Ahead);
                return Ok(any);
            }
            let end = self.attempt(number, &mut call, patience);
            let lane = &mut self.lanes[number];
            let Some(end) = end else {
                (lane.call, lane.state) = (Some(call), LaneState::Blocked);
                return Ok(any);
            };
            lane.finish(&call, end);
            lane.state = LaneState::Ready;
            patience = Patience::Running;
            any = true;
            if !lane.fetch(&mut call, speed, from)? {
                return Ok(any);
            }
        }
    }

    /// When a call ends in the model; None if that is not known yet.
    #[inline]
    fn attempt(&mut self, lane: usize, call: &mut Call, patience: Patience) -> Option<f64> {
        let a = call.arguments;
        match call.kind {
            CallKind::Begins | CallKind::Free | CallKind::Controls => Some(call.at),
            CallKind::Polls => {
                self.counts.polls += 1;
                Some(call.at)
            }
            CallKind::AsMeasured(reason) => {
                self.lanes[lane].restarts |= reason == AsMeasured::Persistent;
                Some(self.as_measured(call, reason))
            }
            CallKind::StartedAsMeasured(reason) => {
                self.lanes[lane].untold_started(reason);
                Some(call.at)
            }
            CallKind::Send | CallKind::SendStarted => {
                self.send(lane, call);
                if call.kind == CallKind::SendStarted {
                    self.lanes[lane].send_started();
                }
                Some(call.at)
            }
            CallKind::Receive => self.receive(lane, call, a.peer, patience, true),
            CallKind::Probe => self.receive(lane, call, a.peer, patience, false),
            CallKind::ReceivePosted => {
                // From a rank without a log nothing comes: such requests would be looked at for ever.
                let source = u32::try_from(a.peer).ok();
                if a.peer != NOBODY && source.is_none_or(|rank| self.place_of(rank).is_some()) {
                    let lane = &mut self.lanes[lane];
                    if lane.open.len() == OPEN {
                        lane.close(0);
                    }
                    lane.opened(Open::Receive {
                        communicator: a.communicator,
                        source,
                        tag: (a.tag >= 0).then_some(a.tag),
                    });
                }
                Some(call.at)
            }
            CallKind::Both => {
                if !call.announced {
                    self.send(lane, call);
                    call.announced = true;
                }
                self.receive(lane, call, a.source, patience, true)
            }
            CallKind::Waits(which) => self.complete(lane, call, which, patience),
            CallKind::Tests(_) if a.received == 0 => {
                self.counts.polls += 1;
                Some(self.tested(lane, call))
            }
            CallKind::Tests(which) => self.complete(lane, call, which, patience),
            CallKind::Ends => {
                let arrival = Arrival {
                    key: (END, 0),
                    shape: Gathering::All,
                    rank: self.lanes[lane].rank,
                    is_root: false,
                    members: self.world.len() as u32,
                    lower: 0,
                };
                self.gather(lane, call, arrival, patience)
            }
            CallKind::Gathers(shape) => match self.arrival(lane, call, shape) {
                Some(arrival) => self.gather(lane, call, arrival, patience),
                None if a.communicator == SELF => Some(call.at),
                None => Some(self.as_measured(call, AsMeasured::UnknownCommunicator)),
            },
            CallKind::GatheringStarted(shape) => {
                if let Some(arrival) = self.arrival(lane, call, shape) {
                    let ready = self.gatherings.arrive(&arrival, call.at, call.began);
                    self.wake(ready);
                    let cost = self.cost(call, arrival.members);
                    self.lanes[lane].opened(Open::Gathering(arrival, cost));
                }
                Some(call.at)
            }
        }
    }

    fn as_measured(&mut self, call: &Call, reason: AsMeasured) -> f64 {
        let (calls, time) = &mut self.counts.as_measured[reason as usize];
        *calls += 1;
        *time += call.ended - call.began;
        call.at + (call.ended - call.began)
    }

    fn wake(&mut self, lanes: Vec<usize>) {
        for lane in lanes {
            if self.lanes[lane].state == LaneState::Blocked {
                self.lanes[lane].state = LaneState::Ready;
                self.ready.push_back(lane);
            }
        }
    }

    fn send(&mut self, lane: usize, call: &Call) {
        let a = &call.arguments;
        let Ok(to) = u32::try_from(a.peer) else { return };
        self.counts.sent += 1;
        let source = self.lanes[lane].rank;
        // Who has no log receives nothing.
        let Some(place) = self.place_of(to) else { return };
        let to = &mut self.ranks[place];
        let key = MessageKey { communicator: a.communicator, source, tag: a.tag };
        let there = self.lanes[lane].links.carry(self.network, place, call.at, a.sent);
        let message = Message { there, real: call.began, bytes: a.sent };
        to.mailbox.post(key, message);
        for other in to.lanes.iter().copied() {
            if self.lanes[other].state == LaneState::Blocked {
                self.lanes[other].state = LaneState::Ready;
                self.ready.push_back(other);
            }
        }
    }

    /// The place of a rank among those that have a log.
    #[inline]
    fn place_of(&self, rank: u32) -> Option<usize> {
        // Mostly all ranks are there.
        match self.world.get(rank as usize) {
            Some(there) if *there == rank => Some(rank as usize),
            _ => self.world.binary_search(&rank).ok(),
        }
    }

    /// The mailbox of the rank that a lane belongs to.
    #[inline]
    fn mailbox(&mut self, lane: usize) -> &mut Mailbox {
        let place = self.lanes[lane].place;
        &mut self.ranks[place].mailbox
    }

    /// Until when in reality a message can have been sent that a call of a lane received.
    #[inline]
    fn limit(&self, lane: usize, source: Option<u32>, ended: f64) -> f64 {
        let own = self.lanes[lane].host;
        let source = source.and_then(|source| self.place_of(source));
        let near = source.is_some_and(|source| self.ranks[source].host == own);
        ended + if near { NEAR } else { FAR }
    }

    /// Whether a rank sends nothing more up to a moment of reality.
    fn is_past(&self, rank: u32, limit: f64) -> bool {
        let Some(place) = self.place_of(rank) else { return true };
        self.ranks[place].lanes.iter().all(|lane| self.lanes[*lane].position > limit)
    }

    /// The message with this number of a key. Where events are missing, messages that cannot be
    /// meant are dropped.
    fn find(&mut self, lane: usize, key: &MessageKey, number: usize, call: &Call) -> Found {
        let limit = self.limit(lane, Some(key.source), call.ended);
        loop {
            return match self.mailbox(lane).get(key, number) {
                Some(message) if message.real > limit => Found::Never,
                Some(message)
                    if self.is_lossy
                        && number == 0
                        && matches!(call.kind, CallKind::Receive | CallKind::Both)
                        && call.arguments.received > 0
                        && message.bytes != call.arguments.received =>
                {
                    self.mailbox(lane).take(key, 0);
                    continue;
                }
                Some(message) => Found::Here(message),
                None if self.is_past(key.source, limit) => Found::Never,
                None => Found::NotYet,
            };
        }
    }

    fn receive(
        &mut self,
        lane: usize,
        call: &Call,
        source: i32,
        patience: Patience,
        takes: bool,
    ) -> Option<f64> {
        if source == NOBODY {
            return Some(call.at);
        }
        let a = &call.arguments;
        let source = u32::try_from(source).ok();
        let tag = Some(a.tag_of_received()).filter(|tag| *tag >= 0);
        if let (Some(source), Some(tag)) = (source, tag) {
            let key = MessageKey { communicator: a.communicator, source, tag };
            let number = self.lanes[lane].same(&key);
            match self.find(lane, &key, number, call) {
                Found::Here(message) => {
                    if takes {
                        self.mailbox(lane).take(&key, number);
                        self.counts.received += 1;
                    }
                    return Some(call.at.max(message.there));
                }
                Found::Never => return Some(self.as_measured(call, AsMeasured::Unmatched)),
                Found::NotYet => {}
            }
        }
        if patience == Patience::Running {
            return None;
        }
        let both = call.kind == CallKind::Both;
        if both || source.is_none() || tag.is_none() {
            let limit = self.limit(lane, source, call.ended);
            let tag = tag.filter(|_| !both);
            let first = self.mailbox(lane).first(a.communicator, source, tag, a.received, limit);
            if let Some((key, message)) = first {
                if takes {
                    self.mailbox(lane).take(&key, 0);
                    self.counts.received += 1;
                }
                return Some(call.at.max(message.there));
            }
            let over = match source {
                Some(source) => self.is_past(source, limit),
                None => self
                    .world
                    .iter()
                    .all(|rank| *rank == self.lanes[lane].rank || self.is_past(*rank, limit)),
            };
            if over {
                return Some(self.as_measured(call, AsMeasured::Unmatched));
            }
        }
        (patience == Patience::Forced).then(|| self.as_measured(call, AsMeasured::Unmatched))
    }

    /// A rank comes to a collective; None if it is not known who its members are.
    fn arrival(&mut self, lane: usize, call: &Call, shape: Gathering) -> Option<Arrival> {
        let a = &call.arguments;
        let rank = self.lanes[lane].rank;
        let (members, lower) = match a.communicator {
            0 | SELF => return None,
            WORLD => (self.world.len(), self.world.partition_point(|other| *other < rank)),
            other => {
                let members = self.members_of(other)?;
                (members.len(), members.range(..rank).count())
            }
        };
        let rooted = matches!(shape, Gathering::FromRoot | Gathering::ToRoot);
        if rooted && a.peer < 0 {
            return None;
        }
        let number = if a.number > 0 {
            a.number
        } else if call.announced {
            self.numbers.get(&(rank, a.communicator)).copied()?
        } else {
            let number = self.numbers.entry((rank, a.communicator)).or_default();
            *number += 1;
            *number
        };
        Some(Arrival {
            key: (a.communicator, number),
            shape,
            rank,
            is_root: rooted && u32::try_from(a.peer) == Ok(rank),
            members: members as u32,
            lower: lower as u32,
        })
    }

    /// The ranks of a communicator.
    fn members_of(&mut self, communicator: u64) -> Option<&BTreeSet<u32>> {
        if self.members.is_none() {
            let members = super::members(self.processes);
            self.members = Some(members.unwrap_or_else(|cause| {
                self.failed = Some(cause);
                FxHashMap::default()
            }));
        }
        self.members.as_ref()?.get(&communicator)
    }

    /// What a collective costs once all are there.
    fn cost(&self, call: &Call, members: u32) -> f64 {
        if self.network.is_perfect() || call.kind == CallKind::Ends {
            return 0.0;
        }
        let a = &call.arguments;
        let name = &self.names[usize::from(call.routine) % ROUTINES];
        self.network.collective(name, members, a.sent.max(a.received))
    }

    fn gather(
        &mut self,
        lane: usize,
        call: &mut Call,
        arrival: Arrival,
        patience: Patience,
    ) -> Option<f64> {
        if !call.announced {
            let ready = self.gatherings.arrive(&arrival, call.at, call.began);
            call.announced = true;
            self.wake(ready);
        }
        match self.gatherings.ready(&arrival) {
            Some(ready) => {
                self.gatherings.leave(&arrival);
                Some(call.at.max(ready) + self.cost(call, arrival.members))
            }
            None if patience == Patience::Forced => {
                self.gatherings.leave(&arrival);
                Some(self.as_measured(call, AsMeasured::Unmatched))
            }
            None => {
                self.gatherings.wait(arrival.key, lane);
                None
            }
        }
    }
}
