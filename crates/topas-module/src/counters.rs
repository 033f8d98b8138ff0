//! Hardware counters through `perf_event_open`.
//!
//! User mode only, inherited by threads and children. All events of a rank form one
//! group, so that they share their time on the counters; where they do not fit, or are
//! never scheduled together, each is opened alone and scaled by its own times. Each
//! event is read by itself: kernels before 4.13 refuse the read of an inherited group.

use topas_format::event::{self, MAX_TERMS, Metric, Reading, Term, Weight, Why};
use topas_format::number::Count;

use crate::sys;

/// Places for the operations, cache misses, cycles and instructions.
const OPS: usize = 0;
const MISSES: usize = MAX_TERMS;
const CYCLES: usize = 2 * MAX_TERMS;
const INSTRUCTIONS: usize = CYCLES + 1;
const PLACES: usize = INSTRUCTIONS + 1;

const PERF_TYPE_HARDWARE: u32 = 0;

/// An event, planned and perhaps open.
#[derive(Clone, Copy)]
struct Event {
    kind: u32,
    config: u32,
    /// What one count is worth; 0 marks a place not in use
    weight: u64,
    /// Descriptor plus one; 0 while it is not open
    fd: i32,
    /// The kernel's id, by which we know that the descriptor still is ours
    id: u64,
}

const UNUSED: Event = Event { kind: 0, config: 0, weight: 0, fd: 0, id: 0 };

/// What stands at one metric at the end.
pub struct Result {
    /// The count
    pub count: Count,
    /// Why there is none
    pub why: Option<Why>,
}

/// All counts of a rank.
pub struct Counts {
    /// Of the chosen operation
    pub ops: Result,
    /// First level data cache misses
    pub misses: Result,
    /// Cycles
    pub cycles: Result,
    /// Instructions
    pub instructions: Result,
    /// Smallest share of time on a counter in thousandths, of those that counted
    pub share: u64,
}

/// The events of this process.
pub struct Counters {
    events: [Event; PLACES],
    /// Why operations and misses cannot be counted, once known
    ops_why: Option<Why>,
    misses_why: Option<Why>,
    /// The same for cycles and instructions
    fixed_why: Option<Why>,
    ops_estimate: bool,
    misses_estimate: bool,
}

impl Counters {
    /// No event.
    pub const fn new() -> Self {
        Counters {
            events: [UNUSED; PLACES],
            ops_why: None,
            misses_why: None,
            fixed_why: None,
            ops_estimate: false,
            misses_estimate: false,
        }
    }

    /// Opens what this processor can count of `metric`. What cannot be counted leaves
    /// its reason behind; nothing else fails.
    pub fn open(&mut self, metric: Metric) {
        (self.ops_why, self.ops_estimate) = self.plan(OPS, metric);
        (self.misses_why, self.misses_estimate) = self.plan(MISSES, Metric::L1Miss);
        for (place, config) in [(CYCLES, 0), (INSTRUCTIONS, 1)] {
            if let Some(event) = self.events.get_mut(place) {
                *event = Event { kind: PERF_TYPE_HARDWARE, config, weight: 1, ..UNUSED };
            }
        }
        if !self.open_all(true) {
            self.close_all();
            self.open_all(false);
        }
    }

    /// Notes the events of a metric. The reason if there are none.
    fn plan(&mut self, place: usize, metric: Metric) -> (Option<Why>, bool) {
        let Some(cpu) = sys::cpu() else {
            return (Some(Why::Cpu), false);
        };
        let Some(formula) = event::formula(cpu, metric) else {
            let known = event::formula(cpu, Metric::L1Miss).is_some();
            return (Some(if known { Why::Event } else { Why::Cpu }), false);
        };
        let places = self.events.get_mut(place..).unwrap_or_default();
        for (event, term) in places.iter_mut().zip(formula.terms()) {
            let Term { config, weight } = term;
            let weight = match weight {
                Weight::Times(n) => n.into(),
                Weight::VectorLength => sys::vector_length(),
            };
            *event = Event { kind: event::PERF_TYPE_RAW, config, weight, ..UNUSED };
        }
        (None, formula.estimate)
    }

    /// Opens every planned event. False if they must be opened one by one: a group did
    /// not fit, or did not come onto the counters.
    fn open_all(&mut self, grouped: bool) -> bool {
        // Below the limit and out of the way; never above 1008, because the kernel's
        // table grows with the highest descriptor.
        let lowest = (sys::open_limit().saturating_sub(16)).min(1008) as usize;
        let mut leader = -1;
        for place in 0..PLACES {
            let Some(event) = self.events.get_mut(place).filter(|e| e.weight > 0) else {
                continue;
            };
            let group = if grouped { leader } else { -1 };
            match open(event, group, lowest) {
                Ok(fd) if leader < 0 => leader = fd,
                Ok(_) => {}
                Err(sys::EINVAL) if group >= 0 => return false,
                Err(errno) => {
                    let why = Some(Why::of_errno(errno));
                    match place {
                        ..MISSES => self.ops_why = why,
                        MISSES..CYCLES => self.misses_why = why,
                        _ => self.fixed_why = why,
                    }
                }
            }
        }
        // A counter held by the kernel's watchdog lets a full group open and never run.
        !grouped || leader < 0 || read(leader).is_none_or(|r| r.running > 0 || r.enabled == 0)
    }

    fn close_all(&mut self) {
        for event in &mut self.events {
            if event.fd > 0 {
                sys::close(event.fd - 1);
                event.fd = 0;
            }
        }
    }

    /// Reads and closes everything.
    pub fn finish(&mut self) -> Counts {
        let mut share = 1000;
        let ops = self.sum(OPS, MAX_TERMS, self.ops_why, self.ops_estimate, &mut share);
        let misses = self.sum(MISSES, MAX_TERMS, self.misses_why, self.misses_estimate, &mut share);
        let cycles = self.sum(CYCLES, 1, self.fixed_why, false, &mut share);
        let instructions = self.sum(INSTRUCTIONS, 1, self.fixed_why, false, &mut share);
        self.close_all();
        Counts { ops, misses, cycles, instructions, share }
    }

    /// Adds up the events of one metric.
    fn sum(
        &mut self,
        place: usize,
        places: usize,
        why: Option<Why>,
        mut estimate: bool,
        share: &mut u64,
    ) -> Result {
        let missing = |why| Result { count: Count::Missing, why: Some(why) };
        if let Some(why) = why {
            return missing(why);
        }
        let events = self.events.get_mut(place..).unwrap_or_default().iter_mut().take(places);
        let mut total = 0u64;
        for event in events.filter(|e| e.weight > 0) {
            let fd = event.fd - 1;
            // The program may have closed our descriptor and opened its own file there,
            // which must be neither read nor closed.
            if fd < 0 || sys::perf_event_id(fd) != Some(event.id) {
                event.fd = 0;
                return missing(Why::Lost);
            }
            let Some(reading) = read(fd) else {
                return missing(Why::Lost);
            };
            let Some(count) = reading.scaled() else {
                return missing(Why::Shared);
            };
            *share = reading.share().min(*share);
            estimate |= reading.running < reading.enabled;
            total = total.saturating_add(count.saturating_mul(event.weight));
        }
        let count = if estimate { Count::Estimate(total) } else { Count::Exact(total) };
        Result { count, why: None }
    }
}

/// Opens one event out of the program's way; its descriptor.
fn open(event: &mut Event, group: i32, lowest: usize) -> core::result::Result<i32, i32> {
    const ATTR_SIZE: u64 = 64;
    // PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
    const READ_FORMAT: u64 = 1 | 2;
    // inherit, exclude_kernel, exclude_hv
    const FLAGS: u64 = 1 << 1 | 1 << 5 | 1 << 6;
    // type and size, config, period, sample type, read format, flags, wakeup, breakpoint
    let attr =
        [u64::from(event.kind) | ATTR_SIZE << 32, event.config.into(), 0, 0, READ_FORMAT, FLAGS, 0, 0];
    let fd = sys::move_up(sys::perf_event_open(&attr, group)?, lowest)?;
    event.fd = fd + 1;
    event.id = sys::perf_event_id(fd).unwrap_or(0);
    Ok(fd)
}

/// Reads one event.
fn read(fd: i32) -> Option<Reading> {
    let mut bytes = [0; 24];
    if sys::read(fd, &mut bytes) != Ok(bytes.len()) {
        return None;
    }
    let mut words = bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
    Some(Reading { value: words.next()?, enabled: words.next()?, running: words.next()? })
}
