//! Load imbalance, and the time it costs.

use super::column::{Column, Values};
use super::summary::sum;
use super::table::PeTable;

/// How evenly a load is spread over the PEs.
///
/// The imbalance is how much the PE with the most load has beyond the mean: max / mean - 1
/// (O. Pearce et al., Quantifying the effectiveness of load balance algorithms, ICS 2012).
/// If all wait for that PE, the share 1 - mean / max of the run's time is waited on average;
/// mean / max is the load balance efficiency of POP. That much of the wall clock time an
/// even spread could save at most, times the PEs is what is lost in PE time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// The load: [`Column::CpuTime`] or [`Column::Counter`]
    pub of: Column,
    /// PEs with a value
    pub pes: usize,
    /// Mean load of a PE
    pub mean: f64,
    /// Greatest load, with the place of its row
    pub max: (f64, u32),
    /// Longest wall clock time of a PE in µs: that of the run
    pub wall: u64,
}

impl Balance {
    /// max / mean - 1.
    pub fn imbalance(&self) -> f64 {
        self.max.0 / self.mean - 1.0
    }

    /// Wall clock time in s that an even spread could save at most.
    pub fn saving(&self) -> f64 {
        self.wall as f64 / 1e6 * (1.0 - self.mean / self.max.0)
    }

    /// The same times the number of PEs that have a value, in s.
    pub fn lost_pe_seconds(&self) -> f64 {
        self.saving() * self.pes as f64
    }
}

/// The balance of a load over the PEs that have a value; None if no PE has a load.
pub fn balance(table: &PeTable, of: Column, values: &Values) -> Option<Balance> {
    // Of several the first PE.
    let first_max = |best: Option<(f64, u32)>, value: &(f64, u32)| match best {
        Some(best) if best.0 >= value.0 => Some(best),
        _ => Some(*value),
    };
    let max = values.values.iter().fold(None, first_max).filter(|max| max.0 > 0.0)?;
    let mean = sum(values.values.iter().map(|value| value.0)) / values.values.len() as f64;
    let wall = table.rows.iter().map(|pe| pe.wall).max()?;
    Some(Balance { of, pes: values.values.len(), mean, max, wall })
}
