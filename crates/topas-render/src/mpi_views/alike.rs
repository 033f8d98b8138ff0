//! What the other ranks are like beside one that is named: which compute as long, or longer, and which wait for it.

use topas_mpi_data::{
    Blame, MpiProfile, compute_as_long, computed, computing, has_one_caller, is_longer,
    unmeasured_ranks, waited_for_others, waited_for_rank,
};

use super::standing::rank_words;
use crate::number::seconds;
use crate::wording::capital;

/// That few other ranks compute as long as this one, which does so longer than the mean of all others; or that all do but
/// the only one that waits for it.
pub(crate) fn as_long(profile: &MpiProfile, rank: u32) -> Option<String> {
    /// Ranks that are named at most, and no more than half of all.
    const FEW: usize = 3;
    let also = compute_as_long(profile, rank);
    let are_few = (1..=FEW).contains(&also.len()) && 2 * also.len() <= profile.ranks.len();
    let (compute, them) = if also.len() == 1 { ("computes", "it") } else { ("compute", "them") };
    let who = capital(&rank_words(&also));
    let as_long = match longer(profile, rank, &also) {
        0 => "as long",
        some if some < also.len() => "as long or longer",
        _ => "longer",
    };
    match collecting(profile, rank) {
        Some(waiting) => Some(format!(
            "{who} {compute} {as_long}, so rank {waiting} would wait for {them} as well."
        )),
        None => are_few.then(|| format!("{who} {compute} {as_long}.")),
    }
}

/// The only rank that waits for this one, if all others compute as long as that, as where one rank collects what many give.
pub(super) fn collecting(profile: &MpiProfile, rank: u32) -> Option<u32> {
    let waiting = only_waiting(profile, rank)?;
    (compute_as_long(profile, rank).len() + 2 == profile.ranks.len()).then_some(waiting)
}

/// That sums cannot tell which of two ranks is late where: this one, and another one of which that is told, or which computes as
/// long and for which ranks wait at least half as long. `all` is what ranks wait for each.
pub(super) fn not_told_apart(
    profile: &MpiProfile,
    rank: u32,
    all: &[(u32, Blame)],
    has_second: bool,
) -> Option<String> {
    let of =
        |rank: u32| all.iter().find(|(other, _)| *other == rank).map_or(0, |(_, its)| its.time());
    let is_like = |other: &u32| 2 * of(*other) >= of(rank).max(1);
    let is_like_another =
        || as_long(profile, rank).is_some() && compute_as_long(profile, rank).iter().any(is_like);
    log_tells(profile, "which of them is late where").filter(|_| has_second || is_like_another())
}

/// That sums cannot tell which thread of a rank waits, where waits are followed through ranks of which one thread makes
/// nearly all the time of calls: another one may be late in a short call.
pub(super) fn threads_not_told_apart(profile: &MpiProfile) -> Option<String> {
    log_tells(profile, "which thread of a rank waits").filter(|_| profile.total.threads > 1)
}

/// That an event log tells what the sums of a run do not, where these are followed and there is no log yet.
fn log_tells(profile: &MpiProfile, what: &str) -> Option<String> {
    let has_log = profile.logged.is_some() || profile.is_log_silent;
    (!has_log && has_one_caller(profile)).then(|| {
        format!("The sums of a run do not tell {what}; an event log of the whole run does: topas-run --mpi=log,waits.")
    })
}

/// How many of some ranks compute more than a twentieth longer than this one.
fn longer(profile: &MpiProfile, rank: u32, others: &[u32]) -> usize {
    let time = |rank: u32| {
        let known = profile.ranks.iter().find(|known| known.rank == rank);
        known.map_or(0, |known| computed(&known.sums))
    };
    others.iter().filter(|other| is_longer(time(**other), time(rank))).count()
}

/// The only one of several other ranks that waits for a rank, but for a small part of what is waited for it.
pub(super) fn only_waiting(profile: &MpiProfile, late: u32) -> Option<u32> {
    /// A small part is less than one of so many.
    const SMALL: u128 = 20;
    let others = profile.ranks.iter().filter(|rank| rank.rank != late);
    let times: Vec<(u32, u128)> = others
        .flat_map(|rank| {
            waited_for_others(rank).map(|(peer, blame)| (rank.rank, peer, blame.time()))
        })
        .filter(|(_, peer, _)| *peer == late)
        .map(|(rank, _, time)| (rank, time))
        .collect();
    let all: u128 = times.iter().map(|(_, time)| time).sum();
    let (rank, most) = times.into_iter().max_by_key(|(_, time)| *time)?;
    (profile.ranks.len() > 2 && most > all - all / SMALL).then_some(rank)
}

/// The same if this is all that is waited for the rank, in ns: by an event log waits of other ranks may begin in it, too.
pub(super) fn only_waiting_for(profile: &MpiProfile, late: u32, time: u128) -> Option<u32> {
    /// A small part is less than one of so many.
    const SMALL: u128 = 50;
    let all = waited_for_rank(profile, late).time();
    only_waiting(profile, late).filter(|_| time <= all + all / SMALL)
}

/// That another rank computes longest, if it does so longer than the others: what MPI has begun may not go on meanwhile.
pub(super) fn longest(profile: &MpiProfile, rank: u32) -> Option<String> {
    longest_of_all(profile).filter(|(most, _)| *most != rank).map(|(most, (own, _))| {
        format!(
            "Rank {most} computes longest, {} s: while a rank calls no MPI, what others have begun with it may not go on.",
            seconds(own, 3)
        )
    })
}

/// That a rank computes half as long again as the others, or longer, where none is named.
pub(super) fn computes_longest(profile: &MpiProfile) -> Option<String> {
    let longest = longest_of_all(profile).filter(|(_, (own, mean))| 2 * own >= 3 * mean);
    longest.map(|(most, (own, mean))| {
        format!(
            "Rank {most} computes longest, {} s outside of MPI, the others {} s on average.",
            seconds(own, 3),
            seconds(mean, 3)
        )
    })
}

/// The rank that computes longest, and for how long, and the others on average, in ns; None if it does not do so longer than
/// these.
fn longest_of_all(profile: &MpiProfile) -> Option<(u32, (u128, u128))> {
    let lost = unmeasured_ranks(profile);
    let others = profile.ranks.iter().filter(|known| !lost.contains(&known.rank));
    let most = others.max_by_key(|known| computed(&known.sums))?.rank;
    let times = computing(profile, most).filter(|(own, mean)| is_longer(*own, *mean))?;
    Some((most, times))
}
