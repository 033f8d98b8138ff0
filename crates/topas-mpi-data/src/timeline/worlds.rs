//! Worlds of one run beside each other: that of a launcher, and those that its ranks started by `MPI_Comm_spawn`. Each is
//! read by itself, because its ranks have numbers of their own; all of them have one time.

use std::collections::BTreeMap;
use std::io;

use super::clock::{HostClocks, RowClock, clocks, put_beside};
use super::named_states::{NamedState, StateSum};
use super::objects::TimelineObject;
use super::{DelayPlace, Timeline, TimelineProcess, launches, slice_calls_of};
use crate::trace::{TraceLog, TraceProcess, TraceSkips};

/// A world of a run.
#[derive(Debug)]
pub struct TimelineWorld {
    /// Its first process, by place in [`Timeline::processes`]
    pub first: usize,
    /// Its place among the launches that were asked for: some of those may not be in the logs
    pub asked: usize,
    /// Communicators, windows and files of which the log tells a name or what made them, by their numbers
    pub objects: BTreeMap<u64, TimelineObject>,
}

impl<'l> Timeline<'l> {
    /// Reads launches, told by their ids, as the worlds of one run. The first of them is there from the beginning on.
    /// Launches that are not in the logs are left out; None if none of them is there. `progress` gets the number of
    /// blocks that were read, and of all.
    ///
    /// # Errors
    ///
    /// If a log cannot be read.
    pub fn read_worlds(
        logs: &'l [TraceLog],
        ids: &[&str],
        mut progress: impl FnMut(usize, usize),
    ) -> io::Result<Option<Timeline<'l>>> {
        let known = launches(logs);
        let count = known.len();
        let mut worlds: Vec<(usize, Vec<TimelineProcess<'l>>)> = Vec::new();
        for (asked, id) in ids.iter().enumerate() {
            let found = known.iter().find(|(own, _)| own == id);
            worlds.extend(found.map(|(_, members)| (asked, members.clone())));
        }
        let all: Vec<&[TimelineProcess<'l>]> =
            worlds.iter().map(|(_, members)| &members[..]).collect();
        let (clocks, host_clocks) = clocks_of(&all);
        let slice_calls = slice_calls_of(&all.concat());
        let blocks = |of: &[TimelineProcess<'l>]| -> usize {
            of.iter().map(|(_, process)| process.blocks().count()).sum()
        };
        let blocks: Vec<usize> = all.iter().map(|members| blocks(members)).collect();
        let every = blocks.iter().sum();
        let mut whole: Option<Timeline<'l>> = None;
        let mut done = 0;
        for (((asked, members), own), blocks) in worlds.into_iter().zip(&clocks).zip(blocks) {
            let tell = |read, _| progress(done + read, every);
            let clocked = (&own.clocks[..], own.kind);
            let mut world = Timeline::of_world(logs, members, clocked, slice_calls, tell)?;
            world.worlds[0].asked = asked;
            done += blocks;
            match &mut whole {
                Some(whole) => whole.add_world(world),
                None => whole = Some(world),
            }
        }
        if let Some(whole) = &mut whole {
            whole.other_launches = count - whole.worlds.len();
            whole.host_clocks = host_clocks;
        }
        Ok(whole)
    }

    /// Puts a world behind those that are there.
    fn add_world(&mut self, mut other: Timeline<'l>) {
        let (processes, rows) = (self.processes.len(), self.rows.len() as u32);
        for world in &mut other.worlds {
            world.first += processes;
        }
        for row in &mut other.rows {
            row.process += processes;
        }
        for note in &mut other.notes {
            note.place.row += rows;
            note.partner += rows;
        }
        let placed = std::mem::take(&mut other.delay_places).into_iter().map(|(place, times)| {
            (DelayPlace { late: place.late + rows, waiting: place.waiting + rows, ..place }, times)
        });
        self.delay_places.extend(placed);
        let names: Vec<u32> = other.state_sums.iter().map(|sum| self.add_state_sum(sum)).collect();
        let renamed = |state: NamedState| NamedState {
            row: state.row + rows,
            name: names[state.name as usize],
            ..state
        };
        self.states.extend(other.states.into_iter().map(renamed));
        self.processes.append(&mut other.processes);
        self.worlds.append(&mut other.worlds);
        self.rows.append(&mut other.rows);
        self.notes.append(&mut other.notes);
        self.least_wait = self.least_wait.max(other.least_wait);
        self.least_state = self.least_state.max(other.least_state);
        self.ended = self.ended.max(other.ended);
        let TraceSkips { bytes, versions, repeated, damaged, strays } = other.skips;
        self.skips.bytes += bytes;
        self.skips.versions += versions;
        self.skips.repeated += repeated;
        self.skips.damaged += damaged;
        self.skips.strays += strays;
        self.untold += other.untold;
        self.unnamed += other.unnamed;
        self.missing_ranks += other.missing_ranks;
        self.damage.append(&mut other.damage);
        self.is_cut |= other.is_cut;
    }

    /// Adds what states of a name have together to those of the same name; the place of the name.
    fn add_state_sum(&mut self, sum: &StateSum) -> u32 {
        let known = self.state_sums.iter().position(|known| known.name == sum.name);
        let place = known.unwrap_or_else(|| {
            self.state_sums.push(StateSum { name: sum.name.clone(), ..StateSum::default() });
            self.state_sums.len() - 1
        });
        self.state_sums[place].count += sum.count;
        self.state_sums[place].time = self.state_sums[place].time.saturating_add(sum.time);
        place as u32
    }

    /// The clocks of all processes.
    pub(super) fn clocks(&self) -> Vec<RowClock<'l>> {
        let ends = self.worlds.iter().skip(1).map(|world| world.first);
        let ends = ends.chain([self.processes.len()]);
        let all: Vec<&[TimelineProcess<'l>]> = self
            .worlds
            .iter()
            .zip(ends)
            .map(|(world, end)| &self.processes[world.first..end])
            .collect();
        clocks_of(&all).0.into_iter().flat_map(|world| world.clocks).collect()
    }

    /// The world of a process, by the places of both.
    pub fn world_of(&self, process: usize) -> usize {
        self.worlds.partition_point(|world| world.first <= process).saturating_sub(1)
    }
}

/// The clocks of the processes of a world, and how its hosts were put beside each other.
struct WorldClocks<'l> {
    clocks: Vec<RowClock<'l>>,
    kind: HostClocks,
}

/// The clocks of worlds, which tell one time, and how all of their hosts were put beside each other.
fn clocks_of<'l>(worlds: &[&[TimelineProcess<'l>]]) -> (Vec<WorldClocks<'l>>, HostClocks) {
    let mut known: Vec<(&'l TraceProcess, RowClock<'l>)> = Vec::new();
    let mut all = Vec::new();
    let mut every = HostClocks::One;
    for world in worlds {
        let members: Vec<&'l TraceProcess> = world.iter().map(|(_, process)| *process).collect();
        let (mut clocks, kind) = clocks(&members);
        every = every.or_worse(kind);
        if !known.is_empty() {
            every = every.or_worse(put_beside(&known, &members, &mut clocks));
        }
        known.extend(members.into_iter().zip(clocks.iter().copied()));
        all.push(WorldClocks { clocks, kind });
    }
    (all, every)
}
