//! Conditions on a line, with three values of truth: what was not measured makes a
//! comparison neither true nor false.

use std::cmp::Ordering;

use regex::bytes::Regex;
use topas_format::line::{Extras, Line};

use super::lexer::Operator;
use crate::field::{Field, Value};

/// A condition on a line.
#[derive(Clone, Debug)]
pub struct Expression(pub(super) Node);

#[derive(Clone, Debug)]
pub(super) enum Node {
    Compare(Field, Operator, Value<'static>),
    Matches(Field, Regex, bool),
    /// `= -` (true) or `!= -`: whether a value is missing; always true or false
    Missing(Field, bool),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
}

impl Expression {
    /// The expression that a text says.
    ///
    /// # Errors
    ///
    /// [`super::ExpressionError`], with the place in the text.
    pub fn parse(text: &str) -> Result<Self, super::ExpressionError> {
        super::parser::parse(text).map(Expression)
    }

    /// `field = value` for any of the values, of a field that is text. As in an expression
    /// `-` is the missing value, unless it is a value of the field's own.
    pub fn any_of(field: &Field, values: &[String]) -> Self {
        let equal = |value: &String| {
            if value == "-" && !field.dash_is_value() {
                return Node::Missing(field.clone(), true);
            }
            let value = Value::Text(value.clone().into_bytes().into());
            Node::Compare(field.clone(), Operator::Equal, value)
        };
        Expression(Node::Or(values.iter().map(equal).collect()))
    }

    /// Whether it is true of a line. What is neither true nor false is not.
    pub fn is_true(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.0.truth(line, extras) == Some(true)
    }
}

impl Node {
    /// None: neither true nor false (Kleene's logic).
    fn truth(&self, line: &Line<'_>, extras: Extras<'_>) -> Option<bool> {
        match self {
            Node::Compare(field, operator, with) => {
                let order = order(&field.value(line, extras), with)?;
                Some(match operator {
                    Operator::Equal => order.is_eq(),
                    Operator::NotEqual => order.is_ne(),
                    Operator::Less => order.is_lt(),
                    Operator::LessOrEqual => order.is_le(),
                    Operator::Greater => order.is_gt(),
                    Operator::GreaterOrEqual => order.is_ge(),
                    Operator::Matches | Operator::MatchesNot => return None,
                })
            }
            Node::Matches(field, regex, wanted) => match field.value(line, extras) {
                Value::Text(text) => Some(regex.is_match(&text) == *wanted),
                _ => None,
            },
            Node::Missing(field, wanted) => {
                Some((field.value(line, extras) == Value::Missing) == *wanted)
            }
            Node::Not(node) => node.truth(line, extras).map(|truth| !truth),
            Node::And(nodes) => unless(nodes, false, line, extras),
            Node::Or(nodes) => unless(nodes, true, line, extras),
        }
    }
}

/// `decisive` if a node is that; unknown if one is unknown; else the opposite.
fn unless(nodes: &[Node], decisive: bool, line: &Line<'_>, extras: Extras<'_>) -> Option<bool> {
    let mut all = Some(!decisive);
    for node in nodes {
        match node.truth(line, extras) {
            Some(truth) if truth == decisive => return Some(decisive),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

/// Order of two values of a kind; None if one is missing.
fn order(value: &Value<'_>, with: &Value<'_>) -> Option<Ordering> {
    match (value, with) {
        (Value::Number(a), Value::Number(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.as_ref().cmp(b.as_ref())),
        _ => None,
    }
}
