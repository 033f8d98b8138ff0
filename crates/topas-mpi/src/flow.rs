//! What a call moves: how many bytes, to whom, in which communicator.
//!
//! Flows are told after a call that was successful, when the MPI has accepted its arguments: what
//! it would not accept is not looked at. Before a call only those handles are looked at that it
//! may free, and a status is put where the program wants none but it alone tells the length.

mod amount;
mod call;
mod communicators;
mod completion;
mod datatype;
mod ledger;
pub mod library;
mod object;
mod peers;
pub mod plan;
mod request;

use core::mem::MaybeUninit;

use topas_mpi_profile::layout::{Block, Peer, Waited, flag as header_flag};

use crate::below::binding;
use crate::entry::Frame;
use crate::generated::number;
use crate::thread::Thread;
use crate::{process, spool, sys};

use amount::{Words, word};
use call::{Call, NO_COMMUNICATOR};
use completion::Pending;
use ledger::{Ledger, generation, place};
use library::{Library, library};
use object::Kind;
use peers::{Account, NOBODY};
use plan::{Act, NONE, PLANS, Plan};
use request::{Entry, flag};

/// What is kept from before a call until after it, in its frame.
#[repr(C, align(16))]
pub struct Kept {
    /// A status
    status: [u64; 8],
    /// Room for one request
    one: MaybeUninit<Pending>,
    /// Requests of the call
    pending: *mut Pending,
    /// How many
    count: usize,
    /// The communicator of a message that is received, if it is known
    message: MaybeUninit<Entry>,
}

impl Plan {
    /// Whether something is to be done before a call.
    pub const fn before(&self) -> bool {
        !matches!(self.act, Act::Nothing | Act::CommMade | Act::Message | Act::MessageIf)
            && (!matches!(self.act, Act::Flows) || self.status != NONE || self.message != NONE)
    }

    /// Whether even a call within a call matters: handles go, or requests are cancelled.
    pub const fn frees(&self) -> bool {
        matches!(self.act, Act::TypeFree | Act::ObjectFree | Act::RequestFree | Act::Cancel)
    }

    /// Whether something is to be done after a call.
    pub const fn after(&self) -> bool {
        !matches!(self.act, Act::Nothing | Act::TypeFree | Act::ObjectFree | Act::RequestFree)
            || self.count != NONE
            || self.traffic
    }
}

/// The ledger of a thread, made when it is needed.
#[inline(always)]
fn ledger_of(thread: &mut Thread) -> Option<&'static mut Ledger> {
    if thread.flow == 0 {
        thread.flow = Ledger::new() as usize;
    }
    // SAFETY: null, or that of this thread alone.
    unsafe { (thread.flow as *mut Ledger).as_mut() }
}

/// Before the call of a C function: what must be seen or changed before it.
#[inline]
pub fn before(frame: &mut Frame, thread: &mut Thread) {
    let Some(plan) = PLANS.get(frame.function as usize) else { return };
    let (Some(library), Some(ledger)) = (library(), ledger_of(thread)) else { return };
    let kept = &mut frame.kept;
    let args = &mut frame.args;
    match plan.act {
        Act::Wait
        | Act::Test
        | Act::Waitall
        | Act::Testall
        | Act::Waitany
        | Act::Testany
        | Act::Waitsome
        | Act::Testsome => completion::before(library, ledger, plan, args, kept),
        _ => {
            if plan.message != NONE {
                kept.count = usize::from(take_message(library, ledger, plan, args, kept));
            }
            if plan.status != NONE && args[usize::from(plan.status)] == library.status_ignore {
                kept.status = [0; 8];
                args[usize::from(plan.status)] = kept.status.as_mut_ptr() as usize;
            }
            frees(library, Some(ledger), plan, args);
        }
    }
}

/// The communicator of a matched message, which the call takes. False if it is not known.
#[cold]
fn take_message(
    library: &Library,
    ledger: &Ledger,
    plan: &Plan,
    args: &Words,
    kept: &mut Kept,
) -> bool {
    // SAFETY: the address of a message.
    let message = unsafe { library::handle_at(library, word(args, plan.message), 0) };
    let Some((found, entry)) = ledger.find(message) else { return false };
    found.remove();
    kept.message.write(entry);
    true
}

/// Looks at handles that a call frees or cancels.
fn frees(library: &Library, ledger: Option<&mut Ledger>, plan: &Plan, args: &Words) {
    if !plan.frees() {
        return;
    }
    let address = word(args, plan.about);
    if address == 0 {
        return;
    }
    // SAFETY: the address of a handle.
    let handle = unsafe { library::handle_at(library, address, 0) };
    match plan.act {
        Act::TypeFree => ledger::forget(handle),
        Act::ObjectFree => {
            ledger::forget(handle);
            communicators::gone(handle);
        }
        Act::RequestFree => {
            if let Some((found, entry)) = ledger.and_then(|ledger| ledger.find(handle)) {
                let persistent = entry.flags & flag::PERSISTENT != 0;
                let pending = !persistent || entry.flags & flag::ACTIVE != 0;
                if entry.flags & flag::TOLD != 0 && pending {
                    // It goes on, and nobody will tell how it ends.
                    completion::lost();
                }
                found.remove();
            }
        }
        Act::Cancel => {
            if let Some((found, entry)) = ledger.and_then(|ledger| ledger.find(handle)) {
                found.set_flags(entry.flags | flag::CANCELLED);
            }
        }
        _ => {}
    }
}

/// Before a call within a call: handles that it frees.
#[inline]
pub fn nested(frame: &mut Frame, thread: &mut Thread) {
    let Some(plan) = PLANS.get(frame.function as usize) else { return };
    let Some(library) = library() else { return };
    // SAFETY: the frame of the outer call is below this one, on the stack.
    let outer = PLANS.get(unsafe { (*thread.outer).function } as usize).map(|plan| plan.act);
    // A tool in between passes on what was seen already.
    if outer != Some(plan.act) || matches!(plan.act, Act::TypeFree) {
        // SAFETY: null, or that of this thread alone.
        frees(library, unsafe { (thread.flow as *mut Ledger).as_mut() }, plan, &frame.args);
    }
}

/// What a thread counts of flows.
#[inline(always)]
fn account(block: *mut Block) -> Account<'static> {
    // SAFETY: the thread's own block, which stays mapped.
    let block = unsafe { &mut *block };
    let flags = spool::header().map_or(0, |header| header.flags);
    let peers = if flags & header_flag::PEERS != 0 { peers_of(block) } else { &mut [] };
    Account { block, peers, communicators: flags & header_flag::COMMUNICATORS != 0 }
}

/// The peers of a block, which it gets as soon as the size of the world is known.
#[inline(always)]
fn peers_of(block: &mut Block) -> &'static mut [Peer] {
    let ranks = spool::header().map_or(0, |header| header.ranks as usize);
    if ranks == 0 {
        return &mut [];
    }
    if block.peers == 0 {
        block.peers = spool::reserve((ranks + 1) * size_of::<Peer>());
        if block.peers == 0 {
            return &mut [];
        }
    }
    // SAFETY: this part of the file is that of this thread.
    unsafe { core::slice::from_raw_parts_mut(spool::at(block.peers), ranks + 1) }
}

/// After the call of a C function, which returned at `now`: what it moved.
#[inline]
pub fn after(frame: &mut Frame, thread: &mut Thread, now: u64) {
    let Some(plan) = PLANS.get(frame.function as usize) else { return };
    let error = frame.result as i32;
    let library = match library() {
        Some(library) => library,
        None => {
            if error == 0 && library::is_new() {
                begin();
            }
            return;
        }
    };
    let Some(ledger) = ledger_of(thread) else { return };
    // SAFETY: the outermost frame: this one, or that of a Fortran function below which it is.
    let began = unsafe { (*thread.outer).began };
    let ticks = now.wrapping_sub(began);
    let mut account = (!process::paused()).then(|| account(thread.block));
    let args = &frame.args;
    let large = binding::is_large(frame.binding);
    if plan.count != NONE
        && let Some(account) = &mut account
        && !(plan.count_unless_in_place != NONE
            && word(args, plan.count_unless_in_place) == library.in_place)
        && let Some(row) = account.block.rows.get_mut(frame.function as usize)
    {
        let count = word(args, plan.count);
        let count = if large { count as i64 } else { i64::from(count as i32) };
        row.count = row.count.wrapping_add(count.max(0) as u64);
    }
    match plan.act {
        Act::Wait
        | Act::Test
        | Act::Waitall
        | Act::Testall
        | Act::Waitany
        | Act::Testany
        | Act::Waitsome
        | Act::Testsome => {
            let waited = completion::after(
                library,
                ledger,
                account.as_mut(),
                plan,
                args,
                &frame.kept,
                error,
            );
            if let Some(account) = account
                && let Some(waiting) = account.block.waiting.get_mut(usize::from(waited))
            {
                waiting.calls += 1;
                waiting.ticks += ticks;
            }
        }
        _ if error != 0 => {}
        Act::Flows => {
            let mut message = None;
            if plan.message != NONE && frame.kept.count != 0 {
                // SAFETY: it was written before the call.
                message = Some(unsafe { frame.kept.message.assume_init() });
            }
            let function = frame.function as u16;
            let mut call = Call { library, ledger, plan, args, message, function, large };
            call.flows(account.as_mut(), ticks);
        }
        _ => {
            rare(library, ledger, account.as_mut(), plan, frame);
        }
    }
}

/// After functions that are called rarely, or start requests.
#[inline(never)]
fn rare(
    library: &'static Library,
    ledger: &mut Ledger,
    account: Option<&mut Account<'_>>,
    plan: &'static Plan,
    frame: &Frame,
) {
    let args = &frame.args;
    let address = word(args, plan.about);
    let handle = word(args, plan.object) as u64 & library.handle_mask;
    match plan.act {
        // SAFETY: the address of a request that was started.
        Act::Start => started(ledger, account, unsafe { library::handle_at(library, address, 0) }),
        Act::Startall => {
            let mut account = account;
            for i in 0..(args[0] as i32).max(0) as usize {
                // SAFETY: as many requests as the call says.
                let request = unsafe { library::handle_at(library, address, i) };
                started(ledger, account.as_deref_mut(), request);
            }
        }
        // SAFETY: an integer that the call has written.
        Act::MessageIf if unsafe { *(args[3] as *const i32) } == 0 => {}
        Act::Message | Act::MessageIf => {
            // SAFETY: the address of a message that the call has written.
            let message = unsafe { library::handle_at(library, address, 0) };
            if message != library.message_no_proc {
                let index = object::object(library, ledger, handle, Kind::Comm).index;
                let generation = generation(place(handle));
                let entry = Entry { comm: handle, generation, index, ..Entry::default() };
                ledger.requests.put(message, entry);
            }
        }
        Act::SplitEnd => {
            let status = word(args, plan.status);
            if let Some(account) = account
                && status != library.status_ignore
            {
                // SAFETY: the status of a call that was successful.
                let bytes = unsafe { library::bytes_in(library.length, status as *const u8) };
                let way = if plan.waited == Waited::Write as u8 {
                    peers::Way::Sent
                } else {
                    peers::Way::Received
                };
                account.moved(way, plan.begin, bytes, NOBODY, NO_COMMUNICATOR);
            }
        }
        Act::CommName => {
            if communicators::is_on() {
                let object = object::object(library, ledger, handle, Kind::Comm);
                let (size, inter) = (object.size, object.inter);
                // SAFETY: a text that the call has read.
                unsafe { communicators::named(library, handle, address as *const u8, size, inter) };
            }
        }
        Act::CommMade if address != 0 => {
            // SAFETY: the address of a communicator that the call has written.
            let made = unsafe { library::handle_at(library, address, 0) };
            if made != library.comm_null {
                communicators::made(made, frame.function as u16);
            }
            if plan.request != NONE {
                // Of a duplicate that will be there when its request is complete.
                let entry = Entry { kind: plan.waited, peer: NOBODY, ..Entry::default() };
                // SAFETY: the address of a request that the call has written.
                let request = unsafe { library::handle_at(library, word(args, plan.request), 0) };
                ledger.requests.put(request, entry);
            }
        }
        _ => {}
    }
}

/// A request was started: what its arguments tell moves now.
#[inline]
fn started(ledger: &mut Ledger, account: Option<&mut Account<'_>>, request: u64) {
    let Some((found, entry)) = ledger.find(request) else { return };
    if entry.flags & flag::PERSISTENT == 0 {
        return;
    }
    found.set_flags(entry.flags & !flag::CANCELLED | flag::ACTIVE);
    let Some(account) = account else { return };
    if entry.flags & flag::SENDS != 0 {
        let way = peers::Way::Sent;
        account.moved(way, entry.function, entry.sent, entry.peer, entry.index);
    }
    if entry.flags & flag::RECEIVES != 0 {
        let way = peers::Way::Received;
        account.moved(way, entry.function, entry.received, entry.peer, entry.index);
    }
}

/// Finds out which MPI this is, and which rank, once it works.
#[cold]
pub fn begin() {
    let Some(header) = spool::header() else { return };
    if !library::find_out() {
        header.flags |= header_flag::UNKNOWN_MPI;
        return;
    }
    let Some(library) = library() else { return };
    if !library::is_initialized() {
        return;
    }
    header.flags |= header_flag::WORLD;
    let ask = |function| library::ask(function, library.comm_world).map(i32::cast_unsigned);
    header.rank = ask(number::COMM_RANK).unwrap_or(header.rank);
    header.ranks = ask(number::COMM_SIZE).unwrap_or(header.ranks);
    if let Some(level) = library::provided()
        && let Some(level) = library.abi.thread_levels.iter().position(|known| *known == level)
    {
        header.level = level as u32;
    }
}

/// What is to be counted beside routines: bits of [`Header::flags`](topas_mpi_profile::layout::Header).
pub fn wanted() -> u64 {
    let yes = |name| matches!(sys::variable(name), Some(b"yes" | b"true" | b"on" | b"1"));
    let peers = if yes(c"TOPAS_MPI_PEERS") { header_flag::PEERS } else { 0 };
    let communicators = if yes(c"TOPAS_MPI_COMMS") { header_flag::COMMUNICATORS } else { 0 };
    peers | communicators
}
