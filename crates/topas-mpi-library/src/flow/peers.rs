//! Rows of the profile: what moved, to and from whom.
//!
//! Peers are told for messages from one process to one, and for access to windows. Collectives
//! have none, not even where a root is named: what the root would have to say of its peers is
//! nowhere in its arguments, and the two halves of a matrix have to agree.

use topas_mpi_profile::layout::{BINS, Block, FUNCTIONS, HISTOGRAMS, Peer, Row, bin};
use topas_mpi_table::Way;

/// A process that is not in the world.
pub const OTHERS: u32 = u32::MAX - 1;
/// The status will tell.
pub const UNKNOWN: u32 = u32::MAX;
/// None counts.
pub const NOBODY: u32 = u32::MAX - 2;

/// What a thread counts.
pub struct Account<'a> {
    /// Its block
    pub block: &'a mut Block,
    /// Its peers, one more than there are ranks; empty if they are not counted
    pub peers: &'a mut [Peer],
    /// Communicators are counted
    pub communicators: bool,
}

impl Account<'_> {
    /// A message of a function that has come to its end: `peer` is a rank of the world, or one of
    /// the numbers above.
    #[inline(always)]
    pub fn moved(&mut self, way: Way, function: u16, bytes: u64, peer: u32, communicator: u16) {
        let function = usize::from(function);
        if function >= FUNCTIONS {
            return;
        }
        // SAFETY: the number of a function.
        unsafe { count(self.block, function, way, bytes) };
        if peer != NOBODY
            && let Some(to) = peer_of(self.peers, peer)
        {
            add(to, way, bytes);
        }
        if self.communicators
            && let Some(traffic) = self.block.traffic.get_mut(usize::from(communicator))
        {
            add(&mut traffic.peer, way, bytes);
        }
    }

    /// A message that was sent, and then cancelled: it never was. False if this thread did not
    /// send it, and cannot take it back.
    #[cold]
    #[inline(never)]
    pub fn unsent(&mut self, function: u16, bytes: u64, peer: u32, communicator: u16) -> bool {
        let Some(row) = self.block.rows.get_mut(usize::from(function)) else { return false };
        if row.sends == 0 || row.sent < bytes {
            return false;
        }
        row.sends -= 1;
        row.sent -= bytes;
        let histogram =
            self.block.beside.get(usize::from(function)).map_or(0, |beside| beside.sent);
        if let Some(number) = usize::from(histogram).checked_sub(1)
            && let Some(sizes) = self.block.sizes.get_mut(number)
            && let Some(bin) = sizes.get_mut(bin(bytes))
        {
            *bin = bin.saturating_sub(1);
        }
        if peer != NOBODY
            && let Some(to) = peer_of(self.peers, peer)
        {
            take(to, bytes);
        }
        if self.communicators
            && let Some(traffic) = self.block.traffic.get_mut(usize::from(communicator))
        {
            take(&mut traffic.peer, bytes);
        }
        true
    }
}

/// What is counted of a peer; the others end the list. None if peers are not counted.
#[inline(always)]
fn peer_of(peers: &mut [Peer], peer: u32) -> Option<&mut Peer> {
    let others = peers.len().wrapping_sub(1);
    peers.get_mut((peer as usize).min(others))
}

/// Counts a message in the row of its function, and in its histogram.
///
/// # Safety
/// `function` is the number of one.
#[inline(always)]
pub unsafe fn count(block: &mut Block, function: usize, way: Way, bytes: u64) {
    // SAFETY: by the caller; there is a row for every function.
    let (row, beside) =
        unsafe { (block.rows.get_unchecked_mut(function), block.beside.get_unchecked(function)) };
    add_row(row, way, bytes);
    let number = match way {
        Way::Sent => beside.sent,
        Way::Received => beside.received,
    };
    let bin = bin(bytes);
    if number == 0 {
        return count_first(block, function, way, bin);
    }
    // SAFETY: numbers of histograms are 1 more than that of one, and bins are bins.
    unsafe {
        *block.sizes.get_unchecked_mut(usize::from(number) - 1).get_unchecked_mut(bin) += 1;
    }
}

#[cold]
#[inline(never)]
fn count_first(block: &mut Block, function: usize, way: Way, bin: usize) {
    if let Some(sizes) = new_sizes(block, function, way)
        && let Some(messages) = sizes.get_mut(bin)
    {
        *messages += 1;
    }
}

/// Counts a message in a row.
#[inline(always)]
pub fn add_row(row: &mut Row, way: Way, bytes: u64) {
    let (messages, sum) = match way {
        Way::Sent => (&mut row.sends, &mut row.sent),
        Way::Received => (&mut row.receives, &mut row.received),
    };
    *messages += 1;
    *sum = sum.wrapping_add(bytes);
}

/// Counts a message of a peer.
#[inline(always)]
pub fn add(peer: &mut Peer, way: Way, bytes: u64) {
    let (messages, sum) = match way {
        Way::Sent => (&mut peer.sends, &mut peer.sent),
        Way::Received => (&mut peer.receives, &mut peer.received),
    };
    *messages += 1;
    *sum = sum.wrapping_add(bytes);
}

fn take(peer: &mut Peer, bytes: u64) {
    peer.sends = peer.sends.saturating_sub(1);
    peer.sent = peer.sent.saturating_sub(bytes);
}

/// Gives a function a histogram, when it moves something for the first time; None if there are no
/// more.
fn new_sizes(block: &mut Block, function: usize, way: Way) -> Option<&mut [u64; BINS]> {
    if block.histograms as usize >= HISTOGRAMS {
        return None;
    }
    block.histograms += 1;
    let number = block.histograms as u16;
    let beside = block.beside.get_mut(function)?;
    match way {
        Way::Sent => beside.sent = number,
        Way::Received => beside.received = number,
    }
    block.sizes.get_mut(usize::from(number) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Box<Block> {
        // SAFETY: all of it is numbers.
        Box::new(unsafe { std::mem::zeroed() })
    }

    #[test]
    fn a_message_is_counted_wherever_it_belongs() {
        let mut block = block();
        let mut peers = [Peer::default(); 5];
        let mut account = Account { block: &mut block, peers: &mut peers, communicators: true };
        account.moved(Way::Sent, 3, 100, 2, 7);
        account.moved(Way::Received, 3, 0, OTHERS, 7);
        account.moved(Way::Received, 4, 1 << 39, NOBODY, 0);
        assert_eq!((block.rows[3].sends, block.rows[3].sent, block.rows[3].receives), (1, 100, 1));
        assert_eq!((peers[2].sends, peers[2].sent, peers[4].receives), (1, 100, 1));
        assert_eq!((block.traffic[7].peer.sent, block.traffic[7].peer.receives), (100, 1));
        let beside = block.beside[3];
        assert_eq!(block.sizes[usize::from(beside.sent) - 1][7], 1);
        assert_eq!(block.sizes[usize::from(beside.received) - 1][0], 1);
        let large = usize::from(block.beside[4].received) - 1;
        assert_eq!(block.sizes[large][BINS - 1], 1);
    }

    #[test]
    fn what_is_cancelled_was_never_sent() {
        let mut block = block();
        let mut peers = [Peer::default(); 2];
        let mut account = Account { block: &mut block, peers: &mut peers, communicators: true };
        account.moved(Way::Sent, 3, 100, 0, 1);
        account.moved(Way::Sent, 3, 8, 0, 1);
        assert!(account.unsent(3, 100, 0, 1));
        assert!(!account.unsent(4, 100, 0, 1));
        assert_eq!((block.rows[3].sends, block.rows[3].sent), (1, 8));
        assert_eq!((peers[0].sends, peers[0].sent), (1, 8));
        assert_eq!((block.traffic[1].peer.sends, block.traffic[1].peer.sent), (1, 8));
        assert_eq!(block.sizes[0].iter().sum::<u64>(), 1);
    }
}
