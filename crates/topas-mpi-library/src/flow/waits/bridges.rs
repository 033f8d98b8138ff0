//! Communicators that this rank shares with ranks of other worlds: those of `MPI_Comm_spawn` and
//! `MPI_Comm_get_parent`, and what is made of them.
//!
//! Either world gives a number of its own to such a communicator, and each rank writes into its file by which number
//! and rank it knows the communicator. Nothing is agreed upon: who looks for a stamp of a rank of another world finds
//! the number there.

mod files;

use core::cell::UnsafeCell;
use core::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};

use topas_mpi_profile::layout::{BRIDGED, Bridge, Bridged, Bridges, Header, Outsider, WaitPeer};
use topas_mpi_waits::key::{PARENT, SHARED, beside, derived, derived_beside, parts_of_beside};
use topas_mpi_waits::wait::Cause;

use super::{Returned, with};
use crate::element::element_mut;
use crate::flow::amount::word;
use crate::flow::ledger::Ledger;
use crate::flow::library::{self, Library};
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers;
use crate::flow::plan::NONE;
use crate::generated::number;
use crate::{spool, sys};

pub use files::Sought;
use files::Worlds;

const _: () = assert!(BRIDGED == SHARED as usize);

/// What the file of this rank tells of such communicators; null as long as there are none.
static TOLD: AtomicPtr<Bridges> = AtomicPtr::new(core::ptr::null_mut());

/// Processes of other worlds whose places are known, with room for them to be found.
const PLACES: usize = 1024;

/// Where a process of another world is.
#[derive(Clone, Copy)]
struct Place {
    /// The process, as [`beside`] has it; 0 if nothing is here
    peer: u32,
    /// Its entry among those for whom this rank waited, plus 1; 0 if it has none
    outsider: u32,
    /// Its file
    base: *const u8,
    /// That of the numbers of the communicator
    difference: u64,
}

struct State {
    places: [Place; PLACES],
    used: usize,
    worlds: Worlds,
}

struct Shared(UnsafeCell<State>);

// SAFETY: whoever tells waits is alone.
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(State {
    places: [Place { peer: 0, outsider: 0, base: core::ptr::null(), difference: 0 }; PLACES],
    used: 0,
    worlds: Worlds::new(),
}));

fn state() -> &'static mut State {
    // SAFETY: see `Shared`; nobody keeps it.
    unsafe { &mut *STATE.0.get() }
}

/// Nothing of what was there belongs to this process any more.
pub fn forsake() {
    TOLD.store(core::ptr::null_mut(), Relaxed);
}

/// What the file of this rank tells.
fn told() -> Option<&'static mut Bridges> {
    // SAFETY: null, or mapped for good; one thread at a time is here.
    unsafe { TOLD.load(Relaxed).as_mut() }
}

/// The same, with room for it in the file.
#[cold]
fn told_or_new() -> Option<&'static mut Bridges> {
    if TOLD.load(Relaxed).is_null() {
        let waits = spool::header()?.waits;
        let room = if waits == 0 { 0 } else { spool::reserve(size_of::<Bridges>()) };
        if room == 0 {
            return None;
        }
        TOLD.store(spool::at(room), Relaxed);
        let waits: *mut topas_mpi_profile::layout::Waits = spool::at(waits);
        // SAFETY: a word of the mapped file, which other processes read.
        unsafe { AtomicU64::from_ptr(&raw mut (*waits).bridges) }.store(room, Release);
    }
    told()
}

/// Writes a number behind all else of its entry.
fn publish(place: &mut u64, number: u64) {
    // SAFETY: a word of the mapped file, which other processes read.
    unsafe { AtomicU64::from_ptr(place) }.store(number, Release);
}

/// A number that another process may be about to write.
fn published(place: &u64) -> u64 {
    // SAFETY: a word of a mapped file; nobody writes by this address.
    unsafe { AtomicU64::from_ptr(core::ptr::from_ref(place).cast_mut()) }.load(Acquire)
}

/// Tells of a bridge and its communicator: the place of that. None if there is no room.
fn new_bridge(new: Bridge, rank: u32) -> Option<u32> {
    let told = told_or_new()?;
    let number = new.number;
    let place = told.count;
    let entry = told.bridges.get_mut(place as usize)?;
    *entry = Bridge { number: 0, ..new };
    publish(&mut entry.number, number);
    // Only then may the call be over, for those who see which call this thread is in.
    fence(SeqCst);
    told.count += 1;
    new_communicator(number, rank, place)
}

/// Tells of a communicator: its place. None if there is no room.
fn new_communicator(number: u64, rank: u32, bridge: u32) -> Option<u32> {
    let told = told_or_new()?;
    let place = told.bridged;
    let entry = told.communicators.get_mut(place as usize)?;
    *entry = Bridged { number: 0, rank, bridge };
    publish(&mut entry.number, number);
    told.bridged += 1;
    Some(place)
}

fn communicator(place: u32) -> Option<Bridged> {
    told()?.communicators.get(place as usize).copied()
}

/// The rank of this process in the communicator at a place.
pub fn rank_in(place: u32) -> u32 {
    communicator(place).map_or(0, |known| known.rank)
}

/// How a member of a communicator is called here that has no rank in this world.
#[cold]
#[inline(never)]
pub fn named(library: &Library, ledger: &mut Ledger, handle: u64, rank: u32) -> u32 {
    let place = with(|_, numbers, _| numbers.bridged(handle));
    let size = object::object(library, ledger, handle, ObjectKind::Comm).size;
    let name = place.filter(|_| rank < size).and_then(|place| beside(place, rank));
    name.unwrap_or(peers::OTHERS)
}

/// The name of a member of a communicator: its rank in this world, or what [`named`] says.
#[inline(never)]
pub fn member(library: &Library, ledger: &mut Ledger, handle: u64, rank: u32) -> u32 {
    match object::world_rank(library, ledger, handle, ObjectKind::Comm, rank as i32) {
        peers::OTHERS => named(library, ledger, handle, rank),
        world => world,
    }
}

/// Whether a name is that of a process of another world.
#[inline(always)]
pub fn is_beside(peer: u32) -> bool {
    parts_of_beside(peer).is_some()
}

/// At the beginning of a world that others started: tells of the bridge to them.
#[cold]
pub fn begin(library: &Library, header: &Header) {
    if header.worlds.spawned == 0 {
        return;
    }
    let mut parent = library.comm_null;
    let at = (&raw mut parent) as usize;
    // SAFETY: takes the address of a handle.
    let asked = unsafe { library::call(number::COMM_GET_PARENT, [at, 0, 0, 0, 0, 0]) };
    let parent = parent & library.handle_mask;
    let Some(remote) = asked.and_then(|()| library::ask(number::COMM_REMOTE_SIZE, parent)) else {
        return;
    };
    let near = sys::variable(c"MPI_LOCALNRANKS").unwrap_or_default();
    let digits = near.iter().map(|digit| u32::from(digit.wrapping_sub(b'0')));
    let bridge = Bridge {
        number: PARENT,
        began: header.began.ticks,
        ended: header.initialized.ticks,
        local: header.ranks,
        remote: remote as u32,
        root: 0,
        started: 1,
        near: digits.fold(0, |sum, digit| sum.wrapping_mul(10).wrapping_add(digit)),
        reserved: 0,
    };
    with(|_, numbers, _| {
        if let Some(place) = new_bridge(bridge, header.rank) {
            numbers.put_bridged(parent, PARENT, place);
        }
    });
}

impl Returned<'_> {
    /// Ranks started others, and are connected with them.
    #[cold]
    #[inline(never)]
    pub fn spawned(&mut self) {
        let made = self.made();
        let (comm, library) = (self.comm().0, self.library);
        let next = with(|_, numbers, _| {
            numbers.remove(made);
            // Of three worlds nobody knows a number.
            numbers.bridged(comm).is_none().then(|| numbers.next_of(library, comm)).flatten()
        });
        let Some((parent, nth)) = next else { return };
        let object = *object::object(library, self.ledger, comm, ObjectKind::Comm);
        let root = word(self.args, self.role.root) as u32;
        let bridge = Bridge {
            number: derived(parent, nth),
            began: self.call.began,
            ended: self.call.ended,
            local: object.size,
            remote: object::object(library, self.ledger, made, ObjectKind::Comm).size,
            root: object::world_rank(library, self.ledger, comm, ObjectKind::Comm, root as i32),
            started: 0,
            near: 0,
            reserved: 0,
        };
        with(|_, numbers, _| {
            if !object.inter
                && let Some(place) = new_bridge(bridge, object.rank)
            {
                numbers.put_bridged(made, bridge.number, place);
            }
        });
    }

    /// A communicator of several worlds made another, or something else, which has no number. Windows and files of
    /// such communicators have none, either.
    #[cold]
    #[inline(never)]
    pub fn derived_bridged(&mut self, parent: u64, made: u64) {
        let (library, is_later) = (self.library, self.role.request != NONE);
        let next = with(|_, numbers, _| {
            let next = numbers.next_of(library, parent);
            numbers.remove(made);
            next.zip(numbers.bridged(parent).and_then(communicator))
        });
        let Some(((number, nth), from)) = next else { return };
        if made == library.comm_null || !self.role.makes_comm {
            return;
        }
        let mut nth = nth;
        if self.role.makes_parts {
            // Parts are told from each other by their first ranks. Of two groups each nobody knows those of both.
            let inter = object::object(library, self.ledger, parent, ObjectKind::Comm).inter;
            let first = (!inter).then(|| object::first_rank(library, made, parent)).flatten();
            let Some(first) = first else { return };
            nth |= u64::from(first + 1) << 32;
        }
        // A duplicate that is not there yet cannot be asked, and has the same ranks.
        let rank = if is_later {
            from.rank
        } else {
            object::object(library, self.ledger, made, ObjectKind::Comm).rank
        };
        with(|_, numbers, _| {
            let link = told().and_then(|told| told.bridges.get(from.bridge as usize));
            let Some(link) = link.map(|bridge| bridge.number) else { return };
            let number = derived_beside(number, link, nth);
            if let Some(place) = new_communicator(number, rank, from.bridge) {
                numbers.put_bridged(made, number, place);
            }
        });
    }
}

/// Whether ranks of another world share a communicator.
pub fn is_bridged(handle: u64) -> bool {
    with(|_, numbers, _| numbers.bridged(handle)).is_some()
}

impl State {
    /// The place of a process; a free one if it is not known.
    fn place(&mut self, peer: u32) -> &mut Place {
        let mut at = (peer.wrapping_mul(0x9e37_79b1) >> 22) as usize;
        // There is always a free one.
        while ![peer, 0].contains(&element_mut(&mut self.places, at).peer) {
            at += 1;
        }
        element_mut(&mut self.places, at)
    }
}

/// Where a process of another world is: its file, and the difference of both numbers of the communicator.
#[inline(never)]
pub fn seek(peer: u32) -> Sought {
    let state = state();
    let known = *state.place(peer);
    if known.peer == peer {
        return Sought::Found(known.base, known.difference);
    }
    let Some((of, rank)) = parts_of_beside(peer) else { return Sought::Never };
    let (Some(of), Some(told)) = (communicator(of), told()) else { return Sought::Never };
    let sought = state.worlds.seek(told, &of, rank);
    if let Sought::Found(base, difference) = sought
        && state.used < PLACES / 4 * 3
    {
        *state.place(peer) = Place { peer, outsider: 0, base, difference };
        state.used += 1;
    }
    sought
}

/// Ticks of this rank go to a process of another world.
#[inline(never)]
pub fn blame(peer: u32, cause: Cause, ticks: u64) {
    let (state, Some(told)) = (state(), told()) else { return };
    let place = state.place(peer);
    if place.peer != peer {
        return;
    }
    if place.outsider == 0 {
        // SAFETY: the header of a mapped file of a rank.
        let header = unsafe { &*place.base.cast::<Header>() };
        let parent = u32::from(files::is_started(told, peer));
        // By another communicator it has another place.
        let is_it = |known: &Outsider| {
            (known.rank, known.parent) == (header.rank, parent) && known.id == header.id
        };
        let known = told.outsiders().iter().position(is_it);
        let number = known.map_or(told.outside, |known| known as u32);
        let Some(new) = told.outsiders.get_mut(number as usize) else { return };
        if known.is_none() {
            let waits = WaitPeer::default();
            *new = Outsider { id: header.id, rank: header.rank, parent, waits };
            told.outside = number + 1;
        }
        place.outsider = number + 1;
    }
    let entry = told.outsiders.get_mut(place.outsider as usize - 1);
    let Some(Outsider { waits, .. }) = entry else { return };
    match cause {
        Cause::LateSender => waits.late.add(ticks),
        Cause::LateReceiver => waits.late_receiver.add(ticks),
        Cause::Collective => waits.collective.add(ticks),
    }
}

/// The end: what was not found is not looked for any more.
pub fn finish() {
    state().worlds.close();
}
