//! Months, weeks, days of the week.

use topas_format::civil::{Date, Time};

use super::Value;

/// Days of the week, Monday first as in ISO 8601.
pub(super) const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

pub(super) fn time<'a>(time: Time) -> Value<'a> {
    let minutes = u32::from(time.hour) * 60 + u32::from(time.minute);
    Value::whole(minutes * 60 + u32::from(time.second))
}

/// Months since January of year 0.
pub(super) fn month<'a>(date: Date) -> Value<'a> {
    Value::whole(u32::from(date.year) * 12 + u32::from(date.month) - 1)
}

/// Days since 1970-01-01 of the Monday of its week.
pub(super) fn week<'a>(date: Date) -> Value<'a> {
    Value::whole(monday(date.days()))
}

pub(super) fn weekday<'a>(date: Date) -> Value<'a> {
    Value::whole(date.days() - monday(date.days()))
}

/// The Monday on or before a day, both in days since 1970-01-01, which was a Thursday.
pub(super) fn monday(days: i64) -> i64 {
    days - (days + 3).rem_euclid(7)
}

/// Year and number of the week of ISO 8601 that begins with a Monday: that year which
/// has its Thursday.
pub(super) fn iso_week(monday: i64) -> (i64, i64) {
    let thursday = monday + 3;
    // A year that is not too late, and near. Days before 1970 are beyond Date::from_days.
    let mut year = 1970 + thursday.div_euclid(if thursday < 0 { 365 } else { 366 });
    while new_year(year + 1) <= thursday {
        year += 1;
    }
    (year, (thursday - new_year(year)) / 7 + 1)
}

/// Days from 1970-01-01 to the first day of a year.
pub(super) fn new_year(year: i64) -> i64 {
    let before = year - 1;
    365 * (year - 1970) + (before.div_euclid(4) - 492) - (before.div_euclid(100) - 19)
        + (before.div_euclid(400) - 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_of_iso_8601() {
        let of = |year, month, day| {
            let days = Date { year, month, day }.days();
            let (year, week) = iso_week(monday(days));
            (year, week, WEEKDAYS[(days - monday(days)) as usize])
        };
        // The examples of the standard's annex.
        assert_eq!(of(1977, 1, 1), (1976, 53, "Sat"));
        assert_eq!(of(1977, 1, 3), (1977, 1, "Mon"));
        assert_eq!(of(1979, 12, 31), (1980, 1, "Mon"));
        assert_eq!(of(1981, 12, 31), (1981, 53, "Thu"));
        assert_eq!(of(2008, 12, 29), (2009, 1, "Mon"));
        assert_eq!(of(2026, 11, 20), (2026, 47, "Fri"));
        assert_eq!(of(1, 1, 1), (1, 1, "Mon"));
    }

    #[test]
    fn new_years() {
        for year in [1, 4, 100, 101, 400, 401, 1900, 1969, 1970, 2000, 2001, 2100, 9999] {
            let day = Date { year: year as u16, month: 1, day: 1 };
            assert_eq!(new_year(year), day.days(), "{year}");
        }
    }
}
