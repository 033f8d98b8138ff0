//! The value of `capacity =` in `topas.conf`: how many processing elements a site has.
//!
//! `[DATE] [PARTITION] PES`, where PES is a number, or `NODESxPES` for nodes of so many
//! processing elements each, or a sum of such with `+`. Only the tools that read logs ask for
//! it; programs pass over the key.

use crate::civil::Date;
use crate::conf::words;
use crate::text::Cursor;

/// One line of capacity. It holds from its date on, until another line of the same partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityLine<'a> {
    /// First day it holds, local time of the site; None holds since ever
    pub begin: Option<Date>,
    /// The partition; None is the whole machine
    pub partition: Option<&'a [u8]>,
    /// Processing elements
    pub pes: u64,
}

/// Most processing elements that a line can tell.
pub const MOST_PES: u64 = 1_000_000_000_000;

impl<'a> CapacityLine<'a> {
    /// Reads a value: `2048`, `2026-01-01 2048`, `2026-01-01 batch 128x48+16x128`. None if it
    /// is of another form.
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        let mut words = words(value);
        let (first, second, third) = (words.next()?, words.next(), words.next());
        if words.next().is_some() {
            return None;
        }
        let (begin, partition, pes) = match (second, third) {
            (None, _) => (None, None, first),
            (Some(pes), None) => match day(first) {
                Some(begin) => (Some(begin), None, pes),
                None => (None, Some(first), pes),
            },
            (Some(partition), Some(pes)) => (Some(day(first)?), Some(partition), pes),
        };
        Some(CapacityLine { begin, partition, pes: self::pes(pes)? })
    }
}

/// Reads `YYYY-MM-DD` or `YYYY/MM/DD`, a day that the calendar has.
fn day(text: &[u8]) -> Option<Date> {
    let separator = *text.get(4)?;
    if text.len() != 10 || !matches!(separator, b'-' | b'/') {
        return None;
    }
    let mut text = Cursor::new(text);
    let mut part = |end: u8| {
        let mut part = Cursor::new(text.until(end));
        let n = part.number();
        (part.ok && part.rest.is_empty()).then_some(n)
    };
    let (year, month, day) = (part(separator)?, part(separator)?, part(b'\n')?);
    let date = Date {
        year: u16::try_from(year).ok()?,
        month: u8::try_from(month).ok()?,
        day: u8::try_from(day).ok()?,
    };
    date.exists().then_some(date)
}

/// Reads `2048`, `128x48`, or a sum such as `128x48+16x128`.
fn pes(text: &[u8]) -> Option<u64> {
    let mut text = Cursor::new(text);
    let mut sum = 0u64;
    loop {
        let mut product = text.number();
        if text.eat(b'x') {
            product = product.checked_mul(text.number())?;
        }
        sum = sum.checked_add(product).filter(|sum| *sum <= MOST_PES)?;
        if !text.eat(b'+') {
            break;
        }
    }
    (text.ok && text.rest.is_empty()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_of_every_form() {
        let begin = Some(Date { year: 2026, month: 1, day: 1 });
        for (value, expected) in [
            ("2048", (None, None, 2048)),
            ("0", (None, None, 0)),
            ("2026-01-01 2048", (begin, None, 2048)),
            ("2026/01/01 128x48", (begin, None, 6144)),
            ("batch 128x48", (None, Some("batch"), 6144)),
            ("2026-01-01 batch 128x48+16x128+1", (begin, Some("batch"), 8193)),
            ("1000000000000", (None, None, MOST_PES)),
        ] {
            let read = CapacityLine::parse(value.as_bytes());
            let (begin, partition, pes) = expected;
            let partition = partition.map(str::as_bytes);
            assert_eq!(read, Some(CapacityLine { begin, partition, pes }), "{value}");
        }
        for bad in [
            "",
            "batch",
            "-1",
            "1x",
            "x1",
            "1+",
            "+1",
            "1.5",
            "2026-02-30 batch 4",
            "1 2 3 4",
            "2026-1-01 batch 3",
            "2026-01/01 batch 3",
            "1000000000001",
            "18446744073709551616",
            "4294967296x4294967296",
            "9999999999x9999999999",
            "batch 4 5",
            "1e3",
            "2026-01-01",
            "2026-01-01 batch\t",
        ] {
            assert_eq!(CapacityLine::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(value in "[0-9x+ a-c/-]{0,40}") {
            if let Some(line) = CapacityLine::parse(value.as_bytes()) {
                prop_assert!(line.pes <= MOST_PES);
            }
        }
    }
}
