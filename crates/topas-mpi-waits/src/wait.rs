//! What follows from moments: how long a call waited, for whom, and what of its time is open.

use crate::absence::{Absence, AbsentRank};
use crate::protocol::{SentSize, ends_with, explains};

/// What a rank waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// The sender began to send after the receiver began to wait.
    #[default]
    LateSender,
    /// The receiver posted its receive after the sender began to wait.
    LateReceiver,
    /// Another rank came to the collective later.
    Collective,
}

/// What the other side has to begin before a call may end: what a stamp tells the moment of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Awaited {
    /// The message that the call received, or completed the receive of
    #[default]
    Message,
    /// The partitioned message of which a partition was found
    Partition,
    /// The receive of a message that the call sent, or completed the sending of
    Receive,
    /// The arrival of the last rank at a collective
    Arrival,
    /// The arrival of a neighbour at a collective of neighbours
    Neighbor,
    /// The arrival of a rank for which a call of a rooted collective need not wait, but which it may need to hand
    /// over its data
    Companion,
    /// The post of a window to which the call gains or ends access
    Post,
    /// The end of an access to the window of the call's rank
    Completion,
}

impl Awaited {
    /// Why a call waits for it. Who posts a window or ends an access sends a message without data.
    pub const fn cause(self) -> Cause {
        match self {
            Awaited::Message | Awaited::Partition | Awaited::Post | Awaited::Completion => {
                Cause::LateSender
            }
            Awaited::Receive => Cause::LateReceiver,
            Awaited::Arrival | Awaited::Neighbor | Awaited::Companion => Cause::Collective,
        }
    }
}

/// Where ticks of a call go. What goes nowhere is transfer and other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// A wait
    Waited(Cause),
    /// The message that came last was sent so long before the call began. These ticks are none of
    /// the call
    OnTime,
    /// The call was so short that nobody looked: as much of it may have been a wait
    Below,
    /// The other side is not on this node, or does not measure
    Elsewhere,
    /// What the other side did is not known any more, or not for sure
    Unsure,
    /// Time of the program between calls that asked in vain for what this call found, until the other side began. These
    /// ticks are none of the call
    Between,
    /// As much of these in which the process slept: it computed nothing
    Slept,
}

/// A rank of the world, and one of its call paths; 0 if that is not told.
#[inline(always)]
pub const fn peer_with(rank: u32, path: u16) -> u64 {
    rank as u64 | (path as u64) << 32
}

/// What [`peer_with`] put together.
#[inline(always)]
pub const fn parts_of_peer(peer: u64) -> (u32, u16) {
    (peer as u32, (peer >> 32) as u16)
}

/// A call that may have waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// What its surroundings call it: its function, and whatever else they want to be told again
    pub function: u32,
    /// The wait counts: measuring is not paused
    pub counts: bool,
    /// When it was entered
    pub began: u64,
    /// When it returned
    pub ended: u64,
}

impl Call {
    /// Ticks that it took.
    pub const fn length(&self) -> u64 {
        self.ended.saturating_sub(self.began)
    }

    /// Ticks of it that went by before a moment.
    pub const fn until(&self, moment: u64) -> u64 {
        let moment = if moment < self.ended { moment } else { self.ended };
        moment.saturating_sub(self.began)
    }
}

/// Calls before one that asked in vain for what this one found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AskedInVain {
    /// Ticks in them
    pub ticks: u64,
    /// When the last of them ended
    pub last: u64,
    /// Ticks between them, and between the last of them and this call, in which the program made no other call
    pub between: u64,
    /// As many of these in which the process slept
    pub slept: u64,
}

impl AskedInVain {
    /// Nothing was asked.
    pub const NONE: AskedInVain = AskedInVain { ticks: 0, last: 0, between: 0, slept: 0 };

    /// Ticks in them before a moment, at least: if it is before the end of the last one, as few as if all time
    /// from then on was in them. That is right of calls that follow each other at once.
    pub const fn until(&self, moment: u64) -> u64 {
        self.ticks.saturating_sub(self.last.saturating_sub(moment))
    }

    /// Whether calls asked in vain.
    pub const fn is_any(&self) -> bool {
        self.ticks > 0 || self.between > 0
    }

    /// Ticks between them before a moment, and in how many of these the process slept, at least: as few as if all time from then
    /// until the call that began so was between them.
    pub const fn between_until(&self, moment: u64, began: u64) -> [u64; 2] {
        let after = began.saturating_sub(moment);
        [self.between.saturating_sub(after), self.slept.saturating_sub(after)]
    }
}

/// A wait of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// How long, in ticks
    pub ticks: u64,
    /// For what
    pub cause: Cause,
    /// For whom: see [`peer_with`]
    pub peer: u64,
    /// When that one began
    pub moment: u64,
}

/// A receiver for which a call may have waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverWait {
    /// How long, in ticks; 0 if there is none
    pub ticks: u64,
    /// For whom: see [`peer_with`]
    pub peer: u64,
    /// What was sent
    pub sent: SentSize,
    /// When it posted its receive
    pub moment: u64,
}

impl ReceiverWait {
    /// None.
    pub const NONE: ReceiverWait =
        ReceiverWait { ticks: 0, peer: 0, sent: SentSize::NOTHING, moment: 0 };
}

/// What is known of a call: its longest wait, and what could not be found out. A call waits once,
/// whatever it waits for: for what comes last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Findings {
    /// The call
    pub call: Call,
    /// The calls before it that asked in vain for the same: what they waited is told with this call
    pub asked: AskedInVain,
    /// The longest wait in ticks
    pub longest: u64,
    /// For what, if it waited
    pub cause: Cause,
    /// For whom, if it waited: see [`peer_with`]
    pub peer: u64,
    /// When that one began
    pub moment: u64,
    /// Whose message came last of those that were sent before the call began
    pub on_time: u64,
    /// So long before, plus 1; 0 if there is none
    pub early: u64,
    /// Some stamp was looked at
    pub looked: bool,
    /// Some other side is not on this node
    pub elsewhere: bool,
    /// Of some other side nothing is sure
    pub unsure: bool,
    /// The longest wait for a receiver
    pub receiver: ReceiverWait,
    /// Its number among calls that wait for answers of other nodes: see [`crate::far`]; 0 if it
    /// does not
    pub far: u32,
}

impl Findings {
    /// Of no call.
    pub const NONE: Findings =
        Findings::of(Call { function: 0, counts: false, began: 0, ended: 0 });

    /// Nothing yet.
    pub const fn of(call: Call) -> Findings {
        Findings {
            call,
            asked: AskedInVain::NONE,
            longest: 0,
            cause: Cause::LateSender,
            peer: 0,
            moment: 0,
            on_time: 0,
            early: 0,
            looked: false,
            elsewhere: false,
            unsure: false,
            receiver: ReceiverWait::NONE,
            far: 0,
        }
    }

    /// Ticks of the call, and of those that asked in vain before.
    pub const fn length(&self) -> u64 {
        self.call.length() + self.asked.ticks
    }

    /// The other side began what was awaited at this moment, which may be wrong by the tolerance.
    pub fn began(
        &mut self,
        (awaited, sent): (Awaited, SentSize),
        peer: u64,
        moment: u64,
        tolerance: u64,
    ) {
        let is_after = moment > self.call.ended.saturating_add(tolerance);
        match awaited {
            // These cannot begin after the call has ended: this is another one.
            Awaited::Message | Awaited::Completion if is_after => self.unsure = true,
            // What is over before the receive is posted went without its receiver. An MPI may let a
            // rank go on before a window is posted, and nothing may have to come from a neighbour.
            // Of a message whose last partition was not ready, nothing is known of the others.
            Awaited::Receive | Awaited::Post | Awaited::Neighbor | Awaited::Partition
                if is_after =>
            {
                self.looked = true;
            }
            // Two calls of each epoch look at the same post: that it was there says nothing.
            Awaited::Post if moment <= self.call.began => self.looked = true,
            Awaited::Receive => self.receiver_began(sent, peer, moment),
            Awaited::Companion => self.stayed(true, peer, moment, tolerance),
            _ => self.other_began(awaited.cause(), peer, moment),
        }
    }

    /// A rank came at this moment, which may be wrong by the tolerance, for which the call need not wait. If the call
    /// stayed for it, the rest was the transfer. If not, all was, from what the call did wait for on: see [`stayed_for`].
    pub(crate) fn stayed(&mut self, much: bool, peer: u64, moment: u64, tolerance: u64) {
        let until = moment.saturating_add(tolerance);
        let rest = self.call.ended.saturating_sub(moment).saturating_add(tolerance);
        let waited = self.call.until(moment).saturating_sub(self.longest);
        if until <= self.call.ended && stayed_for(much, self.longest, waited, rest) {
            self.other_began(Cause::Collective, peer, moment);
        }
    }

    /// Ticks of the call until a moment, with those of the calls before it that asked.
    const fn until(&self, moment: u64) -> u64 {
        self.call.until(moment) + self.asked.until(moment)
    }

    /// Whether an absence explains why the call went on after all that is known to have begun.
    pub fn is_held_by(&self, absence: &Absence) -> bool {
        let held = self.until(absence.back).saturating_sub(self.waited().ticks);
        !self.unsure && !self.elsewhere && absence.holds_up(self.call.ended, held)
    }

    /// The call waited for a rank that was away.
    pub fn held_by(&mut self, away: &AbsentRank) {
        let Absence { back, path, .. } = away.absence;
        self.longest = self.until(back);
        (self.cause, self.peer, self.moment) = (away.cause, peer_with(away.rank, path), back);
        self.receiver = ReceiverWait::NONE;
    }

    /// The other side began at this moment.
    pub fn other_began(&mut self, cause: Cause, peer: u64, moment: u64) {
        self.looked = true;
        let waited = self.until(moment);
        if waited + self.between(moment) > self.longest + self.between(self.moment) {
            self.longest = waited;
            (self.cause, self.peer, self.moment) = (cause, peer, moment);
        } else if waited == 0 && cause == Cause::LateSender {
            self.was_early(peer, self.call.began.saturating_sub(moment) + 1);
        }
    }

    /// The receive of a message was posted at this moment.
    fn receiver_began(&mut self, sent: SentSize, peer: u64, moment: u64) {
        self.looked = true;
        let ticks = self.until(moment);
        if ticks + self.between(moment) > self.receiver.ticks + self.between(self.receiver.moment) {
            self.receiver = ReceiverWait { ticks, peer, sent, moment };
        }
    }

    /// Ticks between calls that asked in vain, until a moment.
    #[inline(always)]
    fn between(&self, moment: u64) -> u64 {
        let [between, _] = self.asked.between_until(moment, self.call.began);
        between
    }

    /// The wait for a receiver, if it is that which the call waited for.
    pub fn receiver_waited(&self) -> Option<&ReceiverWait> {
        let ReceiverWait { ticks, sent, .. } = self.receiver;
        let is_it = if sent.beside {
            let all_is_known = self.looked && !self.unsure && !self.elsewhere;
            all_is_known && ends_with(ticks, self.longest, self.length())
        } else {
            explains(sent.goes, ticks, self.longest, self.length())
        };
        is_it.then_some(&self.receiver)
    }

    /// The wait for what came last.
    fn waited(&self) -> Wait {
        match self.receiver_waited() {
            Some(&ReceiverWait { ticks, peer, moment, .. }) => {
                Wait { ticks, cause: Cause::LateReceiver, peer, moment }
            }
            None => {
                let Findings { longest: ticks, cause, peer, moment, .. } = *self;
                Wait { ticks, cause, peer, moment }
            }
        }
    }

    fn was_early(&mut self, peer: u64, early: u64) {
        if self.early == 0 || early < self.early {
            (self.on_time, self.early) = (peer, early);
        }
    }

    /// Adds what else is known of the same call.
    pub fn merge(&mut self, other: &Findings) {
        if other.longest > self.longest {
            self.longest = other.longest;
            (self.cause, self.peer, self.moment) = (other.cause, other.peer, other.moment);
        }
        if other.early != 0 {
            self.was_early(other.on_time, other.early);
        }
        if other.asked.ticks + other.asked.between > self.asked.ticks + self.asked.between {
            self.asked = other.asked;
        }
        if other.receiver.ticks > self.receiver.ticks {
            self.receiver = other.receiver;
        }
        self.looked |= other.looked;
        self.elsewhere |= other.elsewhere;
        self.unsure |= other.unsure;
        self.far = if self.far == 0 { other.far } else { self.far };
    }

    /// Hands over where the ticks of the call go, and who is to blame.
    pub fn tell(&self, mut add: impl FnMut(Figure, u64, u64)) {
        if !self.call.counts {
            return;
        }
        let Wait { ticks: waited, cause, peer, moment } = self.waited();
        if waited > 0 {
            add(Figure::Waited(cause), peer, waited);
        } else if let Some(early) = self.early.checked_sub(1) {
            add(Figure::OnTime, self.on_time, early);
        }
        if self.asked.between > 0 {
            let [between, slept] = self.asked.between_until(moment, self.call.began);
            if between > 0 {
                add(Figure::Between, peer, between);
                add(Figure::Slept, peer, slept);
            }
        }
        let rest = self.length().saturating_sub(waited);
        if self.unsure {
            add(Figure::Unsure, 0, rest);
        } else if self.elsewhere {
            add(Figure::Elsewhere, 0, rest);
        } else if !self.looked {
            add(Figure::Below, 0, rest);
        }
    }
}

/// Whether a call of a collective stayed for a rank for which it need not wait, and which came `waited` ticks after all was
/// there that the call had to wait for, which took `longest` ticks, and `rest` ticks before the call was over. Where `much` is
/// moved, transfers take a quarter longer by chance. Little is moved at once, so that a call which stays for a rank is over soon after
/// that came. But so is one that has only got its processor back from that rank: nobody else is accused than the rank that
/// the call had to wait for, if that was most of the wait.
pub const fn stayed_for(much: bool, longest: u64, waited: u64, rest: u64) -> bool {
    if much { waited > rest / 4 } else { waited / 4 >= rest && waited > longest }
}

/// What findings tell, in order.
#[cfg(test)]
pub(crate) fn told(findings: &Findings) -> std::vec::Vec<(Figure, u64, u64)> {
    let mut all = std::vec::Vec::new();
    findings.tell(|figure, peer, ticks| all.push((figure, peer, ticks)));
    all
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    #[test]
    fn a_call_waits_once_for_what_comes_last() {
        let call = Call { function: 1, counts: true, began: 100, ended: 200 };
        let mut findings = Findings::of(call);
        assert_eq!(told(&findings), [(Figure::Below, 0, 100)]);
        for (peer, moment) in [(1, 150), (2, 170), (3, 90), (4, 160)] {
            findings.other_began(Cause::LateSender, peer, moment);
        }
        assert_eq!(told(&findings), [(Figure::Waited(Cause::LateSender), 2, 70)]);
        findings.elsewhere = true;
        findings.other_began(Cause::LateReceiver, 9, 900);
        // Never longer than the call.
        let waited = (Figure::Waited(Cause::LateReceiver), 9, 100);
        assert_eq!(told(&findings), [waited, (Figure::Elsewhere, 0, 0)]);
        findings.call.counts = false;
        assert_eq!(told(&findings), vec![]);
    }

    #[test]
    fn what_was_asked_for_in_vain_is_part_of_the_wait() {
        // Calls at 100 to 120, 130 to 150 and 160 to 180 asked in vain.
        let call = Call { function: 1, counts: true, began: 190, ended: 200 };
        let asked = AskedInVain { ticks: 60, last: 180, ..AskedInVain::NONE };
        for (moment, waited) in [(195, 65), (185, 60), (180, 60), (170, 50), (125, 5), (90, 0)] {
            let mut findings = Findings { asked, ..Findings::of(call) };
            findings.other_began(Cause::LateSender, 2, moment);
            assert_eq!(findings.longest, waited, "{moment}");
        }
        let mut unsure = Findings { asked, unsure: true, ..Findings::of(call) };
        assert_eq!(told(&unsure), [(Figure::Unsure, 0, 70)]);
        unsure.other_began(Cause::LateSender, 2, 185);
        let waited = (Figure::Waited(Cause::LateSender), 2, 60);
        assert_eq!(told(&unsure), [waited, (Figure::Unsure, 0, 10)]);
        let mut first = Findings::of(call);
        first.merge(&unsure);
        assert_eq!(first.length(), 70);
    }

    #[test]
    fn what_lies_between_calls_that_asked_in_vain_is_told_until_the_other_side_began() {
        // Calls of 10 ticks each that asked in vain at 100, 200 and 300, and one at 400 that finds a message.
        let call = Call { function: 1, counts: true, began: 400, ended: 410 };
        let asked = AskedInVain { ticks: 30, last: 310, between: 270, slept: 200 };
        for (moment, waited, between, slept) in
            [(405, 35, 270, 200), (400, 30, 270, 200), (350, 30, 220, 150), (180, 0, 50, 0)]
        {
            let mut findings = Findings { asked, ..Findings::of(call) };
            findings.other_began(Cause::LateSender, 2, moment);
            let all = told(&findings);
            let ticks = |which| {
                let found = all.iter().find(|(figure, ..)| *figure == which);
                found.map_or(0, |(_, peer, ticks)| if *peer == 2 { *ticks } else { u64::MAX })
            };
            assert_eq!(ticks(Figure::Waited(Cause::LateSender)), waited, "{moment}");
            assert_eq!(ticks(Figure::Between), between, "{moment}");
            assert_eq!(ticks(Figure::Slept), slept, "{moment}");
        }
        // Of two that a call found, that which came last was waited for, even if both came between two calls.
        let mut findings = Findings { asked, ..Findings::of(call) };
        findings.other_began(Cause::LateSender, 3, 330);
        findings.other_began(Cause::LateSender, 2, 390);
        findings.other_began(Cause::LateSender, 4, 350);
        assert_eq!(findings.peer, 2);
    }

    #[test]
    fn a_call_stays_for_a_rank_if_it_leaves_soon_after() {
        let call = Call { function: 1, counts: true, began: 100, ended: 200 };
        let after = |proven: Option<u64>, moment, tolerance| {
            let mut findings = Findings::of(call);
            findings.looked = true;
            if let Some(moment) = proven {
                findings.other_began(Cause::Collective, 1, moment);
            }
            findings.began((Awaited::Companion, SentSize::NOTHING), 2, moment, tolerance);
            told(&findings)
        };
        let waited = |peer, ticks| vec![(Figure::Waited(Cause::Collective), peer, ticks)];
        assert_eq!(after(None, 180, 0), waited(2, 80));
        assert_eq!(after(None, 121, 0), waited(2, 21));
        assert_eq!(after(None, 120, 0), []);
        assert_eq!(after(None, 200, 0), waited(2, 100));
        assert_eq!(after(None, 201, 0), []);
        assert_eq!(after(None, 90, 0), []);
        // The clocks of two hosts do not tell which was first.
        assert_eq!(after(None, 195, 5), waited(2, 95));
        assert_eq!(after(None, 196, 5), []);
        assert_eq!(after(None, 121, 5), []);
        // It counts what is beyond the wait for the rank on which the call depends.
        assert_eq!(after(Some(160), 169, 0), waited(2, 69));
        assert_eq!(after(Some(160), 168, 0), waited(1, 60));
        assert_eq!(after(Some(160), 150, 0), waited(1, 60));
    }

    #[test]
    fn a_call_that_moves_little_stays_for_a_rank_if_it_leaves_at_once_after() {
        let call = Call { function: 1, counts: true, began: 100, ended: 200 };
        let after = |proven: u64, moment| {
            let mut findings = Findings::of(call);
            findings.other_began(Cause::Collective, 1, proven);
            findings.stayed(false, 2, moment, 0);
            told(&findings)
        };
        let waited = |peer, ticks| vec![(Figure::Waited(Cause::Collective), peer, ticks)];
        assert_eq!(after(90, 180), waited(2, 80));
        assert_eq!(after(90, 179), []);
        assert_eq!(after(90, 201), []);
        assert_eq!(after(140, 188), waited(2, 88));
        assert_eq!(after(140, 187), waited(1, 40));
        // Most of the wait was for the other one.
        assert_eq!(after(149, 199), waited(2, 99));
        assert_eq!(after(150, 199), waited(1, 50));
    }

    #[test]
    fn who_was_there_before_is_not_waited_for() {
        let call = Call { function: 1, counts: true, began: 100, ended: 200 };
        let mut findings = Findings::of(call);
        findings.other_began(Cause::LateSender, 1, 100);
        findings.other_began(Cause::LateSender, 1, 7);
        assert_eq!(told(&findings), [(Figure::OnTime, 1, 0)]);
        // In time was what came last.
        let mut later = Findings::of(call);
        later.other_began(Cause::LateSender, peer_with(5, 9), 60);
        later.other_began(Cause::LateSender, peer_with(6, 9), 20);
        assert_eq!(told(&later), [(Figure::OnTime, peer_with(5, 9), 40)]);
        assert_eq!(parts_of_peer(peer_with(5, 9)), (5, 9));
        later.merge(&findings);
        assert_eq!(told(&later), [(Figure::OnTime, 1, 0)]);
        later.other_began(Cause::Collective, 3, 130);
        assert_eq!(told(&later), vec![(Figure::Waited(Cause::Collective), 3, 30)]);
    }
}
