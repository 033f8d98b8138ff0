//! What a measure is the ratio of, and what these terms are of one PE.

use topas_format::number::Count;

use crate::mpi_times::MpiTimes;
use crate::run::{PeRecord, Run};

/// Upper and lower term of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ratio {
    pub(super) upper: u128,
    pub(super) lower: u128,
    /// Whether a count in it is an estimate
    pub(super) estimate: bool,
}

/// Sums of terms over those PEs of a run that have them.
pub(super) struct TermSums {
    pub(super) upper: u128,
    pub(super) lower: u128,
    /// Number of these PEs, at least one
    pub(super) pes: u32,
    /// Whether an estimate is among them
    pub(super) estimate: bool,
}

/// Of what a measure is the ratio.
#[derive(Clone, Copy)]
pub(super) enum Terms {
    /// Of each PE; None if it was not measured there
    Pe(fn(&PeRecord) -> Option<Ratio>),
    /// Of the run as a whole, to which all its PEs belong; None if it was not measured
    Run(fn(&Run<'_>) -> Option<Ratio>),
    /// Of the MPI profile of the run, which is of all its ranks; None if it does not tell that
    Profile(fn(&MpiTimes) -> Option<u64>),
}

/// A term that is a count, and whether it is estimated.
pub(super) fn count(count: Count) -> Option<(u128, bool)> {
    match count {
        Count::Missing => None,
        Count::Exact(n) => Some((n.into(), false)),
        Count::Estimate(n) => Some((n.into(), true)),
    }
}

/// A quantity of a run that is no ratio.
#[allow(clippy::unnecessary_wraps)]
pub(super) fn whole(upper: u128) -> Option<Ratio> {
    Some(Ratio { upper, lower: 1, estimate: false })
}

/// Counts of an event by the wall clock time.
pub(super) fn rate(pe: &PeRecord, of: Count) -> Option<Ratio> {
    let (upper, estimate) = count(of)?;
    Some(Ratio { upper, lower: pe.wall.0.into(), estimate })
}
