//! Periods of local time: hours, days, weeks, months.

use topas_format::civil::Date;

use super::zone::{DAY, Zone};
use crate::field::{FieldKind, Value, WEEKDAYS, civil_day, label};

/// How long a period is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeriodStep {
    /// Hours of local time; one that clocks repeat is there twice
    Hour,
    /// Days of local time, of 23 to 25 h where clocks change
    #[default]
    Day,
    /// Weeks of ISO 8601, from Monday on
    Week,
    /// Months
    Month,
    /// The 168 hours of a week, each with all hours of its kind
    HourOfWeek,
}

impl PeriodStep {
    /// Its name: `hour`.
    pub fn name(self) -> &'static str {
        match self {
            PeriodStep::Hour => "hour",
            PeriodStep::Day => "day",
            PeriodStep::Week => "week",
            PeriodStep::Month => "month",
            PeriodStep::HourOfWeek => "hour-of-week",
        }
    }

    /// The first day of the period that a day is in, both in days since 1970.
    fn first_day(self, day: i64) -> i64 {
        match self {
            PeriodStep::Hour | PeriodStep::HourOfWeek | PeriodStep::Day => day,
            PeriodStep::Week => day - weekday(day) as i64,
            PeriodStep::Month => {
                let date = civil_day(day);
                Date { day: 1, ..date }.days()
            }
        }
    }

    /// The first day of the next period.
    fn next_day(self, first: i64) -> i64 {
        match self {
            PeriodStep::Hour | PeriodStep::HourOfWeek | PeriodStep::Day => first + 1,
            PeriodStep::Week => first + 7,
            PeriodStep::Month => self.first_day(first + 31),
        }
    }
}

/// The day of the week of a day in days since 1970; 0 is Monday.
pub(super) fn weekday(day: i64) -> usize {
    // 1970-01-01 was a Thursday.
    (day + 3).rem_euclid(7) as usize
}

/// A period, in quarters of an hour of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// First day in days since 1970
    pub(super) day: i64,
    /// Hour of the day
    pub(super) hour: Option<u8>,
    /// Local time minus UTC where it begins, in quarters of an hour
    pub(super) ahead: i64,
    pub(super) begin: i64,
    pub(super) end: i64,
}

impl Span {
    /// `2026-11-20 08:00`, `2026-11-20`, `2026-W47`, `2026-11`, `Fri 08:00`.
    pub(super) fn name(&self, step: PeriodStep) -> String {
        let day = Value::whole(self.day);
        match (step, self.hour) {
            (PeriodStep::Week, _) => label(FieldKind::Week, &day),
            (PeriodStep::Month, _) => {
                let date = civil_day(self.day);
                format!("{:04}-{:02}", date.year, date.month)
            }
            (PeriodStep::HourOfWeek, Some(hour)) => {
                let weekday = WEEKDAYS[weekday(self.day)];
                format!("{weekday} {hour:02}:00")
            }
            (_, None) => label(FieldKind::Day, &day),
            (_, Some(hour)) => format!("{} {hour:02}:00", label(FieldKind::Day, &day)),
        }
    }
}

/// The periods from that of quarter of an hour `first` to that of `last`; None if there are more
/// than `most`.
pub(super) fn spans(
    zone: &mut Zone,
    step: PeriodStep,
    first: i64,
    last: i64,
    most: usize,
) -> Option<Vec<Span>> {
    let mut spans = Vec::new();
    let mut day = step.first_day((first + zone.offset(first)).div_euclid(DAY));
    let mut begin = zone.begin_of(day);
    while begin <= last {
        let next = step.next_day(day);
        let end = zone.begin_of(next);
        if matches!(step, PeriodStep::Hour | PeriodStep::HourOfWeek) {
            hours(zone, day, begin, end, &mut spans);
        } else {
            let ahead = zone.offset(begin);
            spans.push(Span { day, hour: None, ahead, begin, end });
        }
        if spans.len() > most + 24 {
            return None;
        }
        (day, begin) = (next, end);
    }
    spans.retain(|span| span.end > first && span.begin <= last);
    (spans.len() <= most).then_some(spans)
}

/// The hours of a day, each as long as the clock shows it without a change.
fn hours(zone: &mut Zone, day: i64, begin: i64, end: i64, spans: &mut Vec<Span>) {
    let mut last: Option<(i64, i64)> = None;
    for bin in begin..end {
        let ahead = zone.offset(bin);
        let hour = (bin + ahead).div_euclid(4);
        if last == Some((hour, ahead)) {
            if let Some(span) = spans.last_mut() {
                span.end = bin + 1;
            }
            continue;
        }
        last = Some((hour, ahead));
        let hour = hour.rem_euclid(24) as u8;
        spans.push(Span { day, hour: Some(hour), ahead, begin: bin, end: bin + 1 });
    }
}
