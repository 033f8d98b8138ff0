//! What can be computed of a run: one table of measures. Each is a ratio of sums over those
//! PEs of the run that have both terms.

mod bucket;
mod exact;
mod integer_sums;
mod noise;
mod quantile;
mod quotient;
mod sample;
mod terms;

pub use bucket::{
    Bounds, BucketSize, BucketSizeError, MOST_LINEAR, MeasureBucket, Scale, ScaleKind, SettledScale,
};
pub use integer_sums::{IntegerSums, RunTerms};
pub use noise::{
    LogDifference, RunLogs, RunNoise, difference_error, log_difference, median_ratio_chance,
    sum_difference_error,
};
pub use quantile::{FEW, Quantiles};
pub use sample::{Mean, Sample, Spread, Sum};

use std::cmp::Ordering;

use quotient::quotient;
use terms::{Ratio, TermSums, Terms, count, rate, whole};
use topas_format::event::Metric;

use crate::field::{FieldUnit, most_similar};
use crate::mpi_times::{MpiTimes, MpiWaits};
use crate::run::{Detail, PeRecord, Run};

/// A measure: a row of [`MEASURES`].
pub struct Measure {
    /// Name in a query
    pub name: &'static str,
    /// Heading of a column
    pub heading: &'static str,
    /// Unit of a value
    pub unit: &'static str,
    /// Unit that an expression writes its values in
    pub written: FieldUnit,
    /// What it is, as a sentence
    pub about: &'static str,
    /// What its sum counts and the unit of that; empty where a sum has no meaning
    pub sum: (&'static str, &'static str),
    /// Why a run may have no value: none of its PEs has the terms
    pub uncounted: &'static str,
    /// Why a run may have no value: the lower term is 0
    pub zero: &'static str,
    /// Size of a bucket where the data calls for a linear scale ([`ScaleKind::FromData`]); None:
    /// on a logarithmic scale
    pub bucket: Option<&'static str>,
    /// How much of a line it needs
    pub detail: Detail,
    terms: Terms,
    /// Value = upper x factor.0 / (lower x factor.1), in its unit
    factor: (u32, u64),
    /// Sum = upper / this, in its unit
    sum_divisor: u64,
}

impl std::fmt::Debug for Measure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const NO_TIME: &str = "with a wall clock time of 0";

/// A rate of operations of a metric.
const fn operations(
    [name, heading, unit, about, sum, uncounted]: [&'static str; 6],
    terms: fn(&PeRecord) -> Option<Ratio>,
) -> Measure {
    Measure {
        name,
        heading,
        unit,
        written: FieldUnit::MillionPerSecond,
        about,
        sum: (sum, "op"),
        uncounted,
        zero: NO_TIME,
        bucket: Some("50"),
        detail: Detail::Rates,
        terms: Terms::Pe(terms),
        factor: (1, 1),
        sum_divisor: 1,
    }
}

/// A share of the time of all ranks, by the MPI profile.
const fn share_of_ranks(
    [name, heading, about, sum]: [&'static str; 4],
    uncounted: &'static str,
    time: fn(&MpiTimes) -> Option<u64>,
) -> Measure {
    Measure {
        name,
        heading,
        unit: "% of rank time",
        written: FieldUnit::Percent,
        about,
        sum: (sum, "h"),
        uncounted,
        zero: "with a rank time of 0",
        bucket: Some("10"),
        detail: Detail::Rates,
        terms: Terms::Profile(time),
        factor: (100, 1),
        sum_divisor: 3_600_000_000,
    }
}

/// The same of waits.
const fn share_of_waits(words: [&'static str; 4], time: fn(&MpiTimes) -> Option<u64>) -> Measure {
    share_of_ranks(words, "without an MPI profile that tells waits apart", time)
}

/// A kind of wait, if waits were told apart.
fn waits(times: &MpiTimes, time: fn(&MpiWaits) -> u64) -> Option<u64> {
    times.waits.as_ref().map(time)
}

/// Every measure, the usual one first.
pub const MEASURES: &[Measure] = &[
    operations(
        [
            "mflops",
            "Mflops",
            "MFlop/s per PE",
            "Floating point operations by wall clock time.",
            "floating point operations",
            "without a count of floating point operations",
        ],
        |pe| rate(pe, pe.count(Metric::FpOps)),
    ),
    operations(
        [
            "mintops",
            "Mintops",
            "Mop/s per PE",
            "Integer operations by wall clock time.",
            "integer operations",
            "without a count of integer operations",
        ],
        |pe| rate(pe, pe.count(Metric::IntOps)),
    ),
    operations(
        [
            "mloads",
            "Mloads",
            "Mop/s per PE",
            "Loads by wall clock time.",
            "loads",
            "without a count of loads",
        ],
        |pe| rate(pe, pe.count(Metric::Loads)),
    ),
    operations(
        [
            "mstores",
            "Mstores",
            "Mop/s per PE",
            "Stores by wall clock time.",
            "stores",
            "without a count of stores",
        ],
        |pe| rate(pe, pe.count(Metric::Stores)),
    ),
    Measure {
        name: "l1_per_op",
        heading: "L1/op",
        unit: "misses per op",
        written: FieldUnit::None,
        about: "Level 1 data cache misses by floating point operations, of PEs that counted both.",
        sum: ("level 1 data cache misses of PEs that counted operations", "misses"),
        uncounted: "without a PE that counted floating point operations and cache misses",
        zero: "with 0 floating point operations",
        bucket: None,
        detail: Detail::Times,
        terms: Terms::Pe(|pe| {
            let (upper, one) = count(pe.l1_miss)?;
            let (lower, other) = count(pe.count(Metric::FpOps))?;
            Some(Ratio { upper, lower, estimate: one | other })
        }),
        factor: (1, 1),
        sum_divisor: 1,
    },
    Measure {
        name: "l1_rate",
        heading: "L1 rate",
        unit: "M/s per PE",
        written: FieldUnit::MillionPerSecond,
        about: "Level 1 data cache misses by wall clock time, in millions.",
        sum: ("level 1 data cache misses", "misses"),
        uncounted: "without a count of cache misses",
        zero: NO_TIME,
        bucket: Some("5"),
        detail: Detail::Times,
        terms: Terms::Pe(|pe| rate(pe, pe.l1_miss)),
        factor: (1, 1),
        sum_divisor: 1,
    },
    Measure {
        name: "sys_share",
        heading: "Sys%",
        unit: "% of CPU time",
        written: FieldUnit::Percent,
        about: "System CPU time by user and system CPU time.",
        sum: ("system CPU time", "h"),
        uncounted: "without CPU times",
        zero: "with a CPU time of 0",
        bucket: Some("10"),
        detail: Detail::Times,
        terms: Terms::Pe(|pe| {
            let cpu = pe.cpu?;
            Some(Ratio { upper: cpu.sys.0.into(), lower: cpu.micros(), estimate: false })
        }),
        factor: (100, 1),
        sum_divisor: 3_600_000_000,
    },
    Measure {
        name: "cpu_use",
        heading: "CPU%",
        unit: "% of wall clock time",
        written: FieldUnit::Percent,
        about: "User and system CPU time of a PE, all its threads, by wall clock time.",
        sum: ("CPU time", "h"),
        uncounted: "without CPU times",
        zero: NO_TIME,
        bucket: Some("10"),
        detail: Detail::Times,
        terms: Terms::Pe(|pe| {
            let upper = pe.cpu?.micros();
            Some(Ratio { upper, lower: pe.wall.0.into(), estimate: false })
        }),
        factor: (100, 1),
        sum_divisor: 3_600_000_000,
    },
    Measure {
        name: "pe_hours",
        heading: "PE-h",
        unit: "PE-h per run",
        written: FieldUnit::None,
        about: "Number of PEs times the wall clock time of a run.",
        sum: ("PE-hours", "PE-h"),
        uncounted: "without a wall clock time",
        zero: "of nothing",
        bucket: None,
        detail: Detail::Rates,
        terms: Terms::Run(|run| whole(run.pe_micros())),
        factor: (1, 3_600_000_000),
        sum_divisor: 3_600_000_000,
    },
    Measure {
        name: "wall",
        heading: "Wall",
        unit: "s per run",
        written: FieldUnit::Seconds,
        about: "Wall clock time of a run: that of its longest line.",
        sum: ("wall clock time", "h"),
        uncounted: "without a wall clock time",
        zero: "of nothing",
        bucket: None,
        detail: Detail::Rates,
        terms: Terms::Run(|run| whole(run.wall.0.into())),
        factor: (1, 1_000_000),
        sum_divisor: 3_600_000_000,
    },
    Measure {
        name: "ipc",
        heading: "IPC",
        unit: "instructions per cycle",
        written: FieldUnit::None,
        about: "Instructions by processor cycles, in user mode.",
        sum: ("instructions", "instructions"),
        uncounted: "without counts of instructions and cycles",
        zero: "with 0 cycles",
        bucket: Some("0.25"),
        detail: Detail::Counters,
        terms: Terms::Pe(|pe| {
            let (upper, one) = count(pe.instructions)?;
            let (lower, other) = count(pe.cycles)?;
            Some(Ratio { upper, lower, estimate: one | other })
        }),
        factor: (1, 1),
        sum_divisor: 1,
    },
    Measure {
        name: "memory",
        heading: "Memory",
        unit: "B per PE",
        written: FieldUnit::Bytes,
        about: "Largest resident set of a PE, of those that measured.",
        // Largest values of runs have no sum that somebody could use.
        sum: ("", ""),
        uncounted: "without a measured resident set",
        zero: "of nothing",
        bucket: None,
        detail: Detail::Counters,
        terms: Terms::Run(|run| {
            run.pes.iter().filter_map(|pe| pe.rss).max().and_then(|bytes| whole(bytes.into()))
        }),
        factor: (1, 1),
        sum_divisor: 1,
    },
    share_of_ranks(
        [
            "mpi_share",
            "MPI%",
            "Time of all ranks in MPI by their time from the first call of MPI to the end.",
            "time of ranks in MPI",
        ],
        "without an MPI profile",
        |times| Some(times.mpi),
    ),
    share_of_waits(
        [
            "late",
            "Late%",
            "Time that ranks waited for late senders, by the time of all ranks.",
            "time lost to late senders",
        ],
        |times| waits(times, |waits| waits.late),
    ),
    share_of_waits(
        [
            "latercv",
            "Late rcv%",
            "Time that ranks waited for late receivers, by the time of all ranks.",
            "time lost to late receivers",
        ],
        |times| waits(times, |waits| waits.late_receiver),
    ),
    share_of_waits(
        [
            "coll",
            "Coll%",
            "Time that ranks waited for others in collectives, by the time of all ranks.",
            "time lost in collectives",
        ],
        |times| waits(times, |waits| waits.collective),
    ),
    share_of_waits(
        [
            "lateunk",
            "Unknown%",
            "Time in calls of MPI that may have waited or not, by the time of all ranks.",
            "time in calls that may have waited",
        ],
        |times| waits(times, |waits| waits.unknown),
    ),
];

/// Measures that are made of counts of events of the processor.
const PROCESSOR_RATES: [&str; 7] =
    ["mflops", "mintops", "mloads", "mstores", "l1_per_op", "l1_rate", "ipc"];

/// What a measure is of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Of {
    /// No PE has the terms
    Uncounted,
    /// The lower term is 0
    Zero,
    /// Upper and lower term; the value is their ratio by the factor
    Value {
        /// Sum of the upper terms, with the factor
        upper: u128,
        /// Sum of the lower terms, with the factor
        lower: u128,
    },
}

impl Of {
    /// The value; None if there is none.
    pub fn ratio(&self) -> Option<f64> {
        match *self {
            Of::Uncounted | Of::Zero => None,
            Of::Value { upper, lower } => Some(quotient(upper, lower)),
        }
    }

    /// How the value compares with a number of millionths of its unit, exactly; None if there is
    /// no value.
    pub fn order(&self, millionths: i128) -> Option<Ordering> {
        let Of::Value { upper, lower } = *self else { return None };
        let Ok(other) = u128::try_from(millionths) else { return Some(Ordering::Greater) };
        Some(match (upper.checked_mul(1_000_000), lower.checked_mul(other)) {
            (Some(own), Some(other)) => own.cmp(&other),
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            // Not of runs that exist: the terms of 2^32 PEs have less digits.
            (None, None) => quotient(upper, lower).total_cmp(&(other as f64 / 1e6)),
        })
    }

    /// The value in millionths of its unit, without what is finer; None if there is none.
    pub fn millionths(&self) -> Option<i128> {
        let Of::Value { upper, lower } = *self else { return None };
        let fraction = (upper % lower).saturating_mul(1_000_000) / lower;
        i128::try_from((upper / lower).saturating_mul(1_000_000).saturating_add(fraction)).ok()
    }
}

impl Measure {
    /// The measure of this name.
    ///
    /// # Errors
    ///
    /// The measure of a similar name, if there is one.
    pub fn named(name: &str) -> Result<&'static Measure, Option<&'static str>> {
        if let Some(measure) = MEASURES.iter().find(|measure| measure.name == name) {
            return Ok(measure);
        }
        Err(most_similar(name, MEASURES.iter().map(|measure| (measure.name, measure.name))))
    }

    /// Calls `each` with the terms of each PE that has them.
    fn each_pe(&self, run: &Run<'_>, each: impl FnMut(Ratio)) {
        match self.terms {
            Terms::Pe(terms) => run.pes.iter().filter_map(terms).for_each(each),
            Terms::Run(terms) => terms(run).into_iter().for_each(each),
            Terms::Profile(time) => {
                let both = run.mpi.and_then(|times| Some((time(&times)?, times.wall)));
                both.map(|(time, wall)| Ratio {
                    upper: time.into(),
                    lower: wall.into(),
                    estimate: false,
                })
                .into_iter()
                .for_each(each);
            }
        }
    }

    /// Sums of its terms over the PEs of a run that have them; None if there are none.
    fn sums(&self, run: &Run<'_>) -> Option<TermSums> {
        let mut sums = TermSums { upper: 0, lower: 0, pes: 0, estimate: false };
        self.each_pe(run, |ratio| {
            sums.upper += ratio.upper;
            sums.lower += ratio.lower;
            sums.pes += 1;
            sums.estimate |= ratio.estimate;
        });
        (sums.pes > 0).then_some(sums)
    }

    /// Its value of a run, as an exact ratio.
    pub fn of(&self, run: &Run<'_>) -> Of {
        self.of_sums(self.sums(run).as_ref())
    }

    fn of_sums(&self, sums: Option<&TermSums>) -> Of {
        match sums {
            None => Of::Uncounted,
            Some(TermSums { lower: 0, .. }) => Of::Zero,
            // Both are sums of at most 2^32 numbers of 64 bits; the factors have 7 and 32.
            Some(TermSums { upper, lower, .. }) => Of::Value {
                upper: upper * u128::from(self.factor.0),
                lower: lower * u128::from(self.factor.1),
            },
        }
    }

    /// Its value of a run, and what the run adds to sums: [`Measure::of`] and [`Measure::terms_of`]
    /// from one look at the PEs.
    pub(crate) fn of_and_terms(&self, run: &Run<'_>) -> (Of, Option<RunTerms>) {
        let sums = self.sums(run);
        (self.of_sums(sums.as_ref()), sums.map(|sums| self.extrapolated(&sums, run)))
    }

    /// The PEs of a run that have its terms, and whether a count among these is an estimate. Of a
    /// measure of the run as a whole all PEs that have a line.
    pub fn counted_by(&self, run: &Run<'_>) -> (Vec<u32>, bool) {
        let terms = match self.terms {
            Terms::Pe(terms) => terms,
            _ if self.of(run) == Of::Uncounted => return (Vec::new(), false),
            Terms::Run(_) | Terms::Profile(_) => {
                return (run.pes.iter().map(|pe| pe.pe).collect(), false);
            }
        };
        let counted =
            run.pes.iter().filter_map(|pe| terms(pe).map(|ratio| (pe.pe, ratio.estimate)));
        let (pes, estimates): (Vec<u32>, Vec<bool>) = counted.unzip();
        (pes, estimates.contains(&true))
    }

    /// A ratio of terms in its unit; None beyond what is held.
    fn in_unit(&self, upper: u128, lower: u128) -> Option<f64> {
        let upper = upper.checked_mul(self.factor.0.into())?;
        Some(quotient(upper, lower.checked_mul(self.factor.1.into())?))
    }

    /// Number of PEs of a run that have its terms.
    pub(crate) fn pes(&self, run: &Run<'_>) -> u32 {
        let mut pes = 0;
        self.each_pe(run, |_| pes += 1);
        pes
    }

    /// Whether it is of the MPI profile of a run, which is a record of its own in the log.
    pub fn is_of_profile(&self) -> bool {
        matches!(self.terms, Terms::Profile(_))
    }

    /// Whether rows are sorted by its sum and not by its mean: of what is lost, the program that
    /// loses most comes first, and not a short one that loses a larger share.
    pub fn is_sorted_by_sum(&self) -> bool {
        self.is_of_profile()
    }

    /// Whether two times, or two groups of runs, are compared by its sum over their runs and not
    /// by its mean: what is used up.
    pub fn is_compared_by_sum(&self) -> bool {
        self.name == "pe_hours"
    }

    /// Whether it is a rate of the processor, made of counts of its events. Of a program that
    /// computes on an accelerator such a rate says nothing.
    pub fn is_of_processor(&self) -> bool {
        PROCESSOR_RATES.contains(&self.name)
    }

    /// Whether its sum is extrapolated from the measuring PEs to all.
    pub fn is_extrapolated(&self) -> bool {
        matches!(self.terms, Terms::Pe(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_compare_exactly() {
        let third = Of::Value { upper: 1, lower: 3 };
        assert_eq!(third.millionths(), Some(333_333));
        assert_eq!(third.order(333_333), Some(Ordering::Greater));
        assert_eq!(third.order(333_334), Some(Ordering::Less));
        assert_eq!(third.order(-1), Some(Ordering::Greater));
        assert_eq!(Of::Value { upper: 7, lower: 7 }.order(1_000_000), Some(Ordering::Equal));
        let large = Of::Value { upper: u128::MAX, lower: u128::MAX };
        assert_eq!(large.order(i128::MAX), Some(Ordering::Less));
        assert_eq!(large.order(1), Some(Ordering::Greater));
        assert_eq!((Of::Zero.order(0), Of::Uncounted.order(0)), (None, None));
    }

    #[test]
    fn names_differ_and_are_described() {
        for (at, measure) in MEASURES.iter().enumerate() {
            assert_eq!(Measure::named(measure.name).map(|m| m.name), Ok(measure.name));
            assert!(MEASURES[..at].iter().all(|other| other.name != measure.name));
            assert!(measure.about.ends_with('.'));
            assert!(measure.bucket.is_none_or(|size| size.parse::<BucketSize>().is_ok()));
            assert!(crate::field::Field::named(measure.name).is_err(), "{}", measure.name);
        }
        assert!(PROCESSOR_RATES.iter().all(|name| Measure::named(name).is_ok()));
        assert_eq!(Measure::named("mflop"), Err(Some("mflops")));
        assert_eq!(Measure::named("temperature"), Err(None));
    }
}
