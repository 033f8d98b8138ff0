//! What the event log tells of a call: peer, tag, communicator, number of a collective.

pub mod expected;

use topas_mpi_profile::layout::FUNCTIONS;
use topas_trace::{CallArguments, CommunicatorName, NOBODY, OBJECT_NAME, UNKNOWN_RANK};

use crate::flow::amount::word;
use crate::flow::communicators::last_part;
use crate::flow::ledger::{self, Ledger};
use crate::flow::library::{self, Library};
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers;
use crate::flow::plan::{NONE, PLANS, Place};
use crate::frame::Frame;
use crate::generated::number::FILE_OPEN;
use crate::mode;
use crate::thread::Thread;
use crate::trace;

use super::role::{Act, ROLES, Role};
use super::{Returned, handle, is_on, numbers, quick, with};

/// Words of a call by which [`arguments`] are told, as many as [`Told`] has: where these are the same
/// as before, so are the arguments.
const WORDS: usize = 5;

/// Places of these words; places that are not needed have a word that is.
static PLACES: [[Place; WORDS]; FUNCTIONS] = places();

// Done by the compiler: what panics is an error of the build.
#[allow(clippy::indexing_slicing)]
const fn places() -> [[Place; WORDS]; FUNCTIONS] {
    let mut all = [[0; WORDS]; FUNCTIONS];
    let mut number = 0;
    while number < FUNCTIONS {
        let role = &ROLES[number];
        let comm = if role.members != NONE { role.members } else { role.comm };
        let (mut rank, mut tag) = (role.dest, role.sendtag);
        match role.act {
            _ if role.gathers.is_some() => (rank, tag) = (role.root, NONE),
            Act::Receive | Act::ReceivePosted | Act::ReceivePrepared | Act::Probed => {
                (rank, tag) = (role.source, role.recvtag);
            }
            _ => {}
        }
        let mut places = [comm, rank, tag, role.source, role.recvtag];
        let mut i = 0;
        while i < WORDS {
            if places[i] == NONE {
                places[i] = if comm == NONE { 0 } else { comm };
            }
            i += 1;
        }
        all[number] = places;
        number += 1;
    }
    all
}

/// What the last call of a function was about that was told. Zero at its beginning.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Told {
    words: [usize; WORDS],
    arguments: CallArguments,
    /// What handles meant then: see [`ages`]; 0 if nothing is told
    ages: u64,
    /// Some of the words are those of a status
    is_open: bool,
}

/// Changes with what handles of communicators mean. Never 0.
#[inline(always)]
fn ages() -> u64 {
    u64::from(ledger::age()) << 32 | u64::from(numbers::age())
}

impl Told {
    /// Whether a call in C is about the same: then [`arguments`] are the same but for the number of
    /// a collective, which is [`number`].
    #[inline(always)]
    pub fn is_same(&self, frame: &Frame) -> bool {
        let function = frame.function();
        let (Some(role), Some(places)) = (ROLES.get(function), PLACES.get(function)) else {
            return false;
        };
        // Whether it is a collective is asked for its number, too: so nothing more is asked of one.
        if role.gathers.is_none() && !role.is_logged {
            return self.ages == 0;
        }
        if self.ages != ages() || frame.result as i32 != 0 {
            return false;
        }
        let Some(([comm, rank, tag, source, recvtag], is_open)) = words(frame, role, places) else {
            return false;
        };
        // One by one: a call that compares memory takes longer.
        let [told_comm, told_rank, told_tag, told_source, told_recvtag] = self.words;
        let same = comm == told_comm && rank == told_rank && tag == told_tag;
        // What leaves open from where a message comes has to do so by the same words: the next call is expected to have
        // them.
        let has_more = role.exchanges() || is_open;
        let same_words = !has_more || source == told_source && recvtag == told_recvtag;
        same && same_words && is_open == self.is_open
    }

    /// What such a call is about, but for the number of a collective.
    pub fn arguments(&self) -> CallArguments {
        if self.ages == 0 || self.ages == u64::MAX { CallArguments::NONE } else { self.arguments }
    }

    /// The last call of a function that is about nothing told something else.
    pub fn differ(&mut self) {
        self.ages = u64::MAX;
    }

    /// Whether no call of a function is about anything, and the last one told nothing else.
    #[inline(always)]
    pub fn is_about_nothing(&self, function: usize) -> bool {
        self.ages == 0 && ROLES.get(function).is_some_and(|role| !role.is_logged)
    }

    /// The last call was about something that is not known here.
    pub fn forget(&mut self) {
        self.ages = 0;
    }

    /// Keeps what a call in C was about.
    pub fn keep(&mut self, frame: &Frame, thread: &Thread, arguments: &CallArguments) {
        let function = frame.function();
        let (Some(role), Some(places)) = (ROLES.get(function), PLACES.get(function)) else {
            return;
        };
        let known = frame.result as i32 == 0 && thread.flow != 0 && role.is_logged;
        self.ages = 0;
        if let Some((words, is_open)) = words(frame, role, places).filter(|_| known) {
            self.words = words;
            self.is_open = is_open;
            self.ages = ages();
        }
        self.arguments = *arguments;
    }
}

/// The words of a call, with those of the status where the arguments leave open from where a message
/// came, and whether they do. None if the MPI is not known.
#[inline(always)]
fn words(frame: &Frame, role: &Role, places: &[Place; WORDS]) -> Option<([usize; WORDS], bool)> {
    let args = &frame.args;
    let [comm, rank, tag, source, recvtag] = *places;
    let (comm, mut rank, mut tag) = (word(args, comm), word(args, rank), word(args, tag));
    let (mut source, mut recvtag) = (word(args, source), word(args, recvtag));
    let is_open = is_open(role, [rank, tag, source, recvtag]);
    if is_open {
        let (from, by) = quick::source(library::library()?, role, args);
        if role.act == Act::SendReceive {
            (source, recvtag) = (from as usize, by as usize);
        } else {
            (rank, tag) = (from as usize, by as usize);
        }
    }
    Some(([comm, rank, tag, source, recvtag], is_open))
}

/// Whether ranks and tags that a call names leave open from where a message came.
#[inline(always)]
fn is_open(role: &Role, [rank, tag, source, recvtag]: [usize; WORDS - 1]) -> bool {
    let told = match role.act {
        Act::Receive | Act::Probed => (rank | tag) as i32,
        Act::SendReceive => (source | recvtag) as i32,
        _ => 0,
    };
    told < 0
}

/// The number of the collective that a call was, plus 1; 0 if it is not known.
#[inline(always)]
pub fn number(frame: &Frame) -> u64 {
    // Only who tells waits counts the collectives of a communicator.
    let counted = is_on() && ROLES.get(frame.function()).is_some_and(|role| role.gathers.is_some());
    if counted { frame.kept.came } else { 0 }
}

/// Of a call in C that has returned. A call that failed, or that no communicator is known of, is
/// about nothing.
pub fn arguments(frame: &Frame, thread: &mut Thread) -> CallArguments {
    let mut told = CallArguments::NONE;
    let function = frame.function();
    let (Some(role), Some(plan)) = (ROLES.get(function), PLANS.get(function)) else { return told };
    if !role.is_logged || frame.result as i32 != 0 {
        return told;
    }
    // SAFETY: null, or that of this thread alone.
    let ledger = unsafe { (thread.flow as *mut Ledger).as_mut() };
    let (Some(ledger), Some(library)) = (ledger, library::library()) else { return told };
    let members = if role.members != NONE { role.members } else { role.comm };
    if members == NONE {
        return told;
    }
    let comm = handle(library, &frame.args, members);
    // The log tells one world.
    told.communicator = with(|_, numbers, _| match numbers.bridged(comm) {
        None => numbers.of(library, comm),
        Some(_) => 0,
    });
    if role.gathers.is_some() {
        told.number = number(frame);
        if plan.is_comm() && role.root != NONE {
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
            let (from, by) = source(library, ledger, frame, role, comm);
            told.source = from;
            told.received_tag = if from != NOBODY && by != told.tag { by } else { NOBODY };
        }
        Act::Named if role.comm != NONE => {
            // SAFETY: a text that the call has read.
            let name = unsafe { trace::name_at(word(&frame.args, plan.about) as *const u8) };
            return CommunicatorName { communicator: told.communicator, name }.arguments();
        }
        _ => {}
    }
    told
}

impl Returned<'_> {
    /// The event log tells the name that a communicator or window gets.
    #[cold]
    #[inline(never)]
    pub fn log_name(&self) {
        let Role { comm, members, .. } = *self.role;
        let object = if members != NONE { members } else { comm };
        self.log_object(handle(self.library, self.args, object), word(self.args, self.plan.about));
    }

    /// The event log tells which communicator, window or file a call has made.
    #[cold]
    #[inline(never)]
    pub fn log_made(&self, function: usize, made: u64) {
        let path = if function == FILE_OPEN { word(self.args, 1) } else { 0 };
        // SAFETY: a text that the call has read.
        let name = if path == 0 { 0 } else { unsafe { last_part(path as *const u8) as usize } };
        self.log_object(made, name);
    }

    /// The same with the address of its name, or 0.
    fn log_object(&self, object: u64, name: usize) {
        if !mode::has(mode::LOG) || object == self.library.comm_null {
            return;
        }
        let number = with(|_, numbers, _| numbers.of(self.library, object));
        if number != 0 {
            // SAFETY: null, or a text that the call has read.
            let name: [u8; OBJECT_NAME] = unsafe { trace::name_at(name as *const u8) };
            trace::has_object(number, name, self.call.began);
        }
    }
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
