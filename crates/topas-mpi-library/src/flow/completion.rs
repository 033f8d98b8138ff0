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
use crate::frame::{CallNotes, PendingRequest};
use crate::requests::{RequestEntry, flag};
use crate::spool;

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
    /// What it is. That is known even when it was taken out, until the thread is given another.
    #[inline(always)]
    pub fn entry(&self) -> &RequestEntry {
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
struct Completed<'a, 'b> {
    library: &'a Library,
    ledger: &'a mut Ledger,
    account: Option<&'a mut Account<'b>>,
    waited: u32,
}

/// After the call, which returned `error`: counts what was completed, and tells what kind it was.
/// There is a request at least.
#[inline(always)]
pub fn after(
    library: &Library,
    ledger: &mut Ledger,
    account: Option<&mut Account<'_>>,
    plan: &CallPlan,
    args: &CallWords,
    kept: &CallNotes,
    error: i32,
) -> u32 {
    let mut completed = Completed { library, ledger, account, waited: Waited::Nothing as u32 };
    for_each(library, plan, args, kept, error, |request, status, good| {
        completed.request(request, status, good);
    });
    completed.waited
}

/// Hands over the requests that a call completed, each with the address of its status, and whether
/// it came to a good end. There is a request at least.
#[inline(always)]
pub fn for_each(
    library: &Library,
    plan: &CallPlan,
    args: &CallWords,
    kept: &CallNotes,
    error: i32,
    mut completed: impl FnMut(&PendingRequest, usize, bool),
) {
    // SAFETY: as many as were written before the call.
    let pending = unsafe { core::slice::from_raw_parts(kept.pending, kept.count) };
    let status = word(args, plan.status);
    if error != 0 {
        return after_error(library, plan, args, pending, status, &mut completed);
    }
    // SAFETY: an integer that the call has written.
    let number = |place: usize| unsafe { *(*element(args, place) as *const i32) };
    match plan.act {
        Act::Wait => all(library, pending, status, false, completed),
        Act::Test if number(1) != 0 => all(library, pending, status, false, completed),
        Act::Waitall => all(library, pending, status, true, completed),
        Act::Testall if number(2) != 0 => all(library, pending, status, true, completed),
        // The flag of MPI_Testany stands behind the index.
        Act::Testany if number(3) == 0 => {}
        Act::Waitany | Act::Testany => one(pending, number(2), status, &mut completed),
        Act::Waitsome | Act::Testsome => {
            let indices = args[3] as *const i32;
            for i in 0..number(2).max(0) as usize {
                let each = nth(library, status, i);
                // SAFETY: as many as the call says.
                one(pending, unsafe { *indices.add(i) }, each, &mut completed);
            }
        }
        _ => {}
    }
}

/// The status at this place of an array.
#[inline(always)]
fn nth(library: &Library, statuses: usize, place: usize) -> usize {
    if statuses == library.status_ignore {
        statuses
    } else {
        statuses + place * library.status_size
    }
}

#[inline(always)]
fn all(
    library: &Library,
    pending: &[PendingRequest],
    status: usize,
    many: bool,
    mut completed: impl FnMut(&PendingRequest, usize, bool),
) {
    for request in pending {
        let each = if many { nth(library, status, request.place as usize) } else { status };
        completed(request, each, true);
    }
}

fn one(
    pending: &[PendingRequest],
    index: i32,
    status: usize,
    completed: &mut impl FnMut(&PendingRequest, usize, bool),
) {
    // They are in order of their places; most calls have all of them.
    let near = pending.get(index.max(0) as usize).filter(|r| r.place as i32 == index);
    let search = || {
        let found = pending.binary_search_by_key(&index, |r| r.place as i32).ok()?;
        pending.get(found)
    };
    if let Some(request) = near.or_else(search) {
        completed(request, status, true);
    }
}

/// A call that failed has completed those requests that are null now.
#[cold]
#[inline(never)]
fn after_error(
    library: &Library,
    plan: &CallPlan,
    args: &CallWords,
    pending: &[PendingRequest],
    status: usize,
    completed: &mut impl FnMut(&PendingRequest, usize, bool),
) {
    let array = word(args, plan.about);
    for request in pending {
        let at = request.place as usize;
        // SAFETY: the requests of the call.
        let now = unsafe { library::handle_at(library, array, at) };
        if now != library.request_null {
            continue;
        }
        let each = nth(library, status, at);
        let good = matches!(plan.act, Act::Waitall | Act::Testall)
            && each != library.status_ignore
            // SAFETY: the calls that fail with some requests tell how each of them ended.
            && unsafe { library::error_in(library, each as *const u8) } == 0;
        completed(request, each, good);
    }
}

impl Completed<'_, '_> {
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
