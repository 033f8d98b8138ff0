//! Epochs of windows, which begin with `MPI_Win_post` and `MPI_Win_start`.
//!
//! Who posts a window tells that each rank which may access it, and who ends an access tells it each
//! rank whose window it accessed: messages without data. The n-th post of a window for a rank is that of
//! the n-th access of this rank to it, and the n-th end of an access ends the epoch of the n-th post.

use super::{Engine, Lookup, Surroundings, approach};
use crate::board::Seen;
use crate::epochs::EpochEnd;
use crate::key::{EpochSign, of_epochs};
use crate::wait::{Awaited, Call};

impl Engine {
    /// An epoch of a window begins, and its ranks follow.
    pub fn epoch_opened(&mut self, window: u64, end: EpochEnd) {
        self.epochs.open(window, end);
    }

    /// Some ranks at the other end of an epoch are not of the world.
    pub fn epoch_is_elsewhere(&mut self, window: u64, end: EpochEnd) {
        if let Some(epoch) = self.epochs.find(window, end) {
            epoch.elsewhere = true;
        }
    }

    /// This rank has posted a window for another one, by a call that began at this moment.
    pub fn posted(
        &mut self,
        around: &mut impl Surroundings,
        window: u64,
        origin: u32,
        moment: u64,
    ) {
        if window == 0 {
            return;
        }
        let key = of_epochs(window, around.rank(), origin, EpochSign::Post);
        self.epochs.add(window, EpochEnd::Exposure, origin);
        if !tell(around, origin, key, moment) {
            self.epoch_is_elsewhere(window, EpochEnd::Exposure);
        }
    }

    /// This rank has begun to access the window of another one.
    pub fn accessed(&mut self, around: &mut impl Surroundings, window: u64, target: u32) {
        if window != 0 && !self.epochs.add(window, EpochEnd::Access, target) {
            // Nobody will know that this access ends, so the numbers of later ones would be wrong.
            let key = of_epochs(window, around.rank(), target, EpochSign::Completion);
            around.give_up(key, false);
        }
    }

    /// The post for which an access to the window of another rank waits that is about to begin: its key and its number. None
    /// if it has none.
    pub fn post_awaited(
        &mut self,
        around: &mut impl Surroundings,
        window: u64,
        target: u32,
    ) -> Option<(u64, u64)> {
        let own = around.rank();
        let completions = of_epochs(window, own, target, EpochSign::Completion);
        let number = self.own_number(around, completions, 0).ok().filter(|_| window != 0)?;
        Some((of_epochs(window, target, own, EpochSign::Post), number))
    }

    /// All windows that a call begins to access were told.
    pub fn access_began(&mut self, around: &mut impl Surroundings, window: u64, call: Call) {
        self.waited_in_epoch(around, window, EpochEnd::Access, call, 0);
    }

    /// At the beginning of a call that ends an access.
    pub fn access_ends(&mut self, around: &mut impl Surroundings, window: u64, moment: u64) {
        let own = around.rank();
        let mut at = self.epochs.ranks(window, EpochEnd::Access);
        while let Some((target, next)) = self.epochs.next(at) {
            let key = of_epochs(window, own, target, EpochSign::Completion);
            self.epochs.is_board_full |= !tell(around, target, key, moment);
            at = next;
        }
    }

    /// A call that was to end an access has failed.
    pub fn access_failed(&mut self, around: &mut impl Surroundings, window: u64) {
        let own = around.rank();
        let mut at = self.epochs.ranks(window, EpochEnd::Access);
        while let Some((target, next)) = self.epochs.next(at) {
            around.give_up(of_epochs(window, own, target, EpochSign::Completion), true);
            at = next;
        }
    }

    /// A call has ended an access. It may have waited for posts, too: where the call that began the access
    /// did not.
    pub fn access_ended(&mut self, around: &mut impl Surroundings, window: u64, call: Call) {
        self.waited_in_epoch(around, window, EpochEnd::Access, call, 1);
        self.epochs.close(window, EpochEnd::Access);
    }

    /// A call has waited until all accesses to the window of this rank had ended.
    pub fn exposure_ended(&mut self, around: &mut impl Surroundings, window: u64, call: Call) {
        self.waited_in_epoch(around, window, EpochEnd::Exposure, call, 1);
        self.epochs.close(window, EpochEnd::Exposure);
    }

    /// Nobody accesses the window of this rank any more, and nobody has waited for that.
    pub fn exposure_is_over(&mut self, window: u64) {
        self.epochs.close(window, EpochEnd::Exposure);
    }

    /// Of an epoch that goes on: its number among the epochs of this rank, and how many ranks are at its other end. None
    /// if it is not known.
    pub fn epoch(&mut self, window: u64, end: EpochEnd) -> Option<(u32, u32)> {
        self.epochs.find(window, end).map(|epoch| (epoch.number, epoch.ranks))
    }

    /// Calls `each` with the ranks at the other end of an epoch that has just begun, and its number among the
    /// epochs of this window and these two ranks. False if some are missing, or have no number.
    #[inline(never)]
    pub fn ranks_of_epoch(
        &mut self,
        around: &mut impl Surroundings,
        window: u64,
        end: EpochEnd,
        each: &mut dyn FnMut(u32, u64),
    ) -> bool {
        let Some(epoch) = self.epochs.find(window, end).copied() else { return false };
        let published = u64::from(end == EpochEnd::Exposure);
        let mut all = !epoch.unsure && !epoch.elsewhere;
        let mut at = self.epochs.ranks(window, end);
        while let Some((peer, next)) = self.epochs.next(at) {
            let own_key = of_epochs(window, around.rank(), peer, signs(end).0);
            match self.own_number(around, own_key, published) {
                Ok(number) => each(peer, number),
                Err(_) => all = false,
            }
            at = next;
        }
        all
    }

    /// A window goes.
    pub fn window_freed(&mut self, window: u64) {
        self.epochs.close(window, EpochEnd::Exposure);
        self.epochs.close(window, EpochEnd::Access);
        self.locks.drop_all(window);
    }

    /// A call of an epoch is over. `published` is 1 if this rank has already told what it tells once in
    /// each epoch, else 0.
    #[inline(never)]
    fn waited_in_epoch(
        &mut self,
        around: &mut impl Surroundings,
        window: u64,
        end: EpochEnd,
        call: Call,
        published: u64,
    ) {
        let epoch = self.epochs.find(window, end).copied();
        let ranks = epoch.map_or(0, |epoch| epoch.ranks);
        if call.length() <= self.threshold_of_epochs(ranks) {
            approach(&mut self.usual_epoch, call.length());
            return self.below(around, &call);
        }
        let mut waiting = self.begin(call);
        match epoch {
            Some(epoch) => {
                waiting.findings.looked = true;
                waiting.findings.unsure = epoch.unsure;
                waiting.findings.elsewhere = epoch.elsewhere;
            }
            None if window == 0 => waiting.findings.elsewhere = true,
            None => waiting.findings.unsure = true,
        }
        let (own, (told, awaited, what)) = (around.rank(), signs(end));
        let mut at = self.epochs.ranks(window, end);
        while let Some((peer, next)) = self.epochs.next(at) {
            let own_key = of_epochs(window, own, peer, told);
            match self.own_number(around, own_key, published) {
                Ok(number) => {
                    let key = of_epochs(window, peer, own, awaited);
                    let lookup = Lookup::of(what, peer, key, number);
                    self.look_now(around, &mut waiting, lookup);
                }
                Err(NoNumber::Unsure) => waiting.findings.unsure = true,
                Err(NoNumber::NoRoom) => waiting.findings.elsewhere = true,
            }
            at = next;
        }
        let rest = call.length().saturating_sub(waiting.longest());
        approach(&mut self.usual_epoch, rest);
        self.end_long(around, waiting);
    }

    /// The number of an epoch: how many this rank has told before by its key.
    fn own_number(
        &self,
        around: &mut impl Surroundings,
        own_key: u64,
        published: u64,
    ) -> Result<u64, NoNumber> {
        // No stamp has this number: the answer is about the key.
        if around.read(around.rank(), own_key, u64::MAX) == Some(Seen::Unsure) {
            return Err(NoNumber::Unsure);
        }
        let next = around.next(own_key);
        // Nothing may have been told yet, or never will be.
        if next == 0 && (published > 0 || self.epochs.is_board_full) {
            return Err(NoNumber::NoRoom);
        }
        Ok(next.saturating_sub(published))
    }

    /// How long a call of an epoch has to take before stamps of so many ranks are looked at.
    fn threshold_of_epochs(&self, ranks: u32) -> u64 {
        let most = self.most.max(self.least.saturating_mul(u64::from(ranks) / 2));
        (2 * u64::from(self.usual_epoch)).min(most).max(self.least)
    }
}

/// Why an epoch has no number.
enum NoNumber {
    /// Numbers of its key mean nothing
    Unsure,
    /// There was no room for its key
    NoRoom,
}

/// Tells another rank something. False if there is no room for its key.
#[inline(never)]
fn tell(around: &mut impl Surroundings, peer: u32, key: u64, moment: u64) -> bool {
    let number = around.publish(key, moment);
    if let Some(number) = number {
        around.tell(peer, key, number, moment);
    }
    number.is_some()
}

/// What a rank at an end of an epoch tells, and what it waits for.
const fn signs(end: EpochEnd) -> (EpochSign, EpochSign, Awaited) {
    match end {
        EpochEnd::Exposure => (EpochSign::Post, EpochSign::Completion, Awaited::Completion),
        EpochEnd::Access => (EpochSign::Completion, EpochSign::Post, Awaited::Post),
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::collections::{BTreeMap, HashMap};
    use std::vec::Vec;

    use super::*;
    use crate::epochs::MOST_RANKS;
    use crate::simulation::{Around, Boards, Dice, Told};
    use crate::wait::{Cause, Figure};

    const RANKS: u64 = 4;

    /// What a rank does, at the moment when its stamps are published or its call has returned.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Step {
        Posted,
        Started,
        Completes,
        Completed,
        Waited,
        Tested,
    }

    struct World {
        dice: Dice,
        engines: Vec<Box<Engine>>,
        boards: Boards,
        told: Told,
        /// What each call waited for: how long, and for whom
        truth: HashMap<u32, (u64, u64)>,
        calls: u32,
        /// When each rank has ended its last call
        free: Vec<u64>,
        /// Numbers that posts and starts have, by window and the ranks that access and are accessed
        numbers: [BTreeMap<(u64, u32, u32), Vec<u64>>; 2],
    }

    /// A call of a rank: from when to when, and the ranks at the other end.
    type Steps = Vec<(u64, Step, u32, Call, Vec<u32>)>;

    impl World {
        fn new(seed: u64) -> World {
            World {
                dice: Dice(seed),
                engines: (0..RANKS).map(|_| Box::new(Engine::new())).collect(),
                boards: (0..RANKS).map(|_| HashMap::new()).collect(),
                told: HashMap::new(),
                truth: HashMap::new(),
                calls: 0,
                free: (0..RANKS).map(|rank| 1_000 + rank).collect(),
                numbers: Default::default(),
            }
        }

        fn call(&mut self, began: u64, ended: u64) -> Call {
            self.calls += 1;
            Call { function: self.calls, counts: true, began, ended }
        }

        /// When a rank begins its next call. No two ranks do so at the same moment.
        fn next(&mut self, rank: u32, most: u64) -> u64 {
            let next = self.free[rank as usize] + self.dice.throw(most);
            (next / RANKS + 1) * RANKS + u64::from(rank)
        }

        /// A call that began then, and ended some time after the latest of the moments, if it waits for
        /// them. What it waited, of those that were before its end, is kept.
        fn waits(&mut self, began: u64, moments: &[(u64, u32)], waits: bool) -> Call {
            let latest = moments.iter().map(|(moment, _)| *moment).max().unwrap_or(0);
            let from = if waits { began.max(latest) } else { began };
            let ended = from + 1 + self.dice.throw(40);
            let call = self.call(began, ended);
            let seen = moments.iter().filter(|(moment, _)| *moment <= call.ended);
            let last = seen.max().copied().unwrap_or((0, 0));
            self.truth.insert(call.function, (call.until(last.0), last.1.into()));
            call
        }

        /// An epoch of a window in which each rank accesses the windows of some others.
        fn epoch(&mut self, steps: &mut Steps) {
            let all = 0..RANKS as u32;
            let accesses: Vec<Vec<u32>> = all
                .clone()
                .map(|_| all.clone().filter(|_| self.dice.throw(2) == 0).collect())
                .collect();
            let of = |target: u32| -> Vec<u32> {
                all.clone().filter(|from| accesses[*from as usize].contains(&target)).collect()
            };
            let mut posted = BTreeMap::new();
            for rank in all.clone().filter(|rank| !of(*rank).is_empty()) {
                let began = self.next(rank, 900);
                posted.insert(rank, began);
                let ended = began + 1 + self.dice.throw(30);
                let call = self.call(began, ended);
                self.free[rank as usize] = call.ended + 1;
                steps.push((call.ended, Step::Posted, rank, call, of(rank)));
            }
            let mut completed = BTreeMap::new();
            for rank in all.clone().filter(|rank| !accesses[*rank as usize].is_empty()) {
                let targets = accesses[rank as usize].clone();
                let posts: Vec<(u64, u32)> =
                    targets.iter().map(|target| (posted[target], *target)).collect();
                let began = self.next(rank, 300);
                let at_once = self.dice.throw(2) == 0;
                let start = self.waits(began, &posts, !at_once);
                steps.push((start.ended, Step::Started, rank, start, targets.clone()));
                self.free[rank as usize] = start.ended + 1;
                let began = self.next(rank, 900);
                completed.insert(rank, began);
                let complete = self.waits(began, &posts, true);
                steps.push((began, Step::Completes, rank, complete, targets));
                steps.push((complete.ended, Step::Completed, rank, complete, Vec::new()));
                self.free[rank as usize] = complete.ended + 1;
            }
            for rank in posted.keys().copied() {
                let ends: Vec<(u64, u32)> =
                    of(rank).iter().map(|from| (completed[from], *from)).collect();
                let began = self.next(rank, 300);
                let wait = self.waits(began, &ends, true);
                let tests = self.dice.throw(8) == 0;
                if tests {
                    self.truth.remove(&wait.function);
                }
                let step = if tests { Step::Tested } else { Step::Waited };
                steps.push((wait.ended, step, rank, wait, Vec::new()));
                self.free[rank as usize] = wait.ended + 1;
            }
        }

        fn take(
            &mut self,
            window: u64,
            (_, step, own, call, ranks): (u64, Step, u32, Call, Vec<u32>),
        ) {
            let engine = &mut self.engines[own as usize];
            let around = &mut Around { own, boards: &mut self.boards, told: &mut self.told };
            match step {
                Step::Posted => {
                    engine.epoch_opened(window, EpochEnd::Exposure);
                    for origin in ranks {
                        engine.posted(around, window, origin, call.began);
                    }
                }
                Step::Started => {
                    engine.epoch_opened(window, EpochEnd::Access);
                    for target in ranks {
                        engine.accessed(around, window, target);
                    }
                    engine.access_began(around, window, call);
                }
                Step::Completes => engine.access_ends(around, window, call.began),
                Step::Completed => engine.access_ended(around, window, call),
                Step::Waited => engine.exposure_ended(around, window, call),
                Step::Tested => engine.exposure_is_over(window),
            }
            let [posted, started] = &mut self.numbers;
            let (end, numbers) = match step {
                Step::Posted => (EpochEnd::Exposure, posted),
                Step::Started => (EpochEnd::Access, started),
                _ => return,
            };
            let all = engine.ranks_of_epoch(around, window, end, &mut |peer, number| {
                let pair = if step == Step::Posted { (peer, own) } else { (own, peer) };
                numbers.entry((window, pair.0, pair.1)).or_default().push(number);
            });
            assert!(all);
        }

        /// How many calls waited, of those whose truth is known, all of which must be right.
        fn judge(&mut self) -> usize {
            for own in 0..RANKS as u32 {
                let around = &mut Around { own, boards: &mut self.boards, told: &mut self.told };
                self.engines[own as usize].finish(around);
            }
            // Both ends of an epoch have the same number.
            assert_eq!(self.numbers[0], self.numbers[1]);
            for numbers in self.numbers[0].values() {
                assert!(numbers.iter().copied().eq(0..numbers.len() as u64));
            }
            let mut waited = 0;
            for (call, (ticks, peer)) in &self.truth {
                let told = self.told.remove(call).unwrap_or_default();
                let told: Vec<_> = told
                    .into_iter()
                    .filter(|(figure, ..)| !matches!(figure, Figure::OnTime))
                    .collect();
                let late = (Figure::Waited(Cause::LateSender), *peer, *ticks);
                let expected = if *ticks > 0 { &[late][..] } else { &[] };
                assert_eq!(told, expected, "call {call}");
                waited += usize::from(*ticks > 0);
            }
            assert!(self.told.is_empty(), "{:?}", self.told);
            waited
        }
    }

    #[test]
    fn each_call_of_an_epoch_waits_for_the_last_of_its_own() {
        for seed in 0..100 {
            let mut world = World::new(seed);
            // Two windows in turn, whose epochs do not overlap here: ranks do one after the other.
            let mut steps = [Steps::new(), Steps::new()];
            for epoch in 0..100u64 {
                let which = (epoch % 2) as usize;
                world.epoch(&mut steps[which]);
            }
            let mut all: Vec<_> = (1..)
                .zip(steps)
                .flat_map(|(window, steps)| steps.into_iter().map(move |step| (window, step)))
                .collect();
            all.sort_by_key(|(_, (at, step, rank, ..))| (*at, *step, *rank));
            for (window, step) in all {
                world.take(window, step);
            }
            let waited = world.judge();
            assert!(waited > 200, "seed {seed}: {waited} waited");
        }
    }

    /// What a call of rank 0 is told as, which accesses or exposes its window of these ranks.
    fn told(make: impl FnOnce(&mut Engine, &mut Around<'_>, Call)) -> Vec<(Figure, u64, u64)> {
        let mut engine = Box::new(Engine::new());
        let (mut boards, mut told): (Boards, Told) =
            ((0..2).map(|_| HashMap::new()).collect(), Told::new());
        let mut around = Around { own: 0, boards: &mut boards, told: &mut told };
        let call = Call { function: 1, counts: true, began: 1_000, ended: 2_000 };
        make(&mut engine, &mut around, call);
        engine.finish(&mut around);
        told.remove(&1).unwrap_or_default()
    }

    #[test]
    fn what_cannot_be_known_is_told_as_that() {
        let elsewhere = told(|engine, around, call| {
            engine.epoch_opened(5, EpochEnd::Access);
            // A rank that has no board.
            engine.accessed(around, 5, 77);
            engine.access_began(around, 5, call);
        });
        assert_eq!(elsewhere, [(Figure::Elsewhere, 0, 1_000)]);
        let never = told(|engine, around, call| {
            engine.epoch_opened(5, EpochEnd::Exposure);
            engine.posted(around, 5, 1, 900);
            engine.exposure_ended(around, 5, call);
        });
        assert_eq!(never, [(Figure::Unsure, 0, 1_000)]);
        let no_window = told(|engine, around, call| engine.access_began(around, 0, call));
        assert_eq!(no_window, [(Figure::Elsewhere, 0, 1_000)]);
        let no_epoch = told(|engine, around, call| engine.exposure_ended(around, 5, call));
        assert_eq!(no_epoch, [(Figure::Unsure, 0, 1_000)]);
        let nobody = told(|engine, around, call| {
            engine.epoch_opened(5, EpochEnd::Access);
            engine.access_began(around, 5, call);
        });
        assert_eq!(nobody, []);
    }

    /// Ranks for which there was no room: their numbers mean nothing from then on, and they know that.
    #[test]
    fn ranks_without_room_are_uncertain_from_then_on() {
        let key = of_epochs(5, 0, 1, EpochSign::Completion);
        let all = told(|engine, around, call| {
            engine.epoch_opened(5, EpochEnd::Access);
            for _ in 0..MOST_RANKS {
                engine.accessed(around, 5, 0);
            }
            engine.accessed(around, 5, 1);
            assert_eq!(around.read(0, key, 0), Some(Seen::Unsure));
            engine.access_ends(around, 5, 1_500);
            engine.window_freed(5);
            engine.epoch_opened(5, EpochEnd::Access);
            engine.accessed(around, 5, 1);
            engine.access_began(around, 5, call);
        });
        assert_eq!(all, [(Figure::Unsure, 0, 1_000)]);
    }
}
