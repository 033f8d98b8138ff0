//! Return from the next definition of a function: see [`entry`](crate::entry).

use topas_mpi_profile::layout::{Block, ROW_MISSED};

use crate::element::element;
use crate::entry::descriptor;
use crate::flow::Moved;
use crate::flow::plan::Hot;
use crate::frame::Frame;
use crate::generated::table::DESCRIPTORS;
use crate::mode::{self, ANY, COUNTED, INSIDE, LEAN, PLAIN, SOLE, is_plain, mode};
use crate::symbol::StubSymbol;
use crate::thread::Thread;
use crate::{clock, counters, flow, hooks, paths, special, ticks};

/// At the return of a function that `topas_mpi_enter` wanted to hear of, while nothing is switched
/// on.
///
/// # Safety
/// `frame` is that of the call, `thread` that of [`arch::thread`].
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_leave(frame: *mut Frame, thread: *mut Thread) {
    // SAFETY: by the caller.
    let (thread, frame) = unsafe { (&mut *thread, &mut *frame) };
    if !core::ptr::eq(thread.outer, frame) {
        return left_inside(frame, thread);
    }
    left::<PLAIN>(frame, thread, ticks::counter());
}

/// The same, whatever is switched on.
///
/// # Safety
/// `frame` is that of the call, `thread` that of [`arch::thread`].
#[unsafe(no_mangle)]
unsafe extern "C" fn topas_mpi_leave_extra(frame: *mut Frame, thread: *mut Thread) {
    // SAFETY: by the caller.
    let (thread, frame) = unsafe { (&mut *thread, &mut *frame) };
    let bits = mode();
    if bits & (mode::RARE | mode::COMMUNICATORS) == 0 {
        return left_of_sole(frame, thread);
    }
    if bits == mode::COMMUNICATORS {
        return left::<COUNTED>(frame, thread, ticks::counter());
    }
    if bits & mode::RARE != 0 {
        if !mode::is_idle(bits) || thread.flow == 0 || follows(frame.symbol) {
            return left_of_any(frame, thread);
        }
        if core::ptr::eq(thread.outer, frame) {
            // SAFETY: the thread's own block.
            unsafe { (*thread.block).now.inside = 0 };
            thread.outer = core::ptr::null_mut();
            thread.reached();
        }
        return;
    }
    left_of_lean(frame, thread);
}

/// A call within another one has returned, while nothing is switched on. When most of these ended is of no interest, and a look at the counter takes a
/// part of what they cost: it is read where that is needed, see [`late`].
#[inline(never)]
fn left_inside(frame: &mut Frame, thread: &mut Thread) {
    left::<INSIDE>(frame, thread, 0);
}

/// When a call has returned, where its way has not read the counter yet.
#[inline(always)]
fn late<const WAY: u8>(now: u64) -> u64 {
    if WAY == INSIDE { ticks::counter() } else { now }
}

#[inline(never)]
fn left_of_lean(frame: &mut Frame, thread: &mut Thread) {
    left::<LEAN>(frame, thread, ticks::counter());
}

#[inline(never)]
fn left_of_sole(frame: &mut Frame, thread: &mut Thread) {
    left::<SOLE>(frame, thread, ticks::counter());
}

/// Whether something is to be known of a call later, even if it is made while measuring is paused. Of no
/// other call, once the MPI is known.
#[inline(always)]
fn follows(symbol: StubSymbol) -> bool {
    symbol.binding().is_c() && descriptor(symbol).follows()
}

/// Any call has returned, whatever is switched on.
#[inline(never)]
fn left_of_any(frame: &mut Frame, thread: &mut Thread) {
    let now = clock::ticks();
    let idle = mode::paused() && thread.flow != 0 && !mode::has(mode::WAITS);
    if idle && !follows(frame.symbol) {
        if core::ptr::eq(thread.outer, frame) {
            ends::<ANY, false>(frame, thread, frame.symbol.function(), now, [0; 2]);
        }
        return;
    }
    returned::<true>(frame, thread, now);
}

/// Whether a call is one that the program made. On some ways that is known.
#[inline(always)]
fn is_outermost<const WAY: u8>(frame: &Frame, thread: &Thread) -> bool {
    WAY == PLAIN || WAY != INSIDE && core::ptr::eq(thread.outer, frame)
}

/// Any call has returned: to what there is to be done for its shape.
#[inline(always)]
fn left<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    let function = frame.symbol.function();
    let descriptor = descriptor(frame.symbol).as_it_stands();
    if !descriptor.awaited() && (is_plain(WAY) || !descriptor.notes()) {
        if is_outermost::<WAY>(frame, thread) {
            ends::<WAY, true>(frame, thread, function, now, [0; 2]);
        }
        return;
    }
    if !frame.symbol.is_small_c() {
        if !frame.symbol.binding().is_c() && is_outermost::<WAY>(frame, thread) {
            if thread.still_awaits() {
                return ends_in_fortran::<WAY>(frame, thread, now);
            }
            return ends::<WAY, true>(frame, thread, function, now, [0; 2]);
        }
        return returned_by::<WAY>(frame, thread, now);
    }
    if !descriptor.after() {
        if descriptor.notes() && is_noted::<WAY>(frame, thread) {
            return noted::<WAY>(frame, thread, function, now);
        }
        if is_outermost::<WAY>(frame, thread) {
            ends::<WAY, true>(frame, thread, function, now, [0; 2]);
        }
        return;
    }
    if frame.result as i32 != 0 || thread.flow == 0 {
        return returned_by::<WAY>(frame, thread, now);
    }
    if descriptor.is_both() {
        return shaped::<WAY, { Hot::Both as u8 }>(frame, thread, function, now);
    }
    match descriptor.hot() {
        Hot::No if descriptor.completes() => completed_by::<WAY>(frame, thread, now),
        Hot::No | Hot::Both => {
            let lean = WAY == SOLE || WAY == LEAN;
            if !lean || mode::has(mode::WAITS) || descriptor.special() {
                return returned_by::<WAY>(frame, thread, now);
            }
            counted(frame, thread, now);
        }
        // Not all are compiled for every way.
        Hot::Bcast => shaped::<WAY, { Hot::Bcast as u8 }>(frame, thread, function, now),
        Hot::Rma if WAY == SOLE => larger::<LEAN>(Hot::Rma, frame, thread, function, now),
        hot if WAY == COUNTED => larger::<LEAN>(hot, frame, thread, function, now),
        Hot::Send => shaped::<WAY, { Hot::Send as u8 }>(frame, thread, function, now),
        Hot::Recv => shaped::<WAY, { Hot::Recv as u8 }>(frame, thread, function, now),
        hot => larger::<WAY>(hot, frame, thread, function, now),
    }
}

/// The same for the other shapes.
#[inline(always)]
fn larger<const WAY: u8>(
    hot: Hot,
    frame: &mut Frame,
    thread: &mut Thread,
    function: u32,
    now: u64,
) {
    match hot {
        Hot::Send => shaped::<WAY, { Hot::Send as u8 }>(frame, thread, function, now),
        Hot::Recv => shaped::<WAY, { Hot::Recv as u8 }>(frame, thread, function, now),
        Hot::Rma if WAY != SOLE => shaped::<WAY, { Hot::Rma as u8 }>(frame, thread, function, now),
        Hot::Isend => shaped::<WAY, { Hot::Isend as u8 }>(frame, thread, function, now),
        Hot::Irecv => shaped::<WAY, { Hot::Irecv as u8 }>(frame, thread, function, now),
        _ => shaped::<WAY, { Hot::Sendrecv as u8 }>(frame, thread, function, now),
    }
}

/// A call of a shape has returned: a function for each. What is new, such as a datatype, is left to
/// the general way, so that nothing is called from here and no register has to be saved.
#[inline(never)]
fn shaped<const WAY: u8, const HOT: u8>(
    frame: &mut Frame,
    thread: &mut Thread,
    function: u32,
    now: u64,
) {
    let Some(moved) = flow::shaped::<WAY, HOT>(frame, thread, function, now) else {
        return match WAY {
            SOLE | COUNTED => missed::<LEAN>(frame, thread, now),
            _ => missed::<WAY>(frame, thread, now),
        };
    };
    // Once: it may change meanwhile, so that each look would be one at the memory.
    let bits = if is_plain(WAY) || WAY == COUNTED { 0 } else { mode() };
    if WAY == SOLE && bits == mode::LOG {
        if !core::ptr::eq(thread.outer, frame) {
            return hooks::reached(frame, thread, moved);
        }
        ends::<PLAIN, true>(frame, thread, function, now, moved);
        return hooks::left_to_log(frame, thread, now, moved);
    }
    if bits & mode::WAITS != 0 {
        let [sent, received] = moved;
        return waited::<HOT>(frame, thread, now, sent, received);
    }
    outermost_ends::<WAY>(frame, thread, function, now, moved);
}

/// What a call of a shape moved was counted: why it waited. Both numbers are in registers.
#[inline(never)]
fn waited<const HOT: u8>(
    frame: &mut Frame,
    thread: &mut Thread,
    now: u64,
    sent: u64,
    received: u64,
) {
    if !flow::waits::quick::shaped::<HOT>(frame, thread, now) {
        return analysed(frame, thread, now, sent, received);
    }
    waited_ends(frame, thread, now, sent, received);
}

/// The end of a call whose waits were told: jumped to, so that fewer registers have to be saved.
#[inline(never)]
fn waited_ends(frame: &mut Frame, thread: &mut Thread, now: u64, sent: u64, received: u64) {
    let function = frame.symbol.function();
    outermost_ends::<LEAN>(frame, thread, function, now, [sent, received]);
}

/// The same of a call that is about something else than the last ones.
#[inline(never)]
fn missed<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    if flow::recalled(frame, thread) {
        if WAY == INSIDE {
            return left_inside(frame, thread);
        }
        return left::<WAY>(frame, thread, now);
    }
    returned_by::<WAY>(frame, thread, now);
}

/// Whether what is switched on has to note a call that moves nothing. To the event log alone, a call of
/// the program's in C that has returned is over, once the MPI is known.
#[inline(always)]
fn is_noted<const WAY: u8>(frame: &Frame, thread: &Thread) -> bool {
    match WAY {
        PLAIN | INSIDE => false,
        COUNTED => true,
        SOLE => {
            let bits = mode();
            bits & mode::WAITS != 0
                || bits & mode::LOG != 0
                    && (thread.flow == 0 || !core::ptr::eq(thread.outer, frame))
        }
        _ => mode::has(hooks::NOTED),
    }
}

/// A call in C without large counts has returned that moves nothing, and that is noted by what is
/// switched on.
#[inline(never)]
fn noted<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, function: u32, now: u64) {
    if frame.result as i32 != 0 || thread.flow == 0 {
        return returned::<true>(frame, thread, now);
    }
    if (WAY == COUNTED || WAY == LEAN && mode::has(mode::COMMUNICATORS))
        && !flow::noted(frame, thread, now)
    {
        return returned::<true>(frame, thread, now);
    }
    // What calls something is jumped to, so that no register has to be saved.
    if WAY != COUNTED && !descriptor(frame.symbol).meets() && hooks::asks(frame) {
        return asked::<WAY>(frame, thread, function, now);
    }
    if WAY != COUNTED && !hooks::noted::<false>(frame, thread, now) {
        return analysed(frame, thread, now, 0, 0);
    }
    outermost_ends::<WAY>(frame, thread, function, now, [0; 2]);
}

/// The same of a call that asks for a message.
#[inline(never)]
fn asked<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, function: u32, now: u64) {
    if !hooks::noted::<true>(frame, thread, now) {
        return analysed(frame, thread, now, 0, 0);
    }
    outermost_ends::<WAY>(frame, thread, function, now, [0; 2]);
}

/// A call has returned that waits or asks for requests.
#[inline(always)]
fn completed_by<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    if !is_plain(WAY) && WAY != COUNTED && mode::has(mode::WAITS) {
        return completed_and_waited(frame, thread, now);
    }
    completed(frame, thread, late::<WAY>(now));
}

/// The same if why it waited is not told. What it moved is counted where that is found out, and need not be found out
/// by comparing sums. One function for all ways, because it is a large one.
#[inline(never)]
fn completed(frame: &mut Frame, thread: &mut Thread, now: u64) {
    let received = flow::completed(frame, thread, now);
    let function = frame.symbol.function();
    outermost_ends::<SOLE>(frame, thread, function, now, [0, received]);
}

/// The same if that is told.
#[inline(never)]
fn completed_and_waited(frame: &mut Frame, thread: &mut Thread, now: u64) {
    let received = flow::completed_and_waited(frame, thread, now);
    let function = frame.symbol.function();
    outermost_ends::<LEAN>(frame, thread, function, now, [0, received]);
}

/// The end of a call in C: of one that the program made, or of one that a binding made for it.
#[inline(always)]
fn outermost_ends<const WAY: u8>(
    frame: &mut Frame,
    thread: &mut Thread,
    function: u32,
    now: u64,
    moved: Moved,
) {
    if is_outermost::<WAY>(frame, thread) {
        ends::<WAY, true>(frame, thread, function, now, moved);
    } else if !is_plain(WAY) && WAY != COUNTED {
        hooks::reached(frame, thread, moved);
    }
}

/// What a call in C moved was counted, and the analyses have to look at it.
#[inline(never)]
fn analysed(frame: &mut Frame, thread: &mut Thread, now: u64, sent: u64, received: u64) {
    let moved = [sent, received];
    hooks::returned(frame, thread, now, moved);
    if core::ptr::eq(thread.outer, frame) {
        ends::<ANY, true>(frame, thread, frame.symbol.function(), now, moved);
    }
}

/// A call in Fortran is over whose function in C was not reached.
#[inline(never)]
fn ends_in_fortran<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    ends::<WAY, false>(frame, thread, frame.symbol.function(), now, [0; 2]);
}

/// Any call has returned by a way.
#[inline(always)]
fn returned_by<const WAY: u8>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    // What completes requests has a function of its own but for what is rare, such as errors.
    if is_plain(WAY) && !descriptor(frame.symbol).completes() {
        returned::<false>(frame, thread, late::<WAY>(now));
    } else {
        returned::<true>(frame, thread, late::<WAY>(now));
    }
}

/// Any call has returned.
#[inline(never)]
fn returned<const EXTRA: bool>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    let descriptor = descriptor(frame.symbol);
    let mut moved = [0; 2];
    if frame.symbol.binding().is_c() && (descriptor.after() || EXTRA && descriptor.notes()) {
        if EXTRA && mode::has(hooks::MOVED) {
            // Not in registers, so that other calls do not have to save them.
            frame.kept.moved = moved_by(frame, thread);
        }
        flow::after::<EXTRA>(frame, thread, now);
        if descriptor.special() {
            special::after(frame, thread);
        }
        if EXTRA && mode::has(hooks::MOVED) {
            moved = moved_since(frame, thread);
        }
        if EXTRA && mode::has(hooks::RETURNED) {
            hooks::returned(frame, thread, now, moved);
        }
    }
    if core::ptr::eq(thread.outer, frame) {
        if EXTRA {
            ends::<ANY, false>(frame, thread, frame.symbol.function(), now, moved);
        } else {
            ends::<PLAIN, false>(frame, thread, frame.symbol.function(), now, moved);
        }
    }
}

/// Any call in C without large counts was successful, in a thread that has a ledger, and why it waited is not told.
#[inline(never)]
fn counted(frame: &mut Frame, thread: &mut Thread, now: u64) {
    // Not in registers, so that other calls do not have to save them.
    frame.kept.moved = moved_by(frame, thread);
    flow::after::<true>(frame, thread, now);
    let moved = moved_since(frame, thread);
    let function = frame.symbol.function();
    outermost_ends::<SOLE>(frame, thread, function, now, moved);
}

/// What a call has moved since that was noted in its frame.
#[inline(always)]
fn moved_since(frame: &Frame, thread: &Thread) -> Moved {
    let [sent, received] = moved_by(frame, thread);
    let [sent_before, received_before] = frame.kept.moved;
    // What was cancelled may make it less.
    [sent.saturating_sub(sent_before), received.saturating_sub(received_before)]
}

/// What calls of the function of a call have moved so far.
#[inline(always)]
fn moved_by(frame: &Frame, thread: &Thread) -> Moved {
    // SAFETY: the thread's own block.
    paths::moved(unsafe { &*thread.block }, frame.symbol.function())
}

/// The outermost call is over, which moved this if it is one in C. `C` if it is known to be one.
#[inline(always)]
fn ends<const WAY: u8, const C: bool>(
    frame: &Frame,
    thread: &mut Thread,
    function: u32,
    now: u64,
    moved: Moved,
) {
    let function = function as usize;
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
    if WAY != PLAIN && WAY != COUNTED {
        hooks::left::<WAY>(frame, thread, now, moved);
    }
}
