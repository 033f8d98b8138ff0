//! Processors and what the module must count on them; a module that believes a test which
//! processor it has.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use topas_format::event::{
    AMD, Cpu, Family, INTEL, Metric, PERF_TYPE_HARDWARE, Weight, formula, row,
};
use topas_format::number::Count;
use topas_testkit::pmu::{PmuAnswer, PmuPlan};

use crate::build::source;
use crate::mpi_installation::emulate_rank;
use crate::running::{run, run_cargo};
use crate::site::{Scratch, xtask};

/// Configs of `PERF_TYPE_HARDWARE`.
const CYCLES: u64 = 0;
const INSTRUCTIONS: u64 = 1;

/// Counts of the played generic events.
pub const CYCLES_SEEN: u64 = 4_000_000_007;
/// The same of instructions.
pub const INSTRUCTIONS_SEEN: u64 = 6_000_000_011;

/// Every metric.
pub const METRICS: [Metric; 5] =
    [Metric::FpOps, Metric::IntOps, Metric::Loads, Metric::Stores, Metric::L1Miss];

/// An event as the table has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// `perf_event_attr.type`
    pub kind: u32,
    /// `perf_event_attr.config`
    pub config: u64,
    /// What a count is worth
    pub weight: u64,
}

impl Wanted {
    /// The count a plan gives it, which no other event has.
    pub fn seen(self) -> u64 {
        1_000_000_000 + u64::from(self.kind) * 100_000_000 + self.config * 1000
    }
}

/// A processor, and what is to be counted on it.
#[derive(Clone, Copy, Debug)]
pub struct Processor(pub Option<Cpu>);

impl Processor {
    /// The processor by /proc/cpuinfo, another way than the module's CPUID; None if it is in
    /// no row of the event table.
    pub fn here() -> Option<Processor> {
        let text = fs::read_to_string("/proc/cpuinfo").ok()?;
        let value = |key: &str| {
            let mut lines = text.lines();
            let line = lines.find(|line| line.split(':').next().unwrap_or("").trim() == key)?;
            Some(line.split(':').nth(1)?.trim().to_owned())
        };
        let cpu = if let Some(vendor) = value("vendor_id") {
            let family = match vendor.as_str() {
                "GenuineIntel" => Family::Intel,
                "AuthenticAMD" => Family::Amd,
                _ => return None,
            };
            let number = value("cpu family")?.parse().ok()?;
            Cpu { family, number, model: value("model")?.parse().ok()? }
        } else {
            let hex = |text: String| u16::from_str_radix(text.trim_start_matches("0x"), 16).ok();
            let implementer = u8::try_from(hex(value("CPU implementer")?)?).ok()?;
            Cpu { family: Family::Arm, number: implementer, model: hex(value("CPU part")?)? }
        };
        row(cpu).map(|_| Processor(Some(cpu)))
    }

    /// The events of a metric; none if the processor cannot count it.
    pub fn events(self, metric: Metric) -> Vec<Wanted> {
        let weight = |weight| match weight {
            Weight::Times(n) => n.into(),
            Weight::VectorLength => 1,
        };
        let terms = formula(self.0, metric).terms();
        let wanted = |t: topas_format::event::Term| Wanted {
            kind: t.kind,
            config: t.config.into(),
            weight: weight(t.weight),
        };
        terms.map(wanted).collect()
    }

    /// What the module must open for a metric: its events, cache misses, cycles, instructions.
    pub fn all(self, metric: Metric) -> Vec<(u32, u64)> {
        let raw = |metric| self.events(metric).into_iter().map(|e| (e.kind, e.config));
        let fixed = [(PERF_TYPE_HARDWARE, CYCLES), (PERF_TYPE_HARDWARE, INSTRUCTIONS)];
        raw(metric).chain(raw(Metric::L1Miss)).chain(fixed).collect()
    }

    /// A plan in which every event of the row has a count of its own, on a counter for
    /// `share` thousandths of the time.
    pub fn plan(self, share: u16) -> PmuPlan {
        let answer = |value| PmuAnswer::Count { value, running_per_mille: share };
        let mut plan = PmuPlan::new();
        for event in METRICS.into_iter().flat_map(|metric| self.events(metric)) {
            plan = plan.event(event.kind, event.config, answer(event.seen()));
        }
        let hardware =
            |plan: PmuPlan, config, seen| plan.event(PERF_TYPE_HARDWARE, config, answer(seen));
        hardware(hardware(plan, CYCLES, CYCLES_SEEN), INSTRUCTIONS, INSTRUCTIONS_SEEN)
    }

    /// What the line must say of a metric by that plan.
    pub fn total(self, metric: Metric) -> Count {
        let events = self.events(metric);
        let sum = events.iter().map(|event| event.seen() * event.weight).sum();
        match (events.is_empty(), formula(self.0, metric).estimate()) {
            (true, _) => Count::Missing,
            (_, true) => Count::Estimate(sum),
            _ => Count::Exact(sum),
        }
    }

    /// The word of `why` for a metric without events.
    pub fn why_missing(self) -> &'static str {
        if self.0.and_then(row).is_some() { "event" } else { "cpu" }
    }

    /// EBX of CPUID leaf 0 and EAX of leaf 1, by the makers' manuals.
    fn cpuid(self) -> [u32; 2] {
        let Some(cpu) = self.0 else {
            return [u32::from_le_bytes(*b"Hygo"), 0x0090_0f01];
        };
        let maker = match cpu.family {
            Family::Intel => INTEL,
            Family::Amd => AMD,
            _ => panic!("{cpu:?} has no CPUID"),
        };
        let (family, model) = (u32::from(cpu.number), u32::from(cpu.model));
        let (base, extended) = (family.min(15), family.saturating_sub(15));
        [maker, extended << 20 | (model >> 4) << 16 | base << 8 | (model & 0xf) << 4]
    }
}

/// A program with the module that takes its processor from a test.
#[derive(Debug)]
pub struct AnyProcessor {
    /// Where it runs and logs.
    pub scratch: Scratch,
}

impl AnyProcessor {
    /// Builds the module, and with it a program below `tests/programs`.
    #[track_caller]
    pub fn building(program: &str, options: &[&str]) -> AnyProcessor {
        let scratch = Scratch::new();
        let objects = scratch.sub("objects");
        run_cargo(xtask().args(["object", "--any-processor", "--out"]).arg(&objects)).good();
        let built = AnyProcessor { scratch };
        built.link(program, options, &objects.join("topas.c.o"));
        built
    }

    #[track_caller]
    fn link(&self, program: &str, options: &[&str], module: &Path) {
        let mut gcc = self.scratch.command("gcc");
        gcc.args(["-Wall", "-Werror", "-O1"]).arg(source(program)).args(options);
        gcc.arg(format!("-Wl,{}", module.display())).arg("-o").arg(self.program());
        run(&mut gcc).good();
    }

    /// The program.
    pub fn program(&self) -> PathBuf {
        self.scratch.path().join("program")
    }

    /// A command for rank 1 of 8, the lower of two that measure, on a processor.
    pub fn command(&self, processor: Processor) -> Command {
        let words: Vec<u8> = processor.cpuid().into_iter().flat_map(u32::to_le_bytes).collect();
        fs::write(self.scratch.path().join("topas-processor"), words).expect("write");
        let mut command = self.scratch.command(self.program());
        command.current_dir(self.scratch.path()).env("TOPAS_PE", "1,2");
        emulate_rank(&mut command, 1, 8, "0123456789abcdef-0123456789abcdef");
        command
    }
}
