//! What TOPAS counts: each quantity with its events on this processor, and whether the
//! kernel opens them.

use topas_format::event::{Cpu, Metric, Why, formula, row};

use crate::selftest::{self, Check};
use crate::sys::Memory;
use topas_driver::kernel_event::{EventRefusal, EventStart, KernelEvent, OpenEvent};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// By the formula of the event table
    Metric(Metric),
    /// Cycles, by the kernel's generic event
    Cycles,
    /// Instructions, by the kernel's generic event
    Instructions,
}

impl Quantity {
    /// Every quantity, in the order shown.
    pub const ALL: [Quantity; 7] = [
        Quantity::Metric(Metric::FpOps),
        Quantity::Metric(Metric::IntOps),
        Quantity::Metric(Metric::Loads),
        Quantity::Metric(Metric::Stores),
        Quantity::Metric(Metric::L1Miss),
        Quantity::Cycles,
        Quantity::Instructions,
    ];

    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Metric(Metric::FpOps) => "FP operations",
            Quantity::Metric(Metric::IntOps) => "integer operations",
            Quantity::Metric(Metric::Loads) => "loads",
            Quantity::Metric(Metric::Stores) => "stores",
            Quantity::Metric(Metric::L1Miss) => "L1D misses",
            Quantity::Cycles => "cycles",
            Quantity::Instructions => "instructions",
        }
    }

    /// Name for programs.
    pub fn key(self) -> &'static str {
        match self {
            Quantity::Metric(Metric::FpOps) => "fpops",
            Quantity::Metric(Metric::IntOps) => "intops",
            Quantity::Metric(Metric::Loads) => "loads",
            Quantity::Metric(Metric::Stores) => "stores",
            Quantity::Metric(Metric::L1Miss) => "l1miss",
            Quantity::Cycles => "cycles",
            Quantity::Instructions => "instructions",
        }
    }

    /// Its events on a processor, and whether they count discarded work, too.
    pub fn events(self, cpu: Option<Cpu>) -> (Vec<KernelEvent>, bool) {
        match self {
            Quantity::Metric(metric) => {
                let formula = formula(cpu, metric);
                (formula.terms().map(KernelEvent::from).collect(), formula.estimate())
            }
            Quantity::Cycles => (vec![KernelEvent::CYCLES], false),
            Quantity::Instructions => (vec![KernelEvent::INSTRUCTIONS], false),
        }
    }
}

/// What became of a quantity on this node.
#[derive(Debug)]
pub struct Finding {
    /// Which
    pub quantity: Quantity,
    /// Its events, each with the kernel's answer
    pub events: Vec<(KernelEvent, Result<(), EventRefusal>)>,
    /// Whether its counts are marked as estimates
    pub estimate: bool,
    /// Why it cannot be counted; None if it can
    pub why: Option<Why>,
    /// What the self-test found; empty if it was not made
    pub checks: Vec<Check>,
}

impl Finding {
    /// Looks whether the kernel opens the events, and counts known loops if `self_test`
    /// brings the memory for them.
    pub fn of(quantity: Quantity, cpu: Option<Cpu>, self_test: Option<&mut Memory>) -> Self {
        let (events, estimate) = quantity.events(cpu);
        let events: Vec<_> = events
            .into_iter()
            .map(|event| (event, OpenEvent::new(event, EventStart::AtOnce, None).map(drop)))
            .collect();
        let refused = events.iter().find_map(|(_, answer)| answer.as_ref().err());
        let why = match refused {
            Some(refusal) => Some(refusal.why),
            None if events.is_empty() => Some(missing(cpu)),
            None => None,
        };
        let checks = match (why, self_test) {
            (None, Some(memory)) => {
                let events: Vec<KernelEvent> = events.iter().map(|(event, _)| *event).collect();
                selftest::checks(quantity, &events, estimate, memory)
            }
            _ => Vec::new(),
        };
        Finding { quantity, events, estimate, why, checks }
    }

    /// Whether the processor has it: otherwise it is nobody's fault that it is not counted.
    pub fn is_expected(&self) -> bool {
        self.why != Some(Why::Event)
    }

    /// Whether it can be counted and no check went wrong.
    pub fn is_good(&self) -> bool {
        self.why.is_none() && self.checks.iter().all(Check::is_ok)
    }

    /// The first event that was refused, with the kernel's answer.
    pub fn refusal(&self) -> Option<(KernelEvent, &EventRefusal)> {
        self.events.iter().find_map(|(event, answer)| Some((*event, answer.as_ref().err()?)))
    }
}

/// Why a formula has no events.
fn missing(cpu: Option<Cpu>) -> Why {
    if cpu.and_then(row).is_some() { Why::Event } else { Why::Cpu }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_format::event::Family;

    #[test]
    fn events_of_the_table_with_their_weights() {
        let skx = Some(Cpu { family: Family::Intel, number: 6, model: 0x55 });
        let (events, estimate) = Quantity::Metric(Metric::FpOps).events(skx);
        let weights: Vec<_> = events.iter().map(|e| (e.config, e.weight)).collect();
        assert_eq!(weights, [(0x3c7, 1), (0x4c7, 2), (0x18c7, 4), (0x60c7, 8), (0x80c7, 16)]);
        assert!(!estimate);
        assert_eq!(Quantity::Metric(Metric::IntOps).events(skx).0, []);
        assert_eq!(missing(skx), Why::Event);
        assert_eq!(missing(None), Why::Cpu);
        assert_eq!(Quantity::Cycles.events(None).0, [KernelEvent::CYCLES]);
    }

    #[test]
    fn what_the_processor_lacks_is_not_expected() {
        let skx = Some(Cpu { family: Family::Intel, number: 6, model: 0x55 });
        let finding = Finding::of(Quantity::Metric(Metric::IntOps), skx, None);
        assert!(!finding.is_expected() && !finding.is_good() && finding.refusal().is_none());
        let finding = Finding::of(Quantity::Metric(Metric::IntOps), None, None);
        assert!(finding.is_expected() && finding.why == Some(Why::Cpu));
    }
}
