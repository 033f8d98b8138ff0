//! What ranks left behind that ended without writing it: claimed, told, removed.
//!
//! Any number of collectors may be at work. Each file is locked by who works on it, and looked at
//! again once it is; whoever comes too late finds it gone. A collector that is killed between
//! writing and removing leaves files that the next one tells again: readers take a record that
//! stands twice once.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use topas_format::civil::Civil;
use topas_mpi_profile::layout::{Moment, Traffic as Moved, flag};
use topas_mpi_profile::lines::{self, End, Head, LastMoment, Lines, Of, OpenCall, SpawnedWorld};
use topas_mpi_profile::sums::TickLength;

use super::live::{FoundSpool, facts, look, same_launch, sum};
use super::open_messages::{OpenMessages, open_messages};
use super::profile::{Ending, MpiRecordFacts};
use super::rank::{SpoolRank, name_of};
use super::routine::RoutineNumber;
use super::spool::{Spool, SpoolError, spool_files, text};
use super::trace_left::write_left_trace;
use topas_data::clock;

/// Age of a file that its rank never finished making, after which it is removed.
const STILLBORN: Duration = Duration::from_secs(3600);

/// What ranks of a launch left on this node, locked.
pub struct LeftLaunch {
    found: Vec<(Box<FoundSpool>, Flock<fs::File>)>,
    facts: MpiRecordFacts,
}

/// What was found in a directory.
#[derive(Default)]
pub struct Collection {
    /// Launches of which no rank runs on this node
    pub launches: Vec<LeftLaunch>,
    /// Ranks that run, and those of their launches that do not: they are left alone
    pub running: usize,
    /// Files that another collector is at work on
    pub busy: usize,
    /// Files that were removed because there was nothing more to tell
    pub removed: usize,
    /// Files that cannot be read, so that their launch is not known, where those of one launch were asked for; they are left
    pub unknown: usize,
    /// Files that cannot be read, and why; they are left
    pub refused: Vec<(PathBuf, SpoolError)>,
}

/// Finds what is left of a user's ranks in a directory, and locks it: of all launches, or of those whose id begins with
/// `launch`. A directory that does not exist has nothing. `progress` gets the number of files that were looked at, and of
/// all.
///
/// # Errors
///
/// If the directory cannot be listed.
pub fn collect(
    dir: &Path,
    uid: u32,
    launch: &str,
    mut progress: impl FnMut(usize, usize),
) -> io::Result<Collection> {
    let mut all = Collection::default();
    let files = match spool_files(dir, Some(uid)) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(all),
        files => files?,
    };
    let mut launches: Vec<Vec<(Box<FoundSpool>, Flock<fs::File>)>> = Vec::new();
    let of = files.len();
    for (done, path) in files.into_iter().enumerate() {
        progress(done, of);
        match claim(&path, uid, launch) {
            Ok(Claim::Found(found, lock)) => {
                let same = |of: &&mut Vec<(Box<FoundSpool>, Flock<fs::File>)>| {
                    same_launch(&of[0].0, &found)
                };
                match launches.iter_mut().find(same) {
                    Some(launch) => launch.push((found, lock)),
                    None => launches.push(vec![(found, lock)]),
                }
            }
            Ok(Claim::Busy) => all.busy += 1,
            Ok(Claim::Done) => all.removed += usize::from(fs::remove_file(&path).is_ok()),
            Ok(Claim::Gone) => {}
            Ok(Claim::Unknown) => all.unknown += 1,
            Err(error) => all.refused.push((path, error)),
        }
    }
    for mut found in launches {
        if found.iter().any(|(found, _)| found.running) {
            all.running += found.len();
            continue;
        }
        found.sort_by_key(|(found, _)| (found.spool.header.rank, found.spool.header.pid));
        let facts = facts(found.iter().map(|(found, _)| &**found));
        if let Some(facts) = facts {
            all.launches.push(LeftLaunch { found, facts });
        }
    }
    Ok(all)
}

enum Claim {
    Found(Box<FoundSpool>, Flock<fs::File>),
    /// Somebody else is at work on it
    Busy,
    /// There is nothing more to tell
    Done,
    /// It is of another launch, or not there any more
    Gone,
    /// One launch is asked for, and of which this is cannot be read
    Unknown,
}

fn claim(path: &Path, uid: u32, launch: &str) -> Result<Claim, SpoolError> {
    let spool = match Spool::open(path) {
        Ok(spool) => spool,
        Err(SpoolError::File(cause)) if cause.kind() == io::ErrorKind::NotFound => {
            return Ok(Claim::Gone);
        }
        Err(_) if !launch.is_empty() => return Ok(Claim::Unknown),
        Err(SpoolError::Unfinished) if is_stillborn(path) => return Ok(Claim::Done),
        Err(error) => return Err(error),
    };
    if !text(&spool.header.id).starts_with(launch.as_bytes()) {
        return Ok(Claim::Gone);
    }
    spool.belongs_to(Some(uid))?;
    let Ok(lock) = Flock::lock(spool.file().try_clone()?, FlockArg::LockExclusiveNonblock) else {
        return Ok(Claim::Busy);
    };
    // Whoever had it before may have removed it.
    if lock.metadata()?.nlink() == 0 {
        return Ok(Claim::Gone);
    }
    let running = super::is_running(&spool);
    Ok(match look(spool, running)? {
        Some(found) => Claim::Found(Box::new(found), lock),
        None if running => Claim::Busy,
        None => Claim::Done,
    })
}

fn is_stillborn(path: &Path) -> bool {
    let age = fs::symlink_metadata(path).and_then(|about| about.modified());
    age.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > STILLBORN))
}

impl LeftLaunch {
    /// What is known of the launch.
    pub fn facts(&self) -> &MpiRecordFacts {
        &self.facts
    }

    /// Its ranks on this node.
    pub fn ranks(&self) -> usize {
        self.found.len()
    }

    /// Node the ranks were on.
    pub fn host(&self) -> &[u8] {
        self.found.first().map_or(&[], |(found, _)| text(&found.spool.header.host))
    }

    /// The record of all ranks together: lines for the center's log.
    pub fn record(&self) -> Vec<u8> {
        let Some((first, _)) = self.found.first() else { return Vec::new() };
        let sums = sum(self.found.iter().map(|(found, _)| &**found));
        // Communicators, windows and files of all ranks by name, kind and size; times are in ns
        // already.
        let mut communicators: Vec<((String, u16, u32), Moved)> = Vec::new();
        for (found, _) in &self.found {
            for (told, moved) in &found.rank.communicators {
                let key = (name_of(told), told.kind, told.size);
                let ticks = found.rank.tick.nanoseconds(moved.ticks);
                match communicators.iter_mut().find(|(of, _)| *of == key) {
                    Some((_, sum)) => {
                        sum.calls += moved.calls;
                        sum.ticks += ticks;
                        super::rank::add_peer(&mut sum.peer, &moved.peer);
                    }
                    None => communicators.push((key, Moved { ticks, ..*moved })),
                }
            }
        }
        let one = Moment { ticks: 1, monotonic: 1, realtime: 0 };
        let nanoseconds = TickLength::between(&Moment::default(), &one);
        let mut more = |to: &mut Lines<'_>| {
            to.sizes_by_class(&sums);
            for ((name, kind, size), moved) in &communicators {
                to.communicator(name.as_bytes(), *kind, *size, moved, &nanoseconds);
            }
            to.switches(&first.spool.header.switches);
            let ranks = self.found.iter().map(|(found, _)| &**found);
            unended(to, ranks);
        };
        self.lines(first, Of::Host, self.facts.ending, &sums, &mut more)
    }

    /// The file in which the user wants the profile: the first that a rank names, as the ranks take it.
    pub fn user_file(&self) -> Option<PathBuf> {
        self.found.iter().find_map(|(found, _)| found.spool.user_file().ok().flatten())
    }

    /// A record for each rank, for a file of the user's own. Ranks that could not write
    /// together have written their records to it already, if it is theirs.
    pub fn rank_records(&self, path: &Path) -> Vec<u8> {
        let mut all = Vec::new();
        let launch: Vec<&FoundSpool> = self.found.iter().map(|(found, _)| &**found).collect();
        let open: HashMap<u32, OpenMessages> = open_messages(&launch).into_iter().collect();
        for (found, _) in &self.found {
            let is_there = found.spool.header.flags & flag::TOLD_ALONE != 0
                && found.spool.user_file().is_ok_and(|own| own.as_deref() == Some(path));
            if is_there {
                continue;
            }
            let rank = &found.rank;
            let mut more = |to: &mut Lines<'_>| {
                for (number, both) in &rank.sizes {
                    for (way, bins) in [b's', b'r'].into_iter().zip(both) {
                        to.sizes_of(number.0.into(), way, bins);
                    }
                }
                let header = &found.spool.header;
                to.started(&header.worlds, &header.began, &rank.tick);
                for (blamed, peer) in &rank.blamed {
                    to.blamed(*blamed, peer, &rank.tick);
                }
                for outsider in &rank.outsiders {
                    to.blamed_outside(outsider, &rank.tick);
                }
                for (of, peer) in &rank.peers {
                    if [peer.sends, peer.receives] != [0, 0] {
                        to.peer(*of, peer);
                    }
                }
                for (told, moved) in &rank.communicators {
                    let name = name_of(told);
                    to.communicator(name.as_bytes(), told.kind, told.size, moved, &rank.tick);
                }
                let mut modules = 0;
                for of in &rank.paths {
                    modules = to.paths(&of.table, &of.functions, modules, &rank.tick);
                }
                if let Some(table) = &rank.partners {
                    let count = (table.count as usize).min(table.partner.len());
                    for partner in &table.partner[..count] {
                        to.partner(partner, &rank.tick);
                    }
                }
                to.switches(&found.spool.header.switches);
                unended(to, std::iter::once(&**found));
                at_the_end(to, rank);
                let open = open.get(&found.spool.header.rank);
                let messages = open.into_iter().flat_map(OpenMessages::recorded);
                messages.for_each(|message| to.open_message(&message));
            };
            let ending = found.rank.rank.ending;
            all.extend(self.lines(found, Of::Rank, ending, &rank.sums, &mut more));
        }
        all
    }

    fn lines(
        &self,
        found: &FoundSpool,
        of: Of,
        ending: Option<Ending>,
        sums: &topas_mpi_profile::sums::Sums,
        more: &mut dyn FnMut(&mut Lines<'_>),
    ) -> Vec<u8> {
        let header = &found.spool.header;
        let epoch = self.facts.epoch.unwrap_or(0);
        let Civil { date, time } = clock::local(epoch.cast_signed());
        let head = Head {
            at: Civil { date, time },
            user: &self.facts.user,
            exe: text(&header.exe),
            npes: header.ranks,
            id: &self.facts.id,
            of,
            subtotal: 0,
        };
        let end = match ending {
            Some(Ending::Finalize) => End::Finalize,
            Some(Ending::Abort(code)) => End::Abort(code),
            Some(Ending::Exit) => End::Exit,
            Some(Ending::Running) => End::Running,
            Some(Ending::Lost) | None => End::Lost,
        };
        let facts = lines::Facts {
            epoch,
            uid: found.spool.owner,
            host: text(&header.host),
            job: text(&header.job),
            step: text(&header.step),
            part: text(&header.part),
            mpi: text(&header.mpi),
            end,
            rank: (of == Of::Rank).then_some((header.rank, header.pid)),
            before: header.before,
            spawned: SpawnedWorld::of(header),
            launcher: header.worlds.launcher,
            counters: &header.counters,
        };
        let mut all = Vec::new();
        lines::record(&head, &facts, sums, more, &mut |line| all.extend_from_slice(line));
        all
    }

    /// Appends the event logs of its ranks to that of this node: where that is, and how many blocks
    /// of events were written; None if no rank left one.
    ///
    /// # Errors
    ///
    /// Where it should have gone, and what reading or writing says.
    pub fn write_traces(&self) -> Result<Option<(PathBuf, usize)>, (PathBuf, io::Error)> {
        let mut all: Option<(PathBuf, usize)> = None;
        for (found, _) in &self.found {
            if let Some((path, blocks)) = write_left_trace(&found.spool)? {
                let before = all.map_or(0, |(_, blocks)| blocks);
                all = Some((path, before + blocks));
            }
        }
        Ok(all)
    }

    /// Removes the files, all of which was told.
    ///
    /// # Errors
    ///
    /// The first file that could not be removed; the others were tried.
    pub fn remove(self) -> Result<(), (PathBuf, io::Error)> {
        let mut failed = None;
        for (found, _) in &self.found {
            super::semaphore::remove(&found.spool.header);
            match fs::remove_file(&found.spool.path) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                    failed.get_or_insert((found.spool.path.clone(), cause));
                }
                _ => {}
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

/// Calls that had not ended when their ranks did, by function.
fn unended<'f>(to: &mut Lines<'_>, ranks: impl Iterator<Item = &'f FoundSpool>) {
    let mut sums: BTreeMap<RoutineNumber, (u64, u128)> = BTreeMap::new();
    for inside in ranks.flat_map(|found| &found.rank.inside) {
        let (calls, time) = sums.entry(inside.routine).or_default();
        *calls += 1;
        *time += u128::from(inside.time.unwrap_or(0));
    }
    for (routine, (calls, time)) in sums {
        to.unended(routine.0.into(), calls, time);
    }
}

/// What a rank did when it ended.
fn at_the_end(to: &mut Lines<'_>, rank: &SpoolRank) {
    for inside in &rank.inside {
        to.open_call(&OpenCall {
            function: inside.routine.0.into(),
            nanoseconds: inside.time,
            path: inside.path.unwrap_or(0),
            peer: inside.peer.map(|peer| (peer.rank, peer.of_world)),
            tag: inside.tag,
        });
    }
    if let Some(last) = &rank.rank.last {
        to.last_moment(&LastMoment {
            began: last.began,
            last_call: last.last_call,
            died: last.died,
            function: last.routine.map(|routine| routine.0.into()),
            path: last.path.unwrap_or(0),
            ended_after: last.ended_after,
        });
    }
}

/// Users of whom there are files in a directory, with the group of one of these.
///
/// # Errors
///
/// If the directory cannot be listed.
pub fn spool_owners(dir: &Path) -> io::Result<Vec<(u32, u32)>> {
    let files = match spool_files(dir, None) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    // Whose a file is, not whose its name says.
    let owner =
        |path: &PathBuf| fs::symlink_metadata(path).ok().map(|about| (about.uid(), about.gid()));
    let mut owners: Vec<(u32, u32)> = files.iter().filter_map(owner).collect();
    owners.sort_unstable();
    owners.dedup_by_key(|(uid, _)| *uid);
    Ok(owners)
}
