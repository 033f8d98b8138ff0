//! Percent escapes: how any byte string becomes one token of a log line.

use crate::out::Out;

/// Whether a byte would break a token or an escape: blanks, control bytes, `%`, DEL.
fn breaks(byte: u8) -> bool {
    byte <= b' ' || byte == b'%' || byte == 0x7f
}

/// A byte string, either as it is or as it stands escaped in a line.
///
/// Two names are equal if the bytes they mean are equal. The empty name is written
/// as `-`, and the name that is a single `-` as `%2D`, so both come back.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    bytes: &'a [u8],
    escaped: bool,
}

impl<'a> Name<'a> {
    /// A name from its own bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Name { bytes, escaped: false }
    }

    /// A name from a token of a line.
    pub fn from_token(token: &'a [u8]) -> Self {
        Name::of_token(token, token.contains(&b'%'))
    }

    /// A token that is known to hold an escape or not.
    #[inline(always)]
    pub(crate) fn of_token(token: &'a [u8], escaped: bool) -> Self {
        let bytes = if token == b"-" { b"" } else { token };
        // Without an escape the token is the name, and comparing stays a memcmp.
        Name { bytes, escaped }
    }

    /// The bytes the name means.
    pub fn bytes(&self) -> Bytes<'a> {
        Bytes { rest: self.bytes, escaped: self.escaped }
    }

    /// The bytes it means if no escape stands between, which is nearly always.
    pub fn plain(&self) -> Option<&'a [u8]> {
        (!self.escaped).then_some(self.bytes)
    }

    /// Whether the name is empty, which in a line means "not known".
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Appends the token, but leaves `reserve` bytes of the buffer free. True if all of
    /// it was written.
    #[inline(always)]
    pub fn write(&self, out: &mut Out<'_>, reserve: usize) -> bool {
        if !self.escaped {
            // All that is left of this function in the module.
            return put(out, self.bytes, reserve);
        }
        let dash = self.bytes().eq(*b"-");
        self.bytes().all(|byte| put_byte(out, byte, breaks(byte) || dash, reserve))
    }
}

/// Appends a name from its own bytes as a token.
pub(crate) fn put(out: &mut Out<'_>, name: &[u8], reserve: usize) -> bool {
    if name.is_empty() {
        out.byte(b'-');
    }
    for byte in name {
        let dash = *byte == b'-' && name.len() == 1;
        if !put_byte(out, *byte, breaks(*byte) || dash, reserve) {
            return false;
        }
    }
    true
}

/// Appends one byte, in three if `escaped`. False if that would touch the reserve.
fn put_byte(out: &mut Out<'_>, byte: u8, escaped: bool, reserve: usize) -> bool {
    if out.room() < reserve + 3 {
        return false;
    }
    if escaped {
        out.byte(b'%').digits(byte.into(), 2, b'A');
    } else {
        out.byte(byte);
    }
    true
}

impl PartialEq for Name<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.plain(), other.plain()) {
            (Some(a), Some(b)) => a == b,
            _ => self.bytes().eq(other.bytes()),
        }
    }
}

impl Eq for Name<'_> {}

/// Iterator over the bytes a [`Name`] means.
///
/// A `%` that is not followed by two hexadecimal digits stands for itself: a parser
/// of other people's lines does not lose them for that.
#[derive(Clone, Debug)]
pub struct Bytes<'a> {
    rest: &'a [u8],
    escaped: bool,
}

impl Iterator for Bytes<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if self.escaped
            && let [b'%', high, low, rest @ ..] = self.rest
            && let (Some(high), Some(low)) = (hex_value(*high), hex_value(*low))
        {
            self.rest = rest;
            return Some(high << 4 | low);
        }
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }
}

fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn token(name: &[u8]) -> Vec<u8> {
        let mut buf = [0; 2000];
        let mut out = Out::new(&mut buf);
        assert!(Name::new(name).write(&mut out, 0));
        out.text().to_vec()
    }

    #[test]
    fn tokens_look_as_documented() {
        assert_eq!(token(b"heat 3d"), b"heat%203d");
        assert_eq!(token(b"100%\n"), b"100%25%0A");
        assert_eq!(token(b""), b"-");
        assert_eq!(token(b"-"), b"%2D");
        assert_eq!(token(b"--"), b"--");
        assert_eq!(token("Wärme".as_bytes()), "Wärme".as_bytes());
    }

    #[test]
    fn a_stray_percent_sign_stands_for_itself() {
        let name = Name::from_token(b"50%x%2");
        assert!(name.bytes().eq(b"50%x%2".iter().copied()));
    }

    #[test]
    fn a_name_that_does_not_fit_is_cut_between_escapes() {
        let mut buf = [0; 19];
        let mut out = Out::new(&mut buf);
        assert!(!Name::new(b"a    b").write(&mut out, 10));
        assert_eq!(out.text(), b"a%20%20");
        assert!(!Name::from_token(b"%20%20%20").write(&mut out, 8));
    }

    proptest! {
        #[test]
        fn any_name_comes_back(name in proptest::collection::vec(any::<u8>(), 0..256)) {
            let token = token(&name);
            let mut buf = [0; 2000];
            let mut again = Out::new(&mut buf);
            prop_assert!(Name::from_token(&token).write(&mut again, 0));
            prop_assert_eq!(again.text(), &token[..]);
            prop_assert!(token.iter().all(|&b| !breaks(b) || b == b'%'));
            prop_assert!(!token.is_empty());
            let back: Vec<u8> = Name::from_token(&token).bytes().collect();
            prop_assert_eq!(back, name);
        }
    }
}
