//! Worlds of spawned processes: which rank of which world started another.

use topas_mpi_profile::layout::{Header, WorldStart};
use topas_mpi_profile::lines::text as text_of;
use topas_mpi_profile::parse::StartedWorldToken;
use topas_mpi_profile::sums::TickLength;

use super::profile::MpiProfile;
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
        }
    }

    /// Whether a moment in ns since 1970 is in the call, give or take so much.
    fn covers(&self, moment: u64, tolerance: u64) -> bool {
        let from = self.began.saturating_sub(tolerance);
        (from..=self.began.saturating_add(self.nanoseconds).saturating_add(tolerance))
            .contains(&moment)
    }
}

/// That a rank of one profile started the world of another.
#[derive(Clone, Copy, Debug)]
pub struct WorldLink<'p> {
    /// The world that started it
    pub parent: &'p MpiProfile,
    /// The rank there that was the root of the call
    pub rank: u32,
    /// The call
    pub start: &'p StartedWorld,
    /// The world that was started
    pub child: &'p MpiProfile,
}

/// Which of these worlds started which others, in the order of the calls. A world of which more than one
/// call may have started it has no link.
///
/// Open MPI tells a world which rank started it. Other MPIs tell only that one did: ranks that are
/// started come to `MPI_Init` during the call that starts them, which returns when all are there.
pub fn world_links(profiles: &[MpiProfile]) -> Vec<WorldLink<'_>> {
    let calls: Vec<(&MpiProfile, u32, &StartedWorld)> = profiles
        .iter()
        .flat_map(|parent| parent.ranks.iter().map(move |rank| (parent, rank)))
        .flat_map(|(parent, rank)| rank.started.iter().map(move |call| (parent, rank.rank, call)))
        .collect();
    let mut links: Vec<WorldLink<'_>> =
        profiles.iter().filter_map(|child| link(child, &calls)).collect();
    links.sort_by_key(|link| link.start.began);
    links
}

fn link<'p>(
    child: &'p MpiProfile,
    calls: &[(&'p MpiProfile, u32, &'p StartedWorld)],
) -> Option<WorldLink<'p>> {
    let spawned = child.facts.spawned?;
    let fits = |(parent, rank, call): &&(&MpiProfile, u32, &StartedWorld)| {
        parent.facts.uid == child.facts.uid
            && parent.facts.job == child.facts.job
            && child.facts.npes.is_none_or(|npes| npes == call.ranks)
            && match (spawned.parent, call.world) {
                (Some((world, root)), Some(named)) => world == named && root == *rank,
                _ => true,
            }
    };
    [0, CLOCKS].into_iter().find_map(|tolerance| {
        let covers = |call: &StartedWorld| call.covers(spawned.began, tolerance);
        let mut found = calls.iter().filter(fits).filter(|(_, _, call)| covers(call));
        let (parent, rank, start) = found.next()?;
        found.next().is_none().then_some(WorldLink { parent, rank: *rank, start, child })
    })
}
