//! Events of the kernel's interface for hardware counters, opened by themselves or in groups through
//! `perf-event2`: `topas-run` counts the program that it starts, and `topas-doctor` is a reader
//! that is independent of the one in the measurement module.

use std::io;
use std::path::Path;
use std::time::Duration;

use perf_event::events::Raw;
use perf_event::{Builder, Counter};
use topas_format::event::{
    Cpu, PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_RAW, Reading, Term, Weight, Why,
};
use topas_node::sys::vector_length;

/// An event of the kernel's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelEvent {
    /// `perf_event_attr.type`
    pub kind: u32,
    /// `perf_event_attr.config`
    pub config: u64,
    /// What one count is worth
    pub weight: u64,
}

impl KernelEvent {
    /// The generic event of cycles.
    pub const CYCLES: KernelEvent = KernelEvent { kind: PERF_TYPE_HARDWARE, config: 0, weight: 1 };
    /// The generic event of instructions.
    pub const INSTRUCTIONS: KernelEvent =
        KernelEvent { kind: PERF_TYPE_HARDWARE, config: 1, weight: 1 };

    /// The event as `perf stat -e` takes it.
    pub fn encoding(self) -> String {
        match (self.kind, self.config) {
            (PERF_TYPE_RAW, config) => format!("r{config:04x}"),
            (PERF_TYPE_HW_CACHE, 0) => "L1-dcache-loads:u".to_owned(),
            (PERF_TYPE_HW_CACHE, 0x100) => "L1-dcache-stores:u".to_owned(),
            (PERF_TYPE_HW_CACHE, _) => "L1-dcache-load-misses:u".to_owned(),
            (_, 0) => "cycles:u".to_owned(),
            (_, _) => "instructions:u".to_owned(),
        }
    }

    /// As the module opens it: user mode only, inherited.
    fn builder(self, start: EventStart) -> Builder<'static> {
        let mut builder = Builder::new(Raw::new(self.config));
        builder.attrs_mut().type_ = self.kind;
        let by_exec = start == EventStart::ByExec;
        builder.inherit(true).enabled(!by_exec).enable_on_exec(by_exec);
        builder
    }
}

impl From<Term> for KernelEvent {
    fn from(term: Term) -> Self {
        let weight = match term.weight {
            Weight::Times(n) => n.into(),
            Weight::VectorLength => vector_length(),
        };
        KernelEvent { kind: term.kind, config: term.config.into(), weight }
    }
}

/// When an event begins to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStart {
    /// When it is opened
    AtOnce,
    /// When the process or a child becomes another program
    ByExec,
}

/// Why an event could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRefusal {
    /// The reason, in the words of the log line
    pub why: Why,
    /// The kernel's error number, where it gave one
    pub errno: Option<i32>,
    /// The system's text for it
    pub text: String,
}

impl From<io::Error> for EventRefusal {
    fn from(error: io::Error) -> Self {
        let errno = error.raw_os_error();
        EventRefusal {
            why: errno.map_or(Why::Refused, Why::of_errno),
            errno,
            text: error.to_string(),
        }
    }
}

impl EventRefusal {
    /// Whether the kernel said `EINVAL`, which in a group means that it does not fit.
    pub fn is_invalid(&self) -> bool {
        self.errno == Some(libc::EINVAL)
    }
}

/// An open event.
#[derive(Debug)]
pub struct OpenEvent(Counter);

impl OpenEvent {
    /// Opens an event, by itself or behind a leader.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn new(
        event: KernelEvent,
        start: EventStart,
        leader: Option<&mut OpenEvent>,
    ) -> Result<Self, EventRefusal> {
        let builder = event.builder(start);
        let counter = match leader {
            None => builder.build(),
            Some(leader) => builder.build_with_group(&mut leader.0),
        };
        counter.map(OpenEvent).map_err(EventRefusal::from)
    }

    /// Reads it. None if the kernel returned nothing: an event in error state.
    pub fn read(&mut self) -> Option<Reading> {
        let data = self.0.read_full().ok()?;
        let nanos = |time: Option<Duration>| {
            time.and_then(|time| u64::try_from(time.as_nanos()).ok()).unwrap_or(0)
        };
        Some(Reading {
            value: data.count(),
            enabled: nanos(data.time_enabled()),
            running: nanos(data.time_running()),
        })
    }
}

/// The processor, if its maker is known; `root` is where the file systems of the kernel are.
#[cfg(target_arch = "x86_64")]
pub fn processor(_: &Path) -> Option<Cpu> {
    use topas_node::sys::cpuid;
    Cpu::from_cpuid(cpuid(0).ebx, cpuid(1).eax)
}

/// The processor, by what the kernel shows of its register below `root`.
#[cfg(target_arch = "aarch64")]
pub fn processor(root: &Path) -> Option<Cpu> {
    let file = root.join("sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
    let text = std::fs::read_to_string(file).ok()?;
    u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok().map(Cpu::from_midr)
}

/// The processor, which is of no maker that the table of events knows.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn processor(_: &Path) -> Option<Cpu> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_those_perf_takes() {
        let raw = |config| KernelEvent { kind: PERF_TYPE_RAW, config, weight: 1 }.encoding();
        assert_eq!(raw(0x3c7), "r03c7");
        assert_eq!(raw(0x80c1), "r80c1");
        let cache = |config| KernelEvent { kind: PERF_TYPE_HW_CACHE, config, weight: 1 }.encoding();
        assert_eq!(cache(0), "L1-dcache-loads:u");
        assert_eq!(cache(0x10000), "L1-dcache-load-misses:u");
        assert_eq!(KernelEvent::CYCLES.encoding(), "cycles:u");
        assert_eq!(KernelEvent::INSTRUCTIONS.encoding(), "instructions:u");
    }

    /// The kernel's own event of time on a processor, which needs no counter.
    #[test]
    fn reads_what_the_kernel_counts() {
        use std::io::Write;
        use std::time::Instant;
        const TASK_CLOCK: KernelEvent = KernelEvent { kind: 1, config: 1, weight: 1 };
        let begun = Instant::now();
        let mut open = match OpenEvent::new(TASK_CLOCK, EventStart::AtOnce, None) {
            Ok(open) => open,
            Err(refusal) => {
                let text = format!("skipped: read of a kernel event: {}\n", refusal.text);
                return std::io::stderr().write_all(text.as_bytes()).unwrap();
            }
        };
        // Work, not time: on a busy node time passes without us.
        for n in 0..10_000_000 {
            std::hint::black_box(n);
        }
        let reading = open.read().unwrap();
        let passed = u64::try_from(begun.elapsed().as_nanos()).unwrap();
        assert!((1_000_000..=passed).contains(&reading.value), "{reading:?} in {passed} ns");
        assert!(reading.running > 0 && reading.running <= reading.enabled, "{reading:?}");
    }

    #[test]
    fn refusals_have_the_words_of_the_line() {
        for (errno, why) in [
            (libc::EACCES, Why::Paranoid),
            (libc::EPERM, Why::Seccomp),
            (libc::ENOENT, Why::Pmu),
            (libc::EMFILE, Why::Files),
            (libc::EINVAL, Why::Refused),
        ] {
            let refusal = EventRefusal::from(io::Error::from_raw_os_error(errno));
            assert_eq!((refusal.why, refusal.errno), (why, Some(errno)));
        }
        let unsupported = EventRefusal::from(io::Error::from(io::ErrorKind::Unsupported));
        assert_eq!((unsupported.why, unsupported.errno), (Why::Refused, None));
    }
}
