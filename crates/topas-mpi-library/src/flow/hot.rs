//! The calls that programs make all the time, each in a straight line: what is here is told by
//! [`super::call`], too, which is for all of them.
//!
//! It is for calls that were successful, by names of C without large counts, while measuring is not
//! paused. All that a call needs is looked up before anything is counted; what is new is left to
//! [`super::call`], so nothing is called from here. `WAY` tells whether
//! [`mode`](crate::mode) may have something switched on: communicators, and the analysis of waits.

use core::hint::unreachable_unchecked;

use topas_mpi_profile::layout::{Block, Traffic, bin};
use topas_mpi_table::{Flow, FlowAmount, Way};

use crate::element::element_mut;
use crate::flow::amount::{CallWords, word};
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::{self, Library};
use crate::flow::object::{self, CommObject};
use crate::flow::peers::{self, NOBODY, UNKNOWN};
use crate::flow::plan::{CallPlan, Hot, HotPlaces, Place};
use crate::flow::{Moved, call::NO_COMMUNICATOR, completion, datatype};
use crate::mode::{COUNTED, SOLE, is_plain};
use crate::requests::{RequestEntry, RequestRoom, flag};

/// A call that was successful.
pub struct HotCall<'a, const WAY: u8, const HOT: u8> {
    /// The MPI
    pub library: &'static Library,
    /// The thread's
    pub ledger: &'a mut Ledger,
    /// The thread's
    pub block: &'a mut Block,
    /// What is to be done
    pub plan: &'static CallPlan,
    /// The arguments of the call
    pub args: &'a CallWords,
    /// The number of the function, less than that of functions
    pub function: usize,
    /// Ticks in the outermost call
    pub ticks: u64,
}

/// What a call moved in one way, and where it counts.
#[derive(Clone, Copy)]
struct HotMessage {
    way: Way,
    bytes: u64,
    /// A rank of the world, or one of the numbers of [`peers`]
    peer: u32,
    /// Number of its histogram, plus 1
    histogram: u16,
}

impl HotMessage {
    /// What a call has moved that moved this alone.
    #[inline(always)]
    fn sizes(self) -> Moved {
        match self.way {
            Way::Sent => [self.bytes, 0],
            Way::Received => [0, self.bytes],
        }
    }
}

/// What counts a communicator: its row, or one that nobody reads, so that each call counts in the same
/// way.
#[derive(Clone, Copy)]
struct HotTraffic {
    row: *mut Traffic,
    index: u16,
}

/// Where the request of a call goes.
enum RequestPlace {
    /// It is one that is not kept
    Nowhere,
    Room(u64, RequestRoom),
}

impl<const WAY: u8, const HOT: u8> HotCall<'_, WAY, HOT> {
    /// Communicators are not counted.
    const SOLE: bool = is_plain(WAY) || WAY == SOLE;

    /// Where the arguments stand, if that is the same for all functions of the shape.
    const PLACES: Option<HotPlaces> = HotPlaces::of(HOT);

    /// Counts what the call moved, and tells that. None, and nothing done, if something about it is new.
    #[inline(always)]
    pub fn flows(mut self) -> Option<Moved> {
        let [first, second, _] = &self.plan.flow;
        match HOT {
            hot if hot == Hot::Send as u8 || hot == Hot::Rma as u8 => {
                let (elements, message) = self.named_block(first)?;
                let traffic = self.communicator()?;
                self.count(elements, traffic);
                self.moved(message, traffic);
                Some(message.map_or([0; 2], HotMessage::sizes))
            }
            hot if hot == Hot::Isend as u8 => {
                let (elements, message) = self.named_block(first)?;
                let request = self.request()?;
                let traffic = self.communicator()?;
                self.count(elements, traffic);
                self.moved(message, traffic);
                let (bytes, peer, flags) =
                    message.map_or((0, NOBODY, 0), |sent| (sent.bytes, sent.peer, flag::SENDS));
                self.keep(
                    request,
                    RequestEntry { sent: bytes, peer, flags, ..self.entry(traffic.index) },
                );
                Some([bytes, 0])
            }
            hot if hot == Hot::Recv as u8 => {
                let message = self.received(first)?;
                let traffic = self.communicator()?;
                self.count(self.elements(first), traffic);
                self.moved(message, traffic);
                Some(message.map_or([0; 2], HotMessage::sizes))
            }
            hot if hot == Hot::Irecv as u8 => {
                self.post(first)?;
                Some([0; 2])
            }
            hot if hot == Hot::Both as u8 => {
                let (elements, bytes) = self.block(first)?;
                let sent = self.message(Way::Sent, bytes, NOBODY)?;
                let received = self.message(Way::Received, bytes, NOBODY)?;
                let traffic = self.communicator()?;
                self.count(elements, traffic);
                self.moved(Some(sent), traffic);
                self.moved(Some(received), traffic);
                Some([bytes; 2])
            }
            hot if hot == Hot::Bcast as u8 => {
                let (elements, bytes) = self.block(first)?;
                let message = match self.side()? {
                    Some(way) => Some(self.message(way, bytes, NOBODY)?),
                    None => None,
                };
                let traffic = self.communicator()?;
                self.count(elements, traffic);
                self.moved(message, traffic);
                Some(message.map_or([0; 2], HotMessage::sizes))
            }
            hot if hot == Hot::Sendrecv as u8 => {
                let (elements, sent) = self.named_block(first)?;
                let received = self.received(second)?;
                let traffic = self.communicator()?;
                self.count(elements, traffic);
                self.moved(sent, traffic);
                self.moved(received, traffic);
                let bytes =
                    |message: Option<HotMessage>| message.map_or(0, |message| message.bytes);
                Some([bytes(sent), bytes(received)])
            }
            _ => None,
        }
    }

    /// Where the count and the datatype of a flow stand.
    #[inline(always)]
    fn block_places(flow: &Flow<Place>) -> [Place; 2] {
        if let Some(places) = Self::PLACES {
            return [places.count, places.datatype];
        }
        let FlowAmount::Block { count, datatype } = flow.amount else {
            // SAFETY: a plan has one of these shapes only if its flows are blocks.
            unsafe { unreachable_unchecked() }
        };
        [count, datatype]
    }

    /// How many elements a flow has, if it has some.
    #[inline(always)]
    fn count_of(&self, flow: &Flow<Place>) -> i32 {
        let [count, _] = Self::block_places(flow);
        word(self.args, count) as i32
    }

    /// How many elements a flow has.
    #[inline(always)]
    fn elements(&self, flow: &Flow<Place>) -> u64 {
        i64::from(self.count_of(flow)).max(0) as u64
    }

    /// Elements and bytes of a flow.
    #[inline(always)]
    fn block(&self, flow: &Flow<Place>) -> Option<(u64, u64)> {
        let [_, datatype] = Self::block_places(flow);
        let count = self.count_of(flow);
        if count <= 0 {
            // The datatype of no elements may be anything.
            return Some((0, 0));
        }
        let elements = u64::from(count.cast_unsigned());
        let size = datatype::recent(self.ledger, word(self.args, datatype))?;
        Some((elements, elements.wrapping_mul(size)))
    }

    /// A message, if it has a histogram.
    #[inline(always)]
    fn message(&self, way: Way, bytes: u64, peer: u32) -> Option<HotMessage> {
        // SAFETY: the number of a function.
        let beside = unsafe { self.block.beside.get_unchecked(self.function) };
        let histogram = match way {
            Way::Sent => beside.sent,
            Way::Received => beside.received,
        };
        (histogram != 0).then_some(HotMessage { way, bytes, peer, histogram })
    }

    /// The rank at the other end, as the call names it.
    #[inline(always)]
    fn named(&self, flow: &Flow<Place>) -> i32 {
        let place = match Self::PLACES {
            Some(places) => places.peer,
            // SAFETY: a plan has a shape with a rank only if its flows name one.
            None => unsafe { flow.peer.unwrap_unchecked() },
        };
        word(self.args, place) as i32
    }

    /// One block to or from the rank that is named, and how many elements the call names.
    #[inline(always)]
    fn named_block(&self, flow: &Flow<Place>) -> Option<(u64, Option<HotMessage>)> {
        let rank = self.named(flow);
        if rank == self.library.proc_null {
            return Some((self.elements(flow), None));
        }
        let (elements, bytes) = self.block(flow)?;
        let way = match flow.way {
            Way::Received if HOT == Hot::Rma as u8 => Way::Received,
            _ => Way::Sent,
        };
        Some((elements, Some(self.message(way, bytes, self.peer(rank)?)?)))
    }

    /// The message that was received: its status is there.
    #[inline(always)]
    fn received(&self, flow: &Flow<Place>) -> Option<Option<HotMessage>> {
        let status = word(self.args, Self::PLACES.map_or(self.plan.status, |places| places.last));
        let (named, library) = (self.named(flow), self.library);
        if named == library.proc_null || status == library.status_ignore {
            return Some(None);
        }
        let status = status as *const u8;
        // SAFETY: the status of a call that was successful.
        let (bytes, source) = unsafe {
            (library::bytes_in(library.length, status), library::source_in(library, status))
        };
        let peer = self.peer(if named >= 0 { named } else { source })?;
        Some(Some(self.message(Way::Received, bytes, peer)?))
    }

    /// A message is to be received.
    #[inline(always)]
    fn post(&mut self, flow: &Flow<Place>) -> Option<()> {
        let rank = self.named(flow);
        let (mut flags, mut peer) = (0, NOBODY);
        let (mut comm, mut from) = (0, 0);
        if rank != self.library.proc_null {
            flags = flag::TOLD;
            if !self.ledger.peers.is_null() {
                flags |= flag::PEER;
                peer = UNKNOWN;
                if rank >= 0 {
                    peer = self.peer(rank)?;
                } else if self.handle() == self.library.comm_world {
                    flags |= flag::IDENTITY;
                } else {
                    comm = self.handle();
                    from = generation(place(comm));
                }
            }
        }
        let request = self.request()?;
        let traffic = self.communicator()?;
        self.count(self.elements(flow), traffic);
        let entry =
            RequestEntry { flags, peer, comm, generation: from, ..self.entry(traffic.index) };
        self.keep(request, entry);
        Some(())
    }

    /// Which side of a message from the root to all others this process is; None if it takes no
    /// part.
    #[inline(always)]
    fn side(&self) -> Option<Option<Way>> {
        let object = self.object()?;
        let own = if object.inter { self.library.abi.root } else { object.rank as i32 };
        let root =
            word(self.args, Self::PLACES.map_or(self.plan.root, |places| places.peer)) as i32;
        Some(if root == own { Some(Way::Sent) } else { (root >= 0).then_some(Way::Received) })
    }

    #[inline(always)]
    fn handle(&self) -> u64 {
        let place = Self::PLACES.map_or(self.plan.object, |places| places.object);
        word(self.args, place) as u64 & self.library.handle_mask
    }

    /// The communicator or window, if it was met before.
    #[inline(always)]
    fn object(&self) -> Option<&CommObject> {
        object::known(self.ledger, self.handle())
    }

    /// The rank in the world of a rank that is not negative, if peers are counted.
    #[inline(always)]
    fn peer(&self, rank: i32) -> Option<u32> {
        if self.ledger.peers.is_null() {
            return Some(NOBODY);
        }
        let handle = self.handle();
        if handle == self.library.comm_world {
            return Some(rank as u32);
        }
        object::known_world_rank(self.ledger, self.object()?, rank)
    }

    /// What counts the communicator or window.
    #[inline(always)]
    fn communicator(&mut self) -> Option<HotTraffic> {
        let nowhere = HotTraffic { row: &raw mut self.ledger.nowhere, index: NO_COMMUNICATOR };
        if Self::SOLE || WAY != COUNTED && !self.ledger.communicators {
            return Some(nowhere);
        }
        let index = self.object()?.index;
        let row = element_mut(&mut self.block.traffic, usize::from(index));
        Some(HotTraffic { row, index })
    }

    /// Where the request goes, if there is room without a search.
    #[inline(always)]
    fn request(&self) -> Option<RequestPlace> {
        let address = word(self.args, Self::PLACES.map_or(self.plan.request, |places| places.last));
        // SAFETY: the call has written a request there.
        let request = unsafe { library::handle_at(self.library, address, 0) };
        if request == self.library.request_null || completion::is_shared(self.library, request) {
            return Some(RequestPlace::Nowhere);
        }
        self.ledger.requests.room(request).map(|room| RequestPlace::Room(request, room))
    }

    #[inline(always)]
    fn entry(&self, index: u16) -> RequestEntry {
        RequestEntry {
            peer: NOBODY,
            function: self.function as u32,
            index: index.into(),
            kind: self.plan.waited.into(),
            ..RequestEntry::default()
        }
    }

    #[inline(always)]
    fn keep(&mut self, request: RequestPlace, entry: RequestEntry) {
        if let RequestPlace::Room(request, room) = request {
            self.ledger.requests.put_into(room, request, &entry);
        }
    }

    /// Adds the count argument, and the call for its communicator.
    #[inline(always)]
    fn count(&mut self, elements: u64, traffic: HotTraffic) {
        // SAFETY: there is a row for every function.
        let row = unsafe { self.block.rows.get_unchecked_mut(self.function) };
        row.count = row.count.wrapping_add(elements);
        if !Self::SOLE {
            // SAFETY: a row of this thread's.
            let row = unsafe { &mut *traffic.row };
            row.calls = row.calls.wrapping_add(1);
            row.ticks = row.ticks.wrapping_add(self.ticks);
        }
    }

    /// Counts a message.
    #[inline(always)]
    fn moved(&mut self, message: Option<HotMessage>, traffic: HotTraffic) {
        let Some(HotMessage { way, bytes, peer, histogram }) = message else { return };
        // SAFETY: there is a row for every function; numbers of histograms are 1 more than that of
        // one, and bins are bins.
        unsafe {
            peers::add_row(self.block.rows.get_unchecked_mut(self.function), way, bytes);
            let sizes = self.block.sizes.get_unchecked_mut(usize::from(histogram) - 1);
            *sizes.get_unchecked_mut(bin(bytes)) += 1;
        }
        if peer != NOBODY {
            // SAFETY: who counts peers has room for one more than there are ranks.
            let peer =
                unsafe { &mut *self.ledger.peers.add(peer.min(self.ledger.others) as usize) };
            peers::add(peer, way, bytes);
        }
        if !Self::SOLE {
            // SAFETY: a row of this thread's.
            peers::add(unsafe { &mut (*traffic.row).peer }, way, bytes);
        }
    }
}
