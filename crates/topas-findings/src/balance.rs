//! How even the time outside of MPI is, as far as that is what ranks compute.

use topas_mpi_data::{MpiProfile, computed, computes_unseen};

use crate::fact::FactValues;

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
    let each = profile.ranks.iter().map(|rank| (rank.rank, computed(&rank.sums)));
    let Some((rank, most)) = each.clone().max_by_key(|(_, time)| *time) else { return };
    let mean = each.map(|(_, time)| time as f64).sum::<f64>() / profile.ranks.len() as f64;
    if most == 0 {
        return;
    }
    facts.number("outside_balance", 100.0 * mean / most as f64);
    facts.text("outside_who", format!("rank {rank}"));
    facts.number("outside_max", most as f64 / 1e9);
    facts.number("outside_mean", mean / 1e9);
    facts.number("outside_cost", (most as f64 - mean) / 1e9);
    facts.number("outside_sum", (most as f64 - mean) * profile.ranks.len() as f64 / 1e9);
}
