//! What is said first of the findings about the rank for which the others wait.

use crate::fact::FactValues;
use crate::rule::{RuleFinding, Rules};
use crate::search::BottleneckSearch;
use crate::template::FindingWord;
use crate::wait_names::WaitNames;

/// The rule about waits of several kinds, whose few words and next step are those of a finding whose kind is another than
/// that of the rank.
const SEVERAL: &str = "mixed-waits";

/// Rules about one kind of wait.
const OF_ONE_KIND: [&str; 4] =
    ["late-senders", "late-receivers", "busy-receivers", "late-to-collectives"];

/// The rule about a rank that is late to the start of MPI: what it does later is told of it by others.
const AT_START: &str = "late-to-init";

/// What is known of the rank for which the others wait, whatever the kinds of their waits.
#[derive(Clone, Debug)]
pub struct FindingLead {
    /// The rank, as findings name their place: `rank 3`
    pub place: String,
    /// The rules about the kind of wait that most of its waits are
    pub rules: &'static [&'static str],
    /// What is said of it: which rank waits for it, in which routine, and where in the source
    pub words: String,
}

impl BottleneckSearch {
    /// What is told to cost time, or that it may, in this order.
    fn told(&mut self) -> Vec<&mut RuleFinding> {
        let seldom = self.seldom.iter_mut().map(|one| &mut one.finding);
        self.findings.iter_mut().chain(&mut self.unsure).chain(seldom).collect()
    }
}

/// Kinds of waits: the fact about what they cost, and the rule about them.
const KINDS: [(&str, &str); 3] = [
    (WaitNames::LATE_SENDERS.cost, "late-senders"),
    (WaitNames::LATE_RECEIVERS.cost, "late-receivers"),
    (WaitNames::COLLECTIVES.cost, "late-to-collectives"),
];

impl Rules {
    /// Names waits of several kinds, nearly all of which are of one, after that one: alone it was seen too seldom.
    pub(crate) fn name_kind(&self, search: &mut BottleneckSearch, facts: &FactValues) {
        /// The part of all waits from which on these are nearly all.
        const NEARLY_ALL: f64 = 0.9;
        let cost = |fact: &str| facts.get_number(fact).unwrap_or(0.0);
        let is_nearly_all =
            |(fact, _): &&(&str, &str)| cost(fact) >= NEARLY_ALL * cost(WaitNames::ALL.cost);
        let Some((_, kind)) = KINDS.iter().find(is_nearly_all) else { return };
        let Some(rule) = self.named(kind) else { return };
        for found in search.told().into_iter().filter(|found| found.rule == SEVERAL) {
            found.what.clone_from(&rule.what);
            if let Some(next) = rule.next.fill(facts) {
                found.next = next;
            }
        }
    }

    /// Says first of what was found about a rank what is known of it. Kinds of waits are judged each by itself, and the
    /// one that is told may be that of a rank which the delay reaches: its few words then name no kind.
    pub fn lead(&self, search: &mut BottleneckSearch, lead: &FindingLead) {
        let is_at_place = |found: &RuleFinding| {
            let words = found.place.iter().flatten().map(FindingWord::value);
            words.eq([crate::FactValue::Text(lead.place.clone())])
        };
        let is_cause = |found: &RuleFinding| {
            found.rule != AT_START
                && self.named(&found.rule).is_some_and(|rule| rule.cause.is_some())
        };
        let Some(found) =
            search.told().into_iter().find(|found| is_cause(found) && is_at_place(found))
        else {
            return;
        };
        let is_another = OF_ONE_KIND.contains(&&*found.rule) && !lead.rules.contains(&&*found.rule);
        if let Some(several) = self.named(SEVERAL).filter(|_| is_another) {
            found.what.clone_from(&several.what);
            if let Some(next) = several.next.fill(&FactValues::default()) {
                found.next = next;
            }
        }
        found.sentence.insert(0, FindingWord::Text(format!("{} ", lead.words)));
    }
}
