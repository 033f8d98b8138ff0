//! Ranks of other worlds for whom ranks waited.

use super::profile::MpiProfile;

/// A rank of another world: of one that started the world of a rank, or that was started by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutsideRank {
    /// Id of the launch, as that rank has it
    pub launch: Box<[u8]>,
    /// That world started the other one; else it was started
    pub is_parent: bool,
    /// Its rank in its world
    pub rank: u32,
}

impl OutsideRank {
    /// Its name beside the ranks of the world that waited for it: `rank 2 of worker (started by rank 0)`.
    pub fn name(&self, profile: &MpiProfile) -> String {
        let Self { launch, is_parent, rank } = self;
        if *is_parent {
            return format!("rank {rank} of the world that started this one");
        }
        let ranks = profile.ranks.iter();
        let mut calls =
            ranks.flat_map(|rank| rank.started.iter().map(|call| (rank.rank, &call.command)));
        let first = calls.next();
        match first.filter(|first| calls.all(|call| call == *first)) {
            Some((root, command)) => {
                let command = String::from_utf8_lossy(command);
                format!("rank {rank} of {command} (started by rank {root})")
            }
            None => {
                let launch = String::from_utf8_lossy(launch);
                format!("rank {rank} of a world that was started (launch {launch})")
            }
        }
    }
}
