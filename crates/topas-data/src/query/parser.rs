//! Reads conditions: `lang = f90 and (npes >= 64 or exe ~ '^heat')`.
//!
//! ```text
//! or   := and { "or" and }
//! and  := not { "and" not }
//! not  := "not" not | "(" or ")" | FIELD OPERATOR ( VALUE | FIELD )
//! ```

use std::fmt;

use regex::bytes::Regex;
use topas_format::shown::acts;

use super::expression::{Node, Operand, UnknownOperand};
use super::lexer::{Lexer, OPERATORS, Operator, QueryPiece, QueryToken, Unclosed};
use crate::field::{FieldKind, literal};

/// Depth of parentheses and `not`.
pub const MOST_NESTED: usize = 64;

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// Byte at which it begins
    pub at: usize,
    /// Byte after it
    pub end: usize,
    /// What is wrong
    pub what: String,
    /// What to do
    pub hint: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for ExpressionError {}

impl ExpressionError {
    /// The text in one line, and a line of marks under what is wrong.
    pub fn marked(&self, text: &str) -> String {
        let blank = |c: char| if acts(c) { ' ' } else { c };
        let line: String = text.chars().map(blank).collect();
        let before = text.get(..self.at).unwrap_or(text).chars().count();
        let marked = text.get(self.at..self.end).unwrap_or_default().chars().count();
        format!("{line}\n{:before$}{}", "", "^".repeat(marked.max(1)))
    }
}

type Result<T> = std::result::Result<T, ExpressionError>;

/// Reads a whole text.
pub(super) fn parse<O: Operand>(
    text: &str,
    named: impl Fn(&str) -> std::result::Result<O, UnknownOperand>,
) -> Result<Node<O>> {
    let mut parser = Parser { lexer: Lexer::new(text), token: None, named };
    let node = parser.alternatives(0)?;
    let rest = parser.take(false)?;
    match rest.piece {
        QueryPiece::End => Ok(node),
        QueryPiece::Close => Err(error(&rest, "a ')' without its '('", "")),
        _ => Err(error(
            &rest,
            "'and' or 'or' is expected here",
            "write `and`, `or` for && and ||, and quote a value that has blanks",
        )),
    }
}

struct Parser<'t, N> {
    lexer: Lexer<'t>,
    /// Looked at, not taken
    token: Option<QueryToken<'t>>,
    /// Finds operands by their names
    named: N,
}

fn error(
    token: &QueryToken<'_>,
    what: impl Into<String>,
    hint: impl Into<String>,
) -> ExpressionError {
    ExpressionError { at: token.at, end: token.end, what: what.into(), hint: hint.into() }
}

impl<'t, O, N> Parser<'t, N>
where
    O: Operand,
    N: Fn(&str) -> std::result::Result<O, UnknownOperand>,
{
    fn take(&mut self, value: bool) -> Result<QueryToken<'t>> {
        match self.token.take() {
            Some(token) => Ok(token),
            None => self.lexer.next(value).map_err(|Unclosed(at)| ExpressionError {
                at,
                end: at + 1,
                what: "a quote that is not closed".to_owned(),
                hint: "a quote inside quotes is written twice".to_owned(),
            }),
        }
    }

    /// Takes the next piece if it is this word of the grammar.
    fn takes(&mut self, word: &str) -> Result<bool> {
        let token = self.take(false)?;
        let is = matches!(&token.piece,
            QueryPiece::Word { text, quoted: false } if text.eq_ignore_ascii_case(word));
        if !is {
            self.token = Some(token);
        }
        Ok(is)
    }

    fn alternatives(&mut self, depth: usize) -> Result<Node<O>> {
        let mut nodes = vec![self.conjunction(depth)?];
        while self.takes("or")? {
            nodes.push(self.conjunction(depth)?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Or(nodes) })
    }

    fn conjunction(&mut self, depth: usize) -> Result<Node<O>> {
        let mut nodes = vec![self.negation(depth)?];
        while self.takes("and")? {
            nodes.push(self.negation(depth)?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::And(nodes) })
    }

    fn negation(&mut self, depth: usize) -> Result<Node<O>> {
        let not = self.takes("not")?;
        let token = self.take(false)?;
        if depth == MOST_NESTED {
            return Err(error(&token, format!("more than {MOST_NESTED} levels of nesting"), ""));
        }
        if not {
            self.token = Some(token);
            return Ok(Node::Not(Box::new(self.negation(depth + 1)?)));
        }
        match token.piece {
            QueryPiece::Open => {
                let node = self.alternatives(depth + 1)?;
                let close = self.take(false)?;
                if close.piece != QueryPiece::Close {
                    return Err(error(&close, "a ')' is missing here", ""));
                }
                Ok(node)
            }
            QueryPiece::Word { ref text, quoted: false } => {
                let operand = (self.named)(text)
                    .map_err(|unknown| error(&token, unknown.what, unknown.hint))?;
                self.comparison(operand)
            }
            _ => Err(error(&token, "a name is expected here", "write it as in: npes >= 64")),
        }
    }

    fn comparison(&mut self, operand: O) -> Result<Node<O>> {
        let token = self.take(false)?;
        let QueryPiece::Operator(operator) = token.piece else {
            let signs: Vec<_> = OPERATORS.iter().map(|(sign, _)| *sign).collect();
            let hint = format!("one of {}", signs.join(" "));
            return Err(error(&token, "a comparison is expected here", hint));
        };
        let value = self.take(true)?;
        let QueryPiece::Word { text, quoted } = &value.piece else {
            let hint = "an empty text is ''; quote a value that has parentheses";
            return Err(error(&value, "a value is expected here", hint));
        };
        let kind = operand.kind();
        let equal = matches!(operator, Operator::Equal | Operator::NotEqual);
        if equal && !quoted && text == "-" && !operand.dash_is_value() {
            return Ok(Node::Missing(operand, operator == Operator::Equal));
        }
        if matches!(operator, Operator::Matches | Operator::MatchesNot) {
            if kind != FieldKind::Text {
                let what = format!("{} is no text, so nothing can match it", operand.name());
                return Err(error(&token, what, "compare it with = != < <= > >="));
            }
            // The cause is in the last line of what regex says; the others draw it.
            let regex = Regex::new(text).map_err(|bad| {
                let text = bad.to_string();
                let cause = text.lines().last().unwrap_or_default();
                let cause = cause.strip_prefix("error: ").unwrap_or(cause);
                error(&value, format!("no regular expression: {cause}"), "quote ( ) and blanks")
            })?;
            return Ok(Node::Matches(operand, regex, operator == Operator::Matches));
        }
        if kind == FieldKind::Text && !equal {
            let what = format!("{} is a text, which is neither less nor more", operand.name());
            return Err(error(&token, what, "compare it with = or !=, or match it with ~ or !~"));
        }
        let bad = match literal(kind, text) {
            Ok(with) => return Ok(Node::Compare(operand, operator, with)),
            Err(bad) => bad,
        };
        // No number is a name.
        let is_number = matches!(kind, FieldKind::Number(_));
        match (self.named)(text) {
            Ok(other) if is_number && !quoted => both(operand, operator, other, &value),
            _ => Err(error(&value, format!("{} cannot be '{text}': {bad}", operand.name()), "")),
        }
    }
}

/// The comparison of an operand with another one, which `token` names.
fn both<O: Operand>(
    operand: O,
    operator: Operator,
    other: O,
    token: &QueryToken<'_>,
) -> Result<Node<O>> {
    let what = format!("{} cannot be compared with {}", operand.name(), other.name());
    if operand.kind() != other.kind() {
        return Err(error(token, format!("{what}: their units differ"), ""));
    }
    if !operand.is_beside(&other) {
        let hint = "compare a measure with a measure, and a field with a field";
        return Err(error(token, format!("{what}: one is of a run, the other of a line"), hint));
    }
    Ok(Node::CompareBoth(operand, operator, other))
}
