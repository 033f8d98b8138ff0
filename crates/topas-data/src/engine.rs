//! Asks logs a [`Question`]: reads all sources, joins lines to runs, folds runs.

mod columns;
mod join;
mod joined;
mod launch_lines;
mod line_hash;
mod packed;
mod reading;
mod record;
mod store;

use std::fmt;
use std::io::{self, Read};
use std::num::NonZero;
use std::panic;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::engine::join::{Join, PART_BITS};
pub use crate::engine::joined::{JoinedRun, join_lines};
use crate::engine::reading::{LogReader, ReadCounts, SharedReading};
pub(crate) use crate::engine::reading::{launch_key, launch_key_of};
use crate::engine::record::{Full, RecordForm, Slim};
use crate::engine::store::{Overflow, Store, StoreWriter};
use crate::feed::BLOCK;
use crate::group::Groups;
use crate::mpi_times::{LaunchProfiles, PROFILE_BYTES};
use crate::question::{Fold, Question};
use crate::run::{Detail, Run};
use crate::source::{Inputs, Source, SourceError};
use crate::tally::Tally;

/// What may be used to find an answer. It is the same whatever this is.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Threads that read and join
    pub threads: NonZero<usize>,
    /// Memory for lines that wait for others of their runs, in B; what is more goes to a temporary
    /// file. As much again is for groups, 16 MiB at least, and more of them are an error; a thread
    /// takes 2 MB whatever this says, and lines of one launch are in memory together.
    pub memory: u64,
    /// Directory of the temporary file, which has no name and goes with the process
    pub temporary: PathBuf,
}

/// Memory unless told otherwise, in B.
pub const MEMORY: u64 = 256 << 20;

/// Least memory for groups in B, however little is for lines.
const LEAST: u64 = 16 << 20;

impl Default for Resources {
    /// A thread for each processor this process may use, [`MEMORY`], `/tmp`.
    fn default() -> Self {
        Resources {
            threads: thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN),
            memory: MEMORY,
            temporary: PathBuf::from("/tmp"),
        }
    }
}

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskProgress {
    /// Sources are read.
    Reading {
        /// Bytes read, compressed as they are
        bytes: u64,
        /// Bytes of all sources; None where the length of one is not known
        of: Option<u64>,
        /// Sources that are finished
        sources: usize,
    },
    /// All is read; runs are made.
    Joining {
        /// Parts done
        done: usize,
        /// Of so many
        of: usize,
    },
}

/// What came out.
#[derive(Debug)]
pub struct AskAnswer<F> {
    /// The runs, added up
    pub fold: F,
    /// The lines
    pub tally: Tally,
    /// Lines that the question did not want; `tally` has them as good
    pub unwanted: u64,
    /// Runs that the question did not want, of the lines that it wanted
    pub unwanted_runs: u64,
    /// Those of them that used an accelerator, and would else be wanted
    pub aside: u64,
    /// Sources that could not be read, or not to their end
    pub failed: Vec<SourceError>,
}

/// There is no answer.
#[derive(Debug)]
pub enum AskError {
    /// What did not fit into memory could not be put aside
    Temporary(TemporaryError),
    /// There are more groups than memory for them
    Groups {
        /// What they may take in B
        memory: u64,
    },
    /// There are more lines of MPI profiles than memory for what they tell
    Profiles {
        /// What they may take in B
        memory: u64,
    },
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::Temporary(error) => error.fmt(f),
            AskError::Groups { memory } => {
                write!(f, "the tables have more rows than {memory} B of memory can hold")
            }
            AskError::Profiles { memory } => {
                write!(f, "there are more MPI profiles than {memory} B of memory can hold")
            }
        }
    }
}

impl std::error::Error for AskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            AskError::Temporary(error) => error.source(),
            AskError::Groups { .. } | AskError::Profiles { .. } => None,
        }
    }
}

impl From<TemporaryError> for AskError {
    fn from(error: TemporaryError) -> Self {
        AskError::Temporary(error)
    }
}

/// The temporary file could not be made, written or read.
#[derive(Debug)]
pub struct TemporaryError {
    /// Its directory
    pub directory: PathBuf,
    /// Bytes written before
    pub written: u64,
    /// What happened
    pub cause: io::Error,
}

impl fmt::Display for TemporaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TemporaryError { directory, written, .. } = self;
        write!(f, "cannot use a temporary file in {} (after {written} B)", directory.display())
    }
}

impl std::error::Error for TemporaryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// Asks `question` of all lines of `sources`. A source that cannot be read is in the answer,
/// and the others are read. `progress` is called some times a second, by this thread.
///
/// # Errors
///
/// [`AskError`] if what does not fit into memory could not be put aside, or there are too many
/// groups.
pub fn ask<Q: Question, F: Fold>(
    sources: &[Source],
    question: &Q,
    fold: impl Fn() -> F + Sync,
    resources: &Resources,
    progress: impl FnMut(AskProgress),
) -> Result<AskAnswer<F>, AskError> {
    let of = sources.iter().map(Source::len).sum();
    let work = AskWork { reading: SharedReading::new(sources), of, question, resources };
    work.answer(fold, progress)
}

/// As [`ask`], of what names stand for: files that were moved meanwhile are listed and read once more
/// ([`Inputs::read`]).
///
/// # Errors
///
/// As [`ask`].
pub fn ask_inputs<Q: Question, F: Fold>(
    inputs: &Inputs,
    question: &Q,
    fold: impl Fn() -> F + Sync,
    resources: &Resources,
    mut progress: impl FnMut(AskProgress),
) -> Result<AskAnswer<F>, AskError> {
    let asked = |inputs: &Inputs| ask(&inputs.sources, question, &fold, resources, &mut progress);
    inputs.read(asked, |answer| answer.as_ref().map_or(&[], |answer| &answer.failed))
}

/// As [`ask`], of any reader of plain or compressed lines; `source` is what messages call it.
///
/// # Errors
///
/// As [`ask`].
pub fn ask_reader<Q: Question, F: Fold>(
    source: &Source,
    reader: impl Read + Send,
    question: &Q,
    fold: impl Fn() -> F + Sync,
    resources: &Resources,
    progress: impl FnMut(AskProgress),
) -> Result<AskAnswer<F>, AskError> {
    let work = AskWork {
        reading: SharedReading::of_reader(source, reader),
        of: None,
        question,
        resources,
    };
    work.answer(fold, progress)
}

/// Most bytes of a piece of the temporary file.
const PIECE: u64 = 65_536;

/// How often progress is told.
const INTERVAL: Duration = Duration::from_millis(100);

struct AskWork<'w, Q> {
    reading: SharedReading<'w>,
    /// Bytes to read, if that is known
    of: Option<u64>,
    question: &'w Q,
    resources: &'w Resources,
}

impl<Q: Question> AskWork<'_, Q> {
    fn answer<F: Fold>(
        self,
        fold: impl Fn() -> F + Sync,
        progress: impl FnMut(AskProgress),
    ) -> Result<AskAnswer<F>, AskError> {
        match self.question.detail() {
            Detail::Rates => self.run::<Slim, F>(fold, progress),
            Detail::Times => self.run::<Full<false>, F>(fold, progress),
            Detail::Counters => self.run::<Full<true>, F>(fold, progress),
        }
    }

    fn run<R: RecordForm, F: Fold>(
        self,
        fold: impl Fn() -> F + Sync,
        mut progress: impl FnMut(AskProgress),
    ) -> Result<AskAnswer<F>, AskError> {
        // An eighth of the memory for what threads write, half for what is held, the rest
        // for joining.
        let AskWork { reading, of, question, resources } = self;
        // More would find nothing to read.
        let blocks = of.map_or(u64::MAX, |of| of / BLOCK as u64);
        let useful = usize::try_from(blocks).unwrap_or(usize::MAX).saturating_add(reading.len());
        let threads =
            NonZero::new(useful).map_or(NonZero::<usize>::MIN, |n| n.min(resources.threads));
        let memory = resources.memory;
        let overflow = Overflow::new(&resources.temporary);
        let store = Store::<R>::new(1 << PART_BITS, memory / 2, &overflow);
        let piece = ((memory / 8 / threads.get() as u64) >> PART_BITS).clamp(4096, PIECE) as usize;
        let groups = Groups::new(memory.max(LEAST));

        let most_profiles = memory.max(LEAST) / PROFILE_BYTES / threads.get() as u64;

        let counts = on_all_threads(
            threads,
            || {
                let writer = StoreWriter::new(&store, piece);
                reading.run(LogReader::new(question, &groups, writer, most_profiles))
            },
            || {
                let (bytes, sources) = reading.progress();
                progress(AskProgress::Reading { bytes, of, sources });
            },
        )?;
        if groups.is_full() {
            return Err(AskError::Groups { memory: memory.max(LEAST) });
        }
        let mut tally = Tally::default();
        let mut unwanted = 0;
        let mut profiles = Vec::new();
        for ReadCounts { tally: lines, unwanted: not_wanted, profiles: found } in counts {
            if found.len() as u64 > most_profiles {
                return Err(AskError::Profiles { memory: memory.max(LEAST) });
            }
            tally.merge(&lines);
            unwanted += not_wanted;
            profiles.push(found);
        }
        let profiles = LaunchProfiles::new(profiles);
        let failed = reading.outcome(&mut tally);

        let keys = groups.into_keys();
        let next = AtomicUsize::new(0);
        let folds = on_all_threads(
            threads,
            || {
                let mut join = Join::new(&keys, (memory * 3 / 8) as usize / threads);
                let mut fold = fold();
                let (mut unwanted, mut aside) = (0, 0);
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part >= store.parts() {
                        return Ok((fold, unwanted, aside));
                    }
                    let joined = join.part(store.take(part), &mut |run| {
                        let profiled;
                        let run = if profiles.is_empty() {
                            run
                        } else {
                            profiled = Run { mpi: profiles.of(run), ..*run };
                            &profiled
                        };
                        if question.wants_run(run) {
                            fold.add(run);
                        } else {
                            unwanted += 1;
                            aside += u64::from(question.sets_aside(run));
                        }
                    });
                    if joined.is_err() {
                        next.store(store.parts(), Ordering::Relaxed);
                    }
                    joined?;
                }
            },
            || {
                let done = next.load(Ordering::Relaxed).min(store.parts());
                progress(AskProgress::Joining { done, of: store.parts() });
            },
        )?;
        let fold =
            folds.into_iter().reduce(|(mut all, unwanted, aside), (fold, more, more_aside)| {
                all.merge(fold);
                (all, unwanted + more, aside + more_aside)
            });
        let (fold, unwanted_runs, aside) = fold.expect("there is a thread");
        Ok(AskAnswer { fold, tally, unwanted, unwanted_runs, aside, failed })
    }
}

/// Runs `work` on that many threads, and `progress` on this one until all are done.
fn on_all_threads<T: Send>(
    threads: NonZero<usize>,
    work: impl Fn() -> Result<T, TemporaryError> + Sync,
    mut progress: impl FnMut(),
) -> Result<Vec<T>, TemporaryError> {
    let (done, all_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = (0..threads.get())
            .map(|_| {
                let done = done.clone();
                scope.spawn(move || {
                    let result = work();
                    drop(done);
                    result
                })
            })
            .collect();
        drop(done);
        while all_done.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            progress();
        }
        let results = workers.into_iter().map(|worker| match worker.join() {
            Ok(result) => result,
            Err(panic) => panic::resume_unwind(panic),
        });
        results.collect()
    })
}
