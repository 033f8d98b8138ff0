//! The row that is late for most of what the others waited.

use super::Timeline;
use super::rows::TimelineRow;
use super::states::TimeClass;
use crate::delay::leading;

/// What a row waited in calls that ended, in ns.
fn waited(row: &TimelineRow) -> f64 {
    let times = row.times_of_events();
    let waits = TimeClass::ALL.iter().filter(|class| class.is_wait());
    waits.filter_map(|class| times.get(*class as usize)).map(|time| *time as f64).sum()
}

impl Timeline<'_> {
    /// The row in which most of the waits arose, by the rule of [`leading`] for all views. Calls that did not end are left
    /// out: the log does not tell for whom these waited.
    pub fn late_row(&self) -> Option<usize> {
        let delayed = self.rows.iter().map(|row| row.delayed as f64);
        let own = |row: &usize| self.rows.get(*row).map_or(0.0, waited);
        leading(delayed.clone().enumerate(), delayed.sum(), own).map(|(row, _)| row)
    }
}
