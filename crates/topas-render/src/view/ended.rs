//! Which PE died first, and how the others ended.

use topas_data::pes::{PeEnding, PeEndings, PeTable};
use topas_format::number::whole;

use super::verdict::NAMED;
use crate::number::si;
use crate::wording::{clean, count, some_pes};

/// In sentences; the signals of a launcher are told as such.
pub(super) fn ended_badly(table: &PeTable, endings: &PeEndings) -> String {
    let first = endings.first.and_then(|row| table.rows.get(row as usize));
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = table.rows.len();
    if let Some(pe) = first {
        let host = table.host(pe);
        let on = if host.is_empty() { String::new() } else { format!(" on {}", clean(host)) };
        let (ending, after) = (explained(table.ending(pe)), si(pe.wall as f64 / 1e6, "s"));
        text = format!("PE {}{on} died first: {ending} after {after}.", pe.pe);
        if endings.same_second > 0 {
            text += &format!(
                " {} failed in the same second; the wall clock times tell which was first.",
                count(endings.same_second as u64, "other PE")
            );
        }
        rest -= 1;
    }
    for ending in &endings.all {
        let is_first = first.is_some_and(|pe| table.ending(pe) == &*ending.end);
        let others = ending.count - usize::from(is_first);
        if others > 0 {
            parts.push(part(ending, others, is_first, first.is_some()));
        }
    }
    let parts = parts.join(", ");
    match first {
        Some(_) if rest == 0 => {}
        Some(_) => text += &format!(" Of the other {}, {parts}.", count(rest as u64, "PE")),
        None => {
            text = format!(
                "No PE failed by itself. Of {}, {parts}: the launcher, the batch system or the user \
                 sent the signal.",
                count(rest as u64, "PE")
            );
        }
    }
    let without = &table.without;
    if let Some(missing) = without.missing.filter(|&missing| missing > 0 && !without.of_log) {
        text += &format!(
            " {} left no line, so one of them may have died before.",
            count(missing.into(), "PE")
        );
    }
    text
}

/// How many ended in a way: `60 ended with others by sig:15 (SIGTERM)`.
fn part(ending: &PeEnding, others: usize, is_first: bool, one_failed: bool) -> String {
    let end = explained(&ending.end);
    // Of the PEs that ended as the first did, that one is named already.
    let these =
        if is_first { String::new() } else { format!(" (PEs {})", some_pes(&ending.pes, NAMED)) };
    if ending.end.is_empty() {
        return format!("{others} do not tell how they ended{these}");
    }
    if ending.well {
        format!("{others} ended well ({end})")
    } else if ending.from_outside && one_failed {
        format!("{others} ended with others, by {end}{these}")
    } else if ending.from_outside {
        format!("{others} were ended from outside, by {end}{these}")
    } else {
        format!("{others} failed, too: {end}{these}")
    }
}

/// An ending with the name of its signal: `sig:11 (SIGSEGV)`.
fn explained(end: &[u8]) -> String {
    let signal = end.strip_prefix(b"sig:").and_then(whole);
    match signal.and_then(signal_name) {
        Some(name) => format!("{} ({name})", clean(end)),
        None => clean(end),
    }
}

/// Names of the signals that end programs; the numbers are those of x86 and Arm.
fn signal_name(number: u64) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}
