//! Entry to and return from the next definition of a function.

use topas_mpi_profile::layout::{Block, ROW_MISSED};

use crate::arch::{self, REGISTERS};
use crate::element::{element, element_mut};
use crate::frame::{Frame, WORDS};
use crate::generated::table::DESCRIPTORS;
use crate::pause::paused;
use crate::symbol::StubSymbol;
use crate::thread::Thread;
use crate::{below, clock, counters, flow, process, special};

/// What is to be called, and whether [`topas_mpi_leave`] is to be told of its end.
#[repr(C)]
pub struct Next {
    target: usize,
    leave: usize,
}

impl Next {
    /// Called and forgotten.
    const fn pass(target: usize) -> Next {
        Next { target, leave: 0 }
    }
}

/// At the entry of every function: what to call.
///
/// # Safety
/// `frame` holds the words of the registers, `stack` the words behind them, the return address
/// in front of those.
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_enter(
    frame: *mut Frame,
    symbol: StubSymbol,
    stack: *const usize,
) -> Next {
    let (function, binding) = (symbol.function(), symbol.binding());
    let target = below::target(symbol, stack);
    let thread = arch::thread();
    // SAFETY: the variables of this thread, and a frame of its own.
    let (thread, frame) = unsafe { (&mut *thread, &mut *frame) };
    let descriptor = element(&DESCRIPTORS, function as usize);
    if !thread.outer.is_null() && thread.is_inside(frame) {
        frame.function = function;
        frame.binding = binding;
        if descriptor.looks_nested() || thread.wants(function, binding) {
            return nested(frame, thread, target, stack);
        }
        return Next::pass(target);
    }
    if thread.block.is_null() && (below::is_missing(target) || !process::begin(thread)) {
        return Next::pass(target);
    }
    frame.function = function;
    frame.binding = binding;
    // SAFETY: the word in front of the stacked arguments.
    frame.caller = unsafe { *stack.sub(1) };
    copy_words(frame, descriptor.words(binding), stack);
    frame.began = thread.cookie;
    thread.outer = frame;
    if binding.is_c() {
        if descriptor.before() {
            flow::before(frame, thread);
            if descriptor.special() {
                special::before(frame);
            }
        }
    } else {
        thread.awaits(function);
    }
    put_words(frame, descriptor.words(binding));
    // SAFETY: the thread's own block.
    let block = unsafe { &mut *thread.block };
    block.inside = function + 1;
    // Now, because not every call returns: some end the program, some are left by a jump.
    if !paused()
        && let Some(row) = block.rows.get_mut(function as usize)
    {
        row.calls += 1;
    }
    if !thread.counters.is_null() {
        counters::outside(&mut thread.counters, block);
    }
    let now = clock::ticks();
    block.since = now;
    thread.cookie = now;
    frame.began = now;
    Next { target, leave: 1 }
}

/// Fetches the words behind those in registers: one by one, as they were written just before. A
/// processor waits for two of them that are read as one.
#[inline(always)]
fn copy_words(frame: &mut Frame, words: usize, stack: *const usize) {
    let copy = |from: usize, to: usize| {
        for i in from..to {
            // SAFETY: the caller put them there; what is behind the last is the caller's, too.
            let word = unsafe { stack.add(i - REGISTERS).read_volatile() };
            *element_mut(&mut frame.args, i) = word;
        }
    };
    in_steps(words, copy);
}

/// Puts the words behind those in registers where the callee finds them.
#[inline(always)]
fn put_words(frame: &mut Frame, words: usize) {
    in_steps(words, |from, to| {
        for i in from..to {
            let Some(place) = frame.outgoing.get_mut(i - REGISTERS) else { return };
            // SAFETY: a word of the frame.
            *place = unsafe { (&raw const *element(&frame.args, i)).read_volatile() };
        }
    });
}

/// Does something with the words behind those in registers, in steps whose lengths are known when
/// this is compiled: a loop for every number would take longer than the words.
#[inline(always)]
fn in_steps(words: usize, mut step: impl FnMut(usize, usize)) {
    if words <= REGISTERS {
        return;
    }
    step(REGISTERS, REGISTERS + 2);
    if words > REGISTERS + 2 {
        step(REGISTERS + 2, REGISTERS + 6);
        if words > REGISTERS + 6 {
            step(REGISTERS + 6, WORDS);
        }
    }
}

/// A call within a call. It is no call of the program's, but the handles it frees are gone, and
/// below a Fortran function its own C function tells the bytes.
#[cold]
#[inline(never)]
fn nested(frame: &mut Frame, thread: &mut Thread, target: usize, stack: *const usize) -> Next {
    let descriptor = element(&DESCRIPTORS, frame.function as usize);
    if !thread.wants(frame.function, frame.binding) {
        copy_words(frame, descriptor.words(frame.binding), stack);
        flow::nested(frame, thread);
        return Next::pass(target);
    }
    thread.reached(frame);
    copy_words(frame, descriptor.words(frame.binding), stack);
    if descriptor.before() {
        flow::before(frame, thread);
        if descriptor.special() {
            special::before(frame);
        }
    }
    put_words(frame, descriptor.words(frame.binding));
    Next { target, leave: 1 }
}

/// At the return of a function that [`topas_mpi_enter`] wanted to hear of.
///
/// # Safety
/// `frame` is that of the call.
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_leave(frame: *mut Frame) {
    let now = clock::ticks();
    // SAFETY: the variables of this thread, and a frame of its own.
    let (thread, frame) = unsafe { (&mut *arch::thread(), &mut *frame) };
    let descriptor = element(&DESCRIPTORS, frame.function as usize);
    let outermost = core::ptr::eq(thread.outer, frame);
    if frame.binding.is_c() && descriptor.after() {
        flow::after(frame, thread, now);
        if descriptor.special() {
            special::after(frame, thread, now);
        }
    }
    if !outermost {
        thread.inner = core::ptr::null_mut();
        return;
    }
    // SAFETY: the thread's own block.
    let block: &mut Block = unsafe { &mut *thread.block };
    if !thread.counters.is_null() {
        counters::inside(&mut thread.counters, block);
    }
    block.inside = 0;
    let unreached = thread.leaves();
    if paused() {
        return;
    }
    if unreached
        && descriptor.moves()
        && let Some(beside) = block.beside.get_mut(frame.function as usize)
    {
        beside.flags |= ROW_MISSED;
    }
    let Some(row) = block.rows.get_mut(frame.function as usize) else { return };
    let length = now.wrapping_sub(frame.began);
    row.ticks += length;
    if length > row.longest {
        row.longest = length;
    }
    if thread.is_new_binding(frame.binding) {
        process::note_language(frame.binding);
    }
}
