//! Jobs as Slurm's accounting tells them (`sacct -P` or `sacct --json`), beside the lines of a log: whose account
//! a run was of, and which jobs left no line.
//!
//! A file of sacct is read before the log, and takes some 100 B of memory for each job. Fields
//! ask for the job of a line; who makes the report joins the jobs once ([`join_sacct`]), as who
//! is believed is told once.

mod coverage;
mod job;
mod json;
mod row;

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{error, fmt};

use memchr::memchr;
use topas_format::line::Extras;
use topas_format::shown::Shown;
use topas_format::zone;

use crate::block::MAX_LINE_READ;
use crate::clock;
use crate::decode::decoded;
use crate::field::{MILLION, Value};
use crate::opened::open_named;

pub use coverage::{
    CoverageQuestion, CpuHours, JobShare, LogJobs, NoLine, RunsByJob, SacctCoverage, SacctGroup,
    SacctLines, SacctSeen,
};
pub use job::{SacctJobs, SacctTally};
pub use row::SacctFault;

use row::{Column, Header, JobId};

/// The jobs of this process.
static JOINED: OnceLock<SacctJobs> = OnceLock::new();

/// Joins jobs to the lines of all logs, so that the fields `sacct.*` have values. For the start
/// of a tool: only the first call counts, and it gives the jobs that are joined.
pub fn join_sacct(jobs: SacctJobs) -> &'static SacctJobs {
    JOINED.get_or_init(|| jobs)
}

/// Whether jobs were joined.
pub(crate) fn is_joined() -> bool {
    JOINED.get().is_some()
}

/// A column of sacct that is a field of lines.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SacctField {
    Account,
    Qos,
    State,
    User,
    Partition,
    Timelimit,
    Elapsed,
    Cpus,
}

/// The value of a column for the job of a line.
pub(crate) fn value<'a>(extras: Extras<'_>, field: SacctField) -> Value<'a> {
    let Some(jobs) = JOINED.get() else { return Value::Missing };
    let Some(job) = jobs.of_line(extras).and_then(|at| jobs.get(at)) else { return Value::Missing };
    let text = |number: u32| match jobs.text(number) {
        [] => Value::Missing,
        text => Value::Text(text.into()),
    };
    let number = |number: Option<u64>| match number.and_then(|n| i64::try_from(n).ok()) {
        Some(number) => Value::whole(number),
        None => Value::Missing,
    };
    match field {
        SacctField::Account => text(job.account),
        SacctField::Qos => text(job.qos),
        SacctField::State => text(job.state),
        SacctField::User => text(job.user),
        SacctField::Partition => text(job.partition),
        SacctField::Timelimit => number(job.limit()),
        SacctField::Elapsed => number(job.elapsed()),
        SacctField::Cpus => number((job.cpus > 0).then_some(job.cpus.into())),
    }
}

/// One number by another, to the millionth; missing if one is, or if the lower one is 0.
fn quotient<'a>(upper: &Value<'_>, lower: &Value<'_>) -> Value<'a> {
    match (upper, lower) {
        (Value::Number(upper), Value::Number(lower)) if *lower > 0 => {
            upper.checked_mul(MILLION).map_or(Value::Missing, |upper| Value::Number(upper / lower))
        }
        _ => Value::Missing,
    }
}

/// What the job of a line took of the time that it asked for, in percent.
pub(crate) fn time_used<'a>(extras: Extras<'_>) -> Value<'a> {
    let elapsed = match value(extras, SacctField::Elapsed) {
        Value::Number(elapsed) => Value::Number(elapsed.saturating_mul(100)),
        _ => return Value::Missing,
    };
    quotient(&elapsed, &value(extras, SacctField::Timelimit))
}

/// CPUs of the job of a line for each of so many ranks.
pub(crate) fn cpus_per_pe<'a>(extras: Extras<'_>, npes: Option<u32>) -> Value<'a> {
    let Some(npes) = npes else { return Value::Missing };
    quotient(&value(extras, SacctField::Cpus), &Value::whole(npes))
}

/// A file of sacct could not be used.
#[derive(Debug)]
pub enum SacctError {
    /// It could not be opened or read
    Read {
        /// The file
        path: PathBuf,
        /// What happened
        cause: io::Error,
    },
    /// It begins as JSON, and is not what `sacct --json` prints
    Json {
        /// The file
        path: PathBuf,
        /// What is wrong with it, and where
        cause: serde_json::Error,
    },
    /// Its first line is no header
    NoHeader {
        /// The file
        path: PathBuf,
        /// The first line
        line: String,
    },
}

impl fmt::Display for SacctError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SacctError::Read { path, .. } => write!(f, "cannot read {}", path.display()),
            SacctError::Json { path, .. } => {
                write!(f, "{}: not the JSON of sacct --json", path.display())
            }
            SacctError::NoHeader { path, line } => write!(
                f,
                "{}: the first line names no column JobID or JobIDRaw: '{line}'",
                path.display()
            ),
        }
    }
}

impl error::Error for SacctError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            SacctError::Read { cause, .. } => Some(cause),
            SacctError::Json { cause, .. } => Some(cause),
            SacctError::NoHeader { .. } => None,
        }
    }
}

/// Text that tells how much of it was read.
struct ToldText<'p, R> {
    text: R,
    bytes: u64,
    progress: &'p mut dyn FnMut(u64),
}

impl<R: Read> Read for ToldText<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.text.read(buffer)?;
        self.bytes += got as u64;
        (self.progress)(self.bytes);
        Ok(got)
    }
}

impl SacctJobs {
    /// Adds the jobs of a file, which may be compressed; `-` is standard input. `progress` gets the
    /// bytes of text read so far, some times for each MB.
    ///
    /// # Errors
    ///
    /// [`SacctError`] if it cannot be read, or has no header.
    pub fn read_file(
        &mut self,
        path: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), SacctError> {
        let failed = |cause| SacctError::Read { path: path.to_owned(), cause };
        if path == Path::new("-") {
            return self.read_told(io::stdin(), path, progress);
        }
        let (file, about) = open_named(path).map_err(failed)?;
        if about.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        self.read_told(file, path, progress)
    }

    /// The same, of any reader of plain or compressed text; `path` is what messages call it.
    ///
    /// # Errors
    ///
    /// As [`SacctJobs::read_file`].
    pub fn read(&mut self, raw: impl Read + Send, path: &Path) -> Result<(), SacctError> {
        self.read_told(raw, path, &mut |_| ())
    }

    fn read_told(
        &mut self,
        raw: impl Read + Send,
        path: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), SacctError> {
        let failed = |cause| SacctError::Read { path: path.to_owned(), cause };
        let text = ToldText { text: decoded(raw).map_err(failed)?, bytes: 0, progress };
        let mut reader = BufReader::with_capacity(1 << 18, text);
        let mut rows = Rows { jobs: self, header: None, rule: clock::zone_rule(), path, line: 0 };
        if begins_as_json(&mut reader).map_err(failed)? {
            let read = json::each_job(reader, |job| rows.json(job));
            self.settle();
            return read.map_err(|cause| SacctError::Json { path: path.to_owned(), cause });
        }
        // The beginning of a line whose end is in the next piece.
        let mut begun: Vec<u8> = Vec::new();
        loop {
            let piece = match reader.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(error)),
            };
            if piece.is_empty() {
                if !begun.is_empty() {
                    rows.line(&begun)?;
                }
                break;
            }
            let used = match memchr(b'\n', piece) {
                Some(end) if begun.is_empty() => {
                    rows.line(&piece[..end])?;
                    end + 1
                }
                Some(end) => {
                    begin(&mut begun, &piece[..end]);
                    rows.line(&begun)?;
                    begun.clear();
                    end + 1
                }
                None => {
                    begin(&mut begun, piece);
                    piece.len()
                }
            };
            reader.consume(used);
        }
        self.settle();
        Ok(())
    }
}

/// Whether the first byte that is no blank opens an object; no row of `sacct -P` begins so.
fn begins_as_json(reader: &mut impl BufRead) -> io::Result<bool> {
    loop {
        match reader.fill_buf() {
            Ok(text) => {
                let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
                return Ok(first == Some(&b'{'));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Keeps the beginning of a line, one byte more than a line may have at most.
fn begin(begun: &mut Vec<u8>, piece: &[u8]) {
    let room = (MAX_LINE_READ + 1).saturating_sub(begun.len());
    begun.extend_from_slice(&piece[..piece.len().min(room)]);
}

/// The rows of one file.
struct Rows<'j> {
    jobs: &'j mut SacctJobs,
    header: Option<Header>,
    /// The rule of the site's zone
    rule: Vec<u8>,
    path: &'j Path,
    line: u64,
}

impl Rows<'_> {
    fn line(&mut self, line: &[u8]) -> Result<(), SacctError> {
        self.line += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        // Files that were put together have a header each.
        let is_header = line.starts_with(b"JobID") || self.header.is_none();
        if is_header && let Some(header) = Header::parse(line) {
            self.jobs.tally.no_cpu_time |= !header.has_cpu_time();
            self.header = Some(header);
            return Ok(());
        }
        let Some(header) = &self.header else {
            let line = Shown(&line[..line.len().min(60)]).to_string();
            return Err(SacctError::NoHeader { path: self.path.to_owned(), line });
        };
        self.jobs.tally.rows += 1;
        if let Err(fault) = self.row(header.clone().row(line), line.len()) {
            self.jobs.tally.bad(fault, self.path, self.line, line);
        }
        Ok(())
    }

    /// A job of `sacct --json`, with its steps. Its number among the jobs stands for a line.
    fn json(&mut self, job: &serde_json::Value) {
        self.line += 1;
        for of in json::rows(job) {
            self.jobs.tally.rows += 1;
            let row = of.row();
            let id = row.cell(Column::JobId).to_vec();
            if let Err(fault) = self.row(Some(row), id.len()) {
                self.jobs.tally.bad(fault, self.path, self.line, &id);
            }
        }
    }

    fn row(&mut self, row: Option<row::Row<'_>>, len: usize) -> Result<(), SacctFault> {
        if len > MAX_LINE_READ {
            return Err(SacctFault::TooLong);
        }
        let row = row.ok_or(SacctFault::Cells)?;
        let (id, raw) = row.id().ok_or(SacctFault::Job)?;
        match id {
            JobId::Waiting => self.jobs.tally.waiting += 1,
            JobId::Step(key, parallel) => self.jobs.step(key, parallel),
            JobId::Job(key) => {
                let rule = &self.rule;
                let ahead = |epoch| zone::offset_at(rule, epoch).unwrap_or(0);
                let numbers = row.numbers(ahead).ok_or(SacctFault::Number)?;
                self.jobs.job(key, raw, &row, &numbers);
            }
        }
        Ok(())
    }
}
