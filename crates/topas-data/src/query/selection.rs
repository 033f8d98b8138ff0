//! Which lines count.

use topas_format::line::{Extras, Line};

use super::Expression;

/// Conditions that a line must all meet, each line for itself, as `grep` in front would
/// select them.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    conditions: Vec<Expression>,
}

impl Selection {
    /// One more condition.
    pub fn and(&mut self, condition: Expression) {
        self.conditions.push(condition);
    }

    /// Whether every line is wanted.
    pub fn is_all(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Whether a line meets every condition.
    #[inline]
    pub fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.is_true(line, extras))
    }
}
