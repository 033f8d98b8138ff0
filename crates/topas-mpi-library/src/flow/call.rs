//! The flows of one call.

use topas_mpi_profile::layout::Waited;
use topas_mpi_table::{Flow, InPlace, Participants, ToldBy, Way};

use crate::flow::amount::{self, Among, CallWords, word};
use crate::flow::completion::{self, lost};
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::{self, Library};
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers::{self, Account, NOBODY, UNKNOWN};
use crate::flow::plan::{CallPlan, NONE, Place};
use crate::requests::{RequestEntry, flag};

/// No communicator.
pub const NO_COMMUNICATOR: u16 = u16::MAX;

/// A call that was successful.
pub struct GeneralCall<'a> {
    /// The MPI
    pub library: &'static Library,
    /// The thread's
    pub ledger: &'a mut Ledger,
    /// What is to be done
    pub plan: &'static CallPlan,
    /// The arguments of the call
    pub args: &'a CallWords,
    /// What is known of the message that it receives
    pub message: Option<RequestEntry>,
    /// The number of the function
    pub function: u16,
    /// The function takes large counts
    pub large: bool,
}

impl GeneralCall<'_> {
    /// Counts what the call moved, and keeps what is to be counted with its request.
    #[inline(always)]
    pub fn flows(&mut self, mut account: Option<&mut Account<'_>>, ticks: u64) {
        let plan = self.plan;
        let library = self.library;
        let handle = word(self.args, plan.object) as u64 & library.handle_mask;
        let mut index = NO_COMMUNICATOR;
        if (plan.is_comm() || plan.traffic)
            && let Some(account) = account.as_deref_mut()
            && account.communicators
        {
            index = object::object(library, self.ledger, handle, plan.kind).index;
            if plan.traffic
                && let Some(traffic) = account.block.traffic.get_mut(usize::from(index))
            {
                traffic.calls += 1;
                traffic.ticks += ticks;
            }
        }
        if plan.flows == 0 && plan.request == NONE {
            return;
        }
        // A matched message names no communicator, but is of one.
        if let Some(message) = &self.message {
            index = message.index as u16;
        }
        let (mut among, mut in_place, mut inter, mut known) =
            (Among::default(), false, false, true);
        if plan.needs_object {
            let object = object::object(library, self.ledger, handle, ObjectKind::Comm);
            if plan.neighbors {
                known = object.know_neighbors(library);
            }
            among = object.among();
            inter = object.inter;
            in_place = plan.in_place != NONE
                && word(self.args, plan.in_place) == library.in_place
                && !inter
                && (plan.root == NONE || word(self.args, plan.root) as i32 == among.rank as i32);
        }
        let counts_peers =
            plan.peers && account.as_deref().is_some_and(|account| !account.peers.is_empty());
        let mut entry = RequestEntry {
            comm: handle,
            peer: NOBODY,
            function: self.function.into(),
            index: index.into(),
            kind: plan.waited.into(),
            flags: if plan.persistent { flag::PERSISTENT } else { 0 },
            ..RequestEntry::default()
        };
        if !known {
            lost();
        }
        let flows = if known { usize::from(plan.flows) } else { 0 };
        for flow in plan.flow.iter().take(flows) {
            if !self.takes_place(flow, &among, inter) {
                continue;
            }
            let rank = flow.peer.map_or(-1, |peer| word(self.args, peer) as i32);
            if flow.peer.is_some() && rank == library.proc_null {
                continue;
            }
            let (bytes, peer) = match flow.told_by {
                ToldBy::Arguments => {
                    let Some(bytes) = self.bytes(flow, &among, in_place) else { continue };
                    let peer = if counts_peers { self.peer(rank, handle) } else { NOBODY };
                    if plan.persistent {
                        entry.keep(flow.way, bytes, peer);
                        continue;
                    }
                    if plan.request != NONE && flow.way == Way::Sent && account.is_some() {
                        // The send may yet be cancelled.
                        entry.sent = bytes;
                        entry.peer = peer;
                        entry.flags |= flag::SENDS;
                    }
                    (bytes, peer)
                }
                ToldBy::Status(_) => match self.by_status(flow, rank, handle, counts_peers) {
                    Some(received) => received,
                    None => continue,
                },
                ToldBy::Completion => {
                    entry.flags |= flag::TOLD;
                    if counts_peers {
                        self.later(&mut entry, rank, handle);
                    }
                    continue;
                }
                ToldBy::End => continue,
            };
            if let Some(account) = account.as_deref_mut() {
                account.moved(flow.way, self.function, bytes, peer, index);
            }
        }
        if plan.request != NONE {
            let address = word(self.args, plan.request);
            completion::keep(library, self.ledger, address, entry);
        }
    }

    /// Whether this process takes part in a flow.
    #[inline(always)]
    fn takes_place(&self, flow: &Flow<Place>, among: &Among, inter: bool) -> bool {
        if flow.unless_no_op {
            let op = word(self.args, self.plan.op) as u64 & self.library.handle_mask;
            if op == self.library.no_op {
                return false;
            }
        }
        // One block for all neighbours goes nowhere if there is none.
        if self.plan.neighbors && flow.way == Way::Sent && among.goes_nowhere() {
            return false;
        }
        if flow.by == Participants::All {
            return true;
        }
        let root = word(self.args, self.plan.root) as i32;
        let own = among.rank as i32;
        match flow.by {
            Participants::All => true,
            Participants::NotFirst => own != 0,
            Participants::Root if inter => root == self.library.abi.root,
            Participants::Others | Participants::Group if inter => root >= 0,
            Participants::Root => root == own,
            Participants::Others => root != own,
            Participants::Group => true,
        }
    }

    /// How much a flow moves; None if it does not take place.
    #[inline(always)]
    fn bytes(&mut self, flow: &Flow<Place>, among: &Among, in_place: bool) -> Option<u64> {
        let (amount, others) = match &flow.in_place {
            _ if !in_place => (&flow.amount, false),
            InPlace::Same => (&flow.amount, false),
            InPlace::Nothing => return None,
            InPlace::OthersOnly => (&flow.amount, true),
            InPlace::Instead(instead) => (instead, false),
            InPlace::OthersInstead(instead) => (instead, true),
        };
        let (library, ledger) = (self.library, &mut *self.ledger);
        // SAFETY: the MPI has accepted the arguments, and this process takes part.
        Some(unsafe {
            amount::bytes(library, ledger, among, amount, self.args, self.large, others)
        })
    }

    /// The rank in the world of a rank that a call names.
    #[inline(always)]
    fn peer(&mut self, rank: i32, handle: u64) -> u32 {
        if rank < 0 {
            return NOBODY;
        }
        object::world_rank(self.library, self.ledger, handle, self.plan.kind, rank)
    }

    /// How much the status of the call says, and from whom; None if it does not say.
    #[inline(always)]
    fn by_status(
        &mut self,
        flow: &Flow<Place>,
        rank: i32,
        handle: u64,
        counts_peers: bool,
    ) -> Option<(u64, u32)> {
        let library = self.library;
        let status = word(self.args, self.plan.status);
        if status == library.status_ignore {
            return None;
        }
        let status = status as *const u8;
        // SAFETY: the status of a call that was successful.
        let bytes = unsafe { library::bytes_in(library.length, status) };
        if self.plan.waited != Waited::Receive as u8 {
            return Some((bytes, NOBODY));
        }
        // SAFETY: as above.
        let source = unsafe { library::source_in(library, status) };
        if source == library.proc_null {
            return None;
        }
        let peer = match self.message {
            _ if !counts_peers => NOBODY,
            Some(message) => self.of_message(&message, source),
            None if flow.peer.is_none() => peers::OTHERS,
            None => self.peer(if rank >= 0 { rank } else { source }, handle),
        };
        Some((bytes, peer))
    }

    /// The peer of a matched message.
    #[cold]
    fn of_message(&mut self, message: &RequestEntry, source: i32) -> u32 {
        if generation(place(message.comm)) == message.generation {
            object::world_rank(self.library, self.ledger, message.comm, ObjectKind::Comm, source)
        } else {
            peers::OTHERS
        }
    }

    /// What has to be known of the peer when the request is completed.
    #[inline(always)]
    fn later(&mut self, entry: &mut RequestEntry, rank: i32, handle: u64) {
        if !self.plan.peers {
            return;
        }
        entry.flags |= flag::PEER;
        if let Some(message) = self.message {
            entry.comm = message.comm;
            entry.generation = message.generation;
            entry.peer = UNKNOWN;
        } else if rank >= 0 {
            entry.peer = self.peer(rank, handle);
        } else if self.plan.is_comm() {
            entry.peer = UNKNOWN;
            entry.generation = generation(place(handle));
            let object = object::object(self.library, self.ledger, handle, ObjectKind::Comm);
            if object.is_world() {
                entry.flags |= flag::IDENTITY;
            }
        } else {
            entry.peer = peers::OTHERS;
        }
    }
}

impl RequestEntry {
    /// What each start of a persistent request moves.
    fn keep(&mut self, way: Way, bytes: u64, peer: u32) {
        match way {
            Way::Sent => {
                self.sent = bytes;
                self.flags |= flag::SENDS;
            }
            Way::Received => {
                self.received = bytes;
                self.flags |= flag::RECEIVES;
            }
        }
        self.peer = peer;
    }
}
