//! Local time of the site over the whole log.
//!
//! A line tells UTC and local time of its end, so the log itself says what zone it is of. The
//! rule of this machine is taken if the lines agree with it; a log from elsewhere gets the rule
//! that most of its lines agree with, of those that most zones have today.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use topas_format::zone::offset_at;

/// Quarters of an hour in a day.
pub(super) const DAY: i64 = 96;

/// Seconds in a quarter of an hour.
const SECONDS: i64 = 900;

/// When clocks change in North America, Australia and New Zealand; in Europe it is at 01:00 UTC.
/// The times are those that the local clock shows.
const CHANGES: [&str; 3] = ["M3.2.0/2,M11.1.0/2", "M10.1.0/2,M4.1.0/3", "M9.5.0/2,M4.1.0/3"];

/// The local time of a site.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    rule: Vec<u8>,
    /// Whether it is the rule of this machine
    pub(super) own: bool,
    /// Runs whose local time is that of the rule, and all that have one
    pub(super) agreed: (u64, u64),
    /// A day of UTC, and the offset of all of it
    day: Option<(i64, i64)>,
}

impl Zone {
    /// The rule that most of the runs agree with. `own` is that of this machine; `seen` has the
    /// runs by quarter of an hour and offset.
    pub(super) fn choose(own: &[u8], seen: &FxHashMap<(u32, i8), u64>) -> Self {
        let mut sorted: Vec<(i64, i64, u64)> = seen
            .iter()
            .map(|((at, ahead), runs)| (i64::from(*at), i64::from(*ahead), *runs))
            .collect();
        sorted.sort_unstable();
        let of = seen.values().sum();
        let make = |rule: Vec<u8>, own, agreed| Zone { rule, own, agreed: (agreed, of), day: None };
        let agreed = |rule: &[u8]| {
            let mut zone = make(rule.to_vec(), false, 0);
            let same = |(at, ahead, _): &&(i64, i64, u64)| zone.offset(*at) == *ahead;
            sorted.iter().filter(same).map(|(.., runs)| runs).sum::<u64>()
        };
        let is_rule = offset_at(own, 0).is_some();
        let own = if is_rule { own } else { b"UTC0" };
        let by_own = agreed(own);
        if by_own == of {
            return make(own.to_vec(), is_rule, by_own);
        }
        let offsets: BTreeSet<i8> = seen.keys().map(|(_, ahead)| *ahead).collect();
        let mut best = make(own.to_vec(), is_rule, by_own);
        for rule in offsets.into_iter().flat_map(|ahead| rules(i64::from(ahead) * SECONDS)) {
            let count = agreed(rule.as_bytes());
            if count > best.agreed.0 {
                best = make(rule.into_bytes(), false, count);
            }
        }
        best
    }

    /// Local time minus UTC in quarters of an hour, at a quarter of an hour of UTC.
    pub(super) fn offset(&mut self, bin: i64) -> i64 {
        let day = bin.div_euclid(DAY);
        if let Some((known, offset)) = self.day
            && known == day
        {
            return offset;
        }
        let at = |bin: i64| {
            // The calendar of rules begins in 1970.
            let offset = offset_at(&self.rule, (bin * SECONDS).max(86_400)).unwrap_or(0);
            offset.div_euclid(SECONDS)
        };
        let (first, last) = (at(day * DAY), at(day * DAY + DAY - 1));
        if first == last {
            self.day = Some((day, first));
            return first;
        }
        at(bin)
    }

    /// The quarter of an hour of UTC at one of local time.
    pub(super) fn utc(&mut self, local: i64) -> i64 {
        let near = local - self.offset(local);
        local - self.offset(near)
    }

    /// The first quarter of an hour of a local day, in UTC.
    pub(super) fn begin_of(&mut self, day: i64) -> i64 {
        // No zone is further from UTC, nor are its clocks changed by more.
        let mut bin = (day - 1) * DAY - DAY / 4;
        while (bin + self.offset(bin)).div_euclid(DAY) < day {
            bin += 1;
        }
        bin
    }
}

/// Rules of zones that are so far ahead of UTC in winter or in summer.
fn rules(ahead: i64) -> Vec<String> {
    let mut rules = vec![format!("<X>{}", clock(-ahead))];
    for standard in [ahead, ahead - 3600] {
        let zone = format!("<X>{}<Y>{}", clock(-standard), clock(-standard - 3600));
        let europe = clock(standard + 3600);
        let europe_end = clock(standard + 7200);
        rules.push(format!("{zone},M3.5.0/{europe},M10.5.0/{europe_end}"));
        rules.extend(CHANGES.iter().map(|changes| format!("{zone},{changes}")));
    }
    rules
}

/// Seconds as `[-]h:mm`.
fn clock(seconds: i64) -> String {
    let sign = if seconds < 0 { "-" } else { "" };
    format!("{sign}{}:{:02}", seconds.abs() / 3600, seconds.abs() / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BERLIN: &[u8] = b"CET-1CEST,M3.5.0,M10.5.0/3";

    /// Runs of a year in a zone, one every 17 h.
    fn seen(rule: &[u8]) -> FxHashMap<(u32, i8), u64> {
        let bin = |at: i64| {
            let offset = offset_at(rule, at * SECONDS).unwrap() / SECONDS;
            ((at as u32, offset as i8), 1)
        };
        (1_961_000..1_961_000 + 366 * DAY).step_by(68).map(bin).collect()
    }

    #[test]
    fn lines_tell_their_zone() {
        for rule in [
            &b"UTC0"[..],
            BERLIN,
            b"EST5EDT,M3.2.0,M11.1.0",
            b"<+0530>-5:30",
            b"AEST-10AEDT,M10.1.0,M4.1.0/3",
            b"NZST-12NZDT,M9.5.0,M4.1.0/3",
            b"WET0WEST,M3.5.0/1,M10.5.0",
            b"EET-2EEST,M3.5.0/3,M10.5.0/4",
        ] {
            let seen = seen(rule);
            for own in [BERLIN, b"UTC0", b"no rule"] {
                let mut zone = Zone::choose(own, &seen);
                assert_eq!(zone.agreed.0, zone.agreed.1, "{}", String::from_utf8_lossy(rule));
                assert_eq!(zone.own, own == rule);
                if own != b"no rule" {
                    continue;
                }
                for at in (1_961_000..1_961_000 + 366 * DAY).step_by(29) {
                    let expected = offset_at(rule, at * SECONDS).unwrap();
                    assert_eq!(zone.offset(at) * SECONDS, expected);
                }
            }
        }
    }

    #[test]
    fn most_runs_decide() {
        let mut seen = seen(BERLIN);
        *seen.entry((1_970_000, -20)).or_default() += 3;
        let zone = Zone::choose(BERLIN, &seen);
        assert!(zone.own);
        assert_eq!(zone.agreed.1 - zone.agreed.0, 3);
    }

    #[test]
    fn local_days_begin_at_midnight() {
        let mut zone = Zone::choose(BERLIN, &FxHashMap::default());
        let day = |month, day| topas_format::civil::Date { year: 2026, month, day }.days();
        let mut hours = |d: i64| (zone.begin_of(d + 1) - zone.begin_of(d)) / 4;
        assert_eq!(
            [day(3, 28), day(3, 29), day(10, 25), day(10, 26)].map(&mut hours),
            [24, 23, 25, 24]
        );
        let begin = zone.begin_of(day(7, 1));
        assert_eq!(begin, day(7, 1) * DAY - 8);
        assert_eq!(zone.utc(day(7, 1) * DAY), begin);
    }
}
