//! The row that is late for most of what the others waited.

use super::Timeline;
use crate::delay::leading;

impl Timeline<'_> {
    /// The row in which most of the waits arose, by the rule of [`leading`] for all views. Calls that did not end are left
    /// out: the log does not tell for whom these waited.
    pub fn late_row(&self) -> Option<usize> {
        let delayed = self.rows.iter().map(|row| row.delayed as f64);
        let own = |row: &usize| self.rows.get(*row).map_or(0.0, |row| row.waited() as f64);
        leading(delayed.clone().enumerate(), delayed.sum(), own).map(|(row, _)| row)
    }
}
