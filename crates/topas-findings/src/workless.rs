//! Ranks that wait for work, such as a master and a server of files: most others compute all the time, and are not late.

use topas_mpi_data::{Blame, LostRanks, MpiProfile, MpiRank, computed, waited_for_itself};

use crate::fact::FactValues;

/// Ranks that wait for work are one of so many at most: where more ranks compute little, the others have too much to do.
const FEW: usize = 3;

/// They compute less than one of so many parts of what the rank does that computes longest.
const LITTLE: u128 = 3;

/// All others compute at least so many tenths of that: work that is spread unevenly is another matter.
const ALIKE: u128 = 5;

/// Ranks that are named.
const NAMED: usize = 4;

/// The ranks of a profile that wait for work, which comes by messages; none if that is not known, as of ranks in which several threads call MPI,
/// or if a rank was lost.
pub(crate) fn workless_ranks(profile: &MpiProfile) -> Vec<u32> {
    let is_known = profile.total.threads <= 1
        && profile.ranks.len() as u64 == profile.total.ranks
        && LostRanks::first_of(profile).is_empty();
    let time = |rank: &MpiRank| computed(&rank.sums);
    let Some(most) = profile.ranks.iter().map(time).max().filter(|_| is_known) else {
        return Vec::new();
    };
    let is_worker = |rank: &&MpiRank| 10 * time(rank) >= ALIKE * most;
    let (workers, others): (Vec<&MpiRank>, Vec<&MpiRank>) =
        profile.ranks.iter().partition(is_worker);
    let are_few = FEW * others.len() <= profile.ranks.len() && !workers.is_empty();
    let compute_little = others.iter().all(|rank| LITTLE * time(rank) < most);
    if are_few && compute_little && others.iter().all(|rank| waits_for_messages(rank)) {
        others.iter().map(|rank| rank.rank).collect()
    } else {
        Vec::new()
    }
}

/// What a rank waited for others, of its world or of another one, and slept between calls that asked in vain, in ns.
fn waited(rank: &MpiRank) -> u128 {
    let waits = &rank.sums.waits;
    waits.all().waited().saturating_sub(waited_for_itself(rank).time()) + waits.slept()
}

/// Whether a rank waits for messages, as a master and a server do, rather than in collectives: there it does what all others
/// do, too, such as a root that comes early.
fn waits_for_messages(rank: &MpiRank) -> bool {
    2 * Blame::from(&rank.sums.waits.all()).collective.time <= waited(rank)
}

/// Ranks in words.
fn names(ranks: &[u32]) -> String {
    let named: Vec<String> = ranks.iter().take(NAMED).map(u32::to_string).collect();
    match (named.split_last(), ranks.len() - named.len()) {
        (None, _) => String::new(),
        (Some((only, [])), 0) => format!("rank {only}"),
        (Some((last, others)), 0) => format!("ranks {} and {last}", others.join(", ")),
        (_, more) => format!("ranks {} and {more} more", named.join(", ")),
    }
}

/// Adds these facts, if there are such ranks.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    let workless = workless_ranks(profile);
    if workless.is_empty() {
        return;
    }
    let is_workless = |rank: &&MpiRank| workless.contains(&rank.rank);
    let (those, others): (Vec<&MpiRank>, Vec<&MpiRank>) =
        profile.ranks.iter().partition(is_workless);
    let sum = |ranks: &[&MpiRank], time: fn(&MpiRank) -> u128| {
        ranks.iter().map(|rank| time(rank)).sum::<u128>() as f64 / 1e9
    };
    let mean = |ranks: &[&MpiRank], time| sum(ranks, time) / ranks.len().max(1) as f64;
    let wall = |rank: &MpiRank| rank.sums.wall;
    let computes = |rank: &MpiRank| computed(&rank.sums);
    facts.text("workless_who", names(&workless));
    facts.number("workless_share", 100.0 * sum(&those, waited) / (profile.total.wall as f64 / 1e9));
    facts.number("workless_sum", sum(&those, waited));
    facts.number("workless_waits", mean(&those, waited));
    facts.number("workless_computes", mean(&those, computes));
    facts.number("workers_share", 100.0 * sum(&others, waited) / sum(&others, wall));
    facts.number("workers_sum", sum(&others, waited));
    facts.number("workers_cost", mean(&others, waited));
    facts.number("workers_compute", mean(&others, computes));
}
