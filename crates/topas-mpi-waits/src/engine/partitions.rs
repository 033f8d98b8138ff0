//! Partitioned messages: they are there when the last of their partitions is ready.
//!
//! Who sends and who receives prepare such messages in the same order, so the n-th of each rank and tag is one channel,
//! and what is started on it has the same numbers on both sides.

use super::{Doer, Engine, Lookup, Surroundings, WaitingCall};
use crate::key::{Address, Side, of_channel, of_channels};
use crate::posts::{Post, Progress};
use crate::wait::{Awaited, Call};

impl Engine {
    /// A message of so many partitions is prepared, each start of which is a new one: the number of its post.
    pub fn prepared_in_partitions(
        &mut self,
        around: &mut impl Surroundings,
        address: &Address,
        sends: bool,
        partitions: u32,
        doer: &Doer,
        handle: (u64, u32),
    ) -> u32 {
        let Address { comm, peer, tag } = *address;
        let own = around.rank();
        let (from, to, side) =
            if sends { (own, peer, Side::Send) } else { (peer, own, Side::Post) };
        let is_known = comm != 0 && !address.is_wild();
        let counted = of_channels(comm, from, to, tag, side);
        let nth = if is_known { around.publish(counted, doer.began) } else { None };
        self.posts.take(Post {
            address: if nth.is_some() { *address } else { Address::default() },
            moment: nth.map_or(0, |nth| of_channel(comm, from, to, tag, nth)),
            handle: handle.0,
            generation: handle.1,
            progress: Progress::Idle,
            sends,
            large: true,
            persistent: true,
            // Nobody sends none.
            partitions: partitions.max(1),
            ..Post::default()
        })
    }

    /// Such a message is started.
    pub(super) fn started_in_partitions(&mut self, id: u32) {
        let Some(post) = self.posts.get_mut(id) else { return };
        post.progress = Progress::Numbered;
        post.unsure = false;
        post.asked = 0;
        if post.sends {
            post.ready = 0;
        } else {
            post.number = post.ready.into();
            post.ready = post.ready.wrapping_add(1);
        }
    }

    /// So many partitions more are ready to be sent.
    pub fn ready(&mut self, around: &mut impl Surroundings, id: u32, partitions: u32, doer: &Doer) {
        let Some(post) = self.posts.get_mut(id) else { return };
        if !post.sends || post.partitions == 0 || post.ready >= post.partitions {
            return;
        }
        post.ready = post.ready.saturating_add(partitions);
        let (key, Address { comm, peer, .. }) = (post.moment, post.address);
        if post.ready < post.partitions || comm == 0 {
            return;
        }
        if let Some(number) = around.publish(key, doer.began) {
            around.tell(peer, key, number, doer.began);
        }
    }

    /// A call found that a partition has come, for which others before it may have asked in vain. When that was ready is
    /// not known, but not later than the last one.
    #[inline(never)]
    pub fn partition_arrived(&mut self, around: &mut impl Surroundings, id: u32, call: Call) {
        let Some(post) = self.posts.get(id).copied() else { return };
        let is_received = !post.sends && post.partitions != 0;
        // A call that finds it at once never waits.
        if !is_received || post.asked == 0 || post.progress != Progress::Numbered {
            return;
        }
        let mut waiting = self.begin(call);
        self.found(&mut waiting, id);
        if post.address.comm == 0 {
            waiting.findings.elsewhere = true;
        } else {
            let (key, number, peer) = (post.moment, post.number, post.address.peer);
            let lookup = Lookup::of(Awaited::Partition, peer, key, number);
            self.look_now(around, &mut waiting, lookup);
        }
        self.end_long(around, waiting);
    }

    /// A call completed such a message. Whether a send waited for its receiver is not known.
    #[cold]
    #[inline(never)]
    pub(super) fn completed_in_partitions(
        &mut self,
        around: &mut impl Surroundings,
        waiting: &mut WaitingCall,
        post: &Post,
    ) {
        if post.sends {
            waiting.findings.looked = true;
            return;
        }
        let (key, number, peer) = (post.moment, post.number, post.address.peer);
        let lookup = Lookup::of(Awaited::Message, peer, key, number);
        self.look(around, waiting, lookup);
    }
}
