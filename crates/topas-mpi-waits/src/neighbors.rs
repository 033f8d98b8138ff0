//! Who the neighbours of a rank are in communicators that have a topology: from whom collectives of
//! neighbours bring data, and to whom.
//!
//! These are the ranks that the MPI tells of a communicator when it is first met, as ranks of the
//! world. What does not fit is forgotten, and asked for again.

/// Most communicators whose neighbours are known at the same time.
const COMMUNICATORS: usize = 64;
/// Most neighbours of all of them.
const RANKS: usize = 4096;

/// Most neighbours of each side that are kept of a communicator.
pub const MOST_NEIGHBORS: usize = 512;

const _: () = assert!(2 * MOST_NEIGHBORS <= RANKS && RANKS <= u16::MAX as usize);

/// The neighbours of this rank in a communicator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neighborhood {
    /// The number of the communicator; 0 if nothing is here
    comm: u64,
    /// Where the ranks stand: first the sources, behind them the destinations
    first: u16,
    sources: u16,
    destinations: u16,
    /// Some sources are not of the world, or the MPI does not tell who they are
    pub elsewhere: bool,
    /// There are more than can be kept
    pub unsure: bool,
    /// All destinations are on this node
    pub is_near: bool,
}

impl Neighborhood {
    const NONE: Neighborhood = Neighborhood {
        comm: 0,
        first: 0,
        sources: 0,
        destinations: 0,
        elsewhere: false,
        unsure: false,
        is_near: false,
    };

    /// How many ranks this one waits for.
    pub fn sources(&self) -> u32 {
        self.sources.into()
    }
}

/// The neighbours of this rank. Zero at its beginning.
#[derive(Debug)]
pub struct Neighborhoods {
    all: [Neighborhood; COMMUNICATORS],
    ranks: [u32; RANKS],
    /// Places of communicators in use
    used: usize,
    /// Ranks in use
    filled: usize,
}

impl Neighborhoods {
    /// Nobody is known.
    pub const fn new() -> Neighborhoods {
        Neighborhoods {
            all: [Neighborhood::NONE; COMMUNICATORS],
            ranks: [0; RANKS],
            used: 0,
            filled: 0,
        }
    }

    /// The neighbours in a communicator; None if they are not known.
    #[inline(never)]
    pub fn find(&mut self, comm: u64) -> Option<&mut Neighborhood> {
        let used = self.all.iter_mut().take(self.used);
        used.into_iter().find(|known| known.comm == comm && comm != 0)
    }

    /// Those from whom data come, and those to whom they go, at most [`MOST_NEIGHBORS`] of each, are
    /// the neighbours in a communicator. Each is kept once, and the rank itself is not.
    #[inline(never)]
    pub fn keep(&mut self, comm: u64, own: u32, [sources, destinations]: [&[u32]; 2]) {
        self.remove(comm);
        let room = RANKS.saturating_sub(self.filled);
        if self.used >= COMMUNICATORS || sources.len() + destinations.len() > room {
            (self.used, self.filled) = (0, 0);
        }
        let first = self.filled;
        let sources = self.add(own, sources);
        let destinations = self.add(own, destinations);
        if let Some(place) = self.all.get_mut(self.used) {
            let first = first as u16;
            *place = Neighborhood { comm, first, sources, destinations, ..Neighborhood::NONE };
            self.used += 1;
        }
    }

    /// Adds ranks behind the last one: how many these were.
    #[inline(never)]
    fn add(&mut self, own: u32, ranks: &[u32]) -> u16 {
        let first = self.filled;
        for rank in ranks.iter().filter(|rank| **rank != own) {
            let mut known = self.ranks.iter().take(self.filled).skip(first);
            if !known.any(|known| known == rank)
                && let Some(place) = self.ranks.get_mut(self.filled)
            {
                *place = *rank;
                self.filled += 1;
            }
        }
        (self.filled - first) as u16
    }

    /// A communicator goes.
    pub fn remove(&mut self, comm: u64) {
        if let Some(known) = self.find(comm) {
            *known = Neighborhood::NONE;
        }
    }

    /// The n-th rank from which data come.
    pub fn source(&self, of: &Neighborhood, nth: u32) -> Option<u32> {
        self.rank(of.first, of.sources, nth)
    }

    /// The n-th rank to which data go.
    pub fn destination(&self, of: &Neighborhood, nth: u32) -> Option<u32> {
        self.rank(of.first + of.sources, of.destinations, nth)
    }

    fn rank(&self, first: u16, count: u16, nth: u32) -> Option<u32> {
        let at = usize::from(first) + nth as usize;
        self.ranks.get(at).copied().filter(|_| nth < u32::from(count))
    }
}

impl Default for Neighborhoods {
    fn default() -> Self {
        Neighborhoods::new()
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::vec::Vec;

    use super::*;

    fn lists(all: &mut Neighborhoods, comm: u64) -> Option<[Vec<u32>; 2]> {
        let known = *all.find(comm)?;
        let sources = (0..).map_while(|nth| all.source(&known, nth)).collect();
        let destinations = (0..).map_while(|nth| all.destination(&known, nth)).collect();
        Some([sources, destinations])
    }

    #[test]
    fn each_neighbour_is_kept_once() {
        let mut all: Box<Neighborhoods> = Box::default();
        // In a ring of two both neighbours are the same rank; of a single one it is that itself.
        all.keep(7, 0, [&[1, 1], &[1, 1]]);
        all.keep(8, 0, [&[0, 0], &[0, 0]]);
        all.keep(9, 2, [&[5, 2, 6, 5], &[1, 6]]);
        assert_eq!(lists(&mut all, 7), Some([[1].to_vec(), [1].to_vec()]));
        assert_eq!(lists(&mut all, 8), Some([Vec::new(), Vec::new()]));
        assert_eq!(lists(&mut all, 9), Some([[5, 6].to_vec(), [1, 6].to_vec()]));
        assert_eq!(all.find(9).map(|known| known.sources()), Some(2));
        all.remove(9);
        assert_eq!(lists(&mut all, 9), None);
        assert_eq!(lists(&mut all, 0), None);
        all.keep(7, 0, [&[3], &[]]);
        assert_eq!(lists(&mut all, 7), Some([[3].to_vec(), Vec::new()]));
    }

    #[test]
    fn what_does_not_fit_is_forgotten_and_never_mistaken() {
        let mut all: Box<Neighborhoods> = Box::default();
        let many: Vec<u32> = (0..MOST_NEIGHBORS as u32).collect();
        for comm in 1..200u64 {
            let count = (comm as usize * 37) % MOST_NEIGHBORS;
            let (some, others) = many.split_at(count);
            all.keep(comm, u32::MAX, [some, others]);
            for known in 1..=comm {
                if let Some([sources, destinations]) = lists(&mut all, known) {
                    let count = (known as usize * 37) % MOST_NEIGHBORS;
                    assert_eq!(sources, many[..count]);
                    assert_eq!(destinations, many[count..]);
                }
            }
            assert!(all.find(comm).is_some());
        }
        for comm in 1_000..1_000 + 2 * COMMUNICATORS as u64 {
            all.keep(comm, 0, [&[1], &[2]]);
            assert_eq!(lists(&mut all, comm), Some([[1].to_vec(), [2].to_vec()]));
        }
    }
}
