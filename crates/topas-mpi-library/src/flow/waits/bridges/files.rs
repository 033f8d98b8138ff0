//! Which world is at the other end of a bridge, and the files of its ranks.
//!
//! A world is found if nothing but the call that started it can have done so. Ranks come to MPI during the call that
//! starts them, which returns when all are there; both sides know how many ranks have part in it on either side; and
//! the launcher may tell which rank of which world made the call. If more than one world fits, or a world fits more
//! than one call, there are no figures.

use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed},
};

use topas_mpi_profile::layout::{BRIDGES, Block, Bridge, Bridged, Bridges, Header, Waits};
use topas_mpi_profile::lines::text;

use super::published;
use crate::flow::waits::{boards, partners};
use crate::generated::number;
use crate::{clock, spool, sys};

/// Files that are looked at, at most.
const FILES: usize = 1024;

/// Looks for the other side of a bridge until it counts as not found. There may be further ones then.
const LOOKS: u32 = 12;
/// Microseconds from the first look to the second; each time twice as long, up to [`LONGEST`].
const FIRST: u64 = 1_000;
/// Microseconds between two looks, at most.
const LONGEST: u64 = 1_000_000;

/// What is known of a process of another world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// Its file, and the difference of both numbers of the communicator
    Found(*const u8, u64),
    /// Nothing yet
    NotYet,
    /// It is not on this node, has no library, or cannot be told from others
    Never,
}

/// A file that is mapped to be read.
#[derive(Clone, Copy)]
struct File {
    base: *const u8,
    /// The bridge to its world, plus 1; 0 if it is only looked at
    bridge: u32,
}

/// What is known of the other side of a bridge.
#[derive(Clone, Copy)]
struct Side {
    /// That of the numbers of both sides; 0 if the other side is not known
    difference: u64,
    /// Tick before which nobody looks again
    next: u64,
    /// How often somebody looked
    looks: u32,
    /// More than one world fits
    is_unclear: bool,
}

/// The worlds at the other ends of all bridges. Zero at its beginning.
pub struct Worlds {
    files: [File; FILES],
    /// Those that are kept; behind them are those that are looked at
    kept: usize,
    count: usize,
    sides: [Side; BRIDGES],
    /// Tick at which a call began that starts processes and has not returned; the largest number if there is none
    starting: u64,
    closed: bool,
}

/// The call that started a world: the bridge of its root, and the file of this rank.
#[derive(Clone, Copy)]
struct Start {
    bridge: Bridge,
    root: *const u8,
}

impl Worlds {
    /// None is known.
    pub const fn new() -> Worlds {
        Worlds {
            files: [File { base: core::ptr::null(), bridge: 0 }; FILES],
            kept: 0,
            count: 0,
            sides: [Side { difference: 0, next: 0, looks: 0, is_unclear: false }; BRIDGES],
            starting: 0,
            closed: false,
        }
    }

    /// From now on nobody waits for others to appear. There is one last look for each bridge.
    pub fn close(&mut self) {
        self.closed = true;
        self.sides.iter_mut().for_each(|side| side.next = 0);
    }

    /// Looks for a rank of a communicator.
    #[cold]
    #[inline(never)]
    pub fn seek(&mut self, told: &Bridges, of: &Bridged, rank: u32) -> Sought {
        let number = of.bridge as usize;
        let Some(bridge) = told.bridges.get(number).copied() else { return Sought::Never };
        if let Some(found) = self.among_kept(of, rank) {
            return found;
        }
        let now = clock::ticks();
        let Some(side) = self.sides.get_mut(number) else { return Sought::Never };
        if side.is_unclear {
            return Sought::Never;
        }
        if now < side.next {
            let is_over = side.looks >= LOOKS || self.closed;
            return if is_over { Sought::Never } else { Sought::NotYet };
        }
        let pause = (FIRST << side.looks.min(32)).min(LONGEST);
        let pause = pause.wrapping_mul(partners::MICROSECOND.load(Relaxed));
        side.next = if self.closed { u64::MAX } else { now.wrapping_add(pause) };
        side.looks = side.looks.saturating_add(1);
        let is_over = side.looks >= LOOKS || self.closed;
        match self.look(number, &bridge) {
            Some(true) => {}
            Some(false) => {
                if let Some(side) = self.sides.get_mut(number) {
                    side.is_unclear = true;
                }
            }
            None if !is_over => return Sought::NotYet,
            None => return Sought::Never,
        }
        match self.among_kept(of, rank) {
            Some(found) => found,
            None if !is_over => Sought::NotYet,
            None => Sought::Never,
        }
    }

    /// Looks for a rank of a communicator in the files that are known.
    fn among_kept(&self, of: &Bridged, rank: u32) -> Option<Sought> {
        let side = self.sides.get(of.bridge as usize)?;
        if side.difference == 0 || side.is_unclear {
            return None;
        }
        let theirs = of.number ^ side.difference;
        let files = self.files.iter().take(self.kept);
        let mut own = files.filter(|file| file.bridge == of.bridge + 1);
        let has = |file: &&File| {
            bridges(file.base).is_some_and(|told| {
                let mut all = told.communicators.iter();
                all.any(|known| published(&known.number) == theirs && known.rank == rank)
            })
        };
        own.find(has).map(|file| Sought::Found(file.base, side.difference))
    }

    /// Looks for the world at the other end of a bridge: false if more than one fits, None if none does.
    #[cold]
    fn look(&mut self, number: usize, bridge: &Bridge) -> Option<bool> {
        self.count = self.kept;
        let own = spool::header()?;
        self.starting = u64::MAX;
        boards::each_file(&mut |header| is_of_node(own, header), &mut |base| {
            // First: what is not told yet is of a call that goes on.
            self.starting = self.starting.min(starting(base));
            let room = self.files.get_mut(self.count);
            let Some(place) = room.filter(|_| bridges(base).is_some()) else {
                return give_back(base);
            };
            *place = File { base, bridge: 0 };
            self.count += 1;
        });
        let found = self.judge(number, bridge);
        self.keep();
        found
    }

    /// The files that were found now.
    fn looked_at(&self) -> impl Iterator<Item = *const u8> + Clone {
        self.files.iter().take(self.count).skip(self.kept).map(|file| file.base)
    }

    /// The only call that started a world and fits; Some(None) if several do.
    #[inline(never)]
    fn only_start(&self, fits: &dyn Fn(&Start) -> bool) -> Option<Option<Start>> {
        let mut found = None;
        for base in self.looked_at() {
            let Some(told) = bridges(base) else { continue };
            for bridge in &told.bridges {
                let start = Start { bridge: *bridge, root: base };
                let is_of_root = bridge.started == 0 && bridge.root == head(base).rank;
                if !is_of_root || published(&bridge.number) == 0 || !fits(&start) {
                    continue;
                }
                if found.is_some() {
                    return Some(None);
                }
                found = Some(start);
            }
        }
        found.map(Some)
    }

    /// Which files are those of the other side of a bridge: see [`Worlds::look`].
    fn judge(&mut self, number: usize, bridge: &Bridge) -> Option<bool> {
        let own = spool::at::<u8>(0).cast_const();
        let start = if bridge.started == 0 {
            // Of all calls the one in which this rank had part, as its root knows it.
            let same = |start: &Start| {
                start.bridge.number == bridge.number
                    && start.bridge.root == bridge.root
                    && is_same_world(own, start.root)
                    && overlap(&start.bridge, bridge)
            };
            self.only_start(&same)?
        } else {
            self.only_start(&|start| may_have_started(start, own, bridge))?
        };
        let Some(start) = start else { return Some(false) };
        let mut started = Ranks::new();
        let mut starters = Ranks::new();
        for base in self.looked_at() {
            if let Some(parent) = parent_of(base)
                && may_have_started(&start, base, parent)
            {
                if head(base).worlds.parent == 0 && self.starting <= parent.began {
                    // It may come from that call as well, which has not told yet.
                    return None;
                }
                let fitting = self.only_start(&|one| may_have_started(one, base, parent));
                started.add(base, parent.near, fitting.flatten().is_some());
            }
            if has_part(&start, base) {
                starters.add(base, 0, true);
            }
        }
        if !started.are_clear(start.bridge.remote) {
            // Some may not be there yet.
            return (started.is_ambiguous).then_some(false);
        }
        if starters.is_ambiguous {
            return Some(false);
        }
        let (theirs, other) = if bridge.started == 0 {
            (topas_mpi_waits::key::PARENT, &started)
        } else {
            (start.bridge.number, &starters)
        };
        if let Some(side) = self.sides.get_mut(number) {
            side.difference = bridge.number ^ theirs;
        }
        let first = other.first;
        let mut place = self.kept;
        while let Some(file) = self.files.get(place).copied().filter(|_| place < self.count) {
            let is_part = is_same_world(first, file.base)
                && if bridge.started == 0 {
                    parent_of(file.base).is_some_and(|one| may_have_started(&start, file.base, one))
                } else {
                    has_part(&start, file.base)
                };
            let pid = head(file.base).pid;
            let is_known = self
                .files
                .iter()
                .take(self.kept)
                .any(|kept| kept.bridge == number as u32 + 1 && head(kept.base).pid == pid);
            if is_part
                && !is_known
                && let Some(file) = self.files.get_mut(place)
            {
                file.bridge = number as u32 + 1;
            }
            place += 1;
        }
        Some(true)
    }

    /// Keeps the files of worlds that were found, and gives back the others.
    fn keep(&mut self) {
        let mut place = self.kept;
        while let Some(file) = self.files.get(place).copied().filter(|_| place < self.count) {
            if file.bridge != 0 {
                if let Some(to) = self.files.get_mut(self.kept) {
                    *to = file;
                    self.kept += 1;
                }
            } else {
                give_back(file.base);
            }
            place += 1;
        }
        self.count = self.kept;
    }
}

/// Ranks of a world that can be told apart.
const MOST: usize = 4096;

/// Ranks that were found of one world.
struct Ranks {
    first: *const u8,
    count: u32,
    /// Which they are, a bit each
    seen: [u64; MOST / 64],
    /// All are on this node, as the launcher says
    all_near: bool,
    /// The launcher names the world
    is_named: bool,
    /// There are two of one rank, or of two worlds, or one that fits another call
    is_ambiguous: bool,
}

impl Ranks {
    const fn new() -> Ranks {
        Ranks {
            first: core::ptr::null(),
            count: 0,
            seen: [0; MOST / 64],
            all_near: true,
            is_named: false,
            is_ambiguous: false,
        }
    }

    fn add(&mut self, base: *const u8, near: u32, fits_one: bool) {
        let header = head(base);
        if self.first.is_null() {
            self.first = base;
            self.is_named = world_of(base) != NO_NAME;
        } else if !is_same_world(self.first, base) {
            self.is_ambiguous = true;
        }
        let word = self.seen.get_mut(header.rank as usize / 64);
        let bit = 1 << (header.rank % 64);
        // Two of one rank are of two worlds.
        let is_new = word.is_some_and(|word| core::mem::replace(word, *word | bit) & bit == 0);
        self.is_ambiguous |= !fits_one || !is_new || header.rank >= header.ranks;
        self.count += 1;
        self.all_near &= near == header.ranks;
    }

    /// Whether these are ranks of one world without doubt. Where the launcher does not name worlds, all of its ranks
    /// have to be here.
    fn are_clear(&self, ranks: u32) -> bool {
        if self.count == 0 || self.is_ambiguous {
            return false;
        }
        let is_whole = self.count == ranks && self.all_near;
        self.is_named || is_whole
    }
}

fn overlap(one: &Bridge, other: &Bridge) -> bool {
    one.began <= other.ended && other.began <= one.ended
}

/// The bridge to the world that started that of a rank; None if there is none.
fn parent_of(base: *const u8) -> Option<&'static Bridge> {
    bridges(base)?.bridges.first().filter(|first| first.started == 1)
}

/// Whether a rank had part in a call that started a world.
#[inline(never)]
fn has_part(start: &Start, base: *const u8) -> bool {
    let is_it = |one: &Bridge| {
        one.started == 0
            && published(&one.number) == start.bridge.number
            && one.root == start.bridge.root
            && overlap(one, &start.bridge)
    };
    is_same_world(start.root, base)
        && bridges(base).is_some_and(|told| told.bridges.iter().any(is_it))
}

/// Whether a call may have started the world of a rank.
#[inline(never)]
fn may_have_started(start: &Start, base: *const u8, parent: &Bridge) -> bool {
    let Bridge { began, ended, local, remote, root, .. } = start.bridge;
    let (by, of) = (&head(start.root).worlds, &head(base).worlds);
    let is_told = by.name != 0 && of.parent != 0;
    published(&parent.number) != 0
        && remote == parent.local
        && local == parent.remote
        && (began..=ended).contains(&parent.began)
        && (!is_told || (of.parent == by.name && of.parent_rank == root))
}

/// Tick at which a thread of a process began a call that starts processes, and that goes on; the largest number if there
/// is none.
#[inline(never)]
fn starting(base: *const u8) -> u64 {
    const SPAWNS: [u32; 2] =
        [number::COMM_SPAWN as u32 + 1, number::COMM_SPAWN_MULTIPLE as u32 + 1];
    /// Threads of a process that are looked at
    const THREADS: u32 = 4096;
    let (mut first, mut next) = (u64::MAX, head(base).first_block);
    for _ in 0..THREADS {
        if next == 0 {
            break;
        }
        // SAFETY: a block in a mapped file, where the file says; what changes there are single words.
        let block = unsafe { &*base.add(next as usize).cast::<Block>() };
        // SAFETY: as above; nobody writes by this address.
        let inside = unsafe { AtomicU32::from_ptr((&raw const block.now.inside).cast_mut()) };
        if SPAWNS.contains(&inside.load(Acquire)) {
            first = first.min(block.now.since);
        }
        next = block.next;
    }
    first
}

/// The header of a file.
fn head(base: *const u8) -> &'static Header {
    // SAFETY: a mapped file, longer than a header; numbers in it are those of its rank.
    unsafe { &*base.cast::<Header>() }
}

/// What a file tells of communicators of several worlds; None if nothing.
#[inline(never)]
fn bridges(base: *const u8) -> Option<&'static Bridges> {
    let waits = head(base).waits;
    if waits == 0 {
        return None;
    }
    // SAFETY: a mapped file of a rank that has these parts, where it says.
    unsafe {
        let waits = &*base.add(waits as usize).cast::<Waits>();
        let at = published(&waits.bridges);
        (at != 0).then(|| &*base.add(at as usize).cast::<Bridges>())
    }
}

/// [`Waits::world`] where the launcher names none.
const NO_NAME: u64 = 1;

/// The launcher's name of the world of a rank.
fn world_of(base: *const u8) -> u64 {
    // SAFETY: as in `bridges`; only files with this part are looked at.
    unsafe { (*base.add(head(base).waits as usize).cast::<Waits>()).world }
}

/// Whether two files may be those of one world.
#[inline(never)]
fn is_same_world(one: *const u8, other: *const u8) -> bool {
    let (a, b) = (head(one), head(other));
    a.ranks == b.ranks
        && text(&a.id) == text(&b.id)
        && a.worlds.spawned == b.worlds.spawned
        && a.worlds.parent == b.worlds.parent
        && world_of(one) == world_of(other)
}

/// Whether a file may be that of a rank with which this one shares a communicator.
fn is_of_node(own: &Header, header: &Header) -> bool {
    text(&header.job) == text(&own.job) && boards::is_readable(own, header)
}

/// Nobody looks at a file any more. That of this rank stays.
fn give_back(base: *const u8) {
    if base != spool::at::<u8>(0).cast_const() {
        let size = head(base).size as usize;
        sys::unmap(base.cast_mut(), size);
    }
}

/// Whether the world of a process started that of this rank.
pub fn is_started(told: &Bridges, peer: u32) -> bool {
    let place = topas_mpi_waits::key::parts_of_beside(peer).map(|(place, _)| place as usize);
    let bridge = place.and_then(|place| told.communicators.get(place)).map(|of| of.bridge as usize);
    let bridge = bridge.and_then(|bridge| told.bridges.get(bridge));
    bridge.is_some_and(|bridge| bridge.started == 1)
}
