//! Which messages are counted together, as numbers of 64 bits. Two keys that differ have different
//! numbers, but for one pair in 2^64: nobody meets it.

/// The tag of a receive that takes any.
pub const ANY_TAG: i32 = -1;
/// The source of a receive that takes any.
pub const ANY_SOURCE: u32 = u32::MAX;

/// The number of `MPI_COMM_WORLD`.
pub const WORLD: u64 = 1;

/// Communicators of several worlds that a rank can tell apart.
pub const SHARED: u32 = 126;

/// Bit of a process that is none of the world of a rank.
const BESIDE: u32 = 1 << 31;
/// Ranks in such a communicator that can be told.
const BESIDE_RANKS: u32 = 1 << 24;

/// The name of a process of another world: its rank in a communicator (of an intercommunicator, in the remote group),
/// and the place of that communicator among those of several worlds that this rank knows. None if it cannot be told.
pub const fn beside(place: u32, rank: u32) -> Option<u32> {
    if place < SHARED && rank < BESIDE_RANKS {
        Some(BESIDE | (place * BESIDE_RANKS) | rank)
    } else {
        None
    }
}

/// What [`beside`] put together; None of a rank of the world, and of any source.
#[inline(always)]
pub const fn parts_of_beside(peer: u32) -> Option<(u32, u32)> {
    let place = (peer & !BESIDE) / BESIDE_RANKS;
    if peer & BESIDE != 0 && place < SHARED { Some((place, peer % BESIDE_RANKS)) } else { None }
}

/// A message, or a receive: communicator, the rank of the world at the other end, tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The number of the communicator; 0 if it has none, and there are no figures
    pub comm: u64,
    /// The rank of the world at the other end, or [`beside`] it, or [`ANY_SOURCE`]
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
#[inline(always)]
pub const fn of_messages(comm: u64, from: u32, to: u32, tag: i32, side: Side) -> u64 {
    let MixedRanks(ranks) = MixedRanks::of(from, to);
    in_communicator(mix(ranks, (tag as u32 as u64) << 8 | side as u64), comm)
}

/// What a number was before [`mix`] folded it.
const fn unfolded(mixed: u64) -> u64 {
    const BACK: u64 = inverse(0xd6e8_feb8_6659_fd93);
    // Folding the upper half into the lower one twice changes nothing.
    let x = (mixed ^ mixed >> 32).wrapping_mul(BACK);
    let x = (x ^ x >> 32).wrapping_mul(BACK);
    x ^ x >> 32
}

/// The factor that takes a product with an odd number back, modulo 2^64, by Newton's method.
const fn inverse(odd: u64) -> u64 {
    let (mut inverse, mut step) = (odd, 0);
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// A number as it would be if [`of_messages`] had made it for a communicator, before ranks and tag were mixed: to find out
/// whether it is of messages between two ranks, and which tag these have. That takes a multiplication for each pair of ranks.
#[derive(Clone, Copy, Debug)]
pub struct UnfoldedKey([u64; 2]);

impl UnfoldedKey {
    /// Of a number, for a communicator.
    pub const fn of(key: u64, comm: u64) -> UnfoldedKey {
        // The lowest bit was set, whatever it was.
        UnfoldedKey([unfolded(key ^ comm), unfolded(key ^ 1 ^ comm)])
    }

    /// The tag and the side, if it is of messages between these ranks; of something else None, but for one number in 2^30.
    #[inline]
    pub fn tag(self, ranks: MixedRanks) -> Option<(i32, Side)> {
        const BACK: u64 = inverse(0x9e37_79b9_7f4a_7c15);
        self.0.into_iter().find_map(|unfolded| {
            let tag = (unfolded ^ ranks.0).wrapping_mul(BACK);
            let side = match tag as u8 {
                1 => Side::Send,
                2 => Side::Post,
                _ => return None,
            };
            (tag >> 39 == 0).then_some(((tag >> 8) as i32, side))
        })
    }
}

/// Two ranks of the world as numbers of messages from one to the other have them.
#[derive(Clone, Copy, Debug)]
pub struct MixedRanks(u64);

impl MixedRanks {
    /// Of these.
    pub const fn of(from: u32, to: u32) -> MixedRanks {
        MixedRanks(mix(4 << 40, (from as u64) << 32 | to as u64))
    }
}

/// The ranks that the key of messages between a rank and a process of another world names: those in their
/// communicator, which both worlds know, set apart from ranks of a world.
pub const fn ranks_beside(own: u32, peer: u32) -> (u32, u32) {
    (BESIDE | own, BESIDE | (peer % BESIDE_RANKS))
}

/// Puts the number of a communicator into that of a key: in such a way that [`translated`] can change it.
#[inline(always)]
const fn in_communicator(key: u64, comm: u64) -> u64 {
    (key ^ comm) | 1
}

/// The number of a key as the ranks of another world have it, which call the communicator by another number:
/// `difference` is that of both numbers.
pub const fn translated(key: u64, difference: u64) -> u64 {
    (key ^ difference) | 1
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

/// The number of the key of the locks of a window that are given back: for the memory of a rank of the window, or for all.
/// Never 0.
pub const fn of_locks(window: u64, target: u32, is_exclusive: bool) -> u64 {
    mix(mix(window, 9 << 40 | target as u64), is_exclusive as u64) | 1
}

/// The number of the key of a communicator's collectives. Never 0.
pub const fn of_collectives(comm: u64) -> u64 {
    in_communicator(mix(3 << 40, 5), comm)
}

/// The number of the key by which the persistent collectives of a communicator are counted that were prepared. Never 0.
pub const fn of_prepared(comm: u64) -> u64 {
    in_communicator(mix(3 << 40, 7), comm)
}

/// The number of the key of the starts of the n-th of these. Never 0.
pub const fn of_starts(comm: u64, nth: u64) -> u64 {
    in_communicator(mix(mix(3 << 40, 8), nth), comm)
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

/// The number of an intercommunicator with the ranks that started a world, on the ranks of that world.
pub const PARENT: u64 = mix(WORLD, 0x7061_7265_6e74) | 1;

/// As [`derived`], of a communicator of several worlds. `link` is the number of the intercommunicator from which it
/// comes. Two worlds call that by two numbers, and the numbers of all that comes from it differ by as much.
pub const fn derived_beside(parent: u64, link: u64, nth: u64) -> u64 {
    link ^ derived(parent ^ link, nth)
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
            assert!(seen.insert(of_prepared(comm)));
            for target in [0, 1, 2, 70_000, u32::MAX] {
                assert!(seen.insert(of_locks(comm, target, true)));
                assert!(seen.insert(of_locks(comm, target, false)));
            }
            for nth in 0..300 {
                assert!(seen.insert(of_starts(comm, nth)));
            }
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
    fn the_key_of_a_message_tells_its_tag_and_side() {
        let tag_of = |key, comm, from, to| UnfoldedKey::of(key, comm).tag(MixedRanks::of(from, to));
        for comm in [WORLD, derived(WORLD, 0), derived(derived(WORLD, 3), 1)] {
            for (from, to) in [(0, 1), (1, 0), (7, 7), (70_000, 3)] {
                for tag in [0, 1, 77, 32_767, i32::MAX] {
                    for side in [Side::Send, Side::Post] {
                        let key = of_messages(comm, from, to, tag, side);
                        assert_eq!(tag_of(key, comm, from, to), Some((tag, side)));
                        assert_eq!(tag_of(key, comm, to + 1, from), None);
                        assert_eq!(tag_of(key, comm ^ 2, from, to), None);
                    }
                }
                assert_eq!(tag_of(of_collectives(comm), comm, from, to), None);
            }
        }
    }

    #[test]
    fn both_worlds_have_the_same_keys_by_the_difference_of_two_numbers() {
        let (parents, children) = (derived(WORLD, 7), PARENT);
        let difference = parents ^ children;
        let both = |nths: &[u64]| {
            [parents, children].map(|link| {
                nths.iter().fold(link, |number, nth| derived_beside(number, link, *nth))
            })
        };
        let mut seen = HashSet::new();
        for nths in [&[][..], &[0], &[1], &[0, 0], &[0, 1, 2]] {
            let [one, other] = both(nths);
            assert_eq!(one ^ other, difference);
            // Rank 3 of one side sends to rank 5 of the other, which posts a receive.
            let (three, five) = ranks_beside(3, beside(9, 5).unwrap());
            let (theirs, own) = ranks_beside(5, beside(2, 3).unwrap());
            assert_eq!((three, five), (own, theirs));
            for (tag, side) in [(0, Side::Send), (77, Side::Post)] {
                let key = of_messages(one, three, five, tag, side);
                let there = of_messages(other, own, theirs, tag, side);
                assert_eq!(translated(key, difference), there);
                assert!(seen.insert(key) && seen.insert(there));
                // A rank of the own world with the same numbers is another.
                assert!(seen.insert(of_messages(one, 3, 5, tag, side)));
            }
            let gathered = translated(of_collectives(one), difference);
            assert_eq!(gathered, of_collectives(other));
        }
    }

    #[test]
    fn processes_of_other_worlds_are_no_ranks() {
        for (place, rank) in [(0, 0), (7, 70_000), (SHARED - 1, (1 << 24) - 1)] {
            let peer = beside(place, rank).unwrap();
            assert_eq!(parts_of_beside(peer), Some((place, rank)));
        }
        assert_eq!(beside(SHARED, 0), None);
        assert_eq!(beside(0, 1 << 24), None);
        for rank in [0, 5, 1 << 30, ANY_SOURCE, ANY_SOURCE - 1, ANY_SOURCE - 2] {
            assert_eq!(parts_of_beside(rank), None);
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
