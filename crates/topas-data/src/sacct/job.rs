//! The jobs, each once.

use std::path::Path;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet};
use topas_format::line::Extras;
use topas_format::shown::Shown;

use super::SacctFault;
use super::row::{Column, JobId, JobKey, Row, RowNumbers};

/// A time that is not told.
const NONE: i64 = i64::MIN;

/// A number of seconds that is not told.
const UNTOLD: u64 = u64::MAX;

/// A job.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) key: JobKey,
    /// Numbers of texts
    pub(super) user: u32,
    pub(super) account: u32,
    pub(super) qos: u32,
    pub(super) partition: u32,
    pub(super) state: u32,
    /// 0 if not told
    pub(super) cpus: u32,
    limit: u64,
    elapsed: u64,
    /// CPUs x elapsed time of all its attempts, in s
    pub(super) cpu_time: u64,
    start: i64,
    end: i64,
    /// Whether a step of srun or the like is told
    pub(super) has_step: bool,
}

impl Job {
    pub(super) fn limit(&self) -> Option<u64> {
        (self.limit != UNTOLD).then_some(self.limit)
    }

    pub(super) fn elapsed(&self) -> Option<u64> {
        (self.elapsed != UNTOLD).then_some(self.elapsed)
    }

    pub(super) fn start(&self) -> Option<i64> {
        (self.start != NONE).then_some(self.start)
    }

    pub(super) fn end(&self) -> Option<i64> {
        (self.end != NONE).then_some(self.end)
    }

    /// Whether it ran at all.
    pub(super) fn ran(&self) -> bool {
        self.cpu_time > 0 || self.elapsed().is_some_and(|s| s > 0)
    }
}

/// What became of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SacctTally {
    /// Rows, without headers
    pub rows: u64,
    /// Rows that were skipped, by [`SacctFault`]
    pub skipped: [u64; SacctFault::ALL.len()],
    /// The first of them: `FILE:LINE: fault: text`
    pub examples: Vec<String>,
    /// Rows of a job that was there before, with the same start
    pub repeated: u64,
    /// Rows of further attempts of a job that was put back into the queue
    pub attempts: u64,
    /// Rows of elements of arrays that wait
    pub waiting: u64,
    /// Rows of steps whose job is not there
    pub lone_steps: u64,
    /// Whether a file lacks the columns that tell CPU time
    pub no_cpu_time: bool,
}

impl SacctTally {
    /// Most rows that are shown.
    const EXAMPLES: usize = 3;

    pub(super) fn bad(&mut self, fault: SacctFault, path: &Path, number: u64, line: &[u8]) {
        self.skipped[fault as usize] += 1;
        if self.examples.len() < Self::EXAMPLES {
            let text = Shown(&line[..line.len().min(60)]);
            self.examples.push(format!("{}:{number}: {fault}: {text}", path.display()));
        }
    }

    /// Rows that were skipped.
    pub fn skipped(&self) -> u64 {
        self.skipped.iter().sum()
    }
}

/// The jobs that sacct told.
#[derive(Clone, Debug, Default)]
pub struct SacctJobs {
    jobs: Vec<Job>,
    by_key: HashTable<u32>,
    /// Elements of arrays and components by the number that Slurm gave them as jobs
    by_raw: FxHashMap<JobKey, u32>,
    texts: Vec<Box<[u8]>>,
    numbers: FxHashMap<Box<[u8]>, u32>,
    /// Steps that came before their jobs
    early: FxHashSet<(JobKey, bool)>,
    /// Whether there are rows of steps
    pub(super) has_steps: bool,
    /// What became of the rows
    pub tally: SacctTally,
}

fn hash(key: JobKey) -> u64 {
    // The ids of jobs follow each other.
    let n = key.bits().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    n ^ n >> 29
}

impl SacctJobs {
    /// Number of jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there are no jobs.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    pub(super) fn get(&self, at: u32) -> Option<&Job> {
        self.jobs.get(at as usize)
    }

    pub(super) fn all(&self) -> &[Job] {
        &self.jobs
    }

    pub(super) fn text(&self, number: u32) -> &[u8] {
        self.texts.get(number as usize).map_or(b"", |text| text)
    }

    pub(super) fn place(&self, key: JobKey) -> Option<u32> {
        let is = |at: &u32| self.jobs[*at as usize].key == key;
        self.by_key.find(hash(key), is).copied()
    }

    /// The place of the job of a line; None if sacct did not tell it.
    #[inline]
    pub(super) fn of_line(&self, extras: Extras<'_>) -> Option<u32> {
        let JobId::Job(key) = JobId::parse(extras.get(b"job")?)? else { return None };
        self.place(key).or_else(|| self.by_raw.get(&key).copied())
    }

    fn number(&mut self, text: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        // There are not more texts than rows, of which memory holds less than 2^32.
        let number = self.texts.len() as u32;
        self.texts.push(text.into());
        self.numbers.insert(text.into(), number);
        number
    }

    pub(super) fn job(
        &mut self,
        key: JobKey,
        raw: Option<JobId>,
        row: &Row<'_>,
        numbers: &RowNumbers,
    ) {
        let number = [Column::User, Column::Account, Column::Qos, Column::Partition];
        let [user, account, qos, partition] = number.map(|column| self.number(row.cell(column)));
        let mut job = Job {
            key,
            user,
            account,
            qos,
            partition,
            state: self.number(row.state()),
            cpus: numbers.cpus.unwrap_or(0),
            limit: numbers.limit.unwrap_or(UNTOLD),
            elapsed: numbers.elapsed.unwrap_or(UNTOLD),
            cpu_time: numbers.cpu_time,
            start: numbers.start.unwrap_or(NONE),
            end: numbers.end.unwrap_or(NONE),
            has_step: false,
        };
        let at = match self.place(key) {
            Some(at) => {
                let known = &mut self.jobs[at as usize];
                job.has_step = known.has_step;
                if known.start == job.start {
                    self.tally.repeated += 1;
                } else {
                    self.tally.attempts += 1;
                    job.cpu_time = job.cpu_time.saturating_add(known.cpu_time);
                }
                *known = job;
                at
            }
            None => {
                // 2^32 jobs take some 400 GB.
                let at = u32::try_from(self.jobs.len()).expect("at most 4294967296 jobs");
                self.jobs.push(job);
                let jobs = &self.jobs;
                self.by_key.insert_unique(hash(key), at, |at| hash(jobs[*at as usize].key));
                at
            }
        };
        if let Some(JobId::Job(raw)) = raw
            && raw != key
        {
            self.by_raw.insert(raw, at);
        }
    }

    /// A step of a job.
    pub(super) fn step(&mut self, key: JobKey, parallel: bool) {
        self.has_steps = true;
        match self.place(key) {
            Some(at) => self.jobs[at as usize].has_step |= parallel,
            None => {
                self.early.insert((key, parallel));
            }
        }
    }

    /// After a file: finds the jobs of steps that came before them.
    pub(super) fn settle(&mut self) {
        for (key, parallel) in std::mem::take(&mut self.early) {
            match self.place(key) {
                Some(at) => self.jobs[at as usize].has_step |= parallel,
                None => self.tally.lone_steps += 1,
            }
        }
    }
}
