//! Partitioned messages: what prepares them, and what says that partitions are ready.

use super::asked::asked_in_vain;
use super::completions::post_of;
use super::{Returned, with};
use crate::generated::number;

impl Returned<'_> {
    /// A message of several partitions was prepared, to be sent or to be received.
    pub fn prepared_in_partitions(&mut self, sends: bool) {
        let address = if sends { self.to() } else { self.from() };
        let Some(address) = address else { return };
        // The second argument of both functions.
        let partitions = (self.args[1] as i32).cast_unsigned();
        let (doer, known) = (self.doer, self.comm());
        let id = with(|engine, _, boards| {
            engine.prepared_in_partitions(boards, &address, sends, partitions, &doer, known)
        });
        self.keep(id);
    }

    /// A call asked for a partition.
    pub fn asked_for_partition(&mut self) {
        let [request, _, flag, ..] = self.args;
        let Some(found) = self.ledger.find(*request as u64 & self.library.handle_mask) else {
            return;
        };
        let (id, call) = (post_of(found.entry()), self.call);
        // SAFETY: an integer that the call has written.
        if unsafe { *(*flag as *const i32) } == 0 {
            asked_in_vain(&call, core::iter::once(id));
        } else if id != 0 && call.counts {
            with(|engine, _, boards| engine.partition_arrived(boards, id, call));
        }
    }

    /// Partitions are ready to be sent.
    pub fn ready(&mut self, function: usize) {
        let int = |place: usize| self.args.get(place).map_or(0, |word| *word as i32);
        let (count, request) = match function {
            number::PREADY => (1, 1),
            number::PREADY_RANGE => (int(1).wrapping_sub(int(0)).wrapping_add(1), 2),
            _ => (int(0), 2),
        };
        let request = self.args.get(request).map_or(0, |word| *word as u64);
        let Some(found) = self.ledger.find(request & self.library.handle_mask) else { return };
        let (id, doer) = (post_of(found.entry()), self.doer);
        if id != 0 && count > 0 {
            with(|engine, _, boards| engine.ready(boards, id, count.cast_unsigned(), &doer));
        }
    }
}
