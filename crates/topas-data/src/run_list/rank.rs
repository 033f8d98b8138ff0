//! The order of runs.

use std::cmp::Reverse;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::RunValue;
use crate::run::Run;

/// The value that a run is sorted by; what comes first is less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Number(i128),
    Text(Box<[u8]>),
    TextFromZ(Reverse<Box<[u8]>>),
    Missing,
}

impl Rank {
    /// Numbers from the largest, texts from A, or both the other way round.
    pub(super) fn new(value: RunValue, reverse: bool) -> Self {
        let number = |n: i128| Rank::Number(if reverse { n } else { -n });
        match value {
            RunValue::Missing => Rank::Missing,
            RunValue::Number(n) => number(n),
            // The bits of numbers that are not negative ascend as they do.
            RunValue::Ratio(value) => number(value.max(0.0).to_bits().into()),
            RunValue::Text(text) if reverse => Rank::TextFromZ(Reverse(text)),
            RunValue::Text(text) => Rank::Text(text),
        }
    }
}

/// What tells a run from all others of a log, and orders those of equal rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(super) end: i64,
    pub(super) start: i64,
    pub(crate) launch: u64,
    /// Hash of the PEs that have lines, and of what these counted
    pes: u64,
}

impl Place {
    pub(crate) fn new(run: &Run<'_>) -> Self {
        let mut hasher = FxHasher::default();
        for pe in run.pes {
            (pe.pe, pe.wall.0, pe.end).hash(&mut hasher);
            (pe.ops.metric.letter(), pe.ops.count.value()).hash(&mut hasher);
        }
        Place { end: run.end, start: run.start, launch: run.launch, pes: hasher.finish() }
    }

    fn order(&self) -> impl Ord + use<> {
        (Reverse(self.end), Reverse(self.start), self.launch, self.pes)
    }
}

/// Where a run stands in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunPlace {
    pub(super) rank: Rank,
    pub(super) place: Place,
}

impl Ord for RunPlace {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank.cmp(&other.rank).then_with(|| self.place.order().cmp(&other.place.order()))
    }
}

impl PartialOrd for RunPlace {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
