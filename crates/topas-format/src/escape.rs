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

    /// The name at the front of `text`, up to the first blank, and its length there.
    ///
    /// Eight bytes at a time, because reading a log is mostly this. Always inlined: a name
    /// that is returned in memory is read back before it has arrived there.
    #[inline(always)]
    pub(crate) fn leading(text: &'a [u8]) -> (Self, usize) {
        let mut escaped = false;
        let mut end = 0;
        let mut rest = text;
        while let Some((&chunk, tail)) = rest.split_first_chunk() {
            let word = u64::from_le_bytes(chunk);
            let blanks = bytes_equal(word, b' ');
            let percents = bytes_equal(word, b'%');
            if blanks != 0 {
                // Bits below the first blank.
                escaped |= percents & (blanks ^ blanks.wrapping_sub(1)) != 0;
                end += (blanks.trailing_zeros() / 8) as usize;
                return (Name::of_token(text.get(..end).unwrap_or_default(), escaped), end);
            }
            escaped |= percents != 0;
            end += chunk.len();
            rest = tail;
        }
        for &byte in rest {
            if byte == b' ' {
                break;
            }
            escaped |= byte == b'%';
            end += 1;
        }
        (Name::of_token(text.get(..end).unwrap_or_default(), escaped), end)
    }

    /// A token that is known to hold an escape or not.
    #[inline(always)]
    fn of_token(token: &'a [u8], escaped: bool) -> Self {
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

/// Marks the bytes of `word` that equal `byte` by their highest bit. The lowest mark is
/// right; above it a byte may be marked that is one off, so nothing may be read from those.
#[inline]
fn bytes_equal(word: u64, byte: u8) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zeros = word ^ (ONES * byte as u64);
    zeros.wrapping_sub(ONES) & !zeros & (ONES << 7)
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
        fn a_name_ends_at_the_first_blank(
            // Bytes next to blank and percent sign, which the marks could mistake.
            text in proptest::collection::vec(
                proptest::sample::select(b" !\x1f%$&-aA\xa0\xa5\x00\xff".as_slice()), 0..40)
        ) {
            let end = text.iter().position(|&b| b == b' ').unwrap_or(text.len());
            let (name, len) = Name::leading(&text);
            prop_assert_eq!(len, end);
            let (token, _) = text.split_at(end);
            prop_assert_eq!(name.escaped, token.contains(&b'%'));
            prop_assert_eq!(name.bytes, if token == b"-" { b"" } else { token });
        }

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
