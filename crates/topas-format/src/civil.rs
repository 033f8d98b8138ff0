//! Calendar dates without a calendar library (Gregorian).

use core::fmt::{self, Display, Formatter};

/// A date and time of day, in whatever zone the writer used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Civil {
    /// Day
    pub date: Date,
    /// Time of day
    pub time: Time,
}

/// A day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// 1 to 9999
    pub year: u16,
    /// 1 to 12
    pub month: u8,
    /// 1 to 31
    pub day: u8,
}

/// A time of day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// 0 to 23
    pub hour: u8,
    /// 0 to 59
    pub minute: u8,
    /// 0 to 60 (a leap second)
    pub second: u8,
}

impl Civil {
    /// The date and time `seconds` after 1970-01-01 00:00:00 in the same zone, from then on.
    pub fn from_seconds(seconds: i64) -> Self {
        let day_seconds = (seconds % 86_400) as u32;
        Civil {
            date: Date::from_days(seconds / 86_400),
            time: Time {
                hour: (day_seconds / 3600) as u8,
                minute: (day_seconds / 60 % 60) as u8,
                second: (day_seconds % 60) as u8,
            },
        }
    }
}

/// As in a log line: `1999/05/04`. For the tools; the module writes by [`crate::field::Token`].
impl Display for Date {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}/{:02}/{:02}", self.year, self.month, self.day)
    }
}

/// As in a log line: `1999/05/04 12:00:00`.
impl Display for Civil {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Time { hour, minute, second } = self.time;
        write!(f, "{} {hour:02}:{minute:02}:{second:02}", self.date)
    }
}

impl Date {
    /// The day `days` after 1970-01-01, from then on.
    pub fn from_days(days: i64) -> Self {
        let (months, day) = months(days as u32, u32::MAX);
        Date {
            year: (1970 + months / 12) as u16,
            month: (months % 12 + 1) as u8,
            day: (day + 1) as u8,
        }
    }

    /// Whether the calendar has this day, which 31 April is not.
    pub fn exists(self) -> bool {
        // The calendar repeats after 400 years; 2000 and later are after 1970.
        let year = u32::from(self.year % 400) + 2000;
        let month = u32::from(self.month.wrapping_sub(1));
        self.year > 0
            && month < 12
            && self.day > 0
            && u32::from(self.day) <= month_days((year - 1970) * 12 + month)
    }

    /// Days since 1970-01-01.
    #[inline(never)]
    pub fn days(self) -> i64 {
        let month = i64::from(self.month);
        let year = i64::from(self.year) - i64::from(month <= 2);
        // Years begin in March, so that a leap day is the last of its year.
        let march_month = (month + 9) % 12;
        let of_year = (153 * march_month + 2) / 5 + i64::from(self.day) - 1;
        365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468
    }
}

/// Days of a month, which is counted from January 1970.
pub fn month_days(month: u32) -> u32 {
    // A bit for each month of 31 days.
    const LONG: u32 = 0b1010_1101_0101;
    let (year, month) = (1970 + month / 12, month % 12);
    if month == 1 {
        // Of the years that 25 divides, every fourth is of a century, and one of 16 of four.
        28 + u32::from(year & if year.is_multiple_of(25) { 15 } else { 3 } == 0)
    } else {
        30 + (LONG >> month & 1)
    }
}

/// The whole months in `days` after 1970-01-01, but at most `most`, and the days left.
/// Counts them one by one: small rather than fast.
#[inline(never)]
pub fn months(mut days: u32, most: u32) -> (u32, u32) {
    let mut month = 0;
    while month < most && days >= month_days(month) {
        days -= month_days(month);
        month += 1;
    }
    (month, days)
}

/// Days from 1970-01-01 to the first day of a month, which is counted from then.
pub fn first_of(month: u32) -> u32 {
    u32::MAX - months(u32::MAX, month).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_until_2110_comes_back_and_follows_the_last() {
        let mut yesterday = Date::from_days(0);
        assert_eq!(yesterday, Date { year: 1970, month: 1, day: 1 });
        for days in 1..51_134 {
            let date = Date::from_days(days);
            assert_eq!(date.days(), days);
            let month = u32::from(date.year - 1970) * 12 + u32::from(date.month) - 1;
            assert_eq!(i64::from(first_of(month)) + i64::from(date.day) - 1, days);
            let first_of_month = date.day == 1;
            let next =
                if first_of_month { yesterday.day >= 28 } else { date.day == yesterday.day + 1 };
            assert!(next && date > yesterday, "{date:?} after {yesterday:?}");
            if date.month == 3 && first_of_month {
                let year = date.year;
                let by = |n| year.is_multiple_of(n);
                let leap = by(4) && (!by(100) || by(400));
                assert_eq!(yesterday.day == 29, leap);
            }
            yesterday = date;
        }
    }

    #[test]
    fn days_of_the_calendar_of_any_year() {
        for year in [1, 4, 100, 1582, 1900, 1969, 1970, 2000, 2023, 2024, 2100, 9999] {
            for month in 0..=13 {
                for day in 0..=32 {
                    let date = Date { year, month, day };
                    // What is no day is counted like another that is one.
                    let next = Date { year, month: month + 1, day: 1 };
                    let is_in = if month == 12 { day < 32 } else { date.days() < next.days() };
                    let expected = (1..=12).contains(&month) && day > 0 && is_in;
                    assert_eq!(date.exists(), expected, "{date:?}");
                }
            }
        }
        assert!(!Date { year: 0, month: 1, day: 1 }.exists());
    }

    #[test]
    fn known_instants() {
        assert_eq!(Date::from_days(157_113), Date { year: 2400, month: 2, day: 29 });
        let c = Civil::from_seconds(1_795_161_662);
        assert_eq!(
            (c.date, c.time),
            (Date { year: 2026, month: 11, day: 20 }, Time { hour: 8, minute: 1, second: 2 },)
        );
    }
}
