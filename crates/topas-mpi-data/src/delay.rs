//! Where a delay began: a rank that makes others wait may have waited itself.

use crate::{Blame, MpiProfile, outside_of_rank};

/// A rank computes longer than the others from a twentieth above their mean on.
const LONGER: u128 = 20;

/// Where the delay of a rank began.
#[derive(Clone, Copy, Debug)]
pub struct DelayBeginning {
    /// The rank that computes longer than the others
    pub first: u32,
    /// The rank that waited for it
    pub next: u32,
    /// How long that rank waited for it, and why
    pub waited: Blame,
}

impl DelayBeginning {
    /// A rank that is late may have waited itself, and the rank for which it waited, too: where that began,
    /// because a rank computes longer. None if the rank itself does, or if the waits lead to none that does.
    pub fn of(profile: &MpiProfile, late: u32) -> Option<DelayBeginning> {
        let mut delayed = vec![late];
        let mut found = None;
        loop {
            let next = *delayed.last()?;
            let (own, mean) = computing(profile, next)?;
            if is_longer(own, mean) {
                return found;
            }
            let (first, waited, all) = awaited_most(profile, next)?;
            let passed_on = profile.ranks.iter().flat_map(|other| &other.sums.waits.blamed);
            let passed_on = passed_on.filter(|(peer, _)| *peer == next);
            let passed_on = passed_on.map(|(_, blame)| blame.time()).max().unwrap_or(0);
            // Its own waits are as much as half of what another rank waited for this one, else its delay is another;
            // and they are for one rank above all.
            let is_handed_on = 2 * all >= passed_on && 2 * waited.time() >= all;
            if delayed.contains(&first) || !is_handed_on {
                return None;
            }
            delayed.push(first);
            found = Some(DelayBeginning { first, next, waited });
        }
    }
}

/// What a rank computes, and the mean of all others, in ns; None if that is not known.
pub fn computing(profile: &MpiProfile, rank: u32) -> Option<(u128, u128)> {
    let (mut own, mut others, mut count) = (None, 0, 0);
    for known in &profile.ranks {
        let outside = outside_of_rank(&known.sums);
        if known.rank == rank {
            own = Some(outside);
        } else {
            others += outside;
            count += 1;
        }
    }
    let mean = u128::checked_div(others, count)?;
    Some((own?, mean))
}

/// Whether a rank that computes so long computes longer than the others, whose mean this is.
pub const fn is_longer(own: u128, mean: u128) -> bool {
    own > mean + mean / LONGER
}

/// Whom a rank waited for most, how long, and how long it waited for all others, in ns.
fn awaited_most(profile: &MpiProfile, rank: u32) -> Option<(u32, Blame, u128)> {
    let known = profile.ranks.iter().find(|known| known.rank == rank)?;
    let others = || known.sums.waits.blamed.iter().filter(|(peer, _)| *peer != rank);
    let most = others().max_by_key(|(peer, blame)| (blame.time(), std::cmp::Reverse(*peer)))?;
    Some((most.0, most.1, others().map(|(_, blame)| blame.time()).sum()))
}
