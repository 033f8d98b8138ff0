//! Why ranks waited for each other: by routine, and by the rank that made others wait.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use topas_mpi_data::{
    AskedInVain, Blame, MpiProfile, OutsideRank, RoutineCalls, WaitSums, computed, computes_unseen,
    waited_for_others,
};

use super::Views;
use super::amount::routine_name;
use super::body::ViewBody;
use super::cells::CellTable;
use super::culprit::first_sentence;
use super::json::{number, seconds as json_seconds, text};
use super::standing;
use super::waited_place::WaitKind;
use crate::number::{exact_seconds, seconds};
use crate::wording::named;

/// Waits of less than this part of the time of all ranks name nobody: a hundredth.
const WORTH_A_NAME: u128 = 100;

/// Ranks that are shown.
const MOST: usize = 16;

/// Whether waits were told apart.
pub(super) fn are_measured(profile: &MpiProfile) -> bool {
    profile.total.waits.measured || profile.ranks.iter().any(|rank| rank.sums.waits.measured)
}

/// Where the time of a routine went, in ns; the parts are the whole.
pub(super) struct Parts {
    pub(super) waits: WaitSums,
    unknown: u128,
    other: u128,
}

impl Parts {
    pub(super) fn of(profile: &MpiProfile, routine: &RoutineCalls) -> Parts {
        let mut waits = profile.total.waits.routine(routine.number);
        if !profile.total.waits.measured {
            // A sum over ranks may not have them where single ranks do.
            for rank in &profile.ranks {
                waits.merge(&rank.sums.waits.routine(routine.number));
            }
        }
        let unknown = waits.unknown();
        let other = routine.time.saturating_sub(waits.waited()).saturating_sub(unknown);
        Parts { waits, unknown, other }
    }

    /// What was waited for other ranks, and of what it is not known whether it was.
    pub(super) fn told(&self) -> (u128, u128) {
        (self.waits.waited(), self.unknown)
    }

    pub(super) fn known(&self) -> [u128; 5] {
        let WaitSums { late, late_receiver, collective, .. } = &self.waits;
        let [late, receiver, collective] =
            [late, late_receiver, collective].map(|figure| figure.nanoseconds);
        [late, receiver, collective, self.unknown, self.other]
    }
}

/// What calls of a routine waited for other ranks, in ns.
pub(super) fn waited(profile: &MpiProfile, routine: &RoutineCalls) -> u128 {
    Parts::of(profile, routine).waits.waited()
}

/// What was waited for each rank of the world, by others and by itself, that with most first.
pub(super) fn blamed(profile: &MpiProfile) -> Vec<(u32, Blame)> {
    by_rank(profile.ranks.iter().flat_map(|rank| rank.sums.waits.blamed.iter().copied()))
}

/// What others waited for each rank of the world, in MPI or asleep between calls that asked in vain, that with most first. If
/// an event log tells it, what they waited because of each rank, directly or not.
pub(super) fn waited_by_others(profile: &MpiProfile) -> Vec<(u32, Blame)> {
    if let Some(logged) = &profile.logged {
        return by_rank(logged.begins_at_calls());
    }
    by_rank(profile.ranks.iter().flat_map(waited_for_others))
}

fn by_rank(waits: impl Iterator<Item = (u32, Blame)>) -> Vec<(u32, Blame)> {
    let mut all = BTreeMap::<u32, Blame>::new();
    for (peer, blame) in waits {
        all.entry(peer).or_default().add(&blame);
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(rank, blame)| (std::cmp::Reverse(blame.time()), *rank));
    all
}

/// The same of ranks of other worlds.
pub(super) fn blamed_outside(profile: &MpiProfile) -> Vec<(OutsideRank, Blame)> {
    let mut all = BTreeMap::<&OutsideRank, Blame>::new();
    for (peer, blame) in profile.ranks.iter().flat_map(|rank| &rank.sums.waits.outside) {
        all.entry(peer).or_default().add(blame);
    }
    let mut all: Vec<_> = all.into_iter().map(|(peer, blame)| (peer.clone(), blame)).collect();
    all.sort_by_key(|(_, blame)| std::cmp::Reverse(blame.time()));
    all
}

fn outside(profile: &MpiProfile, rank: u32) -> Option<u128> {
    let found = profile.ranks.iter().find(|known| known.rank == rank);
    found.filter(|known| !computes_unseen(&known.sums)).map(|known| computed(&known.sums))
}

/// Sentence, routines, ranks.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let profile = views.profile;
    let sentence = first_sentence(profile, views.paths.as_ref());
    let first = sentence.into_iter().fold(ViewBody::default(), ViewBody::prose);
    if !are_measured(profile) {
        return first.prose(
            "Waits were not told apart: run with topas-run --mpi=waits, or with TOPAS_MPI_WAITS=yes.",
        );
    }
    let mut cells = CellTable::new([
        "routine",
        "time s",
        "late sender s",
        "late receiver s",
        "collective s",
        "not measured s",
        "other s",
    ]);
    let mut below = 0;
    for routine in views.order.routines(profile) {
        let parts = Parts::of(profile, routine);
        let is_long = routine.time.saturating_mul(WORTH_A_NAME) >= profile.total.wall;
        if parts.waits.is_empty() && !is_long {
            continue;
        }
        below += parts.waits.below.nanoseconds;
        let mut row = vec![routine_name(profile, routine.number), seconds(routine.time, 6)];
        row.extend(parts.known().map(|ns| seconds(ns, 6)));
        cells.row(row);
    }
    let body = first
        .table("Waits by routine", cells)
        .table("Ranks that the others waited for", ranks(profile));
    notes(views, below).into_iter().fold(body, ViewBody::note)
}

/// What a late sender is in routines that wait for no message, such as those of windows; None if no such routine waited.
fn late_without_message(views: &Views<'_>) -> Option<String> {
    let profile = views.profile;
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for routine in views.order.routines(profile) {
        let because = WaitKind::LateSender.because_in(routine.number);
        let waits = Parts::of(profile, routine).waits.late.nanoseconds > 0;
        if !waits || because == WaitKind::LateSender.because() {
            continue;
        }
        let name = routine_name(profile, routine.number);
        match reasons.iter_mut().find(|(known, _)| *known == because) {
            Some((_, names)) => names.push(name),
            None => reasons.push((because, vec![name])),
        }
    }
    let of_each: Vec<String> = reasons
        .into_iter()
        .map(|(because, names)| {
            let does = because.strip_prefix("because it ").unwrap_or(because);
            format!("in {} a rank that {does}", names.join(" and "))
        })
        .collect();
    (!of_each.is_empty()).then(|| format!("\"Late sender\" is {}.", of_each.join(", and ")))
}

fn notes(views: &Views<'_>, below: u128) -> Vec<String> {
    let total = &views.profile.total;
    let mut notes = vec![
        "The columns add up to the time of a routine. \"Not measured\" are calls whose other side \
         is on another node, does not measure, or cannot be told for sure; \"other\" is transfer, \
         protocol, and waiting for a processor."
            .to_owned(),
    ];
    notes.extend(late_without_message(views));
    if !slept_for(views.profile).is_empty() {
        notes.push(
            "\"Others asleep\" is what they slept between calls that asked in vain for this rank: it is part of no routine."
                .to_owned(),
        );
    }
    if below.saturating_mul(WORTH_A_NAME) >= total.wall && below > 0 {
        notes.push(format!(
            "Calls that were too short to be looked at took {} s together: at most so much of \
             \"other\" is waiting for other ranks.",
            seconds(below, 3)
        ));
    }
    if standing::is_told(views.profile) {
        notes.push(
            "Why a call waits is told when it ends: calls in which ranks are, or were when they ended, are part \
             of \"other\"."
                .to_owned(),
        );
    } else if views.processors.is_some_and(|processors| processors < total.ranks) {
        notes.push(
            "There are more ranks than processors: \"other\" is mostly waiting for a processor."
                .to_owned(),
        );
    }
    notes
}

/// Whom the others waited for.
fn ranks(profile: &MpiProfile) -> CellTable {
    let slept = slept_for(profile);
    let mut header = vec![
        "waited for rank",
        "s",
        "sent late s",
        "received late s",
        "late to collectives s",
        "it computes s",
    ];
    if !slept.is_empty() {
        header.push("others asleep s");
    }
    let mut cells = CellTable::new(header);
    let has_slept = !slept.is_empty();
    let mut of_rank: BTreeMap<u32, (Blame, u128)> =
        blamed(profile).into_iter().map(|(rank, blame)| (rank, (blame, 0))).collect();
    for (rank, time) in slept {
        of_rank.entry(rank).or_default().1 = time;
    }
    let mut rows: Vec<(String, Blame, Option<u128>, u128)> = of_rank
        .into_iter()
        .map(|(rank, (blame, asleep))| (rank.to_string(), blame, outside(profile, rank), asleep))
        .collect();
    for (rank, blame) in blamed_outside(profile) {
        let name = rank.name(profile);
        rows.push((name.strip_prefix("rank ").unwrap_or(&name).to_owned(), blame, None, 0));
    }
    rows.sort_by_key(|(_, blame, _, asleep)| std::cmp::Reverse((blame.time(), *asleep)));
    for (rank, blame, computes, asleep) in rows.into_iter().take(MOST) {
        let Blame { late, late_receiver, collective } = blame;
        let [late, receiver, collective] =
            [late, late_receiver, collective].map(|of| seconds(of.time, 6));
        let computes = computes.map_or_else(|| crate::number::NONE.to_owned(), |ns| seconds(ns, 6));
        let rank = named(rank.as_bytes());
        let row = [rank, seconds(blame.time(), 6), late, receiver, collective, computes];
        cells.row(row.into_iter().chain(has_slept.then(|| seconds(asleep, 6))));
    }
    cells
}

/// How long others slept between calls that asked in vain for a rank, in ns, by this rank; of those for which they did.
fn slept_for(profile: &MpiProfile) -> BTreeMap<u32, u128> {
    let mut all = BTreeMap::new();
    for (peer, asked) in profile.ranks.iter().flat_map(|rank| &rank.sums.waits.asked) {
        if asked.slept > 0 {
            *all.entry(*peer).or_default() += asked.slept;
        }
    }
    all
}

/// A row for each routine.
pub(super) fn csv(views: &Views<'_>) -> String {
    let profile = views.profile;
    let mut cells = CellTable::new([
        "routine",
        "calls",
        "seconds",
        "late_sender_seconds",
        "late_receiver_seconds",
        "collective_seconds",
        "not_measured_seconds",
        "other_seconds",
        "below_seconds",
    ]);
    for routine in views.order.routines(profile).into_iter().filter(|_| are_measured(profile)) {
        let parts = Parts::of(profile, routine);
        let mut row = vec![
            routine_name(profile, routine.number),
            routine.calls.to_string(),
            exact_seconds(routine.time),
        ];
        row.extend(parts.known().map(exact_seconds));
        row.push(exact_seconds(parts.waits.below.nanoseconds));
        cells.row(row);
    }
    cells.csv()
}

/// For JSON; null if waits were not told apart.
pub(super) fn value(views: &Views<'_>) -> Value {
    let profile = views.profile;
    if !are_measured(profile) {
        return Value::Null;
    }
    let routine = |routine: &&RoutineCalls| {
        let parts = Parts::of(profile, routine);
        let [late, receiver, collective, unknown, other] = parts.known().map(json_seconds);
        json!({
            "name": routine_name(profile, routine.number),
            "calls": number(routine.calls),
            "seconds": json_seconds(routine.time),
            "late_sender_seconds": late,
            "late_receiver_seconds": receiver,
            "collective_seconds": collective,
            "not_measured_seconds": unknown,
            "other_seconds": other,
            "below_seconds": json_seconds(parts.waits.below.nanoseconds),
        })
    };
    let routines: Vec<Value> = views.order.routines(profile).iter().map(routine).collect();
    let waits = |rank: u32, blame: &Blame| {
        json!({
            "rank": rank,
            "late_sender_seconds": json_seconds(blame.late.time),
            "late_receiver_seconds": json_seconds(blame.late_receiver.time),
            "collective_seconds": json_seconds(blame.collective.time),
        })
    };
    let outside = |rank: &OutsideRank, blame: &Blame| {
        let mut of = waits(rank.rank, blame);
        of["launch"] = text(&rank.launch);
        of["is_parent"] = rank.is_parent.into();
        of
    };
    let outsiders = profile.ranks.iter().flat_map(|rank| {
        let of = move |(peer, blame): &(OutsideRank, Blame)| {
            let mut pair = outside(peer, blame);
            pair["waits"] = rank.rank.into();
            pair
        };
        rank.sums.waits.outside.iter().map(of)
    });
    let pairs = profile.ranks.iter().flat_map(|rank| {
        let of = move |(peer, blame): &(u32, Blame)| {
            let mut pair = waits(*peer, blame);
            pair["waits"] = rank.rank.into();
            pair
        };
        rank.sums.waits.blamed.iter().map(of)
    });
    let asked = profile.ranks.iter().flat_map(|rank| {
        let of = move |(peer, asked): &(u32, AskedInVain)| {
            json!({
                "asks": rank.rank,
                "rank": peer,
                "times": number(asked.between.calls),
                "between_seconds": json_seconds(asked.between.time),
                "asleep_seconds": json_seconds(asked.slept),
            })
        };
        rank.sums.waits.asked.iter().map(of)
    });
    json!({
        "sentence": first_sentence(profile, views.paths.as_ref()),
        "routines": routines,
        "waited_for": blamed(profile).iter().map(|(rank, of)| waits(*rank, of)).collect::<Vec<_>>(),
        "pairs": pairs.collect::<Vec<_>>(),
        "asked_in_vain": asked.collect::<Vec<_>>(),
        "outside_pairs": outsiders.collect::<Vec<_>>(),
    })
}
