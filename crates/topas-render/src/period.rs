//! Periods of the calendar: along the axis of a picture, and in words.

use topas_chart::BarPeriod;
use topas_data::field::{Field, FieldKind};
use topas_data::{Label, Period, PeriodAxis};

use crate::row::named;

/// The periods along a side of a table.
pub(crate) fn periods(field: &Field, axis: &PeriodAxis, labels: &[&Label]) -> Vec<BarPeriod> {
    let period = |(at, label): (usize, &&Label)| {
        let name = named(label, false).name;
        let roundness = roundness(field, &name);
        BarPeriod { name, roundness, after_break: axis.breaks.contains(&at) }
    };
    labels.iter().enumerate().map(period).collect()
}

/// The days of a period in words: `2026/10/01 to 2026/10/31`, `2026/10/01 and later`.
pub fn period_words(period: Period) -> String {
    match (period.since, period.until) {
        (Some(since), Some(until)) if since == until => since.to_string(),
        (Some(since), Some(until)) => format!("{} to {}", since, until),
        (Some(since), None) => format!("{} and later", since),
        (None, Some(until)) => format!("{} and before", until),
        (None, None) => "all days".to_owned(),
    }
}

/// How round a period is: the first of a year before the first of a month, and so on.
fn roundness(field: &Field, name: &str) -> u8 {
    let last = |digits: usize| -> u32 {
        name.get(name.len().saturating_sub(digits)..)
            .and_then(|end| end.parse().ok())
            .unwrap_or(u32::MAX)
    };
    let rank = |rounds: &[bool]| {
        let place = rounds.iter().position(|round| *round).unwrap_or(rounds.len());
        (rounds.len() - place) as u8
    };
    match (field.kind(), field.name()) {
        (FieldKind::Day, _) => {
            let quarter = ["-01-01", "-04-01", "-07-01", "-10-01"];
            let is_quarter = quarter.iter().any(|end| name.ends_with(end));
            let day = last(2);
            rank(&[name.ends_with("-01-01"), is_quarter, day == 1, day % 7 == 1 && day < 29])
        }
        (FieldKind::Month, _) => rank(&[last(2) == 1, last(2) % 3 == 1]),
        (FieldKind::Week, _) => {
            let week = last(2);
            rank(&[week == 1, week % 13 == 1 && week < 53, week % 4 == 1 && week < 53])
        }
        (_, "year") => rank(&[last(1) == 0, last(1) % 5 == 0]),
        (_, "hour") => {
            let hour = name.parse().unwrap_or(u32::MAX);
            rank(&[hour == 0, hour % 6 == 0, hour % 3 == 0])
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_round() {
        for (field, names) in [
            ("day", &["2026-01-02", "2026-01-08", "2026-02-01", "2026-04-01", "2026-01-01"][..]),
            ("month", &["2026-02", "2026-04", "2026-01"]),
            ("week", &["2026-W53", "2026-W05", "2026-W14", "2026-W01"]),
            ("year", &["2026", "2025", "2020"]),
            ("hour", &["1", "3", "6", "0"]),
            ("weekday", &["Mon"]),
        ] {
            let field = Field::named(field).unwrap();
            for (expected, name) in names.iter().enumerate() {
                assert_eq!(usize::from(roundness(&field, name)), expected, "{field:?} {name}");
            }
        }
        assert_eq!(roundness(&Field::named("day").unwrap(), "2026-01-29"), 0);
    }
}
