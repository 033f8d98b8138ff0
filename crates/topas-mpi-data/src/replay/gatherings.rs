//! Collectives to which ranks have come in the replay, and that not all have left.

use rustc_hash::FxHashMap;
use topas_mpi_table::Gathering;

/// A collective: its communicator, and its number on it.
pub(super) type GatheringKey = (u64, u64);

/// Who came.
#[derive(Debug, Default)]
struct Gathered {
    arrived: u32,
    left: u32,
    /// When the last came in the model, in ns
    latest: f64,
    /// The same in reality
    latest_real: f64,
    root: Option<f64>,
    /// Of those that wait for lower ranks: when each came
    each: Vec<(u32, f64)>,
    /// Lanes that wait
    waiting: Vec<usize>,
}

/// All collectives that are open.
#[derive(Debug, Default)]
pub(super) struct Gatherings {
    open: FxHashMap<GatheringKey, Gathered>,
}

/// A rank that comes to a collective.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub key: GatheringKey,
    pub shape: Gathering,
    /// Rank in the world
    pub rank: u32,
    pub is_root: bool,
    /// Ranks that come to it
    pub members: u32,
    /// How many of these have a lower rank
    pub lower: u32,
}

impl Gatherings {
    /// A rank comes: the lanes that may go on.
    pub fn arrive(&mut self, arrival: &Arrival, at: f64, real: f64) -> Vec<usize> {
        let open = self.open.entry(arrival.key).or_default();
        open.arrived += 1;
        open.latest = open.latest.max(at);
        open.latest_real = open.latest_real.max(real);
        if arrival.is_root {
            open.root = Some(at);
        }
        let by_rank = arrival.shape == Gathering::FromLower;
        if by_rank {
            open.each.push((arrival.rank, at));
        }
        if by_rank || arrival.is_root || open.arrived >= arrival.members {
            std::mem::take(&mut open.waiting)
        } else {
            Vec::new()
        }
    }

    /// When those have come for whom a rank waits, in the model; None if they have not.
    pub fn ready(&self, arrival: &Arrival) -> Option<f64> {
        let open = self.open.get(&arrival.key)?;
        let all = open.arrived >= arrival.members;
        match arrival.shape {
            Gathering::All => all.then_some(open.latest),
            Gathering::FromRoot if arrival.is_root => Some(0.0),
            Gathering::FromRoot => open.root,
            Gathering::ToRoot if arrival.is_root => all.then_some(open.latest),
            Gathering::ToRoot => Some(0.0),
            Gathering::FromLower => {
                let lower = open.each.iter().filter(|(rank, _)| *rank < arrival.rank);
                let (count, latest) = lower
                    .fold((0, 0.0f64), |(count, latest), (_, at)| (count + 1, latest.max(*at)));
                (count >= arrival.lower).then_some(latest)
            }
        }
    }

    /// Whether all had come in reality by then.
    pub fn was_ready(&self, arrival: &Arrival, real: f64) -> bool {
        let open = self.open.get(&arrival.key);
        open.is_some_and(|open| open.arrived >= arrival.members && open.latest_real <= real)
    }

    /// A lane waits.
    pub fn wait(&mut self, key: GatheringKey, lane: usize) {
        if let Some(open) = self.open.get_mut(&key)
            && !open.waiting.contains(&lane)
        {
            open.waiting.push(lane);
        }
    }

    /// A rank goes on.
    pub fn leave(&mut self, arrival: &Arrival) {
        if let Some(open) = self.open.get_mut(&arrival.key) {
            open.left += 1;
            if open.left >= arrival.members {
                self.open.remove(&arrival.key);
            }
        }
    }
}
