//! The links of a thread: one to each rank that it sends to.
//!
//! A link carries one message after the other. A message of B bytes that is sent at s begins at
//! `b = max(s, f)`, where f is the moment from which the link is free; then `f = b + B / bandwidth`, and the message is there
//! at `f + latency`. So latencies of messages overlap, and their bytes do not: N messages that are under way at the same
//! time take `N B / bandwidth + latency`. Who sends does not wait for the link.
//!
//! Links of different pairs of ranks do not share anything, as if each pair had a wire of its own: a log does not tell how
//! the network is made. Each thread of a rank has links of its own, because threads are not replayed in the order of their
//! times in the model, and a link that a thread had taken in advance would hold up what another thread sent before.

use rustc_hash::FxHashMap;

use super::network::Network;

/// By the place of the rank at the other end: from when on the link is free in the model, in ns.
#[derive(Debug, Default)]
pub(super) struct Links {
    free: FxHashMap<usize, f64>,
}

impl Links {
    /// A message is sent at `at`: when it is there. `to` is the place of the rank that it goes to.
    #[inline]
    pub fn carry(&mut self, network: &Network, to: usize, at: f64, bytes: u64) -> f64 {
        // Without a bandwidth no link is ever taken, and none needs to be looked up.
        if network.per_byte == 0.0 {
            return at + network.latency;
        }
        let free = self.free.entry(to).or_insert(at);
        *free = free.max(at) + network.per_byte * bytes as f64;
        *free + network.latency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_to_a_rank_follow_each_other_and_latencies_do_not() {
        let network = Network { latency: 5.0, per_byte: 2.0, ..Network::default() };
        let mut links = Links::default();
        assert_eq!(links.carry(&network, 1, 100.0, 10), 125.0);
        assert_eq!(links.carry(&network, 1, 100.0, 10), 145.0);
        assert_eq!(links.carry(&network, 2, 100.0, 10), 125.0, "another wire");
        assert_eq!(links.carry(&network, 1, 130.0, 0), 145.0, "behind the bytes of the one before");
        assert_eq!(links.carry(&network, 1, 200.0, 10), 225.0, "the link is free again");
        let perfect = Network { latency: 5.0, ..Network::default() };
        assert_eq!(links.carry(&perfect, 1, 100.0, 1 << 40), 105.0);
    }
}
