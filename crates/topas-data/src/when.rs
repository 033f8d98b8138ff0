//! When a line was written, and whether its clock can be believed.

use topas_format::civil::Date;
use topas_format::line::{Extras, Line};

use crate::field;
use crate::first_extras::epoch;
use crate::remark::MOST_CPUS;

/// When a line was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    /// Seconds since 1970-01-01 00:00 (UTC if it has `t=`, else the site's local time)
    pub(crate) end: i64,
    /// See [`Oddities::zone`](crate::Oddities::zone)
    pub(crate) no_zone: bool,
    /// See [`Oddities::span`](crate::Oddities::span)
    pub(crate) impossible: bool,
}

/// Reads when a line was written.
#[derive(Default)]
pub(crate) struct Clock {
    /// The last day, and days from 1970 to it: lines of a day follow each other
    day: (Date, i64),
}

impl Clock {
    /// When a line was written: `t=`, which is its `epoch`, else its date and time.
    #[inline]
    pub(crate) fn read(&mut self, line: &Line<'_>, epoch: Option<i64>) -> When {
        if self.day.0 != line.date {
            self.day = (line.date, line.date.days());
        }
        let local = self.day.1 * 86_400 + field::seconds(line.time);
        let (end, no_zone) = match epoch {
            Some(t) => (t, is_no_zone(local - t)),
            None => (local, false),
        };
        let wall = line.wall_time.0;
        let before_1970 = u64::try_from(end).map_or(true, |end| wall / 1_000_000 > end);
        let cpu = line.user_time.0.saturating_add(line.sys_time.0);
        let impossible = before_1970 || cpu / MOST_CPUS > wall.saturating_add(1_000_000);
        When { end, no_zone, impossible }
    }
}

/// Local date and time of a line in s since 1970.
#[inline]
pub(crate) fn local_seconds(line: &Line<'_>) -> i64 {
    line.date.days() * 86_400 + field::seconds(line.time)
}

/// Which clock the times of a line are of, as one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineClock {
    /// It has no `t=`: local time of the site
    Local,
    /// UTC, and local time is ahead by so many quarters of an hour
    Ahead(i8),
    /// UTC, and its local time is that of no zone
    NoZone,
}

impl LineClock {
    #[inline]
    pub(crate) fn of_line(line: &Line<'_>, extras: Extras<'_>) -> Self {
        let Some(epoch) = epoch(extras) else { return LineClock::Local };
        let offset = local_seconds(line) - epoch;
        match (is_no_zone(offset), i8::try_from((offset + 450).div_euclid(900))) {
            (false, Ok(quarters)) => LineClock::Ahead(quarters),
            _ => LineClock::NoZone,
        }
    }

    pub(crate) fn byte(self) -> u8 {
        match self {
            LineClock::Local => 255,
            LineClock::NoZone => 254,
            LineClock::Ahead(quarters) => (i16::from(quarters) + 100) as u8,
        }
    }

    pub(crate) fn of_byte(byte: u8) -> Self {
        match byte {
            255 => LineClock::Local,
            254 => LineClock::NoZone,
            ahead => LineClock::Ahead((i16::from(ahead) - 100) as i8),
        }
    }
}

/// Whether local time minus UTC in s is no offset of a zone: 15 min is the finest there is.
#[inline]
fn is_no_zone(offset: i64) -> bool {
    const SLACK: i64 = 2;
    let from_first = offset + 12 * 3600 + SLACK;
    !(0..=26 * 3600 + 2 * SLACK).contains(&from_first) || from_first % 900 > 2 * SLACK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_multiples_of_a_quarter_of_an_hour() {
        for quarters in -48..=56 {
            for slack in -2..=2 {
                assert!(!is_no_zone(quarters * 900 + slack), "{quarters} quarters, {slack} s");
            }
            for off in [3, 300, 450, 897] {
                assert!(is_no_zone(quarters * 900 + off), "{quarters} quarters, {off} s");
            }
        }
        for off in [-13 * 3600, 15 * 3600, i64::MAX / 2, i64::MIN / 2] {
            assert!(is_no_zone(off));
        }
    }
}
