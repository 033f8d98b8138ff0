//! What the lines of a run say.

use topas_format::event::Why;

use crate::field::{Field, FieldKind, MILLION, Value};
use crate::measure::{MEASURES, Measure};
use crate::remark::Oddities;
use crate::run::{PeRecord, Run};
use crate::run_list::{FieldKeys, Place};

/// The fields that are kept of each line, besides its numbers. Those of sacct stand last, because
/// they are there only if its jobs were read.
const FIELDS: [&str; 28] = [
    "time",
    "user",
    "exe",
    "id",
    "uid",
    "host",
    "job",
    "step",
    "part",
    "mode",
    "lang",
    "lib",
    "mpi",
    "cc",
    "cputype",
    "npes",
    "rss",
    "thr",
    "end",
    "ending",
    "why",
    "run",
    "via",
    "bid",
    "gpu",
    "sacct.account",
    "sacct.qos",
    "sacct.state",
];

/// Those of them that a list of runs and its filters need.
const LISTED: [&str; 10] =
    ["time", "user", "exe", "uid", "job", "lang", "lib", "npes", "ending", "gpu"];

/// How much is told of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunDetails {
    /// Everything
    All,
    /// What a list of runs needs: user, executable, job, language, library, PEs, times, ending, and
    /// whether it used an accelerator. The other texts are empty, and there are no measures
    Listed,
}

impl RunDetails {
    /// Whether a field of [`fields`] is told.
    pub(crate) fn tells(self, field: &Field) -> bool {
        self == RunDetails::All || LISTED.contains(&field.name())
    }
}

/// What is kept of each line, in the order of its key.
pub(crate) fn fields() -> Vec<Field> {
    FIELDS.iter().filter_map(|name| Field::named(name).ok()).collect()
}

/// What the line of a PE says.
#[derive(Clone, Debug)]
pub struct LineFacts {
    /// Its numbers
    pub record: PeRecord,
    /// Node; empty if not told
    pub host: Box<[u8]>,
    /// How the PE ended, as it stands in the line; empty if not told
    pub end: Box<[u8]>,
    /// Its class in the field `ending`, from 0 for `ok`
    pub ending: Option<u32>,
    /// Largest resident set in B
    pub rss: Option<u64>,
    /// Threads
    pub threads: Option<u64>,
    /// Smallest share of the time that an event was on a counter, in millionths; None: all of it
    pub counted: Option<u64>,
    /// Why a metric was not counted: its letter, and the word of the line
    pub why: Vec<(u8, Box<[u8]>)>,
}

/// The value of a measure.
#[derive(Clone, Debug)]
pub struct MeasuredValue {
    /// Of what
    pub measure: &'static Measure,
    /// In its unit; None if it was not measured
    pub value: Option<f64>,
    /// PEs that have its terms
    pub pes: Vec<u32>,
    /// Whether a count in it is an estimate
    pub estimate: bool,
}

/// What is known of a run. Texts are without escapes, and empty if not told.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// Launch id
    pub id: Box<[u8]>,
    /// User
    pub user: Box<[u8]>,
    /// Numeric user id
    pub uid: Option<u64>,
    /// Executable
    pub exe: Box<[u8]>,
    /// Job id of the batch system
    pub job: Box<[u8]>,
    /// Step of the job
    pub step: Box<[u8]>,
    /// Partition or queue
    pub part: Box<[u8]>,
    /// Account of the job, by sacct
    pub account: Box<[u8]>,
    /// Quality of service of the job, by sacct
    pub qos: Box<[u8]>,
    /// State of the job, by sacct
    pub state: Box<[u8]>,
    /// `B` or `I`
    pub mode: Box<[u8]>,
    /// Language
    pub lang: Box<[u8]>,
    /// Message passing library; `-` is none
    pub lib: Box<[u8]>,
    /// MPI implementation and version
    pub mpi: Box<[u8]>,
    /// Compiler and its version
    pub compiler: Box<[u8]>,
    /// `run` if it was measured through `topas-run`
    pub via: Box<[u8]>,
    /// Build id of the executable
    pub build: Box<[u8]>,
    /// Accelerators whose drivers were loaded
    pub gpu: Box<[u8]>,
    /// Whether its rates of the processor say nothing, because it used an accelerator
    pub accelerated: bool,
    /// Nominal frequency of the processor in MHz
    pub mhz: Option<u64>,
    /// Number of PEs; None if the launcher did not tell it
    pub npes: Option<u32>,
    /// Number of PEs that the time is booked on: those of its lines if it is not told
    pub booked: u32,
    /// Longest wall clock time in µs
    pub wall: u64,
    /// Number of PEs times this time, in µs
    pub pe_micros: u128,
    /// Start, see [`Run::start`]
    pub start: i64,
    /// End, likewise
    pub end: i64,
    /// Start in µs since 1970-01-01, local time of the site
    pub started: i128,
    /// End, likewise
    pub ended: i128,
    /// Its lines in the order of their PEs
    pub lines: Vec<LineFacts>,
    /// All measures
    pub measures: Vec<MeasuredValue>,
    /// What is odd about its lines
    pub odd: Oddities,
    pub(super) place: Place,
}

/// Reads the parts of a key by the names of their fields.
struct Parts<'k>(Vec<Option<&'k [u8]>>);

impl<'k> Parts<'k> {
    fn part(&self, name: &str) -> Option<&'k [u8]> {
        let at = FIELDS.iter().position(|known| *known == name)?;
        self.0.get(at).copied().flatten()
    }

    fn text(&self, name: &str) -> Box<[u8]> {
        self.part(name).unwrap_or_default().into()
    }

    /// In millionths; of whatever kind, none of which is a text.
    fn number(&self, name: &str) -> Option<u64> {
        match Value::of_key(FieldKind::Day, true, self.part(name)?) {
            Value::Number(n) => u64::try_from(n).ok(),
            Value::Missing | Value::Text(_) => None,
        }
    }

    fn whole(&self, name: &str) -> Option<u64> {
        self.number(name).map(|n| n / MILLION as u64)
    }
}

impl RunRecord {
    /// Of a run whose keys have [`fields`].
    pub(crate) fn new(run: &Run<'_>, keys: FieldKeys<'_>, with_accelerators: bool) -> Self {
        Self::with_measures(run, keys, with_accelerators, MEASURES)
    }

    /// The same with some measures only.
    pub(crate) fn with_measures(
        run: &Run<'_>,
        keys: FieldKeys<'_>,
        with_accelerators: bool,
        measures: &'static [Measure],
    ) -> Self {
        let parts = run.pes.iter().map(|pe| Parts(keys.parts(run, pe).collect()));
        let parts: Vec<Parts<'_>> = parts.collect();
        // A text of the run: of the lowest PE that tells it.
        let text = |name: &str| {
            let told = parts.iter().map(|line| line.text(name)).find(|text| !text.is_empty());
            told.unwrap_or_default()
        };
        let whole = |name: &str| parts.iter().find_map(|line| line.whole(name));
        let ended = keys.ended(run).unwrap_or_else(|| run.end.into());
        let line = |(record, parts): (&PeRecord, &Parts<'_>)| LineFacts {
            record: *record,
            host: parts.text("host"),
            end: parts.text("end"),
            ending: parts.whole("ending").and_then(|n| u32::try_from(n).ok()),
            rss: parts.whole("rss"),
            threads: parts.whole("thr"),
            counted: parts.number("run"),
            why: reasons(&parts.text("why")),
        };
        let measured = |measure: &'static Measure| {
            let (pes, estimate) = measure.counted_by(run);
            MeasuredValue { measure, value: measure.of(run).ratio(), pes, estimate }
        };
        RunRecord {
            id: text("id"),
            user: text("user"),
            uid: whole("uid"),
            exe: text("exe"),
            job: text("job"),
            step: text("step"),
            part: text("part"),
            account: text("sacct.account"),
            qos: text("sacct.qos"),
            state: text("sacct.state"),
            mode: text("mode"),
            lang: text("lang"),
            lib: text("lib"),
            mpi: text("mpi"),
            compiler: text("cc"),
            via: text("via"),
            build: text("bid"),
            accelerated: !text("gpu").is_empty() && !with_accelerators,
            gpu: text("gpu"),
            mhz: whole("cputype"),
            npes: whole("npes").and_then(|n| u32::try_from(n).ok()),
            booked: run.npes,
            wall: run.wall.0,
            pe_micros: run.pe_micros(),
            start: run.start,
            end: run.end,
            started: ended - (i128::from(run.end) - i128::from(run.start)),
            ended,
            lines: run.pes.iter().zip(&parts).map(line).collect(),
            measures: measures.iter().map(measured).collect(),
            odd: run.odd,
            place: Place::new(run),
        }
    }

    /// Its PEs that have a line.
    pub fn pes(&self) -> impl Iterator<Item = u32> {
        self.lines.iter().map(|line| line.record.pe)
    }

    /// The value of a measure of this name; None if it was not measured.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.measures.iter().find(|of| of.measure.name == name)?.value
    }

    /// The same, but None for a rate of the processor that says nothing, see
    /// [`RunRecord::accelerated`].
    pub fn comparable(&self, name: &str) -> Option<f64> {
        let of = self.measures.iter().find(|of| of.measure.name == name)?;
        of.value.filter(|_| !(self.accelerated && of.measure.is_of_processor()))
    }

    /// Whether a time in s since 1970-01-01 UTC is within the run, 10 s allowed on both sides:
    /// whole seconds, clocks of nodes, and ranks that end one after the other.
    pub fn covers(&self, epoch: u64) -> bool {
        const SLACK: i64 = 10_000_000;
        let Ok(micros) = i64::try_from(u128::from(epoch) * 1_000_000) else { return false };
        (self.start.saturating_sub(SLACK)..=self.end.saturating_add(SLACK)).contains(&micros)
    }

    /// The worst class of the field `ending` among its lines; None if none tells.
    pub fn worst_ending(&self) -> Option<u32> {
        self.lines.iter().filter_map(|line| line.ending).max()
    }
}

/// The parts of `why=`: letters of metrics and words.
fn reasons(why: &[u8]) -> Vec<(u8, Box<[u8]>)> {
    let part = |part: &[u8]| match part {
        [letter, b':', word @ ..] if !word.is_empty() => Some((*letter, word.into())),
        _ => None,
    };
    why.split(|byte| *byte == b',').filter_map(part).collect()
}

/// All reasons that lines know.
const REASONS: [Why; 11] = [
    Why::Cpu,
    Why::Event,
    Why::Pmu,
    Why::Paranoid,
    Why::Seccomp,
    Why::Kernel,
    Why::Files,
    Why::Refused,
    Why::Shared,
    Why::Lost,
    Why::Used,
];

impl LineFacts {
    /// A word of `why=` for people; the word itself if it is not known.
    pub fn reason(word: &[u8]) -> &[u8] {
        match REASONS.iter().find(|why| why.word() == word) {
            Some(why) => why.says(),
            None => word,
        }
    }
}
