//! How far a share has to be beyond the limit of its rule, so that a finding neither stands on noise nor
//! comes and goes with it.
//!
//! Where the share is known for slices of the run, its mean less two standard errors has to fulfil the
//! condition, too. What was told of the run before is told until the share is 5 % of the limit below it,
//! and what was not is told from 5 % above it on.

use topas_data::field::{MILLION, Value};
use topas_data::{Expression, Valuation};

use crate::fact::{Fact, FactOperand, FactValues};

/// By which part of the limit a finding holds on, and has to be above it to come.
const HYSTERESIS: f64 = 0.05;

/// Standard errors by which a share may be wrong.
const ERRORS: f64 = 2.0;

/// Whether a finding was told of an earlier run of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToldBefore {
    /// There is no earlier run to compare with
    #[default]
    Unknown,
    /// It was told
    Told,
    /// It was not told
    NotTold,
}

impl ToldBefore {
    /// The part of a limit down to which something is told.
    pub(crate) fn lowered(self) -> f64 {
        if self == ToldBefore::Told { 1.0 - HYSTERESIS } else { 1.0 }
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// It does
    Sure,
    /// It does for the run as a whole, but what it is about varies too much during the run
    Unsure,
    /// It does not
    Not,
    /// A fact is missing
    Unknown,
}

/// Facts of which some have another value.
struct Shifted<'f> {
    facts: &'f FactValues,
    shifted: &'f [&'static Fact],
    value: f64,
}

impl Valuation<FactOperand> for Shifted<'_> {
    fn value(&self, operand: &FactOperand) -> Value<'_> {
        if self.shifted.contains(&operand.0) {
            return Value::Number((self.value * MILLION as f64) as i128);
        }
        self.facts.value(operand)
    }
}

/// Whether a condition were true if some facts had another value; None if a fact is missing.
pub(crate) fn with_another(
    when: &Expression<FactOperand>,
    facts: &FactValues,
    shifted: &[&'static Fact],
    value: f64,
) -> Option<bool> {
    when.truth(&Shifted { facts, shifted, value })
}

/// Whether the condition of a rule holds. `test` is the share that its limit is about.
pub(crate) fn holding(
    when: &Expression<FactOperand>,
    test: Option<&'static Fact>,
    facts: &FactValues,
    before: ToldBefore,
) -> Holding {
    let Some(plain) = when.truth(facts) else { return Holding::Unknown };
    let measured = test.and_then(|test| Some((test, facts.get_number(test.name)?)));
    let Some((test, share)) = measured else {
        return if plain { Holding::Sure } else { Holding::Not };
    };
    // To change the share by a factor is to change the limit by it, whether the limit is one from above
    // or from below.
    let factors = [1.0, 1.0 / (1.0 - HYSTERESIS), 1.0 / (1.0 + HYSTERESIS)];
    let holds = |values: &[f64]| {
        let at = |value: f64| with_another(when, facts, &[test], value) == Some(true);
        let all = |factor: &f64| values.iter().all(|value| at(value * factor));
        match before {
            ToldBefore::Unknown => all(&1.0),
            ToldBefore::Told => factors.iter().any(all),
            ToldBefore::NotTold => factors.iter().all(all),
        }
    };
    if !holds(&[share]) {
        return Holding::Not;
    }
    let Some(spread) = facts.spread(test.name) else { return Holding::Sure };
    let error = ERRORS * spread.error;
    match holds(&[spread.mean - error, spread.mean + error]) {
        true => Holding::Sure,
        false => Holding::Unsure,
    }
}
