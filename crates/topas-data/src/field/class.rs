//! Classes: values that are told apart coarsely.

use topas_format::line::Extras;
use topas_format::number::{Micros, whole};

use super::{MILLION, Value};

/// Endings, the worst last: well, by somebody else, by a limit, by a fault of the program.
pub(super) const ENDINGS: [&str; 7] =
    ["ok", "with-others", "signal", "limit", "failed", "aborted", "fault"];

/// Lengths of a run; each to below the next.
pub(super) const WALL: [&str; 9] =
    ["<1s", "1-10s", "10-60s", "1-10min", "10-60min", "1-4h", "4-12h", "12-24h", ">=24h"];

/// Where those end, in s.
const WALL_ENDS: [u64; 8] = [1, 10, 60, 600, 3600, 4 * 3600, 12 * 3600, 24 * 3600];

/// Shares of what was asked for; each to below the next.
pub(super) const SHARES: [&str; 6] = ["<10%", "10-25%", "25-50%", "50-75%", "75-100%", ">=100%"];

/// Where those end, in percent.
const SHARE_ENDS: [i128; 5] = [10, 25, 50, 75, 100];

/// Signals of a program that went wrong: SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS.
const FAULTS: [u64; 6] = [4, 5, 7, 8, 11, 31];

/// Signals of time and resources used up: SIGALRM, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF.
const LIMITS: [u64; 5] = [14, 24, 25, 26, 27];

/// Place in [`ENDINGS`] of programs that ended well.
pub(crate) const ENDED_WELL: u8 = 0;

/// Whether somebody else ended a program, by a place in [`ENDINGS`].
pub(crate) fn is_from_outside(place: u8) -> bool {
    (1..=2).contains(&place)
}

/// Signals by which launchers end all ranks after one failed: SIGKILL, SIGTERM.
const WITH_OTHERS: [u64; 2] = [9, 15];

pub(super) fn ending<'a>(extras: Extras<'_>) -> Value<'a> {
    extras.get(b"end").and_then(ending_class).map_or(Value::Missing, Value::whole)
}

/// Place in [`ENDINGS`] of what `end=` says; None of what is no ending.
pub(crate) fn ending_class(end: &[u8]) -> Option<u8> {
    let place = if end == b"abort" {
        5
    } else if let Some(status) = end.strip_prefix(b"exit:").and_then(whole) {
        if status == 0 { ENDED_WELL } else { 4 }
    } else if let Some(signal) = end.strip_prefix(b"sig:").and_then(whole) {
        match signal {
            6 => 5,
            _ if FAULTS.contains(&signal) => 6,
            _ if LIMITS.contains(&signal) => 3,
            _ if WITH_OTHERS.contains(&signal) => 1,
            _ => 2,
        }
    } else {
        return None;
    };
    Some(place)
}

pub(super) fn wall<'a>(wall: Micros) -> Value<'a> {
    let place = WALL_ENDS.iter().filter(|&&end| wall.0 >= end * 1_000_000).count();
    Value::whole(place as u32)
}

/// The class of a share in percent.
pub(super) fn share<'a>(share: &Value<'_>) -> Value<'a> {
    let Value::Number(share) = share else { return Value::Missing };
    Value::whole(SHARE_ENDS.iter().filter(|&&end| *share >= end * MILLION).count() as u32)
}

/// The k of 2^(k-1) < n <= 2^k: 0 of 1, 1 of 2, 2 of 3 and 4; -1 of 0.
pub(super) fn power_of_two<'a>(n: u32) -> Value<'a> {
    match n.checked_sub(1) {
        Some(below) => Value::whole(u32::BITS - below.leading_zeros()),
        None => Value::whole(-1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_format::line::Line;

    #[test]
    fn endings_by_what_caused_them() {
        for (end, class) in [
            ("exit:0", "ok"),
            ("exit:3", "failed"),
            ("abort", "aborted"),
            ("sig:6", "aborted"),
            ("sig:11", "fault"),
            ("sig:24", "limit"),
            ("sig:15", "with-others"),
            ("sig:9", "with-others"),
            ("sig:1", "signal"),
            ("sig:64", "signal"),
        ] {
            let text = format!("1999/05/04 12:00:00 u x 1 2 - B c - 0 0 1 f=- - 1 v=1 end={end}");
            let text = topas_testkit::with_lengths(&text);
            let (_, extras) = Line::parse(text.as_bytes()).unwrap();
            let place = ENDINGS.iter().position(|&word| word == class).unwrap() as u32;
            assert_eq!(ending(extras), Value::whole(place), "{end}");
        }
        assert_eq!(ending(Extras::default()), Value::Missing);
    }

    #[test]
    fn bounds_of_classes() {
        for (n, class) in [(0, -1), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (u32::MAX, 32)] {
            assert_eq!(power_of_two(n), Value::whole(class), "{n}");
        }
        for (seconds, class) in [(0, "<1s"), (1, "1-10s"), (3599, "10-60min"), (86_400, ">=24h")] {
            let place = WALL.iter().position(|&word| word == class).unwrap() as u32;
            assert_eq!(wall(Micros(seconds * 1_000_000)), Value::whole(place), "{seconds}");
        }
        assert_eq!(wall(Micros(999_999)), Value::whole(0));
    }
}
