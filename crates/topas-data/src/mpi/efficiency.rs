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

use super::profile::Profile;
use super::sums::Sums;

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
    /// Measuring was paused, and the ranks are not told one by one: how long the longest took
    /// without pauses is not known
    Paused,
    /// The times contradict each other
    Contradiction,
}

/// Time of one rank outside MPI, in ns without pauses; of several threads by the one that was in
/// MPI longest.
pub fn outside_of_rank(sums: &Sums) -> u128 {
    if sums.threads > 1 { sums.outside_max.into() } else { sums.outside() }
}

/// The efficiencies of a profile.
///
/// # Errors
///
/// Where they would be nonsense.
pub fn efficiency(profile: &Profile) -> Result<Efficiency, NoEfficiency> {
    let total = &profile.total;
    let of = if profile.ranks.len() as u64 == total.ranks {
        let each = || profile.ranks.iter().map(|rank| &rank.sums);
        let time = |sums: &Sums| sums.wall.saturating_sub(sums.paused);
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
