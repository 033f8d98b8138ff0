//! What runs used in each quarter of an hour.

use rustc_hash::FxHashMap;

/// A quarter of an hour in µs.
pub(super) const QUARTER: u64 = 900_000_000;

/// PE x µs by quarters of an hour since 1970. A run changes four of them, however long it ran.
#[derive(Clone, Debug, Default)]
pub(super) struct BinSums(FxHashMap<u32, BinSum>);

#[derive(Clone, Copy, Debug, Default)]
struct BinSum {
    /// Used in parts of it, in PE x µs
    parts: u128,
    /// PEs that are busy from its beginning on, less those that no longer are
    change: i128,
}

impl BinSums {
    /// `npes` PEs from `begin` to `end`, in µs since 1970.
    pub(super) fn add(&mut self, begin: u64, end: u64, npes: u32) {
        let pes = u128::from(npes);
        let (first, last) = (begin / QUARTER, end / QUARTER);
        if first == last {
            self.bin(first).parts += pes * u128::from(end - begin);
            return;
        }
        self.bin(first).parts += pes * u128::from((first + 1) * QUARTER - begin);
        self.bin(last).parts += pes * u128::from(end - last * QUARTER);
        self.bin(first + 1).change += i128::from(npes);
        self.bin(last).change -= i128::from(npes);
    }

    fn bin(&mut self, at: u64) -> &mut BinSum {
        // A year has 35,000 of them: 32 bits are enough for every year that a line can tell.
        self.0.entry(at as u32).or_default()
    }

    pub(super) fn merge(&mut self, other: BinSums) {
        for (at, sum) in other.0 {
            let own = self.0.entry(at).or_default();
            own.parts += sum.parts;
            own.change += sum.change;
        }
    }

    /// The first and the last one.
    pub(super) fn bounds(&self) -> Option<(u32, u32)> {
        Some((self.0.keys().copied().min()?, self.0.keys().copied().max()?))
    }

    /// Gives those in which something was used, in their order, with PE x µs.
    pub(super) fn each(&self, mut each: impl FnMut(u32, u128)) {
        let mut sums: Vec<(u32, BinSum)> = self.0.iter().map(|(at, sum)| (*at, *sum)).collect();
        sums.sort_unstable_by_key(|(at, _)| *at);
        let (mut busy, mut next) = (0i128, 0);
        for (at, sum) in sums {
            if busy > 0 {
                let used = busy as u128 * u128::from(QUARTER);
                (next..at).for_each(|at| each(at, used));
            }
            busy += sum.change;
            let used = sum.parts + busy as u128 * u128::from(QUARTER);
            if used > 0 {
                each(at, used);
            }
            next = at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Spread µs by µs, in effect: each quarter of an hour asked for itself.
        #[test]
        fn each_quarter_has_its_part(
            runs in proptest::collection::vec((0u64..40, 0..QUARTER, 0..9 * QUARTER, 1u32..9), 1..30),
            cut in 0usize..30,
        ) {
            let (mut sums, mut others) = (BinSums::default(), BinSums::default());
            let mut expected = BTreeMap::<u32, u128>::new();
            let mut total = 0;
            for (at, (bin, begin, wall, npes)) in runs.into_iter().enumerate() {
                let begin = bin * QUARTER + begin;
                let end = begin + wall;
                if at < cut { sums.add(begin, end, npes) } else { others.add(begin, end, npes) }
                total += u128::from(wall) * u128::from(npes);
                for at in 0..60u64 {
                    let (from, to) = (begin.max(at * QUARTER), end.min((at + 1) * QUARTER));
                    if to > from {
                        *expected.entry(at as u32).or_default() +=
                            u128::from(to - from) * u128::from(npes);
                    }
                }
            }
            sums.merge(others);
            let mut found = BTreeMap::new();
            sums.each(|at, used| { found.insert(at, used); });
            prop_assert_eq!(found.values().sum::<u128>(), total);
            prop_assert_eq!(found, expected);
        }
    }
}
