//! Worlds of spawned processes: which rank of which world started another.

use topas_mpi_profile::layout::{Header, WorldStart};
use topas_mpi_profile::lines::text as text_of;
use topas_mpi_profile::parse::StartedWorldToken;
use topas_mpi_profile::sums::TickLength;

use super::profile::{MpiProfile, MpiRecordFacts};
use super::routine::{RoutineNumber, Routines};

/// How far the clocks of two nodes may be apart, in ns.
const CLOCKS: u64 = 100_000_000;

/// A world that a rank started by `MPI_Comm_spawn` or `MPI_Comm_spawn_multiple`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedWorld {
    /// Name of the program, without its directory; of several programs that of the first
    pub command: Box<[u8]>,
    /// Processes
    pub ranks: u32,
    /// When the call began, in ns since 1970
    pub began: u64,
    /// How long it took, in ns
    pub nanoseconds: u64,
    /// The routine; None if this version does not know it
    pub routine: Option<RoutineNumber>,
    /// Number of its call path in its rank; None if paths were not counted
    pub path: Option<u32>,
    /// Hash of the launcher's name of the rank's own world; None if the launcher names none
    world: Option<u64>,
    /// [`SpawnedWorld::launcher`] of the rank's own world
    launcher: u64,
}

impl StartedWorld {
    /// Those that the mapped file of a rank tells.
    pub(super) fn of(header: &Header, tick: &TickLength) -> Vec<StartedWorld> {
        let worlds = &header.worlds;
        let one = |start: &WorldStart| {
            let since = tick.nanoseconds(start.began.wrapping_sub(header.began.ticks));
            StartedWorld {
                command: text_of(&start.command).into(),
                ranks: start.ranks,
                began: header.began.realtime.saturating_add(since),
                nanoseconds: tick.nanoseconds(start.ended.wrapping_sub(start.began)),
                routine: start.function.checked_sub(1).map(RoutineNumber),
                path: (start.path > 0).then_some(start.path.into()),
                world: (worlds.name != 0).then_some(worlds.name),
                launcher: worlds.launcher,
            }
        };
        worlds.started.iter().take(worlds.count as usize).map(one).collect()
    }

    /// Of a line.
    pub(super) fn of_token(token: &StartedWorldToken<'_>, routines: &mut Routines) -> Self {
        StartedWorld {
            command: token.command.bytes().collect(),
            ranks: token.ranks,
            began: token.began,
            nanoseconds: token.nanoseconds,
            routine: routines.number(&String::from_utf8_lossy(token.routine)),
            path: (token.path > 0).then_some(token.path),
            world: (token.world != 0).then_some(token.world),
            launcher: token.launcher,
        }
    }

    /// Whether a moment in ns since 1970 is in the call, give or take so much.
    fn covers(&self, moment: u64, tolerance: u64) -> bool {
        let from = self.began.saturating_sub(tolerance);
        (from..=self.began.saturating_add(self.nanoseconds).saturating_add(tolerance))
            .contains(&moment)
    }
}

/// A call that started a world, and the rank that was its root.
pub type WorldCall<'p> = (u32, &'p StartedWorld);

/// That ranks of one profile started the world of another.
#[derive(Clone, Debug)]
pub struct WorldLink<'p> {
    /// The world that started it
    pub parent: &'p MpiProfile,
    /// The calls of which each may have started it: mostly one
    pub calls: Vec<WorldCall<'p>>,
    /// The world that was started
    pub child: &'p MpiProfile,
}

impl<'p> WorldLink<'p> {
    /// The call that started the world; None if it may have been another as well.
    pub fn call(&self) -> Option<WorldCall<'p>> {
        match *self.calls {
            [one] => Some(one),
            _ => None,
        }
    }
}

impl MpiRecordFacts {
    /// Whether two worlds, one of which at least was started by a rank of another one, come from one launch: their launcher
    /// has the same name.
    pub fn is_of_launch_of(&self, other: &MpiRecordFacts) -> bool {
        self.launcher != 0
            && self.launcher == other.launcher
            && (self.uid, &self.job) == (other.uid, &other.job)
            && self.spawned.or(other.spawned).is_some()
    }
}

/// A call of which nobody knows yet which world it started.
struct FreeCall<'p> {
    parent: &'p MpiProfile,
    rank: u32,
    start: &'p StartedWorld,
}

/// Which of these worlds started which others, in the order of the calls. A world that ranks of more than one world may
/// have started has no link.
///
/// Open MPI up to version 4 tells a world which rank started it. Other MPIs tell only that one did: ranks that are
/// started come to `MPI_Init` during the call that starts them, which returns when all are there. A launcher that is
/// known is that of both worlds. Each call starts one world, so a call whose world is known started no other.
pub fn world_links(profiles: &[MpiProfile]) -> Vec<WorldLink<'_>> {
    let mut free: Vec<FreeCall<'_>> = profiles
        .iter()
        .flat_map(|parent| parent.ranks.iter().map(move |rank| (parent, rank)))
        .flat_map(|(parent, rank)| {
            let call = move |start| FreeCall { parent, rank: rank.rank, start };
            rank.started.iter().map(call)
        })
        .collect();
    let mut children: Vec<&MpiProfile> =
        profiles.iter().filter(|one| one.facts.spawned.is_some()).collect();
    let mut links = Vec::new();
    // Whoever is linked leaves fewer calls to the others.
    while let Some((place, call)) = children.iter().enumerate().find_map(|(place, child)| {
        let [call] = candidates(child, &free)[..] else { return None };
        Some((place, call))
    }) {
        let FreeCall { parent, rank, start } = free.swap_remove(call);
        links.push(WorldLink { parent, calls: vec![(rank, start)], child: children.remove(place) });
    }
    for child in children {
        let calls = candidates(child, &free);
        let mut calls: Vec<_> = calls.into_iter().filter_map(|call| free.get(call)).collect();
        calls.sort_by_key(|call| (call.rank, call.start.began));
        let Some(parent) = calls.first().map(|call| call.parent) else { continue };
        if calls.iter().all(|call| std::ptr::eq(call.parent, parent)) {
            let calls = calls.iter().map(|call| (call.rank, call.start)).collect();
            links.push(WorldLink { parent, calls, child });
        }
    }
    links.sort_by_key(|link| link.calls.iter().map(|(_, start)| start.began).min());
    links
}

/// The world from which all came that led to this one: itself, if no other is known to have started it.
pub fn first_world<'p>(of: &'p MpiProfile, links: &[WorldLink<'p>]) -> &'p MpiProfile {
    let mut at = of;
    // Damaged files may tell that worlds started each other.
    for _ in 0..links.len() {
        let Some(link) = links.iter().find(|link| std::ptr::eq(link.child, at)) else { break };
        at = link.parent;
    }
    at
}

/// A world that another world of the same run started. Worlds are counted from 1 on: the first is that of the launcher.
#[derive(Clone, Copy, Debug)]
pub struct NumberedWorld<'l, 'p> {
    /// Its number
    pub number: usize,
    /// The number of the world that started it
    pub parent: usize,
    /// What started it
    pub link: &'l WorldLink<'p>,
}

/// The worlds that a world and those that it started have started, in the order of the calls.
pub fn worlds_started_by<'l, 'p>(
    first: &'p MpiProfile,
    links: &'l [WorldLink<'p>],
) -> Vec<NumberedWorld<'l, 'p>> {
    let mut known = vec![first];
    let mut worlds = Vec::new();
    // Links are in the order of the calls: a world is there before what it starts.
    for link in links {
        let is_parent = |one: &&MpiProfile| std::ptr::eq(*one, link.parent);
        let Some(parent) = known.iter().position(is_parent) else { continue };
        known.push(link.child);
        worlds.push(NumberedWorld { number: known.len(), parent: parent + 1, link });
    }
    worlds
}

/// The places of those calls that may have started a world.
fn candidates(child: &MpiProfile, calls: &[FreeCall<'_>]) -> Vec<usize> {
    let Some(spawned) = child.facts.spawned else { return Vec::new() };
    let fits = |FreeCall { parent, rank, start }: &FreeCall<'_>| {
        !std::ptr::eq(*parent, child)
            && parent.facts.uid == child.facts.uid
            && parent.facts.job == child.facts.job
            && child.facts.npes.is_none_or(|npes| npes == start.ranks)
            && match (spawned.parent, start.world) {
                (Some((world, root)), Some(named)) => world == named && root == *rank,
                _ => true,
            }
            && may_be_one_launcher(spawned.launcher, start.launcher)
    };
    let all = || calls.iter().enumerate().filter(|(_, call)| fits(call));
    let mut found = Vec::new();
    for tolerance in [0, CLOCKS] {
        let covers = |call: &FreeCall<'_>| call.start.covers(spawned.began, tolerance);
        found = all().filter(|(_, call)| covers(call)).map(|(place, _)| place).collect();
        if !found.is_empty() {
            break;
        }
    }
    // What tells these calls apart without being sure of itself: where no call has it, all of them remain.
    type Sign = fn(&FreeCall<'_>, &MpiProfile) -> bool;
    let signs: [Sign; 2] = [
        |call, child| {
            let of = child.facts.spawned.map_or(0, |spawned| spawned.launcher);
            of != 0 && call.start.launcher == of
        },
        |call, child| call.start.command == child.facts.exe,
    ];
    for sign in signs {
        let has = |place: &usize| calls.get(*place).is_some_and(|call| sign(call, child));
        if found.iter().any(has) {
            found.retain(has);
        }
    }
    found
}

/// Whether one launcher may have two names: an odd name is its only one.
fn may_be_one_launcher(one: u64, other: u64) -> bool {
    one == other || one & other & 1 == 0
}
