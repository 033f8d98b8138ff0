//! What is odd about runs: lines that are missing, there twice, or of a clock that was wrong.

use crate::run::Run;

/// What is odd about the lines of one run. It is counted all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oddities {
    /// Lines that are byte for byte the same as another of the run; each was counted once
    pub duplicates: u32,
    /// Lines whose `t=` and local date and time differ by what is no offset of a time zone:
    /// not a multiple of 15 min (2 s allowed), or not between -12 h and +14 h
    pub zone: u32,
    /// Lines whose times are impossible: begun before 1970, or with more CPU time than
    /// [`MOST_CPUS`] processors have in the wall clock time
    pub span: u32,
    /// The clocks of its nodes differ: one line began and ended more than [`APART`] after
    /// another; or each of two runs of one launch has one line, of different PEs, because
    /// the times do not meet
    pub apart: bool,
}

impl Oddities {
    /// Those of both lines or sets of lines.
    #[inline]
    pub(crate) fn and(self, other: Oddities) -> Oddities {
        Oddities {
            duplicates: self.duplicates + other.duplicates,
            zone: self.zone + other.zone,
            span: self.span + other.span,
            apart: self.apart || other.apart,
        }
    }
}

/// No node has more processors: the largest limit a Linux kernel is built with.
pub const MOST_CPUS: u64 = 8192;

/// Nodes that start or end later than this after others are believed to have another clock
/// if they do both, in µs.
pub const APART: i64 = 60_000_000;

/// Sums of [`Oddities`] over runs, for a footer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Runs with one line though they had two PEs or more, two of which measure
    pub single: u64,
    /// Duplicated lines, not counted
    pub duplicates: u64,
    /// Lines with a time that is none of a zone
    pub zone: u64,
    /// Lines of impossible times
    pub span: u64,
    /// Runs whose nodes' clocks differ
    pub apart: u64,
}

impl Remarks {
    /// Adds a run. `partial`: single lines were selected, so it is not odd if one is not there.
    pub fn add(&mut self, run: &Run<'_>, partial: bool) {
        let odd = &run.odd;
        self.single += u64::from(!partial && run.has_one_line_of_two());
        self.duplicates += u64::from(odd.duplicates);
        self.zone += u64::from(odd.zone);
        self.span += u64::from(odd.span);
        self.apart += u64::from(odd.apart);
    }

    /// Adds those of other runs.
    pub fn merge(&mut self, other: Remarks) {
        self.single += other.single;
        self.duplicates += other.duplicates;
        self.zone += other.zone;
        self.span += other.span;
        self.apart += other.apart;
    }
}
