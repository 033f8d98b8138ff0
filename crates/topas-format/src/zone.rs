//! Local time of the site from the last line of a TZif file.
//!
//! `/etc/localtime` ends with a rule in POSIX form (RFC 9636 section 3.3) that holds
//! for the present, such as `CET-1CEST,M3.5.0,M10.5.0/3`. Reading that one line needs
//! neither `localtime`, which allocates and obeys the user's `TZ`, nor the tables.

use crate::civil::Date;
use crate::text::Cursor;

/// The rule at the end of a TZif file of version 2 or later, given its last bytes.
/// Empty if there is none.
#[inline(never)]
pub fn footer(tail: &[u8]) -> &[u8] {
    let Some(body) = tail.strip_suffix(b"\n") else {
        return &[];
    };
    let start = body.iter().rposition(|&b| b == b'\n').map_or(body.len(), |at| at + 1);
    body.get(start..).unwrap_or_default()
}

/// Seconds to add to UTC for local time at `epoch` (seconds since 1970). None if
/// `rule` is not of the form that every zone of the tz database has today: summer time
/// by month, week and weekday.
#[inline(never)]
pub fn offset_at(rule: &[u8], epoch: i64) -> Option<i64> {
    let mut text = Cursor::new(rule);
    name(&mut text);
    let standard = -clock(&mut text);
    if text.rest.is_empty() {
        return text.ok.then_some(standard);
    }
    name(&mut text);
    let summer = if text.peek() == b',' { standard + 3600 } else { -clock(&mut text) };
    let year = Date::from_days((epoch + standard) / 86_400).year;
    let begin = change(&mut text, year) - standard;
    let end = change(&mut text, year) - summer;
    if !text.ok || !text.rest.is_empty() {
        return None;
    }
    // In the south the year begins in summer time.
    let in_summer =
        if begin < end { begin <= epoch && epoch < end } else { epoch < end || begin <= epoch };
    Some(if in_summer { summer } else { standard })
}

/// Skips `CET` or `<+0330>`.
fn name(text: &mut Cursor<'_>) {
    if text.eat(b'<') {
        text.until(b'>');
    }
    while text.peek() >= b'A' {
        text.skip();
    }
}

/// Reads `[+-]hh[:mm[:ss]]` as seconds.
#[inline(never)]
fn clock(text: &mut Cursor<'_>) -> i64 {
    let minus = text.eat(b'-');
    text.eat(b'+');
    let mut total = 0;
    let mut unit = 3600;
    loop {
        total += small(text) * unit;
        unit /= 60;
        if unit == 0 || !text.eat(b':') {
            return if minus { -total } else { total };
        }
    }
}

/// Reads a number that no rule exceeds, so that sums of them cannot overflow.
#[inline(never)]
fn small(text: &mut Cursor<'_>) -> i64 {
    let n = text.number();
    text.ok &= n < 1000;
    (n & 0x3ff) as i64
}

/// Reads `,Mm.w.d[/time]`: weekday `d` (0 = Sunday) of week `w` (5 = last) of month
/// `m`, 02:00 if no time is given. The local seconds since 1970 of that in `year`.
#[inline(never)]
fn change(text: &mut Cursor<'_>, year: u16) -> i64 {
    text.expect(b',');
    text.expect(b'M');
    let month = small(text) as u8;
    text.expect(b'.');
    let week = small(text);
    text.expect(b'.');
    let weekday = small(text);
    let time = if text.eat(b'/') { clock(text) } else { 7200 };
    text.ok &= month.wrapping_sub(1) < 12 && (1..=5).contains(&week) && weekday <= 6;
    let first = Date { year, month, day: 1 }.days();
    // 1970-01-01 was a Thursday.
    let mut day = first + (weekday - first - 4).rem_euclid(7) + 7 * (week - 1);
    if Date::from_days(day).month != month {
        day -= 7;
    }
    day * 86_400 + time
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;
    use std::string::String;
    use std::{format, println};

    #[test]
    fn finds_the_rule_at_the_end_of_a_file() {
        assert_eq!(footer(b"\0\0TZif2\0\n<+0530>-5:30\n"), b"<+0530>-5:30");
        assert_eq!(footer(b"no newline at the end"), b"");
        assert_eq!(footer(b"\n"), b"");
    }

    /// GNU `date` with the same rule in `TZ` is the oracle.
    #[test]
    fn agrees_with_date() {
        let rules = [
            "UTC0",
            "CET-1CEST,M3.5.0,M10.5.0/3",
            "EST5EDT,M3.2.0,M11.1.0",
            "<+0330>-3:30",
            "AEST-10AEDT,M10.1.0,M4.1.0/3",
            "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
            "IST-1GMT0,M10.5.0,M3.5.0/1",
            "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
            "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45",
            "EET-2EEST,M3.4.4/50,M10.4.4/50",
        ];
        let mut compared = 0;
        for rule in rules {
            let mut instants = String::new();
            let times: std::vec::Vec<i64> =
                (0..400).map(|i| 1_735_603_200 + i * 7_919_999 / 2).collect();
            for t in &times {
                instants.push_str(&format!("@{t}\n"));
            }
            let Some(printed) = date_offsets(rule, &instants) else {
                println!("skipped: GNU date is not installed");
                return;
            };
            for (t, theirs) in times.iter().zip(printed.lines()) {
                let ours = offset_at(rule.as_bytes(), *t).expect(rule);
                let sign = if ours < 0 { '-' } else { '+' };
                let a = ours.abs();
                let ours = format!("{sign}{:02}{:02}{:02}", a / 3600, a / 60 % 60, a % 60);
                assert_eq!(ours, theirs.replace(':', ""), "{rule} at {t}");
                compared += 1;
            }
        }
        assert_eq!(compared, 400 * rules.len());
    }

    fn date_offsets(rule: &str, instants: &str) -> Option<String> {
        use std::io::Write;
        let mut child = Command::new("date")
            .args(["-f", "-", "+%::z"])
            .env("TZ", rule)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .ok()?;
        child.stdin.take()?.write_all(instants.as_bytes()).ok()?;
        let out = child.wait_with_output().ok()?;
        out.status.success().then(|| String::from_utf8(out.stdout).unwrap())
    }

    #[test]
    fn what_is_no_rule_gives_none() {
        for bad in [
            "",
            "C",
            "CET",
            "CET-1CEST,",
            "CET-1CEST,M13.1.0,M10.5.0",
            "CET-1CEST",
            "<+01-1",
            "XXX3YYY,J60,J300",
        ] {
            assert_eq!(offset_at(bad.as_bytes(), 1 << 30), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(rule in "[A-Z<>+,0-9MJ./:-]{0,40}", t in 86_400i64..250_000_000_000) {
            let _ = offset_at(rule.as_bytes(), t);
        }
    }
}
