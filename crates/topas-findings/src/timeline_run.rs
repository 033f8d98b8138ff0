//! Facts of an event log: how waits vary in the course of the run, and where they arise.

use topas_mpi_data::{
    MpiProfile, NoteKind, Replay, SECOND_RANK, TimeClass, Timeline, TimelineNote, TimelineRow,
};

use crate::fact::{FactSpread, FactValues};
use crate::short_calls;
use crate::wait_names::WaitNames;

/// Parts of a run. The first and the last one are told apart: programs begin and end in ways of their own.
const PARTS: usize = 20;

/// Share of a kind of wait from which on a part of the run has most of it.
const MOST: f64 = 0.5;

/// Most parts of a run in which waits are told to be.
const SHORT: usize = 4;

/// A kind of wait in an event log.
struct LoggedWaits {
    names: WaitNames,
    classes: &'static [TimeClass],
    notes: &'static [NoteKind],
}

/// All waits for others.
const ALL_WAITS: LoggedWaits = LoggedWaits {
    names: WaitNames::ALL,
    classes: &[TimeClass::LateSender, TimeClass::LateReceiver, TimeClass::CollectiveWait],
    notes: &[
        NoteKind::Message,
        NoteKind::Post,
        NoteKind::AccessEnd,
        NoteKind::LateReceiver,
        NoteKind::Collective,
    ],
};

/// The kinds of waits, and all of them together.
const WAITS: [LoggedWaits; 4] = [
    LoggedWaits {
        names: WaitNames::LATE_SENDERS,
        classes: &[TimeClass::LateSender],
        notes: &[NoteKind::Message, NoteKind::Post, NoteKind::AccessEnd],
    },
    LoggedWaits {
        names: WaitNames::LATE_RECEIVERS,
        classes: &[TimeClass::LateReceiver],
        notes: &[NoteKind::LateReceiver],
    },
    LoggedWaits {
        names: WaitNames::COLLECTIVES,
        classes: &[TimeClass::CollectiveWait],
        notes: &[NoteKind::Collective],
    },
    ALL_WAITS,
];

/// Ranks of such a load balance, or a better one, compute alike.
const ALIKE: f64 = 0.9;

/// Of a lower serialisation efficiency ranks depend on each other in turn.
const IN_TURN: f64 = 0.8;

/// Adds the facts of the event log of a run to those of its profile, if it has one.
pub fn add_timeline_facts(
    timeline: &Timeline<'_>,
    profile: Option<&MpiProfile>,
    facts: &mut FactValues,
) {
    if timeline.is_partial() {
        // What is left of a log of which much was overwritten says nothing of the rest.
        if facts.get_number("waits_known") != Some(1.0) {
            waits(timeline, facts);
        }
        return;
    }
    let course = timeline.course(PARTS);
    facts.number("slices", (PARTS - 2) as f64);
    let sums = timeline.course(1);
    for LoggedWaits { names: WaitNames { share, error, when, .. }, classes, .. } in WAITS {
        let Some(scale) = scale(facts, share, part(&sums[0], classes)) else { continue };
        let shares: Vec<f64> = course.iter().map(|times| scale * part(times, classes)).collect();
        // What a rank does before the log begins is not known.
        let inner = &shares[1..PARTS - 1];
        let spread = spread(inner);
        facts.vary(share, spread);
        facts.number(error, spread.error);
        if let Some((first, last)) = short_part(&shares) {
            let percent = |place: usize| 100 * place / PARTS;
            let words = format!(
                "Most of it is between {} and {} % of the run.",
                percent(first),
                percent(last)
            );
            facts.text(when, words);
        }
    }
    // Of waits that were measured the log has to tell enough.
    if profile.is_none_or(|of| of.logged.is_some() || !of.total.waits.measured) {
        origin(timeline, facts);
    }
    if facts.get_number("waits_known") != Some(1.0) {
        waits(timeline, facts);
    }
}

/// By how much the waits of a kind in the log are to be multiplied to be those that the profile has measured; None
/// if the log lacks most of them. The log does not say which requests a call completes, so it lacks the waits for
/// persistent requests and non-blocking collectives: that is no evidence against the profile.
fn scale(facts: &FactValues, share: &str, in_log: f64) -> Option<f64> {
    let is_measured = facts.get_number("waits_known") == Some(1.0);
    let measured = facts.get_number(share).filter(|_| is_measured).unwrap_or(0.0);
    (in_log >= MOST * measured).then(|| (measured / in_log.max(f64::MIN_POSITIVE)).max(1.0))
}

/// How long ranks waited, where the profile does not tell that.
fn waits(timeline: &Timeline<'_>, facts: &mut FactValues) {
    let all: u64 = timeline.rows.iter().map(|row| known(&row.times_of_events())).sum();
    let ranks = timeline.processes.len().max(1) as f64;
    for LoggedWaits { names, classes, notes } in WAITS {
        let WaitNames { share, cost, sum, calls, longest, gain, .. } = names;
        let times = timeline.rows.iter().map(TimelineRow::times_of_events);
        let time: u64 = times.map(|times| of_classes(&times, classes)).sum();
        let waited = |note: &&TimelineNote| note.wait > 0 && notes.contains(&note.kind);
        facts.number(share, 100.0 * time as f64 / all.max(1) as f64);
        facts.number(cost, time as f64 / 1e9 / ranks);
        facts.number(sum, time as f64 / 1e9);
        facts.number(calls, timeline.notes.iter().filter(waited).count() as f64);
        let waits = timeline.notes.iter().filter(waited).map(|note| note.wait);
        facts.number(longest, waits.max().unwrap_or(0) as f64 / 1e9);
        facts.number(gain, time as f64 / 1e9 / ranks);
    }
    facts.number("waits_known", 1.0);
}

/// Adds what the replay of an event log on a perfect network tells. What took as long as it was measured there would pass for
/// ranks that depend on each other.
pub fn add_replay_facts(replay: &Replay, facts: &mut FactValues) {
    if replay.is_much_as_measured() {
        return;
    }
    let Some(factors) = replay.factors() else { return };
    let elapsed = replay.ranks.iter().map(|rank| rank.measured.elapsed).fold(0.0, f64::max);
    let cost = factors.transfer * (1.0 - factors.serialisation) * elapsed / 1e9;
    facts.number("serialisation", 100.0 * factors.serialisation);
    facts.number("serialisation_cost", cost);
    facts.number("serialisation_sum", cost * replay.ranks.len() as f64);
    if factors.serialisation < IN_TURN {
        let (balance, serialisation) =
            (100.0 * factors.load_balance, 100.0 * factors.serialisation);
        let words = if factors.load_balance >= ALIKE {
            format!(
                "On a perfect network it would be so, too: the ranks compute alike (load balance {balance:.1} %), and depend \
                 on each other in turn (serialisation {serialisation:.1} %)."
            )
        } else {
            format!(
                "Not all of it is because some ranks compute longer (load balance {balance:.1} %): on a perfect network, \
                 too, the rank that computes longest would do so for {serialisation:.1} % of the run (serialisation), \
                 because ranks need in turn what others compute."
            )
        };
        facts.text("in_turn", words);
    }
    let elapsed = replay.ranks.iter().map(|rank| rank.modelled.elapsed).fold(0.0, f64::max);
    let computing: f64 = replay.ranks.iter().map(|rank| rank.modelled.computing).sum();
    let waits = (elapsed - computing / replay.ranks.len() as f64) / 1e9;
    short_calls::on_a_perfect_network(waits, facts);
}

/// The time of which the log has events.
fn known(times: &[u64]) -> u64 {
    let lacks = times.get(TimeClass::NotInLog as usize).copied().unwrap_or(0);
    times.iter().sum::<u64>() - lacks
}

/// The share of classes in the time of a part of the run that the log has, in percent.
fn part(times: &[u64], classes: &[TimeClass]) -> f64 {
    let all = known(times);
    if all == 0 { 0.0 } else { 100.0 * of_classes(times, classes) as f64 / all as f64 }
}

/// The time of classes.
fn of_classes(times: &[u64], classes: &[TimeClass]) -> u64 {
    classes.iter().filter_map(|class| times.get(*class as usize)).sum()
}

/// Mean and its standard error.
fn spread(shares: &[f64]) -> FactSpread {
    let count = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / count;
    let squares = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>();
    FactSpread { mean, error: (squares / (count - 1.0) / count).sqrt() }
}

/// The shortest run of parts that has most of a wait, if it is short: the first one, and the one behind
/// the last.
fn short_part(shares: &[f64]) -> Option<(usize, usize)> {
    let all: f64 = shares.iter().sum();
    (1..=SHORT).find_map(|length| {
        let sums = shares.windows(length).map(|window| window.iter().sum::<f64>());
        let (first, most) = sums.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (all > 0.0 && most > MOST * all).then_some((first, first + length))
    })
}

/// The rank in which most waits arise, as the page of time lines names it, and the one in which most others do.
fn origin(timeline: &Timeline<'_>, facts: &mut FactValues) {
    let all: u64 = timeline.rows.iter().map(|row| row.delayed).sum();
    let most = timeline.late_row().and_then(|row| timeline.rows.get(row));
    let Some(most) = most else { return };
    let Some((_, process)) = timeline.processes.get(most.process) else { return };
    let who = format!("rank {}", process.rank);
    if !name_origin(&who, facts) {
        return;
    }
    facts.text("origin_who", who);
    let share = |row: &TimelineRow| 100.0 * row.delayed as f64 / all as f64;
    facts.number("origin_share", share(most));
    let others = timeline.rows.iter().filter(|row| row.process != most.process);
    let second = others.max_by_key(|row| row.delayed);
    let second = second.filter(|row| row.delayed as f64 >= SECOND_RANK * all as f64);
    let Some(second) = second else { return };
    let Some((_, process)) = timeline.processes.get(second.process) else { return };
    facts.text("origin_second", format!("rank {}", process.rank));
    facts.number("origin_second_share", share(second));
}

/// Names the rank in which most waits arise where none is late for most of those of a kind that is half of all or more, if
/// it computes longer than the others. If it does not, ranks that are late in turn may lead to it by chance: then it is not to
/// be named at all, and this is false.
fn name_origin(who: &str, facts: &mut FactValues) -> bool {
    /// A rank computes longer than the others from there on, beyond their mean.
    const LONGER: f64 = 1.05;
    let number = |facts: &FactValues, name| facts.get_number(name).unwrap_or(0.0);
    let all = number(facts, ALL_WAITS.names.cost);
    let in_turn = |facts: &FactValues, names: &WaitNames| {
        facts.get(names.turns).is_some() && 2.0 * number(facts, names.cost) >= all
    };
    let is_longer = facts.get_text("outside_who") == Some(who)
        && number(facts, "outside_max") > LONGER * number(facts, "outside_mean");
    if !is_longer {
        return !in_turn(facts, &ALL_WAITS.names);
    }
    for LoggedWaits { names, .. } in WAITS {
        if in_turn(facts, &names) {
            facts.text(names.first, who);
            facts.forget(names.turns);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use topas_mpi_data::{AsMeasured, ReplayTimes, ReplayedRank};

    use super::*;

    #[test]
    fn a_replay_that_takes_waits_as_measured_claims_no_order_of_ranks() {
        let rank = |rank| {
            let times = ReplayTimes { elapsed: 10e9, computing: 5e9 };
            let host = String::new();
            let (measured, modelled) = (times, times);
            ReplayedRank { rank, host, threads: 1, events: 100, paused: 0.0, measured, modelled }
        };
        for (as_measured, serialisation) in [(0.9e9, Some(50.0)), (1.1e9, None)] {
            let replay = Replay {
                ranks: vec![rank(0), rank(1)],
                size: Some(2),
                as_measured: vec![(AsMeasured::Persistent, 100, as_measured)],
                ..Replay::default()
            };
            let mut facts = FactValues::default();
            add_replay_facts(&replay, &mut facts);
            assert_eq!(facts.get_number("serialisation"), serialisation, "{as_measured}");
        }
    }

    /// A ring that hands a token on leads to some rank; one that computes longer is the cause.
    #[test]
    fn a_rank_in_which_waits_arise_is_named_if_it_computes_longer() {
        let facts = |outside_max: f64| {
            let mut facts = FactValues::from([
                ("waits_cost", 10.0),
                ("waits_turns", 4.0),
                ("late_cost", 9.0),
                ("late_turns", 4.0),
                ("coll_cost", 1.0),
                ("coll_turns", 2.0),
                ("outside_max", outside_max),
                ("outside_mean", 1.0),
            ]);
            facts.text("outside_who", "rank 2");
            facts
        };
        let mut ring = facts(1.02);
        assert!(!name_origin("rank 2", &mut ring) && ring.get("late_first").is_none());
        let mut late = facts(1.8);
        assert!(name_origin("rank 2", &mut late) && !name_origin("rank 1", &mut facts(1.8)));
        let named = ["waits_first", "late_first", "coll_first"].map(|name| late.get_text(name));
        assert_eq!(named, [Some("rank 2"), Some("rank 2"), None]);
        assert!(late.get("late_turns").is_none() && late.get("coll_turns").is_some());
        // Where one rank is late for most of it, that is told as before.
        let mut one = facts(1.02);
        one.forget("waits_turns");
        assert!(name_origin("rank 2", &mut one) && one.get("late_first").is_none());
    }

    #[test]
    fn what_is_the_same_in_all_parts_has_no_error() {
        assert_eq!(spread(&[7.0; 18]), FactSpread { mean: 7.0, error: 0.0 });
        // One of 18: mean 1, deviation sqrt(18).
        let mut one = [0.0; 18];
        one[4] = 18.0;
        let spread = spread(&one);
        assert!((spread.mean - 1.0).abs() < 1e-9 && (spread.error - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_the_log_lacks_is_no_evidence_against_the_profile() {
        let mut facts = FactValues::default();
        assert_eq!(scale(&facts, "late_share", 0.0), Some(1.0));
        facts.number("late_share", 20.0);
        assert_eq!(scale(&facts, "late_share", 1.0), Some(1.0), "the profile tells no waits");
        facts.number("waits_known", 1.0);
        for (in_log, scaled) in [(0.0, None), (9.0, None), (10.0, Some(2.0)), (25.0, Some(1.0))] {
            assert_eq!(scale(&facts, "late_share", in_log), scaled, "{in_log} %");
        }
    }

    #[test]
    fn a_short_part_with_most_of_a_wait_is_told() {
        let mut shares = [1.0; PARTS];
        assert_eq!(short_part(&shares), None);
        shares[8] = 30.0;
        assert_eq!(short_part(&shares), Some((8, 9)));
        shares[9] = 30.0;
        assert_eq!(short_part(&shares), Some((8, 10)));
        assert_eq!(short_part(&[0.0; PARTS]), None);
    }
}
