//! Hardware counters of a program that is started by this process, through `perf-event2`.
//!
//! The events are opened on this process, which never counts: they are inherited by the child,
//! and its exec sets them going. So they count the whole of the program, its threads and its
//! children, and nothing of ours. User mode only, as in the module; all in one group, so that
//! they share their time on the counters, unless that does not fit.

use std::io;
use std::time::Duration;

use perf_event::events::Raw;
use perf_event::{Builder, Counter};
use topas_format::event::{
    Cpu, Metric, PERF_TYPE_HARDWARE, Reading, Term, Weight, Why, formula, row,
};
use topas_node::sys::vector_length;

/// What is counted: operations, cache misses, cycles, instructions.
pub const QUANTITIES: usize = 4;

/// One event and the quantity it is a part of.
struct Event {
    quantity: usize,
    term: Term,
    open: Result<Counter, Why>,
}

/// The events of a program.
pub struct Counters {
    events: Vec<Event>,
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
    formula(processor(), metric).count() > 0
}

impl Counters {
    /// Opens what this processor can count of `metric`. A program that `counts` itself gets
    /// none taken away.
    pub fn open(metric: Metric, counts: bool) -> Self {
        if counts {
            return Counters { events: Vec::new(), why: [Some(Why::Used); QUANTITIES] };
        }
        let mut counters = Counters { events: Vec::new(), why: [None; QUANTITIES] };
        let cpu = processor();
        counters.plan(0, cpu, metric);
        counters.plan(1, cpu, Metric::L1Miss);
        for (quantity, config) in [(2, 0), (3, 1)] {
            let term = Term {
                kind: PERF_TYPE_HARDWARE,
                config,
                weight: Weight::Times(1),
                speculative: false,
            };
            counters.events.push(Event { quantity, term, open: Err(Why::Refused) });
        }
        let grouped = counters.fits();
        counters.open_all(grouped, true);
        counters
    }

    /// Notes the events of a quantity, or why there are none.
    fn plan(&mut self, quantity: usize, cpu: Option<Cpu>, metric: Metric) {
        let known = cpu.and_then(row).is_some();
        let terms: Vec<Term> = formula(cpu, metric).terms().collect();
        if terms.is_empty()
            && let Some(why) = self.why.get_mut(quantity)
        {
            *why = Some(if known { Why::Event } else { Why::Cpu });
        }
        let open = || Err(Why::Refused);
        self.events.extend(terms.into_iter().map(|term| Event { quantity, term, open: open() }));
    }

    /// Whether all events fit into one group that comes onto the counters.
    fn fits(&mut self) -> bool {
        let fits = self.open_all(true, false) && {
            let leader = self.events.iter_mut().find_map(|event| event.open.as_mut().ok());
            leader.is_none_or(|leader| {
                let reading = read(leader);
                reading.running >= reading.enabled
            })
        };
        self.events.iter_mut().for_each(|event| event.open = Err(Why::Refused));
        fits
    }

    /// Opens every event, to be set going by an exec or at once. False if one does not fit into
    /// the group.
    fn open_all(&mut self, grouped: bool, by_exec: bool) -> bool {
        let mut opened: Vec<Event> = Vec::with_capacity(self.events.len());
        let mut fits = true;
        for mut event in self.events.drain(..) {
            let builder = builder(&event.term, by_exec);
            let leader = if grouped {
                opened.iter_mut().find_map(|event| event.open.as_mut().ok())
            } else {
                None
            };
            let in_group = leader.is_some();
            let result = match leader {
                Some(leader) => builder.build_with_group(leader),
                None => builder.build(),
            };
            event.open = result.map_err(|error| {
                fits &= !(in_group && error.raw_os_error() == Some(libc::EINVAL));
                why(&error)
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
                Ok(counter) => read(counter),
                Err(why) => {
                    *quantity = Err(*why);
                    continue;
                }
            };
            match reading.scaled() {
                None => *quantity = Err(Why::Shared),
                Some(count) => {
                    sum.value = sum.value.wrapping_add(count.wrapping_mul(weight(&event.term)));
                    sum.estimate |= event.term.speculative || reading.running < reading.enabled;
                    share = reading.share(share);
                }
            }
        }
        Counts { quantities, share }
    }
}

/// An event as it is opened.
fn builder(term: &Term, by_exec: bool) -> Builder<'static> {
    let mut builder = Builder::new(Raw::new(term.config.into()));
    builder.attrs_mut().type_ = term.kind;
    builder.inherit(true).enabled(!by_exec).enable_on_exec(by_exec);
    builder
}

fn why(error: &io::Error) -> Why {
    error.raw_os_error().map_or(Why::Refused, Why::of_errno)
}

/// What one count is worth.
fn weight(term: &Term) -> u64 {
    match term.weight {
        Weight::Times(n) => n.into(),
        Weight::VectorLength => vector_length(),
    }
}

/// Count and times of an event; all zero if it cannot be read.
fn read(counter: &mut Counter) -> Reading {
    let nanos = |time: Option<Duration>| {
        time.and_then(|time| u64::try_from(time.as_nanos()).ok()).unwrap_or(0)
    };
    counter.read_full().map_or_else(
        |_| Reading::default(),
        |data| Reading {
            value: data.count(),
            enabled: nanos(data.time_enabled()),
            running: nanos(data.time_running()),
        },
    )
}

/// The processor, if its maker is known.
#[cfg(target_arch = "x86_64")]
fn processor() -> Option<Cpu> {
    use std::arch::x86_64::__cpuid;
    Cpu::from_cpuid(__cpuid(0).ebx, __cpuid(1).eax)
}

/// The processor, by what the kernel shows of its register.
#[cfg(target_arch = "aarch64")]
fn processor() -> Option<Cpu> {
    let file = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
    let text = std::fs::read_to_string(file).ok()?;
    u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok().map(Cpu::from_midr)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn processor() -> Option<Cpu> {
    None
}
