//! Collectives: whom a rank has to wait for.

use crate::key::Address;
use crate::posts::{Post, Progress};

/// Who depends on whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Shape {
    /// All wait for the last
    All,
    /// All wait for the root
    FromRoot,
    /// The root waits for the last of the others
    ToRoot,
    /// Each waits for the last of those of lower rank
    FromLower,
    /// Each waits for the last of its neighbours from whom data come: see [`crate::neighbors`]
    Neighbors,
}

impl Shape {
    /// Whether it has a root.
    pub const fn is_rooted(self) -> bool {
        matches!(self, Shape::FromRoot | Shape::ToRoot)
    }

    /// Whether ranks may stay in it until others have come for whom they need not wait. Where much is moved, a rank hands its
    /// data to such a rank, or the root to all, and no MPI keeps so much until that one comes. Little data may come from another
    /// rank than the root or the lower ones, which has to have come, too; and a rank may add up what others give.
    pub const fn has_companions(self) -> bool {
        self.is_rooted() || matches!(self, Shape::FromLower)
    }

    /// The ranks of the communicator for which a rank waits: from the first to less than the
    /// second.
    pub const fn awaited(self, rank: u32, root: u32, size: u32) -> (u32, u32) {
        match self {
            Shape::All => (0, size),
            Shape::FromRoot if rank == root => (0, 0),
            Shape::FromRoot => (root, root + 1),
            Shape::ToRoot if rank == root => (0, size),
            Shape::ToRoot => (0, 0),
            Shape::FromLower => (0, rank),
            Shape::Neighbors => (0, 0),
        }
    }
}

/// A collective that was started, as it is kept with its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectivePlace {
    /// The number of its communicator
    pub comm: u64,
    /// The number of the collective
    pub number: u64,
    /// The ranks of the communicator for which this one waits: from this one
    pub first: u32,
    /// To less than this one
    pub end: u32,
    /// The key by which ranks of other nodes know it; 0 if they do not
    pub far: u64,
    /// All members are on this node
    pub near: bool,
    /// Of a persistent one, the key of its starts; else 0. Then there is none for ranks of other nodes
    pub starts: u64,
    /// The root of a collective that moves much, plus 1; else 0: see [`Shape::has_companions`]. Of one that moves little, who was
    /// outside of MPI is looked at
    pub companions: u32,
}

/// The first of the ranks for which one waits, if these are its neighbours.
const NEIGHBORS: u32 = u32::MAX - 1;

impl CollectivePlace {
    /// A collective of neighbours.
    pub const fn of_neighbors(comm: u64, number: u64) -> CollectivePlace {
        CollectivePlace {
            comm,
            number,
            first: NEIGHBORS,
            end: 0,
            far: 0,
            near: false,
            starts: 0,
            companions: 0,
        }
    }

    /// Whether this is a collective of neighbours.
    pub const fn is_of_neighbors(&self) -> bool {
        self.first == NEIGHBORS
    }

    /// As it is kept.
    pub fn post(&self) -> Post {
        Post {
            address: Address { comm: self.comm, peer: self.first, tag: self.end as i32 },
            number: self.number,
            moment: if self.starts == 0 { self.far } else { self.starts },
            large: !self.near,
            ready: self.companions,
            progress: Progress::Numbered,
            collective: true,
            ..Post::default()
        }
    }

    /// From that.
    pub fn of(post: &Post) -> CollectivePlace {
        let Address { comm, peer, tag } = post.address;
        CollectivePlace {
            comm,
            number: post.number,
            first: peer,
            end: tag as u32,
            far: if post.persistent { 0 } else { post.moment },
            near: !post.large,
            starts: if post.persistent { post.moment } else { 0 },
            companions: if post.persistent { 0 } else { post.ready },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_collective_is_found_again() {
        let place = CollectivePlace {
            comm: 5,
            number: 1 << 40,
            first: 2,
            end: 70_000,
            far: 9,
            near: false,
            starts: 0,
            companions: 8,
        };
        assert_eq!(CollectivePlace::of(&place.post()), place);
        let persistent = CollectivePlace { far: 0, starts: 8, companions: 0, ..place };
        let post = Post { persistent: true, ..persistent.post() };
        assert_eq!(CollectivePlace::of(&post), persistent);
        assert!(!place.is_of_neighbors());
        let place = CollectivePlace::of_neighbors(5, 1 << 40);
        assert_eq!(CollectivePlace::of(&place.post()), place);
        assert!(place.is_of_neighbors());
    }

    #[test]
    fn only_who_depends_on_others_waits_for_them() {
        assert_eq!(Shape::All.awaited(2, 0, 4), (0, 4));
        assert_eq!(Shape::FromRoot.awaited(2, 1, 4), (1, 2));
        assert_eq!(Shape::FromRoot.awaited(1, 1, 4), (0, 0));
        assert_eq!(Shape::ToRoot.awaited(1, 1, 4), (0, 4));
        assert_eq!(Shape::ToRoot.awaited(0, 1, 4), (0, 0));
        assert_eq!(Shape::FromLower.awaited(3, 0, 4), (0, 3));
    }
}
