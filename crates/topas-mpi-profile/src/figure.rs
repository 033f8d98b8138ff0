//! The table for people, in the form of the paper's Figure 3: averages over the ranks, a line
//! for each function that was called.

use topas_format::out::Out;

use crate::digits::decimal;
use crate::layout::flag;
use crate::lines::{
    Amount, Facts, Head, LANGUAGE_WORDS, LEVEL_WORDS, MISSED_WORDS, WAITED_WORDS, amounts_in, text,
};
use crate::routine::{columns, name};
use crate::sums::{RoutineSums, Sums};

/// What else the table shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Also<'a> {
    /// First word of the command line
    pub command: &'a [u8],
    /// Environment switches of the MPI: `NAME=VALUE` or `NAME`, each ended by a NUL
    pub switches: &'a [u8],
}

/// Room for a line; what is longer is cut there.
const LINE: usize = 512;

const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

/// Writes the table, line by line.
pub fn figure(
    head: &Head<'_>,
    facts: &Facts<'_>,
    sums: &Sums,
    also: &Also<'_>,
    sink: &mut dyn FnMut(&[u8]),
) {
    let mut room = [0; LINE];
    let mut line = |write: &mut dyn FnMut(&mut Out<'_>)| {
        let (most, _) = room.split_at_mut(LINE - 1);
        let mut out = Out::new(most);
        write(&mut out);
        let len = out.len();
        if let Some(end) = room.get_mut(len) {
            *end = b'\n';
        }
        sink(room.get(..=len).unwrap_or_default());
    };
    line(&mut |out| title(out, head, facts));
    line(&mut |out| {
        out.put(b"size = n = ").dec(sums.ranks);
        if u64::from(head.npes) != sums.ranks && head.npes != 0 {
            out.put(b" of ").dec(head.npes.into());
        }
        out.put(b" uid=").dec(facts.uid.into()).byte(b' ');
        shown(out, facts.mpi).put(b" / avg. on each PE:");
    });
    line(&mut |out| {
        shown(out.put(b"argv[0] = "), also.command);
    });
    let width = called(sums).map(|(number, _)| name(number).len()).max().unwrap_or(0);
    let known = sums.flags & flag::UNKNOWN_MPI == 0;
    for (number, routine) in called(sums) {
        line(&mut |out| {
            lower(out, name(number), width);
            put_routine(out, number, routine, sums.ranks, known);
        });
    }
    let ranks = u128::from(sums.ranks.max(1));
    line(&mut |out| {
        per_second(out.put(b"time [sec] mpi= "), sums.mpi, ranks).put(b" / all= ");
        per_second(out, sums.wall, ranks).put(b" = ");
        share(out, sums.mpi, sums.wall);
    });
    line(&mut |out| {
        per_second(out.put(b"time * size mpi= "), sums.mpi, 1).put(b" / all= ");
        per_second(out, sums.wall, 1);
    });
    line(&mut |out| {
        per_second(out.put(b"profiling overhead= "), sums.overhead, ranks);
        share(out.put(b" sec = time_all* "), sums.overhead, sums.wall);
    });
    line(&mut |out| {
        per_second(out.put(b"of one PE: mpi min= "), sums.mpi_min.into(), 1).put(b" max= ");
        per_second(out, sums.mpi_max.into(), 1).put(b" sec, outside of mpi max= ");
        per_second(out, sums.outside_max.into(), 1).put(b" sec");
    });
    if sums.paused > 0 {
        line(&mut |out| {
            per_second(out.put(b"paused= "), sums.paused, ranks).put(b" sec");
        });
    }
    for (word, waited) in WAITED_WORDS.iter().zip(&sums.waited) {
        if waited.calls > 0 {
            line(&mut |out| {
                out.put(b"waited for ").put(word.as_bytes()).byte(b' ');
                average(out, waited.calls, ranks).put(b" calls ");
                per_second(out, waited.nanoseconds, ranks).put(b" sec");
            });
        }
    }
    line(&mut |out| {
        out.put(b"bindings:");
        for (bit, word) in LANGUAGE_WORDS {
            if sums.languages & bit != 0 {
                out.byte(b' ').put(word.as_bytes());
            }
        }
        out.put(b", threads: ").dec(sums.threads);
        if let Some(level) = LEVEL_WORDS.get(sums.level as usize) {
            out.put(b" (").put(level.as_bytes()).byte(b')');
        }
        let used: &[u8] =
            if sums.flags & flag::PROFILING != 0 { b", PMPI used" } else { b", PMPI not used" };
        out.put(used);
    });
    if sums.flags & flag::COUNTERS != 0 {
        let counts = sums.inside.iter().zip(&sums.outside);
        for (name, (inside, outside)) in facts.counters.iter().zip(counts) {
            let name = text(name);
            if !name.is_empty() {
                line(&mut |out| {
                    scientific(shown(out, name).put(b" mpi= "), *inside, ranks, 2);
                    scientific(out.put(b" / outside of mpi= "), *outside, ranks, 2);
                });
            }
        }
    }
    for entry in also.switches.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        line(&mut |out| {
            shown(out.put(b"environment: "), entry);
        });
    }
    for (bit, word) in MISSED_WORDS {
        if sums.flags & bit != 0 {
            line(&mut |out| {
                out.put(b"not counted: ").put(word.as_bytes());
            });
        }
    }
    line(&mut |_| {});
}

fn called(sums: &Sums) -> impl Iterator<Item = (usize, &RoutineSums)> {
    sums.routines.iter().enumerate().filter(|(_, r)| r.calls > 0 || r.sends > 0 || r.receives > 0)
}

fn title(out: &mut Out<'_>, head: &Head<'_>, facts: &Facts<'_>) {
    let month = usize::from(head.at.date.month).saturating_sub(1);
    out.put(MONTHS.get(3 * month..3 * month + 3).unwrap_or_default()).byte(b' ');
    let (date, time) = (head.at.date, head.at.time);
    out.dec_wide(date.day.into(), 2).byte(b' ').dec_wide(time.hour.into(), 2).byte(b':');
    out.dec_wide(time.minute.into(), 2).byte(b':').dec_wide(time.second.into(), 2).byte(b' ');
    shown(out, facts.host).put(b" topas-mpi: ");
    shown(out, head.exe).put(b" launch ").put(head.id);
    if let Some((rank, pid)) = facts.rank {
        out.put(b" PE ").dec(rank.into()).put(b" <").dec(pid.into()).byte(b'>');
    }
    if head.subtotal != 0 {
        out.put(b" subtotal ").dec(head.subtotal.into());
    }
}

fn put_routine(out: &mut Out<'_>, number: usize, routine: &RoutineSums, ranks: u64, known: bool) {
    let ranks_or_one = u128::from(ranks.max(1));
    average(out.byte(b' '), routine.calls, ranks_or_one).put(b" calls ");
    per_second(out, routine.nanoseconds, ranks_or_one).put(b" sec");
    let [count, _, sent, _, received] = amounts_in(columns(number), routine, known);
    let fields: [(&[u8], Amount, u32); 3] = match sent {
        Amount::None => [(b"cnt", count, 1), (b"lng", received, 2), (b"", Amount::None, 0)],
        _ => [(b"cnt", count, 1), (b"lng", sent, 2), (b"rcv", received, 2)],
    };
    for (name, amount, digits) in fields {
        if amount == Amount::None {
            continue;
        }
        out.byte(b' ').put(name).put(b"= ");
        match amount {
            Amount::Exact(n) => scientific(out, n, ranks_or_one, digits),
            Amount::AtLeast(n) => scientific(out.put(b">="), n, ranks_or_one, digits),
            _ => out.byte(b'-'),
        };
    }
    per_second(out.put(b" max= "), routine.longest.into(), 1);
    if routine.ranks != ranks && ranks > 1 {
        out.put(b" PEs= ").dec(routine.ranks);
    }
}

/// A name in small letters, filled up with blanks.
fn lower(out: &mut Out<'_>, name: &[u8], width: usize) {
    for at in 0..width {
        out.byte(name.get(at).map_or(b' ', u8::to_ascii_lowercase));
    }
}

/// Text from elsewhere on one line.
fn shown<'o, 'b>(out: &'o mut Out<'b>, text: &[u8]) -> &'o mut Out<'b> {
    if text.is_empty() {
        out.byte(b'-');
    }
    out.one_line(text, LINE)
}

/// A number of calls: whole if it is, else with one decimal.
fn average<'o, 'b>(out: &'o mut Out<'b>, sum: u128, ranks: u128) -> &'o mut Out<'b> {
    let (whole, rest) = (quotient(sum, ranks), sum.checked_rem(ranks));
    if rest == Some(0) {
        return decimal(out, whole);
    }
    let tenths = quotient(sum.saturating_mul(10) + ranks / 2, ranks);
    decimal(out, tenths / 10).byte(b'.').dec((tenths % 10) as u64)
}

/// A quotient; 0 of a denominator that is 0, since to divide by it would end the program.
fn quotient(numerator: u128, denominator: u128) -> u128 {
    numerator.checked_div(denominator).unwrap_or(0)
}

fn per_second<'o, 'b>(out: &'o mut Out<'b>, nanoseconds: u128, ranks: u128) -> &'o mut Out<'b> {
    scientific(out, nanoseconds, ranks.saturating_mul(1_000_000_000), 2)
}

/// A share, `-` of nothing.
fn share(out: &mut Out<'_>, part: u128, whole: u128) {
    if whole == 0 {
        out.byte(b'-');
    } else {
        scientific(out, part, whole, 1);
    }
}

/// Appends a quotient as C's `%.{decimals}e`, rounded half up. The denominator is not 0.
pub fn scientific<'o, 'b>(
    out: &'o mut Out<'b>,
    numerator: u128,
    denominator: u128,
    decimals: u32,
) -> &'o mut Out<'b> {
    let (mut n, mut d) = (numerator, denominator.max(1));
    let mut exponent = 0i32;
    // No digit that is shown is in what is dropped.
    const LARGE: u128 = 1 << 100;
    while n >= LARGE {
        n /= 10;
        exponent += 1;
    }
    while d >= LARGE {
        d /= 10;
        exponent -= 1;
    }
    if n > 0 {
        while quotient(n, d) >= 10 {
            d *= 10;
            exponent += 1;
        }
        while n < d {
            n *= 10;
            exponent -= 1;
        }
    }
    let one = 10u128.pow(decimals);
    let mut mantissa = quotient(n * one + d / 2, d);
    if mantissa >= 10 * one {
        mantissa /= 10;
        exponent += 1;
    }
    out.dec(quotient(mantissa, one) as u64);
    if decimals > 0 {
        out.byte(b'.').dec_wide(mantissa.checked_rem(one).unwrap_or(0) as u64, decimals);
    }
    out.put(if exponent < 0 { b"e-" } else { b"e+" });
    out.dec_wide(exponent.unsigned_abs().into(), 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::string::String;

    fn shown_as(n: u128, d: u128, decimals: u32) -> String {
        let mut room = [0; 40];
        let mut out = Out::new(&mut room);
        scientific(&mut out, n, d, decimals);
        String::from_utf8(out.text().to_vec()).unwrap()
    }

    #[test]
    fn numbers_as_in_the_paper() {
        assert_eq!(shown_as(94, 1, 2), "9.40e+01");
        assert_eq!(shown_as(621, 100_000_000, 2), "6.21e-06");
        assert_eq!(shown_as(0, 7, 2), "0.00e+00");
        assert_eq!(shown_as(9_999, 1, 1), "1.0e+04");
        assert_eq!(shown_as(u128::MAX, 1, 2), "3.40e+38");
        assert_eq!(shown_as(1, 3, 1), "3.3e-01");
    }

    proptest! {
        #[test]
        fn agrees_with_floating_point(n in 1u64.., d in 1u64..) {
            let text = shown_as(n.into(), d.into(), 2);
            let value: f64 = text.parse().unwrap();
            let exact = n as f64 / d as f64;
            prop_assert!((value / exact - 1.0).abs() <= 0.005_001, "{} {}", text, exact);
            let (mantissa, exponent) = text.split_once('e').unwrap();
            prop_assert_eq!(mantissa.len(), 4);
            prop_assert!(!mantissa.starts_with('0'));
            // As C writes it: the exponent has a sign and two digits at least.
            let plain: i32 = exponent.parse().unwrap();
            let sign = if plain < 0 { '-' } else { '+' };
            let as_in_c = format!("{sign}{:02}", plain.abs());
            prop_assert_eq!(exponent, as_in_c);
        }
    }
}
