//! How even the time outside of MPI is, as far as that is what ranks compute.

use std::collections::BTreeMap;

use topas_mpi_data::{MpiProfile, computed, computes_unseen, unmeasured_ranks, waited_for_others};

use crate::fact::FactValues;

/// Ranks that compute this part of what the longest does, or more, compute as long.
pub(crate) const AS_LONG: f64 = 0.95;

/// Adds the facts of it.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    if profile.ranks.len() < 2 || profile.ranks.len() as u64 != profile.total.ranks {
        return;
    }
    let unseen = profile.ranks.iter().filter(|rank| computes_unseen(&rank.sums)).count();
    facts.number("computing_unseen", unseen as f64);
    if unseen > 0 {
        let ranks = if unseen == 1 { "a rank".to_owned() } else { format!("{unseen} ranks") };
        facts.text("computing_unseen_of", ranks);
        return;
    }
    // What a rank did that was lost, or that hung while the others stood still, is no measure.
    let unmeasured = unmeasured_ranks(profile);
    let measured = || profile.ranks.iter().filter(|rank| !unmeasured.contains(&rank.rank));
    if measured().count() < 2 {
        return;
    }
    let each = measured().map(|rank| (rank.rank, computed(&rank.sums)));
    let Some(most) = each.clone().map(|(_, time)| time).max() else { return };
    // Of ranks that compute alike, the one for which the others wait is told.
    let alike = each.clone().filter(|(_, time)| *time as f64 >= AS_LONG * most as f64);
    let mut waits = BTreeMap::<u32, u128>::new();
    for (peer, blame) in profile.ranks.iter().flat_map(waited_for_others) {
        *waits.entry(peer).or_default() += blame.time();
    }
    let awaited = |rank: u32| waits.get(&rank).copied().unwrap_or(0);
    let told = alike.clone().max_by_key(|(rank, time)| (awaited(*rank), *time));
    let Some((rank, most)) = told else { return };
    let mean = each.map(|(_, time)| time as f64).sum::<f64>() / measured().count() as f64;
    match alike.count() - 1 {
        0 => {}
        1 => facts.text("outside_alike", "Another rank computes".to_owned()),
        others => facts.text("outside_alike", format!("{others} other ranks compute")),
    }
    if most == 0 {
        return;
    }
    facts.number("outside_balance", 100.0 * mean / most as f64);
    facts.text("outside_who", format!("rank {rank}"));
    facts.number("outside_max", most as f64 / 1e9);
    facts.number("outside_mean", mean / 1e9);
    facts.number("outside_cost", (most as f64 - mean) / 1e9);
    facts.number("outside_sum", (most as f64 - mean) * measured().count() as f64 / 1e9);
}
