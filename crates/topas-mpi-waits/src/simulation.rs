//! Traffic of ranks whose truth is known, because the matching is simulated.

use std::boxed::Box;
use std::collections::HashMap;
use std::vec::Vec;

use crate::board::{Ring, Seen};
use crate::engine::{Doer, Engine, Surroundings};
use crate::key::{ANY_SOURCE, ANY_TAG, Address, Side, of_messages};
use crate::wait::{Call, Cause, Figure};

pub(crate) type Boards = Vec<HashMap<u64, Ring>>;

/// What was told of calls, by their numbers.
pub(crate) type Told = HashMap<u32, Vec<(Figure, u64, u64)>>;

pub(crate) struct Around<'a> {
    pub(crate) own: u32,
    pub(crate) boards: &'a mut Boards,
    pub(crate) told: &'a mut Told,
}

impl Surroundings for Around<'_> {
    fn rank(&self) -> u32 {
        self.own
    }
    fn publish(&mut self, key: u64, moment: u64) -> Option<u64> {
        Some(self.boards[self.own as usize].entry(key).or_default().publish(moment))
    }
    fn next(&self, key: u64) -> u64 {
        self.boards[self.own as usize].get(&key).map_or(0, Ring::published)
    }
    fn doubt(&mut self, key: u64) {
        self.boards[self.own as usize].entry(key).or_default().doubt();
    }
    fn give_up(&mut self, key: u64, last: bool) {
        self.boards[self.own as usize].entry(key).or_default().give_up(last);
    }
    fn read(&mut self, peer: u32, key: u64, number: u64) -> Option<Seen> {
        let board = self.boards.get(peer as usize)?;
        Some(board.get(&key).map_or(Seen::NotYet, |ring| ring.read(number)))
    }
    fn latest(&mut self, peer: u32, key: u64, until: u64) -> Option<Seen> {
        let board = self.boards.get(peer as usize)?;
        Some(board.get(&key).map_or(Seen::NotYet, |ring| ring.latest(until)))
    }
    fn add(&mut self, function: u32, figure: Figure, peer: u64, ticks: u64) {
        self.told.entry(function).or_default().push((figure, peer, ticks));
    }
}

#[derive(Clone, Copy)]
struct Message {
    address: Address,
    began: u64,
}

struct Receive {
    id: u32,
    posted: Address,
    message: Option<Message>,
}

/// A generator of numbers as if by chance.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn throw(&mut self, sides: u64) -> u64 {
        self.0 = crate::key::mix(self.0, 1);
        (self.0 >> 20) % sides
    }
}

struct Simulation {
    dice: Dice,
    now: u64,
    boards: Boards,
    told: Told,
    engines: Vec<Box<Engine>>,
    receives: Vec<Vec<Receive>>,
    unexpected: Vec<Vec<Message>>,
    truth: HashMap<u32, u64>,
    calls: u32,
}

const RANKS: u64 = 3;

/// Bytes of messages that need their receiver.
const LARGE: u32 = 1 << 20;

impl Simulation {
    fn new(seed: u64) -> Simulation {
        Simulation {
            dice: Dice(seed),
            now: 1_000_000,
            boards: (0..RANKS).map(|_| HashMap::new()).collect(),
            told: HashMap::new(),
            engines: (0..RANKS).map(|_| Box::new(Engine::new())).collect(),
            receives: (0..RANKS).map(|_| Vec::new()).collect(),
            unexpected: (0..RANKS).map(|_| Vec::new()).collect(),
            truth: HashMap::new(),
            calls: 0,
        }
    }

    fn with<T>(&mut self, rank: u64, f: impl FnOnce(&mut Engine, &mut Around<'_>) -> T) -> T {
        let own = rank as u32;
        let mut around = Around { own, boards: &mut self.boards, told: &mut self.told };
        f(&mut self.engines[rank as usize], &mut around)
    }

    fn call(&mut self) -> Call {
        self.calls += 1;
        let began = self.now - self.dice.throw(3_000);
        Call { function: self.calls, counts: true, began, ended: self.now }
    }

    fn send(&mut self) {
        let (from, to) = (self.dice.throw(RANKS), self.dice.throw(RANKS));
        let tag = self.dice.throw(3) as i32;
        let began = self.now;
        let doer = Doer { thread: 0, began, ended: began };
        let address = Address { comm: 1, peer: to as u32, tag };
        self.with(from, |engine, around| {
            let id = engine.send_started(around, &address, LARGE, &doer);
            let call = Call { function: 0, counts: true, began, ended: began };
            let mut waiting = engine.begin(call);
            engine.completed(around, &mut waiting, id, (None, LARGE));
            engine.end(around, waiting);
        });
        let message = Message { address: Address { peer: from as u32, ..address }, began };
        let receives = &mut self.receives[to as usize];
        let takes = |r: &&mut Receive| r.message.is_none() && r.posted.takes(&message.address);
        match receives.iter_mut().find(takes) {
            Some(receive) => receive.message = Some(message),
            None => self.unexpected[to as usize].push(message),
        }
    }

    fn take_unexpected(&mut self, rank: u64, posted: &Address) -> Option<Message> {
        let unexpected = &mut self.unexpected[rank as usize];
        let found = unexpected.iter().position(|message| posted.takes(&message.address))?;
        Some(unexpected.remove(found))
    }

    fn posted(&mut self) -> Address {
        let peer = match self.dice.throw(3) {
            0 => ANY_SOURCE,
            _ => self.dice.throw(RANKS) as u32,
        };
        let tag = if self.dice.throw(3) == 0 { ANY_TAG } else { self.dice.throw(3) as i32 };
        Address { comm: 1, peer, tag }
    }

    fn post(&mut self) {
        let rank = self.dice.throw(RANKS);
        let posted = self.posted();
        let doer = Doer { thread: 0, began: self.now, ended: self.now };
        let persistent = self.dice.throw(4) == 0;
        let id = self.with(rank, |engine, around| {
            if !persistent {
                return engine.receive_posted(around, &posted, true, &doer, (0, 0));
            }
            let id = engine.prepared(&posted, None, (0, 0));
            engine.started(around, id, &doer);
            id
        });
        assert_ne!(id, 0);
        let message = self.take_unexpected(rank, &posted);
        self.receives[rank as usize].push(Receive { id, posted, message });
    }

    /// A blocking receive of what is there already.
    fn receive(&mut self) {
        let rank = self.dice.throw(RANKS);
        let posted = self.posted();
        let Some(message) = self.take_unexpected(rank, &posted) else { return };
        let call = self.call();
        self.expect(&call, [message].iter());
        let doer = Doer { thread: 0, began: call.began, ended: call.ended };
        self.with(rank, |engine, around| {
            let mut waiting = engine.begin(call);
            engine.received(around, &mut waiting, (&message.address, LARGE), &doer);
            engine.end(around, waiting);
        });
    }

    fn expect<'m>(&mut self, call: &Call, messages: impl Iterator<Item = &'m Message>) {
        let late = messages.map(|m| call.until(m.began)).max().unwrap_or(0);
        self.truth.insert(call.function, late);
    }

    /// A call completes some of what was posted.
    fn complete(&mut self, rank: u64, most: u64) {
        let mut done = Vec::new();
        for _ in 0..=self.dice.throw(most) {
            let receives = &self.receives[rank as usize];
            let come: Vec<usize> =
                (0..receives.len()).filter(|i| receives[*i].message.is_some()).collect();
            if come.is_empty() {
                break;
            }
            let which = come[self.dice.throw(come.len() as u64) as usize];
            done.push(self.receives[rank as usize].remove(which));
        }
        let messages: Vec<Message> = done.iter().filter_map(|receive| receive.message).collect();
        if messages.is_empty() {
            return;
        }
        let call = self.call();
        self.expect(&call, messages.iter());
        self.with(rank, |engine, around| {
            let mut waiting = engine.begin(call);
            for (receive, message) in done.iter().zip(&messages) {
                engine.completed(around, &mut waiting, receive.id, (Some(&message.address), LARGE));
            }
            engine.end(around, waiting);
        });
    }

    fn cancel(&mut self) {
        let rank = self.dice.throw(RANKS);
        let receives = &mut self.receives[rank as usize];
        let Some(which) = receives.iter().position(|receive| receive.message.is_none()) else {
            return;
        };
        let receive = receives.remove(which);
        self.with(rank, |engine, around| {
            engine.cancel(receive.id);
            engine.cancelled(around, receive.id);
        });
    }

    /// What was told of each call against its truth: how many were late, how many are unsure.
    fn judge(&mut self) -> (usize, usize) {
        for rank in 0..RANKS {
            self.with(rank, |engine, around| engine.finish(around));
        }
        let (mut late, mut unsure) = (0, 0);
        for (call, truth) in &self.truth {
            let told = self.told.remove(call).unwrap_or_default();
            let is_unsure = told.iter().any(|(figure, ..)| *figure == Figure::Unsure);
            let waited = told.iter().find_map(|(figure, _, ticks)| {
                (*figure == Figure::Waited(Cause::LateSender)).then_some(*ticks)
            });
            if is_unsure {
                unsure += 1;
                assert!(waited.unwrap_or(0) <= *truth, "call {call}");
            } else {
                assert_eq!(waited.unwrap_or(0), *truth, "call {call}: {told:?}");
                late += usize::from(*truth > 0);
            }
        }
        (late, unsure)
    }
}

#[test]
fn whatever_order_messages_come_in_each_call_waits_for_its_own() {
    for seed in 0..200 {
        let mut world = Simulation::new(seed);
        for _ in 0..1_000 {
            world.now += 1 + world.dice.throw(100);
            match world.dice.throw(8) {
                0..3 => world.send(),
                3 | 4 => world.post(),
                5 => world.receive(),
                _ => {
                    let rank = world.dice.throw(RANKS);
                    world.complete(rank, 4);
                }
            }
        }
        // All that came is completed, so that every number is known.
        for rank in 0..RANKS {
            while world.receives[rank as usize].iter().any(|r| r.message.is_some()) {
                world.now += 10;
                world.complete(rank, 4);
            }
            let left = core::mem::take(&mut world.receives[rank as usize]);
            world.with(rank, |engine, around| {
                for receive in left {
                    engine.cancelled(around, receive.id);
                }
            });
        }
        let (late, unsure) = world.judge();
        assert!(late > 20, "seed {seed}: {late} late, {unsure} unsure");
        assert_eq!(unsure, 0, "seed {seed}");
    }
}

#[test]
fn a_receive_that_is_cancelled_makes_no_other_wrong() {
    let (mut all_late, mut all_unsure) = (0, 0);
    for seed in 1_000..1_200 {
        let mut world = Simulation::new(seed);
        for _ in 0..1_000 {
            world.now += 1 + world.dice.throw(100);
            match world.dice.throw(20) {
                0..7 => world.send(),
                7..12 => world.post(),
                12..14 => world.receive(),
                14 => world.cancel(),
                _ => {
                    let rank = world.dice.throw(RANKS);
                    world.complete(rank, 4);
                }
            }
        }
        let (late, unsure) = world.judge();
        all_late += late;
        all_unsure += unsure;
    }
    assert!(all_late > 4_000, "{all_late} late, {all_unsure} unsure");
}

/// Where figures go, and nothing else.
struct OnlyTold<'a>(&'a mut Told);

impl Surroundings for OnlyTold<'_> {
    fn rank(&self) -> u32 {
        unreachable!()
    }
    fn publish(&mut self, _: u64, _: u64) -> Option<u64> {
        unreachable!()
    }
    fn next(&self, _: u64) -> u64 {
        unreachable!()
    }
    fn doubt(&mut self, _: u64) {
        unreachable!()
    }
    fn give_up(&mut self, _: u64, _: bool) {
        unreachable!()
    }
    fn read(&mut self, _: u32, _: u64, _: u64) -> Option<Seen> {
        unreachable!()
    }
    fn add(&mut self, function: u32, figure: Figure, peer: u64, ticks: u64) {
        self.0.entry(function).or_default().push((figure, peer, ticks));
    }
}

/// Calls of rank 0 with rank 1, told by their rules, or at once where that is possible: how many were,
/// what was told, and the board.
fn told_of(seed: u64, at_once: bool) -> (usize, Told, Vec<(u64, u64)>) {
    let (mut dice, mut engine) = (Dice(seed), Box::new(Engine::new()));
    let (mut boards, mut told): (Boards, Told) =
        ((0..2).map(|_| HashMap::new()).collect(), Told::new());
    engine.microsecond(100);
    let (mut now, mut count) = (1_000, 0);
    let to = Address { comm: 1, peer: 1, tag: 5 };
    let sends = of_messages(1, 0, 1, 5, Side::Send);
    let posts = of_messages(1, 1, 0, 5, Side::Post);
    for function in 1..400 {
        let began = now;
        let longest = if dice.throw(9) == 0 { 900 } else { 150 };
        now += 1 + dice.throw(longest);
        let call = Call { function, counts: true, began, ended: now };
        let doer = Doer { thread: 0, began, ended: now };
        let kind = dice.throw(4);
        let done = at_once && {
            let [sends, posts] =
                [sends, posts].map(|key| boards[0].remove(&key).unwrap_or_default());
            let around = &mut OnlyTold(&mut told);
            let done = match kind {
                0 => engine.sent_at_once(around, &call, (1, &sends), 0),
                1 => engine.received_at_once(around, &call, (1, &posts), 0),
                2 => engine.exchanged_at_once(around, &call, [(1, &sends), (1, &posts)], 0),
                _ => engine.gathered_at_once(around, &call, 2),
            };
            boards[0].extend([(of_messages(1, 0, 1, 5, Side::Send), sends)]);
            boards[0].extend([(of_messages(1, 1, 0, 5, Side::Post), posts)]);
            done
        };
        count += usize::from(done);
        if done {
            continue;
        }
        let mut around = Around { own: 0, boards: &mut boards, told: &mut told };
        match kind {
            0 => engine.only_sent(&mut around, call, (&to, LARGE), &doer),
            1 => engine.only_received(&mut around, call, (&to, LARGE), &doer),
            2 => {
                let mut waiting = engine.begin(call);
                engine.sent(&mut around, &mut waiting, (&to, LARGE), &doer);
                engine.received(&mut around, &mut waiting, (&to, LARGE), &doer);
                engine.end(&mut around, waiting);
            }
            _ => {
                engine.is_long(&mut around, &call, 2);
            }
        }
    }
    engine.finish(&mut Around { own: 0, boards: &mut boards, told: &mut told });
    let board = [sends, posts].map(|key| (key, boards[0].get(&key).map_or(0, Ring::published)));
    (count, told, board.to_vec())
}

#[test]
fn calls_that_are_told_at_once_leave_what_their_rules_say() {
    for seed in 0..100 {
        let (_, by_rules, board) = told_of(seed, false);
        let (count, told, same_board) = told_of(seed, true);
        assert!(count > 100, "seed {seed}: {count} at once");
        assert_eq!((told, same_board), (by_rules, board), "seed {seed}");
    }
}

/// Both sides of an exchange come after the call began, and say so only when it is over: as many stamps come late
/// as are waited for.
#[test]
fn an_exchange_whose_both_sides_are_told_later_is_told() {
    let mut engine = Box::new(Engine::new());
    let (mut boards, mut told): (Boards, Told) =
        ((0..2).map(|_| HashMap::new()).collect(), Told::new());
    engine.microsecond(100);
    let other = Address { comm: 1, peer: 1, tag: 5 };
    for function in 1..400 {
        let began = 10_000 * u64::from(function);
        let call = Call { function, counts: true, began, ended: began + 5_000 };
        let doer = Doer { thread: 0, began, ended: call.ended };
        let mut around = Around { own: 0, boards: &mut boards, told: &mut told };
        let mut waiting = engine.begin(call);
        engine.sent(&mut around, &mut waiting, (&other, LARGE), &doer);
        engine.received(&mut around, &mut waiting, (&other, LARGE), &doer);
        engine.end(&mut around, waiting);
        for (key, moment) in [
            (of_messages(1, 1, 0, 5, Side::Send), began + 3_000),
            (of_messages(1, 0, 1, 5, Side::Post), began + 2_000),
        ] {
            boards[1].entry(key).or_default().publish(moment);
        }
    }
    engine.finish(&mut Around { own: 0, boards: &mut boards, told: &mut told });
    for function in 1..400 {
        assert_eq!(told[&function], [(Figure::Waited(Cause::LateSender), 1, 3_000)], "{function}");
    }
}

/// Messages of some sizes need their receiver, and others go without. A call that also receives tells so once it was
/// seen, and as long as nothing was seen it takes for the cause what explains its end.
#[test]
fn what_was_seen_of_sizes_tells_what_later_calls_wait_for() {
    const OTHER: Address = Address { comm: 1, peer: 1, tag: 5 };
    let mut engine = Box::new(Engine::new());
    let (mut boards, mut told): (Boards, Told) =
        ((0..2).map(|_| HashMap::new()).collect(), Told::new());
    engine.microsecond(1);
    let mut function = 0;
    // A call from 0 to 1,000 that sends so much, and perhaps receives: the other side posts its receive and sends then.
    let mut call = |bytes, posted: u64, sent: Option<u64>| {
        function += 1;
        let began = 100_000 * u64::from(function);
        let call = Call { function, counts: true, began, ended: began + 1_000 };
        let doer = Doer { thread: 0, began, ended: call.ended };
        boards[1].entry(of_messages(1, 0, 1, 5, Side::Post)).or_default().publish(began + posted);
        if let Some(sent) = sent {
            boards[1].entry(of_messages(1, 1, 0, 5, Side::Send)).or_default().publish(began + sent);
        }
        let mut around = Around { own: 0, boards: &mut boards, told: &mut told };
        let mut waiting = engine.begin(call);
        engine.sent(&mut around, &mut waiting, (&OTHER, bytes), &doer);
        if sent.is_some() {
            engine.received(&mut around, &mut waiting, (&OTHER, LARGE), &doer);
        }
        engine.end(&mut around, waiting);
        let mut told = told.remove(&function).unwrap_or_default();
        told.retain(|(figure, ..)| *figure != Figure::OnTime);
        told.first().map(|(figure, _, ticks)| (*figure, *ticks))
    };
    let sender = |ticks| Some((Figure::Waited(Cause::LateSender), ticks));
    let receiver = |ticks| Some((Figure::Waited(Cause::LateReceiver), ticks));
    // Nothing was seen: a receiver that comes after the sender is the cause, unless it is a little later only.
    assert_eq!(call(6_400, 600, Some(500)), receiver(600));
    assert_eq!(call(6_400, 990, Some(960)), sender(960));
    assert_eq!(call(6_400, 600, Some(0)), receiver(600));
    assert_eq!(call(4_096, 990, Some(500)), sender(500));
    // Messages of 7,000 B are over before their receive is posted.
    assert_eq!(call(7_000, 1_001, None), None);
    assert_eq!(call(6_400, 600, Some(500)), sender(500));
    assert_eq!(call(6_400, 600, Some(0)), None);
    assert_eq!(call(7_001, 990, Some(500)), receiver(990));
    // Some of a size went, and then some waited for their receiver.
    assert_eq!(call(6_900, 500, None), None);
    assert_eq!(call(6_900, 950, None), receiver(950));
    assert_eq!(call(6_900, 600, Some(500)), receiver(600));
    assert_eq!(call(6_899, 600, Some(500)), sender(500));
    // Small ones, too, may wait.
    assert_eq!(call(3_000, 950, None), receiver(950));
    assert_eq!(call(3_000, 600, Some(500)), receiver(600));
    assert_eq!(call(2_999, 600, Some(500)), sender(500));
    // A call that ends when its receiver comes, though what it received had been there, has waited for that. That
    // says nothing of other messages.
    assert_eq!(call(2_000, 950, Some(0)), receiver(950));
    assert_eq!(call(2_000, 950, Some(50)), receiver(950));
    assert_eq!(call(2_000, 950, Some(100)), sender(100));
    assert_eq!(call(2_000, 700, Some(0)), None);
    assert_eq!(call(2_000, 1_001, Some(0)), None);
    assert_eq!(call(2_000, 600, Some(500)), sender(500));
}
