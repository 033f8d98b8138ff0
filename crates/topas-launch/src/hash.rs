//! Hashing of launch ids.

pub use topas_format::hash::Fnv;

/// Spreads every bit over all others (finalizer of SplitMix64, Steele et al. 2014).
#[inline(never)]
pub const fn spread(n: u64) -> u64 {
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_value() {
        assert_eq!(spread(0x9e37_79b9_7f4a_7c15), 0xe220_a839_7b1d_cdaf);
    }
}
