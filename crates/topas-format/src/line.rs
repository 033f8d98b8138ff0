//! The log line, version 1: sixteen tokens, then the extras of [`crate::extra`].
//!
//! [`FIELDS`], the fields of [`Line`], its writer and its parser come from one table
//! below, so that a field cannot exist on one side only.

#[cfg(target_arch = "x86_64")]
mod usual;

#[cfg(target_arch = "x86_64")]
pub use usual::{UsualReader, UsualSink};

use crate::civil::{Date, Time};
use crate::escape::Name;
use crate::field::{Lang, Lib, Mhz, Mode, Npes, Operations, Token};
use crate::number::{Count, Micros, whole};
use crate::out::Out;
use crate::slot::{LAST, Slot, last_digits, place_of};
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

            /// Reads the sixteen tokens. A token ends at a blank: `12x` is not the number 12. Behind
            /// the end of the line there are empty ones, which no token is.
            #[inline(always)]
            fn read_tokens(slots: &mut impl Slots<'a>) -> Result<Self, Fault> {
                $(let $name = slots.next().and_then(<$type>::read).ok_or(Fault::$name)?;)*
                Ok(Line { $($name),* })
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

/// A line in a text of many, the places of whose blanks are known.
#[derive(Clone, Copy, Debug)]
pub struct IndexedLine<'a> {
    /// The text
    pub text: &'a [u8],
    /// Where the line begins in it
    pub begin: usize,
    /// Where it ends, without its newline
    pub end: usize,
    /// Places in the text of all blanks of the line
    pub blanks: &'a [u32],
    /// Whether it is known that no `%` is in the line
    pub plain: bool,
    /// What its first extras say, if they were read
    pub first: Option<FirstNumbers>,
}

/// What the extras say with which the module begins: `v=1 t=... uid=...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstNumbers {
    /// `t=`
    pub t: u64,
    /// `uid=`
    pub uid: u64,
}

impl<'a> IndexedLine<'a> {
    /// A text that is one line, of whose blanks nothing is known.
    pub fn lone(text: &'a [u8]) -> Self {
        IndexedLine { text, begin: 0, end: text.len(), blanks: &[], plain: false, first: None }
    }

    /// The line.
    #[inline(always)]
    pub fn bytes(&self) -> &'a [u8] {
        self.text.get(self.begin..self.end).unwrap_or_default()
    }
}

impl<'a> Line<'a> {
    /// Reads a line without its newline. Extras are returned unread; nothing is
    /// allocated, and no input panics.
    ///
    /// Inlined: fields that a reader does not look at are then checked and not computed.
    #[inline(always)]
    pub fn parse(text: &'a [u8]) -> Result<(Line<'a>, Extras<'a>), Fault> {
        let mut slots = FoundSlots { text, start: 0, end: 0 };
        let line = Line::read_tokens(&mut slots)?;
        let extras = Extras { text, at: slots.end, blanks: &[] };
        line.check(text, extras.text())?;
        Ok((line, extras))
    }

    /// The same of a line in a text whose blanks are known: nothing is looked for.
    ///
    /// `ends` are the first blanks of the line. A line with fewer has no extras, or is bad: it is
    /// for [`Line::parse`].
    #[inline(always)]
    pub fn parse_indexed(
        of: &IndexedLine<'a>,
        ends: &'a [u32; 16],
    ) -> Result<(Line<'a>, Extras<'a>), Fault> {
        let mut slots = KnownSlots { text: of.text, start: of.begin, ends, at: 0, plain: of.plain };
        let line = Line::read_tokens(&mut slots)?;
        let blanks = of.blanks.get(15..).unwrap_or_default();
        let at = (ends[15] as usize).wrapping_sub(of.begin);
        let extras = Extras { text: of.bytes(), at, blanks };
        line.check(extras.text, extras.text())?;
        Ok((line, extras))
    }

    /// [`Line::parse`] where it is not worth a copy of it.
    #[inline(never)]
    pub fn parse_far(text: &'a [u8]) -> Result<(Line<'a>, Extras<'a>), Fault> {
        Line::parse(text)
    }

    /// Whether a line is whole; `rest` is what stands behind its tokens.
    #[inline(always)]
    fn check(&self, text: &[u8], rest: &[u8]) -> Result<(), Fault> {
        let versioned = matches!(rest, [b' ', b'v', b'=', b'1', b' ', ..]) || versioned(rest)?;
        // `len=` is always the last token: 8 bytes with the blank before it.
        const LEN: u64 = u64::from_le_bytes(*b" len=\0\0\0");
        let end = text.last_chunk().map_or(0, |end| u64::from_le_bytes(*end));
        if end << 24 == LEN << 24 {
            return match last_digits(end, LAST[2]) {
                Some(len) if len == text.len() as u64 => Ok(()),
                _ => Err(Fault::length),
            };
        }
        // Lines of the T3E have neither version nor length. A line of our time without them was cut
        // before its version.
        match !versioned && self.date.year < VERSIONED_SINCE {
            true => Ok(()),
            false => Err(Fault::length),
        }
    }
}

/// Whether a line has a version; `rest` is what stands behind its tokens. `v=` is always the first
/// extra: looking for it further would read every extra.
#[cold]
#[inline(never)]
fn versioned(rest: &[u8]) -> Result<bool, Fault> {
    match rest.strip_prefix(b" v") {
        Some([b'=', b'1'] | [b'=', b'1', b' ', ..]) => Ok(true),
        // Cut within it.
        Some([] | [b'=']) => Err(Fault::length),
        Some([b'=', ..]) => Err(Fault::version),
        _ => Ok(false),
    }
}

/// The tokens of a line, one after the other; beyond the last, empty ones or none.
trait Slots<'a> {
    fn next(&mut self) -> Option<Slot<'a>>;
}

/// Looks for the blank behind each.
struct FoundSlots<'a> {
    text: &'a [u8],
    /// Where the next one begins
    start: usize,
    /// Where the last one ended
    end: usize,
}

impl<'a> Slots<'a> for FoundSlots<'a> {
    #[inline(always)]
    fn next(&mut self) -> Option<Slot<'a>> {
        let rest = self.text.get(self.start..).unwrap_or_default();
        self.end = self.text.len() - rest.len() + place_of(b' ', rest);
        let slot = Slot::new(self.text, self.start, self.end, false);
        self.start = self.end + 1;
        slot
    }
}

/// Is told where each of them ends.
struct KnownSlots<'a> {
    text: &'a [u8],
    /// Where the next one begins
    start: usize,
    ends: &'a [u32; 16],
    at: usize,
    plain: bool,
}

impl<'a> Slots<'a> for KnownSlots<'a> {
    #[inline(always)]
    fn next(&mut self) -> Option<Slot<'a>> {
        let end = self.ends.get(self.at).copied().unwrap_or_default() as usize;
        let slot = Slot::new(self.text, self.start, end, self.plain);
        (self.start, self.at) = (end + 1, self.at + 1);
        slot
    }
}

/// The `key=value` tokens of a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// The line
    text: &'a [u8],
    /// Where the tokens begin in it: at a blank, or at its end
    at: usize,
    /// Places of all blanks from there on in some text that has the line, if they are known
    blanks: &'a [u32],
}

impl PartialEq for Extras<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Extras<'_> {}

impl<'a> Extras<'a> {
    /// The tokens as they stand in the line.
    #[inline(always)]
    pub fn text(self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The raw value of a key, escapes as they stand. The last of several wins.
    pub fn get(mut self, key: &[u8]) -> Option<&'a [u8]> {
        let mut last = None;
        while let Some(token) = self.next_slot() {
            if let Some(value) = value_of(token.bytes(), key) {
                last = Some(value);
            }
        }
        last
    }

    /// The value of a key as a name.
    pub fn name(self, key: &[u8]) -> Option<Name<'a>> {
        self.get(key).map(Name::from_token)
    }

    /// The value of a key as a number.
    pub fn number(self, key: &[u8]) -> Option<u64> {
        self.get(key).and_then(whole)
    }

    /// The next token: a key and its value.
    #[inline(always)]
    pub fn next_slot(&mut self) -> Option<Slot<'a>> {
        loop {
            let end = match self.blanks {
                [blank, blanks @ ..] => {
                    let next =
                        blanks.first().map(|next| self.at + next.wrapping_sub(*blank) as usize);
                    self.blanks = blanks;
                    next.unwrap_or(self.text.len())
                }
                [] => {
                    let [_, rest @ ..] = self.text() else { return None };
                    self.at + 1 + place_of(b' ', rest)
                }
            };
            let begin = self.at + 1;
            self.at = end;
            if begin < end {
                return Slot::new(self.text, begin, end, false);
            }
        }
    }
}

/// Keys and raw values in order. A token without `=` has itself as key and an empty value.
impl<'a> Iterator for Extras<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.next_slot()?.at_equals();
        Some((key, value.bytes()))
    }
}

/// The raw value of a token, if it has this key.
#[inline(always)]
pub fn value_of<'a>(token: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    match token.strip_prefix(key)? {
        _ if key.contains(&b'=') => None,
        [b'=', value @ ..] => Some(value),
        [] => Some(&[]),
        _ => None,
    }
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
            // Behind the tokens of the line.
            let text = [b" ", text.as_slice()].concat();
            let places: Vec<u32> =
                (1000..).zip(&text).filter(|(_, byte)| **byte == b' ').map(|(at, _)| at).collect();
            for blanks in [&[], places.as_slice()] {
                let extras = Extras { text: &text, at: 0, blanks };
                prop_assert_eq!(extras.collect::<Vec<_>>(), expected.clone());
            }
        }
    }
}
