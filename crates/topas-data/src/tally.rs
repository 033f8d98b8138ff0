//! What became of the lines: read, skipped on purpose, or bad and why.

use std::collections::BTreeMap;

use topas_format::line::Fault;
use topas_format::shown::replaced;

use crate::source::Source;
use crate::vouch::Foreign;

/// Why a line was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// It is not of the form of a log line.
    Fault(Fault),
    /// It would be a log line without the CR at its end: the file was copied by way of a system
    /// that ends lines with CR and LF.
    CarriageReturn,
    /// It is longer than [`crate::MAX_LINE_READ`] bytes; it was not stored.
    TooLong,
    /// The file ends or breaks off within it.
    Unfinished,
    /// It is a line of an MPI profile, and this is wrong with it.
    Profile(&'static str),
}

impl Problem {
    /// In words, for a count of lines: `bad mhz`, `wrong length`.
    pub fn words(self) -> String {
        match self {
            Problem::Fault(Fault::length) => "wrong length".to_owned(),
            Problem::Fault(Fault::version) => "unknown version".to_owned(),
            Problem::Fault(fault) => format!("bad {}", fault.name()),
            Problem::CarriageReturn => "with CR LF at the end (tr -d '\\r' mends them)".to_owned(),
            Problem::TooLong => "too long".to_owned(),
            Problem::Unfinished => "unfinished".to_owned(),
            Problem::Profile(what) => format!("MPI profile: {what}"),
        }
    }
}

/// A bad line, to show what was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Where it stands
    pub source: Source,
    /// Its number in there, from 1
    pub line: u64,
    /// What is wrong with it
    pub problem: Problem,
    /// Its first bytes as text, control characters replaced
    pub text: String,
}

/// Characters of a bad line that are kept.
const EXAMPLE_TEXT: usize = 60;

/// Counts of the lines of all sources.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Log lines that were read
    pub good: u64,
    /// Lines of MPI profiles
    pub profile: u64,
    /// Blank lines
    pub blank: u64,
    /// Lines that begin with `#`
    pub comments: u64,
    /// Lines that the owner of their file does not vouch for: not counted anywhere else
    pub foreign: Foreign,
    bad: BTreeMap<Problem, u64>,
    examples: Vec<Example>,
}

impl Tally {
    /// Examples of bad lines that are kept.
    pub(crate) const EXAMPLES: usize = 3;

    /// Counts a bad line; the first three are kept as examples.
    pub(crate) fn bad(&mut self, source: &Source, line: u64, problem: Problem, text: &[u8]) {
        *self.bad.entry(problem).or_default() += 1;
        if self.examples.len() < Self::EXAMPLES {
            let head = &text[..text.len().min(4 * EXAMPLE_TEXT)];
            let text =
                String::from_utf8_lossy(head).chars().take(EXAMPLE_TEXT).map(replaced).collect();
            self.examples.push(Example { source: source.clone(), line, problem, text });
        }
    }

    /// Counts as unfinished what was taken for good lines.
    pub(crate) fn unfinished(&mut self, lines: u64) {
        if lines > 0 {
            self.good -= lines;
            *self.bad.entry(Problem::Unfinished).or_default() += lines;
        }
    }

    /// Takes the examples out, so that others can come.
    pub(crate) fn take_examples(&mut self) -> Vec<Example> {
        std::mem::take(&mut self.examples)
    }

    /// Adds examples as long as there are not enough.
    pub(crate) fn add_examples(&mut self, examples: Vec<Example>) {
        self.examples.extend(examples);
        self.examples.truncate(Self::EXAMPLES);
    }

    /// Adds the counts of other lines. Examples have an order, and are not added.
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.good += other.good;
        self.profile += other.profile;
        self.blank += other.blank;
        self.comments += other.comments;
        self.foreign.merge(&other.foreign);
        for (problem, count) in &other.bad {
            *self.bad.entry(*problem).or_default() += count;
        }
    }

    /// Bad lines by what is wrong with them.
    pub fn problems(&self) -> impl Iterator<Item = (Problem, u64)> + '_ {
        self.bad.iter().map(|(&problem, &count)| (problem, count))
    }

    /// The first bad lines.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Number of bad lines.
    pub fn skipped(&self) -> u64 {
        self.bad.values().sum()
    }

    /// Number of all lines: good, bad, foreign, of MPI profiles, blank and comments.
    pub fn lines(&self) -> u64 {
        let none = self.skipped() + self.blank + self.comments;
        self.good + self.profile + self.foreign.lines() + none
    }
}
