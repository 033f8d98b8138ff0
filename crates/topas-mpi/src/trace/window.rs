//! The part of a run that is exported: some time, and some ranks.

use std::io;

use topas_mpi_data::{NamedState, Timeline, TraceSkips};

use super::Shows;
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

    /// The parts of states that are in the window.
    pub(super) fn states(self, states: &[NamedState]) -> Vec<NamedState> {
        let inside = states.iter().filter(|state| self.has(state.began, state.ended));
        let cut = |state: &NamedState| NamedState {
            began: state.began.max(self.from),
            ended: state.ended.min(self.to),
            ..*state
        };
        inside.map(cut).collect()
    }
}

/// The begin or the end of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateEdge {
    /// When, in ns since the beginning of the first rank
    pub(super) moment: u64,
    /// The name of the state that begins, by its place; None where one ends
    pub(super) begins: Option<u32>,
}

/// The begins and ends of the states of a row in the order of time, so that what began last ends first.
/// The states are in the order of their begins, and lie in one another.
pub(super) fn edges(states: &[NamedState]) -> Vec<StateEdge> {
    let mut edges = Vec::with_capacity(2 * states.len());
    let mut open: Vec<u64> = Vec::new();
    let end = |moment| StateEdge { moment, begins: None };
    for state in states {
        while open.last().is_some_and(|ended| *ended <= state.began) {
            edges.extend(open.pop().map(end));
        }
        edges.push(StateEdge { moment: state.began, begins: Some(state.name) });
        // One that is cut off ends with the one around it.
        open.push(open.last().map_or(state.ended, |outer| state.ended.min(*outer)));
    }
    edges.extend(open.into_iter().rev().map(end));
    edges
}

/// The launch that is shown as a time line, and the rows of the ranks that are wanted. None if there is
/// no launch.
pub(super) fn timeline<'l>(
    shows: &Shows<'l>,
    skips: &mut TraceSkips,
) -> io::Result<Option<(Timeline<'l>, Vec<usize>)>> {
    let read = Timeline::read(shows.logs, Some(shows.launch), |_, _| {})?;
    let (Some(timeline), options) = (read, shows.options) else { return Ok(None) };
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

    #[test]
    fn states_are_cut_to_a_window_and_end_in_the_order_of_time() {
        let state = |name, depth, began, ended| NamedState { row: 0, name, depth, began, ended };
        let states =
            [state(7, 0, 0, 50), state(8, 1, 5, 12), state(8, 1, 15, 50), state(9, 0, 60, 70)];
        let window = TimeWindow { from: 10, to: 20 };
        let cut = window.states(&states);
        assert_eq!(cut, [state(7, 0, 10, 20), state(8, 1, 10, 12), state(8, 1, 15, 20)]);
        let told: Vec<_> = edges(&cut).iter().map(|edge| (edge.moment, edge.begins)).collect();
        let expected =
            [(10, Some(7)), (10, Some(8)), (12, None), (15, Some(8)), (20, None), (20, None)];
        assert_eq!(told, expected);
    }
}
