//! Asks logs a [`Question`]: reads all sources, joins lines to runs, folds runs.

mod join;
mod launch;
mod reading;
mod record;
mod store;

use std::fmt;
use std::io;
use std::num::NonZero;
use std::panic;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::engine::join::{Join, PART_BITS};
use crate::engine::reading::{Reader, Reading};
use crate::engine::record::{Form, Full, Slim};
use crate::engine::store::{Overflow, Store, Writer};
use crate::group::Groups;
use crate::question::{Fold, Question};
use crate::run::Detail;
use crate::source::{Source, SourceError};
use crate::tally::Tally;

/// What may be used to find an answer. It is the same whatever this is.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Threads that read and join
    pub threads: NonZero<usize>,
    /// Memory for lines that wait for others of their runs, in B; what is more goes to a
    /// temporary file. Groups and what the fold holds come on top; a thread takes 2 MB
    /// whatever this says, and lines of one launch are in memory together.
    pub memory: u64,
    /// Directory of the temporary file, which has no name and goes with the process
    pub temporary: PathBuf,
}

/// Memory unless told otherwise, in B.
pub const MEMORY: u64 = 256 << 20;

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
pub enum Progress {
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
pub struct Answer<F> {
    /// The runs, added up
    pub fold: F,
    /// The lines
    pub tally: Tally,
    /// Lines that the question did not want; `tally` has them as good
    pub unwanted: u64,
    /// Sources that could not be read, or not to their end
    pub failed: Vec<SourceError>,
}

/// There is no answer: the temporary file could not be made, written or read.
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
/// [`TemporaryError`] if what does not fit into memory could not be put aside.
pub fn ask<Q: Question, F: Fold>(
    sources: &[Source],
    question: &Q,
    fold: impl Fn() -> F + Sync,
    resources: &Resources,
    progress: impl FnMut(Progress),
) -> Result<Answer<F>, TemporaryError> {
    let work = Work { sources, question, resources };
    match question.detail() {
        Detail::Rates => work.run::<Slim, F>(fold, progress),
        Detail::Times => work.run::<Full<false>, F>(fold, progress),
        Detail::Counters => work.run::<Full<true>, F>(fold, progress),
    }
}

/// Most bytes of a piece of the temporary file: whole records of any form, and whole pages.
const PIECE: u64 = 61_440;

/// How often progress is told.
const INTERVAL: Duration = Duration::from_millis(100);

struct Work<'w, Q> {
    sources: &'w [Source],
    question: &'w Q,
    resources: &'w Resources,
}

impl<Q: Question> Work<'_, Q> {
    fn run<R: Form, F: Fold>(
        &self,
        fold: impl Fn() -> F + Sync,
        mut progress: impl FnMut(Progress),
    ) -> Result<Answer<F>, TemporaryError> {
        // An eighth of the memory for what threads write, half for what is held, the rest
        // for joining.
        let threads = self.resources.threads.get();
        let memory = self.resources.memory;
        let overflow = Overflow::new(&self.resources.temporary);
        let store = Store::new(1 << PART_BITS, memory / 2, &overflow);
        let piece = ((memory / 8 / threads as u64) >> PART_BITS).clamp(4096, PIECE) as usize;
        let groups = Groups::default();
        let reading = Reading::new(self.sources);
        let of = self.sources.iter().map(Source::len).sum();

        let counts = on_all_threads(
            self.resources.threads,
            || {
                let writer = Writer::new(&store, piece);
                reading.run::<Q, R>(Reader::new(self.question, &groups, writer))
            },
            || {
                let (bytes, sources) = reading.progress();
                progress(Progress::Reading { bytes, of, sources });
            },
        )?;
        let mut tally = Tally::default();
        let mut unwanted = 0;
        for (lines, not_wanted) in &counts {
            tally.merge(lines);
            unwanted += not_wanted;
        }
        let failed = reading.outcome(&mut tally);

        let keys = groups.into_keys();
        let next = AtomicUsize::new(0);
        let folds = on_all_threads(
            self.resources.threads,
            || {
                let mut join = Join::new(&keys, (memory * 3 / 8) as usize / threads);
                let mut fold = fold();
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part >= store.parts() {
                        return Ok(fold);
                    }
                    let joined = join.part::<R>(store.take(part), &mut |run| fold.add(run));
                    if joined.is_err() {
                        next.store(store.parts(), Ordering::Relaxed);
                    }
                    joined?;
                }
            },
            || {
                let done = next.load(Ordering::Relaxed).min(store.parts());
                progress(Progress::Joining { done, of: store.parts() });
            },
        )?;
        let fold = folds.into_iter().reduce(|mut all, fold| {
            all.merge(fold);
            all
        });
        let fold = fold.expect("there is a thread");
        Ok(Answer { fold, tally, unwanted, failed })
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
