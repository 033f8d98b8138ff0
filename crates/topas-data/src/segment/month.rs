//! Months, and the month a file of the log is of.

use std::fmt;
use std::str::FromStr;

use crate::clock;

/// A month of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    /// Of the common era
    pub year: u16,
    /// 1 to 12
    pub month: u8,
}

impl Month {
    /// The present month, local time of the site.
    pub fn present() -> Month {
        let date = clock::now().date;
        Month { year: date.year, month: date.month }
    }

    /// The month so many months earlier; the first month of year 0 if there is none.
    pub fn earlier(self, months: u16) -> Month {
        let month = u32::from(self.year) * 12 + u32::from(self.month.max(1)) - 1;
        let month = month.saturating_sub(months.into());
        // Both fit: they are not larger than before.
        Month { year: (month / 12) as u16, month: (month % 12) as u8 + 1 }
    }

    /// The first month in a file's name, `2026-10` with no digit before and behind it, as
    /// `%Y-%m` and `%Y-%m-%d` in `log =` make it.
    pub fn in_name(name: &str) -> Option<Month> {
        let bytes = name.as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        (0..bytes.len()).find_map(|at| {
            let alone = (at == 0 || !digit(at - 1)) && !digit(at + FORM);
            alone.then(|| name.get(at..at + FORM)?.parse().ok()).flatten()
        })
    }
}

/// Bytes of `2026-10`.
const FORM: usize = 7;

/// The text is no month of the form YYYY-MM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMonth;

impl fmt::Display for NoMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a month of the form YYYY-MM")
    }
}

impl std::error::Error for NoMonth {}

impl FromStr for Month {
    type Err = NoMonth;

    fn from_str(text: &str) -> Result<Self, NoMonth> {
        let digits = |text: &str| {
            text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
        };
        let (year, month) = text.split_once('-').ok_or(NoMonth)?;
        let known = |year: u16, month: u16| year >= 1970 && (1..=12).contains(&month);
        match (year.len(), digits(year), month.len(), digits(month)) {
            (4, Some(year), 2, Some(month)) if known(year, month) => {
                Ok(Month { year, month: month as u8 })
            }
            _ => Err(NoMonth),
        }
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_before() {
        let month = |text: &str| text.parse::<Month>().unwrap();
        assert_eq!(month("2026-11").earlier(0), month("2026-11"));
        assert_eq!(month("2026-11").earlier(11), month("2025-12"));
        assert_eq!(month("2026-11").earlier(24), month("2024-11"));
        assert_eq!(month("1970-01").earlier(u16::MAX), Month { year: 0, month: 1 });
    }

    #[test]
    fn months_in_names() {
        let month = |name| Month::in_name(name).map(|month| month.to_string());
        for name in ["2026-10.1000.log", "2026-10-31.log", "x.2026-10", "n12-2026-10.log"] {
            assert_eq!(month(name).as_deref(), Some("2026-10"), "{name}");
        }
        for name in
            ["topas.log", "2026-13.log", "12026-10", "2026-101", "2026-1", "1000.20261001", "ü-10"]
        {
            assert_eq!(month(name), None, "{name}");
        }
        assert!(Month::in_name("2025-12") < Month::in_name("2026-01"));
        for bad in ["2026", "2026-1", "+026-01", "2026-+1", "2026-10-01", "0000-01", ""] {
            assert_eq!(bad.parse::<Month>(), Err(NoMonth), "{bad}");
        }
    }
}
