//! Collectives.

use super::{Engine, PEERS, Surroundings, WaitingCall};
use crate::board::Seen;
use crate::collective::CollectivePlace;
use crate::far::FarQuestion;
use crate::key::of_collectives;
use crate::posts::{Post, Progress};
use crate::wait::{Awaited, Call, Cause, Figure, peer_with};

/// Where the usual time of collectives of so many ranks is kept, among that of peers.
#[inline(always)]
const fn slot(ranks: u32) -> u32 {
    (PEERS - 1 - (ranks as usize % (PEERS / 2))) as u32
}

impl Engine {
    /// This rank comes to a collective of a communicator: the number of that.
    #[inline(always)]
    pub fn arrived(
        &mut self,
        around: &mut impl Surroundings,
        comm: u64,
        moment: u64,
    ) -> Option<u64> {
        if comm == 0 { None } else { around.publish(of_collectives(comm), moment) }
    }

    /// A collective to which this rank came has failed: it never was.
    pub fn failed(&mut self, around: &mut impl Surroundings, comm: u64) {
        if comm != 0 {
            around.give_up(of_collectives(comm), true);
        }
    }

    /// Whether a collective of so many ranks took so long that it is worth to look when they came.
    /// If not, all is said of it.
    #[inline(always)]
    pub fn is_long(&mut self, around: &mut impl Surroundings, call: &Call, ranks: u32) -> bool {
        let long = call.length() > self.threshold_of_collectives(ranks);
        if !long {
            self.learn(slot(ranks), call.length());
            self.below(around, call);
        }
        long
    }

    #[inline(always)]
    fn threshold_of_collectives(&self, ranks: u32) -> u64 {
        let most = self.most.max(self.least.saturating_mul(u64::from(ranks) / 2));
        let usual = self.usual.get(slot(ranks) as usize).map_or(0, |usual| u64::from(*usual));
        (2 * usual).min(most).max(self.least)
    }

    /// A collective of so many ranks is over, all of them on this node. False, and nothing is done,
    /// if it is worth to look when they came, or if another stamp is to be looked for.
    #[inline(always)]
    pub fn gathered_at_once(
        &mut self,
        around: &mut impl Surroundings,
        call: &Call,
        ranks: u32,
    ) -> bool {
        let ticks = call.length();
        let over = ticks <= self.least || ticks <= self.threshold_of_collectives(ranks);
        if !over || self.is_due() {
            return false;
        }
        self.learn(slot(ranks), ticks);
        around.add(call.function, Figure::Below, 0, ticks);
        true
    }

    /// A collective is over, for which a rank had to wait for this other one: when the call
    /// returned, that had come, unless it had nothing to give.
    pub fn gathered(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        comm: u64,
        number: u64,
        peer: u32,
    ) {
        let findings = &mut waiting.findings;
        findings.looked = true;
        let call = findings.call;
        match around.read(peer, of_collectives(comm), number) {
            Some(Seen::At(moment, path)) if moment <= call.ended => {
                findings.other_began(Cause::Collective, peer_with(peer, path), moment);
            }
            Some(Seen::At(..) | Seen::NotYet) => {}
            Some(Seen::Before(moment)) if moment <= call.began && !findings.asked.is_any() => {}
            Some(Seen::Before(_) | Seen::Unsure) => findings.unsure = true,
            None => findings.elsewhere = true,
        }
    }

    /// When a rank of this node came to a collective for which the call need not wait, and who that is, if it came
    /// before the call was over.
    pub fn companion(
        &self,
        around: &mut impl Surroundings,
        waiting: &WaitingCall,
        (comm, number): (u64, u64),
        peer: u32,
    ) -> Option<(u64, u64)> {
        match around.read(peer, of_collectives(comm), number) {
            Some(Seen::At(moment, path)) if moment <= waiting.findings.call.ended => {
                Some((moment, peer_with(peer, path)))
            }
            _ => None,
        }
    }

    /// The last of these: whether the call, which moves much or little, stayed for it follows.
    pub fn stayed(&mut self, waiting: &mut WaitingCall, much: bool, (moment, peer): (u64, u64)) {
        waiting.findings.stayed(much, peer, moment, 0);
    }

    /// Whether a call of a collective of so many ranks went on for so long after all had come for whom it had to wait that
    /// a look at all of them takes a small part of that.
    pub fn stays_long(&self, waiting: &WaitingCall, ranks: u32) -> bool {
        let findings = &waiting.findings;
        let most = self.most.max(self.least.saturating_mul(u64::from(ranks)));
        findings.length().saturating_sub(findings.longest) > most
    }

    /// Whether a started collective that is complete went on for long after all had come for whom the call waited.
    pub fn went_on(&self, waiting: &WaitingCall) -> bool {
        let findings = &waiting.findings;
        let is_known = !(findings.unsure || findings.elsewhere);
        is_known && findings.length().saturating_sub(findings.longest) > self.most
    }

    /// Ranks of other nodes have come to the making of a communicator that is over: who was the last is asked at the end.
    pub fn met_makers_far(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        key: u64,
        number: u64,
    ) {
        let question = question((key, number), Awaited::Neighbor);
        waiting.findings.elsewhere |= !around.ask(&mut waiting.findings, question);
    }

    /// The same of ranks on other nodes: which of them was the last is asked at the end.
    pub fn stayed_far(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        key: u64,
        number: u64,
    ) {
        let question = question((key, number), Awaited::Companion);
        // Without an answer nothing is said of it.
        around.ask(&mut waiting.findings, question);
    }

    /// All for which the rank had to wait were looked at, if there were any.
    pub fn looked(&self, waiting: &mut WaitingCall) {
        waiting.findings.looked = true;
    }

    /// How long a collective of so many ranks takes from the last arrival on.
    pub fn learn_collective(&mut self, waiting: &WaitingCall, ranks: u32) {
        let findings = &waiting.findings;
        self.learn(slot(ranks), findings.length().saturating_sub(findings.longest));
    }

    /// A collective is over to which ranks of other nodes came: who was the last is asked at the
    /// end.
    pub fn gathered_far(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        key: u64,
        number: u64,
    ) {
        let question = question((key, number), Awaited::Arrival);
        waiting.findings.elsewhere |= !around.ask(&mut waiting.findings, question);
    }

    /// A collective was started: the number of its post, 0 if there is no room.
    pub fn collective_started(&mut self, place: &CollectivePlace, handle: (u64, u32)) -> u32 {
        if place.comm == 0 {
            return 0;
        }
        self.posts.take(Post { handle: handle.0, generation: handle.1, ..place.post() })
    }

    /// What was posted, if that is a collective that goes on.
    #[inline(always)]
    pub fn collective(&self, id: u32) -> Option<Post> {
        let goes_on = |post: &&Post| post.collective && post.progress == Progress::Numbered;
        self.posts.get(id).filter(goes_on).copied()
    }

    /// A started collective was completed.
    pub fn collective_completed(&mut self, id: u32) {
        self.put_back(id);
    }

    /// Whether a call that completes collectives took so long that it is worth to look at them.
    pub fn is_worth(&self, waiting: &WaitingCall) -> bool {
        let findings = &waiting.findings;
        findings.length() + findings.asked.between > self.most && findings.call.counts
    }

    /// Nothing is known of whom a call waited for.
    pub fn not_measured(&self, waiting: &mut WaitingCall) {
        waiting.findings.elsewhere = true;
    }
}
/// The question for the last rank that came to the collective of this key and number on other nodes.
fn question((key, number): (u64, u64), awaited: Awaited) -> FarQuestion {
    FarQuestion { key, number: number as u32, awaited, ..FarQuestion::default() }
}
