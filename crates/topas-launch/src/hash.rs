//! Hashing: variable names at compile time, launch ids at run time.

/// FNV-1a, 64 bit (Fowler, Noll, Vo). Small, and good enough for names and ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fnv(u64);

impl Fnv {
    /// The empty hash.
    pub const fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    /// With more bytes.
    pub const fn with(self, bytes: &[u8]) -> Self {
        let (mut hash, mut rest) = (self.0, bytes);
        while let [first, tail @ ..] = rest {
            hash = (hash ^ *first as u64).wrapping_mul(0x0100_0000_01b3);
            rest = tail;
        }
        Fnv(hash)
    }

    /// The value.
    pub const fn value(self) -> u64 {
        self.0
    }
}

impl Default for Fnv {
    fn default() -> Self {
        Fnv::new()
    }
}

/// Spreads every bit over all others (finalizer of SplitMix64, Steele et al. 2014).
pub const fn spread(n: u64) -> u64 {
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        assert_eq!(Fnv::new().with(b"a").value(), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fnv::new().with(b"foo").with(b"bar").value(), 0x8594_4171_f739_67e8);
        assert_eq!(spread(0x9e37_79b9_7f4a_7c15), 0xe220_a839_7b1d_cdaf);
    }
}
