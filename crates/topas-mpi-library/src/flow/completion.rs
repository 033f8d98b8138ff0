//! Requests that a call waits for or asks for: what they were, and what they turned out to be.

use topas_mpi_profile::layout::{Waited, flag as header_flag};
use topas_mpi_table::Way;

use crate::element::{element, element_mut};
use crate::flow::amount::{CallWords, word};
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::{self, Library};
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers::{Account, NOBODY, OTHERS, UNKNOWN};
use crate::flow::plan::{Act, CallPlan};
use crate::flow::waits::{self, Completions};
use crate::frame::{CallNotes, Frame, PendingRequest};
use crate::requests::{RequestEntry, flag};
use crate::{mode, paths, spool};

/// What those are that many operations share: most are messages sent.
static SHARED: RequestEntry = RequestEntry {
    sent: 0,
    received: 0,
    comm: 0,
    peer: NOBODY,
    generation: 0,
    function: 0,
    index: 0,
    kind: Waited::Send as u32,
    flags: 0,
};

impl PendingRequest {
    /// What it is.
    #[inline(always)]
    fn entry(&self) -> &RequestEntry {
        match &self.found {
            Some(found) if found.is_own() => found.entry(),
            // SAFETY: written when it was found.
            Some(_) => unsafe { self.entry.assume_init_ref() },
            None => &SHARED,
        }
    }
}

/// How many requests a call has.
#[inline(always)]
fn requests(plan: &CallPlan, args: &CallWords) -> usize {
    match plan.act {
        Act::Wait | Act::Test => 1,
        // Their number is the first argument.
        _ => (args[0] as i32).max(0) as usize,
    }
}

/// Whether every request of a call gets a status of its own.
#[inline(always)]
const fn has_many(act: Act) -> bool {
    matches!(act, Act::Waitall | Act::Testall | Act::Waitsome | Act::Testsome)
}

/// Before the call: what its requests are; and if one of them needs a status that the program does
/// not want, there will be one.
#[inline(always)]
pub fn before(
    library: &Library,
    ledger: &mut Ledger,
    plan: &CallPlan,
    args: &mut CallWords,
    kept: &mut CallNotes,
) {
    kept.count = 0;
    let count = requests(plan, args);
    let array = word(args, plan.about);
    if count == 0 || array == 0 {
        return;
    }
    let room: *mut PendingRequest = if count == 1 {
        kept.one.as_mut_ptr()
    } else {
        match ledger.pending.first(count) {
            Some(room) => room,
            None => return lost(),
        }
    };
    kept.pending = room;
    let mut told = false;
    for i in 0..count {
        // SAFETY: the array has this many.
        let handle = unsafe { library::handle_at(library, array, i) };
        if handle == library.request_null {
            continue;
        }
        // SAFETY: there is room for all requests of the call.
        let pending = unsafe { &mut *room.add(kept.count) };
        match ledger.find(handle) {
            Some(found) => {
                told |= found.entry().flags & (flag::TOLD | flag::CANCELLED) != 0;
                if !found.is_own() {
                    pending.entry.write(*found.entry());
                }
                pending.found = Some(found);
            }
            None if is_shared(library, handle) => pending.found = None,
            None => continue,
        }
        pending.place = i as u32;
        kept.count += 1;
    }
    let status = usize::from(plan.status);
    if told && *element(args, status) == library.status_ignore {
        if count == 1 || !has_many(plan.act) {
            *element_mut(args, status) = kept.status.as_mut_ptr() as usize;
        } else if let Some(room) = ledger.statuses.first((count * library.status_size).div_ceil(8))
        {
            *element_mut(args, status) = room as usize;
        } else {
            kept.count = 0;
            lost();
        }
    }
}

/// Whether many operations share this request, because they were complete at once.
#[inline(always)]
pub fn is_shared(library: &Library, request: u64) -> bool {
    library.abi.is_shared_request(request) || library.completed.contains(&request)
}

/// Keeps what the request is that a call has written to this address.
#[inline(always)]
pub fn keep(library: &Library, ledger: &mut Ledger, address: usize, entry: RequestEntry) {
    // SAFETY: the call has written a request there.
    let request = unsafe { library::handle_at(library, address, 0) };
    if request != library.request_null
        && !is_shared(library, request)
        && !ledger.requests.put(request, entry)
    {
        lost();
    }
}

/// What a call completed, and what came by it.
struct Completed<'a, 'b, const EXTRA: bool> {
    library: &'a Library,
    ledger: &'a mut Ledger,
    account: Option<&'a mut Account<'b>>,
    waited: u32,
    /// B of messages that were received
    received: u64,
    /// If waits are told apart
    waits: Option<&'a mut Completions>,
}

/// What a call completed, as its caller counts it.
#[derive(Clone, Copy)]
pub struct CompletedRequests {
    /// A [`Waited`]
    pub waited: u32,
    /// B of messages that were received
    pub received: u64,
}

impl CompletedRequests {
    /// Nothing.
    pub const NONE: CompletedRequests =
        CompletedRequests { waited: Waited::Nothing as u32, received: 0 };
}

/// A call that waits or asks for requests, and returned at `now`.
pub struct CompletionCall<'a> {
    /// What is to be done
    pub plan: &'static CallPlan,
    /// The arguments of the call, its result and its requests
    pub frame: &'a Frame,
    /// When the outermost call began, in ticks
    pub began: u64,
    /// In ticks
    pub now: u64,
}

impl CompletionCall<'_> {
    /// Counts what was completed, and tells that. There is a request at least.
    #[inline(always)]
    pub fn after<const EXTRA: bool>(
        &self,
        library: &Library,
        ledger: &mut Ledger,
        account: Option<&mut Account<'_>>,
    ) -> CompletedRequests {
        let Frame { args, kept, .. } = self.frame;
        let plan = self.plan;
        let CompletedRequests { waited, received } = CompletedRequests::NONE;
        let mut waits = None;
        if EXTRA && mode::has(mode::WAITS) {
            waits = Some(Completions::of(self.frame.function(), self.began, self.now));
        }
        let waits = waits.as_mut();
        let mut completed =
            Completed::<EXTRA> { library, ledger, account, waited, received, waits };
        // SAFETY: as many as were written before the call.
        let pending = unsafe { core::slice::from_raw_parts(kept.pending, kept.count) };
        let status = word(args, plan.status);
        if self.frame.result as i32 != 0 {
            completed.after_error(plan, args, pending, status);
            return completed.end();
        }
        // SAFETY: an integer that the call has written.
        let number = |place: usize| unsafe { *(*element(args, place) as *const i32) };
        if EXTRA && let Some(waits) = &completed.waits {
            let asked_in_vain = match plan.act {
                Act::Test => number(1) == 0,
                Act::Testall | Act::Testsome => number(2) == 0,
                Act::Testany => number(3) == 0,
                _ => false,
            };
            if asked_in_vain {
                let posts = pending.iter().map(|request| waits::post_of(request.entry()));
                waits::asked_in_vain(waits.call(), posts);
                return CompletedRequests::NONE;
            }
        }
        match plan.act {
            Act::Wait | Act::Waitall | Act::Test | Act::Testall => {
                let is_done = match plan.act {
                    Act::Test => number(1) != 0,
                    Act::Testall => number(2) != 0,
                    _ => true,
                };
                if is_done {
                    completed.all(pending, status, has_many(plan.act));
                }
            }
            // The flag of MPI_Testany stands behind the index.
            Act::Testany if number(3) == 0 => {}
            Act::Waitany | Act::Testany => completed.one(pending, number(2), status),
            Act::Waitsome | Act::Testsome => {
                let indices = args[3] as *const i32;
                for i in 0..number(2).max(0) as usize {
                    let each = completed.nth(status, i);
                    // SAFETY: as many as the call says.
                    completed.one(pending, unsafe { *indices.add(i) }, each);
                }
            }
            _ => {}
        }
        completed.end()
    }
}

impl<const EXTRA: bool> Completed<'_, '_, EXTRA> {
    /// All was told.
    #[inline(always)]
    fn end(self) -> CompletedRequests {
        if EXTRA && let Some(waits) = self.waits {
            waits::end(waits);
        }
        CompletedRequests { waited: self.waited, received: self.received }
    }

    /// The status at this place of an array.
    #[inline(always)]
    fn nth(&self, statuses: usize, place: usize) -> usize {
        if statuses == self.library.status_ignore {
            statuses
        } else {
            statuses + place * self.library.status_size
        }
    }

    #[inline(always)]
    fn all(&mut self, pending: &[PendingRequest], status: usize, many: bool) {
        for request in pending {
            let each = if many { self.nth(status, request.place as usize) } else { status };
            self.request(request, each, true);
        }
    }

    fn one(&mut self, pending: &[PendingRequest], index: i32, status: usize) {
        // They are in order of their places; most calls have all of them.
        let near = pending.get(index.max(0) as usize).filter(|r| r.place as i32 == index);
        let search = || {
            let found = pending.binary_search_by_key(&index, |r| r.place as i32).ok()?;
            pending.get(found)
        };
        if let Some(request) = near.or_else(search) {
            self.request(request, status, true);
        }
    }

    /// A call that failed has completed those requests that are null now.
    #[cold]
    #[inline(never)]
    fn after_error(
        &mut self,
        plan: &CallPlan,
        args: &CallWords,
        pending: &[PendingRequest],
        status: usize,
    ) {
        let array = word(args, plan.about);
        for request in pending {
            let at = request.place as usize;
            // SAFETY: the requests of the call.
            let now = unsafe { library::handle_at(self.library, array, at) };
            if now != self.library.request_null {
                continue;
            }
            let each = self.nth(status, at);
            let good = matches!(plan.act, Act::Waitall | Act::Testall)
                && each != self.library.status_ignore
                // SAFETY: the calls that fail with some requests tell how each of them ended.
                && unsafe { library::error_in(self.library, each as *const u8) } == 0;
            self.request(request, each, good);
        }
    }

    /// A request came to its end, a good one or not.
    #[inline(always)]
    fn request(&mut self, request: &PendingRequest, status: usize, good: bool) {
        let entry = request.entry();
        let flags = entry.flags;
        let persistent = flags & flag::PERSISTENT != 0;
        if persistent && flags & flag::ACTIVE == 0 {
            return;
        }
        self.waited = self.waited.max(entry.kind);
        if EXTRA && let Some(waits) = self.waits.as_deref_mut() {
            waits::completed(self.library, self.ledger, waits, entry, status);
        }
        if good
            && flags & (flag::TOLD | flag::CANCELLED) != 0
            && status != self.library.status_ignore
        {
            self.told(entry, status as *const u8);
        }
        let Some(found) = request.found else { return };
        if persistent {
            found.set_flags(flags & !(flag::ACTIVE | flag::CANCELLED));
        } else {
            found.remove();
        }
    }

    /// A status tells what was received, or that a message was cancelled.
    #[inline(always)]
    fn told(&mut self, entry: &RequestEntry, status: *const u8) {
        let Some(account) = self.account.as_deref_mut() else { return };
        let library = self.library;
        if entry.flags & flag::CANCELLED != 0
            // SAFETY: a status that the call has written.
            && unsafe { library::is_cancelled(library.length, status) }
        {
            if entry.flags & flag::SENDS != 0
                && !account.unsent(
                    entry.function as u16,
                    entry.sent,
                    entry.peer,
                    entry.index as u16,
                )
            {
                lost();
            }
            return;
        }
        if entry.flags & flag::TOLD == 0 {
            return;
        }
        // SAFETY: a status that the call has written.
        let (bytes, source) = unsafe {
            (library::bytes_in(library.length, status), library::source_in(library, status))
        };
        let way = match entry.kind {
            kind if kind == Waited::Write as u32 => Way::Sent,
            _ => Way::Received,
        };
        let mut peer = NOBODY;
        if entry.kind == Waited::Receive as u32 {
            if source == library.proc_null {
                return;
            }
            if entry.flags & flag::PEER != 0 {
                peer = source_of(library, self.ledger, entry, source);
            }
        }
        account.moved(way, entry.function as u16, bytes, peer, entry.index as u16);
        if paths::is_completed_later(entry.function) {
            self.received = self.received.wrapping_add(bytes);
        }
    }
}

/// The peer of a message that was received from `source`.
#[inline(always)]
fn source_of(library: &Library, ledger: &mut Ledger, entry: &RequestEntry, source: i32) -> u32 {
    if entry.peer != UNKNOWN {
        entry.peer
    } else if entry.flags & flag::IDENTITY != 0 {
        source as u32
    } else if generation(place(entry.comm)) == entry.generation {
        object::world_rank(library, ledger, entry.comm, ObjectKind::Comm, source)
    } else {
        // The communicator is gone, and with it the meaning of the rank.
        OTHERS
    }
}

/// Says that some bytes will be missing.
#[cold]
pub fn lost() {
    if let Some(header) = spool::header() {
        header.flags |= header_flag::REQUESTS_LOST;
    }
}
