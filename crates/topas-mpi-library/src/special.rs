//! Functions that begin, end or steer the measurement.

use crate::frame::Frame;
use crate::generated::number;
use crate::thread::Thread;
use crate::{absent, clock, cost, finish, flow, process, trace};

/// Before a function of these.
#[cold]
#[inline(never)]
pub fn before(frame: &mut Frame, thread: &Thread) {
    match frame.function() {
        number::PCONTROL => match frame.args[0] as i32 {
            0 => {
                trace::pauses();
                process::pause(true);
            }
            1 => process::pause(false),
            2 => finish::subtotal(false),
            3 => finish::subtotal(true),
            // For other tools.
            _ => {}
        },
        number::FINALIZE => {
            // Others see the rank here while it waits for all.
            // SAFETY: the thread's own block, if it has one.
            if let Some(block) = unsafe { thread.block.as_mut() } {
                block.now.since = clock::ticks();
                block.now.inside = frame.function() as u32 + 1;
            }
            finish::finalize();
        }
        number::ABORT => finish::abort(frame.args[1] as i32),
        _ => {}
    }
}

/// After a function of these.
#[cold]
#[inline(never)]
pub fn after(frame: &mut Frame, thread: &mut Thread) {
    let initialized = [number::INIT, number::INIT_THREAD].contains(&frame.function());
    if initialized
        && frame.result as i32 == 0
        && let Some(header) = process::header()
    {
        header.initialized = clock::now();
        header.latest = header.initialized;
        flow::begin();
        absent::initialized(header);
        cost::measure(thread, header);
        // Only now: what was sent to find out the cost has no number.
        flow::waits::begin(header);
        finish::describe_mpi(header);
        header.own_ticks += clock::ticks().wrapping_sub(header.initialized.ticks);
    }
}
