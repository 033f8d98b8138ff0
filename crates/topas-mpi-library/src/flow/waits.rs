//! Why a rank waits: what its calls mean for [`topas_mpi_waits`].
//!
//! Sends and receives are told when their call has returned, so that nothing is looked at that the
//! MPI did not accept; what others have not yet told is looked at again later. Ranks come to
//! collectives before their call, because all must be there when the first returns.

mod asked;
mod away;
pub mod between;
mod boards;
mod bridges;
mod collectives;
mod companions;
mod completions;
mod departures;
mod epochs;
mod far;
mod groups;
mod locks;
pub mod logged;
mod made;
mod named;
mod neighbors;
mod numbers;
mod partitions;
pub mod partners;
pub mod quick;
pub mod role;

use core::cell::UnsafeCell;
use core::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_mpi_profile::layout::{Header, flag as header_flag};
use topas_mpi_profile::sums::TickLength;
use topas_mpi_table::{FlowAmount, Way};
use topas_mpi_waits::collective::Shape;
use topas_mpi_waits::engine::{Doer, Engine};
use topas_mpi_waits::key::{ANY_SOURCE, ANY_TAG, Address, mix};
use topas_mpi_waits::protocol::{BUFFERED, SMALL_MESSAGE, SYNCHRONOUS, counted};
use topas_mpi_waits::wait::Call;

use crate::flow::amount::{self, CallWords, word};
use crate::flow::completion::is_shared;
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::{self, Library};
use crate::flow::peers;
use crate::flow::plan::{CallPlan, NONE, PLANS, Place};
use crate::frame::Frame;
use crate::mode::{self, paused};
use crate::requests::flag;
use crate::thread::Thread;
use crate::{process, sys};

pub use asked::asked_in_vain;
use boards::Boards;
pub use completions::{Completions, cancelled, completed, end, freed, post_of};
pub use departures::leave;
pub use epochs::{WritesSupplement, log_epoch};
use numbers::Numbers;
use quick::Known;
use role::{Act, ROLES, Role};

/// Several threads may call at once.
static THREADS: AtomicBool = AtomicBool::new(false);

struct State {
    engine: Engine,
    numbers: Numbers,
    boards: Boards,
    known: Known,
}

struct Shared {
    busy: AtomicBool,
    state: UnsafeCell<State>,
}

// SAFETY: used by one thread at a time: see `with`.
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared {
    busy: AtomicBool::new(false),
    state: UnsafeCell::new(State {
        engine: Engine::new(),
        numbers: Numbers::new(),
        boards: Boards::new(),
        known: Known::new(),
    }),
};

/// Whether waits are told apart.
pub fn is_on() -> bool {
    mode::has(mode::WAITS)
}

/// How often a thread gives way to one that uses the state: some instructions of it are long over,
/// so the other was ended within them and never comes back.
const PATIENCE: u32 = 1 << 20;

/// Does something with the state; with nothing of it once waits were given up. Nobody calls MPI
/// meanwhile, so another thread has to wait for some instructions only.
#[inline(always)]
fn with<R: Default>(f: impl FnOnce(&mut Engine, &mut Numbers, &mut Boards) -> R) -> R {
    let threads = THREADS.load(Relaxed);
    if threads && !take_turn() {
        return R::default();
    }
    // SAFETY: one thread at a time: either no other may call MPI now, or it has to take turns.
    let state = unsafe { &mut *SHARED.state.get() };
    let result = f(&mut state.engine, &mut state.numbers, &mut state.boards);
    if threads {
        SHARED.busy.store(false, Release);
    }
    result
}

/// Waits until no other thread uses the state. False, and no waits from then on, where one never
/// came back.
#[inline(never)]
fn take_turn() -> bool {
    for _ in 0..PATIENCE {
        if !SHARED.busy.swap(true, Acquire) {
            return true;
        }
        sys::give_way();
    }
    mode::set(mode::WAITS, false);
    if let Some(header) = process::header() {
        // What was told until now is not all.
        header.flags &= !header_flag::WAITS;
    }
    false
}

/// Begins, when MPI has begun and the rank is known.
pub fn begin(header: &mut Header) {
    if header.flags & header_flag::WAITS == 0 || header.waits != 0 {
        return;
    }
    let known = header.flags & header_flag::WORLD != 0
        && header.flags & header_flag::UNKNOWN_MPI == 0
        && header.ranks > 0;
    if !known || boards::begin(header, world()).is_none() {
        header.flags &= !header_flag::WAITS;
        return;
    }
    // What 1,000,000 ns are in ticks.
    let length = TickLength::between(&header.began, &header.latest);
    let ticks = length.ticks_in(1_000_000) / 1_000;
    const MULTIPLE: u32 = 3;
    THREADS.store(header.level == MULTIPLE, Relaxed);
    partners::MICROSECOND.store(ticks.max(1), Relaxed);
    away::begin(ticks.max(1));
    with(|engine, _, boards| {
        // Under valgrind, which counts instructions, every call takes long.
        const NEVER: u64 = 1 << 56;
        engine.microsecond(if cfg!(topas_no_call_is_long) { NEVER } else { ticks.max(1) });
        engine.asks_use(asked::process_use);
        *boards = Boards::of(header.rank);
    });
    if let Some(library) = library::library() {
        bridges::begin(library, header);
    }
    between::begin();
    mode::set(mode::WAITS, true);
}

/// In a child process: it is not the rank.
pub fn forsake() {
    mode::set(mode::WAITS, false);
    boards::forsake();
}

/// What tells the world of this rank from others of the same launch: the launcher's name for it.
fn world() -> u64 {
    const NAMES: [&core::ffi::CStr; 4] =
        [c"PMIX_NAMESPACE", c"OMPI_MCA_ess_base_jobid", c"OMPI_MCA_orte_ess_jobid", c"PMI_JOBID"];
    let texts = NAMES.iter().filter_map(|name| sys::variable(name));
    texts.flatten().fold(1, |hash, byte| mix(hash, (*byte).into()))
}

/// Which thread calls; 0 if only one may.
fn doer(thread: &Thread, call: &Call) -> Doer {
    let number = if THREADS.load(Relaxed) { (thread.block as usize >> 6) as u32 | 1 } else { 0 };
    Doer { thread: number, began: call.began, ended: call.ended }
}

/// The call that the thread is in, which returned at `now`.
#[inline(always)]
fn call_of(frame: &Frame, thread: &Thread, now: u64) -> Call {
    // SAFETY: the outermost frame: this one, or that of a Fortran function below which it is.
    let began = unsafe { (*thread.outer).began };
    let function = partners::call_with(frame.function(), thread);
    away::over(thread.block, Call { function, counts: !paused(), began, ended: now })
}

/// At the beginning of a call in C to which all of a communicator, window or file come, or that ends an
/// access to windows: the rank comes to it at `now`.
#[inline(never)]
pub fn come(frame: &mut Frame, now: u64) {
    frame.kept.came = 0;
    frame.kept.gathering = 0;
    let (Some(role), Some(library)) = (ROLES.get(frame.function()), library::library()) else {
        return;
    };
    let handle = handle(library, &frame.args, role.members);
    if role.act == Act::AccessStarted {
        return named::access_comes(library, &frame.args, role, handle);
    }
    let number = with(|engine, numbers, boards| {
        let comm = numbers.of(library, handle);
        if role.act == Act::Unlocks {
            let target = locks::unlocked(library, frame.function(), &frame.args)?;
            engine.unlocks(boards, comm, target, now);
            return None;
        }
        if role.act == Act::AccessCompleted {
            engine.access_ends(boards, comm, now);
            return None;
        }
        engine.arrived(boards, comm, now)
    });
    frame.kept.came = number.map_or(0, |number| number + 1);
}

fn handle(library: &Library, args: &CallWords, at: Place) -> u64 {
    word(args, at) as u64 & library.handle_mask
}

/// What a call meant that has returned.
struct Returned<'a> {
    library: &'static Library,
    ledger: &'a mut Ledger,
    args: &'a CallWords,
    role: &'static Role,
    plan: &'static CallPlan,
    /// The function takes large counts
    large_counts: bool,
    call: Call,
    doer: Doer,
}

/// After a call in C, which returned at `now`, once what it moved was counted.
#[inline(never)]
pub fn after(frame: &Frame, thread: &mut Thread, now: u64) {
    let function = frame.function();
    let (Some(role), Some(plan)) = (ROLES.get(function), PLANS.get(function)) else { return };
    if !role.matters() {
        return;
    }
    // SAFETY: null, or that of this thread alone.
    let ledger = unsafe { (thread.flow as *mut Ledger).as_mut() };
    let (Some(ledger), Some(library)) = (ledger, library::library()) else { return };
    let call = call_of(frame, thread, now);
    let doer = doer(thread, &call);
    let (args, large_counts) = (&frame.args, frame.symbol.binding().is_large());
    let mut returned = Returned { library, ledger, args, role, plan, large_counts, call, doer };
    let has_come = role.gathers.is_some() || role.act == Act::DerivedLater;
    let came = if has_come { frame.kept.came } else { 0 };
    if frame.result as i32 != 0 {
        if came != 0 {
            // It never was.
            let members = handle(library, &frame.args, role.members);
            with(|engine, numbers, boards| engine.failed(boards, numbers.of(library, members)));
        } else if role.act == Act::AccessCompleted {
            returned.epoch_ended(true);
        }
        return;
    }
    if let Some(shape) = role.gathers
        && role.act != Act::CollectiveStarted
    {
        if shape == Shape::Neighbors {
            returned.met_neighbors(came);
        } else {
            returned.gathered(shape, came);
        }
    }
    match role.act {
        Act::Nothing | Act::Unlocks => {}
        Act::Locked => returned.locked(frame.function()),
        Act::Named => returned.log_name(),
        Act::Send => returned.sent(),
        Act::Receive | Act::Matched | Act::Probed => returned.received(),
        Act::MatchedIf | Act::ProbedIf => returned.asked_for_message(),
        Act::SendReceive => returned.both(),
        Act::SendStarted => {
            if let Some(to) = returned.to() {
                let bytes = returned.bytes_sent();
                let id = with(|e, _, b| e.send_started(b, &to, bytes, &doer));
                returned.keep(id);
                returned.know_send(&to);
            }
        }
        Act::ReceivePosted => {
            if let Some(posted) = returned.from() {
                let known = returned.comm();
                let large = u64::from(returned.bytes_received()) > SMALL_MESSAGE;
                let id = with(|e, _, b| e.receive_posted(b, &posted, large, &doer, known));
                returned.keep(id);
                if !posted.is_wild() {
                    returned.know_receive(&posted);
                }
            }
        }
        Act::SendReceiveStarted => {
            if let Some(to) = returned.to() {
                with(|e, _, b| {
                    let id = e.send_started(b, &to, BUFFERED, &doer);
                    e.freed(id);
                });
            }
            if let Some(posted) = returned.from() {
                let known = returned.comm();
                let id = with(|e, _, b| e.receive_posted(b, &posted, true, &doer, known));
                returned.keep(id);
            }
        }
        Act::SendPrepared | Act::ReceivePrepared => {
            let sends = role.act == Act::SendPrepared;
            let address = if sends { returned.to() } else { returned.from() };
            if let Some(address) = address {
                let known = returned.comm();
                let bytes = sends.then(|| returned.bytes_sent());
                let id = with(|e, _, _| e.prepared(&address, bytes, known));
                returned.keep(id);
            }
        }
        Act::PartitionsPrepared => returned.prepared_in_partitions(true),
        Act::PartitionedReceivePrepared => returned.prepared_in_partitions(false),
        Act::PartitionsReady => returned.ready(frame.function()),
        Act::PartitionAsked => returned.asked_for_partition(),
        Act::CollectivePrepared => returned.collective_prepared(),
        Act::Start => returned.started(frame),
        Act::Derived | Act::DerivedLater => {
            let parent = handle(library, &frame.args, role.comm);
            let made = returned.made();
            if bridges::is_bridged(parent) {
                return returned.derived_bridged(parent, made);
            }
            let size = returned.world_size(parent);
            let first = returned.first_of_part(made);
            with(|_, numbers, _| numbers.derived(library, parent, made, size, first));
            returned.log_made(frame.function(), made);
            if role.act == Act::DerivedLater {
                returned.collective_started(Shape::All, came);
            }
        }
        Act::Made => {
            let made = returned.made();
            with(|_, numbers, _| numbers.remove(made));
        }
        Act::Spawned => returned.spawned(),
        Act::Parent => {
            let made = returned.made();
            with(|_, numbers, _| {
                // That which was known from the beginning, as long as it is there.
                if numbers.bridged(made).is_none() {
                    numbers.remove(made);
                }
            });
        }
        Act::MadeByGroup => {
            returned.made_by_group();
            returned.log_made(frame.function(), returned.made());
        }
        Act::CollectiveStarted => {
            if let Some(shape) = role.gathers {
                if shape == Shape::Neighbors {
                    returned.neighbors_started(came);
                } else {
                    returned.collective_started(shape, came);
                }
            }
        }
        Act::Posted | Act::AccessStarted => returned.epoch_begun(),
        Act::AccessCompleted | Act::ExposureWaited | Act::ExposureTested => {
            returned.epoch_ended(false);
        }
        Act::Freed => returned.departed(&frame.kept.status),
    }
    if role.info != NONE {
        returned.asserted();
    }
}

impl Returned<'_> {
    fn comm(&self) -> (u64, u32) {
        let handle = handle(self.library, self.args, self.role.comm);
        (handle, generation(place(handle)))
    }

    /// Where a message goes or comes from; None if that is nobody.
    fn address(&mut self, peer: Place, tag: Place) -> Option<Address> {
        let (rank, tag) = (word(self.args, peer) as i32, word(self.args, tag) as i32);
        if rank == self.library.proc_null {
            return None;
        }
        let handle = handle(self.library, self.args, self.role.comm);
        Some(address_in(self.library, self.ledger, handle, rank, tag))
    }

    fn to(&mut self) -> Option<Address> {
        self.address(self.role.dest, self.role.sendtag)
    }

    fn from(&mut self) -> Option<Address> {
        self.address(self.role.source, self.role.recvtag)
    }

    /// Whose message came, as arguments and, where these leave it open, the status tell.
    fn whose(&mut self) -> Option<Address> {
        let posted = self.from()?;
        if !posted.is_wild() {
            return Some(posted);
        }
        let status = word(self.args, self.role.status);
        if status == self.library.status_ignore {
            return Some(Address::default());
        }
        let handle = handle(self.library, self.args, self.role.comm);
        // SAFETY: the status of a call that was successful.
        unsafe { told(self.library, self.ledger, handle, status as *const u8) }
    }

    /// Bytes of the message that is sent, as they count for whether it waits for its receiver.
    fn bytes_sent(&mut self) -> u32 {
        let [flow, ..] = &self.plan.flow;
        let FlowAmount::Block { count, datatype } = flow.amount else { return SYNCHRONOUS };
        let (library, ledger) = (self.library, &mut *self.ledger);
        let bytes = amount::block(library, ledger, self.args, count, datatype, self.large_counts);
        self.role.counted(bytes)
    }

    /// Bytes of the message that is received, as they count for whether its sender waits. Where nobody needs to know, as many as
    /// there may be: unless there is another node, in calls that are over at once, or that only post the receive.
    #[inline(always)]
    fn bytes_received(&mut self) -> u32 {
        let (call, posts) = (self.call, self.role.act == Act::ReceivePosted);
        let is_needed = far::writes() || !posts && with(|engine, _, _| engine.may_look(&call));
        if !is_needed || self.role.act == Act::Matched || self.role.act == Act::MatchedIf {
            return SYNCHRONOUS;
        }
        let flows = self.plan.flow.iter().take(self.plan.flows.into());
        let received = flows.into_iter().find(|flow| flow.way == Way::Received);
        let Some(FlowAmount::Block { count, datatype }) = received.map(|flow| flow.amount) else {
            return SYNCHRONOUS;
        };
        let (library, ledger) = (self.library, &mut *self.ledger);
        counted(amount::block(library, ledger, self.args, count, datatype, self.large_counts))
    }

    fn sent(&mut self) {
        let Some(to) = self.to() else { return };
        let (call, doer, bytes) = (self.call, self.doer, self.bytes_sent());
        with(|engine, _, boards| engine.only_sent(boards, call, (&to, bytes), &doer));
        self.know_send(&to);
    }

    fn received(&mut self) {
        let Some(from) = self.whose() else { return };
        let (call, doer, probed) = (self.call, self.doer, self.role.act == Act::Probed);
        if !probed {
            let bytes = self.bytes_received();
            with(|e, _, boards| e.only_received(boards, call, (&from, bytes), &doer));
            return self.know_receive(&from);
        }
        with(|engine, _, boards| {
            let mut waiting = engine.begin(call);
            engine.probed(boards, &mut waiting, &from);
            engine.end(boards, waiting);
        });
    }

    fn both(&mut self) {
        let (to, from, bytes) = (self.to(), self.whose(), self.bytes_sent());
        let received = self.bytes_received();
        let (call, doer) = (self.call, self.doer);
        with(|engine, _, boards| {
            let mut waiting = engine.begin(call);
            if let Some(to) = to {
                engine.sent(boards, &mut waiting, (&to, bytes), &doer);
            }
            if let Some(from) = from {
                engine.received(boards, &mut waiting, (&from, received), &doer);
            }
            engine.end(boards, waiting);
        });
        to.iter().for_each(|to| self.know_send(to));
        from.iter().for_each(|from| self.know_receive(from));
    }

    /// Notes the number of a post with its request.
    fn keep(&mut self, id: u32) {
        if id == 0 {
            return;
        }
        // SAFETY: the call has written a request there.
        let request =
            unsafe { library::handle_at(self.library, word(self.args, self.role.request), 0) };
        let found = if request == self.library.request_null || is_shared(self.library, request) {
            None
        } else {
            self.ledger.requests.find(request, true)
        };
        match found {
            Some(found) => {
                found.set_flags(found.entry().flags & flag::BELOW_POST | id << flag::POST_AT);
            }
            // Nobody will complete it.
            None => with(|engine, _, _| engine.freed(id)),
        }
    }

    fn started(&mut self, frame: &Frame) {
        let address = PLANS.get(frame.function()).map_or(0, |p| word(self.args, p.about));
        for i in 0..frame.kept.count {
            // SAFETY: as many requests as the call says.
            let request = unsafe { library::handle_at(self.library, address, i) };
            let Some(found) = self.ledger.find(request) else { continue };
            let (id, doer) = (post_of(found.entry()), self.doer);
            if id != 0 {
                with(|engine, _, boards| engine.started(boards, id, &doer));
            }
        }
    }

    fn made(&self) -> u64 {
        if self.role.made == NONE {
            return 0;
        }
        let address = word(self.args, self.role.made);
        if address == 0 {
            return 0;
        }
        // SAFETY: the address of a communicator that the call has written.
        unsafe { library::handle_at(self.library, address, 0) }
    }
}

/// The address of a message in a communicator.
fn address_in(library: &Library, ledger: &mut Ledger, handle: u64, rank: i32, tag: i32) -> Address {
    let comm = with(|_, numbers, _| numbers.of(library, handle));
    let tag = if tag < 0 { ANY_TAG } else { tag };
    let peer = match rank {
        _ if comm == 0 => 0,
        rank if rank < 0 => ANY_SOURCE,
        rank if handle == library.comm_world => rank as u32,
        rank => bridges::member(library, ledger, handle, rank as u32),
    };
    if peer == peers::OTHERS { Address::default() } else { Address { comm, peer, tag } }
}

/// The address of a message that came, as its status tells; None if it is from nobody.
///
/// # Safety
/// `status` is that of a receive.
unsafe fn told(
    library: &Library,
    ledger: &mut Ledger,
    handle: u64,
    status: *const u8,
) -> Option<Address> {
    // SAFETY: by the caller.
    let (source, tag) = unsafe { library::source_and_tag_in(library, status) };
    if source == library.proc_null {
        return None;
    }
    if source < 0 || tag < 0 {
        return Some(Address::default());
    }
    Some(address_in(library, ledger, handle, source, tag))
}

/// A communicator, window or file goes.
#[cold]
pub fn gone(handle: u64) {
    let Some(library) = library::library().filter(|_| is_on()) else { return };
    with(|engine, numbers, _| {
        let number = numbers.of(library, handle);
        engine.window_freed(number);
        engine.neighbors_gone(number);
        numbers.remove(handle);
    });
}

/// The end: all that can be found out is.
pub fn finish() {
    if is_on() {
        with(|engine, _, boards| {
            bridges::finish();
            engine.finish(boards);
        });
    }
}
