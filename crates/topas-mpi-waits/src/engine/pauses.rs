//! What the program does between calls that ask in vain.
//!
//! A collector that asks, sleeps, and asks again waits for a message, although nearly none of its time is in MPI. A program
//! that computes between its questions does not wait. The clock does not tell them apart, but the kernel does: who
//! sleeps uses no processor, and gives it up by itself. So where the time between two questions is long enough to ask the kernel,
//! it is asked at both ends. Of shorter times nobody knows what the program did: a loop that gives way to other processes
//! between its questions (`sched_yield`) mostly passes such times.

use crate::wait::Call;

/// Microseconds between two calls from which on the kernel is asked: that takes less than a hundredth of it.
const LONG: u64 = 40;

/// What a process has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUse {
    /// Processor time of all its threads, in microseconds
    pub microseconds: u64,
    /// How often the thread gave up its processor by itself
    pub given_up: u64,
    /// How often the kernel took it away. So it does in calls of MPI, too, if the MPI lets others go first
    pub taken: u64,
    /// Calls of MPI that may wait, among them those that ask
    pub calls: u64,
}

/// Asks what this process has used; None if that says nothing, as of several threads that call MPI.
pub type AskUse = fn() -> Option<ProcessUse>;

/// The time between calls that ask in vain. Zero at its beginning.
pub(super) struct Pauses {
    ask: Option<AskUse>,
    /// Ticks of a microsecond
    microsecond: u64,
    /// Ticks after the last call beyond which the kernel is asked, or beyond which it is to be found out whether it is
    long: u64,
    /// The program paused for so long since something was found that the kernel was asked at both ends
    paused: bool,
    /// What a call has found is over, and the next one that asks in vain comes after that
    afresh: bool,
    /// The program paused so before that was found
    has_paused: bool,
    /// When the last call ended that asked in vain, or that found something
    last: u64,
    /// What was used until the kernel was asked last
    reading: Option<ProcessUse>,
    /// Calls since then that asked in vain soon after another
    asked: u64,
    /// Ticks between calls, and in how many of these the process slept
    all: [u64; 2],
    /// As many of these are over: something was found since
    over: [u64; 2],
}

impl Pauses {
    pub(super) const fn new() -> Pauses {
        Pauses {
            ask: None,
            microsecond: 0,
            long: 0,
            paused: false,
            afresh: false,
            has_paused: false,
            last: 0,
            reading: None,
            asked: 0,
            all: [0; 2],
            over: [0; 2],
        }
    }

    /// Says whom to ask, and how many ticks a microsecond has.
    pub(super) fn ask(&mut self, ask: AskUse, microsecond: u64) {
        (self.ask, self.microsecond) = (Some(ask), microsecond);
    }

    /// Those until now.
    pub(super) const fn now(&self) -> [u64; 2] {
        self.all
    }

    /// Those from a moment on, as far as they are not over.
    pub(super) fn since(&self, [between, slept]: [u64; 2]) -> [u64; 2] {
        let ([over, over_slept], [all, all_slept]) = (self.over, self.all);
        [all.saturating_sub(between.max(over)), all_slept.saturating_sub(slept.max(over_slept))]
    }

    /// What was found is over. Who paused for it will pause again, so the kernel is asked at the first call in vain, not only after
    /// the first pause.
    pub(super) fn are_over(&mut self) {
        // What follows is done with what was found, however short it is.
        (self.afresh, self.has_paused, self.paused) = (true, self.paused, false);
        self.long = 0;
        self.over = self.all;
    }

    /// A call asked in vain.
    #[inline(always)]
    pub(super) fn asked(&mut self, call: &Call) {
        let between = call.began.saturating_sub(self.last);
        if between > self.long {
            self.asked_later(call);
        } else {
            self.asked = self.asked.wrapping_add(1);
            let [all, _] = &mut self.all;
            *all = all.wrapping_add(between);
        }
        self.last = call.ended;
    }

    /// The same long after another one, or after something was found.
    #[cold]
    #[inline(never)]
    fn asked_later(&mut self, call: &Call) {
        let long = LONG.saturating_mul(self.microsecond);
        let afresh = core::mem::take(&mut self.afresh);
        if afresh && !self.has_paused && call.began.saturating_sub(self.last) <= long {
            self.long = long;
            self.asked = self.asked.wrapping_add(1);
        } else {
            self.read(call);
        }
    }

    /// A call asked, and found something: what follows is no pause.
    pub(super) fn found(&mut self, call: &Call) {
        if self.reading.is_some() {
            self.read(call);
            (self.reading, self.last) = (None, call.ended);
        }
    }

    /// Asks the kernel after a call, and adds the pause before it if it was asked in front of that, too.
    #[cold]
    #[inline(never)]
    fn read(&mut self, call: &Call) {
        self.long = LONG.saturating_mul(self.microsecond);
        let Some(used) = self.ask.and_then(|ask| ask()) else { return };
        let asked = core::mem::take(&mut self.asked);
        let Some(before) = self.reading.replace(used) else { return };
        // This call is one that may wait, too, and those that asked soon after another, as a loop does that asks for
        // several things.
        let is_alone = used.calls.wrapping_sub(before.calls) == asked.wrapping_add(1);
        let between = call.began.saturating_sub(self.last);
        if !is_alone || between < self.long {
            return;
        }
        let [all, slept] = &mut self.all;
        *all += between;
        self.paused = true;
        let given_up = used.given_up.saturating_sub(before.given_up);
        let taken = used.taken.saturating_sub(before.taken);
        // Each of the calls may have let others go first.
        if given_up > 0 && taken <= given_up.max(asked.wrapping_add(1)) {
            let computed = used.microseconds.saturating_sub(before.microseconds);
            *slept += between.saturating_sub(computed.saturating_mul(self.microsecond));
        }
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;
    use std::thread_local;

    use super::*;

    thread_local! {
        static USED: Cell<ProcessUse> = const { Cell::new(ProcessUse { microseconds: 0, given_up: 0, taken: 0, calls: 0 }) };
    }

    fn pauses() -> Pauses {
        let mut pauses = Pauses::new();
        pauses.ask(|| Some(USED.get()), 100);
        USED.set(ProcessUse::default());
        pauses
    }

    /// The process goes on: it uses so many microseconds, gives up its processor or loses it so often, and calls.
    fn goes(microseconds: u64, given_up: u64, taken: u64, calls: u64) {
        let used = USED.get();
        USED.set(ProcessUse {
            microseconds: used.microseconds + microseconds,
            given_up: used.given_up + given_up,
            taken: used.taken + taken,
            calls: used.calls + calls,
        });
    }

    const fn call(began: u64) -> Call {
        Call { function: 1, counts: true, began, ended: began + 10 }
    }

    #[test]
    fn who_sleeps_between_questions_is_told_from_who_computes() {
        let mut pauses = pauses();
        pauses.asked(&call(10_000));
        // It sleeps for 100 us.
        goes(2, 1, 0, 1);
        pauses.asked(&call(20_010));
        assert_eq!(pauses.now(), [10_000 - 10 + 10, 10_000 - 200]);
        // It computes for as long.
        goes(100, 0, 0, 1);
        pauses.asked(&call(30_020));
        assert_eq!(pauses.now(), [20_000, 9_800]);
        // It computes, too, but another process had the processor for most of the time.
        goes(10, 1, 2, 1);
        pauses.asked(&call(40_030));
        assert_eq!(pauses.now(), [30_000, 9_800]);
        // It called MPI meanwhile: nothing is known.
        goes(0, 1, 0, 2);
        pauses.asked(&call(50_040));
        assert_eq!(pauses.now(), [30_000, 9_800]);
        // The message is found after some time asleep, and the MPI gave the processor away in its call.
        goes(0, 1, 1, 1);
        pauses.found(&call(60_050));
        assert_eq!(pauses.since([20_000, 9_800]), [20_000, 10_000]);
        pauses.are_over();
        assert_eq!(pauses.since([20_000, 9_800]), [0, 0]);
        // What follows is done with the message.
        goes(0, 1, 0, 1);
        pauses.asked(&call(80_000));
        assert_eq!(pauses.since([0; 2]), [0, 0]);
        goes(0, 1, 0, 1);
        pauses.asked(&call(90_010));
        assert_eq!(pauses.since([0; 2]), [10_000, 10_000]);
    }

    #[test]
    fn who_asks_for_several_things_sleeps_between_the_last_and_the_first() {
        let mut pauses = pauses();
        for round in 0..4 {
            // Both questions let others go first.
            let slept = u64::from(round > 0);
            goes(1, slept, 2 * slept, 1);
            pauses.asked(&call(10_000 * (round + 1)));
            goes(1, 0, 0, 1);
            pauses.asked(&call(10_000 * (round + 1) + 20));
        }
        // Three times from the second question on, without what the questions used, and four times from the first one until the
        // second.
        assert_eq!(pauses.now(), [3 * 9_970 + 4 * 10, 3 * (9_970 - 200)]);
        // Another call that may wait lay between them.
        goes(2, 1, 0, 2);
        pauses.asked(&call(60_000));
        assert_eq!(pauses.now(), [3 * 9_970 + 4 * 10, 3 * 9_770]);
    }

    #[test]
    fn who_asks_at_once_again_asks_the_kernel_no_more() {
        let mut pauses = pauses();
        pauses.asked(&call(10_000));
        pauses.are_over();
        for began in (10_020..20_000).step_by(20) {
            goes(0, 0, 0, 1);
            pauses.asked(&call(began));
        }
        assert_eq!(pauses.reading.map(|reading| reading.calls), Some(0));
        // What lies between them counts all the same, but not what was done with what was found.
        assert_eq!(pauses.now(), [498 * 10, 0]);
        pauses.are_over();
        pauses.asked(&call(20_020));
        assert_eq!(
            (pauses.since([0; 2]), pauses.reading.map(|reading| reading.calls)),
            ([0, 0], Some(0))
        );
        pauses.asked(&call(20_040));
        assert_eq!(pauses.since([0; 2]), [10, 0]);
    }
}
