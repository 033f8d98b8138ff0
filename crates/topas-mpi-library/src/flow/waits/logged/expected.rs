//! What the next call of a function is like if it is like the one before: a line of the cache for each
//! function. The event of such a call tells its times alone, and nothing else is looked at.

use topas_trace::CallArguments;

use super::{PLACES, Told, WORDS, ages, ledger, library, number, numbers, quick, word};
use crate::element::element;
use crate::flow::Moved;
use crate::flow::plan::Place;
use crate::flow::waits::role::ROLES;
use crate::frame::Frame;
use crate::generated::table::DESCRIPTORS;
use crate::symbol::FUNCTION_ROOM;

/// A block of the log, by a number: what is expected of a call holds as long as the block is written. The
/// numbers are odd, and an even one means that nothing is expected. Zero, which is no number of a block,
/// has to become [`Period::WITHOUT`] before anything is compared with it.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Period(u32);

impl Period {
    /// There is no block.
    pub const WITHOUT: Period = Period(2);
    /// That of calls of which nothing is expected.
    const NEVER: Period = Period(0);

    /// The next block begins.
    pub fn begin(&mut self) {
        self.0 = (self.0.wrapping_add(2) | 1).max(Period::WITHOUT.0 | 1);
    }

    /// Nothing is expected until [`Period::resume`].
    pub fn suspend(&mut self) {
        self.0 &= !1;
    }

    /// The block is written on.
    pub fn resume(&mut self) {
        self.0 |= 1;
    }

    const fn is_on(self) -> bool {
        self.0 & 1 != 0
    }
}

/// By function.
pub type ExpectedCalls = [ExpectedCall; FUNCTION_ROOM];

/// What a call has to be like. Zero at its beginning: nothing is expected.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct ExpectedCall {
    /// In which it holds; zero if nothing is expected
    period: Period,
    /// What handles mean: see [`age`]
    age: u32,
    /// The path of its callers
    path: u16,
    /// What there is to compare, a bit of each; without any the call is about nothing and has no path
    kind: u8,
    /// Where its words are
    places: [Place; WORDS],
    /// The communicator
    comm: usize,
    /// Ranks and tags
    numbers: [i32; WORDS - 1],
    /// Bytes sent and received
    moved: Moved,
    /// The number of the collective, plus 1
    number: u64,
}

const _: () = assert!(size_of::<ExpectedCall>() == 64);

/// A function of C that a function of Fortran has called.
#[repr(C)]
pub struct ReachedCall {
    /// When the function of Fortran began
    pub began: u64,
    /// What it was about, unless it was as expected, or is about nothing
    pub arguments: CallArguments,
    /// Whether it was like the one before
    pub is_expected: bool,
    /// The number of a collective, plus 1
    pub number: u64,
    /// Bytes sent and received
    pub moved: Moved,
}

impl ReachedCall {
    /// Whether this function of Fortran has called it.
    #[inline(always)]
    pub fn is_of(&self, frame: &Frame) -> bool {
        self.began == frame.began
    }
}

/// The words of the call tell what it is about.
const MATTERS: u8 = 1;
/// All of them, and not the first three alone.
const EXCHANGES: u8 = 1 << 1;
/// The call has a number among the collectives of its communicator.
const GATHERS: u8 = 1 << 2;
/// It may move bytes.
const MOVES: u8 = 1 << 3;
/// It has a path.
const PATH: u8 = 1 << 4;
/// The words leave open from where a message came, or with which tag: the first rank and tag are those of its
/// status, and the second those of the words.
const OPEN: u8 = 1 << 5;

/// The same as [`ages`] in fewer bits: both parts grow only, so that their sum changes with each.
#[inline(always)]
fn age() -> u32 {
    ledger::age().wrapping_add(numbers::age())
}

impl ExpectedCall {
    /// Whether it holds in this period.
    #[inline(always)]
    pub fn holds(&self, period: Period) -> bool {
        self.period == period
    }

    /// Whether all calls of the function are the same, if they have no path.
    #[inline(always)]
    pub fn is_about_nothing(&self) -> bool {
        self.kind == 0
    }

    /// Whether words leave open from where messages come.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.kind & OPEN != 0
    }

    /// Whether a call has the same path and moved the same.
    #[inline(always)]
    fn has_moved(&self, path: u16, [sent, received]: Moved) -> bool {
        // One by one: a call that compares memory takes longer.
        let [own_sent, own_received] = self.moved;
        self.path == path && own_sent == sent && own_received == received
    }

    /// There was a call that moved this. False if that is what was expected.
    #[inline(always)]
    pub fn moves_on(&mut self, [sent, received]: Moved) -> bool {
        let [own_sent, own_received] = &mut self.moved;
        if *own_sent == sent && *own_received == received {
            return false;
        }
        (*own_sent, *own_received) = (sent, received);
        true
    }

    /// Whether a call in C is about the same, but for the number of a collective and what it moved.
    #[inline(always)]
    pub fn has_words(&self, frame: &Frame) -> bool {
        if self.kind & MATTERS == 0 {
            return true;
        }
        // By references: what is not compared is not read.
        let [comm, rank, tag, source, recvtag] = &self.places;
        let [own_rank, own_tag, own_source, own_recvtag] = &self.numbers;
        let is = |own: &i32, place: &Place| *own == word(&frame.args, *place) as i32;
        self.age == age()
            && frame.result as i32 == 0
            && self.comm == word(&frame.args, *comm)
            && is(own_rank, rank)
            && is(own_tag, tag)
            && (self.kind & EXCHANGES == 0 || is(own_source, source) && is(own_recvtag, recvtag))
    }

    /// The same, where words may leave open from where a message came: these are never those that stand in the
    /// place of the first rank and tag, which the status has told.
    #[inline(always)]
    fn has_words_or_status(&self, frame: &Frame) -> bool {
        if !self.is_open() {
            return self.has_words(frame);
        }
        let [comm, .., source, recvtag] = &self.places;
        let [rank, tag, own_source, own_recvtag] = &self.numbers;
        let is = |own: &i32, place: &Place| *own == word(&frame.args, *place) as i32;
        self.age == age()
            && frame.result as i32 == 0
            && self.comm == word(&frame.args, *comm)
            && is(own_source, source)
            && is(own_recvtag, recvtag)
            && status_tells(frame, (*rank, *tag))
    }

    /// Of an outermost call by this path that is like that: the number of the collective, plus 1; 0 if
    /// it has none. It has moved these bytes, or of a call in Fortran, what it has called.
    #[inline(always)]
    pub fn number(
        &self,
        frame: &Frame,
        path: u16,
        moved: Moved,
        reached: &ReachedCall,
    ) -> Option<u64> {
        if !frame.symbol.binding().is_c() {
            let is_same = reached.is_of(frame)
                && reached.is_expected
                && self.has_moved(path, reached.moved)
                && self.number == reached.number;
            return is_same.then_some(reached.number);
        }
        if !self.has_moved(path, moved) || !self.has_words(frame) {
            return None;
        }
        self.number_in_c(frame)
    }

    /// The same of one that may have moved something else, or whose words leave open from where a message came.
    #[inline(always)]
    pub fn number_otherwise(&self, frame: &Frame, path: u16, reached: &ReachedCall) -> Option<u64> {
        if self.path != path {
            return None;
        }
        if !frame.symbol.binding().is_c() {
            let is_same =
                reached.is_of(frame) && reached.is_expected && self.number == reached.number;
            return is_same.then_some(reached.number);
        }
        if !self.has_words_or_status(frame) {
            return None;
        }
        self.number_in_c(frame)
    }

    #[inline(always)]
    fn number_in_c(&self, frame: &Frame) -> Option<u64> {
        if self.kind & GATHERS == 0 {
            return Some(0);
        }
        let number = number(frame);
        (self.number == number).then_some(number)
    }

    /// There was a call with this number.
    #[inline(always)]
    pub fn go_on(&mut self, number: u64) {
        if number != 0 {
            self.number = number.wrapping_add(1);
        }
    }

    /// Nothing is expected.
    pub fn forget(&mut self) {
        self.period = Period::NEVER;
    }

    /// A call of the function was like the one before, as which `told` tells: its path, what it moved, and
    /// the number of the collective, plus 1.
    #[inline(never)]
    pub fn note(
        &mut self,
        function: usize,
        told: &Told,
        period: Period,
        (path, moved, number): (u16, Moved, u64),
    ) {
        self.forget();
        let (Some(role), Some(places)) = (ROLES.get(function), PLACES.get(function)) else {
            return;
        };
        let known = if role.is_logged { told.ages == ages() } else { told.ages == 0 };
        if !known || !period.is_on() {
            return;
        }
        // Of what it sent, too, there is no room for what the status tells.
        if told.is_open && role.exchanges() {
            return;
        }
        let bits = [
            (MATTERS, role.is_logged),
            (EXCHANGES, role.exchanges()),
            (OPEN, told.is_open),
            (GATHERS, role.gathers.is_some()),
            (MOVES, element(&DESCRIPTORS, function).after()),
            (PATH, path != 0),
        ];
        self.kind =
            bits.iter().fold(0, |kind, (bit, is_set)| if *is_set { kind | bit } else { kind });
        let [comm, numbers @ ..] = told.words;
        self.comm = comm;
        self.numbers = numbers.map(|word| word as i32);
        self.places = *places;
        self.age = age();
        self.path = path;
        self.moved = moved;
        self.number = 0;
        self.go_on(number);
        self.period = period;
    }
}

/// Whether a message came from this rank and with this tag, as the status of its call tells.
#[inline(always)]
fn status_tells(frame: &Frame, from: (i32, i32)) -> bool {
    let (Some(role), Some(library)) = (ROLES.get(frame.function()), library::library()) else {
        return false;
    };
    quick::source(library, role, &frame.args) == from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_holds_in_one_period_and_not_while_that_is_suspended() {
        let mut period = Period::WITHOUT;
        for _ in 0..3 {
            let before = period;
            period.begin();
            let noted = period;
            assert!(noted.is_on() && noted != before);
            period.suspend();
            assert!(!period.is_on() && period != noted && period != Period::NEVER);
            period.resume();
            assert!(period == noted);
        }
    }

    #[test]
    fn numbers_of_periods_begin_again_behind_those_that_mean_none() {
        let mut period = Period(u32::MAX);
        period.begin();
        assert!(period.is_on() && period != Period::NEVER && period != Period::WITHOUT);
        period.suspend();
        assert!(period != Period::NEVER);
    }
}
