//! What stands out, on one page.

use std::collections::BTreeMap;

use topas_mpi_data::{CallersTime, Origin, RoutineNumber};

use super::Views;
use super::amount::{amount, routine_name};
use super::body::ViewBody;
use super::cells::CellTable;
use super::heading::ranges;
use super::{culprit, efficiency, peers, routines, waiting};
use crate::number::{NONE, compact, percent_of, quotient, seconds};
use crate::wording::{count, some_pes};

/// Ranges of ranks that are named.
const NAMED: usize = 6;

/// Routines that are shown.
const MOST: usize = 10;

/// Share of MPI, efficiencies, routines, waiting.
pub(super) fn body(views: &Views<'_>) -> ViewBody {
    let profile = views.profile;
    let sentence = culprit::first_sentence(profile, views.paths.as_ref());
    let mut body = sentence.into_iter().fold(ViewBody::default(), ViewBody::prose);
    body = body.prose(shares(views)).and(efficiency::body(views));
    if !profile.total.routines.is_empty() {
        body = body.and(top(views));
    }
    body = body.and(waiting::body(views)).and(inside(views));
    peers::summary(profile).into_iter().fold(body, ViewBody::prose)
}

fn shares(views: &Views<'_>) -> String {
    let sums = &views.profile.total;
    let time = |ns: u128| seconds(ns, 3);
    let callers = CallersTime::of(views.profile);
    let mut out = format!(
        "In MPI: {} of the time of all {}, {} of {} s; of a rank {} to {} s.",
        percent_of(sums.mpi, callers.time),
        callers.whose(),
        time(sums.mpi),
        time(callers.time),
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
    out
}

/// The routines that took longest.
fn top(views: &Views<'_>) -> ViewBody {
    let profile = views.profile;
    let sums = &profile.total;
    let all = CallersTime::of(profile).time;
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
            percent_of(routine.time, all),
            quotient(routine.time, routine.calls.saturating_mul(1000)),
            seconds(routine.longest.into(), 6),
            amount(routine.sent, compact),
            amount(routine.received, compact),
        ]);
    }
    let rest = &sorted[MOST.min(sorted.len())..];
    let body = ViewBody::default().table("Routines that took longest", cells);
    if rest.is_empty() {
        return body;
    }
    let time: u128 = rest.iter().map(|routine| routine.time).sum();
    let more = count(rest.len() as u64, "more routine");
    let share = percent_of(time, sums.mpi);
    body.note(format!("and {more} with {share} of the time in MPI (--routines)")).joined()
}

/// In which calls ranks are, or were when they ended.
fn inside(views: &Views<'_>) -> ViewBody {
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
    ViewBody::default().table("Ranks in a call", cells)
}
