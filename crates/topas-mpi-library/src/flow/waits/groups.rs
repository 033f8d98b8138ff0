//! Functions in which the ranks of a group make a communicator, or those of two groups one between them.
//!
//! Before the call nobody has a number that all of them know: it follows from who they are. So a rank tells when it
//! came once the call has returned, and looks at once, and later again, when the others came. An MPI need not let a
//! rank wait for all others: who came after the call had ended was not waited for.

use core::sync::atomic::Ordering::Relaxed;

use topas_mpi_waits::engine::Surroundings;
use topas_mpi_waits::far::{CollectiveNote, Stamp};
use topas_mpi_waits::key::{mix, of_collectives};

use super::collectives::key_among;
use super::{Returned, THREADS, boards, far, handle, with};
use crate::flow::object::{self, ObjectKind};
use crate::flow::peers;

/// The members of what was made: those of one group, or of two.
struct Makers {
    /// The communicator that was made, and the one whose members are the group on this side, if there are two
    of: [u64; 2],
    /// How many are in each
    sizes: [u32; 2],
}

impl Makers {
    fn count(&self) -> u32 {
        let [first, second] = self.sizes;
        first.saturating_add(second)
    }
}

impl Returned<'_> {
    /// All members of a group came to a call that made a communicator. `group` tells them from other groups.
    #[cold]
    #[inline(never)]
    pub(super) fn met_group(&mut self, made: u64, group: u64) {
        // Several threads may make some of the same members at once, in an order that differs from rank to rank.
        if THREADS.load(Relaxed) {
            return;
        }
        let makers = self.makers(made);
        let (call, count, own) = (self.call, makers.count(), with(|_, _, boards| boards.rank()));
        let group = mix(group, 0x6d61_6b65_7273) | 1;
        let Some(number) = with(|engine, _, boards| engine.arrived(boards, group, call.began))
        else {
            return;
        };
        let (mut all_near, mut first) = (true, u32::MAX);
        for at in 0..count {
            let member = self.maker(&makers, at);
            if member == peers::OTHERS {
                return;
            }
            first = first.min(member);
            all_near &= with(|_, _, _| boards::is_near(member) || boards::seek(member));
        }
        let long = with(|engine, _, boards| engine.is_long(boards, &call, count));
        let key = key_among(group, first);
        if !all_near {
            let note =
                CollectiveNote { counts: true, asks: long && call.counts, awaited: count }.pack();
            let stamp = Stamp { key, moment: call.began, number: number as u32, note };
            with(|_, _, _| far::put(first, stamp));
        }
        if !long {
            return;
        }
        let Some(mut waiting) = with(|engine, _, _| Some(engine.begin(call))) else { return };
        if all_near {
            let place = (of_collectives(group), number);
            for at in 0..count {
                let member = self.maker(&makers, at);
                if member != own {
                    with(|engine, _, boards| {
                        engine.look_at_start(boards, &mut waiting, place, member);
                    });
                }
            }
        } else {
            with(|engine, _, boards| engine.met_makers_far(boards, &mut waiting, key, number));
        }
        with(|engine, _, boards| {
            engine.looked(&mut waiting);
            engine.end(boards, waiting);
        });
    }

    fn makers(&mut self, made: u64) -> Makers {
        let object = object::object(self.library, self.ledger, made, ObjectKind::Comm);
        let (inter, size) = (object.inter, object.size);
        if !inter {
            return Makers { of: [made, 0], sizes: [size, 0] };
        }
        let local = handle(self.library, self.args, self.role.comm);
        let own = object::object(self.library, self.ledger, local, ObjectKind::Comm).size;
        Makers { of: [made, local], sizes: [size, own] }
    }

    /// The rank in the world of one of them.
    fn maker(&mut self, of: &Makers, at: u32) -> u32 {
        let ([made, local], [first, _]) = (of.of, of.sizes);
        let (handle, rank) = if at < first { (made, at) } else { (local, at - first) };
        object::world_rank(self.library, self.ledger, handle, ObjectKind::Comm, rank as i32)
    }
}
