//! Load imbalance, and the time it costs.

use super::column::{Column, Values};
use super::finding::LEAST_PES;
use super::gain::{Gain, busy};
use super::summary::{quantile_of_unsorted, sum};
use super::table::PeTable;

/// How evenly a load is spread over the PEs.
///
/// The imbalance is how much the PE with the most load has beyond the mean: max / mean - 1
/// (O. Pearce et al., Quantifying the effectiveness of load balance algorithms, ICS 2012).
/// If all wait for that PE, the share 1 - mean / max of the time in which this PE is busy is
/// waited on average; mean / max is the load balance efficiency of POP. That much of the wall
/// clock time an even spread could save at most, times the PEs is what is lost in PE time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Balance {
    /// The load: [`Column::CpuTime`], [`Column::Counter`] or [`Column::Wall`]
    pub of: Column,
    /// PEs with a value
    pub pes: usize,
    /// Mean load of a PE
    pub mean: f64,
    /// Greatest load, with the place of its row
    pub max: (f64, u32),
    /// Longest wall clock time of a PE in µs: that of the run
    pub wall: u64,
    /// Time in s in which the PE with the greatest load was busy: its CPU time, but not more
    /// than the wall clock time; of wall clock times all of it
    pub busy: f64,
    /// How the load is spread; None if its balance costs less than is told
    pub spread: Option<LoadSpread>,
}

/// How a load is spread over the PEs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadSpread {
    /// It rises or falls along the numbers of the PEs: values of the first PE and of the last
    AlongPes(f64, f64),
    /// It does not: the quartiles
    Quartiles([f64; 3]),
}

/// The loads whose balance is told, where measured.
pub(super) const LOADS: [Column; 3] = [Column::CpuTime, Column::Counter, Column::Wall];

/// Correlation of a load with the numbers of the PEs from which on it goes along them.
const ALONG: f64 = 0.9;

/// Operations per µs of CPU time below which they are no load: the PE computes something else.
const LEAST_RATE: f64 = 1.0;

impl Balance {
    /// max / mean - 1.
    pub fn imbalance(&self) -> f64 {
        self.max.0 / self.mean - 1.0
    }

    /// What an even spread could save at most.
    pub fn gain(&self) -> Gain {
        let seconds = self.busy * (1.0 - self.mean / self.max.0);
        Gain { seconds, wall: self.wall as f64 / 1e6, pes: self.pes }
    }

    /// Whether the load is what the time is spent on.
    fn is_load(&self) -> bool {
        self.of != Column::Counter || self.max.0 >= LEAST_RATE * 1e6 * self.busy
    }
}

/// The balance that costs most, whether as much as is told or not ([`Gain::matters`]). Where two
/// cost nearly the same, the first is taken.
pub fn costliest(balances: &[Balance]) -> Option<&Balance> {
    let all = || balances.iter().filter(|of| of.is_load());
    let most = all().map(|of| of.gain().seconds).fold(0.0, f64::max);
    all().find(|of| of.gain().seconds >= 0.9 * most)
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
    let wall = table.wall;
    let busy = busy(table, of, max.1);
    let balance = Balance { of, pes: values.values.len(), mean, max, wall, busy, spread: None };
    let spread = if balance.gain().matters() { spread(values) } else { None };
    Some(Balance { spread, ..balance })
}

/// None without values.
fn spread(values: &Values) -> Option<LoadSpread> {
    let all = &values.values;
    let (first, last) = (all.first()?, all.last()?);
    if all.len() >= LEAST_PES && correlation(all).abs() >= ALONG {
        return Some(LoadSpread::AlongPes(first.0, last.0));
    }
    let mut values: Vec<f64> = all.iter().map(|value| value.0).collect();
    Some(LoadSpread::Quartiles([0.25, 0.5, 0.75].map(|p| quantile_of_unsorted(&mut values, p))))
}

/// Pearson's correlation of values with their places; 0 of equal values.
fn correlation(values: &[(f64, u32)]) -> f64 {
    let n = values.len() as f64;
    let mean = sum(values.iter().map(|value| value.0)) / n;
    let middle = (n - 1.0) / 2.0;
    let (mut both, mut of_value, mut of_place) = (0.0, 0.0, 0.0);
    for (place, (value, _)) in values.iter().enumerate() {
        let (x, y) = (place as f64 - middle, value - mean);
        both += x * y;
        of_place += x * x;
        of_value += y * y;
    }
    if of_value > 0.0 { both / (of_value * of_place).sqrt() } else { 0.0 }
}
