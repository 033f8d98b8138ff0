//! Launches: the records of one are put together to a profile.

use rustc_hash::FxHashMap;
use topas_mpi_profile::lines::Of;

use super::open_messages::OpenMessages;
use super::profile::{Ending, MpiProfile, MpiRank, MpiRecordFacts, Origin, Subtotal};
use super::record::MpiRecord;
use super::routine::Routines;
use super::sums::MpiSums;

/// What was told of a launch so far.
#[derive(Default)]
struct LaunchRecords {
    run: Option<MpiRecord>,
    hosts: Vec<MpiRecord>,
    ranks: Vec<MpiRecord>,
    /// Place in `ranks` by rank
    places: FxHashMap<Option<u32>, usize>,
    subtotals: Vec<MpiRecord>,
}

/// What records of a launch have in common: id, number of ranks, user's name.
type LaunchNames = (Box<[u8]>, Option<u32>, Box<[u8]>);

/// Profiles from records in the order of the input; the one that ended last first.
pub(super) fn profiles(records: Vec<MpiRecord>, routines: &Routines) -> Vec<MpiProfile> {
    let mut launches: Vec<LaunchRecords> = Vec::new();
    // Some launchers give an id again: the latest launch of it is the one that goes on.
    let mut latest: FxHashMap<(LaunchNames, Option<u64>), usize> = FxHashMap::default();
    let names = |facts: &MpiRecordFacts| (facts.id.clone(), facts.npes, facts.user.clone());
    // Records belong together by the user's id, too, which one that has lost its first line does
    // not tell.
    let mut uids: FxHashMap<LaunchNames, u64> = FxHashMap::default();
    for facts in records.iter().map(|record| &record.facts) {
        if let Some(uid) = facts.uid {
            uids.entry(names(facts)).or_insert(uid);
        }
    }
    for record in records {
        let facts = &record.facts;
        let names = names(facts);
        let uid = facts.uid.or_else(|| uids.get(&names).copied());
        let key = (names, uid);
        let found = latest.get(&key).copied().filter(|place| launches[*place].takes(&record));
        let place = found.unwrap_or_else(|| {
            launches.push(LaunchRecords::default());
            latest.insert(key, launches.len() - 1);
            launches.len() - 1
        });
        launches[place].add(record);
    }
    let mut profiles: Vec<MpiProfile> =
        launches.into_iter().filter_map(|launch| launch.profile(routines)).collect();
    // Of those that ended in the same second the one told last is the newest.
    profiles.reverse();
    let ended = |facts: &MpiRecordFacts| {
        let local = (facts.date.days(), facts.time.hour, facts.time.minute, facts.time.second);
        // Without `t=` local time is what there is.
        let seconds = |(days, hour, minute, second): (i64, u8, u8, u8)| {
            days * 86_400 + i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)
        };
        facts.epoch.map_or_else(|| seconds(local), |t| i64::try_from(t).unwrap_or(i64::MAX))
    };
    profiles.sort_by_key(|profile| std::cmp::Reverse(ended(&profile.facts)));
    profiles
}

impl LaunchRecords {
    /// Whether a record can be of this launch. If not, its id was given again.
    fn takes(&self, record: &MpiRecord) -> bool {
        let same = |other: &MpiRecord| other.sums == record.sums;
        if record.subtotal > 0 {
            let subtotal = |other: &&MpiRecord| {
                (other.subtotal, other.of, other.rank) == (record.subtotal, record.of, record.rank)
            };
            return self.subtotals.iter().find(subtotal).is_none_or(same);
        }
        match record.of {
            Of::Run => self.run.as_ref().is_none_or(same),
            Of::Host => true,
            Of::Rank => match self.places.get(&record.rank) {
                Some(place) => same(&self.ranks[*place]),
                None => true,
            },
        }
    }

    /// Adds a record; one that stands there already, in the log and in a user's file, once.
    fn add(&mut self, record: MpiRecord) {
        let is_new = |all: &[MpiRecord]| {
            let same = |other: &MpiRecord| {
                other.rank == record.rank
                    && other.facts.hosts == record.facts.hosts
                    && (other.of, other.subtotal) == (record.of, record.subtotal)
                    && other.sums == record.sums
            };
            !all.iter().any(same)
        };
        let list = match (record.subtotal, record.of) {
            (0, Of::Run) => {
                self.run = Some(record);
                return;
            }
            (0, Of::Host) => &mut self.hosts,
            (0, Of::Rank) => {
                let place = self.ranks.len();
                if *self.places.entry(record.rank).or_insert(place) == place {
                    self.ranks.push(record);
                }
                return;
            }
            _ => &mut self.subtotals,
        };
        if is_new(list) {
            list.push(record);
        }
    }

    fn profile(self, routines: &Routines) -> Option<MpiProfile> {
        let LaunchRecords { run, hosts, mut ranks, subtotals, .. } = self;
        ranks.sort_by_key(|record| record.rank);
        let first = run.iter().chain(&hosts).chain(&ranks).chain(&subtotals).next()?;
        let mut facts = first.facts.clone();
        let mut lost: u64 = subtotals.iter().map(|record| u64::from(record.lost)).sum();
        let mut total = MpiSums::default();
        // Whoever is in a sum of ranks is not added again.
        let told = |total: &MpiSums, more: u64| {
            facts.npes.is_none_or(|npes| total.ranks.saturating_add(more) <= npes.into())
        };
        let mut parts: Vec<&MpiRecord> = Vec::new();
        for record in run.iter().chain(&hosts) {
            lost += u64::from(record.lost);
            if total.ranks == 0 || told(&total, record.sums.ranks) {
                total.add(&record.sums);
                parts.push(record);
            }
        }
        if total.ranks == 0 {
            ranks.iter().for_each(|record| total.add(&record.sums));
            parts.extend(&ranks);
        }
        lost += ranks.iter().map(|record| u64::from(record.lost)).sum::<u64>();
        for part in &parts {
            facts.join(&part.facts);
        }
        ranks.iter().for_each(|record| facts.add_programs(&record.facts));
        // Of a run whose first rank has started none.
        let launcher = ranks.iter().map(|record| record.facts.launcher).max();
        facts.launcher = facts.launcher.max(launcher.unwrap_or(0));
        let subtotals = subtotals.into_iter().map(|record| Subtotal {
            at: record.subtotal,
            rank: if record.of == Of::Rank { record.rank } else { None },
            sums: record.sums,
        });
        let calls = |record: &MpiRecord| {
            let rank = record.rank;
            record.inside.clone().into_iter().filter_map(move |inside| Some((rank?, inside)))
        };
        let inside = ranks.iter().flat_map(calls).collect();
        let is_open = |record: &&MpiRecord| record.open != OpenMessages::default();
        let open = ranks.iter().filter(is_open);
        let open = open.filter_map(|record| Some((record.rank?, record.open.clone()))).collect();
        let ranks = ranks.into_iter().filter_map(|record| {
            Some(MpiRank {
                rank: record.rank?,
                pid: record.pid,
                host: record.facts.hosts.into_iter().next().unwrap_or_default(),
                ending: record.facts.ending,
                missed: record.facts.missed,
                sums: record.sums,
                started: record.started,
                last: record.last,
            })
        });
        Some(MpiProfile {
            facts,
            origin: Origin::Lines,
            total,
            ranks: ranks.collect(),
            subtotals: subtotals.collect(),
            routines: routines.clone(),
            lost_lines: lost,
            inside,
            unposted: Vec::new(),
            open_messages: open,
            logged: None,
            is_log_silent: false,
        })
    }
}

impl MpiRecordFacts {
    /// Adds what another part of the launch says.
    pub(super) fn join(&mut self, other: &MpiRecordFacts) {
        let add = |mine: &mut Vec<Box<str>>, theirs: &[Box<str>]| {
            for word in theirs {
                if !mine.contains(word) {
                    mine.push(word.clone());
                }
            }
        };
        add(&mut self.languages, &other.languages);
        add(&mut self.missed, &other.missed);
        for host in &other.hosts {
            if !host.is_empty() && !self.hosts.contains(host) {
                self.hosts.push(host.clone());
            }
        }
        for switch in &other.switches {
            if !self.switches.contains(switch) {
                self.switches.push(switch.clone());
            }
        }
        self.add_programs(other);
        self.spawned = self.spawned.or(other.spawned);
        self.launcher = self.launcher.max(other.launcher);
        if self.data_file.is_none() {
            self.data_file.clone_from(&other.data_file);
        }
        self.profiling_interface |= other.profiling_interface;
        self.level = self.level.max(other.level);
        if other.epoch > self.epoch {
            (self.epoch, self.date, self.time) = (other.epoch, other.date, other.time);
        }
        for (mine, theirs) in [(&mut self.mpi, &other.mpi), (&mut self.job, &other.job)] {
            if mine.is_empty() {
                *mine = theirs.clone();
            }
        }
        self.ending = worse(self.ending, other.ending);
    }
}

impl MpiRecordFacts {
    /// Adds the programs of another part of the launch.
    fn add_programs(&mut self, other: &MpiRecordFacts) {
        for exe in std::iter::once(&other.exe).chain(&other.other_exes) {
            if !exe.is_empty() && *exe != self.exe && !self.other_exes.contains(exe) {
                self.other_exes.push(exe.clone());
            }
        }
    }
}

/// What is told of ranks that ended in two ways.
fn worse(a: Option<Ending>, b: Option<Ending>) -> Option<Ending> {
    let weight = |ending: &Option<Ending>| match ending {
        None => 0,
        Some(Ending::Finalize) => 1,
        Some(Ending::Exit) => 2,
        Some(Ending::Lost) => 3,
        Some(Ending::Abort(_)) => 4,
        Some(Ending::Running) => 5,
    };
    // Of equals the first.
    if weight(&b) > weight(&a) { b } else { a }
}
