//! What ranks of several nodes tell each other at the end: stamps that the other could not read on
//! a board, and the calls that wait for them.
//!
//! Nobody knows before the end whether all ranks have the library, so nothing is sent until then.
//! A rank gathers its stamps in letters, by the rank that may need them, and its questions beside
//! them; when all ranks have come to their end, letters are handed over, and questions answered.

use crate::key::mix;
use crate::wait::{Awaited, Findings};

/// A stamp for another rank, or an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stamp {
    /// The key by which the stamp is found
    pub key: u64,
    /// The moment
    pub moment: u64,
    /// The number of the stamp, of which the lower half tells enough
    pub number: u32,
    /// Of a collective, from a rank: a [`CollectiveNote`]; to a rank: who came last. Else 0
    pub note: u32,
}

/// A moment that is not known for sure.
pub const DOUBT: u64 = u64::MAX;

/// Stamps of a letter.
pub const STAMPS: usize = 170;

/// Stamps for one rank: a message of 4,096 B, few enough for any MPI to send it without an answer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Letter {
    /// The next one for the same rank, or the next that is free; 0 if there is none
    next: u32,
    /// How many stamps it has
    used: u32,
    reserved: u64,
    stamps: [Stamp; STAMPS],
}

const _: () = assert!(size_of::<Letter>() == 4096);

impl Letter {
    /// Without a stamp.
    pub const fn new() -> Letter {
        const NONE: Stamp = Stamp { key: 0, moment: 0, number: 0, note: 0 };
        Letter { next: 0, used: 0, reserved: 0, stamps: [NONE; STAMPS] }
    }

    /// The stamps of the letter.
    pub fn stamps(&self) -> &[Stamp] {
        self.stamps.get(..self.used as usize).unwrap_or_default()
    }

    /// The stamps of the letter, to be changed.
    pub fn stamps_mut(&mut self) -> &mut [Stamp] {
        self.stamps.get_mut(..self.used as usize).unwrap_or_default()
    }
}

impl Default for Letter {
    fn default() -> Self {
        Letter::new()
    }
}

/// Most letters of a rank: 16 MiB, of which only those take memory that were written.
pub const LETTERS: usize = 4096;

/// Letters to one rank. Zero at its beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Addressee {
    first: u32,
    last: u32,
    /// How many letters there are
    pub letters: u32,
}

/// All letters of a rank. Zero at its beginning; letters have numbers from 1.
#[derive(Debug)]
pub struct Letters {
    touched: u32,
    free: u32,
    /// Stamps for which there was no room
    pub lost: u64,
    letters: [Letter; LETTERS],
}

impl Letters {
    /// A table without letters.
    pub const fn new() -> Letters {
        Letters { touched: 0, free: 0, lost: 0, letters: [Letter::new(); LETTERS] }
    }

    /// A letter.
    pub fn get(&self, number: u32) -> Option<&Letter> {
        self.letters.get((number as usize).wrapping_sub(1))
    }

    /// A letter, to be changed.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Letter> {
        self.letters.get_mut((number as usize).wrapping_sub(1))
    }

    /// The first letter to a rank, or the one after another; 0 if there is none.
    pub fn after(&self, to: &Addressee, number: u32) -> u32 {
        self.get(number).map_or(to.first, |letter| letter.next)
    }

    fn take(&mut self) -> u32 {
        let mut number = self.free;
        if number != 0 {
            self.free = self.get(number).map_or(0, |letter| letter.next);
        } else if (self.touched as usize) < LETTERS {
            self.touched += 1;
            number = self.touched;
        }
        if let Some(letter) = self.get_mut(number) {
            (letter.next, letter.used) = (0, 0);
        }
        number
    }

    /// Adds a stamp for a rank. True if a letter was begun for it.
    #[inline(always)]
    pub fn add(&mut self, to: &mut Addressee, stamp: Stamp) -> bool {
        if let Some(letter) = self.get_mut(to.last)
            && let Some(place) = letter.stamps.get_mut(letter.used as usize)
        {
            *place = stamp;
            letter.used += 1;
            return false;
        }
        self.begin(to, stamp)
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, to: &mut Addressee, stamp: Stamp) -> bool {
        let new = self.take();
        let Some(letter) = self.get_mut(new) else {
            self.lost += 1;
            return false;
        };
        letter.used = 1;
        if let Some(place) = letter.stamps.first_mut() {
            *place = stamp;
        }
        match self.get_mut(to.last) {
            Some(last) => last.next = new,
            None => to.first = new,
        }
        to.last = new;
        to.letters += 1;
        true
    }

    /// Throws away all letters to a rank.
    pub fn drop_all(&mut self, to: &mut Addressee) {
        if let Some(last) = self.letters.get_mut((to.last as usize).wrapping_sub(1)) {
            last.next = self.free;
            self.free = to.first;
        }
        *to = Addressee::default();
    }
}

impl Default for Letters {
    fn default() -> Self {
        Letters::new()
    }
}

/// What a rank says of a collective that it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveNote {
    /// Others wait for it
    pub counts: bool,
    /// The rank has waited long, and wants to know who came last
    pub asks: bool,
    /// For how many ranks it had to wait: only where all of them were heard there is an answer
    pub awaited: u32,
}

impl CollectiveNote {
    /// The note as a number.
    pub const fn pack(self) -> u32 {
        self.awaited << 2 | (self.counts as u32) << 1 | self.asks as u32
    }

    /// From that number.
    pub const fn unpack(note: u32) -> CollectiveNote {
        CollectiveNote { counts: note & 2 != 0, asks: note & 1 != 0, awaited: note >> 2 }
    }
}

/// Most calls that wait for answers.
pub const CALLS: usize = 1 << 16;
/// Most questions.
pub const QUESTIONS: usize = 1 << 17;

/// A stamp that a call needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct FarQuestion {
    /// The key of the stamp
    pub key: u64,
    /// The answer, if there is one
    pub moment: u64,
    /// The number of the stamp
    pub number: u32,
    /// The rank that has it; of a collective, once it is answered, the rank that came last
    pub peer: u32,
    /// The call, by its number, from 1
    pub call: u32,
    /// What the stamp tells the moment of
    pub awaited: Awaited,
    /// Of a message that was sent, whether it goes without its receiver
    pub goes: bool,
    /// There is an answer
    pub answered: bool,
}

/// Calls and what they ask. Zero at its beginning.
#[derive(Debug)]
pub struct Questions {
    calls_used: u32,
    used: u32,
    calls: [Findings; CALLS],
    questions: [FarQuestion; QUESTIONS],
}

impl Questions {
    /// A table without questions.
    pub const fn new() -> Questions {
        const NONE: FarQuestion = FarQuestion {
            key: 0,
            moment: 0,
            number: 0,
            peer: 0,
            call: 0,
            awaited: Awaited::Message,
            goes: false,
            answered: false,
        };
        Questions {
            calls_used: 0,
            used: 0,
            calls: [Findings::NONE; CALLS],
            questions: [NONE; QUESTIONS],
        }
    }

    /// Asks something for a call, which keeps its number. False if there is no room.
    pub fn ask(&mut self, findings: &mut Findings, question: FarQuestion) -> bool {
        let new = findings.far == 0;
        let number = if new { self.calls_used + 1 } else { findings.far };
        if number as usize > CALLS {
            return false;
        }
        let Some(place) = self.questions.get_mut(self.used as usize) else { return false };
        *place = FarQuestion { call: number, answered: false, ..question };
        self.used += 1;
        if new {
            self.calls_used = number;
            findings.far = number;
            // Until all else is known of it.
            self.keep(&Findings { call: Default::default(), ..*findings });
        }
        true
    }

    /// Keeps a call until its answers are there.
    pub fn keep(&mut self, findings: &Findings) {
        if let Some(place) = self.calls.get_mut((findings.far as usize).wrapping_sub(1)) {
            *place = *findings;
        }
    }

    /// How many questions there are.
    pub fn count(&self) -> usize {
        self.used as usize
    }

    /// All questions.
    pub fn all(&self) -> &[FarQuestion] {
        self.questions.get(..self.count()).unwrap_or_default()
    }

    /// All questions, to be answered.
    pub fn all_mut(&mut self) -> &mut [FarQuestion] {
        let count = self.count();
        self.questions.get_mut(..count).unwrap_or_default()
    }

    /// The call of a question.
    pub fn call(&self, question: &FarQuestion) -> Option<&Findings> {
        self.calls.get((question.call as usize).wrapping_sub(1))
    }

    /// Adds what a question has brought to what is known of its call.
    pub fn conclude(&mut self, question: &FarQuestion, add: impl FnOnce(&mut Findings)) {
        if let Some(call) = self.calls.get_mut((question.call as usize).wrapping_sub(1)) {
            add(call);
        }
    }

    /// All calls that were kept.
    pub fn calls(&self) -> &[Findings] {
        self.calls.get(..self.calls_used as usize).unwrap_or_default()
    }
}

impl Default for Questions {
    fn default() -> Self {
        Questions::new()
    }
}

/// Where a key and a number lie in a table of a length that is a power of two.
fn first_place(key: u64, number: u32, length: usize) -> usize {
    mix(key, number.into()) as usize & length.wrapping_sub(1)
}

/// Finds questions by what they ask.
#[derive(Debug)]
pub struct QuestionIndex<'a> {
    /// Numbers of questions, plus 1
    places: &'a mut [u32],
}

impl<'a> QuestionIndex<'a> {
    /// Of these questions, in a room of zeros, whose length is a power of two and more than there
    /// are questions.
    pub fn new(questions: &[FarQuestion], places: &'a mut [u32]) -> QuestionIndex<'a> {
        let length = places.len();
        for (number, question) in (1..).zip(questions) {
            let first = first_place(question.key, question.number, length);
            for step in 0..length {
                if let Some(place) = places.get_mut((first + step) & (length - 1))
                    && *place == 0
                {
                    *place = number;
                    break;
                }
            }
        }
        QuestionIndex { places }
    }

    /// Answers all questions for a stamp.
    pub fn answer(&self, questions: &mut [FarQuestion], stamp: &Stamp, peer: Option<u32>) {
        let length = self.places.len();
        let first = first_place(stamp.key, stamp.number, length);
        for step in 0..length {
            let place = self.places.get((first + step) & (length - 1)).copied().unwrap_or(0);
            let Some(question) = questions.get_mut((place as usize).wrapping_sub(1)) else {
                return;
            };
            if question.key == stamp.key && question.number == stamp.number {
                question.answered = true;
                question.moment = stamp.moment;
                question.peer = peer.unwrap_or(question.peer);
            }
        }
    }
}

/// Who came last to a collective, as far as was heard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    key: u64,
    number: u32,
    /// How many others were heard for whom a rank may wait
    pub heard: u32,
    /// The latest moment
    pub latest: u64,
    /// The rank that came then
    pub last: u32,
    taken: bool,
}

/// Collectives, in a room of zeros, whose length is a power of two and more than there are
/// collectives.
#[derive(Debug)]
pub struct Arrivals<'a> {
    places: &'a mut [Arrival],
}

impl<'a> Arrivals<'a> {
    /// None yet.
    pub fn new(places: &'a mut [Arrival]) -> Arrivals<'a> {
        Arrivals { places }
    }

    fn place(&self, key: u64, number: u32) -> usize {
        let length = self.places.len();
        let first = first_place(key, number, length);
        let mut steps = (0..length).map(|step| (first + step) & (length - 1));
        let fits = |place: &usize| {
            let arrival = self.places.get(*place);
            arrival.is_none_or(|a| !a.taken || a.key == key && a.number == number)
        };
        steps.find(fits).unwrap_or(length)
    }

    /// A rank came.
    pub fn came(&mut self, stamp: &Stamp, rank: u32) {
        let place = self.place(stamp.key, stamp.number);
        let Some(arrival) = self.places.get_mut(place) else { return };
        if !arrival.taken {
            *arrival = Arrival { taken: true, key: stamp.key, number: stamp.number, ..*arrival };
        }
        arrival.heard += 1;
        if arrival.heard == 1 || stamp.moment > arrival.latest {
            (arrival.latest, arrival.last) = (stamp.moment, rank);
        }
    }

    /// What is known of a collective.
    pub fn get(&self, key: u64, number: u32) -> Option<&Arrival> {
        self.places.get(self.place(key, number)).filter(|arrival| arrival.taken)
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::wait::Call;

    /// In a thread with room for what ranks have in mapped memory.
    fn with_room(test: fn()) {
        let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(test);
        thread.expect("thread").join().expect("test");
    }

    #[test]
    fn letters_come_and_go() {
        with_room(letters_keep_their_order_and_come_back);
    }

    fn letters_keep_their_order_and_come_back() {
        let mut letters: Box<Letters> = Box::default();
        let (mut one, mut other) = (Addressee::default(), Addressee::default());
        let stamp = |number: u32| Stamp { key: 7, moment: 1_000, number, note: 0 };
        for number in 0..500 {
            assert_eq!(letters.add(&mut one, stamp(number)), number % STAMPS as u32 == 0);
            letters.add(&mut other, stamp(1_000 + number));
        }
        let read = |letters: &Letters, to: &Addressee| {
            let (mut numbers, mut at) = (Vec::new(), letters.after(to, 0));
            while let Some(letter) = letters.get(at) {
                numbers.extend(letter.stamps().iter().map(|stamp| stamp.number));
                at = letters.after(to, at);
            }
            numbers
        };
        assert_eq!(read(&letters, &one), (0..500).collect::<Vec<_>>());
        assert_eq!(read(&letters, &other), (1_000..1_500).collect::<Vec<_>>());
        assert_eq!(one.letters, 3);
        letters.drop_all(&mut one);
        for number in 0..LETTERS as u32 * STAMPS as u32 {
            letters.add(&mut one, stamp(number));
        }
        // Three are the other's.
        assert_eq!(letters.lost, 3 * STAMPS as u64);
        assert_eq!(read(&letters, &other), (1_000..1_500).collect::<Vec<_>>());
    }

    #[test]
    fn questions_are_answered() {
        with_room(questions_are_answered_by_their_keys_and_numbers);
    }

    fn questions_are_answered_by_their_keys_and_numbers() {
        let mut questions: Box<Questions> = Box::default();
        let call = Call { function: 1, counts: true, began: 10, ended: 20 };
        let mut findings = Findings::of(call);
        for number in 0..300 {
            let question =
                FarQuestion { key: 5 + u64::from(number % 3), number, ..Default::default() };
            if number % 2 == 0 {
                findings = Findings::of(call);
            }
            assert!(questions.ask(&mut findings, question));
            questions.keep(&findings);
        }
        assert_eq!((questions.calls().len(), questions.count()), (150, 300));
        let mut places = vec![0; 512];
        let mut all = questions.all().to_vec();
        let index = QuestionIndex::new(&all, &mut places);
        for number in 0..300 {
            let stamp = Stamp { key: 5, moment: 90 + u64::from(number), number, note: 0 };
            index.answer(&mut all, &stamp, None);
        }
        for question in &all {
            let moment = if question.key == 5 { 90 + u64::from(question.number) } else { 0 };
            assert_eq!((question.answered, question.moment), (question.key == 5, moment));
        }
    }

    #[test]
    fn the_last_of_a_collective_is_found() {
        let mut places = vec![Arrival::default(); 64];
        let mut arrivals = Arrivals::new(&mut places);
        for number in 0..20 {
            for rank in 0..3 {
                let moment = 100 + u64::from((rank + number) % 3);
                arrivals.came(&Stamp { key: 9, moment, number, note: 0 }, rank);
            }
        }
        for number in 0..20 {
            let arrival = arrivals.get(9, number).expect("is there");
            assert_eq!((arrival.heard, arrival.latest), (3, 102));
            assert_eq!((arrival.last + number) % 3, 2);
        }
        assert!(arrivals.get(8, 0).is_none());
        for note in [
            CollectiveNote { counts: true, asks: false, awaited: 70_000 },
            CollectiveNote { counts: false, asks: true, awaited: 1 },
        ] {
            assert_eq!(CollectiveNote::unpack(note.pack()), note);
        }
    }
}
