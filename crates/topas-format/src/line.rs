//! The log line, version 1: sixteen tokens, then the extras of [`crate::extra`].
//!
//! [`FIELDS`], the fields of [`Line`], its writer and its parser come from one table
//! below, so that a field cannot exist on one side only.

use crate::civil::{Date, Time};
use crate::escape::Name;
use crate::field::{Lang, Lib, Mhz, Mode, Npes, Operations, Token};
use crate::number::{Count, Micros, whole};
use crate::out::Out;
use crate::{LINE_VERSION, MAX_LINE};

/// A field as documentation and listings show it.
pub struct Field {
    /// Name of the field
    pub name: &'static str,
    /// What it holds, with its unit
    pub about: &'static str,
}

macro_rules! line {
    ($($name:ident: $type:ty, $reserve:literal = $about:literal,)*) => {
        /// The sixteen tokens of a line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Line<'a> {
            $(#[doc = $about] pub $name: $type,)*
        }

        /// The sixteen fields in order.
        pub const FIELDS: &[Field] =
            &[$(Field { name: stringify!($name), about: $about }),*];

        /// Why a line could not be read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(non_camel_case_types)]
        pub enum Fault {
            $(#[doc = concat!("`", stringify!($name), "` is missing or not of its form")]
            $name,)*
            /// `v=` names a version this parser does not know
            version,
            /// `len=` is not the length of the line, or a line has none that must have one (with
            /// `v=`, or of [`VERSIONED_SINCE`] or later): something was cut or mixed in
            length,
        }

        impl Fault {
            /// What is wrong, for a message: a field's name, `version` or `length`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Fault::$name => stringify!($name),)*
                    Fault::version => "version",
                    Fault::length => "length",
                }
            }
        }

        impl<'a> Line<'a> {
            fn write_tokens(&self, out: &mut Out<'_>) -> bool {
                let mut whole = true;
                $(
                    whole &= Token::write(&self.$name, out, $reserve);
                    out.byte(b' ');
                )*
                whole
            }

            /// Reads the sixteen tokens; the rest is empty or begins with a blank.
            #[inline(always)]
            fn read_tokens(text: &'a [u8]) -> Result<(Self, &'a [u8]), Fault> {
                let rest = text;
                $(
                    let ($name, tail) = <$type>::read(rest).ok_or(Fault::$name)?;
                    // A token ends at a blank: `12x` is not the number 12. At the end of the
                    // line the next token finds nothing.
                    let rest = match tail {
                        [b' ', rest @ ..] => rest,
                        [] => tail,
                        _ => return Err(Fault::$name),
                    };
                )*
                let _ = rest;
                Ok((Line { $($name),* }, tail))
            }
        }
    };
}

// Field, type, bytes kept for what stands behind it if it is a name that could take all.
line! {
    date: Date, 0 = "Day the program ended, local time of the site: `YYYY/MM/DD`.",
    time: Time, 0 = "Time of day it ended: `HH:MM:SS`.",
    user: Name<'a>, 440 = "User: LOGNAME, else USER, else `#` and the numeric user id.",
    exe: Name<'a>, 185 = "File name of the executable, without its directory.",
    pe: u32, 0 = "The measuring rank (PE), from 0.",
    npes: Npes, 0 = "Number of ranks of the launch, `-` where the launcher does not tell.",
    mhz: Mhz, 0 = "Nominal frequency of the processor in MHz after a `t`.",
    mode: Mode, 0 = "`B` batch or `I` interactive.",
    lang: Lang, 0 = "Language: `c cxx f77 f90`; `kxx cc` in old logs.",
    lib: Lib, 0 = "Message passing library used: `mpi pvm sma`, or `-` for none.",
    user_time: Micros, 0 = "User CPU time of this rank in s, all threads.",
    sys_time: Micros, 0 = "System CPU time of this rank in s, all threads.",
    wall_time: Micros, 0 = "Wall clock time from before `main` to the end, in s.",
    ops: Operations, 0 = "Operations of this rank: `f=` floating point, `i=` integer, `l=` loads, `s=` stores.",
    l1_miss: Count, 0 = "Level 1 data cache misses of this rank.",
    id: Name<'a>, 30 = "Launch: the same on all ranks, new for each launch.",
}

impl<'a> Line<'a> {
    /// Reads a line without its newline. Extras are returned unread; nothing is
    /// allocated, and no input panics.
    ///
    /// Inlined: fields that a reader does not look at are then checked and not computed.
    #[inline(always)]
    pub fn parse(text: &'a [u8]) -> Result<(Line<'a>, Extras<'a>), Fault> {
        let (line, rest) = Line::read_tokens(text)?;
        let extras = Extras { rest };
        // `v=` is always the first extra; looking for it further would read every extra.
        let versioned = match rest.strip_prefix(b" v") {
            Some([b'=', b'1'] | [b'=', b'1', b' ', ..]) => true,
            // Cut within it.
            Some([] | [b'=']) => return Err(Fault::length),
            Some([b'=', ..]) => return Err(Fault::version),
            _ => false,
        };
        // `len=` is always the last token: 8 bytes with the blank before it.
        match text.last_chunk::<8>() {
            Some([b' ', b'l', b'e', b'n', b'=', digits @ ..]) => {
                if three(*digits) != Some(text.len()) {
                    return Err(Fault::length);
                }
            }
            // Lines of the T3E have neither version nor length. A line of our time without them was
            // cut before its version.
            _ if !versioned && line.date.year < VERSIONED_SINCE => {}
            _ => return Err(Fault::length),
        }
        Ok((line, extras))
    }
}

/// The number of three digits.
#[inline(always)]
fn three(digits: [u8; 3]) -> Option<usize> {
    let [hundreds, tens, ones] = digits.map(|digit| usize::from(digit.wrapping_sub(b'0')));
    (hundreds <= 9 && tens <= 9 && ones <= 9).then(|| 100 * hundreds + 10 * tens + ones)
}

/// The `key=value` tokens of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras<'a> {
    rest: &'a [u8],
}

impl<'a> Extras<'a> {
    /// The tokens as they stand in the line.
    pub fn text(self) -> &'a [u8] {
        self.rest
    }

    /// The raw value of a key, escapes as they stand. The last of several wins.
    pub fn get(self, key: &[u8]) -> Option<&'a [u8]> {
        self.filter(|(k, _)| *k == key).last().map(|(_, value)| value)
    }

    /// The value of a key as a name.
    pub fn name(self, key: &[u8]) -> Option<Name<'a>> {
        self.get(key).map(Name::from_token)
    }

    /// The value of a key as a number.
    pub fn number(self, key: &[u8]) -> Option<u64> {
        self.get(key).and_then(whole)
    }
}

/// Keys and raw values in order. A token without `=` has itself as key and an empty value.
impl<'a> Iterator for Extras<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while let [b' ', rest @ ..] = self.rest {
            self.rest = rest;
        }
        if self.rest.is_empty() {
            return None;
        }
        let TokenEnds { key, token } = TokenEnds::of(self.rest);
        let (text, rest) = self.rest.split_at_checked(token)?;
        self.rest = rest;
        let (key, value) = text.split_at_checked(key)?;
        Some((key, value.get(1..).unwrap_or_default()))
    }
}

/// Where the first of several tokens ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TokenEnds {
    /// Its key: at the first `=` or with the token
    key: usize,
    /// At the next blank or with the text
    token: usize,
}

impl TokenEnds {
    /// Eight bytes at a time: most tokens have more, and a loop over bytes takes three times as
    /// long.
    #[inline]
    fn of(text: &[u8]) -> Self {
        let mut key = None;
        let (words, tail) = text.as_chunks();
        for (number, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let (blank, equals) = (first_of(word, b' '), first_of(word, b'='));
            if equals < blank && key.is_none() {
                key = Some(8 * number + equals);
            }
            if blank < 8 {
                let token = 8 * number + blank;
                return TokenEnds { key: key.unwrap_or(token), token };
            }
        }
        let before = text.len() - tail.len();
        let end = |byte: u8| tail.iter().position(|b| *b == byte).map(|found| before + found);
        let token = end(b' ').unwrap_or(text.len());
        let key = key.or_else(|| end(b'=').filter(|key| *key < token));
        TokenEnds { key: key.unwrap_or(token), token }
    }
}

/// The place of the first such byte in a word whose first byte is the lowest; 8 without one.
#[inline]
fn first_of(word: u64, byte: u8) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let others = word ^ (ONES * byte as u64);
    // Marks bytes that are 0 now; a borrow can reach only beyond the first of them.
    let marks = others.wrapping_sub(ONES) & !others & (ONES * 0x80);
    (marks.trailing_zeros() / 8) as usize
}

/// The year of the first release: since then every line has a version, and so a length.
pub const VERSIONED_SINCE: u16 = 2026;

/// Bytes that `len=` and the newline need at the end.
pub(crate) const END: usize = 9;

/// Writes one line into a buffer of [`MAX_LINE`] bytes.
///
/// The sixteen tokens always fit: a name that leaves no room for the others is cut and
/// the line says `cut=1`. An extra that does not fit is left out, so write the
/// important ones first.
pub struct Writer<'b> {
    out: Out<'b>,
}

impl<'b> Writer<'b> {
    /// Writes the sixteen tokens and `v=1`.
    pub fn new(buf: &'b mut [u8; MAX_LINE], line: &Line<'_>) -> Self {
        let mut writer = Writer { out: Out::new(buf) };
        let whole = line.write_tokens(&mut writer.out);
        writer.out.put(b"v=").dec(LINE_VERSION);
        if !whole {
            writer.number(b"cut", 1);
        }
        writer
    }

    /// Begins an extra: appends its key; what follows in [`Writer::out`] is its value.
    #[inline(never)]
    pub fn begin(&mut self, key: &[u8]) -> Mark {
        let mark = Mark(self.out.len());
        self.out.byte(b' ').put(key).byte(b'=');
        mark
    }

    /// Ends an extra: takes it back if it is empty or leaves no room for the end.
    #[inline(never)]
    pub fn end(&mut self, mark: Mark) {
        let empty = self.out.text().last() == Some(&b'=');
        if empty || self.out.is_cut() || self.out.room() < END {
            self.out.rewind(mark.0);
        }
    }

    /// Where the value of an extra is written between [`Writer::begin`] and
    /// [`Writer::end`].
    pub fn out(&mut self) -> &mut Out<'b> {
        &mut self.out
    }

    /// Appends an extra that is a number.
    #[inline(never)]
    pub fn number(&mut self, key: &[u8], n: u64) {
        let mark = self.begin(key);
        self.out.dec(n);
        self.end(mark);
    }

    /// Appends an extra that is a name, escaped; nothing if it is empty.
    #[inline(never)]
    pub fn name(&mut self, key: &[u8], name: &[u8]) {
        let mark = self.begin(key);
        if name.is_empty() || !Name::new(name).write(&mut self.out, END) {
            self.out.rewind(mark.0);
        }
    }

    /// The finished line: `len=`, newline.
    pub fn finish(mut self) -> Out<'b> {
        let len = self.out.len() + END - 1;
        self.out.put(b" len=").dec_wide(len as u64, 3).byte(b'\n');
        self.out
    }
}

/// Where an extra begins.
pub struct Mark(usize);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn tokens_are_those_between_blanks(
            text in proptest::collection::vec(
                // Bytes next to those that are looked for, and such that carry.
                proptest::sample::select(b" =a!<>\0\x1f\x7f\x80\xa0\xbd\xff".as_slice()), 0..40),
        ) {
            let tokens = text.split(|b| *b == b' ').filter(|token| !token.is_empty());
            let expected: Vec<(&[u8], &[u8])> = tokens
                .map(|token| {
                    let key = token.iter().position(|b| *b == b'=').unwrap_or(token.len());
                    (&token[..key], token.get(key + 1..).unwrap_or_default())
                })
                .collect();
            prop_assert_eq!(Extras { rest: &text }.collect::<Vec<_>>(), expected);
        }
    }
}
