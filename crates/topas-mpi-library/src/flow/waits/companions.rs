//! Collectives in which ranks stay for others than those whose data they need.
//!
//! A rank that only gives its data need not wait for anybody, one that gets them needs the root alone, and in `Scan` those of
//! lower rank. But no MPI keeps large data until another rank comes: in `Gather` a rank stays until the root takes its block,
//! and in `Bcast` until those ranks have come to which it hands the data on. Small data go by trees: a rank gets them
//! from another one than the root, or adds up those of others. Which ranks these are is a matter of the MPI, so
//! what counts is that the rank left soon after one of them had come.

use topas_mpi_table::{FlowAmount, Way};
use topas_mpi_waits::collective::{CollectivePlace, Shape};
use topas_mpi_waits::engine::WaitingCall;
use topas_mpi_waits::far::{CollectiveNote, Stamp};
use topas_mpi_waits::key::mix;
use topas_mpi_waits::posts::Post;
use topas_mpi_waits::protocol::SMALL_MESSAGE;

use super::collectives::turn;
use super::{Returned, boards, bridges, far, with};
use crate::flow::amount::{self, Among};
use crate::flow::ledger::Ledger;
use crate::flow::library::Library;
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers;

/// A collective as this rank takes part in it.
pub(super) struct OwnPart {
    pub shape: Shape,
    /// The communicator
    pub handle: u64,
    /// The rank of this process in it
    pub rank: u32,
    /// That of the root, if there is one
    pub root: u32,
    /// How many come
    pub size: u32,
}

impl OwnPart {
    /// Whether this rank gives data to others: where it need not wait for anybody.
    const fn gives(&self) -> bool {
        (self.rank == self.root) == matches!(self.shape, Shape::FromRoot)
    }
}

impl Returned<'_> {
    /// Whether the blocks of this rank are so large that it may have to wait for those who take them. Of blocks of
    /// different sizes the mean counts.
    pub(super) fn moves_much(&mut self, of: &OwnPart) -> bool {
        if !of.shape.is_rooted() || self.role.members != self.role.comm {
            return false;
        }
        let way = if of.gives() { Way::Sent } else { Way::Received };
        let flows = self.plan.flow.iter().take(self.plan.flows.into());
        let Some(flow) = flows.into_iter().find(|flow| flow.way == way) else { return false };
        let blocks = match flow.amount {
            FlowAmount::Block { .. } => 1,
            _ => u64::from(of.size.max(1)),
        };
        let among = Among { ranks: of.size, local: of.size, rank: of.rank, ..Among::default() };
        let (library, ledger, large) = (self.library, &mut *self.ledger, self.large_counts);
        // SAFETY: the MPI has accepted the arguments, and this process takes part in the flow: as the root, or as
        // another one.
        let bytes = unsafe {
            amount::bytes(library, ledger, &among, &flow.amount, self.args, large, false)
        };
        bytes / blocks > SMALL_MESSAGE
    }

    /// For whom the call, which moves much or little, stayed beyond those for whom it had to wait. `far` is the key of the
    /// collective if members may be on other nodes: 0 if these do not know it.
    #[cold]
    #[inline(never)]
    pub(super) fn stayed(
        &mut self,
        of: &OwnPart,
        much: bool,
        waiting: &mut WaitingCall,
        number: u64,
        far: Option<u64>,
    ) {
        if !much && !with(|engine, _, _| engine.stays_long(waiting, of.size)) {
            return;
        }
        match far.filter(|_| !self.are_here(of)) {
            Some(key) if key != 0 && much => self.stayed_far(of, waiting, number, key),
            None if self.call.counts => {
                stayed(self.library, self.ledger, waiting, of, much, number);
            }
            _ => {}
        }
    }

    /// Whether all members are on this node, of which that is not known yet: when they came, some perhaps had not yet
    /// come to MPI.
    fn are_here(&mut self, of: &OwnPart) -> bool {
        with(|_, numbers, _| numbers.is_near(self.library, of.handle)).is_none()
            && (0..of.size).all(|other| {
                let member = self.member(of.handle, other);
                with(|_, _, _| boards::is_near(member) || boards::seek(member))
            })
    }

    /// Tells the member that collects arrivals that this one came for whom nobody needs to wait, and asks for those
    /// who may have held up the call.
    fn stayed_far(&mut self, of: &OwnPart, waiting: &mut WaitingCall, number: u64, key: u64) {
        let to = self.member(of.handle, turn(number, of.size));
        if to == peers::OTHERS {
            return;
        }
        let is_root = of.rank == of.root;
        // Others wait for these by all means: they are told by the key of the collective.
        let (among, all_but_root) = match of.shape {
            Shape::ToRoot => (is_root, false),
            _ => (!is_root, true),
        };
        let asks = self.call.counts && (all_but_root || !is_root);
        let awaited = if all_but_root { of.size.saturating_sub(1) } else { 1 };
        let companions = key_of_companions(key);
        let note = CollectiveNote { counts: among, asks, awaited }.pack();
        let moment = self.call.began;
        let stamp = Stamp { key: companions, moment, number: number as u32, note };
        with(|engine, _, boards| {
            far::put(to, stamp);
            if asks {
                engine.stayed_far(boards, waiting, companions, number);
                if of.shape == Shape::ToRoot {
                    engine.stayed_far(boards, waiting, key, number);
                }
            }
        });
    }
}

/// The key of those who come to a collective and for whom nobody needs to wait, from that of the others.
fn key_of_companions(key: u64) -> u64 {
    mix(key, 0x636f_6d70) | 1
}

/// The same of a collective all of whose members are on this node: of one that takes data the root counts first, then
/// the last of all.
fn stayed(
    library: &Library,
    ledger: &mut Ledger,
    waiting: &mut WaitingCall,
    of: &OwnPart,
    much: bool,
    number: u64,
) {
    if bridges::is_bridged(of.handle) {
        return;
    }
    let place = (with(|_, numbers, _| numbers.of(library, of.handle)), number);
    let mut stay_for = |first: u32, end: u32| {
        let mut last = None;
        for other in (first..end).filter(|other| *other != of.rank) {
            let peer = bridges::member(library, ledger, of.handle, other);
            let came = with(|engine, _, boards| engine.companion(boards, waiting, place, peer));
            last = last.max(came);
        }
        if let Some(last) = last {
            with(|engine, _, _| engine.stayed(waiting, much, last));
        }
    };
    if of.shape == Shape::ToRoot {
        stay_for(of.root, of.root + 1);
    }
    stay_for(0, of.size);
}

/// A call completed a collective that was started, and took long. `known` tells whether its communicator is still
/// there.
#[cold]
#[inline(never)]
pub(super) fn completed(
    library: &Library,
    ledger: &mut Ledger,
    waiting: &mut WaitingCall,
    post: &Post,
    known: bool,
) {
    let place = CollectivePlace::of(post);
    let Some(root) = place.companions.checked_sub(1).filter(|_| known && place.near) else {
        return;
    };
    let handle = post.handle;
    let object = object::object(library, ledger, handle, ObjectKind::Comm);
    let (rank, size) = (object.rank, object.size);
    // Who waits for the root gets data from it, and who waits for all is the root.
    let shape = if place.first == root && place.end == root + 1 || place.end == 0 && rank == root {
        Shape::FromRoot
    } else {
        Shape::ToRoot
    };
    let of = OwnPart { shape, handle, rank, root, size };
    stayed(library, ledger, waiting, &of, true, place.number);
}
