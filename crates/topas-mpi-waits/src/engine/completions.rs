//! What becomes of messages under way: completed, cancelled, freed, left at the end.

use super::{Engine, Lookup, Surroundings, WaitingCall, conclude, key_from, key_to};
use crate::board::Seen;
use crate::key::{Address, Side};
use crate::posts::{Post, Progress};
use crate::protocol::BUFFERED;
use crate::wait::Call;

impl Engine {
    /// What was posted, if it is a receive whose message only a status tells.
    pub fn wild(&self, id: u32) -> Option<&Post> {
        self.posts
            .get(id)
            .filter(|post| !post.sends && post.address.is_wild() && post.progress == Progress::Open)
    }

    /// The message that was sent by what was posted and has not ended, and whether it may have to wait for its
    /// receiver, as far as that is known. None if that is nobody who can be told.
    pub fn sent_by(&self, id: u32) -> Option<(Address, bool)> {
        let post = self.posts.get(id)?;
        let is_told = post.sends
            && post.progress == Progress::Numbered
            && post.address.comm != 0
            && post.partitions == 0;
        is_told.then(|| (post.address, !self.protocols.goes(post.address.peer, post.bytes)))
    }

    /// A call completed what was posted, and was so short that nobody looks: whether that was
    /// received. None, and nothing is done, if there is more to it.
    #[inline(always)]
    pub fn completed_at_once(&mut self, id: u32, call: &Call) -> Option<bool> {
        let post = self.posts.get(id)?;
        let (peer, receives) = (post.address.peer, !post.sends);
        let plain = post.progress == Progress::Numbered
            && post.address.comm != 0
            && !(post.unsure | post.collective)
            && post.asked == 0
            && self.cancelling == 0
            && call.length() <= self.threshold(peer);
        if !plain {
            return None;
        }
        if receives {
            self.learn(peer, call.length());
        }
        self.put_back(id);
        Some(receives)
    }

    /// A call completed what was posted. `from` tells whose message a wild receive took, and `bytes` how much came, as
    /// that counts.
    #[inline(always)]
    pub fn completed(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        id: u32,
        (from, bytes): (Option<&Address>, u32),
    ) {
        let Some(post) = self.posts.get(id).copied() else { return };
        waiting.receives |= !post.sends;
        match post.progress {
            Progress::Numbered => {
                if post.address.comm == 0 {
                    waiting.findings.elsewhere = true;
                } else if post.unsure || self.cancelling > 0 && self.may_shift(&post) {
                    waiting.findings.unsure = true;
                } else if post.partitions != 0 {
                    self.completed_in_partitions(around, waiting, &post);
                } else {
                    if post.sends {
                        let lookup = self.receiver(around, &post.address, post.number, post.bytes);
                        self.look_for_receiver(around, waiting, lookup);
                        if lookup.sent.goes && post.bytes != BUFFERED {
                            self.may_stay_for(around, waiting, lookup.peer);
                        }
                    } else {
                        let lookup = self.sender(around, &post.address, post.number, bytes);
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
    pub(super) fn completed_open(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        id: u32,
        post: &Post,
        from: Option<&Address>,
    ) {
        let wild = post.address.is_wild();
        let Some(address) = from.filter(|_| wild).or((!wild).then_some(&post.address)) else {
            // The request stays in the list: whatever could be its message is not sure.
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
    pub(super) fn replace(&mut self, old: u32, new: u32) {
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
    pub(super) fn resolve(&mut self, around: &mut impl Surroundings) {
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

    pub(super) fn give_number(&mut self, around: &mut impl Surroundings, id: u32, post: &Post) {
        let number = self.number_receive(around, &post.address, post.moment, post.large);
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
        let lookup = self.sender(around, &post.address, number, BUFFERED);
        let Some(length) = self.record(post.record).map(|record| record.findings.length()) else {
            return;
        };
        if length <= self.threshold(lookup.peer) {
            self.heard(around, post.record, |_| {});
            return;
        }
        let seen = around.read(lookup.peer, lookup.key, lookup.number);
        if seen.is_none()
            && let Some(record) = self.record(post.record)
            && around.ask(&mut record.findings, lookup.question())
        {
            self.heard(around, post.record, |_| {});
            return;
        }
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
    #[inline(always)]
    pub(super) fn put_back(&mut self, id: u32) {
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
    pub(super) fn may_shift(&mut self, post: &Post) -> bool {
        !post.sends
            && self.posts.all().any(|(_, other)| {
                other.cancelling
                    && other.progress == Progress::Numbered
                    && other.address == post.address
                    && other.number < post.number
            })
    }

    /// The program tries to cancel what was posted.
    pub fn cancel(&mut self, id: u32) {
        if let Some(post) = self.posts.get_mut(id)
            && !post.cancelling
            && post.partitions == 0
            && matches!(post.progress, Progress::Numbered | Progress::Open)
        {
            post.cancelling = true;
            self.cancelling += 1;
        }
    }

    /// A call completed what was posted by saying that it was cancelled.
    pub fn cancelled(&mut self, around: &mut impl Surroundings, id: u32) {
        let Some(post) = self.posts.get(id).copied() else { return };
        match post.progress {
            Progress::Numbered if post.sends => {
                // The other side may have counted it, or not.
                let key = key_to(around, &post.address, Side::Send);
                around.give_up(key, false);
            }
            Progress::Numbered => {
                for (_, other) in self.posts.all() {
                    let later = other.number > post.number && other.address == post.address;
                    let is_message = !other.sends && other.partitions == 0;
                    if later && is_message && other.progress == Progress::Numbered {
                        other.number -= 1;
                    }
                }
                let key = key_from(around, &post.address, Side::Post);
                around.give_up(key, true);
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
                // That a message which goes of itself was not received says nothing.
                self.heard(around, lookup.record, |findings| {
                    findings.unsure |= !lookup.sent.beside
                });
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
