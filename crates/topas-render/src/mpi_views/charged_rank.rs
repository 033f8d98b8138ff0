//! The rank for which the others wait, and what is said of it: the same words for every tool.

use topas_mpi_data::{Blame, MpiProfile, MpiRank, RoutineNumber, delayed_before_end};

use super::waited_place::WaitKind;

/// The rank that is charged with the waits of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChargedRank {
    /// Which one
    pub rank: u32,
    /// Why most of the waits are
    pub kind: WaitKind,
    /// At least half of what the ranks wait for each other is because of it
    pub(crate) is_most: bool,
    /// It calls no MPI, and probably holds up those for which others wait: where anybody waits for it is not known
    pub(crate) is_probable: bool,
    /// The other ranks that compute as long
    pub(crate) as_long: Vec<u32>,
    /// How long the others wait for it, and why: a sentence or two
    pub(super) waits: String,
    /// How much of all waits begins in it, followed by the sums of the run: a sentence, if that tells more
    pub(super) begins: Option<String>,
    /// What it computes, and the others; None if that is not known
    pub(super) computes: Option<String>,
    /// It computes no longer than the others, and `computes` says why it may be late nevertheless
    pub(super) is_late_otherwise: bool,
    /// Where in the source they wait for it, and what it does then: a sentence; None if that is not known
    pub place: Option<String>,
    /// Which other ranks compute as long, or which one longest: a sentence, if there are such
    pub(super) beside: Option<String>,
    /// For which other rank they wait, too: a sentence or two, if there is one
    pub(super) second: Option<String>,
}

impl ChargedRank {
    /// All that is said of it.
    pub(super) fn text(&self) -> String {
        self.with(self.computes.as_ref(), true)
    }

    /// The same in front of a finding, which may tell itself how long ranks compute, and how much begins in the rank: sums
    /// of a run take ranks that are late one after the other for one, an event log does not.
    pub(crate) fn lead(&self, tells_computing: bool, tells_origin: bool) -> String {
        let is_new = self.is_late_otherwise || !tells_computing;
        self.with(self.computes.as_ref().filter(|_| is_new), !tells_origin)
    }

    /// All sentences, with this one about what it computes, and with or without those of where waits begin by the sums.
    fn with(&self, computes: Option<&String>, by_sums: bool) -> String {
        let (place, beside) = (self.place.as_ref(), self.beside.as_ref());
        let [begins, second] =
            [&self.begins, &self.second].map(|said| said.as_ref().filter(|_| by_sums));
        let all = [Some(&self.waits), begins, computes, place, beside, second];
        all.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

/// Why ranks wait for a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReasonOfWaits {
    /// Most of it
    pub(super) kind: WaitKind,
    /// What they wait in `MPI_Finalize` is because of what they wait before: `kind` is that of the waits before
    pub(super) is_before_end: bool,
    /// That in ns, if it is worth a word
    pub(super) at_end: Option<u128>,
}

impl ReasonOfWaits {
    /// Of what these ranks wait for a rank.
    pub(super) fn of<'p>(
        profile: &'p MpiProfile,
        late: u32,
        blame: &Blame,
        waiting: impl IntoIterator<Item = &'p MpiRank>,
    ) -> ReasonOfWaits {
        /// The part of all waits from which on those at the end are worth a word: a quarter.
        const WORTH_A_WORD: u128 = 4;
        match delayed_before_end(profile, late, waiting) {
            Some((mut before, at_end)) => {
                // An event log has followed all waits to their begin, which may be of another kind than those for the rank.
                if profile.logged.is_some() {
                    before = *blame;
                    before.collective.time = before.collective.time.saturating_sub(at_end);
                }
                ReasonOfWaits {
                    kind: WaitKind::longest(&before),
                    is_before_end: true,
                    at_end: (WORTH_A_WORD * at_end >= blame.time()).then_some(at_end),
                }
            }
            None => {
                ReasonOfWaits { kind: WaitKind::longest(blame), is_before_end: false, at_end: None }
            }
        }
    }

    /// Whether routines are among those in which ranks wait for this reason.
    pub(super) fn is_in(&self, routine: RoutineNumber) -> bool {
        !self.is_before_end || !routine.is_edge()
    }
}

#[cfg(test)]
mod tests {
    use topas_findings::FactValues;

    use super::*;
    use crate::why::{add_wait_places, named_rank};

    #[test]
    fn of_ranks_that_compute_as_long_findings_name_the_one_that_is_charged() {
        let charged = ChargedRank {
            rank: 0,
            kind: WaitKind::LateSender,
            is_most: false,
            is_probable: false,
            as_long: vec![2],
            waits: "The others wait.".to_owned(),
            begins: None,
            computes: None,
            is_late_otherwise: false,
            place: None,
            beside: None,
            second: None,
        };
        let named = |fact: &'static str, first: &str| {
            let mut facts = FactValues::default();
            facts.text(fact, first);
            add_wait_places(&mut facts, Some(&charged), |_, _| None);
            named_rank(&facts, fact)
        };
        assert_eq!(named("late_first", "rank 2"), Some(0));
        assert_eq!(named("waits_first", "rank 2"), Some(0));
        // A rank that computes less is another matter, and so are other waits.
        assert_eq!(named("late_first", "rank 3"), Some(3));
        assert_eq!(named("coll_first", "rank 2"), Some(2));
    }
}
