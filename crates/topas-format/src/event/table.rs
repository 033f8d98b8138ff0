//! The shape of the event table, and the small form of it that user programs have.

#![allow(
    clippy::indexing_slicing,
    reason = "tables are made at compile time; in tools an index is below the length it is compared with"
)]

use super::Metric;
use super::cpu::{Cpu, Family};
use super::formula::{Formula, Packed};

/// What is known of the counts of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Counts of known loops came out right on a processor of this row
    Hardware,
    /// Makers' lists, the kernel's and libpfm4's agree; nobody has counted yet
    Tables,
}

impl Status {
    /// For people.
    pub const fn says(self) -> &'static str {
        match self {
            Status::Hardware => "verified on hardware",
            Status::Tables => "tables only",
        }
    }
}

/// What can be counted on a kind of processor.
#[derive(Debug)]
pub struct Row {
    /// Processors of the row
    pub processors: &'static str,
    /// What to know of their counts
    pub caveat: &'static str,
    /// What the counts rest on
    pub status: Status,
    /// Formulas in the order of [`Metric`]
    pub formulas: [Formula; 5],
}

impl Row {
    /// The formula of a metric.
    pub const fn formula(&self, metric: Metric) -> Formula {
        // An index below 5 by its type.
        self.formulas[metric as usize]
    }
}

/// A range of processor models and the number of its row.
#[derive(Clone, Copy, Debug)]
pub struct Models {
    /// First model
    pub first: Cpu,
    /// Last model of the same maker and family
    pub last: u16,
    /// Index into [`Table::rows`]
    pub row: u8,
}

impl Models {
    /// Whether the processor is one of this range.
    pub const fn holds(&self, cpu: Cpu) -> bool {
        cpu.key().wrapping_sub(self.first.key()) <= (self.last - self.first.model) as u32
    }

    pub(super) const fn of(family: Family, number: u8, first: u16, last: u16, row: u8) -> Models {
        assert!(first <= last);
        Models { first: Cpu { family, number, model: first }, last, row }
    }
}

/// Processors of one instruction set. Row 0 is for those that no range holds.
#[derive(Debug)]
pub struct Table {
    /// Ranges of models; the first that holds a processor is taken
    pub models: &'static [Models],
    /// What each kind can count
    pub rows: &'static [Row],
}

impl Table {
    /// Number of the row of a processor; 0 if the table does not know it.
    pub const fn place(&self, cpu: Cpu) -> u8 {
        let mut at = 0;
        while at < self.models.len() {
            if self.models[at].holds(cpu) {
                return self.models[at].row;
            }
            at += 1;
        }
        0
    }
}

/// Rows and events of a table as user programs have them: no text, no address. Made at
/// compile time.
pub struct Small<const ROWS: usize, const TERMS: usize> {
    /// Per row and metric one more than the place of the formula's first event, 0 without
    rows: [[u8; 5]; ROWS],
    /// Formulas end at an event that [`Packed::is_last`]; rows share them
    terms: [Packed; TERMS],
}

/// Most events of one table.
const ROOM: usize = 64;

/// Rows in small form, with unused places behind the events, and the number of those used.
const fn shrink<const ROWS: usize>(rows: &[Row]) -> (Small<ROWS, ROOM>, usize) {
    let mut small = Small { rows: [[0; 5]; ROWS], terms: [Packed::NONE; ROOM] };
    let mut used = 0;
    let mut row = 0;
    while row < ROWS {
        let mut metric = 0;
        while metric < 5 {
            let terms = rows[row].formulas[metric].0;
            if !terms.is_empty() {
                let mut at = 0;
                while at < used && !is_at(&small.terms, at, terms) {
                    at += 1;
                }
                if at == used {
                    let mut term = 0;
                    while term < terms.len() {
                        small.terms[used] = Packed::new(terms[term], term + 1 == terms.len());
                        used += 1;
                        term += 1;
                    }
                }
                small.rows[row][metric] = at as u8 + 1;
            }
            metric += 1;
        }
        row += 1;
    }
    (small, used)
}

/// Whether a formula stands at a place.
const fn is_at(all: &[Packed; ROOM], at: usize, terms: &[super::formula::Term]) -> bool {
    let mut term = 0;
    while term < terms.len() {
        let wanted = Packed::new(terms[term], term + 1 == terms.len());
        if at + term >= ROOM || !all[at + term].same(wanted) {
            return false;
        }
        term += 1;
    }
    true
}

/// How many different events the rows have.
pub(super) const fn terms_of<const ROWS: usize>(rows: &[Row]) -> usize {
    shrink::<ROWS>(rows).1
}

impl<const ROWS: usize, const TERMS: usize> Small<ROWS, TERMS> {
    /// The small form of `rows`.
    pub(super) const fn new(rows: &[Row]) -> Self {
        assert!(rows.len() == ROWS);
        let (all, used) = shrink::<ROWS>(rows);
        assert!(used == TERMS);
        let mut terms = [Packed::NONE; TERMS];
        let mut at = 0;
        while at < TERMS {
            terms[at] = all.terms[at];
            at += 1;
        }
        Small { rows: all.rows, terms }
    }

    /// Place of the first event of a metric in a row; one beyond all if it has none.
    #[inline(always)]
    pub fn first(&self, row: usize, metric: Metric) -> usize {
        let row = self.rows.get(row);
        let place = row.and_then(|row| row.get(metric as usize)).copied().unwrap_or(0);
        usize::from(place).wrapping_sub(1)
    }

    /// Whether a row has a formula for a metric.
    pub const fn counts(&self, row: usize, metric: Metric) -> bool {
        row < ROWS && self.rows[row][metric as usize] != 0
    }

    /// Whether any row has a formula for a metric.
    pub const fn ever_counts(&self, metric: Metric) -> bool {
        let mut row = 0;
        while row < ROWS {
            if self.counts(row, metric) {
                return true;
            }
            row += 1;
        }
        false
    }

    /// The event at a place.
    #[inline(always)]
    pub fn term(&self, place: usize) -> Option<Packed> {
        self.terms.get(place).copied()
    }
}
