//! What a table of endings does not tell.

use std::collections::BTreeMap;

use crate::key_parts::KeyParts;
use crate::run::Run;

/// Runs of one MPI whose endings are not known, or not all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndingGap {
    /// Runs no line of which tells its ending
    pub unknown: u64,
    /// Runs with one line though two ranks measure: that of the other is not known
    pub single: u64,
}

/// [`EndingGap`] by the name of the MPI, None where no line tells it.
pub type EndingGaps = BTreeMap<Option<Box<[u8]>>, EndingGap>;

/// Places of the fields that tell it.
#[derive(Clone, Copy, Debug)]
pub(super) struct GapPlaces {
    pub(super) ending: usize,
    pub(super) mpi: usize,
}

impl GapPlaces {
    /// Adds a run, in whose keys the fields begin at `skip`. `partial`: single lines were selected,
    /// so it is not known whether one is missing.
    pub(super) fn add(self, gaps: &mut EndingGaps, run: &Run<'_>, skip: usize, partial: bool) {
        let value = |at: usize| {
            run.pes.iter().find_map(|pe| {
                KeyParts(run.key_of(pe).get(skip..).unwrap_or_default()).nth(at).flatten()
            })
        };
        let unknown = value(self.ending).is_none();
        let single = !partial && run.has_one_line_of_two();
        if unknown || single {
            let gap = gaps.entry(value(self.mpi).map(Box::from)).or_default();
            gap.unknown += u64::from(unknown);
            gap.single += u64::from(single);
        }
    }
}

/// Adds those of other runs.
pub(super) fn merge(gaps: &mut EndingGaps, other: EndingGaps) {
    for (mpi, other) in other {
        let gap = gaps.entry(mpi).or_default();
        gap.unknown += other.unknown;
        gap.single += other.single;
    }
}
