//! Checks a log: every line for itself, and what lines together tell.
//!
//! Files are read in order, line by line. What needs lines that may stand anywhere, as
//! duplicates, goes through a sort with temporary files, so that memory is bounded. Runs are
//! those of the engine, which reads the files once more.

mod finding;

pub use finding::{CheckFinding, FindingCount, FindingPlace, Findings};

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::MetadataExt;

use topas_format::extra::Extra;
use topas_format::line::{Extras, Line};
use topas_format::shown::Shown;

use crate::block::{behind_torn, problem};
use crate::clock;
use crate::engine::{AskError, Resources, TemporaryError, ask};
use crate::first_extras::epoch;
use crate::own::OwnProfiles;
use crate::profile_line;
use crate::question::{Fold, Question};
use crate::remark::Remarks;
use crate::run::Run;
use crate::segment::merge::{BAD, GOOD, OTHER, PART, judge};
use crate::segment::open;
use crate::segment::raw::{RawLine, RawLines};
use crate::segment::sort::{InOrder, LineSortKey, Sorter};
use crate::source::{Source, SourceError};
use crate::tally::Problem;
use crate::vouch::{Stranger, Vouch};
use crate::when::{Clock, When};

/// What ended so much later than now did so in the future, in s: clocks of nodes differ.
const AHEAD: i64 = 300;

/// A line may be written so much later than it ended, in s.
const LATE: i64 = 2;

/// Names of unknown extras that are kept.
const NAMES: usize = 20;

/// Checks files. Standard input cannot be checked: files are read twice.
///
/// # Errors
///
/// [`TemporaryError`] if temporary files failed; what cannot be read is in the findings.
pub fn check(
    sources: &[Source],
    resources: &Resources,
    mut progress: impl FnMut(&Source, u64),
) -> Result<Findings, TemporaryError> {
    let temporary =
        |cause| TemporaryError { directory: resources.temporary.clone(), written: 0, cause };
    let half = usize::try_from(resources.memory / 2).unwrap_or(usize::MAX);
    let mut checker = Checker {
        findings: Findings::default(),
        launches: Sorter::new(&resources.temporary, half),
        now: clock::epoch(),
    };
    for (number, source) in sources.iter().enumerate() {
        let read = checker.file(source, number as u32, &mut |bytes| progress(source, bytes));
        match read {
            Ok(()) => checker.findings.files += 1,
            Err(Broken::Source(error)) => checker.findings.failed.push(error),
            Err(Broken::Temporary(cause)) => return Err(temporary(cause)),
        }
    }
    let Checker { mut findings, launches, .. } = checker;
    compare(launches, sources, &mut findings).map_err(temporary)?;
    // All lines are of one group.
    let answer =
        ask(sources, &EveryLine, Runs::default, resources, |_| ()).map_err(
            |error| match error {
                AskError::Temporary(error) => error,
                error => temporary(std::io::Error::other(error)),
            },
        )?;
    findings.runs = answer.fold.runs;
    findings.count(CheckFinding::Single, answer.fold.remarks.single);
    findings.count(CheckFinding::Apart, answer.fold.remarks.apart);
    Ok(findings)
}

/// Every line.
struct EveryLine;

impl Question for EveryLine {}

/// Counts runs and what is odd about them.
#[derive(Default)]
struct Runs {
    runs: u64,
    remarks: Remarks,
}

impl Fold for Runs {
    fn add(&mut self, run: &Run<'_>) {
        self.runs += 1;
        self.remarks.add(run, false);
    }

    fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.remarks.merge(other.remarks);
    }
}

/// What ended the reading of a file.
enum Broken {
    Source(SourceError),
    Temporary(std::io::Error),
}

struct Checker {
    findings: Findings,
    /// A record for each log line, in order of launches
    launches: Sorter,
    /// Seconds since 1970-01-01
    now: i64,
}

/// What is known of a file while it is read.
struct File<'s> {
    source: &'s Source,
    number: u32,
    /// The user its name says that it is of
    uid: Option<u64>,
    vouch: Vouch,
    /// What was found out about lines of MPI profiles
    before: OwnProfiles,
    clock: Clock,
    /// The latest end so far
    latest: i64,
    /// Whether there are lines without a version, and with one
    versions: [bool; 2],
}

impl Checker {
    fn file(
        &mut self,
        source: &Source,
        number: u32,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Broken> {
        let opened = |cause| Broken::Source(SourceError::Open { source: source.clone(), cause });
        let uid = match source.about() {
            Some(about) => self.owner_and_mode(source, &about.map_err(opened)?),
            None => None,
        };
        let (reader, vouch) = open(source, u64::MAX).map_err(opened)?;
        let mut lines = RawLines::new(reader);
        let clock = Clock::default();
        let before = OwnProfiles::default();
        let (latest, versions) = (i64::MIN, [false; 2]);
        let mut file = File { source, number, uid, vouch, before, clock, latest, versions };
        let (mut line, mut bytes) = (0, 0u64);
        loop {
            let piece = lines.next().map_err(|cause| {
                Broken::Source(SourceError::Broken { source: source.clone(), lines: line, cause })
            })?;
            let Some(piece) = piece else { break };
            line += u64::from(piece.begins);
            bytes += piece.bytes.len() as u64;
            if line.is_multiple_of(4096) {
                progress(bytes);
            }
            self.piece(&mut file, &piece, line).map_err(Broken::Temporary)?;
        }
        self.findings.lines += line;
        if file.versions == [true, true] {
            self.findings.add(CheckFinding::Versions, source, None);
        }
        Ok(())
    }

    fn piece(
        &mut self,
        file: &mut File<'_>,
        piece: &RawLine<'_>,
        line: u64,
    ) -> std::io::Result<()> {
        let text = piece.text();
        match judge(piece).1 {
            OTHER => {
                if let Some(stranger) = file.vouch.marked(text) {
                    self.foreign(file, stranger, line);
                }
                Ok(())
            }
            PART => Ok(()),
            GOOD => match Line::parse(text) {
                Ok((parsed, extras)) => self.line(file, &parsed, extras, text, line),
                Err(_) => {
                    self.profile(file, text, line);
                    Ok(())
                }
            },
            BAD => {
                let problem = match piece.begins {
                    true => problem(text, !piece.is_unfinished()),
                    false => Problem::TooLong,
                };
                self.findings.add(CheckFinding::Bad(problem), file.source, Some(line));
                match behind_torn(text).filter(|_| piece.begins) {
                    Some((parsed, extras, text)) => self.line(file, &parsed, extras, text, line),
                    None => {
                        if let Some(text) = profile_line::behind_torn(text).filter(|_| piece.begins)
                        {
                            self.profile(file, text, line);
                        }
                        Ok(())
                    }
                }
            }
            _ => Ok(()),
        }
    }

    /// A line of an MPI profile. Its first one says when it was written, and by whom.
    fn profile(&mut self, file: &mut File<'_>, text: &[u8], number: u64) {
        if let Err(stranger) = file.vouch.profile(text, &mut file.before) {
            return self.foreign(file, stranger, number);
        }
        self.findings.profile += 1;
        let Some(Ok(Some(end))) = profile_line::judge(text) else { return };
        let uid = profile_line::uid(text);
        let stranger = file.uid.is_some_and(|of| uid.is_some_and(|uid| uid != of));
        for (is, finding) in [
            (end > self.now + AHEAD, CheckFinding::Future),
            (end < file.latest.saturating_sub(LATE), CheckFinding::Order),
            (stranger, CheckFinding::Stranger),
        ] {
            if is {
                self.findings.add(finding, file.source, Some(number));
            }
        }
        file.latest = file.latest.max(end);
    }

    fn line(
        &mut self,
        file: &mut File<'_>,
        line: &Line<'_>,
        extras: Extras<'_>,
        text: &[u8],
        number: u64,
    ) -> std::io::Result<()> {
        if let Err(stranger) = file.vouch.line(line.user, extras) {
            self.foreign(file, stranger, number);
            return Ok(());
        }
        self.findings.good += 1;
        let mut find = |finding| self.findings.add(finding, file.source, Some(number));
        let When { end, no_zone, impossible } = file.clock.read(line, epoch(extras));
        let has_epoch = extras.number(b"t").is_some();
        for (is, finding) in [
            (no_zone, CheckFinding::Zone),
            (impossible, CheckFinding::Span),
            // Without `t=` it is local time, which may be ahead of UTC by a day.
            (end > self.now + if has_epoch { AHEAD } else { 86_400 }, CheckFinding::Future),
            (end < file.latest.saturating_sub(LATE), CheckFinding::Order),
            (line.npes.0.is_some_and(|npes| line.pe >= npes), CheckFinding::Rank),
            (
                file.uid.is_some_and(|uid| extras.number(b"uid").is_some_and(|of| of != uid)),
                CheckFinding::Stranger,
            ),
        ] {
            if is {
                find(finding);
            }
        }
        file.latest = file.latest.max(end);
        file.versions[usize::from(extras.get(b"v").is_some())] = true;
        let mut unknown = false;
        for (key, _) in extras {
            if Extra::known(key).is_none() {
                unknown = true;
                let name = Shown(key).to_string();
                let names =
                    &mut self.findings.found.entry(CheckFinding::UnknownExtra).or_default().names;
                if names.len() < NAMES && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        if unknown {
            self.findings.add(CheckFinding::UnknownExtra, file.source, Some(number));
        }
        let record =
            ComparedLine { text: hash(text), npes: line.npes.0, has_id: !line.id.is_empty() };
        // Lines without an id are compared by their text alone.
        let launch = match line.id.plain() {
            Some([]) => record.text,
            Some(id) => hash(id),
            None => hash(&line.id.bytes().collect::<Vec<u8>>()),
        };
        let key =
            LineSortKey { time: launch.cast_signed(), source: file.number, place: number, kind: 0 };
        self.launches.add(key, &record.to_bytes())
    }

    /// A line that is counted apart.
    fn foreign(&mut self, file: &File<'_>, stranger: Stranger, number: u64) {
        self.findings.foreign.add(stranger);
        self.findings.add(CheckFinding::Foreign, file.source, Some(number));
    }

    /// Checks a file as such: the user it is of, if its name says that.
    fn owner_and_mode(&mut self, source: &Source, about: &Metadata) -> Option<u64> {
        let path = source.path()?;
        let uid = path.file_name().and_then(|name| name.to_str()).and_then(uid_in_name);
        let wrong = match uid {
            Some(_) => about.mode() & 0o077 != 0,
            // What everybody can read and write protects nobody: see operations.md.
            None => about.mode() & 0o006 == 0o006,
        };
        if about.is_file() && wrong {
            self.findings.add(CheckFinding::Mode, source, None);
        }
        if uid.is_some_and(|uid| about.is_file() && ![0, uid].contains(&about.uid().into())) {
            self.findings.add(CheckFinding::Owner, source, None);
        }
        uid
    }
}

/// The user a file's name tells, if it is made as `%Y-%m.%u.log` is: digits alone between
/// two dots.
fn uid_in_name(name: &str) -> Option<u64> {
    let parts: Vec<&str> = name.split('.').collect();
    let [first, uid, "log", ..] = parts.as_slice() else { return None };
    let digits = !uid.is_empty() && uid.bytes().all(|b| b.is_ascii_digit());
    (digits && crate::Month::in_name(first).is_some()).then(|| uid.parse().ok()).flatten()
}

/// What is compared with the other lines of a launch.
#[derive(Clone, Copy)]
struct ComparedLine {
    /// Hash of the line
    text: u64,
    npes: Option<u32>,
    has_id: bool,
}

impl ComparedLine {
    fn to_bytes(self) -> [u8; 14] {
        let mut bytes = [0; 14];
        bytes[..8].copy_from_slice(&self.text.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.npes.unwrap_or_default().to_le_bytes());
        bytes[12] = self.npes.is_some().into();
        bytes[13] = self.has_id.into();
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Option<ComparedLine> {
        let [t0, t1, t2, t3, t4, t5, t6, t7, n0, n1, n2, n3, told, has_id] =
            *<&[u8; 14]>::try_from(bytes).ok()?;
        Some(ComparedLine {
            text: u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7]),
            npes: (told == 1).then(|| u32::from_le_bytes([n0, n1, n2, n3])),
            has_id: has_id == 1,
        })
    }
}

/// Keyed by nobody: a log can be made so that lines collide, which only hides or shows a
/// finding.
fn hash(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text);
    hasher.finish()
}

/// Finds lines that are there twice, and launches whose numbers of PEs differ.
fn compare(launches: Sorter, sources: &[Source], findings: &mut Findings) -> std::io::Result<()> {
    let mut sorted = launches.finish()?;
    let mut present = None;
    let mut texts = std::collections::HashSet::new();
    let mut npes: Option<Option<u32>> = None;
    let mut collided = false;
    // In order of the files: launches come in that of their hashes.
    let mut places: Vec<(CheckFinding, u32, u64)> = Vec::new();
    while let Some(key) = sorted.advance()? {
        let Some(record) = ComparedLine::of_bytes(sorted.current()) else { continue };
        if present != Some(key.time) {
            present = Some(key.time);
            texts.clear();
            npes = None;
            collided = false;
        }
        let mut find = |finding| {
            findings.count(finding, 1);
            keep_first(&mut places, (finding, key.source, key.place));
        };
        if !texts.insert(record.text) {
            find(CheckFinding::Duplicate);
            continue;
        }
        if record.has_id && npes.is_some_and(|npes| npes != record.npes) && !collided {
            collided = true;
            find(CheckFinding::Collision);
        }
        npes = Some(record.npes);
    }
    for (finding, source, line) in places {
        if let Some(found) = findings.found.get_mut(&finding) {
            let source = sources[source as usize].clone();
            found.places.push(FindingPlace { source, line: Some(line) });
        }
    }
    Ok(())
}

/// Keeps the first places of each finding.
fn keep_first(places: &mut Vec<(CheckFinding, u32, u64)>, place: (CheckFinding, u32, u64)) {
    let at = places.partition_point(|other| *other < place);
    places.insert(at, place);
    let last = |p: &(CheckFinding, u32, u64)| p.0 == place.0;
    if places.iter().filter(|p| last(p)).count() > finding::PLACES
        && let Some(at) = places.iter().rposition(last)
    {
        places.remove(at);
    }
}
