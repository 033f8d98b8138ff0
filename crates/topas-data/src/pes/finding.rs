//! What stands out among the PEs, with the evidence.
//!
//! Each measure is looked at by itself, in this order:
//!
//! 1. *PEs apart*: at most a sixteenth of the PEs at an end, with a gap to the rest of three
//!    of its standard deviations, wider than the tail of the rest leads to expect or than a
//!    third of the median, and too far by Student's t for one PE in as many.
//! 2. *Groups apart*: at most a quarter of the programs, hosts or NUMA nodes, whose medians
//!    have a gap to those of the others of 1.5 times the range of these, and whose PEs
//!    differ by Mann and Whitney's test.
//! 3. *Classes*: optimal clusters that lie apart by more than those of evenly spread values
//!    do (see [`classes`]).
//! 4. PEs apart once more, each relative to its class.
//!
//! A difference of less than 2 % is no finding whatever a test says; of cache misses and of memory
//! one of less than 30 %. System time is compared as a share of the wall clock time. The levels of the tests
//! are set such that noise alone gives a finding in one of a hundred runs at most.

mod apart;
mod classes;
mod subject;

use std::thread;

use super::balance::{Balance, LOADS, balance};
use super::column::{Column, Values, columns};
use super::gain::{Gain, as_the_others};
use super::group::{Grouping, Numbered, middle};
use super::table::PeTable;

pub use subject::Subject;

/// Least difference that is a finding, as a share of the others' median.
pub const LEAST_DIFFERENCE: f64 = 0.02;

/// Least difference of times that is one, in s: below it is the start of processes.
pub const LEAST_SECONDS: f64 = 0.05;

/// Least difference of cache misses and of memory that is one, as [`LEAST_DIFFERENCE`]: a smaller
/// one changes no time.
pub const LEAST_OF_CAUSES: f64 = 0.3;
const LEAST_OF_SINGLE_CAUSES: f64 = 1.0;

/// PEs with a value that it takes to judge a measure.
pub const LEAST_PES: usize = 4;

/// How likely each test may find something in noise.
const LEVEL: f64 = 0.000_5;

/// What is looked at, where measured. Each half is read from the table at once.
const MEASURES: [[Column; 4]; 2] = [
    [Column::Rate, Column::Counter, Column::CpuTime, Column::Wall],
    [Column::Frequency, Column::System, Column::MissesPerOperation, Column::Memory],
];

/// Groupings, what explains most first.
const GROUPINGS: [Grouping; 4] =
    [Grouping::Exe, Grouping::Host, Grouping::Numa, Grouping::HostNuma];

/// PEs from which on each measure is worth a thread.
const MANY: usize = 20_000;

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
pub struct PeFinding {
    /// Who
    pub subject: Subject,
    /// Number of PEs of the subject
    pub count: usize,
    /// Classes that the PEs fall into in the first measure; 1 if the subject merely stands
    /// out from the rest
    pub classes: usize,
    /// What differs, the largest difference first
    pub evidence: Vec<Evidence>,
    /// What is saved at most if these PEs were as the others are, or their additional work were
    /// spread evenly; None if that does not show
    pub gain: Option<Gain>,
    /// Places of the PEs in [`PeTable::rows`], ascending
    rows: Vec<u32>,
}

/// All findings, and what was looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Findings: what costs most first, then the largest difference
    pub findings: Vec<PeFinding>,
    /// Measures that were looked at
    pub looked_at: Vec<Column>,
    /// Number of PEs
    pub pes: usize,
}

/// What a look at all PEs shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examined {
    /// What stands out
    pub findings: Findings,
    /// Balance of CPU time, of operations where counted, and of wall clock time
    pub balances: Vec<Balance>,
}

/// What one measure shows.
struct ExaminedMeasure {
    column: Column,
    balance: Option<Balance>,
    /// None if it could not be judged
    found: Option<Vec<MeasureFindings>>,
}

/// Looks for what stands out, and at the balance of loads.
pub fn examine(table: &PeTable) -> Examined {
    let places = GroupPlaces::new(table);
    let look = |column, values: Values| {
        let is_load = LOADS.contains(&column);
        let balance = if is_load { balance(table, column, &values) } else { None };
        let found = Measure::of(&places, column, values).map(Measure::findings);
        ExaminedMeasure { column, balance, found }
    };
    let half = |of: [Column; 4]| of.into_iter().zip(columns(table, of));
    let examined: Vec<ExaminedMeasure> = if table.rows.len() < MANY {
        MEASURES.into_iter().flat_map(half).map(|(column, values)| look(column, values)).collect()
    } else {
        let look = &look;
        thread::scope(|scope| {
            let halves = MEASURES.map(|of| scope.spawn(move || half(of)));
            // A panic of another thread aborts.
            let values = halves.into_iter().filter_map(|thread| thread.join().ok()).flatten();
            let looks = values.map(|(column, values)| scope.spawn(move || look(column, values)));
            let looks: Vec<_> = looks.collect();
            looks.into_iter().filter_map(|thread| thread.join().ok()).collect()
        })
    };
    let of = |load| examined.iter().find(|of| of.column == load)?.balance;
    let balances = LOADS.into_iter().filter_map(of).collect();
    Examined { findings: Findings::of(&places, examined), balances }
}

/// What stands out.
pub fn findings(table: &PeTable) -> Findings {
    examine(table).findings
}

fn sort_by_size(evidence: &mut [Evidence]) {
    evidence.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
}

impl Findings {
    /// What all measures show together, with what that costs.
    fn of(places: &GroupPlaces<'_>, examined: Vec<ExaminedMeasure>) -> Self {
        let table = places.table;
        let mut all = Findings { pes: table.rows.len(), ..Findings::default() };
        for ExaminedMeasure { column, found, .. } in examined {
            if let Some(found) = found {
                all.looked_at.push(column);
                found.into_iter().for_each(|found| all.add(places, found));
            }
        }
        for finding in &mut all.findings {
            sort_by_size(&mut finding.evidence);
            finding.gain = as_the_others(table, &finding.rows, &finding.evidence);
        }
        let first = |finding: &PeFinding| finding.evidence.first().map(Evidence::difference);
        let size = |finding: &PeFinding| first(finding).map_or(0.0, f64::abs);
        // What costs time first; a cost below the limit is none.
        let cost = |finding: &PeFinding| {
            finding.gain.filter(Gain::matters).map_or(0.0, |gain| gain.seconds)
        };
        all.findings.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then(size(b).total_cmp(&size(a))));
        all
    }

    /// Adds what a measure shows, to the finding of the same PEs if there is one.
    fn add(&mut self, places: &GroupPlaces<'_>, found: MeasureFindings) {
        let subject = Subject::of(places, &found.rows);
        match self.findings.iter_mut().find(|finding| finding.subject == subject) {
            Some(finding) => finding.evidence.push(found.evidence),
            None => self.findings.push(PeFinding {
                subject,
                count: found.rows.len(),
                classes: found.classes,
                evidence: vec![found.evidence],
                gain: None,
                rows: found.rows,
            }),
        }
    }
}

/// A table, and its rows by groups.
struct GroupPlaces<'t> {
    table: &'t PeTable,
    groupings: [(Grouping, Numbered); 4],
    /// Groups of each row, in the order of the groupings
    of_row: Vec<GroupsOfRow>,
}

/// Groups of a row, one of each grouping. Values are looked at in their own order, in which each
/// row is a place in memory that the processor has to wait for: once, not once for each grouping.
type GroupsOfRow = [u32; GROUPINGS.len()];

impl<'t> GroupPlaces<'t> {
    fn new(table: &'t PeTable) -> Self {
        let of = |by| (by, Numbered::new(table, by));
        let groupings = if table.rows.len() < MANY {
            GROUPINGS.map(of)
        } else {
            thread::scope(|scope| {
                let threads = GROUPINGS.map(|by| (by, scope.spawn(move || of(by))));
                // A panic of another thread aborts.
                threads.map(|(by, thread)| thread.join().unwrap_or_else(|_| of(by)))
            })
        };
        let [a, b, c, d] = groupings.each_ref().map(|(_, numbered)| &numbered.of_row);
        let rows = a.iter().zip(b).zip(c).zip(d);
        let of_row = rows.map(|(((a, b), c), d)| [*a, *b, *c, *d]).collect();
        GroupPlaces { table, groupings, of_row }
    }
}

/// What one measure shows.
struct MeasureFindings {
    /// Ascending
    rows: Vec<u32>,
    /// Classes that these rows are one of
    classes: usize,
    evidence: Evidence,
}

/// A value under examination.
#[derive(Clone, Copy, Debug)]
struct ExaminedValue {
    /// Relative to the median, later to that of its class
    value: f64,
    row: u32,
}

/// The values of one measure.
struct Measure<'p> {
    places: &'p GroupPlaces<'p>,
    column: Column,
    /// Ascending
    values: Vec<(f64, u32)>,
    /// What the values are examined relative to
    median: f64,
    /// What is added to the values for that, so that little of a small value is no finding
    offset: f64,
    found: Vec<MeasureFindings>,
}

/// Least difference of a column that is a finding, however large its values are.
fn least_of(column: Column) -> f64 {
    match column {
        Column::MissesPerOperation | Column::Memory => LEAST_OF_CAUSES,
        _ => LEAST_DIFFERENCE,
    }
}

impl<'p> Measure<'p> {
    /// None if too few PEs have a value, or half of them nothing.
    fn of(places: &'p GroupPlaces<'p>, column: Column, values: Values) -> Option<Self> {
        let Values { mut values, .. } = values;
        // System time is judged as a part of the wall clock time.
        let is_system = column == Column::System;
        let offset = if is_system { places.table.wall as f64 / 1e6 } else { 0.0 };
        let found = Vec::new();
        let least = values.iter().map(|value| value.0).reduce(f64::min)?;
        let range = values.iter().map(|value| value.0).fold(least, f64::max) - least;
        let is_even = range < least_of(column) * (least + offset);
        if is_even && values.len() >= LEAST_PES {
            // Nothing can be found, which need not be sorted.
            return Some(Measure {
                places,
                column,
                values: Vec::new(),
                median: 1.0,
                offset,
                found,
            });
        }
        // None is negative or not a number, so that their bits have the order of the values.
        values.sort_unstable_by_key(|value| value.0.to_bits());
        let median = middle(values.len(), |at| values[at].0)? + offset;
        (values.len() >= LEAST_PES && median > 0.0).then_some(Measure {
            places,
            column,
            values,
            median,
            offset,
            found,
        })
    }

    fn findings(mut self) -> Vec<MeasureFindings> {
        let item = |&(value, row): &(f64, u32)| ExaminedValue {
            value: (value + self.offset) / self.median,
            row,
        };
        // Ascending, here and wherever items are handed on.
        let mut items: Vec<ExaminedValue> = self.values.iter().map(item).collect();
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return self.found };
        if last.value - first.value < self.least() * first.value {
            return self.found;
        }
        self.take_ends(&mut items);
        self.take_groups(&mut items);
        self.take_classes(&mut items);
        self.found
    }

    /// Takes PEs that lie apart out of the items, until no more do.
    fn take_ends(&mut self, items: &mut Vec<ExaminedValue>) {
        // Two at each end are many; the bound is for logs that are made up.
        for _ in 0..8 {
            let Some(range) = apart::ends(items) else { break };
            if !self.matters(&items[range.clone()], items, self.least_of_ends()) {
                break;
            }
            let taken: Vec<ExaminedValue> = items.drain(range).collect();
            self.add(&taken, 1);
        }
    }

    /// Takes out the groups that lie apart, of the first grouping that has such.
    fn take_groups(&mut self, items: &mut Vec<ExaminedValue>) {
        let of_row = &self.places.of_row;
        let of_items: Vec<GroupsOfRow> =
            items.iter().map(|item| of_row[item.row as usize]).collect();
        for (place, (_, numbered)) in self.places.groupings.iter().enumerate() {
            let group = |item: usize| of_items[item][place];
            let taken = apart::groups(numbered, items, group, self.large_is_slow());
            if !taken.is_empty() && self.matters(&taken, items, self.least()) {
                let mut rows: Vec<u32> = taken.iter().map(|item| item.row).collect();
                rows.sort_unstable();
                items.retain(|item| rows.binary_search(&item.row).is_err());
                self.add(&taken, 1);
                return;
            }
        }
    }

    /// Finds classes, and PEs that lie apart in theirs.
    fn take_classes(&mut self, items: &mut Vec<ExaminedValue>) {
        let ends = classes::ends(items, self.least());
        let count = ends.len();
        if count > 1 {
            let begin = |class: usize| if class == 0 { 0 } else { ends[class - 1] };
            // All but the largest; of several that with the fast PEs.
            let fast = |class: usize| if self.large_is_slow() { count - class } else { class };
            let size = |&class: &usize| (ends[class] - begin(class), fast(class));
            let largest = (0..count).max_by_key(size).unwrap_or(0);
            for class in 0..count {
                let class_items = &mut items[begin(class)..ends[class]];
                if class != largest {
                    self.add(class_items, count);
                }
                let of_class = middle(class_items.len(), |at| class_items[at].value).unwrap_or(1.0);
                class_items.iter_mut().for_each(|item| item.value /= of_class);
            }
            items.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
            self.take_ends(items);
        }
    }

    /// Whether those with the larger values are waited for.
    fn large_is_slow(&self) -> bool {
        !matches!(self.column, Column::Rate | Column::Frequency)
    }

    /// Least difference that is a finding, relative to the others.
    fn least(&self) -> f64 {
        match self.column {
            Column::CpuTime | Column::Wall | Column::System => {
                LEAST_DIFFERENCE.max(LEAST_SECONDS / self.median)
            }
            column => least_of(column),
        }
    }

    /// The same of single PEs: that one has more memory, or other data in its cache, is common.
    fn least_of_ends(&self) -> f64 {
        match self.column {
            Column::MissesPerOperation | Column::Memory => LEAST_OF_SINGLE_CAUSES,
            _ => self.least(),
        }
    }

    /// Whether items, which ascend, differ enough from all to be worth telling.
    fn matters(&self, taken: &[ExaminedValue], all: &[ExaminedValue], least: f64) -> bool {
        let median = |items: &[ExaminedValue]| middle(items.len(), |at| items[at].value);
        let (Some(theirs), Some(of_all)) = (median(taken), median(all)) else { return false };
        (theirs / of_all - 1.0).abs() >= least
    }

    /// Adds what was found, with their values against those of all others.
    fn add(&mut self, items: &[ExaminedValue], classes: usize) {
        let mut rows: Vec<u32> = items.iter().map(|item| item.row).collect();
        rows.sort_unstable();
        let of = |is_theirs: bool| {
            let rows = &rows;
            let wanted =
                move |value: &&(f64, u32)| rows.binary_search(&value.1).is_ok() == is_theirs;
            let values: Vec<f64> = self.values.iter().filter(wanted).map(|value| value.0).collect();
            middle(values.len(), |at| values[at]).unwrap_or(f64::NAN)
        };
        let evidence = Evidence { column: self.column, theirs: of(true), others: of(false) };
        self.found.push(MeasureFindings { rows, classes, evidence });
    }
}
