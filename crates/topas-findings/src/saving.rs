//! By how much a run could be shorter if no rank were late: what a finding about waits can promise.
//!
//! An even spread of the work over the ranks that share it saves what these wait on average. That a rank no longer does
//! what only it does, such as reading input, saves what it computes longer than each other rank. Neither saves more than
//! the rank waits that waits most. Ranks that wait for work, such as a master, do not share it: what they wait is no loss.

use topas_mpi_data::{Blame, MpiProfile, MpiRank, outside_of_rank, waited_for_itself};

use crate::fact::FactValues;
use crate::last_rank;
use crate::wait_names::{KindOfWait, WAIT_KINDS, WaitNames};
use crate::workless::workless_ranks;

/// The ranks that share the work, each of which is known.
struct Workers<'p> {
    ranks: Vec<&'p MpiRank>,
    /// Waits in `MPI_Finalize` are told apart from the others
    is_end_apart: bool,
}

impl Workers<'_> {
    /// None if ranks are not told one by one.
    fn of(profile: &MpiProfile) -> Option<Workers<'_>> {
        if profile.ranks.len() as u64 != profile.total.ranks {
            return None;
        }
        let workless = workless_ranks(profile);
        let ranks = profile.ranks.iter().filter(|rank| !workless.contains(&rank.rank));
        let is_end_apart = last_rank::is_told_apart(profile);
        Some(Workers { ranks: ranks.collect(), is_end_apart })
    }

    /// How long each waits in a way, in s.
    fn waits(&self, kind: KindOfWait) -> impl Iterator<Item = f64> {
        self.ranks.iter().map(move |rank| {
            let all = rank.sums.waits.all();
            let sums = if self.is_end_apart {
                last_rank::without_end(&all, &rank.sums.waits.routines).0
            } else {
                all
            };
            let itself = kind(&waited_for_itself(rank)).time;
            kind(&Blame::from(&sums)).time.saturating_sub(itself) as f64 / 1e9
        })
    }
}

/// The mean of times.
fn mean(times: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = times.fold((0.0, 0.0), |(sum, count), time| (sum + time, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// How much longer the rank that computes longest does so than each other, in s; 0 if that is not known, as of ranks in
/// which several threads call MPI.
fn beyond_the_next(profile: &MpiProfile) -> f64 {
    if profile.total.threads > 1 || profile.ranks.len() as u64 != profile.total.ranks {
        return 0.0;
    }
    let mut times: Vec<u128> =
        profile.ranks.iter().map(|rank| outside_of_rank(&rank.sums)).collect();
    times.sort_unstable();
    match times[..] {
        [.., next, most] => (most - next) as f64 / 1e9,
        _ => 0.0,
    }
}

/// Adds what could be saved of each kind of wait.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    let beyond = beyond_the_next(profile);
    let workers = Workers::of(profile).filter(|_| profile.total.threads <= 1);
    let longest = facts.get_number(WaitNames::ALL.most).unwrap_or(0.0);
    for (names, kind) in WAIT_KINDS {
        let Some(cost) = facts.get_number(names.cost) else { continue };
        let of_workers = workers.as_ref().and_then(|workers| mean(workers.waits(kind)));
        // What is saved by a rank is saved of the waits for this rank.
        let is_it = facts.get(names.first).is_some()
            && facts.get_text(names.first) == facts.get_text("outside_who");
        let beyond = if is_it { beyond.min(longest) } else { 0.0 };
        facts.number(names.gain, of_workers.unwrap_or(cost).max(beyond));
    }
    if let Some(mean) = facts.get_number("finalize_cost") {
        let is_it = facts.get_text("finalize_who") == facts.get_text("outside_who");
        let own = if is_it { beyond } else { 0.0 };
        let longest = facts.get_number("finalize_most").unwrap_or(0.0);
        facts.number("finalize_gain", mean.max(own.min(longest)));
    }
}
