//! Facts of a profile of MPI calls: how much of the time is in MPI, for what, and for whom ranks wait.

use std::collections::BTreeMap;

use topas_mpi_data::{
    Blame, CallersTime, MessageClass, MpiObjectKind, MpiProfile, MpiRank, RoutineAmount,
    RoutineCalls, RoutineWaits, WaitSums, Waiting, computing, is_longer, outside_of_rank,
    waited_for_itself,
};
use topas_mpi_table::{Epoch, FunctionClass};

use crate::asked;
use crate::balance;
use crate::blamed;
use crate::fact::FactValues;
use crate::kernel;
use crate::last_rank;
use crate::late_to_init;
use crate::saving;
use crate::short_calls;
use crate::wait_names::{WAIT_KINDS, WaitNames};
use crate::workless;

/// The communicator of which nothing has to be said.
const WORLD: &str = "MPI_COMM_WORLD";

/// The facts of a profile of which nothing else is known: of `topas-mpi.out`, or of mapped files.
pub fn mpi_facts(profile: &MpiProfile) -> FactValues {
    let mut facts = FactValues::default();
    facts.text("source", "mpi");
    let ranks = profile.total.ranks as f64;
    let wall = profile.total.wall_max as f64 / 1e9;
    facts.number("pes", ranks);
    facts.number("npes", profile.facts.npes.map_or(ranks, f64::from));
    facts.number("wall", wall);
    add_mpi_facts(profile, wall, &mut facts);
    facts
}

/// Adds to the facts of a run of `wall` s those of its profile.
pub fn add_mpi_facts(profile: &MpiProfile, wall: f64, facts: &mut FactValues) {
    let sums = &profile.total;
    if sums.wall == 0 || sums.ranks == 0 {
        return;
    }
    let callers = CallersTime::of(profile);
    if callers.threads {
        facts.number("mpi_threads", callers.count as f64);
    }
    let share = |time: u128| 100.0 * time as f64 / callers.time as f64;
    let mean = |time: u128| wall * time as f64 / callers.time as f64;
    facts.number("mpi_share", share(sums.mpi));
    facts.number("mpi_cost", mean(sums.mpi));
    let is_edge = |of: &&RoutineCalls| of.number.is_edge();
    // Beginning and end of MPI are the same for every program: they say nothing of this one.
    let edges: u128 = sums.routines.iter().filter(is_edge).map(|of| of.time).sum();
    facts.number("edge_share", share(edges));
    // Calls that never ended were waiting for ranks that are gone, or for nobody.
    let inner = sums.routines.iter().filter(|of| !of.number.is_edge());
    let unended: u128 = inner.map(|of| of.unended_time).sum();
    let work = sums.mpi.saturating_sub(edges).saturating_sub(unended);
    facts.number("mpi_work_share", share(work));
    facts.number("mpi_work_cost", mean(work));
    facts.number("mpi_work_sum", work as f64 / 1e9);
    let calls = sums.routines.iter().filter(|of| !is_edge(of)).map(|of| of.calls).sum::<u128>();
    facts.number("mpi_calls", calls as f64);
    late_to_init::add(profile, facts);
    processors(profile, facts);
    objects(profile, facts);
    // Of several threads the sums of a run say nothing: they may be in MPI at the same time.
    let outside = if profile.ranks.len() as u64 == sums.ranks {
        Some(profile.ranks.iter().map(|rank| outside_of_rank(&rank.sums)).sum())
    } else {
        (sums.threads <= 1).then(|| sums.outside())
    };
    if let Some(outside) = outside {
        facts.number("outside_share", 100.0 * outside as f64 / sums.wall as f64);
    }
    let waits = all_waits(profile);
    facts.number("waits_known", if waits.is_some() { 1.0 } else { 0.0 });
    if let Some((all, routines)) = &waits {
        // A rank comes to the end once: that is told by itself, if it begins there.
        if last_rank::is_told_apart(profile) {
            let (all, routines) = last_rank::without_end(all, routines);
            kinds(profile, &all, &routines, facts);
        } else {
            kinds(profile, all, routines, facts);
        }
        last_rank::add(profile, facts);
        asked::add(profile, facts);
        workless::add(profile, facts);
    }
    let waited = facts.get_number(WaitNames::ALL.share).unwrap_or(0.0);
    facts.number("mpi_untold_share", (share(work) - waited).max(0.0));
    // Posts of windows and ends of accesses are no messages whose transfer takes time.
    let is_message = |of: &&RoutineWaits| {
        !of.number.function().is_some_and(|function| is_window(function.class))
    };
    let in_messages =
        |of: &RoutineWaits| of.sums.late.nanoseconds + of.sums.late_receiver.nanoseconds;
    let routines = waits.iter().flat_map(|(_, routines)| routines);
    messages(profile, routines.filter(is_message).map(in_messages).sum(), wall, facts);
    classes(profile, waits.map_or_else(Vec::new, |(_, routines)| routines), wall, facts);
    balance::add(profile, facts);
    let uneven = facts.get_number("outside_sum").unwrap_or(0.0) * 1e9;
    let even = work as f64 - uneven;
    facts.number("mpi_even_share", (100.0 * even / callers.time as f64).max(0.0));
    without_waiting_processors(profile, facts);
    saving::add(profile, facts);
    short_calls::add(profile, facts);
    kernel::without_waiting(profile, facts);
}

/// A rank that keeps its processor while it waits in MPI has the most CPU time for that, and no more work than others: its
/// PE is none with too much of it if the rank does not compute longer.
fn without_waiting_processors(profile: &MpiProfile, facts: &mut FactValues) {
    if facts.get_text("imbalance_of") != Some("CPU time") {
        return;
    }
    let who = facts.get_number("imbalance_pe").map(|pe| pe as u32);
    if let Some((own, mean)) = who.and_then(|rank| computing(profile, rank))
        && !is_longer(own, mean)
    {
        facts.number("imbalance_share", 0.0);
        facts.number("imbalance_cost", 0.0);
    }
}

/// Whether functions of a class synchronise windows.
const fn is_window(class: FunctionClass) -> bool {
    matches!(
        class,
        FunctionClass::RmaSynchronization(Epoch::Fence | Epoch::General | Epoch::Passive)
    )
}

/// Whether the ranks had processors.
fn processors(profile: &MpiProfile, facts: &mut FactValues) {
    let sums = &profile.total;
    facts.number("crowd", 0.0);
    if sums.processor == 0 {
        return;
    }
    let seconds = |time: u128| time as f64 / 1e9;
    facts.number("processor_share", 100.0 * sums.processor as f64 / sums.wall as f64);
    facts.number("preempted_rate", sums.interruptions as f64 / seconds(sums.wall));
    let hosts = profile.facts.hosts.len().max(1) as u64;
    let has_enough = u64::from(sums.processors) >= sums.ranks.div_ceil(hosts);
    facts.number("crowd", if has_enough { 0.0 } else { 1.0 });
    if has_enough {
        // Who lacks a processor for a time holds up all others for that time at most.
        let lacked = sums.wall.saturating_sub(sums.processor);
        facts.number("taken_sum", seconds(lacked) * sums.ranks as f64);
    }
}

/// The communicator, the window and the file that most of the time is in.
fn objects(profile: &MpiProfile, facts: &mut FactValues) {
    let mut times = BTreeMap::<(MpiObjectKind, &str), u128>::new();
    for rank in &profile.ranks {
        for of in &rank.sums.communicators {
            *times.entry((of.kind, &of.name)).or_default() += of.time;
        }
    }
    let kinds = [
        (MpiObjectKind::Communicator, "comm_most", "comm_share"),
        (MpiObjectKind::Window, "window_most", "window_most_share"),
        (MpiObjectKind::File, "file_most", "file_most_share"),
    ];
    for (kind, most, share) in kinds {
        let of_kind = times.iter().filter(|((of, _), time)| *of == kind && **time > 0);
        let Some(((_, name), time)) = of_kind.max_by_key(|(_, time)| **time) else { continue };
        if *name != WORLD {
            facts.text(most, kind.name(name));
            facts.number(share, 100.0 * *time as f64 / profile.total.mpi.max(1) as f64);
        }
    }
}

/// Why ranks waited, and by routine; None if that was not told apart.
fn all_waits(profile: &MpiProfile) -> Option<(WaitSums, Vec<RoutineWaits>)> {
    if profile.total.waits.measured {
        return Some((profile.total.waits.all(), profile.total.waits.routines.clone()));
    }
    // A sum over ranks may not have them where single ranks do.
    let mut all = WaitSums::NONE;
    let mut routines = Vec::new();
    for rank in profile.ranks.iter().filter(|rank| rank.sums.waits.measured) {
        all.merge(&rank.sums.waits.all());
        routines.extend(rank.sums.waits.routines.iter().cloned());
    }
    (!routines.is_empty()).then_some((all, routines))
}

fn kinds(profile: &MpiProfile, all: &WaitSums, routines: &[RoutineWaits], facts: &mut FactValues) {
    let callers = CallersTime::of(profile);
    for (names, kind) in &WAIT_KINDS {
        // Of what threads of a rank waited for each other no rank is the cause.
        let itself = profile.ranks.iter().map(|rank| kind(&waited_for_itself(rank)));
        let itself = itself.fold(Waiting::default(), |all, of| Waiting {
            calls: all.calls + of.calls,
            time: all.time + of.time,
        });
        let Waiting { calls, time } = kind(&Blame::from(all));
        let (calls, time) = (calls.saturating_sub(itself.calls), time.saturating_sub(itself.time));
        facts.number(names.share, 100.0 * time as f64 / callers.time as f64);
        facts.number(names.cost, time as f64 / 1e9 / callers.count as f64);
        facts.number(names.sum, time as f64 / 1e9);
        facts.number(names.calls, calls as f64);
        if profile.ranks.len() as u64 == profile.total.ranks {
            let of_rank = |rank: &MpiRank| {
                let time = kind(&Blame::from(&rank.sums.waits.all())).time;
                let time = time.saturating_sub(kind(&waited_for_itself(rank)).time) as f64 / 1e9;
                time / f64::from(rank.sums.threads.max(1))
            };
            facts.number(names.most, profile.ranks.iter().map(of_rank).fold(0.0, f64::max));
        }
        let of_routine = |of: &&RoutineWaits| kind(&Blame::from(&of.sums)).time;
        let most = routines.iter().max_by_key(of_routine);
        // In which routine threads of a rank waited for each other is not known.
        let surely = |of: &&RoutineWaits| of_routine(of).saturating_sub(itself.time);
        let most = most.filter(|of| surely(of) > 0 && 2 * surely(of) >= time);
        let name = most.map(|of| profile.routines.name(of.number));
        facts.text(names.routine, name.map_or_else(String::new, |name| format!("MPI_{name}")));
        let waiting = routines.iter().filter(|of| of_routine(of) > 0);
        let calls = waiting
            .filter_map(|of| profile.total.routines.iter().find(|calls| calls.number == of.number));
        facts.number(names.longest, calls.map(|of| of.longest).max().unwrap_or(0) as f64 / 1e9);
        blamed::culprit(profile, names, *kind, facts);
    }
    facts.number("latercv_queued", 100.0 * blamed::queued(profile));
    facts.number("lateunk_share", 100.0 * all.unknown() as f64 / callers.time as f64);
    let untold = all.unknown() + in_sends_otherwise(profile, routines);
    facts.number("latercv_untold", 100.0 * untold as f64 / callers.time as f64);
}

/// The time in blocking sends beside what is known to be waiting, or not to be known, in ns: what MPI sends at once may be
/// held until the receiver calls MPI, and nothing tells that from the transfer.
fn in_sends_otherwise(profile: &MpiProfile, waits: &[RoutineWaits]) -> u128 {
    let sends = |of: &&RoutineCalls| {
        let name = of.number.function().map(|function| function.name);
        matches!(name, Some("MPI_Send" | "MPI_Rsend" | "MPI_Ssend"))
    };
    let otherwise = |of: &RoutineCalls| {
        let told = waits.iter().filter(|waits| waits.number == of.number);
        let told: u128 = told.map(|waits| waits.sums.waited() + waits.sums.unknown()).sum();
        of.time.saturating_sub(told)
    };
    profile.total.routines.iter().filter(sends).map(otherwise).sum()
}

fn amount(of: RoutineAmount) -> u128 {
    of.counted().unwrap_or(0)
}

/// Messages between ranks: how many, how large, and the time in them that is no waiting.
fn messages(profile: &MpiProfile, waited: u128, wall: f64, facts: &mut FactValues) {
    let sums = &profile.total;
    let moves = |of: &&RoutineCalls| {
        let class = of.number.function().map(|function| function.class);
        let completes = matches!(class, Some(FunctionClass::Wait | FunctionClass::Test));
        completes || MessageClass::of(of.number) == Some(MessageClass::PointToPoint)
    };
    let p2p = || sums.routines.iter().filter(moves);
    let time: u128 = p2p().map(|of| of.time).sum();
    let sent = sums.class(MessageClass::PointToPoint).sent;
    let count: u128 = sent.iter().sum();
    let bytes: u128 = p2p().map(|of| amount(of.sent)).sum();
    let own = time.saturating_sub(waited.min(time));
    let callers = CallersTime::of(profile);
    facts.number("transfer_share", 100.0 * own as f64 / callers.time as f64);
    facts.number("transfer_cost", own as f64 / 1e9 / callers.count as f64);
    facts.number("transfer_sum", own as f64 / 1e9);
    // That there are none is known where bytes were counted.
    if count == 0 && !profile.facts.missed.iter().any(|missed| &**missed == "bytes") {
        facts.number("message_count", 0.0);
    }
    if count > 0 && wall > 0.0 {
        let mut seen = 0;
        let median = sent.iter().position(|bin| {
            seen += bin;
            2 * seen >= count
        });
        // Bin k has what is below 2^k B.
        facts.number("message_median", median.map(|bin| (1u64 << bin.min(62)) as f64));
        facts.number("message_mean", bytes as f64 / count as f64);
        facts.number("message_count", count as f64);
        // Both ends of a message have their part of the work.
        let busy = (sums.mpi as f64 / 1e9 / sums.ranks as f64).max(1e-9);
        facts.number("message_rate", 2.0 * count as f64 / sums.ranks as f64 / busy);
    }
}

/// Time of some routines, without the waits in them that are told elsewhere: share, mean of a rank, sum.
fn class(
    (profile, waits): (&MpiProfile, &[RoutineWaits]),
    [share, cost, sum]: [&'static str; 3],
    is: impl Fn(FunctionClass, &str) -> bool,
    told: impl Fn(&WaitSums) -> u128,
    facts: &mut FactValues,
) -> Vec<RoutineCalls> {
    let sums = &profile.total;
    let these = sums.routines.iter().filter(|of| {
        let function = of.number.function();
        function.is_some_and(|function| is(function.class, function.name))
    });
    let these: Vec<RoutineCalls> = these.copied().collect();
    let are_these = |of: &&RoutineWaits| these.iter().any(|one| one.number == of.number);
    let waited: u128 = waits.iter().filter(are_these).map(|of| told(&of.sums)).sum();
    let time = these.iter().map(|of| of.time).sum::<u128>().saturating_sub(waited);
    let callers = CallersTime::of(profile);
    facts.number(share, 100.0 * time as f64 / callers.time as f64);
    facts.number(cost, time as f64 / 1e9 / callers.count as f64);
    facts.number(sum, time as f64 / 1e9);
    these
}

fn classes(profile: &MpiProfile, waits: Vec<RoutineWaits>, wall: f64, facts: &mut FactValues) {
    let ranks = profile.total.ranks as f64;
    let known = (profile, &waits[..]);
    let files = class(
        known,
        ["file_share", "file_cost", "file_sum"],
        |class, _| matches!(class, FunctionClass::Io(..) | FunctionClass::File),
        // That ranks come late to files is told of collectives, and says nothing of files.
        WaitSums::waited,
        facts,
    );
    let most = files.iter().max_by_key(|of| of.time).filter(|of| of.time > 0);
    let name = most.map(|of| profile.routines.name(of.number));
    facts.text("file_routine", name.map_or_else(String::new, |name| format!("MPI_{name}")));
    let data = |of: &&RoutineCalls| {
        of.number.function().is_some_and(|f| matches!(f.class, FunctionClass::Io(..)))
    };
    let calls: u128 = files.iter().filter(data).map(|of| of.calls).sum();
    let bytes: u128 = files.iter().map(|of| amount(of.sent) + amount(of.received)).sum();
    if calls > 0 {
        facts.number("file_size", bytes as f64 / calls as f64);
        facts.number("file_calls", calls as f64);
    }
    let windows = class(
        known,
        ["window_share", "window_cost", "window_sum"],
        |class, _| is_window(class),
        // That a rank posts a window or ends an access late is told of late senders, and of collectives that it comes
        // late to a fence.
        WaitSums::waited,
        facts,
    );
    facts.number("window_calls", windows.iter().map(|of| of.calls).sum::<u128>() as f64);
    late_at_windows(known, &windows, facts);
    class(
        known,
        ["spawn_share", "spawn_cost", "spawn_sum"],
        |class, _| matches!(class, FunctionClass::Spawn),
        |_| 0,
        facts,
    );
    spawned(profile, facts);
    let polls = class(
        known,
        ["poll_share", "poll_cost", "poll_sum"],
        |class, name| class == FunctionClass::Test || name == "MPI_Iprobe",
        // That the other side was late is told of late senders and collectives.
        WaitSums::waited,
        facts,
    );
    let calls: u128 = polls.iter().map(|of| of.calls).sum();
    facts.number("poll_calls", calls as f64);
    // Of messages that are looked for, the profile does not tell how often there was none.
    let [nothing, ..] = &profile.total.waited;
    facts.number("poll_in_vain", nothing.calls as f64);
    if wall > 0.0 {
        facts.number("poll_rate", calls as f64 / ranks / wall);
    }
}

/// Which routine that synchronises windows takes most time beside waits for ranks that come late, and these waits.
fn late_at_windows(
    (profile, waits): (&MpiProfile, &[RoutineWaits]),
    windows: &[RoutineCalls],
    facts: &mut FactValues,
) {
    let waited = |of: &RoutineCalls| -> u128 {
        let own = waits.iter().filter(|waits| waits.number == of.number);
        own.map(|waits| waits.sums.waited()).sum()
    };
    let time = |of: &&RoutineCalls| of.time.saturating_sub(waited(of));
    let most = windows.iter().max_by_key(time).filter(|of| time(of) > 0);
    let name = most.map(|of| profile.routines.name(of.number));
    facts.text("window_routine", name.map_or_else(String::new, |name| format!("MPI_{name}")));
    let late: u128 = windows.iter().map(waited).sum();
    if late > 0 {
        let callers = CallersTime::of(profile).count as f64;
        facts.number("window_late_cost", late as f64 / 1e9 / callers);
    }
}

/// The rank that started most processes, and what it started.
fn spawned(profile: &MpiProfile, facts: &mut FactValues) {
    let processes = |rank: &&topas_mpi_data::MpiRank| -> u64 {
        rank.started.iter().map(|start| u64::from(start.ranks)).sum()
    };
    let Some(rank) = profile.ranks.iter().max_by_key(processes) else { return };
    let Some(last) = rank.started.last() else { return };
    facts.text("spawn_who", format!("rank {}", rank.rank));
    facts.number("spawn_worlds", rank.started.len() as f64);
    facts.text("spawn_program", String::from_utf8_lossy(&last.command));
}
