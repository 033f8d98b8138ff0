//! What stands out among the PEs, with the evidence.
//!
//! Each measure is looked at by itself, in this order:
//!
//! 1. *PEs apart*: at most a sixteenth of the PEs at an end, with a gap to the rest of three
//!    of its standard deviations, and too far by Student's t for one PE in as many.
//! 2. *Groups apart*: at most a quarter of the programs, hosts or NUMA nodes, whose medians
//!    have a gap to those of the others of 1.5 times the range of these, and whose PEs
//!    differ by Mann and Whitney's test.
//! 3. *Classes*: optimal clusters that lie apart by more than those of evenly spread values
//!    do (see [`classes`]); if they are those of hosts or the like, that is said.
//! 4. PEs apart once more, each relative to its group or class.
//!
//! A difference of less than 2 % is no finding whatever a test says. The levels of the tests
//! are set such that noise alone gives a finding in one of a hundred runs at most.

mod apart;
mod classes;
mod student;
mod subject;

use super::column::{Column, values};
use super::group::Grouping;
use super::ranks::median;
use super::table::Table;

pub use subject::Subject;

/// Least difference that is a finding, as a share of the others' median.
pub const LEAST_DIFFERENCE: f64 = 0.02;

/// Least difference of times that is one, in s: below it is the start of processes.
const LEAST_SECONDS: f64 = 0.05;

/// PEs with a value that it takes to judge a measure.
pub const LEAST_PES: usize = 4;

/// How likely each test may find something in noise.
const LEVEL: f64 = 0.000_5;

/// What is looked at, where measured.
const MEASURES: [Column; 5] =
    [Column::Rate, Column::Counter, Column::CpuTime, Column::Wall, Column::Frequency];

/// How one set of PEs differs from the others in a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// The measure
    pub column: Column,
    /// Median of the PEs of the finding
    pub theirs: f64,
    /// Median of the others
    pub others: f64,
}

impl Evidence {
    /// The difference as a share of the others' median.
    pub fn difference(&self) -> f64 {
        self.theirs / self.others - 1.0
    }
}

/// PEs, hosts or the like that stand out, or one class of PEs against the largest.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Who
    pub subject: Subject,
    /// Number of PEs of the subject
    pub count: usize,
    /// Classes that the PEs fall into in the first measure; 1 if the subject merely stands
    /// out from the rest
    pub classes: usize,
    /// What differs, the largest difference first
    pub evidence: Vec<Evidence>,
}

/// All findings, and what was looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Findings, the largest difference first
    pub findings: Vec<Finding>,
    /// Measures that were looked at
    pub looked_at: Vec<Column>,
    /// Number of PEs
    pub pes: usize,
}

/// Looks for what stands out.
pub fn findings(table: &Table) -> Findings {
    let mut all = Findings { pes: table.rows.len(), ..Findings::default() };
    for column in MEASURES {
        let Some(measure) = Measure::of(table, column) else { continue };
        all.looked_at.push(column);
        for (rows, classes) in measure.findings() {
            all.add(&measure, rows, classes);
        }
    }
    all.findings.iter_mut().for_each(|finding| sort_by_size(&mut finding.evidence));
    let size = |finding: &Finding| finding.evidence.first().map_or(0.0, |e| e.difference().abs());
    all.findings.sort_by(|a, b| size(b).total_cmp(&size(a)));
    all
}

fn sort_by_size(evidence: &mut [Evidence]) {
    evidence.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
}

impl Findings {
    /// Adds what a measure shows, to the finding of the same PEs if there is one.
    fn add(&mut self, measure: &Measure<'_>, mut rows: Vec<u32>, classes: usize) {
        rows.sort_unstable();
        let evidence = measure.evidence(&rows);
        let subject = Subject::of(measure.table, &rows);
        match self.findings.iter_mut().find(|finding| finding.subject == subject) {
            Some(finding) => finding.evidence.push(evidence),
            None => {
                let count = rows.len();
                self.findings.push(Finding { subject, count, classes, evidence: vec![evidence] });
            }
        }
    }
}

/// A value under examination.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// Relative to the median, later to that of its group or class
    value: f64,
    row: u32,
}

/// The values of one measure.
struct Measure<'t> {
    table: &'t Table,
    column: Column,
    /// By row
    values: Vec<(f64, u32)>,
    median: f64,
}

impl<'t> Measure<'t> {
    /// None if too few PEs have a value, or half of them nothing.
    fn of(table: &'t Table, column: Column) -> Option<Self> {
        let values = values(table, column).values;
        let median = median(values.iter().map(|value| value.0).collect());
        (values.len() >= LEAST_PES && median > 0.0).then_some(Measure {
            table,
            column,
            values,
            median,
        })
    }

    /// Rows that stand out, and the number of classes they are one of.
    fn findings(&self) -> Vec<(Vec<u32>, usize)> {
        let mut found = Vec::new();
        let item = |&(value, row): &(f64, u32)| Item { value: value / self.median, row };
        let mut items: Vec<Item> = self.values.iter().map(item).collect();
        self.take_apart(&mut items, &mut found);
        for by in [Grouping::Exe, Grouping::Host, Grouping::Numa, Grouping::HostNuma] {
            let taken = apart::groups(self.table, &items, by, self.large_is_slow());
            let rows: Vec<u32> = taken.iter().map(|item| item.row).collect();
            if self.matters(&taken, &items) {
                apart::remove(&mut items, &rows);
                found.push((rows, 1));
                break;
            }
        }
        let classes = classes::classes(&items);
        if classes.len() > 1 {
            // All but the largest; of several that with the fast PEs.
            let count = classes.len();
            let fast = |class: usize| if self.large_is_slow() { count - class } else { class };
            let size = |&class: &usize| (classes[class].len(), fast(class));
            let largest = (0..count).max_by_key(size).unwrap_or(0);
            let mut rest = Vec::with_capacity(items.len());
            for (number, class) in classes.into_iter().enumerate() {
                let middle = median(class.iter().map(|item| item.value).collect());
                rest.extend(class.iter().map(|item| Item { value: item.value / middle, ..*item }));
                if number != largest {
                    found.push((class.iter().map(|item| item.row).collect(), count));
                }
            }
            items = rest;
            items.sort_unstable_by_key(|item| item.row);
        }
        self.take_apart(&mut items, &mut found);
        found
    }

    /// Whether those with the larger values are waited for.
    fn large_is_slow(&self) -> bool {
        !matches!(self.column, Column::Rate | Column::Frequency)
    }

    /// Takes PEs that lie apart out of the items, until no more do.
    fn take_apart(&self, items: &mut Vec<Item>, found: &mut Vec<(Vec<u32>, usize)>) {
        // Two at each end are many; the bound is for logs that are made up.
        for _ in 0..8 {
            let taken = apart::ends(items);
            let rows: Vec<u32> = taken.iter().map(|item| item.row).collect();
            if !self.matters(&taken, items) {
                break;
            }
            apart::remove(items, &rows);
            found.push((rows, 1));
        }
    }

    /// Whether items differ enough from all to be worth telling.
    fn matters(&self, taken: &[Item], all: &[Item]) -> bool {
        if taken.is_empty() {
            return false;
        }
        let difference = middle(taken) / middle(all) - 1.0;
        let is_time = matches!(self.column, Column::CpuTime | Column::Wall);
        difference.abs() >= LEAST_DIFFERENCE
            && (!is_time || (difference * self.median).abs() >= LEAST_SECONDS)
    }

    /// The values of `rows`, which ascend, against those of all others.
    fn evidence(&self, rows: &[u32]) -> Evidence {
        let (mut theirs, mut others) = (Vec::new(), Vec::new());
        for &(value, row) in &self.values {
            let is_theirs = rows.binary_search(&row).is_ok();
            if is_theirs { &mut theirs } else { &mut others }.push(value);
        }
        Evidence { column: self.column, theirs: median(theirs), others: median(others) }
    }
}

fn middle(items: &[Item]) -> f64 {
    median(items.iter().map(|item| item.value).collect())
}
