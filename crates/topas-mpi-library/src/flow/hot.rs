//! The calls that programs make all the time, each in a straight line: what is here is told by
//! [`super::call`], too, which is for all of them.
//!
//! It is for calls that were successful, while measuring is not paused. `EXTRA` is the same way with
//! what [`mode`](crate::mode) can switch on: communicators, and the analysis of waits.

use core::hint::unreachable_unchecked;

use topas_mpi_profile::layout::Block;
use topas_mpi_table::{Flow, FlowAmount, Way};

use crate::flow::amount::{self, CallWords, word};
use crate::flow::completion;
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::{self, Library};
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers::{self, NOBODY, UNKNOWN};
use crate::flow::plan::{CallPlan, Hot, NONE, Place};
use crate::requests::{RequestEntry, flag};

/// A call that was successful.
pub struct HotCall<'a, const EXTRA: bool> {
    /// The MPI
    pub library: &'static Library,
    /// The thread's
    pub ledger: &'a mut Ledger,
    /// The thread's
    pub block: &'a mut Block,
    /// What is to be done
    pub plan: &'static CallPlan,
    /// Its arguments
    pub args: &'a CallWords,
    /// Its number, less than that of functions
    pub function: usize,
    /// It takes large counts
    pub large: bool,
    /// Number of its communicator, if they are counted
    pub index: u16,
}

impl<const EXTRA: bool> HotCall<'_, EXTRA> {
    /// Counts what the call moved.
    #[inline(always)]
    pub fn flows(mut self) {
        match self.plan.hot {
            Hot::No => {}
            Hot::Send => self.send(ObjectKind::Comm),
            Hot::Rma => self.send(ObjectKind::Win),
            Hot::Recv => self.receive(&self.plan.flow[0]),
            Hot::Irecv => self.post(),
            Hot::Both => {
                let bytes = self.bytes(&self.plan.flow[0]);
                self.moved(Way::Sent, bytes, NOBODY);
                self.moved(Way::Received, bytes, NOBODY);
            }
            Hot::Bcast => {
                let bytes = self.bytes(&self.plan.flow[0]);
                self.broadcast(bytes);
            }
            Hot::Sendrecv => {
                self.send(ObjectKind::Comm);
                self.receive(&self.plan.flow[1]);
            }
        }
    }

    /// How much a flow moves.
    #[inline(always)]
    fn bytes(&mut self, flow: &Flow<Place>) -> u64 {
        let FlowAmount::Block { count, datatype } = flow.amount else {
            // SAFETY: a plan has one of these shapes only if its flows are blocks.
            unsafe { unreachable_unchecked() }
        };
        amount::block(self.library, self.ledger, self.args, count, datatype, self.large)
    }

    /// The rank at the other end, as the call names it.
    #[inline(always)]
    fn named(&self, flow: &Flow<Place>) -> i32 {
        // SAFETY: a plan has a shape with a rank only if its flows name one.
        word(self.args, unsafe { flow.peer.unwrap_unchecked() }) as i32
    }

    /// One block to or from the rank that is named.
    #[inline(always)]
    fn send(&mut self, kind: ObjectKind) {
        let flow = &self.plan.flow[0];
        let rank = self.named(flow);
        let to_nobody = rank == self.library.proc_null;
        let (mut bytes, mut peer) = (0, NOBODY);
        if !to_nobody {
            bytes = self.bytes(flow);
            if !self.ledger.peers.is_null() {
                peer = self.rank_of(rank, kind);
            }
            match flow.way {
                Way::Sent => self.moved(Way::Sent, bytes, peer),
                Way::Received => self.moved(Way::Received, bytes, peer),
            }
        }
        if self.plan.request != NONE {
            let flags = if to_nobody { 0 } else { flag::SENDS };
            self.keep(RequestEntry { sent: bytes, peer, flags, ..self.entry() });
        }
    }

    /// A message was received, and its status is there.
    #[inline(always)]
    fn receive(&mut self, flow: &Flow<Place>) {
        let status = word(self.args, self.plan.status);
        let named = self.named(flow);
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
            self.rank_of(if named >= 0 { named } else { source }, ObjectKind::Comm)
        };
        self.moved(Way::Received, bytes, peer);
    }

    /// A message is to be received.
    #[inline(always)]
    fn post(&mut self) {
        let rank = self.named(&self.plan.flow[0]);
        let mut entry = self.entry();
        if rank != self.library.proc_null {
            entry.flags = flag::TOLD;
            if !self.ledger.peers.is_null() {
                entry.flags |= flag::PEER;
                let comm = self.handle();
                if rank >= 0 {
                    entry.peer = self.rank_of(rank, ObjectKind::Comm);
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
        let object = object::object(self.library, self.ledger, handle, ObjectKind::Comm);
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
    fn rank_of(&mut self, rank: i32, kind: ObjectKind) -> u32 {
        let handle = self.handle();
        if handle == self.library.comm_world {
            return rank as u32;
        }
        object::world_rank(self.library, self.ledger, handle, kind, rank)
    }

    #[inline(always)]
    fn entry(&self) -> RequestEntry {
        RequestEntry {
            sent: 0,
            received: 0,
            comm: 0,
            peer: NOBODY,
            generation: 0,
            function: self.function as u32,
            index: self.index.into(),
            kind: self.plan.waited.into(),
            flags: 0,
        }
    }

    #[inline(always)]
    fn keep(&mut self, entry: RequestEntry) {
        let address = word(self.args, self.plan.request);
        completion::keep(self.library, self.ledger, address, entry);
    }

    /// Counts a message.
    #[inline(always)]
    fn moved(&mut self, way: Way, bytes: u64, peer: u32) {
        // SAFETY: the number of a function.
        unsafe { peers::count(self.block, self.function, way, bytes) };
        if peer != NOBODY {
            // SAFETY: who counts peers has room for one more than there are ranks.
            let peer =
                unsafe { &mut *self.ledger.peers.add(peer.min(self.ledger.others) as usize) };
            peers::add(peer, way, bytes);
        }
        if EXTRA
            && self.ledger.communicators
            && let Some(traffic) = self.block.traffic.get_mut(usize::from(self.index))
        {
            peers::add(&mut traffic.peer, way, bytes);
        }
    }
}
