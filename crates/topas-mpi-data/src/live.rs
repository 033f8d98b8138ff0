//! Profiles of launches from the mapped files of their ranks on this node: live, or left over.

use std::io;
use std::path::{Path, PathBuf};

use topas_mpi_profile::layout::RankState;
use topas_mpi_profile::sums;

use super::identity;
use super::open_messages::open_messages;
use super::process::is_running;
use super::profile::{MpiProfile, MpiRecordFacts, Origin};
use super::rank::{SpoolRank, read_rank};
use super::routine::Routines;
use super::spool::{Spool, SpoolError, spool_files};
use super::sums::MpiSums;

/// A mapped file that was read.
pub(super) struct FoundSpool {
    pub(super) spool: Spool,
    pub(super) running: bool,
    pub(super) rank: SpoolRank,
    pub(super) facts: MpiRecordFacts,
}

/// What the mapped files on this node say.
pub struct SpoolReading {
    /// A profile for each launch, the latest first
    pub profiles: Vec<MpiProfile>,
    /// Files that cannot be read, and why
    pub refused: Vec<(PathBuf, SpoolError)>,
}

/// Reads the mapped files in a directory: those of a user, if one is wanted, and of those the
/// ones that can be read. A directory that does not exist has none.
///
/// # Errors
///
/// If the directory cannot be listed.
pub fn read_spool(dir: &Path, uid: Option<u32>) -> io::Result<SpoolReading> {
    let files = match spool_files(dir, uid) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Vec::new(),
        files => files?,
    };
    Ok(read(files, uid))
}

/// Reads mapped files, those of them that can be read.
pub fn read_spool_files(files: Vec<PathBuf>) -> SpoolReading {
    read(files, None)
}

/// Reads mapped files; if a user is wanted, those that belong to this user. Anybody may give a
/// file a name that says so.
fn read(files: Vec<PathBuf>, uid: Option<u32>) -> SpoolReading {
    let mut launches: Vec<Vec<FoundSpool>> = Vec::new();
    let mut refused = Vec::new();
    for path in files {
        let found = match Spool::open(&path).and_then(|spool| {
            spool.belongs_to(uid)?;
            let running = is_running(&spool);
            look(spool, running)
        }) {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            // It was removed meanwhile: its rank has ended well.
            Err(SpoolError::File(cause)) if cause.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                refused.push((path, error));
                continue;
            }
        };
        match launches.iter_mut().find(|launch| same_launch(&launch[0], &found)) {
            Some(launch) => launch.push(found),
            None => launches.push(vec![found]),
        }
    }
    let mut profiles: Vec<MpiProfile> = launches.into_iter().map(profile).collect();
    profiles.sort_by_key(|profile| std::cmp::Reverse(profile.facts.epoch));
    SpoolReading { profiles, refused }
}

/// Reads one; None if it has nothing to tell any more.
pub(super) fn look(spool: Spool, running: bool) -> Result<Option<FoundSpool>, SpoolError> {
    // What it counted was written elsewhere.
    if spool.state() == Some(RankState::Written) {
        return Ok(None);
    }
    let rank = read_rank(&spool, running)?;
    let facts = identity::facts(&spool, running, rank.ended);
    Ok(Some(FoundSpool { spool, running, rank, facts }))
}

/// Whether two ranks are of one launch on this node.
pub(super) fn same_launch(one: &FoundSpool, other: &FoundSpool) -> bool {
    let key = |found: &FoundSpool| (found.spool.owner, found.facts.npes);
    // Without an id the program must do.
    key(one) == key(other)
        && one.facts.id == other.facts.id
        && (!one.facts.id.is_empty() || one.facts.exe == other.facts.exe)
}

/// The sum of ranks, as the library makes it.
pub(super) fn sum<'f>(launch: impl Iterator<Item = &'f FoundSpool>) -> Box<sums::Sums> {
    let mut sum: Box<sums::Sums> = Box::default();
    launch.for_each(|found| sum.merge(&found.rank.sums));
    sum
}

/// Facts of all ranks together.
pub(super) fn facts<'f>(
    mut launch: impl Iterator<Item = &'f FoundSpool>,
) -> Option<MpiRecordFacts> {
    let mut facts = launch.next()?.facts.clone();
    launch.for_each(|found| facts.join(&found.facts));
    Some(facts)
}

fn profile(mut launch: Vec<FoundSpool>) -> MpiProfile {
    launch.sort_by_key(|found| (found.spool.header.rank, found.spool.header.pid));
    let facts = launch[0].facts.clone();
    let facts = self::facts(launch.iter()).unwrap_or(facts);
    let live = launch.iter().any(|found| found.running);
    let mut total = MpiSums::of(&sum(launch.iter()), &launch[0].spool.header.counters);
    for found in &launch {
        for communicator in &found.rank.rank.sums.communicators {
            total.add_communicator(communicator);
        }
        for routine in found.rank.rank.sums.routines.iter().filter(|routine| routine.unended > 0) {
            let all = total.routine_mut(routine.number);
            all.unended += routine.unended;
            all.unended_time += routine.unended_time;
        }
    }
    let inside = launch.iter().flat_map(|found| {
        found.rank.inside.iter().map(|inside| (found.spool.header.rank, *inside))
    });
    let inside = inside.collect();
    let unposted = super::posts::unposted(&launch);
    let open_messages = open_messages(&launch.iter().collect::<Vec<_>>());
    MpiProfile {
        facts,
        origin: if live { Origin::Live } else { Origin::Left },
        total,
        ranks: launch.into_iter().map(|found| found.rank.rank).collect(),
        subtotals: Vec::new(),
        routines: Routines::default(),
        lost_lines: 0,
        inside,
        unposted,
        open_messages,
        logged: None,
        is_log_silent: false,
    }
}
