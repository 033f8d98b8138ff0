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
    fact("source", TEXT, "Where the facts come from: pes (topas.out), mpi (topas-mpi.out) or log."),
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
        "late_error",
        SHARE,
        "Standard error of the share of waits for late senders, over slices of the run, if there is an event log.",
    ),
    fact(
        "late_when",
        TEXT,
        "The part of the run in which most of this time was waited, if that is short, as a sentence.",
    ),
    fact(
        "latercv_error",
        SHARE,
        "Standard error of the share of waits for late receivers, over slices of the run, if there is an event log.",
    ),
    fact(
        "latercv_when",
        TEXT,
        "The part of the run in which most of this time was waited, if that is short, as a sentence.",
    ),
    fact(
        "coll_error",
        SHARE,
        "Standard error of the share of waits for others in collectives, over slices of the run, if there is an event log.",
    ),
    fact(
        "coll_when",
        TEXT,
        "The part of the run in which most of this time was waited, if that is short, as a sentence.",
    ),
    fact(
        "processor_share",
        SHARE,
        "Processor time of the ranks, as a share of the time of all ranks, if the profile tells it.",
    ),
    fact(
        "preempted_rate",
        COUNT,
        "How often in a second a rank lost its processor to others or yielded it (MPIs may, while they wait), likewise.",
    ),
    fact(
        "taken_sum",
        SECONDS,
        "Time that all ranks together lacked a processor because of other programs, and what others can have waited for them meanwhile, if there are as many processors as ranks.",
    ),
    fact(
        "slices",
        COUNT,
        "Slices of the run, if there is an event log, without the first and the last one.",
    ),
    fact(
        "origin_who",
        TEXT,
        "The rank in which most of the waits arose, followed from rank to rank, if there is an event log.",
    ),
    fact("origin_share", SHARE, "Its share of all waits."),
    fact(
        "serialisation",
        SHARE,
        "Serialisation efficiency: the largest time of a rank outside MPI, as a share of the time on a perfect network.",
    ),
    fact("serialisation_cost", SECONDS, "What is between the two."),
    fact("serialisation_sum", SECONDS, "The same times the number of ranks."),
    fact(
        "comm_most",
        TEXT,
        "The communicator with most of the time in MPI, if they were counted and it is not MPI_COMM_WORLD.",
    ),
    fact("comm_share", SHARE, "Its share of the time in MPI."),
    fact(
        "window_most",
        TEXT,
        "The window with most of the time in MPI, if communicators were counted: \"window NAME\".",
    ),
    fact(
        "window_most_share",
        SHARE,
        "Its share of the time in MPI, without Win_create and Win_free.",
    ),
    fact(
        "file_most",
        TEXT,
        "The file with most of the time in MPI, if communicators were counted: \"file NAME\".",
    ),
    fact(
        "file_most_share",
        SHARE,
        "Its share of the time in MPI, without File_open and File_close.",
    ),
    fact("mpi_calls", COUNT, "Calls of MPI of all ranks, without its beginning and end."),
    fact("window_calls", COUNT, "Calls that synchronise windows."),
    fact("mpi_work_share", SHARE, "The same without beginning and end of MPI."),
    fact("mpi_work_cost", SECONDS, "Mean time of a rank in MPI without its beginning and end."),
    fact("mpi_work_sum", SECONDS, "The same of all ranks together."),
    fact("outside_share", SHARE, "Time outside MPI, as a share of the time of all ranks."),
    fact("waits_known", COUNT, "1 if the profile tells waits apart, else 0."),
    fact("late_sum", SECONDS, "Time that all ranks together waited for late senders."),
    fact(
        "late_who",
        TEXT,
        "The rank that sends late, if others waited for it for most of this time.",
    ),
    fact("late_who_share", SHARE, "Its share of this time."),
    fact("late_who_computes", SECONDS, "Its time outside MPI."),
    fact("late_others_compute", SECONDS, "Mean time of the other ranks outside MPI."),
    fact(
        "late_turns",
        COUNT,
        "Ranks that each have at least 5 % of this time, if none has most of it.",
    ),
    fact(
        "late_first",
        TEXT,
        "The rank in which the delay began: the rank that sends late, or one for which that rank waited itself.",
    ),
    fact(
        "late_first_computes",
        SECONDS,
        "The time outside MPI of that rank, if it is another one than the one that sends late.",
    ),
    fact(
        "late_where",
        TEXT,
        "Where in the source most of this time was waited, if call paths were counted.",
    ),
    fact("latercv_sum", SECONDS, "Time that all ranks together waited for late receivers."),
    fact(
        "latercv_who",
        TEXT,
        "The rank that receives late, if others waited for it for most of this time.",
    ),
    fact("latercv_who_share", SHARE, "Its share of this time."),
    fact(
        "latercv_queued",
        SHARE,
        "How much of this time that rank was in other calls of MPI, at least; 0 if there is no such rank.",
    ),
    fact("latercv_who_computes", SECONDS, "Its time outside MPI."),
    fact("latercv_others_compute", SECONDS, "Mean time of the other ranks outside MPI."),
    fact(
        "latercv_turns",
        COUNT,
        "Ranks that each have at least 5 % of this time, if none has most of it.",
    ),
    fact(
        "latercv_first",
        TEXT,
        "The rank in which the delay began: the rank that receives late, or one for which that rank waited itself.",
    ),
    fact(
        "latercv_first_computes",
        SECONDS,
        "The time outside MPI of that rank, if it is another one than the one that receives late.",
    ),
    fact(
        "latercv_where",
        TEXT,
        "Where in the source most of this time was waited, if call paths were counted.",
    ),
    fact("coll_sum", SECONDS, "Time that all ranks together waited for others in collectives."),
    fact(
        "coll_who",
        TEXT,
        "The rank that comes late to collectives, if others waited for it for most of this time.",
    ),
    fact("coll_who_share", SHARE, "Its share of this time."),
    fact("coll_who_computes", SECONDS, "Its time outside MPI."),
    fact("coll_others_compute", SECONDS, "Mean time of the other ranks outside MPI."),
    fact(
        "coll_turns",
        COUNT,
        "Ranks that each have at least 5 % of this time, if none has most of it.",
    ),
    fact(
        "coll_first",
        TEXT,
        "The rank in which the delay began: the rank that comes late, or one for which that rank waited itself.",
    ),
    fact(
        "coll_first_computes",
        SECONDS,
        "The time outside MPI of that rank, if it is another one than the one that comes late.",
    ),
    fact(
        "coll_where",
        TEXT,
        "Where in the source most of this time was waited, if call paths were counted.",
    ),
    fact(
        "waits_share",
        SHARE,
        "The three shares together: late senders, late receivers, collectives.",
    ),
    fact("waits_cost", SECONDS, "Mean time that a rank waited for others."),
    fact("waits_sum", SECONDS, "Time that all ranks together waited for others."),
    fact("waits_calls", COUNT, "Calls that waited for others, once for each kind of wait."),
    fact("waits_routine", TEXT, "The routine with most of this time."),
    fact(
        "waits_error",
        SHARE,
        "Standard error of the share of all waits, over slices of the run, if there is an event log.",
    ),
    fact(
        "waits_when",
        TEXT,
        "The part of the run in which most of this time was waited, if that is short, as a sentence.",
    ),
    fact(
        "waits_who",
        TEXT,
        "The rank that is late, if others waited for it for most of this time.",
    ),
    fact("waits_who_share", SHARE, "Its share of this time."),
    fact("waits_who_computes", SECONDS, "Its time outside MPI."),
    fact("waits_others_compute", SECONDS, "Mean time of the other ranks outside MPI."),
    fact(
        "waits_turns",
        COUNT,
        "Ranks that each have at least 5 % of this time, if none has most of it.",
    ),
    fact(
        "waits_first",
        TEXT,
        "The rank in which the delay began: the rank that is late, or one for which that rank waited itself.",
    ),
    fact(
        "waits_first_computes",
        SECONDS,
        "The time outside MPI of that rank, if it is another one than the one that is late.",
    ),
    fact(
        "waits_where",
        TEXT,
        "Where in the source most of this time was waited, if call paths were counted.",
    ),
    fact(
        "transfer_share",
        SHARE,
        "Time in messages between two ranks that is no waiting, as a share of the time of all ranks.",
    ),
    fact("transfer_cost", SECONDS, "Mean time of a rank in them."),
    fact("transfer_sum", SECONDS, "Time of all ranks together in them."),
    fact(
        "message_median",
        BYTES,
        "The median size of messages between two ranks is below this power of two.",
    ),
    fact("message_mean", BYTES, "Mean size of messages between two ranks."),
    fact("message_count", COUNT, "Number of these messages."),
    fact("message_rate", COUNT, "Messages that a rank sends and receives in a second of MPI."),
    fact(
        "file_share",
        SHARE,
        "Time in MPI-I/O without waits for ranks that come late, as a share of the time of all ranks.",
    ),
    fact("file_cost", SECONDS, "Mean time of a rank in MPI-I/O without these waits."),
    fact("file_sum", SECONDS, "Time of all ranks together in MPI-I/O without these waits."),
    fact("file_size", BYTES, "Mean size of its accesses."),
    fact("file_calls", COUNT, "Number of its accesses."),
    fact(
        "window_share",
        SHARE,
        "Time in the synchronisation of windows without waits for posts and ends of accesses, if the profile tells waits apart, as a share of the time of all ranks.",
    ),
    fact("window_cost", SECONDS, "Mean time of a rank in it."),
    fact("window_sum", SECONDS, "Time of all ranks together in it."),
    fact("spawn_share", SHARE, "Time in starting processes, as a share of the time of all ranks."),
    fact("spawn_cost", SECONDS, "Mean time of a rank in it."),
    fact("spawn_sum", SECONDS, "Time of all ranks together in it."),
    fact("spawn_who", TEXT, "The rank that started most processes, as far as ranks tell."),
    fact("spawn_worlds", COUNT, "How often it started processes."),
    fact("spawn_program", TEXT, "The program that it started last."),
    fact("spawn_where", TEXT, "Where in the source it started them, a sentence."),
    fact(
        "poll_share",
        SHARE,
        "Time in calls that ask for messages or requests, as a share of the time of all ranks.",
    ),
    fact("poll_cost", SECONDS, "Mean time of a rank in them."),
    fact("poll_sum", SECONDS, "Time of all ranks together in them."),
    fact("poll_rate", COUNT, "Such calls of a rank in a second."),
    fact("outside_balance", SHARE, "Mean time of a rank outside MPI, as a share of the largest."),
    fact("outside_who", TEXT, "The rank with the largest."),
    fact("outside_max", SECONDS, "The largest time of a rank outside MPI."),
    fact("outside_mean", SECONDS, "The mean."),
    fact("outside_cost", SECONDS, "What is between the two."),
    fact("outside_sum", SECONDS, "The same times the number of ranks."),
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

/// What has to be measured for a fact to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactSource {
    /// All PEs
    Pes,
    /// Calls of MPI
    Mpi,
    /// Why ranks wait in them
    Waits,
    /// When they did what
    EventLog,
    /// Earlier runs, of a log
    Log,
}

impl Fact {
    /// What has to be measured for it.
    pub fn source(&self) -> FactSource {
        let begins = |words: &[&str]| words.iter().any(|word| self.name.starts_with(word));
        if begins(&["slices", "origin_", "serialisation"]) {
            FactSource::EventLog
        } else if begins(&["late", "coll_", "waits_"]) {
            FactSource::Waits
        } else if begins(&["mpi_", "outside_", "transfer_", "message_", "file_", "window_"])
            || begins(&["spawn_", "poll_", "comm_", "processor_", "preempted_", "taken_"])
        {
            FactSource::Mpi
        } else if begins(&["earlier_", "slower"]) {
            FactSource::Log
        } else {
            FactSource::Pes
        }
    }

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

/// How a share varies during a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FactSpread {
    /// Its mean over slices of the run, without the first and the last one, in the unit of the fact
    pub mean: f64,
    /// The standard error of this mean
    pub error: f64,
}

/// What is known of a run, or of a part of one.
#[derive(Clone, Debug, Default)]
pub struct FactValues {
    values: Vec<(&'static str, FactValue)>,
    spreads: Vec<(&'static str, FactSpread)>,
}

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
        self.values.retain(|(one, _)| *one != name);
        self.values.push((name, value));
    }

    /// Sets how a fact varies during the run.
    pub fn vary(&mut self, name: &'static str, spread: FactSpread) {
        debug_assert!(Fact::named(name).is_some(), "{name} is in the table");
        self.spreads.retain(|(one, _)| *one != name);
        self.spreads.push((name, spread));
    }

    /// How a fact varies during the run; None if that is not known.
    pub fn spread(&self, name: &str) -> Option<FactSpread> {
        self.spreads.iter().find(|(one, _)| *one == name).map(|(_, spread)| *spread)
    }

    /// The value of a fact; None if it is missing.
    pub fn get(&self, name: &str) -> Option<&FactValue> {
        self.values.iter().find(|(one, _)| *one == name).map(|(_, value)| value)
    }

    /// The value of a fact that is a text.
    pub fn get_text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(FactValue::Text(text)) => Some(text),
            _ => None,
        }
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
