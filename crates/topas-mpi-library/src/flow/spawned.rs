//! Worlds of spawned processes: what this rank starts, and whether others started its own world.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use topas_mpi_profile::layout::{Header, WorldStart};

use crate::element::element;
use crate::flow::amount::word;
use crate::flow::communicators::last_part;
use crate::flow::library::{self, Library};
use crate::flow::plan::CallPlan;
use crate::flow::waits::partners;
use crate::frame::Frame;
use crate::generated::number;
use crate::{arch, clock, spool};

/// Notes whether ranks of another world started this one.
pub fn begin(library: &Library, header: &mut Header) {
    let mut parent = library.comm_null;
    let at = (&raw mut parent) as usize;
    // SAFETY: takes the address of a handle.
    let asked = unsafe { library::call(number::COMM_GET_PARENT, [at, 0, 0, 0, 0, 0]) };
    let has_parent = asked.is_some() && parent & library.handle_mask != library.comm_null;
    // Asked again at the end: by then the program may have left its parent.
    header.worlds.spawned |= u32::from(has_parent);
}

/// After a call that started processes: notes them in the rank that was the root, whose arguments are
/// the ones that count.
#[cold]
#[inline(never)]
pub fn after(library: &Library, plan: &CallPlan, frame: &Frame, made: u64) {
    let args = &frame.args;
    let several = frame.function() == number::COMM_SPAWN_MULTIPLE;
    // The commands are an array if there are several, behind their number.
    let (root, command) = if several { (5, 1) } else { (4, 0) };
    let members = word(args, plan.object) as u64 & library.handle_mask;
    let root = *element(args, root) as i32;
    if library::ask(number::COMM_RANK, members) != Some(root) {
        return;
    }
    let Some(header) = spool::header() else { return };
    let worlds = &mut header.worlds;
    // Threads may start processes at the same time.
    // SAFETY: a word of the mapped file, which only this process writes.
    let place = unsafe { AtomicU32::from_ptr(&raw mut worlds.count) };
    let place = place.fetch_update(Relaxed, Relaxed, |count| {
        (worlds.started.len() > count as usize).then(|| count + 1)
    });
    let Some(start) = place.ok().and_then(|place| worlds.started.get_mut(place as usize)) else {
        worlds.lost = worlds.lost.saturating_add(1);
        return;
    };
    let ranks = library::ask(number::COMM_REMOTE_SIZE, made).map_or(0, i32::cast_unsigned);
    let mut new = WorldStart {
        command: [0; 48],
        ranks,
        function: frame.function() as u16 + 1,
        path: partners::here(),
        // SAFETY: the outermost frame of this thread: this one, or that of a Fortran function above it.
        began: unsafe { (*(*arch::thread()).outer).began },
        ended: clock::ticks(),
    };
    let command = *element(args, command);
    if command != 0 {
        // SAFETY: a text that the call has read, or an array of at least one of them.
        unsafe {
            let text = if several { *(command as *const *const u8) } else { command as *const u8 };
            let mut at = last_part(text);
            for to in &mut new.command {
                if *at == 0 {
                    break;
                }
                *to = *at;
                at = at.add(1);
            }
        }
    }
    *start = new;
}
