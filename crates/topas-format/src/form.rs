//! Forms: text with places that values are filled into. The module writes its line, its
//! messages and its paths with this one small interpreter in place of a call for each part.
//!
//! Bytes below 0x80 stand for themselves. Any other names a kind of value in its bits 5 and
//! 6 and a slot of [`Values`] in its bits 0 to 4.

use crate::civil::months;
use crate::escape;
use crate::line::END;
use crate::out::Out;

/// A number that is not known. It is written as `-`, and takes its extra away.
pub const UNKNOWN: u64 = u64::MAX;

/// Slots of [`Values::numbers`]. The order gives the width: one of four digits, then
/// those of two, of three, and the rest, which have no leading zeros.
#[allow(missing_docs)]
pub mod number {
    pub const YEAR: usize = 0;
    pub const MONTH: usize = 1;
    pub const DAY: usize = 2;
    pub const HOUR: usize = 3;
    pub const MINUTE: usize = 4;
    pub const SECOND: usize = 5;
    /// Three: thousandths of a second of user, system and wall clock time
    pub const MILLIS: usize = 6;
    /// Thousandths
    pub const RUN: usize = 9;
    pub const LEN: usize = 10;
    /// Three: whole seconds of the same
    pub const SECONDS: usize = 11;
    pub const UID: usize = 14;
    pub const PE: usize = 15;
    pub const NPES: usize = 16;
    pub const MHZ: usize = 17;
    /// Four: operations, cache misses, cycles, instructions
    pub const COUNTS: usize = 18;
    pub const EPOCH: usize = 22;
    pub const RESIDENT: usize = 23;
    /// 1 once a name has lost its end
    pub const CUT: usize = 24;
    /// Processor that the rank was on at its end
    pub const CPU: usize = 25;
    /// NUMA node of that processor
    pub const NUMA: usize = 26;

    /// Digits that are written at least.
    pub(super) fn width(slot: usize) -> u32 {
        const WIDTHS: [u8; SECONDS] = [4, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3];
        WIDTHS.get(slot).copied().unwrap_or(1).into()
    }
}

/// Slots of [`Values::marks`].
#[allow(missing_docs)]
pub mod mark {
    /// Four: `~` for an estimate; `=` for a full count of operations
    pub const COUNTS: usize = 0;
    /// Letter of the operations
    pub const METRIC: usize = 4;
    /// `t` before a frequency that is known
    pub const MHZ: usize = 5;
    /// `B` or `I`
    pub const MODE: usize = 6;
}

/// Slots of [`Values::texts`].
#[allow(missing_docs)]
pub mod text {
    pub const USER: usize = 0;
    pub const EXE: usize = 1;
    pub const LANG: usize = 2;
    pub const LIB: usize = 3;
    pub const ID: usize = 4;
    pub const HOST: usize = 5;
    pub const WHY: usize = 6;
    pub const JOB: usize = 7;
    pub const STEP: usize = 8;
    /// Name of the operations
    pub const OPERATIONS: usize = 9;
    pub const ENDING: usize = 10;
    pub const MPI: usize = 11;
    /// The numeric user id behind a `#`
    pub const UID: usize = 12;
    /// Log targets of the user's own
    pub const LOG: usize = 13;
    /// Partition or queue
    pub const PART: usize = 14;
    /// Compiler
    pub const CC: usize = 15;
    /// Accelerators
    pub const GPU: usize = 16;

    /// Bytes that a name leaves free for what stands behind it, as in [`crate::line::Line`].
    pub(super) const fn reserve(slot: usize) -> usize {
        match slot {
            USER => 440,
            EXE => 185,
            _ => super::END,
        }
    }
}

const TEXT: u8 = 0x80;
const NAME: u8 = 0xa0;
const NUMBER: u8 = 0xc0;
const MARK: u8 = 0xe0;

/// The code of a number.
pub const fn n(slot: usize) -> u8 {
    NUMBER | slot as u8
}

/// The code of a mark: a byte, or nothing if it is 0.
pub const fn m(slot: usize) -> u8 {
    MARK | slot as u8
}

/// The code of a text as it is.
pub const fn t(slot: usize) -> u8 {
    TEXT | slot as u8
}

/// The code of a name, escaped; `-` if it is empty.
pub const fn name(slot: usize) -> u8 {
    NAME | slot as u8
}

/// What the slots hold. The marks come first: what is near the front is reached by shorter
/// instructions.
#[repr(C)]
pub struct Values<'a> {
    /// Bytes, by [`mark`]
    pub marks: [u8; MARKS],
    /// Numbers, by [`number`]
    pub numbers: [u64; SLOTS],
    /// Texts, by [`text`]
    pub texts: [Option<&'a [u8]>; SLOTS],
}

/// One of each kind for each code.
const SLOTS: usize = 32;

/// Of marks there are a few only.
const MARKS: usize = 8;

impl<'a> Values<'a> {
    /// Zeros, nothing, and no texts: all zero.
    pub const fn new() -> Self {
        Values { numbers: [0; SLOTS], marks: [0; MARKS], texts: [None; SLOTS] }
    }

    /// Takes what was written to `out` as a text.
    #[inline(never)]
    pub fn keep(&mut self, slot: usize, out: &mut Out<'a>) {
        if let Some(text) = self.texts.get_mut(slot) {
            *text = Some(out.take());
        }
    }

    /// A text, empty if there is none.
    #[inline(never)]
    pub fn text(&self, slot: usize) -> &'a [u8] {
        self.texts.get(slot).copied().flatten().unwrap_or_default()
    }

    /// Appends what one byte of a form stands for. False if a number or name is not known,
    /// or the name did not fit, which [`number::CUT`] notes.
    #[inline(never)]
    pub fn put(&mut self, out: &mut Out<'_>, code: u8) -> bool {
        let slot = usize::from(code & 31);
        let text = self.text(slot);
        let number = self.numbers.get(slot).copied().unwrap_or_default();
        let mut byte = code;
        let mut known = true;
        // Compared in the order of the kinds: each by one short instruction.
        if code >= MARK {
            byte = self.marks.get(slot).copied().unwrap_or_default();
        } else if code >= NUMBER {
            if number != UNKNOWN {
                out.dec_wide(number, number::width(slot));
                return true;
            }
            byte = b'-';
            known = false;
        } else if code >= NAME {
            if !escape::put(out, text, text::reserve(slot)) {
                self.numbers[number::CUT] = 1;
                return false;
            }
            return !text.is_empty();
        } else if code >= TEXT {
            out.put(text);
            return true;
        }
        if byte != 0 {
            out.byte(byte);
        }
        known
    }

    /// Sets date and time of day to `seconds` after 1970-01-01 00:00 in the same zone.
    pub fn set_time(&mut self, seconds: u64) {
        let (months, day) = months((seconds / 86_400) as u32, u32::MAX);
        let seconds = (seconds % 86_400) as u32;
        let [year, month, first, hour, minute, second, ..] = &mut self.numbers;
        *year = (1970 + months / 12).into();
        *month = (months % 12 + 1).into();
        *first = (day + 1).into();
        *hour = (seconds / 3600).into();
        *minute = (seconds / 60 % 60).into();
        *second = (seconds % 60).into();
    }

    /// Appends a line of the form [`LINE`] or [`PLACED_LINE`] with its newline; counts its
    /// bytes, which begin at `begin`.
    #[inline]
    pub fn fill_line(&mut self, out: &mut Out<'_>, begin: usize, form: &[u8]) {
        self.numbers[number::CUT] = UNKNOWN;
        self.fill(out, form);
        self.numbers[number::LEN] = (out.len() + END - 2 - begin) as u64;
        self.fill(out, END_OF_LINE);
    }

    /// Appends a form. A part from a blank to the next that holds an equals sign of the
    /// form's own is an extra: taken back if what it says is not known or does not fit.
    #[inline(never)]
    pub fn fill(&mut self, out: &mut Out<'_>, form: &[u8]) {
        let mut begin = 0;
        let mut extra = false;
        let mut known = true;
        for code in form {
            if *code == b' ' {
                if extra && (!known || out.room() < END) {
                    out.rewind(begin);
                }
                begin = out.len();
                extra = false;
                known = true;
            }
            extra |= *code == b'=';
            known &= self.put(out, *code);
        }
    }
}

impl Default for Values<'_> {
    fn default() -> Self {
        Values::new()
    }
}

/// A form of parts, each a byte string or an array of codes, joined at compile time.
#[macro_export]
macro_rules! form {
    ($($part:expr),* $(,)?) => {{
        const PARTS: &[&[u8]] = &[$($part),*];
        const FORM: [u8; $crate::form::length(PARTS)] = $crate::form::join(PARTS);
        &FORM
    }};
}

/// The sixteen fields and the extras of every line. A test holds it against
/// [`crate::line::Line`].
const BODY: &[u8] = form![
    &[n(number::YEAR), b'/', n(number::MONTH), b'/', n(number::DAY), b' '],
    &[n(number::HOUR), b':', n(number::MINUTE), b':', n(number::SECOND), b' '],
    &[name(text::USER), b' ', name(text::EXE), b' '],
    &[n(number::PE), b' ', n(number::NPES), b' '],
    &[m(mark::MHZ), n(number::MHZ), b' '],
    &[m(mark::MODE), b' ', t(text::LANG), b' ', t(text::LIB), b' '],
    &[n(number::SECONDS), b'.', n(number::MILLIS), b' '],
    &[n(number::SECONDS + 1), b'.', n(number::MILLIS + 1), b' '],
    &[n(number::SECONDS + 2), b'.', n(number::MILLIS + 2), b' '],
    &[m(mark::METRIC), m(mark::COUNTS), n(number::COUNTS), b' '],
    &[m(mark::COUNTS + 1), n(number::COUNTS + 1), b' '],
    &[name(text::ID)],
    b" v=1 cut=",
    &[n(number::CUT)],
    b" t=",
    &[n(number::EPOCH)],
    b" uid=",
    &[n(number::UID)],
    b" end=",
    &[name(text::ENDING)],
    b" why=",
    &[name(text::WHY)],
    b" run=0.",
    &[n(number::RUN)],
    b" job=",
    &[name(text::JOB)],
    b" step=",
    &[name(text::STEP)],
    b" part=",
    &[name(text::PART)],
    b" mpi=",
    &[name(text::MPI)],
    b" cc=",
    &[name(text::CC)],
    b" gpu=",
    &[name(text::GPU)],
    b" host=",
    &[name(text::HOST)],
    b" cyc=",
    &[m(mark::COUNTS + 2), n(number::COUNTS + 2)],
    b" ins=",
    &[m(mark::COUNTS + 3), n(number::COUNTS + 3)],
    b" rss=",
    &[n(number::RESIDENT)],
];

/// The line of the log up to its length, which [`Values::fill_line`] adds.
pub const LINE: &[u8] = form![BODY, b" "];

/// The same with the place on the node where the rank ended, as in `topas.out`.
pub const PLACED_LINE: &[u8] =
    form![BODY, b" cpu=", &[n(number::CPU)], b" numa=", &[n(number::NUMA), b' ']];

/// [`LINE`] and [`PLACED_LINE`] of a program that `topas-run` measures.
pub const RUN_LINE: &[u8] = form![BODY, b" via=run "];
#[allow(missing_docs)]
pub const PLACED_RUN_LINE: &[u8] =
    form![BODY, b" via=run cpu=", &[n(number::CPU)], b" numa=", &[n(number::NUMA), b' ']];

/// The end of the line; [`number::LEN`] is the length without its newline.
const END_OF_LINE: &[u8] = form![b"len=", &[n(number::LEN)], b"\n"];

/// Length of a form of parts.
pub const fn length(parts: &[&[u8]]) -> usize {
    let (mut length, mut parts) = (0, parts);
    while let [part, rest @ ..] = parts {
        length += part.len();
        parts = rest;
    }
    length
}

/// The parts of a form as one.
pub const fn join<const LEN: usize>(parts: &[&[u8]]) -> [u8; LEN] {
    let mut form = [0; LEN];
    let (mut to, mut parts): (&mut [u8], _) = (&mut form, parts);
    while let [part, rest @ ..] = parts {
        let (here, behind) = to.split_at_mut(part.len());
        here.copy_from_slice(part);
        to = behind;
        parts = rest;
    }
    form
}
