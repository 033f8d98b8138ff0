//! States that the program names: from when to when each thread was in which.

use rustc_hash::FxHashMap;
use topas_trace::{NameBytes, UserState};

use super::rows::TimelineRow;

/// Most states that are kept one by one: the shortest go first. Sums by name are of all.
const MOST_STATES: usize = 200_000;

/// Most names that are told apart; further ones have no sums and are not kept.
const MOST_NAMES: usize = 4096;

/// A state of a thread, from its begin to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedState {
    /// The row
    pub row: u32,
    /// Its name, by place in [`Timeline::state_sums`](super::Timeline::state_sums)
    pub name: u32,
    /// In how many other states it lies
    pub depth: u32,
    /// When it began, in ns since the origin
    pub began: u64,
    /// When it ended, in ns since the origin; the end of the row if the log has no end of it
    pub ended: u64,
}

/// What all states of a name have together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSum {
    /// The name, as the program wrote it
    pub name: Vec<u8>,
    /// How many states
    pub count: u64,
    /// Their time, in ns; what lies in a state of the same name counts once
    pub time: u64,
}

/// States that have begun and not ended: names and when they began, in ns.
type OpenStates = Vec<(Option<u32>, u64)>;

/// Collects states.
#[derive(Debug, Default)]
pub(super) struct NamedStates {
    numbers: FxHashMap<NameBytes, u32>,
    open: FxHashMap<u32, OpenStates>,
    pub(super) sums: Vec<StateSum>,
    pub(super) all: Vec<NamedState>,
    /// States that are shorter are not kept, in ns
    pub(super) least: u64,
}

impl NamedStates {
    /// A row calls what begins or ends a state, from `began` to `ended`. The state itself has no part of
    /// these calls.
    pub(super) fn add(&mut self, row: u32, state: &UserState, began: u64, ended: u64) {
        if state.begins {
            let name = self.number(state);
            self.open.entry(row).or_default().push((name, ended));
        } else if let Some(open) = self.open.get_mut(&row)
            // The log may have lost its begin.
            && let Some((name, since)) = open.pop()
        {
            let depth = open.len() as u32;
            let is_within = open.iter().any(|(of, _)| *of == name);
            self.keep(row, name, (depth, is_within), since, began);
        }
    }

    /// The number of a name; None if there are too many.
    fn number(&mut self, state: &UserState) -> Option<u32> {
        let known = self.numbers.get(&state.name).copied();
        known.or_else(|| {
            let new = self.sums.len();
            (new < MOST_NAMES).then(|| {
                self.numbers.insert(state.name, new as u32);
                self.sums.push(StateSum { name: state.text().to_vec(), ..StateSum::default() });
                new as u32
            })
        })
    }

    fn keep(
        &mut self,
        row: u32,
        name: Option<u32>,
        (depth, is_within): (u32, bool),
        began: u64,
        ended: u64,
    ) {
        let Some(name) = name else { return };
        let time = ended.saturating_sub(began);
        if let Some(sum) = self.sums.get_mut(name as usize) {
            sum.count += 1;
            sum.time = sum.time.saturating_add(if is_within { 0 } else { time });
        }
        if time < self.least {
            return;
        }
        self.all.push(NamedState { row, name, depth, began, ended });
        while self.all.len() > MOST_STATES {
            self.least = if self.least == 0 { 1000 } else { self.least * 2 };
            let least = self.least;
            self.all.retain(|state| state.ended - state.began >= least);
        }
    }

    /// Everything was read: what has not ended ends with its row, and states are put in order.
    pub(super) fn finish(&mut self, rows: &[TimelineRow]) {
        for (row, open) in std::mem::take(&mut self.open) {
            let ended = rows.get(row as usize).map_or(0, TimelineRow::ended);
            for (place, (name, began)) in open.iter().copied().enumerate() {
                let is_within = open.iter().take(place).any(|(of, _)| *of == name);
                self.keep(row, name, (place as u32, is_within), began, ended.max(began));
            }
        }
        self.all.sort_by_key(|state| (state.row, state.began, state.depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(name: &str) -> UserState {
        let mut bytes = NameBytes::default();
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        UserState { begins: !name.is_empty(), name: bytes }
    }

    #[test]
    fn states_lie_in_one_another() {
        let mut states = NamedStates::default();
        states.add(0, &state(""), 1, 2);
        states.add(0, &state("solve"), 10, 11);
        states.add(0, &state("halo"), 20, 21);
        states.add(1, &state("halo"), 5, 6);
        states.add(0, &state(""), 30, 31);
        states.add(0, &state(""), 40, 41);
        states.finish(&[]);
        let told = states.all.iter().map(|s| (s.row, s.name, s.depth, s.began, s.ended));
        let told: Vec<_> = told.collect();
        // That of row 1 has no end, and no row here has one.
        assert_eq!(told, [(0, 0, 0, 11, 40), (0, 1, 1, 21, 30), (1, 1, 0, 6, 6)]);
        let sums: Vec<_> =
            states.sums.iter().map(|sum| (&sum.name[..], sum.count, sum.time)).collect();
        assert_eq!(sums, [(&b"solve"[..], 1, 29), (b"halo", 2, 9)]);
    }

    #[test]
    fn the_time_of_a_state_within_itself_counts_once() {
        let mut states = NamedStates::default();
        for (name, at) in
            [("deep", 0), ("deep", 10), ("other", 20), ("deep", 30), ("", 40), ("", 50), ("", 60)]
        {
            states.add(0, &state(name), at, at);
        }
        // The outermost has no end.
        states.finish(&[]);
        let sums: Vec<_> = states.sums.iter().map(|sum| (sum.count, sum.time)).collect();
        assert_eq!(sums, [(3, 0), (1, 30)]);
        states.add(0, &state("deep"), 100, 100);
        states.add(0, &state("deep"), 110, 110);
        states.add(0, &state(""), 120, 120);
        states.add(0, &state(""), 130, 130);
        assert_eq!((states.sums[0].count, states.sums[0].time), (5, 30));
    }

    #[test]
    fn of_too_many_states_the_longest_are_kept_and_sums_are_exact() {
        let mut states = NamedStates::default();
        for at in 0..MOST_STATES as u64 + 10 {
            let length = if at % 2 == 0 { 100 } else { 5000 };
            states.add(0, &state("step"), at * 10_000, at * 10_000 + 1);
            states.add(0, &state(""), at * 10_000 + length, at * 10_000 + length + 1);
        }
        states.finish(&[]);
        assert_eq!((states.least, states.all.len()), (1000, MOST_STATES / 2 + 5));
        assert_eq!(states.sums[0].count, MOST_STATES as u64 + 10);
    }
}
