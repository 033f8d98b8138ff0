//! Values of fields.

use std::borrow::Cow;
use std::cmp::Ordering;

use topas_format::escape::Name;
use topas_format::number::{Count, leading};

use super::FieldKind;

/// Millionths in one: numbers are held exact to that, as times are in µs.
pub const MILLION: i128 = 1_000_000;

/// The value of a field in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Not measured, or not told
    Missing,
    /// Text without escapes
    Text(Cow<'a, [u8]>),
    /// Of kinds that are numbers with a unit: in millionths. Of others: the number that
    /// [`FieldKind`] tells, in millionths as well.
    Number(i128),
}

impl<'a> Value<'a> {
    /// A whole number.
    pub fn whole(n: impl Into<i64>) -> Self {
        Value::Number(i128::from(n.into()) * MILLION)
    }

    pub(super) fn word(word: &'static str) -> Self {
        Value::Text(Cow::Borrowed(word.as_bytes()))
    }

    /// How it compares with one of its kind; None if one is missing.
    #[inline]
    pub fn order(&self, with: &Value<'_>) -> Option<Ordering> {
        match (self, with) {
            (Value::Number(a), Value::Number(b)) => Some(a.cmp(b)),
            (Value::Text(a), Value::Text(b)) => Some(a.as_ref().cmp(b.as_ref())),
            _ => None,
        }
    }

    /// Appends a form of the value by which equal ones are equal and others sort: first
    /// the missing one, then numbers and texts in their order.
    pub fn write_key(&self, key: &mut Vec<u8>) {
        match self {
            Value::Missing => {}
            Value::Text(text) => key.extend_from_slice(text),
            Value::Number(n) => {
                // The sign turned over, so that negative numbers sort first.
                key.extend_from_slice(&((*n as u128) ^ (1 << 127)).to_be_bytes());
            }
        }
    }

    /// The value a key was made of.
    pub fn of_key(kind: FieldKind, present: bool, key: &'a [u8]) -> Self {
        match (present, kind) {
            (false, _) => Value::Missing,
            (true, FieldKind::Text) => Value::Text(Cow::Borrowed(key)),
            (true, _) => match key.try_into() {
                Ok(bytes) => Value::Number((u128::from_be_bytes(bytes) ^ (1 << 127)) as i128),
                Err(_) => Value::Missing,
            },
        }
    }
}

/// A name of the line; missing if empty.
#[inline]
pub(super) fn of_name(name: Name<'_>) -> Value<'_> {
    if name.is_empty() {
        return Value::Missing;
    }
    Value::Text(match name.plain() {
        Some(bytes) => Cow::Borrowed(bytes),
        None => Cow::Owned(name.bytes().collect()),
    })
}

pub(super) fn of_count<'a>(count: Count) -> Value<'a> {
    count.value().map_or(Value::Missing, |n| Value::Number(i128::from(n) * MILLION))
}

/// The raw value of an extra; missing if there is none, it is empty, or no number where
/// it should be one.
pub(super) fn of_extra(raw: Option<&[u8]>, kind: FieldKind) -> Value<'_> {
    let Some(raw) = raw.filter(|raw| !raw.is_empty()) else { return Value::Missing };
    match kind {
        FieldKind::Text => of_name(Name::from_token(raw)),
        _ => number(raw.strip_prefix(b"~").unwrap_or(raw)).map_or(Value::Missing, Value::Number),
    }
}

/// A decimal number in millionths; digits below them are dropped.
fn number(text: &[u8]) -> Option<i128> {
    let (whole, rest) = leading(text)?;
    let whole = i128::from(whole) * MILLION;
    let decimals = match rest {
        [] => return Some(whole),
        [b'.', decimals @ ..] if decimals.iter().all(u8::is_ascii_digit) => decimals,
        _ => return None,
    };
    let mut digits = decimals.iter().map(|b| i128::from(b - b'0')).chain(std::iter::repeat(0));
    Some(whole + (0..6).fold(0, |n, _| n * 10 + digits.next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extras_as_numbers() {
        let of = |text: &'static str| {
            of_extra(Some(text.as_bytes()), FieldKind::Number(super::super::FieldUnit::None))
        };
        assert_eq!(of("12"), Value::whole(12));
        assert_eq!(of("~12"), Value::whole(12));
        assert_eq!(of("0.125"), Value::Number(125_000));
        assert_eq!(of("0.9999999"), Value::Number(999_999));
        assert_eq!(of("18446744073709551615"), Value::Number(i128::from(u64::MAX) * MILLION));
        for bad in ["", "-", "x", "1x", "1.x", "1e3", "18446744073709551616"] {
            assert_eq!(of(bad), Value::Missing, "{bad}");
        }
    }

    #[test]
    fn keys_keep_values_and_their_order() {
        let kind = FieldKind::Number(super::super::FieldUnit::None);
        let numbers = [-5, 0, 1, 255, 256, i128::from(u64::MAX) * MILLION];
        let keys = numbers.map(|n| {
            let mut key = Vec::new();
            Value::Number(n).write_key(&mut key);
            assert_eq!(Value::of_key(kind, true, &key), Value::Number(n));
            key
        });
        assert!(keys.is_sorted());
    }
}
