//! When a process was killed: nobody is there to note it but the kernel.
//!
//! A semaphore of System V is raised with `SEM_UNDO`. The kernel takes that back when the process
//! ends, however it ends, and notes when it did. So a call in which a rank hung until it was killed
//! has its time. Whoever collects the rank's counters reads the moment in `/proc/sysvipc/sem` and
//! removes the semaphore; a rank that ends by itself removes its own.

//!
//! The moment is that of a second, in which a launcher has ended all other ranks, too. So the ranks of a node share a
//! further set, with a semaphore for each rank, which tells how many ranks ended after it. At its end the kernel lowers that of the
//! rank itself to 0, however many had ended before, and then each other end raises it by 1.

use topas_mpi_profile::layout::Header;

use crate::sys::{self, SemaphoreStep};

/// The part of the node's sets of semaphores up to which we take one: what nobody collects must
/// leave room for others.
const SHARE: u32 = 4;

/// The part up to which a launch takes a set for all of its ranks.
const SHARE_OF_SETS: u32 = 2;

/// Has the kernel note the end of this process, if it can.
pub fn begin(header: &mut Header) {
    let Some((used, most)) = sys::semaphores() else { return };
    if used < most / SHARE {
        header.life = sys::new_semaphore().map_or(0, |id| id + 1);
    }
}

/// The end is known, or is not to be told.
pub fn end(header: &mut Header) {
    if let Some(id) = core::mem::take(&mut header.life).checked_sub(1) {
        sys::remove_semaphore(id);
    }
}

/// Ranks of a launch whose order is noted, at most.
const MOST: u32 = 1024;
/// Semaphores that are changed at once: the kernel allows 500 steps.
const AT_ONCE: usize = 64;
/// What the end of a rank takes from its own semaphore: more than all others can have given.
const ALL: u16 = 0x4000;

const NOW: u16 = 0x800;
const SEM_UNDO: u16 = 0x1000;

/// Has the kernel note which ranks of this node end after this one, if it can. The launch is known. The set is one for
/// a launch, so ranks make it also where there is no room for one of each of them: the others count all that have a
/// part in it.
pub fn order(header: &mut Header) {
    let has_room = header.life != 0
        || sys::semaphores().is_some_and(|(used, most)| used < most / SHARE_OF_SETS);
    join(header, has_room);
}

/// How many ranks of this launch on this node have the library, once `MPI_Init` has returned: each has a part in the
/// set since its first call. A rank that got none then takes a part in the set of the others now. None if there is no
/// set.
pub fn ranks_at_init(header: &mut Header) -> Option<u32> {
    if header.order == 0 {
        join(header, false);
    }
    ranks(header)
}

/// How many ranks of this launch on this node have a part in the set; None if this one has not.
pub fn ranks(header: &Header) -> Option<u32> {
    sys::semaphore(header.order.checked_sub(1)?, header.ranks as usize)
}

/// Takes a part in the set of the launch, a new one where there is none and one may be made.
fn join(header: &mut Header, make: bool) {
    // Worlds that hydra starts have one id.
    let is_spawned = sys::variable(c"PMI_SPAWNED").is_some();
    if is_spawned || !(2..=MOST).contains(&header.ranks) {
        return;
    }
    // Behind them stands how many ranks have a part in the set.
    let all = header.ranks as usize + 1;
    let Some(id) = sys::shared_semaphores(header.order_key(), all, make) else { return };
    let mut steps = [[0; 3]; 2 * AT_ONCE];
    let mut first = 0;
    while first < all {
        let mut count = 0;
        for (place, pair) in (first..all).zip(steps.chunks_exact_mut(2)) {
            // Nothing changes now but the last; the kernel takes back later what is to be undone.
            let [change, back] = pair else { break };
            let place = place as u16;
            (*change, *back) = if u32::from(place) == header.rank {
                ([place, ALL, NOW | SEM_UNDO], [place, ALL.wrapping_neg(), NOW])
            } else if u32::from(place) == header.ranks {
                ([place, 2, NOW], [place, 1u16.wrapping_neg(), NOW])
            } else {
                ([place, 1, NOW], [place, 1u16.wrapping_neg(), NOW | SEM_UNDO])
            };
            count += 2;
        }
        let steps: &[SemaphoreStep] = steps.get(..count).unwrap_or_default();
        if !sys::step_semaphores(id, steps) {
            return;
        }
        first += AT_ONCE;
    }
    header.order = id + 1;
}

/// The order does not matter any more: who leaves last removes the set.
pub fn leave(header: &mut Header) {
    let Some(id) = core::mem::take(&mut header.order).checked_sub(1) else { return };
    let count = header.ranks;
    if sys::step_semaphores(id, &[[count as u16, 1u16.wrapping_neg(), NOW]])
        && sys::semaphore(id, count as usize) == Some(0)
    {
        sys::remove_semaphore(id);
    }
}
