//! Asks logs a [`Question`]: reads all sources, joins lines to runs, folds runs.

use std::fmt;
use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use crate::join::Joiner;
use crate::question::{Fold, Question};
use crate::scan::scan;
use crate::source::{Source, SourceError};
use crate::tally::Tally;

/// What may be used to find an answer. It is the same whatever this is.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Threads that read and join
    pub threads: NonZero<usize>,
    /// Memory for lines that wait for others of their runs, in B; what is more goes to a
    /// temporary file. Groups and what the fold holds come on top.
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
pub fn ask<F: Fold>(
    sources: &[Source],
    question: &impl Question,
    fold: impl Fn() -> F + Sync,
    _resources: &Resources,
    mut progress: impl FnMut(Progress),
) -> Result<Answer<F>, TemporaryError> {
    let mut joiner = Joiner::with(question.detail());
    let mut answer =
        Answer { fold: fold(), tally: Tally::default(), unwanted: 0, failed: Vec::new() };
    let mut key = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let result = scan(
            source,
            &mut answer.tally,
            |line, extras| {
                if question.wants(line, extras) {
                    key.clear();
                    question.key(line, extras, &mut key);
                    joiner.add(line, extras, &key);
                } else {
                    answer.unwanted += 1;
                }
            },
            |bytes| progress(Progress::Reading { bytes, of: None, sources: number }),
        );
        answer.failed.extend(result.err());
    }
    joiner.runs(|run| answer.fold.add(run));
    Ok(answer)
}
