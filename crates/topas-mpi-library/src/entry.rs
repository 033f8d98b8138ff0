//! Entry to and return from the next definition of a function.
//!
//! What most calls do is written so that the compiler needs no registers that it would have to
//! save: whatever calls something else is a function of its own, jumped to at the end. `WAY` is
//! [`PLAIN`] while [`mod@mode`] has nothing switched on, [`LEAN`] with what is switched on often, and
//! [`ANY`] with everything.

use topas_mpi_profile::layout::{Block, ROW_MISSED};

use crate::arch::{self, REGISTERS};
use crate::descriptor::Descriptor;
use crate::element::{element, element_mut};
use crate::flow::plan::Hot;
use crate::frame::{Frame, WORDS};
use crate::generated::table::DESCRIPTORS;
use crate::mode::{self, ANY, LEAN, PLAIN, mode};
use crate::symbol::StubSymbol;
use crate::thread::Thread;
use crate::{below, clock, counters, flow, hooks, process, special, ticks};

/// What is to be called, and whether [`topas_mpi_leave`] is to be told of its end: an address, with
/// the uppermost bit set if not.
#[repr(transparent)]
pub struct Next(usize);

impl Next {
    /// Called and forgotten.
    const fn pass(target: usize) -> Next {
        Next(target | 1 << 63)
    }

    /// Called, and its end told.
    const fn measure(target: usize) -> Next {
        Next(target)
    }
}

/// That of a symbol's function.
#[inline(always)]
fn descriptor(symbol: StubSymbol) -> &'static Descriptor {
    element(&DESCRIPTORS, symbol.function() as usize)
}

/// At the entry of every function, while nothing is switched on: what to call.
///
/// # Safety
/// `frame` holds the words of the registers; behind it lie the return address and the words on the
/// stack.
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_enter(frame: *mut Frame, symbol: StubSymbol) -> Next {
    let target = below::known(symbol);
    // SAFETY: the variables of this thread, and a frame of its own.
    let (thread, frame) = unsafe { (&mut *arch::thread(), &mut *frame) };
    if target == 0 || thread.block.is_null() {
        return general(frame, thread, symbol);
    }
    if !thread.outer.is_null() {
        return inside(frame, thread, symbol, target);
    }
    outermost::<PLAIN>(frame, thread, symbol, target)
}

/// The same, whatever is switched on.
///
/// # Safety
/// See [`topas_mpi_enter`].
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_enter_extra(frame: *mut Frame, symbol: StubSymbol) -> Next {
    let target = below::known(symbol);
    // SAFETY: the variables of this thread, and a frame of its own.
    let (thread, frame) = unsafe { (&mut *arch::thread(), &mut *frame) };
    if target == 0 || thread.block.is_null() || !thread.outer.is_null() {
        return general(frame, thread, symbol);
    }
    if mode::has(mode::RARE | mode::PATHS) {
        return outermost_of_any(frame, thread, symbol, target);
    }
    outermost::<LEAN>(frame, thread, symbol, target)
}

#[inline(never)]
fn outermost_of_any(
    frame: &mut Frame,
    thread: &mut Thread,
    symbol: StubSymbol,
    target: usize,
) -> Next {
    outermost::<ANY>(frame, thread, symbol, target)
}

/// A call of a thread that seems to be in another.
#[inline(always)]
fn inside(frame: &mut Frame, thread: &mut Thread, symbol: StubSymbol, target: usize) -> Next {
    if thread.is_inside(frame) && !descriptor(symbol).looks_nested() {
        if !thread.wants(symbol) {
            return Next::pass(target);
        }
        return reached::<PLAIN>(frame, thread, symbol, target);
    }
    general(frame, thread, symbol)
}

/// Any call, such as the first of a thread or of a function.
#[cold]
#[inline(never)]
fn general(frame: &mut Frame, thread: &mut Thread, symbol: StubSymbol) -> Next {
    let target = below::target(symbol, frame.caller());
    if !thread.outer.is_null() && thread.is_inside(frame) {
        if thread.wants(symbol) {
            return reached::<ANY>(frame, thread, symbol, target);
        }
        if descriptor(symbol).looks_nested() {
            frame.symbol = symbol;
            copy_words(frame, descriptor(symbol).words(symbol.binding()));
            flow::nested(frame, thread);
        }
        return Next::pass(target);
    }
    if thread.block.is_null() && (below::is_missing(target) || !process::begin(thread)) {
        return Next::pass(target);
    }
    outermost::<ANY>(frame, thread, symbol, target)
}

/// A call of the program's.
#[inline(always)]
fn outermost<const WAY: u8>(
    frame: &mut Frame,
    thread: &mut Thread,
    symbol: StubSymbol,
    target: usize,
) -> Next {
    frame.symbol = symbol;
    thread.outer = frame;
    if WAY != PLAIN && mode::has(hooks::ENTERED) {
        hooks::entered::<WAY>(frame, thread);
    }
    let descriptor = descriptor(symbol);
    if symbol.binding().is_c() {
        if descriptor.prepares() {
            prepare(frame, thread, descriptor);
            if descriptor.before() {
                return prepared::<WAY>(frame, thread, target);
            }
        }
    } else {
        if descriptor.awaited() || WAY != PLAIN && descriptor.notes() {
            thread.awaits(symbol.function());
        }
        copy_words(frame, descriptor.words(symbol.binding()));
    }
    begins::<WAY>(frame, thread, target)
}

/// The function of C that a Fortran function stands for: what tells bytes and peers.
#[inline(never)]
fn reached<const WAY: u8>(
    frame: &mut Frame,
    thread: &mut Thread,
    symbol: StubSymbol,
    target: usize,
) -> Next {
    thread.reached();
    frame.symbol = symbol;
    let descriptor = descriptor(symbol);
    prepare(frame, thread, descriptor);
    if WAY != PLAIN
        && descriptor.gathers()
        && mode::has(mode::WAITS)
        && !flow::waits::quick::come(frame, thread.cookie)
    {
        flow::waits::come(frame, thread.cookie);
    }
    if descriptor.before() { looked_at(frame, thread, target) } else { Next::measure(target) }
}

/// Words, peer and status of a call in C.
#[inline(always)]
fn prepare(frame: &mut Frame, thread: &mut Thread, descriptor: &Descriptor) {
    copy_words(frame, descriptor.c_words());
    if descriptor.names_rank() {
        // SAFETY: the thread's own block.
        let now = unsafe { &mut (*thread.block).now };
        let [peer, object] = descriptor.rank_and_object();
        now.peer = *element(&frame.args, peer) as i32;
        now.comm = *element(&frame.args, object) as u64;
    }
    if let Some(status) = descriptor.status() {
        flow::give_status(frame, thread, status);
    }
}

/// Looks at the handles of a nested call before it.
#[inline(never)]
fn looked_at(frame: &mut Frame, thread: &mut Thread, target: usize) -> Next {
    flow::before(frame, thread);
    if descriptor(frame.symbol).special() {
        special::before(frame);
    }
    Next::measure(target)
}

/// The same of an outermost call, which begins then.
#[inline(never)]
fn prepared<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, target: usize) -> Next {
    // Calls from here are nested in this one.
    frame.began = thread.cookie;
    looked_at(frame, thread, target);
    begins::<WAY>(frame, thread, target)
}

/// The time of a call of the program's begins.
#[inline(always)]
fn begins<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, target: usize) -> Next {
    let function = frame.symbol.function();
    // SAFETY: the thread's own block.
    let block = unsafe { &mut *thread.block };
    // Now, because not every call returns: some end the program, some are left by a jump.
    if !(WAY == ANY && mode::paused()) {
        // SAFETY: there is a row for every function.
        unsafe { block.rows.get_unchecked_mut(function as usize) }.calls += 1;
    }
    if WAY == ANY && !thread.counters.is_null() {
        counters::outside(&mut thread.counters, block);
    }
    let now = if WAY == ANY { clock::ticks() } else { ticks::counter() };
    frame.began = now;
    thread.cookie = now;
    block.now.since = now;
    block.now.inside = function + 1;
    if WAY != PLAIN
        && mode::has(mode::WAITS)
        && frame.symbol.binding().is_c()
        && descriptor(frame.symbol).gathers()
        && !flow::waits::quick::come(frame, now)
    {
        return comes(frame, target, now);
    }
    Next::measure(target)
}

/// The rank comes to a collective, of which more is to be known.
#[inline(never)]
fn comes(frame: &mut Frame, target: usize, now: u64) -> Next {
    flow::waits::come(frame, now);
    Next::measure(target)
}

/// Fetches the words behind those in registers, and puts them where the callee finds them: one by
/// one, as they were written just before. A processor waits for two of them that are read as one.
#[inline(always)]
fn copy_words(frame: &mut Frame, words: usize) {
    let stack = frame.stack();
    // In steps whose lengths are known when this is compiled: a loop for every number would take
    // longer than the words.
    let mut copy = |from: usize, to: usize| {
        for i in from..to {
            // SAFETY: the caller put them there; what is behind the last is the caller's, too.
            let word = unsafe { stack.add(i - REGISTERS).read_volatile() };
            *element_mut(&mut frame.args, i) = word;
            if let Some(place) = frame.outgoing.get_mut(i - REGISTERS) {
                *place = word;
            }
        }
    };
    if words <= REGISTERS {
        return;
    }
    copy(REGISTERS, REGISTERS + 2);
    if words > REGISTERS + 2 {
        copy(REGISTERS + 2, REGISTERS + 6);
        if words > REGISTERS + 6 {
            copy(REGISTERS + 6, WORDS);
        }
    }
}

/// At the return of a function that [`topas_mpi_enter`] wanted to hear of.
///
/// # Safety
/// `frame` is that of the call.
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_leave(frame: *mut Frame) {
    // SAFETY: the variables of this thread, and a frame of its own.
    let (thread, frame) = unsafe { (&mut *arch::thread(), &mut *frame) };
    if mode() != 0 {
        return left_with_extra(frame, thread);
    }
    left::<PLAIN>(frame, thread, ticks::counter());
}

/// Any call has returned while something is switched on.
#[inline(never)]
fn left_with_extra(frame: &mut Frame, thread: &mut Thread) {
    if mode::has(mode::RARE) {
        return left_of_any(frame, thread);
    }
    left::<LEAN>(frame, thread, ticks::counter());
}

/// The same, whatever is switched on.
#[inline(never)]
fn left_of_any(frame: &mut Frame, thread: &mut Thread) {
    let now = clock::ticks();
    if mode::paused() {
        let follows = frame.symbol.binding().is_c() && descriptor(frame.symbol).follows();
        // Of these nothing is to be known later, once the MPI is.
        if !follows && thread.flow != 0 && !mode::has(mode::WAITS) {
            if core::ptr::eq(thread.outer, frame) {
                ends::<ANY, false>(frame, thread, now);
            }
            return;
        }
    }
    returned::<true>(frame, thread, now);
}

/// Any call has returned: to what there is to be done for its shape.
#[inline(always)]
fn left<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    if !frame.symbol.is_small_c() {
        if !frame.symbol.binding().is_c() && core::ptr::eq(thread.outer, frame) {
            return ends_in_fortran::<WAY>(frame, thread, now);
        }
        return returned_by::<WAY>(frame, thread, now);
    }
    let descriptor = descriptor(frame.symbol);
    if !descriptor.after() {
        if WAY != PLAIN && descriptor.notes() && mode::has(hooks::NOTED) {
            return noted::<WAY>(frame, thread, now);
        }
        if core::ptr::eq(thread.outer, frame) {
            ends::<WAY, true>(frame, thread, now);
        }
        return;
    }
    if frame.result as i32 != 0 || thread.flow == 0 {
        return returned_by::<WAY>(frame, thread, now);
    }
    match descriptor.hot() {
        Hot::No => returned_by::<WAY>(frame, thread, now),
        Hot::Send => shaped::<WAY, { Hot::Send as u8 }>(frame, thread, now),
        Hot::Rma => shaped::<WAY, { Hot::Rma as u8 }>(frame, thread, now),
        Hot::Isend => shaped::<WAY, { Hot::Isend as u8 }>(frame, thread, now),
        Hot::Recv => shaped::<WAY, { Hot::Recv as u8 }>(frame, thread, now),
        Hot::Irecv => shaped::<WAY, { Hot::Irecv as u8 }>(frame, thread, now),
        Hot::Both => shaped::<WAY, { Hot::Both as u8 }>(frame, thread, now),
        Hot::Bcast => shaped::<WAY, { Hot::Bcast as u8 }>(frame, thread, now),
        Hot::Sendrecv => shaped::<WAY, { Hot::Sendrecv as u8 }>(frame, thread, now),
    }
}

/// A call of a shape has returned: a function for each. What is new, such as a datatype, is left to
/// the general way, so that nothing is called from here and no register has to be saved.
#[inline(never)]
fn shaped<const WAY: u8, const HOT: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    if !flow::shaped::<WAY, HOT>(frame, thread, now) {
        return returned_by::<WAY>(frame, thread, now);
    }
    if WAY != PLAIN && mode::has(hooks::RETURNED) && !hooks::shaped::<HOT>(frame, thread, now) {
        return analysed(frame, thread, now);
    }
    outermost_ends::<WAY>(frame, thread, now);
}

/// A call in C without large counts has returned that moves nothing, and that is noted by what is
/// switched on.
#[inline(never)]
fn noted<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    if frame.result as i32 != 0 || thread.flow == 0 {
        return returned::<true>(frame, thread, now);
    }
    if mode::has(mode::COMMUNICATORS) && !flow::noted(frame, thread, now) {
        return returned::<true>(frame, thread, now);
    }
    if mode::has(hooks::RETURNED) && !hooks::noted(frame, thread, now) {
        return analysed(frame, thread, now);
    }
    outermost_ends::<WAY>(frame, thread, now);
}

/// The end of a call in C: of one that the program made, or of one that a binding made for it.
#[inline(always)]
fn outermost_ends<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    if core::ptr::eq(thread.outer, frame) {
        ends::<WAY, true>(frame, thread, now);
    } else if WAY != PLAIN {
        hooks::reached(frame, thread);
    }
}

/// What a call in C moved was counted, and the analyses have to look at it.
#[inline(never)]
fn analysed(frame: &mut Frame, thread: &mut Thread, now: u64) {
    hooks::returned(frame, thread, now);
    if core::ptr::eq(thread.outer, frame) {
        ends::<ANY, true>(frame, thread, now);
    }
}

/// A call in Fortran is over.
#[inline(never)]
fn ends_in_fortran<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    ends::<WAY, false>(frame, thread, now);
}

/// Any call has returned by a way.
#[inline(always)]
fn returned_by<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    if WAY == PLAIN {
        returned::<false>(frame, thread, now);
    } else {
        returned::<true>(frame, thread, now);
    }
}

/// Any call has returned.
#[inline(never)]
fn returned<const EXTRA: bool>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    let descriptor = descriptor(frame.symbol);
    if frame.symbol.binding().is_c() && (descriptor.after() || EXTRA && descriptor.notes()) {
        flow::after::<EXTRA>(frame, thread, now);
        if descriptor.special() {
            special::after(frame, thread);
        }
        if EXTRA && mode::has(hooks::RETURNED) {
            hooks::returned(frame, thread, now);
        }
    }
    if core::ptr::eq(thread.outer, frame) {
        if EXTRA {
            ends::<ANY, false>(frame, thread, now);
        } else {
            ends::<PLAIN, false>(frame, thread, now);
        }
    }
}

/// The outermost call is over. `C` if it is known to be one in C.
#[inline(always)]
fn ends<const WAY: u8, const C: bool>(frame: &Frame, thread: &mut Thread, now: u64) {
    let function = frame.symbol.function() as usize;
    // SAFETY: the thread's own block.
    let block: &mut Block = unsafe { &mut *thread.block };
    if WAY == ANY && !thread.counters.is_null() {
        counters::inside(&mut thread.counters, block);
    }
    block.now.inside = 0;
    thread.outer = core::ptr::null_mut();
    let unreached = !C && !frame.symbol.binding().is_c() && thread.leaves();
    if !(WAY == ANY && mode::paused()) {
        if unreached
            && element(&DESCRIPTORS, function).moves()
            && let Some(beside) = block.beside.get_mut(function)
        {
            beside.flags |= ROW_MISSED;
        }
        // SAFETY: there is a row for every function.
        let row = unsafe { block.rows.get_unchecked_mut(function) };
        let length = now.wrapping_sub(frame.began);
        row.ticks += length;
        if length > row.longest {
            row.longest = length;
        }
    }
    // The last, so that nothing is to be kept meanwhile.
    if thread.is_new_binding(frame.symbol.binding()) {
        first_by_name(frame, thread);
    }
    if WAY != PLAIN && mode::has(hooks::ENTERED) {
        hooks::left(frame, thread, now);
    }
}

/// The first call of a thread by a name.
#[cold]
#[inline(never)]
fn first_by_name(frame: &Frame, thread: &mut Thread) {
    if mode::paused() {
        return;
    }
    thread.note_binding(frame.symbol.binding());
    process::note_language(frame.symbol.binding());
}
