//! Two runs against each other, or several runs of a program against several.

use super::column::{Column, values};
use super::ranks::{Test, mann_whitney, median, signed_rank};
use super::table::PeTable;

/// How the values of two runs are set against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// PE by PE: Wilcoxon's signed rank test of the differences
    ByPe,
    /// As two sets, because the runs have other PEs: Mann and Whitney's test
    Sets,
}

/// A column in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What
    pub column: Column,
    /// Number of PEs with a value in the old run and in the new
    pub counts: (usize, usize),
    /// Medians in the old run and in the new
    pub medians: (f64, f64),
    /// Means, likewise
    pub means: (f64, f64),
    /// Greatest values, likewise
    pub max: (f64, f64),
    /// Whether the PEs differ by more than their scatter; None if all are equal.
    /// [`Test::first_is_larger`]: the new run
    pub test: Option<Test>,
    /// Changes of single PEs as a share of the old value, the largest first, of at most
    /// [`Comparison::NAMED`] PEs; empty of sets
    pub pes: Vec<(u32, f64)>,
}

impl Change {
    /// Change of the median as a share of the old one; None from 0.
    pub fn relative(&self) -> Option<f64> {
        (self.medians.0 != 0.0).then(|| self.medians.1 / self.medians.0 - 1.0)
    }
}

/// All columns that both runs have values of.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// How they were paired
    pub pairing: Pairing,
    /// One for each column that both have
    pub changes: Vec<Change>,
}

impl Comparison {
    /// PEs that are named with their changes.
    pub const NAMED: usize = 5;
}

/// Compares a new run with an old one: PE by PE if their PEs have the same numbers.
///
/// The tests ask whether the runs differ by more than their PEs scatter. That is no promise
/// for the next run: PEs of one run are not independent of each other.
pub fn compare(old: &PeTable, new: &PeTable) -> Comparison {
    let same = old.rows.iter().map(|pe| pe.pe).eq(new.rows.iter().map(|pe| pe.pe));
    let pairing = if same { Pairing::ByPe } else { Pairing::Sets };
    let columns = Column::ALL.into_iter().filter(|column| {
        let counts = matches!(column, Column::Counter | Column::Rate | Column::MissesPerOperation);
        !counts || old.metric == new.metric
    });
    let changes = columns.filter_map(|column| change(old, new, column, pairing)).collect();
    Comparison { pairing, changes }
}

fn change(old: &PeTable, new: &PeTable, column: Column, pairing: Pairing) -> Option<Change> {
    let plain = |table: &PeTable| -> Vec<f64> {
        values(table, column).values.iter().map(|value| value.0).collect()
    };
    let (before, after) = (plain(old), plain(new));
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let both = |of: fn(&[f64]) -> f64| (of(&before), of(&after));
    let (test, pes) = match pairing {
        Pairing::Sets => (mann_whitney(&after, &before), Vec::new()),
        Pairing::ByPe => by_pe(old, new, column),
    };
    Some(Change {
        column,
        counts: (before.len(), after.len()),
        medians: both(|values| median(values.to_vec())),
        means: both(|values| super::summary::sum(values.iter().copied()) / values.len() as f64),
        max: both(|values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        test,
        pes,
    })
}

fn by_pe(old: &PeTable, new: &PeTable, column: Column) -> (Option<Test>, Vec<(u32, f64)>) {
    let mut differences = Vec::with_capacity(old.rows.len());
    let mut shares = Vec::with_capacity(old.rows.len());
    for (before, after) in old.rows.iter().zip(&new.rows) {
        if let (Some(a), Some(b)) = (column.value(old, before), column.value(new, after)) {
            differences.push(b - a);
            if a > 0.0 && b != a {
                shares.push((before.pe, b / a - 1.0));
            }
        }
    }
    let larger =
        |a: &(u32, f64), b: &(u32, f64)| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0));
    if shares.len() > Comparison::NAMED {
        shares.select_nth_unstable_by(Comparison::NAMED, larger);
        shares.truncate(Comparison::NAMED);
    }
    shares.sort_by(larger);
    (signed_rank(&differences), shares)
}

/// Runs that each side must have before a test of the runs can tell anything: of three against
/// three the most different ones have p = 0.1.
pub const LEAST_RUNS: usize = 4;

/// The medians of the PEs of one run, by the place of the column in [`Column::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunMedians([Option<f64>; Column::ALL.len()]);

impl RunMedians {
    /// Of a run.
    pub fn new(table: &PeTable) -> Self {
        RunMedians(Column::ALL.map(|column| {
            let plain: Vec<f64> = values(table, column).values.iter().map(|v| v.0).collect();
            (!plain.is_empty()).then(|| median(plain))
        }))
    }
}

/// The medians of several runs: their median, and the range that they spread over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSpread {
    /// Number of runs with a value
    pub runs: usize,
    /// Median of the runs
    pub median: f64,
    /// Least and greatest of the runs
    pub range: (f64, f64),
}

impl RunSpread {
    /// None without values.
    fn new(of: &[f64]) -> Option<Self> {
        let least = of.iter().copied().reduce(f64::min)?;
        let greatest = of.iter().copied().reduce(f64::max)?;
        Some(RunSpread { runs: of.len(), median: median(of.to_vec()), range: (least, greatest) })
    }

    /// The width of the range as a share of the median; None of one run, or of 0.
    pub fn share(&self) -> Option<f64> {
        let (least, greatest) = self.range;
        (self.runs > 1 && self.median != 0.0).then(|| (greatest - least) / self.median)
    }
}

/// A column in the runs of both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunChange {
    /// What
    pub column: Column,
    /// The old runs
    pub old: RunSpread,
    /// The new runs
    pub new: RunSpread,
    /// Whether the runs of the sides differ by more than they spread; None of fewer than
    /// [`LEAST_RUNS`] on a side, or if all are equal
    pub test: Option<Test>,
}

impl RunChange {
    /// Change of the median as a share of the old one; None from 0.
    pub fn relative(&self) -> Option<f64> {
        (self.old.median != 0.0).then(|| self.new.median / self.old.median - 1.0)
    }

    /// Whether both sides have as many runs as a test takes.
    pub fn has_enough(&self) -> bool {
        self.old.runs.min(self.new.runs) >= LEAST_RUNS
    }
}

/// Compares runs with runs: the columns of `comparison`, which is of the newest of each side.
pub fn compare_runs(
    old: &[RunMedians],
    new: &[RunMedians],
    comparison: &Comparison,
) -> Vec<RunChange> {
    let of = |runs: &[RunMedians], column: Column| -> Vec<f64> {
        let place = Column::ALL.iter().position(|one| *one == column).unwrap_or(0);
        runs.iter().filter_map(|run| run.0.get(place).copied().flatten()).collect()
    };
    let change = |change: &Change| {
        let column = change.column;
        let (before, after) = (of(old, column), of(new, column));
        let enough = before.len().min(after.len()) >= LEAST_RUNS;
        Some(RunChange {
            column,
            old: RunSpread::new(&before)?,
            new: RunSpread::new(&after)?,
            test: if enough { mann_whitney(&after, &before) } else { None },
        })
    };
    comparison.changes.iter().filter_map(change).collect()
}
