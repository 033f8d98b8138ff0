//! What the columns are called, and their units.

use topas_data::pes::Column;
use topas_format::event::Metric;

use crate::number::{si, si_as};
use topas_chart::{AxisUnit, Quantity};

/// How a column is shown.
pub(super) struct ColumnText {
    /// Name in a sentence
    pub(super) name: &'static str,
    /// Unit of its values
    pub(super) unit: &'static str,
    /// Places after the point
    pub(super) decimals: usize,
    /// Factor to the base unit
    scale: f64,
    /// Base unit, which takes prefixes; empty of a ratio
    base: &'static str,
}

/// Operations and their rate per PE: name, 10^6/s, unit, unit by s.
fn operations(metric: Metric) -> [&'static str; 4] {
    match metric {
        Metric::IntOps => ["integer operations", "MIop/s", "Iop", "Iop/s"],
        Metric::Loads => ["loads", "Mload/s", "load", "load/s"],
        Metric::Stores => ["stores", "Mstore/s", "store", "store/s"],
        _ => ["floating point operations", "MFlop/s", "Flop", "Flop/s"],
    }
}

pub(super) fn shown(column: Column, metric: Metric) -> ColumnText {
    let of = |name, unit, decimals, scale, base| ColumnText { name, unit, decimals, scale, base };
    let [operations, mega, count, rate] = operations(metric);
    match column {
        Column::Wall => of("wall clock time", "s", 3, 1.0, "s"),
        Column::System => of("system time", "s", 3, 1.0, "s"),
        Column::User => of("user time", "s", 3, 1.0, "s"),
        Column::CpuTime => of("CPU time", "s", 3, 1.0, "s"),
        Column::Counter => of(operations, count, 0, 1.0, count),
        Column::Rate => of("rate", mega, 3, 1e6, rate),
        Column::Misses => of("L1 misses", "misses", 0, 1.0, "misses"),
        Column::MissRate => of("L1 miss rate", "10^6/s", 3, 1e6, "misses/s"),
        Column::MissesPerOperation => of("L1 misses per operation", "misses/op", 6, 1.0, ""),
        Column::Frequency => of("clock frequency", "GHz", 3, 1e9, "Hz"),
        Column::InstructionsPerCycle => of("instructions per cycle", "ins/cycle", 3, 1.0, ""),
        Column::Memory => of("resident memory", "B", 0, 1.0, "B"),
    }
}

impl ColumnText {
    /// Unit of its values that takes prefixes; only where that is the unit of the values.
    pub(super) fn base(&self) -> &'static str {
        self.base
    }

    /// A value of the column to four digits, with its unit.
    pub(super) fn value(&self, value: f64) -> String {
        if self.base.is_empty() {
            return format!("{value:.4}");
        }
        si(value * self.scale, self.base)
    }

    /// A value in the unit that another is shown in.
    pub(super) fn value_as(&self, value: f64, like: f64) -> String {
        if self.base.is_empty() {
            return format!("{value:.4}");
        }
        si_as(value * self.scale, like * self.scale, self.base)
    }

    /// A value with the places of the column, without unit.
    pub(super) fn number(&self, value: f64) -> String {
        format!("{value:.0$}", self.decimals)
    }
}

/// Name of a column with its unit: `rate in MFlop/s per PE`.
pub fn caption(column: Column, metric: Metric) -> String {
    let shown = shown(column, metric);
    match column {
        Column::Rate => format!("{} per PE", shown.unit),
        _ => format!("{} per PE in {}", shown.name, shown.unit),
    }
}

/// Unit of the values of a column.
pub fn column_unit(column: Column, metric: Metric) -> &'static str {
    shown(column, metric).unit
}

/// As an axis of a picture; values are those of the column times the factor.
pub(super) fn axis(column: Column, metric: Metric) -> (Quantity, f64) {
    let ColumnText { name, base, scale, .. } = shown(column, metric);
    let unit = if base.is_empty() { AxisUnit::Count } else { AxisUnit::Si(base) };
    let mut name = name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    (Quantity::new(name, unit), scale)
}
