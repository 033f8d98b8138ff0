//! Messages that are sent, and receives that are posted.

use super::{Doer, Engine, LOOKUPS, Lookup, Surroundings, WaitingCall, conclude, key_from, key_to};
use crate::board::Ring;
use crate::far::DOUBT;
use crate::key::{Address, Side};
use crate::posts::{Post, Progress};
use crate::protocol::{BUFFERED, EVIDENT, SMALL_MESSAGE, SentSize, may_end_with};
use crate::wait::{Awaited, Call, Figure};

impl Engine {
    /// A call that only sent a message. Most are over at once, and need no more than this.
    #[inline(always)]
    pub fn only_sent(
        &mut self,
        around: &mut impl Surroundings,
        call: Call,
        (to, bytes): (&Address, u32),
        doer: &Doer,
    ) {
        let lookup = self.number_send(around, to, bytes, doer);
        if let Some(lookup) = &lookup
            && self.is_short(around, &call, lookup.peer)
        {
            return;
        }
        let mut waiting = self.begin(call);
        match lookup {
            Some(lookup) => self.look(around, &mut waiting, lookup),
            None => waiting.findings.elsewhere = true,
        }
        self.end(around, waiting);
    }

    /// A call that only received a message: the same.
    #[inline(always)]
    pub fn only_received(
        &mut self,
        around: &mut impl Surroundings,
        call: Call,
        (from, bytes): (&Address, u32),
        doer: &Doer,
    ) {
        if from.comm != 0
            && doer.thread == 0
            && self.posts.all_are_numbered()
            && call.length() <= self.threshold(from.peer)
            && self.number_receive(around, from, doer.began, is_large(bytes)).is_some()
        {
            self.learn(from.peer, call.length());
            self.is_short(around, &call, from.peer);
            return;
        }
        let mut waiting = self.begin(call);
        self.received(around, &mut waiting, (from, bytes), doer);
        self.end(around, waiting);
    }

    /// A call of the only thread has sent a message to a rank of this node, whose stamps go into a
    /// known ring: the same as [`Engine::only_sent`]. False, and nothing is done, if the stamp of the
    /// other side is to be looked at, or another one.
    #[inline(always)]
    pub fn sent_at_once(
        &mut self,
        around: &mut impl Surroundings,
        call: &Call,
        (to, ring): (u32, &Ring),
        path: u16,
    ) -> bool {
        if !self.is_over(to, call) || self.is_due() {
            return false;
        }
        ring.publish_by(call.began, path);
        around.add(call.function, Figure::Below, 0, call.length());
        true
    }

    /// The same of a call that has received one: see [`Engine::only_received`].
    #[inline(always)]
    pub fn received_at_once(
        &mut self,
        around: &mut impl Surroundings,
        call: &Call,
        (from, ring): (u32, &Ring),
        path: u16,
    ) -> bool {
        let over = self.is_over(from, call) && self.posts.all_are_numbered();
        if !over || self.is_due() {
            return false;
        }
        ring.publish_by(call.began, path);
        self.learn(from, call.length());
        around.add(call.function, Figure::Below, 0, call.length());
        true
    }

    /// The same of a call that has sent one and received one.
    #[inline(always)]
    pub fn exchanged_at_once(
        &mut self,
        around: &mut impl Surroundings,
        call: &Call,
        [(to, sends), (from, posts)]: [(u32, &Ring); 2],
        path: u16,
    ) -> bool {
        let over = self.is_over(to, call) && self.is_over(from, call);
        if !over || !self.posts.all_are_numbered() || self.is_due() {
            return false;
        }
        sends.publish_by(call.began, path);
        posts.publish_by(call.began, path);
        self.learn(from, call.length());
        around.add(call.function, Figure::Below, 0, call.length());
        true
    }

    /// A call of the only thread has sent a message to a rank of this node, with this number, and
    /// somebody else will wait: see [`Engine::send_started`].
    #[inline(always)]
    pub fn send_numbered(&mut self, to: &Address, moment: u64, number: u64, bytes: u32) -> u32 {
        self.posts.take(Post {
            address: *to,
            moment,
            number,
            progress: Progress::Numbered,
            sends: true,
            bytes,
            ..Post::default()
        })
    }

    /// A call of the only thread has posted a receive, not a wild one, of a message from a rank of
    /// this node, whose posts go into a known ring: see [`Engine::receive_posted`]. None, and nothing
    /// is done, if an earlier one without a number may take the message.
    #[inline(always)]
    pub fn receive_numbered(
        &mut self,
        from: &Address,
        moment: u64,
        ring: &Ring,
        path: u16,
    ) -> Option<u32> {
        if !self.posts.all_are_numbered() {
            return None;
        }
        let number = ring.publish_by(moment, path);
        Some(self.posts.take(Post {
            address: *from,
            moment,
            number,
            progress: Progress::Numbered,
            large: true,
            ..Post::default()
        }))
    }

    /// Whether a call was so short that nobody looks. Then all is said of it.
    #[inline(always)]
    fn is_short(&mut self, around: &mut impl Surroundings, call: &Call, peer: u32) -> bool {
        let short = call.length() <= self.threshold(peer);
        if short {
            self.below(around, call);
        }
        short
    }

    /// A call was too short to look.
    #[inline(always)]
    pub fn below(&mut self, around: &mut impl Surroundings, call: &Call) {
        if call.counts {
            around.add(call.function, Figure::Below, 0, call.length());
        }
        if self.is_due() {
            self.retry(around);
        }
    }

    /// A message was sent: what a wait for its receiver needs. None if it has no number.
    #[inline(always)]
    pub(super) fn number_send(
        &mut self,
        around: &mut impl Surroundings,
        to: &Address,
        bytes: u32,
        doer: &Doer,
    ) -> Option<Lookup> {
        let key = (to.comm != 0).then(|| key_to(around, to, Side::Send))?;
        let number = self.publish_send(around, key, to.peer, doer)?;
        Some(self.receiver(around, to, number, bytes))
    }

    /// A message of this key was sent to a rank: its number. None if it has none.
    #[inline(always)]
    fn publish_send(
        &mut self,
        around: &mut impl Surroundings,
        key: u64,
        to: u32,
        doer: &Doer,
    ) -> Option<u64> {
        let number = around.publish(key, doer.began)?;
        let doubtful = self.is_doubtful(key, doer);
        if doubtful {
            around.doubt(key);
        }
        around.tell(to, key, number, if doubtful { DOUBT } else { doer.began });
        Some(number)
    }

    /// What is known of a message of so many bytes.
    #[inline(always)]
    pub(super) fn size_to(&self, to: &Address, bytes: u32) -> SentSize {
        SentSize { bytes, goes: self.protocols.goes(to.peer, bytes), beside: false }
    }

    #[inline(always)]
    pub(super) fn receiver(
        &self,
        around: &impl Surroundings,
        to: &Address,
        number: u64,
        bytes: u32,
    ) -> Lookup {
        let key = key_to(around, to, Side::Post);
        let sent = self.size_to(to, bytes);
        Lookup { sent, ..Lookup::of(Awaited::Receive, to.peer, key, number) }
    }

    /// A call sent a message, or completed the sending of one. What goes without its receiver is looked at
    /// only if the call received nothing, or waited for nothing that it received: see [`Engine::look_beside`].
    #[inline(never)]
    pub(super) fn look_for_receiver(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        lookup: Lookup,
    ) {
        if lookup.sent.goes {
            waiting.free = Some(lookup);
        } else {
            self.look(around, waiting, lookup);
        }
    }

    /// A long call received what had been sent before, as far as is known, and what it sent goes without its receiver. The MPI
    /// may have let it wait for that nevertheless: Open MPI ends sends that do not block when the receiver calls MPI,
    /// however short the message is. That is so if the call ended soon after the receive was posted.
    #[cold]
    #[inline(never)]
    pub(super) fn look_beside(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        lookup: &Lookup,
    ) {
        let findings = &mut waiting.findings;
        let is_unsure = findings.unsure || findings.elsewhere || findings.asked.is_any();
        if is_unsure || !may_end_with(findings.call.length(), EVIDENT * self.least) {
            return;
        }
        let lookup = Lookup { sent: SentSize::BESIDE, ..*lookup };
        let seen = around.read(lookup.peer, lookup.key, lookup.number);
        // The receiver tells it when its own call is over. Others may need what room there is.
        if !conclude(findings, &lookup, seen) && self.open < LOOKUPS / 2 {
            self.look_later(waiting, lookup);
        }
    }

    /// A call sent a message, and waited until that could go.
    #[inline(always)]
    pub fn sent(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        (to, bytes): (&Address, u32),
        doer: &Doer,
    ) {
        match self.number_send(around, to, bytes, doer) {
            Some(lookup) => self.look_for_receiver(around, waiting, lookup),
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
        bytes: u32,
        doer: &Doer,
    ) -> u32 {
        let number = self.number_send(around, to, bytes, doer);
        self.posts.take(Post {
            address: if number.is_some() { *to } else { Address::default() },
            moment: doer.began,
            number: number.map_or(0, |lookup| lookup.number),
            progress: Progress::Numbered,
            sends: true,
            bytes,
            ..Post::default()
        })
    }

    /// A receive gets its number: None if there is no room for its key.
    #[inline(always)]
    pub(super) fn number_receive(
        &mut self,
        around: &mut impl Surroundings,
        address: &Address,
        moment: u64,
        large: bool,
    ) -> Option<u64> {
        publish_receive(
            around,
            key_from(around, address, Side::Post),
            (address.peer, large),
            moment,
        )
    }

    #[inline(always)]
    pub(super) fn sender(
        &self,
        around: &impl Surroundings,
        from: &Address,
        number: u64,
        bytes: u32,
    ) -> Lookup {
        let key = key_from(around, from, Side::Send);
        // As messages go from here to there, those go that come from there.
        let sent = self.size_to(from, bytes);
        Lookup { sent, ..Lookup::of(Awaited::Message, from.peer, key, number) }
    }

    /// A call posted a receive, and a message from there came into it, with so many bytes as they count.
    #[inline(always)]
    pub fn received(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        (from, bytes): (&Address, u32),
        doer: &Doer,
    ) {
        waiting.receives = true;
        if from.comm == 0 {
            waiting.findings.elsewhere = true;
            return;
        }
        let key = key_from(around, from, Side::Post);
        if !self.posts.all_are_numbered() && !self.posts.is_next(0, from) {
            return self.received_out_of_order(around, waiting, from, is_large(bytes), doer);
        }
        let doubtful = self.is_doubtful(key, doer);
        match around.publish(key, doer.began) {
            Some(number) if !doubtful => {
                if is_large(bytes) {
                    around.tell(from.peer, key, number, doer.began);
                }
                let lookup = self.sender(around, from, number, bytes);
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
    pub(super) fn received_out_of_order(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        from: &Address,
        large: bool,
        doer: &Doer,
    ) {
        let id = self.posts.take(Post {
            address: *from,
            moment: doer.began,
            progress: Progress::Done,
            large,
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
    pub(super) fn done(&mut self, waiting: &mut WaitingCall, id: u32) {
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
    pub(super) fn lost(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        from: &Address,
    ) {
        waiting.findings.unsure = true;
        let key = key_from(around, from, Side::Post);
        around.give_up(key, false);
    }

    /// A probe found a message, which is still to be received.
    pub fn probed(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        from: &Address,
    ) {
        if from.comm == 0 {
            waiting.findings.elsewhere = true;
        } else if self.posts.all_are_numbered() || self.posts.is_next(0, from) {
            let key = key_from(around, from, Side::Post);
            let lookup = self.sender(around, from, around.next(key), BUFFERED);
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
        large: bool,
        doer: &Doer,
        handle: (u64, u32),
    ) -> u32 {
        let id = self.posts.take(Post {
            address: *posted,
            handle: handle.0,
            generation: handle.1,
            progress: Progress::Idle,
            large,
            ..Post::default()
        });
        self.started_receive(around, id, doer);
        id
    }

    /// A receive begins.
    #[inline(always)]
    pub(super) fn started_receive(&mut self, around: &mut impl Surroundings, id: u32, doer: &Doer) {
        let Some(post) = self.posts.get(id) else { return };
        let (address, large, mut key) = (post.address, post.large, post.key);
        let mut number = 0;
        let mut progress = Progress::Numbered;
        let mut unsure = false;
        if address.comm != 0 {
            let clear = self.posts.all_are_numbered() || self.posts.is_next(0, &address);
            if address.is_wild() || !clear {
                progress = Progress::Open;
                self.posts.append(id);
            } else {
                if key == 0 {
                    key = key_from(around, &address, Side::Post);
                }
                unsure = self.is_doubtful(key, doer);
                match publish_receive(around, key, (address.peer, large), doer.began) {
                    Some(given) => number = given,
                    None => unsure = true,
                }
            }
        }
        if let Some(post) = self.posts.get_mut(id) {
            post.key = key;
            post.moment = doer.began;
            post.number = number;
            post.asked = 0;
            post.progress = progress;
            post.unsure = unsure;
            post.cancelling = false;
        }
    }

    /// A request that is started, each time anew: the number of its post. `sends` tells of one that
    /// sends how many bytes.
    pub fn prepared(&mut self, address: &Address, sends: Option<u32>, handle: (u64, u32)) -> u32 {
        self.posts.take(Post {
            address: *address,
            handle: handle.0,
            generation: handle.1,
            progress: Progress::Idle,
            sends: sends.is_some(),
            large: true,
            bytes: sends.unwrap_or(0),
            persistent: true,
            ..Post::default()
        })
    }

    /// A persistent request is started.
    pub fn started(&mut self, around: &mut impl Surroundings, id: u32, doer: &Doer) {
        // Not copied as a whole: parts of it were written a moment ago, by the call that completed it.
        let Some(post) = self.posts.get(id).filter(|post| post.progress == Progress::Idle) else {
            return;
        };
        if post.partitions != 0 {
            return self.started_in_partitions(id);
        }
        if post.collective {
            return self.collective_starts(around, id, doer);
        }
        if !post.sends {
            return self.started_receive(around, id, doer);
        }
        let (address, mut key) = (post.address, post.key);
        if key == 0 && address.comm != 0 {
            key = key_to(around, &address, Side::Send);
        }
        let number =
            if key == 0 { None } else { self.publish_send(around, key, address.peer, doer) };
        if let Some(post) = self.posts.get_mut(id) {
            post.key = key;
            post.progress = Progress::Numbered;
            post.moment = doer.began;
            post.asked = 0;
            post.number = number.unwrap_or(0);
            post.unsure = number.is_none();
        }
    }
}

/// A receive of this key from a rank, whose message may be large, was posted at a moment: its number. None if there is no room
/// for the key.
#[inline(always)]
fn publish_receive(
    around: &mut impl Surroundings,
    key: u64,
    (from, large): (u32, bool),
    moment: u64,
) -> Option<u64> {
    let number = around.publish(key, moment)?;
    if large {
        around.tell(from, key, number, moment);
    }
    Some(number)
}

/// Whether who sends so many bytes, as they count, may have to wait for the receiver.
#[inline(always)]
const fn is_large(bytes: u32) -> bool {
    bytes as u64 > SMALL_MESSAGE
}
