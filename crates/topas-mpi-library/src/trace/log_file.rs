//! What the rings hold goes to the log of the host, when the process ends.

use topas_format::out::Out;
use topas_mpi_profile::facts::{HostClock, process_key, write_facts};
use topas_mpi_profile::layout::{Block, Header};
use topas_mpi_profile::lines::text;
use topas_trace::{BlockContent, BlockHead, LENGTH, RingHead, TraceBlock};

use super::ThreadLog;
use crate::{files, spool, sys};

/// The rings of all threads.
fn rings() -> impl Iterator<Item = &'static mut ThreadLog> {
    // SAFETY: nobody calls MPI any more; a ring is in one block.
    spool::blocks()
        .filter(|block: &&Block| block.log != 0)
        .map(|block| unsafe { &mut *spool::at::<ThreadLog>(block.log) })
}

/// Appends what the rings hold, and then what is known of the process, to the log of the host. Each
/// block is one write, so blocks of several ranks do not mix. `clock` is known if clocks of hosts were
/// compared.
pub fn write(header: &mut Header, clock: Option<HostClock>) {
    let mut path = [0; 1024];
    let mut own = None;
    for log in rings() {
        if own.is_none() {
            let mut out = Out::new(&mut path);
            out.put(text(&log.ring.path));
            if out.is_empty() {
                return;
            }
            own = files::open_at(out);
        }
        let Some(file) = own else { return };
        for place in log.ring.places() {
            // SAFETY: a block of the ring.
            let block = unsafe { &mut *log.blocks.add(place as usize) };
            let last =
                if core::ptr::eq(block, log.block) { log.writer.last() } else { block.head.last };
            block.close(header.rank, last);
            // SAFETY: a block is bytes.
            let bytes =
                unsafe { core::slice::from_raw_parts((&raw const *block).cast::<u8>(), LENGTH) };
            if !file.append(&path, bytes) {
                file.close();
                return;
            }
        }
        log.ring.written = 1;
    }
    let Some(file) = own else { return };
    if let Some(memory) = sys::map_memory(LENGTH) {
        // SAFETY: new, zeroed, and large enough for a block.
        let block = unsafe { &mut *memory.cast::<TraceBlock>() };
        block.head = BlockHead {
            process: process_key(header),
            first: header.began.ticks,
            ..BlockHead::new(BlockContent::Facts)
        };
        let mut out = Out::new(&mut block.body);
        write_facts(header, clock, spool::blocks(), ring_of, &mut out);
        block.head.filled = out.len() as u64;
        block.close(header.rank, header.latest.ticks);
        // SAFETY: a block is bytes.
        file.append(&path, unsafe { core::slice::from_raw_parts(memory, LENGTH) });
        sys::unmap(memory, LENGTH);
    }
    file.close();
}

/// The ring of the thread of a block.
fn ring_of(block: &Block) -> Option<RingHead> {
    // SAFETY: this part of the file is that of this thread.
    (block.log != 0).then(|| unsafe { (*spool::at::<ThreadLog>(block.log)).ring })
}
