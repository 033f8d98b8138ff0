//! Sums of a measure as whole numbers of 64 bits, which any database can keep and add up.
//!
//! A sum over a center does not fit into 64 bits. So each large number is kept in four parts of 32
//! bits, and parts are added for themselves: 2^31 runs can be added before a part is full. Parts may
//! be taken away again, and be negative. All of this is linear, so it does not matter who adds, and in
//! what order.

use crate::share::{PeTime, Share};

/// What a run adds to sums of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTerms {
    /// Upper term, as the PEs with a line counted it
    pub counted: u128,
    /// Upper term for all PEs of the run, in a unit that only [`Sample`](super::Sample) knows
    pub upper: u128,
    /// Lower term, likewise; 0 if the run has no value
    pub lower: u128,
    /// PEs that have the terms
    pub pes: u32,
    /// PEs that these stand for
    pub all_pes: u32,
    /// Whether a count in the terms is an estimate
    pub estimate: bool,
}

/// Parts of a large number.
const PARTS: usize = 4;

/// Bits of a part.
const BITS: usize = 32;

/// Sums over runs: the numbers of [`IntegerSums::COLUMNS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntegerSums(pub [i64; Self::COLUMNS.len()]);

impl IntegerSums {
    /// Names of the numbers: runs; PEs x wall clock time in µs, upper and lower terms, the lowest
    /// part first; PEs that measured, PEs of their runs; runs with an estimate.
    pub const COLUMNS: [&'static str; 16] = [
        "runs",
        "pe0",
        "pe1",
        "pe2",
        "pe3",
        "upper0",
        "upper1",
        "upper2",
        "upper3",
        "lower0",
        "lower1",
        "lower2",
        "lower3",
        "pes",
        "all_pes",
        "estimated",
    ];

    /// Of one run of so many PE x µs, and of its terms if a measure is asked for.
    pub fn of_run(pe_micros: u128, terms: Option<&RunTerms>) -> Self {
        let mut sums = [0; Self::COLUMNS.len()];
        sums[0] = 1;
        put(&mut sums[1..5], pe_micros);
        if let Some(terms) = terms {
            put(&mut sums[5..9], terms.upper);
            put(&mut sums[9..13], terms.lower);
            sums[13] = terms.pes.into();
            sums[14] = terms.all_pes.into();
            sums[15] = terms.estimate.into();
        }
        IntegerSums(sums)
    }

    /// Adds what others have.
    pub fn add(&mut self, other: &IntegerSums) {
        self.0.iter_mut().zip(other.0).for_each(|(own, more)| *own = own.saturating_add(more));
    }

    /// Takes away what was added before.
    pub fn take(&mut self, other: &IntegerSums) {
        self.0.iter_mut().zip(other.0).for_each(|(own, less)| *own = own.saturating_sub(less));
    }

    /// Whether nothing is left.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|number| *number == 0)
    }

    /// Runs and their time.
    pub fn share(&self) -> Share {
        Share { runs: self.0[0].try_into().unwrap_or(0), time: PeTime(got(&self.0[1..5])) }
    }

    /// Sum of the upper terms.
    pub fn upper(&self) -> u128 {
        got(&self.0[5..9])
    }

    /// Sum of the lower terms.
    pub fn lower(&self) -> u128 {
        got(&self.0[9..13])
    }

    /// PEs that measured.
    pub fn pes(&self) -> u128 {
        self.0[13].try_into().unwrap_or(0)
    }

    /// PEs of their runs.
    pub fn all_pes(&self) -> u128 {
        self.0[14].try_into().unwrap_or(0)
    }

    /// Runs whose value is an estimate.
    pub fn estimated(&self) -> u64 {
        self.0[15].try_into().unwrap_or(0)
    }
}

fn put(parts: &mut [i64], number: u128) {
    for (at, part) in parts.iter_mut().enumerate() {
        *part = (number >> (BITS * at)) as u32 as i64;
    }
}

/// The number of some parts; the largest there is if it is beyond that.
fn got(parts: &[i64]) -> u128 {
    debug_assert_eq!(parts.len(), PARTS);
    // From the highest: what is carried from a part is at most 33 bits.
    let (mut number, mut carry) = (0u128, 0i128);
    for (at, part) in parts.iter().enumerate() {
        let sum = i128::from(*part) + carry;
        number |= u128::from(sum as u32) << (BITS * at);
        carry = sum >> BITS;
    }
    match carry {
        0 => number,
        ..0 => 0,
        _ => u128::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn terms(upper: u128, lower: u128) -> RunTerms {
        RunTerms { counted: 0, upper, lower, pes: 2, all_pes: 16, estimate: true }
    }

    #[test]
    fn what_is_beyond_is_told() {
        let mut sums = IntegerSums::of_run(1, Some(&terms(u128::MAX, 1)));
        assert_eq!(sums.upper(), u128::MAX);
        sums.add(&sums.clone());
        assert_eq!((sums.upper(), sums.lower(), sums.estimated()), (u128::MAX, 2, 2));
    }

    proptest! {
        #[test]
        fn sums_are_those_of_whole_numbers(
            runs in proptest::collection::vec((0..u128::MAX / 64, 0..u128::MAX / 64), 1..30),
            less in 0..30usize,
        ) {
            let less = less.min(runs.len());
            let mut sums = IntegerSums::default();
            for (upper, lower) in &runs {
                sums.add(&IntegerSums::of_run(*lower, Some(&terms(*upper, *lower))));
            }
            for (upper, lower) in &runs[..less] {
                sums.take(&IntegerSums::of_run(*lower, Some(&terms(*upper, *lower))));
            }
            let left = &runs[less..];
            prop_assert_eq!(sums.upper(), left.iter().map(|run| run.0).sum::<u128>());
            prop_assert_eq!(sums.lower(), left.iter().map(|run| run.1).sum::<u128>());
            prop_assert_eq!(sums.share().time.0, sums.lower());
            prop_assert_eq!((sums.share().runs, sums.pes()), (left.len() as u64, 2 * left.len() as u128));
            prop_assert_eq!(sums.is_zero(), left.is_empty());
        }
    }
}
