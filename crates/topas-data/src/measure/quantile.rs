//! Quantiles of values that come in any order: exact of few, from fine buckets of many.

use std::collections::BTreeMap;

/// Up to so many values are kept as they are.
pub const FEW: usize = 256;

/// Bits of the mantissa that tell buckets apart: 128 in each octave, so that the middle of
/// one is at most 0.4 % off.
const BITS: u32 = 7;

/// Bits of a number that do not.
const DROPPED: u32 = 52 - BITS;

/// Values, none of them negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantiles {
    /// The values
    Few(Vec<f64>),
    /// Number of values by their highest bits
    Many(BTreeMap<u32, u64>),
}

impl Default for Quantiles {
    fn default() -> Self {
        Quantiles::Few(Vec::new())
    }
}

fn bucket(value: f64) -> u32 {
    (value.to_bits() >> DROPPED) as u32
}

/// The middle of a bucket; of the lowest, 0.
fn middle(bucket: u32) -> f64 {
    if bucket == 0 {
        0.0
    } else {
        f64::from_bits(u64::from(bucket) << DROPPED | 1 << (DROPPED - 1))
    }
}

impl Quantiles {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        match self {
            Quantiles::Few(values) => {
                values.push(value);
                self.settle();
            }
            Quantiles::Many(buckets) => *buckets.entry(bucket(value)).or_default() += 1,
        }
    }

    /// Adds what another one has.
    pub fn merge(&mut self, other: Quantiles) {
        match (&mut *self, other) {
            (Quantiles::Few(values), Quantiles::Few(others)) => {
                values.extend(others);
                self.settle();
            }
            (Quantiles::Many(buckets), Quantiles::Few(others)) => {
                others.into_iter().for_each(|v| *buckets.entry(bucket(v)).or_default() += 1);
            }
            (Quantiles::Few(_), mut many @ Quantiles::Many(_)) => {
                many.merge(std::mem::take(self));
                *self = many;
            }
            (Quantiles::Many(buckets), Quantiles::Many(others)) => {
                others.into_iter().for_each(|(at, n)| *buckets.entry(at).or_default() += n);
            }
        }
    }

    /// Too many values go into buckets. That depends on the number of values alone.
    fn settle(&mut self) {
        if let Quantiles::Few(values) = self
            && values.len() > FEW
        {
            let mut buckets = BTreeMap::new();
            values.iter().for_each(|&v| *buckets.entry(bucket(v)).or_default() += 1);
            *self = Quantiles::Many(buckets);
        }
    }

    /// Whether quantiles are estimates, off by at most 0.4 %.
    pub fn is_estimate(&self) -> bool {
        matches!(self, Quantiles::Many(_))
    }

    /// Quantiles of Hyndman and Fan's type 7 for shares from 0 to 1; None without values.
    ///
    /// R. J. Hyndman, Y. Fan: Sample Quantiles in Statistical Packages, The American
    /// Statistician 50 (1996): between the values of places floor(h) and floor(h) + 1, from
    /// 0, with h = (n - 1) p.
    pub fn at<const N: usize>(&self, shares: [f64; N]) -> Option<[f64; N]> {
        let between = |n: u64, share: f64, value: &dyn Fn(u64) -> f64| {
            let h = (n - 1) as f64 * share;
            let low = h.floor();
            let (below, above) = (value(low as u64), value((low as u64 + 1).min(n - 1)));
            below + (above - below) * (h - low)
        };
        match self {
            Quantiles::Few(values) if values.is_empty() => None,
            Quantiles::Few(values) => {
                let mut sorted = values.clone();
                sorted.sort_by(f64::total_cmp);
                let value = |at: u64| sorted[at as usize];
                Some(shares.map(|share| between(sorted.len() as u64, share, &value)))
            }
            Quantiles::Many(buckets) => {
                let value = |at: u64| {
                    let mut before = 0;
                    let mut holds = buckets.iter().filter(|(_, n)| {
                        before += **n;
                        before > at
                    });
                    holds.next().map_or(0.0, |(at, _)| middle(*at))
                };
                let n = buckets.values().sum();
                Some(shares.map(|share| between(n, share, &value)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUARTILES: [f64; 3] = [0.25, 0.5, 0.75];

    #[test]
    fn few_values_are_exact() {
        let of = |values: &[f64]| {
            let mut quantiles = Quantiles::default();
            values.iter().for_each(|&v| quantiles.add(v));
            quantiles.at(QUARTILES)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7.0]), Some([7.0; 3]));
        // R: quantile(c(1, 2, 4, 8), type = 7)
        assert_eq!(of(&[8.0, 1.0, 4.0, 2.0]), Some([1.75, 3.0, 5.0]));
    }

    proptest! {
        #[test]
        fn many_are_near_and_the_order_is_no_matter(
            exponents in proptest::collection::vec(-30.0..60.0f64, 1..900), cut in 0..900usize,
        ) {
            let values: Vec<f64> = exponents.iter().map(|e| e.exp2()).collect();
            let of = |values: &[f64]| {
                let mut quantiles = Quantiles::default();
                values.iter().for_each(|&v| quantiles.add(v));
                quantiles
            };
            let all = of(&values);
            let (one, other) = values.split_at(cut.min(values.len()));
            for (a, b) in [(one, other), (other, one)] {
                let mut parts = of(a);
                parts.merge(of(b));
                prop_assert_eq!(parts.at(QUARTILES), all.at(QUARTILES));
                prop_assert_eq!(parts.is_estimate(), values.len() > FEW);
            }
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            for (share, got) in QUARTILES.iter().zip(all.at(QUARTILES).unwrap()) {
                let h = (sorted.len() - 1) as f64 * share;
                let (low, high) = (sorted[h.floor() as usize], sorted[h.ceil() as usize]);
                prop_assert!(got >= low * 0.996 && got <= high * 1.004, "{got} {low} {high}");
            }
        }
    }
}
