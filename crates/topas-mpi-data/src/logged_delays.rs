//! In which ranks the waits of a run begin, as its event log tells that: the sums of a profile do not know what came
//! first, and take ranks that are late one after the other for one.

use std::collections::BTreeMap;

use super::delay::{computed, computing, is_longer, waited_for_others};
use super::timeline::{TimeClass, Timeline, TimelineRow};
use super::{Blame, MpiProfile, WaitFigures};

/// A log tells in which ranks waits begin if it has so much of the time of the ranks, and of what the profile has
/// measured of waits.
const NEARLY_ALL: f64 = 0.9;

/// In which ranks waits begin, and at which calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedDelays {
    /// What the others wait because of each rank, directly or handed on, by the kinds of these waits
    begins: BTreeMap<u32, Blame>,
    /// The same by the rank that waits for it directly, the number of its call path there, and the late rank, by the kinds of
    /// wait at these calls
    places: BTreeMap<(u32, u32, u32), Blame>,
}

impl LoggedDelays {
    /// Of the log of the launch of a profile. None if much is missing in the log, if it lacks much of what the profile has
    /// measured, or if ranks slept between calls that asked in vain: no log knows for whom.
    pub fn of(timeline: &Timeline<'_>, profile: &MpiProfile) -> Option<LoggedDelays> {
        let is_whole = timeline.worlds.len() == 1
            && timeline.missing_ranks == 0
            && timeline.damage.is_empty()
            && !timeline.is_cut
            && !timeline.is_partial();
        if !is_whole {
            return None;
        }
        let waits = || profile.ranks.iter().map(|rank| &rank.sums.waits);
        let measured = profile.ranks.iter().flat_map(waited_for_others);
        let measured = measured.map(|(_, blame)| blame.time()).sum::<u128>() as f64;
        let slept = waits().map(WaitFigures::slept).sum::<u128>() as f64;
        let outside = waits().flat_map(|waits| &waits.outside);
        let outside = outside.map(|(_, blame)| blame.time()).sum::<u128>() as f64;
        let sum = |of: fn(&TimelineRow) -> u64| timeline.rows.iter().map(of).sum::<u64>() as f64;
        // Ranks wait in `MPI_Finalize`, which the log sees begin and not end.
        let unended = sum(TimelineRow::unended_wait);
        let is_told = measured > 0.0
            && sum(TimelineRow::waited) + unended >= NEARLY_ALL * measured
            && slept.max(outside).max(unended) <= (1.0 - NEARLY_ALL) * measured;
        if !is_told {
            return None;
        }
        let rank_of = |row: u32| {
            let row = timeline.rows.get(row as usize)?;
            Some(timeline.processes.get(row.process)?.1.rank)
        };
        let mut delays = LoggedDelays::default();
        for (place, times) in &timeline.delay_places {
            let (Some(late), Some(waiting)) = (rank_of(place.late), rank_of(place.waiting)) else {
                continue;
            };
            delays.begins.entry(late).or_default().add(&Blame::of_times(*times));
            let mut there = [0; 3];
            if let Some(of_kind) = there.get_mut(place.kind as usize) {
                *of_kind = times.iter().sum();
            }
            let of = delays.places.entry((waiting, place.path, late)).or_default();
            of.add(&Blame::of_times(there));
        }
        (!delays.contradict(profile)).then_some(delays)
    }

    /// Whether most waits seem to begin in a rank that computes no longer than the others, though another one computes much
    /// longer: then ranks lacked a processor, or a message did not go on while a rank computed.
    fn contradict(&self, profile: &MpiProfile) -> bool {
        let most = self.begins.iter().max_by_key(|(_, blame)| blame.time());
        let of = |rank: u32| computing(profile, rank);
        let is_innocent =
            most.and_then(|(rank, _)| of(*rank)).is_some_and(|(own, mean)| !is_longer(own, mean));
        let longest = profile.ranks.iter().max_by_key(|rank| computed(&rank.sums));
        let longest = longest.and_then(|rank| of(rank.rank));
        is_innocent && longest.is_some_and(|(own, mean)| 2 * own >= 3 * mean)
    }

    /// The ranks in which waits begin, in order, with the waits by their kinds.
    pub fn begins(&self) -> impl Iterator<Item = (u32, Blame)> {
        self.begins.iter().map(|(rank, blame)| (*rank, *blame))
    }

    /// What begins in a rank, in ns.
    pub fn begins_in(&self, rank: u32) -> u128 {
        self.begins.get(&rank).map_or(0, Blame::time)
    }

    /// The same as [`LoggedDelays::begins`] by the kinds of the waits at whose calls they begin: others, to which a delay is handed on, may be
    /// of other kinds.
    pub fn begins_at_calls(&self) -> impl Iterator<Item = (u32, Blame)> {
        self.places.iter().map(|((_, _, late), blame)| (*late, *blame))
    }

    /// What begins in `late` while a rank waits for it in the call path of this number.
    pub(super) fn at(&self, rank: u32, path: u32, late: u32) -> Blame {
        self.places.get(&(rank, path, late)).copied().unwrap_or_default()
    }
}

impl MpiProfile {
    /// Adds in which ranks waits begin, as the event log of the launch tells it, or that this does not.
    pub fn follow(&mut self, timeline: &Timeline<'_>) {
        self.logged = LoggedDelays::of(timeline, self);
        self.is_log_silent = self.logged.is_none();
    }
}

impl Timeline<'_> {
    /// Whether the log lacks much of the time of the ranks.
    pub fn is_partial(&self) -> bool {
        let times = self.rows.iter().flat_map(|row| row.times).sum::<u64>();
        let lost = self.rows.iter().map(|row| row.times[TimeClass::NotInLog as usize]).sum::<u64>();
        lost as f64 > (1.0 - NEARLY_ALL) * times as f64
    }
}
