//! What is counted on which processor: the event table, its formulas and scaling.
//!
//! A formula is a weighted sum of raw events (`perf_event_attr.type` 4). The rows hold
//! small integers only, no references and no text, because they are linked into every
//! user program; names for people are in [`names`], which the module never touches.

mod cpu;
pub mod names;
mod table;

pub use cpu::{Cpu, Family, INTEL};
pub use table::{FORMULAS, MODELS, ROWS, unpack};

use crate::text::Words;

/// `perf_event_attr.type` of the events of a formula: `PERF_TYPE_RAW`.
pub const PERF_TYPE_RAW: u32 = 4;

/// Most events a formula has.
pub const MAX_TERMS: usize = 5;

/// What a formula computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Metric {
    /// Floating point operations; a fused multiply-add is two, SIMD lanes count each.
    FpOps,
    /// Integer operations.
    IntOps,
    /// Load instructions.
    Loads,
    /// Store instructions.
    Stores,
    /// Misses of the first level data cache.
    L1Miss,
}

impl Metric {
    /// The letter before `=` in the operations token, or `m` for cache misses in `why=`.
    pub const fn letter(self) -> u8 {
        match self {
            Metric::FpOps => b'f',
            Metric::IntOps => b'i',
            Metric::Loads => b'l',
            Metric::Stores => b's',
            Metric::L1Miss => b'm',
        }
    }

    /// The metric of an operations token's letter.
    pub const fn of_operations(letter: u8) -> Option<Metric> {
        Some(match letter {
            b'f' => Metric::FpOps,
            b'i' => Metric::IntOps,
            b'l' => Metric::Loads,
            b's' => Metric::Stores,
            _ => return None,
        })
    }
}

/// One event of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// `perf_event_attr.config`
    pub config: u32,
    /// What one count is worth
    pub weight: Weight,
}

/// What one count of an event is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// A constant
    Times(u8),
    /// The vector length in units of 128 bit, known on the node only (Arm SVE)
    VectorLength,
}

/// A weighted sum of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Where its terms stand in the table
    first: u8,
    /// How many there are, at most [`MAX_TERMS`]
    pub count: u8,
    /// Whether the events count work that was begun and thrown away, too
    pub estimate: bool,
}

impl Formula {
    /// Its events, packed as [`unpack`] takes them.
    pub fn packed(self) -> &'static [u32] {
        let first = usize::from(self.first);
        table::TERMS.get(first..first + usize::from(self.count)).unwrap_or_default()
    }

    /// Its events.
    pub fn terms(self) -> impl Iterator<Item = Term> {
        self.packed().iter().map(|packed| unpack(*packed))
    }
}

/// The row of a processor, None if the table does not know it.
#[inline(never)]
pub fn row(cpu: Cpu) -> Option<&'static [u8; 5]> {
    for model in MODELS {
        if model.holds(cpu) {
            return ROWS.get(usize::from(model.row));
        }
    }
    None
}

/// The formula for a metric in a row, without a term if there is no such event.
#[inline(never)]
pub fn of_row(row: &[u8; 5], metric: Metric) -> Formula {
    let index = row.get(metric as usize).copied().unwrap_or(0);
    FORMULAS.get(usize::from(index)).copied().unwrap_or(table::NONE)
}

/// The formula for a metric on a processor, without a term if it has no such event or
/// is not known.
pub fn formula(cpu: Option<Cpu>, metric: Metric) -> Formula {
    cpu.and_then(row).map_or(table::NONE, |row| of_row(row, metric))
}

/// A reading of one event, as the kernel returns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Count while the event was on a counter
    pub value: u64,
    /// Nanoseconds for which it was wanted, summed over threads
    pub enabled: u64,
    /// Nanoseconds for which it was on a counter
    pub running: u64,
}

impl Reading {
    /// The count for the whole time it was wanted; None if it never was on a counter.
    /// Exact when `running == enabled`, else value * enabled / running, in double
    /// precision because it is an estimate anyway. Counts stay below 2^63.
    pub fn scaled(&self) -> Option<u64> {
        if self.running == 0 {
            None
        } else if self.running >= self.enabled {
            Some(self.value)
        } else {
            let (value, enabled) = (self.value as i64 as f64, self.enabled as i64 as f64);
            Some((value * enabled / self.running as i64 as f64) as i64 as u64)
        }
    }

    /// Thousandths of the wanted time spent on a counter, 0 to 1000.
    pub fn share(&self) -> u64 {
        // Dividing first cannot overflow; below a microsecond the share is not known.
        self.running.checked_div(self.enabled / 1000).unwrap_or(1000).min(1000)
    }
}

/// Why a metric could not be had: the words of `why=`. From 1 on, so that "none" is the
/// zero of zeroed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Why {
    /// The table has no row for this processor.
    Cpu = 1,
    /// This processor has no such event.
    Event,
    /// The kernel has no counters here: no PMU, as in most virtual machines.
    Pmu,
    /// `perf_event_paranoid` or a security module forbids it.
    Paranoid,
    /// A seccomp filter forbids it, as in containers.
    Seccomp,
    /// The kernel was built without perf events.
    Kernel,
    /// No file descriptor was free.
    Files,
    /// The kernel refused the event itself.
    Refused,
    /// Another user of the counters held them all the time.
    Shared,
    /// The program closed our file descriptor.
    Lost,
}

impl Why {
    const WORDS: Words =
        Words(b"cpu event pmu paranoid seccomp kernel files refused shared lost", b' ');

    /// The word in the line.
    pub fn word(self) -> &'static [u8] {
        Why::WORDS.at(self as usize - 1)
    }

    /// The reason for people.
    #[inline(never)]
    pub fn says(self) -> &'static [u8] {
        const SAYS: Words = Words(
            b"unknown CPU\n\
              no such event\n\
              no hardware counters\n\
              perf_event_paranoid\n\
              seccomp\n\
              no perf events\n\
              no file descriptor\n\
              refused by kernel\n\
              all in use\n\
              closed by program",
            b'\n',
        );
        SAYS.at(self as usize - 1)
    }

    /// The reason behind an error number of `perf_event_open` (Linux, all processors).
    #[inline(never)]
    pub fn of_errno(errno: i32) -> Why {
        const KNOWN: [(u8, Why); 9] = [
            (1, Why::Seccomp),   // EPERM
            (13, Why::Paranoid), // EACCES
            (2, Why::Pmu),       // ENOENT
            (19, Why::Pmu),      // ENODEV
            (95, Why::Pmu),      // EOPNOTSUPP
            (38, Why::Kernel),   // ENOSYS
            (23, Why::Files),    // ENFILE
            (24, Why::Files),    // EMFILE
            (16, Why::Shared),   // EBUSY
        ];
        for (known, why) in KNOWN {
            if i32::from(known) == errno {
                return why;
            }
        }
        Why::Refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling() {
        let r = |value, enabled, running| Reading { value, enabled, running };
        assert_eq!(r(7, 10, 10).scaled(), Some(7));
        assert_eq!(r(52_269_831, 100_500_000, 52_600_000).scaled(), Some(99_869_163));
        assert_eq!(r(0, 10, 0).scaled(), None);
        assert_eq!(r(1 << 61, 4, 1).scaled(), Some(i64::MAX as u64));
        assert_eq!(r(1, 1_000_000, 250_000).share(), 250);
        assert_eq!(r(1, 1_000_000, 2_000_000).share(), 1000);
        assert_eq!(r(1, 0, 0).share(), 1000);
    }

    #[test]
    fn weights_of_vendors_formulas() {
        let terms = |cpu, metric| -> std::vec::Vec<(u32, Weight)> {
            formula(Some(cpu), metric).terms().map(|t| (t.config, t.weight)).collect()
        };
        let skx = Cpu { family: Family::Intel, number: 6, model: 0x55 };
        // The vendor's own file for this processor gives 8_FLOPS the mask of 4_FLOPS (0x18).
        assert_eq!(
            terms(skx, Metric::FpOps),
            [
                (0x03c7, Weight::Times(1)),
                (0x04c7, Weight::Times(2)),
                (0x18c7, Weight::Times(4)),
                (0x60c7, Weight::Times(8)),
                (0x80c7, Weight::Times(16))
            ]
        );
        let zen5 = Cpu { family: Family::Amd, number: 26, model: 2 };
        assert_eq!(terms(zen5, Metric::FpOps), [(0x0f03, Weight::Times(1))]);
        assert_eq!(formula(Some(zen5), Metric::IntOps).count, 0);
        let v1 = Cpu { family: Family::Arm, number: 0x41, model: 0xd40 };
        assert!(formula(Some(v1), Metric::FpOps).estimate);
    }

    /// The module keeps one place for them.
    #[test]
    fn cache_misses_are_one_event() {
        for row in ROWS {
            assert_eq!(of_row(row, Metric::L1Miss).count, 1);
            for metric in [Metric::FpOps, Metric::IntOps, Metric::Loads, Metric::Stores] {
                assert!(usize::from(of_row(row, metric).count) <= MAX_TERMS);
            }
        }
    }

    #[test]
    fn an_unknown_processor_has_no_formula() {
        let cpu = Cpu { family: Family::Intel, number: 6, model: 0x0f };
        assert_eq!(formula(Some(cpu), Metric::L1Miss).count, 0);
        assert_eq!(formula(None, Metric::L1Miss).count, 0);
    }
}
