//! Functions that are called rarely, and those that start requests.

use topas_mpi_profile::layout::{Waited, object_kind};
use topas_mpi_table::Way;

use crate::element::element;
use crate::flow::amount::{CallWords, word};
use crate::flow::call::NO_COMMUNICATOR;
use crate::flow::communicators;
use crate::flow::completion;
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::{self, Library};
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers::{Account, NOBODY};
use crate::flow::plan::{Act, CallPlan, NONE};
use crate::flow::spawned;
use crate::frame::{CallNotes, Frame};
use crate::generated::number;
use crate::requests::{RequestEntry, flag};

/// After a successful call of one of them.
#[inline(never)]
pub fn after(
    library: &'static Library,
    ledger: &mut Ledger,
    account: Option<&mut Account<'_>>,
    plan: &'static CallPlan,
    frame: &Frame,
) {
    let args = &frame.args;
    let address = word(args, plan.about);
    let handle = word(args, plan.object) as u64 & library.handle_mask;
    match plan.act {
        Act::Start | Act::Startall => {
            let mut account = account;
            for i in 0..frame.kept.count {
                // SAFETY: as many requests as the call says, and as many as were noted before it.
                let (before, now) = unsafe {
                    (*frame.kept.handles.add(i), library::handle_at(library, address, i))
                };
                if before != now {
                    moved(ledger, before, now);
                }
                started(ledger, account.as_deref_mut(), now);
            }
        }
        // SAFETY: an integer that the call has written.
        Act::MessageIf if unsafe { *(args[3] as *const i32) } == 0 => {}
        Act::Message | Act::MessageIf => {
            // SAFETY: the address of a message that the call has written.
            let message = unsafe { library::handle_at(library, address, 0) };
            if message != library.message_no_proc {
                let index = object::object(library, ledger, handle, ObjectKind::Comm).index.into();
                let generation = generation(place(handle));
                let entry =
                    RequestEntry { comm: handle, generation, index, ..RequestEntry::default() };
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
                let way =
                    if plan.waited == Waited::Write as u8 { Way::Sent } else { Way::Received };
                let index = if account.communicators {
                    object::object(library, ledger, handle, plan.kind).index
                } else {
                    NO_COMMUNICATOR
                };
                account.moved(way, plan.begin, bytes, NOBODY, index);
            }
        }
        Act::ObjectName if ledger.communicators => {
            let object = object::object(library, ledger, handle, plan.kind);
            let kind = if plan.is_comm() { object.inter.into() } else { object_kind::WINDOW };
            let size = object.size;
            // SAFETY: a text that the call has read.
            unsafe { communicators::named(library, handle, address as *const u8, size, kind) };
        }
        Act::ObjectMade if address != 0 => {
            // SAFETY: the address of a handle that the call has written.
            let made = unsafe { library::handle_at(library, address, 0) };
            if made != library.comm_null {
                communicators::made(made, frame.function() as u16);
            }
            if [number::COMM_SPAWN, number::COMM_SPAWN_MULTIPLE].contains(&frame.function()) {
                spawned::after(library, plan, frame, made);
            }
            if frame.function() == number::FILE_OPEN && ledger.communicators {
                let size = object::object(library, ledger, handle, ObjectKind::Comm).size;
                // SAFETY: a text that the call has read.
                unsafe {
                    let name = communicators::last_part(*element(args, 1) as *const u8);
                    communicators::named(library, made, name, size, object_kind::FILE);
                }
            }
            if plan.request != NONE {
                // Of a duplicate that will be there when its request is complete.
                let entry = RequestEntry {
                    kind: plan.waited.into(),
                    peer: NOBODY,
                    ..RequestEntry::default()
                };
                // SAFETY: the address of a request that the call has written.
                let request = unsafe { library::handle_at(library, word(args, plan.request), 0) };
                ledger.requests.put(request, entry);
            }
        }
        _ => {}
    }
}

/// Before requests are started: notes their handles. Open MPI puts another in the place of one
/// whose last message has not yet left, such as a buffered one.
pub fn before_start(
    library: &Library,
    ledger: &mut Ledger,
    plan: &CallPlan,
    args: &CallWords,
    kept: &mut CallNotes,
) {
    kept.count = 0;
    let array = word(args, plan.about);
    let one = plan.act == Act::Start;
    let count = if one { 1 } else { (args[0] as i32).max(0) as usize };
    if count == 0 || array == 0 {
        return;
    }
    kept.handles = if one {
        kept.status.as_mut_ptr()
    } else {
        match ledger.statuses.first(count) {
            Some(room) => room,
            None => return completion::lost(),
        }
    };
    for i in 0..count {
        // SAFETY: the array has this many, and there is room for as many.
        unsafe { *kept.handles.add(i) = library::handle_at(library, array, i) };
    }
    kept.count = count;
}

/// A request goes on under another handle.
#[cold]
fn moved(ledger: &mut Ledger, before: u64, now: u64) {
    let Some(found) = ledger.find(before) else { return };
    let entry = *found.entry();
    found.remove();
    ledger.requests.put(now, entry);
}

/// A request was started: what its arguments tell moves now.
#[inline]
fn started(ledger: &mut Ledger, account: Option<&mut Account<'_>>, request: u64) {
    let Some(found) = ledger.find(request) else { return };
    let entry = *found.entry();
    if entry.flags & flag::PERSISTENT == 0 {
        return;
    }
    found.set_flags(entry.flags & !flag::CANCELLED | flag::ACTIVE);
    let Some(account) = account else { return };
    if entry.flags & flag::SENDS != 0 {
        let way = Way::Sent;
        account.moved(way, entry.function as u16, entry.sent, entry.peer, entry.index as u16);
    }
    if entry.flags & flag::RECEIVES != 0 {
        let way = Way::Received;
        account.moved(way, entry.function as u16, entry.received, entry.peer, entry.index as u16);
    }
}
