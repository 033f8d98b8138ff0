//! Hardware counters through `perf_event_open`.
//!
//! User mode only, inherited by threads and children. All events of a rank form one
//! group, so that they share their time on the counters; where they do not fit, or are
//! never scheduled together, each is opened alone and scaled by its own times. Each
//! event is read by itself: kernels before 4.13 refuse the read of an inherited group.

use topas_format::event::{MAX_TERMS, Metric, PERF_TYPE_HARDWARE, Packed, Reading, Why, here};
use topas_format::form::{UNKNOWN, Values, mark, number};

use crate::{library, processor, sys};

/// What is counted: the chosen operation, cache misses, cycles, instructions.
pub const QUANTITIES: usize = 4;

/// Places of the events: the operation's, then one for each other quantity.
const EVENTS: usize = MAX_TERMS + QUANTITIES - 1;
const CYCLES: usize = EVENTS - 2;

/// An event, planned and perhaps open.
#[derive(Clone, Copy)]
struct Event {
    /// What it is, if the place is in use
    packed: Packed,
    /// Descriptor, or minus the error number of its opening
    fd: i32,
    /// The kernel's id, by which we know that the descriptor still is ours
    id: u64,
}

impl Event {
    /// Reads it, and says why that is no count if it is none. The program may have closed our
    /// descriptor and opened its own file there, which must not be read.
    fn take(&self) -> (Reading, Why) {
        if self.fd < 0 {
            (Reading::default(), Why::of_errno(-self.fd))
        } else if sys::perf_event_id(self.fd) != self.id {
            (Reading::default(), Why::Lost)
        } else {
            (read(self.fd), Why::Shared)
        }
    }
}

/// The events of this process.
pub struct Counters {
    events: [Event; EVENTS],
    /// Why there is no count of a quantity
    pub why: [Option<Why>; QUANTITIES],
}

impl Counters {
    /// No event.
    pub const fn new() -> Self {
        Counters {
            events: [Event { packed: Packed::NONE, fd: 0, id: 0 }; EVENTS],
            why: [None; QUANTITIES],
        }
    }

    /// Opens what this processor can count of `metric`. What cannot be counted leaves
    /// its reason behind; nothing else fails.
    #[inline(never)]
    pub fn open(&mut self, metric: Metric) {
        // Ours would take counters from the program's own, which then counts too little.
        if library::counts() {
            self.why = [Some(Why::Used); QUANTITIES];
            return;
        }
        let row = processor::cpu().map_or(0, here::place);
        self.plan(0, row, metric);
        self.plan(1, row, Metric::L1Miss);
        // PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS
        let [.., cycles, instructions] = &mut self.events;
        cycles.packed = Packed::alone(0);
        instructions.packed = Packed::alone(1);
        if !self.open_all(true) {
            for event in &self.events {
                // 0 where nothing was opened.
                if event.id != 0 {
                    sys::close(event.fd);
                }
            }
            self.open_all(false);
        }
    }

    /// Notes the events of a quantity, or why there are none.
    #[inline(never)]
    fn plan(&mut self, quantity: usize, row: usize, metric: Metric) {
        let Some(why) = self.why.get_mut(quantity) else {
            return;
        };
        *why = Some(if row == 0 { Why::Cpu } else { Why::Event });
        let mut next = here::SMALL.first(row, metric);
        for event in self.events.iter_mut().skip(quantity * MAX_TERMS) {
            let Some(packed) = here::SMALL.term(next) else {
                return;
            };
            event.packed = packed;
            *why = None;
            next = packed.next(next);
        }
    }

    /// Opens every planned event. False if they must be opened one by one: a group did
    /// not fit, or did not come onto the counters.
    #[inline(never)]
    fn open_all(&mut self, grouped: bool) -> bool {
        let lowest = sys::high();
        let mut leader = -1;
        for (place, event) in self.events.iter_mut().enumerate() {
            if !event.packed.is_some() {
                continue;
            }
            let kind = if place < CYCLES { event.packed.kind() } else { PERF_TYPE_HARDWARE };
            let group = if grouped { leader } else { -1 };
            let fd = open(kind, event.packed.config(), group, lowest);
            event.fd = fd;
            if fd >= 0 {
                event.id = sys::perf_event_id(fd);
                if leader < 0 {
                    leader = fd;
                }
            } else if group >= 0 && fd == -sys::EINVAL {
                return false;
            }
        }
        // A counter that another holds, such as the kernel's watchdog, lets a full group open
        // and never run; its leader did, until the last one came.
        let first = read(leader);
        !grouped || first.running >= first.enabled
    }

    /// Reads everything; fills in the counts and their marks. What is open is closed by the
    /// end of the process, which is near.
    #[inline(never)]
    pub fn finish(&mut self, values: &mut Values<'_>) {
        let mut share = 1000;
        let mut events = self.events.iter();
        let mut places = MAX_TERMS;
        let totals = values.numbers.iter_mut().skip(number::COUNTS);
        let marks = values.marks.iter_mut().skip(mark::COUNTS);
        for ((why, total), mark) in self.why.iter_mut().zip(totals).zip(marks) {
            let mut estimate = false;
            for event in events.by_ref().take(places) {
                if !event.packed.is_some() || why.is_some() {
                    continue;
                }
                let (reading, fault) = event.take();
                let Some(count) = reading.scaled() else {
                    *why = Some(fault);
                    continue;
                };
                *total = total.wrapping_add(processor::weigh(count, event.packed));
                estimate |= event.packed.speculative() || reading.running < reading.enabled;
                share = reading.share(share);
            }
            places = 1;
            if why.is_some() {
                *total = UNKNOWN;
            } else if estimate {
                *mark = b'~';
            }
        }
        values.numbers[number::RUN] = if share < 1000 { share } else { UNKNOWN };
    }
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
