//! Periods as people say them: `last week`, `2026-10`, `7d`.

use std::fmt;

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};
use topas_format::civil::Date;

use super::{DateError, Period, parse_date};

/// Why words are no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodError {
    /// None of the forms that are known
    Form,
    /// A day, week or month that the calendar does not have
    NoSuchDay,
    /// It ends before it begins
    Reversed,
}

impl fmt::Display for PeriodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PeriodError::Form => {
                "not a day (2026-11-20 or 2026/11/20), week (2026-W47), month (2026-11), quarter \
                 (2026-Q4) or year (2026); nor today, yesterday, monday, 7d, 2w, 3 months, 5 days \
                 ago, this week, last month; days are the smallest unit"
            }
            PeriodError::NoSuchDay => "no such day in the calendar",
            PeriodError::Reversed => "its last day is before its first",
        })
    }
}

impl std::error::Error for PeriodError {}

/// Units of a period.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CalendarUnit {
    Day,
    Week,
    Month,
    Quarter,
    Year,
}

/// Words for units.
const UNITS: &[(&[&str], CalendarUnit)] = &[
    (&["d", "day", "days"], CalendarUnit::Day),
    (&["w", "week", "weeks"], CalendarUnit::Week),
    (&["month", "months"], CalendarUnit::Month),
    (&["quarter", "quarters"], CalendarUnit::Quarter),
    (&["y", "year", "years"], CalendarUnit::Year),
];

impl CalendarUnit {
    fn named(word: &str) -> Option<CalendarUnit> {
        UNITS.iter().find(|(words, _)| words.contains(&word)).map(|(_, unit)| *unit)
    }

    /// Its first day around `day`.
    fn begin(self, day: NaiveDate) -> Option<NaiveDate> {
        match self {
            CalendarUnit::Day => Some(day),
            CalendarUnit::Week => {
                day.checked_sub_days(Days::new(day.weekday().num_days_from_monday().into()))
            }
            CalendarUnit::Month => day.with_day(1),
            CalendarUnit::Quarter => day.with_day(1)?.with_month0(day.month0() / 3 * 3),
            CalendarUnit::Year => day.with_ordinal(1),
        }
    }

    /// The day so many units before `day`; of a month that is too short, its last.
    fn before(self, day: NaiveDate, count: u32) -> Option<NaiveDate> {
        let months = |each: u32| day.checked_sub_months(Months::new(count.checked_mul(each)?));
        match self {
            CalendarUnit::Day => day.checked_sub_days(Days::new(count.into())),
            CalendarUnit::Week => day.checked_sub_days(Days::new(u64::from(count) * 7)),
            CalendarUnit::Month => months(1),
            CalendarUnit::Quarter => months(3),
            CalendarUnit::Year => months(12),
        }
    }

    /// The whole unit that begins with a day.
    fn from(self, begin: NaiveDate) -> Option<(NaiveDate, NaiveDate)> {
        let next = match self {
            CalendarUnit::Day => begin.checked_add_days(Days::new(1)),
            CalendarUnit::Week => begin.checked_add_days(Days::new(7)),
            CalendarUnit::Month => begin.checked_add_months(Months::new(1)),
            CalendarUnit::Quarter => begin.checked_add_months(Months::new(3)),
            CalendarUnit::Year => begin.checked_add_months(Months::new(12)),
        };
        Some((begin, next?.pred_opt()?))
    }
}

/// The period that words say; `today` is the present day of the site. It has both ends.
///
/// * a day, week, month, quarter or year: `2026-11-20`, `2026-W47`, `2026-11`, `2026-Q4`, `2026`
/// * `today`, `yesterday`, a day of the week (the latest that has begun)
/// * `this` or `last` and `day`, `week`, `month`, `quarter` or `year`; of `this` all of its days
/// * a number of `d`, `w` or `y`, or of these words: so many, up to and with today (`7d`)
/// * the same and `ago`: the day so long before today
/// * two of these and `..` between them: from the begin of one to the end of the other
///
/// Letters may be capitals, and blanks may be `-` or `_`.
///
/// # Errors
///
/// [`PeriodError`] if the words are none of these, or say no days of the calendar.
pub fn parse_period(words: &str, today: Date) -> Result<Period, PeriodError> {
    let Some((from, to)) = words.split_once("..") else { return unit(words, today) };
    let period = Period { since: unit(from, today)?.since, until: unit(to, today)?.until };
    if period.is_reversed() { Err(PeriodError::Reversed) } else { Ok(period) }
}

/// The days of words without `..`.
fn unit(words: &str, today: Date) -> Result<Period, PeriodError> {
    let text = words.trim().to_lowercase();
    let (first, last) = match calendar(&text)? {
        Some(days) => days,
        None => {
            let today = i32::try_from(today.days()).ok().and_then(NaiveDate::from_epoch_days);
            spoken(&text, today.ok_or(PeriodError::NoSuchDay)?)?
        }
    };
    let date = |day: NaiveDate| {
        let year = u16::try_from(day.year()).ok().filter(|year| (1..=9999).contains(year));
        let year = year.ok_or(PeriodError::NoSuchDay)?;
        Ok(Date { year, month: day.month() as u8, day: day.day() as u8 })
    };
    Ok(Period { since: Some(date(first)?), until: Some(date(last)?) })
}

/// First and last day of what the calendar numbers; None if it is of another form.
fn calendar(text: &str) -> Result<Option<(NaiveDate, NaiveDate)>, PeriodError> {
    match parse_date(text) {
        Ok(Date { year, month, day }) => {
            let day = NaiveDate::from_ymd_opt(year.into(), month.into(), day.into());
            return day.map(|day| Some((day, day))).ok_or(PeriodError::NoSuchDay);
        }
        Err(DateError::NoSuchDay) => return Err(PeriodError::NoSuchDay),
        Err(DateError::Form) => {}
    }
    let digits = |text: &str| -> Option<u32> {
        text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
    };
    let Some((year, rest)) = text.split_at_checked(4) else { return Ok(None) };
    let Some(year) = digits(year) else { return Ok(None) };
    let part = rest.strip_prefix(['-', '/']).unwrap_or(rest);
    let number = |letter: &str, len: usize| {
        part.strip_prefix(letter).filter(|part| part.len() == len).and_then(digits)
    };
    let of_month = |month: u32| NaiveDate::from_ymd_opt(year as i32, month, 1);
    let (unit, begin) = if rest.is_empty() {
        (CalendarUnit::Year, of_month(1))
    } else if part.len() == rest.len() {
        return Ok(None);
    } else if let Some(week) = number("w", 2) {
        (CalendarUnit::Week, NaiveDate::from_isoywd_opt(year as i32, week, Weekday::Mon))
    } else if let Some(quarter) = number("q", 1) {
        let month = (1..=4).contains(&quarter).then(|| quarter * 3 - 2);
        (CalendarUnit::Quarter, month.and_then(of_month))
    } else if let Some(month) = number("", 2) {
        (CalendarUnit::Month, of_month(month))
    } else {
        return Ok(None);
    };
    let days = begin.filter(|_| year > 0).and_then(|begin| unit.from(begin));
    days.map(Some).ok_or(PeriodError::NoSuchDay)
}

/// First and last day of what is said of today.
fn spoken(text: &str, today: NaiveDate) -> Result<(NaiveDate, NaiveDate), PeriodError> {
    let blanks = |c: char| c.is_whitespace() || c == '-' || c == '_';
    let mut words: Vec<&str> = text.split(blanks).filter(|word| !word.is_empty()).collect();
    // `7d` is `7 d`.
    if let Some(first) = words.first().copied() {
        let end = first.find(|c: char| !c.is_ascii_digit()).unwrap_or(first.len());
        let (number, unit) = first.split_at(end);
        if !number.is_empty() && !unit.is_empty() {
            words.splice(..1, [number, unit]);
        }
    }
    if let ["last", number, _] = words[..]
        && number.bytes().all(|b| b.is_ascii_digit())
    {
        // `last 7 days` is `7 days`.
        words.remove(0);
    }
    let whole = |unit: CalendarUnit, count: u32| {
        unit.begin(today).and_then(|begin| unit.before(begin, count)).and_then(|b| unit.from(b))
    };
    let days = match words[..] {
        ["today"] => whole(CalendarUnit::Day, 0),
        ["yesterday"] => whole(CalendarUnit::Day, 1),
        [day] | ["last", day] if day.parse::<Weekday>().is_ok() => {
            let wanted = day.parse().unwrap_or(Weekday::Mon);
            let since = u64::from(today.weekday().days_since(wanted));
            let since = if words.len() == 2 && since == 0 { 7 } else { since };
            today.checked_sub_days(Days::new(since)).map(|day| (day, day))
        }
        ["this", unit] => whole(CalendarUnit::named(unit).ok_or(PeriodError::Form)?, 0),
        ["last", unit] => whole(CalendarUnit::named(unit).ok_or(PeriodError::Form)?, 1),
        [number, unit] | [number, unit, "ago"] => {
            let count: u32 = number.parse().map_err(|_| PeriodError::Form)?;
            let unit = CalendarUnit::named(unit).ok_or(PeriodError::Form)?;
            let begin = unit.before(today, count);
            if words.len() == 3 {
                begin.map(|day| (day, day))
            } else if count == 0 {
                return Err(PeriodError::Form);
            } else {
                begin.and_then(|day| day.succ_opt()).map(|day| (day, today))
            }
        }
        _ => return Err(PeriodError::Form),
    };
    days.ok_or(PeriodError::NoSuchDay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A Sunday.
    const TODAY: Date = Date { year: 2026, month: 11, day: 22 };

    fn said(words: &str) -> String {
        match parse_period(words, TODAY) {
            Ok(Period { since: Some(since), until: Some(until) }) => {
                let text = |d: Date| format!("{:04}-{:02}-{:02}", d.year, d.month, d.day);
                format!("{} {}", text(since), text(until))
            }
            Ok(open) => panic!("{words}: {open:?}"),
            Err(error) => format!("{error:?}"),
        }
    }

    /// So many that to read them one within the other would not fit on the stack.
    #[test]
    fn a_period_has_one_range() {
        assert_eq!(said("2026-11-01..2026-11-20..2026-11-22"), "Form");
        assert_eq!(said(&"2026..".repeat(1_000_000)), "Form");
    }

    #[test]
    fn words_and_their_days() {
        for (words, days) in [
            ("2026-11-20", "2026-11-20 2026-11-20"),
            ("2026/11/20", "2026-11-20 2026-11-20"),
            ("2026-02", "2026-02-01 2026-02-28"),
            ("2024/02", "2024-02-01 2024-02-29"),
            ("2026-Q4", "2026-10-01 2026-12-31"),
            ("2026-W01", "2025-12-29 2026-01-04"),
            ("2026", "2026-01-01 2026-12-31"),
            ("today", "2026-11-22 2026-11-22"),
            (" Yesterday ", "2026-11-21 2026-11-21"),
            ("monday", "2026-11-16 2026-11-16"),
            ("Sun", "2026-11-22 2026-11-22"),
            ("last sunday", "2026-11-15 2026-11-15"),
            ("7d", "2026-11-16 2026-11-22"),
            ("1 day", "2026-11-22 2026-11-22"),
            ("2w", "2026-11-09 2026-11-22"),
            ("3 months", "2026-08-23 2026-11-22"),
            ("last 3 months", "2026-08-23 2026-11-22"),
            ("1y", "2025-11-23 2026-11-22"),
            ("5 days ago", "2026-11-17 2026-11-17"),
            ("2 weeks ago", "2026-11-08 2026-11-08"),
            ("this week", "2026-11-16 2026-11-22"),
            ("last week", "2026-11-09 2026-11-15"),
            ("this month", "2026-11-01 2026-11-30"),
            ("last-month", "2026-10-01 2026-10-31"),
            ("LAST_QUARTER", "2026-07-01 2026-09-30"),
            ("last year", "2025-01-01 2025-12-31"),
            ("2026-09..last month", "2026-09-01 2026-10-31"),
            ("2026-11-01 .. today", "2026-11-01 2026-11-22"),
            ("today..2026-09", "Reversed"),
            ("9999-12", "9999-12-01 9999-12-31"),
        ] {
            assert_eq!(said(words), days, "{words}");
        }
    }

    #[test]
    fn a_month_that_is_shorter_ends_with_its_last_day() {
        let march = Date { year: 2026, month: 3, day: 31 };
        let day = Some(Date { year: 2026, month: 3, day: 1 });
        assert_eq!(parse_period("1 month", march), Ok(Period { since: day, until: Some(march) }));
    }

    #[test]
    fn what_is_no_period_is_said() {
        for words in [
            "",
            "24h",
            "7",
            "7m",
            "0d",
            "d",
            "last",
            "next week",
            "last 0 weeks",
            "-7d x",
            "2026-1",
            "2026-11-20-",
            "20261120",
            "202611",
            "2026w47",
            "last fortnight",
            "7d ago ago",
            "..",
            "99999999999d",
            "٣d",
            "1.5d",
            "2026-Q",
            "2026-11 ",
            "+2026",
        ] {
            if words == "2026-11 " {
                assert_eq!(said(words), "2026-11-01 2026-11-30");
            } else {
                assert_eq!(said(words), "Form", "{words}");
            }
        }
        for words in [
            "2026-02-30",
            "2026-13",
            "2026-Q5",
            "2026-W54",
            "0000",
            "0000-01",
            "4000000000d",
            "9999y",
        ] {
            assert_eq!(said(words), "NoSuchDay", "{words}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_period_or_none(text in "\\PC{0,20}", days in 0i64..2_000_000) {
            if let Ok(period) = parse_period(&text, Date::from_days(days)) {
                prop_assert!(!period.is_reversed());
            }
        }

        /// Weeks, months and years that follow each other leave no day out, on any day.
        #[test]
        fn units_follow_each_other(days in 800i64..2_000_000) {
            let today = Date::from_days(days);
            for unit in ["day", "week", "month", "quarter", "year"] {
                let of = |which: &str| parse_period(&format!("{which} {unit}"), today).unwrap();
                let (this, last) = (of("this"), of("last"));
                prop_assert_eq!(last.until.unwrap().days() + 1, this.since.unwrap().days());
                prop_assert!(this.since.unwrap() <= today && today <= this.until.unwrap());
            }
            let week = parse_period("7d", today).unwrap();
            prop_assert_eq!(week.until, Some(today));
            prop_assert_eq!(week.since.unwrap().days(), days - 6);
        }
    }
}
