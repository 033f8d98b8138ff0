//! By how much a run could be shorter if no rank were late: what a finding about waits can promise.
//!
//! An even spread of the work over the ranks that share it saves what these wait on average, or what the one that computes
//! longest does so beyond their mean, whichever is more. That a rank no longer does what only it does, such as reading
//! input, saves what it computes longer than each other rank. What is computed is a matter of waits for this rank, or of
//! most of the waits, and saves no more than the rank waits that waits most. Ranks that wait for work, such as a master,
//! do not share it: what they wait is no loss.

use topas_mpi_data::{
    Blame, LostRanks, MpiProfile, MpiRank, computed, computes_unseen, outside_of_rank,
    waited_for_itself,
};

use crate::balance::AS_LONG;
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

    /// How long one of them computes, by its name in facts, in s.
    fn computes(&self, name: &str) -> Option<f64> {
        let number = name.strip_prefix("rank ")?.parse::<u32>().ok()?;
        let rank = self.ranks.iter().find(|rank| rank.rank == number)?;
        Some(computed(&rank.sums) as f64 / 1e9)
    }

    /// How long the one waits that waits longest, in s.
    fn longest_wait(&self) -> f64 {
        self.ranks.iter().map(|rank| waits_of(rank)).fold(0.0, f64::max)
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

/// What a rank waits for others in MPI, in s: all its threads together, but no longer than one of them can be in MPI.
fn waits_of(rank: &MpiRank) -> f64 {
    let all = Blame::from(&rank.sums.waits.all()).time();
    let waits = all.saturating_sub(waited_for_itself(rank).time());
    waits.min(rank.sums.wall.saturating_sub(outside_of_rank(&rank.sums))) as f64 / 1e9
}

/// The mean of times.
fn mean(times: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = times.fold((0.0, 0.0), |(sum, count), time| (sum + time, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// What one rank computes longer than others, in s.
#[derive(Clone, Copy, Default)]
struct Longer {
    /// Than the mean of the ranks that share the work
    than_mean: f64,
    /// Than each other
    than_next: f64,
    /// That is what it computes
    most: f64,
}

impl Longer {
    /// Of several threads of a rank, the one that was in MPI longest tells what the rank computes: not more than it does.
    /// What ranks that were lost did before their end is no measure of a mean.
    fn of(profile: &MpiProfile, workers: &Workers<'_>) -> Longer {
        let mut times: Vec<f64> =
            workers.ranks.iter().map(|rank| computed(&rank.sums) as f64 / 1e9).collect();
        times.sort_unstable_by(f64::total_cmp);
        let [.., next, most] = times[..] else { return Longer::default() };
        let is_whole = LostRanks::first_of(profile).is_empty();
        let mean = mean(times.iter().copied()).filter(|_| is_whole);
        Longer { than_mean: mean.map_or(0.0, |mean| most - mean), than_next: most - next, most }
    }
}

/// Adds what could be saved of each kind of wait.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    /// Of a kind that is this part of all waits or more, the rank that computes longest is no other one's.
    const MOST: f64 = 0.5;
    if profile.ranks.iter().any(|rank| computes_unseen(&rank.sums)) {
        return;
    }
    let workers = Workers::of(profile);
    let longer = workers.as_ref().map(|workers| Longer::of(profile, workers)).unwrap_or_default();
    let longest = workers.as_ref().map_or(0.0, Workers::longest_wait);
    // How long several threads of a rank kept it is not known: then the mean is that of threads.
    let means = workers.as_ref().filter(|_| profile.total.threads <= 1);
    let of_workers = |kind| means.and_then(|workers| mean(workers.waits(kind)));
    let all = of_workers(Blame::all).or(facts.get_number(WaitNames::ALL.cost)).unwrap_or(0.0);
    for (names, kind) in WAIT_KINDS {
        let Some(cost) = facts.get_number(names.cost) else { continue };
        let cost = of_workers(kind).unwrap_or(cost);
        // What is saved by a rank is saved of the waits for this rank.
        let first = facts.get_text(names.first);
        let is_it = first.is_some() && first == facts.get_text("outside_who");
        let is_most = first.is_none() && cost >= MOST * all;
        let computes = first.and_then(|first| workers.as_ref()?.computes(first));
        let is_one = computes.is_some_and(|computes| computes >= AS_LONG * longer.most);
        let than_next = if is_it { longer.than_next } else { 0.0 };
        let than_mean = if is_one || is_most { longer.than_mean } else { 0.0 };
        let computing = than_next.max(than_mean).min(longest);
        facts.number(names.gain, cost.max(computing));
    }
    if let Some(mean) = facts.get_number("finalize_cost") {
        let is_it = facts.get_text("finalize_who") == facts.get_text("outside_who");
        let own = if is_it { longer.than_next } else { 0.0 };
        let longest = facts.get_number("finalize_most").unwrap_or(0.0);
        facts.number("finalize_gain", mean.max(own.min(longest)));
    }
}
