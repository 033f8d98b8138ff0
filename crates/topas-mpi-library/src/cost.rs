//! What the measurement costs a call: found out in each process, because it depends on processor,
//! clock and what is counted.
//!
//! When MPI has begun, a send of 0 B goes many times through its stub to a function that does
//! nothing, into a block that is thrown away.

use core::hint::black_box;

use topas_mpi_profile::layout::{Block, Header, Peer};

use crate::arch::MEASURED;
use crate::below;
use crate::symbol::{StubBinding, StubSymbol};
use crate::thread::Thread;
use crate::{clock, flow, paths, spool, sys, trace};

/// Calls between two looks at the clock, and how often. The fastest counts: others were disturbed.
const CALLS: u64 = 64;
const ROUNDS: usize = 6;

/// The words of a send.
type Send = extern "C" fn(usize, usize, usize, usize, usize, usize) -> usize;

unsafe extern "C" {
    /// The stub of [`MEASURED`]. By the name of MPI the loader could find one in front of it.
    fn topas_mpi_measured(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> usize;
}

/// Sends nothing.
extern "C" fn nothing(_: usize, _: usize, _: usize, _: usize, _: usize, _: usize) -> usize {
    0
}

/// Finds out what a call costs, and notes it. Called within `MPI_Init`, so that no other thread
/// calls MPI.
pub fn measure(thread: &mut Thread, header: &mut Header) {
    let Some((byte, world)) = flow::byte_and_world() else { return };
    let Some(scratch) = sys::map_memory(size_of::<Block>()) else { return };
    let (outer, cookie, block) = (thread.outer, thread.cookie, thread.block);
    let languages = (header.languages, thread.bindings);
    thread.outer = core::ptr::null_mut();
    thread.block = scratch.cast();
    let paths = paths::put_aside(thread);
    let log = trace::put_aside(thread);
    let symbol = StubSymbol::new(MEASURED as u32, StubBinding::MPI);
    let target = below::replace(symbol, nothing as *const () as usize);
    let to_itself = header.rank as usize;
    // SAFETY: the stub passes words on, whatever they are.
    let send = |call: Send| call(0, 0, byte, to_itself, 0, world);
    let measured: Send =
        // SAFETY: the same function, whose declaration cannot be safe.
        unsafe { core::mem::transmute(topas_mpi_measured as *const ()) };
    let with = fastest(|| send(black_box(measured)));
    let without = fastest(|| send(black_box(nothing)));
    header.call_cost = with.saturating_sub(without) * 256 / CALLS;
    below::replace(symbol, target);
    trace::put_back(thread, log);
    paths::put_back(thread, paths);
    (thread.outer, thread.cookie, thread.block) = (outer, cookie, block);
    // These calls were ours, not of a program in C.
    (header.languages, thread.bindings) = languages;
    keep_peers(scratch.cast(), block, to_itself);
    sys::unmap(scratch, size_of::<Block>());
}

/// Gives the thread's block the peers that the other one got, without what was sent to itself.
fn keep_peers(scratch: *mut Block, block: *mut Block, own: usize) {
    // SAFETY: two blocks of this thread, and peers that the first reserved for every rank.
    unsafe {
        if (*scratch).peers != 0 && (*block).peers == 0 {
            (*block).peers = (*scratch).peers;
            *spool::at::<Peer>((*block).peers).add(own) = Peer::default();
        }
    }
}

/// Ticks of [`CALLS`] calls.
fn fastest(call: impl Fn() -> usize) -> u64 {
    let round = |_| {
        let began = clock::ticks();
        for _ in 0..CALLS {
            black_box(call());
        }
        clock::ticks().wrapping_sub(began)
    };
    (0..ROUNDS).map(round).min().unwrap_or(0)
}
