//! What a run would have taken on another network: a replay of its event log with a clock for each
//! rank.
//!
//! The clock of a rank goes on by the time that the rank computed. A message is there when it was
//! sent, in the model, plus what the network takes; who receives it goes on at that moment, or at its
//! own if that is later. Messages of a thread to the same rank follow each other on the network: the bytes of
//! the next one go out when those of the one before are through. From a collective ranks go on when those have come for whom they wait. On the
//! perfect network messages take no time; what is left of the time in MPI is waiting for others.
//!
//! With C the time of a rank outside MPI, P the time of the run on the perfect network and T that in
//! reality, the efficiencies of POP are
//!
//! ```text
//! parallel efficiency      = load balance x communication efficiency      = mean C / T
//! load balance             = mean C / largest C
//! communication efficiency = serialisation x transfer                     = largest C / T
//! serialisation            = largest C / P
//! transfer                 = P / T
//! ```
//!
//! Events are read as they are needed, so memory does not grow with the log: messages are matched by
//! communicator, source and tag in the order in which they were sent and receives were posted,
//! collectives by their number on the communicator.

mod engine;
mod gatherings;
mod kind;
mod lane;
mod links;
mod messages;
mod network;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;
use std::thread;

use rustc_hash::FxHashMap;
use topas_trace::ROUTINES;

use crate::trace::{ProcessClock, RankDamage, TraceLog, TraceProcess, TraceSkips};
use engine::Engine;
pub use kind::AsMeasured;
use kind::CallKind;
use lane::{Lane, RoutineTime};
pub use network::Network;

/// Of a run of which this share of the time in MPI, or more, took as long as it was measured, a replay does not tell what is
/// due to the network.
const MUCH: f64 = 0.1;

/// Share of the time of a run by which pauses of ranks may differ.
const UNEVEN: f64 = 0.01;

/// Communicators with numbers of their own begin behind these.
const NAMED: u64 = 3;

/// Time of a rank, or of several, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReplayTimes {
    /// From the end of `MPI_Init` to that of `MPI_Finalize`
    pub elapsed: f64,
    /// Outside MPI
    pub computing: f64,
}

impl ReplayTimes {
    /// In MPI, in ns.
    pub fn mpi(&self) -> f64 {
        (self.elapsed - self.computing).max(0.0)
    }
}

/// A rank; of several threads the one that took longest.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedRank {
    /// Rank in the world
    pub rank: u32,
    /// Its host, as the log has it
    pub host: String,
    /// Threads that called MPI
    pub threads: u32,
    /// Events of all threads
    pub events: u64,
    /// How long measuring was paused, in ns: that is no part of the other times
    pub paused: f64,
    /// As it was
    pub measured: ReplayTimes,
    /// As it would be
    pub modelled: ReplayTimes,
}

/// A routine, all ranks and threads together.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedRoutine {
    /// Its name, such as `MPI_Send`
    pub name: String,
    /// Calls
    pub calls: u64,
    /// Time in them in ns
    pub measured: f64,
    /// The same in the model
    pub modelled: f64,
}

/// The efficiencies of POP, each 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PopFactors {
    /// Load balance times communication efficiency
    pub parallel: f64,
    /// Mean time outside MPI by the largest
    pub load_balance: f64,
    /// Serialisation times transfer
    pub communication: f64,
    /// Largest time outside MPI by the time on the perfect network
    pub serialisation: f64,
    /// Time on the perfect network by that of the run
    pub transfer: f64,
}

/// What came of a replay.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// Ranks of the log, by number
    pub ranks: Vec<ReplayedRank>,
    /// Ranks that the run had, if the log tells that
    pub size: Option<u32>,
    /// Routines, those with most time first
    pub routines: Vec<ReplayedRoutine>,
    /// What took as long as it was measured: why, calls, ns
    pub as_measured: Vec<(AsMeasured, u64, f64)>,
    /// Events
    pub events: u64,
    /// Events that the log does not have any more
    pub missing: u64,
    /// Messages that were sent
    pub sent: u64,
    /// Messages that were received
    pub received: u64,
    /// Messages that were sent to a rank of the log and that nobody received
    pub left: u64,
    /// Calls that asked for something that was not there
    pub polls: u64,
    /// Processes that were left out because another has the same rank
    pub doubled: u32,
    /// Ranks whose clock the log does not tell: that of another was taken
    pub clockless: u32,
    /// What of the log was passed over
    pub skips: TraceSkips,
    /// Ranks that were left out because their log cannot be read in full
    pub damage: Vec<RankDamage>,
    /// Whether a file with ranks of the launch is cut
    pub is_cut: bool,
}

impl Replay {
    /// Whether all ranks of the run are there with all of their logs that were kept.
    pub fn is_whole(&self) -> bool {
        let all = |size: u32| size as usize <= self.ranks.len();
        self.damage.is_empty() && !self.is_cut && self.size.is_none_or(all)
    }

    /// Longest time of a rank, as it was and as it would be, in ns.
    pub fn elapsed(&self) -> [f64; 2] {
        let longest = |of: fn(&ReplayedRank) -> f64| self.ranks.iter().map(of).fold(0.0, f64::max);
        [longest(|rank| rank.measured.elapsed), longest(|rank| rank.modelled.elapsed)]
    }

    /// The sum over the ranks, as it was and as it would be.
    pub fn sums(&self) -> [ReplayTimes; 2] {
        let add = |sum: ReplayTimes, more: &ReplayTimes| ReplayTimes {
            elapsed: sum.elapsed + more.elapsed,
            computing: sum.computing + more.computing,
        };
        let zero = ReplayTimes::default();
        [
            self.ranks.iter().fold(zero, |sum, rank| add(sum, &rank.measured)),
            self.ranks.iter().fold(zero, |sum, rank| add(sum, &rank.modelled)),
        ]
    }

    /// Whether some ranks paused measuring for longer than others, by more than a little of the run: then the time that is
    /// left is not the same part of the run for all ranks.
    pub fn is_paused_unevenly(&self) -> bool {
        let all = self.ranks.iter().map(|rank| rank.paused);
        let least = all.clone().fold(f64::INFINITY, f64::min);
        let [real, _] = self.elapsed();
        all.fold(0.0, f64::max) - least > UNEVEN * real
    }

    /// Whether much of the time in MPI took as long as it was measured: then that may be transfer or waiting.
    pub fn is_much_as_measured(&self) -> bool {
        let time: f64 = self.as_measured.iter().map(|(_, _, time)| time).sum();
        let [measured, _] = self.sums();
        time > 0.0 && time >= MUCH * measured.mpi()
    }

    /// The efficiencies of the run, if this is the replay on the perfect network. They need all ranks: the mean
    /// and the largest of some of them may be any.
    pub fn factors(&self) -> Option<PopFactors> {
        if !self.is_whole() || self.is_paused_unevenly() {
            return None;
        }
        let [real, ideal] = self.elapsed();
        let [measured, _] = self.sums();
        let mean = measured.computing / self.ranks.len() as f64;
        let most = self.ranks.iter().map(|rank| rank.measured.computing).fold(0.0, f64::max);
        (real > 0.0 && ideal > 0.0 && most > 0.0).then(|| PopFactors {
            parallel: mean / real,
            load_balance: mean / most,
            communication: most / real,
            serialisation: most / ideal,
            transfer: ideal / real,
        })
    }
}

/// Replays a launch of logs, of which each may be of one host.
///
/// # Errors
///
/// If a log cannot be read.
pub fn replay(logs: &[TraceLog], launch: &str, network: &Network) -> io::Result<Replay> {
    let mut told = Replay::default();
    let mut ranks: BTreeMap<u32, (&TraceLog, &TraceProcess)> = BTreeMap::new();
    for log in logs {
        for process in log.processes.iter().filter(|one| one.facts.value("id") == launch) {
            told.is_cut |= log.cut.is_some();
            told.size = told.size.or_else(|| process.facts.value("ranks").parse().ok());
            if let Some(damage) = process.damage() {
                told.damage.push(damage);
                continue;
            }
            if process.threads().next().is_none() {
                continue;
            }
            match ranks.entry(process.rank) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert((log, process));
                }
                std::collections::btree_map::Entry::Occupied(_) => told.doubled += 1,
            }
        }
    }
    let processes: Vec<(&TraceLog, &TraceProcess)> = ranks.into_values().collect();
    let clocks = processes.iter().filter_map(|(_, process)| process.clock());
    // Without a clock at all, a tick is a nanosecond.
    let any = clocks.clone().next().unwrap_or(ProcessClock { tick: 0, realtime: 0, length: 1.0 });
    let origin = clocks.map(|clock| clock.realtime).min().unwrap_or(0);
    let mut hosts: Vec<&str> = Vec::new();
    let mut lanes = Vec::new();
    let mut threads = Vec::new();
    let mut names = vec![Box::<str>::default(); ROUTINES];
    let mut known = FxHashMap::default();
    for (log, process) in &processes {
        let name = process.facts.value("host");
        let host = hosts.iter().position(|host| *host == name).unwrap_or_else(|| {
            hosts.push(name);
            hosts.len() - 1
        });
        let kinds = Rc::new(kinds(process, &mut known, &mut names));
        let clock = process.clock().unwrap_or_else(|| {
            told.clockless += 1;
            any
        });
        for thread in process.threads() {
            let Some(stream) = log.stream(process, thread.thread) else { continue };
            told.missing += thread.overwritten;
            threads.push(thread);
            let kinds = Rc::clone(&kinds);
            lanes.push(Lane::new(stream, kinds, clock, origin, process.rank, host as u32));
        }
    }
    let mut engine = Engine::new(lanes, &processes, network);
    engine.names = names;
    engine.is_lossy = told.missing > 0;
    if told.missing > 0 {
        // What the ranks did before all of them are in the log can be matched with nothing.
        for (log, process) in &processes {
            let clock = process.clock().unwrap_or(any);
            for thread in process.threads().filter(|thread| thread.overwritten > 0) {
                let first = log.stream(process, thread.thread).map(|mut stream| stream.next());
                if let Some(first) = first.transpose()?.flatten() {
                    engine.from = engine.from.max(clock.since(origin, first.event.ended));
                }
            }
        }
    }
    engine.run()?;
    sums(&engine, &processes, &mut told);
    Ok(told)
}

/// Kinds of the calls of a process by the number of the routine. `known` keeps what was found of a
/// name, `names` gets the names without `MPI_`.
fn kinds(
    process: &TraceProcess,
    known: &mut FxHashMap<String, CallKind>,
    names: &mut [Box<str>],
) -> [CallKind; ROUTINES] {
    let mut kinds = [CallKind::Free; ROUTINES];
    for ((number, kind), bare) in (0..).zip(&mut kinds).zip(names) {
        let name = process.routine(number);
        let Some(rest) = name.strip_prefix("MPI_") else { continue };
        if bare.is_empty() {
            *bare = rest.into();
        }
        let function = || topas_mpi_table::find(&name).map(|(function, _)| function);
        *kind = match known.get(&name) {
            Some(kind) => *kind,
            None => function().map_or(CallKind::Free, CallKind::of),
        };
        known.insert(name, *kind);
    }
    kinds
}

/// The ranks that use each communicator that is neither of the two that are always there. It takes a
/// pass over the log: only where there are such communicators it is asked for.
fn members(processes: &[(&TraceLog, &TraceProcess)]) -> io::Result<FxHashMap<u64, BTreeSet<u32>>> {
    let of = |part: &[(&TraceLog, &TraceProcess)]| -> io::Result<BTreeSet<(u64, u32)>> {
        let mut found = BTreeSet::new();
        for (log, process) in part {
            for thread in process.threads() {
                let Some(mut stream) = log.stream(process, thread.thread) else { continue };
                let mut last = 0;
                while let Some(next) = stream.next()? {
                    let communicator = next.event.arguments.communicator;
                    if communicator != last && communicator >= NAMED {
                        last = communicator;
                        found.insert((communicator, process.rank));
                    }
                }
            }
        }
        Ok(found)
    };
    let workers =
        thread::available_parallelism().map_or(1, usize::from).min(processes.len().max(1));
    let size = processes.len().div_ceil(workers).max(1);
    let mut all: FxHashMap<u64, BTreeSet<u32>> = FxHashMap::default();
    let parts: Vec<io::Result<BTreeSet<(u64, u32)>>> = thread::scope(|scope| {
        let running: Vec<_> =
            processes.chunks(size).map(|part| scope.spawn(move || of(part))).collect();
        running
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|_| Err(io::Error::other("a thread failed"))))
            .collect()
    });
    for part in parts {
        for (communicator, rank) in part? {
            all.entry(communicator).or_default().insert(rank);
        }
    }
    Ok(all)
}

fn sums(engine: &Engine<'_, '_>, processes: &[(&TraceLog, &TraceProcess)], told: &mut Replay) {
    let mut routines = vec![RoutineTime::default(); ROUTINES];
    for lane in &engine.lanes {
        for (sum, more) in routines.iter_mut().zip(&lane.routines) {
            sum.calls += more.calls;
            sum.measured += more.measured;
            sum.modelled += more.modelled;
        }
        told.events += lane.events;
        told.skips.damaged += lane.stream.skips.damaged;
    }
    for (_, process) in processes {
        let lanes = engine.lanes.iter().filter(|lane| lane.rank == process.rank);
        let elapsed = |lane: &Lane<'_>| lane.last.unwrap_or(lane.begin) - lane.begin;
        let longest = lanes.clone().max_by(|a, b| elapsed(a).total_cmp(&elapsed(b)));
        let Some(lane) = longest else { continue };
        told.ranks.push(ReplayedRank {
            rank: process.rank,
            host: process.facts.value("host").to_owned(),
            threads: lanes.clone().count() as u32,
            events: lanes.map(|lane| lane.events).sum(),
            paused: lane.paused,
            measured: ReplayTimes { elapsed: elapsed(lane), computing: lane.computed },
            modelled: ReplayTimes { elapsed: lane.model, computing: lane.computed_in_model },
        });
    }
    let named = |(number, times): (u16, &RoutineTime)| {
        let known = processes.iter().map(|(_, process)| process.routine(number));
        ReplayedRoutine {
            name: known
                .into_iter()
                .find(|name| name.starts_with("MPI_"))
                .unwrap_or_else(|| format!("routine {number}")),
            calls: times.calls,
            measured: times.measured,
            modelled: times.modelled,
        }
    };
    let called = (0..).zip(&routines).filter(|(_, times)| times.calls > 0);
    told.routines = called.map(named).collect();
    told.routines.sort_by(|a, b| b.measured.total_cmp(&a.measured));
    let reasons = AsMeasured::ALL.into_iter().zip(engine.counts.as_measured);
    told.as_measured = reasons
        .filter(|(_, (calls, _))| *calls > 0)
        .map(|(r, (calls, time))| (r, calls, time))
        .collect();
    (told.sent, told.received) = (engine.counts.sent, engine.counts.received);
    (told.left, told.polls) = (engine.left(), engine.counts.polls);
}
