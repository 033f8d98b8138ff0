//! Brings what came into a log into the index: every line once, whatever happens meanwhile.
//!
//! A batch of lines, the runs that they make, and how far each file was read become part of the
//! index in one transaction. What is killed goes on behind the last batch. Besides, a line is
//! known by its text: a file that was renamed, compressed or merged with others is read again, and
//! changes nothing.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use topas_data::{
    FileIdentity, FilePlace, FollowedLine, FollowedSource, Inputs, LeftOut, LoggedLine,
    LoggedProfileLine, RunDetails, Source, SourceError, join_lines,
};

use crate::error::StoreError;
use crate::index::purge::KEPT_FROM;
use crate::index::{Index, IndexChange};
use crate::schema::date_of;
use crate::stored_run::{StoredRun, day_number, stored_text};
use crate::sums::SumChanges;

/// Least lines of a batch that may be asked for.
pub const LEAST_BATCH: usize = 1;

/// Lines of a batch, unless told otherwise: large batches write each page of the index less
/// often.
pub const MOST_BATCH: usize = 100_000;

/// Lines that are read at once.
const PORTION: usize = 1024;

/// How far clocks of nodes and whole seconds may be off, in µs: lines of a launch that are
/// further apart are never of one run.
const NEAR: i64 = 2_000_001;

/// What was done.
#[derive(Debug, Default)]
pub struct IngestReport {
    /// Sources that had something new
    pub sources: u64,
    /// Log lines that were read
    pub lines: u64,
    /// Those of them that were not known before
    pub new_lines: u64,
    /// Runs that are new, or different now
    pub runs: u64,
    /// Lines of runs that are older than what is kept, see [`Index::purge`]
    pub too_old: u64,
    /// What is no log line, or is foreign
    pub left_out: LeftOut,
    /// Sources that could not be read, or not to their end
    pub failed: Vec<SourceError>,
}

/// A line that waits for the end of a batch.
struct WaitingLine {
    launch: u64,
    start: i64,
    end: i64,
    /// The place of the line in the text of the batch
    text: Range<usize>,
}

/// A line of an MPI profile that waits.
pub(crate) struct ProfileLine {
    /// Launch id
    pub id: String,
    /// See [`PROFILES`](crate::schema::PROFILES)
    pub owner: String,
    pub hash: i64,
    pub text: Vec<u8>,
}

/// Lines that wait.
#[derive(Default)]
struct Batch {
    text: Vec<u8>,
    lines: Vec<WaitingLine>,
    profiles: Vec<ProfileLine>,
    places: FxHashMap<FileIdentity, FilePlace>,
}

impl Batch {
    fn add(&mut self, line: LoggedLine<'_>) {
        let at = self.text.len();
        self.text.extend_from_slice(line.text);
        let LoggedLine { launch, start, end, .. } = line;
        self.lines.push(WaitingLine { launch, start, end, text: at..self.text.len() });
    }

    fn add_profile(&mut self, line: LoggedProfileLine<'_>) {
        self.profiles.push(ProfileLine {
            id: stored_text(&line.id()),
            owner: line.owner.map_or_else(String::new, |uid| uid.to_string()),
            hash: line.hash as i64,
            text: line.text.to_owned(),
        });
    }

    fn len(&self) -> usize {
        self.lines.len() + self.profiles.len()
    }
}

/// Brings sources into an index.
pub struct Ingest<'i> {
    index: &'i mut Index,
    batch: Batch,
    most: usize,
    /// Whether other stores are told of runs that are no more
    keep_gone: bool,
    report: IngestReport,
}

impl<'i> Ingest<'i> {
    /// With batches of so many lines. `keep_gone`: another store gets what the index has, and so has
    /// to learn of runs that became part of others.
    pub fn new(index: &'i mut Index, most: usize, keep_gone: bool) -> Self {
        let report = IngestReport::default();
        Ingest { index, batch: Batch::default(), most: most.max(LEAST_BATCH), keep_gone, report }
    }

    /// Reads what came into the sources. A source that cannot be read is in the report, and the
    /// others are read. `progress` is told the number of lines so far.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the index cannot be used; what was committed stays.
    pub fn run(
        mut self,
        sources: &[Source],
        mut progress: impl FnMut(u64),
    ) -> Result<IngestReport, StoreError> {
        self.report.failed = self.sources(sources, &mut progress)?;
        Ok(self.report)
    }

    /// As [`Ingest::run`], of what names stand for: files that were moved meanwhile are listed and read once
    /// more ([`Inputs::read`]).
    ///
    /// # Errors
    ///
    /// As [`Ingest::run`].
    pub fn run_listed(
        mut self,
        inputs: &Inputs,
        mut progress: impl FnMut(u64),
    ) -> Result<IngestReport, StoreError> {
        let read = |inputs: &Inputs| self.sources(&inputs.sources, &mut progress);
        let failed = inputs.read(read, |failed| failed.as_deref().unwrap_or_default())?;
        self.report.failed = failed;
        Ok(self.report)
    }

    /// Reads what came into the sources: those that could not be read, or not to their end.
    fn sources(
        &mut self,
        sources: &[Source],
        progress: &mut impl FnMut(u64),
    ) -> Result<Vec<SourceError>, StoreError> {
        for source in sources {
            let mut problem = None;
            let known = |file| match self.index.place_of(file) {
                Ok(place) => place,
                Err(error) => {
                    problem = Some(error);
                    None
                }
            };
            let followed = FollowedSource::open(source, known);
            if let Some(error) = problem {
                return Err(error);
            }
            match followed {
                Ok(None) => {}
                Ok(Some(followed)) => {
                    self.report.sources += 1;
                    self.read(followed, progress)?;
                }
                Err(error) => self.report.failed.push(error),
            }
        }
        self.commit()?;
        progress(self.report.lines);
        Ok(std::mem::take(&mut self.report.failed))
    }

    fn read(
        &mut self,
        mut source: FollowedSource<'_>,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), StoreError> {
        loop {
            let batch = &mut self.batch;
            let lines = &mut self.report.lines;
            let out = &mut self.report.left_out;
            let more = source.portion(PORTION.min(self.most), out, |line| match line {
                FollowedLine::Run(line) => {
                    *lines += 1;
                    batch.add(line);
                }
                FollowedLine::Profile(line) => batch.add_profile(line),
            });
            // Of a source that breaks off the lines before the break count; it is read again.
            let place = source.place();
            match (more, place) {
                (Ok(more), Ok(place)) => {
                    self.batch.places.extend(place);
                    if self.batch.len() >= self.most {
                        self.commit()?;
                        progress(self.report.lines);
                    }
                    if !more {
                        return Ok(());
                    }
                }
                (Err(error), _) | (_, Err(error)) => {
                    self.report.failed.push(error);
                    return Ok(());
                }
            }
        }
    }

    /// Makes the batch part of the index.
    fn commit(&mut self) -> Result<(), StoreError> {
        if self.batch.len() == 0 && self.batch.places.is_empty() {
            return Ok(());
        }
        let Batch { text, mut lines, mut profiles, places } = std::mem::take(&mut self.batch);
        lines.sort_unstable_by_key(|line| line.launch);
        let change = self.index.change()?;
        let version = change.version()?;
        let kept_from = change.state(KEPT_FROM)?;
        let mut joining = Joining {
            change: &change,
            version,
            kept_from,
            too_old: 0,
            keep_gone: self.keep_gone,
            sums: SumChanges::default(),
            new_lines: 0,
            runs: 0,
        };
        // Launches are joined some at a time: what is known of a run takes memory.
        let mut launches = Vec::new();
        for launch in lines.chunk_by(|a, b| a.launch == b.launch) {
            launches.push(launch);
            if launches.len() == PORTION {
                joining.launches(&launches, &text)?;
                launches.clear();
            }
        }
        joining.launches(&launches, &text)?;
        let Joining { sums, new_lines, too_old, runs, .. } = joining;
        let oldest = date_of(kept_from);
        profiles.retain(|line| &*line.text >= oldest.as_bytes());
        change.add_sums(&sums.changes(), version)?;
        change.add_profiles(&profiles, version)?;
        for (file, place) in places {
            change.set_place(file, place)?;
        }
        change.commit()?;
        self.report.new_lines += new_lines.saturating_sub(too_old);
        self.report.too_old += too_old;
        self.report.runs += runs;
        Ok(())
    }
}

/// Joins the lines of a batch to runs.
struct Joining<'c> {
    change: &'c IndexChange<'c>,
    version: i64,
    keep_gone: bool,
    /// The first day of which runs are kept
    kept_from: i64,
    sums: SumChanges,
    /// New lines of runs that are older
    too_old: u64,
    new_lines: u64,
    runs: u64,
}

impl Joining<'_> {
    /// Joins the new lines of some launches with those that are known.
    fn launches(&mut self, launches: &[&[WaitingLine]], text: &[u8]) -> Result<(), StoreError> {
        let mut known: Vec<(i64, StoredRun)> = Vec::new();
        let mut texts: Vec<&[u8]> = Vec::new();
        for launch in launches {
            let of_launch = self.known_near(launch)?;
            let had: FxHashSet<&[u8]> = of_launch.iter().flat_map(|(_, run)| run.texts()).collect();
            let new: BTreeSet<&[u8]> = launch
                .iter()
                .map(|line| &text[line.text.clone()])
                .filter(|line| !had.contains(line))
                .collect();
            if new.is_empty() {
                continue;
            }
            self.new_lines += new.len() as u64;
            texts.extend(new);
            known.extend(of_launch);
        }
        let before: Vec<&[u8]> = known.iter().flat_map(|(_, run)| run.texts()).collect();
        texts.extend(&before);
        let (mut now, version) = (FxHashMap::default(), self.version);
        let (sums, kept_from, too_old) = (&mut self.sums, self.kept_from, &mut self.too_old);
        join_lines(&texts, RunDetails::Listed, |run| {
            if day_number(run.date) < kept_from {
                *too_old += run.lines.len() as u64;
                return;
            }
            sums.add(&run);
            let stored = StoredRun::new(&run, &texts, version);
            now.insert((stored.launch, stored.id), stored);
        });
        join_lines(&before, RunDetails::Listed, |run| sums.take(&run));
        for (place, old) in &known {
            let key = (old.launch, old.id);
            if now.get(&key).is_some_and(|new| new.lines == old.lines) {
                now.remove(&key);
            } else {
                // A run of the same name takes its place in every store.
                let keep = self.keep_gone && !now.contains_key(&key);
                self.change.remove_run(*place, keep, version)?;
            }
        }
        let mut now: Vec<StoredRun> = now.into_values().collect();
        now.sort_unstable_by_key(|run| (run.last, run.launch, run.id));
        self.runs += now.len() as u64;
        for run in now {
            self.change.add_run(run, self.keep_gone)?;
        }
        Ok(())
    }

    /// The known runs of a launch that new lines may be part of: those that are near them in
    /// time, and those that are near these.
    fn known_near(&self, launch: &[WaitingLine]) -> Result<Vec<(i64, StoredRun)>, StoreError> {
        let (Some(mut from), Some(mut to)) =
            (launch.iter().map(|line| line.start).min(), launch.iter().map(|line| line.end).max())
        else {
            return Ok(Vec::new());
        };
        let launch = launch[0].launch as i64;
        loop {
            let (least, most) = (from.saturating_sub(NEAR), to.saturating_add(NEAR));
            let runs = self.change.runs_of(launch, least, most)?;
            let first = runs.iter().map(|(_, run)| run.first).min().unwrap_or(from);
            let last = runs.iter().map(|(_, run)| run.last).max().unwrap_or(to);
            if first >= from && last <= to {
                return Ok(runs);
            }
            (from, to) = (from.min(first), to.max(last));
        }
    }
}
