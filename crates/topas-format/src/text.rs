//! Small tools on byte strings, written so that they stay small in the module: plain
//! loops and results in registers, one copy of each.

/// A text that is read from its front.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    /// What is still to be read
    pub rest: &'a [u8],
    /// Whether everything so far was of the form asked for
    pub ok: bool,
}

impl<'a> Cursor<'a> {
    /// At the front of `text`.
    pub const fn new(text: &'a [u8]) -> Self {
        Cursor { rest: text, ok: true }
    }

    /// The next byte, 0 at the end.
    pub fn peek(&self) -> u8 {
        match self.rest {
            [byte, ..] => *byte,
            [] => 0,
        }
    }

    /// Skips one byte, if there is one.
    pub fn skip(&mut self) {
        if let [_, rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Skips `byte` if it comes next; whether it did.
    #[inline(never)]
    pub fn eat(&mut self, byte: u8) -> bool {
        let there = self.rest.first() == Some(&byte);
        if there {
            self.skip();
        }
        there
    }

    /// Skips `byte`, which must come next.
    pub fn expect(&mut self, byte: u8) {
        self.ok &= self.eat(byte);
    }

    /// Reads a decimal number. Not ok without a digit. A number that does not fit comes out
    /// as another one of at least 2^60.
    #[inline(never)]
    pub fn number(&mut self) -> u64 {
        let mut n = 0u64;
        let digits = self.rest.len();
        while let [byte, rest @ ..] = self.rest
            && byte.is_ascii_digit()
        {
            self.rest = rest;
            // At most ten times 2^60 and 9: no overflow.
            if n < 1 << 60 {
                n = n * 10 + u64::from(byte - b'0');
            }
        }
        self.ok &= self.rest.len() < digits;
        n
    }

    /// Everything up to `end` or to the end of the text, and skips it with its `end`.
    #[inline(never)]
    pub fn until(&mut self, end: u8) -> &'a [u8] {
        let text = self.rest;
        let len = text.iter().position(|byte| *byte == end).unwrap_or(text.len());
        let (part, rest) = text.split_at_checked(len).unwrap_or((text, &[]));
        self.rest = rest;
        self.skip();
        part
    }
}

/// A whole text as a decimal number below 2^32.
#[inline(never)]
pub fn whole(text: &[u8]) -> Option<u32> {
    let mut text = Cursor::new(text);
    let n = text.number();
    (text.ok && text.rest.is_empty() && n <= u32::MAX.into()).then_some(n as u32)
}

/// `text` without blanks and carriage returns around it.
#[inline(never)]
pub fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && *first <= b' '
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && *last <= b' '
    {
        text = rest;
    }
    text
}

/// Words separated by one blank, or sentences by one newline, as one text.
///
/// An array of strings costs a pointer, a length and two relocations each in every
/// program that holds the module.
#[derive(Clone, Copy)]
pub struct Words(pub &'static [u8], pub u8);

impl Words {
    /// The place of a word, from 0.
    #[inline(always)]
    pub fn place(self, word: &[u8]) -> Option<usize> {
        // In registers: a constant of this type would cost a relocation.
        place(self.0, self.1, word)
    }

    /// The word at a place; empty beyond the last.
    #[inline(always)]
    pub fn at(self, place: usize) -> &'static [u8] {
        nth(self.0, self.1, place)
    }
}

#[inline(never)]
fn place(words: &[u8], end: u8, word: &[u8]) -> Option<usize> {
    let mut cursor = Cursor::new(words);
    let mut place = 0;
    while !cursor.rest.is_empty() {
        if cursor.until(end) == word {
            return Some(place);
        }
        place += 1;
    }
    None
}

/// The part at a place of a text that is separated by `end`; empty beyond the last.
#[inline(never)]
pub fn nth(text: &[u8], end: u8, place: usize) -> &[u8] {
    let mut cursor = Cursor::new(text);
    let mut part = cursor.until(end);
    for _ in 0..place {
        part = cursor.until(end);
    }
    part
}

/// What stands behind the last `end` in a text that may also end with one.
#[inline(never)]
pub fn last(text: &[u8], end: u8) -> &[u8] {
    let mut cursor = Cursor::new(text);
    let mut part: &[u8] = &[];
    while !cursor.rest.is_empty() {
        part = cursor.until(end);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn numbers() {
        for (text, n, ok, rest) in [
            (&b"12x"[..], 12, true, &b"x"[..]),
            (b"x", 0, false, b"x"),
            (b"", 0, false, b""),
            (b"1152921504606846975", (1 << 60) - 1, true, b""),
            (b"18446744073709551615x", 1_844_674_407_370_955_161, true, b"x"),
        ] {
            let mut cursor = Cursor::new(text);
            let read = cursor.number();
            assert_eq!((cursor.ok, cursor.rest), (ok, rest), "{text:?}");
            assert!(!ok || read == n);
        }
    }

    #[test]
    fn words() {
        const W: Words = Words(b"yes true on 1", b' ');
        assert_eq!(W.place(b"on"), Some(2));
        assert_eq!(W.place(b"o"), None);
        assert_eq!(W.place(b""), None);
        assert_eq!(W.at(3), b"1");
        assert_eq!(W.at(4), b"");
    }

    proptest! {
        #[test]
        fn until_splits_as_split_does(text: Vec<u8>, end: u8) {
            let mut cursor = Cursor::new(&text);
            for part in text.split(|b| *b == end) {
                prop_assert_eq!(cursor.until(end), part);
            }
            prop_assert!(cursor.rest.is_empty());
        }

        #[test]
        fn trim_leaves_no_blank_outside(text in "[ a\t\r]{0,12}") {
            prop_assert_eq!(trim(text.as_bytes()), text.trim().as_bytes());
        }
    }
}
