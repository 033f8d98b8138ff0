//! Conditions on named values, with three values of truth: what was not measured makes a
//! comparison neither true nor false.

use std::cmp::Ordering;
use std::fmt;

use regex::bytes::Regex;
use topas_format::line::{Extras, Line};

use super::lexer::Operator;
use super::parser::ExpressionError;
use crate::field::{Field, FieldKind, UnknownField, Value};

/// What a name in an expression stands for.
pub trait Operand: Clone + fmt::Debug {
    /// The name, as messages call it
    fn name(&self) -> &str;

    /// What values it has: how they are written and compared.
    fn kind(&self) -> FieldKind;

    /// Whether a `-` that it is compared with is a value, not the lack of one.
    fn dash_is_value(&self) -> bool {
        false
    }

    /// Whether the other one has its value at the same place, so that both can be compared.
    fn is_beside(&self, _other: &Self) -> bool {
        true
    }
}

impl Operand for Field {
    fn name(&self) -> &str {
        self.name()
    }

    fn kind(&self) -> FieldKind {
        self.kind()
    }

    fn dash_is_value(&self) -> bool {
        self.dash_is_value()
    }
}

/// No operand has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOperand {
    /// What is wrong, with the name
    pub what: String,
    /// What to do
    pub hint: String,
}

impl From<UnknownField> for UnknownOperand {
    fn from(unknown: UnknownField) -> Self {
        let hint = "--list-fields shows all fields".to_owned();
        UnknownOperand { what: unknown.to_string(), hint }
    }
}

/// The values that the operands of an expression have.
pub trait Valuation<O> {
    /// The value of an operand, of its kind; numbers are in millionths.
    fn value(&self, operand: &O) -> Value<'_>;

    /// How its value compares with one of an expression; None if it is missing. To be
    /// overridden where a value is finer than a millionth.
    fn order(&self, operand: &O, with: &Value<'static>) -> Option<Ordering> {
        self.value(operand).order(with)
    }
}

/// A condition on named values; by default, on the fields of a line.
#[derive(Clone, Debug)]
pub struct Expression<O = Field>(pub(super) Node<O>);

#[derive(Clone, Debug)]
pub(super) enum Node<O> {
    Compare(O, Operator, Value<'static>),
    /// Two operands of one kind, to a millionth of their unit
    CompareBoth(O, Operator, O),
    Matches(O, Regex, bool),
    /// `= -` (true) or `!= -`: whether a value is missing; always true or false
    Missing(O, bool),
    Not(Box<Node<O>>),
    And(Vec<Node<O>>),
    Or(Vec<Node<O>>),
}

impl<O: Operand> Expression<O> {
    /// The expression that a text says; `named` knows the operands.
    ///
    /// # Errors
    ///
    /// [`ExpressionError`], with the place in the text.
    pub fn parse_with(
        text: &str,
        named: impl Fn(&str) -> Result<O, UnknownOperand>,
    ) -> Result<Self, ExpressionError> {
        super::parser::parse(text, named).map(Expression)
    }

    /// Whether it is true of these values; None if it is neither true nor false.
    pub fn truth(&self, values: &impl Valuation<O>) -> Option<bool> {
        self.0.truth(values)
    }

    /// The operands in it, each as often as it is named.
    pub fn operands(&self) -> Vec<&O> {
        self.0.operands()
    }

    /// `operand = value` for any of the values, of an operand that is text. As in an expression
    /// `-` is the missing value, unless it is a value of the operand's own.
    pub fn any_of(operand: &O, values: &[String]) -> Self {
        let equal = |value: &String| {
            if value == "-" && !operand.dash_is_value() {
                return Node::Missing(operand.clone(), true);
            }
            let value = Value::Text(value.clone().into_bytes().into());
            Node::Compare(operand.clone(), Operator::Equal, value)
        };
        Expression(Node::Or(values.iter().map(equal).collect()))
    }
}

impl Expression {
    /// The expression over fields of a line that a text says.
    ///
    /// # Errors
    ///
    /// [`ExpressionError`], with the place in the text.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Self::parse_with(text, |name| Ok(Field::named(name)?))
    }

    /// Whether it is true of a line. What is neither true nor false is not.
    pub fn is_true(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.0.of_line(line, extras) == Some(true)
    }
}

/// The fields of a line.
struct LineValues<'l, 'a> {
    line: &'l Line<'a>,
    extras: Extras<'a>,
}

impl Valuation<Field> for LineValues<'_, '_> {
    #[inline]
    fn value(&self, field: &Field) -> Value<'_> {
        field.value(self.line, self.extras)
    }
}

impl Node<Field> {
    /// Its truth of a line.
    #[inline]
    pub(super) fn of_line(&self, line: &Line<'_>, extras: Extras<'_>) -> Option<bool> {
        self.truth(&LineValues { line, extras })
    }
}

impl<O> Node<O> {
    /// None: neither true nor false (Kleene's logic).
    pub(super) fn truth(&self, values: &impl Valuation<O>) -> Option<bool> {
        match self {
            Node::Compare(operand, operator, with) => operator.holds(values.order(operand, with)?),
            Node::CompareBoth(operand, operator, other) => {
                operator.holds(values.value(operand).order(&values.value(other))?)
            }
            Node::Matches(operand, regex, wanted) => match values.value(operand) {
                Value::Text(text) => Some(regex.is_match(&text) == *wanted),
                _ => None,
            },
            Node::Missing(operand, wanted) => {
                Some((values.value(operand) == Value::Missing) == *wanted)
            }
            Node::Not(node) => node.truth(values).map(|truth| !truth),
            Node::And(nodes) => unless(nodes, false, values),
            Node::Or(nodes) => unless(nodes, true, values),
        }
    }

    pub(super) fn operands(&self) -> Vec<&O> {
        let mut found = Vec::new();
        self.find_operands(&mut found);
        found
    }

    fn find_operands<'n>(&'n self, found: &mut Vec<&'n O>) {
        match self {
            Node::Compare(operand, ..) | Node::Matches(operand, ..) | Node::Missing(operand, _) => {
                found.push(operand);
            }
            Node::CompareBoth(operand, _, other) => found.extend([operand, other]),
            Node::Not(node) => node.find_operands(found),
            Node::And(nodes) | Node::Or(nodes) => {
                nodes.iter().for_each(|node| node.find_operands(found));
            }
        }
    }

    /// The same of other operands; None if one has no other.
    pub(super) fn map<P>(&self, other: &impl Fn(&O) -> Option<P>) -> Option<Node<P>> {
        let all = |nodes: &[Node<O>]| -> Option<Vec<Node<P>>> {
            nodes.iter().map(|node| node.map(other)).collect()
        };
        Some(match self {
            Node::Compare(operand, operator, with) => {
                Node::Compare(other(operand)?, *operator, with.clone())
            }
            Node::CompareBoth(operand, operator, with) => {
                Node::CompareBoth(other(operand)?, *operator, other(with)?)
            }
            Node::Matches(operand, regex, wanted) => {
                Node::Matches(other(operand)?, regex.clone(), *wanted)
            }
            Node::Missing(operand, wanted) => Node::Missing(other(operand)?, *wanted),
            Node::Not(node) => Node::Not(Box::new(node.map(other)?)),
            Node::And(nodes) => Node::And(all(nodes)?),
            Node::Or(nodes) => Node::Or(all(nodes)?),
        })
    }
}

/// `decisive` if a node is that; unknown if one is unknown; else the opposite.
fn unless<O>(nodes: &[Node<O>], decisive: bool, values: &impl Valuation<O>) -> Option<bool> {
    let mut all = Some(!decisive);
    for node in nodes {
        match node.truth(values) {
            Some(truth) if truth == decisive => return Some(decisive),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}
