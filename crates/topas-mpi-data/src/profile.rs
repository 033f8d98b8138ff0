//! The profile of a launch.

use std::path::{Path, PathBuf};

use topas_data::RunRecord;
use topas_format::civil::{Date, Time};
use topas_format::mpi_conf::OUT;
use topas_mpi_profile::lines::SpawnedWorld;

use super::last_sign::LastSign;
use super::logged_delays::LoggedDelays;
use super::open_messages::OpenMessages;
use super::rank::Inside;
use super::routine::Routines;
use super::sums::MpiSums;
use super::worlds::StartedWorld;

/// How a rank ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// By `MPI_Finalize`
    Finalize,
    /// By `MPI_Abort` with this code
    Abort(i32),
    /// By `exit` or the end of `main`, without `MPI_Finalize`
    Exit,
    /// Without a word: by a signal, with its node, or it still ran when the others ended
    Lost,
    /// Not at all: it runs
    Running,
}

/// What `MPI_Init_thread` provided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// `MPI_THREAD_SINGLE`
    Single,
    /// `MPI_THREAD_FUNNELED`
    Funneled,
    /// `MPI_THREAD_SERIALIZED`
    Serialized,
    /// `MPI_THREAD_MULTIPLE`
    Multiple,
}

/// All levels, by the number that the mapped file has.
pub(super) const LEVELS: [Level; 4] =
    [Level::Single, Level::Funneled, Level::Serialized, Level::Multiple];

impl Level {
    /// As lines name it.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Single => "single",
            Level::Funneled => "funneled",
            Level::Serialized => "serialized",
            Level::Multiple => "multiple",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Level> {
        LEVELS.into_iter().find(|level| level.name() == name)
    }
}

/// What is known of a launch, or of one rank. What is empty or None is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiRecordFacts {
    /// Launch id
    pub id: Box<[u8]>,
    /// Ranks it was started with
    pub npes: Option<u32>,
    /// User
    pub user: Box<[u8]>,
    /// Numeric user id
    pub uid: Option<u64>,
    /// File name of the executable
    pub exe: Box<[u8]>,
    /// The same of further ranks that run other programs
    pub other_exes: Vec<Box<[u8]>>,
    /// Day it ended, or was looked at, local time of the site
    pub date: Date,
    /// Time of day
    pub time: Time,
    /// The same in s since 1970-01-01 00:00 UTC
    pub epoch: Option<u64>,
    /// Nodes that are told: of a record of all ranks that of rank 0
    pub hosts: Vec<Box<[u8]>>,
    /// Job id of the batch system
    pub job: Box<[u8]>,
    /// Step of the job
    pub step: Box<[u8]>,
    /// Partition or queue
    pub part: Box<[u8]>,
    /// MPI library as it names itself
    pub mpi: Box<[u8]>,
    /// How it ended; of several ranks that differ the first of: abort, lost, exit, running
    pub ending: Option<Ending>,
    /// Language bindings that were used: `c`, `mpifh`, `f08`, `python`
    pub languages: Vec<Box<str>>,
    /// Whether the program called names of the profiling interface
    pub profiling_interface: bool,
    /// What `MPI_Init_thread` provided
    pub level: Option<Level>,
    /// What was not counted, in words of doc/mpi-profile.md
    pub missed: Vec<Box<str>>,
    /// Environment switches of the MPI: name and value; None for a value that may have been a path
    /// or a name, and was not told
    pub switches: Vec<(Box<str>, Option<Box<str>>)>,
    /// What started its world, if ranks of another world did
    pub spawned: Option<SpawnedWorld>,
    /// The launcher of a world that was started by another one, or has started others: a name as in
    /// [`SpawnedWorld::launcher`]; 0 if it is not known
    pub launcher: u64,
    /// The data file that the user wants; only the mapped files of ranks tell
    pub data_file: Option<PathBuf>,
}

impl MpiRecordFacts {
    /// Nothing is known but when it ended, or was looked at, in local time of the site.
    pub fn at(date: Date, time: Time) -> Self {
        MpiRecordFacts {
            id: Box::default(),
            npes: None,
            user: Box::default(),
            uid: None,
            exe: Box::default(),
            other_exes: Vec::new(),
            date,
            time,
            epoch: None,
            hosts: Vec::new(),
            job: Box::default(),
            step: Box::default(),
            part: Box::default(),
            mpi: Box::default(),
            ending: None,
            languages: Vec::new(),
            profiling_interface: false,
            level: None,
            missed: Vec::new(),
            switches: Vec::new(),
            spawned: None,
            launcher: 0,
            data_file: None,
        }
    }
}

impl MpiRecordFacts {
    /// The directory in which the launch was begun: that of the data file, unless the user has chosen its name, so that it
    /// may be anywhere. None if it is not known, as of launches in lines.
    pub fn directory(&self) -> Option<&Path> {
        self.data_file.as_ref().filter(|file| file.ends_with(OUT))?.parent()
    }
}

/// One rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiRank {
    /// Its rank in the world
    pub rank: u32,
    /// Process
    pub pid: Option<u32>,
    /// Its node; empty if not known
    pub host: Box<[u8]>,
    /// How it ended
    pub ending: Option<Ending>,
    /// What was not counted of it
    pub missed: Vec<Box<str>>,
    /// What it counted
    pub sums: MpiSums,
    /// Worlds that it started, in the order of its calls
    pub started: Vec<StartedWorld>,
    /// The last that is known of it; None if that is not told
    pub last: Option<LastSign>,
}

/// What stood in the counters when the program asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtotal {
    /// 1 is the first
    pub at: u32,
    /// The rank that wrote it; None: the sum of all ranks
    pub rank: Option<u32>,
    /// What was counted from the beginning until then
    pub sums: MpiSums,
}

/// Where a profile comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Lines
    Lines,
    /// Mapped files of ranks that run, or of some that do
    Live,
    /// Mapped files that were left over by ranks that are gone
    Left,
}

/// The profile of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiProfile {
    /// What is known of the launch
    pub facts: MpiRecordFacts,
    /// Where it comes from
    pub origin: Origin,
    /// The sum of all ranks that are known; [`MpiSums::ranks`] may be fewer than were started
    pub total: MpiSums,
    /// The ranks one by one, ascending; empty if only the sum is known
    pub ranks: Vec<MpiRank>,
    /// Subtotals in order
    pub subtotals: Vec<Subtotal>,
    /// Names of the routines
    pub routines: Routines,
    /// Lines that belong to it and are missing: what they told is in no sum
    pub lost_lines: u64,
    /// Of ranks in mapped files: the calls that threads are in, or were in when they ended, by
    /// rank
    pub inside: Vec<(u32, Inside)>,
    /// Of ranks in mapped files that wait in `MPI_Win_start`: which ranks have not posted their windows for a rank, as far
    /// as that is known
    pub unposted: Vec<(u32, Vec<u32>)>,
    /// Of ranks in mapped files that have waited for messages for long: what is open of these, by rank, as far as that is known
    pub open_messages: Vec<(u32, OpenMessages)>,
    /// In which ranks waits begin, if an event log beside the profile tells that
    pub logged: Option<LoggedDelays>,
    /// An event log was read that does not tell it
    pub is_log_silent: bool,
}

impl MpiProfile {
    /// Which ranks have not posted their windows for a rank that waits for that.
    pub fn unposted(&self, rank: u32) -> &[u32] {
        let found = self.unposted.iter().find(|(of, _)| *of == rank);
        found.map_or(&[], |(_, ranks)| ranks)
    }

    /// What is open of the messages for which a rank has waited for long.
    pub fn open_messages(&self, rank: u32) -> Option<&OpenMessages> {
        self.open_messages.iter().find(|(of, _)| *of == rank).map(|(_, open)| open)
    }

    /// Whether it is of a run of the log whose launch has the same id: of its user, its number of
    /// PEs and its time. An id can come again.
    pub fn is_of(&self, run: &RunRecord) -> bool {
        let facts = &self.facts;
        let user = match (facts.uid, run.uid) {
            (Some(one), Some(other)) => one == other,
            _ => *facts.user == *run.user,
        };
        user && facts.npes.is_none_or(|npes| run.npes.is_none_or(|of| of == npes))
            && facts.epoch.is_none_or(|epoch| run.covers(epoch))
    }

    /// Numbers of the subtotals, ascending.
    pub fn subtotal_numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.subtotals.iter().map(|subtotal| subtotal.at).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// What was counted until a subtotal, as a profile of its own: the sum of all ranks, or of
    /// those that wrote one.
    pub fn at(&self, number: u32) -> Option<MpiProfile> {
        let of: Vec<&Subtotal> = self.subtotals.iter().filter(|of| of.at == number).collect();
        let mut ranks: Vec<MpiRank> = of
            .iter()
            .filter_map(|subtotal| {
                let rank = subtotal.rank?;
                let host = self.ranks.iter().find(|known| known.rank == rank);
                Some(MpiRank {
                    rank,
                    pid: host.and_then(|known| known.pid),
                    host: host.map(|known| known.host.clone()).unwrap_or_default(),
                    ending: None,
                    missed: Vec::new(),
                    sums: subtotal.sums.clone(),
                    started: Vec::new(),
                    last: None,
                })
            })
            .collect();
        ranks.sort_by_key(|rank| rank.rank);
        let sum = of.iter().find(|subtotal| subtotal.rank.is_none());
        let total = match sum {
            Some(sum) => sum.sums.clone(),
            None => {
                let mut total = MpiSums::default();
                ranks.iter().for_each(|rank| total.add(&rank.sums));
                total
            }
        };
        (!of.is_empty()).then(|| MpiProfile {
            facts: self.facts.clone(),
            origin: self.origin,
            total,
            ranks,
            subtotals: Vec::new(),
            routines: self.routines.clone(),
            lost_lines: self.lost_lines,
            inside: Vec::new(),
            unposted: Vec::new(),
            open_messages: Vec::new(),
            logged: None,
            is_log_silent: false,
        })
    }
}
