//! Which messages are counted together, as numbers of 64 bits. Two keys that differ have different
//! numbers, but for one pair in 2^64: nobody meets it.

/// The tag of a receive that takes any.
pub const ANY_TAG: i32 = -1;
/// The source of a receive that takes any.
pub const ANY_SOURCE: u32 = u32::MAX;

/// The number of `MPI_COMM_WORLD`.
pub const WORLD: u64 = 1;

/// A message, or a receive: communicator, the rank of the world at the other end, tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The number of the communicator; 0 if it has none, and there are no figures
    pub comm: u64,
    /// The rank of the world at the other end, or [`ANY_SOURCE`]
    pub peer: u32,
    /// The tag, or [`ANY_TAG`]
    pub tag: i32,
}

impl Address {
    /// Whether a receive leaves open whose message it takes, or with which tag.
    pub const fn is_wild(&self) -> bool {
        self.peer == ANY_SOURCE || self.tag == ANY_TAG
    }

    /// Whether a receive posted like this may take a message of the other address.
    pub const fn takes(&self, other: &Address) -> bool {
        self.comm == other.comm
            && (self.peer == ANY_SOURCE || self.peer == other.peer)
            && (self.tag == ANY_TAG || self.tag == other.tag)
    }
}

/// Which of the two stamps of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// When the call that sends began
    Send = 1,
    /// When the receive was posted
    Post = 2,
}

/// Adds a number to another: what differs in either differs in the result.
pub const fn mix(seed: u64, n: u64) -> u64 {
    // Two rounds of a multiplication whose high half is folded into the low one.
    let mut x = seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ x >> 32
}

/// The number of the key of messages from one rank of the world to another. Never 0.
pub const fn of_messages(comm: u64, from: u32, to: u32, tag: i32, side: Side) -> u64 {
    let ranks = (from as u64) << 32 | to as u64;
    mix(mix(comm, ranks), (tag as u32 as u64) << 8 | side as u64) | 1
}

/// The number of the key by which partitioned messages are counted that were prepared from one rank of the world to
/// another, on the side of one of them. Never 0.
pub const fn of_channels(comm: u64, from: u32, to: u32, tag: i32, side: Side) -> u64 {
    mix(of_messages(comm, from, to, tag, side), 0x6368_616e) | 1
}

/// The number of the key of the n-th of these, whose messages are started again and again. Never 0.
pub const fn of_channel(comm: u64, from: u32, to: u32, tag: i32, nth: u64) -> u64 {
    mix(of_channels(comm, from, to, tag, Side::Send), nth.wrapping_add(1)) | 1
}

/// What a rank tells another one about an epoch of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpochSign {
    /// The other one may access its window
    Post = 4,
    /// It has ended its access to the window of the other one
    Completion = 5,
}

/// The number of the key of what one rank of the world tells another about the epochs of a window.
/// Never 0.
pub const fn of_epochs(window: u64, from: u32, to: u32, sign: EpochSign) -> u64 {
    let ranks = (from as u64) << 32 | to as u64;
    mix(mix(window, ranks), sign as u64) | 1
}

/// The number of the key of a communicator's collectives. Never 0.
pub const fn of_collectives(comm: u64) -> u64 {
    mix(comm, 3 << 40) | 1
}

/// The number of the key of the arrivals of a rank of the world at a communicator's collectives of
/// neighbours, for ranks of other nodes. Never 0.
pub const fn of_neighbors(comm: u64, from: u32) -> u64 {
    mix(of_collectives(comm), 6 << 40 | from as u64) | 1
}

/// The number of the communicator that is made as the n-th from another. Its members make it
/// together, so all of them count the same. The upper half of `nth` tells a part of a split, by its first
/// member: no two parts have a member in common, so no key of one is a key of another anyway, but who reads an event
/// log does not know the members.
pub const fn derived(parent: u64, nth: u64) -> u64 {
    mix(mix(parent, 0x636f_6d6d), nth) | 1
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn keys_that_differ_have_different_numbers() {
        let mut seen = HashSet::new();
        for comm in [WORLD, derived(WORLD, 0), derived(WORLD, 1), derived(derived(WORLD, 0), 0)] {
            assert!(seen.insert(of_collectives(comm)));
            for from in 0..8 {
                assert!(seen.insert(of_neighbors(comm, from)));
                for to in 0..8 {
                    for sign in [EpochSign::Post, EpochSign::Completion] {
                        assert!(seen.insert(of_epochs(comm, from, to, sign)));
                    }
                    for tag in [0, 1, 2, 77, 32_767, i32::MAX] {
                        for side in [Side::Send, Side::Post] {
                            assert!(seen.insert(of_messages(comm, from, to, tag, side)));
                            assert!(seen.insert(of_channels(comm, from, to, tag, side)));
                        }
                        for nth in 0..3 {
                            assert!(seen.insert(of_channel(comm, from, to, tag, nth)));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_wildcard_takes_what_it_names() {
        let of = |comm, peer, tag| Address { comm, peer, tag };
        let message = of(7, 3, 5);
        let takes: Vec<bool> = [
            of(7, 3, 5),
            of(7, ANY_SOURCE, 5),
            of(7, 3, ANY_TAG),
            of(7, ANY_SOURCE, ANY_TAG),
            of(7, 4, 5),
            of(7, 3, 6),
            of(8, ANY_SOURCE, ANY_TAG),
        ]
        .iter()
        .map(|posted| posted.takes(&message))
        .collect();
        assert_eq!(takes, [true, true, true, true, false, false, false]);
    }
}
