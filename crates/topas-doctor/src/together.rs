//! Whether all events of a measuring rank are on counters at the same time.
//!
//! The module opens them as one group; where that fails it opens each alone, and the kernel
//! lets them take turns. Counts are then scaled, and marked as estimates.

use std::time::{Duration, Instant};

use topas_format::event::{Cpu, Metric, Reading};

use crate::metric::Quantity;
use crate::sys::{self, Memory};
use topas_driver::kernel_event::{EventStart, KernelEvent, OpenEvent};

/// How long events that take turns are watched: many turns of the kernel, 4 ms or less each.
const WATCHED: Duration = Duration::from_millis(60);

/// How long a group is tried: it comes onto the counters as a whole and at once, or never.
const TRIED: Duration = Duration::from_millis(2);

/// How the events of a rank do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// All at once, all the time
    AllTheTime,
    /// In turns; the least share of the time an event was on a counter, in thousandths
    InTurns(u64),
    /// At least one event never came onto a counter
    Never,
}

/// A choice of operations, with the events that come with it.
#[derive(Clone, Copy, Debug)]
pub struct Combination {
    /// What the rank counts besides cache misses, cycles and instructions
    pub metric: Metric,
    /// Number of events
    pub events: usize,
    /// How they do
    pub together: Together,
}

/// Tries the events of a rank that counts `metric`, of those that `opens` says the kernel
/// takes. None if the metric itself is not among them.
pub fn combine(
    metric: Metric,
    cpu: Option<Cpu>,
    opens: impl Fn(Quantity) -> bool,
    memory: &mut Memory,
) -> Option<Combination> {
    let chosen = Quantity::Metric(metric);
    if !opens(chosen) {
        return None;
    }
    let others = [Quantity::Metric(Metric::L1Miss), Quantity::Cycles, Quantity::Instructions];
    let events: Vec<KernelEvent> = [chosen]
        .into_iter()
        .chain(others.into_iter().filter(|other| opens(*other)))
        .flat_map(|quantity| quantity.events(cpu).0)
        .collect();
    let together = match grouped(&events, memory) {
        Some(together) => together,
        None => alone(&events, memory),
    };
    Some(Combination { metric, events: events.len(), together })
}

/// Opens a group. None if it does not fit or never runs.
fn grouped(events: &[KernelEvent], memory: &mut Memory) -> Option<Together> {
    let (first, rest) = events.split_first()?;
    let mut leader = OpenEvent::new(*first, EventStart::AtOnce, None).ok()?;
    let mut followers = Vec::new();
    for event in rest {
        followers.push(OpenEvent::new(*event, EventStart::AtOnce, Some(&mut leader)).ok()?);
    }
    work(TRIED, memory);
    let mut open = vec![leader];
    open.append(&mut followers);
    match judged(open.into_iter().map(Some)) {
        Together::Never => None,
        together => Some(together),
    }
}

/// Opens each event alone, all at once.
fn alone(events: &[KernelEvent], memory: &mut Memory) -> Together {
    let open: Vec<_> =
        events.iter().map(|event| OpenEvent::new(*event, EventStart::AtOnce, None).ok()).collect();
    work(WATCHED, memory);
    judged(open.into_iter())
}

/// How events did, of which None could not be opened.
fn judged(open: impl Iterator<Item = Option<OpenEvent>>) -> Together {
    let readings: Vec<Reading> =
        open.map(|open| open.and_then(|mut open| open.read()).unwrap_or_default()).collect();
    if readings.iter().any(|reading| reading.running == 0) {
        return Together::Never;
    }
    match readings.iter().map(|reading| reading.share(1000)).min() {
        None => Together::Never,
        Some(1000) => Together::AllTheTime,
        Some(share) => Together::InTurns(share),
    }
}

/// Computes for a while.
fn work(time: Duration, memory: &mut Memory) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        let ran = sys::loops().next().is_some_and(|known| known.run(10_000, memory));
        if !ran {
            std::hint::spin_loop();
        }
    }
}
