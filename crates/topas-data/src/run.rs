//! A run: what its lines say together.

use std::sync::Arc;

use topas_format::civil::Date;
use topas_format::event::Metric;
use topas_format::field::Operations;
use topas_format::number::{Count, Micros};

use crate::mpi_times::MpiTimes;
use crate::remark::Oddities;
use crate::report::part_of_side;

/// How much of a line is kept until its run is complete. Less of it takes less memory, and
/// less time to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// PE, wall clock time and operations: what a rate is made of
    #[default]
    Rates,
    /// Besides, CPU times and cache misses
    Times,
    /// Besides, cycles, instructions and memory, which every extra has to be read for
    Counters,
}

/// CPU time of a PE, all its threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CpuTime {
    /// In user mode
    pub user: Micros,
    /// In the system
    pub sys: Micros,
}

impl CpuTime {
    /// Of both modes, in µs.
    pub fn micros(self) -> u128 {
        u128::from(self.user.0) + u128::from(self.sys.0)
    }
}

/// What the line of a PE says. What was not kept ([`Detail`]) is as if it was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeRecord {
    /// The PE, from 0
    pub pe: u32,
    /// Wall clock time
    pub wall: Micros,
    /// When it ended, in µs since 1970-01-01 00:00, see [`Run::end`]
    pub end: i64,
    /// Day it ended, local time of the site
    pub date: Date,
    /// Operations of the kind that this PE counted
    pub ops: Operations,
    /// CPU time; from [`Detail::Times`] on
    pub cpu: Option<CpuTime>,
    /// Misses of the level 1 data cache; from [`Detail::Times`] on
    pub l1_miss: Count,
    /// Processor cycles in user mode (`cyc=`); of [`Detail::Counters`]
    pub cycles: Count,
    /// Instructions in user mode (`ins=`); of [`Detail::Counters`]
    pub instructions: Count,
    /// Largest resident set in B (`rss=`), as far as 58 bits hold it; of [`Detail::Counters`]
    pub rss: Option<u64>,
    /// Number of what [`Question::key`](crate::Question::key) said of this line, see [`Run::key_of`]
    pub group: u32,
}

impl PeRecord {
    /// When it started, in µs since 1970-01-01 00:00.
    pub fn start(&self) -> i64 {
        self.end.saturating_sub_unsigned(self.wall.0)
    }

    /// The count of a metric, if this PE counted it.
    pub fn count(&self, metric: Metric) -> Count {
        if self.ops.metric == metric { self.ops.count } else { Count::Missing }
    }
}

/// Operations of one metric counted in a run, and the time they took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FpRate {
    /// Operations, summed over the PEs that counted them
    pub operations: u128,
    /// Wall clock time in µs, summed over the same PEs; never 0
    pub wall: u128,
    /// Number of PEs that counted them
    pub pes: u32,
    /// Whether a count among them is an estimate (`f~`)
    pub estimate: bool,
}

impl FpRate {
    /// MFlop/s per PE: operations by wall clock time.
    pub fn mflops(&self) -> f64 {
        self.operations as f64 / self.wall as f64
    }

    /// Mean of the floating point operations of a measuring PE.
    pub fn operations_per_pe(&self) -> f64 {
        self.operations as f64 / f64::from(self.pes)
    }
}

/// One execution of a program, as its lines tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run<'k> {
    /// What [`Question::key`](crate::Question::key) said of the line of the lowest PE
    pub key: &'k [u8],
    /// A number for the key: the same for equal keys, below the number of different keys,
    /// and another one the next time
    pub group: u32,
    /// A hash of what the lines of its launch have in common: user, id and number of PEs. Another
    /// run has the same if the id came again
    pub launch: u64,
    /// Number of PEs; of its lines, where the launcher does not tell
    pub npes: u32,
    /// Longest wall clock time of its lines
    pub wall: Micros,
    /// Earliest start of its lines, in µs since 1970-01-01 00:00 (UTC if they have `t=`,
    /// else the site's local time)
    pub start: i64,
    /// Latest end of its lines, likewise
    pub end: i64,
    /// Day of the latest end, local time of the site
    pub date: Date,
    /// Its lines in order of their PEs, which all differ; at least one
    pub pes: &'k [PeRecord],
    /// Times by its MPI profile; None if it has none, or [`Question::reads_profiles`] is false
    ///
    /// [`Question::reads_profiles`]: crate::Question::reads_profiles
    pub mpi: Option<MpiTimes>,
    /// What is odd about its lines
    pub odd: Oddities,
    /// Keys by their numbers
    pub(crate) keys: &'k [Arc<[u8]>],
    /// What part of them counts
    pub(crate) part: KeyPart,
}

/// A part of the keys of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum KeyPart {
    /// All of them
    #[default]
    Whole,
    /// What the first of two sides wrote that are compared
    First,
    /// What the second wrote
    Second,
}

impl<'k> Run<'k> {
    /// What [`Question::key`](crate::Question::key) said of the line of one of its PEs.
    pub fn key_of(&self, pe: &PeRecord) -> &'k [u8] {
        let key = &self.keys[pe.group as usize];
        match self.part {
            KeyPart::Whole => key,
            KeyPart::First => part_of_side(key, 0),
            KeyPart::Second => part_of_side(key, 1),
        }
    }

    /// PEs times wall clock time, in µs.
    pub fn pe_micros(&self) -> u128 {
        u128::from(self.npes) * u128::from(self.wall.0)
    }

    /// Whether it has one line though two of its PEs measure.
    pub fn has_one_line_of_two(&self) -> bool {
        self.npes >= 2 && self.pes.len() == 1
    }

    /// Number of its lines.
    pub fn lines(&self) -> u32 {
        // The engine bounds the lines of a launch.
        self.pes.len() as u32
    }

    /// Whether a line has a count of floating point operations.
    pub fn counted(&self) -> bool {
        self.pes.iter().any(|pe| pe.count(Metric::FpOps) != Count::Missing)
    }

    /// Floating point operations by time. None if nothing was counted, or in no time: the
    /// run has no rate, which is not 0.
    pub fn fp(&self) -> Option<FpRate> {
        let mut rate = FpRate { operations: 0, wall: 0, pes: 0, estimate: false };
        for pe in self.pes {
            let (operations, estimate) = match pe.count(Metric::FpOps) {
                Count::Missing => continue,
                Count::Exact(n) => (n, false),
                Count::Estimate(n) => (n, true),
            };
            rate.operations += u128::from(operations);
            rate.wall += u128::from(pe.wall.0);
            rate.pes += 1;
            rate.estimate |= estimate;
        }
        (rate.wall > 0).then_some(rate)
    }
}
