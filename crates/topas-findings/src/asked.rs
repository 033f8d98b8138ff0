//! Facts of ranks that ask again and again for what another rank has not begun, and do something else in between.

use topas_mpi_data::{CallersTime, MpiProfile, MpiRank, between_questions};

use crate::fact::FactValues;

/// The part of the time of a rank from which on this is worth a word: a twentieth.
const WORTH: u128 = 20;

/// Between questions of a rank, in ns, and for whom most of it.
struct Asking {
    rank: u32,
    of: u32,
    time: u128,
}

/// The rank with most of a time, which it has for each of those for which it asked.
fn most(profile: &MpiProfile, times: impl Fn(&MpiRank) -> Vec<(u32, u128)>) -> Option<Asking> {
    let of_rank = |rank: &MpiRank| {
        let asked = times(rank);
        let all: u128 = asked.iter().map(|(_, time)| time).sum();
        let (of, _) = asked.iter().max_by_key(|(_, time)| *time)?;
        let is_worth = all.saturating_mul(WORTH) >= rank.sums.wall && all > 0;
        is_worth.then_some(Asking { rank: rank.rank, of: *of, time: all })
    };
    profile.ranks.iter().filter_map(of_rank).max_by_key(|asking| asking.time)
}

/// Adds these facts.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    let slept = |rank: &MpiRank| {
        let asked = rank.sums.waits.asked.iter();
        asked.map(|(of, asked)| (*of, asked.slept)).collect::<Vec<_>>()
    };
    if let Some(Asking { rank, of, time }) = most(profile, slept) {
        facts.text("waits_asleep_who", format!("rank {rank}"));
        facts.text("waits_asleep_for", format!("rank {of}"));
        facts.number("waits_asleep", time as f64 / 1e9);
    }
    let awake = |rank: &MpiRank| between_questions(&rank.sums).collect::<Vec<_>>();
    let all: u128 = profile.ranks.iter().flat_map(awake).map(|(_, time)| time).sum();
    facts.number("asking_share", 100.0 * all as f64 / CallersTime::of(profile).time as f64);
    if let Some(Asking { rank, of, time }) = most(profile, awake) {
        facts.text("waits_asking_who", format!("rank {rank}"));
        facts.text("waits_asking_for", format!("rank {of}"));
        facts.number("waits_asking", time as f64 / 1e9);
    }
}
