//! Calendar dates without a calendar library (Gregorian).

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

impl Date {
    /// The day `days` after 1970-01-01, from then on.
    ///
    /// Estimates the year from the mean length of a year and looks for the month: an
    /// inverse of [`Date::days`] that is small rather than fast.
    #[inline(never)]
    pub fn from_days(days: i64) -> Self {
        let year = 1970 + days * 400 / 146_097 - 1;
        let mut date = Date { year: year as u16, month: 1, day: 1 };
        loop {
            let next = date.next_month();
            if next.days() > days {
                date.day = (days - date.days() + 1) as u8;
                return date;
            }
            date = next;
        }
    }

    /// The first of the month after this one.
    fn next_month(self) -> Self {
        let december = self.month == 12;
        Date {
            year: self.year + u16::from(december),
            month: if december { 1 } else { self.month + 1 },
            day: 1,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_centuries_comes_back_and_follows_the_last() {
        let mut yesterday = Date::from_days(0);
        assert_eq!(yesterday, Date { year: 1970, month: 1, day: 1 });
        for days in 1..292_194 {
            let date = Date::from_days(days);
            assert_eq!(date.days(), days);
            let first_of_month = date.day == 1;
            let next =
                if first_of_month { yesterday.day >= 28 } else { date.day == yesterday.day + 1 };
            assert!(next && date > yesterday, "{date:?} after {yesterday:?}");
            if date.month == 3 && first_of_month {
                let year = date.year;
                let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                assert_eq!(yesterday.day == 29, leap);
            }
            yesterday = date;
        }
    }

    #[test]
    fn known_instants() {
        let c = Civil::from_seconds(1_795_161_662);
        assert_eq!(
            (c.date, c.time),
            (Date { year: 2026, month: 11, day: 20 }, Time { hour: 8, minute: 1, second: 2 },)
        );
    }
}
