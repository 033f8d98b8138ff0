//! What a check of a log can find.

use std::collections::BTreeMap;

use topas_format::line::Fault;

use crate::source::{Source, SourceError};
use crate::tally::Problem;
use crate::vouch::Foreign;

/// Something that is wrong with a log, or worth to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckFinding {
    /// A line that is no log line
    Bad(Problem),
    /// A line that stands there before, byte for byte
    Duplicate,
    /// Lines of one launch with different numbers of PEs
    Collision,
    /// A PE that is none of the launch
    Rank,
    /// `t=` and local time differ by what is no offset of a zone, see [`crate::Oddities::zone`]
    Zone,
    /// Impossible times, see [`crate::Oddities::span`]
    Span,
    /// It ended in the future
    Future,
    /// A line that the owner of its file does not vouch for
    Foreign,
    /// A line of another user than the name of the file says
    Stranger,
    /// A file of a user (`%u`) that belongs to another one
    Owner,
    /// A file of a user that others can read or write, or a log that anybody can read and write
    Mode,
    /// Clocks of the nodes of a run differ, see [`crate::Oddities::apart`]
    Apart,
    /// A run with one line though two PEs measure
    Single,
    /// A line that ended more than 2 s before one that stands before it
    Order,
    /// A file with lines of 1999, which have no version, and of version 1
    Versions,
    /// A line with an extra of unknown meaning
    UnknownExtra,
}

impl CheckFinding {
    /// Whether it can be in the log of a healthy site: a rank was killed, a newer version
    /// writes more.
    pub fn is_remark(self) -> bool {
        use CheckFinding::{Apart, Order, Single, UnknownExtra, Versions};
        matches!(self, Apart | Single | Order | Versions | UnknownExtra)
    }

    /// In words, for a number of them.
    pub fn words(self) -> String {
        match self {
            CheckFinding::Bad(Problem::Fault(Fault::length)) => {
                "lines of the wrong length: torn or mixed".to_owned()
            }
            CheckFinding::Bad(Problem::Fault(Fault::version)) => {
                "lines of a version that is not known".to_owned()
            }
            CheckFinding::Bad(Problem::Fault(fault)) => {
                format!("lines without a valid {}", fault.name())
            }
            CheckFinding::Bad(Problem::CarriageReturn) => {
                "lines that end with CR LF, which tr -d '\\r' mends".to_owned()
            }
            CheckFinding::Bad(Problem::TooLong) => "lines that are too long".to_owned(),
            CheckFinding::Bad(Problem::Unfinished) => "lines the file ends in: torn".to_owned(),
            CheckFinding::Bad(Problem::Profile(what)) => {
                format!("lines of MPI profiles that are bad: {what}")
            }
            CheckFinding::Duplicate => "lines that stand there before".to_owned(),
            CheckFinding::Collision => "launch ids with different numbers of PEs".to_owned(),
            CheckFinding::Rank => "lines of a PE that the launch does not have".to_owned(),
            CheckFinding::Zone => {
                "lines whose t= and local time differ by no offset of a zone".to_owned()
            }
            CheckFinding::Span => "lines of impossible times".to_owned(),
            CheckFinding::Future => "lines from the future".to_owned(),
            CheckFinding::Foreign => {
                "foreign lines: the owner of the file vouches for no other user's".to_owned()
            }
            CheckFinding::Stranger => "lines of another user than the file's name says".to_owned(),
            CheckFinding::Owner => "files of a user that belong to another".to_owned(),
            CheckFinding::Mode => "files that others can read or change".to_owned(),
            CheckFinding::Apart => "runs whose nodes' clocks differ".to_owned(),
            CheckFinding::Single => "runs with one line of two".to_owned(),
            CheckFinding::Order => "lines not in order of time".to_owned(),
            CheckFinding::Versions => "files with lines of several versions".to_owned(),
            CheckFinding::UnknownExtra => "lines with an extra of unknown meaning".to_owned(),
        }
    }

    /// A word for programs; it stays the same.
    pub fn name(self) -> String {
        match self {
            CheckFinding::Bad(Problem::Fault(Fault::length)) => "torn".to_owned(),
            CheckFinding::Bad(Problem::Fault(fault)) => format!("bad_{}", fault.name()),
            CheckFinding::Bad(Problem::CarriageReturn) => "cr_lf".to_owned(),
            CheckFinding::Bad(Problem::TooLong) => "too_long".to_owned(),
            CheckFinding::Bad(Problem::Unfinished) => "unfinished".to_owned(),
            CheckFinding::Bad(Problem::Profile(_)) => "bad_profile".to_owned(),
            CheckFinding::Duplicate => "duplicate".to_owned(),
            CheckFinding::Collision => "id_collision".to_owned(),
            CheckFinding::Rank => "pe_beyond_npes".to_owned(),
            CheckFinding::Zone => "clock_zone".to_owned(),
            CheckFinding::Span => "clock_span".to_owned(),
            CheckFinding::Future => "future".to_owned(),
            CheckFinding::Foreign => "foreign".to_owned(),
            CheckFinding::Stranger => "other_user".to_owned(),
            CheckFinding::Owner => "file_owner".to_owned(),
            CheckFinding::Mode => "file_mode".to_owned(),
            CheckFinding::Apart => "clocks_apart".to_owned(),
            CheckFinding::Single => "single_line".to_owned(),
            CheckFinding::Order => "order".to_owned(),
            CheckFinding::Versions => "versions".to_owned(),
            CheckFinding::UnknownExtra => "unknown_extra".to_owned(),
        }
    }
}

/// Where something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingPlace {
    /// The file
    pub source: Source,
    /// Number of the line, from 1; None if it is the file as a whole
    pub line: Option<u64>,
}

/// Places that are kept of each finding.
pub(super) const PLACES: usize = 3;

/// How often something was found, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingCount {
    /// How often
    pub count: u64,
    /// The first places, at most three
    pub places: Vec<FindingPlace>,
    /// What more there is to say: the unknown extras
    pub names: Vec<String>,
}

/// What a check found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Files that were read
    pub files: u64,
    /// Lines of all kinds
    pub lines: u64,
    /// Log lines
    pub good: u64,
    /// Lines of MPI profiles
    pub profile: u64,
    /// Lines that the owners of their files do not vouch for, in none of the numbers above
    pub foreign: Foreign,
    /// Runs they make
    pub runs: u64,
    /// What was found, and how often
    pub found: BTreeMap<CheckFinding, FindingCount>,
    /// Files that could not be read, or not to their end
    pub failed: Vec<SourceError>,
}

impl Findings {
    /// Whether something is wrong.
    pub fn has_faults(&self) -> bool {
        self.found.keys().any(|finding| !finding.is_remark())
    }

    pub(super) fn add(&mut self, finding: CheckFinding, source: &Source, line: Option<u64>) {
        let found = self.found.entry(finding).or_default();
        found.count += 1;
        if found.places.len() < PLACES {
            found.places.push(FindingPlace { source: source.clone(), line });
        }
    }

    /// Counts what has no place.
    pub(super) fn count(&mut self, finding: CheckFinding, count: u64) {
        if count > 0 {
            self.found.entry(finding).or_default().count += count;
        }
    }
}
