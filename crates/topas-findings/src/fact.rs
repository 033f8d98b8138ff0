//! Facts: the named values that conditions and sentences of rules are about.

mod mpi_table;
mod table;

use topas_data::field::{FieldKind, MILLION, Value};
use topas_data::{Operand, UnknownOperand, Valuation};

use mpi_table::MPI_FACTS;
use table::OTHER_FACTS;

/// Every fact. What was not measured is missing, and a rule that needs it does not fire.
pub fn facts() -> impl Iterator<Item = &'static Fact> {
    OTHER_FACTS.iter().chain(MPI_FACTS)
}

/// A fact: one of [`facts`].
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

/// What has to be measured for a fact to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactSource {
    /// All PEs
    Pes,
    /// Calls of MPI
    Mpi,
    /// Why ranks wait in them
    Waits,
    /// From where they call it
    CallPaths,
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
        } else if begins(&["late", "coll_", "waits_", "finalize_", "workless_", "workers_"]) {
            FactSource::Waits
        } else if begins(&["paths_"]) {
            FactSource::CallPaths
        } else if begins(&["mpi_", "outside_", "transfer_", "message_", "file_", "window_"])
            || begins(&[
                "init_",
                "spawn_",
                "poll_",
                "exchange_",
                "gathering_",
                "crowd",
                "comm_",
                "processor_",
                "preempted_",
                "taken_",
            ])
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
        facts().find(|fact| fact.name == name)
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
    /// System time in s of each PE, if the lines of PEs are known
    pub(crate) system: Vec<(u32, f64)>,
}

impl<const N: usize> From<[(&'static str, f64); N]> for FactValues {
    /// These numbers, each in the unit of its fact.
    fn from(numbers: [(&'static str, f64); N]) -> FactValues {
        let mut facts = FactValues::default();
        numbers.into_iter().for_each(|(name, value)| facts.number(name, value));
        facts
    }
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

    /// Takes a value away again.
    pub fn forget(&mut self, name: &str) {
        self.values.retain(|(one, _)| *one != name);
    }

    fn set(&mut self, name: &'static str, value: FactValue) {
        debug_assert!(Fact::named(name).is_some(), "{name} is in the table");
        self.forget(name);
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
