//! Any text as a period, a date, a month and a size: what is read has both ends, in this order, and
//! reads the same as its calendar writes it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_data::{Month, parse_date, parse_period, parse_size};
use topas_format::civil::Date;

const TODAY: Date = Date { year: 2026, month: 11, day: 20 };

fuzz_target!(|text: &str| {
    if let Ok(period) = parse_period(text, TODAY) {
        let (since, until) = (period.since.unwrap(), period.until.unwrap());
        assert!(since <= until);
        let written = |day: Date| format!("{:04}-{:02}-{:02}", day.year, day.month, day.day);
        let again = format!("{}..{}", written(since), written(until));
        let again = parse_period(&again, TODAY).unwrap();
        assert_eq!((again.since, again.until), (Some(since), Some(until)));
        assert_eq!(parse_date(&written(since)).ok(), Some(since));
    }
    let _ = text.parse::<Month>();
    let _ = parse_size(text);
});
