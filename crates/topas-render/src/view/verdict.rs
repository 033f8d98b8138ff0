//! Load imbalance and what stands out, in sentences with their numbers.

use std::fmt::Write;

use topas_data::pes::{
    Balance, Column, Evidence, Findings, LEAST_DIFFERENCE, LEAST_PES, PeFinding, PeTable, Subject,
};

use super::groups::{kind, name};
use super::quantity::shown;
use crate::number::{percent, si, signed_percent};
use crate::wording::{count, paragraph, some_pes};

/// Ranges of PEs, and groups, that are named in a sentence.
const NAMED: usize = 8;

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
        let pe = table.rows.get(balance.max.1 as usize).map_or(0, |row| row.pe);
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{:<26}{:>6}  max {} on PE {pe}, mean {}{}",
            shown.name,
            percent(balance.imbalance()),
            shown.value(balance.max.0),
            shown.value(balance.mean),
            if balance.pes == table.rows.len() {
                String::new()
            } else {
                format!(" of {}", count(balance.pes as u64, "PE"))
            },
        );
    }
    if let Some(worst) = balances.iter().max_by(|a, b| a.imbalance().total_cmp(&b.imbalance())) {
        out.push('\n');
        out += &paragraph(&cost(table, worst), columns);
    }
    out
}

fn cost(table: &PeTable, balance: &Balance) -> String {
    let wall = balance.wall as f64 / 1e6;
    let share = balance.saving() / wall;
    let hours = |seconds: f64| format!("{:.3}", seconds / 3600.0);
    format!(
        "If all wait for the PE with the most {}, an even spread would save up to {} of {} wall \
         clock time ({}): {} of {} PE-hours.",
        shown(balance.of, table.metric).name,
        si(balance.saving(), "s"),
        si(wall, "s"),
        percent(if wall > 0.0 { share } else { 0.0 }),
        hours(balance.lost_pe_seconds()),
        hours(wall * balance.pes as f64),
    )
}

/// What stands out, each finding in a paragraph with its evidence, the largest three unless
/// `all`; or that nothing does, and what was looked at.
pub fn findings(table: &PeTable, findings: &Findings, all: bool, columns: usize) -> String {
    let most = if all { usize::MAX } else { MOST };
    let mut out = String::new();
    for finding in findings.findings.iter().take(most) {
        out += &paragraph(&sentence(table, finding), columns);
    }
    let rest = findings.findings.len().saturating_sub(most);
    if rest > 0 {
        let _ = writeln!(out, "{} not shown here.", count(rest as u64, "smaller finding"));
    }
    if findings.findings.is_empty() {
        out += &paragraph(&nothing(table, findings), columns);
    }
    out
}

fn nothing(table: &PeTable, findings: &Findings) -> String {
    if findings.looked_at.is_empty() {
        return format!(
            "{} with values: too few to tell what stands out; it takes {LEAST_PES}.",
            count(findings.pes as u64, "PE")
        );
    }
    let names: Vec<&str> =
        findings.looked_at.iter().map(|&column| shown(column, table.metric).name).collect();
    format!(
        "Nothing stands out among {}, in {}. Differences below {} are not told.",
        count(findings.pes as u64, "PE"),
        names.join(", "),
        percent(LEAST_DIFFERENCE),
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
        let difference = signed_percent(evidence.difference());
        let _ = write!(
            text,
            "{}{} {theirs}, {whose} {rest}{median}, {difference}",
            if at == 0 { "" } else { "; " },
            shown.name,
        );
    }
    text.push('.');
    if let Some(meaning) = meaning(table, finding) {
        let _ = write!(text, " {meaning}");
    }
    text
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
            let on =
                on.map(|name| format!(" on {}", crate::wording::clean(name))).unwrap_or_default();
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
