//! Splits an expression into words and signs, each with its place.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Comparison of a field with a value, or with another field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    MatchesNot,
}

impl Operator {
    /// Whether it holds between values of this order; None of one that compares no order.
    pub(crate) fn holds(self, order: Ordering) -> Option<bool> {
        Some(match self {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Matches | Operator::MatchesNot => return None,
        })
    }
}

/// Signs and what they mean; of two with the same beginning the longer first.
pub(crate) const OPERATORS: &[(&str, Operator)] = &[
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<>", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    ("<", Operator::Less),
    (">=", Operator::GreaterOrEqual),
    (">", Operator::Greater),
    ("!~", Operator::MatchesNot),
    ("~", Operator::Matches),
];

/// A piece of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QueryPiece<'t> {
    /// Letters, digits and most signs; `quoted` ones are never words of the grammar
    Word { text: Cow<'t, str>, quoted: bool },
    /// A comparison
    Operator(Operator),
    /// `(`
    Open,
    /// `)`
    Close,
    /// The end of the text
    End,
}

/// A piece and where it stands, in bytes.
#[derive(Clone, Debug)]
pub(crate) struct QueryToken<'t> {
    pub(crate) piece: QueryPiece<'t>,
    pub(crate) at: usize,
    pub(crate) end: usize,
}

/// Reads pieces one by one.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

/// A quote that is not closed, where it opens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unclosed(pub(crate) usize);

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Lexer { text, at: 0 }
    }

    /// The next piece. After an operator stands a value, which may have signs in it.
    pub(crate) fn next(&mut self, value: bool) -> Result<QueryToken<'t>, Unclosed> {
        let rest = self.text[self.at..].trim_start();
        let at = self.text.len() - rest.len();
        let (piece, len) = match rest.chars().next() {
            None => (QueryPiece::End, 0),
            Some('(') => (QueryPiece::Open, 1),
            Some(')') => (QueryPiece::Close, 1),
            Some(quote @ ('\'' | '"')) => quoted(rest, quote).ok_or(Unclosed(at))?,
            Some(_) => match OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign)) {
                Some((sign, operator)) if !value => (QueryPiece::Operator(*operator), sign.len()),
                _ => word(rest, value),
            },
        };
        self.at = at + len;
        Ok(QueryToken { piece, at, end: self.at })
    }
}

/// Text between quotes, in which the doubled quote stands for itself, and its length with them.
fn quoted(rest: &str, quote: char) -> Option<(QueryPiece<'_>, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c != quote {
            text.push(c);
        } else if rest[at + 1..].starts_with(quote) {
            text.push(quote);
            chars.next();
        } else {
            return Some((QueryPiece::Word { text: Cow::Owned(text), quoted: true }, at + 1));
        }
    }
    None
}

/// A word to the next blank or parenthesis, or sign unless it is a value. At least one
/// character, so that reading goes on.
fn word(rest: &str, value: bool) -> (QueryPiece<'_>, usize) {
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '(' | ')') || !value && "=!<>~'\"".contains(c);
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let end = rest[first..].find(ends).map_or(rest.len(), |end| end + first);
    (QueryPiece::Word { text: Cow::Borrowed(&rest[..end]), quoted: false }, end)
}
