//! Reads rules: sections of `key = value`.
//!
//! ```text
//! [load-imbalance]
//! share = 5
//! when = imbalance_share >= $share
//! sentence = Load imbalance costs up to {imbalance_share} of the wall clock time.
//! next = ...
//! ```
//!
//! A key that is none of a rule's is a parameter; `$share` and `{$share}` stand for its value.

use std::fmt;

use topas_data::Expression;

use crate::fact::{Fact, FactOperand};
use crate::rule::{Confidence, Rule, Scope};
use crate::template::Template;

/// What is wrong with a line of rules. The rule is left out, or stays as it is built in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFault {
    /// Name of the text
    pub file: String,
    /// Line, from 1
    pub line: u32,
    /// What is wrong
    pub what: String,
}

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// Keys of a rule; those that may stand there several times are marked.
const KEYS: [(&str, bool); 22] = [
    ("what", false),
    ("scope", false),
    ("requires", false),
    ("when", false),
    ("test", false),
    ("basis", false),
    ("untold", false),
    ("where", false),
    ("sentence", false),
    ("also", true),
    ("evidence", true),
    ("ruled out", true),
    ("confidence", false),
    ("gain", false),
    ("saving", false),
    ("sure", false),
    ("next", false),
    ("link", false),
    ("unless", false),
    ("within", false),
    ("cause", false),
    ("explains", false),
];

/// Switches of a rule, `yes` or `no`.
const SWITCHES: [&str; 4] = ["urgent", "doubt", "explained", "off"];

/// A line `key = value` and where it stands.
#[derive(Clone, Debug)]
struct RuleEntry {
    file: String,
    line: u32,
    key: String,
    value: String,
}

impl RuleEntry {
    fn fault(&self, what: impl Into<String>) -> RuleFault {
        RuleFault { file: self.file.clone(), line: self.line, what: what.into() }
    }
}

/// A section as it is written.
#[derive(Clone, Debug)]
struct Section {
    name: String,
    /// Where it begins
    file: String,
    line: u32,
    entries: Vec<RuleEntry>,
}

/// The rules of the texts that are built in, changed by those of a center.
pub(crate) fn read(
    builtin: &[(String, String)],
    texts: &[(String, String)],
) -> (Vec<Rule>, Vec<RuleFault>) {
    let mut faults = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    for (file, text) in builtin {
        sections.extend(split(file, text, &mut faults));
    }
    let defaults = sections.len();
    let mut rules: Vec<Option<Rule>> = Vec::new();
    for section in &sections {
        rules.push(kept(rule(section), &mut faults));
    }
    for (file, text) in texts {
        for section in split(file, text, &mut faults) {
            let place = sections.iter().position(|one| one.name == section.name);
            let changed = match place {
                Some(place) => changed(&sections[place], &section),
                None => section,
            };
            let of_center = |fault: RuleFault| match fault.file == *file {
                true => fault,
                // A value of the center made a line wrong that is not the center's.
                false => RuleFault {
                    file: file.clone(),
                    line: changed.line,
                    what: format!("[{}] as changed here: {}", changed.name, fault.what),
                },
            };
            match (rule(&changed).map_err(of_center), place) {
                (Ok(rule), Some(place)) => {
                    rules[place] = rule;
                    sections[place] = changed;
                }
                (Ok(rule), None) => {
                    rules.push(rule);
                    sections.push(changed);
                }
                (Err(fault), _) => faults.push(fault),
            }
        }
    }
    debug_assert!(rules.iter().take(defaults).all(Option::is_some) || !texts.is_empty());
    (rules.into_iter().flatten().collect(), faults)
}

fn kept(rule: Result<Option<Rule>, RuleFault>, faults: &mut Vec<RuleFault>) -> Option<Rule> {
    rule.unwrap_or_else(|fault| {
        faults.push(fault);
        None
    })
}

/// The sections of a text.
fn split(file: &str, text: &str, faults: &mut Vec<RuleFault>) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let fault = |what: String| RuleFault { file: file.to_owned(), line, what };
        if let Some(name) = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let (name, file) = (name.trim().to_owned(), file.to_owned());
            sections.push(Section { name, file, line, entries: Vec::new() });
            continue;
        }
        match (content.split_once('='), sections.last_mut()) {
            (None, _) => {
                faults.push(fault(format!("`{content}` is not of the form `key = value`")))
            }
            (_, None) => faults.push(fault("a line in front of the first [rule]".to_owned())),
            (Some((key, value)), Some(section)) => section.entries.push(RuleEntry {
                file: file.to_owned(),
                line,
                key: key.trim().to_owned(),
                value: value.trim().to_owned(),
            }),
        }
    }
    sections
}

/// A section whose keys another one changes: all lines of a key at once.
fn changed(section: &Section, by: &Section) -> Section {
    let is_changed = |entry: &RuleEntry| by.entries.iter().any(|one| one.key == entry.key);
    let kept = section.entries.iter().filter(|entry| !is_changed(entry)).cloned();
    Section { entries: kept.chain(by.entries.iter().cloned()).collect(), ..by.clone() }
}

/// The rule that a section says; None if it is switched off.
fn rule(section: &Section) -> Result<Option<Rule>, RuleFault> {
    let missing = |key: &str| RuleFault {
        file: section.file.clone(),
        line: section.line,
        what: format!("the rule {} has no `{key}`", section.name),
    };
    let all = |key: &str| -> Vec<&RuleEntry> {
        section.entries.iter().filter(|entry| entry.key == key).collect()
    };
    // Of several lines of a key that stands there once, the last counts.
    let last = |key: &str| all(key).last().copied();
    let needed = |key: &str| last(key).ok_or_else(|| missing(key));
    let is_parameter = |entry: &&RuleEntry| {
        !KEYS.iter().any(|(key, _)| *key == entry.key) && !SWITCHES.contains(&&*entry.key)
    };
    let mut parameters: Vec<(String, String)> = Vec::new();
    for entry in section.entries.iter().filter(is_parameter) {
        if !entry.key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') {
            return Err(
                entry.fault(format!("`{}` is no key and no name of a parameter", entry.key))
            );
        }
        parameters.retain(|(name, _)| *name != entry.key);
        parameters.push((entry.key.clone(), entry.value.clone()));
    }
    for (name, _) in &parameters {
        let used = section.entries.iter().any(|entry| entry.value.contains(&format!("${name}")));
        // That a center's condition has no use for a parameter that is built in is no fault.
        let own = |entry: &&RuleEntry| entry.file == section.file;
        if let Some(entry) = last(name).filter(|_| !used).filter(own) {
            return Err(entry.fault(format!("`{name}` is no key, and nothing uses ${name}")));
        }
    }
    let template = |entry: &RuleEntry| {
        Template::parse(&replaced(entry, &parameters, true)?).map_err(|what| entry.fault(what))
    };
    let condition = |entry: &RuleEntry, text: &str| {
        Expression::parse_with(text, |name| Fact::operand(name).map(FactOperand))
            .map_err(|error| entry.fault(format!("{error}: `{text}`")))
    };
    let on = |key: &str| match last(key).map(|entry| (entry, &*entry.value)) {
        None | Some((_, "no")) => Ok(false),
        Some((_, "yes")) => Ok(true),
        Some((entry, value)) => Err(entry.fault(format!("`{key}` takes yes or no, not `{value}`"))),
    };
    let when = needed("when")?;
    let fact = |entry: &RuleEntry, name: &str| {
        Fact::named(name).ok_or_else(|| entry.fault(format!("there is no fact {name}")))
    };
    let facts = |key: &str| {
        last(key).map_or(Ok(Vec::new()), |entry| {
            entry.value.split_whitespace().map(|name| fact(entry, name)).collect()
        })
    };
    let names = |key: &str| -> Vec<String> {
        let words = last(key).map(|entry| entry.value.split_whitespace().map(str::to_owned));
        words.map_or_else(Vec::new, Iterator::collect)
    };
    let ruled_out = |entry: &&RuleEntry| {
        let text = replaced(entry, &parameters, true)?;
        let form = || entry.fault("`ruled out` is of the form: TEXT if CONDITION");
        let (text, when) = text.rsplit_once(" if ").ok_or_else(form)?;
        let text = Template::parse(text).map_err(|what| entry.fault(what))?;
        Ok((text, condition(entry, when)?))
    };
    let several = |key: &str| all(key).into_iter().map(template).collect::<Result<Vec<_>, _>>();
    let rule = Rule {
        name: section.name.clone(),
        scope: match last("scope").map(|entry| (entry, &*entry.value)) {
            None | Some((_, "run")) => Scope::Run,
            Some((_, "part")) => Scope::Part,
            Some((_, "nothing")) => Scope::Nothing,
            Some((entry, value)) => {
                let what = format!("`scope` takes run, part or nothing, not `{value}`");
                return Err(entry.fault(what));
            }
        },
        what: needed("what")?.value.clone(),
        confidence: confidence(last("confidence"))?,
        link: last("link").map(|entry| entry.value.clone()),
        requires: facts("requires")?,
        when: condition(when, &replaced(when, &parameters, false)?)?,
        test: last("test").map(|entry| fact(entry, &entry.value)).transpose()?,
        basis: facts("basis")?,
        untold: last("untold").map(|entry| fact(entry, &entry.value)).transpose()?,
        place: last("where").map(template).transpose()?,
        sentence: template(needed("sentence")?)?,
        also: several("also")?,
        evidence: several("evidence")?,
        ruled_out: all("ruled out").iter().map(ruled_out).collect::<Result<_, _>>()?,
        gain: last("gain").map(|entry| fact(entry, &entry.value)).transpose()?,
        saving: last("saving").map(template).transpose()?,
        sure: last("sure")
            .map(|entry| condition(entry, &replaced(entry, &parameters, false)?))
            .transpose()?,
        next: template(needed("next")?)?,
        urgent: on("urgent")?,
        doubt: on("doubt")?,
        is_explained: last("test").is_some() || on("explained")?,
        explains: last("explains").map(|entry| fact(entry, &entry.value)).transpose()?,
        cause: last("cause").map(|entry| entry.value.clone()),
        unless: names("unless"),
        within: names("within"),
        parameters,
    };
    Ok((!on("off")?).then_some(rule))
}

fn confidence(entry: Option<&RuleEntry>) -> Result<Confidence, RuleFault> {
    let all = [Confidence::Sure, Confidence::Likely, Confidence::Hint];
    let Some(entry) = entry else { return Ok(Confidence::Likely) };
    all.into_iter().find(|one| one.word() == entry.value).ok_or_else(|| {
        entry.fault(format!("`confidence` takes sure, likely or hint, not `{}`", entry.value))
    })
}

/// A value for people: `1 s` in place of `1s`.
fn with_blank(value: &str) -> String {
    match value.find(|c: char| c.is_ascii_alphabetic()) {
        Some(unit) if value.starts_with(|c: char| c.is_ascii_digit()) => {
            let (number, unit) = value.split_at(unit);
            format!("{} {unit}", number.trim_end())
        }
        _ => value.to_owned(),
    }
}

/// The value with the parameters in it; in sentences they stand in braces.
fn replaced(
    entry: &RuleEntry,
    parameters: &[(String, String)],
    braces: bool,
) -> Result<String, RuleFault> {
    let mut text = entry.value.clone();
    // The longest name first: $share_of is not $share.
    let mut sorted: Vec<&(String, String)> = parameters.iter().collect();
    sorted.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    for (name, value) in sorted {
        text = text.replace(&format!("{{${name}}}"), &with_blank(value));
        text = text.replace(&format!("${name}"), value);
    }
    match text.find('$') {
        Some(at) if !braces || text[..at].ends_with('{') => {
            let end = text[at + 1..].find(|c: char| !c.is_ascii_lowercase() && c != '_');
            let name = end.map_or(&text[at..], |end| &text[at..at + 1 + end]);
            Err(entry.fault(format!("there is no parameter {name}")))
        }
        _ => Ok(text),
    }
}
