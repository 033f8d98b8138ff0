//! What the event log tells of a call: peer, tag, communicator, number of a collective.

use topas_trace::{CallArguments, NOBODY, UNKNOWN_RANK};

use crate::flow::amount::word;
use crate::flow::ledger::Ledger;
use crate::flow::library::{self, Library};
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers;
use crate::flow::plan::{NONE, PLANS, Place};
use crate::frame::Frame;
use crate::thread::Thread;

use super::role::{Act, ROLES, Role};
use super::{handle, is_on, with};

/// Of a call in C that has returned. A call that failed, or that no communicator is known of, is
/// about nothing.
pub fn arguments(frame: &Frame, thread: &mut Thread) -> CallArguments {
    let mut told = CallArguments::NONE;
    let function = frame.function();
    let (Some(role), Some(plan)) = (ROLES.get(function), PLANS.get(function)) else { return told };
    if !role.matters() || frame.result as i32 != 0 {
        return told;
    }
    // SAFETY: null, or that of this thread alone.
    let ledger = unsafe { (thread.flow as *mut Ledger).as_mut() };
    let (Some(ledger), Some(library)) = (ledger, library::library()) else { return told };
    let members = if role.gathers.is_some() { role.members } else { role.comm };
    if members == NONE {
        return told;
    }
    let comm = handle(library, &frame.args, members);
    told.communicator = with(|_, numbers, _| numbers.of(library, comm));
    if role.gathers.is_some() {
        // Only who tells waits counts the collectives of a communicator.
        if is_on() {
            told.number = frame.kept.came;
        }
        if plan.is_comm && role.root != NONE {
            told.peer = world(library, ledger, comm, word(&frame.args, role.root) as i32);
        }
        return told;
    }
    let rank = |place: Place| word(&frame.args, place) as i32;
    match role.act {
        Act::Send | Act::SendStarted | Act::SendPrepared => {
            told.peer = world(library, ledger, comm, rank(role.dest));
            told.tag = tag(rank(role.sendtag));
        }
        Act::Receive | Act::ReceivePosted | Act::ReceivePrepared | Act::Probed => {
            (told.peer, told.tag) = source(library, ledger, frame, role, comm);
        }
        Act::SendReceive | Act::SendReceiveStarted => {
            told.peer = world(library, ledger, comm, rank(role.dest));
            told.tag = tag(rank(role.sendtag));
            told.source = source(library, ledger, frame, role, comm).0;
        }
        _ => {}
    }
    told
}

/// A tag; none where any may be.
fn tag(tag: i32) -> i32 {
    tag.max(NOBODY)
}

/// The rank in the world of a rank of a communicator.
fn world(library: &Library, ledger: &mut Ledger, comm: u64, rank: i32) -> i32 {
    if rank == library.proc_null {
        return NOBODY;
    }
    if rank < 0 {
        return UNKNOWN_RANK;
    }
    if comm == library.comm_world {
        return rank;
    }
    let world = object::world_rank(library, ledger, comm, ObjectKind::Comm, rank);
    if world >= peers::NOBODY { UNKNOWN_RANK } else { world as i32 }
}

/// From whom a message came or is to come, and its tag: as the arguments tell, or where they leave
/// it open, the status.
fn source(
    library: &Library,
    ledger: &mut Ledger,
    frame: &Frame,
    role: &Role,
    comm: u64,
) -> (i32, i32) {
    let (mut rank, mut sent_tag) =
        (word(&frame.args, role.source) as i32, word(&frame.args, role.recvtag) as i32);
    let open = rank != library.proc_null && (rank < 0 || sent_tag < 0);
    let status = if role.status == NONE { 0 } else { word(&frame.args, role.status) };
    if open && status != 0 && status != library.status_ignore {
        // SAFETY: the status of a call that was successful.
        (rank, sent_tag) = unsafe { library::source_and_tag_in(library, status as *const u8) };
    }
    (world(library, ledger, comm, rank), tag(sent_tag))
}
