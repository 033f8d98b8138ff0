//! Load imbalance and what stands out, in sentences with their numbers.

use std::fmt::Write;

use topas_data::pes::{
    Balance, Column, Evidence, Findings, Gain, LEAST_COST, LEAST_DIFFERENCE, LEAST_OF_CAUSES,
    LEAST_PES, LEAST_SECONDS, LoadSpread, PeFinding, PeTable, Subject, costliest, endings,
};

use super::ended::ended_badly;
use super::groups::{kind, name};
use super::quantity::shown;
use crate::number::{percent, si, signed_percent, significant};
use crate::wording::{clean, count, paragraph, some_pes};

/// Ranges of PEs, and groups, that are named in a sentence.
pub(super) const NAMED: usize = 8;

/// Findings that are shown unless all are wanted.
const MOST: usize = 3;

/// Measures that are shown of a finding.
const MOST_EVIDENCE: usize = 3;

/// How even the loads are, and what an even spread would save.
pub fn balance(table: &PeTable, balances: &[Balance], columns: usize) -> String {
    let mut out =
        String::from("Load imbalance: how much the PE with the most has beyond the mean\n\n");
    for balance in balances {
        let shown = shown(balance.of, table.metric);
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{:<26}{:>6}  max {} on PE {}, mean {}{}",
            shown.name,
            percent(balance.imbalance()),
            shown.value(balance.max.0),
            most_loaded(table, balance),
            shown.value(balance.mean),
            if balance.pes == table.rows.len() {
                String::new()
            } else {
                format!(" of {}", count(balance.pes as u64, "PE"))
            },
        );
    }
    if let Some(worst) = costliest(balances) {
        out.push('\n');
        let waited = format!(
            "If all wait for the PE with the most {}, an even spread would save up to {}.",
            shown(worst.of, table.metric).name,
            gain(&worst.gain()),
        );
        out += &paragraph(&waited, columns);
    }
    out
}

/// Number of the PE with the most load.
fn most_loaded(table: &PeTable, balance: &Balance) -> u32 {
    table.rows.get(balance.max.1 as usize).map_or(0, |row| row.pe)
}

/// `9.93 s of 30.00 s wall clock time (33.1%): 0.177 of 0.533 PE-hours`
fn gain(gain: &Gain) -> String {
    // What is little is not shown as nothing.
    let hours = |seconds: f64| match seconds / 3600.0 {
        hours if hours < 0.1 => significant(hours, 3),
        hours => format!("{hours:.3}"),
    };
    format!(
        "{} of {} wall clock time ({}): {} of {} PE-hours",
        si(gain.seconds, "s"),
        si(gain.wall, "s"),
        percent(gain.share()),
        hours(gain.pe_seconds()),
        hours(gain.all_pe_seconds()),
    )
}

/// What an uneven load costs, with who has the most and how it is spread.
fn imbalance(table: &PeTable, balance: &Balance, findings: &Findings) -> String {
    let shown = shown(balance.of, table.metric);
    let pe = most_loaded(table, balance);
    let host = table.row(pe).map(|row| table.host(row)).filter(|host| !host.is_empty());
    let on = host.filter(|_| table.hosts.len() > 1);
    let on = on.map(|host| format!(" on {}", clean(host))).unwrap_or_default();
    let mut text = format!(
        "Load imbalance costs up to {} of the wall clock time: PE {pe}{on} has the most {}, {}; the \
         mean of {} is {}. An even spread would save up to {}.",
        percent(balance.gain().share()),
        shown.name,
        shown.value(balance.max.0),
        count(balance.pes as u64, "PE"),
        shown.value_as(balance.mean, balance.max.0),
        gain(&balance.gain()),
    );
    let like = |value| shown.value_as(value, balance.max.0);
    match balance.spread {
        LoadSpread::AlongPes(first, last) => {
            let way = if last > first { "rises" } else { "falls" };
            let (first, last) = (like(first), like(last));
            let _ = write!(
                text,
                " It {way} with the number of the PE, from {first} to {last}: look at how the work \
                 is divided."
            );
        }
        // Who stands out is told next.
        LoadSpread::Quartiles(_) if !findings.findings.is_empty() || balance.pes < LEAST_PES => {}
        LoadSpread::Quartiles([low, _, high]) => {
            let _ = write!(
                text,
                " A quarter of the PEs has less than {}, a quarter more than {}; no single PE, host or \
                 class of PEs stands out.",
                like(low),
                like(high)
            );
        }
    }
    text
}

/// Which PE died first, what the load imbalance costs, and what stands out: each finding in a
/// paragraph with its evidence, the most costly three unless `all`; or that nothing does, and
/// what was looked at.
pub fn findings(
    table: &PeTable,
    balances: &[Balance],
    findings: &Findings,
    all: bool,
    columns: usize,
) -> String {
    let most = if all { usize::MAX } else { MOST };
    let mut out = String::new();
    for text in sentences(table, balances, findings, most) {
        out += &paragraph(&text, columns);
    }
    let rest = findings.findings.len().saturating_sub(most);
    if rest > 0 {
        let _ = writeln!(out, "{} not shown here.", count(rest as u64, "smaller finding"));
    }
    out
}

/// The sentences, at least one; at most `most` of findings.
pub(super) fn sentences(
    table: &PeTable,
    balances: &[Balance],
    findings: &Findings,
    most: usize,
) -> Vec<String> {
    let costly = costliest(balances).filter(|costly| costly.gain().matters());
    let costly = costly.map(|costly| imbalance(table, costly, findings));
    let single = findings.findings.iter().take(most).map(|finding| sentence(table, finding));
    let mut all: Vec<String> = costly.into_iter().chain(single).collect();
    if all.is_empty() {
        all.push(nothing(table, balances, findings));
    }
    if let Some(ended) = endings(table) {
        all.insert(0, ended_badly(table, &ended));
    }
    all
}

fn nothing(table: &PeTable, balances: &[Balance], findings: &Findings) -> String {
    let pes = count(findings.pes as u64, "PE");
    let largest = costliest(balances).map(Balance::gain).unwrap_or_default();
    let (share, seconds) = (percent(largest.share()), si(largest.seconds, "s"));
    let cost = if largest.share() < LEAST_COST {
        format!(
            "no load imbalance costs more than {} of the wall clock time; the largest costs up to \
             {share}, {seconds} of {}",
            percent(LEAST_COST),
            si(largest.wall, "s"),
        )
    } else {
        format!(
            "no load imbalance costs more than {} s; the largest costs up to {seconds}, {share} of \
             the wall clock time",
            LEAST_SECONDS
        )
    };
    if findings.looked_at.is_empty() {
        return match findings.pes {
            0 | 1 => format!("{pes} with values: too few to tell what stands out."),
            _ => format!(
                "Nothing stands out among {pes}: {cost}. It takes {LEAST_PES} PEs to tell what \
                 differs otherwise."
            ),
        };
    }
    let names: Vec<&str> =
        findings.looked_at.iter().map(|&column| shown(column, table.metric).name).collect();
    format!(
        "Nothing stands out among {pes}, in {}: {cost}. Differences below {}, of L1 misses and memory \
         below {}, are not told.",
        names.join(", "),
        percent(LEAST_DIFFERENCE),
        percent(LEAST_OF_CAUSES),
    )
}

/// Evidence first: `PE 9 on node0001 stands out: CPU time 53.10 s, the other 63 PEs 39.90 s
/// (median), +33.1%.`
pub(super) fn sentence(table: &PeTable, finding: &PeFinding) -> String {
    let others = (table.rows.len() - finding.count) as u64;
    let who = subject(table, finding);
    let plural = finding.count > 1 && !is_one_group(&finding.subject);
    let mut text = match (finding.classes, plural) {
        (1, false) => format!("{who} stands out: "),
        (1, true) => format!("{who} stand out: "),
        (2, _) => format!("Two classes. {who}: "),
        (classes, _) => format!("One of {classes} classes. {who}: "),
    };
    for (at, evidence) in finding.evidence.iter().take(MOST_EVIDENCE).enumerate() {
        let shown = shown(evidence.column, table.metric);
        let Evidence { theirs, others: rest, .. } = *evidence;
        let (theirs, rest) = (shown.value(theirs), shown.value_as(rest, theirs));
        let whose = if at == 0 {
            format!("the other {}", count(others, "PE"))
        } else {
            "others".to_owned()
        };
        let median = if at == 0 { " (medians)" } else { "" };
        // Of nothing there is no share.
        let difference = if evidence.difference().is_finite() {
            format!(", {}", signed_percent(evidence.difference()))
        } else {
            String::new()
        };
        let _ = write!(
            text,
            "{}{} {theirs}, {whose} {rest}{median}{difference}",
            if at == 0 { "" } else { "; " },
            shown.name,
        );
    }
    text.push('.');
    if let Some(meaning) = meaning(table, finding) {
        let _ = write!(text, " {meaning}");
    }
    text.push(' ');
    text += &could_save(finding, plural);
    text
}

/// What is saved at most if those PEs were as the others are.
fn could_save(finding: &PeFinding, plural: bool) -> String {
    let more_work = |of: &Evidence| of.column == Column::Counter && of.theirs > of.others;
    let memory = |of: &Evidence| of.column == Column::Memory;
    match finding.gain {
        Some(saved) if saved.matters() => {
            let like = if finding.evidence.iter().any(more_work) {
                "If that work were spread evenly"
            } else if plural {
                "If these PEs were as the others"
            } else {
                "If it were as the others"
            };
            format!("{like}, that would save up to {}.", gain(&saved))
        }
        Some(_) if finding.evidence.iter().all(memory) => {
            "It costs no wall clock time by itself.".to_owned()
        }
        Some(_) => {
            let limit = percent(LEAST_COST);
            format!("That costs less than {limit} of the wall clock time.")
        }
        None => "What it costs does not show, because PEs that wait use CPU time, too.".to_owned(),
    }
}

fn is_one_group(subject: &Subject) -> bool {
    matches!(subject, Subject::Groups { groups, .. } if groups.len() == 1)
}

/// Who it is: `Host node0003 (PEs 24-31)`, `PE 9 on node0001`, `32 PEs (1, 3, 5 and 29 more)`.
fn subject(table: &PeTable, finding: &PeFinding) -> String {
    match &finding.subject {
        Subject::Groups { by, groups, pes } => {
            let names: Vec<String> = groups
                .iter()
                .take(NAMED)
                .map(|&(place, numa)| name(table, *by, place, numa))
                .collect();
            let mut names = names.join("; ");
            if groups.len() > NAMED {
                let _ = write!(names, " and {} more", groups.len() - NAMED);
            }
            let mut kind = kind(*by).to_owned();
            if let Some(first) = kind.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            let pes = some_pes(pes, NAMED);
            format!("{kind}{} {names} (PEs {pes})", if groups.len() == 1 { "" } else { "s" })
        }
        Subject::Pes { pes, host } => {
            let on = host.and_then(|host| table.hosts.get(host as usize));
            let on = on.filter(|name| !name.is_empty());
            let on = on.map(|name| format!(" on {}", clean(name))).unwrap_or_default();
            match &pes[..] {
                [one] if one.first == one.last => format!("PE {}{on}", one.first),
                ranges => format!(
                    "{} ({}){on}",
                    count(finding.count as u64, "PE"),
                    some_pes(ranges, NAMED)
                ),
            }
        }
    }
}

/// What the measures say together, where they do.
fn meaning(table: &PeTable, finding: &PeFinding) -> Option<String> {
    let change = |column: Column| {
        let of = finding.evidence.iter().find(|evidence| evidence.column == column)?;
        Some(of.difference())
    };
    let counted = table.rows.iter().any(|pe| pe.count.value().is_some());
    let up = |column| change(column).is_some_and(|change| change > 0.0);
    let down = |column| change(column).is_some_and(|change| change < 0.0);
    let work = shown(Column::Counter, table.metric).name;
    Some(if down(Column::Frequency) && !down(Column::Counter) {
        "A lower clock frequency: a processor that is hot, or saves power.".to_owned()
    } else if up(Column::System) {
        "More time in the kernel: system calls, page faults, or input and output.".to_owned()
    } else if up(Column::MissesPerOperation) && (up(Column::CpuTime) || down(Column::Rate)) {
        "Slower, with more cache misses for each operation: where its data is, or who shares the \
         cache."
            .to_owned()
    } else if up(Column::Counter) && up(Column::CpuTime) {
        format!("More work: more {work} in more CPU time.")
    } else if up(Column::CpuTime) && change(Column::Counter).is_none() && counted {
        format!("Slower: more CPU time for as many {work}.")
    } else if down(Column::CpuTime) && change(Column::Counter).is_none() && counted {
        format!("Faster: less CPU time for as many {work}.")
    } else if down(Column::Counter) && down(Column::CpuTime) {
        format!("Less work: fewer {work} in less CPU time.")
    } else if down(Column::Counter) {
        format!("Fewer {work} in as much CPU time: it waits for others, or is slower.")
    } else {
        return None;
    })
}
