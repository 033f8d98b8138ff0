//! The tokens of a line: one type each, with its writing and its reading side by side.

use crate::civil::{Date, Time};
use crate::escape::Name;
use crate::event::Metric;
use crate::number::{Count, Micros, leading};
use crate::out::Out;
use crate::text::Words;

/// One token of a line.
pub trait Token<'a>: Sized {
    /// Appends the token. False if a name was cut to leave `reserve` bytes free.
    fn write(&self, out: &mut Out<'_>, reserve: usize) -> bool;

    /// Reads the token at the front of `text`, up to but not with the blank behind it.
    /// None if it is not of this form. Always inlined into the one parser: a tenth of
    /// the time of reading a log.
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])>;
}

impl<'a> Token<'a> for Name<'a> {
    fn write(&self, out: &mut Out<'_>, reserve: usize) -> bool {
        Name::write(self, out, reserve)
    }

    #[inline(always)]
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (name, end) = Name::leading(text);
        let rest = text.get(end..)?;
        (end > 0).then_some((name, rest))
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
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        const FORM: DigitPairs = DigitPairs::new(*b"0000/00/");
        let (year_month, rest) = text.split_first_chunk()?;
        let [century, _, year, _, _, month, _, _] = FORM.read(*year_month)?;
        let (day, rest) = rest.split_first_chunk()?;
        let year = u16::from(century) * 100 + u16::from(year);
        let date = Date { year, month, day: two(*day)? };
        // 31 February passes: no zone makes one, and a stricter check buys nothing.
        let known = year > 0 && (1..=12).contains(&date.month) && (1..=31).contains(&date.day);
        known.then_some((date, rest))
    }
}

impl<'a> Token<'a> for Time {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        out.dec_wide(self.hour.into(), 2).byte(b':').dec_wide(self.minute.into(), 2);
        out.byte(b':').dec_wide(self.second.into(), 2);
        true
    }

    #[inline(always)]
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        const FORM: DigitPairs = DigitPairs::new(*b"00:00:00");
        let (time, rest) = text.split_first_chunk()?;
        let [hour, _, _, minute, _, _, second, _] = FORM.read(*time)?;
        let time = Time { hour, minute, second };
        (time.hour < 24 && time.minute < 60 && time.second <= 60).then_some((time, rest))
    }
}

impl<'a> Token<'a> for u32 {
    fn write(&self, out: &mut Out<'_>, _: usize) -> bool {
        out.dec((*self).into());
        true
    }

    #[inline(always)]
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (n, rest) = leading(text)?;
        Some((u32::try_from(n).ok()?, rest))
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
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        match text {
            [b't', digits @ ..] => {
                let (mhz, rest) = u32::read(digits)?;
                Some((Mhz(Some(mhz)), rest))
            }
            [b'-', rest @ ..] => Some((Mhz(None), rest)),
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
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        if let [b'-', rest @ ..] = text {
            return Some((Npes(None), rest));
        }
        let (npes, rest) = u32::read(text)?;
        Some((Npes(Some(npes)), rest))
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
            fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
                let front = front(text);
                if let Some(rest) = word_behind(text, front, $first_word) {
                    return Some(($name::$first, rest));
                }
                $(if let Some(rest) = word_behind(text, front, $word) {
                    return Some(($name::$value, rest));
                })*
                None
            }
        }
    };
}

/// The first four bytes of a text as a number; a blank for each that it does not have.
#[inline(always)]
fn front(text: &[u8]) -> u32 {
    let front = text.first_chunk().copied().unwrap_or_else(|| {
        let mut front = [b' '; 4];
        front.iter_mut().zip(text).for_each(|(to, byte)| *to = *byte);
        front
    });
    u32::from_le_bytes(front)
}

/// What follows a word of at most three bytes, if that is the first token of `text`, whose
/// [`front`] is given.
#[inline(always)]
fn word_behind<'a>(text: &'a [u8], front: u32, word: &str) -> Option<&'a [u8]> {
    let mut bytes = [b' '; 4];
    bytes.iter_mut().zip(word.as_bytes()).for_each(|(to, byte)| *to = *byte);
    // The word and the blank behind it.
    let mask = u32::MAX >> (24 - 8 * word.len());
    ((front ^ u32::from_le_bytes(bytes)) & mask == 0).then(|| text.get(word.len()..))?
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
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (seconds, rest) = leading(text)?;
        let Some(decimals) = rest.strip_prefix(b".") else {
            return Some((Micros(seconds.checked_mul(1_000_000)?), rest));
        };
        let (fraction, rest) = fraction(decimals);
        Some((Micros(seconds.checked_mul(1_000_000)?.checked_add(fraction)?), rest))
    }
}

/// Decimals of a second in µs, and what follows them. Digits below a microsecond are dropped.
#[inline(always)]
fn fraction(decimals: &[u8]) -> (u64, &[u8]) {
    const UNITS: [u64; 7] = [1_000_000, 100_000, 10_000, 1000, 100, 10, 1];
    if let Some((n, rest)) = leading(decimals)
        && let Some(unit) = UNITS.get(decimals.len() - rest.len())
    {
        return (n * unit, rest);
    }
    long_fraction(decimals)
}

/// As [`fraction`], of any length.
#[inline(never)]
fn long_fraction(decimals: &[u8]) -> (u64, &[u8]) {
    let digits = decimals.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = decimals.split_at_checked(digits).unwrap_or_default();
    let micros = digits.get(..6).and_then(leading).map_or(0, |(n, _)| n);
    (micros, rest)
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
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        match text {
            [b'-', rest @ ..] => Some((Count::Missing, rest)),
            [b'~', digits @ ..] => leading(digits).map(|(n, rest)| (Count::Estimate(n), rest)),
            _ => leading(text).map(|(n, rest)| (Count::Exact(n), rest)),
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
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (&[letter, mark], rest) = text.split_first_chunk()?;
        let metric = Metric::of_operations(letter)?;
        let (count, rest) = match (mark, rest) {
            (b'=', [b'-', rest @ ..]) => (Count::Missing, rest),
            (b'=', _) => leading(rest).map(|(n, rest)| (Count::Exact(n), rest))?,
            (b'~', _) => leading(rest).map(|(n, rest)| (Count::Estimate(n), rest))?,
            _ => return None,
        };
        Some((Operations { metric, count }, rest))
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
        assert_eq!(Micros::read(b"1.9999999 x"), Some((Micros(1_999_999), &b" x"[..])));
        assert_eq!(
            Micros::read(b"1.0000000000000000000000000009"),
            Some((Micros(1_000_000), &b""[..]))
        );
        assert_eq!(Micros::read(b"2."), Some((Micros(2_000_000), &b""[..])));
        assert_eq!(Micros::read(b"2.5"), Some((Micros(2_500_000), &b""[..])));
        assert_eq!(Micros::read(b"7"), Some((Micros(7_000_000), &b""[..])));
        assert_eq!(Micros::read(b".5"), None);
    }

    #[test]
    fn dates_and_times_of_other_bytes() {
        for bad in [&b"\xff026/11/20"[..], b"2026/ 1/20", b"2026/13/01", b"0000/01/01", b"2026/11"]
        {
            assert_eq!(Date::read(bad), None, "{bad:?}");
        }
        for bad in [&b"\xff1:02:03"[..], b"24:00:00", b"08:60:00", b"08:00:61", b"-1:00:00"] {
            assert_eq!(Time::read(bad), None, "{bad:?}");
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
                        let read = Date::read(&text).map(|(date, _)| date);
                        let read = read.map(|d| (d.year, d.month.into(), d.day.into()));
                        assert_eq!(read, date, "{what}");
                    } else {
                        let time = in_place.then(|| (number(0, 2), number(3, 5), number(6, 8)));
                        let time = time.filter(|(h, m, s)| *h < 24 && *m < 60 && *s <= 60);
                        let read = Time::read(&text).map(|(time, _)| time);
                        let read = read.map(|t| (t.hour.into(), t.minute.into(), t.second.into()));
                        assert_eq!(read, time, "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn words_end_at_a_blank() {
        for lang in Lang::ALL {
            for behind in ["", " ", " mpi", "  "] {
                let text = [lang.word(), behind].concat();
                assert_eq!(Lang::read(text.as_bytes()), Some((*lang, behind.as_bytes())));
            }
        }
        for bad in ["", "f", "f9", "f900", "cx", "cxxx", "--", "x", " c", "c\t", "F90"] {
            assert_eq!(Lang::read(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn operations_tokens() {
        let of = |metric, count| Some((Operations { metric, count }, &b""[..]));
        assert_eq!(Operations::read(b"f=12"), of(Metric::FpOps, Count::Exact(12)));
        assert_eq!(Operations::read(b"i~12"), of(Metric::IntOps, Count::Estimate(12)));
        assert_eq!(Operations::read(b"l=-"), of(Metric::Loads, Count::Missing));
        for bad in [&b"m=1"[..], b"f", b"f=", b"f~-", b"f:1", b"=1"] {
            assert_eq!(Operations::read(bad), None, "{bad:?}");
        }
    }
}
