//! Local time of the site from the last line of a TZif file.
//!
//! `/etc/localtime` ends with a rule in POSIX form (RFC 9636 section 3.3) that holds
//! for the present, such as `CET-1CEST,M3.5.0,M10.5.0/3`. Reading that one line needs
//! neither `localtime`, which allocates and obeys the user's `TZ`, nor the tables.

use crate::civil::{first_of, month_days, months};
use crate::text::{Cursor, last};

/// The last line of a text: of a TZif file of version 2 or later it is the rule.
pub fn footer(tail: &[u8]) -> &[u8] {
    last(tail, b'\n')
}

/// Seconds to add to UTC for local time at `epoch` (seconds since 1970). None if
/// `rule` is not of the form that every zone of the tz database has today: summer time
/// by month, week and weekday.
pub fn offset_at(rule: &[u8], epoch: i64) -> Option<i64> {
    let mut text = Cursor::new(rule);
    let standard = zone(&mut text, 0);
    let mut offset = standard;
    if !text.rest.is_empty() {
        let summer = zone(&mut text, standard + 3600);
        let (now, _) = months(((epoch + standard) / 86_400) as u32, u32::MAX);
        let january = now - now % 12;
        let begin = change(&mut text, january) - standard;
        let end = change(&mut text, january) - summer;
        // Between the two, where both are true; in the south, where the year begins in summer
        // time, not between, where both are false.
        let (after, before) = (begin <= epoch, epoch < end);
        if (after == before) != (end < begin) {
            offset = summer;
        }
    }
    (text.ok && text.rest.is_empty()).then_some(offset)
}

/// Reads `CET-1` or `<+0330>-3:30`: seconds east of Greenwich, which is the other sign.
/// `or` if a comma follows the name.
#[inline(never)]
fn zone(text: &mut Cursor<'_>, or: i64) -> i64 {
    if text.eat(b'<') {
        text.until(b'>');
    }
    while text.peek() >= b'A' {
        text.skip();
    }
    if text.peek() == b',' { or } else { -clock(text) }
}

/// Reads `[+-]hh[:mm[:ss]]` as seconds.
#[inline(never)]
fn clock(text: &mut Cursor<'_>) -> i64 {
    let minus = text.eat(b'-');
    text.eat(b'+');
    let mut total = small(text);
    for _ in 0..2 {
        total *= 60;
        if text.eat(b':') {
            total += small(text);
        }
    }
    if minus { -total } else { total }
}

/// Reads a number that no rule exceeds, so that sums of them cannot overflow.
#[inline(never)]
fn small(text: &mut Cursor<'_>) -> i64 {
    let n = text.number();
    text.ok &= n < 1000;
    (n & 0x3ff) as i64
}

/// Reads a byte and a number of at most `last`.
#[inline(never)]
fn part(text: &mut Cursor<'_>, byte: u8, last: u32) -> u32 {
    text.expect(byte);
    let n = small(text) as u32;
    text.ok &= n <= last;
    n
}

/// Reads `,Mm.w.d[/time]`: weekday `d` (0 = Sunday) of week `w` (5 = last) of month
/// `m`, 02:00 if no time is given. The local seconds since 1970 of that in the year that
/// begins with the month `january`, which is counted from January 1970.
#[inline(never)]
fn change(text: &mut Cursor<'_>, january: u32) -> i64 {
    text.expect(b',');
    let month = part(text, b'M', 12);
    let week = part(text, b'.', 5);
    let weekday = part(text, b'.', 6);
    let time = if text.eat(b'/') { clock(text) } else { 7200 };
    text.ok &= month > 0 && week > 0;
    let month = january + month.max(1) - 1;
    let first = first_of(month);
    // 1970-01-01 was a Thursday; 6 is -1 modulo 7.
    let day = first + (weekday + 3 + 6 * first) % 7 + 7 * week.max(1) - 7;
    let last = first + month_days(month) - 1;
    i64::from(if day > last { day - 7 } else { day }) * 86_400 + time
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
