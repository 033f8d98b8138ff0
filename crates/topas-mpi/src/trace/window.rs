//! The part of a run that is exported: some time, and some ranks.

use std::io;

use topas_mpi_data::{Timeline, TraceLog, TraceSkips};

use crate::args::Trace;

/// A time, in ns since the beginning of the first rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimeWindow {
    /// Calls that ended before are left out
    pub(super) from: u64,
    /// Calls that began later are left out
    pub(super) to: u64,
}

impl TimeWindow {
    /// That of the options; the whole run without any.
    pub(super) fn of(options: &Trace) -> TimeWindow {
        TimeWindow { from: options.from.unwrap_or(0), to: options.to.unwrap_or(u64::MAX) }
    }

    /// Whether a call is in the window, at least in part.
    pub(super) fn has(self, began: u64, ended: u64) -> bool {
        ended >= self.from && began <= self.to
    }
}

/// The newest launch of logs as a time line, and the rows of the ranks that are wanted. None if there is
/// no launch.
pub(super) fn timeline<'l>(
    options: &Trace,
    logs: &'l [TraceLog],
    skips: &mut TraceSkips,
) -> io::Result<Option<(Timeline<'l>, Vec<usize>)>> {
    let Some(timeline) = Timeline::read(logs, None, |_, _| {})? else { return Ok(None) };
    *skips = timeline.skips;
    let rank = |row: &usize| {
        let process = timeline.rows.get(*row).and_then(|row| timeline.processes.get(row.process));
        process.map_or(0, |(_, process)| process.rank)
    };
    let rows = (0..timeline.rows.len())
        .filter(|row| options.rank.is_empty() || options.rank.contains(&rank(row)))
        .collect();
    Ok(Some((timeline, rows)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_partly_in_a_window_is_in_the_window() {
        let window = TimeWindow { from: 10, to: 20 };
        for (began, ended, has) in
            [(0, 9, false), (0, 10, true), (12, 13, true), (20, 30, true), (21, 30, false)]
        {
            assert_eq!(window.has(began, ended), has, "{began} {ended}");
        }
    }
}
