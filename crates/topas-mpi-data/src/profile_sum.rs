//! Profiles of many launches added up, for what is told of a user's week or of a center.

use std::collections::BTreeMap;

use topas_format::civil::{Date, Time};

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
    /// Launches by the functions that they called
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
        }
    }
}
