//! What the next call of a function is like if it is like the one before: a line of the cache for each
//! function. The event of such a call tells its times alone, and nothing else is looked at.

use topas_trace::CallArguments;

use super::{NONE, PLACES, Told, WORDS, ages, ledger, library, numbers, word};
use crate::element::element;
use crate::flow::Moved;
use crate::flow::plan::{HotPlaces, Place};
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
/// status, whose place is that of the first rank, and the second those of the words.
const OPEN: u8 = 1 << 5;
/// The call names a rank or a tag.
const NAMES: u8 = 1 << 6;
/// The call is about one message, and its words are in [`PLACES_OF_MESSAGE`].
const PLACED: u8 = 1 << 7;
/// What most calls are about.
const MESSAGE: u8 = MATTERS | MOVES | NAMES | PLACED;

/// The communicator, the rank and the tag of most functions of messages.
const PLACES_OF_MESSAGE: [Place; 3] =
    [HotPlaces::MESSAGE.object, HotPlaces::MESSAGE.peer, HotPlaces::MESSAGE.tag];

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

    /// Whether all calls of the function are the same but for what they move, and have no path.
    #[inline(always)]
    pub fn is_about_nothing(&self) -> bool {
        self.kind & !MOVES == 0
    }

    /// Whether calls may move bytes.
    #[inline(always)]
    pub fn moves_bytes(&self) -> bool {
        self.kind & MOVES != 0
    }

    /// Whether words leave open from where messages come.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.kind & OPEN != 0
    }

    /// Whether it has the path of this number.
    #[inline(always)]
    pub fn has_path(&self, path: u16) -> bool {
        self.path == path
    }

    /// Whether calls are about one message, and have no path.
    #[inline(always)]
    pub fn is_message(&self) -> bool {
        self.kind == MESSAGE
    }

    /// The same of calls whose words leave open from where it came.
    #[inline(always)]
    pub fn is_open_message(&self) -> bool {
        self.kind == MESSAGE | OPEN
    }

    /// Whether calls may have a number among the collectives of their communicator.
    #[inline(always)]
    pub fn gathers(&self) -> bool {
        self.kind & GATHERS != 0
    }

    /// Whether the next call has such a number.
    #[inline(always)]
    pub fn has_number(&self) -> bool {
        self.number != 0
    }

    /// Whether this is the number of the next call, plus 1; 0 if it has none.
    #[inline(always)]
    pub fn is_number(&self, number: u64) -> bool {
        self.number == number
    }

    /// Whether a call moved the same.
    #[inline(always)]
    pub fn has_moved(&self, [sent, received]: Moved) -> bool {
        // One by one: a call that compares memory takes longer.
        let [own_sent, own_received] = self.moved;
        own_sent == sent && own_received == received
    }

    /// There was a call that moved this.
    #[inline(always)]
    pub fn moves(&mut self, moved: Moved) {
        self.moved = moved;
    }

    /// Whether a call in C is about the same message, if it is about one.
    #[inline(always)]
    pub fn has_words_of_message(&self, frame: &Frame) -> bool {
        let [comm, rank, tag] = PLACES_OF_MESSAGE;
        let [own_rank, own_tag, ..] = &self.numbers;
        let is = |own: &i32, place: Place| *own == word(&frame.args, place) as i32;
        self.is_valid(frame)
            && self.comm == word(&frame.args, comm)
            && is(own_rank, rank)
            && is(own_tag, tag)
    }

    /// The same, where words leave open from where the message came.
    #[inline(always)]
    pub fn has_words_and_status_of_message(&self, frame: &Frame) -> bool {
        let [comm, source, recvtag] = PLACES_OF_MESSAGE;
        let [rank, tag, own_source, own_recvtag] = &self.numbers;
        let is = |own: &i32, place: Place| *own == word(&frame.args, place) as i32;
        let status = word(&frame.args, HotPlaces::MESSAGE.last);
        self.is_valid(frame)
            && self.comm == word(&frame.args, comm)
            && is(own_source, source)
            && is(own_recvtag, recvtag)
            && status_tells(status, (*own_source, *own_recvtag), (*rank, *tag))
    }

    /// Whether handles mean the same as before, to a call that was successful.
    #[inline(always)]
    fn is_valid(&self, frame: &Frame) -> bool {
        self.age == age() && frame.result as i32 == 0
    }

    /// Whether a call in C is about the same, but for the number of a collective and what it moved.
    #[inline(always)]
    pub fn has_words(&self, frame: &Frame) -> bool {
        if self.kind & MATTERS == 0 {
            return true;
        }
        if self.is_open() {
            return false;
        }
        // By references: what is not compared is not read.
        let [comm, rank, tag, source, recvtag] = &self.places;
        let [own_rank, own_tag, own_source, own_recvtag] = &self.numbers;
        let is = |own: &i32, place: &Place| *own == word(&frame.args, *place) as i32;
        self.is_valid(frame)
            && self.comm == word(&frame.args, *comm)
            && (self.kind & NAMES == 0 || is(own_rank, rank) && is(own_tag, tag))
            && (self.kind & EXCHANGES == 0 || is(own_source, source) && is(own_recvtag, recvtag))
    }

    /// The same, where words leave open from where a message came: the first rank and tag are told by the status.
    #[inline(always)]
    pub fn has_words_and_status(&self, frame: &Frame) -> bool {
        let [comm, status, _, source, recvtag] = &self.places;
        let [rank, tag, own_source, own_recvtag] = &self.numbers;
        let is = |own: &i32, place: &Place| *own == word(&frame.args, *place) as i32;
        self.is_valid(frame)
            && self.comm == word(&frame.args, *comm)
            && is(own_source, source)
            && is(own_recvtag, recvtag)
            && status_tells(word(&frame.args, *status), (*own_source, *own_recvtag), (*rank, *tag))
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
        if told.is_open && role.status == NONE {
            return;
        }
        // Of what it sent, too, there is no room for what the status tells.
        if told.is_open && role.exchanges() {
            return;
        }
        let [comm_at, rank_at, tag_at, ..] = *places;
        let is_named = rank_at != comm_at || tag_at != comm_at;
        let is_placed = [comm_at, rank_at, tag_at] == PLACES_OF_MESSAGE
            && (!told.is_open || role.status == HotPlaces::MESSAGE.last);
        let bits = [
            (MATTERS, role.is_logged),
            (NAMES, role.is_logged && is_named),
            (PLACED, role.is_logged && is_placed),
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
        if told.is_open {
            let [_, first, ..] = &mut self.places;
            *first = role.status;
        }
        self.age = age();
        self.path = path;
        self.moved = moved;
        self.number = 0;
        self.go_on(number);
        self.period = period;
    }
}

/// Whether a message came from this rank and with this tag, as a status of its call tells, or the words of the call
/// where there is none.
#[inline(always)]
fn status_tells(status: usize, named: (i32, i32), from: (i32, i32)) -> bool {
    // SAFETY: words are known to leave something open only if the MPI is known.
    let library = unsafe { library::known() };
    if status == library.status_ignore || named.0 == library.proc_null {
        return named == from;
    }
    // SAFETY: the status of a call that was successful.
    from == unsafe { library::source_and_tag_in(library, status as *const u8) }
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
