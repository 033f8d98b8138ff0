//! Hardware counters of a program that is started by this process, by their [`KernelEvent`]s.
//!
//! The events are opened on this process, which never counts: they are inherited by the child,
//! and its exec sets them going. So they count the whole of the program, its threads and its
//! children, and nothing of ours. User mode only, as in the module; all in one group, so that
//! they share their time on the counters, unless that does not fit.

use std::path::Path;

use topas_format::event::{Cpu, Metric, Why, formula, row};

use crate::kernel_event::{EventStart, KernelEvent, OpenEvent, processor};

/// What is counted: operations, cache misses, cycles, instructions.
pub const QUANTITIES: usize = 4;

/// One event and the quantity it is a part of.
struct CountedEvent {
    quantity: usize,
    event: KernelEvent,
    /// Whether it counts discarded work, too
    speculative: bool,
    open: Result<OpenEvent, Why>,
}

/// The events of a program.
pub struct Counters {
    events: Vec<CountedEvent>,
    why: [Option<Why>; QUANTITIES],
}

/// What was counted of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its value
    pub value: u64,
    /// Whether it was scaled up, or its events are known to be off
    pub estimate: bool,
}

/// All that was counted, and the smallest share of the time on a counter, in thousandths.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Each quantity, or why there is none
    pub quantities: [Result<Counted, Why>; QUANTITIES],
    /// 1000 for all of the time
    pub share: u64,
}

/// Whether this processor has events for a metric.
pub fn can_count(metric: Metric) -> bool {
    formula(this_processor(), metric).count() > 0
}

impl Counters {
    /// Opens what this processor can count of `metric`. A program that `counts` itself gets
    /// none taken away.
    pub fn open(metric: Metric, counts: bool) -> Self {
        if counts {
            return Counters { events: Vec::new(), why: [Some(Why::Used); QUANTITIES] };
        }
        let mut counters = Counters { events: Vec::new(), why: [None; QUANTITIES] };
        let cpu = this_processor();
        counters.plan(0, cpu, metric);
        counters.plan(1, cpu, Metric::L1Miss);
        for (quantity, event) in [(2, KernelEvent::CYCLES), (3, KernelEvent::INSTRUCTIONS)] {
            counters.events.push(CountedEvent::closed(quantity, event, false));
        }
        let grouped = counters.fits();
        counters.open_all(grouped, EventStart::ByExec);
        counters
    }

    /// Notes the events of a quantity, or why there are none.
    fn plan(&mut self, quantity: usize, cpu: Option<Cpu>, metric: Metric) {
        let known = cpu.and_then(row).is_some();
        let formula = formula(cpu, metric);
        if formula.count() == 0
            && let Some(why) = self.why.get_mut(quantity)
        {
            *why = Some(if known { Why::Event } else { Why::Cpu });
        }
        let events = formula.terms();
        self.events.extend(
            events.map(|term| CountedEvent::closed(quantity, term.into(), term.speculative)),
        );
    }

    /// Whether all events fit into one group that comes onto the counters.
    fn fits(&mut self) -> bool {
        let fits = self.open_all(true, EventStart::AtOnce) && {
            let leader = self.events.iter_mut().find_map(|event| event.open.as_mut().ok());
            leader.is_none_or(|leader| {
                let reading = leader.read().unwrap_or_default();
                reading.running >= reading.enabled
            })
        };
        self.events.iter_mut().for_each(|event| event.open = Err(Why::Refused));
        fits
    }

    /// Opens every event, to be set going by an exec or at once. False if one does not fit into
    /// the group.
    fn open_all(&mut self, grouped: bool, start: EventStart) -> bool {
        let mut opened: Vec<CountedEvent> = Vec::with_capacity(self.events.len());
        let mut fits = true;
        for mut event in self.events.drain(..) {
            let leader = if grouped {
                opened.iter_mut().find_map(|event| event.open.as_mut().ok())
            } else {
                None
            };
            let in_group = leader.is_some();
            event.open = OpenEvent::new(event.event, start, leader).map_err(|refusal| {
                fits &= !(in_group && refusal.is_invalid());
                refusal.why
            });
            opened.push(event);
        }
        self.events = opened;
        fits
    }

    /// Reads everything.
    pub fn finish(mut self) -> Counts {
        let mut share = 1000;
        let mut quantities = self.why.map(|why| match why {
            Some(why) => Err(why),
            None => Ok(Counted { value: 0, estimate: false }),
        });
        for event in &mut self.events {
            let Some(quantity) = quantities.get_mut(event.quantity) else { continue };
            let Ok(sum) = quantity else { continue };
            let reading = match &mut event.open {
                Ok(open) => open.read().unwrap_or_default(),
                Err(why) => {
                    *quantity = Err(*why);
                    continue;
                }
            };
            match reading.scaled() {
                None => *quantity = Err(Why::Shared),
                Some(count) => {
                    sum.value = sum.value.wrapping_add(count.wrapping_mul(event.event.weight));
                    sum.estimate |= event.speculative || reading.running < reading.enabled;
                    share = reading.share(share);
                }
            }
        }
        Counts { quantities, share }
    }
}

impl CountedEvent {
    fn closed(quantity: usize, event: KernelEvent, speculative: bool) -> Self {
        CountedEvent { quantity, event, speculative, open: Err(Why::Refused) }
    }
}

fn this_processor() -> Option<Cpu> {
    processor(Path::new("/"))
}
