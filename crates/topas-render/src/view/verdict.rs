//! Load imbalance and what stands out, in sentences with their numbers.

use std::fmt::Write;

use topas_data::pes::{
    Balance, Column, Evidence, Findings, Gain, LEAST_COST, LEAST_DIFFERENCE, LEAST_OF_CAUSES,
    LEAST_PES, LEAST_SECONDS, PeEndings, PeFinding, PeTable, Subject, costliest, endings,
};
use topas_findings::{FactValues, RuleFinding, Rules, part_facts, pe_facts};

use super::ended::others_ended;
use super::groups::{kind, name};
use super::quantity::shown;
use crate::number::{duration, percent, signed_percent, significant};
use crate::wording::{clean, count, hanging, paragraph, some_pes};

/// Ranges of PEs, and groups, that are named in a sentence.
pub(super) const NAMED: usize = 8;

/// The rule about load imbalance.
const IMBALANCE: &str = "load-imbalance";

/// Findings that are shown unless all are wanted.
const MOST: usize = 3;

/// Measures that are shown of a finding.
const MOST_EVIDENCE: usize = 3;

/// How even the loads are, and what an even spread would save.
pub fn balance(table: &PeTable, balances: &[Balance], columns: usize) -> String {
    let title = "Load imbalance: how much the PE with the most has beyond the mean";
    let mut out = paragraph(title, columns) + "\n";
    for balance in balances {
        let shown = shown(balance.of, table.metric);
        let text = format!(
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
        if text.chars().count() <= columns {
            out += &text;
            out.push('\n');
        } else {
            // Without the blanks between columns, which a paragraph does not have.
            let words: Vec<&str> = text.split_whitespace().collect();
            out += &hanging(&words.join(" "), columns, 4);
        }
    }
    if let Some(sentence) = even_spread(table, balances) {
        out.push('\n');
        out += &paragraph(&sentence, columns);
    }
    out
}

/// What an even spread of the load that costs most would save, as a sentence; None if nothing.
pub(super) fn even_spread(table: &PeTable, balances: &[Balance]) -> Option<String> {
    let worst = costliest(balances)?;
    Some(format!(
        "If all wait for the PE with the most {}, an even spread would save up to {}.",
        shown(worst.of, table.metric).name,
        gain(&worst.gain()),
    ))
}

/// Number of the PE with the most load.
pub(super) fn most_loaded(table: &PeTable, balance: &Balance) -> u32 {
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
        duration(gain.seconds),
        duration(gain.wall),
        percent(gain.share()),
        hours(gain.pe_seconds()),
        hours(gain.all_pe_seconds()),
    )
}

/// What is to be said of a run: what the rules find in it, and in the PEs, hosts and classes of PEs
/// that stand out.
pub struct Verdict<'v> {
    table: &'v PeTable,
    balances: &'v [Balance],
    pub(super) findings: &'v Findings,
    pub(super) endings: Option<PeEndings>,
    /// Findings about the run: what is urgent first, then what costs most
    pub(super) of_run: Vec<RuleFinding>,
    /// What a rule says of each of the findings about PEs
    pub(super) of_parts: Vec<Option<RuleFinding>>,
    /// Share in percent from which on a load imbalance is told, as the rule says
    limit: f64,
}

/// The facts of a run whose PEs are known.
pub fn facts(table: &PeTable, balances: &[Balance], findings: &Findings) -> FactValues {
    facts_of(table, balances, findings, endings(table).as_ref())
}

fn facts_of(
    table: &PeTable,
    balances: &[Balance],
    findings: &Findings,
    endings: Option<&PeEndings>,
) -> FactValues {
    let ended = endings.map(|of| (of, others_ended(table, of)));
    let names = |column| {
        let shown = shown(column, table.metric);
        (shown.name, shown.base())
    };
    pe_facts(table, balances, findings, ended, &names)
}

impl<'v> Verdict<'v> {
    /// By these rules.
    pub fn new(
        table: &'v PeTable,
        balances: &'v [Balance],
        findings: &'v Findings,
        rules: &Rules,
    ) -> Self {
        let endings = endings(table);
        let facts = facts_of(table, balances, findings, endings.as_ref());
        let part = |finding| rules.of_part(&part_facts(&facts, finding));
        let limit = rules.parameter(IMBALANCE, "share");
        let limit = limit.and_then(|text| text.trim_end_matches('%').parse().ok());
        Verdict {
            table,
            balances,
            findings,
            of_run: rules.of_run(&facts),
            of_parts: findings.findings.iter().map(part).collect(),
            limit: limit.unwrap_or(100.0 * LEAST_COST),
            endings,
        }
    }

    /// The sentences, at least one; at most `most` of PEs that stand out.
    pub fn sentences(&self, most: usize) -> Vec<String> {
        let single = self.findings.findings.iter().zip(&self.of_parts).take(most);
        let single = single.map(|(finding, rule)| sentence(self.table, finding, rule.as_ref()));
        // What costs no time that is known comes last.
        let is_first = |found: &RuleFinding| found.urgent || found.seconds.is_some();
        let of_run = |first: bool| {
            let these = self.of_run.iter().filter(move |found| is_first(found) == first);
            these.map(crate::finding::sentence)
        };
        let mut all: Vec<String> = of_run(true).chain(single).chain(of_run(false)).collect();
        let is_even = !self.of_run.iter().any(|found| found.rule == IMBALANCE);
        if is_even && self.findings.findings.is_empty() {
            all.push(nothing(self));
        }
        all
    }
}

/// What the rules find, and what stands out: each finding in a paragraph with its evidence, of PEs
/// that stand out the most costly three unless `all`; or that nothing does, and what was looked at.
pub fn findings(verdict: &Verdict<'_>, all: bool, columns: usize) -> String {
    let most = if all { usize::MAX } else { MOST };
    let mut out: String =
        verdict.sentences(most).iter().map(|text| paragraph(text, columns)).collect();
    let rest = verdict.findings.findings.len().saturating_sub(most);
    if rest > 0 {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{} not shown here.", count(rest as u64, "smaller finding"));
    }
    out
}

fn nothing(verdict: &Verdict<'_>) -> String {
    let Verdict { table, balances, findings, limit, .. } = verdict;
    let pes = count(findings.pes as u64, "PE");
    let largest = costliest(balances).map(Balance::gain).unwrap_or_default();
    let (share, seconds) = (percent(largest.share()), duration(largest.seconds));
    let limit = limit / 100.0;
    let cost = if largest.share() < limit {
        format!(
            "no load imbalance costs more than {} of the wall clock time; the largest costs up to \
             {share}, {seconds} of {}",
            percent(limit),
            duration(largest.wall),
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
pub(super) fn sentence(table: &PeTable, finding: &PeFinding, rule: Option<&RuleFinding>) -> String {
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
    if let Some(rule) = rule {
        let _ = write!(text, " {}", crate::finding::sentences(&rule.sentence));
    }
    text.push(' ');
    text += &could_save(finding, plural);
    if let Some(rule) = rule {
        text += &crate::finding::advice(rule);
    }
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
