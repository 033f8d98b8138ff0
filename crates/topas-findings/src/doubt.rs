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
