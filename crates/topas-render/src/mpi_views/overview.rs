//! What stands out, on one page.

use std::collections::BTreeMap;

use topas_mpi_data::{Origin, RoutineNumber};

use super::Views;
use super::amount::{amount, routine_name};
use super::cells::CellTable;
use super::heading::ranges;
use super::{efficiency, peers, routines, waiting, waits};
use crate::number::{NONE, compact, percent_of, quotient, seconds};
use crate::wording::{count, paragraph, some_pes};

/// Ranges of ranks that are named.
const NAMED: usize = 6;

/// Routines that are shown.
const MOST: usize = 10;

/// Share of MPI, efficiencies, routines, waiting.
pub(super) fn text(views: &Views<'_>) -> String {
    let profile = views.profile;
    let sentence = waits::sentence(profile, views.paths.as_ref());
    let sentence = sentence.map(|text| paragraph(&text, views.columns()));
    let mut parts: Vec<String> = sentence.into_iter().collect();
    parts.extend([shares(views), efficiency::text(views)]);
    if !profile.total.routines.is_empty() {
        parts.push(top(views));
    }
    let waited = waiting::text(views);
    if !waited.is_empty() {
        parts.push(waited);
    }
    let inside = inside(views);
    if !inside.is_empty() {
        parts.push(inside);
    }
    parts.extend(peers::summary(profile).map(|text| paragraph(&text, views.columns())));
    parts.join("\n")
}

fn shares(views: &Views<'_>) -> String {
    let sums = &views.profile.total;
    let time = |ns: u128| seconds(ns, 3);
    let mut out = format!(
        "In MPI: {} of the time of all ranks, {} of {} s; of a rank {} to {} s.",
        percent_of(sums.mpi, sums.wall),
        time(sums.mpi),
        time(sums.wall),
        time(sums.mpi_min.into()),
        time(sums.mpi_max.into()),
    );
    out += &format!(
        " {} from the first call on, {} s at most; {} of {}. The measurement took {} of the time.",
        count(sums.ranks, "rank"),
        time(sums.wall_max.into()),
        count(u64::try_from(sums.calls()).unwrap_or(u64::MAX), "call"),
        count(sums.routines.len() as u64, "routine"),
        percent_of(sums.overhead, sums.wall),
    );
    paragraph(&out, views.columns())
}

/// The routines that took longest.
fn top(views: &Views<'_>) -> String {
    let profile = views.profile;
    let sums = &profile.total;
    let sorted = routines::sorted(profile);
    let mut cells = CellTable::new([
        "routine",
        "calls",
        "time s",
        "of MPI",
        "of all",
        "us/call",
        "longest s",
        "sent B",
        "received B",
    ]);
    for routine in sorted.iter().take(MOST) {
        cells.row([
            routine_name(profile, routine.number),
            compact(routine.calls),
            seconds(routine.time, 6),
            percent_of(routine.time, sums.mpi),
            percent_of(routine.time, sums.wall),
            quotient(routine.time, routine.calls.saturating_mul(1000)),
            seconds(routine.longest.into(), 6),
            amount(routine.sent, compact),
            amount(routine.received, compact),
        ]);
    }
    let rest = &sorted[MOST.min(sorted.len())..];
    let mut out = cells.within(views.screen.width);
    if !rest.is_empty() {
        let time: u128 = rest.iter().map(|routine| routine.time).sum();
        out += &format!(
            "and {} with {} of the time in MPI (--routines)\n",
            count(rest.len() as u64, "more routine"),
            percent_of(time, sums.mpi)
        );
    }
    out
}

/// In which calls ranks are, or were when they ended.
fn inside(views: &Views<'_>) -> String {
    let profile = views.profile;
    let mut of: BTreeMap<RoutineNumber, (Vec<u32>, Option<u64>)> = BTreeMap::new();
    for (rank, inside) in &profile.inside {
        let (ranks, longest) = of.entry(inside.routine).or_default();
        ranks.push(*rank);
        *longest = (*longest).max(inside.time);
    }
    let heading = if profile.origin == Origin::Live { "in a call now" } else { "ended in a call" };
    let mut cells = CellTable::new([heading, "threads", "longest s", "ranks"]).words();
    for (routine, (mut ranks, longest)) in of {
        let threads = ranks.len();
        ranks.sort_unstable();
        ranks.dedup();
        cells.row([
            routine_name(profile, routine),
            threads.to_string(),
            longest.map_or_else(|| NONE.to_owned(), |ns| seconds(ns.into(), 3)),
            some_pes(&ranges(ranks.into_iter().map(u64::from)), NAMED),
        ]);
    }
    if cells.is_empty() { String::new() } else { cells.within(views.screen.width) }
}
