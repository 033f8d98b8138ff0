//! The sentence that names the rank for which the others wait, and where in its code.

use topas_mpi_data::{
    Blame, CallersTime, DelayBeginning, DelayOrigins, MpiProfile, OutsideRank, RoutineCalls,
    RoutineNumber, compute_as_long, computing, is_longer, waited_for_itself,
};

use super::absent::absent_ranks;
use super::alike;
use super::amount::routine_name;
use super::between;
use super::charge::Charge;
use super::charged_rank::{ChargedRank, ReasonOfWaits};
use super::followed::{self, NOT_FOLLOWED, is_followed, less_than_half};
use super::held_up;
use super::late_to_init;
use super::paths::PathViews;
use super::standing;
use super::waited_place::{WaitKind, place, routine_and_most, routine_waited, where_waited};
use super::waits::{Parts, are_measured, blamed_outside, waited as waited_in, waited_by_others};
use crate::number::{percent_of, seconds};
use crate::wording::named;

/// Waits of less than this part of the time of all ranks name nobody: a hundredth.
pub(super) const WORTH_A_NAME: u128 = 100;

/// From this part of that time on a rank is said to make the others wait: a fiftieth.
pub(super) const WORTH_A_CHARGE: u128 = 50;

/// Ranks wait mostly in a routine if what they sleep between calls that ask in vain is at most so many times as long.
const MOSTLY: u128 = 4;

/// In tenths of what is waited for a rank: from there on what begins in it is told, too, because the delay reaches others.
const REACHES_OTHERS: u128 = 11;

/// What the ranks waited for each other in all routines, in ns: without what threads of a rank waited for that.
fn waited_in_all(profile: &MpiProfile) -> u128 {
    let all: u128 = profile.total.routines.iter().map(|routine| waited_in(profile, routine)).sum();
    let itself: u128 = profile.ranks.iter().map(|rank| waited_for_itself(rank).time()).sum();
    all.saturating_sub(itself)
}

/// The same with the time in which they slept between calls that asked in vain.
fn waited_or_slept(profile: &MpiProfile) -> u128 {
    waited_in_all(profile) + between::slept(profile)
}

/// What a profile tells of the waits of its ranks.
pub(crate) struct MeasuredWaits {
    /// What the ranks waited for each other or slept between calls that asked in vain, in ns
    pub(crate) time: u128,
    /// The rank that makes the others wait, if one does
    pub(crate) rank: Option<u32>,
    /// Whether the ranks wait for each other in turn, so that none does. Of ranks in which several threads call MPI delays are
    /// not followed, which may hide one
    pub(crate) is_in_turn: bool,
    /// What is known of the waits leads to another rank than this one, which calls no MPI: see [`HeldUp`]
    ///
    /// [`HeldUp`]: topas_mpi_data::HeldUp
    pub(crate) is_probable: bool,
}

/// What a profile tells of the waits of its ranks; None if waits were not told apart.
pub(crate) fn measured(profile: &MpiProfile) -> Option<MeasuredWaits> {
    if !are_measured(profile) {
        return None;
    }
    let origins = DelayOrigins::of(profile, Blame::time);
    let all = waited_by_others(profile);
    let waited = waited_or_slept(profile);
    let charge = Charge::of(profile, &all, &origins, waited);
    Some(MeasuredWaits {
        time: waited,
        rank: charge.as_ref().and_then(Charge::rank),
        is_in_turn: matches!(charge, Some(Charge::Turns)) && is_followed(profile),
        is_probable: matches!(charge, Some(Charge::Held(..))),
    })
}

/// What is said first: which ranks stand still or were lost, which came late to `MPI_Init`, and which rank makes the
/// others wait.
pub(super) fn first_sentence(profile: &MpiProfile, paths: Option<&PathViews>) -> Option<String> {
    let (init, mut waits) = (late_to_init::sentence(profile), sentence(profile, paths));
    if init.is_some() {
        waits = waits.as_deref().map(late_to_init::later);
    }
    joined([standing::sentence(profile, paths), init, waits])
}

/// Sentences behind each other; None if there is none.
fn joined(sentences: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let said: Vec<String> = sentences.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// Which rank makes the others wait; nothing if waits were not told apart.
pub(crate) fn sentence(profile: &MpiProfile, paths: Option<&PathViews>) -> Option<String> {
    if !are_measured(profile) {
        return None;
    }
    let callers = CallersTime::of(profile);
    let (wall, whose) = (callers.time, callers.whose());
    let waited = waited_or_slept(profile);
    let told = |routine: &RoutineCalls| Parts::of(profile, routine).told();
    // That is told first of ranks of which there is no profile.
    let absent = absent_ranks(profile);
    let untold = untold(profile.total.routines.iter(), told, wall / WORTH_A_NAME)
        .filter(|_| absent.is_none());
    let not_known = |(routine, time): (RoutineNumber, u128)| {
        format!(
            "{} of it is in calls of which it is not known for whom they wait, most of that in {}.",
            percent_of(time, wall),
            routine_name(profile, routine)
        )
    };
    if waited.saturating_mul(WORTH_A_NAME) < wall {
        // Why calls wait that have not ended nobody knows yet.
        if standing::is_told(profile) {
            return absent;
        }
        let share = percent_of(waited, wall);
        if let Some(absent) = absent {
            return Some(format!(
                "{absent} The others hardly wait for each other: {share} of the time of all {whose}."
            ));
        }
        let hardly =
            format!("anks hardly wait for each other: {share} of the time of all {whose}.");
        let said = match untold {
            None => match otherwise(profile, told) {
                None => format!("R{hardly}"),
                Some((routine, time)) => format!(
                    "R{hardly} {} of it is in MPI for other reasons (transfer, lack of a processor, or waits that \
                     nothing tells), most of that in {}.",
                    percent_of(time, wall),
                    routine_name(profile, routine)
                ),
            },
            Some(untold) => {
                let said = format!("As far as that is told, r{hardly} But {}", not_known(untold));
                // These calls may wait for who calls no MPI meanwhile.
                let longest = alike::computes_longest(profile);
                joined([Some(said), longest]).unwrap_or_default()
            }
        };
        return Some(
            [Some(said), between::of_all(profile, None, waited, "it")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    // Of ranks that stand still, what they wait in the calls that they are in is in no sum.
    let said = charge(profile, paths, waited)
        .filter(|said| !(said.is_little() && standing::is_told(profile)));
    let Some(said) = said else { return absent };
    let charged = match &said {
        Said::Charged(rank) => Some(rank.rank),
        Said::Little(_) | Said::Words(_) => None,
    };
    let mut text = match said {
        Said::Charged(rank) => rank.text(),
        Said::Little(text) => text,
        Said::Words(text) => text + &between::asleep_of(profile, waited),
    };
    // The time of all ranks was told, unless one is named.
    let time = format!("the time of all {whose}");
    let between = between::of_all(profile, charged, waited, &time);
    text.extend(between.map(|said| format!(" {said}")));
    // What is not known may be of another rank.
    if let Some(untold) = untold.filter(|(_, time)| 2 * time >= waited) {
        text += &format!(
            " Of the time of all {whose}, {}",
            not_known(untold).replacen(" of it", "", 1)
        );
    }
    Some(match absent {
        Some(absent) => format!("{absent} {text}"),
        None => text,
    })
}

/// What is said of the waits of ranks.
enum Said {
    /// That one rank is charged with them
    Charged(ChargedRank),
    /// That they are little
    Little(String),
    /// Something else
    Words(String),
}

impl Said {
    fn is_little(&self) -> bool {
        matches!(self, Said::Little(_))
    }
}

/// The rank that is charged with the waits, if one is, and what is said of it.
pub fn charged_rank(profile: &MpiProfile, paths: Option<&PathViews>) -> Option<ChargedRank> {
    if !are_measured(profile) {
        return None;
    }
    let waited = waited_or_slept(profile);
    if waited.saturating_mul(WORTH_A_NAME) < CallersTime::of(profile).time {
        return None;
    }
    match charge(profile, paths, waited)? {
        Said::Charged(rank) => Some(rank),
        Said::Little(_) | Said::Words(_) => None,
    }
}

/// What is said of ranks that waited so long, in ns.
fn charge(profile: &MpiProfile, paths: Option<&PathViews>, waited: u128) -> Option<Said> {
    let callers = CallersTime::of(profile);
    let (wall, whose) = (callers.time, callers.whose());
    let all = waited_by_others(profile);
    let outside = blamed_outside(profile);
    let most = all.first().map_or(0, |(_, blame)| blame.time());
    if let Some((rank, blame)) = outside.first().filter(|(_, blame)| blame.time() > most) {
        let name = named(rank.name(profile).as_bytes());
        return Some(Said::Words(format!(
            "The ranks of this world wait {} s for {name}, {} of their time, {}.",
            seconds(blame.time(), 3),
            percent_of(blame.time(), wall),
            WaitKind::longest(blame).because()
        )));
    }
    let Some((last, blame)) = all.first() else {
        let share = percent_of(waited, wall);
        let text = format!("Ranks wait for each other {share} of the time of all {whose}.");
        return Some(Said::Words(text));
    };
    let origins = DelayOrigins::of(profile, Blame::time);
    let Some(charged) = Charge::of(profile, &all, &origins, waited) else {
        return Some(Said::Little(format!(
            "Ranks wait little for each other: {} of the time of all {whose}, most of it for rank {last} ({} s).",
            percent_of(waited, wall),
            seconds(blame.time(), 3)
        )));
    };
    let (share, time) = (percent_of(blame.time(), wall), seconds(blame.time(), 3));
    let begins_in = |rank: u32| {
        let origin = origins.first().filter(|(first, _)| *first == rank);
        origin.map_or(0, |(_, begins)| (begins * 1e9) as u128).min(waited)
    };
    let followed = |begun: u128| {
        let how = match origins.are_shared() {
            true => "by what each rank computes",
            false => "followed from rank to rank",
        };
        format!(
            "Of {} s that the ranks wait for each other, {} of the time of all {whose}, {} s begin in it, {how}.",
            seconds(waited, 3),
            percent_of(waited, wall),
            seconds(begun.min(waited), 3)
        )
    };
    let mut waits;
    let mut begins = None;
    // `because` is what is waited because of the rank, in ns, if that is at hand.
    let (rank, reason, because) = match charged {
        Charge::Chain(DelayBeginning { first, next, waited, asked }) => {
            let next_rank = profile.ranks.iter().filter(|known| known.rank == next);
            let reason = ReasonOfWaits::of(profile, first, &waited, next_rank);
            let why = mostly_in(profile, paths, first, reason);
            let only = alike::only_waiting(profile, *last).map(|rank| format!("rank {rank} waits"));
            let wait = only.unwrap_or_else(|| "the others wait".to_owned());
            let reached = if next == *last {
                format!("{wait} {time} s for rank {last}")
            } else {
                format!("the delay reaches rank {last}, for which {wait} {time} s")
            };
            waits = format!(
                "Rank {first} makes the others wait: rank {next} waits {} s for it{}{why}; {reached}, \
                 {share} of the time of all {whose}.",
                seconds(waited.time(), 3),
                asleep(asked.slept)
            );
            begins = Some(begins_in(first)).filter(|begun| *begun > 0).map(followed);
            (first, reason, None)
        }
        Charge::Origin(first, begun) => {
            let begun = (begun * 1e9) as u128;
            let its = all.iter().find(|(rank, _)| *rank == first);
            let its = its.map_or(blame, |(_, its)| its);
            let reason = ReasonOfWaits::of(profile, first, its, &profile.ranks);
            // How much of what begins in it reaches the end of MPI is not known.
            let reason = ReasonOfWaits { at_end: None, ..reason };
            let why = mostly_in(profile, paths, first, reason);
            let rest = less_than_half(profile, first, begun, &all, waited);
            waits = match rest {
                None => format!("Rank {first} makes the others wait{why}."),
                Some(_) => format!("The others wait longest for rank {first}{why}."),
            };
            begins = Some(followed(begun) + &rest.unwrap_or_default());
            (first, reason, Some(begun))
        }
        Charge::Late(last) => {
            let reason = ReasonOfWaits::of(profile, last, blame, &profile.ranks);
            let why = mostly_in(profile, paths, last, reason);
            let who = alike::only_waiting_for(profile, last, blame.time());
            let who = who
                .map_or_else(|| "The others wait".to_owned(), |rank| format!("Rank {rank} waits"));
            waits =
                format!("{who} {time} s for rank {last}, {share} of the time of all {whose}{why}.");
            if 10 * begins_in(last) >= REACHES_OTHERS * blame.time() {
                begins = Some(followed(begins_in(last)));
            } else {
                waits += &followed::beside_late(profile, last, blame.time(), &all, waited);
            }
            (last, reason, Some(blame.time().max(begins_in(last))))
        }
        Charge::Held(held, rank) => {
            let its = all.iter().find(|(of, _)| *of == rank).map_or(blame, |(_, its)| its);
            return Some(Said::Charged(held_up::charged(profile, paths, &held, (rank, its))));
        }
        Charge::Turns => return Some(Said::Words(turns(profile, &all, waited))),
    };
    *begins.as_mut().unwrap_or(&mut waits) += &between::asleep_of(profile, waited);
    let is_most = because.unwrap_or_else(|| begins_in(rank)) * 2 >= waited;
    let computes = computing(profile, rank);
    let outside = waits_outside(profile, rank, blame);
    let is_late_otherwise =
        outside.is_some() || computes.is_some_and(|(own, mean)| !is_longer(own, mean));
    let place = paths.and_then(|paths| {
        let is = |routine| reason.is_in(routine);
        let routine = routine_waited(paths, rank, Some(reason.kind), is)?;
        is_most_in(profile, routine, reason.kind).then_some(())?;
        place(paths, profile, rank, (Some(reason.kind), None), routine)
    });
    // Who only collects would wait for any of the others.
    let is_one_of_many = alike::collecting(profile, rank).is_some();
    let second =
        (!is_one_of_many).then(|| second(profile, paths, &origins, rank, waited)).flatten();
    let of_threads = || begins.as_ref().and_then(|_| alike::threads_not_told_apart(profile));
    let hint = alike::not_told_apart(profile, rank, &all, second.is_some()).or_else(of_threads);
    Some(Said::Charged(ChargedRank {
        rank,
        kind: reason.kind,
        is_most,
        is_probable: false,
        as_long: compute_as_long(profile, rank),
        waits,
        begins,
        computes: computes.map(|times| computes_so_long(profile, rank, times, (blame, outside))),
        is_late_otherwise,
        place,
        beside: computes.filter(|_| outside.is_none()).and_then(|(own, mean)| {
            match is_longer(own, mean) {
                true => alike::as_long(profile, rank),
                false => alike::longest(profile, rank),
            }
        }),
        second: joined([second, hint]),
    }))
}

/// The rank of another world for which a rank waits so long that this explains half of what each of the others waits for it
/// or more. `blame` is what they wait all together.
fn waits_outside<'p>(
    profile: &'p MpiProfile,
    rank: u32,
    blame: &Blame,
) -> Option<&'p (OutsideRank, Blame)> {
    let known = profile.ranks.iter().find(|known| known.rank == rank)?;
    let most = known.sums.waits.outside.iter().max_by_key(|(_, waited)| waited.time())?;
    let others = profile.ranks.len().saturating_sub(1) as u128;
    (2 * others * most.1.time() >= blame.time()).then_some(most)
}

/// For which rank but `first` ranks wait, too, of all that they wait, in ns, and where in the source.
fn second(
    profile: &MpiProfile,
    paths: Option<&PathViews>,
    origins: &DelayOrigins<'_>,
    first: u32,
    waited: u128,
) -> Option<String> {
    let (rank, begins) = origins.beside(first)?;
    let begins = (begins * 1e9) as u128;
    (begins.saturating_mul(WORTH_A_CHARGE) >= CallersTime::of(profile).time).then_some(())?;
    let mut text = format!(
        "Rank {rank} makes others wait, too: {} of the {} s that the ranks wait for each other begin in it.",
        seconds(begins, 3),
        seconds(waited, 3)
    );
    if let Some(place) = paths.and_then(|paths| where_waited(paths, profile, rank, None)) {
        text += &format!(" {place}");
    }
    Some(text)
}

/// What a rank computes, and the others on average, in ns; and why it may be late if that is not longer, or it waits itself
/// for a rank `outside` of its world. `blame` is what the others wait for the rank for which they wait most.
fn computes_so_long(
    profile: &MpiProfile,
    rank: u32,
    (own, mean): (u128, u128),
    (blame, outside): (&Blame, Option<&(OutsideRank, Blame)>),
) -> String {
    let text = format!(
        "Rank {rank} computes {} s outside of MPI{}, the others {} s on average",
        seconds(own, 3),
        between::of_rank(profile, rank, (own, own.saturating_sub(mean))).unwrap_or_default(),
        seconds(mean, 3)
    );
    if let Some((outside, waited)) = outside {
        return format!(
            "{text}: it waits itself, {} s for {}, {}.",
            seconds(waited.time(), 3),
            named(outside.name(profile).as_bytes()),
            WaitKind::longest(waited).because()
        );
    }
    if is_longer(own, mean) {
        return text + ".";
    }
    let known = profile.ranks.iter().find(|known| known.rank == rank);
    let routines = known.into_iter().flat_map(|known| &known.sums.routines);
    let told = |routine: &RoutineCalls| {
        let waits = known.map(|known| known.sums.waits.routine(routine.number));
        waits.map_or((0, 0), |waits| (waits.waited(), waits.unknown()))
    };
    let least = (blame.time() / 4).max(CallersTime::of(profile).time / WORTH_A_NAME);
    text + &match untold(routines, told, least) {
        None => ": it does not compute longer, so it is late because it waits itself, because the ranks take \
             turns, or because it lacks a processor in MPI."
            .to_owned(),
        Some((routine, time)) => format!(
            ": it does not compute longer, and is late because it waits itself: it is {} s in calls of which \
             it is not known for whom they wait, most of that in {}.",
            seconds(time, 3),
            routine_name(profile, routine)
        ),
    }
}

/// As much of a wait in which the rank slept.
fn asleep(slept: u128) -> String {
    /// Less would be told as 0.000 s.
    const LEAST: u128 = 500_000;
    match slept {
        ..LEAST => String::new(),
        _ => format!(" ({} s of that asleep between calls that asked in vain)", seconds(slept, 3)),
    }
}

/// That the ranks wait for each other alike.
fn turns(profile: &MpiProfile, all: &[(u32, Blame)], waited: u128) -> String {
    /// Ranks that are named.
    const NAMED: usize = 4;
    let callers = CallersTime::of(profile);
    // A log tells in which rank a wait begins, which need not be the one that was waited for.
    let what = if profile.logged.is_some() { "begin in" } else { "for" };
    let one =
        |(rank, blame): &(u32, Blame)| format!("{} s {what} rank {rank}", seconds(blame.time(), 3));
    let mut words: Vec<String> = all.iter().take(NAMED).map(one).collect();
    if all.len() > NAMED {
        words.push("less for others".to_owned());
    }
    let end = if is_followed(profile) { "No rank causes most of it." } else { NOT_FOLLOWED };
    let longest = alike::computes_longest(profile).map_or(String::new(), |said| format!(" {said}"));
    format!(
        "The ranks wait for each other in turn, {} of the time of all {}: {}. {end}{longest}",
        percent_of(waited, callers.time),
        callers.whose(),
        words.join(", ")
    )
}

/// The time in calls of which nobody tells for whom they wait, if for anybody, in ns, and the routine that has most of
/// it; None if it is less than `least`. `told` is what of the time of a routine was waited for others, and of what
/// nobody knows whether it was.
pub(super) fn untold<'r>(
    routines: impl Iterator<Item = &'r RoutineCalls>,
    told: impl Fn(&RoutineCalls) -> (u128, u128),
    least: u128,
) -> Option<(RoutineNumber, u128)> {
    let times = routines.map(|of| {
        let (waited, unknown) = told(of);
        let rest = of.time.saturating_sub(waited);
        (of.number, if of.number.waits_for_untold() { rest } else { unknown })
    });
    let (mut time, mut most) = (0, None::<(RoutineNumber, u128)>);
    for (number, own) in times {
        time += own;
        // Of several with the same time the last one.
        if most.is_none_or(|(_, longest)| own >= longest) {
            most = Some((number, own));
        }
    }
    let (number, _) = most?;
    (time > 0 && time >= least).then_some((number, time))
}

/// The time in MPI between its start and its end that is neither known to be waiting nor of which nobody knows whether
/// it is, in ns, and the routine that has most of it; None if it is not worth a word.
fn otherwise(
    profile: &MpiProfile,
    told: impl Fn(&RoutineCalls) -> (u128, u128),
) -> Option<(RoutineNumber, u128)> {
    /// The part of all time from which on it is: a twentieth.
    const WORTH_A_WORD: u128 = 20;
    let between = profile.total.routines.iter().filter(|of| !of.number.is_edge());
    let times = between.map(|of| {
        let (waited, unknown) = told(of);
        (of.number, of.time.saturating_sub(waited).saturating_sub(unknown))
    });
    let time = times.clone().map(|(_, time)| time).sum::<u128>();
    let (number, _) = times.max_by_key(|(_, time)| *time)?;
    (time.saturating_mul(WORTH_A_WORD) >= CallersTime::of(profile).time).then_some((number, time))
}

/// Whether ranks waited in a routine for this reason, and not nearly all the time asleep between calls that asked in vain, of others.
fn is_most_in(profile: &MpiProfile, number: RoutineNumber, kind: WaitKind) -> bool {
    let routine = profile.total.routines.iter().find(|routine| routine.number == number);
    let known = routine.map_or(0, |of| Parts::of(profile, of).known()[kind as usize]);
    known > 0 && (number.asks() || MOSTLY * known >= between::slept(profile))
}

/// The routine in which ranks waited longest for a rank, and why; "mostly" if half of what is for this reason is there.
/// Without call paths nobody knows in which routine a rank waited for which other: then the one in which most of this kind was
/// waited.
fn mostly_in(
    profile: &MpiProfile,
    paths: Option<&PathViews>,
    rank: u32,
    reason: ReasonOfWaits,
) -> String {
    let kind = reason.kind;
    let is = |routine| reason.is_in(routine);
    let by_path = paths.and_then(|paths| routine_and_most(paths, rank, kind, is));
    let routine = by_path.or_else(|| {
        let routines = profile.total.routines.iter().filter(|routine| is(routine.number));
        let time = |routine| Parts::of(profile, routine).known()[kind as usize];
        let times = routines.map(|routine| (routine.number, time(routine)));
        let all: u128 = times.clone().map(|(_, time)| time).sum();
        let (number, time) = times.max_by_key(|(_, time)| *time)?;
        Some((number, 2 * time >= all))
    });
    let routine = routine.filter(|(routine, _)| is_most_in(profile, *routine, kind));
    let Some((routine, is_most)) = routine else { return String::new() };
    let (name, because) = (routine_name(profile, routine), kind.because_in(routine));
    let mostly = if is_most { "mostly" } else { "longest" };
    match reason.at_end {
        None => format!(", {mostly} in {name} {because}"),
        Some(at_end) => format!(
            ", {} s of it in Finalize, to which it comes last, and before that {mostly} in {name} {because}",
            seconds(at_end, 3)
        ),
    }
}
