//! The sentence that names the rank for which the others wait, and where in its code.

use std::collections::BTreeMap;

use topas_mpi_data::{
    Blame, CallersTime, DelayBeginning, LaunchPartner, LaunchPath, MpiProfile, RoutineCalls,
    RoutineNumber, computing, delay_origins, is_longer,
};

use super::amount::routine_name;
use super::paths::PathViews;
use super::standing;
use super::waits::{Parts, are_measured, blamed, blamed_outside, waited as waited_in};
use crate::number::{percent_of, seconds};
use crate::wording::named;

/// Waits of less than this part of the time of all ranks name nobody: a hundredth.
const WORTH_A_NAME: u128 = 100;

/// From this part of that time on a rank is said to make the others wait: a fiftieth.
const WORTH_A_CHARGE: u128 = 50;

/// What is said of a kind of wait.
const BECAUSE: [&str; 3] =
    ["because it sends late", "because it receives late", "because it comes late to collectives"];

/// What is said of a kind of wait in a routine.
fn because(routine: RoutineNumber, kind: usize) -> &'static str {
    match routine.function() {
        Some(of) if kind == 0 && of.is_one_of(&["MPI_Win_start", "MPI_Win_complete"]) => {
            "because it posts its window late"
        }
        Some(of) if kind == 0 && of.is_one_of(&["MPI_Win_wait"]) => {
            "because it ends its access late"
        }
        Some(of) if kind == 2 && of.is_one_of(&["MPI_Finalize"]) => "because it comes there last",
        _ => BECAUSE[kind],
    }
}

/// What the ranks waited for each other in all routines, in ns.
fn waited_in_all(profile: &MpiProfile) -> u128 {
    profile.total.routines.iter().map(|routine| waited_in(profile, routine)).sum()
}

/// What the ranks waited for each other, in ns, and the rank that makes them wait, if that is told; None if waits were
/// not told apart.
pub(crate) fn measured(profile: &MpiProfile) -> Option<(u128, Option<u32>)> {
    if !are_measured(profile) {
        return None;
    }
    let (waited, time) = (waited_in_all(profile), CallersTime::of(profile).time);
    let last = blamed(profile).into_iter().next();
    let last = last.filter(|(_, blame)| blame.time().saturating_mul(WORTH_A_CHARGE) >= time);
    let last = last.map(|(rank, _)| rank);
    let first = |last| DelayBeginning::of(profile, last).map_or(last, |beginning| beginning.first);
    Some((waited, last.map(first)))
}

/// What is said first: which ranks stand still or were lost, and which rank makes the others wait.
pub(super) fn first_sentence(profile: &MpiProfile, paths: Option<&PathViews>) -> Option<String> {
    let both = [standing::sentence(profile, paths), sentence(profile, paths)];
    let said: Vec<String> = both.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// The rank in which at least half of all waits begin.
fn most_begins_in(profile: &MpiProfile) -> Option<u32> {
    let origins = delay_origins(profile, Blame::time);
    let all = blamed(profile).iter().map(|(_, blame)| blame.time()).sum::<u128>() as f64 / 1e9;
    let (first, time) = origins.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (2.0 * time >= all).then_some(first)
}

/// Which rank makes the others wait; nothing if waits were not told apart.
pub(crate) fn sentence(profile: &MpiProfile, paths: Option<&PathViews>) -> Option<String> {
    if !are_measured(profile) {
        return None;
    }
    let callers = CallersTime::of(profile);
    let (wall, whose) = (callers.time, callers.whose());
    let waited = waited_in_all(profile);
    if waited.saturating_mul(WORTH_A_NAME) < wall {
        // Why calls wait that have not ended nobody knows yet.
        if standing::is_told(profile) {
            return None;
        }
        let share = percent_of(waited, wall);
        let told = |routine: &RoutineCalls| Parts::of(profile, routine).waits.waited();
        let untold = untold(profile.total.routines.iter(), told, wall / WORTH_A_NAME);
        return Some(match untold {
            None => {
                format!("Ranks hardly wait for each other: {share} of the time of all {whose}.")
            }
            Some((routine, time)) => format!(
                "As far as that is told, ranks hardly wait for each other: {share} of the time of all {whose}. But \
                 {} of it is in calls of which it is not known for whom they wait, most of that in {}.",
                percent_of(time, wall),
                routine_name(profile, routine)
            ),
        });
    }
    let all = blamed(profile);
    let outside = blamed_outside(profile);
    let most = all.first().map_or(0, |(_, blame)| blame.time());
    if let Some((rank, blame)) = outside.first().filter(|(_, blame)| blame.time() > most) {
        let name = named(rank.name(profile).as_bytes());
        return Some(format!(
            "The ranks of this world wait {} s for {name}, {} of their time, {}.",
            seconds(blame.time(), 3),
            percent_of(blame.time(), wall),
            BECAUSE[longest_kind(blame)]
        ));
    }
    let Some((last, blame)) = all.first() else {
        let share = percent_of(waited, wall);
        return Some(format!("Ranks wait for each other {share} of the time of all {whose}."));
    };
    if blame.time().saturating_mul(WORTH_A_CHARGE) < wall {
        return Some(format!(
            "Ranks wait little for each other: {} of the time of all {whose}, most of it for rank {last} ({} s).",
            percent_of(waited, wall),
            seconds(blame.time(), 3)
        ));
    }
    let (share, time) = (percent_of(blame.time(), wall), seconds(blame.time(), 3));
    let mut text;
    let (rank, kind) = match DelayBeginning::of(profile, *last) {
        Some(DelayBeginning { first, next, waited }) => {
            let kind = longest_kind(&waited);
            let why = mostly_in(profile, paths, first, kind);
            let reached = if next == *last {
                format!("the others wait {time} s for rank {last}")
            } else {
                format!("the delay reaches rank {last}, for which the others wait {time} s")
            };
            text = format!(
                "Rank {first} makes the others wait: rank {next} waits {} s for it{why}; {reached}, \
                 {share} of the time of all {whose}.",
                seconds(waited.time(), 3)
            );
            (first, kind)
        }
        None => {
            let kind = longest_kind(blame);
            let why = mostly_in(profile, paths, *last, kind);
            text = format!(
                "The others wait {time} s for rank {last}, {share} of the time of all {whose}{why}."
            );
            if 2 * blame.time() < waited {
                let of_all = percent_of(blame.time(), waited);
                text += &format!(" That is {of_all} of what they wait for each other: ");
                text += &match most_begins_in(profile) {
                    Some(first) => {
                        format!("followed from rank to rank, most of it begins in rank {first}.")
                    }
                    None => "no rank causes most of it.".to_owned(),
                };
            }
            (*last, kind)
        }
    };
    if let Some((own, mean)) = computing(profile, rank) {
        text += &format!(
            " Rank {rank} computes {} s outside of MPI, the others {} s on average",
            seconds(own, 3),
            seconds(mean, 3)
        );
        text += &if is_longer(own, mean) {
            ".".to_owned()
        } else {
            let known = profile.ranks.iter().find(|known| known.rank == rank);
            let routines = known.into_iter().flat_map(|known| &known.sums.routines);
            let told = |routine: &RoutineCalls| {
                known.map_or(0, |known| known.sums.waits.routine(routine.number).waited())
            };
            match untold(routines, told, (blame.time() / 4).max(wall / WORTH_A_NAME)) {
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
        };
    }
    if let Some(place) = paths.and_then(|paths| place(paths, profile, rank, Some(kind))) {
        text += " ";
        text += &place;
    }
    Some(text)
}

/// The time in calls that may wait and of which nobody tells for whom, in ns, and the routine that has most of
/// it; None if it is less than `least`. `told` is what of the time of a routine is told.
fn untold<'r>(
    routines: impl Iterator<Item = &'r RoutineCalls>,
    told: impl Fn(&RoutineCalls) -> u128,
    least: u128,
) -> Option<(RoutineNumber, u128)> {
    let these = routines.filter(|of| of.number.waits_for_untold());
    let times = these.map(|of| (of.number, of.time.saturating_sub(told(of))));
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

/// The kinds of a wait, in ns.
fn kinds(blame: &Blame) -> [u128; 3] {
    [blame.late.time, blame.late_receiver.time, blame.collective.time]
}

fn longest_kind(blame: &Blame) -> usize {
    let kinds = kinds(blame);
    (0..kinds.len()).max_by_key(|kind| kinds[*kind]).unwrap_or_default()
}

/// The routine in which ranks waited most for a rank, and why. Without call paths nobody knows in
/// which routine a rank waited for which other: then the one in which most of this kind was waited.
fn mostly_in(profile: &MpiProfile, paths: Option<&PathViews>, rank: u32, kind: usize) -> String {
    let by_path = paths.and_then(|paths| routine_waited(paths, rank, Some(kind)));
    let routine = by_path.or_else(|| {
        let routines = profile.total.routines.iter();
        let longest = routines.max_by_key(|routine| Parts::of(profile, routine).known()[kind]);
        longest.map(|routine| routine.number)
    });
    routine.map_or_else(String::new, |routine| {
        format!(", mostly in {} {}", routine_name(profile, routine), because(routine, kind))
    })
}

/// All paths by which ranks waited for a rank.
fn waiting_for(
    views: &PathViews,
    rank: u32,
) -> impl Iterator<Item = (&LaunchPath, &LaunchPartner)> {
    views.paths.paths.iter().flat_map(move |path| {
        path.partners.iter().filter(move |of| of.peer == rank).map(move |partner| (path, partner))
    })
}

/// What was waited for a partner, in all or of one kind, in ns.
fn waited(partner: &LaunchPartner, kind: Option<usize>) -> u128 {
    kind.map_or(partner.blame.time(), |kind| kinds(&partner.blame)[kind])
}

/// The routine in which ranks waited most for a rank, in all or for one kind.
fn routine_waited(views: &PathViews, rank: u32, kind: Option<usize>) -> Option<RoutineNumber> {
    let mut all = BTreeMap::<RoutineNumber, u128>::new();
    for (path, partner) in waiting_for(views, rank) {
        if let Some(routine) = path.sums.routine {
            *all.entry(routine).or_default() += waited(partner, kind);
        }
    }
    let (routine, time) = all.into_iter().max_by_key(|(_, time)| *time)?;
    (time > 0).then_some(routine)
}

/// Where the others wait for a rank, and what that does then: a sentence.
pub fn where_waited(views: &PathViews, profile: &MpiProfile, rank: u32) -> Option<String> {
    place(views, profile, rank, None)
}

/// The same, of all waits or of one kind.
fn place(
    views: &PathViews,
    profile: &MpiProfile,
    rank: u32,
    kind: Option<usize>,
) -> Option<String> {
    let routine = routine_waited(views, rank, kind)?;
    let there = waiting_for(views, rank).filter(|(path, _)| path.sums.routine == Some(routine));
    let (path, partner) = there.max_by_key(|(_, partner)| waited(partner, kind))?;
    let place = |path: &LaunchPath| {
        let name = path.sums.routine.map_or("MPI", |routine| profile.routines.name(routine));
        (name.to_owned(), views.innermost(path))
    };
    let (routine, waiting) = place(path);
    let mut text = format!("They wait for it in {routine}, from {waiting}");
    let its = partner.peer_path.and_then(|id| views.paths.path(id)).map(place);
    if let Some((its, late)) = its.filter(|its| *its != (routine, waiting)) {
        let does = match kind.unwrap_or_else(|| longest_kind(&partner.blame)) {
            _ if its.starts_with("Win_") => "comes to",
            0 => "sends in",
            1 => "receives in",
            _ => "comes to",
        };
        text += &format!("; it {does} {its}, from {late}");
    }
    Some(text + ".")
}
