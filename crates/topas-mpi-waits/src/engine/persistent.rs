//! Persistent collectives: each start is a new one, to which a rank comes when it starts it.
//!
//! All of a communicator prepare them in the same order, so the n-th of each is one channel. They may be started in
//! another order by each rank, so the starts of each have numbers of their own.

use super::{Doer, Engine, Lookup, Surroundings, WaitingCall};
use crate::collective::CollectivePlace;
use crate::key::{of_prepared, of_starts};
use crate::posts::{Post, Progress};
use crate::wait::Awaited;

impl Engine {
    /// A collective is prepared: the number of its post, 0 if there is no room.
    pub fn collective_prepared(
        &mut self,
        around: &mut impl Surroundings,
        place: &CollectivePlace,
        doer: &Doer,
        handle: (u64, u32),
    ) -> u32 {
        if place.comm == 0 {
            return 0;
        }
        let Some(nth) = around.publish(of_prepared(place.comm), doer.began) else { return 0 };
        let place = CollectivePlace { starts: of_starts(place.comm, nth), ..*place };
        self.posts.take(Post {
            handle: handle.0,
            generation: handle.1,
            progress: Progress::Idle,
            persistent: true,
            ..place.post()
        })
    }

    /// Such a collective is started.
    pub(super) fn collective_starts(
        &mut self,
        around: &mut impl Surroundings,
        id: u32,
        doer: &Doer,
    ) {
        let Some(key) = self.posts.get(id).map(|post| post.moment) else { return };
        let number = around.publish(key, doer.began);
        if let Some(post) = self.posts.get_mut(id) {
            post.progress = Progress::Numbered;
            post.asked = 0;
            post.number = number.unwrap_or(0);
            post.unsure = number.is_none();
        }
    }

    /// A call waited for such a collective, and perhaps for this rank to start it. Who starts says so only when that
    /// has returned, so it may still have to.
    pub fn look_at_start(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        (key, number): (u64, u64),
        peer: u32,
    ) {
        // From whoever starts when the call is over, nothing had to come.
        self.look_now(around, waiting, Lookup::of(Awaited::Neighbor, peer, key, number));
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::collections::HashMap;
    use std::vec::Vec;

    use super::*;
    use crate::simulation::{Around, Boards, Told};
    use crate::wait::{Call, Cause, Figure};

    /// Two ranks prepare two collectives, start them in different orders, and complete them as they started them.
    #[test]
    fn each_start_waits_for_the_same_start_of_others() {
        let (mut boards, mut told): (Boards, Told) =
            ((0..2).map(|_| HashMap::new()).collect(), Told::new());
        let mut engines: Vec<Box<Engine>> = (0..2).map(|_| Box::new(Engine::new())).collect();
        let place = CollectivePlace {
            comm: 7,
            number: 0,
            first: 0,
            end: 2,
            far: 0,
            near: true,
            starts: 0,
            companions: 0,
        };
        let doer = |began| Doer { thread: 0, began, ended: began };
        let mut ids = [[0; 2]; 2];
        for own in 0..2u32 {
            let mut around = Around { own, boards: &mut boards, told: &mut told };
            ids[own as usize] = [0, 1].map(|_| {
                engines[own as usize].collective_prepared(&mut around, &place, &doer(1), (3, 4))
            });
        }
        assert!(ids.iter().flatten().all(|id| *id != 0));
        for round in 1..100u64 {
            let at = 10_000 * round;
            // Rank 1 starts the other one first, later by 1,000 and 3,000, and tells that after rank 0 has looked.
            let starts = |engines: &mut [Box<Engine>], around: &mut Around<'_>, which, moment| {
                let own = around.own as usize;
                engines[own].started(around, ids[own][which], &doer(moment));
            };
            for which in [0, 1] {
                let around = &mut Around { own: 0, boards: &mut boards, told: &mut told };
                starts(&mut engines, around, which, at);
            }
            let function = 2 * round as u32;
            for (which, ended) in [(1, at + 1_500), (0, at + 3_500)] {
                let around = &mut Around { own: 0, boards: &mut boards, told: &mut told };
                let engine = &mut engines[0];
                let id = ids[0][which];
                let began = if which == 1 { at + 10 } else { at + 1_600 };
                let call = Call { function: function + which as u32, counts: true, began, ended };
                let post = engine.collective(id).expect("started");
                let of = CollectivePlace::of(&post);
                let mut waiting = engine.begin(call);
                engine.look_at_start(around, &mut waiting, (of.starts, of.number), 1);
                engine.collective_completed(id);
                engine.end(around, waiting);
                assert!(engine.collective(id).is_none());
            }
            for (which, moment) in [(1, at + 1_000), (0, at + 3_000)] {
                let around = &mut Around { own: 1, boards: &mut boards, told: &mut told };
                starts(&mut engines, around, which, moment);
                engines[1].collective_completed(ids[1][which]);
            }
        }
        engines[0].finish(&mut Around { own: 0, boards: &mut boards, told: &mut told });
        for round in 1..100 {
            let waited = |ticks| [(Figure::Waited(Cause::Collective), 1, ticks)];
            assert_eq!(told[&(2 * round + 1)], waited(990), "{round}");
            assert_eq!(told[&(2 * round)], waited(1_400), "{round}");
        }
    }
}
