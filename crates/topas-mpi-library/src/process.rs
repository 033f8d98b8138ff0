//! The process: whether it is measured, and since when.

use core::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_mpi_profile::layout::{Header, flag};

use crate::symbol::StubBinding;
use crate::thread::Thread;
use crate::workspace::{self, Workspace};
use crate::{
    arch, clock, counters, flow, launch, mode, paths, preload, processor, say, site, spool, sys,
    trace,
};

/// Nothing was decided yet.
const NEW: u32 = 0;
/// Some thread is deciding.
const BUSY: u32 = 1;
/// The process is measured.
const ON: u32 = 2;
/// The process is not measured.
const OFF: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(NEW);
/// Children are looked after.
static AT_FORK: AtomicBool = AtomicBool::new(false);

/// A thread's first call: gives it a block. False if nothing is measured.
#[cold]
#[inline(never)]
pub fn begin(thread: &mut Thread) -> bool {
    loop {
        match STATE.load(Acquire) {
            ON => break,
            OFF => return false,
            NEW if STATE.compare_exchange(NEW, BUSY, Acquire, Relaxed).is_ok() => {
                let on = begin_process();
                mode::set(mode::OFF, !on);
                if !on {
                    paths::want(0);
                    trace::want(0);
                }
                STATE.store(if on { ON } else { OFF }, Release);
            }
            _ => core::hint::spin_loop(),
        }
    }
    if thread.lost {
        return false;
    }
    thread.block = spool::new_block();
    thread.lost = thread.block.is_null();
    if !thread.lost && thread.counters.is_null() {
        counters::open(&mut thread.counters);
    }
    if !thread.lost && thread.paths.is_null() {
        paths::begin(thread);
    }
    if !thread.lost && thread.log.is_null() {
        trace::begin(thread);
    }
    !thread.lost
}

/// The program has ended: a process that has not called MPI by now does not begin.
pub fn end() {
    let _ = STATE.compare_exchange(NEW, OFF, Relaxed, Relaxed);
}

/// Decides whether this process is measured, and begins.
fn begin_process() -> bool {
    preload::begin();
    // What a privileged program does must not depend on its caller's environment.
    const AT_SECURE: usize = 23;
    if site::by_variables() == Some(false) || topas_node::sys::auxiliary(AT_SECURE) != 0 {
        return false;
    }
    let nanoseconds = clock::begin();
    let entered = clock::ticks();
    let Some(Some(header)) = workspace::with(begin_profile) else { return false };
    header.before = processor::ran();
    // What took the time until here is no part of the program's.
    header.began = clock::now();
    header.latest = header.began;
    processor::begin();
    header.own_ticks = header.began.ticks.wrapping_sub(entered);
    header.flags |= flow::wanted();
    mode::set(mode::COMMUNICATORS, header.flags & flag::COMMUNICATORS != 0);
    if nanoseconds {
        header.flags |= flag::CLOCK;
    }
    if !AT_FORK.swap(true, Relaxed) {
        sys::at_fork(in_child);
    }
    true
}

/// Makes the file and notes in it whose it is. None if nothing is to be measured.
fn begin_profile(room: &mut Workspace) -> Option<&'static mut Header> {
    let header = {
        let Some(site) = site::read(&mut room.conf, &mut room.path) else {
            // Who asks and cannot have it hears so, from one rank.
            if site::by_variables() == Some(true) && launch::is_first() {
                say::not_wanted();
            }
            return None;
        };
        spool::begin(site.mpi.spool)?
    };
    launch::describe(header, room);
    if site::decide(header, &mut room.conf, &mut room.path) {
        if header.flags & flag::USER != 0 {
            let now = crate::report::Now::new(&mut room.file);
            crate::files::note(header, now.local(), &mut room.path);
        }
        crate::life::order(header);
        return Some(header);
    }
    spool::remove();
    None
}

/// In a child process. It is not the rank: it shares the file, but must not count there. If MPI has
/// not begun yet it may become one by itself.
extern "C" fn in_child() {
    let began = header().is_some_and(|header| header.initialized.ticks != 0);
    flow::waits::forsake();
    spool::forsake();
    // SAFETY: the variables of the only thread.
    let thread = unsafe { &mut *arch::thread() };
    // They are the parent's, whose thread they follow.
    thread.counters = core::ptr::null_mut();
    thread.paths = core::ptr::null_mut();
    thread.log = core::ptr::null_mut();
    if thread.outer.is_null() {
        thread.block = core::ptr::null_mut();
        thread.bindings = 0;
    }
    let new = !began && thread.outer.is_null();
    mode::set(mode::OFF, !new);
    STATE.store(if new { NEW } else { OFF }, Release);
}

/// What is known of the process; None if it is not measured.
pub fn header() -> Option<&'static mut Header> {
    (STATE.load(Acquire) == ON).then(spool::header).flatten()
}

/// Pauses measuring, or goes on.
pub fn pause(pause: bool) {
    let Some(header) = header() else { return };
    if !mode::set(mode::PAUSED, pause) {
        return;
    }
    let ticks = clock::ticks();
    if pause {
        header.paused_since = ticks;
    } else {
        header.paused += ticks.wrapping_sub(header.paused_since);
        header.paused_since = 0;
    }
}

/// Notes the language of a call, and whether it was one of the profiling interface.
#[cold]
#[inline(never)]
pub fn note_language(binding: StubBinding) {
    let Some(header) = header() else { return };
    header.languages |= binding.language();
    if binding.is_profiling() {
        header.flags |= flag::PROFILING;
    }
}
