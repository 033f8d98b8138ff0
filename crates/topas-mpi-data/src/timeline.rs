//! Event logs as a picture: what each thread did at each time, for whom calls waited, and which calls
//! received which messages.
//!
//! Blocks of all processes are read in the order of their times, each once. So what waits for its other
//! side is never more than a block of each thread, and a log of any length takes the memory of its
//! slices and notes alone.

mod clock;
mod collectives;
mod course;
mod delays;
mod epochs;
mod exchanges;
mod joins;
mod late_receivers;
mod late_row;
mod longest_delay;
mod message_ends;
mod message_numbers;
mod messages;
mod named_states;
mod notes;
mod objects;
mod rows;
mod spans;
mod started;
mod states;
mod tail;
#[cfg(test)]
pub(crate) mod tests;
mod worlds;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rustc_hash::FxHashMap;

use topas_mpi_table::Gathering;
use topas_trace::{CallEvent, LoggedEpoch, LoggedObject};

use crate::trace::{FoundBlock, RankDamage, TraceLog, TraceProcess, TraceSkips, damage_of};
use clock::{RowClock, clocks};
use collectives::{Collectives, GatheredCall, WORLD};
use epochs::Epochs;
use messages::{Messages, TimedCall};
use named_states::NamedStates;
use notes::Notes;
use objects::ObjectCall;
use started::StartedCollectives;
use states::{Meaning, RequestRole};

pub use clock::HostClocks;
pub use delays::SECOND_RANK;
pub(crate) use delays::{DelayPlace, TimeByKind};
pub use longest_delay::LongestDelay;
pub use message_numbers::{MessageNumber, MessageNumbers};
pub use named_states::{NamedState, StateSum};
pub use notes::{NoteKind, TimelineNote};
pub use objects::{TimelineObject, object_of_routine};
pub use rows::{CallPlace, TimelineBlock, TimelineRow, TimelineSlice};
pub use states::{TIME_CLASSES, TimeClass};
pub use tail::TailPart;
pub use worlds::TimelineWorld;

/// A process of the launch that is shown: the log by its place, and the process in the log.
pub type TimelineProcess<'l> = (usize, &'l TraceProcess);

/// A launch as a picture.
#[derive(Debug)]
pub struct Timeline<'l> {
    /// The processes, by world and rank
    pub processes: Vec<TimelineProcess<'l>>,
    /// The worlds: one, or those of a run whose ranks started others
    pub worlds: Vec<TimelineWorld>,
    /// The threads, by world, rank and number
    pub rows: Vec<TimelineRow>,
    /// What was found out about calls, in their order
    pub notes: Vec<TimelineNote>,
    /// Where the waits of rows for others begin, by the kind of these waits
    pub(crate) delay_places: BTreeMap<DelayPlace, TimeByKind>,
    /// Notes of shorter waits are not kept, in ns; 0 if all are
    pub least_wait: u64,
    /// States that the program names, by row and begin
    pub states: Vec<NamedState>,
    /// What the states of each name have together
    pub state_sums: Vec<StateSum>,
    /// States that are shorter are not kept one by one, in ns; 0 if all are
    pub least_state: u64,
    /// When the last call ended, in ns since the first call of the first rank
    pub ended: u64,
    /// When the first rank was through `MPI_Init`, on the same clock; 0 if the logs do not tell
    pub initialized: u64,
    /// What was passed over
    pub skips: TraceSkips,
    /// Messages and collectives whose other side could not be told
    pub untold: u64,
    /// Calls on communicators and windows that the log does not tell apart
    pub unnamed: u64,
    /// How clocks of several hosts were put beside each other
    pub host_clocks: HostClocks,
    /// Other launches in the logs, which are not shown
    pub other_launches: usize,
    /// Ranks of the launch that are not in the logs
    pub missing_ranks: u64,
    /// Ranks whose log cannot be read in full
    pub damage: Vec<RankDamage>,
    /// Whether a file with ranks of the launch is cut
    pub is_cut: bool,
    /// Calls in a slice; the last slice of a block may have fewer
    pub slice_calls: u32,
}

/// A routine of a process.
#[derive(Clone, Copy)]
struct RoutineRole {
    meaning: Meaning,
    class: TimeClass,
    requests: RequestRole,
    /// Whether its calls may begin or end states that the program names
    names_states: bool,
    /// What its calls tell of communicators, windows and files
    object: ObjectCall,
}

/// The processes of each launch by rank, the newest launch first. A process of a rank that is there already belongs to
/// another launch, whatever the id says.
fn launches(logs: &[TraceLog]) -> Vec<(&str, Vec<TimelineProcess<'_>>)> {
    let mut all: Vec<TimelineProcess<'_>> = Vec::new();
    for (place, log) in logs.iter().enumerate() {
        all.extend(log.processes.iter().map(|process| (place, process)));
    }
    all.sort_by_key(|(_, process)| std::cmp::Reverse(process.first_moment().realtime));
    let mut launches: Vec<(&str, BTreeSet<u32>, Vec<TimelineProcess<'_>>)> = Vec::new();
    for (place, process) in all {
        let own = process.facts.value("id");
        let known =
            launches.iter_mut().find(|(id, ranks, _)| *id == own && !ranks.contains(&process.rank));
        match known {
            Some((_, ranks, members)) => {
                ranks.insert(process.rank);
                members.push((place, process));
            }
            None => launches.push((own, BTreeSet::from([process.rank]), vec![(place, process)])),
        }
    }
    for (_, _, members) in &mut launches {
        members.sort_by_key(|(_, process)| process.rank);
    }
    launches.into_iter().map(|(id, _, members)| (id, members)).collect()
}

/// How many ranks a launch has; more than its processes if some are not in the logs.
fn ranks_of(processes: &[TimelineProcess<'_>]) -> u64 {
    let told =
        processes.iter().filter_map(|(_, process)| process.facts.value("ranks").parse().ok());
    told.max().unwrap_or(0).max(processes.len() as u64)
}

/// How many calls of these processes a slice has.
fn slice_calls_of(processes: &[TimelineProcess<'_>]) -> u32 {
    let blocks = processes.iter().flat_map(|(_, process)| process.blocks());
    rows::slice_calls(blocks.map(|(_, block)| u64::from(block.head.events())).sum())
}

impl<'l> Timeline<'l> {
    /// Whether the log of a process, by its number, cannot be read in full.
    pub fn is_damaged(&self, process: usize) -> bool {
        let process = self.processes.get(process).map(|(_, process)| *process);
        !damage_of(process).is_empty()
    }

    /// How many ranks the launch has: more than the processes if some are not in the logs.
    pub fn ranks_of_launch(&self) -> u64 {
        self.processes.len() as u64 + self.missing_ranks
    }

    /// Reads the newest launch of logs, or the newest whose id begins with `id`. None if there is none.
    /// `progress` gets the number of blocks that were read, and of all.
    ///
    /// # Errors
    ///
    /// If a log cannot be read.
    pub fn read(
        logs: &'l [TraceLog],
        id: Option<&str>,
        progress: impl FnMut(usize, usize),
    ) -> io::Result<Option<Timeline<'l>>> {
        let launches = launches(logs);
        let others = launches.len().saturating_sub(1);
        let mut wanted = launches.into_iter();
        let Some((_, processes)) = wanted.find(|(own, _)| id.is_none_or(|id| own.starts_with(id)))
        else {
            return Ok(None);
        };
        let members: Vec<&TraceProcess> = processes.iter().map(|(_, process)| *process).collect();
        let (clocks, host_clocks) = clocks(&members);
        let slice_calls = slice_calls_of(&processes);
        let clocked = (&clocks[..], host_clocks);
        let mut timeline = Timeline::of_world(logs, processes, clocked, slice_calls, progress)?;
        timeline.other_launches = others;
        Ok(Some(timeline))
    }

    /// The time line of a world, by these clocks of its processes.
    fn of_world(
        logs: &'l [TraceLog],
        processes: Vec<TimelineProcess<'l>>,
        (clocks, host_clocks): (&[RowClock<'l>], HostClocks),
        slice_calls: u32,
        mut progress: impl FnMut(usize, usize),
    ) -> io::Result<Timeline<'l>> {
        let mut rows: Vec<TimelineRow> = Vec::new();
        let mut order: Vec<(u64, usize, usize, &FoundBlock)> = Vec::new();
        for (place, (log, process)) in processes.iter().enumerate() {
            for (thread, block) in process.blocks() {
                let is_known = |row: &TimelineRow| row.process == place && row.thread == thread;
                if !rows.last().is_some_and(is_known) {
                    rows.push(TimelineRow::new(place, thread, slice_calls));
                }
                let began = clocks[place].nanoseconds(block.head.first);
                order.push((began, rows.len() - 1, *log, block));
            }
            for thread in process.lost_threads() {
                let own = |row: &TimelineRow| (row.process, row.thread).cmp(&(place, thread));
                if let Err(at) = rows.binary_search_by(own) {
                    rows.insert(at, TimelineRow::new(place, thread, slice_calls));
                    order.iter_mut().filter(|(_, row, ..)| *row >= at).for_each(|one| one.1 += 1);
                }
            }
        }
        for row in &mut rows {
            row.lose(processes[row.process].1, &clocks[row.process]);
        }
        // Of a thread, the order of blocks is that of their numbers.
        order.sort_by_key(|(began, row, _, block)| (*began, *row, block.head.number));
        let ranks = ranks_of(&processes);
        let mut reader = TimelineReader {
            processes: &processes,
            clocks,
            roles: FxHashMap::default(),
            messages: Messages::new(host_clocks),
            collectives: Collectives::of(ranks as usize),
            started: StartedCollectives::default(),
            epochs: Epochs::default(),
            world_calls: BTreeMap::new(),
            notes: Notes::of(&rows),
            states: NamedStates::default(),
            objects: BTreeMap::new(),
            rows,
            skips: TraceSkips::default(),
        };
        let count = order.len();
        for (place, (began, row, log, block)) in order.iter().enumerate() {
            progress(place, count);
            reader.messages.complete(*began, &mut reader.notes);
            reader.block(*row, &logs[*log], *log, block)?;
            reader.notes.book(&mut reader.rows);
        }
        let initialized = processes.iter().zip(clocks).filter_map(|((_, process), clock)| {
            let ticks = process.initialized().ticks;
            (ticks > 0).then(|| clock.nanoseconds(ticks))
        });
        let initialized = initialized.min().unwrap_or(0);
        let missing_ranks = ranks - processes.len() as u64;
        let mut timeline = reader.finish();
        timeline.processes = processes;
        timeline.host_clocks = host_clocks;
        timeline.missing_ranks = missing_ranks;
        timeline.damage = damage_of(timeline.processes.iter().map(|(_, process)| *process));
        timeline.is_cut = timeline.processes.iter().any(|(log, _)| logs[*log].cut.is_some());
        timeline.slice_calls = slice_calls;
        timeline.initialized = initialized;
        Ok(timeline)
    }
}

impl Timeline<'_> {
    /// Calls `each` with every call of a row that overlaps a time: its place, when it began and ended,
    /// in ns since the origin, and the call. Blocks outside of this time are not read.
    ///
    /// # Errors
    ///
    /// If a log cannot be read, or what `each` says.
    pub fn calls(
        &self,
        logs: &[TraceLog],
        row: usize,
        (from, to): (u64, u64),
        mut each: impl FnMut(CallPlace, u64, u64, &CallEvent) -> io::Result<()>,
    ) -> io::Result<()> {
        let own = &self.rows[row];
        let clock = self.clocks()[own.process];
        let (log, process) = self.processes[own.process];
        let known: BTreeMap<u64, &FoundBlock> =
            process.blocks().map(|(_, block)| (block.offset, block)).collect();
        for (place, block) in own.blocks.iter().enumerate() {
            let Some(found) = known.get(&block.offset) else { continue };
            if block.ended < from || block.began > to {
                continue;
            }
            let (mut call, mut before) = (0, block.began);
            // What cannot be read was counted when the time line was made.
            let mut skips = TraceSkips::default();
            logs[log].events_of(found, &mut skips, |event| {
                let began = clock.nanoseconds(event.began).max(before);
                before = clock.nanoseconds(event.ended).max(began);
                let place = CallPlace { row: row as u32, block: place as u32, call };
                call += 1;
                if before < from || began > to {
                    return Ok(());
                }
                each(place, began, before, event)
            })?;
        }
        Ok(())
    }

    /// The time of all rows together by class, in so many slices of the same length.
    pub fn overview(&self, slices: usize) -> Vec<TimelineSlice> {
        rows::overview(&self.rows, self.ended, slices)
    }

    /// How many threads of a process, told by its place, called MPI.
    pub fn threads_of(&self, process: usize) -> usize {
        let first = self.rows.partition_point(|row| row.process < process);
        let last = self.rows.partition_point(|row| row.process <= process);
        last - first
    }

    /// The notes of a row in the order of its calls.
    pub fn notes_of(&self, row: usize) -> &[TimelineNote] {
        let first = self.notes.partition_point(|note| (note.place.row as usize) < row);
        let last = self.notes.partition_point(|note| note.place.row as usize <= row);
        self.notes.get(first..last).unwrap_or_default()
    }

    /// The states of a row that the program names, in the order of their begins.
    pub fn states_of(&self, row: usize) -> &[NamedState] {
        let first = self.states.partition_point(|state| (state.row as usize) < row);
        let last = self.states.partition_point(|state| state.row as usize <= row);
        self.states.get(first..last).unwrap_or_default()
    }

    /// Bytes of all blocks that can be read.
    pub fn bytes(&self) -> u64 {
        self.rows.iter().flat_map(|row| &row.blocks).map(|block| u64::from(block.bytes)).sum()
    }

    /// The blocks that can be read, row by row.
    ///
    /// # Errors
    ///
    /// If a log cannot be read.
    pub fn blocks(&self, logs: &[TraceLog]) -> io::Result<Vec<Vec<u8>>> {
        let all = self.rows.iter().flat_map(|row| &row.blocks);
        all.map(|block| logs[block.log].bytes_of(block.offset, block.bytes)).collect()
    }
}

/// What is known while blocks are read.
struct TimelineReader<'l, 'p> {
    processes: &'p [TimelineProcess<'l>],
    clocks: &'p [RowClock<'l>],
    /// Routines by process and number
    roles: FxHashMap<(usize, u16), RoutineRole>,
    messages: Messages,
    collectives: Collectives,
    started: StartedCollectives,
    epochs: Epochs,
    /// Collectives of the world that each process has called, where the log does not number them; None
    /// if calls are missing, so that nobody can count
    world_calls: BTreeMap<usize, Option<u64>>,
    notes: Notes,
    states: NamedStates,
    objects: BTreeMap<u64, TimelineObject>,
    rows: Vec<TimelineRow>,
    skips: TraceSkips,
}

impl<'l> TimelineReader<'l, '_> {
    fn block(
        &mut self,
        row: usize,
        log: &TraceLog,
        log_place: usize,
        block: &FoundBlock,
    ) -> io::Result<()> {
        let process_place = self.rows[row].process;
        let (_, process) = self.processes[process_place];
        let clock = self.clocks[process_place];
        let began = clock.nanoseconds(block.head.first);
        let found = TimelineBlock {
            log: log_place,
            offset: block.offset,
            bytes: topas_trace::HEAD as u32 + block.head.used(),
            calls: 0,
            began,
            ended: began,
            check: block.head.check,
            first: block.head.first,
            shift: block.head.shift,
            first_slice: 0,
        };
        let mut is_begun = false;
        let mut skips = std::mem::take(&mut self.skips);
        let read = log.placed_events_of(block, &mut skips, |event, at, read| {
            if !is_begun {
                is_begun = true;
                self.rows[row].begin(found, block.head.before);
                if self.rows[row].has_gap() {
                    self.world_calls.insert(process_place, None);
                }
            }
            let known = self.roles.entry((process_place, event.routine));
            let role = *known.or_insert_with(|| {
                let name = process.routine(event.routine);
                let (meaning, class) = (Meaning::of_routine(&name), TimeClass::of_routine(&name));
                RoutineRole {
                    meaning,
                    class,
                    requests: RequestRole::of_routine(&name),
                    names_states: name == "MPI_Pcontrol",
                    object: ObjectCall::of_routine(&name),
                }
            });
            let own = &mut self.rows[row];
            let place = CallPlace {
                row: row as u32,
                block: own.blocks.len() as u32 - 1,
                call: own.blocks.last().map_or(0, |block| block.calls),
            };
            let (began, ended) = own.add(&clock, event, at, role.class);
            if role.names_states
                && let Some(state) = process.user_state(event)
            {
                self.states.add(place.row, &state, began, ended);
            }
            if role.names_states && event.arguments.pauses() {
                self.rows[row].pause();
            }
            if role.object != ObjectCall::Nothing {
                // Logs of earlier versions have the name in the arguments alone.
                let named = process.communicator_name(event);
                let named = named
                    .as_ref()
                    .map(|own| LoggedObject { number: own.communicator, name: own.text() });
                let told = read.supplement().and_then(LoggedObject::of).or(named);
                let routine = || process.routine(event.routine);
                let objects = &mut self.objects;
                told.into_iter().for_each(|told| objects::add(objects, role.object, told, routine));
            }
            if role.meaning == Meaning::Finalize {
                self.rows[row].has_finalized = true;
            }
            let call = TimedCall { place, began, ended, path: event.arguments.path };
            let who = (process_place, process.rank as i32);
            self.messages.add(role.meaning, who, call, event, &mut self.notes);
            self.complete(role.requests, who, call);
            if let Meaning::OfEpoch(act) = role.meaning {
                let window = event.arguments.communicator;
                let epoch = read.supplement().and_then(LoggedEpoch::of);
                self.epochs.add(act, who, call, window, epoch, &mut self.notes);
            }
            let gathering = match role.meaning {
                Meaning::Gathers(gathering) => Some((gathering, true)),
                Meaning::GatherStarted(gathering) => Some((gathering, false)),
                Meaning::Finalize => Some((Gathering::All, true)),
                Meaning::Meets if event.arguments.number > 0 => Some((Gathering::All, true)),
                Meaning::MeetsNeighbors => {
                    self.collectives.untold += 1;
                    None
                }
                _ => None,
            };
            if let Some((gathering, waits)) = gathering {
                let gathered = GatheredCall {
                    gathering,
                    routine: event.routine,
                    root: event.arguments.peer,
                    rank: process.rank as i32,
                    bytes: event.arguments.sent.max(event.arguments.received),
                    waits,
                    class: role.class,
                    call,
                };
                self.gather(role.meaning, process_place, &gathered, event.arguments);
            }
            Ok(())
        });
        self.skips = skips;
        read
    }

    fn gather(
        &mut self,
        meaning: Meaning,
        process: usize,
        gathered: &GatheredCall,
        told: topas_trace::CallArguments,
    ) {
        let key = if meaning == Meaning::Finalize {
            (WORLD, u64::MAX)
        } else if told.number > 0 && told.communicator > 0 {
            (told.communicator, told.number)
        } else if told.communicator == WORLD {
            let Some(count) = self.world_calls.entry(process).or_insert(Some(0)) else {
                self.collectives.untold += 1;
                return;
            };
            *count += 1;
            (WORLD, *count)
        } else {
            self.messages.unnamed += u64::from(told.communicator == 0);
            return;
        };
        if !gathered.waits {
            self.started.start(process, key);
        }
        self.collectives.add(key, gathered, &mut self.notes);
    }

    /// A call of a process with this rank may complete collectives.
    fn complete(&mut self, role: RequestRole, (process, rank): (usize, i32), call: TimedCall) {
        let TimelineReader { started, collectives, notes, rows, .. } = self;
        // Of several threads nobody knows which started what another completes.
        let own = |row: Option<&TimelineRow>| row.is_some_and(|row| row.process == process);
        let place = call.place.row as usize;
        let is_alone =
            || !own(rows.get(place + 1)) && !own(place.checked_sub(1).and_then(|at| rows.get(at)));
        started.call(process, role, |key, waited| {
            let by = (waited && is_alone()).then_some(call);
            collectives.complete(key, rank, by, notes);
        });
    }

    /// Everything was read.
    fn finish(mut self) -> Timeline<'l> {
        self.messages.finish(&mut self.notes);
        self.collectives.finish(&mut self.notes);
        self.epochs.finish();
        self.notes.book(&mut self.rows);
        let mut ended = 0;
        for row in &mut self.rows {
            ended = ended.max(row.ended()).max(row.lost_until.unwrap_or(0));
            let (_, process) = self.processes[row.process];
            let clock = &self.clocks[row.process];
            row.inside = inside(process, clock, row);
            if let Some((_, began)) = row.inside {
                let latest = clock.nanoseconds(process.latest_moment().ticks);
                ended = ended.max(began).max(latest);
            }
            if let Ok(tick) = process.facts.value("ended").parse() {
                ended = ended.max(clock.nanoseconds(tick));
            }
        }
        for row in &mut self.rows {
            let (_, process) = self.processes[row.process];
            let tail = tail::tail_of(process, &self.clocks[row.process], row, ended);
            row.finish(tail);
        }
        self.states.finish(&self.rows);
        let (delays, delay_places) = self.notes.delays();
        let mut notes = self.notes.all;
        notes.sort_by_key(|note| note.place);
        for (row, delayed) in self.rows.iter_mut().zip(delays) {
            row.delayed = delayed;
        }
        Timeline {
            processes: Vec::new(),
            worlds: vec![TimelineWorld { first: 0, asked: 0, objects: self.objects }],
            rows: self.rows,
            notes,
            delay_places,
            least_wait: self.notes.least,
            states: self.states.all,
            state_sums: self.states.sums,
            least_state: self.states.least,
            ended,
            initialized: 0,
            skips: self.skips,
            untold: self.messages.untold + self.collectives.untold + self.epochs.untold,
            unnamed: self.messages.unnamed + self.epochs.unnamed,
            host_clocks: HostClocks::One,
            other_launches: 0,
            missing_ranks: 0,
            damage: Vec::new(),
            is_cut: false,
            slice_calls: 0,
        }
    }
}

/// The call in which a rank was at its end.
fn inside(process: &TraceProcess, clock: &RowClock<'_>, row: &TimelineRow) -> Option<(u16, u64)> {
    let (routine, tick) = process.inside()?;
    let began = clock.nanoseconds(tick);
    // A log that was written in `MPI_Finalize` has this call as its last event.
    (began >= row.ended()).then_some((routine, began))
}
