//! The flows of one call.

use topas_mpi_profile::layout::Waited;

use crate::flow::amount::{self, Among, Words, word};
use crate::flow::completion::{is_shared, lost};
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::{self, Library};
use crate::flow::object::{self, Kind};
use crate::flow::peers::{self, Account, NOBODY, UNKNOWN};
use crate::flow::plan::{By, Flow, InPlace, NONE, Plan, Told, Way};
use crate::flow::request::{Entry, flag};

/// No communicator.
pub const NO_COMMUNICATOR: u16 = u16::MAX;

/// A call that was successful.
pub struct Call<'a> {
    /// The MPI
    pub library: &'static Library,
    /// The thread's
    pub ledger: &'a mut Ledger,
    /// What is to be done
    pub plan: &'static Plan,
    /// Its arguments
    pub args: &'a Words,
    /// What is known of the message that it receives
    pub message: Option<Entry>,
    /// Its number
    pub function: u16,
    /// It takes large counts
    pub large: bool,
}

impl Call<'_> {
    /// Counts what the call moved, and keeps what is to be counted with its request.
    #[inline(always)]
    pub fn flows(&mut self, mut account: Option<&mut Account<'_>>, ticks: u64) {
        let plan = self.plan;
        let library = self.library;
        let handle = word(self.args, plan.object) as u64 & library.handle_mask;
        let mut index = NO_COMMUNICATOR;
        if plan.is_comm
            && let Some(account) = account.as_deref_mut()
            && account.communicators
        {
            index = object::object(library, self.ledger, handle, Kind::Comm).index;
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
        let (mut among, mut in_place, mut inter, mut known) =
            (Among::default(), false, false, true);
        if plan.needs_object {
            let object = object::object(library, self.ledger, handle, Kind::Comm);
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
        let mut entry = Entry {
            comm: handle,
            peer: NOBODY,
            function: self.function.into(),
            index: index.into(),
            kind: plan.waited.into(),
            flags: if plan.persistent { flag::PERSISTENT } else { 0 },
            ..Entry::default()
        };
        if !known {
            lost();
        }
        let flows = if known { usize::from(plan.flows) } else { 0 };
        for flow in plan.flow.iter().take(flows) {
            if !self.takes_place(flow, &among, inter) {
                continue;
            }
            let rank = if flow.peer == NONE { -1 } else { word(self.args, flow.peer) as i32 };
            if flow.peer != NONE && rank == library.proc_null {
                continue;
            }
            match flow.told {
                Told::Arguments => {
                    let Some(bytes) = self.bytes(flow, &among, in_place) else { continue };
                    let peer = if counts_peers { self.peer(rank, handle) } else { NOBODY };
                    if plan.persistent {
                        entry.keep(flow.way, bytes, peer);
                    } else if let Some(account) = account.as_deref_mut() {
                        if plan.request != NONE && flow.way == Way::Sent {
                            // It may yet be cancelled.
                            entry.sent = bytes;
                            entry.peer = peer;
                            entry.flags |= flag::SENDS;
                        }
                        account.moved(way(flow.way), self.function, bytes, peer, index);
                    }
                }
                Told::Status => {
                    if let Some(account) = account.as_deref_mut() {
                        self.by_status(account, flow, rank, handle, index, counts_peers);
                    }
                }
                Told::Completion => {
                    entry.flags |= flag::TOLD;
                    if counts_peers {
                        self.later(&mut entry, rank, handle);
                    }
                }
                Told::End => {}
            }
        }
        if plan.request != NONE {
            self.keep(entry);
        }
    }

    /// Whether this process takes part in a flow.
    #[inline(always)]
    fn takes_place(&self, flow: &Flow, among: &Among, inter: bool) -> bool {
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
        if flow.by == By::All {
            return true;
        }
        let root = word(self.args, self.plan.root) as i32;
        let own = among.rank as i32;
        match flow.by {
            By::All => true,
            By::NotFirst => own != 0,
            By::Root if inter => root == self.library.abi.root,
            By::Others | By::Group if inter => root >= 0,
            By::Root => root == own,
            By::Others => root != own,
            By::Group => true,
        }
    }

    /// How much a flow moves; None if it does not take place.
    #[inline(always)]
    fn bytes(&mut self, flow: &Flow, among: &Among, in_place: bool) -> Option<u64> {
        let (amount, others) = match flow.in_place {
            _ if !in_place => (&flow.amount, false),
            InPlace::Same => (&flow.amount, false),
            InPlace::Nothing => return None,
            InPlace::Others => (&flow.amount, true),
            InPlace::Instead => (&flow.instead, false),
            InPlace::OthersInstead => (&flow.instead, true),
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
        let kind = if self.plan.is_comm { Kind::Comm } else { Kind::Win };
        object::world_rank(self.library, self.ledger, handle, kind, rank)
    }

    /// A message has been received, and its status is there.
    #[inline(always)]
    fn by_status(
        &mut self,
        account: &mut Account<'_>,
        flow: &Flow,
        rank: i32,
        handle: u64,
        index: u16,
        counts_peers: bool,
    ) {
        let library = self.library;
        let status = word(self.args, self.plan.status);
        if status == library.status_ignore {
            return;
        }
        let status = status as *const u8;
        // SAFETY: the status of a call that was successful.
        let bytes = unsafe { library::bytes_in(library.length, status) };
        if self.plan.waited != Waited::Receive as u8 {
            return account.moved(way(flow.way), self.function, bytes, NOBODY, index);
        }
        // SAFETY: as above.
        let source = unsafe { library::source_in(library, status) };
        if source == library.proc_null {
            return;
        }
        let (mut peer, mut index) = (NOBODY, index);
        if counts_peers {
            peer = match self.message {
                Some(message) => self.of_message(&message, source),
                None if flow.peer == NONE => peers::OTHERS,
                None => self.peer(if rank >= 0 { rank } else { source }, handle),
            };
        }
        if let Some(message) = &self.message {
            index = message.index as u16;
        }
        account.moved(way(flow.way), self.function, bytes, peer, index);
    }

    /// The peer of a matched message.
    #[cold]
    fn of_message(&mut self, message: &Entry, source: i32) -> u32 {
        if generation(place(message.comm)) == message.generation {
            object::world_rank(self.library, self.ledger, message.comm, Kind::Comm, source)
        } else {
            peers::OTHERS
        }
    }

    /// What has to be known of the peer when the request is completed.
    #[inline(always)]
    fn later(&mut self, entry: &mut Entry, rank: i32, handle: u64) {
        if !self.plan.peers {
            return;
        }
        entry.flags |= flag::PEER;
        if let Some(message) = self.message {
            entry.comm = message.comm;
            entry.generation = message.generation;
            entry.index = message.index;
            entry.peer = UNKNOWN;
        } else if rank >= 0 {
            entry.peer = self.peer(rank, handle);
        } else if self.plan.is_comm {
            entry.peer = UNKNOWN;
            entry.generation = generation(place(handle));
            let object = object::object(self.library, self.ledger, handle, Kind::Comm);
            if object.is_world() {
                entry.flags |= flag::IDENTITY;
            }
        } else {
            entry.peer = peers::OTHERS;
        }
    }

    /// Keeps what a request is.
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
}

impl Entry {
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

/// The same word.
#[inline(always)]
pub const fn way(way: Way) -> peers::Way {
    match way {
        Way::Sent => peers::Way::Sent,
        Way::Received => peers::Way::Received,
    }
}
