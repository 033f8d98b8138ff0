//! Rules, and what they find.

use topas_data::Expression;

use crate::fact::{Fact, FactOperand, FactValue, FactValues};
use crate::margin::{Holding, ToldBefore, holding, with_another};
use crate::read::{RuleFault, read};
use crate::search::ScantFinding;
use crate::template::{FindingWord, FindingWords, Template, add_sentence, without_told};

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The run as a whole
    Run,
    /// PEs, hosts or classes of PEs that stand out in a run
    Part,
    /// What is to be said if the search finds nothing, with the limits of the search
    Nothing,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// The finding follows from what was measured
    Sure,
    /// Another cause is possible
    Likely,
    /// The finding is a question to look into
    Hint,
}

impl Confidence {
    /// The word for it in rules and in data.
    pub const fn word(self) -> &'static str {
        match self {
            Confidence::Sure => "sure",
            Confidence::Likely => "likely",
            Confidence::Hint => "hint",
        }
    }
}

/// A rule, as a section of a file says.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Name of its section
    pub name: String,
    /// What it is about
    pub scope: Scope,
    /// The finding of the rule in a few words
    pub what: String,
    /// How sure its finding is
    pub confidence: Confidence,
    /// A page about it
    pub link: Option<String>,
    /// The parameters of the rule with their values as written
    pub parameters: Vec<(String, String)>,
    pub(crate) requires: Vec<&'static Fact>,
    pub(crate) when: Expression<FactOperand>,
    /// The share that the limit of the rule is about
    pub(crate) test: Option<&'static Fact>,
    /// How long all ranks together lost time by what the rule is about, and how often
    pub(crate) basis: Vec<&'static Fact>,
    /// The share of which it is not known whether it is what the rule is about
    pub(crate) untold: Option<&'static Fact>,
    pub(crate) place: Option<Template>,
    pub(crate) sentence: Template,
    pub(crate) also: Vec<Template>,
    pub(crate) evidence: Vec<Template>,
    pub(crate) ruled_out: Vec<(Template, Expression<FactOperand>)>,
    pub(crate) gain: Option<&'static Fact>,
    /// What could be gained, or why that is not known
    pub(crate) saving: Option<Template>,
    /// If this is not true, the rule tells what may be
    pub(crate) sure: Option<Expression<FactOperand>>,
    pub(crate) next: Template,
    pub(crate) urgent: bool,
    /// Whether all that costs time is a hint only if this is found
    pub(crate) doubt: bool,
    /// Seconds of all ranks that other findings may be because of this one: what they tell is then no
    /// more than that it may be
    pub(crate) explains: Option<&'static Fact>,
    /// Whether another rule may explain the finding so
    pub(crate) is_explained: bool,
    /// Rules with the same word tell one cause, if they tell it of the same place
    pub(crate) cause: Option<String>,
    /// Rules that tell the same cause better
    pub(crate) unless: Vec<String>,
    /// Rules whose finding may have in it what this one is about
    pub(crate) within: Vec<String>,
}

/// A finding of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleFinding {
    /// Name of the rule
    pub rule: String,
    /// What it is, in a few words
    pub what: String,
    /// Where: PEs or hosts; None if it is the run
    pub place: Option<FindingWords>,
    /// What it costs: wall clock time in s; None if that is not known
    pub seconds: Option<f64>,
    /// That time as a share of the wall clock time
    pub share: Option<f64>,
    /// The finding in sentences, with evidence
    pub sentence: FindingWords,
    /// More evidence, a sentence each
    pub evidence: Vec<FindingWords>,
    /// What could be gained, or why that is not known: a sentence
    pub saving: Option<FindingWords>,
    /// How sure it is
    pub confidence: Confidence,
    /// Causes that the facts rule out
    pub ruled_out: Vec<FindingWords>,
    /// One next step
    pub next: FindingWords,
    /// A page about it
    pub link: Option<String>,
    /// Whether it is told before what costs time
    pub urgent: bool,
}

/// What came of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleOutcome {
    /// The rule fires
    Found(Box<RuleFinding>),
    /// The rule fires for the run as a whole, but what it is about varies too much during the run to
    /// be sure of it
    Unsure(Box<RuleFinding>),
    /// The rule does not fire
    Not,
    /// The rule cannot be judged, because these facts are missing
    Unknown(Vec<&'static Fact>),
}

/// What is said where the facts lack what could be gained.
fn unknown() -> FindingWords {
    vec![FindingWord::Text("How much could be saved is not known.".to_owned())]
}

impl RuleFinding {
    /// The time in s that could be saved at most, as its words say; None if they say that it is not known.
    pub fn saved(&self) -> Option<f64> {
        match &self.saving {
            Some(words) => words.iter().find_map(FindingWord::number),
            None => self.seconds,
        }
    }

    /// The same as a share of the wall clock time.
    pub fn saved_share(&self) -> Option<f64> {
        let (cost, share) = self.seconds.zip(self.share).filter(|(_, share)| *share > 0.0)?;
        self.saved().map(|saved| saved / (cost / share))
    }

    /// What of its cost could be saved, in s: all, unless a fact about what is gained says that it is less.
    pub(crate) fn loss(&self) -> Option<f64> {
        let is_gain = |word: &&FindingWord| matches!(word, FindingWord::Value(fact, _) if fact.name.ends_with("_gain"));
        let gain = self.saving.iter().flatten().find(is_gain).and_then(FindingWord::number);
        self.seconds.map(|cost| cost.min(gain.unwrap_or(cost)))
    }

    /// Takes in another finding of the same cause: what it says more becomes evidence, and the gains add up.
    pub(crate) fn take(&mut self, other: RuleFinding) {
        let sum = |a: Option<f64>, b: Option<f64>| Some(a.unwrap_or(0.0) + b?);
        let together = sum(self.loss(), other.loss()).or(self.loss());
        self.seconds = sum(self.seconds, other.seconds).or(self.seconds);
        self.share = sum(self.share, other.share).or(self.share);
        self.save(other.saving, together);
        let more = without_told(other.sentence, &self.sentence);
        self.evidence.extend((!more.is_empty()).then_some(more));
        self.evidence.extend(other.evidence);
        // What is found there, too, is not ruled out.
        self.ruled_out.clear();
    }

    /// What could be gained of two findings of one cause is told once: what of the two costs could be saved together, or more if one
    /// of them tells more, because it is the same rank that would have to be faster.
    fn save(&mut self, other: Option<FindingWords>, together: Option<f64>) {
        let value = |words: &FindingWords| words.iter().find_map(FindingWord::number);
        let other = other.as_ref().and_then(value);
        let Some(words) = &mut self.saving else { return };
        for word in words {
            if let FindingWord::Value(_, FactValue::Number(own)) = word {
                *own = own.max(other.unwrap_or(0.0)).max(together.unwrap_or(0.0));
            }
        }
    }
}

impl Rule {
    /// What comes of it with these facts, if no earlier run is known.
    pub fn look(&self, facts: &FactValues) -> RuleOutcome {
        self.look_after(facts, ToldBefore::Unknown)
    }

    /// What comes of it with these facts, after an earlier run.
    pub fn look_after(&self, facts: &FactValues, before: ToldBefore) -> RuleOutcome {
        let is_missing = |fact: &&'static Fact| facts.get(fact.name).is_none();
        let mut missing: Vec<_> = self.requires.iter().copied().filter(is_missing).collect();
        if !missing.is_empty() {
            return RuleOutcome::Unknown(missing);
        }
        let holding = holding(&self.when, self.test, facts, before);
        match holding {
            Holding::Sure | Holding::Unsure => {
                missing.extend(self.sentence.facts().filter(is_missing))
            }
            Holding::Not => return RuleOutcome::Not,
            Holding::Unknown => {
                let of_condition = self.when.operands().into_iter().map(|operand| operand.0);
                missing.extend(of_condition.filter(is_missing));
            }
        }
        // A rule that does not fire needs no words.
        if !missing.is_empty() || holding == Holding::Unknown {
            return RuleOutcome::Unknown(missing);
        }
        match self.found(facts) {
            None => RuleOutcome::Not,
            Some(found) if holding == Holding::Sure => RuleOutcome::Found(Box::new(found)),
            Some(found) => {
                let found = RuleFinding { confidence: Confidence::Hint, ..found };
                RuleOutcome::Unsure(Box::new(found))
            }
        }
    }

    /// What the rule would tell, if it does not fire for one reason alone: what it is about was seen too
    /// little.
    pub(crate) fn too_scant(&self, facts: &FactValues) -> Option<ScantFinding> {
        let would = |all: &[&'static Fact]| {
            with_another(&self.when, facts, all, f64::from(u32::MAX)) == Some(true)
        };
        if would(&[]) || !would(&self.basis) {
            return None;
        }
        let others =
            |one| self.basis.iter().copied().filter(|fact| *fact != one).collect::<Vec<_>>();
        let basis = self.basis.iter().copied().find(|fact| !would(&others(*fact)))?;
        let seen = facts.get_number(basis.name)?;
        let finding = RuleFinding { confidence: Confidence::Hint, ..self.found(facts)? };
        Some(ScantFinding { finding, basis, seen })
    }

    /// The share of which it is not known whether it is what the rule is about, if the rule would fire if it were, and not
    /// without it, however often this was seen.
    pub(crate) fn may_be_untold(&self, facts: &FactValues) -> Option<f64> {
        let untold = facts.get_number(self.untold?.name).filter(|untold| *untold > 0.0)?;
        let mut with = facts.clone();
        for fact in &self.basis {
            with.number(fact.name, f64::from(u32::MAX));
        }
        if self.when.truth(&with) == Some(true) {
            return None;
        }
        let test = self.test?.name;
        with.number(test, facts.get_number(test)? + untold);
        (self.when.truth(&with) == Some(true)).then_some(untold)
    }

    fn found(&self, facts: &FactValues) -> Option<RuleFinding> {
        let mut sentence = self.sentence.fill(facts)?;
        for more in self.also.iter().filter_map(|also| also.fill(facts)) {
            add_sentence(&mut sentence, more);
        }
        let seconds = self.gain.and_then(|gain| facts.get_number(gain.name));
        let wall = facts.get_number("wall").filter(|wall| *wall > 0.0);
        let ruled_out = self.ruled_out.iter();
        Some(RuleFinding {
            rule: self.name.clone(),
            what: self.what.clone(),
            place: self.place.as_ref().and_then(|place| place.fill(facts)),
            seconds,
            share: seconds.zip(wall).map(|(seconds, wall)| seconds / wall),
            sentence,
            evidence: self.evidence.iter().filter_map(|one| one.fill(facts)).collect(),
            saving: self.saving.as_ref().map(|saving| saving.fill(facts).unwrap_or_else(unknown)),
            confidence: self.confidence,
            ruled_out: ruled_out
                .filter(|(_, when)| when.truth(facts) == Some(true))
                .filter_map(|(text, _)| text.fill(facts))
                .collect(),
            next: self.next.fill(facts)?,
            link: self.link.clone(),
            urgent: self.urgent,
        })
    }
}

/// All rules.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// In the order of their files and sections
    pub rules: Vec<Rule>,
}

/// The files of `etc/topas/rules.d`, which are the defaults.
const BUILTIN: [(&str, &str); 4] = [
    ("built in: run.conf", include_str!("../../../etc/topas/rules.d/run.conf")),
    ("built in: work.conf", include_str!("../../../etc/topas/rules.d/work.conf")),
    ("built in: mpi.conf", include_str!("../../../etc/topas/rules.d/mpi.conf")),
    ("built in: parts.conf", include_str!("../../../etc/topas/rules.d/parts.conf")),
];

impl Rules {
    /// The rules that are built in.
    pub fn builtin() -> Self {
        Rules::with(&[]).0
    }

    /// The rules that are built in, changed by texts of a center, each with its name, in this order.
    /// A section of the name of a rule changes the keys that it names; another one is a rule of its
    /// own. What is faulty is told and left out: a rule that is built in stays as it was.
    pub fn with(texts: &[(String, String)]) -> (Self, Vec<RuleFault>) {
        let builtin = BUILTIN.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let (rules, faults) = read(&builtin, texts);
        (Rules { rules }, faults)
    }

    /// What the rules find in the facts of a run: what is urgent first, then what costs most.
    pub fn of_run(&self, facts: &FactValues) -> Vec<RuleFinding> {
        let of_runs = self.rules.iter().filter(|rule| rule.scope == Scope::Run);
        let found = of_runs.filter_map(|rule| match rule.look(facts) {
            RuleOutcome::Found(found) => Some(*found),
            RuleOutcome::Unsure(_) | RuleOutcome::Not | RuleOutcome::Unknown(_) => None,
        });
        self.ordered(found.collect())
    }

    /// Findings of a run in their order: what is urgent first, then what costs most. One cause is told
    /// once, and if processors are shared, what costs time is a hint.
    pub(crate) fn ordered(&self, mut found: Vec<RuleFinding>) -> Vec<RuleFinding> {
        let names: Vec<String> = found.iter().map(|found| found.rule.clone()).collect();
        found.retain(|one| {
            let rule = self.named(&one.rule);
            !rule.is_some_and(|rule| rule.unless.iter().any(|other| names.contains(other)))
        });
        in_order(&mut found);
        let mut told: Vec<RuleFinding> = Vec::new();
        for one in found {
            let same = told.iter_mut().find(|known| self.is_same_cause(known, &one));
            match same {
                Some(known) => known.take(one),
                None => told.push(one),
            }
        }
        in_order(&mut told);
        if told.iter().any(|one| self.named(&one.rule).is_some_and(|rule| rule.doubt)) {
            for one in told.iter_mut().filter(|one| one.seconds.is_some()) {
                one.confidence = Confidence::Hint;
            }
        }
        told
    }

    /// The rule of a name.
    pub(crate) fn named(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    pub(crate) fn is_same_cause(&self, one: &RuleFinding, other: &RuleFinding) -> bool {
        let cause = |of: &RuleFinding| self.named(&of.rule)?.cause.as_deref();
        let place = |of: &RuleFinding| {
            let words = of.place.iter().flatten();
            words.map(FindingWord::value).collect::<Vec<_>>()
        };
        one.place.is_some()
            && place(one) == place(other)
            && cause(one).is_some_and(|of| cause(other) == Some(of))
    }

    /// What the first rule that fires says of a part that stands out.
    pub fn of_part(&self, facts: &FactValues) -> Option<RuleFinding> {
        let of_parts = self.rules.iter().filter(|rule| rule.scope == Scope::Part);
        of_parts.into_iter().find_map(|rule| match rule.look(facts) {
            RuleOutcome::Found(found) => Some(*found),
            RuleOutcome::Unsure(_) | RuleOutcome::Not | RuleOutcome::Unknown(_) => None,
        })
    }

    /// The value of a parameter of a rule as written; None if there is no such rule or parameter.
    pub fn parameter(&self, rule: &str, name: &str) -> Option<&str> {
        let rule = self.named(rule)?;
        rule.parameters.iter().find(|(one, _)| one == name).map(|(_, value)| &**value)
    }
}

/// Puts findings into their order: what is urgent first, then what costs most.
pub(crate) fn in_order(findings: &mut [RuleFinding]) {
    let cost = |found: &RuleFinding| found.seconds.unwrap_or(0.0);
    findings.sort_by(|a, b| b.urgent.cmp(&a.urgent).then(cost(b).total_cmp(&cost(a))));
}
