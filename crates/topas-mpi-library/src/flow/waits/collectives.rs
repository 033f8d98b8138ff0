//! Collectives: who came to them, and for whom a rank waited in them.

use topas_mpi_waits::collective::{CollectivePlace, Shape};
use topas_mpi_waits::engine::{Surroundings, WaitingCall};
use topas_mpi_waits::far::{CollectiveNote, Stamp};
use topas_mpi_waits::key::{mix, of_collectives};
use topas_mpi_waits::posts::Post;
use topas_mpi_waits::wait::Cause;

use super::bridges::{self, Sought};
use super::companions::{self, OwnPart};
use super::{Returned, boards, far, handle, neighbors, with};
use crate::flow::amount::word;
use crate::flow::ledger::{Ledger, generation, place};
use crate::flow::library::Library;
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers;
use crate::flow::plan::NONE;

impl Returned<'_> {
    /// All of a communicator, window or file came to a call. `kept` is what was kept of it before.
    pub fn gathered(&mut self, shape: Shape, kept: u64) {
        let handle = handle(self.library, self.args, self.role.members);
        let Members { size, rank, known, world, inter } = self.members(handle, kept);
        let call = self.call;
        let (first, end) = self.awaited(shape, rank, size, inter);
        let root = self.root();
        let Nearness { all, awaited } = match known {
            Some(number) => self.nearness(handle, size, [first, end], number),
            None => Nearness::NEAR,
        };
        if all && known.is_some() && self.role.members == self.role.comm {
            self.know_gathering(handle, size);
        }
        let long = with(|engine, _, boards| engine.is_long(boards, &call, size));
        let mut far = 0;
        let part = OwnPart { shape, handle, rank, root, size };
        let moves_much = long && known.is_some() && !inter && self.moves_much(&part);
        if let Some(number) = known.filter(|_| !all && !inter && !bridges::is_bridged(handle)) {
            let is_leaf = moves_much && shape == Shape::ToRoot && rank != root;
            let asks = long && (!awaited || is_leaf) && call.counts;
            far = self.came(handle, shape, [rank, root, size], number, asks);
        }
        if !long {
            return;
        }
        let Some(mut waiting) = with(|engine, _, _| Some(engine.begin(call))) else { return };
        if known.is_none() {
            with(|engine, _, _| engine.not_measured(&mut waiting));
        }
        if let Some(number) = known.filter(|_| call.counts && awaited) {
            for other in (first..end).filter(|other| inter || *other != rank) {
                let peer = if world {
                    other
                } else {
                    bridges::member(self.library, self.ledger, handle, other)
                };
                let comm = with(|_, numbers, _| numbers.of(self.library, handle));
                look(&mut waiting, comm, number, peer);
            }
            with(|engine, _, _| engine.looked(&mut waiting));
        } else if let Some(number) = known.filter(|_| call.counts) {
            meet_far(&mut waiting, far, number);
        }
        let is_of_ranks = !inter && self.role.members == self.role.comm;
        if let Some(number) = known.filter(|_| is_of_ranks)
            && shape.has_companions()
        {
            self.stayed(
                &part,
                moves_much,
                &mut waiting,
                number,
                if all { None } else { Some(far) },
            );
        }
        end_meeting(waiting, size);
    }

    /// Who comes to a collective, and its number, if that means anything.
    #[inline(always)]
    fn members(&mut self, handle: u64, kept: u64) -> Members {
        let known = kept.checked_sub(1);
        if self.role.members == self.role.comm {
            let object = object::object(self.library, self.ledger, handle, ObjectKind::Comm);
            let (size, rank, inter) = (object.size, object.rank, object.inter);
            let world = handle == self.library.comm_world;
            return Members { size, rank, known, world, inter };
        }
        // Of windows and files those are known that all ranks of the world share.
        let size = with(|_, numbers, _| numbers.size(handle));
        let rank = with(|_, _, boards| boards.rank());
        Members { size, rank, known: known.filter(|_| size > 0), world: true, inter: false }
    }

    /// The root that the call names; 0 if it names none.
    fn root(&self) -> u32 {
        if self.role.root == NONE { 0 } else { word(self.args, self.role.root) as u32 }
    }

    /// The ranks of the communicator for which this one waits: from the first to less than the second. Of an
    /// intercommunicator they are those of the remote group: what its own group does is part of "other".
    fn awaited(&self, shape: Shape, rank: u32, size: u32, inter: bool) -> (u32, u32) {
        let root = self.root();
        if !inter {
            let (first, end) = shape.awaited(rank, root, size);
            return (first, end.min(size));
        }
        // In the group of the root all ranks but the root itself name nobody.
        let is_root = (root as i32) < 0 && root as i32 != self.library.proc_null;
        match shape {
            Shape::All => (0, size),
            Shape::FromRoot if root < size => (root, root + 1),
            Shape::ToRoot if is_root => (0, size),
            _ => (0, 0),
        }
    }

    /// The size of a communicator, if its ranks are those of the world, and it makes a window or a
    /// file; else 0.
    pub fn world_size(&mut self, comm: u64) -> u32 {
        if self.plan.is_comm() && self.role.made != NONE && self.role.gathers.is_some() {
            let first = self.member(comm, 0);
            let object = object::object(self.library, self.ledger, comm, ObjectKind::Comm);
            if first == 0 && object.is_world() && !object.inter {
                return object.size;
            }
        }
        0
    }

    /// A collective was started, whose request somebody completes.
    pub fn collective_started(&mut self, shape: Shape, came: u64) {
        let handle = handle(self.library, self.args, self.role.comm);
        let object = object::object(self.library, self.ledger, handle, ObjectKind::Comm);
        let (size, rank, inter) = (object.size, object.rank, object.inter);
        let Some(number) = came.checked_sub(1) else { return };
        let (first, end) = self.awaited(shape, rank, size, inter);
        let root = self.root();
        let part = OwnPart { shape, handle, rank, root, size };
        let companions = if !inter && self.moves_much(&part) { root + 1 } else { 0 };
        let known = self.comm();
        // Nobody else has to be there yet.
        let is_near = self.nearness(handle, size, [0, 0], number).all;
        let mut far = 0;
        if !is_near && !inter && !bridges::is_bridged(handle) {
            // Who asks is told that now: the answer is of use only if it waits.
            far = self.came(handle, shape, [rank, root, size], number, first < end);
        }
        let id = with(|engine, numbers, _| {
            let comm = numbers.of(self.library, handle);
            let place = CollectivePlace {
                comm,
                number,
                first,
                end,
                far,
                near: is_near,
                starts: 0,
                companions,
            };
            engine.collective_started(&place, known)
        });
        self.keep(id);
    }

    /// The rank of the world of a member.
    pub(super) fn member(&mut self, handle: u64, rank: u32) -> u32 {
        if self.role.members != self.role.comm {
            // Windows and files are looked at only if their ranks are those of the world.
            return rank;
        }
        bridges::member(self.library, self.ledger, handle, rank)
    }

    /// Which members of a communicator are on this node. Those for which this rank had to wait are
    /// there, and can be found; of the others some may not yet have come to MPI, until so many
    /// collectives are over.
    fn nearness(
        &mut self,
        handle: u64,
        size: u32,
        [first, end]: [u32; 2],
        number: u64,
    ) -> Nearness {
        match with(|_, numbers, _| numbers.is_near(self.library, handle)) {
            Some(true) => Nearness::NEAR,
            // Those that count may be here.
            Some(false) => {
                let some = (first, end) != (0, size);
                Nearness { all: false, awaited: some && self.are_near([first, end], handle, false) }
            }
            None => self.look_for(handle, size, [first, end], number),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_for(
        &mut self,
        handle: u64,
        size: u32,
        [first, end]: [u32; 2],
        number: u64,
    ) -> Nearness {
        const SURE: u64 = 8;
        let awaited = self.are_near([first, end], handle, true);
        let all_came = (first, end) == (0, size) || number >= SURE;
        let all = awaited && self.are_near([0, size], handle, all_came);
        if all || all_came {
            with(|_, numbers, _| numbers.set_near(self.library, handle, all));
        }
        Nearness { all, awaited }
    }

    /// Whether all of these members are on this node, as far as that is known, or can be found.
    fn are_near(&mut self, [first, end]: [u32; 2], handle: u64, seek: bool) -> bool {
        (first..end).all(|other| {
            let member = self.member(handle, other);
            with(|_, _, _| boards::is_near(member) || seek && boards::seek(member))
        })
    }

    /// A collective was prepared, which is started and completed again and again.
    pub fn collective_prepared(&mut self) {
        let Some(shape) = self.role.prepares else { return };
        let handle = handle(self.library, self.args, self.role.comm);
        let (doer, known) = (self.doer, self.comm());
        let mut place = CollectivePlace::of_neighbors(0, 0);
        if shape == Shape::Neighbors {
            neighbors::know(self.library, self.ledger, handle);
        } else {
            let object = object::object(self.library, self.ledger, handle, ObjectKind::Comm);
            let (size, rank, inter) = (object.size, object.rank, object.inter);
            (place.first, place.end) = self.awaited(shape, rank, size, inter);
            // Nobody else has to be there yet.
            place.near = self.nearness(handle, size, [0, 0], 0).all;
        }
        let id = with(|engine, numbers, boards| {
            place.comm = numbers.of(self.library, handle);
            engine.collective_prepared(boards, &place, &doer, known)
        });
        self.keep(id);
    }

    /// Tells a member of a communicator, with others on other nodes, that this rank came to a
    /// collective: the key by which it is known there; 0 if it is not. Members take turns.
    fn came(
        &mut self,
        handle: u64,
        shape: Shape,
        [rank, root, size]: [u32; 3],
        number: u64,
        asks: bool,
    ) -> u64 {
        let (counts, awaited) = match shape {
            Shape::All => (true, size),
            Shape::FromRoot => (rank == root, 1),
            Shape::ToRoot => (rank != root, size.saturating_sub(1)),
            Shape::FromLower | Shape::Neighbors => return 0,
        };
        let comm = with(|_, numbers, _| numbers.of(self.library, handle));
        let (first, to) = (self.member(handle, 0), self.member(handle, turn(number, size)));
        if comm == 0 || first == peers::OTHERS || to == peers::OTHERS {
            return 0;
        }
        let key = key_among(comm, first);
        if counts || asks {
            let note = CollectiveNote { counts, asks, awaited }.pack();
            let stamp = Stamp { key, moment: self.call.began, number: number as u32, note };
            with(|_, _, _| far::put(to, stamp));
        }
        key
    }
}

/// Members of other nodes come to a collective, who are known by a key; 0: they are not.
#[inline(always)]
pub(super) fn meet_far(waiting: &mut WaitingCall, key: u64, number: u64) {
    with(|engine, _, boards| match key {
        0 => engine.not_measured(waiting),
        key => engine.gathered_far(boards, waiting, key, number),
    });
}

/// All is known of a call to which so many came.
#[inline(always)]
pub(super) fn end_meeting(waiting: WaitingCall, size: u32) {
    with(|engine, _, boards| {
        engine.learn_collective(&waiting, size);
        engine.end(boards, waiting);
    });
}

/// The member that collects who came to a collective: some of them each, in turn.
pub(super) fn turn(number: u64, size: u32) -> u32 {
    const TURN: u64 = 256;
    ((number / TURN) % u64::from(size.max(1))) as u32
}

/// The key by which the collectives of a communicator are known on other nodes; `first` is the rank of the
/// world of its first member.
pub(super) fn key_among(comm: u64, first: u32) -> u64 {
    mix(of_collectives(comm), first.into()) | 1
}

/// Looks when another rank came to a collective that is over.
fn look(waiting: &mut WaitingCall, comm: u64, number: u64, peer: u32) {
    with(|engine, _, boards| {
        // Of other worlds some are not found, and to those that are there they have come.
        let is_known =
            !bridges::is_beside(peer) || matches!(bridges::seek(peer), Sought::Found(..));
        if is_known {
            engine.gathered(boards, waiting, comm, number, peer);
        } else {
            engine.not_measured(waiting);
        }
    });
}

/// Who comes to a collective.
struct Members {
    /// How many
    size: u32,
    /// The rank of this process among them
    rank: u32,
    /// The number of the collective
    known: Option<u64>,
    /// Ranks are those of the world
    world: bool,
    /// It is an intercommunicator, whose remote group these are
    inter: bool,
}

/// Which members of a communicator are on this node.
#[derive(Clone, Copy)]
struct Nearness {
    /// All of them
    all: bool,
    /// Those for which this rank has to wait
    awaited: bool,
}

impl Nearness {
    const NEAR: Nearness = Nearness { all: true, awaited: true };
}

/// A call completed a collective: for whom it waited, if it took long.
#[cold]
#[inline(never)]
pub fn completed(library: &Library, ledger: &mut Ledger, waiting: &mut WaitingCall, post: &Post) {
    let of = CollectivePlace::of(post);
    if !with(|engine, _, _| engine.is_worth(waiting)) {
        return;
    }
    // If the communicator is gone, so is the meaning of its ranks.
    let known = generation(place(post.handle)) == post.generation;
    if of.is_of_neighbors() {
        let handle = known.then_some(post.handle);
        return neighbors::completed(library, ledger, waiting, &of, handle);
    }
    if of.first >= of.end {
        with(|engine, _, _| engine.looked(waiting));
        companions::completed(library, ledger, waiting, post, known);
        return held_up(library, ledger, waiting, post, known && of.near);
    }
    let own = with(|_, _, boards| boards.rank());
    let mut member = |other: u32| bridges::member(library, ledger, post.handle, other);
    // When the collective was started, some members were perhaps not yet in MPI. All for whom the rank
    // waited are now.
    let is_open = || with(|_, numbers, _| numbers.is_near(library, post.handle).is_none());
    let is_near = of.near
        || known && is_open() && (of.first..of.end).all(|other| boards::seek(member(other)));
    if !is_near {
        return with(|engine, _, boards| match of.far {
            0 => engine.not_measured(waiting),
            key => engine.gathered_far(boards, waiting, key, of.number),
        });
    }
    if !known {
        return with(|engine, _, _| engine.not_measured(waiting));
    }
    for other in of.first..of.end {
        let peer = member(other);
        if of.starts == 0 {
            look(waiting, of.comm, of.number, peer);
        } else if peer != own {
            with(|e, _, boards| e.look_at_start(boards, waiting, (of.starts, of.number), peer));
        }
    }
    with(|engine, _, _| engine.looked(waiting));
    companions::completed(library, ledger, waiting, post, known);
    held_up(library, ledger, waiting, post, known);
}

/// A started collective is complete, and all had come for whom this rank waited: the rest may be because a member called no
/// MPI meanwhile. `near` tells whether all members are known, and on this node.
fn held_up(
    library: &Library,
    ledger: &mut Ledger,
    waiting: &mut WaitingCall,
    post: &Post,
    near: bool,
) {
    if !near || !with(|engine, _, _| engine.went_on(waiting)) || bridges::is_bridged(post.handle) {
        return;
    }
    let object = object::object(library, ledger, post.handle, ObjectKind::Comm);
    let (rank, size) = (object.rank, object.size);
    for other in (0..size).filter(|other| *other != rank) {
        let peer = bridges::member(library, ledger, post.handle, other);
        with(|engine, _, boards| {
            engine.may_be_held_up_by(boards, waiting, (Cause::Collective, peer))
        });
    }
}
