//! Hardware counters through `perf_event_open`.
//!
//! User mode only, inherited by threads and children. All events of a rank form one
//! group, so that they share their time on the counters; where they do not fit, or are
//! never scheduled together, each is opened alone and scaled by its own times. Each
//! event is read by itself: kernels before 4.13 refuse the read of an inherited group.

use topas_format::event::{self, MAX_TERMS, Metric, Reading, Weight, Why};
use topas_format::number::Count;

use crate::sys;

/// What is counted: the chosen operation, cache misses, cycles, instructions.
pub const QUANTITIES: usize = 4;

const EVENTS: usize = 2 * MAX_TERMS + 2;

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

/// The count of a quantity, or why there is none.
#[derive(Clone, Copy)]
pub struct Quantity {
    /// Sum of the weighted counts
    total: u64,
    /// Whether that is an estimate
    estimate: bool,
    /// Why there is none
    pub why: Option<Why>,
}

impl Quantity {
    /// What the line says.
    #[inline(never)]
    pub fn count(&self) -> Count {
        match self {
            Quantity { why: Some(_), .. } => Count::Missing,
            Quantity { estimate: true, total, .. } => Count::Estimate(*total),
            Quantity { total, .. } => Count::Exact(*total),
        }
    }
}

/// The events of this process.
pub struct Counters {
    events: [Event; EVENTS],
    /// What came out, once [`Counters::finish`] has run
    pub quantities: [Quantity; QUANTITIES],
    /// Smallest share of time on a counter in thousandths, of all events that ran
    pub share: u64,
}

impl Counters {
    /// No event.
    pub const fn new() -> Self {
        Counters {
            events: [UNUSED; EVENTS],
            quantities: [Quantity { total: 0, estimate: false, why: None }; QUANTITIES],
            share: 0,
        }
    }

    /// Opens what this processor can count of `metric`. What cannot be counted leaves
    /// its reason behind; nothing else fails.
    #[inline(never)]
    pub fn open(&mut self, metric: Metric) {
        self.plan(0, metric);
        self.plan(1, Metric::L1Miss);
        // PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_TYPE_HARDWARE: 0
        let [.., cycles, instructions] = &mut self.events;
        cycles.weight = 1;
        instructions.weight = 1;
        instructions.config = 1;
        if !self.open_all(true) {
            self.close_all();
            self.open_all(false);
        }
    }

    /// Notes the events of a quantity, or why there are none.
    #[inline(never)]
    fn plan(&mut self, quantity: usize, metric: Metric) {
        let cpu = sys::cpu();
        let formula = event::formula(cpu, metric);
        if let Some(quantity) = self.quantities.get_mut(quantity) {
            quantity.estimate = formula.estimate;
            if formula.count == 0 {
                let known = event::formula(cpu, Metric::L1Miss).count > 0;
                quantity.why = Some(if known { Why::Event } else { Why::Cpu });
            }
        }
        let mut i = 0;
        while let (Some(term), Some(event)) =
            (formula.term(i), self.events.get_mut(quantity * MAX_TERMS + i))
        {
            event.kind = event::PERF_TYPE_RAW;
            event.config = term.config;
            event.weight = match term.weight {
                Weight::Times(n) => n.into(),
                Weight::VectorLength => sys::vector_length(),
            };
            i += 1;
        }
    }

    /// Opens every planned event. False if they must be opened one by one: a group did
    /// not fit, or did not come onto the counters.
    #[inline(never)]
    fn open_all(&mut self, grouped: bool) -> bool {
        // Below the limit and out of the way; never above 1008, because the kernel's
        // table grows with the highest descriptor.
        let lowest = sys::open_limit().saturating_sub(16).min(1008) as usize;
        let mut leader = -1;
        for (place, event) in self.events.iter_mut().enumerate() {
            if event.weight == 0 {
                continue;
            }
            let group = if grouped { leader } else { -1 };
            let errno = open(event, group, lowest);
            if errno == sys::EINVAL && group >= 0 {
                return false;
            }
            if leader < 0 {
                leader = event.fd - 1;
            }
            if errno != 0
                && let Some(quantity) = self.quantities.get_mut(quantity_of(place))
            {
                quantity.why = Some(Why::of_errno(errno));
            }
        }
        // A counter held by the kernel's watchdog lets a full group open and never run.
        let first = read(leader);
        !grouped || first.running > 0 || first.enabled == 0
    }

    fn close_all(&mut self) {
        for event in &mut self.events {
            if event.fd > 0 {
                sys::close(event.fd - 1);
                event.fd = 0;
            }
        }
    }

    /// Reads and closes everything; the counts stand in [`Counters::quantities`].
    #[inline(never)]
    pub fn finish(&mut self) {
        self.share = 1000;
        for (place, event) in self.events.iter_mut().enumerate() {
            let Some(quantity) = self.quantities.get_mut(quantity_of(place)) else {
                return;
            };
            if event.weight == 0 || quantity.why.is_some() {
                continue;
            }
            // The program may have closed our descriptor and opened its own file there,
            // which must be neither read nor closed.
            let fd = event.fd - 1;
            if sys::perf_event_id(fd) != event.id {
                event.fd = 0;
                quantity.why = Some(Why::Lost);
                continue;
            }
            let reading = read(fd);
            match reading.scaled() {
                Some(count) => {
                    let weighted = count.wrapping_mul(event.weight);
                    quantity.total = quantity.total.wrapping_add(weighted);
                }
                None => quantity.why = Some(Why::Shared),
            }
            quantity.estimate |= reading.running < reading.enabled;
            self.share = reading.share().min(self.share);
        }
        self.close_all();
    }
}

/// Which quantity the event at a place belongs to.
fn quantity_of(place: usize) -> usize {
    if place < 2 * MAX_TERMS { place / MAX_TERMS } else { place - 2 * MAX_TERMS + 2 }
}

/// Opens one event out of the program's way. An error number, 0 if it is open.
#[inline(never)]
fn open(event: &mut Event, group: i32, lowest: usize) -> i32 {
    const ATTR_SIZE: u64 = 64;
    // PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
    const READ_FORMAT: u64 = 1 | 2;
    // inherit, exclude_kernel, exclude_hv
    const FLAGS: u64 = 1 << 1 | 1 << 5 | 1 << 6;
    // type and size, config, period, sample type, read format, flags, wakeup, breakpoint
    let attr = [
        u64::from(event.kind) | ATTR_SIZE << 32,
        event.config.into(),
        0,
        0,
        READ_FORMAT,
        FLAGS,
        0,
        0,
    ];
    match sys::perf_event_open(&attr, group).and_then(|fd| sys::move_up(fd, lowest)) {
        Ok(fd) => {
            event.fd = fd + 1;
            event.id = sys::perf_event_id(fd);
            0
        }
        Err(errno) => errno,
    }
}

/// Reads one event; all zero if it cannot be read.
#[inline(never)]
fn read(fd: i32) -> Reading {
    let mut words = [0; 3];
    if sys::read_words(fd, &mut words) {
        let [value, enabled, running] = words;
        Reading { value, enabled, running }
    } else {
        Reading::default()
    }
}
