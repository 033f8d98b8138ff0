//! FactValues: the named values that conditions and sentences of rules are about.

use topas_data::field::{FieldKind, FieldUnit, MILLION, Value};
use topas_data::{Operand, UnknownOperand, Valuation};

/// A fact: a row of [`FACTS`].
#[derive(Debug)]
pub struct Fact {
    /// Name in rules
    pub name: &'static str,
    /// What values it has
    pub kind: FieldKind,
    /// What it is, as a sentence
    pub about: &'static str,
}

impl PartialEq for Fact {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const TEXT: FieldKind = FieldKind::Text;
const COUNT: FieldKind = FieldKind::Number(FieldUnit::None);
const SECONDS: FieldKind = FieldKind::Number(FieldUnit::Seconds);
const BYTES: FieldKind = FieldKind::Number(FieldUnit::Bytes);
const SHARE: FieldKind = FieldKind::Number(FieldUnit::Percent);
const RATE: FieldKind = FieldKind::Number(FieldUnit::MillionPerSecond);
const FREQUENCY: FieldKind = FieldKind::Number(FieldUnit::Megahertz);

const fn fact(name: &'static str, kind: FieldKind, about: &'static str) -> Fact {
    Fact { name, kind, about }
}

/// Every fact. What was not measured is missing, and a rule that needs it does not fire.
pub const FACTS: &[Fact] = &[
    fact("source", TEXT, "Where the facts come from: pes (topas.out) or log."),
    fact("pes", COUNT, "Number of PEs whose lines are known."),
    fact("npes", COUNT, "Number of PEs of the run."),
    fact("hosts", COUNT, "Number of hosts of the known PEs."),
    fact("wall", SECONDS, "Wall clock time of the run: that of the longest PE."),
    fact("pe_hours", COUNT, "PEs of the run times its wall clock time, in hours."),
    fact(
        "cpu_use",
        SHARE,
        "CPU time of the known PEs, as a share of their number times the wall clock time.",
    ),
    fact(
        "processors",
        COUNT,
        "Mean number of processors that a known PE used: CPU time by wall clock time.",
    ),
    fact("system_share", SHARE, "System time of the known PEs, as a share of their CPU time."),
    fact(
        "system_wall",
        SHARE,
        "Mean system time of a known PE, as a share of the wall clock time.",
    ),
    fact("system_time", SECONDS, "Mean system time of a known PE."),
    fact("mflops", RATE, "Mean rate of floating point operations of a PE."),
    fact("l1_per_op", COUNT, "L1 data cache misses per counted operation."),
    fact("ipc", COUNT, "Instructions per cycle in user mode."),
    fact("ghz", FREQUENCY, "Cycles in user mode by user time: the frequency at which the PEs ran."),
    fact("ghz_nominal", FREQUENCY, "Nominal frequency of the processor."),
    fact("ghz_share", SHARE, "The frequency of the PEs, as a share of the nominal frequency."),
    fact("memory_largest", BYTES, "Largest resident set of a PE."),
    fact(
        "memory_of_host",
        BYTES,
        "Sum of the largest resident sets of the PEs of a host, of the host with the most.",
    ),
    fact("memory_host", TEXT, "That host."),
    fact("idle_pes", COUNT, "PEs with CPU time of less than 5 % of the wall clock time."),
    fact("idle_share", SHARE, "Those PEs, as a share of the known PEs."),
    fact(
        "shared_pes",
        COUNT,
        "PEs that were on the same processor of their host as another PE when they ended.",
    ),
    fact("imbalance_of", TEXT, "The load whose imbalance costs most."),
    fact("imbalance_pes", COUNT, "PEs with a value of this load."),
    fact("imbalance_who", TEXT, "The PE with the most of this load."),
    fact("imbalance_max", TEXT, "The load of this PE, with its unit."),
    fact("imbalance_mean", TEXT, "The mean load of a PE, with its unit."),
    fact(
        "imbalance_cost",
        SECONDS,
        "Wall clock time that an even spread of this load could save at most.",
    ),
    fact("imbalance_share", SHARE, "That time, as a share of the wall clock time."),
    fact("imbalance_lost", COUNT, "That time, in PE-hours."),
    fact("imbalance_all", COUNT, "PE-hours of the PEs with a value."),
    fact(
        "imbalance_first",
        TEXT,
        "Load of the first PE, if the load goes along the numbers of the PEs.",
    ),
    fact("imbalance_last", TEXT, "Load of the last PE, likewise."),
    fact("imbalance_low", TEXT, "A quarter of the PEs has less of this load, if no PEs stand out."),
    fact("imbalance_high", TEXT, "A quarter of the PEs has more of this load, likewise."),
    fact("ending", TEXT, "How the first PE that failed by itself ended."),
    fact("ending_who", TEXT, "The PE that failed first."),
    fact("ending_after", SECONDS, "Wall clock time of this PE."),
    fact("ending_others", TEXT, "How the other PEs ended, in sentences."),
    fact("no_line", COUNT, "PEs that left no line, where every PE leaves one."),
    fact(
        "mpi_share",
        SHARE,
        "Time in MPI, as a share of the time of all ranks, if the run was profiled.",
    ),
    fact("mpi_cost", SECONDS, "Mean time of a rank in MPI, likewise."),
    fact(
        "late_share",
        SHARE,
        "Time that ranks waited for late senders, as a share of the time of all ranks, if the profile tells waits apart.",
    ),
    fact("late_cost", SECONDS, "Mean time that a rank waited for late senders, likewise."),
    fact("late_calls", COUNT, "Calls that waited for late senders, likewise."),
    fact("late_routine", TEXT, "The routine with most of this time."),
    fact("latercv_share", SHARE, "The same share of waits for late receivers."),
    fact("latercv_cost", SECONDS, "Mean time that a rank waited for late receivers."),
    fact("latercv_calls", COUNT, "Calls that waited for late receivers."),
    fact("latercv_routine", TEXT, "The routine with most of this time."),
    fact("coll_share", SHARE, "The same share of waits for others in collectives."),
    fact("coll_cost", SECONDS, "Mean time that a rank waited for others in collectives."),
    fact("coll_calls", COUNT, "Calls that waited for others in collectives."),
    fact("coll_routine", TEXT, "The routine with most of this time."),
    fact(
        "lateunk_share",
        SHARE,
        "Time in calls of which it is not known whether they waited, as a share of the time of all ranks.",
    ),
    fact(
        "earlier_runs",
        COUNT,
        "Earlier runs of the same program by the same user on as many PEs, in the log.",
    ),
    fact("earlier_wall", SECONDS, "Median of their wall clock times."),
    fact("slower", SHARE, "Wall clock time beyond this median, as a share of the median."),
    fact("slower_by", SECONDS, "Wall clock time beyond this median."),
    fact(
        "part",
        TEXT,
        "What stands out: pe, host, numa, exe, or class. Of parts of a run only, as the following.",
    ),
    fact("part_pes", COUNT, "PEs of the part."),
    fact(
        "cpu_more",
        SHARE,
        "Median CPU time of the part beyond that of the others; 0 if it does not stand out, as the following.",
    ),
    fact("cpu_less", SHARE, "What it has less than the others, likewise."),
    fact("operations_more", SHARE, "The same of operations."),
    fact("operations_less", SHARE, "The same of operations."),
    fact("rate_more", SHARE, "The same of the rate."),
    fact("rate_less", SHARE, "The same of the rate."),
    fact("wall_more", SHARE, "The same of the wall clock time."),
    fact("wall_less", SHARE, "The same of the wall clock time."),
    fact("frequency_more", SHARE, "The same of the frequency."),
    fact("frequency_less", SHARE, "The same of the frequency."),
    fact("l1_more", SHARE, "The same of L1 misses per operation."),
    fact("l1_less", SHARE, "The same of L1 misses per operation."),
    fact("memory_more", SHARE, "The same of resident memory."),
    fact("memory_less", SHARE, "The same of resident memory."),
    fact(
        "system_more",
        SHARE,
        "System time beyond that of the others, as a share of the wall clock time.",
    ),
    fact("system_less", SHARE, "The same, less than the others."),
    fact(
        "counted",
        TEXT,
        "What the PEs counted: floating point operations, integer operations, loads or stores.",
    ),
];

impl Fact {
    /// The fact of a name.
    pub fn named(name: &str) -> Option<&'static Fact> {
        FACTS.iter().find(|fact| fact.name == name)
    }

    /// The fact of a name, as conditions look it up.
    pub(crate) fn operand(name: &str) -> Result<&'static Fact, UnknownOperand> {
        Fact::named(name).ok_or_else(|| UnknownOperand {
            what: format!("there is no fact {name}"),
            hint: "the manual topas-rules(5) lists the facts".to_owned(),
        })
    }
}

/// A fact as an operand of conditions.
#[derive(Clone, Debug)]
pub(crate) struct FactOperand(pub(crate) &'static Fact);

impl Operand for FactOperand {
    fn name(&self) -> &str {
        self.0.name
    }

    fn kind(&self) -> FieldKind {
        self.0.kind
    }
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub enum FactValue {
    /// A number in the unit of the fact: seconds, bytes, MHz, 10^6 per s, percent
    Number(f64),
    /// A text
    Text(String),
    /// A text that is a number with its own unit, as of a load
    Quantity(f64, &'static str),
}

/// What is known of a run, or of a part of one.
#[derive(Clone, Debug, Default)]
pub struct FactValues(Vec<(&'static str, FactValue)>);

impl FactValues {
    /// Sets a number, in the unit of the fact; what is no number stays missing.
    pub fn number(&mut self, name: &'static str, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            self.set(name, FactValue::Number(value));
        }
    }

    /// Sets a text; an empty one stays missing.
    pub fn text(&mut self, name: &'static str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.set(name, FactValue::Text(value));
        }
    }

    /// Sets a number with a unit of its own.
    pub fn quantity(&mut self, name: &'static str, value: f64, unit: &'static str) {
        if value.is_finite() {
            self.set(name, FactValue::Quantity(value, unit));
        }
    }

    fn set(&mut self, name: &'static str, value: FactValue) {
        debug_assert!(Fact::named(name).is_some(), "{name} is in the table");
        self.0.retain(|(one, _)| *one != name);
        self.0.push((name, value));
    }

    /// The value of a fact; None if it is missing.
    pub fn get(&self, name: &str) -> Option<&FactValue> {
        self.0.iter().find(|(one, _)| *one == name).map(|(_, value)| value)
    }

    /// The value of a fact that is a number.
    pub fn get_number(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(FactValue::Number(value)) => Some(*value),
            _ => None,
        }
    }
}

impl Valuation<FactOperand> for FactValues {
    fn value(&self, operand: &FactOperand) -> Value<'_> {
        match self.get(operand.0.name) {
            None => Value::Missing,
            Some(FactValue::Number(value)) => Value::Number((value * MILLION as f64) as i128),
            Some(FactValue::Text(text)) => Value::Text(text.as_bytes().into()),
            Some(FactValue::Quantity(value, unit)) => {
                Value::Text(format!("{value} {unit}").into_bytes().into())
            }
        }
    }
}
