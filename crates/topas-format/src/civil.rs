//! Calendar dates without a calendar library (proleptic Gregorian, years 1 to 9999).

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
    /// The date and time `seconds` after 1970-01-01 00:00:00 in the same zone.
    pub fn from_seconds(seconds: i64) -> Self {
        let day_seconds = seconds.rem_euclid(86_400) as u32;
        Civil {
            date: Date::from_days(seconds.div_euclid(86_400)),
            time: Time {
                hour: (day_seconds / 3600) as u8,
                minute: (day_seconds / 60 % 60) as u8,
                second: (day_seconds % 60) as u8,
            },
        }
    }
}

impl Date {
    /// The day `days` after 1970-01-01.
    ///
    /// Counts in 400-year cycles of years that begin in March, so that a leap day is
    /// the last of its year.
    pub fn from_days(days: i64) -> Self {
        let days = days + 719_468;
        let cycle = days.div_euclid(146_097);
        let of_cycle = days.rem_euclid(146_097);
        let year = (of_cycle - of_cycle / 1460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
        let of_year = of_cycle - (365 * year + year / 4 - year / 100);
        let march_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year + 400 * cycle + i64::from(month <= 2);
        Date { year: year as u16, month: month as u8, day: day as u8 }
    }

    /// Days since 1970-01-01.
    pub fn days(self) -> i64 {
        let month = i64::from(self.month);
        let year = i64::from(self.year) - i64::from(month <= 2);
        let cycle = year.div_euclid(400);
        let year = year.rem_euclid(400);
        let march_month = (month + 9) % 12;
        let of_year = (153 * march_month + 2) / 5 + i64::from(self.day) - 1;
        let of_cycle = 365 * year + year / 4 - year / 100 + of_year;
        cycle * 146_097 + of_cycle - 719_468
    }
}

/// Whether February of `year` has 29 days.
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_centuries_comes_back_and_follows_the_last() {
        let mut yesterday = Date::from_days(-135_141);
        for days in -135_140..160_000 {
            let date = Date::from_days(days);
            assert_eq!(date.days(), days);
            let first_of_month = date.day == 1;
            let next = if first_of_month { yesterday.day >= 28 } else { date.day == yesterday.day + 1 };
            assert!(next && date > yesterday, "{date:?} after {yesterday:?}");
            if date.month == 3 && first_of_month {
                assert_eq!(yesterday.day == 29, is_leap(date.year.into()));
            }
            yesterday = date;
        }
    }

    #[test]
    fn known_instants() {
        let c = Civil::from_seconds(1_795_161_662);
        assert_eq!((c.date, c.time), (
            Date { year: 2026, month: 11, day: 20 },
            Time { hour: 8, minute: 1, second: 2 },
        ));
        assert_eq!(Civil::from_seconds(-1).date, Date { year: 1969, month: 12, day: 31 });
    }
}
