//! What a check of a log can find.

use std::collections::BTreeMap;

use topas_format::line::Fault;

use crate::source::{Source, SourceError};
use crate::tally::Problem;
use crate::vouch::Foreign;

/// Something that is wrong with a log, or worth to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
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

impl Finding {
    /// Whether it can be in the log of a healthy site: a rank was killed, a newer version
    /// writes more.
    pub fn is_remark(self) -> bool {
        use Finding::{Apart, Order, Single, UnknownExtra, Versions};
        matches!(self, Apart | Single | Order | Versions | UnknownExtra)
    }

    /// In words, for a number of them.
    pub fn words(self) -> String {
        match self {
            Finding::Bad(Problem::Fault(Fault::length)) => {
                "lines of the wrong length: torn or mixed".to_owned()
            }
            Finding::Bad(Problem::Fault(Fault::version)) => {
                "lines of a version that is not known".to_owned()
            }
            Finding::Bad(Problem::Fault(fault)) => {
                format!("lines without a valid {}", fault.name())
            }
            Finding::Bad(Problem::TooLong) => "lines that are too long".to_owned(),
            Finding::Bad(Problem::Unfinished) => "lines the file ends in: torn".to_owned(),
            Finding::Bad(Problem::Profile(what)) => {
                format!("lines of MPI profiles that are bad: {what}")
            }
            Finding::Duplicate => "lines that stand there before".to_owned(),
            Finding::Collision => "launch ids with different numbers of PEs".to_owned(),
            Finding::Rank => "lines of a PE that the launch does not have".to_owned(),
            Finding::Zone => {
                "lines whose t= and local time differ by no offset of a zone".to_owned()
            }
            Finding::Span => "lines of impossible times".to_owned(),
            Finding::Future => "lines from the future".to_owned(),
            Finding::Foreign => {
                "foreign lines: the owner of the file vouches for no other user's".to_owned()
            }
            Finding::Stranger => "lines of another user than the file's name says".to_owned(),
            Finding::Owner => "files of a user that belong to another".to_owned(),
            Finding::Mode => "files that others can read or change".to_owned(),
            Finding::Apart => "runs whose nodes' clocks differ".to_owned(),
            Finding::Single => "runs with one line of two".to_owned(),
            Finding::Order => "lines not in order of time".to_owned(),
            Finding::Versions => "files with lines of several versions".to_owned(),
            Finding::UnknownExtra => "lines with an extra of unknown meaning".to_owned(),
        }
    }

    /// A word for programs; it stays the same.
    pub fn name(self) -> String {
        match self {
            Finding::Bad(Problem::Fault(Fault::length)) => "torn".to_owned(),
            Finding::Bad(Problem::Fault(fault)) => format!("bad_{}", fault.name()),
            Finding::Bad(Problem::TooLong) => "too_long".to_owned(),
            Finding::Bad(Problem::Unfinished) => "unfinished".to_owned(),
            Finding::Bad(Problem::Profile(_)) => "bad_profile".to_owned(),
            Finding::Duplicate => "duplicate".to_owned(),
            Finding::Collision => "id_collision".to_owned(),
            Finding::Rank => "pe_beyond_npes".to_owned(),
            Finding::Zone => "clock_zone".to_owned(),
            Finding::Span => "clock_span".to_owned(),
            Finding::Future => "future".to_owned(),
            Finding::Foreign => "foreign".to_owned(),
            Finding::Stranger => "other_user".to_owned(),
            Finding::Owner => "file_owner".to_owned(),
            Finding::Mode => "file_mode".to_owned(),
            Finding::Apart => "clocks_apart".to_owned(),
            Finding::Single => "single_line".to_owned(),
            Finding::Order => "order".to_owned(),
            Finding::Versions => "versions".to_owned(),
            Finding::UnknownExtra => "unknown_extra".to_owned(),
        }
    }
}

/// Where something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file
    pub source: Source,
    /// Number of the line, from 1; None if it is the file as a whole
    pub line: Option<u64>,
}

/// Places that are kept of each finding.
pub(super) const PLACES: usize = 3;

/// How often something was found, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How often
    pub count: u64,
    /// The first places, at most three
    pub places: Vec<Place>,
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
    pub found: BTreeMap<Finding, Found>,
    /// Files that could not be read, or not to their end
    pub failed: Vec<SourceError>,
}

impl Findings {
    /// Whether something is wrong.
    pub fn has_faults(&self) -> bool {
        self.found.keys().any(|finding| !finding.is_remark())
    }

    pub(super) fn add(&mut self, finding: Finding, source: &Source, line: Option<u64>) {
        let found = self.found.entry(finding).or_default();
        found.count += 1;
        if found.places.len() < PLACES {
            found.places.push(Place { source: source.clone(), line });
        }
    }

    /// Counts what has no place.
    pub(super) fn count(&mut self, finding: Finding, count: u64) {
        if count > 0 {
            self.found.entry(finding).or_default().count += count;
        }
    }
}
