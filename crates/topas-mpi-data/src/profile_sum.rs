//! Profiles of many launches added up, for what is told of a user's week or of a center.

use std::collections::BTreeMap;

use topas_format::civil::{Date, Time};
use topas_mpi_table::{CallProgress, FunctionClass};

use super::profile::{MpiProfile, MpiRecordFacts, Origin};
use super::routine::Routines;
use super::sums::MpiSums;

/// Launches and their times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchTimes {
    /// Launches
    pub launches: u64,
    /// Ranks x wall clock time from the first call of MPI on, in ns
    pub wall: u128,
    /// Ranks x time in MPI, in ns
    pub mpi: u128,
}

impl LaunchTimes {
    /// Adds a launch.
    pub fn add(&mut self, sums: &MpiSums) {
        self.launches += 1;
        self.wall += sums.wall;
        self.mpi += sums.mpi;
    }
}

/// Profiles added up. What is of single ranks is left out.
#[derive(Clone, Debug, Default)]
pub struct ProfileSum {
    /// All launches
    pub times: LaunchTimes,
    /// Those whose waits were told apart
    pub with_waits: LaunchTimes,
    /// By executable
    pub by_exe: BTreeMap<Box<[u8]>, LaunchTimes>,
    /// The sums of all launches; numbers of routines are those of [`ProfileSum::profile`]
    pub total: MpiSums,
    routines: Option<Routines>,
    languages: Vec<Box<str>>,
}

impl ProfileSum {
    /// Adds a launch. All of them must come from one reading, whose routines have the same numbers.
    pub fn add(&mut self, profile: &MpiProfile) {
        let sums = &profile.total;
        self.times.add(sums);
        let waits = sums.waits.measured || profile.ranks.iter().any(|r| r.sums.waits.measured);
        if waits {
            self.with_waits.add(sums);
        }
        self.by_exe.entry(profile.facts.exe.clone()).or_default().add(sums);
        self.total.add(sums);
        if waits && !sums.waits.measured {
            // A sum over ranks may not have them where single ranks do.
            for rank in &profile.ranks {
                self.total.waits.add(&rank.sums.waits);
            }
        }
        for language in &profile.facts.languages {
            if !self.languages.contains(language) {
                self.languages.push(language.clone());
            }
        }
        if self.routines.is_none() {
            self.routines = Some(profile.routines.clone());
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.times.launches == 0
    }

    /// Language bindings that were used, by name.
    pub fn languages(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.languages.iter().map(|name| &**name).collect();
        names.sort_unstable();
        names
    }

    /// The sum as a profile, for whoever shows one; of no launch in particular.
    pub fn profile(&self) -> MpiProfile {
        let day = Date { year: 1970, month: 1, day: 1 };
        let midnight = Time { hour: 0, minute: 0, second: 0 };
        MpiProfile {
            facts: MpiRecordFacts {
                languages: self.languages.clone(),
                ..MpiRecordFacts::at(day, midnight)
            },
            origin: Origin::Lines,
            total: self.total.clone(),
            ranks: Vec::new(),
            subtotals: Vec::new(),
            routines: self.routines.clone().unwrap_or_default(),
            lost_lines: 0,
            inside: Vec::new(),
            unposted: Vec::new(),
            open_messages: Vec::new(),
            logged: None,
            is_log_silent: false,
        }
    }
}

/// The profiles of a center.
#[derive(Clone, Debug, Default)]
pub struct CenterProfiles {
    /// All of them
    pub sum: ProfileSum,
    /// By the names of users
    pub by_user: BTreeMap<Box<[u8]>, LaunchTimes>,
    /// Launches that called a function of a group, by the groups of Figure 11 of R. Rabenseifner,
    /// "Automatic MPI Counter Profiling" (2000), and those that MPI has got since
    pub groups: BTreeMap<&'static str, LaunchTimes>,
}

impl CenterProfiles {
    /// Adds a launch, as [`ProfileSum::add`] does.
    pub fn add(&mut self, profile: &MpiProfile) {
        self.sum.add(profile);
        self.by_user.entry(profile.facts.user.clone()).or_default().add(&profile.total);
        let called = profile.total.routines.iter().filter(|routine| routine.calls > 0);
        let mut groups: Vec<&str> =
            called.filter_map(|routine| group(routine.number.function()?.class)).collect();
        groups.sort_unstable();
        groups.dedup();
        for name in groups {
            self.groups.entry(name).or_default().add(&profile.total);
        }
    }
}

/// The group of a function; None of those that every program calls, and of rare ones.
fn group(class: FunctionClass) -> Option<&'static str> {
    use FunctionClass as Class;
    let point_to_point = |progress: CallProgress| match progress {
        CallProgress::Nonblocking => "nonblocking point to point",
        CallProgress::Persistent => "persistent point to point",
        _ => "blocking point to point",
    };
    Some(match class {
        Class::Send(progress) | Class::Receive(progress) | Class::SendReceive(progress) => {
            point_to_point(progress)
        }
        Class::Probe(progress) | Class::MatchedProbe(progress) => point_to_point(progress),
        Class::Start => "persistent point to point",
        Class::PartitionedSend | Class::PartitionedReceive | Class::Partition => {
            "partitioned point to point"
        }
        Class::Collective(CallProgress::Nonblocking)
        | Class::Neighborhood(CallProgress::Nonblocking) => "nonblocking collective",
        Class::Collective(_) | Class::Neighborhood(_) => "collective",
        Class::Rma(_) | Class::RmaSynchronization(_) | Class::Window => "one-sided",
        Class::Io(..) | Class::File => "files",
        Class::Spawn | Class::Connect => "dynamic processes",
        Class::Pack => "pack and unpack",
        Class::Datatype => "derived datatypes",
        Class::Group | Class::Communicator => "groups and communicators",
        Class::Topology => "topologies",
        Class::Attribute => "attributes",
        Class::Error => "error handlers",
        Class::Timer => "clocks",
        _ => return None,
    })
}
