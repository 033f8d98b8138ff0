//! Hardware counters through `perf_event_open`.
//!
//! User mode only, inherited by threads and children. All events of a rank form one
//! group, so that they share their time on the counters; where they do not fit, or are
//! never scheduled together, each is opened alone and scaled by its own times. Each
//! event is read by itself: kernels before 4.13 refuse the read of an inherited group.

use topas_format::event::{self, MAX_TERMS, Metric, Reading, Weight, Why};
use topas_format::form::{UNKNOWN, Values, mark, number};

use crate::sys;

/// What is counted: the chosen operation, cache misses, cycles, instructions.
pub const QUANTITIES: usize = 4;

/// Places of the events: the operation's, then one for each other quantity.
const EVENTS: usize = MAX_TERMS + QUANTITIES - 1;
const CYCLES: usize = EVENTS - 2;

/// An event, planned and perhaps open.
#[derive(Clone, Copy)]
struct Event {
    config: u32,
    /// What one count is worth; 0 marks a place not in use
    weight: u32,
    /// Descriptor plus one; not above 0 while it is not open
    handle: i32,
    /// The kernel's id, by which we know that the descriptor still is ours
    id: u64,
}

/// The events of this process.
pub struct Counters {
    events: [Event; EVENTS],
    /// Whether a quantity is an estimate
    pub estimate: [bool; QUANTITIES],
    /// Why there is no count of a quantity
    pub why: [Option<Why>; QUANTITIES],
}

impl Counters {
    /// No event.
    pub const fn new() -> Self {
        Counters {
            events: [Event { config: 0, weight: 0, handle: 0, id: 0 }; EVENTS],
            estimate: [false; QUANTITIES],
            why: [None; QUANTITIES],
        }
    }

    /// Opens what this processor can count of `metric`. What cannot be counted leaves
    /// its reason behind; nothing else fails.
    #[inline(never)]
    pub fn open(&mut self, metric: Metric) {
        let row = sys::cpu().and_then(event::row);
        self.plan(0, row, metric);
        self.plan(1, row, Metric::L1Miss);
        // PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS
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
    fn plan(&mut self, quantity: usize, row: Option<&[u8; 5]>, metric: Metric) {
        let (Some(why), Some(estimate)) =
            (self.why.get_mut(quantity), self.estimate.get_mut(quantity))
        else {
            return;
        };
        *why = Some(Why::Cpu);
        let Some(row) = row else {
            return;
        };
        *why = Some(Why::Event);
        let formula = event::of_row(row, metric);
        *estimate = formula.estimate;
        for (place, packed) in (quantity * MAX_TERMS..).zip(formula.packed()) {
            if let Some(event) = self.events.get_mut(place) {
                let term = event::unpack(*packed);
                event.config = term.config;
                event.weight = match term.weight {
                    Weight::Times(n) => n.into(),
                    Weight::VectorLength => sys::vector_length() as u32,
                };
            }
            *why = None;
        }
    }

    /// Opens every planned event. False if they must be opened one by one: a group did
    /// not fit, or did not come onto the counters.
    #[inline(never)]
    fn open_all(&mut self, grouped: bool) -> bool {
        let lowest = sys::high();
        let mut leader = -1;
        for (place, event) in self.events.iter_mut().enumerate() {
            if event.weight == 0 {
                continue;
            }
            let kind = if place < CYCLES { event::PERF_TYPE_RAW } else { 0 };
            let group = if grouped { leader } else { -1 };
            let fd = open(kind, event.config, group, lowest);
            event.handle = fd + 1;
            if fd >= 0 {
                event.id = sys::perf_event_id(fd);
                if leader < 0 {
                    leader = fd;
                }
            } else if group >= 0 && fd == -sys::EINVAL {
                return false;
            } else if let Some(why) = self.why.get_mut(quantity_of(place)) {
                *why = Some(Why::of_errno(-fd));
            }
        }
        // A counter held by the kernel's watchdog lets a full group open and never run.
        let first = read(leader);
        !grouped || first.running > 0 || first.enabled == 0
    }

    #[inline(never)]
    fn close_all(&mut self) {
        for event in &mut self.events {
            if event.handle > 0 {
                sys::close(event.handle - 1);
                event.handle = 0;
            }
        }
    }

    /// Reads and closes everything; fills in the counts and their marks.
    #[inline(never)]
    pub fn finish(&mut self, values: &mut Values<'_>) {
        let mut share = 1000;
        for (place, event) in self.events.iter_mut().enumerate() {
            let quantity = quantity_of(place);
            let (Some(why), Some(estimate), Some(total)) = (
                self.why.get_mut(quantity),
                self.estimate.get_mut(quantity),
                values.numbers.get_mut(number::COUNTS + quantity),
            ) else {
                continue;
            };
            if event.weight == 0 || why.is_some() {
                continue;
            }
            // The program may have closed our descriptor and opened its own file there,
            // which must be neither read nor closed.
            let fd = event.handle - 1;
            if sys::perf_event_id(fd) != event.id {
                event.handle = 0;
                *why = Some(Why::Lost);
                continue;
            }
            let reading = read(fd);
            let Some(count) = reading.scaled() else {
                *why = Some(Why::Shared);
                continue;
            };
            *total = total.wrapping_add(count.wrapping_mul(event.weight.into()));
            *estimate |= reading.running < reading.enabled;
            share = reading.share().min(share);
        }
        self.close_all();
        values.numbers[number::RUN] = if share < 1000 { share } else { UNKNOWN };
        for quantity in 0..QUANTITIES {
            let (Some(why), Some(estimate), Some(total), Some(mark)) = (
                self.why.get(quantity),
                self.estimate.get(quantity),
                values.numbers.get_mut(number::COUNTS + quantity),
                values.marks.get_mut(mark::COUNTS + quantity),
            ) else {
                continue;
            };
            if why.is_some() {
                *total = UNKNOWN;
            } else if *estimate {
                *mark = b'~';
            }
        }
    }
}

/// Which quantity the event at a place belongs to.
fn quantity_of(place: usize) -> usize {
    place.saturating_sub(MAX_TERMS - 1)
}

/// Opens one event out of the program's way: the descriptor, or minus an error number.
#[inline(never)]
fn open(kind: u32, config: u32, group: i32, lowest: usize) -> i32 {
    const ATTR_SIZE: u64 = 64;
    // PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
    const READ_FORMAT: u64 = 1 | 2;
    // inherit, exclude_kernel, exclude_hv
    const FLAGS: u64 = 1 << 1 | 1 << 5 | 1 << 6;
    // type and size, config, period, sample type, read format, flags, wakeup, breakpoint
    let attr = [u64::from(kind) | ATTR_SIZE << 32, config.into(), 0, 0, READ_FORMAT, FLAGS, 0, 0];
    let fd = sys::perf_event_open(&attr, group);
    if fd < 0 { fd } else { sys::move_up(fd, lowest) }
}

/// Count and times of one event; all zero if it cannot be read.
#[inline(never)]
fn read(fd: i32) -> Reading {
    let mut words = [0; 3];
    sys::read_words(fd, &mut words);
    let [value, enabled, running] = words;
    Reading { value, enabled, running }
}
