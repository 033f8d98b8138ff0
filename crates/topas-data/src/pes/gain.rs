//! What of the wall clock time of a run could be saved at most.

use super::column::{Column, values};
use super::finding::{Evidence, LEAST_SECONDS};
use super::summary::sum;
use super::table::{Pe, PeTable};

/// Least share of the wall clock time that is told as a cost.
pub const LEAST_COST: f64 = 0.05;

/// Wall clock time that could be saved at most, and the time that it is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gain {
    /// Wall clock time in s that could be saved
    pub seconds: f64,
    /// Wall clock time of the run in s
    pub wall: f64,
    /// PEs that would have used so much less time
    pub pes: usize,
}

impl Gain {
    /// The share of the wall clock time; 0 of no time.
    pub fn share(&self) -> f64 {
        if self.wall > 0.0 { self.seconds / self.wall } else { 0.0 }
    }

    /// PE time in s that could be saved.
    pub fn pe_seconds(&self) -> f64 {
        self.seconds * self.pes as f64
    }

    /// PE time of the run in s.
    pub fn all_pe_seconds(&self) -> f64 {
        self.wall * self.pes as f64
    }

    /// Whether it is as large as what is told: [`LEAST_COST`], and more than the start of processes.
    pub fn matters(&self) -> bool {
        self.seconds >= LEAST_SECONDS && self.share() >= LEAST_COST
    }
}

/// Share of the wall clock time in CPU time from which on PEs may wait in loops, so that their
/// CPU time does not tell who is waited for.
const SPINS: f64 = 0.9;

/// What is saved at most if the PEs of these rows, which ascend, were as the others are: each
/// measure is set to the median of the others, and the PE that is then the slowest is waited for.
/// More work is spread evenly. The most that a measure gives; None if none tells.
pub(super) fn as_the_others(table: &PeTable, rows: &[u32], evidence: &[Evidence]) -> Option<Gain> {
    let wall = table.wall;
    let is_work = |of: &Evidence| of.column == Column::Counter && of.theirs > of.others;
    let work = evidence.iter().find(|of| is_work(of));
    // More work explains more time.
    let evidence = work.map_or(evidence, std::slice::from_ref);
    let spins = median_cpu_time(table) >= SPINS * wall as f64;
    let of = |of: &Evidence| {
        let more = match of.column {
            Column::CpuTime | Column::Wall => scaled(table, rows, of.column, of.others / of.theirs),
            Column::Counter if is_work(of) => spread_evenly(table, rows),
            Column::System if spins => (of.theirs - of.others).max(0.0),
            Column::System => less_system(table, rows, of.others),
            Column::Frequency if spins => {
                (1.0 - of.theirs / of.others).max(0.0) * wall as f64 / 1e6
            }
            // What these cost shows in the CPU time, unless the others wait in loops.
            Column::MissesPerOperation | Column::Rate | Column::Counter if spins => return None,
            _ => 0.0,
        };
        Some(more)
    };
    let seconds = evidence.iter().filter_map(of).reduce(f64::max)?;
    Some(Gain { seconds, wall: wall as f64 / 1e6, pes: table.rows.len() })
}

/// Median CPU time of a PE in µs.
fn median_cpu_time(table: &PeTable) -> f64 {
    let mut times: Vec<u64> = table.rows.iter().map(Pe::cpu_time).collect();
    let middle = times.len() / 2;
    if times.is_empty() { 0.0 } else { *times.select_nth_unstable(middle).1 as f64 }
}

/// The largest value of all with the place of its row, and the largest with those of these rows
/// changed.
fn largest(
    table: &PeTable,
    rows: &[u32],
    of: Column,
    changed: impl Fn(&Pe, f64) -> f64,
) -> ((f64, u32), f64) {
    let (mut most, mut then) = ((0.0, 0u32), 0.0f64);
    let mut theirs = rows.iter().copied().peekable();
    for (row, pe) in (0..).zip(&table.rows) {
        let is_theirs = theirs.next_if_eq(&row).is_some();
        let Some(value) = of.value(table, pe) else { continue };
        if value > most.0 {
            most = (value, row);
        }
        then = then.max(if is_theirs { changed(pe, value) } else { value });
    }
    (most, then)
}

/// The time saved in s if the largest value becomes another.
fn saved(table: &PeTable, of: Column, (most, row): (f64, u32), then: f64) -> f64 {
    if most > 0.0 { (busy(table, of, row) * (1.0 - then / most)).max(0.0) } else { 0.0 }
}

/// If the values of these rows were so many times what they are.
fn scaled(table: &PeTable, rows: &[u32], of: Column, factor: f64) -> f64 {
    if !factor.is_finite() || factor >= 1.0 {
        return 0.0;
    }
    let (most, then) = largest(table, rows, of, |_, value| value * factor);
    saved(table, of, most, then)
}

/// If these rows had so much system time as others.
fn less_system(table: &PeTable, rows: &[u32], others: f64) -> f64 {
    let system = |pe: &Pe| Column::System.value(table, pe).unwrap_or(0.0);
    let less = |pe: &Pe, value: f64| value - (system(pe) - others).max(0.0);
    let (most, then) = largest(table, rows, Column::CpuTime, less);
    saved(table, Column::CpuTime, most, then)
}

/// If the operations of these rows were spread over all.
fn spread_evenly(table: &PeTable, rows: &[u32]) -> f64 {
    let values = values(table, Column::Counter).values;
    let mean = sum(values.iter().map(|value| value.0)) / values.len().max(1) as f64;
    let (most, then) = largest(table, rows, Column::Counter, |_, _| mean);
    saved(table, Column::Counter, most, then.max(mean))
}

/// Time in s in which the PE of a row was at work on a load: nothing more of it can be saved.
/// Several threads have more CPU time than there is wall clock time.
pub(super) fn busy(table: &PeTable, of: Column, row: u32) -> f64 {
    let wall = table.wall;
    let micros = match (of, table.rows.get(row as usize)) {
        (Column::Wall, _) | (_, None) => wall,
        (_, Some(pe)) => pe.cpu_time().min(wall),
    };
    micros as f64 / 1e6
}
