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
mod hot;
mod ledger;
pub mod library;
mod object;
mod peers;
pub mod plan;
mod rare;
mod spawned;
pub mod waits;

use topas_format::env::is_yes;
use topas_mpi_profile::layout::{Block, Peer, flag as header_flag};
use topas_mpi_table::{Flow, FlowAmount, ToldBy};

use crate::element::{element, element_mut};
use crate::frame::{CallNotes, Frame};
use crate::generated::number;
use crate::mode::{SOLE, is_plain, paused};
use crate::requests::flag;
use crate::thread::Thread;
use crate::{spool, sys};

use amount::{CallWords, word};
use call::GeneralCall;
use completion::CompletedRequests;
use hot::HotCall;
use ledger::Ledger;
pub use library::byte_and_world;
use library::{Library, library};
use peers::Account;
use plan::{Act, CallPlan, NONE, PLANS};

/// Bytes that a call has sent and received.
pub type Moved = [u64; 2];

impl CallPlan {
    /// Whether something is to be done before a call.
    pub const fn before(&self) -> bool {
        !matches!(self.act, Act::Nothing | Act::ObjectMade | Act::Message | Act::MessageIf)
            && (!matches!(self.act, Act::Flows) || self.message != NONE)
    }

    /// Whether nothing is needed before a call but its status, which tells what it received.
    pub const fn status_alone(&self) -> bool {
        let [one, other, third] = &self.flow;
        let told = matches!(one.told_by, ToldBy::Status(_))
            || matches!(other.told_by, ToldBy::Status(_))
            || matches!(third.told_by, ToldBy::Status(_));
        matches!(self.act, Act::Flows) && told && self.message == NONE && self.status != NONE
    }

    /// Whether even a call within a call matters: handles go, or requests are cancelled.
    pub const fn frees(&self) -> bool {
        matches!(self.act, Act::TypeFree | Act::ObjectFree | Act::RequestFree | Act::Cancel)
    }

    /// Whether a call has no more than its count argument, if that, and its communicator.
    #[inline(always)]
    const fn only_counts(&self) -> bool {
        matches!(self.act, Act::Nothing)
            || matches!(self.act, Act::Flows) && self.flows == 0 && self.request == NONE
    }

    /// Whether something is to be done after a call, if communicators are not counted.
    pub const fn after(&self) -> bool {
        self.count != NONE
            || match self.act {
                Act::Nothing | Act::TypeFree | Act::ObjectFree | Act::RequestFree => false,
                Act::Flows => !self.only_counts(),
                _ => true,
            }
    }
}

/// The ledger of a thread, made when it is needed.
#[inline(always)]
fn ledger_of(thread: &mut Thread) -> Option<&'static mut Ledger> {
    if thread.flow == 0 {
        thread.flow = new_ledger(thread);
    }
    // SAFETY: null, or that of this thread alone.
    unsafe { (thread.flow as *mut Ledger).as_mut() }
}

/// Before the call of a C function: what must be seen or changed before it.
#[inline]
pub fn before(frame: &mut Frame, thread: &mut Thread) {
    let function = frame.function();
    let Some(plan) = PLANS.get(function) else { return };
    let Some(library) = library() else { return };
    let Some(ledger) = ledger_of(thread) else { return };
    let kept = &mut frame.kept;
    let args = &mut frame.args;
    match plan.act {
        act if act.completes() => completion::before(library, ledger, plan, args, kept),
        Act::Start | Act::Startall => rare::before_start(library, ledger, plan, args, kept),
        _ => {
            if plan.message != NONE {
                kept.count = usize::from(take_message(library, ledger, plan, args, kept));
            }
            if matches!(plan.act, Act::ObjectFree) && waits::is_on() {
                waits::leave(library, ledger, function, word(args, plan.about), kept);
            }
            frees(library, Some(ledger), plan, args);
            if plan.status != NONE {
                give_status(frame, thread, usize::from(plan.status));
            }
        }
    }
}

/// Has a call tell its status where the program wants none. The MPI is known to threads that have a
/// ledger: before that nothing was counted, and the first message is told by the general way.
#[inline(always)]
pub fn give_status(frame: &mut Frame, thread: &mut Thread, place: usize) {
    if thread.flow == 0 && library().is_none() {
        return;
    }
    // SAFETY: it is known.
    let library = unsafe { library::known() };
    if *element(&frame.args, place) == library.status_ignore {
        frame.kept.status = [0; 8];
        let status = frame.kept.status.as_mut_ptr() as usize;
        frame.pass(place, status);
    }
}

/// The communicator of a matched message, which the call takes. False if it is not known.
#[cold]
fn take_message(
    library: &Library,
    ledger: &Ledger,
    plan: &CallPlan,
    args: &CallWords,
    kept: &mut CallNotes,
) -> bool {
    // SAFETY: the address of a message.
    let message = unsafe { library::handle_at(library, word(args, plan.message), 0) };
    let Some(found) = ledger.find(message) else { return false };
    kept.message.write(*found.entry());
    found.remove();
    true
}

/// Looks at handles that a call frees or cancels.
fn frees(library: &Library, ledger: Option<&mut Ledger>, plan: &CallPlan, args: &CallWords) {
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
            waits::gone(handle);
        }
        Act::RequestFree => {
            if let Some(found) = ledger.and_then(|ledger| ledger.find(handle)) {
                let entry = found.entry();
                let persistent = entry.flags & flag::PERSISTENT != 0;
                let pending = !persistent || entry.flags & flag::ACTIVE != 0;
                if entry.flags & flag::TOLD != 0 && pending {
                    // The request goes on, and nobody will tell how it ends.
                    completion::lost();
                }
                waits::freed(entry);
                found.remove();
            }
        }
        Act::Cancel => {
            if let Some(found) = ledger.and_then(|ledger| ledger.find(handle)) {
                found.set_flags(found.entry().flags | flag::CANCELLED);
                waits::cancelled(found.entry());
            }
        }
        _ => {}
    }
}

/// Before a call within a call: handles that it frees.
#[inline]
pub fn nested(frame: &mut Frame, thread: &mut Thread) {
    let Some(plan) = PLANS.get(frame.function()) else { return };
    let Some(library) = library() else { return };
    // SAFETY: the frame of the outer call is below this one, on the stack.
    let outer = PLANS.get(unsafe { (*thread.outer).function() }).map(|plan| plan.act);
    // A tool in between passes on what was seen already.
    if outer != Some(plan.act) || matches!(plan.act, Act::TypeFree) {
        // SAFETY: null, or that of this thread alone.
        frees(library, unsafe { (thread.flow as *mut Ledger).as_mut() }, plan, &frame.args);
    }
}

/// What a thread counts of flows.
#[inline(always)]
fn account(block: *mut Block, ledger: &Ledger) -> Account<'static> {
    let peers = if ledger.peers.is_null() {
        &mut [][..]
    } else {
        // SAFETY: this part of the file is that of this thread, and stays mapped.
        unsafe { core::slice::from_raw_parts_mut(ledger.peers, ledger.others as usize + 1) }
    };
    // SAFETY: the thread's own block, which stays mapped.
    Account { block: unsafe { &mut *block }, peers, communicators: ledger.communicators }
}

/// A new ledger for a thread. Zero if there is no memory for one.
#[cold]
#[inline(never)]
fn new_ledger(thread: &Thread) -> usize {
    let ledger = Ledger::new();
    // SAFETY: null, or new and that of this thread.
    let (Some(new), Some(header)) = (unsafe { ledger.as_mut() }, spool::header()) else { return 0 };
    new.communicators = header.flags & header_flag::COMMUNICATORS != 0;
    new.peers = core::ptr::null_mut();
    if header.flags & header_flag::PEERS != 0 && header.ranks != 0 {
        // SAFETY: the thread's own block, which stays mapped.
        let block = unsafe { &mut *thread.block };
        if block.peers == 0 {
            block.peers = spool::reserve((header.ranks as usize + 1) * size_of::<Peer>());
        }
        if block.peers != 0 {
            new.peers = spool::at(block.peers);
            new.others = header.ranks;
        }
    }
    ledger as usize
}

/// After the successful call of a function of a shape, by one of its names in C without large
/// counts, in a thread that has a ledger: counts what it moved, and tells that. `HOT` is its
/// [`Hot`](plan::Hot). None if something about it is new, and nothing was counted.
#[inline(always)]
pub fn shaped<const WAY: u8, const HOT: u8>(
    frame: &mut Frame,
    thread: &mut Thread,
    function: u32,
    now: u64,
) -> Option<Moved> {
    let function = function as usize;
    // SAFETY: `enter` was given the number of a function.
    let plan = unsafe { PLANS.get_unchecked(function) };
    // SAFETY: that of this thread alone, by the caller there is one; so the MPI is known.
    let (ledger, library) = unsafe { (&mut *(thread.flow as *mut Ledger), library::known()) };
    // SAFETY: the thread's own block, which stays mapped.
    let block = unsafe { &mut *thread.block };
    let ticks = if is_plain(WAY) || WAY == SOLE {
        0
    } else {
        // SAFETY: the outermost frame: that of the call, or of a Fortran function above it.
        now.wrapping_sub(unsafe { (*thread.outer).began })
    };
    let args = &frame.args;
    let call = HotCall::<WAY, HOT> { library, ledger, block, plan, args, function, ticks };
    call.flows()
}

/// Of a call of a shape that [`shaped`] has not counted: makes known what it is about, if a call before the
/// last ones was about it. False if that was not what is new.
#[inline(always)]
pub fn recalled(frame: &Frame, thread: &mut Thread) -> bool {
    // SAFETY: `enter` was given the number of a function.
    let plan = unsafe { PLANS.get_unchecked(frame.function()) };
    // SAFETY: that of this thread alone, by the caller there is one; so the MPI is known.
    let (ledger, library) = unsafe { (&mut *(thread.flow as *mut Ledger), library::known()) };
    let [Flow { amount: FlowAmount::Block { datatype, .. }, .. }, ..] = &plan.flow else {
        return false;
    };
    datatype::recall(library, ledger, word(&frame.args, *datatype))
}

/// Counts a call for its communicator, window or file.
#[inline(always)]
fn traffic(
    library: &Library,
    ledger: &mut Ledger,
    block: &mut Block,
    plan: &CallPlan,
    args: &CallWords,
    ticks: u64,
) {
    if plan.traffic {
        let handle = word(args, plan.object) as u64 & library.handle_mask;
        let index = object::object(library, ledger, handle, plan.kind).index;
        if let Some(traffic) = block.traffic.get_mut(usize::from(index)) {
            traffic.calls += 1;
            traffic.ticks += ticks;
        }
    }
}

/// After the successful call of a C function that moves nothing, in a thread that has a ledger:
/// counts it for its communicator, if that is wanted. False if there is more to it, and nothing was
/// counted.
#[inline(always)]
pub fn noted(frame: &Frame, thread: &mut Thread, now: u64) -> bool {
    // SAFETY: `enter` was given the number of a function.
    let plan = unsafe { PLANS.get_unchecked(frame.function()) };
    // SAFETY: that of this thread alone, by the caller there is one; so the MPI is known.
    let (ledger, library) = unsafe { (&mut *(thread.flow as *mut Ledger), library::known()) };
    if !plan.only_counts() {
        return false;
    }
    if ledger.communicators && plan.traffic {
        let handle = word(&frame.args, plan.object) as u64 & library.handle_mask;
        let Some(object) = object::known(ledger, handle) else { return false };
        // SAFETY: the outermost frame: this one, or that of a Fortran function above it.
        let ticks = now.wrapping_sub(unsafe { (*thread.outer).began });
        // SAFETY: the thread's own block, which stays mapped.
        let block = unsafe { &mut *thread.block };
        let traffic = element_mut(&mut block.traffic, usize::from(object.index));
        traffic.calls = traffic.calls.wrapping_add(1);
        traffic.ticks = traffic.ticks.wrapping_add(ticks);
    }
    true
}

/// After the call of a C function, which returned at `now`: what it moved.
#[inline(always)]
pub fn after<const EXTRA: bool>(frame: &mut Frame, thread: &mut Thread, now: u64) {
    let function = frame.function();
    // SAFETY: `enter` was given the number of a function.
    let plan = unsafe { PLANS.get_unchecked(function) };
    // SAFETY: null, or that of this thread alone. Threads have one only if the MPI is known.
    let Some(ledger) = (unsafe { (thread.flow as *mut Ledger).as_mut() }) else {
        return rest(frame, thread, plan, now);
    };
    // Nothing that completes requests comes here without.
    if EXTRA && plan.act.completes() {
        completed_and_waited(frame, thread, now);
        return;
    }
    if frame.result as i32 != 0 || EXTRA && paused() || !plan.only_counts() {
        return rest(frame, thread, plan, now);
    }
    // SAFETY: there is a ledger.
    let library = unsafe { library::known() };
    // SAFETY: the thread's own block, which stays mapped.
    let block = unsafe { &mut *thread.block };
    count(block, plan, frame, library, frame.symbol.binding().is_large());
    if EXTRA && ledger.communicators {
        // SAFETY: the outermost frame: this one, or that of a Fortran function above it.
        let ticks = now.wrapping_sub(unsafe { (*thread.outer).began });
        traffic(library, ledger, block, plan, &frame.args, ticks);
    }
}

/// After a call that waits or asks for requests, by one of its names in C without large counts, in a thread that has a
/// ledger, while neither waits are told apart nor measuring is paused: counts what it completed, and tells how much of
/// that it received.
#[inline(always)]
pub fn completed(frame: &Frame, thread: &Thread, now: u64) -> u64 {
    // SAFETY: `enter` was given the number of a function.
    let plan = unsafe { PLANS.get_unchecked(frame.function()) };
    // SAFETY: that of this thread alone, by the caller there is one.
    let ledger = unsafe { &mut *(thread.flow as *mut Ledger) };
    completions::<false>(frame, thread, ledger, plan, now)
}

/// The same, whatever is switched on, and why it waited if that is told.
#[inline(never)]
pub fn completed_and_waited(frame: &Frame, thread: &Thread, now: u64) -> u64 {
    // SAFETY: `enter` was given the number of a function.
    let plan = unsafe { PLANS.get_unchecked(frame.function()) };
    // SAFETY: that of this thread alone, by the caller there is one.
    let ledger = unsafe { &mut *(thread.flow as *mut Ledger) };
    completions::<true>(frame, thread, ledger, plan, now)
}

/// The same, whatever is switched on if `EXTRA`.
#[inline(always)]
fn completions<const EXTRA: bool>(
    frame: &Frame,
    thread: &Thread,
    ledger: &mut Ledger,
    plan: &'static CallPlan,
    now: u64,
) -> u64 {
    // SAFETY: there is a ledger.
    let library = unsafe { library::known() };
    let mut account = (!(EXTRA && paused())).then(|| account(thread.block, ledger));
    let mut completed = CompletedRequests::NONE;
    if frame.kept.count != 0 {
        // SAFETY: the outermost frame: this one, or that of a Fortran function above it.
        let began = unsafe { (*thread.outer).began };
        let call = completion::CompletionCall { plan, frame, began, now };
        completed = call.after::<EXTRA>(library, ledger, account.as_mut());
    }
    let CompletedRequests { waited, received } = completed;
    let Some(account) = account else { return received };
    // None has large counts.
    count(account.block, plan, frame, library, false);
    if let Some(waiting) = account.block.waiting.get_mut(waited as usize) {
        // SAFETY: the outermost frame: this one, or that of a Fortran function above it.
        let began = unsafe { (*thread.outer).began };
        waiting.calls += 1;
        waiting.ticks += now.wrapping_sub(began);
    }
    received
}

/// Adds the count argument of a call.
#[inline(always)]
fn count(block: &mut Block, plan: &CallPlan, frame: &Frame, library: &Library, large: bool) {
    let args = &frame.args;
    if plan.count == NONE
        || plan.count_unless_in_place != NONE
            && word(args, plan.count_unless_in_place) == library.in_place
    {
        return;
    }
    let count = amount::count(args, plan.count, large);
    // SAFETY: there is a row for every function.
    let row = unsafe { block.rows.get_unchecked_mut(frame.function()) };
    row.count = row.count.wrapping_add(count);
}

/// The same, for everything else.
#[inline(never)]
fn rest(frame: &mut Frame, thread: &mut Thread, plan: &'static CallPlan, now: u64) {
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
    let mut account = (!paused()).then(|| account(thread.block, ledger));
    let args = &frame.args;
    let large = frame.symbol.binding().is_large();
    if let Some(account) = &mut account {
        count(account.block, plan, frame, library, large);
    }
    match plan.act {
        _ if error != 0 => {}
        Act::Flows => {
            let mut message = None;
            if plan.message != NONE && frame.kept.count != 0 {
                // SAFETY: it was written before the call.
                message = Some(unsafe { frame.kept.message.assume_init() });
            }
            let function = frame.function() as u16;
            let mut call = GeneralCall { library, ledger, plan, args, message, function, large };
            call.flows(account.as_mut(), ticks);
        }
        _ => {
            rare::after(library, ledger, account.as_mut(), plan, frame);
        }
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
    header.comm_world = library.comm_world;
    let ask = |function| library::ask(function, library.comm_world).map(i32::cast_unsigned);
    header.rank = ask(number::COMM_RANK).unwrap_or(header.rank);
    header.ranks = ask(number::COMM_SIZE).unwrap_or(header.ranks);
    spawned::begin(library, header);
    if let Some(level) = library::provided()
        && let Some(level) = library.abi.thread_levels.iter().position(|known| *known == level)
    {
        header.level = level as u32;
    }
}

/// What is to be counted beside routines: bits of
/// [`Header::flags`](topas_mpi_profile::layout::Header).
pub fn wanted() -> u64 {
    let yes = |name| sys::variable(name).is_some_and(is_yes);
    let peers = if yes(c"TOPAS_MPI_PEERS") { header_flag::PEERS } else { 0 };
    let communicators = if yes(c"TOPAS_MPI_COMMS") { header_flag::COMMUNICATORS } else { 0 };
    peers | communicators
}
