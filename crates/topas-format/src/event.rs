//! What is counted on which processor: the event table, its formulas and scaling.
//!
//! A formula is a weighted sum of events. There is one table per instruction set, written
//! for people: names, caveats, formulas. Every user program has the one of its own
//! instruction set, in a small form that the compiler makes of it ([`here`]).

mod arm;
mod cpu;
mod formula;
mod generic;
mod power;
mod riscv;
mod table;
mod x86;

pub use cpu::{AMD, Cpu, Family, INTEL};
pub use formula::{
    Formula, MAX_TERMS, PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_RAW, Packed, Term, Weight,
};
pub use table::{Models, Row, Small, Status, Table};

use crate::text::Words;

/// The table of the instruction set this is compiled for, as user programs have it.
pub mod here {
    #[cfg(target_arch = "aarch64")]
    pub use super::arm::small::{SMALL, place};
    #[cfg(target_arch = "x86_64")]
    pub use super::x86::small::{SMALL, place};
}

/// Functions of libraries that count with the hardware counters themselves: PAPI, LIKWID (whose
/// marker interface needs `perfmon_init`) and libpfm4. A program that holds one is left its
/// counters; the module asks for each by a weak symbol.
pub const COUNTING_FUNCTIONS: [&str; 3] = ["PAPI_library_init", "perfmon_init", "pfm_initialize"];

/// Every table.
pub static TABLES: [&Table; 4] = [&x86::TABLE, &arm::TABLE, &power::TABLE, &riscv::TABLE];

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

impl Family {
    /// The table with this family's processors.
    pub fn table(self) -> &'static Table {
        match self {
            Family::Intel | Family::Amd => &x86::TABLE,
            Family::Arm => &arm::TABLE,
            Family::Power => &power::TABLE,
            Family::RiscV => &riscv::TABLE,
        }
    }
}

/// The row of a processor, None if no table knows it.
pub fn row(cpu: Cpu) -> Option<&'static Row> {
    let table = cpu.family.table();
    match table.place(cpu) {
        0 => None,
        place => table.rows.get(usize::from(place)),
    }
}

/// The formula for a metric on a processor, of generic events if no table knows it.
pub fn formula(cpu: Option<Cpu>, metric: Metric) -> Formula {
    cpu.and_then(row).unwrap_or(&generic::ROW).formula(metric)
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
    /// The count for the whole time it was wanted; None if it was on a counter for less than a
    /// thousandth of that, too little to tell of the rest. Exact when `running == enabled`, else
    /// value * enabled / running, in double precision because it is an estimate anyway. Counts stay
    /// below 2^63.
    pub fn scaled(&self) -> Option<u64> {
        if self.running <= self.enabled / 1000 {
            None
        } else if self.running >= self.enabled {
            Some(self.value)
        } else {
            let (value, enabled) = (self.value as i64 as f64, self.enabled as i64 as f64);
            Some((value * enabled / self.running as i64 as f64) as i64 as u64)
        }
    }

    /// Thousandths of the wanted time spent on a counter, but not more than `most`.
    pub fn share(&self, most: u64) -> u64 {
        // Dividing first cannot overflow; below a microsecond the share is not known.
        self.running.checked_div(self.enabled / 1000).unwrap_or(most).min(most)
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
    /// The program uses the counters itself; none of ours was opened.
    Used,
}

/// What stands in the place of a count that could not be had, before its reason.
pub const NOT_MEASURED: &str = " not measured, see topas-doctor: ";

impl Why {
    const WORDS: Words =
        Words(b"cpu event pmu paranoid seccomp kernel files refused shared lost used", b' ');

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
              closed by program\n\
              used by program",
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
        assert_eq!(r(0, 0, 0).scaled(), None);
        assert_eq!(r(5, 1_000_000, 1000).scaled(), None);
        assert_eq!(r(5, 1_000_000, 1001).scaled(), Some(4995));
        assert_eq!(r(1 << 61, 4, 1).scaled(), Some(i64::MAX as u64));
        assert_eq!(r(1, 1_000_000, 250_000).share(1000), 250);
        assert_eq!(r(1, 1_000_000, 2_000_000).share(1000), 1000);
        assert_eq!(r(1, 0, 0).share(1000), 1000);
    }

    #[test]
    fn words_of_every_reason() {
        assert_eq!((Why::Cpu.word(), Why::Used.word()), (&b"cpu"[..], &b"used"[..]));
        assert_eq!(
            (Why::Cpu.says(), Why::Used.says()),
            (&b"unknown CPU"[..], &b"used by program"[..])
        );
    }

    #[test]
    fn weights_of_makers_formulas() {
        let terms = |cpu, metric| -> std::vec::Vec<(u32, Weight)> {
            formula(Some(cpu), metric).terms().map(|t| (t.config, t.weight)).collect()
        };
        let skx = Cpu { family: Family::Intel, number: 6, model: 0x55 };
        // The maker's own file for this processor gives 8_FLOPS the mask of 4_FLOPS (0x18).
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
        assert_eq!(formula(Some(zen5), Metric::IntOps).count(), 0);
        let v1 = Cpu { family: Family::Arm, number: 0x41, model: 0xd40 };
        assert!(formula(Some(v1), Metric::FpOps).estimate());
    }

    const METRICS: [Metric; 5] =
        [Metric::FpOps, Metric::IntOps, Metric::Loads, Metric::Stores, Metric::L1Miss];

    /// The module keeps one place for misses, and five for operations.
    #[test]
    fn formulas_fit_into_the_module() {
        for row in TABLES.iter().flat_map(|table| table.rows) {
            assert_eq!(row.formula(Metric::L1Miss).count(), 1, "{}", row.processors);
            for metric in METRICS {
                assert!(row.formula(metric).count() <= MAX_TERMS, "{}", row.processors);
            }
        }
    }

    #[test]
    fn every_row_has_models_and_every_model_a_row() {
        for table in TABLES {
            for (place, row) in table.rows.iter().enumerate().skip(1) {
                let mut models = table.models.iter();
                assert!(models.any(|m| usize::from(m.row) == place), "{}", row.processors);
                assert!(!row.caveat.is_empty() && row.status == Status::Tables);
            }
            for models in table.models {
                assert_eq!(table.place(models.first), models.row, "{models:?}");
                assert!(row(models.first).is_some(), "{models:?}");
                assert!(core::ptr::eq(models.first.family.table(), table), "{models:?}");
            }
        }
    }

    /// What user programs have is what the table says.
    #[test]
    fn the_small_form_holds_the_same() {
        fn compare<const R: usize, const T: usize>(table: &Table, small: &Small<R, T>) {
            for (place, row) in table.rows.iter().enumerate() {
                for metric in METRICS {
                    let first = small.first(place, metric);
                    let count = row.formula(metric).count();
                    assert_eq!(small.term(first).is_some(), count > 0, "{}", row.processors);
                    for (at, term) in row.formula(metric).terms().enumerate() {
                        let small = small.term(first + at).unwrap();
                        let logarithm = match term.weight {
                            Weight::Times(n) => n.trailing_zeros(),
                            Weight::VectorLength => Packed::PER_VECTOR,
                        };
                        assert_eq!((small.kind(), small.config()), (term.kind, term.config));
                        assert_eq!(small.logarithm(), logarithm);
                        assert_eq!(small.speculative(), term.speculative);
                        assert_eq!(small.is_last(), at + 1 == count);
                    }
                }
            }
        }
        compare(&x86::TABLE, &x86::small::SMALL);
        compare(&arm::TABLE, &arm::small::SMALL);
        for models in arm::TABLE.models {
            assert_eq!(arm::small::place(models.first), usize::from(models.row));
            let last = Cpu { model: models.last, ..models.first };
            assert_eq!(arm::small::place(last), usize::from(models.row));
        }
        let unknown = Cpu { family: Family::Arm, number: 0x51, model: 0xd0c };
        assert_eq!(arm::small::place(unknown), 0);
    }

    #[test]
    fn an_unknown_processor_has_generic_events() {
        let cpu = Cpu { family: Family::Intel, number: 6, model: 0x0f };
        for cpu in [Some(cpu), None] {
            let terms = |metric| formula(cpu, metric).terms().map(|t| (t.kind, t.config));
            assert_eq!(terms(Metric::FpOps).count() + terms(Metric::IntOps).count(), 0);
            assert!(terms(Metric::Loads).eq([(3, 0)]));
            assert!(terms(Metric::Stores).eq([(3, 0x100)]));
            assert!(terms(Metric::L1Miss).eq([(3, 0x10000)]));
        }
    }
}
