//! Collectives of neighbours: a rank waits for the last of those from whom data come.
//!
//! All of a communicator come to them in the same order, so they have numbers among its other
//! collectives, and their stamps are those of collectives. To a rank of another node each rank tells
//! its arrivals as it tells its messages, because no member of the communicator knows all neighbours.

use super::{Engine, Lookup, Surroundings, WaitingCall, conclude};
use crate::board::Seen;
use crate::key::{of_collectives, of_neighbors};
use crate::wait::{Awaited, Call};

impl Engine {
    /// Whether the neighbours in a communicator are known.
    pub fn knows_neighbors(&mut self, comm: u64) -> bool {
        self.neighborhoods.find(comm).is_some()
    }

    /// The neighbours in a communicator: those from whom data come, and those to whom data go. What
    /// cannot be told of them is `elsewhere`, and what cannot be kept `unsure`.
    pub fn neighbors_are(
        &mut self,
        around: &impl Surroundings,
        comm: u64,
        ranks: [&[u32]; 2],
        [elsewhere, unsure]: [bool; 2],
    ) {
        self.neighborhoods.keep(comm, around.rank(), ranks);
        if let Some(known) = self.neighborhoods.find(comm) {
            (known.elsewhere, known.unsure) = (elsewhere, unsure);
        }
    }

    /// A communicator goes.
    pub fn neighbors_gone(&mut self, comm: u64) {
        self.neighborhoods.remove(comm);
    }

    /// This rank has come to a collective of neighbours: neighbours on other nodes may need to know.
    #[inline(never)]
    pub fn tell_neighbors(
        &mut self,
        around: &mut impl Surroundings,
        comm: u64,
        number: u64,
        moment: u64,
    ) {
        let Some(of) = self.neighborhoods.find(comm).copied() else { return };
        if of.is_near {
            return;
        }
        let key = of_neighbors(comm, around.rank());
        let (mut nth, mut is_near) = (0, true);
        while let Some(peer) = self.neighborhoods.destination(&of, nth) {
            if !around.is_near(peer) {
                around.tell(peer, key, number, moment);
                is_near = false;
            }
            nth += 1;
        }
        if let Some(known) = self.neighborhoods.find(comm) {
            known.is_near = is_near;
        }
    }

    /// A call of a collective of neighbours is over. `number` is None if the collective has none.
    #[inline(never)]
    pub fn met_neighbors(
        &mut self,
        around: &mut impl Surroundings,
        comm: u64,
        number: Option<u64>,
        call: Call,
    ) {
        let sources = self.neighborhoods.find(comm).map_or(0, |known| known.sources());
        if let Some(number) = number {
            self.tell_neighbors(around, comm, number, call.began);
        }
        if !self.is_long(around, &call, sources) {
            return;
        }
        let mut waiting = self.begin(call);
        match number {
            Some(number) => self.look_at_neighbors(around, &mut waiting, comm, (0, number)),
            None => self.not_measured(&mut waiting),
        }
        self.learn_collective(&waiting, sources);
        self.end_long(around, waiting);
    }

    /// A call waited for a collective of neighbours: until the last of those had come from whom data
    /// come. A persistent one has a key of its starts, others have 0.
    #[inline(never)]
    pub fn look_at_neighbors(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        comm: u64,
        (starts, number): (u64, u64),
    ) {
        if !waiting.findings.call.counts {
            return;
        }
        let Some(of) = self.neighborhoods.find(comm).copied() else {
            return self.not_measured(waiting);
        };
        waiting.findings.looked = true;
        waiting.findings.elsewhere |= of.elsewhere;
        waiting.findings.unsure |= of.unsure;
        let mut nth = 0;
        while let Some(peer) = self.neighborhoods.source(&of, nth) {
            nth += 1;
            if starts != 0 {
                self.look_at_start(around, waiting, (starts, number), peer);
                continue;
            }
            let key = of_collectives(comm);
            let lookup = Lookup::of(Awaited::Neighbor, peer, key, number);
            match around.read(peer, key, number) {
                // Nothing had to come from it.
                Some(Seen::NotYet) => {}
                None => {
                    let key = of_neighbors(comm, peer);
                    let question = Lookup { key, ..lookup }.question();
                    waiting.findings.elsewhere |= !around.ask(&mut waiting.findings, question);
                }
                seen => {
                    conclude(&mut waiting.findings, &lookup, seen);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::collections::HashMap;
    use std::vec::Vec;

    use super::*;
    use crate::collective::CollectivePlace;
    use crate::simulation::{Around, Boards, Dice, Told};
    use crate::wait::{Cause, Figure};

    const RANKS: u32 = 5;
    const COMM: u64 = 77;

    /// Ranks of a graph, each of which comes to a collective of neighbours after another.
    struct World {
        dice: Dice,
        engines: Vec<Box<Engine>>,
        boards: Boards,
        told: Told,
        /// From whom data come to each rank
        sources: Vec<Vec<u32>>,
        truth: HashMap<u32, (u64, u64)>,
        calls: u32,
        free: Vec<u64>,
    }

    impl World {
        fn new(seed: u64) -> World {
            let mut dice = Dice(seed);
            let mut others = |rank: u32| -> Vec<u32> {
                (0..RANKS).filter(|other| *other != rank && dice.throw(3) == 0).collect()
            };
            let sources: Vec<Vec<u32>> = (0..RANKS).map(&mut others).collect();
            let mut engines: Vec<Box<Engine>> =
                (0..RANKS).map(|_| Box::new(Engine::new())).collect();
            for (rank, engine) in (0..).zip(&mut engines) {
                let goes = |to: &u32| sources[*to as usize].contains(&rank);
                let destinations: Vec<u32> = (0..RANKS).filter(goes).collect();
                let around =
                    Around { own: rank, boards: &mut Boards::new(), told: &mut Told::new() };
                let lists = [&sources[rank as usize][..], &destinations[..]];
                assert!(!engine.knows_neighbors(COMM));
                engine.neighbors_are(&around, COMM, lists, [false; 2]);
                assert!(engine.knows_neighbors(COMM));
            }
            World {
                dice,
                engines,
                boards: (0..RANKS).map(|_| HashMap::new()).collect(),
                told: HashMap::new(),
                sources,
                truth: HashMap::new(),
                calls: 0,
                free: (0..RANKS).map(|rank| 1_000 + u64::from(rank)).collect(),
            }
        }

        /// All come to a collective, which each of them leaves when the last of its sources has come. Some
        /// start it, and wait for it later.
        fn collective(&mut self, number: u64) {
            let mut arrived = Vec::new();
            for rank in 0..RANKS {
                let next = self.free[rank as usize] + self.dice.throw(900);
                // No two ranks come at the same moment.
                let began = (next / u64::from(RANKS) + 1) * u64::from(RANKS) + u64::from(rank);
                let around =
                    &mut Around { own: rank, boards: &mut self.boards, told: &mut self.told };
                let engine = &mut self.engines[rank as usize];
                assert_eq!(engine.arrived(around, COMM, began), Some(number));
                arrived.push(began);
            }
            for rank in 0..RANKS {
                let own = rank as usize;
                let starts = self.dice.throw(3) == 0;
                let began = arrived[own] + if starts { self.dice.throw(600) } else { 0 };
                let of = self.sources[own].iter();
                let last = of.map(|from| (arrived[*from as usize], *from)).max();
                let (moment, peer) = last.unwrap_or((0, 0));
                let ended = began.max(moment) + 1 + self.dice.throw(40);
                self.calls += 1;
                let call = Call { function: self.calls, counts: true, began, ended };
                self.truth.insert(call.function, (call.until(moment), peer.into()));
                self.free[own] = ended + 1;
                let around =
                    &mut Around { own: rank, boards: &mut self.boards, told: &mut self.told };
                let engine = &mut self.engines[own];
                if starts {
                    let place = CollectivePlace::of_neighbors(COMM, number);
                    let id = engine.collective_started(&place, (1, 1));
                    let kept = engine.collective(id).map(|post| CollectivePlace::of(&post));
                    assert_eq!(kept, Some(place));
                    let mut waiting = engine.begin(call);
                    engine.look_at_neighbors(around, &mut waiting, COMM, (0, number));
                    engine.collective_completed(id);
                    engine.end(around, waiting);
                } else {
                    engine.met_neighbors(around, COMM, Some(number), call);
                }
            }
        }
    }

    #[test]
    fn a_rank_waits_for_the_last_of_its_sources_and_for_nobody_else() {
        let mut waited = 0;
        for seed in 0..20 {
            let mut world = World::new(seed);
            (0..100).for_each(|number| world.collective(number));
            for (call, (ticks, peer)) in &world.truth {
                let told = world.told.remove(call).unwrap_or_default();
                let said = (Figure::Waited(Cause::Collective), *peer, *ticks);
                // Calls of this length are not too short, as the length of a microsecond is 0.
                let right = if *ticks > 0 { told == [said] } else { told.is_empty() };
                assert!(right, "{told:?} of {said:?}");
                waited += usize::from(*ticks > 0);
            }
        }
        assert!(waited > 2_000, "{waited}");
    }

    #[test]
    fn what_cannot_be_told_is_never_a_wait() {
        let call = Call { function: 1, counts: true, began: 100, ended: 200 };
        let told = |ranks: &[u32], lacks: [bool; 2], number: Option<u64>| {
            let (mut engine, mut boards, mut told) =
                (Box::new(Engine::new()), Boards::new(), Told::new());
            (0..2).for_each(|_| boards.push(HashMap::new()));
            for (own, moment) in [(0, 100), (1, 150)] {
                let around = &mut Around { own, boards: &mut boards, told: &mut told };
                engine.arrived(around, COMM, moment);
            }
            let around = &mut Around { own: 0, boards: &mut boards, told: &mut told };
            engine.neighbors_are(around, COMM, [ranks, &[]], lacks);
            engine.met_neighbors(around, COMM, number, call);
            told.remove(&1).unwrap_or_default()
        };
        let waited = (Figure::Waited(Cause::Collective), 1, 50);
        assert_eq!(told(&[1], [false; 2], Some(0)), [waited]);
        assert_eq!(told(&[], [false; 2], Some(0)), []);
        // A rank of another node, ranks that nobody knows, and a communicator without a number.
        assert_eq!(told(&[9], [false; 2], Some(0)), [(Figure::Elsewhere, 0, 100)]);
        assert_eq!(told(&[], [true, false], Some(0)), [(Figure::Elsewhere, 0, 100)]);
        assert_eq!(told(&[1], [false; 2], None), [(Figure::Elsewhere, 0, 100)]);
        assert_eq!(told(&[], [false, true], Some(0)), [(Figure::Unsure, 0, 100)]);
        assert_eq!(told(&[1, 9], [false; 2], Some(0)), [waited, (Figure::Elsewhere, 0, 50)]);
        // A neighbour that comes to the next one only later had nothing to give.
        assert_eq!(told(&[1], [false; 2], Some(1)), []);
    }
}
