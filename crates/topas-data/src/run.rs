//! A run: what its lines say together.

use topas_format::civil::Date;
use topas_format::number::Micros;

use crate::kind::Kind;

/// Floating point operations counted in a run, and the time they took.
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
    /// What was run: of the line of the lowest PE
    pub kind: &'k Kind,
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
    /// Number of its lines
    pub lines: u32,
    /// Whether a line has a count of floating point operations
    pub counted: bool,
    /// None if nothing was counted, or in no time: the run has no rate, which is not 0
    pub fp: Option<FpRate>,
}

impl Run<'_> {
    /// PEs times wall clock time, in µs.
    pub fn pe_micros(&self) -> u128 {
        u128::from(self.npes) * u128::from(self.wall.0)
    }
}
