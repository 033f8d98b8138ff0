//! The columns of a table: what can be shown and judged of each PE.

use topas_format::number::Count;

use super::table::{Pe, PeTable};

/// A number that each PE has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// Wall clock time in s
    Wall,
    /// System CPU time in s
    System,
    /// User CPU time in s
    User,
    /// CPU time in s: user and system
    CpuTime,
    /// Operations counted
    Counter,
    /// Operations by wall clock time, in 10^6 per s
    Rate,
    /// Level 1 data cache misses
    Misses,
    /// Level 1 data cache misses by wall clock time, in 10^6 per s
    MissRate,
    /// Level 1 data cache misses per operation counted
    MissesPerOperation,
    /// Cycles in user mode by user CPU time, in GHz
    Frequency,
    /// Instructions per cycle
    InstructionsPerCycle,
    /// Largest resident set in B
    Memory,
}

impl Column {
    /// All, in the order of the table.
    pub const ALL: [Column; 12] = [
        Column::Wall,
        Column::System,
        Column::User,
        Column::CpuTime,
        Column::Counter,
        Column::Rate,
        Column::Misses,
        Column::MissRate,
        Column::MissesPerOperation,
        Column::Frequency,
        Column::InstructionsPerCycle,
        Column::Memory,
    ];

    /// The word for it on the command line, and as a key of JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Column::Wall => "wall",
            Column::System => "system",
            Column::User => "user",
            Column::CpuTime => "cpu",
            Column::Counter => "counter",
            Column::Rate => "rate",
            Column::Misses => "misses",
            Column::MissRate => "miss-rate",
            Column::MissesPerOperation => "misses-per-op",
            Column::Frequency => "ghz",
            Column::InstructionsPerCycle => "ipc",
            Column::Memory => "rss",
        }
    }

    /// The column of a word.
    pub fn of_name(name: &str) -> Option<Column> {
        Column::ALL.into_iter().find(|column| column.name() == name)
    }

    /// The value of a PE in the unit of the column: one division, rounded once. None if it
    /// was not measured, or by nothing.
    #[inline]
    pub fn value(self, table: &PeTable, pe: &Pe) -> Option<f64> {
        let count = || pe.count.value().filter(|_| pe.metric == table.metric);
        match self {
            Column::Wall => Some(seconds(pe.wall)),
            Column::System => Some(seconds(pe.system)),
            Column::User => Some(seconds(pe.user)),
            Column::CpuTime => Some(seconds(pe.cpu_time())),
            Column::Counter => count().map(|count| count as f64),
            // Operations per µs are 10^6 per s.
            Column::Rate => by(count()?, pe.wall),
            Column::Misses => pe.l1_misses.value().map(|misses| misses as f64),
            Column::MissRate => by(pe.l1_misses.value()?, pe.wall),
            Column::MissesPerOperation => by(pe.l1_misses.value()?, count()?),
            Column::Frequency => {
                (pe.user > 0).then(|| pe.cycles.map(|n| n as f64 / (pe.user as f64 * 1e3)))?
            }
            Column::InstructionsPerCycle => by(pe.instructions?, pe.cycles?),
            Column::Memory => pe.rss.map(|bytes| bytes as f64),
        }
    }
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

fn by(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The values of a column, of the PEs that have one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// Value and place of its row in [`PeTable::rows`], by PE
    pub values: Vec<(f64, u32)>,
    /// PEs without a value
    pub missing: usize,
    /// Values that rest on an estimated count
    pub estimates: usize,
}

/// Takes a column out of a table.
pub fn values(table: &PeTable, column: Column) -> Values {
    let [values] = columns(table, [column]);
    values
}

/// Rows that are looked at for one column after the other: they stay in the cache.
const CHUNK: usize = 512;

/// Takes several columns out of a table, whose rows are read from memory once.
pub(super) fn columns<const N: usize>(table: &PeTable, columns: [Column; N]) -> [Values; N] {
    let rows = table.rows.len();
    let mut all = columns.map(|column| {
        let values = Vec::with_capacity(rows);
        (column, Values { values, ..Values::default() })
    });
    for (chunk, first) in table.rows.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
        for (column, of) in &mut all {
            for (place, pe) in (first..).zip(chunk) {
                if let Some(value) = column.value(table, pe) {
                    of.values.push((value, place));
                    of.estimates += usize::from(is_estimate(*column, pe));
                }
            }
        }
    }
    all.map(|(_, of)| Values { missing: rows - of.values.len(), ..of })
}

fn is_estimate(column: Column, pe: &Pe) -> bool {
    let count = matches!(pe.count, Count::Estimate(_));
    let misses = matches!(pe.l1_misses, Count::Estimate(_));
    match column {
        Column::Counter | Column::Rate => count,
        Column::Misses | Column::MissRate => misses,
        Column::MissesPerOperation => count || misses,
        _ => false,
    }
}
