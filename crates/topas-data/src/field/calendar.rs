//! Months, weeks, days of the week. The calendar is that of `chrono`; days of lines are counted
//! as the module counts them, by [`Date::days`].

use chrono::{Datelike, NaiveDate, Weekday};
use topas_format::civil::{Date, Time};

use super::Value;

/// Days of the week, Monday first as in ISO 8601.
pub(crate) const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

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
    let days = date.days();
    Value::whole(days - since_monday(days))
}

pub(super) fn weekday<'a>(date: Date) -> Value<'a> {
    Value::whole(since_monday(date.days()))
}

fn since_monday(days: i64) -> i64 {
    day(days).weekday().num_days_from_monday().into()
}

/// The day so many days after 1970-01-01. A line can tell a day that its month does not have,
/// such as 31 April: it is taken as one of the next month.
pub(super) fn day(days: i64) -> NaiveDate {
    i32::try_from(days).ok().and_then(NaiveDate::from_epoch_days).unwrap_or_default()
}

/// The same as a day of the module.
pub(crate) fn civil_day(days: i64) -> Date {
    let day = day(days);
    Date { year: day.year().clamp(0, 9999) as u16, month: day.month() as u8, day: day.day() as u8 }
}

/// Days since 1970-01-01 of the Monday of a week of ISO 8601; None if the year has no such week.
pub(super) fn monday(year: i32, week: u32) -> Option<i64> {
    let monday = NaiveDate::from_isoywd_opt(year, week, Weekday::Mon)?;
    Some(monday.to_epoch_days().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weeks_of_iso_8601() {
        let of = |year, month, day| {
            let days = Date { year, month, day }.days();
            let week = super::day(days).iso_week();
            (week.year(), week.week(), WEEKDAYS[since_monday(days) as usize])
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
    fn a_day_that_its_month_does_not_have_is_one_of_the_next() {
        let shown = |year, month, day| super::day(Date { year, month, day }.days()).to_string();
        assert_eq!(shown(2026, 4, 31), "2026-05-01");
        assert_eq!(shown(2023, 2, 29), "2023-03-01");
    }

    proptest! {
        /// The module's calendar, which stamps the lines, and that of the tools are one.
        #[test]
        fn both_calendars_agree(year in 1u16..10_000, month in 0u8..14, of_month in 0u8..33) {
            let date = Date { year, month, day: of_month };
            let known = NaiveDate::from_ymd_opt(year.into(), month.into(), of_month.into());
            prop_assert_eq!(known.is_some(), date.exists());
            if let Some(known) = known {
                prop_assert_eq!(i64::from(known.to_epoch_days()), date.days());
                prop_assert_eq!(super::day(date.days()), known);
            }
        }

        #[test]
        fn both_calendars_tell_one_time(seconds in 0i64..253_402_300_800) {
            let civil = topas_format::civil::Civil::from_seconds(seconds);
            let (date, time) = (civil.date, civil.time);
            let told = format!(
                "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
                date.year, date.month, date.day, time.hour, time.minute, time.second
            );
            let known = chrono::DateTime::from_timestamp(seconds, 0).unwrap();
            prop_assert_eq!(told, known.naive_utc().to_string());
        }
    }
}
