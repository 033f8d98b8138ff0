//! Locks of windows: a rank that wants one waits until the last of those has given it back that held one beside which
//! there cannot be another.
//!
//! Nobody is asked: each rank tells when it begins to give a lock back. Whoever got a lock got it after all of these, so
//! the call waited until the latest before its end. Where several ranks stood in a queue, each held the lock from when the
//! one before gave it back: the wait is put down to the one that held it longest.

use super::{Engine, Surroundings};
use crate::board::Seen;
use crate::key::of_locks;
use crate::wait::{Call, Cause, peer_with};

/// Locks that this rank holds at the same time. What is beyond tells nobody.
const LOCKS: usize = 64;

/// A lock of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowLock {
    /// The number of the window, not 0
    pub window: u64,
    /// Whose memory it is for; [`EACH`] if for that of each rank
    pub target: u32,
    /// Nobody else has one meanwhile
    pub is_exclusive: bool,
}

/// All ranks of a window.
pub const EACH: u32 = u32::MAX;

/// Ranks of a queue that are told apart.
const QUEUE: usize = 16;

/// A lock that was given back.
#[derive(Clone, Copy, Default)]
struct Release {
    /// When that began
    moment: u64,
    peer: u64,
    /// Nobody else had one meanwhile
    is_exclusive: bool,
}

/// Who gave a lock back while a call waited for it, the first one first.
struct Queue {
    released: [Release; QUEUE],
    count: usize,
    /// From this moment on the first of them held it
    began: u64,
}

impl Queue {
    const fn from(began: u64) -> Queue {
        let none = Release { moment: 0, peer: 0, is_exclusive: false };
        Queue { released: [none; QUEUE], count: 0, began }
    }

    /// One more. Of too many the earlier ones are forgotten.
    fn add(&mut self, release: Release) {
        let known = self.released.get(..self.count).unwrap_or_default();
        let place = known.partition_point(|other| other.moment <= release.moment);
        if self.count < QUEUE {
            self.count += 1;
            // None is empty, but not every compiler sees that, and to rotate that would panic.
            let later = self.released.get_mut(place..self.count);
            if let Some(later) = later.filter(|later| !later.is_empty()) {
                later.rotate_right(1);
            }
            if let Some(free) = self.released.get_mut(place) {
                *free = release;
            }
            return;
        }
        let Some(place) = place.checked_sub(1) else {
            self.began = self.began.max(release.moment);
            return;
        };
        if let Some(first) = known.first() {
            self.began = self.began.max(first.moment);
        }
        let earlier = self.released.get_mut(..=place);
        if let Some(earlier) = earlier.filter(|earlier| !earlier.is_empty()) {
            earlier.rotate_left(1);
        }
        if let Some(free) = self.released.get_mut(place) {
            *free = release;
        }
    }

    /// Who held it longest, and when the last one gave it back; None if nobody did. Several may have shared it since it was
    /// held alone.
    fn longest(&self) -> Option<(u64, u64)> {
        let known = self.released.get(..self.count).unwrap_or_default();
        let last = known.last()?.moment;
        let (mut held_alone, mut held) = (self.began, self.began);
        let (mut longest, mut by) = (0, None);
        for Release { moment, peer, is_exclusive } in known {
            let from = if *is_exclusive { held } else { held_alone };
            let time = moment.saturating_sub(from);
            if by.is_none() || time >= longest {
                (longest, by) = (time, Some(*peer));
            }
            held = *moment;
            if *is_exclusive {
                held_alone = *moment;
            }
        }
        Some((by?, last))
    }
}

/// The locks that this rank holds. Zero at its beginning.
pub(super) struct HeldLocks([WindowLock; LOCKS]);

impl HeldLocks {
    pub(super) const fn new() -> HeldLocks {
        HeldLocks([WindowLock { window: 0, target: 0, is_exclusive: false }; LOCKS])
    }

    fn keep(&mut self, lock: WindowLock) {
        if let Some(free) = self.0.iter_mut().find(|held| held.window == 0) {
            *free = lock;
        }
    }

    fn take(&mut self, window: u64, target: u32) -> Option<WindowLock> {
        let is_it = |held: &&mut WindowLock| held.window == window && held.target == target;
        self.0.iter_mut().find(is_it).map(core::mem::take)
    }

    /// A window goes.
    pub(super) fn drop_all(&mut self, window: u64) {
        self.0
            .iter_mut()
            .filter(|held| held.window == window)
            .for_each(|held| *held = WindowLock::default());
    }
}

impl Engine {
    /// A call got a lock of a window that so many ranks of the world share.
    #[inline(never)]
    pub fn locked(
        &mut self,
        around: &mut impl Surroundings,
        lock: WindowLock,
        ranks: u32,
        call: Call,
    ) {
        self.locks.keep(lock);
        // The look takes the longer the more ranks there are.
        let worth = self.most.max(self.least.saturating_mul(u64::from(ranks) / 2));
        if call.length() <= worth {
            return self.below(around, &call);
        }
        let mut waiting = self.begin(call);
        waiting.findings.looked = true;
        let WindowLock { window, target, is_exclusive } = lock;
        let held = [(target, true), (target, false), (EACH, false)];
        let apart = held.get(..if is_exclusive { held.len() } else { 1 }).unwrap_or_default();
        let own = around.rank();
        let mut queue = Queue::from(call.began);
        for peer in (0..ranks).filter(|peer| call.counts && *peer != own) {
            let mut latest = Release::default();
            for (target, is_exclusive) in apart {
                let key = of_locks(window, *target, *is_exclusive);
                let findings = &mut waiting.findings;
                match around.latest(peer, key, call.ended) {
                    Some(Seen::At(moment, _)) if moment <= latest.moment => {}
                    Some(Seen::At(moment, path)) => {
                        let peer = peer_with(peer, path);
                        latest = Release { moment, peer, is_exclusive: *is_exclusive };
                    }
                    Some(Seen::NotYet) => {}
                    Some(Seen::Before(_) | Seen::Unsure) => findings.unsure = true,
                    None => findings.elsewhere = true,
                }
            }
            if latest.moment > call.began {
                queue.add(latest);
            }
        }
        if let Some((peer, moment)) = queue.longest() {
            waiting.findings.other_began(Cause::LateSender, peer, moment);
        }
        self.end_long(around, waiting);
    }

    /// This rank begins to give a lock back.
    #[inline(never)]
    pub fn unlocks(
        &mut self,
        around: &mut impl Surroundings,
        window: u64,
        target: u32,
        moment: u64,
    ) {
        let Some(lock) = self.locks.take(window, target).filter(|lock| lock.window != 0) else {
            return;
        };
        // An exclusive one also for those that want the memory of each rank.
        let of_each = lock.is_exclusive.then_some(EACH);
        for target in [Some(target), of_each].into_iter().flatten() {
            around.publish(of_locks(window, target, lock.is_exclusive), moment);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::collections::HashMap;
    use std::vec::Vec;

    use super::*;
    use crate::simulation::{Around, Boards, Told};
    use crate::wait::Figure;

    const WINDOW: u64 = 5;

    /// What rank 0 is told of a call from 1,000 to 2,000 that got a lock, after others gave theirs back.
    fn told(wanted: (u32, bool), given_back: &[(u32, u32, bool, u64)]) -> Vec<(Figure, u64, u64)> {
        let mut engines: Vec<Box<Engine>> = (0..3).map(|_| Box::new(Engine::new())).collect();
        let (mut boards, mut told): (Boards, Told) =
            ((0..3).map(|_| HashMap::new()).collect(), Told::new());
        let lock = |(target, is_exclusive)| WindowLock { window: WINDOW, target, is_exclusive };
        for (own, target, is_exclusive, moment) in given_back {
            let mut around = Around { own: *own, boards: &mut boards, told: &mut told };
            let engine = &mut engines[*own as usize];
            let call = Call { function: 7, counts: true, began: 1, ended: 1 };
            engine.locked(&mut around, lock((*target, *is_exclusive)), 3, call);
            engine.unlocks(&mut around, WINDOW, *target, *moment);
            // It has none any more.
            engine.unlocks(&mut around, WINDOW, *target, *moment + 5);
        }
        let mut around = Around { own: 0, boards: &mut boards, told: &mut told };
        let call = Call { function: 1, counts: true, began: 1_000, ended: 2_000 };
        engines[0].locked(&mut around, lock(wanted), 3, call);
        told.remove(&1).unwrap_or_default()
    }

    #[test]
    fn who_gave_a_lock_back_last_is_waited_for() {
        let late = |peer, ticks| [(Figure::Waited(Cause::LateSender), peer, ticks)];
        let given_back = [(1, 2, true, 1_300), (2, 2, true, 1_600), (1, 2, true, 2_300)];
        for wanted in [(2, true), (2, false), (EACH, false)] {
            assert_eq!(told(wanted, &given_back), late(2, 600), "{wanted:?}");
        }
        // In a queue, who held it longest: each one from when the one before gave it back.
        let queue = [(1, 2, true, 1_700), (2, 2, true, 1_701)];
        for wanted in [(2, true), (2, false), (EACH, false)] {
            assert_eq!(told(wanted, &queue), late(1, 701), "{wanted:?}");
        }
        // Another rank's memory, and what was given back before.
        assert_eq!(told((1, true), &given_back), []);
        assert_eq!(told((2, true), &[(1, 2, true, 900)]), []);
        // Who shares it waits for nobody that shares it.
        let shared = [(1, 2, false, 1_400), (2, EACH, false, 1_500)];
        assert_eq!(told((2, true), &shared), late(2, 500));
        assert_eq!(told((1, true), &shared), late(2, 500));
        assert_eq!(told((2, false), &shared), []);
        assert_eq!(told((EACH, false), &shared), []);
    }

    #[test]
    fn a_queue_keeps_the_last_of_many() {
        let mut queue = Queue::from(100);
        assert_eq!(queue.longest(), None);
        // In any order: 40 ranks that hold it for 10 each, but for the last but one, which does for 90.
        let moment = |rank: u64| 100 + 10 * rank + if rank >= 39 { 80 } else { 0 };
        for rank in (1..=40).map(|nth| nth * 7 % 41) {
            queue.add(Release { moment: moment(rank), peer: rank, is_exclusive: true });
        }
        assert_eq!(queue.longest(), Some((39, moment(40))));
        assert_eq!(queue.began, moment(40 - QUEUE as u64));
        let mut queue = Queue::from(100);
        for (moment, peer) in [(150, 1), (120, 2)] {
            queue.add(Release { moment, peer, is_exclusive: true });
        }
        assert_eq!(queue.longest(), Some((1, 150)));
    }

    #[test]
    fn what_cannot_be_known_is_told_as_that() {
        // More locks were given back since than are kept.
        let many: Vec<_> = (0..100).map(|nth| (1, 2, true, 2_001 + nth)).collect();
        assert_eq!(told((2, true), &many), [(Figure::Unsure, 0, 1_000)]);
        // So many are held that some tell nobody.
        let mut held = HeldLocks::new();
        for target in 0..LOCKS as u32 + 1 {
            held.keep(WindowLock { window: WINDOW, target, is_exclusive: true });
        }
        assert!(held.take(WINDOW, LOCKS as u32).is_none());
        assert!(held.take(WINDOW, 3).is_some() && held.take(WINDOW, 3).is_none());
        held.drop_all(WINDOW);
        assert!(held.take(WINDOW, 4).is_none());
    }
}
