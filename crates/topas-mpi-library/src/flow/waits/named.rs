//! The ranks whose windows a call is about to access: `MPI_Win_start` may wait until they have posted these, for ever if
//! one does not. The line of the thread tells who they are, so whoever reads the file finds those that have not.

use core::sync::atomic::{AtomicU32, Ordering::Release};

use topas_mpi_profile::layout::now::{NamedRank, NamedRanks};

use super::role::Role;
use super::with;
use crate::arch;
use crate::flow::amount::{CallWords, word};
use crate::flow::library::Library;
use crate::flow::object;
use crate::spool;

/// The list of this thread, which is made when it is needed.
fn list() -> Option<&'static mut NamedRanks> {
    // SAFETY: the thread's own block, in a call of its own.
    let line = unsafe { &mut (*(*arch::thread()).block).now };
    if line.group == 0 {
        line.group = u32::try_from(spool::reserve(size_of::<NamedRanks>()) / 8).unwrap_or(0);
    }
    let at = u64::from(line.group) * 8;
    // SAFETY: reserved for this thread, for good; 0 is the header, which is no list.
    (at != 0).then(|| unsafe { &mut *spool::at::<NamedRanks>(at) })
}

/// Before a call that accesses the windows of a group.
#[cold]
#[inline(never)]
pub fn access_comes(library: &Library, args: &CallWords, role: &Role, window: u64) {
    let Some(list) = list() else { return };
    // What an earlier call named is not for this one.
    publish(list, 0);
    let mut used = 0;
    let mut are_all = true;
    let group = word(args, role.group) as u64 & library.handle_mask;
    let told = object::each_of_group(library, group, &mut |rank| {
        let post = with(|engine, numbers, boards| {
            let window = numbers.of(library, window);
            rank.map(|rank| (rank, engine.post_awaited(boards, window, rank)))
        });
        match (post, list.ranks.get_mut(used)) {
            (Some((rank, post)), Some(place)) => {
                let (key, number) = post.unwrap_or_default();
                *place = NamedRank { rank, reserved: 0, key, number };
                used += 1;
            }
            _ => are_all = false,
        }
    });
    list.are_all = u32::from(are_all && told.is_some());
    publish(list, used as u32);
}

fn publish(list: &mut NamedRanks, count: u32) {
    // SAFETY: a word of the mapped file, which other processes read.
    unsafe { AtomicU32::from_ptr(&raw mut list.count) }.store(count, Release);
}

/// The ranks that the call of this thread has named that is over now, if these are all of the group. They are told once.
pub fn all() -> Option<impl Iterator<Item = u32>> {
    let list = list()?;
    if core::mem::take(&mut list.are_all) == 0 {
        return None;
    }
    Some(list.ranks.iter().take(list.count as usize).map(|named| named.rank))
}
