//! The calls that programs make all the time, each in a straight line: what is here is told by
//! [`super::call`], too, which is for all of them.
//!
//! It is for calls that were successful, while measuring is not paused and communicators are not
//! counted.

use topas_mpi_profile::layout::{BINS, Block, Peer};

use crate::flow::amount::{Words, word};
use crate::flow::completion::{is_shared, lost};
use crate::flow::datatype;
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::{self, Library};
use crate::flow::object::{self, Kind};
use crate::flow::peers::{self, NOBODY, UNKNOWN, Way};
use crate::flow::plan::{Amount, Flow, Hot, NONE, Plan};
use crate::flow::request::{Entry, flag};

/// A call that was successful.
pub struct Call<'a> {
    /// The MPI
    pub library: &'static Library,
    /// The thread's
    pub ledger: &'a mut Ledger,
    /// The thread's
    pub block: &'a mut Block,
    /// What is to be done
    pub plan: &'static Plan,
    /// Its arguments
    pub args: &'a Words,
    /// Its number, less than that of functions
    pub function: usize,
    /// It takes large counts
    pub large: bool,
}

impl Call<'_> {
    /// Counts what the call moved.
    #[inline(always)]
    pub fn flows(mut self) {
        match self.plan.hot {
            Hot::No => {}
            Hot::Send => self.send(Kind::Comm),
            Hot::Rma => self.send(Kind::Win),
            Hot::Recv => self.receive(&self.plan.flow[0]),
            Hot::Irecv => self.post(),
            Hot::Both => {
                let bytes = self.bytes(&self.plan.flow[0].amount);
                self.moved(Way::Sent, bytes, NOBODY);
                self.moved(Way::Received, bytes, NOBODY);
            }
            Hot::Bcast => {
                let bytes = self.bytes(&self.plan.flow[0].amount);
                self.broadcast(bytes);
            }
            Hot::Sendrecv => {
                self.send(Kind::Comm);
                self.receive(&self.plan.flow[1]);
            }
        }
    }

    #[inline(always)]
    fn bytes(&mut self, amount: &Amount) -> u64 {
        let count = word(self.args, amount.count);
        let count = if self.large { count as i64 } else { i64::from(count as i32) };
        if count <= 0 {
            return 0;
        }
        let datatype = word(self.args, amount.datatype);
        (count as u64).wrapping_mul(datatype::size(self.library, self.ledger, datatype))
    }

    /// One block to or from the rank that is named.
    #[inline(always)]
    fn send(&mut self, kind: Kind) {
        let flow = &self.plan.flow[0];
        let rank = word(self.args, flow.peer) as i32;
        let to_nobody = rank == self.library.proc_null;
        let (mut bytes, mut peer) = (0, NOBODY);
        if !to_nobody {
            bytes = self.bytes(&flow.amount);
            if !self.ledger.peers.is_null() {
                peer = self.rank_of(rank, kind);
            }
            match flow.way {
                super::plan::Way::Sent => self.moved(Way::Sent, bytes, peer),
                super::plan::Way::Received => self.moved(Way::Received, bytes, peer),
            }
        }
        if self.plan.request != NONE {
            let flags = if to_nobody { 0 } else { flag::SENDS };
            self.keep(Entry { sent: bytes, peer, flags, ..self.entry() });
        }
    }

    /// A message was received, and its status is there.
    #[inline(always)]
    fn receive(&mut self, flow: &Flow) {
        let status = word(self.args, self.plan.status);
        let named = word(self.args, flow.peer) as i32;
        let library = self.library;
        if named == library.proc_null || status == library.status_ignore {
            return;
        }
        let status = status as *const u8;
        // SAFETY: the status of a call that was successful.
        let (bytes, source) = unsafe {
            (library::bytes_in(library.length, status), library::source_in(library, status))
        };
        let peer = if self.ledger.peers.is_null() {
            NOBODY
        } else {
            self.rank_of(if named >= 0 { named } else { source }, Kind::Comm)
        };
        self.moved(Way::Received, bytes, peer);
    }

    /// A message is to be received.
    #[inline(always)]
    fn post(&mut self) {
        let rank = word(self.args, self.plan.flow[0].peer) as i32;
        let mut entry = self.entry();
        if rank != self.library.proc_null {
            entry.flags = flag::TOLD;
            if !self.ledger.peers.is_null() {
                entry.flags |= flag::PEER;
                let comm = self.handle();
                if rank >= 0 {
                    entry.peer = self.rank_of(rank, Kind::Comm);
                } else if comm == self.library.comm_world {
                    entry.flags |= flag::IDENTITY;
                    entry.peer = UNKNOWN;
                } else {
                    entry.comm = comm;
                    entry.generation = generation(place(comm));
                    entry.peer = UNKNOWN;
                }
            }
        }
        self.keep(entry);
    }

    #[inline(always)]
    fn broadcast(&mut self, bytes: u64) {
        let handle = self.handle();
        let object = object::object(self.library, self.ledger, handle, Kind::Comm);
        let (inter, rank) = (object.inter, object.rank as i32);
        let root = word(self.args, self.plan.root) as i32;
        let sends = root == if inter { self.library.abi.root } else { rank };
        if sends {
            self.moved(Way::Sent, bytes, NOBODY);
        } else if root >= 0 {
            self.moved(Way::Received, bytes, NOBODY);
        }
    }

    #[inline(always)]
    fn handle(&self) -> u64 {
        word(self.args, self.plan.object) as u64 & self.library.handle_mask
    }

    /// The rank in the world of a rank that is not negative.
    #[inline(always)]
    fn rank_of(&mut self, rank: i32, kind: Kind) -> u32 {
        let handle = self.handle();
        if handle == self.library.comm_world {
            return rank as u32;
        }
        object::world_rank(self.library, self.ledger, handle, kind, rank)
    }

    #[inline(always)]
    fn entry(&self) -> Entry {
        Entry {
            sent: 0,
            received: 0,
            comm: 0,
            peer: NOBODY,
            generation: 0,
            function: self.function as u32,
            index: 0,
            kind: self.plan.waited.into(),
            flags: 0,
        }
    }

    #[inline(always)]
    fn keep(&mut self, entry: Entry) {
        let address = word(self.args, self.plan.request);
        // SAFETY: the call has written a request there.
        let request = unsafe { library::handle_at(self.library, address, 0) };
        if request != self.library.request_null
            && !is_shared(self.library, request)
            && !self.ledger.requests.put(request, entry)
        {
            lost();
        }
    }

    /// Counts a message.
    #[inline(always)]
    fn moved(&mut self, way: Way, bytes: u64, peer: u32) {
        // SAFETY: numbers of functions are less than there are rows.
        let (row, beside) = unsafe {
            (
                self.block.rows.get_unchecked_mut(self.function),
                self.block.beside.get_unchecked(self.function),
            )
        };
        let number = match way {
            Way::Sent => {
                row.sends += 1;
                row.sent += bytes;
                beside.sent
            }
            Way::Received => {
                row.receives += 1;
                row.received += bytes;
                beside.received
            }
        };
        let bin = bin(bytes);
        if number != 0 {
            // SAFETY: numbers of histograms are 1 more than that of one, and bins are bins.
            unsafe {
                *self
                    .block
                    .sizes
                    .get_unchecked_mut(usize::from(number) - 1)
                    .get_unchecked_mut(bin) += 1;
            }
        } else {
            self.first(way, bin);
        }
        if peer != NOBODY {
            // SAFETY: who counts peers has room for one more than there are ranks.
            let peer: &mut Peer =
                unsafe { &mut *self.ledger.peers.add(peer.min(self.ledger.others) as usize) };
            match way {
                Way::Sent => {
                    peer.sends += 1;
                    peer.sent += bytes;
                }
                Way::Received => {
                    peer.receives += 1;
                    peer.received += bytes;
                }
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn first(&mut self, way: Way, bin: usize) {
        if let Some(sizes) = peers::new_sizes(self.block, self.function as u16, way)
            && let Some(messages) = sizes.get_mut(bin)
        {
            *messages += 1;
        }
    }
}

/// The bin of a message. The size with its lowest bit set is in the same bin, but for 0.
#[inline(always)]
fn bin(bytes: u64) -> usize {
    let bin = (bytes | 1).ilog2() as usize + usize::from(bytes != 0);
    if bin < BINS { bin } else { BINS - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_mpi_profile::layout;

    #[test]
    fn bins_are_those_of_the_layout() {
        let sizes = (0..64).flat_map(|k| [(1u64 << k) - 1, 1 << k, (1 << k) + 1]);
        for bytes in sizes.chain([0, u64::MAX]) {
            assert_eq!(bin(bytes), layout::bin(bytes), "{bytes}");
        }
    }
}
