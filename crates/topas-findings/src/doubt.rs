//! What is left of a search if the run did not go to its end: ranks were lost, or no call ends.

use crate::rule::Confidence;
use crate::search::BottleneckSearch;

impl BottleneckSearch {
    /// Ranks were lost: what the others did when they ended is a part of all figures, and nothing of that is
    /// sure.
    pub fn doubt(&mut self) {
        let scant = self.seldom.iter_mut().chain(&mut self.little).map(|one| &mut one.finding);
        let told = self.findings.iter_mut().chain(&mut self.unsure).chain(&mut self.beside);
        for finding in told.chain(&mut self.nothing).chain(scant) {
            if finding.confidence == Confidence::Sure {
                finding.confidence = Confidence::Likely;
            }
        }
    }

    /// No rank goes on: the time of calls that have not ended, or of the time that a rank is outside of MPI, is
    /// nothing that could be gained, and nothing is ruled out.
    pub fn withhold(&mut self) {
        *self = BottleneckSearch { beside: std::mem::take(&mut self.beside), ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use crate::fact::FactValues;
    use crate::rule::{Confidence, Rules};

    /// A run of four ranks that wait for senders half of the time.
    fn facts() -> FactValues {
        let mut facts = FactValues::default();
        for (name, value) in [
            ("npes", 4.0),
            ("wall", 100.0),
            ("late_share", 0.5),
            ("late_cost", 50.0),
            ("late_seconds", 200.0),
            ("late_calls", 10_000.0),
        ] {
            facts.number(name, value);
        }
        facts.text("late_first", "rank 1".to_owned());
        facts.text("late_who", "rank 1".to_owned());
        facts
    }

    #[test]
    fn a_search_of_a_run_that_was_ended_is_not_sure() {
        let (rules, _) = Rules::with(&[]);
        let mut search = rules.search(&facts(), None);
        let all = |search: &super::BottleneckSearch| {
            let lists = [&search.findings, &search.unsure, &search.beside];
            lists.into_iter().flatten().map(|one| one.confidence).collect::<Vec<_>>()
        };
        for finding in search.findings.iter_mut().chain(&mut search.nothing) {
            finding.confidence = Confidence::Sure;
        }
        let count = all(&search).len();
        search.doubt();
        assert!(all(&search).iter().all(|one| *one != Confidence::Sure));
        assert!(search.nothing.iter().all(|one| one.confidence != Confidence::Sure));
        assert_eq!(all(&search).len(), count);
        assert!(count > 0 || search.nothing.is_some(), "the search says something");
        search.withhold();
        assert!(search.findings.is_empty() && search.ruled_out.is_empty());
        assert!(search.nothing.is_none());
    }
}
