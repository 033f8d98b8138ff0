//! Facts of ranks that ask again and again for what another rank has not begun, and do something else in between.

use topas_mpi_data::{AskedInVain, MpiProfile, MpiRank};

use crate::fact::FactValues;

/// The part of the time of a rank from which on this is worth a word: a twentieth.
const WORTH: u128 = 20;

/// Between questions of a rank, in ns, and for whom most of it.
struct Asking {
    rank: u32,
    of: u32,
    time: u128,
}

/// The rank with most of a time.
fn most(profile: &MpiProfile, time: impl Fn(&AskedInVain) -> u128) -> Option<Asking> {
    let of_rank = |rank: &MpiRank| {
        let asked = &rank.sums.waits.asked;
        let all: u128 = asked.iter().map(|(_, asked)| time(asked)).sum();
        let (of, _) = asked.iter().max_by_key(|(_, asked)| time(asked))?;
        let is_worth = all.saturating_mul(WORTH) >= rank.sums.wall && all > 0;
        is_worth.then_some(Asking { rank: rank.rank, of: *of, time: all })
    };
    profile.ranks.iter().filter_map(of_rank).max_by_key(|asking| asking.time)
}

/// Adds these facts.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    if let Some(Asking { rank, of, time }) = most(profile, |asked| asked.slept) {
        facts.text("waits_asleep_who", format!("rank {rank}"));
        facts.text("waits_asleep_for", format!("rank {of}"));
        facts.number("waits_asleep", time as f64 / 1e9);
    }
    let awake = |asked: &AskedInVain| asked.between.time.saturating_sub(asked.slept);
    if let Some(Asking { rank, of, time }) = most(profile, awake) {
        facts.text("waits_asking_who", format!("rank {rank}"));
        facts.text("waits_asking_for", format!("rank {of}"));
        facts.number("waits_asking", time as f64 / 1e9);
    }
}
