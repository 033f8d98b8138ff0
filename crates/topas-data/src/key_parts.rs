//! Values of fields as parts of a key: each behind its length, so that they can be told apart.

use crate::field::Value;

/// In a key: a value is missing.
const MISSING: u8 = 255;

/// In a key: the length does not fit in the byte and follows in four.
const LONG: u8 = 254;

/// Appends a value.
#[inline]
pub(crate) fn write(value: &Value<'_>, key: &mut Vec<u8>) {
    match value {
        Value::Missing => return key.push(MISSING),
        // Most values.
        Value::Text(text) if text.len() < usize::from(LONG) => {
            key.push(text.len() as u8);
            return key.extend_from_slice(text);
        }
        Value::Text(_) | Value::Number(_) => {}
    }
    let at = key.len();
    key.push(0);
    value.write_key(key);
    let len = key.len() - at - 1;
    if len < usize::from(LONG) {
        key[at] = len as u8;
    } else {
        key[at] = LONG;
        // A line that is read has 64 KiB at most.
        key.splice(at + 1..at + 1, (len as u32).to_le_bytes());
    }
}

/// The parts of a key: None of a value that is missing, else what [`Value::write_key`] wrote.
#[derive(Clone)]
pub(crate) struct KeyParts<'k>(pub(crate) &'k [u8]);

impl<'k> Iterator for KeyParts<'k> {
    type Item = Option<&'k [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&len, rest) = self.0.split_first()?;
        let (len, rest) = match len {
            MISSING => {
                self.0 = rest;
                return Some(None);
            }
            LONG => {
                let (len, rest) = rest.split_first_chunk()?;
                (u32::from_le_bytes(*len) as usize, rest)
            }
            len => (usize::from(len), rest),
        };
        let (part, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some(Some(part))
    }
}
