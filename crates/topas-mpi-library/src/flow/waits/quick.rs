//! Messages and collectives as there was one before, whose calls are over at once: of these it is
//! known where their stamps go, and nothing is looked for. It is for programs of one thread, and for
//! ranks of this node.

use topas_mpi_waits::board::Ring;
use topas_mpi_waits::engine::{Doer, key_from, key_to};
use topas_mpi_waits::key::{Address, Side, of_collectives};
use topas_mpi_waits::wait::Call;

use super::boards::{self, Boards};
use super::numbers;
use super::role::{Act, ROLES, Role};
use super::{Returned, SHARED, State, THREADS, away, handle, partners, post_of};
use crate::element::{element, element_mut};
use crate::entry::descriptor;
use crate::flow::amount::{CallWords, word};
use crate::flow::ledger::{self, Ledger};
use crate::flow::library::{self, Library};
use crate::flow::plan::{Hot, HotPlaces, PLANS, Place};
use crate::frame::Frame;
use crate::requests::{FoundRequest, flag};
use crate::thread::Thread;

use core::sync::atomic::Ordering::Relaxed;

/// Where calls that send one message or receive one have their arguments.
const MESSAGE: HotPlaces = HotPlaces::MESSAGE;

/// Ways that are known at the same time.
const WAYS: usize = 256;

/// Messages from this rank to another with a tag, or the other way.
#[derive(Clone, Copy)]
struct Lane {
    /// The communicator as the program has it
    handle: u64,
    /// The rank there, the tag and the side: see [`Lane::word`]
    word: u64,
    /// Where stamps go
    ring: *const Ring,
    /// The rank of the world, and the tag
    address: Address,
    /// [`numbers::age`] when it was looked for
    age: u32,
}

impl Lane {
    /// What tells it from others of its communicator.
    #[inline(always)]
    const fn word(rank: i32, tag: i32, side: Side) -> u64 {
        (rank as u32 as u64) << 32 | (tag as u32 as u64) << 1 | matches!(side, Side::Post) as u64
    }

    #[inline(always)]
    fn place(handle: u64, word: u64) -> usize {
        ((handle ^ word.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }

    /// Whether it is the way with this word.
    #[inline(always)]
    const fn is(&self, handle: u64, word: u64) -> bool {
        self.handle == handle && self.word == word
    }

    /// The rank of the world, and where stamps go.
    #[inline(always)]
    fn end(&self) -> (u32, &Ring) {
        // SAFETY: a ring of this rank, which stays where it is.
        (self.address.peer, unsafe { &*self.ring })
    }
}

/// Who comes to the collectives of a communicator; all of them are on this node.
#[derive(Clone, Copy)]
struct Gathering {
    /// The communicator as the program has it
    handle: u64,
    ring: *const Ring,
    /// How many come
    size: u32,
    /// [`numbers::age`] when it was looked for
    age: u32,
}

/// What was met before. Zero at its beginning.
pub struct Known {
    lanes: [Lane; WAYS],
    /// The place of the way by which a message came last that was received from anybody
    latest: usize,
    gatherings: [Gathering; ledger::PLACES],
}

impl Known {
    /// Nothing.
    pub const fn new() -> Known {
        const NOBODY: Address = Address { comm: 0, peer: 0, tag: 0 };
        const LANE: Lane =
            Lane { handle: 0, word: 0, ring: core::ptr::null(), address: NOBODY, age: 0 };
        const GATHERING: Gathering =
            Gathering { handle: 0, ring: core::ptr::null(), size: 0, age: 0 };
        Known { lanes: [LANE; WAYS], latest: 0, gatherings: [GATHERING; ledger::PLACES] }
    }

    /// How messages like these go, if that is known.
    #[inline(always)]
    fn lane(&self, handle: u64, (rank, tag): (i32, i32), side: Side) -> Option<&Lane> {
        // Neither nobody nor anybody.
        if (rank | tag) < 0 {
            return None;
        }
        let word = Lane::word(rank, tag, side);
        let lane = element(&self.lanes, Lane::place(handle, word));
        (lane.is(handle, word) && lane.age == numbers::age()).then_some(lane)
    }

    /// The same of a message that was received from anybody. From where it came stands in the status, which the MPI has just
    /// written: a processor can only look for the way once it has read that, but goes on by the way of the last such
    /// message before, and takes it back if the message came by another.
    #[inline(always)]
    fn lane_from_anybody(&mut self, handle: u64, (rank, tag): (i32, i32)) -> Option<&Lane> {
        if (rank | tag) < 0 {
            return None;
        }
        let word = Lane::word(rank, tag, Side::Post);
        let mut lane = element(&self.lanes, self.latest);
        if !lane.is(handle, word) {
            self.latest = Lane::place(handle, word);
            lane = element(&self.lanes, self.latest);
            if !lane.is(handle, word) {
                return None;
            }
        }
        (lane.age == numbers::age()).then_some(lane)
    }

    /// The place of a communicator, plus 1.
    #[inline(always)]
    fn gathering(&self, handle: u64) -> Option<usize> {
        let place = ledger::place(handle);
        let known = element(&self.gatherings, place);
        let same = known.handle == handle && known.age == numbers::age();
        same.then_some(place + 1)
    }

    /// Messages of this side of a communicator have a place on the board: `rank` and `tag` are as
    /// the program has them.
    fn learn(
        &mut self,
        boards: &Boards,
        handle: u64,
        (rank, side): (i32, Side),
        address: &Address,
    ) {
        let Address { comm, peer, tag } = *address;
        let word = Lane::word(rank, tag, side);
        if comm == 0
            || address.is_wild()
            || !boards::is_near(peer)
            || self.lane(handle, (rank, tag), side).is_some()
        {
            return;
        }
        let key = match side {
            Side::Send => key_to(boards, address, side),
            Side::Post => key_from(boards, address, side),
        };
        let Some(ring) = boards::own(key) else { return };
        *element_mut(&mut self.lanes, Lane::place(handle, word)) =
            Lane { handle, word, ring, address: *address, age: numbers::age() };
    }

    /// All of a communicator are on this node.
    fn learn_gathering(&mut self, comm: u64, handle: u64, size: u32) {
        if comm == 0 || self.gathering(handle).is_some() {
            return;
        }
        let Some(ring) = boards::own(of_collectives(comm)) else { return };
        *element_mut(&mut self.gatherings, ledger::place(handle)) =
            Gathering { handle, ring, size, age: numbers::age() };
    }
}

impl Returned<'_> {
    /// A message was sent: the next one like it may be told at once.
    #[cold]
    #[inline(never)]
    pub fn know_send(&mut self, to: &Address) {
        let rank = word(self.args, self.role.dest) as i32;
        self.know(rank, Side::Send, to);
    }

    /// The same of one that was received or posted. A wild one is known by its status.
    #[cold]
    #[inline(never)]
    pub fn know_receive(&mut self, from: &Address) {
        let (rank, _) = source(self.library, self.role, self.args);
        self.know(rank, Side::Post, from);
    }

    fn know(&mut self, rank: i32, side: Side, address: &Address) {
        let handle = handle(self.library, self.args, self.role.comm);
        if let Some(State { boards, known, .. }) = alone()
            && rank >= 0
        {
            known.learn(boards, handle, (rank, side), address);
        }
    }

    /// All of a communicator are on this node, and come to its collectives.
    #[cold]
    #[inline(never)]
    pub fn know_gathering(&mut self, handle: u64, size: u32) {
        if let Some(State { numbers, known, .. }) = alone() {
            known.learn_gathering(numbers.of(self.library, handle), handle, size);
        }
    }
}

/// The state, if no other thread may use it.
#[inline(always)]
fn alone() -> Option<&'static mut State> {
    // SAFETY: no other thread may call MPI.
    (!THREADS.load(Relaxed)).then(|| unsafe { &mut *SHARED.state.get() })
}

/// A call that has returned at `now`; None if more is to be noted of it, because the rank was away for long before.
#[inline(always)]
fn call(frame: &Frame, thread: &Thread, now: u64) -> Option<Call> {
    let function = partners::call_with(frame.function(), thread);
    let call = Call { function, counts: true, began: began(thread), ended: now };
    away::over_soon(thread.block, call)
}

/// What the function of a call means for waits.
#[inline(always)]
fn role_of(frame: &Frame) -> &'static Role {
    // SAFETY: `enter` was given the number of a function.
    unsafe { ROLES.get_unchecked(frame.function()) }
}

/// This rank comes to a collective of which nothing else is to be known. False, and nothing is done, if that is none of a
/// communicator that was met before.
#[inline(always)]
pub fn come(frame: &mut Frame, now: u64) -> bool {
    let Some(library) = library::library() else { return false };
    let handle = handle(library, &frame.args, role_of(frame).members);
    let Some(state) = alone() else { return false };
    let Some(place) = state.known.gathering(handle) else { return false };
    // SAFETY: a ring of this rank, which stays where it is.
    let ring = unsafe { &*element(&state.known.gatherings, place - 1).ring };
    frame.kept.came = ring.publish_by(now, partners::here()) + 1;
    frame.kept.gathering = place;
    true
}

/// Whether a call asks for a message.
#[inline(always)]
pub fn asks(frame: &Frame) -> bool {
    role_of(frame).act == Act::ProbedIf
}

/// After a successful call that moves nothing: false, and nothing is done, if more is to be known of it. `ASKS` if it may be
/// one that asks for a message.
#[inline(always)]
pub fn noted<const ASKS: bool>(frame: &Frame, thread: &Thread, now: u64) -> bool {
    if descriptor(frame.symbol).meets() {
        return gathered(frame, thread, now);
    }
    let role = role_of(frame);
    if ASKS && role.act == Act::ProbedIf {
        return asked_in_vain(frame, thread, now);
    }
    if ASKS && role.act == Act::Start {
        return started(frame, thread, now);
    }
    !role.matters()
}

/// After a successful call that starts a persistent request: false, and nothing is done, if it is another one of several,
/// or more is to be known.
#[inline(never)]
fn started(frame: &Frame, thread: &Thread, now: u64) -> bool {
    let Some(plan) = PLANS.get(frame.function()).filter(|_| frame.kept.count == 1) else {
        return false;
    };
    // SAFETY: null, or that of this thread alone.
    let ledger = unsafe { (thread.flow as *const Ledger).as_ref() };
    let (Some(ledger), Some(library)) = (ledger, library::library()) else { return false };
    let Some(State { engine, boards, .. }) = alone() else { return false };
    let Some(call) = call(frame, thread, now) else { return false };
    // SAFETY: a request that the call has read.
    let request = unsafe { library::handle_at(library, word(&frame.args, plan.about), 0) };
    let id = ledger.requests.find(request, true).map_or(0, |found| post_of(found.entry()));
    if id == 0 {
        return false;
    }
    engine.started(boards, id, &Doer { thread: 0, began: call.began, ended: call.ended });
    true
}

/// After a successful call that asks for a message: false, and nothing is done, if one was there or more is to be known.
#[inline(always)]
fn asked_in_vain(frame: &Frame, thread: &Thread, now: u64) -> bool {
    // SAFETY: an integer that the call has written: the flag of `Iprobe`.
    let in_vain = unsafe { *(*element(&frame.args, 3) as *const i32) } == 0;
    let Some(state) = alone().filter(|_| in_vain) else { return false };
    let Some(call) = call(frame, thread, now) else { return false };
    state.engine.asked_in_vain(&call);
    true
}

/// A collective is over of which nothing else is to be known.
#[inline(always)]
fn gathered(frame: &Frame, thread: &Thread, now: u64) -> bool {
    let Some(place) = frame.kept.gathering.checked_sub(1) else { return false };
    let Some(call) = call(frame, thread, now) else { return false };
    // SAFETY: the rank has come to it by `come`, which does nothing where another thread may call MPI.
    let state = unsafe { &mut *SHARED.state.get() };
    let size = element(&state.known.gatherings, place).size;
    state.engine.gathered_at_once(&mut state.boards, &call, size)
}

/// After a successful call of a shape: false, and nothing is done, if more is to be known of it.
#[inline(always)]
pub fn shaped<const HOT: u8>(frame: &Frame, thread: &mut Thread, now: u64) -> bool {
    if (HOT == Hot::Both as u8 || HOT == Hot::Bcast as u8) && descriptor(frame.symbol).meets() {
        return gathered(frame, thread, now);
    }
    let role = role_of(frame);
    // SAFETY: a call of a shape is told in a thread that has a ledger, so the MPI is known.
    let library = unsafe { library::known() };
    match HOT {
        hot if hot == Hot::Rma as u8 || hot == Hot::Both as u8 || hot == Hot::Bcast as u8 => {
            !role.matters()
        }
        hot if hot == Hot::Send as u8 => {
            call(frame, thread, now).is_some_and(|call| sent(library, frame, call))
        }
        hot if hot == Hot::Recv as u8 => {
            call(frame, thread, now).is_some_and(|call| received(library, frame, call))
        }
        hot if hot == Hot::Sendrecv as u8 && role.act == Act::SendReceive => {
            call(frame, thread, now).is_some_and(|call| exchanged(library, role, frame, call))
        }
        hot if hot == Hot::Isend as u8 => {
            send_started(library, role, frame, thread, partners::here())
        }
        hot if hot == Hot::Irecv as u8 => receive_posted(library, frame, thread, partners::here()),
        _ => false,
    }
}

/// An argument that is an `int`.
#[inline(always)]
fn int(frame: &Frame, at: Place) -> i32 {
    word(&frame.args, at) as i32
}

/// From where a message came: rank and tag, as the arguments and, where these leave it open, the
/// status tell.
#[inline(always)]
pub fn source(library: &Library, role: &Role, args: &CallWords) -> (i32, i32) {
    let named = (word(args, role.source) as i32, word(args, role.recvtag) as i32);
    let status = word(args, role.status);
    if (named.0 | named.1) >= 0 || status == library.status_ignore || named.0 == library.proc_null {
        return named;
    }
    // SAFETY: the status of a call that was successful.
    unsafe { library::source_and_tag_in(library, status as *const u8) }
}

/// The call path of a call.
#[inline(always)]
const fn path_of(call: &Call) -> u16 {
    (call.function >> 16) as u16
}

/// The communicator of a call that sends one message or receives one, and the rank and tag that it names.
#[inline(always)]
fn named(library: &Library, frame: &Frame) -> (u64, (i32, i32)) {
    let comm = handle(library, &frame.args, MESSAGE.object);
    (comm, (int(frame, MESSAGE.peer), int(frame, MESSAGE.tag)))
}

#[inline(always)]
fn sent(library: &Library, frame: &Frame, call: Call) -> bool {
    let Some(State { engine, boards, known, .. }) = alone() else { return false };
    let (comm, to) = named(library, frame);
    let Some(lane) = known.lane(comm, to, Side::Send) else { return false };
    engine.sent_at_once(boards, &call, lane.end(), path_of(&call))
}

#[inline(always)]
fn received(library: &Library, frame: &Frame, call: Call) -> bool {
    let Some(State { engine, boards, known, .. }) = alone() else { return false };
    let (comm, from) = named(library, frame);
    let lane = if (from.0 | from.1) >= 0 {
        known.lane(comm, from, Side::Post)
    } else {
        let status = word(&frame.args, MESSAGE.last);
        if status == library.status_ignore || from.0 == library.proc_null {
            return false;
        }
        // SAFETY: the status of a call that was successful.
        let from = unsafe { library::source_and_tag_in(library, status as *const u8) };
        known.lane_from_anybody(comm, from)
    };
    let Some(lane) = lane else { return false };
    engine.received_at_once(boards, &call, lane.end(), path_of(&call))
}

#[inline(always)]
fn exchanged(library: &Library, role: &Role, frame: &Frame, call: Call) -> bool {
    let Some(State { engine, boards, known, .. }) = alone() else { return false };
    let comm = handle(library, &frame.args, role.comm);
    let to = (int(frame, role.dest), int(frame, role.sendtag));
    let from = source(library, role, &frame.args);
    let Some(to) = known.lane(comm, to, Side::Send) else { return false };
    let Some(from) = known.lane(comm, from, Side::Post) else { return false };
    engine.exchanged_at_once(boards, &call, [to.end(), from.end()], path_of(&call))
}

/// When the outermost call began.
#[inline(always)]
fn began(thread: &Thread) -> u64 {
    // SAFETY: the outermost frame: that of the call, or of a Fortran function above it.
    unsafe { (*thread.outer).began }
}

/// What is kept of the request that a call has written, if anything is.
#[inline(always)]
fn request(library: &Library, frame: &Frame, thread: &mut Thread) -> Option<FoundRequest> {
    // SAFETY: a request that the call has written; the ledger of this thread alone.
    unsafe {
        let request = library::handle_at(library, word(&frame.args, MESSAGE.last), 0);
        (*(thread.flow as *const Ledger)).requests.latest(request)
    }
}

#[inline(always)]
fn send_started(
    library: &Library,
    role: &Role,
    frame: &Frame,
    thread: &mut Thread,
    path: u16,
) -> bool {
    let Some(State { engine, known, .. }) = alone() else { return false };
    let (comm, to) = named(library, frame);
    let Some(lane) = known.lane(comm, to, Side::Send) else { return false };
    let moment = began(thread);
    let number = lane.end().1.publish_by(moment, path);
    // What is not kept nobody completes: many operations share its request.
    if let Some(found) = request(library, frame, thread) {
        let entry = found.entry();
        let id = engine.send_numbered(&lane.address, moment, number, role.counted(entry.sent));
        found.set_flags(entry.flags & flag::BELOW_POST | id << flag::POST_AT);
    }
    true
}

#[inline(always)]
fn receive_posted(library: &Library, frame: &Frame, thread: &mut Thread, path: u16) -> bool {
    let Some(State { engine, known, .. }) = alone() else { return false };
    let (comm, from) = named(library, frame);
    let Some(lane) = known.lane(comm, from, Side::Post) else { return false };
    let Some(found) = request(library, frame, thread) else { return false };
    let ring = lane.end().1;
    let posted = engine.receive_numbered(&lane.address, began(thread), ring, path);
    let Some(id) = posted else { return false };
    found.set_flags(found.entry().flags & flag::BELOW_POST | id << flag::POST_AT);
    true
}

/// A call completed what was posted with this number: whether that was received. None, and nothing is
/// done, if more is to be known of it.
#[inline(always)]
pub fn completed(call: &Call, id: u32) -> Option<bool> {
    alone()?.engine.completed_at_once(id, call)
}
