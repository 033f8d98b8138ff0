//! Which ranks have not posted their windows for a rank that is in `MPI_Win_start`.

use std::mem::offset_of;

use topas_mpi_profile::layout::Waits;
use topas_mpi_profile::layout::now::NamedRank;
use topas_mpi_waits::board::{Keys, Ring};

use super::live::FoundSpool;
use super::spool::{Spool, SpoolError};

/// The ranks that each rank waits for, of a launch on this node; both ascending. Of ranks on other nodes, and of ranks
/// that tell no waits, nobody knows whether they have posted: they are left out.
pub(super) fn unposted(launch: &[FoundSpool]) -> Vec<(u32, Vec<u32>)> {
    let of = |found: &FoundSpool| {
        let mut ranks: Vec<u32> = (found.rank.posts.iter())
            .filter(|post| {
                let target = launch.iter().find(|other| other.spool.header.rank == post.rank);
                let has_posted = target.filter(|target| target.running).map(|target| {
                    // What cannot be read is not known.
                    has_posted(&target.spool, post).ok().flatten()
                });
                has_posted.flatten() == Some(false)
            })
            .map(|post| post.rank)
            .collect();
        ranks.sort_unstable();
        ranks.dedup();
        (!ranks.is_empty()).then_some((found.spool.header.rank, ranks))
    };
    launch.iter().filter_map(of).collect()
}

/// Whether a rank has posted its window as often as somebody waits for; None if its numbers mean nothing.
fn has_posted(spool: &Spool, post: &NamedRank) -> Result<Option<bool>, SpoolError> {
    if post.key == 0 || spool.header.waits == 0 {
        return Ok(None);
    }
    let board: u64 = spool.decode(spool.header.waits + offset_of!(Waits, board) as u64)?;
    if board == 0 {
        return Ok(None);
    }
    for place in Keys::places_of(post.key) {
        let at = board + (Keys::PLACES_AT + 16 * place) as u64;
        let (key, ring): (u64, u64) = (spool.decode(at)?, spool.decode(at + 8)?);
        if key == 0 {
            return Ok(Some(false));
        }
        if key == post.key {
            let [published, void] = Ring::HEAD.map(|at| spool.decode::<u64>(ring + at as u64));
            return Ok((void? as u32 == 0).then_some(published? > post.number));
        }
    }
    Ok(None)
}
