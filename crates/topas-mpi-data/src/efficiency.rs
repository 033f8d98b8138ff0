//! Efficiencies in the scheme of POP, the Performance Optimisation and Productivity center of
//! excellence, from what is counted without a trace.
//!
//! With C the time of a rank outside MPI and T the time of the launch:
//!
//! ```text
//! parallel efficiency = mean C / T = load balance          x communication efficiency
//!                                  = (mean C / largest C)  x (largest C / T)
//! ```
//!
//! Splitting communication efficiency into serialisation and transfer takes a replay on an ideal
//! network, thus a trace: it is not done here.

use super::profile::MpiProfile;
use super::sums::MpiSums;

/// A share: `part` of `whole`, both in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// What is told, at most `whole`
    pub part: u128,
    /// What is all
    pub whole: u128,
}

impl Ratio {
    /// 0 to 1; None of nothing.
    pub fn value(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }
}

/// Efficiencies of a launch, each 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Efficiency {
    /// Ranks that it is of
    pub ranks: u64,
    /// T in ns: that of the rank that took longest, without pauses of the measurement
    pub time: u128,
    /// Sum of C in ns
    pub outside: u128,
    /// Largest C in ns
    pub outside_max: u128,
}

impl Efficiency {
    /// Share of the time of all ranks that was spent outside MPI.
    pub fn parallel(&self) -> Ratio {
        Ratio { part: self.outside, whole: self.time * u128::from(self.ranks) }
    }

    /// How even that is.
    pub fn load_balance(&self) -> Ratio {
        Ratio { part: self.outside, whole: self.outside_max * u128::from(self.ranks) }
    }

    /// Share of its time that the rank with most to do spent outside MPI.
    pub fn communication(&self) -> Ratio {
        Ratio { part: self.outside_max, whole: self.time }
    }
}

/// Why there are no efficiencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEfficiency {
    /// No time passed, or nothing is known of it
    NoTime,
    /// So many threads of a rank called MPI, and the ranks are not told one by one: the sum of
    /// the times of threads says nothing of the time of ranks
    Threads(u32),
    /// One of several threads is in MPI nearly all the time: see [`computes_unseen`]
    Unseen,
    /// Measuring was paused, and the ranks are not told one by one: how long the longest took
    /// without pauses is not known
    Paused,
    /// The times contradict each other
    Contradiction,
}

/// Time of one rank outside MPI, in ns without pauses; of several threads by the one that was in
/// MPI longest.
pub fn outside_of_rank(sums: &MpiSums) -> u128 {
    if sums.threads > 1 { sums.outside_max.into() } else { sums.outside() }
}

/// Whether one of several threads of a rank is in MPI nearly all the time, as one that waits for requests of other ranks
/// is: what the rank computes beside that is not known.
pub fn computes_unseen(sums: &MpiSums) -> bool {
    /// From this part of its time outside of MPI on a thread does something else than call MPI: a tenth.
    const WORKS: u128 = 10;
    sums.threads > 1 && WORKS * outside_of_rank(sums) < sums.wall
}

/// The time that calls of one rank can take together, in ns: that of all its threads that call MPI.
pub fn time_of_callers(sums: &MpiSums) -> u128 {
    sums.wall * u128::from(sums.threads.max(1))
}

/// The time that calls of MPI can take together: that of all ranks or, where several threads of a rank called MPI,
/// that of all these threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallersTime {
    /// ns
    pub time: u128,
    /// Ranks, or threads that called MPI; of ranks that are not told one by one, as many for each as the rank with
    /// most has
    pub count: u64,
    /// Whether these are threads
    pub threads: bool,
}

impl CallersTime {
    /// Of the ranks of a profile.
    pub fn of(profile: &MpiProfile) -> CallersTime {
        let total = &profile.total;
        if total.threads <= 1 {
            return CallersTime { time: total.wall, count: total.ranks, threads: false };
        }
        let threads = |sums: &MpiSums| sums.threads.max(1);
        if profile.ranks.len() as u64 == total.ranks {
            let each = || profile.ranks.iter().map(|rank| &rank.sums);
            return CallersTime {
                time: each().map(time_of_callers).sum(),
                count: each().map(|sums| u64::from(threads(sums))).sum(),
                threads: true,
            };
        }
        CallersTime {
            time: time_of_callers(total),
            count: total.ranks * u64::from(threads(total)),
            threads: true,
        }
    }

    /// Whose time it is: "ranks" or "threads".
    pub const fn whose(&self) -> &'static str {
        if self.threads { "threads" } else { "ranks" }
    }
}

/// The efficiencies of a profile.
///
/// # Errors
///
/// Where they would be nonsense.
pub fn efficiency(profile: &MpiProfile) -> Result<Efficiency, NoEfficiency> {
    let total = &profile.total;
    let of = if profile.ranks.len() as u64 == total.ranks {
        let each = || profile.ranks.iter().map(|rank| &rank.sums);
        if each().any(computes_unseen) {
            return Err(NoEfficiency::Unseen);
        }
        let time = |sums: &MpiSums| sums.wall.saturating_sub(sums.paused);
        Efficiency {
            ranks: total.ranks,
            time: each().map(time).max().unwrap_or(0),
            outside: each().map(outside_of_rank).sum(),
            outside_max: each().map(outside_of_rank).max().unwrap_or(0),
        }
    } else if total.threads > 1 {
        return Err(NoEfficiency::Threads(total.threads));
    } else if total.paused > 0 {
        return Err(NoEfficiency::Paused);
    } else {
        Efficiency {
            ranks: total.ranks,
            time: total.wall_max.into(),
            outside: total.outside(),
            outside_max: total.outside_max.into(),
        }
    };
    if of.time == 0 || of.ranks == 0 {
        return Err(NoEfficiency::NoTime);
    }
    let sound = of.outside_max <= of.time
        && of.outside_max <= of.outside
        && of.outside <= of.outside_max.saturating_mul(of.ranks.into())
        && (total.threads > 1 || total.mpi <= total.wall);
    if sound { Ok(of) } else { Err(NoEfficiency::Contradiction) }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use topas_format::civil::{Date, Time};

    use super::super::profile::{MpiProfile, MpiRank, MpiRecordFacts, Origin};
    use super::super::sums::MpiSums;
    use super::*;

    fn facts() -> MpiRecordFacts {
        MpiRecordFacts::at(
            Date { year: 2026, month: 11, day: 20 },
            Time { hour: 8, minute: 0, second: 0 },
        )
    }

    /// Wall clock time and time in MPI of ranks.
    pub(crate) fn profile(times: &[(u64, u64)]) -> MpiProfile {
        let rank = |(rank, &(wall, mpi)): (usize, &(u64, u64))| MpiRank {
            last: None,
            started: Vec::new(),
            rank: rank as u32,
            pid: None,
            host: Box::default(),
            ending: None,
            missed: Vec::new(),
            sums: MpiSums {
                ranks: 1,
                wall: wall.into(),
                wall_max: wall,
                mpi: mpi.into(),
                mpi_max: mpi,
                mpi_min: mpi,
                outside_max: wall - mpi,
                threads: 1,
                ..MpiSums::default()
            },
        };
        let ranks: Vec<MpiRank> = times.iter().enumerate().map(rank).collect();
        let mut total = MpiSums::default();
        ranks.iter().for_each(|rank| total.add(&rank.sums));
        MpiProfile {
            facts: facts(),
            origin: Origin::Lines,
            total,
            ranks,
            subtotals: Vec::new(),
            routines: Default::default(),
            lost_lines: 0,
            inside: Vec::new(),
            unposted: Vec::new(),
            open_messages: Vec::new(),
            logged: None,
            is_log_silent: false,
        }
    }

    #[test]
    fn a_rank_that_waits_for_another() {
        let of = efficiency(&profile(&[(10, 2), (10, 6)])).unwrap();
        let share = |ratio: Ratio| ratio.value().unwrap();
        assert_eq!(share(of.parallel()), 0.6);
        assert_eq!(share(of.load_balance()), 0.75);
        assert_eq!(share(of.communication()), 0.8);
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(efficiency(&profile(&[(0, 0)])), Err(NoEfficiency::NoTime));
        assert_eq!(efficiency(&profile(&[])), Err(NoEfficiency::NoTime));
        let sum = |change: fn(&mut MpiSums)| {
            let mut profile = profile(&[(10, 2), (10, 6)]);
            profile.ranks.clear();
            change(&mut profile.total);
            efficiency(&profile)
        };
        assert!(sum(|_| ()).is_ok());
        assert_eq!(sum(|sums| sums.threads = 2), Err(NoEfficiency::Threads(2)));
        assert_eq!(sum(|sums| sums.paused = 1), Err(NoEfficiency::Paused));
        assert_eq!(sum(|sums| sums.outside_max = 11), Err(NoEfficiency::Contradiction));
        assert_eq!(sum(|sums| sums.outside_max = 5), Err(NoEfficiency::Contradiction));
        assert_eq!(sum(|sums| sums.mpi = 21), Err(NoEfficiency::Contradiction));
    }

    #[test]
    fn calls_take_no_more_than_the_time_of_the_threads_that_make_them() {
        let mut profile = profile(&[(10, 2), (10, 6)]);
        assert_eq!(CallersTime::of(&profile), CallersTime { time: 20, count: 2, threads: false });
        profile.total.threads = 4;
        profile.ranks[1].sums.threads = 4;
        assert_eq!(CallersTime::of(&profile), CallersTime { time: 50, count: 5, threads: true });
        profile.ranks.clear();
        assert_eq!(CallersTime::of(&profile), CallersTime { time: 80, count: 8, threads: true });
    }

    /// With pauses and threads each rank tells for itself.
    #[test]
    fn ranks_that_are_told_need_no_sum() {
        let mut paused = profile(&[(10, 2), (14, 6)]);
        paused.ranks[1].sums.paused = 4;
        paused.total.paused = 4;
        let of = efficiency(&paused).unwrap();
        assert_eq!((of.time, of.outside, of.outside_max), (10, 12, 8));
        let mut threads = profile(&[(10, 2), (10, 6)]);
        (threads.total.threads, threads.total.mpi) = (4, 26);
        (threads.ranks[1].sums.threads, threads.ranks[1].sums.mpi) = (4, 24);
        assert_eq!(efficiency(&threads).unwrap().outside, 12);
    }

    proptest! {
        #[test]
        fn efficiencies_are_shares(
            times in prop::collection::vec((1u64..1 << 50, 0.0..=1.0f64), 1..64),
        ) {
            let times: Vec<(u64, u64)> = times
                .into_iter()
                .map(|(wall, share)| (wall, ((wall as f64 * share) as u64).min(wall)))
                .collect();
            let told = profile(&times);
            let mut summed = told.clone();
            summed.ranks.clear();
            let of = efficiency(&told);
            prop_assert_eq!(of, efficiency(&summed), "ranks and their sum agree");
            let of = of.unwrap();
            let value = |ratio: Ratio| ratio.value();
            let parallel = value(of.parallel()).unwrap();
            let communication = value(of.communication()).unwrap();
            prop_assert!((0.0..=1.0).contains(&parallel));
            prop_assert!((0.0..=1.0).contains(&communication));
            match value(of.load_balance()) {
                Some(balance) => {
                    prop_assert!((1.0 / times.len() as f64 - 1e-9..=1.0).contains(&balance));
                    prop_assert!((balance * communication - parallel).abs() < 1e-9);
                }
                None => prop_assert_eq!(of.outside_max, 0, "nobody was ever outside"),
            }
        }
    }
}
