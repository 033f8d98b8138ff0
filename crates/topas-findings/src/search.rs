//! The search for what costs time: every rule that tells a gain is a hypothesis, and comes out as
//! found, as ruled out, or as not known.

use crate::fact::{Fact, FactValues};
use crate::margin::ToldBefore;
use crate::rule::{Confidence, Rule, RuleFinding, RuleOutcome, Rules, Scope, in_order};
use crate::wait_names::WaitNames;

/// What a search came to.
#[derive(Clone, Debug, Default)]
pub struct BottleneckSearch {
    /// What costs time, the largest loss first
    pub findings: Vec<RuleFinding>,
    /// What else was found, and makes figures uncertain: processors that are shared, ends
    pub beside: Vec<RuleFinding>,
    /// What costs time by the sums of the run, but varies too much during the run to be sure of
    pub unsure: Vec<RuleFinding>,
    /// What was ruled out, in a few words each
    pub ruled_out: Vec<String>,
    /// What may cost time as far as it is known, with the share of which it is not known whether it is that
    pub not_ruled_out: Vec<(String, f64)>,
    /// What costs enough to be told, but was seen too seldom to be sure of it
    pub seldom: Vec<ScantFinding>,
    /// What costs a share that would be told, but too few seconds to judge
    pub little: Vec<ScantFinding>,
    /// What could not be judged, and a fact that is missing for it
    pub unknown: Vec<(String, &'static Fact)>,
    /// What is to be said if there are no findings
    pub nothing: Option<RuleFinding>,
}

/// What a rule would tell, had it seen more of what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct ScantFinding {
    /// What the rule would tell
    pub finding: RuleFinding,
    /// The fact that is too small: seconds of all ranks together, or how often it was seen
    pub basis: &'static Fact,
    /// Its value
    pub seen: f64,
}

/// Findings that are told, if the rule of the search does not say so.
const FINDINGS: usize = 5;

impl Rules {
    /// Searches the facts of a run; `before` is what was found in an earlier run of the program.
    pub fn search(
        &self,
        facts: &FactValues,
        before: Option<&BottleneckSearch>,
    ) -> BottleneckSearch {
        let mut search = BottleneckSearch::default();
        let outcome = |rule: &Rule| rule.look_after(facts, told_before(before, rule));
        let (mut found, mut unsure) = (Vec::new(), Vec::new());
        for rule in self.rules.iter().filter(|rule| rule.scope == Scope::Run) {
            match outcome(rule) {
                RuleOutcome::Found(one) => found.push(*one),
                RuleOutcome::Unsure(one) => unsure.push(*one),
                RuleOutcome::Not | RuleOutcome::Unknown(_) => {}
            }
        }
        let told = self.ordered(found);
        let floor = self.rules.iter().find(|rule| rule.scope == Scope::Nothing);
        let limit = |name: &str| {
            let text = &floor?.parameters.iter().find(|(one, _)| one == name)?.1;
            text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<f64>().ok()
        };
        let (share, seconds) = (limit("share").unwrap_or(0.0), limit("seconds").unwrap_or(0.0));
        // Costs are means of ranks or, where several threads of a rank call MPI, of these threads.
        let number = |name| facts.get_number(name).unwrap_or(1.0);
        let ranks = number("npes").max(number("mpi_threads"));
        let is_enough = |finding: &RuleFinding| {
            let rule = self.named(&finding.rule);
            let told = rule.map_or(ToldBefore::Unknown, |rule| told_before(before, rule));
            let share = share * told.lowered();
            // Of what costs time, only what could be saved counts.
            let cost = finding.seconds.zip(finding.share).zip(finding.loss());
            cost.is_some_and(|((cost, of), loss)| {
                let of = if loss < cost { of * loss / cost } else { of };
                100.0 * of >= share && loss * ranks >= seconds
            })
        };
        let explained = self.explained(&told, facts);
        let mut small = Vec::new();
        for finding in told {
            match (finding.seconds, finding.share) {
                _ if !self.is_sure(&finding, facts) => unsure.push(hint(finding)),
                (Some(cost), _)
                    if self.is_explained(&finding) && cost * ranks < explained + seconds =>
                {
                    unsure.push(hint(finding));
                }
                _ if is_enough(&finding) => search.findings.push(finding),
                // What is too little to be told is no finding of the search.
                (Some(_), _) => small.push(finding),
                (None, _) => search.beside.push(finding),
            }
        }
        // Several kinds of waits may be enough together, of which each would be too little.
        if search.findings.is_empty() && unsure.is_empty() {
            small.retain(|one: &RuleFinding| one.loss() < one.seconds);
            let sum = small.iter().filter_map(RuleFinding::loss).sum::<f64>();
            let wall = facts.get_number("wall").unwrap_or(f64::INFINITY);
            if 100.0 * sum >= share * wall && sum * ranks >= seconds {
                search.findings.append(&mut small);
            }
        }
        let most = limit("most").map_or(FINDINGS, |most| most as usize);
        let hypotheses = self.rules.iter().filter(|rule| is_hypothesis(rule));
        for rule in hypotheses {
            if search.findings.iter().any(|found| found.rule == rule.name) {
                continue;
            }
            match outcome(rule) {
                RuleOutcome::Not => match (rule.may_be_untold(facts), rule.too_scant(facts)) {
                    (Some(share), _) => search.not_ruled_out.push((rule.what.clone(), share)),
                    (_, Some(seldom)) if is_enough(&seldom.finding) => {
                        if !search.tells_better(rule) {
                            search.seldom.push(seldom);
                        }
                    }
                    (_, Some(little)) if search.tells_better(rule) => drop(little),
                    (_, Some(little)) => search.little.push(little),
                    // What another finding tells of, or has in it, is not ruled out.
                    (None, None) => {
                        if let Some(share) = self.same_untold(rule, &search) {
                            search.not_ruled_out.push((rule.what.clone(), share));
                            continue;
                        }
                        let told = |name: &String| {
                            let told = search.findings.iter().chain(&unsure);
                            told.chain(&search.beside).any(|told| told.rule == *name)
                        };
                        if !rule.unless.iter().chain(&rule.within).any(told) {
                            search.ruled_out.push(rule.what.clone());
                        }
                    }
                },
                RuleOutcome::Unknown(missing) => {
                    if let Some(fact) = missing.first() {
                        search.unknown.push((rule.what.clone(), fact));
                    }
                }
                RuleOutcome::Found(finding) => {
                    let basis = rule.basis.first().copied();
                    let seen = basis.and_then(|basis| Some((basis, facts.get_number(basis.name)?)));
                    // Else it is told by another rule, or is not sure.
                    if let Some((basis, seen)) = seen
                        && !is_enough(&finding)
                        && finding.loss() == finding.seconds
                        && !search.tells_better(rule)
                    {
                        search.little.push(ScantFinding { finding: *finding, basis, seen });
                    }
                }
                RuleOutcome::Unsure(_) => {}
            }
        }
        search.unsure = self.ordered(unsure);
        search.unsure.retain(|finding| is_enough(finding));
        self.merge(&mut search);
        search.findings.truncate(most);
        search.unsure.truncate(most);
        self.name_kind(&mut search, facts);
        search.tell_once();
        // Shares of which the course is not known may be those of a short part of the run.
        if let Some(slices) = Fact::named("slices").filter(|fact| facts.get(fact.name).is_none())
            && search.findings.iter().any(|finding| self.tests(finding))
        {
            search.unknown.push(("whether it is so during the whole run".to_owned(), slices));
        }
        if let Some(paths) = Fact::named("paths_known")
            && facts.get_number(paths.name) == Some(0.0)
            && search.findings.iter().any(|finding| self.has_place(finding))
        {
            search.unknown.push(("the lines of the source".to_owned(), paths));
        }
        // What was seen too seldom may cost time.
        let may_be = search.unsure.len() + search.seldom.len() > 0;
        if search.findings.is_empty() && !may_be {
            // The first of these rules has the limits of the search, and is the most general.
            let of_nothing = self.rules.iter().filter(|rule| rule.scope == Scope::Nothing);
            let mut told = of_nothing.filter_map(|rule| match rule.look(facts) {
                RuleOutcome::Found(found) => Some(*found),
                RuleOutcome::Unsure(_) | RuleOutcome::Not | RuleOutcome::Unknown(_) => None,
            });
            search.nothing = told.next_back();
        }
        search
    }

    /// What was seen too seldom, or varies too much, and has the cause of what is told goes into that: it is the same
    /// rank that is late.
    fn merge(&self, search: &mut BottleneckSearch) {
        let BottleneckSearch { findings, unsure, seldom, .. } = search;
        let told = |rule: &str| findings.iter().any(|found| found.rule == rule);
        unsure.retain(|one| {
            !self.named(&one.rule).is_some_and(|rule| rule.unless.iter().any(|other| told(other)))
        });
        let mut take = |one: &RuleFinding| {
            let same = findings.iter_mut().find(|known| self.is_same_cause(known, one));
            let rule = |known: &RuleFinding| self.named(&known.rule);
            let gives_way = |known: &RuleFinding| {
                rule(known).is_some_and(|rule| rule.unless.contains(&one.rule))
            };
            let sum = Some(WaitNames::ALL.cost);
            let is_sum =
                |known: &RuleFinding| rule(known).and_then(|rule| Some(rule.gain?.name)) == sum;
            match same {
                Some(known) if !gives_way(known) => {
                    known.take(one.clone());
                    true
                }
                // Waits of all kinds together have those of each in them. What else is told only where waits are
                // not has them in no figure of its own.
                Some(known) => is_sum(known),
                None => false,
            }
        };
        unsure.retain(|one| !take(one));
        seldom.retain(|one| !take(&one.finding));
        // What gives way to another one that was seen too seldom has that in it.
        let rules: Vec<String> = seldom.iter().map(|one| one.finding.rule.clone()).collect();
        seldom.retain(|one| {
            let rule = self.named(&one.finding.rule);
            !rule.is_some_and(|rule| rule.unless.iter().any(|other| rules.contains(other)))
        });
        let mut apart: Vec<ScantFinding> = Vec::new();
        for one in seldom.drain(..) {
            let in_unsure = unsure.iter_mut().find(|known| self.is_same_cause(known, &one.finding));
            let known = match in_unsure {
                Some(known) => Some(known),
                None => {
                    let known = apart.iter_mut().map(|known| &mut known.finding);
                    known.into_iter().find(|known| self.is_same_cause(known, &one.finding))
                }
            };
            match known {
                Some(known) => known.take(one.finding),
                None => apart.push(one),
            }
        }
        *seldom = apart;
        in_order(findings);
        in_order(unsure);
        seldom.sort_by(|a, b| {
            let cost = |one: &ScantFinding| one.finding.seconds.unwrap_or(0.0);
            cost(b).total_cmp(&cost(a))
        });
    }

    /// The share of which it is not known whether it is what a rule is about, if it may be what another rule is about that
    /// judges the same share: what tells the two apart is as little known.
    fn same_untold(&self, rule: &Rule, search: &BottleneckSearch) -> Option<f64> {
        let test = |of: &Rule| of.test.map(|fact| fact.name);
        test(rule)?;
        let others = self.rules.iter().filter(|other| test(other) == test(rule));
        let whats: Vec<&str> = others.map(|other| other.what.as_str()).collect();
        let mut open = search.not_ruled_out.iter();
        open.find(|(what, _)| whats.contains(&what.as_str())).map(|(_, share)| *share)
    }

    /// Whether a rule is sure of what it tells.
    fn is_sure(&self, finding: &RuleFinding, facts: &FactValues) -> bool {
        let sure = self.named(&finding.rule).and_then(|rule| rule.sure.as_ref());
        sure.is_none_or(|sure| sure.truth(facts) != Some(false))
    }

    /// Whether a finding is about a share that may vary during the run.
    fn tests(&self, finding: &RuleFinding) -> bool {
        self.named(&finding.rule).is_some_and(|rule| rule.test.is_some())
    }

    /// Whether a finding may be because of another one.
    fn is_explained(&self, finding: &RuleFinding) -> bool {
        self.named(&finding.rule).is_some_and(|rule| rule.is_explained)
    }

    /// Whether a finding is about a rank that does something in its source.
    fn has_place(&self, finding: &RuleFinding) -> bool {
        self.named(&finding.rule).is_some_and(|rule| rule.place.is_some() && rule.cause.is_some())
    }

    /// Seconds of all ranks that the causes which were found explain of other findings.
    fn explained(&self, found: &[RuleFinding], facts: &FactValues) -> f64 {
        let causes = found.iter().filter_map(|finding| self.named(&finding.rule)?.explains);
        causes.filter_map(|fact| facts.get_number(fact.name)).fold(0.0, f64::max)
    }
}

impl BottleneckSearch {
    /// Whether what a rule is about was told by one that tells it better, be it as what costs time or beside that.
    fn tells_better(&self, rule: &Rule) -> bool {
        let mut told = self.findings.iter().chain(&self.beside);
        told.any(|told| rule.unless.contains(&told.rule))
    }

    /// Several rules may be about the same in few words, each by figures of its own: what one of them tells is in none of
    /// the lists of what is not told, and nothing is in one of these twice.
    fn tell_once(&mut self) {
        let told = self.findings.iter().chain(&self.unsure).chain(&self.beside);
        let scant = self.seldom.iter().chain(&self.little).map(|one| &one.finding);
        let mut known: Vec<String> = told.chain(scant).map(|one| one.what.clone()).collect();
        let first = |what: &String, known: &mut Vec<String>| {
            let is_first = !known.contains(what);
            known.push(what.clone());
            is_first
        };
        let known_of_little: Vec<String> =
            self.findings.iter().chain(&self.unsure).map(|one| one.what.clone()).collect();
        self.little.retain(|one| !known_of_little.contains(&one.finding.what));
        self.unknown.retain(|(what, _)| first(what, &mut known));
        self.not_ruled_out.retain(|(what, _)| first(what, &mut known));
        self.ruled_out.retain(|what| first(what, &mut known));
    }
}

/// A finding that may be.
fn hint(finding: RuleFinding) -> RuleFinding {
    RuleFinding { confidence: Confidence::Hint, ..finding }
}

/// What an earlier search says of a rule.
fn told_before(before: Option<&BottleneckSearch>, rule: &Rule) -> ToldBefore {
    match before {
        None => ToldBefore::Unknown,
        Some(search) if search.findings.iter().any(|found| found.rule == rule.name) => {
            ToldBefore::Told
        }
        Some(_) => ToldBefore::NotTold,
    }
}

/// Whether a rule is about what costs time.
fn is_hypothesis(rule: &Rule) -> bool {
    rule.scope == Scope::Run && rule.gain.is_some()
}
