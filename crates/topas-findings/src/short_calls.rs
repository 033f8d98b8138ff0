//! Facts about messages and collectives that are many and short: the ranks then wait for what MPI needs, or for a
//! processor, and no rank is late.

use topas_mpi_data::{
    CallersTime, MessageClass, MpiProfile, MpiSums, RoutineAmount, RoutineCalls, outside_of_rank,
};
use topas_mpi_table::FunctionClass;

use crate::fact::FactValues;

/// Waits that take less than this on average, in s, are those of messages: no rank computes so shortly that others notice.
const BRIEF: f64 = 1e-4;

/// A rank that computes longer than the mean by this share of the run, in percent, is late.
const LATE: f64 = 5.0;

/// The names of the facts about short calls of a kind.
struct ShortNames {
    share: &'static str,
    cost: &'static str,
    sum: &'static str,
    each: &'static str,
    rate: &'static str,
    time: &'static str,
    routine: &'static str,
}

const MESSAGES: ShortNames = ShortNames {
    share: "exchange_share",
    cost: "exchange_cost",
    sum: "exchange_sum",
    each: "exchange_each",
    rate: "exchange_rate",
    time: "exchange_time",
    routine: "exchange_routine",
};

const COLLECTIVES: ShortNames = ShortNames {
    share: "gathering_share",
    cost: "gathering_cost",
    sum: "gathering_sum",
    each: "gathering_each",
    rate: "gathering_rate",
    time: "gathering_time",
    routine: "gathering_routine",
};

/// Whether calls of a routine send messages between two ranks, receive them, or wait for that.
fn is_exchange(of: &RoutineCalls) -> bool {
    let class = of.number.function().map(|function| function.class);
    matches!(class, Some(FunctionClass::Wait | FunctionClass::Test))
        || MessageClass::of(of.number) == Some(MessageClass::PointToPoint)
}

fn is_collective(of: &RoutineCalls) -> bool {
    of.number.is_of_all_ranks()
}

/// What calls of a kind took: `count` of them, in each of which `ends` ranks had a part.
fn kind(
    profile: &MpiProfile,
    names: &ShortNames,
    is: fn(&RoutineCalls) -> bool,
    (count, ends): (u128, f64),
    facts: &mut FactValues,
) {
    let sums = &profile.total;
    let calls = || sums.routines.iter().filter(|of| is(of) && !of.number.is_edge());
    let time: u128 = calls().map(|of| of.time).sum();
    let callers = CallersTime::of(profile);
    facts.number(names.share, 100.0 * time as f64 / callers.time as f64);
    facts.number(names.cost, time as f64 / 1e9 / callers.count as f64);
    facts.number(names.sum, time as f64 / 1e9);
    let ranks = sums.ranks as f64;
    facts.number(names.each, count as f64 / ranks);
    facts.number(names.time, (count > 0).then(|| time as f64 / 1e9 / count as f64));
    // Of several threads it is not known when a rank computes.
    let outside = (sums.threads <= 1).then(|| {
        let ranks = profile.ranks.iter().map(|rank| outside_of_rank(&rank.sums));
        if profile.ranks.len() as u64 == sums.ranks { ranks.sum() } else { sums.outside() }
    });
    let rate = outside.map(|outside| ends * count as f64 / (outside as f64 / 1e9).max(1e-9));
    facts.number(names.rate, rate.unwrap_or(0.0));
    let most = calls().max_by_key(|of| of.time).filter(|of| of.time > 0);
    let name = most.map(|of| profile.routines.name(of.number));
    facts.text(names.routine, name.map_or_else(String::new, |name| format!("MPI_{name}")));
}

/// Adds these facts.
pub(crate) fn add(profile: &MpiProfile, facts: &mut FactValues) {
    let sums = &profile.total;
    let sent = sums.class(MessageClass::PointToPoint).sent.iter().sum();
    // Both ends of a message have their part of the work.
    kind(profile, &MESSAGES, is_exchange, (sent, 2.0), facts);
    facts.number("exchange_least", least_sent(profile));
    let collectives = || sums.routines.iter().filter(|of| is_collective(of));
    let count: u128 = collectives().map(|of| of.calls).sum();
    kind(profile, &COLLECTIVES, is_collective, (count, 1.0), facts);
    let amount = |of: RoutineAmount| of.counted().unwrap_or(0);
    let bytes: u128 = collectives().map(|of| amount(of.sent) + amount(of.received)).sum();
    facts.number("gathering_size", bytes as f64 / count.max(1) as f64);
    let surplus = facts.get_number("outside_cost").unwrap_or(0.0);
    let wall = facts.get_number("wall").filter(|wall| *wall > 0.0);
    facts.number("outside_surplus", wall.map_or(0.0, |wall| 100.0 * surplus / wall));
    own(facts, explained(profile, surplus, facts));
}

/// The messages of the rank that sends fewest, as a share of the mean, in percent: where one rank sends many to another that
/// hardly answers, the other waits for that rank, and not for each message. 0 if it is not known of all ranks.
fn least_sent(profile: &MpiProfile) -> f64 {
    let sent =
        |sums: &MpiSums| -> u128 { sums.class(MessageClass::PointToPoint).sent.iter().sum() };
    let each = profile.ranks.iter().map(|rank| sent(&rank.sums));
    let all: u128 = each.clone().sum();
    match each.min() {
        Some(least) if all > 0 && profile.ranks.len() as u64 == profile.total.ranks => {
            100.0 * least as f64 * profile.ranks.len() as f64 / all as f64
        }
        _ => 0.0,
    }
}

/// Which part of the waits may be because of what ranks compute: a rank waits for others at most as long as all of them
/// compute, if one does after the other. None if waits were not told apart.
fn explained(profile: &MpiProfile, surplus: f64, facts: &FactValues) -> Option<f64> {
    let cost = facts.get_number("waits_cost").filter(|cost| *cost > 0.0)?;
    let calls = facts.get_number("waits_calls")?;
    let late = surplus / cost;
    if profile.total.threads > 1 || profile.ranks.len() as u64 != profile.total.ranks {
        return None;
    }
    if facts.get_number("waits_sum")? < BRIEF * calls {
        return Some(late);
    }
    let outside: Vec<u128> = profile.ranks.iter().map(|rank| outside_of_rank(&rank.sums)).collect();
    let all: u128 = outside.iter().sum();
    let waited = |rank: &topas_mpi_data::MpiRank| rank.sums.waits.all().waited();
    let waits: u128 = profile.ranks.iter().map(waited).sum();
    let by_others =
        profile.ranks.iter().zip(&outside).map(|(rank, own)| waited(rank).min(all - own));
    let turns = by_others.sum::<u128>() as f64 / waits.max(1) as f64;
    Some(late.max(turns))
}

/// Sets the part of the waits that is because of MPI or of processors, by the other part.
fn own(facts: &mut FactValues, explained: Option<f64>) {
    let own = explained.map_or(0.0, |explained| 100.0 * (1.0 - explained.clamp(0.0, 1.0)));
    facts.number("waits_own", own);
}

/// The waits of a rank on average, in s, that are left where messages take no time are those for what ranks compute. Where
/// ranks are more than the processors, the others may be waits for ranks that have none.
pub(crate) fn on_a_perfect_network(left: f64, facts: &mut FactValues) {
    let Some(cost) = facts.get_number("waits_cost").filter(|cost| *cost > 0.0) else { return };
    own(facts, Some(left / cost));
    // A rank that computes longer is late whoever has the processors.
    let is_late = facts.get_number("outside_surplus").is_some_and(|surplus| surplus >= LATE);
    if facts.get_number("crowd") == Some(1.0)
        && !is_late
        && let Some(sum) = facts.get_number("waits_sum")
    {
        facts.number("taken_sum", sum * facts.get_number("waits_own").unwrap_or(0.0) / 100.0);
    }
}
