//! Ends by a signal: the line is written, then what would have happened happens.
//!
//! Only where the disposition was the default, so that nothing a program or its caller
//! asked for is lost. The handler puts the default back and queues the same signal again
//! with what the kernel told of it; that one is delivered when the handler returns, at the
//! place in the program where the first one was, and the process ends with the same status
//! and the same core. Everything here may run in the middle of anything: no lock, no
//! allocation, no function of libc.

use core::ffi::{c_int, c_void};

use crate::finish::{self, End};
use crate::processor::landing;
use crate::{library, processor, sys};

/// Signals from 1 to 31 that end a process by default and can be caught: all but KILL, CHLD,
/// CONT, STOP, TSTP, TTIN, TTOU, URG and WINCH (signal(7)). But for INT, by which a person ends a
/// program, and for which Python sets its handler only where it finds the default.
const ENDING: u32 = !(1 | 1 << 2 | 1 << 9 | 0b11_1111 << 17 | 1 << 23 | 1 << 28);

/// Those of them that do not end a process in a killable wait, as in vfork or in a file system
/// that hangs, any sooner where their action is the default: all that write a core file, which the
/// kernel leaves to the process (`complete_signal`). So a handler delays no end. Of the others
/// PIPE, which a process brings upon itself by a write.
const PROMPT: u32 = 1 << 3
    | 1 << 4
    | 1 << 5
    | 1 << 6
    | 1 << 7
    | 1 << 8
    | 1 << 11
    | 1 << 13
    | 1 << 24
    | 1 << 25
    | 1 << 31;

/// Those of them that Open MPI reports with a backtrace: ABRT, BUS, FPE, SEGV.
const REPORTED: u32 = 1 << 6 | 1 << 7 | 1 << 8 | 1 << 11;

/// Bytes of the stack for signal handlers. Handlers of the program that allow for such a stack
/// (SA_ONSTACK) and have none of their own run on it, too, and would have run on the stack of
/// the program: 1 MB is deep enough for them, and pages that are never touched cost nothing.
const STACK: usize = 1 << 20;

/// `struct sigaction` of the kernel: handler, flags, what the handler returns to, mask.
type Action = [usize; 4];

/// The default action.
const DEFAULT: Action = [0; 4];

/// Sets the handler for signals whose disposition is the default, and a stack for it, because a
/// stack that is too small is what ends many programs. For `all` that end a process where the site
/// wants that: a process in a killable wait then outlives a SIGTERM until the wait is over.
pub fn catch(all: bool) {
    let stack = sys::pages(STACK);
    if !stack.is_null() {
        sys::set_signal_stack(stack, STACK);
    }
    // SA_SIGINFO | SA_ONSTACK | SA_RESTORER; nothing may come in between.
    let ours =
        [land_on_signal as *const () as usize, 0x0c00_0004, processor::signal_return(), usize::MAX];
    let mut caught = if all { ENDING } else { PROMPT };
    // Rust sets handlers of its own for these, but only where it finds the default.
    if has_own_faults() {
        caught &= !(1 << 7 | 1 << 11);
    }
    let mut before = DEFAULT;
    for signal in 1..32 {
        if caught >> signal & 1 == 1 {
            sys::signal_action(signal, &ours, Some(&mut before));
            if before[0] != 0 {
                sys::signal_action(signal, &before, None);
            }
        }
    }
}

/// Whether the runtime of the program reports faults by itself, and would not if it found ours:
/// those of Rust and Go, whose executables do not export the functions by which others know
/// them, and of Java; but not Python's.
#[cfg(topas_run)]
fn has_own_faults() -> bool {
    (crate::executable::has_own_faults() || library::weak!("JLI_Launch") != 0)
        && library::weak!("PyOS_getsig") == 0
}

/// Whether the program is one of Rust.
#[cfg(not(topas_run))]
#[inline(always)]
fn has_own_faults() -> bool {
    library::weak!("rust_eh_personality") != 0
}

landing!(land_on_signal(signal: c_int, info: *const c_void, context: *const c_void) => on_signal);

/// The handler of a measuring rank, and of its forked children, which inherit it.
extern "C" fn on_signal(signal: c_int, info: *const c_void, _: *const c_void) {
    let signal = signal as u32;
    let written = finish::end(End::Signal(signal));
    // Not before: another thread may run into the same fault.
    sys::signal_action(signal, &DEFAULT, None);
    if written && REPORTED >> signal & 1 == 1 {
        // Open MPI had left these signals alone because they were not at their default.
        library::report_signals();
    }
    sys::signal_again(signal, info);
}
