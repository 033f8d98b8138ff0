//! Which rank is charged with the waits of a launch.

use topas_mpi_data::{
    Blame, CallersTime, DelayBeginning, DelayOrigins, HeldUp, MpiProfile, compute_as_long,
    far_ahead, leading, own_waits, seems_to_begin, take_turns, waited_for_others,
};

use super::culprit::WORTH_A_CHARGE;

/// Waits of less than this part of the time of all ranks are little, if none for one rank is worth a charge: a twentieth.
const LITTLE: u128 = 20;

/// Which rank makes the others wait, as far as sums tell that.
pub(super) enum Charge {
    /// It makes a rank wait, and the others wait for that, or for one that waits for that
    Chain(DelayBeginning),
    /// Most of the waits, or more than in any other, so many seconds, begin in it, and are handed on from rank to rank
    Origin(u32, f64),
    /// The others wait for it more than for any other
    Late(u32),
    /// Another one, which calls no MPI, probably holds up this rank, for which the others wait
    Held(HeldUp, u32),
    /// None: the ranks wait for each other
    Turns,
}

impl Charge {
    /// `all` is what was waited for each rank, most first, and `waited` what ranks waited together, in ns; None if
    /// that is little.
    pub(super) fn of(
        profile: &MpiProfile,
        all: &[(u32, Blame)],
        origins: &DelayOrigins<'_>,
        waited: u128,
    ) -> Option<Charge> {
        let charge = Charge::by_waits(profile, all, origins, waited)?;
        let rank = charge.rank().or(all.first().map(|(last, _)| *last))?;
        Some(HeldUp::of(profile, rank).map_or(charge, |held| Charge::Held(held, rank)))
    }

    /// The same by what is waited for each rank.
    fn by_waits(
        profile: &MpiProfile,
        all: &[(u32, Blame)],
        origins: &DelayOrigins<'_>,
        waited: u128,
    ) -> Option<Charge> {
        let (last, most) = all.first()?;
        let whole = CallersTime::of(profile).time;
        let is_worth = |time: u128| time.saturating_mul(WORTH_A_CHARGE) >= whole;
        let is_alone = is_worth(most.time());
        if !is_alone && waited.saturating_mul(LITTLE) < whole {
            return None;
        }
        // An event log has followed all waits to their begin.
        let is_late = is_alone && profile.logged.is_none();
        let beginning = is_late.then(|| DelayBeginning::of(profile, *last)).flatten();
        if let Some(beginning) = beginning {
            return Some(Charge::Chain(beginning));
        }
        let time = |blame: &Blame| blame.time() as f64 / 1e9;
        let sum = all.iter().map(|(_, blame)| time(blame)).sum();
        let times = all.iter().map(|(rank, blame)| (*rank, time(blame)));
        let takes_turns = take_turns(profile, *last, time(most));
        let leads = leading(times, sum, |rank| own_waits(profile, *rank)).is_some()
            && is_alone
            && !seems_to_begin(profile, *last, time(most));
        let origin = (!leads).then(|| origins.first()).flatten();
        let origin = origin.or_else(|| origins.handed_on(*last));
        if let Some((rank, time)) = origin.filter(|(_, time)| is_worth((time * 1e9) as u128)) {
            return Some(Charge::Origin(rank, time));
        }
        // Ranks that do not wait themselves are late together.
        let is_close = |(_, blame): &(u32, Blame)| 3.0 * time(blame) > 2.0 * time(most);
        let are_alike =
            all.get(1).is_some_and(is_close) && 2.0 * own_waits(profile, *last) >= time(most);
        // Where one rank collects what many give, each of these is late in turn.
        let also = || compute_as_long(profile, *last).len();
        let is_one_of_many = 2.0 * time(most) < sum && 2 * also() >= profile.ranks.len() - 1;
        let is_ahead = far_ahead(profile, Blame::time) == Some(*last);
        let take_turns = !leads && !is_ahead && (are_alike || takes_turns || is_one_of_many);
        let is_handed_on = || profile.logged.is_some() && !is_direct(profile, *last, most.time());
        Some(match () {
            () if take_turns || !is_alone => Charge::Turns,
            () if is_handed_on() => Charge::Origin(*last, time(most)),
            () => Charge::Late(*last),
        })
    }

    /// The rank that is charged.
    pub(super) fn rank(&self) -> Option<u32> {
        match self {
            Charge::Chain(beginning) => Some(beginning.first),
            Charge::Origin(rank, _) | Charge::Late(rank) => Some(*rank),
            Charge::Held(held, _) => Some(held.by),
            Charge::Turns => None,
        }
    }
}

/// Whether what begins in a rank, in ns, is about what the others wait for it directly.
fn is_direct(profile: &MpiProfile, late: u32, begins: u128) -> bool {
    /// In tenths of what they wait
    const ABOUT: std::ops::RangeInclusive<u128> = 9..=11;
    let waits = profile.ranks.iter().flat_map(waited_for_others);
    let direct =
        waits.filter(|(peer, _)| *peer == late).map(|(_, blame)| blame.time()).sum::<u128>();
    (direct * ABOUT.start()..=direct * ABOUT.end()).contains(&(10 * begins))
}
