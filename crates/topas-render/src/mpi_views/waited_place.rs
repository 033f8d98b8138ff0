//! In which routine, and where in the source, the others wait for a rank, and what that does then.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use topas_mpi_data::{
    Blame, LaunchPartner, LaunchPath, MpiProfile, RoutineNumber, Routines, delayed_before_end,
    waited_for_others, waited_for_rank,
};

use super::callers::caller;
use super::paths::PathViews;

/// A kind of wait is told with its place if ranks wait there for one part in so many of what they wait for a rank: a fifth.
const MUCH: u128 = 5;

/// A kind of wait for another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// It sent late
    LateSender,
    /// It received late
    LateReceiver,
    /// It came last to a collective
    Collective,
}

impl WaitKind {
    const ALL: [WaitKind; 3] = [WaitKind::LateSender, WaitKind::LateReceiver, WaitKind::Collective];

    /// The kind that has most of what was waited for a rank.
    pub(super) fn longest(blame: &Blame) -> WaitKind {
        let longest = WaitKind::ALL.into_iter().max_by_key(|kind| kind.time(blame));
        longest.unwrap_or(WaitKind::Collective)
    }

    /// What of it is of this kind, in ns.
    fn time(self, blame: &Blame) -> u128 {
        match self {
            WaitKind::LateSender => blame.late.time,
            WaitKind::LateReceiver => blame.late_receiver.time,
            WaitKind::Collective => blame.collective.time,
        }
    }

    /// Why ranks wait so for a rank.
    pub(super) const fn because(self) -> &'static str {
        match self {
            WaitKind::LateSender => "because it sends late",
            WaitKind::LateReceiver => "because it receives late",
            WaitKind::Collective => "because it comes late to collectives",
        }
    }

    /// The same in a routine.
    pub(super) fn because_in(self, routine: RoutineNumber) -> &'static str {
        let is = |names: &[&str]| routine.function().is_some_and(|of| of.is_one_of(names));
        match self {
            WaitKind::LateSender if is(&["MPI_Win_start", "MPI_Win_complete"]) => {
                "because it posts its window late"
            }
            WaitKind::LateSender if is(&["MPI_Win_wait"]) => "because it ends its access late",
            WaitKind::LateSender if is(&["MPI_Win_lock", "MPI_Win_lock_all"]) => {
                "because it gives its lock back late"
            }
            WaitKind::Collective if is(&["MPI_Finalize"]) => "because it comes there last",
            kind => kind.because(),
        }
    }
}

/// All paths by which other ranks waited for a rank, or its own threads for each other.
fn waiting_for(
    views: &PathViews,
    rank: u32,
) -> impl Iterator<Item = (&LaunchPath, &LaunchPartner)> {
    views.paths.paths.iter().flat_map(move |path| {
        path.partners.iter().filter(move |of| of.peer == rank).map(move |partner| (path, partner))
    })
}

/// What other ranks waited for a partner, in all or of one kind, in ns.
fn waited(partner: &LaunchPartner, kind: Option<WaitKind>) -> u128 {
    kind.map_or(partner.by_others.time(), |kind| kind.time(&partner.by_others))
}

/// That of the routines which `is` wants in which ranks waited most for a rank, in all or for one kind, and how long
/// they did there, in ns.
fn longest_waited(
    views: &PathViews,
    rank: u32,
    kind: Option<WaitKind>,
    is: impl Fn(RoutineNumber) -> bool,
) -> Option<(RoutineNumber, u128)> {
    let mut all = BTreeMap::<RoutineNumber, u128>::new();
    for (path, partner) in waiting_for(views, rank) {
        if let Some(routine) = path.sums.routine.filter(|routine| is(*routine)) {
            *all.entry(routine).or_default() += waited(partner, kind);
        }
    }
    all.into_iter().max_by_key(|(_, time)| *time).filter(|(_, time)| *time > 0)
}

/// That routine of a kind, and whether half of what ranks waited for the rank for this reason
/// in the routines is there.
pub(super) fn routine_and_most(
    views: &PathViews,
    rank: u32,
    kind: WaitKind,
    is: impl Fn(RoutineNumber) -> bool + Copy,
) -> Option<(RoutineNumber, bool)> {
    let (routine, time) = longest_waited(views, rank, Some(kind), is)?;
    let in_these = |(path, _): &(&LaunchPath, &LaunchPartner)| path.sums.routine.is_some_and(is);
    let waits = waiting_for(views, rank).filter(in_these);
    let all: u128 = waits.map(|(_, partner)| waited(partner, Some(kind))).sum();
    Some((routine, 2 * time >= all))
}

/// That routine alone.
pub(super) fn routine_waited(
    views: &PathViews,
    rank: u32,
    kind: Option<WaitKind>,
    is: impl Fn(RoutineNumber) -> bool,
) -> Option<RoutineNumber> {
    longest_waited(views, rank, kind, is).map(|(routine, _)| routine)
}

/// Where the others wait for a rank, and what that does then: a sentence. Of all waits or of a kind, and of a kind where
/// they wait before the end, because a rank comes to `MPI_Finalize` once, which is told by itself. If what they wait there
/// arises before, all waits are those before the end, too.
pub fn where_waited(
    views: &PathViews,
    profile: &MpiProfile,
    rank: u32,
    kind: Option<WaitKind>,
) -> Option<String> {
    /// Of a kind, ranks wait for the rank at least for one part in so many of all waits of the kind.
    const LEAST: u128 = 20;
    let of_kind = |blame: &Blame| kind.map_or(blame.time(), |kind| kind.time(blame));
    let waits = profile.ranks.iter().flat_map(waited_for_others);
    let all: u128 = waits.map(|(_, blame)| of_kind(&blame)).sum();
    let its = of_kind(&waited_for_rank(profile, rank));
    // What begins in it may be waited for others alone.
    if kind.is_some() && its * LEAST < all {
        return None;
    }
    let is_all = kind.is_none() && delayed_before_end(profile, rank, &profile.ranks).is_none();
    let is_before = |of: RoutineNumber| is_all || !of.is_edge();
    let before = routine_waited(views, rank, kind, is_before);
    let routine = before.or_else(|| routine_waited(views, rank, kind, |_| true))?;
    place(views, profile, rank, (kind, kind), routine)
}

/// Where else they wait for the rank, of a kind or of all, nearly as long as there, and longer than `least` ns, in a sentence behind
/// a blank; None if there is no such place. The end is told by itself.
fn also_there(
    views: &PathViews,
    routines: &Routines,
    (rank, least): (u32, u128),
    kind: Option<WaitKind>,
    named: &[WaitedPlace],
) -> Option<String> {
    /// At least one part in so many of the first place is nearly as long: a half.
    const NEARLY: u128 = 2;
    let mut times = BTreeMap::<(&str, String), u128>::new();
    for (path, partner) in waiting_for(views, rank) {
        let Some(number) = path.sums.routine.filter(|number| !number.is_edge()) else { continue };
        let place = (routines.name(number), views.innermost(path));
        *times.entry(place).or_default() += waited(partner, kind);
    }
    let is_named = |(routine, from): &(&str, String)| {
        named.iter().any(|place| (&*place.routine, &place.from) == (routine, from))
    };
    let (first, others): (Vec<_>, Vec<_>) = times.iter().partition(|(place, _)| is_named(place));
    let first = first.into_iter().map(|(_, time)| *time).max()?;
    let ((routine, from), time) = others.into_iter().max_by_key(|(_, time)| **time)?;
    (*time > least && NEARLY * time >= first)
        .then(|| format!(" They also wait for it in {routine}, from {from}."))
}

/// A rank, and the tenth of all that is waited for it, also asleep between calls that ask, in ns: a second place has more.
fn worth_a_place(profile: &MpiProfile, rank: u32) -> (u32, u128) {
    (rank, waited_for_rank(profile, rank).time() / 10)
}

/// The same, in calls of a routine, and where else they wait nearly as long, of the kind `also` or of all.
pub(super) fn place(
    views: &PathViews,
    profile: &MpiProfile,
    rank: u32,
    (kind, also): (Option<WaitKind>, Option<WaitKind>),
    routine: RoutineNumber,
) -> Option<String> {
    let first = [WaitedPlace::of(views, profile, rank, kind, routine)?];
    let also = also_there(views, &profile.routines, worth_a_place(profile, rank), also, &first);
    Some(in_words(&first) + &also.unwrap_or_default())
}

/// The kinds of wait of which a routine has much of what ranks wait for a rank, with this routine, those with most first.
/// They wait in `MPI_Finalize` once, so of a kind it is taken only if they wait little before.
fn worth_naming(views: &PathViews, rank: u32) -> Vec<(WaitKind, RoutineNumber)> {
    let all: u128 = waiting_for(views, rank).map(|(_, partner)| waited(partner, None)).sum();
    let longest = |kind: WaitKind| {
        let is_much = |(_, time): &(RoutineNumber, u128)| time.saturating_mul(MUCH) >= all;
        let before = longest_waited(views, rank, Some(kind), |routine| !routine.is_edge());
        let any = || longest_waited(views, rank, Some(kind), |_| true);
        let (routine, time) = before.filter(is_much).or_else(|| any().filter(is_much))?;
        Some((time, kind, routine))
    };
    let mut longest: Vec<_> = WaitKind::ALL.into_iter().filter_map(longest).collect();
    longest.sort_by_key(|(time, ..)| Reverse(*time));
    longest.into_iter().map(|(_, kind, routine)| (kind, routine)).collect()
}

/// Where the others wait for a rank, for each kind of wait that is worth naming: some sentences, none of which names a
/// place again.
pub(crate) fn places_waited(views: &PathViews, profile: &MpiProfile, rank: u32) -> Option<String> {
    let worth_naming = worth_naming(views, rank);
    // Of many places that have little each, the first one stands for all.
    if worth_naming.is_empty() {
        return where_waited(views, profile, rank, None);
    }
    let mut places: Vec<Vec<WaitedPlace>> = Vec::new();
    for (kind, routine) in worth_naming {
        let Some(place) = WaitedPlace::of(views, profile, rank, Some(kind), routine) else {
            continue;
        };
        match places.iter_mut().find(|same| same.iter().any(|other| other.is_at(&place))) {
            Some(same) => same.push(place),
            None => places.push(vec![place]),
        }
    }
    let mut words: Vec<String> = places.iter().map(|place| in_words(place)).collect();
    for also in words.iter_mut().skip(1) {
        *also = also.replacen("They wait", "They also wait", 1);
    }
    let also =
        also_there(views, &profile.routines, worth_a_place(profile, rank), None, &places.concat());
    (!words.is_empty()).then(|| words.join(" ") + &also.unwrap_or_default())
}

/// A place where the others wait for a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WaitedPlace {
    /// Why they wait there
    kind: WaitKind,
    /// The routine in which they wait
    routine: String,
    /// From where it is called
    from: String,
    /// By whom, if that is worth a word
    caller: String,
    /// What the rank calls then and from where, if that is known and another place
    its: Option<(String, String)>,
}

impl WaitedPlace {
    /// In calls of a routine, of all waits or of a kind.
    fn of(
        views: &PathViews,
        profile: &MpiProfile,
        rank: u32,
        kind: Option<WaitKind>,
        routine: RoutineNumber,
    ) -> Option<WaitedPlace> {
        let is = |(path, _): &(&LaunchPath, _)| path.sums.routine == Some(routine);
        let there = || waiting_for(views, rank).filter(is);
        let (path, partner) = there().max_by_key(|(_, partner)| waited(partner, kind))?;
        let amounts: Vec<_> = there().map(|(path, of)| (path, waited(of, kind))).collect();
        let place = |path: &LaunchPath| {
            let name = path.sums.routine.map_or("MPI", |routine| profile.routines.name(routine));
            (name.to_owned(), views.innermost(path))
        };
        let (routine, from) = place(path);
        let its = partner.peer_path.and_then(|id| views.paths.path(id)).map(place);
        Some(WaitedPlace {
            kind: kind.unwrap_or_else(|| WaitKind::longest(&partner.by_others)),
            caller: caller(views, path, &amounts),
            its: its.filter(|(its, late)| (its, late) != (&routine, &from)),
            routine,
            from,
        })
    }

    /// Whether a reader takes it for the same place as another.
    fn is_at(&self, other: &WaitedPlace) -> bool {
        (&self.routine, &self.from) == (&other.routine, &other.from)
    }

    /// What the rank does then.
    fn does(&self) -> Option<String> {
        let (its, late) = self.its.as_ref()?;
        let does = match self.kind {
            _ if its.starts_with("Win_") => "comes to",
            WaitKind::LateSender => "sends in",
            WaitKind::LateReceiver => "receives in",
            WaitKind::Collective => "comes to",
        };
        Some(format!("{does} {its}, from {late}"))
    }
}

/// One place, where the others wait for a reason or for several, in a sentence.
fn in_words(place: &[WaitedPlace]) -> String {
    let Some(WaitedPlace { routine, from, caller, .. }) = place.first() else {
        return String::new();
    };
    let mut text = format!("They wait for it in {routine}, from {from}{caller}");
    if place.len() > 1 {
        let because: Vec<&str> = place.iter().map(|one| one.kind.because()).collect();
        text += &format!(", {}", because.join(" and "));
    }
    let does: Vec<String> = place.iter().filter_map(WaitedPlace::does).collect();
    if !does.is_empty() {
        text += &format!("; it {}", does.join(", and "));
    }
    text + "."
}

#[cfg(test)]
mod tests {
    use topas_mpi_data::{
        CallPathSums, LaunchPaths, PathAmounts, PathEnding, Slack, SourceFrames, Waiting,
    };

    use super::*;

    fn place(kind: WaitKind, routine: &str, its: Option<&str>) -> WaitedPlace {
        WaitedPlace {
            kind,
            routine: routine.to_owned(),
            from: "main (ring.c:7)".to_owned(),
            caller: String::new(),
            its: its.map(|its| (its.to_owned(), "main (ring.c:5)".to_owned())),
        }
    }

    #[test]
    fn a_place_with_several_reasons_is_named_once() {
        let exchange = |kind| place(kind, "Sendrecv", None);
        let (sends, receives) = (exchange(WaitKind::LateSender), exchange(WaitKind::LateReceiver));
        assert!(sends.is_at(&receives));
        assert_eq!(
            in_words(&[sends.clone(), receives]),
            "They wait for it in Sendrecv, from main (ring.c:7), because it sends late and because it receives late."
        );
        assert_eq!(in_words(&[sends]), "They wait for it in Sendrecv, from main (ring.c:7).");
        let completes = |kind, its| place(kind, "Waitall", Some(its));
        let both =
            [completes(WaitKind::LateSender, "Isend"), completes(WaitKind::LateReceiver, "Irecv")];
        assert_eq!(
            in_words(&both),
            "They wait for it in Waitall, from main (ring.c:7), because it sends late and because it receives late; it \
             sends in Isend, from main (ring.c:5), and receives in Irecv, from main (ring.c:5)."
        );
    }

    /// Paths of these routines in which ranks wait so long for rank 1, of a kind each.
    fn waits(all: &[(&str, WaitKind, u128)]) -> PathViews {
        let mut paths = LaunchPaths::default();
        let mut routines = Routines::default();
        for (id, (routine, kind, time)) in (0..).zip(all) {
            let waiting = Waiting { time: *time, ..Waiting::default() };
            let mut blame = Blame::default();
            match kind {
                WaitKind::LateSender => blame.late = waiting,
                WaitKind::LateReceiver => blame.late_receiver = waiting,
                WaitKind::Collective => blame.collective = waiting,
            }
            let partner = LaunchPartner {
                peer: 1,
                peer_path: None,
                blame,
                by_others: blame,
                slack: Slack::default(),
                ranks: Vec::new(),
            };
            let sums = CallPathSums {
                routine: routines.number(routine),
                frames: Vec::new(),
                ending: PathEnding::Outermost,
                amounts: PathAmounts::default(),
                number: None,
            };
            paths.paths.push(LaunchPath { id, sums, ranks: Vec::new(), partners: vec![partner] });
        }
        let source = SourceFrames::default();
        PathViews { paths, source, by_rank: false, nameless: Vec::new() }
    }

    #[test]
    fn a_place_where_they_wait_nearly_as_long_is_named_too() {
        let also = |times: [u128; 3]| {
            let [bcast, reduce, end] = times;
            let kind = WaitKind::Collective;
            let views = waits(&[
                ("Bcast", kind, bcast),
                ("Allreduce", kind, reduce),
                ("Finalize", kind, end),
            ]);
            let from =
                views.paths.paths.first().map(|path| views.innermost(path)).unwrap_or_default();
            let first = WaitedPlace { from, ..place(kind, "Bcast", None) };
            also_there(&views, &Routines::default(), (1, 0), Some(kind), &[first])
        };
        let words = also([996, 987, 9000]).expect("a second place");
        assert!(words.starts_with(" They also wait for it in Allreduce, from "), "{words}");
        assert_eq!([also([996, 400, 9000]), also([996, 0, 9000])], [None, None]);
    }

    #[test]
    fn a_place_that_has_little_is_not_named() {
        let (sender, collective) = (WaitKind::LateSender, WaitKind::Collective);
        let named = |all: &[(&str, WaitKind, u128)]| -> Vec<String> {
            let routines = Routines::default();
            let worth_naming = worth_naming(&waits(all), 1).into_iter();
            worth_naming.map(|(_, routine)| routines.name(routine).to_owned()).collect()
        };
        let all = [("Sendrecv", sender, 1709), ("Comm_dup", collective, 30)];
        assert_eq!(named(&all), ["Sendrecv"]);
        // What little they wait in another collective does not stand for the end.
        let end = ("Finalize", collective, 1780);
        assert_eq!(named(&[all[0], all[1], end]), ["Finalize", "Sendrecv"]);
        let all = [("Sendrecv", sender, 1709), ("Bcast", collective, 900), end];
        assert_eq!(named(&all), ["Sendrecv", "Bcast"]);
    }
}
