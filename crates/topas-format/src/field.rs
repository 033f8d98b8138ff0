//! The tokens of a line: one type each, with its writing and its reading side by side.

use crate::civil::{Date, Time};
use crate::escape::Name;
use crate::event::Metric;
use crate::number::{Count, Micros};
use crate::out::Out;
use crate::slot::Slot;
use crate::text::Words;

/// One token of a line.
pub trait Token<'a>: Sized {
    /// Appends the token. False if a name was cut to leave `reserve` bytes free.
    fn write(&self, out: &mut Out<'_>, reserve: usize) -> bool;

    /// Reads a token. None if it is not of this form. Always inlined into the one parser: a tenth
    /// of the time of reading a log.
    fn read(token: Slot<'a>) -> Option<Self>;
}

impl<'a> Token<'a> for Name<'a> {
    fn write(&self, out: &mut Out<'_>, reserve: usize) -> bool {
        Name::write(self, out, reserve)
    }

    #[inline(always)]
    fn read(token: Slot<'a>) -> Option<Self> {
        let bytes = token.bytes();
        let escaped = !token.is_plain() && bytes.contains(&b'%');
        (!bytes.is_empty()).then(|| Name::of_token(bytes, escaped))
    }
}

/// Two decimal digits.
#[inline(always)]
fn two(digits: [u8; 2]) -> Option<u8> {
    let [tens, ones] = digits.map(|d| d.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| tens * 10 + ones)
}

/// A byte eight times.
const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Eight bytes of a date or a time: digits, and separators where they must stand.
struct DigitPairs {
    /// `0` where a digit stands
    form: u64,
    /// What makes the highest bit of a byte that is out of place: more than a digit, or no separator
    room: u64,
}

impl DigitPairs {
    const fn new(form: [u8; 8]) -> Self {
        let form = u64::from_le_bytes(form);
        let (mut room, mut shift) = (0, 0);
        while shift < 64 {
            let most: u64 = if (form >> shift) as u8 == b'0' { 9 } else { 0 };
            room |= (0x7f - most) << shift;
            shift += 8;
        }
        DigitPairs { form, room }
    }

    /// In each byte the number of two digits that begins there; None if the form is another.
    /// All at once: this is done twice for each line of a log.
    #[inline(always)]
    fn read(&self, chunk: [u8; 8]) -> Option<[u8; 8]> {
        let digits = u64::from_le_bytes(chunk) ^ self.form;
        // A carry can reach only beyond a byte that is out of place.
        let misplaced = (digits.wrapping_add(self.room) | digits) & eight(0x80);
        let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
        (misplaced == 0).then_some(pairs.to_le_bytes())
    }
}

impl<'a> Token<'a> for Date {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        out.dec_wide(self.year.into(), 4).byte(b'/').dec_wide(self.month.into(), 2);
        out.byte(b'/').dec_wide(self.day.into(), 2);
        true
    }

    #[inline(always)]
    fn read(token: Slot<'a>) -> Option<Self> {
        const FORM: DigitPairs = DigitPairs::new(*b"0000/00/");
        let (year_month, day) = token.bytes().split_first_chunk()?;
        let [century, _, year, _, _, month, _, _] = FORM.read(*year_month)?;
        let year = u16::from(century) * 100 + u16::from(year);
        let date = Date { year, month, day: two(day.try_into().ok()?)? };
        // 31 February passes: no zone makes one, and a stricter check buys nothing.
        let known = year > 0 && (1..=12).contains(&date.month) && (1..=31).contains(&date.day);
        known.then_some(date)
    }
}

impl<'a> Token<'a> for Time {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        out.dec_wide(self.hour.into(), 2).byte(b':').dec_wide(self.minute.into(), 2);
        out.byte(b':').dec_wide(self.second.into(), 2);
        true
    }

    #[inline(always)]
    fn read(token: Slot<'a>) -> Option<Self> {
        const FORM: DigitPairs = DigitPairs::new(*b"00:00:00");
        let [hour, _, _, minute, _, _, second, _] = FORM.read(token.bytes().try_into().ok()?)?;
        let time = Time { hour, minute, second };
        (time.hour < 24 && time.minute < 60 && time.second <= 60).then_some(time)
    }
}

impl<'a> Token<'a> for u32 {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        out.dec((*self).into());
        true
    }

    #[inline(always)]
    fn read(token: Slot<'a>) -> Option<Self> {
        u32::try_from(token.number()?).ok()
    }
}

/// Nominal processor frequency in MHz: `t2596`, or `-` where none could be found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mhz(pub Option<u32>);

impl<'a> Token<'a> for Mhz {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        match self.0 {
            Some(mhz) => out.byte(b't').dec(mhz.into()),
            None => out.byte(b'-'),
        };
        true
    }

    #[inline(always)]
    fn read(token: Slot<'a>) -> Option<Self> {
        match token.bytes() {
            [b't', ..] => u32::read(token.without_first(1)).map(|mhz| Mhz(Some(mhz))),
            b"-" => Some(Mhz(None)),
            _ => None,
        }
    }
}

/// Number of ranks of a launch, or `-` where the launcher does not tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Npes(pub Option<u32>);

impl<'a> Token<'a> for Npes {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        match self.0 {
            Some(npes) => out.dec(npes.into()),
            None => out.byte(b'-'),
        };
        true
    }

    #[inline(always)]
    fn read(token: Slot<'a>) -> Option<Self> {
        match token.bytes() {
            b"-" => Some(Npes(None)),
            _ => u32::read(token).map(|npes| Npes(Some(npes))),
        }
    }
}

/// Declares an enumeration whose values are words of the line.
macro_rules! words {
    ($(#[$about:meta])* $name:ident {
        $(#[$first_doc:meta])* $first:ident = $first_word:literal,
        $($(#[$doc:meta])* $value:ident = $word:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $(#[$first_doc])* $first, $($(#[$doc])* $value,)* }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [$name] = &[$name::$first, $($name::$value),*];

            const WORDS: Words = Words(concat!($first_word $(, " ", $word)*).as_bytes(), b' ');

            /// The word in the line.
            pub const fn word(self) -> &'static str {
                match self { $name::$first => $first_word, $($name::$value => $word,)* }
            }

            /// The word in the line, from the one text that the module holds.
            pub fn token(self) -> &'static [u8] {
                $name::WORDS.at(self as usize)
            }

            /// The value of a word.
            pub fn of_word(word: &[u8]) -> Option<$name> {
                $name::ALL.get($name::WORDS.place(word)?).copied()
            }
        }

        impl<'a> Token<'a> for $name {
            fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
                out.put(self.token());
                true
            }

            // Not by `of_word`: that one is small, this one is fast and only in the tools.
            #[inline(always)]
            fn read(token: Slot<'a>) -> Option<Self> {
                let word = token.short()?;
                if word == const { short_word($first_word) } {
                    return Some($name::$first);
                }
                $(if word == const { short_word($word) } {
                    return Some($name::$value);
                })*
                None
            }
        }
    };
}

/// [`Slot::short`] of a word of one to three bytes; 0, which that never is, of another.
const fn short_word(word: &str) -> u32 {
    match *word.as_bytes() {
        [one, two, three] => u32::from_le_bytes([one, two, three, 3]),
        [one, two] => u32::from_le_bytes([one, two, 0, 2]),
        [one] => u32::from_le_bytes([one, 0, 0, 1]),
        _ => 0,
    }
}

words! {
    /// How the program was run.
    Mode {
        /// By a batch job
        Batch = "B",
        /// By a person at a terminal, or by no batch system
        Interactive = "I",
    }
}

impl Mode {
    /// The word, which has one letter.
    pub const fn letter(self) -> u8 {
        match self {
            Mode::Batch => b'B',
            Mode::Interactive => b'I',
        }
    }
}

words! {
    /// Language of the driver that linked the program.
    Lang {
        /// C
        C = "c",
        /// C++
        Cxx = "cxx",
        /// Fortran 77
        F77 = "f77",
        /// Fortran 90 and later
        F90 = "f90",
        /// C++ by KAI, in logs of the T3E
        Kxx = "kxx",
        /// C, in logs of the T3E
        Cc = "cc",
        /// Not known
        Unknown = "-",
    }
}

words! {
    /// Message passing library, checked in this order.
    Lib {
        /// MPI
        Mpi = "mpi",
        /// PVM
        Pvm = "pvm",
        /// SHMEM
        Sma = "sma",
        /// None of them
        None = "-",
    }
}

impl<'a> Token<'a> for Micros {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        out.dec(self.0 / 1_000_000).byte(b'.');
        let fraction = self.0 % 1_000_000;
        if fraction.is_multiple_of(1000) {
            out.dec_wide(fraction / 1000, 3);
        } else {
            out.dec_wide(fraction, 6);
        }
        true
    }

    #[inline(always)]
    fn read(token: Slot<'a>) -> Option<Self> {
        token.millionths().map(Micros)
    }
}

impl<'a> Token<'a> for Count {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        match *self {
            Count::Missing => out.byte(b'-'),
            Count::Exact(n) => out.dec(n),
            Count::Estimate(n) => out.byte(b'~').dec(n),
        };
        true
    }

    #[inline(always)]
    fn read(token: Slot<'a>) -> Option<Self> {
        match token.bytes() {
            b"-" => Some(Count::Missing),
            [b'~', ..] => token.without_first(1).count().map(Count::Estimate),
            _ => token.count().map(Count::Exact),
        }
    }
}

/// The operations token: `f=123`, `i~123` (an estimate) or `f=-` (not counted).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    /// What was counted, never [`Metric::L1Miss`]
    pub metric: Metric,
    /// How many
    pub count: Count,
}

/// [`Metric::of_operations`] of every byte: which of the metrics it is, no branch could foretell.
#[allow(clippy::indexing_slicing, reason = "done by the compiler")]
static OPERATIONS: [Option<Metric>; 256] = {
    let mut metrics = [None; 256];
    let mut letter = 0;
    while letter < metrics.len() {
        metrics[letter] = Metric::of_operations(letter as u8);
        letter += 1;
    }
    metrics
};

/// What the letter of an operations token stands for.
#[inline(always)]
pub(crate) fn operations_metric(letter: u8) -> Option<Metric> {
    *OPERATIONS.get(usize::from(letter))?
}

impl<'a> Token<'a> for Operations {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        out.byte(self.metric.letter());
        match self.count {
            Count::Missing => out.put(b"=-"),
            Count::Exact(n) => out.byte(b'=').dec(n),
            Count::Estimate(n) => out.byte(b'~').dec(n),
        };
        true
    }

    #[inline(always)]
    fn read(token: Slot<'a>) -> Option<Self> {
        let (&[letter, mark], number) = token.bytes().split_first_chunk()?;
        let metric = operations_metric(letter)?;
        let count = match mark {
            b'=' if number == b"-" => Count::Missing,
            b'=' => Count::Exact(token.without_first(2).count()?),
            b'~' => Count::Estimate(token.without_first(2).count()?),
            _ => return None,
        };
        Some(Operations { metric, count })
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    #[test]
    fn seconds_have_three_or_six_decimals() {
        let mut buf = [0; 40];
        for (micros, text) in
            [(0, "0.000"), (12_340_000, "12.340"), (1, "0.000001"), (1_000_001, "1.000001")]
        {
            let mut out = Out::new(&mut buf);
            Micros(micros).write(&mut out, 0);
            assert_eq!(out.text(), text.as_bytes());
        }
        let read = |text: &'static str| Micros::read(Slot::whole(text.as_bytes()));
        assert_eq!(read("1.9999999"), Some(Micros(1_999_999)));
        assert_eq!(read("1.0000000000000000000000000009"), Some(Micros(1_000_000)));
        assert_eq!(read("2."), Some(Micros(2_000_000)));
        assert_eq!(read("2.5"), Some(Micros(2_500_000)));
        assert_eq!(read("7"), Some(Micros(7_000_000)));
        for bad in ["", ".5", "1.5 x", "1.5.5", "1.555.555", "1.5555.555", "18446744073709.551616"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn dates_and_times_of_other_bytes() {
        for bad in [
            &b"\xff026/11/20"[..],
            b"2026/ 1/20",
            b"2026/13/01",
            b"0000/01/01",
            b"2026/11",
            b"2026/11/201",
        ] {
            assert_eq!(Date::read(Slot::whole(bad)), None, "{bad:?}");
        }
        for bad in [&b"\xff1:02:03"[..], b"24:00:00", b"08:60:00", b"08:00:61", b"-1:00:00"] {
            assert_eq!(Time::read(Slot::whole(bad)), None, "{bad:?}");
        }
    }

    /// Every byte in every place, against a look at each byte for itself.
    #[test]
    fn a_date_or_a_time_has_a_digit_or_a_separator_in_each_place() {
        for (good, form) in [("2026/11/20", "0000/00/00"), ("08:19:25", "00:00:00")] {
            for place in 0..good.len() {
                for byte in 0..=255 {
                    let mut text = good.as_bytes().to_vec();
                    text[place] = byte;
                    let in_place = text.iter().zip(form.bytes()).all(|(byte, form)| match form {
                        b'0' => byte.is_ascii_digit(),
                        separator => *byte == separator,
                    });
                    let number = |from: usize, to: usize| {
                        std::str::from_utf8(&text[from..to]).unwrap().parse::<u16>().unwrap()
                    };
                    let what = format!("{byte} at {place} of {good}");
                    if good.len() == 10 {
                        let date = in_place.then(|| (number(0, 4), number(5, 7), number(8, 10)));
                        let date = date.filter(|(year, month, day)| {
                            *year > 0 && (1..=12).contains(month) && (1..=31).contains(day)
                        });
                        let read = Date::read(Slot::whole(&text));
                        let read = read.map(|d| (d.year, d.month.into(), d.day.into()));
                        assert_eq!(read, date, "{what}");
                    } else {
                        let time = in_place.then(|| (number(0, 2), number(3, 5), number(6, 8)));
                        let time = time.filter(|(h, m, s)| *h < 24 && *m < 60 && *s <= 60);
                        let read = Time::read(Slot::whole(&text));
                        let read = read.map(|t| (t.hour.into(), t.minute.into(), t.second.into()));
                        assert_eq!(read, time, "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn words_are_whole() {
        assert!(Lang::ALL.iter().all(|lang| (1..=3).contains(&lang.word().len())));
        for lang in Lang::ALL {
            assert_eq!(Lang::read(Slot::whole(lang.word().as_bytes())), Some(*lang));
        }
        for bad in ["", "f", "f9", "f900", "cx", "cxxx", "--", "x", " c", "c\t", "c\0", "F90"] {
            assert_eq!(Lang::read(Slot::whole(bad.as_bytes())), None, "{bad:?}");
        }
    }

    #[test]
    fn operations_tokens() {
        let of = |metric, count| Some(Operations { metric, count });
        let read = |text: &'static str| Operations::read(Slot::whole(text.as_bytes()));
        assert_eq!(read("f=12"), of(Metric::FpOps, Count::Exact(12)));
        assert_eq!(read("i~12"), of(Metric::IntOps, Count::Estimate(12)));
        assert_eq!(read("l=-"), of(Metric::Loads, Count::Missing));
        for bad in ["m=1", "f", "f=", "f~-", "f=-1", "f:1", "=1"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
