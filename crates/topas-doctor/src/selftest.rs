//! Counts of loops whose instructions are known, against what they must be.
//!
//! Each event of a formula is opened alone and the loop repeated for it, so that nothing
//! is shared in turns; how all events of a rank do together is [`crate::together`].

use topas_format::event::{Metric, Why};

use crate::metric::Quantity;
use crate::sys::{self, LINES, Loop, Memory, Work};
use topas_driver::kernel_event::{EventStart, KernelEvent, OpenEvent};

/// What each loop does of the quantity it tests: about a millisecond.
pub const AMOUNT: u64 = 1 << 22;

/// Passes of the strided sweep.
const PASSES: u64 = 2;

/// Which counts are right, in thousandths of the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// Lowest
    pub low: u64,
    /// Highest
    pub high: u64,
}

impl Tolerance {
    /// Retired operations: what surrounds the loop is far less than this.
    const EXACT: Tolerance = Tolerance { low: 990, high: 1010 };
    /// Work that was begun and thrown away counts, too.
    const SPECULATIVE: Tolerance = Tolerance { low: 990, high: 1100 };
    /// Page tables and what evicts lines take part.
    const CACHE: Tolerance = Tolerance { low: 900, high: 1100 };
    /// A dependent multiplication takes a few cycles.
    const CYCLES: Tolerance = Tolerance { low: 1000, high: 20_000 };

    /// Whether a count is within.
    fn holds(self, measured: u64, expected: u64) -> bool {
        let measured = u128::from(measured) * 1000;
        let at = |thousandths: u64| u128::from(expected) * u128::from(thousandths);
        (at(self.low)..=at(self.high)).contains(&measured)
    }

    /// For people, after the expected value.
    pub fn in_words(self) -> String {
        let percent = |n: u64| n.abs_diff(1000) as f64 / 10.0;
        if self == Tolerance::CYCLES {
            "1 to 20 cycles per dependent multiplication".to_owned()
        } else if 1000 - self.low == self.high - 1000 {
            format!("tolerance {} %", percent(self.low))
        } else {
            format!("tolerance -{} % to +{} %", percent(self.low), percent(self.high))
        }
    }
}

/// A loop, counted.
#[derive(Debug)]
pub struct Check {
    /// Name of the loop
    pub name: &'static str,
    /// What the count must be; of cycles, the number of dependent multiplications
    pub expected: u64,
    /// How far it may be from that
    pub tolerance: Tolerance,
    /// What was counted
    pub outcome: Outcome,
}

/// What was counted of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A count, scaled to the whole time
    Count {
        /// Weighted sum of the events
        measured: u64,
        /// Least share of the time an event was on a counter, in thousandths
        share: u64,
    },
    /// Nothing, and why
    NotCounted(Why),
    /// This processor has not the instructions, or no loop is written for it
    NoInstructions,
}

/// How good a count is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance
    Ok,
    /// Outside
    Off,
    /// The event opened and counted nothing: the processor does not have it
    Silent,
    /// It could not be counted
    NotCounted,
    /// The loop could not run
    NotRun,
}

impl Verdict {
    /// For programs.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Off => "off",
            Verdict::Silent => "silent",
            Verdict::NotCounted => "not-counted",
            Verdict::NotRun => "not-run",
        }
    }
}

impl Check {
    /// How good the count is.
    pub fn verdict(&self) -> Verdict {
        match self.outcome {
            Outcome::Count { measured: 0, .. } => Verdict::Silent,
            Outcome::Count { measured, .. } if self.tolerance.holds(measured, self.expected) => {
                Verdict::Ok
            }
            Outcome::Count { .. } => Verdict::Off,
            Outcome::NotCounted(_) => Verdict::NotCounted,
            Outcome::NoInstructions => Verdict::NotRun,
        }
    }

    /// Whether nothing is wrong: the count is right, or the loop is not for this processor.
    pub fn is_ok(&self) -> bool {
        matches!(self.verdict(), Verdict::Ok | Verdict::NotRun)
    }

    /// Distance from the expected count in percent, with its sign.
    pub fn off_by(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Count { measured, .. } => {
                Some((measured as f64 / self.expected as f64 - 1.0) * 100.0)
            }
            _ => None,
        }
    }
}

/// How much of a quantity an iteration of a loop is; 0 if the loop does not test it.
fn amount(quantity: Quantity, work: &Work) -> u64 {
    match quantity {
        Quantity::Metric(Metric::FpOps) => work.fp_ops,
        Quantity::Metric(Metric::IntOps) => work.int_ops,
        // The sweep waits for memory, where a processor may repeat loads.
        Quantity::Metric(Metric::Loads) if work.misses == 0 => work.loads,
        Quantity::Metric(Metric::Loads) => 0,
        Quantity::Metric(Metric::Stores) => work.stores,
        Quantity::Metric(Metric::L1Miss) => work.misses,
        Quantity::Cycles => work.chained,
        Quantity::Instructions if work.chained > 0 => work.instructions,
        Quantity::Instructions => 0,
    }
}

/// A loop, how often it runs, and the count that must come out.
pub fn plan(quantity: Quantity) -> impl Iterator<Item = (&'static Loop, u64, u64)> {
    sys::loops().filter_map(move |known| {
        let each = amount(quantity, &known.work);
        let iterations = match quantity {
            Quantity::Metric(Metric::L1Miss) => PASSES * LINES as u64,
            _ => AMOUNT.checked_div(each)?,
        };
        (each > 0).then_some((known, iterations, iterations * each))
    })
}

/// Runs every loop that tests a quantity.
pub fn checks(
    quantity: Quantity,
    events: &[KernelEvent],
    estimate: bool,
    memory: &mut Memory,
) -> Vec<Check> {
    let tolerance = match quantity {
        Quantity::Cycles => Tolerance::CYCLES,
        Quantity::Metric(Metric::L1Miss) => Tolerance::CACHE,
        _ if estimate => Tolerance::SPECULATIVE,
        _ => Tolerance::EXACT,
    };
    plan(quantity)
        .map(|(known, iterations, expected)| {
            let outcome = count(known, iterations, events, memory);
            Check { name: known.name, expected, tolerance, outcome }
        })
        .collect()
}

/// Counts a loop, once for each event.
fn count(known: &Loop, iterations: u64, events: &[KernelEvent], memory: &mut Memory) -> Outcome {
    if !known.is_supported() {
        return Outcome::NoInstructions;
    }
    let (mut measured, mut share) = (0u64, 1000);
    for event in events {
        let mut open = match OpenEvent::new(*event, EventStart::AtOnce, None) {
            Ok(open) => open,
            Err(refusal) => return Outcome::NotCounted(refusal.why),
        };
        known.run(iterations, memory);
        let reading = open.read().unwrap_or_default();
        let Some(count) = reading.scaled() else {
            return Outcome::NotCounted(Why::Shared);
        };
        measured = measured.saturating_add(count.saturating_mul(event.weight));
        share = reading.share(share);
    }
    Outcome::Count { measured, share }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(measured: u64, tolerance: Tolerance) -> Check {
        let outcome = Outcome::Count { measured, share: 1000 };
        Check { name: "loop", expected: 100_000, tolerance, outcome }
    }

    #[test]
    fn a_count_is_judged_by_its_tolerance() {
        for (measured, tolerance, verdict) in [
            (100_000, Tolerance::EXACT, Verdict::Ok),
            (99_000, Tolerance::EXACT, Verdict::Ok),
            (98_999, Tolerance::EXACT, Verdict::Off),
            (101_001, Tolerance::EXACT, Verdict::Off),
            (110_000, Tolerance::SPECULATIVE, Verdict::Ok),
            (98_000, Tolerance::SPECULATIVE, Verdict::Off),
            (90_000, Tolerance::CACHE, Verdict::Ok),
            (300_000, Tolerance::CYCLES, Verdict::Ok),
            (99_999, Tolerance::CYCLES, Verdict::Off),
            (u64::MAX, Tolerance::CACHE, Verdict::Off),
            (0, Tolerance::EXACT, Verdict::Silent),
        ] {
            let check = check(measured, tolerance);
            assert_eq!(check.verdict(), verdict, "{measured} {tolerance:?}");
        }
        assert_eq!(check(50_000, Tolerance::EXACT).off_by(), Some(-50.0));
    }

    #[test]
    fn a_loop_that_cannot_run_is_no_fault_and_one_not_counted_is() {
        let of = |outcome| Check { outcome, ..check(1, Tolerance::EXACT) };
        assert!(of(Outcome::NoInstructions).is_ok());
        assert!(!of(Outcome::NotCounted(Why::Shared)).is_ok());
        assert_eq!(of(Outcome::NoInstructions).off_by(), None);
    }

    #[test]
    fn tolerances_in_words() {
        assert_eq!(Tolerance::EXACT.in_words(), "tolerance 1 %");
        assert_eq!(Tolerance::SPECULATIVE.in_words(), "tolerance -1 % to +10 %");
        assert!(Tolerance::CYCLES.in_words().contains("per dependent"));
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn every_loop_of_a_quantity_does_the_same_amount() {
        for quantity in Quantity::ALL {
            let expected: Vec<u64> = plan(quantity).map(|(_, _, expected)| expected).collect();
            if quantity != Quantity::Metric(Metric::IntOps) {
                assert!(!expected.is_empty(), "{quantity:?}");
            }
            assert!(expected.iter().all(|e| *e == expected[0]), "{quantity:?}: {expected:?}");
        }
        let float = plan(Quantity::Metric(Metric::FpOps));
        assert!(float.into_iter().all(|(_, _, expected)| expected == AMOUNT));
    }

    #[test]
    fn loops_run_and_end() {
        let mut memory = Memory::new();
        for known in sys::loops() {
            assert_eq!(known.run(3, &mut memory), known.is_supported(), "{}", known.name);
            assert!(!known.run(0, &mut memory), "{}", known.name);
        }
    }
}
