//! Calls that ask for requests or messages in vain: `Test`, `Iprobe` and their likes.
//!
//! A program that asks again and again waits, although none of its calls does. What these calls took counts for the
//! one that finds what they asked for, if that is of the same function and call path: so no part of a path is more than
//! the whole. Each of their ticks counts once, for what is found first.
//!
//! A program that sleeps between such calls waits there, too: see [`super::pauses`].

use super::pauses::Pauses;
use super::{Engine, WaitingCall};
use crate::posts::Progress;
use crate::wait::{AskedInVain, Call};

/// Functions and call paths that are known at the same time.
const CALLERS: usize = 8;

/// Calls of a function by a path.
#[derive(Clone, Copy)]
struct Caller {
    /// What the calls have in common, plus 1; 0 if nothing is here
    function: u32,
    /// Ticks in all calls that asked in vain and are counted here
    ticks: u64,
    /// As many of these are over: whatever they asked for, something was found since
    over: u64,
    /// When the last one ended
    last: u64,
}

/// All of them. Zero at its beginning.
pub(super) struct Callers {
    all: [Caller; CALLERS],
    latest: usize,
    /// The next that gives its place to another
    turn: usize,
    /// Between all of these calls
    pub(super) pauses: Pauses,
}

impl Callers {
    pub(super) const fn new() -> Callers {
        const NONE: Caller = Caller { function: 0, ticks: 0, over: 0, last: 0 };
        Callers { all: [NONE; CALLERS], latest: 0, turn: 0, pauses: Pauses::new() }
    }

    #[inline(always)]
    fn place(&mut self, function: u32) -> Option<usize> {
        let function = function.wrapping_add(1);
        let is_it = |caller: &Caller| caller.function == function;
        if self.all.get(self.latest).is_some_and(is_it) {
            return Some(self.latest);
        }
        self.latest = self.all.iter().position(is_it)?;
        Some(self.latest)
    }

    #[cold]
    #[inline(never)]
    fn new_place(&mut self, function: u32) -> usize {
        let place = self.turn % CALLERS;
        self.turn = place + 1;
        self.latest = place;
        if let Some(caller) = self.all.get_mut(place) {
            caller.function = function.wrapping_add(1);
            caller.over = caller.ticks;
        }
        place
    }

    /// What calls of this function asked in vain from a mark on, and as far as it is not over.
    fn since(&mut self, function: u32, mark: Option<u64>) -> AskedInVain {
        let nothing = AskedInVain::NONE;
        let Some(place) = self.place(function) else { return nothing };
        let from = match mark.and_then(|mark| mark.checked_sub(1)) {
            Some(mark) if mark as usize % CALLERS == place => mark / CALLERS as u64,
            Some(_) => return nothing,
            None => 0,
        };
        let Some(caller) = self.all.get(place) else { return nothing };
        let ticks = caller.ticks.saturating_sub(from.max(caller.over));
        AskedInVain { ticks, last: caller.last, ..nothing }
    }

    fn are_over(&mut self, function: u32) {
        if let Some(place) = self.place(function)
            && let Some(caller) = self.all.get_mut(place)
        {
            caller.over = caller.ticks;
        }
    }
}

impl Engine {
    /// A call asked for requests or a message, and nothing was there: what [`Engine::asked_for`] needs of each
    /// request.
    #[inline(always)]
    pub fn asked_in_vain(&mut self, call: &Call) -> u64 {
        let known = self.callers.place(call.function);
        let place = known.unwrap_or_else(|| self.callers.new_place(call.function));
        let Some(caller) = self.callers.all.get_mut(place) else { return 0 };
        let mark = caller.ticks * CALLERS as u64 + place as u64 + 1;
        caller.ticks += call.length();
        caller.last = call.ended;
        self.callers.pauses.asked(call);
        mark
    }

    /// This call asked in vain for what was posted.
    #[inline(always)]
    pub fn asked_for(&mut self, id: u32, mark: u64) {
        if let Some(post) = self.posts.get_mut(id)
            && post.asked == 0
            && !matches!(post.progress, Progress::Free | Progress::Idle)
        {
            post.asked = mark;
            post.pauses = self.callers.pauses.now();
        }
    }

    /// A call found what was posted: others before it may have asked for that in vain.
    #[inline(always)]
    pub fn found(&mut self, waiting: &mut WaitingCall, id: u32) {
        let Some(post) = self.posts.get_mut(id) else { return };
        let (mark, pauses) = (core::mem::take(&mut post.asked), post.pauses);
        if mark != 0 {
            self.found_since(waiting, Some(mark), pauses);
        }
    }

    /// A call found a message: others before it may have asked in vain for any. Whether they have.
    pub fn found_message(&mut self, waiting: &mut WaitingCall) -> bool {
        self.found_since(waiting, None, [0; 2]);
        waiting.findings.asked.is_any()
    }

    #[cold]
    #[inline(never)]
    fn found_since(&mut self, waiting: &mut WaitingCall, mark: Option<u64>, pauses: [u64; 2]) {
        let findings = &mut waiting.findings;
        let mut asked = self.callers.since(findings.call.function, mark);
        if findings.call.counts {
            self.callers.pauses.found(&findings.call);
            [asked.between, asked.slept] = self.callers.pauses.since(pauses);
        }
        if asked.ticks + asked.between > findings.asked.ticks + findings.asked.between {
            findings.asked = asked;
        }
    }

    /// All that a call found was told.
    #[inline(always)]
    pub(super) fn asked_until_now(&mut self, waiting: &WaitingCall) {
        if waiting.findings.asked.is_any() {
            self.callers.are_over(waiting.findings.call.function);
            self.callers.pauses.are_over();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(function: u32, began: u64, ended: u64) -> Call {
        Call { function, counts: true, began, ended }
    }

    #[test]
    fn each_tick_counts_once_and_only_for_its_function() {
        let mut callers = Callers::new();
        let vain = |callers: &mut Callers, call: Call| {
            let place =
                callers.place(call.function).unwrap_or_else(|| callers.new_place(call.function));
            let mark = callers.all[place].ticks * CALLERS as u64 + place as u64 + 1;
            callers.all[place].ticks += call.length();
            callers.all[place].last = call.ended;
            mark
        };
        let first = vain(&mut callers, call(7, 100, 110));
        let second = vain(&mut callers, call(7, 120, 140));
        let other = vain(&mut callers, call(8, 150, 155));
        assert_eq!(
            callers.since(7, Some(first)),
            AskedInVain { ticks: 30, last: 140, ..AskedInVain::NONE }
        );
        assert_eq!(
            callers.since(7, Some(second)),
            AskedInVain { ticks: 20, last: 140, ..AskedInVain::NONE }
        );
        assert_eq!(callers.since(7, None).ticks, 30);
        // By another function it was asked for nothing.
        assert_eq!(callers.since(8, Some(first)).ticks, 0);
        assert_eq!(callers.since(9, Some(first)).ticks, 0);
        callers.are_over(7);
        assert_eq!(callers.since(7, Some(first)).ticks, 0);
        assert_eq!(callers.since(8, Some(other)).ticks, 5);
        // Who takes the place of another has nothing of it.
        for function in 20..20 + CALLERS as u32 {
            vain(&mut callers, call(function, 200, 201));
        }
        vain(&mut callers, call(8, 300, 303));
        assert_eq!(callers.since(8, Some(other)).ticks, 0);
        assert_eq!(callers.since(8, None).ticks, 3);
    }
}
