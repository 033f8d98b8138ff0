//! What is left of a search if the run did not go to its end: ranks were lost, or no call ends.

use crate::fact::FactValues;
use crate::rule::{Confidence, Rules};
use crate::search::BottleneckSearch;

impl BottleneckSearch {
    /// Ranks were lost, so that what the others did when they ended is a part of all figures, or ranks share processors:
    /// nothing is sure.
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

impl Rules {
    /// What the ranks wait for ranks of which there is no profile is not known: nothing that they may wait for is ruled
    /// out.
    pub fn reopen(&self, search: &mut BottleneckSearch, facts: &FactValues) {
        let untold = |what: &str| {
            let rule = self.rules.iter().find(|rule| rule.what == what)?;
            facts.get_number(rule.untold?.name)
        };
        for what in std::mem::take(&mut search.ruled_out) {
            match untold(&what) {
                Some(share) => search.not_ruled_out.push((what, share)),
                None => search.ruled_out.push(what),
            }
        }
    }
}
