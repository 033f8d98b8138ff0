//! The board of this rank, and those of the other ranks of the node, in their mapped files.

use core::ffi::CStr;
use core::sync::atomic::{
    AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use topas_format::out::Out;
use topas_mpi_profile::layout::{Header, MAGIC, RankState, VERSION, WaitPeer, Waits, flag};
use topas_mpi_profile::lines::text;
use topas_mpi_waits::absence::Absence;
use topas_mpi_waits::board::{Keys, Ring, Seen};
use topas_mpi_waits::engine::Surroundings;
use topas_mpi_waits::far::{FarQuestion, Stamp};
use topas_mpi_waits::key;
use topas_mpi_waits::wait::{Cause, Figure, Findings, parts_of_peer};
use topas_node::sys as kernel;

use super::bridges::{self, Sought};
use super::{asked, away, far, partners};
use crate::element::element;
use crate::flow::library;
use crate::{clock, mode, spool, sys};

/// The board of this rank; null without one.
static KEYS: AtomicPtr<Keys> = AtomicPtr::new(core::ptr::null_mut());
/// Rings that are reserved and not yet used: where, and how many.
static ROOM: AtomicU64 = AtomicU64::new(0);
static ROOMS: AtomicU32 = AtomicU32::new(0);
/// Rings that are reserved at once.
const TOGETHER: u32 = 16;

/// Ranks of the node whose files are known, by their numbers.
const PEERS: usize = 1024;

struct Peer {
    /// The rank, plus 1; 0 if nothing is here
    rank: AtomicU32,
    /// Its file; null if it has none here, or there is more than one
    base: AtomicPtr<u8>,
}

static PEERS_KNOWN: [Peer; PEERS] =
    [const { Peer { rank: AtomicU32::new(0), base: AtomicPtr::new(core::ptr::null_mut()) } };
        PEERS];

/// Makes the part of the file that is for waits. None if there is no room.
pub fn begin(header: &mut Header, world: u64) -> Option<()> {
    let offset = spool::reserve(size_of::<Waits>());
    let board = spool::reserve(size_of::<Keys>());
    let peers = spool::reserve(header.ranks as usize * size_of::<WaitPeer>());
    if offset == 0 || board == 0 {
        return None;
    }
    let waits: *mut Waits = spool::at(offset);
    // SAFETY: a part of the file that was just reserved, zeroed.
    unsafe {
        (*waits).partners = partners::begin();
        (*waits).board = board;
        (*waits).peers = peers;
        (*waits).world = world;
    }
    KEYS.store(spool::at(board), Release);
    LOOKED.store(sys::map_memory(header.ranks as usize).unwrap_or_default(), Relaxed);
    if let Some(looked) = looked(header.rank) {
        *looked = NEAR;
    }
    // SAFETY: a word of the header, which other processes read.
    unsafe { AtomicU64::from_ptr(&raw mut header.waits) }.store(offset, Release);
    Some(())
}

/// Nothing of what was there belongs to this process any more.
pub fn forsake() {
    KEYS.store(core::ptr::null_mut(), Relaxed);
    ROOMS.store(0, Relaxed);
    LOOKED.store(core::ptr::null_mut(), Relaxed);
    far::forsake();
    bridges::forsake();
}

fn keys() -> Option<&'static Keys> {
    // SAFETY: null, or mapped for good.
    unsafe { KEYS.load(Acquire).as_ref() }
}

/// The ring of a key of this rank; None if it has none.
#[inline(always)]
pub fn own(key: u64) -> Option<&'static Ring> {
    let offset = keys()?.find(key)?;
    // SAFETY: a ring that this rank reserved.
    Some(unsafe { &*spool::at::<Ring>(offset) })
}

#[cold]
#[inline(never)]
fn new_ring(key: u64) -> Option<&'static Ring> {
    let keys = keys()?;
    if keys.is_full() {
        return None;
    }
    if ROOMS.load(Relaxed) == 0 {
        let room = spool::reserve(TOGETHER as usize * size_of::<Ring>());
        if room == 0 {
            return None;
        }
        ROOM.store(room, Relaxed);
        ROOMS.store(TOGETHER, Relaxed);
    }
    let offset = ROOM.fetch_add(size_of::<Ring>() as u64, Relaxed);
    ROOMS.fetch_sub(1, Relaxed);
    keys.add(key, offset);
    // SAFETY: a part of the file that was reserved, zeroed.
    Some(unsafe { &*spool::at::<Ring>(offset) })
}

/// Publishes the next stamp of a ring of this rank, with the call path if these are counted: its
/// number.
#[inline(always)]
pub fn publish(ring: &Ring, moment: u64) -> u64 {
    match partners::here() {
        0 => ring.publish(moment),
        path => ring.publish_with(moment, path),
    }
}

/// For each rank of the world whether it was found on this node; null if there is no room.
static LOOKED: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());
/// A rank that was not looked for.
const NEW: u8 = 0;
/// A rank whose file is known.
const NEAR: u8 = 1;
/// A rank that was not found, from so often on that it is no more looked for each time. The first
/// look may have been before it came to MPI.
const SOUGHT_IN_VAIN: u8 = 4;

/// What is known of where a rank is.
#[inline(always)]
fn looked(rank: u32) -> Option<&'static mut u8> {
    let (all, header) = (LOOKED.load(Relaxed), spool::header()?);
    if all.is_null() || rank >= header.ranks {
        return None;
    }
    // SAFETY: there is one for each rank, mapped for good; one thread at a time is here.
    Some(unsafe { &mut *all.add(rank as usize) })
}

/// Whether the board of another rank is known.
#[inline(always)]
pub fn is_near(rank: u32) -> bool {
    looked(rank).is_none_or(|looked| *looked == NEAR)
}

/// Looks for a rank that was not found. Who came to MPI later is found later, but whoever is on
/// another node is not looked for each time: after some looks the time until the next one doubles.
#[cold]
#[inline(never)]
pub fn seek(rank: u32) -> bool {
    /// Looks that are made as soon as they are of use.
    const AT_ONCE: u32 = 64;
    static LOOKS: AtomicU32 = AtomicU32::new(0);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static PAUSE: AtomicU64 = AtomicU64::new(0);
    let Some(known) = looked(rank).map(|looked| *looked) else { return false };
    if known == NEAR {
        return true;
    }
    let soon = known != SOUGHT_IN_VAIN && LOOKS.load(Relaxed) < AT_ONCE;
    let now = clock::ticks();
    if soon || now >= NEXT.load(Relaxed) {
        LOOKS.fetch_add(1, Relaxed);
        look_around();
        let least = 1_000 * partners::MICROSECOND.load(Relaxed);
        let pause = (PAUSE.load(Relaxed) << u32::from(!soon)).max(least);
        PAUSE.store(pause, Relaxed);
        NEXT.store(now.saturating_add(pause), Relaxed);
    }
    match looked(rank) {
        Some(looked) if *looked != NEAR => {
            *looked = if *looked == NEW { NEAR + 1 } else { SOUGHT_IN_VAIN.min(*looked + 1) };
            false
        }
        found => found.is_some(),
    }
}

/// The file of another rank of this node, mapped to be read; null if there is none.
fn base_of(rank: u32) -> *const u8 {
    if !is_near(rank) && !seek(rank) {
        return core::ptr::null();
    }
    let first = rank as usize;
    for step in 0..PEERS {
        let peer = element(&PEERS_KNOWN, first + step);
        match peer.rank.load(Acquire) {
            0 => break,
            found if found == rank + 1 => return peer.base.load(Relaxed),
            _ => {}
        }
    }
    core::ptr::null()
}

/// Notes where the file of a rank is. Two that say they are the same rank are of two worlds which
/// cannot be told apart: neither counts.
fn note(rank: u32, base: *mut u8) {
    for step in 0..PEERS {
        let peer = element(&PEERS_KNOWN, rank as usize + step);
        match peer.rank.load(Relaxed) {
            0 => {
                peer.base.store(base, Relaxed);
                peer.rank.store(rank + 1, Release);
                if let Some(looked) = looked(rank) {
                    *looked = NEAR;
                }
                return;
            }
            found if found == rank + 1 => {
                peer.base.store(core::ptr::null_mut(), Relaxed);
                return;
            }
            _ => {}
        }
    }
}

/// Finds the files of all ranks of this world on this node.
#[cold]
#[inline(never)]
pub fn look_around() {
    let Some(own) = spool::header() else { return };
    each_file(&mut |header| is_of_world(own, header), &mut |base| {
        // SAFETY: as long as a header at least, mapped.
        let (rank, pid) = unsafe { ((*base.cast::<Header>()).rank, (*base.cast::<Header>()).pid) };
        if pid == own.pid || has_same_world(own, base) {
            note_once(rank, base.cast_mut());
        } else {
            // SAFETY: as above.
            let size = unsafe { (*base.cast::<Header>()).size };
            sys::unmap(base.cast_mut(), size as usize);
        }
    });
}

/// Maps the files of ranks of this user on this node whose headers are `wanted`, and hands them over. That of this
/// rank is at its own address.
pub fn each_file(wanted: &mut dyn FnMut(&Header) -> bool, take: &mut dyn FnMut(*const u8)) {
    let Some(path) = spool::path() else { return };
    let Some(end) = path.iter().rposition(|byte| *byte == b'/') else { return };
    let Some((directory, name)) = path.split_at_checked(end + 1) else { return };
    // `topas-mpi.UID.`
    let mut points = 0;
    let is_end = |byte: &u8| {
        points += usize::from(*byte == b'.');
        points == 2
    };
    let prefix = name.iter().position(is_end).and_then(|end| name.get(..=end)).unwrap_or(name);
    let mut room = [0; 512];
    let mut out = Out::new(&mut room);
    let fd = kernel::open(kernel::path(out.put(directory)), kernel::O_CLOEXEC, 0);
    if fd < 0 {
        return;
    }
    let mut entries = [0u64; 512];
    loop {
        let read = sys::entries(fd, &mut entries);
        if read.is_empty() {
            break;
        }
        for entry in sys::names(read).filter(|name| name.starts_with(prefix)) {
            let mut out = Out::new(&mut room);
            open_peer(kernel::path(out.put(directory).put(entry)), wanted, take);
        }
    }
    kernel::close(fd);
}

/// Hands over a file, if its header is wanted.
fn open_peer(
    path: &CStr,
    wanted: &mut dyn FnMut(&Header) -> bool,
    take: &mut dyn FnMut(*const u8),
) {
    let Some(own) = spool::header() else { return };
    let fd = kernel::open(path, kernel::O_CLOEXEC | kernel::O_NOFOLLOW, 0);
    if fd < 0 {
        return;
    }
    if kernel::is_ours(fd, own.uid)
        && let Some(page) = sys::map_to_read(fd, size_of::<Header>())
    {
        let found = {
            // SAFETY: as long as a header at least: no file is ever made shorter.
            let header = unsafe { &*page.cast::<Header>() };
            wanted(header).then_some((header.size, header.pid))
        };
        sys::unmap(page.cast_mut(), size_of::<Header>());
        if let Some((size, pid)) = found {
            if pid == own.pid {
                take(spool::at(0));
            } else if let Some(base) = sys::map_to_read(fd, size as usize) {
                take(base);
            }
        }
    }
    kernel::close(fd);
}

/// Notes a file, unless it is known. Directories are looked at again for ranks that are not.
fn note_once(rank: u32, base: *mut u8) {
    let known = (0..PEERS).find_map(|step| {
        let peer = element(&PEERS_KNOWN, rank as usize + step);
        match peer.rank.load(Relaxed) {
            0 => Some(None),
            found if found == rank + 1 => Some(Some(peer.base.load(Relaxed))),
            _ => None,
        }
    });
    // SAFETY: null, or the header of a file that is mapped.
    let pid = |base: *mut u8| unsafe { base.cast::<Header>().as_ref().map(|header| header.pid) };
    match known.flatten() {
        Some(known) if pid(known) == pid(base) => {}
        _ => note(rank, base),
    }
}

/// Whether a file is of a rank of this host that runs, and that this one can read.
pub fn is_readable(own: &Header, header: &Header) -> bool {
    const CLOCK: u64 = flag::CLOCK;
    let states = [RankState::Running as u32, RankState::Finalizing as u32];
    header.magic == MAGIC
        && header.version == VERSION
        && header.table == own.table
        && header.flags & flag::WORLD != 0
        && header.flags & CLOCK == own.flags & CLOCK
        && text(&header.host) == text(&own.host)
        && states.contains(&header.state)
        && header.waits != 0
        && (header.pid == own.pid || sys::is_running(header.pid))
}

/// Whether this is the file of a rank of the same launch that runs.
fn is_of_world(own: &Header, header: &Header) -> bool {
    header.ranks == own.ranks
        && header.rank < own.ranks
        && text(&header.id) == text(&own.id)
        && is_readable(own, header)
}

/// Whether the ranks of two files are of one world, as far as the launcher tells.
fn has_same_world(own: &Header, base: *const u8) -> bool {
    // SAFETY: a mapped file of a rank that has this part.
    unsafe {
        let offset = (*base.cast::<Header>()).waits as usize;
        (*base.add(offset).cast::<Waits>()).world == (*spool::at::<Waits>(own.waits)).world
    }
}

/// What the board in a file says of a number.
fn read_in(base: *const u8, key: u64, number: u64) -> Seen {
    ask_in(base, key, |ring| ring.read(number))
}

/// What the board in a file says of a key.
#[inline(always)]
fn ask_in(base: *const u8, key: u64, ask: impl FnOnce(&Ring) -> Seen) -> Seen {
    // SAFETY: a mapped file of a rank that has this part, and its keys; what changes there is
    // atomic. Rings are where the owner says.
    unsafe {
        let offset = (*base.cast::<Header>()).waits as usize;
        let board = (*base.add(offset).cast::<Waits>()).board as usize;
        let keys = &*base.add(board).cast::<Keys>();
        match keys.find(key) {
            Some(ring) => ask(&*base.add(ring as usize).cast::<Ring>()),
            None if keys.is_full() => Seen::Unsure,
            None => Seen::NotYet,
        }
    }
}

/// What the engine asks for.
pub struct Boards {
    /// This rank
    rank: u32,
    /// The part of the file that is for waits; null without one
    waits: *mut Waits,
}

impl Boards {
    /// Of no rank.
    pub const fn new() -> Boards {
        Boards { rank: 0, waits: core::ptr::null_mut() }
    }

    /// Of a rank of this process.
    pub fn of(rank: u32) -> Boards {
        let place = spool::header().map_or(0, |header| header.waits);
        let waits = if place == 0 { core::ptr::null_mut() } else { spool::at(place) };
        Boards { rank, waits }
    }
}

impl Surroundings for Boards {
    #[inline(always)]
    fn rank(&self) -> u32 {
        self.rank
    }

    #[cold]
    fn sends_stay(&self) -> bool {
        library::library().is_some_and(|library| library.abi.sends_stay)
    }

    #[cold]
    fn rank_beside(&self, place: u32) -> u32 {
        bridges::rank_in(place)
    }

    #[inline(always)]
    fn publish(&mut self, key: u64, moment: u64) -> Option<u64> {
        let ring = match own(key) {
            Some(ring) => ring,
            None => new_ring(key)?,
        };
        Some(publish(ring, moment))
    }

    fn next(&self, key: u64) -> u64 {
        own(key).map_or(0, Ring::published)
    }

    fn doubt(&mut self, key: u64) {
        if let Some(ring) = own(key) {
            ring.doubt();
        }
    }

    fn give_up(&mut self, key: u64, last: bool) {
        if let Some(ring) = own(key).or_else(|| new_ring(key)) {
            ring.give_up(last);
        }
    }

    fn read(&mut self, peer: u32, key: u64, number: u64) -> Option<Seen> {
        if peer == self.rank {
            return Some(own(key).map_or(Seen::NotYet, |ring| ring.read(number)));
        }
        if bridges::is_beside(peer) {
            return match bridges::seek(peer) {
                Sought::Found(base, by) => Some(read_in(base, key::translated(key, by), number)),
                Sought::NotYet => Some(Seen::NotYet),
                Sought::Never => None,
            };
        }
        let base = base_of(peer);
        (!base.is_null()).then(|| read_in(base, key, number))
    }

    fn latest(&mut self, peer: u32, key: u64, until: u64) -> Option<Seen> {
        let base = base_of(peer);
        (!base.is_null()).then(|| ask_in(base, key, |ring| ring.latest(until)))
    }

    fn absences(&mut self, peer: u32) -> [Absence; 2] {
        let base = if bridges::is_beside(peer) { core::ptr::null() } else { base_of(peer) };
        // SAFETY: null, or a mapped file, which is longer than a header.
        let header = unsafe { base.cast::<Header>().as_ref() };
        match header.map_or(0, |header| header.first_block as usize) {
            0 => [Absence::NONE; 2],
            // SAFETY: the file has its first block there.
            first => unsafe { away::absences(base.add(first).cast()) },
        }
    }

    #[inline(always)]
    fn is_near(&self, peer: u32) -> bool {
        is_near(peer)
    }

    #[inline(always)]
    fn tell(&mut self, peer: u32, key: u64, number: u64, moment: u64) {
        if !is_near(peer) {
            far::tell(peer, Stamp { key, moment, number: number as u32, note: 0 });
        }
    }

    fn ask(&mut self, findings: &mut Findings, question: FarQuestion) -> bool {
        !bridges::is_beside(question.peer) && far::ask(findings, question)
    }

    fn keep(&mut self, findings: &Findings) {
        far::keep(findings);
        if findings.call.counts {
            // Until there is an answer.
            self.add(findings.call.function, Figure::Elsewhere, 0, findings.length());
        }
    }

    #[inline(always)]
    fn add(&mut self, function: u32, figure: Figure, peer: u64, ticks: u64) {
        // SAFETY: null, or this part of the file; one thread at a time is here.
        let Some(waits) = (unsafe { self.waits.as_mut() }) else { return };
        let peers = waits.peers;
        if matches!(figure, Figure::Between | Figure::Slept) {
            return asked::add(peers, figure, peer, ticks);
        }
        let (function, path) = partners::parts_of_call(function);
        let Some(row) = waits.row_mut(function) else { return };
        match figure {
            Figure::Waited(Cause::LateSender) => row.late.add(ticks),
            Figure::Waited(Cause::LateReceiver) => row.late_receiver.add(ticks),
            Figure::Waited(Cause::Collective) => row.collective.add(ticks),
            Figure::Below => row.below.add(ticks),
            Figure::Elsewhere => row.elsewhere.add(ticks),
            Figure::Unsure => row.unsure.add(ticks),
            Figure::OnTime | Figure::Between | Figure::Slept => {}
        }
        // Nothing of a partner is told of a call that was too short.
        if !matches!(figure, Figure::Below) && mode::has(mode::PATHS) {
            partners::add(waits, path, figure, peer, ticks);
        }
        let (peer, _) = parts_of_peer(peer);
        if let Figure::Waited(cause) = figure
            && bridges::is_beside(peer)
        {
            return bridges::blame(peer, cause, ticks);
        }
        if let Figure::Waited(cause) = figure
            && peers != 0
            && spool::header().is_some_and(|header| peer < header.ranks)
        {
            // SAFETY: there is one for each rank.
            let peer = unsafe { &mut *spool::at::<WaitPeer>(peers).add(peer as usize) };
            match cause {
                Cause::LateSender => peer.late.add(ticks),
                Cause::LateReceiver => peer.late_receiver.add(ticks),
                Cause::Collective => peer.collective.add(ticks),
            }
        }
    }
}
