//! Which rows are shown, in which order.

use topas_data::pes::{Column, PeTable};

/// What of the rows is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Largest values of the column first, PEs without one last; None: by PE
    pub sort: Option<Column>,
    /// The smallest values first
    pub ascending: bool,
    /// So many rows at most
    pub top: Option<usize>,
}

/// Places of the rows in [`PeTable::rows`].
pub fn select(table: &PeTable, selection: Selection) -> Vec<u32> {
    let count = u32::try_from(table.rows.len()).unwrap_or(u32::MAX);
    let mut rows: Vec<u32> = match selection.sort {
        None => (0..count).collect(),
        Some(column) => {
            let mut keyed: Vec<(f64, u32)> = (0..count)
                .zip(&table.rows)
                .map(|(place, pe)| {
                    let value = column.value(table, pe);
                    let sign = if selection.ascending { 1.0 } else { -1.0 };
                    (value.map_or(f64::INFINITY, |value| value * sign), place)
                })
                .collect();
            keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            keyed.into_iter().map(|(_, place)| place).collect()
        }
    };
    if let Some(top) = selection.top {
        rows.truncate(top);
    }
    rows
}
