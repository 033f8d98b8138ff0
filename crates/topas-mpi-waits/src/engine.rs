//! What a rank does, and what follows: numbers, stamps, waits.

use crate::board::Seen;
use crate::key::{Address, Side, of_collectives, of_messages};
use crate::posts::{Post, Posts, Progress};
use crate::wait::{Call, Cause, Figure, Findings};

/// What the engine asks for: the boards of the node, and where figures go.
pub trait Surroundings {
    /// The rank of this process in the world.
    fn rank(&self) -> u32;
    /// Publishes the next stamp of a key of this rank: its number, None if there is no room.
    fn publish(&mut self, key: u64, moment: u64) -> Option<u64>;
    /// The number that the next stamp of a key of this rank will have.
    fn next(&self, key: u64) -> u64;
    /// The last two stamps of a key of this rank may be mistaken for each other.
    fn doubt(&mut self, key: u64);
    /// Numbers of a key of this rank mean nothing any more. `last` if the last was none at all.
    fn give_up(&mut self, key: u64, last: bool);
    /// What the board of another rank says of a number; None if it has no board on this node.
    fn read(&mut self, peer: u32, key: u64, number: u64) -> Option<Seen>;
    /// Ticks of a call of a function go there.
    fn add(&mut self, function: u16, figure: Figure, peer: u32, ticks: u64);
}

/// Calls whose findings wait for what others have not yet published.
const RECORDS: usize = 256;
/// Stamps that were not yet there.
const LOOKUPS: usize = 512;
/// Peers whose usual time is kept.
const PEERS: usize = 256;
/// Keys whose last use is kept, if there are several threads.
const USES: usize = 256;

#[derive(Clone, Copy)]
struct Record {
    findings: Findings,
    /// Stamps and numbers that are awaited, plus 1 as long as the call goes on; 0 if it is free
    awaited: u16,
}

#[derive(Clone, Copy)]
struct Lookup {
    key: u64,
    number: u64,
    cause: Cause,
    peer: u32,
    record: u16,
}

#[derive(Clone, Copy)]
struct Use {
    ended: u64,
    thread: u32,
}

/// A call, and what it has found out so far.
#[derive(Clone, Copy)]
pub struct Waiting {
    findings: Findings,
    /// Its record, plus 1; 0 if it has none
    record: u16,
    /// It received something
    receives: bool,
    /// A small message that it sent. Who waits for messages, too, does not wait for such a one:
    /// that goes without its receiver, and if it does not, nobody can tell.
    small: Option<Lookup>,
}

/// Which thread does something, and when.
#[derive(Clone, Copy, Debug)]
pub struct Doer {
    /// The thread, not 0, if several may call at once; else 0
    pub thread: u32,
    /// When its call began
    pub began: u64,
    /// When its call ended
    pub ended: u64,
}

/// The state of a rank.
pub struct Engine {
    posts: Posts,
    records: [Record; RECORDS],
    lookups: [Lookup; LOOKUPS],
    open: usize,
    turn: usize,
    /// Receives that are being cancelled
    cancelling: u32,
    /// Median of the ticks that a receive takes whose message is there
    usual: [u32; PEERS],
    uses: [Use; USES],
    /// Calls that took no longer than this never look
    least: u64,
    /// Calls that took longer than this always look
    most: u64,
}

impl Engine {
    /// Of a rank that has done nothing yet. It has to be told the length of a microsecond.
    pub const fn new() -> Engine {
        const CALL: Call = Call { function: 0, counts: false, began: 0, ended: 0 };
        Engine {
            posts: Posts::new(),
            records: [Record { findings: Findings::of(CALL), awaited: 0 }; RECORDS],
            lookups: [Lookup { key: 0, number: 0, cause: Cause::LateSender, peer: 0, record: 0 };
                LOOKUPS],
            open: 0,
            turn: 0,
            cancelling: 0,
            usual: [0; PEERS],
            uses: [Use { ended: 0, thread: 0 }; USES],
            least: 0,
            most: 0,
        }
    }

    /// Says how many ticks a microsecond has.
    pub fn microsecond(&mut self, ticks: u64) {
        self.least = ticks;
        self.most = 4 * ticks;
    }

    /// How long a call has to take before a stamp of this peer is looked at: 1 us, and more where
    /// messages that are there take longer, because the look costs as much.
    #[inline(always)]
    fn threshold(&self, peer: u32) -> u64 {
        let usual = self.usual.get(peer as usize % PEERS).map_or(0, |usual| u64::from(*usual));
        (2 * usual).min(self.most).max(self.least)
    }

    /// A receive of a message that was there took so long.
    #[inline(always)]
    fn learn(&mut self, peer: u32, ticks: u64) {
        if let Some(usual) = self.usual.get_mut(peer as usize % PEERS) {
            let step = (*usual / 16).max(1);
            *usual = if ticks > u64::from(*usual) {
                usual.saturating_add(step)
            } else {
                usual.saturating_sub(step)
            };
        }
    }

    /// A call that may have waited: what it completed is told by what follows, then
    /// [`Engine::end`].
    #[inline(always)]
    pub fn begin(&self, call: Call) -> Waiting {
        Waiting { findings: Findings::of(call), record: 0, receives: false, small: None }
    }

    /// All that the call completed was told.
    #[inline(always)]
    pub fn end(&mut self, around: &mut impl Surroundings, mut waiting: Waiting) {
        if let Some(lookup) = waiting.small.filter(|_| !waiting.receives) {
            self.look(around, &mut waiting, lookup);
        }
        if waiting.record == 0 {
            let call = waiting.findings.call.function;
            waiting.findings.tell(|figure, peer, ticks| around.add(call, figure, peer, ticks));
        } else {
            if let Some(record) = self.record(waiting.record) {
                record.findings.merge(&waiting.findings);
            }
            self.heard(around, waiting.record, |_| {});
        }
        if self.open > 0 {
            self.retry(around);
        }
    }

    fn record(&mut self, number: u16) -> Option<&mut Record> {
        self.records.get_mut(usize::from(number).wrapping_sub(1))
    }

    /// Something that a call waits for became known.
    fn heard(
        &mut self,
        around: &mut impl Surroundings,
        number: u16,
        found: impl FnOnce(&mut Findings),
    ) {
        let Some(record) = self.record(number) else { return };
        found(&mut record.findings);
        record.awaited = record.awaited.saturating_sub(1);
        if record.awaited == 0 {
            let findings = record.findings;
            let function = findings.call.function;
            findings.tell(|figure, peer, ticks| around.add(function, figure, peer, ticks));
        }
    }

    /// Something of the call will be known later: its record; 0 if there is no room.
    fn later(&mut self, waiting: &mut Waiting) -> u16 {
        if waiting.record == 0 {
            let free = self.records.iter().position(|record| record.awaited == 0);
            let Some(free) = free else { return 0 };
            waiting.record = free as u16 + 1;
            if let Some(record) = self.record(waiting.record) {
                // One for the call itself.
                *record = Record { findings: waiting.findings, awaited: 1 };
            }
        }
        if let Some(record) = self.record(waiting.record) {
            record.awaited += 1;
        }
        waiting.record
    }

    /// Looks at a stamp of a peer, if the call took so long that it is worth it.
    #[inline(always)]
    fn look(&mut self, around: &mut impl Surroundings, waiting: &mut Waiting, lookup: Lookup) {
        let length = waiting.findings.call.length();
        if length <= self.threshold(lookup.peer) {
            if lookup.cause == Cause::LateSender {
                self.learn(lookup.peer, length);
            }
            return;
        }
        self.look_now(around, waiting, lookup);
    }

    #[inline(never)]
    fn look_now(&mut self, around: &mut impl Surroundings, waiting: &mut Waiting, lookup: Lookup) {
        let call = waiting.findings.call;
        if !call.counts {
            return;
        }
        let seen = around.read(lookup.peer, lookup.key, lookup.number);
        if conclude(&mut waiting.findings, &lookup, seen) {
            if let (Cause::LateSender, Some(Seen::At(moment))) = (lookup.cause, seen) {
                self.learn(lookup.peer, call.ended.saturating_sub(call.began.max(moment)));
            }
            return;
        }
        if self.open < LOOKUPS {
            let record = self.later(waiting);
            if record != 0
                && let Some(place) = self.lookups.get_mut(self.open)
            {
                *place = Lookup { record, ..lookup };
                self.open += 1;
                return;
            }
        }
        waiting.findings.unsure = true;
    }

    /// Looks again at stamps that were not there: the latest, and another one in turn.
    #[cold]
    fn retry(&mut self, around: &mut impl Surroundings) {
        self.again(around, self.open.wrapping_sub(1));
        if self.open > 0 {
            self.turn = (self.turn + 1) % self.open;
            self.again(around, self.turn);
        }
    }

    /// Looks again at one. False if it is still not there.
    fn again(&mut self, around: &mut impl Surroundings, at: usize) -> bool {
        let Some(lookup) = self.lookups.get(at).copied() else { return false };
        if at >= self.open {
            return false;
        }
        let seen = around.read(lookup.peer, lookup.key, lookup.number);
        if seen == Some(Seen::NotYet) {
            return false;
        }
        self.close(at);
        self.heard(around, lookup.record, |findings| {
            conclude(findings, &lookup, seen);
        });
        true
    }

    fn close(&mut self, at: usize) {
        self.open -= 1;
        let last = self.lookups.get(self.open).copied();
        if let (Some(last), Some(place)) = (last, self.lookups.get_mut(at)) {
            *place = last;
        }
    }

    /// Whether another thread was at the same key, or one that falls on the same place, at the
    /// same time: then the order of the two is not known.
    #[inline(always)]
    fn is_doubtful(&mut self, key: u64, doer: &Doer) -> bool {
        if doer.thread == 0 {
            return false;
        }
        let Some(last) = self.uses.get_mut((key >> 32) as usize % USES) else { return false };
        let doubtful = last.thread != doer.thread && last.ended > doer.began;
        if doer.ended >= last.ended {
            *last = Use { ended: doer.ended, thread: doer.thread };
        }
        doubtful
    }

    /// A message was sent: what a wait for its receiver needs. None if it has no number.
    #[inline(always)]
    fn number_send(
        &mut self,
        around: &mut impl Surroundings,
        to: &Address,
        doer: &Doer,
    ) -> Option<Lookup> {
        if to.comm == 0 {
            return None;
        }
        let own = around.rank();
        let key = of_messages(to.comm, own, to.peer, to.tag, Side::Send);
        let number = around.publish(key, doer.began)?;
        if self.is_doubtful(key, doer) {
            around.doubt(key);
        }
        let posts = of_messages(to.comm, own, to.peer, to.tag, Side::Post);
        let (cause, peer) = (Cause::LateReceiver, to.peer);
        Some(Lookup { key: posts, number, cause, peer, record: 0 })
    }

    /// A call sent a message, and waited until that could go.
    #[inline(always)]
    pub fn sent(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut Waiting,
        to: &Address,
        large: bool,
        doer: &Doer,
    ) {
        match self.number_send(around, to, doer) {
            Some(lookup) if large => self.look(around, waiting, lookup),
            Some(lookup) => waiting.small = Some(lookup),
            None => waiting.findings.elsewhere = true,
        }
    }

    /// A call sent a message, and somebody else will wait: the number of its post, 0 if nobody
    /// needs to be told of its end.
    #[inline(always)]
    pub fn send_started(
        &mut self,
        around: &mut impl Surroundings,
        to: &Address,
        large: bool,
        doer: &Doer,
    ) -> u32 {
        let number = self.number_send(around, to, doer);
        self.posts.take(Post {
            address: if number.is_some() { *to } else { Address::default() },
            moment: doer.began,
            number: number.map_or(0, |lookup| lookup.number),
            progress: Progress::Numbered,
            sends: true,
            large,
            ..Post::default()
        })
    }

    /// A receive gets its number: None if there is no room for its key.
    #[inline(always)]
    fn number_receive(
        &mut self,
        around: &mut impl Surroundings,
        address: &Address,
        moment: u64,
    ) -> Option<u64> {
        let key = of_messages(address.comm, address.peer, around.rank(), address.tag, Side::Post);
        around.publish(key, moment)
    }

    #[inline(always)]
    fn sender(&self, around: &impl Surroundings, from: &Address, number: u64) -> Lookup {
        let key = of_messages(from.comm, from.peer, around.rank(), from.tag, Side::Send);
        Lookup { key, number, cause: Cause::LateSender, peer: from.peer, record: 0 }
    }

    /// A call posted a receive, and the message `from` came into it.
    #[inline(always)]
    pub fn received(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut Waiting,
        from: &Address,
        doer: &Doer,
    ) {
        waiting.receives = true;
        if from.comm == 0 {
            waiting.findings.elsewhere = true;
            return;
        }
        let key = of_messages(from.comm, from.peer, around.rank(), from.tag, Side::Post);
        if !self.posts.all_are_numbered() && !self.posts.is_next(0, from) {
            return self.received_out_of_order(around, waiting, from, doer);
        }
        let doubtful = self.is_doubtful(key, doer);
        match around.publish(key, doer.began) {
            Some(number) if !doubtful => {
                let lookup = self.sender(around, from, number);
                self.look(around, waiting, lookup);
            }
            Some(_) => {
                around.doubt(key);
                waiting.findings.unsure = true;
            }
            None => waiting.findings.elsewhere = true,
        }
    }

    /// An earlier receive, not yet completed, could have taken the message.
    #[cold]
    #[inline(never)]
    fn received_out_of_order(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut Waiting,
        from: &Address,
        doer: &Doer,
    ) {
        let id = self.posts.take(Post {
            address: *from,
            moment: doer.began,
            progress: Progress::Done,
            ..Post::default()
        });
        if id == 0 {
            self.lost(around, waiting, from);
            return;
        }
        self.posts.append(id);
        self.done(waiting, id);
    }

    /// A receive came to its end before its number is known.
    fn done(&mut self, waiting: &mut Waiting, id: u32) {
        let record = if waiting.findings.call.counts { self.later(waiting) } else { 0 };
        if record == 0 {
            waiting.findings.unsure = true;
        }
        if let Some(post) = self.posts.get_mut(id) {
            post.progress = Progress::Done;
            post.record = record;
        }
    }

    /// There is no room to follow a receive: numbers of its key mean nothing from now on.
    fn lost(&mut self, around: &mut impl Surroundings, waiting: &mut Waiting, from: &Address) {
        waiting.findings.unsure = true;
        let key = of_messages(from.comm, from.peer, around.rank(), from.tag, Side::Post);
        around.give_up(key, false);
    }

    /// A probe found a message, which is still to be received.
    pub fn probed(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut Waiting,
        from: &Address,
    ) {
        if from.comm == 0 {
            waiting.findings.elsewhere = true;
        } else if self.posts.all_are_numbered() || self.posts.is_next(0, from) {
            let own = around.rank();
            let key = of_messages(from.comm, from.peer, own, from.tag, Side::Post);
            let lookup = self.sender(around, from, around.next(key));
            self.look(around, waiting, lookup);
        } else {
            // What has no number yet may take it before.
            waiting.findings.unsure = true;
        }
    }

    /// A call posted a receive that somebody completes later: the number of its post, 0 if there
    /// is no room.
    #[inline(always)]
    pub fn receive_posted(
        &mut self,
        around: &mut impl Surroundings,
        posted: &Address,
        doer: &Doer,
        handle: (u64, u32),
    ) -> u32 {
        let id = self.posts.take(Post {
            address: *posted,
            handle: handle.0,
            generation: handle.1,
            progress: Progress::Idle,
            ..Post::default()
        });
        self.started_receive(around, id, doer);
        id
    }

    /// A receive begins.
    #[inline(always)]
    fn started_receive(&mut self, around: &mut impl Surroundings, id: u32, doer: &Doer) {
        let Some(post) = self.posts.get(id) else { return };
        let address = post.address;
        let mut number = 0;
        let mut progress = Progress::Numbered;
        let mut unsure = false;
        if address.comm != 0 {
            let clear = self.posts.all_are_numbered() || self.posts.is_next(0, &address);
            if address.is_wild() || !clear {
                progress = Progress::Open;
                self.posts.append(id);
            } else {
                unsure = doer.thread != 0 && {
                    let own = around.rank();
                    let key = of_messages(address.comm, address.peer, own, address.tag, Side::Post);
                    self.is_doubtful(key, doer)
                };
                match self.number_receive(around, &address, doer.began) {
                    Some(given) => number = given,
                    None => unsure = true,
                }
            }
        }
        if let Some(post) = self.posts.get_mut(id) {
            post.moment = doer.began;
            post.number = number;
            post.progress = progress;
            post.unsure = unsure;
            post.cancelling = false;
        }
    }

    /// A request that is started, each time anew: the number of its post. `sends` tells of one that
    /// sends whether that is much.
    pub fn prepared(&mut self, address: &Address, sends: Option<bool>, handle: (u64, u32)) -> u32 {
        self.posts.take(Post {
            address: *address,
            handle: handle.0,
            generation: handle.1,
            progress: Progress::Idle,
            sends: sends.is_some(),
            large: sends == Some(true),
            persistent: true,
            ..Post::default()
        })
    }

    /// It is started.
    pub fn started(&mut self, around: &mut impl Surroundings, id: u32, doer: &Doer) {
        let Some(post) = self.posts.get(id).copied() else { return };
        if post.progress != Progress::Idle {
            return;
        }
        if !post.sends {
            return self.started_receive(around, id, doer);
        }
        let lookup = self.number_send(around, &post.address, doer);
        if let Some(post) = self.posts.get_mut(id) {
            post.progress = Progress::Numbered;
            post.moment = doer.began;
            post.number = lookup.map_or(0, |lookup| lookup.number);
            post.unsure = lookup.is_none();
        }
    }

    /// What was posted, if it is a receive whose message only a status tells.
    pub fn wild(&self, id: u32) -> Option<&Post> {
        self.posts
            .get(id)
            .filter(|post| !post.sends && post.address.is_wild() && post.progress == Progress::Open)
    }

    /// A call completed what was posted. `from` tells whose message a wild receive took.
    #[inline(always)]
    pub fn completed(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut Waiting,
        id: u32,
        from: Option<&Address>,
    ) {
        let Some(post) = self.posts.get(id).copied() else { return };
        waiting.receives |= !post.sends;
        match post.progress {
            Progress::Numbered => {
                if post.address.comm == 0 {
                    waiting.findings.elsewhere = true;
                } else if post.unsure || self.cancelling > 0 && self.may_shift(&post) {
                    waiting.findings.unsure = true;
                } else {
                    if post.sends {
                        let Address { comm, peer, tag } = post.address;
                        let key = of_messages(comm, around.rank(), peer, tag, Side::Post);
                        let cause = Cause::LateReceiver;
                        let lookup = Lookup { key, number: post.number, cause, peer, record: 0 };
                        if post.large {
                            self.look(around, waiting, lookup);
                        } else {
                            waiting.small = Some(lookup);
                        }
                    } else {
                        let lookup = self.sender(around, &post.address, post.number);
                        self.look(around, waiting, lookup);
                    }
                }
                self.put_back(id);
            }
            Progress::Open => self.completed_open(around, waiting, id, &post, from),
            _ => {}
        }
    }

    #[cold]
    #[inline(never)]
    fn completed_open(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut Waiting,
        id: u32,
        post: &Post,
        from: Option<&Address>,
    ) {
        let wild = post.address.is_wild();
        let Some(address) = from.filter(|_| wild).or((!wild).then_some(&post.address)) else {
            // It stays where it is: whatever could be its message is not sure.
            waiting.findings.unsure = true;
            return;
        };
        if post.cancelling {
            self.cancelling -= 1;
        }
        // What the program starts anew is another post; this one waits for its number.
        let mut at = id;
        if post.persistent {
            at = self.posts.take(Post { persistent: false, cancelling: false, ..*post });
            if at == 0 {
                waiting.findings.unsure = true;
                return;
            }
            self.replace(id, at);
            if let Some(post) = self.posts.get_mut(id) {
                post.progress = Progress::Idle;
                post.cancelling = false;
            }
        }
        if let Some(post) = self.posts.get_mut(at) {
            post.address = *address;
            post.cancelling = false;
        }
        self.done(waiting, at);
        self.resolve(around);
    }

    /// Puts a post into the place of another in the list.
    fn replace(&mut self, old: u32, new: u32) {
        // Those behind it are appended again, in their order.
        let mut behind = self.posts.after(old);
        self.posts.unlink(old);
        self.posts.append(new);
        while behind != 0 && behind != new {
            let next = self.posts.after(behind);
            self.posts.unlink(behind);
            self.posts.append(behind);
            behind = next;
        }
    }

    /// Gives numbers to those receives of the list for which they are known now.
    fn resolve(&mut self, around: &mut impl Surroundings) {
        let mut id = self.posts.after(0);
        while id != 0 {
            let next = self.posts.after(id);
            let Some(post) = self.posts.get(id).copied() else { return };
            let named = post.progress == Progress::Done || !post.address.is_wild();
            if named && self.posts.is_next(id, &post.address) {
                self.posts.unlink(id);
                self.give_number(around, id, &post);
            }
            id = next;
        }
    }

    fn give_number(&mut self, around: &mut impl Surroundings, id: u32, post: &Post) {
        let number = self.number_receive(around, &post.address, post.moment);
        if post.progress != Progress::Done {
            if let Some(post) = self.posts.get_mut(id) {
                post.progress = Progress::Numbered;
                post.number = number.unwrap_or(0);
                post.unsure |= number.is_none();
            }
            return;
        }
        self.posts.release(id);
        let Some(number) = number else {
            self.heard(around, post.record, |findings| findings.unsure = true);
            return;
        };
        let lookup = self.sender(around, &post.address, number);
        let Some(call) = self.record(post.record).map(|record| record.findings.call) else {
            return;
        };
        if call.length() <= self.threshold(lookup.peer) {
            self.heard(around, post.record, |_| {});
            return;
        }
        let seen = around.read(lookup.peer, lookup.key, lookup.number);
        if seen == Some(Seen::NotYet)
            && let Some(place) = self.lookups.get_mut(self.open)
        {
            *place = Lookup { record: post.record, ..lookup };
            self.open += 1;
            return;
        }
        self.heard(around, post.record, |findings| {
            if !conclude(findings, &lookup, seen) {
                findings.unsure = true;
            }
        });
    }

    /// A post came to its end.
    fn put_back(&mut self, id: u32) {
        let Some(post) = self.posts.get_mut(id) else { return };
        if core::mem::take(&mut post.cancelling) {
            self.cancelling -= 1;
        }
        if post.persistent {
            post.progress = Progress::Idle;
        } else {
            self.posts.release(id);
        }
    }

    /// Whether an earlier receive of the same messages is being cancelled, so that the number of
    /// this one may be one less.
    fn may_shift(&mut self, post: &Post) -> bool {
        !post.sends
            && self.posts.all().any(|(_, other)| {
                other.cancelling
                    && other.progress == Progress::Numbered
                    && other.address == post.address
                    && other.number < post.number
            })
    }

    /// This rank comes to a collective of a communicator: the number of that.
    #[inline(always)]
    pub fn arrived(
        &mut self,
        around: &mut impl Surroundings,
        comm: u64,
        moment: u64,
    ) -> Option<u64> {
        if comm == 0 { None } else { around.publish(of_collectives(comm), moment) }
    }

    /// A collective to which this rank came has failed: it never was.
    pub fn failed(&mut self, around: &mut impl Surroundings, comm: u64) {
        if comm != 0 {
            around.give_up(of_collectives(comm), true);
        }
    }

    /// Whether a collective of so many ranks took so long that it is worth to look when they came.
    pub fn is_long(&self, call: &Call, ranks: u32) -> bool {
        let most = self.most.max(self.least.saturating_mul(u64::from(ranks) / 2));
        let slot = PEERS - 1 - (ranks as usize % (PEERS / 2));
        let usual = self.usual.get(slot).map_or(0, |usual| u64::from(*usual));
        call.length() > (2 * usual).min(most).max(self.least)
    }

    /// A collective is over, for which a rank had to wait for this other one: when the call
    /// returned, that had come, unless it had nothing to give.
    pub fn gathered(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut Waiting,
        comm: u64,
        number: u64,
        peer: u32,
    ) {
        let findings = &mut waiting.findings;
        findings.looked = true;
        let call = findings.call;
        match around.read(peer, of_collectives(comm), number) {
            Some(Seen::At(moment)) if moment <= call.ended => {
                findings.other_began(Cause::Collective, peer, moment);
            }
            Some(Seen::At(_) | Seen::NotYet) => {}
            Some(Seen::Before(moment)) if moment <= call.began => {}
            Some(Seen::Before(_) | Seen::Unsure) => findings.unsure = true,
            None => findings.elsewhere = true,
        }
    }

    /// All for which the rank had to wait were looked at, if there were any.
    pub fn looked(&self, waiting: &mut Waiting) {
        waiting.findings.looked = true;
    }

    /// How long a collective of so many ranks takes from the last arrival on.
    pub fn learn_collective(&mut self, waiting: &Waiting, ranks: u32) {
        let findings = &waiting.findings;
        let slot = PEERS - 1 - (ranks as usize % (PEERS / 2));
        self.learn(slot as u32, findings.call.length().saturating_sub(findings.longest));
    }

    /// Nothing is known of whom a call waited for.
    pub fn not_measured(&self, waiting: &mut Waiting) {
        waiting.findings.elsewhere = true;
    }

    /// The program tries to cancel what was posted.
    pub fn cancel(&mut self, id: u32) {
        if let Some(post) = self.posts.get_mut(id)
            && !post.cancelling
            && matches!(post.progress, Progress::Numbered | Progress::Open)
        {
            post.cancelling = true;
            self.cancelling += 1;
        }
    }

    /// A call completed what was posted by saying that it was cancelled.
    pub fn cancelled(&mut self, around: &mut impl Surroundings, id: u32) {
        let Some(post) = self.posts.get(id).copied() else { return };
        let Address { comm, peer, tag } = post.address;
        let own = around.rank();
        match post.progress {
            Progress::Numbered if post.sends => {
                // The other side may have counted it, or not.
                around.give_up(of_messages(comm, own, peer, tag, Side::Send), false);
            }
            Progress::Numbered => {
                for (_, other) in self.posts.all() {
                    let later = other.number > post.number && other.address == post.address;
                    if later && !other.sends && other.progress == Progress::Numbered {
                        other.number -= 1;
                    }
                }
                around.give_up(of_messages(comm, peer, own, tag, Side::Post), true);
            }
            Progress::Open => {
                self.posts.unlink(id);
                self.put_back(id);
                self.resolve(around);
                return;
            }
            _ => return,
        }
        self.put_back(id);
    }

    /// The program frees what was posted: it goes on, and nobody will tell how it ends.
    pub fn freed(&mut self, id: u32) {
        // It has its number; what was prepared and not started has none. Any other stays in the
        // list, because it will take some message.
        if let Some(post) = self.posts.get_mut(id)
            && matches!(post.progress, Progress::Numbered | Progress::Idle)
        {
            post.persistent = false;
            self.put_back(id);
        }
    }

    /// The end: looks at all stamps once more, and tells what is still not known.
    pub fn finish(&mut self, around: &mut impl Surroundings) {
        let mut at = self.open;
        while at > 0 {
            at -= 1;
            if self.again(around, at) {
                continue;
            }
            if let Some(lookup) = self.lookups.get(at).copied() {
                self.close(at);
                self.heard(around, lookup.record, |findings| findings.unsure = true);
            }
        }
        let mut id = self.posts.after(0);
        while id != 0 {
            let next = self.posts.after(id);
            if let Some(post) = self.posts.get(id).copied()
                && post.progress == Progress::Done
            {
                self.heard(around, post.record, |findings| findings.unsure = true);
                self.posts.unlink(id);
                self.posts.release(id);
            }
            id = next;
        }
    }
}

impl Default for Engine {
    fn default() -> Self {
        Engine::new()
    }
}

/// Adds what a stamp says. False if it is not there yet.
fn conclude(findings: &mut Findings, lookup: &Lookup, seen: Option<Seen>) -> bool {
    let call = findings.call;
    match seen {
        // A message cannot be sent after it was received: this is another.
        Some(Seen::At(moment)) if lookup.cause == Cause::LateSender && moment > call.ended => {
            findings.unsure = true;
        }
        Some(Seen::At(moment)) => findings.other_began(lookup.cause, lookup.peer, moment),
        Some(Seen::Before(moment)) if moment <= call.began => findings.looked = true,
        Some(Seen::Before(_) | Seen::Unsure) => findings.unsure = true,
        Some(Seen::NotYet) => return false,
        None => findings.elsewhere = true,
    }
    true
}
