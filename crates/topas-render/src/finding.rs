//! Findings of rules in words: the same in every tool.

use serde_json::{Value, json as object};
use topas_data::field::{FieldKind, FieldUnit};
use topas_findings::{Fact, FactValue, FindingWord, FindingWords, RuleFinding};

use crate::number::{duration, percent, short, si, significant};
use crate::wording::{capital, clean, paragraph};

/// The value of a fact with its unit.
fn value(fact: &Fact, value: &FactValue) -> String {
    match (value, fact.kind) {
        (FactValue::Text(text), _) => clean(text.as_bytes()),
        (FactValue::Quantity(value, "s"), _) => duration(*value),
        (FactValue::Quantity(value, unit), _) => si(*value, unit),
        (FactValue::Number(value), FieldKind::Number(unit)) => number(*value, unit),
        (FactValue::Number(value), _) => short(*value),
    }
}

fn number(value: f64, unit: FieldUnit) -> String {
    match unit {
        FieldUnit::Seconds => duration(value),
        FieldUnit::Bytes => si(value, "B"),
        FieldUnit::Percent => percent(value / 100.0),
        FieldUnit::Megahertz => si(value * 1e6, "Hz"),
        FieldUnit::MillionPerSecond => si(value * 1e6, "Flop/s"),
        FieldUnit::None if value.fract() == 0.0 || value.abs() >= 1000.0 => format!("{value:.0}"),
        // What is little is not shown as nothing.
        FieldUnit::None if value.abs() < 0.1 => significant(value, 3),
        FieldUnit::None if value.abs() >= 100.0 => format!("{value:.0}"),
        FieldUnit::None => significant(value, 3),
    }
}

/// A sentence with its values.
pub fn words(words: &FindingWords) -> String {
    let word = |word: &FindingWord| match word {
        FindingWord::Text(text) => clean(text.as_bytes()),
        FindingWord::Value(fact, of) => value(fact, of),
    };
    words.iter().map(word).collect()
}

/// Sentences with their values. One that begins with a fact, such as "rank 3", has a capital letter.
pub fn sentences(of: &FindingWords) -> String {
    let mut text = String::new();
    let mut begins = true;
    for word in of {
        let piece = words(&vec![word.clone()]);
        text += &if begins { capital(&piece) } else { piece };
        // Sentences are put one behind the other with a blank.
        begins = text.ends_with(". ");
    }
    text
}

/// A finding in one paragraph: its sentences, what was ruled out, the next step.
pub fn sentence(finding: &RuleFinding) -> String {
    let mut text = sentences(&finding.sentence);
    for evidence in &finding.evidence {
        text.push(' ');
        text += &sentences(evidence);
    }
    text += &saving(finding);
    text + &advice(finding)
}

/// What could be gained, behind the sentences of a finding.
pub(crate) fn saving(finding: &RuleFinding) -> String {
    finding.saving.as_ref().map_or_else(String::new, |saving| format!(" {}", sentences(saving)))
}

/// What was ruled out, and the next step, behind the sentences of a finding.
pub(crate) fn advice(finding: &RuleFinding) -> String {
    let mut text = String::new();
    if !finding.ruled_out.is_empty() {
        let causes: Vec<String> = finding.ruled_out.iter().map(words).collect();
        text += &format!(" Ruled out: {}.", causes.join("; "));
    }
    text += &format!(" Next: {}", words(&finding.next));
    if let Some(link) = &finding.link {
        text += &format!(" {}", clean(link.as_bytes()));
    }
    text
}

/// Findings, a paragraph each, in lines of `columns`.
pub fn findings(of: &[RuleFinding], columns: usize) -> String {
    of.iter().map(|finding| paragraph(&sentence(finding), columns)).collect()
}

/// A finding as an object of JSON.
pub fn json(finding: &RuleFinding) -> Value {
    let all = |of: &[FindingWords]| of.iter().map(words).collect::<Vec<_>>();
    object!({
        "rule": finding.rule,
        "what": finding.what,
        "where": finding.place.as_ref().map(words),
        "cost_s": finding.seconds,
        "cost_share": finding.share,
        "saving_s": finding.saved(),
        "saving_share": finding.saved_share(),
        "sentence": sentences(&finding.sentence),
        "evidence": finding.evidence.iter().map(sentences).collect::<Vec<_>>(),
        "saving": finding.saving.as_ref().map(sentences),
        "confidence": finding.confidence.word(),
        "ruled_out": all(&finding.ruled_out),
        "next": words(&finding.next),
        "link": finding.link,
    })
}
