//! The end of an outermost call: what is written of it. Most calls are like the one before of their function,
//! and the event of such a call tells its times alone.
//!
//! All functions here have the same parameters in the same order, so that one is jumped to by another with all
//! registers as they are.

use topas_trace::{CallArguments, CallEvent};

use super::SHIFT;
use super::more::NOTHING_MORE;
use crate::element::{element, element_mut};
use crate::flow::waits;
use crate::flow::waits::logged::{self, Told};
use crate::frame::Frame;
use crate::generated::number;
use crate::paths;
use crate::thread::Thread;

/// At the end of an outermost call, which ended at `now`, and of which it is known what it moved if it
/// is one in C. Paths are not counted. The order of the parameters is that of registers in which most of
/// them already are.
#[inline(never)]
pub fn leave(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    // SAFETY: null, or the thread's own.
    let Some(log) = (unsafe { thread.log.as_ref() }) else { return };
    let expected = element(&log.expected, frame.function());
    if !expected.holds(log.period) {
        return leave_in_general(frame, thread, sent, now, received);
    }
    if expected.is_about_nothing() {
        let is_same = expected.has_moved([sent, received]);
        if expected.moves_bytes() && !(is_same && frame.symbol.binding().is_c()) {
            return leave_compared::<false>(frame, thread, sent, now, received);
        }
    } else {
        if expected.is_open_message() {
            return leave_open_message(frame, thread, sent, now, received);
        }
        // Most calls are about a message.
        if !expected.is_message() || !frame.symbol.binding().is_c() {
            return leave_compared::<false>(frame, thread, sent, now, received);
        }
        if !expected.has_words_of_message(frame) {
            return leave_in_general(frame, thread, sent, now, received);
        }
        if !expected.has_moved([sent, received]) {
            return put_moved(frame, thread, sent, now, received);
        }
    }
    put::<false>(frame, thread, sent, now, received);
}

/// The same of a call about one message, whose words leave open from where it came.
#[inline(never)]
fn leave_open_message(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    // SAFETY: the thread's own.
    let log = unsafe { &*thread.log };
    let expected = element(&log.expected, frame.function());
    if !frame.symbol.binding().is_c() {
        return leave_compared::<false>(frame, thread, sent, now, received);
    }
    if !expected.has_words_and_status_of_message(frame) {
        return leave_in_general(frame, thread, sent, now, received);
    }
    if !expected.has_moved([sent, received]) {
        return put_moved(frame, thread, sent, now, received);
    }
    put::<false>(frame, thread, sent, now, received);
}

/// The same if paths are counted.
#[inline(never)]
pub fn leave_by_path(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    // SAFETY: null, or the thread's own.
    let Some(log) = (unsafe { thread.log.as_ref() }) else { return };
    if !element(&log.expected, frame.function()).holds(log.period) {
        return leave_in_general(frame, thread, sent, now, received);
    }
    leave_compared::<true>(frame, thread, sent, now, received);
}

/// The same of a call that may be like the one before, but for what it moved: if it is, that is all there is to it.
#[inline(never)]
fn leave_compared<const BY_PATH: bool>(
    frame: &Frame,
    thread: &mut Thread,
    sent: u64,
    now: u64,
    received: u64,
) {
    // SAFETY: the thread's own.
    let log = unsafe { &*thread.log };
    let expected = element(&log.expected, frame.function());
    if BY_PATH && !expected.has_path(paths::number_of(thread)) {
        return leave_in_general(frame, thread, sent, now, received);
    }
    if !frame.symbol.binding().is_c() {
        return leave_reached(frame, thread, sent, now, received);
    }
    if expected.is_open() {
        return leave_open::<BY_PATH>(frame, thread, sent, now, received);
    }
    if !expected.has_words(frame) {
        return leave_in_general(frame, thread, sent, now, received);
    }
    if expected.gathers() && (waits::is_on() || expected.has_number()) {
        return leave_gathered(frame, thread, sent, now, received);
    }
    let is_same = expected.has_moved([sent, received]);
    put_same_words::<BY_PATH>(is_same, frame, thread, sent, now, received);
}

/// The same of a call whose words leave open from where a message came.
#[inline(never)]
fn leave_open<const BY_PATH: bool>(
    frame: &Frame,
    thread: &mut Thread,
    sent: u64,
    now: u64,
    received: u64,
) {
    // SAFETY: the thread's own.
    let log = unsafe { &*thread.log };
    let expected = element(&log.expected, frame.function());
    if !expected.has_words_and_status(frame) {
        return leave_in_general(frame, thread, sent, now, received);
    }
    let is_same = expected.has_moved([sent, received]);
    put_same_words::<BY_PATH>(is_same, frame, thread, sent, now, received);
}

/// The same of a collective that may have a number.
#[inline(never)]
fn leave_gathered(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    // SAFETY: the thread's own.
    let log = unsafe { &mut *thread.log };
    let expected = element_mut(&mut log.expected, frame.function());
    let number = logged::number(frame);
    if !expected.is_number(number) || !log.writer.has_room() {
        return leave_in_general(frame, thread, sent, now, received);
    }
    expected.go_on(number);
    log.writer.go_on(frame.function() as u16, number);
    let is_same = expected.has_moved([sent, received]);
    put_same_words::<true>(is_same, frame, thread, sent, now, received);
}

/// The same of a call in Fortran: the function of C that it has called was like the one before.
#[inline(never)]
fn leave_reached(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    // SAFETY: the thread's own.
    let log = unsafe { &mut *thread.log };
    let expected = element_mut(&mut log.expected, frame.function());
    let reached = &log.reached;
    let is_same = reached.is_of(frame) && reached.is_expected && expected.is_number(reached.number);
    if !is_same || !log.writer.has_room() {
        return leave_in_general(frame, thread, sent, now, received);
    }
    expected.go_on(reached.number);
    log.writer.go_on(frame.function() as u16, reached.number);
    let [sent, received] = reached.moved;
    let is_same = expected.has_moved([sent, received]);
    put_same_words::<true>(is_same, frame, thread, sent, now, received);
}

/// Puts the event of a call that is about the same as the one before, and has moved the same if `is_same`.
#[inline(always)]
fn put_same_words<const ANY: bool>(
    is_same: bool,
    frame: &Frame,
    thread: &mut Thread,
    sent: u64,
    now: u64,
    received: u64,
) {
    if is_same {
        return put_expected::<ANY>(frame, thread, sent, now, received);
    }
    put_moved(frame, thread, sent, now, received);
}

/// Puts an event that is as expected into the block, which there is. If not `ANY` the clock is the counter of the
/// processor, and units of the block are known.
#[inline(always)]
fn put<const ANY: bool>(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    // SAFETY: the thread's own, and as long as something is expected there is a block of its ring.
    let (log, block) = unsafe { (&mut *thread.log, &mut *(*thread.log).block) };
    let shift = if ANY { log.writer.shift() & 63 } else { SHIFT };
    let times = [frame.began >> shift, now >> shift];
    if !log.writer.put_expected(block, frame.function() as u16, times) {
        leave_in_general(frame, thread, sent, now, received);
    }
}

#[inline(never)]
fn put_expected<const ANY: bool>(
    frame: &Frame,
    thread: &mut Thread,
    sent: u64,
    now: u64,
    received: u64,
) {
    put::<ANY>(frame, thread, sent, now, received);
}

/// The same of one that moved something else than the one before.
#[inline(never)]
fn put_moved(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    // SAFETY: as for one that is as expected.
    let (log, block) = unsafe { (&mut *thread.log, &mut *(*thread.log).block) };
    let shift = log.writer.shift() & 63;
    let (function, moved) = (frame.function(), [sent, received]);
    let times = [frame.began >> shift, now >> shift];
    if !log.writer.put_moved(block, function as u16, times, moved) {
        return leave_in_general(frame, thread, sent, now, received);
    }
    element_mut(&mut log.expected, function).moves(moved);
}

/// The same of a call that is not like the one before, or that has to be looked at again to see that.
#[inline(never)]
fn leave_in_general(frame: &Frame, thread: &mut Thread, sent: u64, now: u64, received: u64) {
    // SAFETY: the thread's own.
    let log = unsafe { &mut *thread.log };
    let function = frame.function();
    let routine = function as u16;
    let path = paths::number_of(thread);
    let is_c = frame.symbol.binding().is_c();
    let (moved, number) = if is_c {
        ([sent, received], logged::number(frame))
    } else if log.reached.is_of(frame) {
        (log.reached.moved, log.reached.number)
    } else {
        ([0; 2], 0)
    };
    if let Some(told) = log.told.get(function)
        && function != number::PCONTROL
        && log.more.kind == NOTHING_MORE
        && log.writer.expects(routine, path.into(), number)
        && (if is_c {
            told.is_same(frame)
        } else if log.reached.is_of(frame) {
            log.reached.is_expected
        } else {
            told.is_about_nothing(function)
        })
        && !log.block.is_null()
        && log.writer.has_room()
    {
        // Only now: the next call is more likely to be like two than like one.
        let expected = element_mut(&mut log.expected, function);
        expected.note(function, told, log.period, (path, moved, number));
        log.writer.go_on(routine, number);
        let [sent, received] = moved;
        if !log.writer.expects_moved(routine, moved) {
            return put_moved(frame, thread, sent, now, received);
        }
        return put_expected::<true>(frame, thread, sent, now, received);
    }
    leave_with_news(frame, thread, now, moved);
}

/// The same of a call that differs from the one before.
#[inline(never)]
fn leave_with_news(frame: &Frame, thread: &mut Thread, now: u64, moved: [u64; 2]) {
    // SAFETY: the thread's own.
    let log = unsafe { &mut *thread.log };
    let function = frame.function();
    let routine = function as u16;
    element_mut(&mut log.expected, function).forget();
    let mut arguments = if frame.symbol.binding().is_c() {
        if log.told.get(function).is_some_and(|told| told.is_same(frame)) {
            log.as_told(function, logged::number(frame))
        } else {
            log.tell(frame, thread)
        }
    } else if !log.reached.is_of(frame) {
        // What is expected is something else from now on.
        log.told.get_mut(function).into_iter().for_each(Told::forget);
        CallArguments::NONE
    } else if log.reached.is_expected {
        log.as_told(function, log.reached.number)
    } else {
        log.reached.arguments
    };
    arguments.path = paths::number_of(thread).into();
    if function == number::COMM_SET_NAME {
        // The name may be another the next time, at the same address.
        log.told.get_mut(function).into_iter().for_each(Told::forget);
    } else {
        [arguments.sent, arguments.received] = moved;
    }
    if log.more.kind != NOTHING_MORE && log.tell_more(frame, &mut arguments) {
        return log.put_with_more(&CallEvent {
            routine,
            began: frame.began,
            ended: now,
            arguments,
        });
    }
    if function == number::PCONTROL && frame.symbol.binding().is_c() {
        log.state(frame, &mut arguments);
    }
    log.put(&CallEvent { routine, began: frame.began, ended: now, arguments });
}
