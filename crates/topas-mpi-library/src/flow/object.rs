//! What communicators, windows and files are: how many processes, which of them we are, neighbours,
//! ranks of the world.

use topas_mpi_profile::layout::object_kind;

use crate::element::{element, element_mut};
use crate::flow::amount::Among;
use crate::flow::communicators;
use crate::flow::ledger::{Ledger, Translation, generation, place};
use crate::flow::library::{self, Library};
use crate::flow::peers;
use crate::generated::number;

/// A communicator, window or file.
#[derive(Clone, Copy)]
pub struct CommObject {
    /// The handle of the object
    pub handle: u64,
    /// Generation of its place; 0 if nothing is here
    pub generation: u32,
    /// Tells it from others that this thread met
    pub serial: u32,
    /// Processes at the other end: of an intercommunicator the remote group
    pub size: u32,
    /// Processes of the own group
    pub local: u32,
    /// Our rank in that
    pub rank: u32,
    /// Neighbours that data come from, `MPI_PROC_NULL` included
    pub sources: u32,
    /// Neighbours that data go to, `MPI_PROC_NULL` included
    pub destinations: u32,
    /// Number in the table of communicators
    pub index: u16,
    /// The communicator is an intercommunicator
    pub inter: bool,
    /// Whether [`CommObject::sources`] and what belongs to them are known
    neighbors: Neighbors,
    /// Whether ranks are those of the world
    ranks: WorldRanks,
    /// Neighbours that are `MPI_PROC_NULL`, of Cartesian topologies: a bit for each
    pub null: u64,
    /// The group at the other end, if ranks have to be translated
    group: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Neighbors {
    NotAsked = 0,
    Known,
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum WorldRanks {
    NotAsked = 0,
    OfTheWorld,
    Others,
    Unknown,
}

/// Of what a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ObjectKind {
    /// None
    Nothing,
    /// Communicator
    Comm,
    /// Window
    Win,
    /// File
    File,
}

/// What a communicator, window or file that a call has just accepted is.
#[inline(always)]
pub fn object<'a>(
    library: &Library,
    ledger: &'a mut Ledger,
    handle: u64,
    kind: ObjectKind,
) -> &'a mut CommObject {
    let at = place(handle);
    let kept = &raw const *element(&ledger.objects, at);
    // SAFETY: a place of the ledger; two ways to it, one after the other.
    let known = unsafe { (*kept).handle == handle && (*kept).generation == generation(at) };
    if !known {
        meet(library, ledger, handle, kind, at);
    }
    element_mut(&mut ledger.objects, at)
}

/// What a communicator, window or file is that this thread met before.
#[inline(always)]
pub fn known(ledger: &Ledger, handle: u64) -> Option<&CommObject> {
    let at = place(handle);
    let kept = element(&ledger.objects, at);
    (kept.handle == handle && kept.generation == generation(at)).then_some(kept)
}

/// The rank in the world of a rank in it, if that is known without asking.
#[inline(always)]
pub fn known_world_rank(ledger: &Ledger, object: &CommObject, rank: i32) -> Option<u32> {
    if object.ranks == WorldRanks::OfTheWorld {
        return Some(rank as u32);
    }
    let kept = element(&ledger.translations, translation(object.serial, rank as u32));
    (kept.serial == object.serial && kept.rank == rank as u32).then_some(kept.world)
}

/// The place of a translation.
#[inline(always)]
fn translation(serial: u32, rank: u32) -> usize {
    (serial.wrapping_mul(0x9e37_79b1) ^ rank) as usize
}

#[cold]
#[inline(never)]
fn meet(library: &Library, ledger: &mut Ledger, handle: u64, kind: ObjectKind, at: usize) {
    let old = element(&ledger.objects, at).group;
    if old != 0 {
        free_group(old);
    }
    ledger.serial = ledger.serial % 0xffff_fffe + 1;
    let mut new = CommObject {
        handle,
        generation: generation(at),
        serial: ledger.serial,
        size: 0,
        local: 0,
        rank: 0,
        sources: 0,
        destinations: 0,
        index: 0,
        inter: false,
        neighbors: Neighbors::NotAsked,
        ranks: WorldRanks::NotAsked,
        null: 0,
        group: 0,
    };
    if kind == ObjectKind::Comm {
        let ask = |function| library::ask(function, handle).unwrap_or(0);
        new.inter = ask(number::COMM_TEST_INTER) != 0;
        new.local = ask(number::COMM_SIZE) as u32;
        new.size = if new.inter { ask(number::COMM_REMOTE_SIZE) as u32 } else { new.local };
        new.rank = ask(number::COMM_RANK) as u32;
        new.index = communicators::index(library, handle, new.size, u16::from(new.inter));
        if handle == library.comm_world {
            new.ranks = WorldRanks::OfTheWorld;
        }
    } else if ledger.communicators {
        let (size, kind) = match kind {
            ObjectKind::Win => (window_size(library, handle).unwrap_or(0), object_kind::WINDOW),
            _ => (0, object_kind::FILE),
        };
        new.size = size;
        new.index = communicators::index(library, handle, size, kind);
    }
    *element_mut(&mut ledger.objects, at) = new;
}

/// How many processes share a window.
fn window_size(library: &Library, handle: u64) -> Option<u32> {
    let group = library::ask_handle(library, number::WIN_GET_GROUP, handle)?;
    let size = library::ask(number::GROUP_SIZE, group);
    free_group(group);
    size.map(i32::cast_unsigned)
}

fn free_group(group: u64) {
    let mut handle = group;
    // SAFETY: a group of ours.
    let _ =
        unsafe { library::call(number::GROUP_FREE, [(&raw mut handle) as usize, 0, 0, 0, 0, 0]) };
}

impl CommObject {
    /// Asks for the neighbours of its topology, once. False if they cannot be told.
    pub fn know_neighbors(&mut self, library: &Library) -> bool {
        if self.neighbors == Neighbors::NotAsked {
            self.neighbors = match self.ask_neighbors(library) {
                Some(()) => Neighbors::Known,
                None => Neighbors::Unknown,
            };
        }
        self.neighbors == Neighbors::Known
    }

    #[cold]
    fn ask_neighbors(&mut self, library: &Library) -> Option<()> {
        let topology = library::ask(number::TOPO_TEST, self.handle)?;
        let comm = self.handle as usize;
        if topology == library.abi.cartesian {
            // 2 bits for a dimension
            const DIMENSIONS: usize = 32;
            let dimensions = library::ask(number::CARTDIM_GET, self.handle)? as usize;
            let mut cart = [[0i32; DIMENSIONS]; 3];
            if dimensions > DIMENSIONS {
                return None;
            }
            let base = cart.as_mut_ptr() as usize;
            let at = |i: usize| base + i * size_of::<[i32; DIMENSIONS]>();
            let args = [comm, dimensions, at(0), at(1), at(2), 0];
            // SAFETY: a Cartesian communicator, and room for three lists of that many integers.
            unsafe { library::call(number::CART_GET, args) }?;
            let [size, periodic, own] = cart.each_ref().map(|list| list.iter().take(dimensions));
            self.null = cartesian_null(size, periodic, own);
            self.sources = 2 * dimensions as u32;
            self.destinations = self.sources;
        } else if topology == library.abi.graph {
            let mut count = 0i32;
            let args = [comm, self.rank as usize, (&raw mut count) as usize, 0, 0, 0];
            // SAFETY: a communicator with a graph, a rank of it, room for an integer.
            unsafe { library::call(number::GRAPH_NEIGHBORS_COUNT, args) }?;
            self.sources = count as u32;
            self.destinations = self.sources;
        } else if topology == library.abi.distributed_graph {
            let mut told = [0i32; 3];
            let at = told.as_mut_ptr() as usize;
            let args = [comm, at, at + 4, at + 8, 0, 0];
            // SAFETY: a communicator with a graph, and room for three integers.
            unsafe { library::call(number::DIST_GRAPH_NEIGHBORS_COUNT, args) }?;
            self.sources = told[0] as u32;
            self.destinations = told[1] as u32;
        } else {
            return None;
        }
        Some(())
    }

    /// What amounts depend on.
    #[inline(always)]
    pub fn among(&self) -> Among {
        Among {
            ranks: self.size,
            local: self.local,
            rank: self.rank,
            sources: self.sources,
            destinations: self.destinations,
            null: self.null,
        }
    }

    /// Whether ranks are those of the world, as far as is known without asking.
    #[inline(always)]
    pub fn is_world(&self) -> bool {
        self.ranks == WorldRanks::OfTheWorld
    }
}

/// Which neighbours of a Cartesian topology are `MPI_PROC_NULL`: per dimension first that below,
/// then that above.
fn cartesian_null<'a>(
    size: impl Iterator<Item = &'a i32>,
    periodic: impl Iterator<Item = &'a i32>,
    own: impl Iterator<Item = &'a i32>,
) -> u64 {
    let dimensions = size.zip(periodic).zip(own).enumerate();
    dimensions.fold(0, |null, (i, ((size, periodic), own))| {
        let below = u64::from(*periodic == 0 && *own == 0);
        let above = u64::from(*periodic == 0 && *own + 1 == *size);
        null | below << (2 * i) | above << (2 * i + 1)
    })
}

/// The rank in the world of a rank in a communicator or window; [`peers::OTHERS`] if it has none.
#[inline(always)]
pub fn world_rank(
    library: &Library,
    ledger: &mut Ledger,
    handle: u64,
    kind: ObjectKind,
    rank: i32,
) -> u32 {
    let object = object(library, ledger, handle, kind);
    if object.ranks == WorldRanks::OfTheWorld {
        return rank as u32;
    }
    translate(library, ledger, place(handle), kind, rank as u32)
}

/// The rank in the world of a rank in a communicator that may be gone, and whose ranks were asked for before. The
/// serial number tells it from others that have its place now.
pub fn world_rank_of_gone(
    library: &Library,
    ledger: &mut Ledger,
    (handle, serial): (u64, u32),
    rank: u32,
) -> u32 {
    let at = place(handle);
    let object = element(&ledger.objects, at);
    if object.serial != serial || object.ranks == WorldRanks::NotAsked {
        return peers::OTHERS;
    }
    translate(library, ledger, at, ObjectKind::Comm, rank)
}

#[inline(never)]
fn translate(
    library: &Library,
    ledger: &mut Ledger,
    at: usize,
    kind: ObjectKind,
    rank: u32,
) -> u32 {
    let object = element_mut(&mut ledger.objects, at);
    if kind == ObjectKind::Comm && rank >= object.size {
        // A status may tell nonsense: that of MPICH 4.0's Isendrecv does. To ask MPI would abort.
        return peers::OTHERS;
    }
    if object.ranks == WorldRanks::NotAsked {
        object.ranks = ask_ranks(library, object, kind).unwrap_or(WorldRanks::Unknown);
    }
    match object.ranks {
        WorldRanks::OfTheWorld => return rank,
        WorldRanks::Others => {}
        _ => return peers::OTHERS,
    }
    let (serial, group) = (object.serial, object.group);
    let place = translation(serial, rank);
    let kept = *element(&ledger.translations, place);
    if kept.serial == serial && kept.rank == rank {
        return kept.world;
    }
    let Some(world) = translated(library, group, rank) else { return peers::OTHERS };
    *element_mut(&mut ledger.translations, place) = Translation { serial, rank, world };
    world
}

/// The group of the world. It is asked for once in a thread and object.
fn group_of_world(library: &Library) -> Option<u64> {
    library::ask_handle(library, number::COMM_GROUP, library.comm_world)
}

fn ask_ranks(library: &Library, object: &mut CommObject, kind: ObjectKind) -> Option<WorldRanks> {
    if !library::is_initialized() {
        return Some(WorldRanks::Unknown);
    }
    let ask = match kind {
        ObjectKind::Comm if object.inter => number::COMM_REMOTE_GROUP,
        ObjectKind::Comm => number::COMM_GROUP,
        ObjectKind::Win => number::WIN_GET_GROUP,
        ObjectKind::File | ObjectKind::Nothing => return None,
    };
    let group = library::ask_handle(library, ask, object.handle)?;
    let world = group_of_world(library)?;
    let mut result = library.abi.identical.wrapping_add(1);
    let args = [group as usize, world as usize, (&raw mut result) as usize, 0, 0, 0];
    // SAFETY: two groups, and room for an integer.
    let compared = unsafe { library::call(number::GROUP_COMPARE, args) };
    free_group(world);
    if compared.is_some() && result == library.abi.identical {
        free_group(group);
        return Some(WorldRanks::OfTheWorld);
    }
    object.group = group;
    Some(WorldRanks::Others)
}

#[cold]
fn translated(library: &Library, group: u64, rank: u32) -> Option<u32> {
    let world = group_of_world(library)?;
    let to = rank_there(library, group, rank, world);
    free_group(world);
    Some(to?.unwrap_or(peers::OTHERS))
}

/// The rank in a group of a rank of another group; Some(None) if it is no member. None if that cannot be asked.
fn rank_there(library: &Library, group: u64, rank: u32, other: u64) -> Option<Option<u32>> {
    let (from, mut to) = (rank as i32, library.abi.undefined);
    let args =
        [group as usize, 1, (&raw const from) as usize, other as usize, (&raw mut to) as usize, 0];
    // SAFETY: two groups, one rank, and room for another.
    unsafe { library::call(number::GROUP_TRANSLATE_RANKS, args) }?;
    Some(u32::try_from(to).ok())
}

/// The rank in a communicator of the first rank of another one; None if that cannot be asked.
#[cold]
pub fn first_rank(library: &Library, of: u64, comm: u64) -> Option<u32> {
    let group = library::ask_handle(library, number::COMM_GROUP, of)?;
    let other = library::ask_handle(library, number::COMM_GROUP, comm);
    let rank = other.and_then(|other| {
        let rank = rank_there(library, group, 0, other);
        free_group(other);
        rank.flatten()
    });
    free_group(group);
    rank
}

/// Does something with the rank in the world of each rank of a group of the program's, None for a rank that has
/// none there. None if the group cannot be asked.
#[inline(never)]
pub fn each_of_group(
    library: &Library,
    group: u64,
    each: &mut dyn FnMut(Option<u32>),
) -> Option<()> {
    /// Ranks that are asked for at once.
    const TOGETHER: usize = 64;
    let size = library::ask(number::GROUP_SIZE, group)?;
    let world = group_of_world(library)?;
    let mut first = 0;
    let mut told = Some(());
    while first < size && told.is_some() {
        let count = (size - first).min(TOGETHER as i32);
        let mut from = [0i32; TOGETHER];
        let mut to = [library.abi.undefined; TOGETHER];
        from.iter_mut().zip(first..).for_each(|(place, rank)| *place = rank);
        let [from, to_at] = [from.as_ptr() as usize, to.as_mut_ptr() as usize];
        let args = [group as usize, count as usize, from, world as usize, to_at, 0];
        // SAFETY: two groups, as many ranks of the first, and room for as many others.
        told = unsafe { library::call(number::GROUP_TRANSLATE_RANKS, args) };
        if told.is_some() {
            to.iter().take(count as usize).for_each(|rank| each(u32::try_from(*rank).ok()));
        }
        first += count;
    }
    free_group(world);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn null(size: &[i32], periodic: &[i32], own: &[i32]) -> u64 {
        cartesian_null(size.iter(), periodic.iter(), own.iter())
    }

    #[test]
    fn processes_at_the_edge_have_no_neighbour_beyond_it() {
        // 3 x 2 processes, the second dimension is a ring; then one of a single process.
        assert_eq!(null(&[3, 2], &[0, 1], &[0, 1]), 0b0001);
        assert_eq!(null(&[3, 2], &[0, 1], &[1, 1]), 0);
        assert_eq!(null(&[3, 2], &[0, 1], &[2, 0]), 0b0010);
        assert_eq!(null(&[1], &[0], &[0]), 0b11);
        assert_eq!(null(&[1], &[1], &[0]), 0);
        assert_eq!(null(&[], &[], &[]), 0);
    }
}
