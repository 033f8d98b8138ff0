//! A thread of a rank in a replay: its clock in the model, the call it is in, and its open requests.

use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use topas_trace::{CallArguments, ROUTINES};

use super::gatherings::Arrival;
use super::kind::{AsMeasured, CallKind};
use super::links::Links;
use super::messages::MessageKey;
use crate::trace::{EventStream, ProcessClock};

/// Gaps between two calls that ask for something, in ns, up to which the rank does nothing else.
const POLLING: f64 = 2_000.0;

/// Requests of sends, and such that are not modelled, that are remembered, to tell which request a call without bytes completes.
const SENDS: usize = 4096;

/// A call that is being replayed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub kind: CallKind,
    pub routine: u16,
    pub arguments: CallArguments,
    /// In reality, in ns since the origin of the replay
    pub began: f64,
    pub ended: f64,
    /// When it began in the model
    pub at: f64,
    /// When it can end in the model, as far as is known
    pub end: f64,
    /// Bytes of requests that it has completed so far
    pub bytes: u64,
    /// The next of the open requests to look at
    pub next: usize,
    /// What it sends was sent, or the rank has come to the collective
    pub announced: bool,
}

impl Call {
    /// No call.
    pub const NONE: Call = Call {
        kind: CallKind::Free,
        routine: 0,
        arguments: CallArguments::NONE,
        began: 0.0,
        ended: 0.0,
        at: 0.0,
        end: 0.0,
        bytes: 0,
        next: 0,
        announced: false,
    };
}

/// What an open request is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Open {
    /// A message; None for a source or tag that was left open
    Receive { communicator: u64, source: Option<u32>, tag: Option<i32> },
    /// A collective, and what it costs
    Gathering(Arrival, f64),
}

/// An open request.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRequest {
    pub what: Open,
    /// The order of requests
    pub sequence: u64,
    /// When it was started in the model
    pub at: f64,
    /// No open receive before it has the same key
    pub is_first: bool,
}

impl OpenRequest {
    /// What orders the messages it is for; None of collectives and of open sources and tags.
    pub fn key(&self) -> Option<MessageKey> {
        match self.what {
            Open::Receive { communicator, source: Some(source), tag: Some(tag) } => {
                Some(MessageKey { communicator, source, tag })
            }
            _ => None,
        }
    }
}

/// Calls of a routine and the time in them, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RoutineTime {
    pub calls: u64,
    pub measured: f64,
    pub modelled: f64,
}

/// Whether a lane can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneState {
    /// It can, or nobody has looked
    Ready,
    /// It waits for another
    Blocked,
    /// It is further than the others should be
    Ahead,
    /// It has no more events
    Ended,
}

/// A thread of a rank.
pub(super) struct Lane<'l> {
    pub stream: EventStream<'l>,
    /// Kinds of calls by the number of the routine, of the process
    pub kinds: Rc<[CallKind; ROUTINES]>,
    pub clock: ProcessClock,
    /// In ns since 1970; times in reality are since then
    pub origin: u64,
    pub rank: u32,
    /// The place of the rank among those of the replay
    pub place: usize,
    /// Number of the host among those of the replay
    pub host: u32,
    pub state: LaneState,
    /// The call that waits, or is ahead
    pub call: Option<Call>,
    /// Where the lane is in reality: it does nothing more before
    pub position: f64,
    /// In ns
    pub model: f64,
    /// When the event before ended in reality; None at first
    pub last: Option<f64>,
    pub begin: f64,
    pub computed: f64,
    pub computed_in_model: f64,
    pub events: u64,
    pub open: Vec<OpenRequest>,
    pub sends: VecDeque<u64>,
    /// Open requests that are not modelled: their order, and why
    pub untold: VecDeque<(u64, AsMeasured)>,
    /// Whether requests may be open of which the log does not tell when they are started anew
    pub restarts: bool,
    pub links: Links,
    sequence: u64,
    pub routines: Vec<RoutineTime>,
    polled: bool,
    /// Whether measuring paused with the event before
    pauses: bool,
    /// In ns: how long measuring was paused
    pub paused: f64,
}

impl<'l> Lane<'l> {
    pub fn new(
        stream: EventStream<'l>,
        kinds: Rc<[CallKind; ROUTINES]>,
        clock: ProcessClock,
        origin: u64,
        rank: u32,
        host: u32,
    ) -> Lane<'l> {
        Lane {
            stream,
            kinds,
            clock,
            origin,
            rank,
            place: 0,
            host,
            state: LaneState::Ready,
            call: None,
            position: f64::NEG_INFINITY,
            model: 0.0,
            last: None,
            begin: 0.0,
            computed: 0.0,
            computed_in_model: 0.0,
            events: 0,
            open: Vec::new(),
            sends: VecDeque::new(),
            untold: VecDeque::new(),
            restarts: false,
            links: Links::default(),
            sequence: 0,
            routines: vec![RoutineTime::default(); ROUTINES],
            polled: false,
            pauses: false,
            paused: 0.0,
        }
    }

    /// Makes the next event the call that is replayed. `from` is when the time of the replay begins in
    /// reality, where that is not the end of `MPI_Init`. False at the end.
    ///
    /// # Errors
    ///
    /// If the log cannot be read.
    #[inline]
    pub fn fetch(&mut self, call: &mut Call, speed: f64, from: f64) -> io::Result<bool> {
        loop {
            let Some(next) = self.stream.next()? else {
                (self.state, self.position) = (LaneState::Ended, f64::INFINITY);
                return Ok(false);
            };
            let event = &next.event;
            let began = self.clock.since(self.origin, event.began);
            let ended = self.clock.since(self.origin, event.ended);
            let kind = self.kinds[usize::from(event.routine) % ROUTINES];
            if began < from && kind != CallKind::Begins {
                continue;
            }
            if self.last.is_none() {
                // A log may lack the call from whose end on times count.
                self.begin = if from.is_finite() { from.min(began) } else { began };
            }
            // Time does not go back, also where processors of a host count ticks that differ a little.
            let gap = (began - self.last.unwrap_or(self.begin)).max(0.0);
            let polls = matches!(kind, CallKind::Polls | CallKind::Tests(_));
            // What happened where the log has a hole, or measuring was paused, is not known: it counts as nothing.
            let asks_again = polls && self.polled && gap < POLLING;
            let computes = !next.after_hole && !self.pauses && !asks_again;
            if computes {
                self.computed += gap;
                self.computed_in_model += gap / speed;
                self.model += gap / speed;
            } else if next.after_hole || self.pauses {
                self.begin += gap;
                self.paused += if self.pauses { gap } else { 0.0 };
            }
            self.polled = polls;
            self.pauses = kind == CallKind::Controls && event.arguments.pauses();
            (self.last, self.position) = (Some(ended), began);
            self.events += 1;
            *call = Call {
                kind,
                routine: event.routine,
                arguments: event.arguments,
                began,
                ended,
                at: self.model,
                end: self.model,
                bytes: 0,
                next: 0,
                announced: false,
            };
            return Ok(true);
        }
    }

    /// A call of the lane has ended.
    #[inline]
    pub fn finish(&mut self, call: &Call, end: f64) {
        self.position = call.ended;
        if call.kind == CallKind::Begins {
            // Before the world there is nothing to replay.
            (self.begin, self.model) = (call.ended, 0.0);
            (self.computed, self.computed_in_model, self.paused) = (0.0, 0.0, 0.0);
            self.routines.fill(RoutineTime::default());
            return;
        }
        self.model = end.max(call.at);
        // Where measuring pauses is an event, but no call that is counted.
        if call.kind == CallKind::Controls && call.arguments.pauses() {
            return;
        }
        let times = &mut self.routines[usize::from(call.routine) % ROUTINES];
        times.calls += 1;
        times.measured += call.ended - call.began;
        times.modelled += self.model - call.at;
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// A send whose request is open.
    pub fn send_started(&mut self) {
        if self.sends.len() == SENDS {
            self.sends.pop_front();
        }
        let sequence = self.next_sequence();
        self.sends.push_back(sequence);
    }

    /// A request that is not modelled is open.
    pub fn untold_started(&mut self, why: AsMeasured) {
        if self.untold.len() == SENDS {
            self.untold.pop_front();
        }
        let sequence = self.next_sequence();
        self.untold.push_back((sequence, why));
    }

    /// Why nobody knows when what a call completes was there: of the oldest request before `than` that is not modelled, or
    /// of requests that are started again and again, of which one may be meant if there is no other.
    pub fn take_untold(&mut self, than: Option<u64>) -> Option<AsMeasured> {
        let is_older =
            |(sequence, _): &&(u64, AsMeasured)| than.is_none_or(|than| *sequence < than);
        match self.untold.front().filter(is_older) {
            Some((_, why)) => {
                let why = *why;
                self.untold.pop_front();
                Some(why)
            }
            None => (than.is_none() && self.restarts).then_some(AsMeasured::Persistent),
        }
    }

    /// A receive or a collective whose request is open.
    pub fn opened(&mut self, what: Open) {
        let sequence = self.next_sequence();
        let mut request = OpenRequest { what, sequence, at: self.model, is_first: true };
        let key = request.key();
        request.is_first = key.is_none_or(|key| self.same(&key) == 0);
        self.open.push(request);
    }

    /// How many open receives before the one with this number have its key.
    pub fn same_before(&self, number: usize, key: &MessageKey) -> usize {
        if self.open.get(number).is_some_and(|request| request.is_first) {
            return 0;
        }
        let before = self.open.iter().take(number);
        before.filter(|request| request.key() == Some(*key)).count()
    }

    /// How many open receives have a key. Programs have few open requests at a time.
    #[inline]
    pub fn same(&self, key: &MessageKey) -> usize {
        self.open.iter().filter(|request| request.key() == Some(*key)).count()
    }

    /// The request with this number is over.
    pub fn close(&mut self, number: usize) -> OpenRequest {
        let request = self.open.remove(number);
        if let Some(key) = request.key().filter(|_| request.is_first) {
            let mut next = self.open.iter_mut().skip(number);
            if let Some(next) = next.find(|other| other.key() == Some(key)) {
                next.is_first = true;
            }
        }
        request
    }
}
