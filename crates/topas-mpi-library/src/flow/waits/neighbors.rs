//! Collectives of neighbours: who the neighbours are, and for whom a rank waited in them.

use topas_mpi_waits::collective::CollectivePlace;
use topas_mpi_waits::engine::WaitingCall;
use topas_mpi_waits::neighbors::MOST_NEIGHBORS;

use super::{Returned, handle, with};
use crate::flow::ledger::Ledger;
use crate::flow::library::{self, Library, call};
use crate::flow::object::{self, CommObject, ObjectKind};
use crate::flow::peers;
use crate::generated::number;
use crate::ranks::call_with_eight;

impl Returned<'_> {
    /// A collective of neighbours is over. `kept` is what was kept of it before.
    pub fn met_neighbors(&mut self, kept: u64) {
        let handle = handle(self.library, self.args, self.role.comm);
        let comm = know(self.library, self.ledger, handle);
        let (call, number) = (self.call, kept.checked_sub(1));
        with(|engine, _, boards| engine.met_neighbors(boards, comm, number, call));
    }

    /// A collective of neighbours was started, whose request somebody completes.
    pub fn neighbors_started(&mut self, came: u64) {
        let handle = handle(self.library, self.args, self.role.comm);
        let Some(number) = came.checked_sub(1) else { return };
        let comm = know(self.library, self.ledger, handle);
        let (known, began) = (self.comm(), self.call.began);
        let id = with(|engine, _, boards| {
            engine.tell_neighbors(boards, comm, number, began);
            engine.collective_started(&CollectivePlace::of_neighbors(comm, number), known)
        });
        self.keep(id);
    }
}

/// A call completed a collective of neighbours, and took long. `handle` is None if the communicator is
/// gone, and with it what its ranks mean.
pub fn completed(
    library: &Library,
    ledger: &mut Ledger,
    waiting: &mut WaitingCall,
    of: &CollectivePlace,
    handle: Option<u64>,
) {
    let known = handle.is_some_and(|handle| know(library, ledger, handle) == of.comm);
    with(|engine, _, boards| {
        if known {
            engine.look_at_neighbors(boards, waiting, of.comm, (of.starts, of.number));
        } else {
            engine.not_measured(waiting);
        }
    });
}

/// The number of a communicator, whose neighbours are known from then on.
#[inline(never)]
pub(super) fn know(library: &Library, ledger: &mut Ledger, handle: u64) -> u64 {
    let (comm, known) = with(|engine, numbers, _| {
        let comm = numbers.of(library, handle);
        (comm, comm == 0 || engine.knows_neighbors(comm))
    });
    if !known {
        ask(library, ledger, handle, comm);
    }
    comm
}

/// Ranks of one side.
type Ranks = [u32; MOST_NEIGHBORS];

/// Asks for the neighbours of a communicator.
#[cold]
#[inline(never)]
fn ask(library: &Library, ledger: &mut Ledger, handle: u64, comm: u64) {
    let (mut sources, mut destinations): (Ranks, Ranks) = ([0; _], [0; _]);
    let object = object::object(library, ledger, handle, ObjectKind::Comm);
    // An MPI that does not tell them does not tell them later.
    let told = object.know_neighbors(library);
    let unsure = told && object.sources.max(object.destinations) as usize > MOST_NEIGHBORS;
    let object = *object;
    let counts = if told && !unsure {
        ask_lists(library, &object, &mut sources, &mut destinations)
    } else {
        None
    };
    let mut elsewhere = counts.is_none() && !unsure;
    let counts = counts.unwrap_or_default();
    let mut in_world = [0; 2];
    for ((known, ranks), count) in
        in_world.iter_mut().zip([&mut sources, &mut destinations]).zip(counts)
    {
        for at in 0..count {
            let rank = ranks.get(at).map_or(library.proc_null, |rank| *rank as i32);
            if rank == library.proc_null {
                continue;
            }
            let rank = object::world_rank(library, ledger, handle, ObjectKind::Comm, rank);
            if rank == peers::OTHERS {
                elsewhere = true;
            } else if let Some(place) = ranks.get_mut(*known) {
                *place = rank;
                *known += 1;
            }
        }
    }
    let [from, to] = in_world;
    let [Some(from), Some(to)] = [sources.get(..from), destinations.get(..to)] else { return };
    with(|engine, _, boards| {
        engine.neighbors_are(boards, comm, [from, to], [elsewhere, unsure]);
    });
}

/// Where neighbours come from and go to, as ranks of the communicator: how many each are. None if the
/// MPI does not tell. There are not more than fit.
fn ask_lists(
    library: &Library,
    object: &CommObject,
    sources: &mut Ranks,
    destinations: &mut Ranks,
) -> Option<[usize; 2]> {
    let comm = object.handle as usize;
    let counts = [object.sources as usize, object.destinations as usize];
    let [from, to] = [sources.as_mut_ptr() as usize, destinations.as_mut_ptr() as usize];
    let topology = library::ask(number::TOPO_TEST, object.handle)?;
    if topology == library.abi.cartesian {
        for dimension in 0..counts[0] / 2 {
            let at = 2 * dimension * size_of::<i32>();
            let args = [comm, dimension, 1, from + at, from + at + size_of::<i32>(), 0];
            // SAFETY: a Cartesian communicator, one of its dimensions, and room for two integers of
            // two for each.
            unsafe { call(number::CART_SHIFT, args) }?;
        }
        *destinations = *sources;
    } else if topology == library.abi.graph {
        let args = [comm, object.rank as usize, counts[0], from, 0, 0];
        // SAFETY: a communicator with a graph, a rank of it, room for as many integers.
        unsafe { call(number::GRAPH_NEIGHBORS, args) }?;
        *destinations = *sources;
    } else {
        let (mut from_weights, mut to_weights): (Ranks, Ranks) = ([0; _], [0; _]);
        let weights = [&mut from_weights, &mut to_weights].map(|all| all.as_mut_ptr() as usize);
        let args = [comm, counts[0], from, weights[0], counts[1], to, weights[1], 0];
        // SAFETY: a communicator with a distributed graph, and room for as many integers, four times.
        unsafe { call_with_eight(number::DIST_GRAPH_NEIGHBORS, args) }?;
    }
    Some(counts)
}
