//! Messages under way: receives that were posted, sends that were started.
//!
//! A receive has a number as soon as no earlier one that has none could take the same messages.
//! Those without a number stand in a list, in the order in which they were posted.

use crate::key::Address;

/// Most messages under way. There are no figures for what is beyond.
pub const POSTS: usize = 4096;

/// How far a message under way is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is here.
    #[default]
    Free,
    /// A persistent one that was not started, or a new one.
    Idle,
    /// A receive whose number is not known, and that was not completed.
    Open,
    /// A receive whose number is not known, but whose message is.
    Done,
    /// The number of the message is known.
    Numbered,
}

/// A message under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Post {
    /// What was posted; once it is completed, what came
    pub address: Address,
    /// When it was posted
    pub moment: u64,
    /// The number of the message
    pub number: u64,
    /// The first call that asked for it in vain: see [`crate::engine::Engine::asked_in_vain`]; 0 if none has
    pub asked: u64,
    /// The pauses until then: see [`crate::engine::ProcessUse`]
    pub(crate) pauses: [u64; 2],
    /// The communicator as the program has it
    pub handle: u64,
    /// Tells whether that handle is still the same
    pub generation: u32,
    /// The call that completed it, if its number is not known
    pub record: u16,
    /// How far it is
    pub progress: Progress,
    /// The message is sent, not received
    pub sends: bool,
    /// The message that is received is so large that its sender may have to wait for its receiver
    pub large: bool,
    /// Bytes of the message that is sent: see [`crate::protocol::counted`]
    pub bytes: u32,
    /// The request is persistent: each start is a new message
    pub persistent: bool,
    /// Of a persistent one: the key of its stamps; 0 before the first start
    pub(crate) key: u64,
    /// Cancelling it was tried
    pub cancelling: bool,
    /// Two threads were at it at once
    pub unsure: bool,
    /// The message has so many partitions; 0 if it has none. Then `moment` is the key of its stamps
    pub partitions: u32,
    /// So many of them are ready; of a receive, how often it was started
    pub ready: u32,
    /// The request is of a collective, not of a message: a [`crate::collective::CollectivePlace`]
    pub collective: bool,
    /// The entry before in the list, or the next free entry
    pub(crate) before: u16,
    pub(crate) after: u16,
}

/// The messages under way. Zero at its beginning; numbers of posts begin with 1.
#[derive(Debug)]
pub struct Posts {
    posts: [Post; POSTS],
    /// Those that were given out at least once
    touched: u16,
    free: u16,
    first: u16,
    last: u16,
}

const _: () = assert!(POSTS < u16::MAX as usize);

impl Posts {
    /// A list without requests.
    pub const fn new() -> Posts {
        const NONE: Post = Post {
            address: Address { comm: 0, peer: 0, tag: 0 },
            moment: 0,
            number: 0,
            asked: 0,
            pauses: [0; 2],
            handle: 0,
            generation: 0,
            record: 0,
            progress: Progress::Free,
            sends: false,
            large: false,
            bytes: 0,
            persistent: false,
            key: 0,
            cancelling: false,
            unsure: false,
            partitions: 0,
            ready: 0,
            collective: false,
            before: 0,
            after: 0,
        };
        Posts { posts: [NONE; POSTS], touched: 0, free: 0, first: 0, last: 0 }
    }

    /// The post of a number; None if there is none.
    #[inline(always)]
    pub fn get(&self, id: u32) -> Option<&Post> {
        self.posts.get((id as usize).wrapping_sub(1))
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Post> {
        self.posts.get_mut((id as usize).wrapping_sub(1))
    }

    /// A place for a post, in which it is put; 0 if there is none.
    #[inline(always)]
    pub fn take(&mut self, post: Post) -> u32 {
        let mut id = u32::from(self.free);
        if id != 0 {
            self.free = self.get(id).map_or(0, |free| free.after);
        } else if usize::from(self.touched) < POSTS {
            self.touched += 1;
            id = self.touched.into();
        }
        if let Some(place) = self.get_mut(id) {
            *place = Post { before: 0, after: 0, ..post };
            return id;
        }
        0
    }

    /// Gives a place back.
    #[inline(always)]
    pub fn release(&mut self, id: u32) {
        let free = self.free;
        if let Some(post) = self.get_mut(id)
            && post.progress != Progress::Free
        {
            // What else it was is written anew when the place is taken.
            post.progress = Progress::Free;
            post.collective = false;
            post.after = free;
            self.free = id as u16;
        }
    }

    /// Whether all receives have numbers.
    #[inline(always)]
    pub fn all_are_numbered(&self) -> bool {
        self.first == 0
    }

    /// Puts a receive at the end of the list.
    pub fn append(&mut self, id: u32) {
        let last = u32::from(self.last);
        match self.get_mut(last) {
            Some(last) => last.after = id as u16,
            None => self.first = id as u16,
        }
        if let Some(post) = self.get_mut(id) {
            post.before = last as u16;
            post.after = 0;
        }
        self.last = id as u16;
    }

    /// Takes a receive out of the list.
    pub fn unlink(&mut self, id: u32) {
        let Some(post) = self.get_mut(id) else { return };
        let (before, after) = (post.before, post.after);
        (post.before, post.after) = (0, 0);
        match self.get_mut(before.into()) {
            Some(post) => post.after = after,
            None => self.first = after,
        }
        match self.get_mut(after.into()) {
            Some(post) => post.before = before,
            None => self.last = before,
        }
    }

    /// Whether no receive in the list, before the one that is named, may take messages of this
    /// address; 0 names the end of the list.
    pub fn is_next(&self, id: u32, address: &Address) -> bool {
        let mut at = match self.get(id) {
            Some(post) => post.before,
            None => self.last,
        };
        while let Some(post) = self.get(at.into()) {
            if post.address.takes(address) {
                return false;
            }
            at = post.before;
        }
        true
    }

    /// The first of the list, or the one after another; 0 if there is none.
    pub fn after(&self, id: u32) -> u32 {
        self.get(id).map_or(self.first, |post| post.after).into()
    }

    /// All that are there, with their numbers.
    pub fn all(&mut self) -> impl Iterator<Item = (u32, &mut Post)> {
        let touched = usize::from(self.touched);
        let posts = (1..).zip(&mut self.posts).take(touched);
        posts.filter(|(_, post)| post.progress != Progress::Free)
    }
}

impl Default for Posts {
    fn default() -> Self {
        Posts::new()
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::vec::Vec;

    use super::*;
    use crate::key::{ANY_SOURCE, ANY_TAG};

    fn post(peer: u32, tag: i32) -> Post {
        let address = Address { comm: 1, peer, tag };
        Post { address, progress: Progress::Open, ..Post::default() }
    }

    #[test]
    fn places_come_back_and_the_list_keeps_its_order() {
        let mut posts = Box::new(Posts::new());
        let ids: Vec<u32> = (0..10).map(|n| posts.take(post(n, 0))).collect();
        ids.iter().for_each(|id| posts.append(*id));
        for id in [ids[0], ids[4], ids[9]] {
            posts.unlink(id);
            posts.release(id);
        }
        let mut order = Vec::new();
        let mut at = posts.after(0);
        while at != 0 {
            order.push(posts.get(at).unwrap().address.peer);
            at = posts.after(at);
        }
        assert_eq!(order, [1, 2, 3, 5, 6, 7, 8]);
        assert_eq!(posts.take(post(9, 0)), ids[9]);
        for _ in 0..POSTS {
            posts.take(post(1, 1));
        }
        assert_eq!(posts.take(post(1, 1)), 0);
    }

    #[test]
    fn an_earlier_receive_that_could_take_it_stands_in_front() {
        let mut posts = Box::new(Posts::new());
        let address = |peer, tag| Address { comm: 1, peer, tag };
        assert!(posts.is_next(0, &address(1, 1)));
        let wild = posts.take(post(ANY_SOURCE, 7));
        posts.append(wild);
        let any_tag = posts.take(post(2, ANY_TAG));
        posts.append(any_tag);
        assert!(!posts.is_next(0, &address(1, 7)));
        assert!(posts.is_next(0, &address(1, 8)));
        assert!(!posts.is_next(0, &address(2, 8)));
        assert!(posts.is_next(any_tag, &address(2, 8)));
        assert!(posts.is_next(wild, &address(2, 7)));
        assert!(posts.is_next(0, &Address { comm: 2, peer: 2, tag: 7 }));
    }
}
