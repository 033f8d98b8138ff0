//! A period of days that runs are selected by.

mod words;

use std::fmt;

use chrono::NaiveDate;
use topas_format::civil::Date;

use crate::run::Run;

pub use words::{PeriodError, parse_period};

/// Days from `since` to `until`, both included; None is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// First day
    pub since: Option<Date>,
    /// Last day
    pub until: Option<Date>,
}

impl Period {
    /// Whether a run ended in the period (its last line counts; local time of the site).
    pub fn contains(&self, run: &Run<'_>) -> bool {
        self.has_day(run.date)
    }

    /// Whether a day is in the period.
    pub fn has_day(&self, date: Date) -> bool {
        self.since.is_none_or(|day| date >= day) && self.until.is_none_or(|day| date <= day)
    }

    /// Whether a line of a day may be of a run in the period: ranks of a run end days apart at most, some of
    /// them before the period or behind it.
    pub(crate) fn is_near(&self, date: Date) -> bool {
        /// Days that ranks of a run may end apart.
        const APART: i64 = 7;
        let day = date.days();
        self.since.is_none_or(|since| day >= since.days() - APART)
            && self.until.is_none_or(|until| day <= until.days() + APART)
    }

    /// Whether it ends before it begins.
    pub fn is_reversed(&self) -> bool {
        matches!((self.since, self.until), (Some(since), Some(until)) if since > until)
    }
}

/// The first and the last day of both; None is no day.
pub(crate) fn both_days(
    one: Option<(Date, Date)>,
    other: Option<(Date, Date)>,
) -> Option<(Date, Date)> {
    match (one, other) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (days, None) | (None, days) => days,
    }
}

/// Why a text is no date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateError {
    /// Neither YYYY/MM/DD nor YYYY-MM-DD
    Form,
    /// No such day in the calendar
    NoSuchDay,
}

impl fmt::Display for DateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DateError::Form => "not a date of the form YYYY/MM/DD or YYYY-MM-DD",
            DateError::NoSuchDay => "no such day in the calendar",
        })
    }
}

impl std::error::Error for DateError {}

/// Reads a day: `1999/05/04` or `1999-05-04`.
///
/// # Errors
///
/// [`DateError`] if it is of another form, or no day of the calendar.
pub fn parse_date(text: &str) -> Result<Date, DateError> {
    let separator = if text.contains('/') { '/' } else { '-' };
    let mut parts = text.split(separator);
    let mut number = |width: usize| {
        let part = parts.next().filter(|p| p.len() == width)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse::<u16>().ok())?
    };
    let (Some(year), Some(month), Some(day)) = (number(4), number(2), number(2)) else {
        return Err(DateError::Form);
    };
    if parts.next().is_some() {
        return Err(DateError::Form);
    }
    // The calendar has a year 0, and no line has.
    let known = NaiveDate::from_ymd_opt(year.into(), month.into(), day.into()).filter(|_| year > 0);
    known.ok_or(DateError::NoSuchDay)?;
    Ok(Date { year, month: month as u8, day: day as u8 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_both_forms() {
        let day = Date { year: 1999, month: 5, day: 4 };
        assert_eq!(parse_date("1999/05/04"), Ok(day));
        assert_eq!(parse_date("1999-05-04"), Ok(day));
        assert_eq!(parse_date("2000-02-29").map(|d| d.day), Ok(29));
        for bad in ["", "1999", "1999-5-4", "1999-05/04", "1999-05-04-01", "99-05-04", "+999-01-01"]
        {
            assert_eq!(parse_date(bad), Err(DateError::Form), "{bad}");
        }
        // Before what seconds are counted from, as quickly.
        let begin = std::time::Instant::now();
        for _ in 0..1000 {
            assert_eq!(parse_date("1969-12-31").map(|d| d.year), Ok(1969));
            assert_eq!(parse_date("0001-02-29"), Err(DateError::NoSuchDay));
        }
        assert!(begin.elapsed().as_secs() < 30);
        for bad in [
            "1999-02-29",
            "1900-02-29",
            "1999-13-01",
            "1999-00-01",
            "1999-04-31",
            "0000-01-01",
            "1999-01-00",
        ] {
            assert_eq!(parse_date(bad), Err(DateError::NoSuchDay), "{bad}");
        }
    }
}
