//! Runs and the time they took: what every share in a report is a share of.

/// PEs times wall clock time, in µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeTime(pub u128);

impl PeTime {
    /// In s.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// In hours.
    pub fn hours(self) -> f64 {
        self.0 as f64 / 3.6e9
    }

    /// To the nearest second.
    pub fn whole_seconds(self) -> u128 {
        self.0 / 1_000_000 + u128::from(self.0 % 1_000_000 >= 500_000)
    }
}

/// Number of runs and the time they took together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Number of runs
    pub runs: u64,
    /// Sum of their PEs x wall clock time
    pub time: PeTime,
}

impl Share {
    /// Adds a run of so many PE x µs. Their sum has room for 2^32 runs, which is more than
    /// can be joined, of 2^96 PE x µs, which is more than a line can say.
    pub fn add(&mut self, pe_micros: u128) {
        self.runs += 1;
        self.time.0 += pe_micros;
    }

    /// Both together.
    pub fn plus(self, other: Share) -> Share {
        Share { runs: self.runs + other.runs, time: PeTime(self.time.0 + other.time.0) }
    }
}
