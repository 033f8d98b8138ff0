//! What ranks do between calls that asked in vain for what others had not begun. They may compute there, or wait without giving
//! up their processors for long: the profile does not tell that.

use std::collections::BTreeMap;

use topas_mpi_data::{CallersTime, MpiProfile, between_questions, on_the_way_to_ask};

use super::culprit::WORTH_A_NAME;
use crate::number::{percent_of, seconds};

/// That a rank which computes so long, in ns, and so much longer than others, does most of the latter between such calls.
pub(super) fn of_rank(
    profile: &MpiProfile,
    rank: u32,
    (own, longer): (u128, u128),
) -> Option<String> {
    let known = profile.ranks.iter().find(|known| known.rank == rank)?;
    let all: u128 = between_questions(&known.sums).map(|(_, time)| time).sum();
    let (first, _) = between_questions(&known.sums).max_by_key(|(_, time)| *time)?;
    let all = all.min(own);
    (2 * all >= longer && all.saturating_mul(WORTH_A_NAME) >= known.sums.wall).then(|| {
        format!(
            " ({} s of that between calls that asked in vain for what others had not begun, most of all rank {first})",
            seconds(all, 3)
        )
    })
}

/// That all ranks together spent much of their time so, or all but one of which it is told by itself: more than they waited in
/// ns. None if they did not. `of` is what the time of all ranks is called.
pub(super) fn of_all(
    profile: &MpiProfile,
    but: Option<u32>,
    waited: u128,
    of: &str,
) -> Option<String> {
    /// Much is one part of so many.
    const MUCH: u128 = 10;
    let mut for_whom = BTreeMap::<u32, u128>::new();
    let ranks = profile.ranks.iter().filter(|rank| Some(rank.rank) != but);
    for (peer, time) in ranks.flat_map(|rank| between_questions(&rank.sums)) {
        *for_whom.entry(peer).or_default() += time;
    }
    let all: u128 = for_whom.values().sum();
    let (first, most) = for_whom.into_iter().max_by_key(|(_, time)| *time)?;
    let callers = CallersTime::of(profile);
    let they = if but.is_some() { "the others" } else { "they" };
    (all > waited && all.saturating_mul(MUCH) >= callers.time).then(|| {
        format!(
            "For {} s, {} of {of}, {they} were outside of MPI between calls that asked in vain for what others had not begun, \
             {} s of that for rank {first}: they computed meanwhile, or only passed time.",
            seconds(all, 3),
            percent_of(all, callers.time),
            seconds(most, 3)
        )
    })
}

/// How long ranks slept between calls that asked in vain, in ns.
pub(super) fn slept(profile: &MpiProfile) -> u128 {
    profile.ranks.iter().map(|rank| rank.sums.waits.slept()).sum()
}

/// How much of what ranks waited they slept, and how much they were on the way to the next question besides, as far as that is
/// worth a sentence.
pub(super) fn asleep_of(profile: &MpiProfile, waited: u128) -> String {
    /// The part of it: a tenth.
    const WORTH_A_SENTENCE: u128 = 10;
    let is_worth = |time: u128| time > 0 && time.saturating_mul(WORTH_A_SENTENCE) >= waited;
    let mut text = String::new();
    let slept = slept(profile);
    if is_worth(slept) {
        text += &format!(
            " They sleep {} s of the {} s that they wait for each other between calls that ask in vain.",
            seconds(slept, 3),
            seconds(waited, 3)
        );
    }
    let way = profile.ranks.iter().map(|rank| on_the_way_to_ask(&rank.sums)).sum();
    if is_worth(way) {
        text += &format!(
            " From calls that ask in vain to the next ones they take {} s more, in which they compute nothing.",
            seconds(way, 3)
        );
    }
    text
}
