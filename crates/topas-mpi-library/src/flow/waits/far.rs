//! Letters to ranks of other nodes, and questions to them, as they are gathered while the program
//! runs: see [`topas_mpi_waits::far`]. They take memory of the process only once there is one.

use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

use topas_mpi_waits::far::{Addressee, FarQuestion, Letters, Questions, Stamp};
use topas_mpi_waits::wait::Findings;

use super::boards;
use crate::{spool, sys};

static LETTERS: AtomicPtr<Letters> = AtomicPtr::new(core::ptr::null_mut());
static ADDRESSEES: AtomicPtr<Addressee> = AtomicPtr::new(core::ptr::null_mut());
static QUESTIONS: AtomicPtr<Questions> = AtomicPtr::new(core::ptr::null_mut());

/// What is behind a pointer, mapped if it is not yet; None without memory.
fn mapped<T>(place: &AtomicPtr<T>, size: usize) -> Option<*mut T> {
    let known = place.load(Relaxed);
    if !known.is_null() {
        return Some(known);
    }
    let new: *mut T = sys::map_memory(size)?.cast();
    place.store(new, Relaxed);
    Some(new)
}

/// Nothing of what was there belongs to this process any more.
pub fn forsake() {
    LETTERS.store(core::ptr::null_mut(), Relaxed);
    ADDRESSEES.store(core::ptr::null_mut(), Relaxed);
    QUESTIONS.store(core::ptr::null_mut(), Relaxed);
}

/// The letters of this rank, and by rank of the world to whom they go.
pub fn letters() -> Option<(&'static mut Letters, &'static mut [Addressee])> {
    let ranks = spool::header()?.ranks as usize;
    let all = mapped(&ADDRESSEES, ranks * size_of::<Addressee>())?;
    let letters = mapped(&LETTERS, size_of::<Letters>())?;
    // SAFETY: mapped for good, zeroed at first; one thread at a time is here.
    Some(unsafe { (&mut *letters, core::slice::from_raw_parts_mut(all, ranks)) })
}

/// What this rank asks; None if there is nothing.
pub fn questions() -> Option<&'static mut Questions> {
    // SAFETY: null, or mapped for good; one thread at a time is here.
    unsafe { QUESTIONS.load(Relaxed).as_mut() }
}

/// Ranks to whom there are letters.
static OPEN: AtomicU32 = AtomicU32::new(0);

/// Whether there are letters to anybody.
#[inline(always)]
pub fn writes() -> bool {
    OPEN.load(Relaxed) != 0
}

/// Keeps a stamp for a rank whose board is not known.
#[cold]
#[inline(never)]
pub fn tell(rank: u32, stamp: Stamp) {
    let Some((letters, all)) = letters() else { return };
    let Some(to) = all.get_mut(rank as usize) else { return };
    if !letters.add(to, stamp) {
        return;
    }
    if to.letters == 1 {
        OPEN.fetch_add(1, Relaxed);
    }
    // Whoever is on this node can be found there, but may come to MPI later than this rank. What
    // was said of collectives meanwhile stays.
    if boards::seek(rank) && to.letters == 1 {
        letters.drop_all(to);
        OPEN.fetch_sub(1, Relaxed);
    }
}

/// Keeps a stamp for a rank, wherever that is.
pub fn put(rank: u32, stamp: Stamp) {
    let Some((letters, all)) = letters() else { return };
    let Some(to) = all.get_mut(rank as usize) else { return };
    if letters.add(to, stamp) && to.letters == 1 {
        OPEN.fetch_add(1, Relaxed);
    }
}

/// Keeps a question. False if there is no room.
pub fn ask(findings: &mut Findings, question: FarQuestion) -> bool {
    let known = mapped(&QUESTIONS, size_of::<Questions>());
    // SAFETY: mapped for good, zeroed at first; one thread at a time is here.
    known.is_some_and(|known| unsafe { (*known).ask(findings, question) })
}

/// Keeps a call until there are answers.
pub fn keep(findings: &Findings) {
    if let Some(questions) = questions() {
        questions.keep(findings);
    }
}
