//! The end of a run on several nodes: clocks are compared, letters handed over, questions answered.
//!
//! Nothing is sent before that, because nobody knows until then whether all ranks have the library:
//! see [`crate::ranks`]. So clocks are compared once. What they have drifted before follows from
//! the messages: those for which a rank waited take as long at the beginning as at the end.
//!
//! Memory that MPI may still write is never given back.

mod clocks;
mod hosts;
mod last;

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use topas_mpi_profile::facts::HostClock;
use topas_mpi_profile::layout::{Header, Waits};
use topas_mpi_waits::engine::Surroundings;
use topas_mpi_waits::far::{
    Addressee, Arrival, Arrivals, CollectiveNote, DOUBT, Letter, Letters, QuestionIndex, STAMPS,
    Stamp,
};
use topas_mpi_waits::protocol::SentSize;
use topas_mpi_waits::wait::{Awaited, Findings, peer_with};

use super::boards::Boards;
use super::{far, partners};
use crate::ranks::Ranks;
use crate::{clock, paths, spool, sys};

use clocks::Clocks;
use hosts::Hosts;

/// A moment of this rank, by both clocks: ticks, and nanoseconds of its host.
#[derive(Clone, Copy)]
struct Anchor {
    ticks: u64,
    nanoseconds: u64,
}

static BEGAN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Looks at both clocks, as close to each other as can be.
fn anchor() -> Anchor {
    const TIMES: u32 = 8;
    let mut best = (u64::MAX, Anchor { ticks: 0, nanoseconds: 0 });
    for _ in 0..TIMES {
        let before = clock::ticks();
        let nanoseconds = sys::monotonic();
        let took = clock::ticks().wrapping_sub(before);
        if took < best.0 {
            best = (took, Anchor { ticks: before + took / 2, nanoseconds });
        }
    }
    best.1
}

/// Notes when waits began to be told apart.
pub fn begin() {
    let anchor = anchor();
    BEGAN[0].store(anchor.ticks, Relaxed);
    BEGAN[1].store(anchor.nanoseconds, Relaxed);
}

/// Room of zeros for so many, which stays for good; None without memory.
fn room<T>(count: usize) -> Option<&'static mut [T]> {
    let memory = sys::map_memory((count * size_of::<T>()).max(1))?;
    // SAFETY: mapped for good, large enough, aligned to a page; only types of numbers are asked for,
    // to which zeros are a value.
    Some(unsafe { core::slice::from_raw_parts_mut(memory.cast(), count) })
}

/// The bytes of numbers.
fn bytes_of<T>(of: &mut [T]) -> &mut [u8] {
    // SAFETY: only types of numbers without gaps are asked for.
    unsafe { core::slice::from_raw_parts_mut(of.as_mut_ptr().cast(), size_of_val(of)) }
}

/// All ranks are here, of which some tell waits apart; this one came at the tick `came`, and knew at `ended` that all are
/// here. Finds out what they have asked, whom each waited for here, and how the clocks of their hosts differ; None if
/// there is one host. Where this fails, the others are not waited for: what was asked stays unknown.
pub fn settle(ranks: &Ranks, header: &Header, came: u64, ended: u64) -> Option<HostClock> {
    if ranks.size <= 1 || !ranks.waits {
        return None;
    }
    let call = last::call(came, ended);
    let (_, path) = partners::parts_of_call(call.function);
    let hosts = Hosts::know(ranks, header, came, path);
    let several = hosts.as_ref().filter(|hosts| hosts.count > 1);
    let clocks = several.and_then(|hosts| compare(ranks, hosts, came));
    last::tell(ranks, hosts.as_ref(), clocks.as_ref(), call);
    clocks.map(|clocks| clocks.of_host())
}

/// Compares the clocks of several hosts, and answers with their help what was asked.
fn compare(ranks: &Ranks, hosts: &Hosts, came: u64) -> Option<Clocks> {
    let mut clocks = Clocks::compare(ranks, hosts, came)?;
    let (letters, addressees) = far::letters()?;
    date(letters, addressees, &clocks);
    hand_over(ranks, letters, addressees)?;
    clocks.find_drifts(ranks, hosts)?;
    conclude(ranks, hosts, &clocks);
    Some(clocks)
}

/// Replaces ticks of this rank in all letters by nanoseconds that all ranks understand.
fn date(letters: &mut Letters, addressees: &[Addressee], clocks: &Clocks) {
    for to in addressees {
        let mut at = letters.after(to, 0);
        while let Some(letter) = letters.get_mut(at) {
            for stamp in letter.stamps_mut() {
                if stamp.moment != DOUBT {
                    stamp.moment = clocks.common(stamp.moment) as u64;
                }
            }
            at = letters.after(to, at);
        }
    }
}

/// Letters that are on their way to this rank, and from it.
struct Post<'a> {
    ranks: &'a Ranks,
    letters: &'a Letters,
    addressees: &'a [Addressee],
    /// How many come from each rank
    coming: &'static [u32],
    /// How many come in all
    total: usize,
}

impl<'a> Post<'a> {
    /// All ranks tell each other how many letters they have.
    fn announce(
        ranks: &'a Ranks,
        letters: &'a Letters,
        addressees: &'a [Addressee],
    ) -> Option<Post<'a>> {
        let count = ranks.size as usize;
        let (going, coming) = (room::<u32>(count)?, room::<u32>(count)?);
        for (number, to) in going.iter_mut().zip(addressees) {
            *number = to.letters;
        }
        let at = coming.as_mut_ptr().cast();
        // SAFETY: as many numbers as there are ranks, which stay for good.
        let told = unsafe { ranks.all(going.as_ptr().cast(), size_of::<u32>(), at, true) };
        let total = coming.iter().map(|number| *number as usize).sum();
        told.then_some(Post { ranks, letters, addressees, coming, total })
    }

    /// Hands over all letters, rank by rank, and takes those that come.
    fn exchange(&self, mut take: impl FnMut(u32, &Letter)) -> Option<()> {
        let [arrived] = room::<Letter>(1)? else { return None };
        let (own, size) = (self.ranks.rank, self.ranks.size);
        for step in 0..size {
            let to = ((u64::from(own) + u64::from(step)) % u64::from(size)) as u32;
            let from = ((u64::from(own) + u64::from(size - step)) % u64::from(size)) as u32;
            let addressee = self.addressees.get(to as usize)?;
            let mut going = self.letters.after(addressee, 0);
            let mut coming = self.coming.get(from as usize).copied()?;
            while going != 0 || coming > 0 {
                let letter = self.letters.get(going);
                if step == 0 {
                    take(own, letter?);
                } else {
                    // SAFETY: letters are numbers without gaps.
                    let bytes = letter.map(|letter| unsafe {
                        core::slice::from_raw_parts(
                            core::ptr::from_ref(letter).cast(),
                            size_of::<Letter>(),
                        )
                    });
                    let sent = bytes.map(|bytes| (to, bytes));
                    let room = bytes_of(core::slice::from_mut(arrived));
                    let received = (coming > 0).then_some((from, room));
                    // SAFETY: both stay for good.
                    if !unsafe { self.ranks.swap(sent, received) } {
                        return None;
                    }
                    if coming > 0 {
                        take(from, arrived);
                    }
                }
                coming = coming.saturating_sub(1);
                going = letter.map_or(0, |_| self.letters.after(addressee, going));
            }
        }
        Some(())
    }
}

/// A question of another rank for who came last to a collective.
#[derive(Clone, Copy)]
#[repr(C)]
struct Asked {
    rank: u32,
    awaited: u32,
    key: u64,
    number: u32,
    reserved: u32,
}

/// Two rounds of letters: stamps, and answers to those who asked for collectives.
fn hand_over(ranks: &Ranks, letters: &mut Letters, addressees: &mut [Addressee]) -> Option<()> {
    let index = index();
    let answer = |stamp: &Stamp, peer: Option<u32>| {
        if let (Some(index), Some(questions)) = (&index, far::questions()) {
            index.answer(questions.all_mut(), stamp, peer);
        }
    };
    let post = Post::announce(ranks, letters, addressees)?;
    let most = post.total * STAMPS;
    let mut arrivals = Arrivals::new(room::<Arrival>((2 * most).next_power_of_two())?);
    let asked = room::<Asked>(most)?;
    let mut count = 0;
    post.exchange(|from, letter| {
        for stamp in letter.stamps() {
            if stamp.note == 0 {
                answer(stamp, None);
                continue;
            }
            let note = CollectiveNote::unpack(stamp.note);
            if note.counts {
                arrivals.came(stamp, from);
            }
            if note.asks
                && let Some(place) = asked.get_mut(count)
            {
                let Stamp { key, number, .. } = *stamp;
                *place = Asked { rank: from, awaited: note.awaited, key, number, reserved: 0 };
                count += 1;
            }
        }
    })?;
    addressees.iter_mut().for_each(|to| letters.drop_all(to));
    for asked in asked.iter().take(count) {
        let Asked { rank, awaited, key, number, .. } = *asked;
        if let Some(arrival) = arrivals.get(key, number)
            && arrival.heard == awaited
            && let Some(to) = addressees.get_mut(rank as usize)
        {
            letters.add(to, Stamp { key, number, moment: arrival.latest, note: arrival.last });
        }
    }
    let post = Post::announce(ranks, letters, addressees)?;
    post.exchange(|_, letter| {
        for stamp in letter.stamps() {
            answer(stamp, Some(stamp.note));
        }
    })
}

fn index() -> Option<QuestionIndex<'static>> {
    let questions = far::questions()?;
    let places = room::<u32>((2 * questions.count()).next_power_of_two())?;
    Some(QuestionIndex::new(questions.all(), places))
}

/// Adds what was answered to what is known of each call, and tells it.
fn conclude(ranks: &Ranks, hosts: &Hosts, clocks: &Clocks) {
    let Some(questions) = far::questions() else { return };
    for at in 0..questions.count() {
        let Some(question) = questions.all().get(at).copied() else { return };
        let host = hosts.of(question.peer);
        questions.conclude(&question, |call| {
            if question.awaited == Awaited::Companion {
                let error = clocks.error(hosts, host);
                if question.answered && question.moment != DOUBT && error <= tolerance(call) {
                    let moment = clocks.own(question.moment, host);
                    let awaited = (question.awaited, SentSize::NOTHING);
                    call.began(awaited, peer_with(question.peer, 0), moment, error);
                }
            } else if !question.answered {
                call.elsewhere = true;
            } else if question.moment == DOUBT || clocks.error(hosts, host) > tolerance(call) {
                call.unsure = true;
            } else {
                let moment = clocks.own(question.moment, host);
                let peer = peer_with(question.peer, 0);
                let sent = SentSize { goes: question.goes, ..SentSize::NOTHING };
                call.began((question.awaited, sent), peer, moment, tolerance(call));
            }
        });
    }
    let mut boards = Boards::of(ranks.rank);
    for call in questions.calls() {
        if !call.call.counts {
            continue;
        }
        let function = call.call.function;
        take_back(function, call.length());
        call.tell(|figure, peer, ticks| boards.add(function, figure, peer, ticks));
    }
}

/// By so much clocks may differ, in ticks, that a message seems to come before it was sent; much more
/// is another message. Where clocks are not known so well, nothing is sure.
fn tolerance(call: &Findings) -> u64 {
    (call.length() + call.asked.between) / 4
}

/// What was told of a call as long as there was no answer.
fn take_back(function: u32, ticks: u64) {
    let Some(header) = spool::header() else { return };
    if header.waits == 0 {
        return;
    }
    // SAFETY: this part of the file is there; one thread at a time is here.
    let waits = unsafe { &mut *spool::at::<Waits>(header.waits) };
    let (function, path) = partners::parts_of_call(function);
    if let Some(row) = waits.row_mut(function) {
        row.elsewhere.calls = row.elsewhere.calls.saturating_sub(1);
        row.elsewhere.ticks = row.elsewhere.ticks.saturating_sub(ticks);
    }
    paths::known_after_all(path, ticks);
}
