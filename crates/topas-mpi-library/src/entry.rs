//! Entry to the next definition of a function; the return from it is in [`leave`](crate::leave).
//!
//! What most calls do is written so that the compiler needs no registers that it would have to
//! save: whatever calls something else is a function of its own, jumped to at the end. `WAY` is
//! [`PLAIN`] while [`mod@mode`] has nothing switched on, [`mode::COUNTED`] with communicators, [`IDLE`] in a
//! pause, [`LEAN`] with what else is switched on often, and [`ANY`] with everything.

use crate::arch::{self, REGISTERS};
use crate::below::{self, Below};
use crate::descriptor::Descriptor;
use crate::element::{element, element_mut};
use crate::frame::{Frame, WORDS};
use crate::generated::number;
use crate::generated::table::DESCRIPTORS;
use crate::mode::{self, ANY, IDLE, LEAN, PLAIN, mode};
use crate::symbol::{StubBinding, StubSymbol};
use crate::thread::Thread;
use crate::{clock, counters, flow, hooks, paths, process, special, ticks};

/// What is to be called, and whether `topas_mpi_leave` is to be told of its end: an address, with
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

    /// What a function returns that is jumped to: see [`arch::opaque`].
    #[inline(always)]
    fn of_jump(self) -> Next {
        Next(arch::opaque(self.0))
    }
}

/// That of a symbol's function.
#[inline(always)]
pub fn descriptor(symbol: StubSymbol) -> &'static Descriptor {
    element(&DESCRIPTORS, symbol.function() as usize)
}

/// At the entry of every function, while nothing is switched on: what to call. Most functions need
/// nothing but to be counted.
///
/// # Safety
/// `frame` holds the words of the registers; behind it lie the return address and the words on the
/// stack. `thread` is that of [`arch::thread`].
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_enter(
    frame: *mut Frame,
    thread: *mut Thread,
    symbol: StubSymbol,
) -> Next {
    // SAFETY: by the caller.
    let (thread, frame) = unsafe { (&mut *thread, &mut *frame) };
    let below = Below::of(symbol);
    if !thread.outer.is_null() {
        return inside(frame, thread, symbol, below);
    }
    let Some(target) = below.plain() else { return more(frame, thread, symbol, below) };
    if thread.block.is_null() {
        return more(frame, thread, symbol, below);
    }
    opens::<PLAIN>(frame, thread, symbol, target)
}

/// The same, of a call of the program's that needs more.
#[inline(never)]
fn more(frame: &mut Frame, thread: &mut Thread, symbol: StubSymbol, below: Below) -> Next {
    if below.is_unknown() || thread.is_new_binding(symbol.binding()) {
        return general(frame, thread, symbol);
    }
    outermost::<PLAIN>(frame, thread, symbol, below.target())
}

/// At the entry of every function, whatever is switched on.
///
/// # Safety
/// See [`topas_mpi_enter`].
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_enter_extra(
    frame: *mut Frame,
    thread: *mut Thread,
    symbol: StubSymbol,
) -> Next {
    // SAFETY: by the caller.
    let (thread, frame) = unsafe { (&mut *thread, &mut *frame) };
    let below = Below::of(symbol);
    if !thread.outer.is_null() {
        return general(frame, thread, symbol);
    }
    let bits = mode();
    if let Some(target) = below.plain()
        && !thread.block.is_null()
    {
        let waits = bits & mode::WAITS != 0;
        if bits & mode::BEFORE & !mode::WAITS == 0 && !(waits && descriptor(symbol).notes()) {
            return opens::<PLAIN>(frame, thread, symbol, target);
        }
        if mode::is_idle(bits) {
            return opens::<IDLE>(frame, thread, symbol, target);
        }
    }
    if below.is_unknown() || thread.is_new_binding(symbol.binding()) {
        return general(frame, thread, symbol);
    }
    if bits & (mode::RARE | mode::PATHS) == 0 {
        return outermost_of_lean(frame, thread, symbol, below.target());
    }
    if bits & mode::RARE != 0 {
        return outermost_of_any(frame, thread, symbol, below.target());
    }
    by_path(frame, thread, symbol, below)
}

/// A call of the program's whose path is to be known: most come by the last one from there.
#[inline(never)]
fn by_path(frame: &mut Frame, thread: &mut Thread, symbol: StubSymbol, below: Below) -> Next {
    if !paths::enter_again::<false>(frame, thread, symbol) {
        return by_other_path(frame, thread, symbol, below);
    }
    enters(frame, thread, symbol, below)
}

#[inline(never)]
fn by_other_path(frame: &mut Frame, thread: &mut Thread, symbol: StubSymbol, below: Below) -> Next {
    if !paths::enter_again::<true>(frame, thread, symbol) {
        return outermost_of_any(frame, thread, symbol, below.target());
    }
    enters(frame, thread, symbol, below)
}

/// A call whose path has been found.
#[inline(always)]
fn enters(frame: &mut Frame, thread: &mut Thread, symbol: StubSymbol, below: Below) -> Next {
    match below.plain() {
        Some(target) if !(mode::has(mode::WAITS) && descriptor(symbol).notes()) => {
            opens::<PLAIN>(frame, thread, symbol, target).of_jump()
        }
        _ => outermost_of_lean(frame, thread, symbol, below.target()),
    }
}

#[inline(never)]
fn outermost_of_lean(
    frame: &mut Frame,
    thread: &mut Thread,
    symbol: StubSymbol,
    target: usize,
) -> Next {
    outermost::<LEAN>(frame, thread, symbol, target).of_jump()
}

#[inline(never)]
fn outermost_of_any(
    frame: &mut Frame,
    thread: &mut Thread,
    symbol: StubSymbol,
    target: usize,
) -> Next {
    outermost::<ANY>(frame, thread, symbol, target).of_jump()
}

/// A call of a thread that seems to be in another.
#[inline(never)]
fn inside(frame: &mut Frame, thread: &mut Thread, symbol: StubSymbol, below: Below) -> Next {
    if below.is_unknown() || !thread.is_inside(frame) {
        return general(frame, thread, symbol);
    }
    let descriptor = descriptor(symbol);
    if thread.wants(symbol) {
        if descriptor.prepares() {
            return reached::<PLAIN>(frame, thread, symbol, below.target());
        }
        thread.reached();
        frame.symbol = symbol;
        return Next::measure(below.target());
    }
    if descriptor.looks_nested() {
        return general(frame, thread, symbol);
    }
    Next::pass(below.target())
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
    // By these names the module asks at the end of a process whether there is MPI, and which: these are no calls of the program's.
    const ASKING: [usize; 3] =
        [number::INITIALIZED, number::FINALIZED, number::GET_LIBRARY_VERSION];
    let asks =
        symbol.binding() == StubBinding::PMPI && ASKING.contains(&(symbol.function() as usize));
    if asks && thread.is_new_binding(symbol.binding()) {
        return Next::pass(target);
    }
    if thread.block.is_null() && (below::is_missing(target) || !process::begin(thread)) {
        return Next::pass(target);
    }
    if thread.is_new_binding(symbol.binding()) && !mode::paused() {
        thread.note_binding(symbol.binding());
        process::note_language(symbol.binding());
    }
    outermost_of_any(frame, thread, symbol, target)
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
    if WAY == ANY {
        hooks::entered(frame, thread);
    }
    let descriptor = descriptor(symbol);
    if symbol.binding().is_c() {
        if descriptor.prepares() {
            prepare(frame, thread, descriptor);
            if descriptor.before() {
                return prepared::<WAY>(frame, thread, target);
            }
        } else if WAY == PLAIN || WAY == LEAN && !(mode::has(mode::WAITS) && descriptor.notes()) {
            return found_plain(frame, thread, target);
        }
    } else {
        if descriptor.awaited() || WAY != PLAIN && descriptor.notes() {
            thread.awaits(symbol.function());
        } else if (WAY == PLAIN || WAY == LEAN) && descriptor.is_plain(symbol.binding()) {
            return found_plain(frame, thread, target);
        }
        copy_words(frame, descriptor.words(symbol.binding()));
    }
    begins::<WAY>(frame, thread, symbol, target)
}

/// A call of the program's by a name by which the next call is a plain one.
#[cold]
#[inline(never)]
fn found_plain(frame: &mut Frame, thread: &mut Thread, target: usize) -> Next {
    below::note_plain(frame.symbol);
    let symbol = frame.symbol;
    begins::<PLAIN>(frame, thread, symbol, target).of_jump()
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
        && descriptor.comes()
        && mode::has(mode::WAITS)
        && !(descriptor.meets() && flow::waits::quick::come(frame, thread.cookie))
    {
        flow::waits::come(frame, thread.cookie);
    }
    if descriptor.before() {
        return looked_at(frame, thread, target);
    }
    Next::measure(target).of_jump()
}

/// Words, peer and status of a call in C.
#[inline(always)]
fn prepare(frame: &mut Frame, thread: &mut Thread, descriptor: &Descriptor) {
    copy_words(frame, descriptor.c_words());
    if descriptor.names_rank() {
        // SAFETY: the thread's own block.
        let block = unsafe { &mut *thread.block };
        let [peer, object] = descriptor.rank_and_object();
        block.now.peer = *element(&frame.args, peer) as i32;
        block.now.comm = *element(&frame.args, object) as u64;
        // Of functions that have none there, nobody reads it.
        block.tag = *element(&frame.args, peer.wrapping_add(1)) as i32;
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
        special::before(frame, thread);
    }
    Next::measure(target).of_jump()
}

/// The same of an outermost call, which begins then.
#[inline(never)]
fn prepared<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, target: usize) -> Next {
    // Calls from here are nested in this one.
    frame.began = thread.cookie;
    looked_at(frame, thread, target);
    let symbol = frame.symbol;
    begins::<WAY>(frame, thread, symbol, target).of_jump()
}

/// A call of the program's of which nothing is to be known but that it is made.
#[inline(always)]
fn opens<const WAY: u8>(
    frame: &mut Frame,
    thread: &mut Thread,
    symbol: StubSymbol,
    target: usize,
) -> Next {
    frame.symbol = symbol;
    thread.outer = frame;
    begins::<WAY>(frame, thread, symbol, target)
}

/// The time of a call of the program's begins.
#[inline(always)]
fn begins<const WAY: u8>(
    frame: &mut Frame,
    thread: &mut Thread,
    symbol: StubSymbol,
    target: usize,
) -> Next {
    let function = symbol.function();
    // SAFETY: the thread's own block.
    let block = unsafe { &mut *thread.block };
    // Now, because not every call returns: some end the program, some are left by a jump.
    if WAY != IDLE && !(WAY == ANY && mode::paused()) {
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
    if WAY != PLAIN && WAY != IDLE && mode::has(mode::WAITS) && symbol.binding().is_c() {
        let descriptor = descriptor(symbol).as_it_stands();
        if descriptor.comes() && !(descriptor.meets() && flow::waits::quick::come(frame, now)) {
            return comes(frame, target, now);
        }
    }
    Next::measure(target)
}

/// The rank comes to a collective, of which more is to be known, or ends an access to windows.
#[inline(never)]
fn comes(frame: &mut Frame, target: usize, now: u64) -> Next {
    flow::waits::come(frame, now);
    Next::measure(target).of_jump()
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
