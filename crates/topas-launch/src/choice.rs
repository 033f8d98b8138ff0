//! The two ranks that measure, the same on every rank without communication.

use crate::hash::spread;

/// How many measuring ranks are lower than this one; None if it does not measure.
pub fn place(id: u64, size: u32, rank: u32) -> Option<u32> {
    let (low, high) = two(id, size)?;
    (rank == low || rank == high).then_some((rank == high).into())
}

/// The measuring ranks of a launch, the lower first; None for a single process.
///
/// From four ranks on two different ones of 1 to n-2, each pair equally likely: the
/// edges are often masters and untypical. With three ranks the middle and one edge.
/// Where the size is not told, which is a size of 0, these are ranks 1 and 2: right for every
/// launch of three ranks and more, and none of a single process. Of two ranks it is one.
pub fn two(id: u64, size: u32) -> Option<(u32, u32)> {
    if size == 1 {
        return None;
    }
    let first = spread(id ^ 0x7061_7331);
    if size < 4 {
        // Where the size is not told there is no random part.
        let low = if size == 0 { 1 } else { below(first, size - 1) };
        return Some((low, low + 1));
    }
    let a = below(first, size - 2);
    let mut b = below(spread(first), size - 3);
    if b >= a {
        b += 1;
    }
    Some((1 + a.min(b), 1 + a.max(b)))
}

/// Maps a random word to 0..n by its upper half, without a division.
fn below(random: u64, n: u32) -> u32 {
    (((random >> 32) * u64::from(n)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn small_launches() {
        assert_eq!(two(1, 0), Some((1, 2)));
        assert_eq!(two(1, 1), None);
        for id in 0..100 {
            assert_eq!(two(id, 2), Some((0, 1)));
            assert_eq!(two(id, 4), Some((1, 2)));
            assert!([Some((0, 1)), Some((1, 2))].contains(&two(id, 3)));
        }
        assert!((0..100).any(|id| two(id, 3) == Some((0, 1))));
        assert!((0..100).any(|id| two(id, 3) == Some((1, 2))));
    }

    /// Successive ids, as some launchers give them, must spread evenly: chi-squared over
    /// the 15 pairs of 8 ranks, 14 degrees of freedom, below its 99.99 % point.
    #[test]
    fn every_pair_is_as_likely() {
        let mut seen = HashMap::new();
        let n = 30_000;
        for id in 0..n {
            *seen.entry(two(id, 8).unwrap()).or_insert(0u32) += 1;
        }
        assert_eq!(seen.len(), 15);
        let expected = n as f64 / 15.0;
        let chi: f64 = seen.values().map(|&o| (f64::from(o) - expected).powi(2) / expected).sum();
        assert!(chi < 42.6, "chi-squared {chi}");
    }

    #[test]
    fn places_are_those_of_the_two() {
        let (low, high) = two(7, 8).unwrap();
        for rank in 0..8 {
            let expected = [low, high].iter().position(|chosen| *chosen == rank);
            assert_eq!(place(7, 8, rank), expected.map(|at| at as u32));
        }
        assert_eq!(place(7, 1, 0), None);
    }

    proptest! {
        #[test]
        fn always_two_different_and_never_an_edge(id: u64, size in 4u32..) {
            let (a, b) = two(id, size).unwrap();
            prop_assert!(1 <= a && a < b && b <= size - 2);
        }
    }
}
