//! Which jobs left a line, and why the others may have left none.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashSet;
use topas_format::line::{Extras, Line};

use super::job::{Job, SacctJobs};
use crate::question::{Fold, Question};
use crate::run::{Detail, Run};
use crate::share::Share;
use crate::when::local_seconds;

/// Shortest job that is not called short, in s.
const SHORT: u64 = 60;

/// States of jobs whose programs were killed.
const KILLED: [&[u8]; 8] = [
    b"CANCELLED",
    b"TIMEOUT",
    b"OUT_OF_MEMORY",
    b"NODE_FAIL",
    b"PREEMPTED",
    b"DEADLINE",
    b"BOOT_FAIL",
    b"REVOKED",
];

/// States of jobs that have not ended.
const ALIVE: [&[u8]; 6] =
    [b"RUNNING", b"SUSPENDED", b"COMPLETING", b"RESIZING", b"REQUEUED", b"STOPPED"];

/// CPUs x time in s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CpuHours(pub u128);

/// Jobs, and the CPU time that was allocated to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobShare {
    /// Number of jobs
    pub jobs: u64,
    /// Sum of their CPUs x elapsed time
    pub time: CpuHours,
}

impl JobShare {
    fn add(&mut self, job: &Job) {
        self.jobs += 1;
        self.time.0 += u128::from(job.cpu_time);
    }
}

/// Why a job may have left no line. The first that fits is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoLine {
    /// It had not ended when sacct was asked
    Running,
    /// It ended before the first line of the log
    BeforeLog,
    /// It began after the last line of the log
    AfterLog,
    /// It had one CPU
    OneCpu,
    /// It took less than a minute
    Short,
    /// It was cancelled, reached its time limit, or the like
    Killed,
    /// It started no step by srun or the like
    NoStep,
    /// No job of its partition left a line
    Partition,
    /// No job of its user left a line
    User,
    /// None of these
    Other,
}

impl NoLine {
    /// All of them, in their order.
    pub const ALL: [NoLine; 10] = [
        NoLine::Running,
        NoLine::BeforeLog,
        NoLine::AfterLog,
        NoLine::OneCpu,
        NoLine::Short,
        NoLine::Killed,
        NoLine::NoStep,
        NoLine::Partition,
        NoLine::User,
        NoLine::Other,
    ];

    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            NoLine::Running => "running",
            NoLine::BeforeLog => "before_log",
            NoLine::AfterLog => "after_log",
            NoLine::OneCpu => "one_cpu",
            NoLine::Short => "short",
            NoLine::Killed => "killed",
            NoLine::NoStep => "no_step",
            NoLine::Partition => "partition",
            NoLine::User => "user",
            NoLine::Other => "other",
        }
    }
}

/// Notes which jobs left lines, from any thread.
pub struct SacctSeen<'j> {
    jobs: &'j SacctJobs,
    seen: Vec<AtomicBool>,
    /// Jobs of lines that sacct did not tell
    unknown: Mutex<FxHashSet<Box<[u8]>>>,
    /// Local date and time of the first and the last line
    first: AtomicI64,
    last: AtomicI64,
}

/// What the job of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum LineJob {
    Told,
    NotTold,
    None,
}

impl<'j> SacctSeen<'j> {
    /// No lines yet.
    pub fn new(jobs: &'j SacctJobs) -> Self {
        let seen = jobs.all().iter().map(|_| AtomicBool::new(false)).collect();
        let (first, last) = (AtomicI64::new(i64::MAX), AtomicI64::new(i64::MIN));
        SacctSeen { jobs, seen, unknown: Mutex::default(), first, last }
    }

    /// Notes a line.
    #[inline]
    pub fn note(&self, line: &Line<'_>, extras: Extras<'_>) {
        let local = local_seconds(line);
        if local < self.first.load(Ordering::Relaxed) {
            self.first.fetch_min(local, Ordering::Relaxed);
        }
        if local > self.last.load(Ordering::Relaxed) {
            self.last.fetch_max(local, Ordering::Relaxed);
        }
        if let Some(seen) = self.jobs.of_line(extras).and_then(|at| self.seen.get(at as usize)) {
            if !seen.load(Ordering::Relaxed) {
                seen.store(true, Ordering::Relaxed);
            }
        } else if let Some(job) = extras.get(b"job") {
            let mut unknown = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
            if !unknown.contains(job) {
                unknown.insert(job.into());
            }
        }
    }

    fn line_job(&self, extras: Extras<'_>) -> LineJob {
        match (self.jobs.of_line(extras), extras.get(b"job")) {
            (Some(_), _) => LineJob::Told,
            (None, Some(_)) => LineJob::NotTold,
            (None, None) => LineJob::None,
        }
    }

    /// What is known when all lines were noted.
    pub fn coverage(self, runs: RunsByJob) -> SacctCoverage {
        let seen: Vec<bool> = self.seen.into_iter().map(AtomicBool::into_inner).collect();
        let (first, last) = (self.first.into_inner(), self.last.into_inner());
        let jobs = self.jobs;
        let left_line = |at: usize, job: &Job| {
            // A line names the first of several components.
            let leader = || jobs.place(job.key.leader()).is_some_and(|at| seen[at as usize]);
            seen[at] || job.key.is_component() && leader()
        };
        let all = || jobs.all().iter().enumerate().filter(|(_, job)| job.ran());
        let mut coverage = SacctCoverage {
            never_ran: jobs.all().iter().filter(|job| !job.ran()).count() as u64,
            log: LogJobs {
                unknown: self.unknown.into_inner().unwrap_or_else(PoisonError::into_inner).len()
                    as u64,
                runs,
            },
            ..SacctCoverage::default()
        };
        let (mut partitions, mut users) = (FxHashSet::default(), FxHashSet::default());
        for (_, job) in all().filter(|(at, job)| left_line(*at, job)) {
            partitions.insert(job.partition);
            users.insert(job.user);
        }
        let mut reasons: BTreeMap<NoLine, JobShare> = BTreeMap::new();
        let mut groups = [const { BTreeMap::<u32, (JobShare, JobShare)>::new() }; 4];
        for (at, job) in all() {
            coverage.ran.add(job);
            let without = !left_line(at, job);
            for (groups, number) in
                groups.iter_mut().zip([job.user, job.account, job.partition, job.state])
            {
                let (none, of) = groups.entry(number).or_default();
                of.add(job);
                if without {
                    none.add(job);
                }
            }
            if !without {
                coverage.measured.add(job);
                continue;
            }
            let log = (first <= last).then_some((first, last));
            let mut reason = reason(jobs, job, log);
            if reason == NoLine::Other {
                if !partitions.contains(&job.partition) {
                    reason = NoLine::Partition;
                } else if !users.contains(&job.user) {
                    reason = NoLine::User;
                }
            }
            reasons.entry(reason).or_default().add(job);
        }
        coverage.reasons = reasons.into_iter().collect();
        let [users, accounts, partitions, states] = groups.map(|groups| by_size(jobs, groups));
        SacctCoverage { users, accounts, partitions, states, ..coverage }
    }
}

/// The reason that the job itself tells.
fn reason(jobs: &SacctJobs, job: &Job, log: Option<(i64, i64)>) -> NoLine {
    let state = jobs.text(job.state);
    if ALIVE.contains(&state) {
        return NoLine::Running;
    }
    if let Some((first, last)) = log {
        if job.end().is_some_and(|end| end < first) {
            return NoLine::BeforeLog;
        }
        if job.start().is_some_and(|start| start > last) {
            return NoLine::AfterLog;
        }
    }
    if job.cpus == 1 {
        NoLine::OneCpu
    } else if job.elapsed().is_some_and(|s| s < SHORT) {
        NoLine::Short
    } else if KILLED.contains(&state) {
        NoLine::Killed
    } else if jobs.has_steps && !job.has_step {
        NoLine::NoStep
    } else {
        NoLine::Other
    }
}

/// Groups with jobs without a line, those with the most CPU time without one first.
fn by_size(jobs: &SacctJobs, groups: BTreeMap<u32, (JobShare, JobShare)>) -> Vec<SacctGroup> {
    let group = |(number, (without, of)): (u32, (JobShare, JobShare))| SacctGroup {
        name: jobs.text(number).into(),
        without,
        of,
    };
    let mut groups: Vec<SacctGroup> =
        groups.into_iter().map(group).filter(|group| group.without.jobs > 0).collect();
    groups.sort_by(|a, b| {
        let size = |group: &SacctGroup| (group.without.time, group.without.jobs);
        size(b).cmp(&size(a)).then_with(|| a.name.cmp(&b.name))
    });
    groups
}

/// Jobs of a user, an account, a partition or in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SacctGroup {
    /// Its name, empty if sacct told none
    pub name: Box<[u8]>,
    /// Jobs that left no line
    pub without: JobShare,
    /// All its jobs that ran
    pub of: JobShare,
}

/// Jobs as the log tells them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogJobs {
    /// Jobs in the log that sacct did not tell
    pub unknown: u64,
    /// Runs by what is known of their jobs
    pub runs: RunsByJob,
}

/// Which jobs left lines.
#[derive(Clone, Debug, Default)]
pub struct SacctCoverage {
    /// Jobs that ran
    pub ran: JobShare,
    /// Those of them that left a line
    pub measured: JobShare,
    /// Jobs that never ran
    pub never_ran: u64,
    /// Jobs that left no line, by likely reason
    pub reasons: Vec<(NoLine, JobShare)>,
    /// By user, those with the most CPU time without a line first; only those with such jobs
    pub users: Vec<SacctGroup>,
    /// By account
    pub accounts: Vec<SacctGroup>,
    /// By partition
    pub partitions: Vec<SacctGroup>,
    /// By state
    pub states: Vec<SacctGroup>,
    /// What the log tells
    pub log: LogJobs,
}

impl SacctCoverage {
    /// Jobs that ran and left no line.
    pub fn unmeasured(&self) -> JobShare {
        JobShare {
            jobs: self.ran.jobs - self.measured.jobs,
            time: CpuHours(self.ran.time.0 - self.measured.time.0),
        }
    }
}

/// Another question, with the jobs of all lines noted, wanted or not.
pub struct SacctLines<'s, Q> {
    asked: Q,
    seen: &'s SacctSeen<'s>,
}

impl<'s, Q: Question> SacctLines<'s, Q> {
    /// Notes lines in `seen`.
    pub fn new(asked: Q, seen: &'s SacctSeen<'s>) -> Self {
        SacctLines { asked, seen }
    }
}

impl<Q: Question> Question for SacctLines<'_, Q> {
    fn detail(&self) -> Detail {
        self.asked.detail()
    }

    fn reads_profiles(&self) -> bool {
        self.asked.reads_profiles()
    }

    #[inline]
    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.seen.note(line, extras);
        self.asked.wants(line, extras)
    }

    #[inline]
    fn wants_run(&self, run: &Run<'_>) -> bool {
        self.asked.wants_run(run)
    }

    fn sets_aside(&self, run: &Run<'_>) -> bool {
        self.asked.sets_aside(run)
    }

    #[inline]
    fn key(&self, line: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        self.asked.key(line, extras, key);
    }
}

/// Asks which jobs left lines, of all lines that another question wants.
pub struct CoverageQuestion<'s, Q> {
    wanted: Q,
    seen: &'s SacctSeen<'s>,
}

impl<'s, Q: Question> CoverageQuestion<'s, Q> {
    /// Notes lines in `seen`.
    pub fn new(wanted: Q, seen: &'s SacctSeen<'s>) -> Self {
        CoverageQuestion { wanted, seen }
    }
}

impl<Q: Question> Question for CoverageQuestion<'_, Q> {
    fn detail(&self) -> Detail {
        Detail::Rates
    }

    fn wants(&self, line: &Line<'_>, extras: Extras<'_>) -> bool {
        self.wanted.wants(line, extras) && {
            self.seen.note(line, extras);
            true
        }
    }

    fn key(&self, _: &Line<'_>, extras: Extras<'_>, key: &mut Vec<u8>) {
        key.push(self.seen.line_job(extras) as u8);
    }
}

/// Runs by what is known of their jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsByJob {
    /// Of jobs that sacct told
    pub told: Share,
    /// Of jobs that it did not tell
    pub not_told: Share,
    /// Of no job
    pub without: Share,
}

impl Fold for RunsByJob {
    fn add(&mut self, run: &Run<'_>) {
        let share = match run.key.first() {
            Some(&told) if told == LineJob::Told as u8 => &mut self.told,
            Some(&not_told) if not_told == LineJob::NotTold as u8 => &mut self.not_told,
            _ => &mut self.without,
        };
        share.add(run.pe_micros());
    }

    fn merge(&mut self, other: Self) {
        self.told = self.told.plus(other.told);
        self.not_told = self.not_told.plus(other.not_told);
        self.without = self.without.plus(other.without);
    }
}
