//! In which routine, and where in the source, the others wait for a rank, and what that does then.

use std::collections::BTreeMap;

use topas_mpi_data::{
    Blame, LaunchPartner, LaunchPath, MpiProfile, RoutineNumber, delayed_before_end,
};

use super::callers::caller;
use super::paths::PathViews;

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
fn waited(partner: &LaunchPartner, kind: Option<WaitKind>) -> u128 {
    kind.map_or(partner.blame.time(), |kind| kind.time(&partner.blame))
}

/// That of the routines which `is` wants in which ranks waited most for a rank, in all or for one kind.
pub(super) fn routine_waited(
    views: &PathViews,
    rank: u32,
    kind: Option<WaitKind>,
    is: impl Fn(RoutineNumber) -> bool,
) -> Option<RoutineNumber> {
    let mut all = BTreeMap::<RoutineNumber, u128>::new();
    for (path, partner) in waiting_for(views, rank) {
        if let Some(routine) = path.sums.routine.filter(|routine| is(*routine)) {
            *all.entry(routine).or_default() += waited(partner, kind);
        }
    }
    let (routine, time) = all.into_iter().max_by_key(|(_, time)| *time)?;
    (time > 0).then_some(routine)
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
    let is_all = kind.is_none() && delayed_before_end(profile, rank, &profile.ranks).is_none();
    let is_before = |of: RoutineNumber| is_all || !of.is_edge();
    let before = routine_waited(views, rank, kind, is_before);
    let routine = before.or_else(|| routine_waited(views, rank, kind, |_| true))?;
    place(views, profile, rank, kind, routine)
}

/// The same, in calls of a routine.
pub(super) fn place(
    views: &PathViews,
    profile: &MpiProfile,
    rank: u32,
    kind: Option<WaitKind>,
    routine: RoutineNumber,
) -> Option<String> {
    let there = || waiting_for(views, rank).filter(|(path, _)| path.sums.routine == Some(routine));
    let (path, partner) = there().max_by_key(|(_, partner)| waited(partner, kind))?;
    let amounts: Vec<_> = there().map(|(path, of)| (path, waited(of, kind))).collect();
    let place = |path: &LaunchPath| {
        let name = path.sums.routine.map_or("MPI", |routine| profile.routines.name(routine));
        (name.to_owned(), views.innermost(path))
    };
    let (routine, waiting) = place(path);
    let caller = caller(views, path, &amounts);
    let mut text = format!("They wait for it in {routine}, from {waiting}{caller}");
    let its = partner.peer_path.and_then(|id| views.paths.path(id)).map(place);
    if let Some((its, late)) = its.filter(|its| *its != (routine, waiting)) {
        let does = match kind.unwrap_or_else(|| WaitKind::longest(&partner.blame)) {
            _ if its.starts_with("Win_") => "comes to",
            WaitKind::LateSender => "sends in",
            WaitKind::LateReceiver => "receives in",
            WaitKind::Collective => "comes to",
        };
        text += &format!("; it {does} {its}, from {late}");
    }
    Some(text + ".")
}
