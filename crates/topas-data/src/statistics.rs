//! The statistics of a selection of runs. All sums are exact: integers throughout.

use topas_format::civil::Date;
use topas_format::field::{Lang, Lib};
use topas_format::line::Line;

use crate::distribution::{BucketSize, Distribution};
use crate::run::Run;

/// PEs times wall clock time, in µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PeTime(pub u128);

impl PeTime {
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
    pub(crate) fn add(&mut self, pe_micros: u128) {
        self.runs += 1;
        self.time.0 = self.time.0.saturating_add(pe_micros);
    }
}

/// What a report is made from.
#[derive(Clone, Debug)]
pub struct Statistics {
    bucket_size: BucketSize,
    /// All runs
    pub total: Share,
    /// Runs that have a rate; the others are in one of the next two
    pub measured: Share,
    /// Runs without a count of floating point operations
    pub uncounted: Share,
    /// Runs with a count, but a wall clock time of 0
    pub timeless: Share,
    /// Measured runs whose count is an estimate
    pub estimated: Share,
    /// Days of the first and the last run
    pub days: Option<(Date, Date)>,
    /// Measured runs by MFlop/s per PE
    pub distribution: Distribution,
    langs: Vec<Share>,
    libs: Vec<Share>,
}

impl Statistics {
    /// No runs yet.
    pub fn new(bucket_size: BucketSize) -> Self {
        Statistics {
            bucket_size,
            total: Share::default(),
            measured: Share::default(),
            uncounted: Share::default(),
            timeless: Share::default(),
            estimated: Share::default(),
            days: None,
            distribution: Distribution::default(),
            langs: vec![Share::default(); Lang::ALL.len()],
            libs: vec![Share::default(); Lib::ALL.len()],
        }
    }

    /// The key of the groups that statistics tell apart.
    pub fn key(line: &Line<'_>) -> [u8; 2] {
        [line.lang as u8, line.lib as u8]
    }

    /// Adds a run.
    ///
    /// # Panics
    ///
    /// If its key is not of [`Statistics::key`].
    pub fn add(&mut self, run: &Run<'_>) {
        let time = run.pe_micros();
        self.total.add(time);
        let &[lang, lib] = run.key else { panic!("the key of a run is that of Statistics") };
        self.langs[usize::from(lang)].add(time);
        self.libs[usize::from(lib)].add(time);
        self.days = Some(match self.days {
            None => (run.date, run.date),
            Some((first, last)) => (first.min(run.date), last.max(run.date)),
        });
        match &run.fp() {
            Some(rate) => {
                self.measured.add(time);
                self.distribution.add(self.bucket_size.bucket(rate), time);
                if rate.estimate {
                    self.estimated.add(time);
                }
            }
            None if run.counted() => self.timeless.add(time),
            None => self.uncounted.add(time),
        }
    }

    /// Size of the buckets of the distribution.
    pub fn bucket_size(&self) -> BucketSize {
        self.bucket_size
    }

    /// The languages that have runs, in the order of [`Lang::ALL`].
    pub fn langs(&self) -> impl Iterator<Item = (Lang, Share)> + '_ {
        Lang::ALL.iter().map(|&lang| (lang, self.langs[lang as usize])).filter(|(_, s)| s.runs > 0)
    }

    /// The message passing libraries that have runs, in the order of [`Lib::ALL`].
    pub fn libs(&self) -> impl Iterator<Item = (Lib, Share)> + '_ {
        Lib::ALL.iter().map(|&lib| (lib, self.libs[lib as usize])).filter(|(_, s)| s.runs > 0)
    }
}
