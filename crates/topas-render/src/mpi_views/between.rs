//! What ranks do between calls that asked in vain for what others had not begun. They may compute there, or wait without giving
//! up their processors: the profile does not tell that.

use std::collections::BTreeMap;

use topas_mpi_data::{AskedInVain, CallersTime, MpiProfile};

use super::culprit::WORTH_A_NAME;
use crate::number::{percent_of, seconds};

/// The time in which a process did not sleep, in ns.
fn busy(asked: &AskedInVain) -> u128 {
    asked.between.time.saturating_sub(asked.slept)
}

/// That a rank which computes so long, in ns, and so much longer than others, does most of the latter between such calls.
pub(super) fn of_rank(
    profile: &MpiProfile,
    rank: u32,
    (own, longer): (u128, u128),
) -> Option<String> {
    let known = profile.ranks.iter().find(|known| known.rank == rank)?;
    let asked = &known.sums.waits.asked;
    let all: u128 = asked.iter().map(|(_, asked)| busy(asked)).sum();
    let (first, _) = asked.iter().max_by_key(|(_, asked)| busy(asked))?;
    // The way from one question to the next is no computing.
    let all = all.min(own);
    (2 * all >= longer && all.saturating_mul(WORTH_A_NAME) >= known.sums.wall).then(|| {
        format!(
            " ({} s of that between calls that asked in vain for what others had not begun, most of all rank {first})",
            seconds(all, 3)
        )
    })
}

/// That all ranks together spent much of their time so; None if they did not.
pub(super) fn of_all(profile: &MpiProfile) -> Option<String> {
    /// Much is one part of so many.
    const MUCH: u128 = 10;
    let mut for_whom = BTreeMap::<u32, u128>::new();
    for (peer, asked) in profile.ranks.iter().flat_map(|rank| &rank.sums.waits.asked) {
        *for_whom.entry(*peer).or_default() += busy(asked);
    }
    let all: u128 = for_whom.values().sum();
    let (first, most) = for_whom.into_iter().max_by_key(|(_, time)| *time)?;
    let callers = CallersTime::of(profile);
    (all.saturating_mul(MUCH) >= callers.time).then(|| {
        format!(
            "For {} s, {} of it, they were outside of MPI between calls that asked in vain for what others had not begun, {} s \
             of that for rank {first}: they computed meanwhile, or only passed time.",
            seconds(all, 3),
            percent_of(all, callers.time),
            seconds(most, 3)
        )
    })
}
