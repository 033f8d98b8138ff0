//! Which ranks have not posted their windows for a rank that is in `MPI_Win_start`.

use topas_mpi_profile::layout::now::NamedRank;

use super::boards::Board;
use super::live::FoundSpool;
use super::spool::Spool;

/// The ranks that each rank waits for, of a launch on this node; both ascending. Of ranks on other nodes, and of ranks
/// that tell no waits, nobody knows whether they have posted: they are left out.
pub(super) fn unposted(launch: &[FoundSpool]) -> Vec<(u32, Vec<u32>)> {
    let of = |found: &FoundSpool| {
        let mut ranks: Vec<u32> = (found.rank.posts.iter())
            .filter(|post| {
                let target = launch.iter().find(|other| other.spool.header.rank == post.rank);
                let target = target.filter(|target| target.running);
                target.and_then(|target| has_posted(&target.spool, post)) == Some(false)
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
fn has_posted(spool: &Spool, post: &NamedRank) -> Option<bool> {
    if post.key == 0 {
        return None;
    }
    Board::of(spool)?.published(post.key).map(|posted| posted > post.number)
}
