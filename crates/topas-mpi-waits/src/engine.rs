//! What a rank does, and what follows: numbers, stamps, waits.

mod absences;
mod asked;
mod collectives;
mod completions;
mod epochs;
mod locks;
mod lookup;
mod messages;
mod neighbors;
mod partitions;
mod pauses;
mod persistent;

use crate::absence::{Absence, AbsentRank};
use crate::board::{STAMPS, Seen};
use crate::epochs::OpenEpochs;
use crate::far::FarQuestion;
use crate::key::{Address, Side, of_messages, parts_of_beside, ranks_beside};
use crate::neighbors::Neighborhoods;
use crate::posts::Posts;
use crate::protocol::{BUFFERED, EVIDENT, Protocols, shows_need};
use crate::wait::{Awaited, Call, Figure, Findings, ReceiverWait, parts_of_peer};

use asked::Callers;
use locks::HeldLocks;
pub use locks::{EACH, WindowLock};
use lookup::{Lookup, conclude};
pub use pauses::{AskUse, ProcessUse};

/// What the engine asks for: the boards of the node, and where figures go.
pub trait Surroundings {
    /// The rank of this process in the world.
    fn rank(&self) -> u32;
    /// Its rank in the communicator of several worlds at this place: see [`crate::key::beside`].
    fn rank_beside(&self, _place: u32) -> u32 {
        0
    }
    /// Publishes the next stamp of a key of this rank: its number, None if there is no room.
    fn publish(&mut self, key: u64, moment: u64) -> Option<u64>;
    /// The number that the next stamp of a key of this rank will have.
    fn next(&self, key: u64) -> u64;
    /// The last two stamps of a key of this rank may be mistaken for each other.
    fn doubt(&mut self, key: u64);
    /// Numbers of a key of this rank mean nothing any more. `last` if the last was none at all.
    fn give_up(&mut self, key: u64, last: bool);
    /// What the board of another rank says of a number; None if it has no board on this node.
    fn read(&mut self, peer: u32, key: u64, number: u64) -> Option<Seen>;
    /// What the board of another rank says of the latest of a key that is not after a moment; None if it has no board
    /// on this node.
    fn latest(&mut self, _peer: u32, _key: u64, _until: u64) -> Option<Seen> {
        None
    }
    /// When another rank called no MPI for long: the last time, and that which has ended in the call it is in, as far as
    /// that is known.
    fn absences(&mut self, _peer: u32) -> [Absence; 2] {
        [Absence::NONE; 2]
    }
    /// Sends that do not block, of however few bytes, may end only when their receiver calls MPI.
    fn sends_stay(&self) -> bool {
        false
    }
    /// Ticks of a call go there. `function` is that of the [`Call`], and `peer` as [`crate::wait::peer_with`] has
    /// it.
    fn add(&mut self, function: u32, figure: Figure, peer: u64, ticks: u64);
    /// Whether the board of another rank is known to be on this node.
    fn is_near(&self, _peer: u32) -> bool {
        true
    }
    /// A rank whose board cannot read that of this rank may need a stamp at the end.
    fn tell(&mut self, _peer: u32, _key: u64, _number: u64, _moment: u64) {}
    /// Asks a rank whose board cannot be read for a stamp, at the end. False if there is no room.
    fn ask(&mut self, _findings: &mut Findings, _question: FarQuestion) -> bool {
        false
    }
    /// All is known of a call but what was asked.
    fn keep(&mut self, _findings: &Findings) {}
}

/// Calls whose findings wait for what others have not yet published.
const RECORDS: usize = 256;
/// Stamps that were not yet there.
const LOOKUPS: usize = 512;
/// Peers whose usual time is kept.
const PEERS: usize = 256;
/// Keys whose last use is kept, if there are several threads.
const USES: usize = 256;

#[derive(Clone, Copy)]
struct Record {
    findings: Findings,
    /// Stamps and numbers that are awaited, plus 1 as long as the call goes on; 0 if it is free
    awaited: u16,
}

#[derive(Clone, Copy)]
struct Use {
    ended: u64,
    thread: u32,
}

/// A call, and what it has found out so far.
#[derive(Clone, Copy)]
pub struct WaitingCall {
    findings: Findings,
    /// The record of the call, plus 1; 0 if the call has none
    record: u16,
    /// The call received something
    receives: bool,
    /// A message that it sent, of those that go without their receiver. Who waits for messages, too,
    /// seldom waits for such a one: see `look_beside`.
    free: Option<Lookup>,
}

impl WaitingCall {
    /// The longest wait of the call that is known so far, in ticks.
    pub fn longest(&self) -> u64 {
        self.findings.longest.max(self.findings.receiver.ticks)
    }
}

/// Which thread does something, and when.
#[derive(Clone, Copy, Debug)]
pub struct Doer {
    /// The thread, not 0, if several may call at once; else 0
    pub thread: u32,
    /// When its call began
    pub began: u64,
    /// When its call ended
    pub ended: u64,
}

/// The state of a rank.
pub struct Engine {
    posts: Posts,
    callers: Callers,
    epochs: OpenEpochs,
    neighborhoods: Neighborhoods,
    protocols: Protocols,
    locks: HeldLocks,
    records: [Record; RECORDS],
    lookups: [Lookup; LOOKUPS],
    open: usize,
    turn: usize,
    /// Short calls until those are looked for again
    rest: u32,
    /// How many these are after one time in vain
    pause: u32,
    /// Who may have held up a call: see [`Engine::may_be_held_up_by`]
    away: AbsentRank,
    /// That call
    held: Call,
    /// Receives that are being cancelled
    cancelling: u32,
    /// Median of the ticks that a receive takes whose message is there
    usual: [u32; PEERS],
    /// The same of a call that begins or ends an epoch
    usual_epoch: u32,
    uses: [Use; USES],
    /// Calls that took no longer than this never look
    least: u64,
    /// Calls that took longer than this always look
    most: u64,
}

impl Engine {
    /// Of a rank that has done nothing yet. It has to be told the length of a microsecond.
    pub const fn new() -> Engine {
        const CALL: Call = Call { function: 0, counts: false, began: 0, ended: 0 };
        Engine {
            posts: Posts::new(),
            callers: Callers::new(),
            epochs: OpenEpochs::new(),
            neighborhoods: Neighborhoods::new(),
            protocols: Protocols::new(),
            locks: HeldLocks::new(),
            records: [Record { findings: Findings::of(CALL), awaited: 0 }; RECORDS],
            lookups: [Lookup::of(Awaited::Message, 0, 0, 0); LOOKUPS],
            open: 0,
            turn: 0,
            rest: 0,
            pause: 0,
            away: AbsentRank::NOBODY,
            held: CALL,
            cancelling: 0,
            usual: [0; PEERS],
            usual_epoch: 0,
            uses: [Use { ended: 0, thread: 0 }; USES],
            least: 0,
            most: 0,
        }
    }

    /// Says how many ticks a microsecond has.
    pub fn microsecond(&mut self, ticks: u64) {
        self.least = ticks;
        self.most = 4 * ticks;
    }

    /// Says whom to ask what the process does between calls that ask in vain.
    pub fn asks_use(&mut self, ask: AskUse) {
        self.callers.pauses.ask(ask, self.least);
    }

    /// How long a call has to take before a stamp of this peer is looked at: 1 us, and more where
    /// messages that are there take longer, because the look costs as much.
    #[inline(always)]
    fn threshold(&self, peer: u32) -> u64 {
        let usual = self.usual.get(peer as usize % PEERS).map_or(0, |usual| u64::from(*usual));
        (2 * usual).min(self.most).max(self.least)
    }

    /// Whether a call was over so soon that no stamp of this peer is looked at.
    #[inline(always)]
    fn is_over(&self, peer: u32, call: &Call) -> bool {
        let ticks = call.length();
        ticks <= self.least || ticks <= self.threshold(peer)
    }

    /// Whether a call took so long that somebody may look at a stamp.
    #[inline(always)]
    pub const fn may_look(&self, call: &Call) -> bool {
        call.length() > self.least
    }

    /// A short call: whether stamps that were not there are to be looked for again. The more often
    /// that was in vain, the fewer calls do so.
    #[inline(always)]
    fn is_due(&mut self) -> bool {
        if self.open == 0 {
            return false;
        }
        let due = self.rest == 0;
        self.rest = self.rest.saturating_sub(1);
        due
    }

    /// A receive of a message that was there took so long.
    #[inline(always)]
    fn learn(&mut self, peer: u32, ticks: u64) {
        if let Some(usual) = self.usual.get_mut(peer as usize % PEERS) {
            approach(usual, ticks);
        }
    }

    /// A call that may have waited: what it completed is told by what follows, then
    /// [`Engine::end`].
    #[inline(always)]
    pub fn begin(&self, call: Call) -> WaitingCall {
        WaitingCall { findings: Findings::of(call), record: 0, receives: false, free: None }
    }

    /// The call received something, of which nothing else is to be said.
    pub fn receives(&self, waiting: &mut WaitingCall) {
        waiting.receives = true;
    }

    /// All that the call completed was told.
    #[inline(always)]
    pub fn end(&mut self, around: &mut impl Surroundings, mut waiting: WaitingCall) {
        match waiting.free {
            Some(lookup) if waiting.receives => self.look_beside(around, &mut waiting, &lookup),
            Some(lookup) => self.look(around, &mut waiting, lookup),
            None => {}
        }
        self.asked_until_now(&waiting);
        if self.away.absence.back != 0 {
            self.held_up(&mut waiting);
        }
        if waiting.record == 0 {
            self.settle(around, &waiting.findings);
        } else {
            if let Some(record) = self.record(waiting.record) {
                record.findings.merge(&waiting.findings);
            }
            self.heard(around, waiting.record, |_| {});
        }
        if self.open > 0 {
            self.retry(around);
        }
    }

    /// The same of a call that took long, with which nothing else is in a hurry.
    #[inline(never)]
    fn end_long(&mut self, around: &mut impl Surroundings, waiting: WaitingCall) {
        self.end(around, waiting);
    }

    fn record(&mut self, number: u16) -> Option<&mut Record> {
        self.records.get_mut(usize::from(number).wrapping_sub(1))
    }

    /// Something that a call waits for became known.
    fn heard(
        &mut self,
        around: &mut impl Surroundings,
        number: u16,
        found: impl FnOnce(&mut Findings),
    ) {
        let Some(record) = self.record(number) else { return };
        found(&mut record.findings);
        record.awaited = record.awaited.saturating_sub(1);
        if record.awaited == 0 {
            let findings = record.findings;
            self.settle(around, &findings);
        }
    }

    /// Something of the call will be known later: its record; 0 if there is no room.
    fn later(&mut self, waiting: &mut WaitingCall) -> u16 {
        if waiting.record == 0 {
            let free = self.records.iter().position(|record| record.awaited == 0);
            let Some(free) = free else { return 0 };
            waiting.record = free as u16 + 1;
            if let Some(record) = self.record(waiting.record) {
                // One for the call itself.
                *record = Record { findings: waiting.findings, awaited: 1 };
            }
        }
        if let Some(record) = self.record(waiting.record) {
            record.awaited += 1;
        }
        waiting.record
    }

    /// Looks at a stamp of a peer, if the call took so long that it is worth it.
    #[inline(always)]
    fn look(&mut self, around: &mut impl Surroundings, waiting: &mut WaitingCall, lookup: Lookup) {
        let length = waiting.findings.length();
        let all = length + waiting.findings.asked.between;
        if all <= self.threshold(lookup.peer) {
            if lookup.awaited == Awaited::Message {
                self.learn(lookup.peer, length);
            }
            return;
        }
        self.look_now(around, waiting, lookup);
    }

    #[inline(never)]
    fn look_now(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        lookup: Lookup,
    ) {
        let call = waiting.findings.call;
        if !call.counts {
            return;
        }
        let seen = around.read(lookup.peer, lookup.key, lookup.number);
        if seen.is_none() && around.ask(&mut waiting.findings, lookup.question()) {
            return;
        }
        self.learn_protocol(&lookup, seen, call.ended);
        if conclude(&mut waiting.findings, &lookup, seen) {
            if let (Awaited::Message, Some(Seen::At(moment, _))) = (lookup.awaited, seen) {
                self.learn(lookup.peer, call.ended.saturating_sub(call.began.max(moment)));
            }
            // What goes at once needs nobody.
            let is_bound = lookup.sent.bytes != BUFFERED && !lookup.sent.goes;
            if is_bound {
                self.may_be_held_up_by(around, waiting, (lookup.awaited.cause(), lookup.peer));
            }
            return;
        }
        if !self.look_later(waiting, lookup) {
            waiting.findings.unsure = true;
        }
    }

    /// Looks again later at a stamp that is not there yet. False if there is no room for that.
    fn look_later(&mut self, waiting: &mut WaitingCall, lookup: Lookup) -> bool {
        let has_room = self.open < LOOKUPS;
        let record = if has_room { self.later(waiting) } else { 0 };
        if record == 0 {
            return false;
        }
        if let Some(place) = self.lookups.get_mut(self.open) {
            *place = Lookup { record, ..lookup };
            self.open += 1;
            (self.rest, self.pause) = (0, 0);
        }
        true
    }

    /// Looks again at stamps that were not there: the latest, and some in turn. An exchange may add two, so one in
    /// turn would be too few: rings go on meanwhile.
    #[cold]
    fn retry(&mut self, around: &mut impl Surroundings) {
        /// Less than a ring holds, so that a stamp which comes is still found.
        const LONGEST: u32 = STAMPS as u32 / 2;
        /// So many in turn: twice what most calls add.
        const MOST: u32 = 4;
        let mut found = self.again(around, self.open.wrapping_sub(1));
        for _ in 0..MOST {
            let at = self.turn.checked_rem(self.open).unwrap_or(0);
            let is_there = self.again(around, at);
            // Another one has taken the place of one that was there.
            self.turn = if is_there { at } else { at + 1 };
            found |= is_there;
        }
        self.pause = if found { 0 } else { (2 * self.pause + 1).min(LONGEST) };
        self.rest = self.pause;
    }

    /// Looks again at one. False if it is still not there.
    fn again(&mut self, around: &mut impl Surroundings, at: usize) -> bool {
        let Some(lookup) = self.lookups.get(at).copied() else { return false };
        if at >= self.open {
            return false;
        }
        let seen = around.read(lookup.peer, lookup.key, lookup.number);
        if seen == Some(Seen::NotYet) {
            return false;
        }
        self.close(at);
        if let Some(ended) = self.record(lookup.record).map(|record| record.findings.call.ended) {
            self.learn_protocol(&lookup, seen, ended);
        }
        self.heard(around, lookup.record, |findings| {
            conclude(findings, &lookup, seen);
        });
        true
    }

    /// What the stamp of a receive says of messages like that which was sent, by a call that ended then.
    #[inline(always)]
    fn learn_protocol(&mut self, lookup: &Lookup, seen: Option<Seen>, ended: u64) {
        if let (Awaited::Receive, Some(Seen::At(moment, _))) = (lookup.awaited, seen)
            && moment > ended
            && let Some(protocol) = self.protocols.of(lookup.peer)
        {
            protocol.went(lookup.sent.bytes);
        }
    }

    /// All is known of a call, but for what is answered at the end.
    #[inline(never)]
    fn settle(&mut self, around: &mut impl Surroundings, findings: &Findings) {
        if findings.receiver.ticks > 0 {
            self.learn_need(findings);
        }
        if findings.far != 0 {
            return around.keep(findings);
        }
        let function = findings.call.function;
        findings.tell(|figure, peer, ticks| around.add(function, figure, peer, ticks));
    }

    /// What a call that waited for a receiver says of messages like that which it sent.
    #[cold]
    #[inline(never)]
    fn learn_need(&mut self, findings: &Findings) {
        let ReceiverWait { ticks, peer, sent, .. } = findings.receiver;
        let is_all = findings.longest == 0 && !findings.asked.is_any();
        if is_all
            && shows_need(ticks, findings.length(), EVIDENT * self.least)
            && let Some(protocol) = self.protocols.of(parts_of_peer(peer).0)
        {
            protocol.waited(sent.bytes);
        }
    }

    fn close(&mut self, at: usize) {
        self.open -= 1;
        let last = self.lookups.get(self.open).copied();
        if let (Some(last), Some(place)) = (last, self.lookups.get_mut(at)) {
            *place = last;
        }
    }

    /// Whether another thread was at the same key, or one that falls on the same place, at the
    /// same time: then the order of the two is not known.
    #[inline(always)]
    fn is_doubtful(&mut self, key: u64, doer: &Doer) -> bool {
        if doer.thread == 0 {
            return false;
        }
        let Some(last) = self.uses.get_mut((key >> 32) as usize % USES) else { return false };
        let doubtful = last.thread != doer.thread && last.ended > doer.began;
        if doer.ended >= last.ended {
            *last = Use { ended: doer.ended, thread: doer.thread };
        }
        doubtful
    }
}

impl Default for Engine {
    fn default() -> Self {
        Engine::new()
    }
}

/// Moves a median towards what took so long. No processor can foretell which way that is, so this is written without a
/// branch. It learns from short calls, which are far from what would overflow.
#[inline(always)]
fn approach(usual: &mut u32, ticks: u64) {
    let step = *usual / 16;
    let up = usual.wrapping_add(step + 1);
    let down = *usual - step;
    *usual = core::hint::select_unpredictable(ticks > u64::from(*usual), up, down);
}

/// The number of the key of messages from this rank to the other end of an address, or of receives that are posted
/// there.
#[inline(always)]
pub fn key_to(around: &impl Surroundings, to: &Address, side: Side) -> u64 {
    let (own, peer) = ranks(around, to.peer);
    of_messages(to.comm, own, peer, to.tag, side)
}

/// The same of messages that come from there, or of receives that this rank posts.
#[inline(always)]
pub fn key_from(around: &impl Surroundings, from: &Address, side: Side) -> u64 {
    let (own, peer) = ranks(around, from.peer);
    of_messages(from.comm, peer, own, from.tag, side)
}

/// This rank and another process, as keys of messages between them name both.
#[inline(always)]
fn ranks(around: &impl Surroundings, peer: u32) -> (u32, u32) {
    match parts_of_beside(peer) {
        Some((place, _)) => ranks_beside(around.rank_beside(place), peer),
        None => (around.rank(), peer),
    }
}
