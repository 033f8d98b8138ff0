//! The search for what costs time: every rule that tells a gain is a hypothesis, and comes out as
//! found, as ruled out, or as not known.

use crate::fact::{Fact, FactValues};
use crate::rule::{Rule, RuleFinding, RuleOutcome, Rules, Scope};

/// What a search came to.
#[derive(Clone, Debug, Default)]
pub struct BottleneckSearch {
    /// What costs time, the largest loss first
    pub findings: Vec<RuleFinding>,
    /// What else was found, and makes figures uncertain: processors that are shared, ends
    pub beside: Vec<RuleFinding>,
    /// What was ruled out, in a few words each
    pub ruled_out: Vec<String>,
    /// What could not be judged, and a fact that is missing for it
    pub unknown: Vec<(String, &'static Fact)>,
    /// What is to be said if there are no findings
    pub nothing: Option<RuleFinding>,
}

/// Findings that are told, if the rule of the search does not say so.
const FINDINGS: usize = 5;

impl Rules {
    /// Searches the facts of a run.
    pub fn search(&self, facts: &FactValues) -> BottleneckSearch {
        let mut search = BottleneckSearch::default();
        let told = self.of_run(facts);
        let floor = self.rules.iter().find(|rule| rule.scope == Scope::Nothing);
        let limit = |name: &str| {
            let text = &floor?.parameters.iter().find(|(one, _)| one == name)?.1;
            text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<f64>().ok()
        };
        let (share, seconds) = (limit("share").unwrap_or(0.0), limit("seconds").unwrap_or(0.0));
        let ranks = facts.get_number("npes").unwrap_or(1.0).max(1.0);
        for finding in told {
            match (finding.seconds, finding.share) {
                (Some(cost), Some(of)) if 100.0 * of >= share && cost * ranks >= seconds => {
                    search.findings.push(finding);
                }
                // What is too little to be told is no finding of the search.
                (Some(_), _) => {}
                (None, _) => search.beside.push(finding),
            }
        }
        let most = limit("most").map_or(FINDINGS, |most| most as usize);
        search.findings.truncate(most);
        let hypotheses = self.rules.iter().filter(|rule| is_hypothesis(rule));
        for rule in hypotheses {
            if search.findings.iter().any(|found| found.rule == rule.name) {
                continue;
            }
            match rule.look(facts) {
                RuleOutcome::Not => search.ruled_out.push(rule.what.clone()),
                RuleOutcome::Unknown(missing) => {
                    if let Some(fact) = missing.first() {
                        search.unknown.push((rule.what.clone(), fact));
                    }
                }
                // Too little, or told by another.
                RuleOutcome::Found(_) => {}
            }
        }
        if search.findings.is_empty() {
            search.nothing = floor.and_then(|rule| match rule.look(facts) {
                RuleOutcome::Found(found) => Some(*found),
                RuleOutcome::Not | RuleOutcome::Unknown(_) => None,
            });
        }
        search
    }
}

/// Whether a rule is about what costs time.
fn is_hypothesis(rule: &Rule) -> bool {
    rule.scope == Scope::Run && rule.gain.is_some()
}
